package fmath

import (
	"bufio"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The rows of the file are "function arguments… value rest", and again value and rest for an imaginary
// part: value is the exact result rounded to float64, rest what that leaves, both computed by mpmath at
// 260 bits or more. Its several thousand rows are a sample; the documented bounds were measured on 9000
// rows a function.
var referenceFile = flag.String("reference", "testdata/reference.txt", "file of exact results")

// measured is a function under TestAccuracy, and the worst that was found for it.
type measured struct {
	args  int
	f     func(v []float64) []float64
	bound float64
	rows  int
	worst float64
	row   string
}

// everything lists the functions of all kinds by name.
func everything() map[string]*measured {
	all := map[string]*measured{}
	for _, u := range unary {
		all[u.name] = &measured{args: 1, bound: u.ulp, f: func(v []float64) []float64 {
			return []float64{u.f(v[0])}
		}}
	}
	for _, b := range binaryFuncs {
		all[b.name] = &measured{args: 2, bound: b.ulp, f: func(v []float64) []float64 {
			return []float64{b.f(v[0], v[1])}
		}}
	}
	for _, c := range complexUnary {
		all[c.name] = &measured{args: 2, bound: c.ulp, f: func(v []float64) []float64 {
			z := c.f(complex(v[0], v[1]))
			return []float64{real(z), imag(z)}
		}}
	}
	all["CPow"] = &measured{args: 4, bound: 1, f: func(v []float64) []float64 {
		z := CPow(complex(v[0], v[1]), complex(v[2], v[3]))
		return []float64{real(z), imag(z)}
	}}
	return all
}

func TestAccuracy(t *testing.T) {
	file, err := os.Open(*referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := everything()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		var v []float64
		for _, s := range fields[1:] {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, x)
		}
		m := all[fields[0]]
		m.rows++
		for i, got := range m.f(v[:m.args]) {
			want, rest := v[m.args+2*i], v[m.args+2*i+1]
			e := ulps(got, want, rest)
			if fields[0] == "CPow" { // by the modulus, see its comment
				e *= ulp(want) / ulp(Hypot(v[m.args], v[m.args+2]))
			}
			if e > m.worst {
				m.worst, m.row = e, lines.Text()+" got "+strconv.FormatFloat(got, 'x', -1, 64)
			}
		}
	}
	for name, m := range all {
		t.Logf("%-9s %.3f ULP over %d rows", name, m.worst, m.rows)
		if m.rows < 30 {
			t.Errorf("%s: only %d rows in %s", name, m.rows, *referenceFile)
		}
		if m.worst > m.bound {
			t.Errorf("%s: %.3f ULP, documented %.2f: %s", name, m.worst, m.bound, m.row)
		}
	}
}
