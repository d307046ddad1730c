package ptxsim

import (
	"fmt"
	"testing"
)

// TestComparisons: setp in all its forms, by way of selp. A float's comparison without u is false on a NaN,
// one with u true.
func TestComparisons(t *testing.T) {
	type form struct {
		op, ty string
		want   func(a, b uint64) bool
	}
	var forms []form
	less := func(ty string) func(a, b uint64) (lt, eq, nan bool) {
		w := width(ty)
		return func(a, b uint64) (lt, eq, nan bool) {
			switch ty[0] {
			case 's':
				x, y := int64(a<<(64-w)), int64(b<<(64-w))
				return x < y, x == y, false
			case 'f':
				x, y := value(a, ty), value(b, ty)
				return x < y, x == y, x != x || y != y
			}
			x, y := a<<(64-w), b<<(64-w)
			return x < y, x == y, false
		}
	}
	for _, ty := range []string{"u16", "s16", "u32", "s32", "u64", "s64", "f16", "f32", "f64"} {
		order := less(ty)
		for op, of := range map[string]func(lt, eq bool) bool{
			"eq": func(lt, eq bool) bool { return eq }, "ne": func(lt, eq bool) bool { return !eq },
			"lt": func(lt, eq bool) bool { return lt }, "le": func(lt, eq bool) bool { return lt || eq },
			"gt": func(lt, eq bool) bool { return !lt && !eq }, "ge": func(lt, eq bool) bool { return !lt },
		} {
			forms = append(forms, form{op, ty, func(a, b uint64) bool {
				lt, eq, nan := order(a, b)
				return !nan && of(lt, eq)
			}})
			if ty[0] == 'f' {
				forms = append(forms, form{op + "u", ty, func(a, b uint64) bool {
					lt, eq, nan := order(a, b)
					return nan || of(lt, eq)
				}})
			}
		}
		if ty[0] == 'f' {
			forms = append(forms,
				form{"num", ty, func(a, b uint64) bool { _, _, nan := order(a, b); return !nan }},
				form{"nan", ty, func(a, b uint64) bool { _, _, nan := order(a, b); return nan }})
		} else if ty[0] == 'u' {
			forms = append(forms,
				form{"lo", ty, func(a, b uint64) bool { lt, _, _ := order(a, b); return lt }},
				form{"ls", ty, func(a, b uint64) bool { lt, eq, _ := order(a, b); return lt || eq }},
				form{"hi", ty, func(a, b uint64) bool { lt, eq, _ := order(a, b); return !lt && !eq }},
				form{"hs", ty, func(a, b uint64) bool { lt, _, _ := order(a, b); return !lt }})
		}
	}
	for _, f := range forms {
		row := opRow{out: "u32", in: f.ty, sources: 2}
		a, b, _ := operandTable(row)
		for len(a)%64 != 0 {
			a, b = append(a, a[0]), append(b, b[0])
		}
		// Bits 0 and 1 are p and q of p|q; bits 2 to 4 the comparison combined with "a is odd".
		row.op = fmt.Sprintf(`setp.%[1]s.%[2]s %%p1|%%p2, %[3]s, %[4]s;
	ld.global.u32 %%r9, [%%rd21]; and.b32 %%r9, %%r9, 1; setp.ne.u32 %%p3, %%r9, 0;
	setp.%[1]s.and.%[2]s %%p4, %[3]s, %[4]s, %%p3; setp.%[1]s.or.%[2]s %%p5, %[3]s, %[4]s, %%p3;
	setp.%[1]s.xor.%[2]s %%p6|%%p7, %[3]s, %[4]s, !%%p3;
	selp.u32 %%r10, 1, 0, %%p1; selp.u32 %%r11, 2, 0, %%p2; or.b32 %%r10, %%r10, %%r11;
	selp.u32 %%r11, 4, 0, %%p4; or.b32 %%r10, %%r10, %%r11; selp.u32 %%r11, 8, 0, %%p5; or.b32 %%r10, %%r10, %%r11;
	selp.u32 %%r11, 16, 0, %%p6; or.b32 %%r10, %%r10, %%r11; selp.u32 %%r11, 32, 0, %%p7; or.b32 %%r12, %%r10, %%r11;
	mov.u32 %%r12, %%r12; //`, f.op, f.ty, register(f.ty, 0), register(f.ty, 1))
		text := opText(opRow{op: row.op, out: "u32", in: f.ty, sources: 2})
		r := open(t, text)
		out := upload(r, make([]uint64, len(a)))
		r.launch("k", uint32(len(a)/64), 64, upload(r, a), upload(r, b), upload(r, b), out)
		for i, got := range download[uint64](r, out, len(a)) {
			c, odd := f.want(a[i], b[i]), a[i]&1 != 0
			want := oneIf(c) | oneIf(!c)<<1 | oneIf(c && odd)<<2 | oneIf(c || odd)<<3 | oneIf(c != !odd)<<4 |
				oneIf(!c != !odd)<<5
			if got != want {
				t.Errorf("setp.%s.%s of %#x, %#x: %06b, want %06b", f.op, f.ty, a[i], b[i], got, want)
				break
			}
		}
	}
}

func TestTestp(t *testing.T) {
	values := []uint64{0, 1, 0x7fffff, 0x800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000}
	for op, want := range map[string]uint32{ // a bit for each value
		"finite": 0b000111111, "infinite": 0b001000000, "number": 0b001111111, "notanumber": 0b110000000,
		"normal": 0b000111000, "subnormal": 0b000000110,
	} {
		var list lanes
		copy(list[:], values)
		if got := property(op, "f32")(&list, nil) & (1<<len(values) - 1); got != want {
			t.Errorf("testp.%s: %09b, want %09b", op, got, want)
		}
	}
}
