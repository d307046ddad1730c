package main

import (
	"math"
	"path/filepath"
	"testing"
)

// TestDrawResult: every loss that a training can end with is drawn, on an axis that has no 0.
func TestDrawResult(t *testing.T) {
	large := make([]float64, 120)
	for i := range large {
		large[i] = 1e300
		if i > 30 {
			large[i] = 1e-3 // what a running sum would lose
		}
	}
	for why, losses := range map[string][]float64{
		"no step": {}, "one step": {0.5}, "a constant below 1": {0.5, 0.5}, "zeros": {0, 0}, "above 1": {2.5},
		"not finite": {1, math.NaN(), math.Inf(1), 2}, "nothing finite": {math.NaN()}, "all sizes": large,
	} {
		path := filepath.Join(t.TempDir(), "loss.png")
		if err := drawResult(path, losses, &[classes][classes]int{}); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
}
