package kernels

import "strings"

// One is the PTX of a family with a single one of its kernels, and with the functions and tables that all of them may
// use. A driver compiles a module as a whole when it is loaded, which takes seconds for hundreds of kernels, of
// which a program uses a few.
func One(family, kernel string) string {
	const entry = ".visible .entry "
	text := Text(family)
	var one strings.Builder
	for at := strings.Index(text, entry); at >= 0; at = strings.Index(text, entry) {
		one.WriteString(text[:at])
		text = text[at:]
		end := strings.Index(text, "\n}") + 2 // blocks within a kernel are indented
		if strings.HasPrefix(text[len(entry):], kernel+"(") {
			one.WriteString(text[:end])
		}
		text = text[end:]
	}
	one.WriteString(text)
	return one.String()
}
