package graph

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/adjoint-go/adjoint/tensor"
)

// Profile is where the time of one run went.
type Profile struct {
	Steps []StepProfile
	Total time.Duration
	Peak  int // bytes of intermediates and results

	start time.Time
}

// StepProfile is one kernel of a run.
type StepProfile struct {
	Op    string
	Pos   string // the user's line
	Start time.Duration
	Time  time.Duration
	Bytes int // of its operands and results
}

// Profile runs the program once and measures every kernel. Errors: as Run.
func (p *Program) Profile(ctx context.Context, feeds Feed) ([]*tensor.Tensor, *Profile, error) {
	outs, err := p.newResults()
	if err != nil {
		return nil, nil, err
	}
	prof := &Profile{Peak: p.PeakBytes(), start: time.Now()}
	if err := p.run(ctx, feeds, outs, prof); err != nil {
		return nil, nil, err
	}
	prof.Total = time.Since(prof.start)
	return outs, prof, nil
}

// now and add do nothing on a nil profile: the usual run.
func (r *Profile) now() time.Duration {
	if r == nil {
		return 0
	}
	return time.Since(r.start)
}

func (r *Profile) add(st *step, began time.Duration, out []tensor.Write, in []tensor.Read) {
	if r == nil {
		return
	}
	s := StepProfile{Op: st.op.Name(), Pos: st.pos, Start: began, Time: time.Since(r.start) - began}
	for _, w := range out {
		s.Bytes += w.Size() * w.DType().Size()
	}
	for _, v := range in {
		s.Bytes += v.Size() * v.DType().Size()
	}
	r.Steps = append(r.Steps, s)
}

// WriteTable prints the time by op, the slowest first, and the peak memory.
func (r *Profile) WriteTable(w io.Writer) error {
	type row struct {
		op    string
		calls int
		time  time.Duration
		bytes int
	}
	byOp := map[string]*row{}
	for _, s := range r.Steps {
		e := byOp[s.Op]
		if e == nil {
			e = &row{op: s.Op}
			byOp[s.Op] = e
		}
		e.calls++
		e.time += s.Time
		e.bytes += s.Bytes
	}
	var rows []*row
	for _, e := range byOp {
		rows = append(rows, e)
	}
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.op, b.op))
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "op\tcalls\ttime\tshare\tGB/s\t\n")
	for _, e := range rows {
		share := 100 * float64(e.time) / float64(max(r.Total, 1))
		fmt.Fprintf(t, "%s\t%d\t%v\t%.1f%%\t%.1f\t\n", e.op, e.calls, e.time.Round(time.Microsecond/10), share,
			float64(e.bytes)/float64(max(e.time, 1)))
	}
	fmt.Fprintf(t, "total\t%d\t%v\t\t\t\n", len(r.Steps), r.Total.Round(time.Microsecond/10))
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "peak memory of the run: %d bytes\n", r.Peak)
	return err
}

// WriteTrace writes the run in the Trace Event format, which chrome://tracing and Perfetto show.
func (r *Profile) WriteTrace(w io.Writer) error {
	type event struct {
		Name  string         `json:"name"`
		Phase string         `json:"ph"`
		Start float64        `json:"ts"` // microseconds
		Time  float64        `json:"dur"`
		PID   int            `json:"pid"`
		TID   int            `json:"tid"`
		Args  map[string]any `json:"args"`
	}
	events := make([]event, len(r.Steps))
	for i, s := range r.Steps {
		events[i] = event{s.Op, "X", float64(s.Start) / 1e3, float64(s.Time) / 1e3, 1, 1,
			map[string]any{"line": s.Pos, "bytes": s.Bytes}}
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ns"})
}
