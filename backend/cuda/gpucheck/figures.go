package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/adjoint-go/adjoint/backend/cuda"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
	"github.com/adjoint-go/adjoint/backend/cuda/internal/ptxsim"
	"github.com/adjoint-go/adjoint/tensor"
)

// figures measures every case and prints the table.
func figures(c config, out, log io.Writer) (string, error) {
	bandwidth, err := copyBandwidth(c)
	if err != nil {
		return "", fmt.Errorf("the device's own copy: %w", err)
	}
	ours, wrong := column(c, log, cuda.Options{})
	library, err := column(c, log, cuda.Options{CUBLAS: true})
	noLibrary := ""
	if errors.Is(err, cuda.ErrNoCUBLAS) {
		noLibrary, err = fmt.Sprintf("; no cuBLAS: %v", err), nil
	}
	theirs, noTorch := torch(c, log)
	table(out, c, bandwidth, ours, library, theirs)
	return fmt.Sprintf("tensors of 2^%d elements; the CPU's bits but for products; a copy by the driver moves %.0f GB/s%s%s",
		c.log2, bandwidth/1e9, noLibrary, noTorch), errors.Join(wrong, err)
}

// copyBandwidth is the bytes a second, read and written, of the driver's copy within the device.
func copyBandwidth(c config) (float64, error) {
	api, err := driver.Load()
	if c.simulated {
		api, err = ptxsim.Open(), nil
	}
	if err != nil {
		return 0, err
	}
	d, err := driver.New(api)
	if err != nil {
		return 0, err
	}
	v, err := d.Device(c.device)
	if err != nil {
		return 0, err
	}
	ctx, err := v.Retain()
	if err != nil {
		return 0, err
	}
	if err := ctx.Enter(); err != nil {
		return 0, errors.Join(err, ctx.Release())
	}
	defer ctx.Exit()
	best, err := copyTime(ctx, uint64(4)<<c.log2)
	return float64(int(8)<<c.log2) / best.Seconds(), errors.Join(err, ctx.Release())
}

// copyTime is the least time of a copy of size bytes. What it takes goes back with the context.
func copyTime(ctx *driver.Context, size uint64) (best time.Duration, err error) {
	s, err := ctx.NewStream()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Destroy()) }()
	var at [2]driver.Ptr
	var events [2]*driver.Event
	for i := range at {
		if at[i], err = ctx.Alloc(size); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, ctx.Free(at[i])) }()
		if events[i], err = ctx.NewEvent(true); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, events[i].Destroy()) }()
	}
	if err := s.Fill(at[0], 1, size); err != nil {
		return 0, err
	}
	const times = 10
	best = time.Hour
	for range 5 {
		errs := []error{s.Record(events[0])}
		for range times {
			errs = append(errs, s.Copy(at[1], at[0], size))
		}
		errs = append(errs, s.Record(events[1]), events[1].Sync())
		t, err := events[1].Since(events[0])
		if err := errors.Join(append(errs, err)...); err != nil {
			return 0, err
		}
		best = max(time.Nanosecond, min(best, t/times))
	}
	return best, nil
}

// column is the time of every case on a backend of its own; with cuBLAS only of products. The error is those of all
// cases, which have no time.
func column(c config, log io.Writer, o cuda.Options) (map[string]time.Duration, error) {
	b, err := cuda.OpenWith(c.device, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		runtime.GC() // what the cases took goes back in cleanups
		if err := b.Close(); err != nil {
			fmt.Fprintf(log, "close: %v\n", err)
		}
	}()
	times, errs := map[string]time.Duration{}, []error(nil)
	for _, f := range cases(c.log2) {
		if o.CUBLAS && f.flops == 0 {
			continue
		}
		t, kernels, err := f.time(b, c.aim())
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.name, err))
			if errors.Is(err, cuda.ErrFault) { // no later case can run
				break
			}
			continue
		}
		times[f.name] = t
		fmt.Fprintf(log, "%s: %v, %d kernels\n", f.name, t, kernels)
	}
	return times, errors.Join(errs...)
}

// aim is how long a try takes; of the interpreter's times none is of use.
func (c config) aim() time.Duration {
	if c.simulated {
		return time.Millisecond
	}
	return 100 * time.Millisecond
}

// time is the device's time, once the result was seen to be the CPU's.
func (f *figure) time(b *cuda.Backend, aim time.Duration) (t time.Duration, kernels int, err error) {
	d := &data{b: b, rng: rand.New(rand.NewPCG(1, 2))}
	w, err := f.make(d)
	if err := errors.Join(d.err, err); err != nil {
		return 0, 0, err
	}
	if f.flops == 0 {
		if err := d.check(); err != nil {
			return 0, 0, err
		}
	}
	t, err = measure(b, aim, func(n int) error { return w.start(b, n) })
	return t, len(w), err
}

// table prints what was measured: for what memory bounds the share of the copy bandwidth, for products TFLOP/s.
func table(out io.Writer, c config, bandwidth float64, ours, library, theirs map[string]time.Duration) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	fmt.Fprint(w, "| figure\t| ms\t| rate\t| of the copy\t| cuBLAS, ms\t| torch, ms\t| torch/best |\n")
	fmt.Fprint(w, "|---\t|---\t|---\t|---\t|---\t|---\t|--- |\n")
	for _, f := range cases(c.log2) {
		t := ours[f.name]
		rate, share := "–", "–"
		switch {
		case t == 0: // an error, which is told
		case f.flops > 0:
			rate = fmt.Sprintf("%.3g TFLOP/s", float64(f.flops)/t.Seconds()/1e12)
		default:
			rate = fmt.Sprintf("%.4g GB/s", float64(f.bytes)/t.Seconds()/1e9)
			share = fmt.Sprintf("%.3g%%", 100*float64(f.bytes)/t.Seconds()/bandwidth)
		}
		best, ratio := t, "–"
		if l := library[f.name]; l > 0 && (l < best || best == 0) {
			best = l
		}
		if theirs[f.name] > 0 && best > 0 {
			ratio = fmt.Sprintf("%.2f", theirs[f.name].Seconds()/best.Seconds())
		}
		fmt.Fprintf(w, "| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s |\n",
			f.name, millis(t), rate, share, millis(library[f.name]), millis(theirs[f.name]), ratio)
	}
	w.Flush()
	fmt.Fprintf(out, "\n%s\n", text.String())
}

func millis(t time.Duration) string {
	if t == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", t.Seconds()*1e3)
}

// converted is a tensor of another type with the values of one of float32.
func converted(t *tensor.Tensor, dt tensor.DType) (*tensor.Tensor, error) {
	from := tensor.Elements[float32](t.Storage())
	v := make([]float64, len(from))
	for i, x := range from {
		v[i] = float64(x)
	}
	return tensor.FromFloat64s(dt, v, t.Shape()...)
}
