package nn

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far training has come: a bar on a terminal, lines elsewhere. It formats nothing in a step
// that shows nothing.
type progress struct {
	w        io.Writer
	terminal bool
	names    []string // of the values: loss, metrics…
	epochs   int
	steps    int // of an epoch; 0: not known
	every    int

	epoch int
	began time.Time
	bar   *progressbar.ProgressBar
	shown time.Time // the bar's last change
}

func newProgress(t *Trainer) *progress {
	p := &progress{w: t.Progress, names: []string{"loss"}, epochs: t.Epochs, steps: t.Data.Len()}
	p.every = cmp.Or(t.Every, 100)
	if p.w == nil {
		p.w = os.Stderr
	}
	if f, ok := p.w.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd()))
	}
	for _, m := range t.Metrics {
		p.names = append(p.names, m.Name)
	}
	return p
}

func (p *progress) begin(epoch int) {
	p.epoch, p.began, p.shown = epoch, time.Now(), time.Time{}
	if p.terminal {
		total := p.steps
		if total == 0 {
			total = -1
		}
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.w), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionSetItsString("steps"), progressbar.OptionClearOnFinish())
	}
}

// barPause is the time between two changes of a bar: the eye sees no more, and a change costs more than a
// small step.
const barPause = 100 * time.Millisecond

// step shows the values of step n of the epoch, from 1, if it is time to.
func (p *progress) step(n int, values []float64) {
	if p.bar != nil {
		if now := time.Now(); now.Sub(p.shown) >= barPause {
			p.shown = now
			p.bar.Describe(fmt.Sprintf("epoch %d/%d%s", p.epoch, p.epochs, p.format(values)))
			p.bar.Set(n)
		}
		return
	}
	if n%p.every != 0 && (n != 1 || p.epoch != 1) {
		return
	}
	total := ""
	if p.steps > 0 {
		total = fmt.Sprint("/", p.steps)
	}
	each := time.Since(p.began) / time.Duration(n)
	fmt.Fprintf(p.w, "epoch %d/%d  step %d%s%s  %v a step\n",
		p.epoch, p.epochs, n, total, p.format(values), each.Round(time.Microsecond))
}

// end shows an epoch that is finished.
func (p *progress) end(e Epoch) {
	p.stop()
	values := append([]float64{e.Loss}, e.Metrics...)
	fmt.Fprintf(p.w, "epoch %d/%d  mean%s  %v\n",
		e.Number, p.epochs, p.format(values), e.Time.Round(time.Millisecond))
}

// stop leaves the terminal clean.
func (p *progress) stop() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}

func (p *progress) format(values []float64) string {
	s := ""
	for i, v := range values {
		s += fmt.Sprintf("  %s %.4f", p.names[i], v)
	}
	return s
}
