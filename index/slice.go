package index

// resolve gives the elements that a slice takes of an axis: start, start+step, …, size of them.
//
// The rule is Python's slice.indices: a negative bound has the extent added once, bounds then clamp to the
// axis (to −1…extent−1 for a negative step), and the size is ⌈(stop − start) / step⌉ or 0. Nothing
// overflows for any start, stop, step and extent ≥ 0: every difference taken lies within the extent.
//
// A slice of one element has step 1, and one of none start 0 and step 1, so that slices that take the same
// elements are the same slice and a step of MinInt never leaves here. The step must not be 0.
func (it Item) resolve(extent int) (start, step, size int) {
	step = 1
	if it.has&hasStep != 0 {
		step = it.step
	}
	low, high := 0, extent // where a walk forward begins and ends
	if step < 0 {
		low, high = -1, extent-1
	}
	bound := func(v int) int {
		if v < 0 {
			v += extent
		}
		return min(max(v, low), high)
	}
	start, stop := low, high
	if step < 0 {
		start, stop = high, low
	}
	if it.has&hasStart != 0 {
		start = bound(it.start)
	}
	if it.has&hasStop != 0 {
		stop = bound(it.stop)
	}
	switch {
	case step > 0 && start < stop:
		size = (stop-start-1)/step + 1
	case step < 0 && start > stop:
		size = int(uint(start-stop-1)/-uint(step)) + 1 // −MinInt is no int, but a uint
	default:
		start = 0
	}
	if size <= 1 {
		step = 1
	}
	return start, step, size
}
