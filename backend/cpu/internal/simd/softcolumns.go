package simd

import (
	"slices"
	"unsafe"
)

// The parts of a softmax of float32 along columns with AVX-512. These are nil without.
var (
	spanRows32    func(low, high, x *float32, step, columns, rows int)
	softColumns32 func(lanes, keep, x, table, result *float32,
		ahead, laneStep, laneBytes, keepStep, step, resultStep, columns, rows int, log, past bool)
)

// SpanRows makes low and high the least and the greatest of rows of x, the first of which begins at at, and which are
// step apart. There are a multiple of 16 columns, and HasSoftLines is presumed. A NaN is one of them or is passed over.
func SpanRows(low, high, x []float32, at, step, rows int) {
	n := len(low)
	high = high[:n]
	copy(low, x[at:][:n])
	copy(high, low)
	_ = x[at+(rows-1)*step:][:n]
	whole, call := rows&^3, max(4, most/n&^3)
	for i := 0; i < whole; i += call {
		spanRows32(&low[0], &high[0], &x[at+i*step], 4*step, 4*n, min(whole-i, call))
	}
	for i := whole; i < rows; i++ { // a row four times
		spanRows32(&low[0], &high[0], &x[at+i*step], 0, 4*n, 4)
	}
}

// SoftRows reports whether a SoftColumns can do columns with these ends: they are finite and not far apart. A NaN may
// hide, as with Soft.
func SoftRows(low, high []float32) bool {
	for i, v := range low {
		if !(high[i]-v <= softSpan) {
			return false
		}
	}
	return true
}

// SoftColumns is some columns of a softmax, and the end of the columns before: what one has to wait for memory the
// other has to compute. Of the columns before and of these Keep holds the same rows, one after the other.
type SoftColumns struct {
	X        []float32 // rows of it begin at At and are Step apart; nil: there are only results
	At, Step int
	Ahead    int       // from what is read to what is read soon
	Keep     []float32 // a row for each, or one that all rows use: exp(x − m), or x − m with Log
	Lanes    []float32 // eight rows that the exponentials are added to in turn, or one

	Result     []float32 // Keep / s, or Keep − s with Log, in rows that begin at To and are ToStep apart, or nil
	To, ToStep int
	Log        bool
	Past       bool // Result is written past the caches, if it can: FencePast is to follow

	table []float32 // of 16 columns m, s, 1/s and what that lost
}

// blockLanes is the lanes of a block.
const blockLanes = 8

// Tops makes m what is subtracted. There are a multiple of 16 columns, whose elements are no more than softSpan below.
func (c *SoftColumns) Tops(m []float32) {
	c.table = slices.Grow(c.table[:0], 4*len(m))[:4*len(m)]
	for i := 0; i < len(m); i += wideLanes {
		copy(c.table[4*i:], m[i:][:wideLanes])
	}
}

// Ends makes s, from 1 to 2³², what is divided by, or any s what is subtracted.
func (c *SoftColumns) Ends(s []float32) {
	for i, v := range s {
		at := i/wideLanes*4*wideLanes + i%wideLanes
		if c.table[at+wideLanes] = v; !c.Log {
			c.table[at+2*wideLanes], c.table[at+3*wideLanes] = reciprocal(v)
		}
	}
}

// Do does rows, the first of which take the first lane.
func (c *SoftColumns) Do(rows int) {
	n := len(c.table) / 4
	keep, keepStep, laneStep := c.Keep, n, n
	if len(keep) == n {
		keepStep = 0
	}
	if len(c.Lanes) == n {
		laneStep = 0
	}
	_ = keep[(rows-1)*keepStep:][:n]
	if c.X != nil {
		_, _, _ = c.Lanes[(blockLanes-1)*laneStep:][:n], c.X[c.At:][:n], c.X[c.At+(rows-1)*c.Step:][:n]
	}
	past := false
	if c.Result != nil {
		_, _ = c.Result[c.To:][:n], c.Result[c.To+(rows-1)*c.ToStep:][:n]
		past = c.Past && c.ToStep%wideLanes == 0 && uintptr(unsafe.Pointer(&c.Result[c.To]))%cacheLine == 0
	}
	call := max(blockLanes, most/2/n&^(blockLanes-1))
	for i := 0; i < rows; i += call {
		var lanes, x, result *float32
		if c.X != nil {
			lanes, x = &c.Lanes[0], &c.X[c.At+i*c.Step]
		}
		if c.Result != nil {
			result = &c.Result[c.To+i*c.ToStep]
		}
		softColumns32(lanes, &keep[i*keepStep], x, &c.table[0], result, 4*c.Ahead, 4*laneStep, 4*n*blockLanes, 4*keepStep,
			4*c.Step, 4*c.ToStep, 4*n, min(rows-i, call), c.Log, past)
	}
}
