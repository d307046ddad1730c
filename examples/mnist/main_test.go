package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/nn"
	"github.com/adjoint-go/adjoint/tensor"
)

// small is a training on a part of the images, which takes a second or two.
func small(t *testing.T) config {
	dir := t.TempDir()
	c := config{epochs: 2, batch: 50, threads: 1, seed: 1, backend: "cpu", trainImages: 3000, testImages: 1030,
		save: filepath.Join(dir, "mnist.safetensors"), out: filepath.Join(dir, "mnist.png")}
	if testing.Short() {
		c.epochs, c.trainImages = 1, 2000
	}
	return c
}

func train(t *testing.T, c config) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.run(context.Background(), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// result is the last two lines: the checksum and the accuracy.
var result = regexp.MustCompile(`parameters sha256 ([0-9a-f]{64})\ntest accuracy (0\.\d{4})\n$`)

// TestRun: a short training learns; it has the same bits on two threads; what it saved gives the same test.
func TestRun(t *testing.T) {
	c := small(t)
	first := train(t, c)
	m := result.FindStringSubmatch(first)
	if m == nil {
		t.Fatalf("printed\n%s", first)
	}
	least := 0.87
	if testing.Short() {
		least = 0.7
	}
	if accuracy, _ := strconv.ParseFloat(m[2], 64); accuracy < least {
		t.Errorf("accuracy %s, want %v and more", m[2], least)
	}
	picture, err := os.Open(c.out)
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if _, err := png.Decode(picture); err != nil {
		t.Error(err)
	}
	two := c
	two.threads, two.save = 2, ""
	if again := result.FindStringSubmatch(train(t, two)); again == nil || again[0] != m[0] {
		t.Errorf("two threads give %q, one gives %q", again, m[0])
	}
	other := c
	other.load, other.save, other.epochs, other.seed, other.out = c.save, "", 0, 2, ""
	if loaded := result.FindStringSubmatch(train(t, other)); loaded == nil || loaded[0] != m[0] {
		t.Errorf("the saved weights give %q, trained they gave %q", loaded, m[0])
	}
}

// TestDevice: a few steps on the GPU's kernels, interpreted, give the parameters of the CPU, bit for bit.
func TestDevice(t *testing.T) {
	c := small(t)
	c.trainImages, c.testImages, c.batch, c.epochs, c.save, c.out = 64, 16, 16, 1, "", ""
	want := result.FindStringSubmatch(train(t, c))
	t.Setenv("ADJOINT_PTXSIM", "1")
	c.backend = "cuda"
	if got := result.FindStringSubmatch(train(t, c)); got == nil || want == nil || got[0] != want[0] {
		t.Errorf("on the device %q, on the CPU %q", got, want)
	}
}

// TestInterrupt: training stops between steps and still saves.
func TestInterrupt(t *testing.T) {
	c := small(t)
	ctx, cancel := context.WithCancel(context.Background())
	progress := writer(func(line string) {
		if strings.Contains(line, "step 1/") {
			cancel()
		}
	})
	var out bytes.Buffer
	err := c.run(ctx, &out, progress)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "after 1 steps") {
		t.Errorf("%v, want an end after one step", err)
	}
	if _, err := os.Stat(c.save); err != nil || strings.Contains(out.String(), "accuracy") {
		t.Errorf("saved: %v, printed\n%s", err, out.String())
	}
}

type writer func(string)

func (w writer) Write(b []byte) (int, error) { w(string(b)); return len(b), nil }

// TestDebugNaN: a sound training passes, one that begins with a NaN stops at the op that met it.
func TestDebugNaN(t *testing.T) {
	c := small(t)
	c.debugNaN, c.epochs, c.trainImages = true, 1, 100
	train(t, c)
	s := graph.NewStore(cpu.On(cpu.Serial()), 1)
	newModel(s)
	w, _ := s.Lookup("out/w")
	spoiled := tensor.Must(tensor.New(tensor.Float32, w.Spec().Shape...))
	tensor.Must(tensor.Slice[float32](spoiled))[3] = float32(math.NaN())
	if err := errors.Join(w.Set(spoiled), nn.Save(c.save, s)); err != nil {
		t.Fatal(err)
	}
	c.load, c.save = c.save, ""
	err := c.run(context.Background(), io.Discard, io.Discard)
	var nan *graph.NaNError
	if !errors.As(err, &nan) || nan.Op != "ops.MatMul" || !nan.Inputs ||
		!strings.Contains(err.Error(), "step 1 in epoch 1") {
		t.Errorf("%v, want ops.MatMul in step 1", err)
	}
}

