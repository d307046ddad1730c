package worker

import (
	"fmt"
	"io"
	"slices"
)

// Scaled is a column of a scaling table: the seconds that n elements take.
type Scaled struct {
	Name    string
	Seconds func(n int) (float64, error)
}

// Most is the last row of a scaling table.
const Most = 1 << 26

// Scale prints the time of each column for 2¹⁰ to Most elements, what a doubling multiplied it by, and the time of
// an element.
func Scale(w io.Writer, columns ...Scaled) error {
	fmt.Fprintf(w, "%9s", "elements")
	for _, c := range columns {
		fmt.Fprintf(w, " | %10s ms  × ns/elem", c.Name)
	}
	fmt.Fprintln(w)
	last := make([]float64, len(columns))
	for n := 1 << 10; n <= Most; n *= 2 {
		fmt.Fprintf(w, "%9d", n)
		for i, c := range columns {
			t, err := c.Seconds(n)
			if err != nil {
				return err
			}
			growth := "    "
			if last[i] > 0 {
				growth = fmt.Sprintf("%4.1f", t/last[i])
			}
			fmt.Fprintf(w, " | %10.5f %s %7.3f", t*1e3, growth, t*1e9/float64(n))
			last[i] = t
		}
		fmt.Fprintln(w)
	}
	return nil
}

// Median is the median time of calls within a budget of seconds.
func Median(do func() error, budget float64) (float64, error) {
	seconds, err := Measure(do, budget)
	if err != nil {
		return 0, err
	}
	slices.Sort(seconds)
	return seconds[len(seconds)/2], nil
}
