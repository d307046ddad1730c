package nn

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestProgressBar: a terminal gets a bar with the epoch and the values, which leaves one line at the end.
func TestProgressBar(t *testing.T) {
	for _, steps := range []int{3, 0} { // 0: not known how many
		var out bytes.Buffer
		p := &progress{w: &out, terminal: true, names: []string{"loss", "accuracy"}, epochs: 2, steps: steps, every: 1}
		p.begin(1)
		for n := range 3 {
			p.shown = time.Time{}
			p.step(n+1, []float64{0.5, 0.25})
		}
		p.shown = time.Now()
		before := out.Len()
		if p.step(3, []float64{9, 9}); out.Len() != before {
			t.Error("the bar changes more often than the eye sees")
		}
		p.end(Epoch{Number: 1, Steps: 3, Loss: 1, Metrics: []float64{0.125}, Time: 1500 * time.Millisecond})
		lines := strings.Split(out.String(), "\n")
		if !strings.Contains(lines[0], "epoch 1/2  loss 0.5000  accuracy 0.2500") || len(lines) != 2 ||
			!strings.HasSuffix(lines[0], "\repoch 1/2  mean  loss 1.0000  accuracy 0.1250  1.5s") {
			t.Errorf("%d steps: %q", steps, out.String())
		}
	}
}