func TestFlagErrors(t *testing.T) {
	for _, row := range []struct {
		spoil func(*config)
		names string
	}{
		{func(c *config) { c.backend = "abacus" }, `"abacus"`},
		{func(c *config) { c.batch = 0 }, "-batch 0"},
		{func(c *config) { c.epochs = -1 }, "-epochs -1"},
		{func(c *config) { c.epochs = math.MaxInt }, "-epochs 9"}, // as many steps as no int counts
		{func(c *config) { c.epochs, c.save = 1000, filepath.Join(c.save, "none", "w") }, "none"},
		{func(c *config) { c.load = filepath.Join(c.save, "none") }, "none"},
		{func(c *config) { c.data = c.out }, "train-images-idx3-ubyte.gz"},
		{func(c *config) { c.epochs, c.out = 0, filepath.Join(c.out, "no.png") }, "no.png"},
	} {
		c := small(t)
		c.testImages = 10
		row.spoil(&c)
		err := c.run(context.Background(), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), row.names) {
			t.Errorf("%v, want an error that names %s", err, row.names)
		}
	}
}

// TestReadIDX: a file that is not what it should be is an error that names it and says why.
func TestReadIDX(t *testing.T) {
	file := func(magic, n uint32, data ...byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		header := binary.Write(z, binary.BigEndian, []uint32{magic, n})
		if err := errors.Join(header, binary.Write(z, binary.BigEndian, data), z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	good := file(labelMagic, 3, 7, 8, 9)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-8] ^= 1 // in the checksum
	path := filepath.Join(t.TempDir(), "labels.gz")
	for _, row := range []struct {
		why, says string
		content   []byte
	}{
		{"as it should be", "", good},
		{"images for labels", "[2051 3], want [2049 3]", file(imageMagic, 3, 7, 8, 9)},
		{"another number", "[2049 4], want [2049 3]", file(labelMagic, 4, 7, 8, 9, 9)},
		{"too few bytes", "truncated", file(labelMagic, 3, 7, 8)},
		{"too many bytes", "more than the 3 bytes", file(labelMagic, 3, 7, 8, 9, 9)},
		{"no header", "truncated", file(labelMagic, 3)[:12]},
		{"cut off", "truncated", good[:len(good)-9]},
		{"cut off in the checksum", "truncated", good[:len(good)-2]},
		{"a flipped bit", "checksum", flipped},
		{"not compressed", "gzip", []byte("not a compressed file at all")},
		{"empty", "truncated", nil},
	} {
		if err := os.WriteFile(path, row.content, 0o666); err != nil {
			t.Fatal(err)
		}
		data, err := readIDX(path, labelMagic, 3)
		told := err != nil && strings.Contains(err.Error(), row.says) && strings.Contains(err.Error(), path)
		if row.says == "" && (err != nil || fmt.Sprint(data) != "[7 8 9]") || row.says != "" && !told {
			t.Errorf("%s: %v, %v, want %q", row.why, data, err, row.says)
		}
	}
}

// BenchmarkMNISTStep is one training step on 128 images.
func BenchmarkMNISTStep(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			backend := cpu.On(cpu.Threads(threads))
			s := graph.NewStore(backend, 1)
			outputs, _ := trainingStep(newModel(s), 128, 1000)
			program, err := graph.Compile(backend, outputs...)
			if err != nil {
				b.Fatal(err)
			}
			feed := graph.Feed{
				"images": tensor.Must(tensor.New(tensor.Uint8, 128, pixels)),
				"labels": tensor.Must(tensor.New(tensor.Uint8, 128)),
			}
			loss := []*tensor.Tensor{tensor.Must(tensor.New(tensor.Float32))}
			ctx := context.Background()
			if err := program.RunInto(ctx, feed, loss); err != nil { // the first run makes buffers
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := program.RunInto(ctx, feed, loss); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
