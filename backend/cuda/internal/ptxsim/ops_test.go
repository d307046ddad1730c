package ptxsim

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"testing"
)

// opRow is one form of an instruction: op d, a, b, c with sources of type in, and what Go says it gives.
type opRow struct {
	op      string
	out, in string // types of the destination and of the sources
	sources int
	tail    string // operands behind the sources
	want    func(a, b, c uint64) uint64
}

// The operands of a type: its corners, and what a mistake in one bit or one rounding would show in.
func operands(ty string) []uint64 {
	w := width(ty)
	if ty[0] != 'f' {
		list := []uint64{0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 0x55, 0x80, 0xff, 0x1234, 0x8000, 0xffff,
			0x12345678, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0xdeadbeefcafebabe, math.MaxInt64,
			1 << 63, math.MaxUint64, math.MaxUint64 - 1}
		for i := range list {
			list[i] &= math.MaxUint64 >> (64 - w)
		}
		return list
	}
	values := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -7, 1.0 / 3, math.Pi, 1e-3,
		255.5, 256, -129, 32767.5, 65504, 65519.99, 65520, 1e5, 16777216, 16777217, 2147483647, 2147483648,
		-2147483649, 4294967296, 9.3e18, -9.3e18, 1.9e19, 1e30, -1e30, 3.4e38, 1e-30, 1e-38, 1e-42, 6e-8, 3e-8,
		1 + 1.0/(1<<11), 1 + 1.0/(1<<24), 1 + 3.0/(1<<24), math.Inf(1), math.Inf(-1), math.NaN(), 1e300, 1e-310}
	list := make([]uint64, len(values))
	for i, v := range values {
		switch ty {
		case "f16":
			list[i] = toHalf(v, roundNearest)
		case "f32":
			list[i] = uint64(math.Float32bits(float32(v)))
		default:
			list[i] = math.Float64bits(v)
		}
	}
	return list
}

func s32(v uint64) int32   { return int32(v) }
func s64(v uint64) int64   { return int64(v) }
func f32(v uint64) float32 { return math.Float32frombits(uint32(v)) }
func f64(v uint64) float64 { return math.Float64frombits(v) }

func b32(f float32) uint64 {
	if f != f {
		return nan32
	}
	return uint64(math.Float32bits(f))
}

func b64(f float64) uint64 {
	if f != f {
		return nan64
	}
	return math.Float64bits(f)
}

// exact is x·y + z rounded once to the precision of a float32, by big integers.
func exact(x, y, z float32) float32 {
	if s := float64(x)*float64(y) + float64(z); math.IsInf(s, 0) || s != s || x == 0 || y == 0 {
		return float32(s)
	}
	p := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
	if p.Add(p, big.NewFloat(float64(z))).Sign() == 0 {
		return 0
	}
	r, _ := p.Float32()
	return r
}

