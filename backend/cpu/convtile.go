package cpu

import "github.com/adjoint-go/adjoint/backend/cpu/internal/simd"

// panelProduct multiplies panels, each of a few rows, by a strip of columns, both packed, over a block of the inner
// axis.
type panelProduct[A any] interface {
	size() panelSize
	// pack puts elements k to k + n − 1 of some rows into a panel of a depth; row i of src begins at i·row.
	pack(panel []A, depth, k int, src []A, row, n, rows int)
	// multiply stores rows of the product in c, or adds it there. Rows of the strip are as wide as it is, and all
	// panels but the last one full.
	multiply(rows int, c []A, cRow int, panels, strip []A, depth int, add bool, spare []A)
}

// panelSize is the most rows and columns of a product, and the elements of a panel for each of its columns.
type panelSize struct{ rows, columns, apart int }

// panelsOf is the tile of fused multiply-adds for so many columns, or loops where there is none.
func panelsOf[A float](columns int) panelProduct[A] {
	if t := simd.TileOf[A](columns); t != nil {
		return fusedPanels[A]{t}
	}
	return looped[A]()
}

type fusedPanels[A float] struct{ *simd.Tile[A] }

func (t fusedPanels[A]) size() panelSize { return panelSize{t.Rows, t.Columns, t.Apart} }

func (t fusedPanels[A]) pack(panel []A, _, k int, src []A, row, n, rows int) {
	panel = panel[k*t.Apart:]
	if rows == t.Rows {
		t.Pack(panel, src, row, n)
		return
	}
	for i := range rows {
		for k, v := range src[i*row:][:n] {
			panel[k*t.Apart+i] = v
		}
	}
}

func (t fusedPanels[A]) multiply(rows int, c []A, cRow int, panels, strip []A, depth int, add bool, _ []A) {
	t.Panels(rows, c, cRow, panels, strip, depth, add)
}

// loopedPanels is the same by loops: a row of a panel times all rows of the strip.
type loopedPanels[A summable] struct {
	mac mac[A]
	add func(out, a, b []A)
}

func looped[A number]() panelProduct[A] { return loopedBy(macOf[A]()) }

func loopedBy[A summable](m mac[A]) panelProduct[A] {
	return loopedPanels[A]{m, simd.SumsOf[A]().Row}
}

// A strip of 64 columns stays in the first-level cache with a panel's sums.
const (
	loopedRows    = 8
	loopedColumns = 64
)

func (loopedPanels[A]) size() panelSize { return panelSize{loopedRows, loopedColumns, loopedRows} }

func (loopedPanels[A]) pack(panel []A, depth, k int, src []A, row, n, rows int) {
	for i := range rows {
		copy(panel[i*depth+k:][:n], src[i*row:])
	}
}

func (p loopedPanels[A]) multiply(rows int, c []A, cRow int, panels, strip []A, depth int, add bool, spare []A) {
	for i := range rows { // those of all panels are a depth apart
		to, x := c[i*cRow:][:loopedColumns], panels[i*depth:][:depth]
		if !add {
			p.mac.row(to, strip, 0, loopedColumns, x)
			continue
		}
		sum := spare[:loopedColumns]
		p.mac.row(sum, strip, 0, loopedColumns, x)
		p.add(to, to, sum)
	}
}
