package main

import (
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// drawResult writes a picture of the loss of every step and of the confusion matrix: rows are labels, columns what
// the model says.
func drawResult(path string, losses []float64, confusion *[classes][classes]int) error {
	curve, err := lossPlot(losses)
	if err != nil {
		return err
	}
	matrix, err := confusionPlot(confusion)
	if err != nil {
		return err
	}
	canvas := vgimg.New(14*vg.Inch, 7*vg.Inch)
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Inch / 4, PadTop: vg.Inch / 8, PadBottom: vg.Inch / 8,
		PadLeft: vg.Inch / 8, PadRight: vg.Inch / 8}
	at := plot.Align([][]*plot.Plot{{curve, matrix}}, tiles, draw.New(canvas))
	curve.Draw(at[0][0])
	matrix.Draw(at[0][1])
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Close()
}

// window is the number of steps that the smooth curve is the mean of.
const window = 50

// lossPlot shows the losses on a logarithmic axis, and the mean of the last steps.
func lossPlot(losses []float64) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "training loss"
	p.X.Label.Text, p.Y.Label.Text = "step", "cross-entropy"
	points, means := make(plotter.XYs, 0, len(losses)), make(plotter.XYs, 0, len(losses))
	for i, l := range losses {
		if math.IsNaN(l) || math.IsInf(l, 0) {
			continue // there is no place for it
		}
		l = math.Max(l, 1e-4) // a logarithm has no 0
		points = append(points, plotter.XY{X: float64(i + 1), Y: l})
		last := points[max(0, len(points)-window):]
		mean := 0.0
		for _, at := range last {
			mean += at.Y / float64(len(last))
		}
		means = append(means, plotter.XY{X: float64(i + 1), Y: mean})
	}
	p.Add(plotter.NewGrid())
	if len(points) == 0 {
		return p, nil
	}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	each, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	each.Color = color.RGBA{0x9e, 0xca, 0xe1, 0xff}
	smooth, err := plotter.NewLine(means)
	if err != nil {
		return nil, err
	}
	smooth.Color, smooth.Width = color.RGBA{0x08, 0x45, 0x94, 0xff}, vg.Points(2)
	p.Add(each, smooth)
	if p.Y.Min == p.Y.Max { // else it is widened to below 0
		p.Y.Min, p.Y.Max = p.Y.Min/2, p.Y.Max*2
	}
	p.Legend.Top = true
	p.Legend.Add("each step", each)
	p.Legend.Add(fmt.Sprintf("mean of %d", window), smooth)
	return p, nil
}

// cells is the matrix as a grid: shades by the logarithm, since all but the diagonal is small. Row 0 is on
// top.
type cells struct{ count *[classes][classes]int }

func (c cells) Dims() (cols, rows int) { return classes, classes }
func (c cells) X(col int) float64      { return float64(col) }
func (c cells) Y(row int) float64      { return float64(row) }
func (c cells) Z(col, row int) float64 { return math.Log1p(float64(c.count[classes-1-row][col])) }

func confusionPlot(confusion *[classes][classes]int) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "test images: label and answer"
	p.X.Label.Text, p.Y.Label.Text = "answer", "label"
	grid := cells{confusion}
	shades := plotter.NewHeatMap(grid, blues(64))
	shades.Min = 0
	shades.Max = max(shades.Max, 1)
	p.Add(shades)
	var texts plotter.XYLabels
	var ticksX, ticksY plot.ConstantTicks
	for row := range classes {
		ticksX = append(ticksX, plot.Tick{Value: float64(row), Label: fmt.Sprint(row)})
		ticksY = append(ticksY, plot.Tick{Value: float64(row), Label: fmt.Sprint(classes - 1 - row)})
		for col := range classes {
			texts.XYs = append(texts.XYs, plotter.XY{X: float64(col), Y: float64(row)})
			texts.Labels = append(texts.Labels, fmt.Sprint(confusion[classes-1-row][col]))
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticksX, ticksY
	labels, err := plotter.NewLabels(texts)
	if err != nil {
		return nil, err
	}
	for i := range labels.TextStyle {
		labels.TextStyle[i].XAlign, labels.TextStyle[i].YAlign = draw.XCenter, draw.YCenter
		x, y := i%classes, i/classes
		if grid.Z(x, y) > shades.Max/2 {
			labels.TextStyle[i].Color = color.White
		}
	}
	p.Add(labels)
	return p, nil
}

// shadesOfBlue is a palette from white to dark blue.
type shadesOfBlue []color.Color

func (s shadesOfBlue) Colors() []color.Color { return s }

func blues(n int) palette.Palette {
	s := make(shadesOfBlue, n)
	for i := range s {
		t := float64(i) / float64(n-1)
		mix := func(a, b float64) uint8 { return uint8(a + (b-a)*t) }
		s[i] = color.RGBA{mix(0xff, 0x08), mix(0xff, 0x30), mix(0xff, 0x6b), 0xff}
	}
	return s
}
