"""The figures of gpucheck on PyTorch: torch.py LOG2 DEVICE prints a line "name TAB milliseconds" for each.

Times are by events of the device, the least of some tries. A line "none TAB reason" says that there is no torch.
"""
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as e:
    sys.exit(print(f"none\t{e}"))
if not torch.cuda.is_available():
    sys.exit(print("none\ttorch has no CUDA device"))

log2, device = int(sys.argv[1]), torch.device("cuda", int(sys.argv[2]))
torch.cuda.set_device(device)
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
n, c = 1 << log2, 1 << (log2 // 2)
r = n // c


def uniform(*shape, dtype=torch.float32):
    return (2 * torch.rand(*shape, device=device) - 1).to(dtype)


def elapsed(f, times):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        f()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / times


def measure(name, f):
    try:
        f()
        once = elapsed(f, 1)
        times = int(min(1000, max(1, 100 / max(once, 1e-3))))
        print(f"{name}\t{min(elapsed(f, times) for _ in range(3))}", flush=True)
    except Exception as e:  # a version without this function: the others are still of use
        print(f"{name}: {e}", file=sys.stderr)


x, y, out = uniform(n), uniform(n), torch.empty(n, device=device)
measure("copy", lambda: out.copy_(x))
k = 1
while k * k < n:
    k *= 2
measure("transpose", lambda: out.view(n // k, k).copy_(x.view(k, n // k).t()))
for length in (32, 256):
    rows = max(1, n // length)
    a, u, o = x.view(rows, length), y.view(rows, length), out.view(rows, length)
    each, repeated = torch.randperm(rows, device=device), torch.randint(rows, (rows,), device=device)
    measure(f"gather, rows of {4 * length} B", lambda: torch.index_select(a, 0, repeated, out=o))
    measure(f"scatter-set, rows of {4 * length} B", lambda: o.index_copy_(0, each, u))
    measure(f"scatter-add, rows of {4 * length} B", lambda: o.index_add_(0, each, u))
    measure(f"scatter-add, repeated, rows of {4 * length} B", lambda: o.index_add_(0, repeated, u))
    io, iu = o.view(torch.int32), u.view(torch.int32)
    measure(f"scatter-add of int32, repeated, rows of {4 * length} B", lambda: io.index_add_(0, repeated, iu))

x, y = x.view(r, c), y.view(r, c)
measure("sum, axis 0", lambda: x.sum(0))
measure("sum, axis 1", lambda: x.sum(1))
measure("sum, all", lambda: x.sum())
measure("max, axis 1", lambda: x.amax(1))
measure("argmax, axis 0", lambda: x.argmax(0))
measure("argmax, axis 1", lambda: x.argmax(1))
measure("softmax", lambda: F.softmax(x, 1))
measure("softmax, backward", lambda: torch._softmax_backward_data(y, x, 1, torch.float32))
measure("layer norm", lambda: F.layer_norm(x, (c,)))
measure("chain of 5 elementwise", lambda: F.relu((x * 2 + y) * x - 1))
measure("cumsum, axis 0", lambda: x.cumsum(0))
measure("cumsum, axis 1", lambda: x.cumsum(1))
measure("sort, axis 1", lambda: torch.sort(x, 1, stable=True))
measure("sort, all", lambda: torch.sort(x.view(n), stable=True))
side = 1 << (log2 // 2 - 1)
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    a, b = uniform(side, side, dtype=dtype), uniform(side, side, dtype=dtype)
    measure(f"matmul {str(dtype).split('.')[1]}, {side}²", lambda: a @ b)
