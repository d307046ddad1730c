package kernels

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestOne cuts every kernel out of every family: what is left is that kernel and everything that is no kernel.
func TestOne(t *testing.T) {
	const entry = ".visible .entry "
	kept, err := filepath.Glob("*.ptx")
	if err != nil || len(kept) != len(texts) {
		t.Fatalf("%d files, %d families: %v", len(kept), len(texts), err)
	}
	for _, file := range kept {
		family := strings.TrimSuffix(file, ".ptx")
		parts := strings.Split(Text(family), entry)
		rest := len(One(family, ""))
		size := rest
		for i, part := range parts[1:] {
			name := part[:strings.IndexByte(part, '(')]
			end := strings.Index(part, "\n}\n") + 2
			if size += len(entry) + end; i > 20 {
				continue // the sizes add up all the same
			}
			one := One(family, name)
			if strings.Count(one, entry) != 1 || !strings.Contains(one, entry+part[:end]) || len(one) != rest+len(entry)+end {
				t.Errorf("%s: what is left of %s is not that kernel alone", family, name)
			}
		}
		if size != len(Text(family)) {
			t.Errorf("%s: kernels and the rest have %d bytes, the text has %d", family, size, len(Text(family)))
		}
	}
}
