// Bench runs the cases on this module and its peers in turn, checks that they agree, and prints one table.
// run.sh builds the contenders and calls it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/bench/cases"
)

// effort is how long a case is measured.
type effort struct {
	rounds, dropped int     // rounds of all contenders in turn; the first ones do not count
	slice           float64 // seconds of a contender in a round
	slow            float64 // a form whose first call took longer than this is not called again
	total           float64 // seconds of a form, after which it takes no part in more rounds
}

var (
	thorough = effort{rounds: 9, dropped: 2, slice: 0.08, slow: 10, total: 4}
	quick    = effort{rounds: 3, dropped: 1, slice: 0.025, slow: 0.15, total: 0.3}
)

func main() {
	var (
		isQuick  = flag.Bool("quick", false, "three minutes: few rounds, no second torch with huge pages")
		only     = flag.String("only", "", "the cases whose `name` holds this")
		list     = flag.Bool("list", false, "list the cases")
		save     = flag.String("save", "", "write the table to this Markdown `file` too")
		bin      = flag.String("bin", "", "`folder` of the built contenders")
		dir      = flag.String("dir", "", "`folder` for inputs and results, best in memory")
		python   = flag.String("python", "", "`command` with torch and numpy")
		versions = flag.String("versions", "", "`text` about the machine and the peers")
	)
	flag.Parse()
	var chosen []cases.Case
	for _, c := range cases.Table() {
		if strings.Contains(c.Name, *only) {
			chosen = append(chosen, c)
		}
	}
	if *list {
		for _, c := range chosen {
			fmt.Println(c.Name)
		}
		return
	}
	how := thorough
	if *isQuick {
		how = quick
	}
	all := contenders(*bin, *python, !*isQuick)
	if err := run(chosen, all, how, *dir, *versions, *save); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(chosen []cases.Case, all []*contender, how effort, dir, versions, save string) error {
	if len(chosen) == 0 {
		return errors.New("no case has that name; -list prints them")
	}
	s := &session{dir: dir, contenders: all, effort: how, notes: map[string]int{}}
	defer s.close()
	info, err := os.Stderr.Stat()
	onTerminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	var rows []row
	for i, c := range chosen {
		if onTerminal {
			fmt.Fprintf(os.Stderr, "\r\033[K%d/%d %s", i+1, len(chosen), c.Name)
		}
		r, err := s.measure(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		rows = append(rows, r)
	}
	if onTerminal {
		fmt.Fprint(os.Stderr, "\r\033[K")
	}
	var text strings.Builder
	s.print(&text, rows, versions)
	if _, err := io.WriteString(os.Stdout, text.String()); err != nil {
		return err
	}
	if save != "" {
		head := "# Results of bench/run.sh\n\n" +
			"[docs/performance.md](../docs/performance.md) says how to read them.\n\n```\n"
		if err := os.WriteFile(save, []byte(head+text.String()+"```\n"), 0o644); err != nil {
			return err
		}
	}
	if len(s.wrong) > 0 {
		return fmt.Errorf("no peer agrees with our results of %s", strings.Join(s.wrong, ", "))
	}
	return nil
}

// hugePages has torch's memory on huge pages.
const hugePages = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"

// contenders in the order of the columns: ours first, the probe last.
func contenders(bin, python string, withHuge bool) []*contender {
	peers, err := filepath.Abs("peers.py")
	if err != nil {
		peers = "peers.py"
	}
	all := []*contender{
		{name: "ours", command: []string{filepath.Join(bin, "ours")}},
		{name: "torch", command: []string{python, peers, "torch"}},
		{name: "torch huge", command: []string{python, peers, "torch"}, env: []string{hugePages}},
		{name: "numpy", command: []string{python, peers, "numpy"}},
		{name: "GoMLX", command: []string{filepath.Join(bin, "gomlx")}},
		{name: "gorgonia", command: []string{filepath.Join(bin, "gorgonia")}},
		{name: "probe", command: []string{filepath.Join(bin, "probe")}},
	}
	return slices.DeleteFunc(all, func(c *contender) bool { return c.name == "torch huge" && !withHuge })
}
