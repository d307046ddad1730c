package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/adjoint-go/adjoint/bench/cases"
)

var columns = []string{"ours", "torch", "torch huge", "numpy", "GoMLX", "gorgonia"}

// peers are those that the ratio is to: as installed.
var peers = []string{"torch", "numpy", "GoMLX", "gorgonia"}

// print writes the table, its notes and the last line.
func (s *session) print(w io.Writer, rows []row, versions string) {
	limits := limits(rows)
	fmt.Fprintf(w, "%-24s", "op (times in ms)")
	for _, c := range columns {
		fmt.Fprintf(w, " %10s", c)
	}
	fmt.Fprintf(w, " | %6s %6s | %7s %-7s %5s\n", "ratio", "huge", "rate", "", "limit")
	var sum, worst float64
	var worstName string
	counted, below := 0, 0
	for _, r := range rows {
		fmt.Fprintf(w, "%-24s", r.Name)
		for _, c := range columns {
			fmt.Fprintf(w, " %10s", r.cell(c))
		}
		ratio, huge := r.ratio(peers...), r.ratio("torch huge")
		rate, share := r.Units/r.seconds["ours"]/1e9, 0.0
		if l := limits[r.Limit]; l > 0 {
			share = rate / l
		}
		unit := "GB/s"
		if r.Limit == cases.FMA {
			unit = "GFLOP/s"
		}
		fmt.Fprintf(w, " | %6s %6s | %7.1f %-7s %5s%s\n", figure(ratio, "%.2f"), figure(huge, "%.2f"), rate, unit,
			figure(100*share, "%.0f%%"), r.marks())
		if ratio > 0 {
			sum, counted = sum+math.Log(ratio), counted+1
			if worstName == "" || ratio < worst {
				worst, worstName = ratio, r.Name
			}
		}
		if (ratio > 0 && ratio < 0.95 || huge > 0 && huge < 0.95) && share < 0.9 {
			below++
		}
	}
	s.printNotes(w, rows, limits, versions)
	geomean := math.Exp(sum / float64(max(counted, 1)))
	fmt.Fprintf(w, "geomean %.2f, worst %.2f (%s), below 1: %d\n", geomean, worst, worstName, below)
}

// limits are the probes' rates, in GB/s or GFLOP/s: the best of a run.
func limits(rows []row) map[string]float64 {
	best := map[string]float64{}
	for _, r := range rows {
		if t := r.seconds["probe"]; t > 0 {
			best[r.Limit] = max(best[r.Limit], cases.Moves(r.Limit)/t/1e9)
		}
	}
	return best
}

// ratio is the least time of some contenders over ours, 0 where none has the case.
func (r row) ratio(names ...string) float64 {
	best := 0.0
	for _, n := range names {
		if t := r.seconds[n]; t > 0 && (best == 0 || t < best) {
			best = t
		}
	}
	return best / r.seconds["ours"]
}

// cell is a time in milliseconds; ~ says that only the first call was timed.
func (r row) cell(name string) string {
	t := r.seconds[name] * 1e3
	switch {
	case t == 0:
		return "–"
	case r.once[name]:
		return fmt.Sprintf("~%.0f", t)
	case t < 1:
		return fmt.Sprintf("%.4f", t)
	}
	return fmt.Sprintf("%.2f", t)
}

func (r row) marks() string {
	var b strings.Builder
	for _, n := range r.notes {
		fmt.Fprintf(&b, " [%d]", n)
	}
	return b.String()
}

func figure(v float64, format string) string {
	if v == 0 {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

func (s *session) printNotes(w io.Writer, rows []row, limits map[string]float64, versions string) {
	fmt.Fprintln(w, "\n~: one call, being slow. ratio: the best of torch, numpy, GoMLX and gorgonia over ours;")
	fmt.Fprintln(w, "huge: torch with huge pages over ours. limit: the share of what the probe reached in this run:")
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		fmt.Fprintf(w, "  %s %.1f", name, limits[name])
	}
	fmt.Fprintln(w)
	forms := map[string][]string{}
	for _, r := range rows {
		if f := r.form["torch"]; f != "" {
			forms[f] = append(forms[f], r.Name)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(forms)) {
		fmt.Fprintf(w, "torch's fastest was %s in: %s\n", f, strings.Join(forms[f], ", "))
	}
	for _, c := range s.contenders {
		if c.failed != "" {
			fmt.Fprintf(w, "%s: not measured: %s\n", c.name, c.failed)
		}
	}
	byNumber := make([]string, len(s.notes))
	for text, n := range s.notes {
		byNumber[n-1] = text
	}
	for i, text := range byNumber {
		fmt.Fprintf(w, "[%d] %s\n", i+1, text)
	}
	if versions != "" {
		fmt.Fprintln(w, versions)
	}
}
