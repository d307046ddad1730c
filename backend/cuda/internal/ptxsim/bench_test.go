//go:build linux

package ptxsim

import (
	"syscall"
	"testing"
)

// sumColumns is the inner loop of a reduction: each thread adds every 64th of 4096 words, in a float.
const sumColumns = `	mov.u32 %r1, %ctaid.x;
	mul.wide.u32 %rd10, %r1, 16384;
	add.s64 %rd10, %rd0, %rd10;
	mul.wide.u32 %rd11, %r0, 4;
	add.s64 %rd10, %rd10, %rd11;
	mov.u32 %r2, %r0;
	mov.f32 %f1, 0f00000000;
$L:
	ld.global.f32 %f2, [%rd10];
	add.rn.f32 %f1, %f1, %f2;
	setp.gt.f32 %p2, %f2, %f1;
	selp.f32 %f3, %f2, %f1, %p2;
	add.s64 %rd10, %rd10, 256;
	add.s32 %r2, %r2, 64;
	setp.lt.u32 %p1, %r2, 4096;
	@%p1 bra $L;
	shfl.sync.bfly.b32 %f4, %f1, 16, 31, -1;
	add.rn.f32 %f1, %f1, %f4;
	st.global.f32 [%rd1], 0f3f800000;`

// BenchmarkInterpreter tells the instructions that the lanes executed per microsecond of processor time.
func BenchmarkInterpreter(b *testing.B) {
	r := open(b, kernelText(2, sumColumns))
	const blocks = 64
	x, o := upload(r, make([]float32, blocks*4096)), upload(r, make([]float32, 1))
	check(b, r.s.Sync())
	ResetTraffic()
	before := cpuTime(b)
	for b.Loop() {
		r.launch("k", blocks, 64, x, o)
		check(b, r.s.Sync())
	}
	b.ReportMetric(float64(Traffic()["k"].Threads)/float64(cpuTime(b)-before), "instr/cpu-µs")
}

// cpuTime is the processor time of the process in microseconds.
func cpuTime(b *testing.B) int64 {
	var u syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return (u.Utime.Sec+u.Stime.Sec)*1e6 + u.Utime.Usec + u.Stime.Usec
}
