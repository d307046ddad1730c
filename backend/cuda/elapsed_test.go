package cuda

import (
	"errors"
	"testing"
	"time"

	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

func TestElapsed(t *testing.T) {
	b := device(t)
	run := func() error {
		v := counting(tensor.Float32, 1<<16)
		_, err := twin{op: graph.Copy{}, in: []tensor.View{v}, out: []tensor.Layout{v.Layout()}, used: []bool{true}}.run(b)
		return err
	}
	began := time.Now()
	if d, err := b.Elapsed(run); err != nil || d <= 0 || d > time.Since(began) {
		t.Errorf("a copy took %v of %v, error %v", d, time.Since(began), err)
	}
	broken := errors.New("broken")
	if d, err := b.Elapsed(func() error { return broken }); !errors.Is(err, broken) || d != 0 {
		t.Errorf("what did not start took %v, error %v", d, err)
	}
}