// intRows are the integer instructions, for each width by the type's letters.
func intRows() []opRow {
	var rows []opRow
	add := func(op, ty string, n int, want func(a, b, c uint64) uint64) {
		rows = append(rows, opRow{op: op, out: ty, in: ty, sources: n, want: want})
	}
	for _, w := range []int{16, 32, 64} {
		u, s, b := fmt.Sprint("u", w), fmt.Sprint("s", w), fmt.Sprint("b", w)
		sign := func(v uint64) int64 { return int64(v<<(64-w)) >> (64 - w) }
		mask := uint64(math.MaxUint64) >> (64 - w)
		for _, ty := range []string{u, s} {
			add("add."+ty, ty, 2, func(a, b, _ uint64) uint64 { return a + b })
			add("sub."+ty, ty, 2, func(a, b, _ uint64) uint64 { return a - b })
			add("mul.lo."+ty, ty, 2, func(a, b, _ uint64) uint64 { return a * b })
			add("mad.lo."+ty, ty, 3, func(a, b, c uint64) uint64 { return a*b + c })
		}
		product := func(a, b uint64, signed bool) *big.Int {
			if signed {
				return new(big.Int).Mul(big.NewInt(sign(a)), big.NewInt(sign(b)))
			}
			return new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
		}
		low := func(n *big.Int) uint64 {
			return new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		}
		for _, signed := range []bool{false, true} {
			ty := u
			if signed {
				ty = s
			}
			hi := func(a, b uint64) uint64 { return low(new(big.Int).Rsh(product(a, b, signed), uint(w))) }
			add("mul.hi."+ty, ty, 2, func(a, b, _ uint64) uint64 { return hi(a, b) })
			add("mad.hi."+ty, ty, 3, func(a, b, c uint64) uint64 { return hi(a, b) + c })
			if w < 64 {
				double := fmt.Sprint(ty[:1], 2*w)
				rows = append(rows,
					opRow{op: "mul.wide." + ty, out: double, in: ty, sources: 2,
						want: func(a, b, _ uint64) uint64 { return low(product(a, b, signed)) }})
			}
		}
		quotient := func(f func(a, b int64) int64, g func(a, b uint64) uint64, zero func(a uint64) uint64) (x, y func(a, b, c uint64) uint64) {
			return func(a, b, _ uint64) uint64 {
					if b == 0 {
						return zero(a)
					}
					return uint64(f(sign(a), sign(b)))
				}, func(a, b, _ uint64) uint64 {
					if b == 0 {
						return zero(a)
					}
					return g(a, b)
				}
		}
		div, divu := quotient(func(a, b int64) int64 { return a / b }, func(a, b uint64) uint64 { return a / b },
			func(uint64) uint64 { return math.MaxUint64 })
		rem, remu := quotient(func(a, b int64) int64 { return a % b }, func(a, b uint64) uint64 { return a % b },
			func(a uint64) uint64 { return a })
		add("div."+s, s, 2, div)
		add("div."+u, u, 2, divu)
		add("rem."+s, s, 2, rem)
		add("rem."+u, u, 2, remu)
		add("min."+s, s, 2, func(a, b, _ uint64) uint64 { return uint64(min(sign(a), sign(b))) })
		add("max."+s, s, 2, func(a, b, _ uint64) uint64 { return uint64(max(sign(a), sign(b))) })
		add("min."+u, u, 2, func(a, b, _ uint64) uint64 { return min(a, b) })
		add("max."+u, u, 2, func(a, b, _ uint64) uint64 { return max(a, b) })
		add("and."+b, b, 2, func(a, b, _ uint64) uint64 { return a & b })
		add("or."+b, b, 2, func(a, b, _ uint64) uint64 { return a | b })
		add("xor."+b, b, 2, func(a, b, _ uint64) uint64 { return a ^ b })
		add("not."+b, b, 1, func(a, _, _ uint64) uint64 { return ^a })
		add("cnot."+b, b, 1, func(a, _, _ uint64) uint64 { return oneIf(a == 0) })
		add("neg."+s, s, 1, func(a, _, _ uint64) uint64 { return -a })
		add("abs."+s, s, 1, func(a, _, _ uint64) uint64 { return uint64(max(sign(a), -sign(a))) })
		add("sad."+s, s, 3, func(a, b, c uint64) uint64 { return c + uint64(max(sign(a)-sign(b), sign(b)-sign(a))) })
		if w == 64 {
			rows = rows[:len(rows)-1] // the differences leave 64 bits
		}
		shift := func(op string, f func(a, n uint64) uint64) {
			rows = append(rows, opRow{op: op, out: b, in: b, sources: 1, tail: ", %r31",
				want: func(a, _, n uint64) uint64 { return f(a, n) }})
		}
		shift("shl."+b, func(a, n uint64) uint64 { return a << n })
		shift("shr."+u, func(a, n uint64) uint64 { return a & mask >> n })
		shift("shr."+s, func(a, n uint64) uint64 { return uint64(sign(a) >> n) })
		if w == 16 {
			continue
		}
		rows = append(rows,
			opRow{op: "popc." + b, out: "u32", in: b, sources: 1,
				want: func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
			opRow{op: "clz." + b, out: "u32", in: b, sources: 1,
				want: func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a) - 64 + w) }},
			opRow{op: "brev." + b, out: b, in: b, sources: 1,
				want: func(a, _, _ uint64) uint64 { return bits.Reverse64(a) >> (64 - w) }},
			opRow{op: "bfind." + u, out: "u32", in: u, sources: 1,
				want: func(a, _, _ uint64) uint64 { return uint64(bits.Len64(a) - 1) }},
			opRow{op: "bfind.shiftamt." + u, out: "u32", in: u, sources: 1, want: func(a, _, _ uint64) uint64 {
				if a == 0 {
					return math.MaxUint64
				}
				return uint64(w - bits.Len64(a))
			}},
			opRow{op: "bfind." + s, out: "u32", in: s, sources: 1, want: func(a, _, _ uint64) uint64 {
				v := sign(a)
				return uint64(bits.Len64(uint64(v^v>>63)) - 1)
			}})
		for _, field := range [][2]int{{0, 1}, {3, 5}, {w - 4, 4}, {w - 4, 9}, {0, w}, {7, 0}, {w + 3, 4}, {5, 200}} {
			pos, n := field[0], field[1]
			bit := func(a uint64, i int, signed bool) uint64 {
				if i < w {
					return a >> i & 1
				} else if signed {
					return a >> (w - 1) & 1
				}
				return 0
			}
			extract := func(signed bool) func(a, b, c uint64) uint64 { // the pseudocode of the PTX manual
				return func(a, _, _ uint64) uint64 {
					var d, sbit uint64
					if signed && n > 0 {
						sbit = a >> min(pos+n-1, w-1) & 1
					}
					for i := range w {
						v := sbit
						if i < n && pos+i < w {
							v = bit(a, pos+i, signed)
						}
						d |= v << i
					}
					return d
				}
			}
			tail := fmt.Sprintf(", %d, %d", pos, n)
			rows = append(rows,
				opRow{op: "bfe." + u, out: u, in: u, sources: 1, tail: tail, want: extract(false)},
				opRow{op: "bfe." + s, out: s, in: s, sources: 1, tail: tail, want: extract(true)},
				opRow{op: "bfi." + b, out: b, in: b, sources: 2, tail: tail, want: func(a, d, _ uint64) uint64 {
					for i := 0; i < n && pos+i < w; i++ {
						d = d&^(1<<(pos+i)) | a>>i&1<<(pos+i)
					}
					return d
				}})
		}
	}
	return append(rows, pairRows()...)
}

