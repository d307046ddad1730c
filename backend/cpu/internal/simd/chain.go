package simd

import "unsafe"

// LinkKind says what a link of a chain makes of a value v and the element m of its operand.
type LinkKind uint64

// The kinds, in the order of the assembly. Which operand comes first says which NaN stays, if both are.
const (
	LinkLoad      LinkKind = iota // m: what was v is forgotten
	LinkStore                     // v, which is written to the operand
	LinkMul                       // v · m
	LinkAdd                       // v + m
	LinkSub                       // v − m
	LinkSubFrom                   // m − v
	LinkMulInto                   // m · v
	LinkAddTo                     // m + v
	LinkDiv                       // v / m
	LinkDivInto                   // m / v
	LinkSqrt                      // √v; the operand is not used, but there
	LinkStorePast                 // v, which is written to the operand past the caches
	LinkMax                       // max(v, m)
	LinkMin                       // min(v, m)
	LinkGuard                     // m, but 0 where v is 0 and m is not finite
	LinkGuardBy                   // v, but 0 where m is 0 and v is not finite
	LinkNeg                       // −v; the operand is not used, but there
	linkWide                      // from here on those of float32 that are computed in float64
)

// wideLinks are the kinds that take 35 ns a register where a number is below the normal ones, in the order of those that
// are computed in float64.
var wideLinks = [...]LinkKind{LinkMul, LinkMulInto, LinkDiv, LinkDivInto, LinkSqrt}

// Link is a step of a chain.
type Link[T Float] struct {
	Kind LinkKind
	By   []T
	Walk LinkWalk
}

// LinkWalk says how a link goes through its operand.
type LinkWalk uint64

const (
	// LinkAgain takes the first RepeatedBytes of it for every block of the chain: one element, or what a link of the
	// same block has stored there.
	LinkAgain LinkWalk = 0
	LinkAlong LinkWalk = ^LinkAgain // takes it element by element
)

// RepeatedBytes is how much an operand that is taken again holds of its element.
const RepeatedBytes = 512

// These are nil without assembly for AVX-512. They begin at byte from.
var (
	chain32 func(out, x *float32, links *byte, count, from, n int, past bool) uint32
	chain64 func(out, x *float64, links *byte, count, from, n int, past bool) uint32
)

// HasChains reports whether there is a Chain: without AVX-512 the links one by one are no slower.
func HasChains() bool { return chain32 != nil }

// Chain is out = the links applied to x one after another, element by element: the bits are those of the functions of
// the tables, called for one link after another. There is a link or more, with an operand of no fewer elements
// than out, or of RepeatedBytes. out may be x or an operand, and is written past the caches where that is wanted;
// FencePast is to follow then. A link that stores past the caches where no line begins becomes one that stores.
//
// Tiny numbers, those below the normal ones, make products, quotients and roots of float32 forty times as slow, so that
// these are computed in float64 where the call before met such a number: *tiny, which the caller keeps. The bits are
// the same.
func Chain[T Float](out, x []T, links []Link[T], past bool, tiny *bool) {
	if len(out) == 0 {
		return
	}
	_ = x[len(out)-1]
	for i := range links {
		l := &links[i]
		need := len(out)
		if l.Walk == LinkAgain {
			need = RepeatedBytes / int(unsafe.Sizeof(out[0]))
		}
		_ = l.By[need-1]
		if l.Kind == LinkStorePast && uintptr(unsafe.Pointer(&l.By[0]))%cacheLine != 0 {
			l.Kind = LinkStore
		}
	}
	past = past && uintptr(unsafe.Pointer(&out[0]))%cacheLine == 0
	const block = 8 * cacheLine
	wide := false
	call := max(min(most/8, 2*most/len(links)/block*block), block)
	for i := 0; i < len(out); i += call {
		n, first := min(len(out)-i, call), (*byte)(unsafe.Pointer(&links[0]))
		switch to := any(&out[0]).(type) {
		case *float32:
			if wide != *tiny {
				wide = *tiny
				widen(links, wide)
			}
			*tiny = chain32(to, any(&x[0]).(*float32), first, len(links), 4*i, n, past) != 0
		case *float64:
			chain64(to, any(&x[0]).(*float64), first, len(links), 8*i, n, past)
		}
	}
	if wide {
		widen(links, false)
	}
}

// widen makes links compute in float64, or not.
func widen[T Float](links []Link[T], wide bool) {
	for i := range links {
		l := &links[i]
		if l.Kind >= linkWide && !wide {
			l.Kind = wideLinks[l.Kind-linkWide]
		}
		if !wide || l.Kind > LinkSqrt {
			continue
		}
		for k, kind := range wideLinks {
			if l.Kind == kind {
				l.Kind = linkWide + LinkKind(k)
				break
			}
		}
	}
}