func pairRows() []opRow {
	pair := func(a, b uint64) uint64 { return b<<32 | a }
	bytesOf := func(a, b, c uint64) uint64 {
		var all [8]byte
		for i := range 8 {
			all[i] = byte(pair(a, b) >> (8 * i))
		}
		var r uint64
		for i := range 4 {
			v := uint64(all[c>>(4*i)&7])
			if c>>(4*i)&8 != 0 {
				v = uint64(uint8(int8(v) >> 7))
			}
			r |= v << (8 * i)
		}
		return r
	}
	return []opRow{
		{op: "prmt.b32", out: "b32", in: "b32", sources: 3, want: bytesOf},
		{op: "shf.l.wrap.b32", out: "b32", in: "b32", sources: 3, want: func(a, b, c uint64) uint64 {
			return pair(a, b) << (c & 31) >> 32
		}},
		{op: "shf.r.wrap.b32", out: "b32", in: "b32", sources: 3, want: func(a, b, c uint64) uint64 {
			return pair(a, b) >> (c & 31)
		}},
		{op: "shf.l.clamp.b32", out: "b32", in: "b32", sources: 3, want: func(a, b, c uint64) uint64 {
			return pair(a, b) << min(c, 32) >> 32
		}},
		{op: "shf.r.clamp.b32", out: "b32", in: "b32", sources: 3, want: func(a, b, c uint64) uint64 {
			return pair(a, b) >> min(c, 32)
		}},
		{op: "lop3.b32", out: "b32", in: "b32", sources: 3, tail: ", 0xe8", want: func(a, b, c uint64) uint64 {
			return a&b | b&c | a&c // the majority
		}},
		{op: "lop3.b32", out: "b32", in: "b32", sources: 3, tail: ", 0x6c", want: func(a, b, c uint64) uint64 {
			return (a & c) ^ b
		}},
		{op: "slct.b32.s32", out: "b32", in: "b32", sources: 3, want: func(a, b, c uint64) uint64 {
			if int32(c) >= 0 {
				return a
			}
			return b
		}},
	}
}

func floatRows() []opRow {
	var rows []opRow
	add32 := func(op string, n int, f func(a, b, c float32) float32) {
		rows = append(rows, opRow{op: op, out: "f32", in: "f32", sources: n,
			want: func(a, b, c uint64) uint64 { return b32(f(f32(a), f32(b), f32(c))) }})
	}
	add64 := func(op string, n int, f func(a, b, c float64) float64) {
		rows = append(rows, opRow{op: op, out: "f64", in: "f64", sources: n,
			want: func(a, b, c uint64) uint64 { return b64(f(f64(a), f64(b), f64(c))) }})
	}
	add32("add.rn.f32", 2, func(a, b, _ float32) float32 { return a + b })
	add32("add.f32", 2, func(a, b, _ float32) float32 { return a + b })
	add32("sub.rn.f32", 2, func(a, b, _ float32) float32 { return a - b })
	add32("mul.rn.f32", 2, func(a, b, _ float32) float32 { return a * b })
	add32("div.rn.f32", 2, func(a, b, _ float32) float32 { return a / b })
	add32("rcp.rn.f32", 1, func(a, _, _ float32) float32 { return 1 / a })
	add32("sqrt.rn.f32", 1, func(a, _, _ float32) float32 { return float32(math.Sqrt(float64(a))) })
	add32("fma.rn.f32", 3, exact)
	add64("add.rn.f64", 2, func(a, b, _ float64) float64 { return a + b })
	add64("sub.rn.f64", 2, func(a, b, _ float64) float64 { return a - b })
	add64("mul.rn.f64", 2, func(a, b, _ float64) float64 { return a * b })
	add64("div.rn.f64", 2, func(a, b, _ float64) float64 { return a / b })
	add64("rcp.rn.f64", 1, func(a, _, _ float64) float64 { return 1 / a })
	add64("sqrt.rn.f64", 1, func(a, _, _ float64) float64 { return math.Sqrt(a) })
	add64("fma.rn.f64", 3, math.FMA)
	drop := func(f func(a, b float64) float64) func(a, b float64) float64 {
		return func(a, b float64) float64 {
			if a != a {
				return b
			} else if b != b {
				return a
			}
			return f(a, b)
		}
	}
	lo, hi := drop(math.Min), drop(math.Max)
	add32("min.f32", 2, func(a, b, _ float32) float32 { return float32(lo(float64(a), float64(b))) })
	add32("max.f32", 2, func(a, b, _ float32) float32 { return float32(hi(float64(a), float64(b))) })
	add64("min.f64", 2, func(a, b, _ float64) float64 { return lo(a, b) })
	add64("max.f64", 2, func(a, b, _ float64) float64 { return hi(a, b) })
	for ty, sign := range map[string]uint64{"f16": 1 << 15, "f32": 1 << 31, "f64": 1 << 63} {
		rows = append(rows,
			opRow{op: "neg." + ty, out: ty, in: ty, sources: 1, want: func(a, _, _ uint64) uint64 { return a ^ sign }},
			opRow{op: "abs." + ty, out: ty, in: ty, sources: 1, want: func(a, _, _ uint64) uint64 { return a &^ sign }})
		if ty != "f16" {
			rows = append(rows, opRow{op: "copysign." + ty, out: ty, in: ty, sources: 2,
				want: func(a, b, _ uint64) uint64 { return a&sign | b&^sign }})
		}
	}
	halves := func(f func(a, b, c float64) float64) func(a, b, c uint64) uint64 {
		return func(a, b, c uint64) uint64 { return toHalf(f(fromHalf(a), fromHalf(b), fromHalf(c)), roundNearest) }
	}
	return append(rows,
		opRow{op: "add.rn.f16", out: "f16", in: "f16", sources: 2,
			want: halves(func(a, b, _ float64) float64 { return a + b })},
		opRow{op: "sub.rn.f16", out: "f16", in: "f16", sources: 2,
			want: halves(func(a, b, _ float64) float64 { return a - b })},
		opRow{op: "mul.rn.f16", out: "f16", in: "f16", sources: 2,
			want: halves(func(a, b, _ float64) float64 { return a * b })},
		opRow{op: "fma.rn.f16", out: "f16", in: "f16", sources: 3, want: halves(func(a, b, c float64) float64 {
			if p := a*b + c; math.IsInf(p, 0) || math.IsNaN(p) || p == 0 {
				return p
			}
			sum := new(big.Float).SetPrec(2000).Add(big.NewFloat(0).SetPrec(100).SetFloat64(a*b), big.NewFloat(c))
			near, acc := sum.SetMode(big.ToZero).SetPrec(53).Float64()
			if acc = sum.Acc(); acc != big.Exact { // keep on the right side of a half's midpoints
				near = math.Float64frombits(math.Float64bits(near) | 1)
			}
			return near
		})})
}

// register is the file that holds a type, and its slots for sources.
func register(ty string, i int) string {
	switch width(ty) {
	case 8, 16:
		return fmt.Sprintf("%%rs%d", 4+i)
	case 32:
		if ty == "f32" {
			return fmt.Sprintf("%%f%d", 4+i)
		}
		return fmt.Sprintf("%%r%d", 4+i)
	}
	if ty == "f64" {
		return fmt.Sprintf("%%fd%d", 4+i)
	}
	return fmt.Sprintf("%%rd%d", 4+i)
}

// opText runs a row on arrays of 8-byte operands: the sources at %rd0 to %rd2, the results at %rd3.
func opText(row opRow) string {
	var b strings.Builder
	b.WriteString("\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r1, %r1, %r2, %r0;\n")
	b.WriteString("\tmul.wide.u32 %rd20, %r1, 8;\n")
	for i := range 3 {
		fmt.Fprintf(&b, "\tadd.s64 %%rd2%d, %%rd%d, %%rd20;\n", 1+i, i)
	}
	b.WriteString("\tadd.s64 %rd24, %rd3, %rd20;\n")
	ops := []string{register(row.out, 8)}
	for i := range row.sources {
		reg := register(row.in, i)
		load := fmt.Sprintf("\tld.global.b%d %s, [%%rd2%d];\n", width(row.in), reg, 1+i)
		b.WriteString(strings.ReplaceAll(load, "b8 ", "u8 "))
		ops = append(ops, reg)
	}
	b.WriteString("\tld.global.u32 %r31, [%rd23];\n")
	fmt.Fprintf(&b, "\t%s %s%s;\n", row.op, strings.Join(ops, ", "), row.tail)
	store := max(width(row.out), 16)
	fmt.Fprintf(&b, "\tst.global.b%d [%%rd24], %s;", store, ops[0])
	return kernelText(4, b.String())
}

// operandTable is every pair of operands, or for three sources a sample of the triples.
func operandTable(row opRow) (a, b, c []uint64) {
	list := operands(row.in)
	for i, x := range list {
		for j, y := range list {
			z := list[(i*7+j*3)%len(list)]
			if strings.HasPrefix(row.tail, ", %r31") {
				z = uint64(j * 3)
			}
			a, b, c = append(a, x), append(b, y), append(c, z)
			if row.sources == 3 {
				a, b, c = append(a, x), append(b, y), append(c, list[(i+j*5+1)%len(list)])
			}
		}
	}
	return a, b, c
}

func TestInstructions(t *testing.T) {
	rows := append(append(intRows(), floatRows()...), convertRows()...)
	for _, row := range rows {
		t.Run(row.op+row.tail, func(t *testing.T) {
			r := open(t, opText(row))
			a, b, c := operandTable(row)
			for len(a)%64 != 0 {
				a, b, c = append(a, a[0]), append(b, b[0]), append(c, c[0])
			}
			out := upload(r, make([]uint64, len(a)))
			r.launch("k", uint32(len(a)/64), 64, upload(r, a), upload(r, b), upload(r, c), out)
			w := max(width(row.out), 16)
			mask := uint64(math.MaxUint64) >> (64 - w)
			for i, got := range download[uint64](r, out, len(a)) {
				if want := row.want(a[i], b[i], c[i]); (got^want)&mask != 0 {
					t.Fatalf("%s of %#x, %#x, %#x = %#x, want %#x", row.op, a[i], b[i], c[i], got&mask, want&mask)
				}
			}
		})
	}
}
