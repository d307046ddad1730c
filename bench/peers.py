"""The cases on PyTorch or NumPy: peers.py torch, peers.py numpy. It speaks worker.go's protocol.

A case is a generator of forms, name and function; each function computes once and returns its results. Where a
library has several ways, each is a form and the fastest counts. A form that fails is left out.
"""
import gc
import json
import os
import sys
import time

import numpy as np

TORCH, NUMPY = {}, {}


def case(table, *names):
    def add(f):
        for name in names:
            table[name] = (lambda *a, n=name: f(n, *a))
        return f
    return add


def axis_of(name):
    return None if name.endswith("all") else int(name.split("axis ")[1])


def numpy_cases():
    rows = [" 1 KB rows", " 256 B rows", " 64 B rows"]
    axes = [" axis 0", " axis 1"]
    empty = np.empty

    @case(NUMPY, *("gather" + r for r in rows))
    def _(name, x, i):
        out = empty((len(i), x.shape[1]), x.dtype)
        yield "take", lambda: np.take(x, i, 0, out=out, mode="clip")  # other modes buffer out
        yield "index", lambda: x[i]

    @case(NUMPY, *("scatter-add" + r for r in rows))
    def _(name, x, i, u):
        x = x.copy()
        yield "add.at", lambda: (np.add.at(x, i, u), x)[1]

    @case(NUMPY, *("scatter-max" + r for r in rows))
    def _(name, x, i, u):
        x = x.copy()
        yield "maximum.at", lambda: (np.maximum.at(x, i, u), x)[1]

    @case(NUMPY, *("scatter-set" + r for r in rows))
    def _(name, x, i, u):
        x = x.copy()

        def put():
            x[i] = u
            return x
        yield "setitem", put

    @case(NUMPY, *("take-along" + a for a in axes))
    def _(name, x, i):
        yield "", lambda: np.take_along_axis(x, i, axis_of(name))

    @case(NUMPY, "argmax all", *("argmax" + a for a in axes))
    def _(name, x):
        yield "", lambda: np.argmax(x, axis_of(name))

    @case(NUMPY, "sum all", "max axis 0", "max axis 1", *("sum" + a for a in axes))
    def _(name, x):
        f, axis = getattr(np, name[:3]), axis_of(name)
        out = empty(() if axis is None else x.shape[1 - axis], x.dtype)
        yield "", lambda: f(x, axis, out=out)

    @case(NUMPY, "var all", "var axis 1")
    def _(name, x):
        yield "", lambda: np.var(x, axis_of(name), ddof=1)

    def softmax(x, axis, out):
        np.subtract(x, x.max(axis, keepdims=True), out=out)
        np.exp(out, out=out)
        return np.divide(out, out.sum(axis, keepdims=True), out=out)

    @case(NUMPY, *("softmax" + a for a in axes))
    def _(name, x):
        out = np.empty_like(x)
        yield "", lambda: softmax(x, axis_of(name), out)

    @case(NUMPY, *("logsumexp" + a for a in axes))
    def _(name, x):
        axis, tmp = axis_of(name), np.empty_like(x)

        def f():
            top = x.max(axis, keepdims=True)
            np.exp(np.subtract(x, top, out=tmp), out=tmp)
            return np.log(tmp.sum(axis)) + top.squeeze(axis)
        yield "", f

    @case(NUMPY, *("cumsum" + a for a in axes))
    def _(name, x):
        out = np.empty_like(x)
        yield "", lambda: np.cumsum(x, axis_of(name), out=out)

    @case(NUMPY, "sort axis 1")
    def _(name, x):
        def f():
            i = np.argsort(x, 1)
            return np.take_along_axis(x, i, 1), i
        yield "argsort", f

    @case(NUMPY, "topk(8) axis 1")
    def _(name, x):
        def f():
            i = np.argpartition(x, -8, 1)[:, -8:]
            v = np.take_along_axis(x, i, 1)
            order = np.argsort(-v, 1)
            return np.take_along_axis(v, order, 1), np.take_along_axis(i, order, 1)
        yield "argpartition", f

    @case(NUMPY, "x[mask]")
    def _(name, x, m):
        out = empty(np.count_nonzero(m), x.dtype)
        yield "index", lambda: x[m]
        yield "compress", lambda: np.compress(m, x, out=out)

    @case(NUMPY, "x[mask] = v")
    def _(name, x, m):
        x, y, z = x.copy(), x.copy(), x.copy()

        def put():
            x[m] = 0.25
            return x
        yield "setitem", put
        yield "putmask", lambda: (np.putmask(y, m, 0.25), y)[1]
        yield "copyto", lambda: (np.copyto(z, np.float32(0.25), where=m), z)[1]

    @case(NUMPY, "transposed copy", "strided slice copy")
    def _(name, x):
        src = x.T if name[0] == "t" else x[:, ::2]
        out = empty(src.shape, x.dtype)
        yield "", lambda: (np.copyto(out, src), out)[1]

    @case(NUMPY, "exp")
    def _(name, x):
        out = np.empty_like(x)
        yield "", lambda: np.exp(x, out=out)

    @case(NUMPY, "add")
    def _(name, x, y):
        out = np.empty_like(x)
        yield "", lambda: np.add(x, y, out=out)

    @case(NUMPY, "5-op chain")
    def _(name, x, y):
        out = np.empty_like(x)

        def f():
            np.multiply(x, y, out=out)
            np.add(out, x, out=out)
            np.multiply(out, 2, out=out)
            np.subtract(out, y, out=out)
            return np.maximum(out, 0, out=out)
        yield "", f

    @case(NUMPY, "matmul 1024", "matmul 128", "matmul 64x128")
    def _(name, x, y):
        out = np.empty_like(x)
        yield "", lambda: np.matmul(x, y, out=out)


def torch_cases():
    import torch
    import torch.nn.functional as F
    rows = [" 1 KB rows", " 256 B rows", " 64 B rows"]
    axes = [" axis 0", " axis 1"]
    torch.set_num_threads(2)

    def in_place(x, f):
        x = x.clone()
        return lambda: (f(x), x)[1]

    @case(TORCH, *("gather" + r for r in rows))
    def _(name, x, i):
        out = torch.empty(len(i), x.shape[1])
        yield "index_select", lambda: torch.index_select(x, 0, i, out=out)
        yield "index", lambda: x[i]
        yield "embedding", lambda: F.embedding(i, x)

    @case(TORCH, *("scatter-add" + r for r in rows))
    def _(name, x, i, u):
        wide = i[:, None].expand(u.shape)
        yield "index_add_", in_place(x, lambda x: x.index_add_(0, i, u))
        yield "scatter_add_", in_place(x, lambda x: x.scatter_add_(0, wide, u))
        yield "index_put_", in_place(x, lambda x: x.index_put_((i,), u, accumulate=True))

    @case(TORCH, *("scatter-max" + r for r in rows))
    def _(name, x, i, u):
        wide = i[:, None].expand(u.shape)
        yield "index_reduce_", in_place(x, lambda x: x.index_reduce_(0, i, u, "amax"))
        yield "scatter_reduce_", in_place(x, lambda x: x.scatter_reduce_(0, wide, u, "amax"))

    @case(TORCH, *("scatter-set" + r for r in rows))
    def _(name, x, i, u):
        wide = i[:, None].expand(u.shape)
        yield "index_copy_", in_place(x, lambda x: x.index_copy_(0, i, u))
        yield "index_put_", in_place(x, lambda x: x.index_put_((i,), u))
        yield "scatter_", in_place(x, lambda x: x.scatter_(0, wide, u))

    @case(TORCH, *("take-along" + a for a in axes))
    def _(name, x, i):
        out = torch.empty_like(x)
        yield "gather", lambda: torch.gather(x, axis_of(name), i, out=out)
        yield "take_along_dim", lambda: torch.take_along_dim(x, i, axis_of(name), out=out)

    @case(TORCH, "argmax all", *("argmax" + a for a in axes))
    def _(name, x):
        axis = axis_of(name)
        if axis is None:
            yield "argmax", lambda: torch.argmax(x)
            return
        at, top = torch.empty(x.shape[1 - axis], dtype=torch.int64), torch.empty(x.shape[1 - axis])
        yield "argmax", lambda: torch.argmax(x, axis, out=at)
        yield "max", lambda: torch.max(x, axis, out=(top, at))[1]

    @case(TORCH, "sum all", *("sum" + a for a in axes))
    def _(name, x):
        axis = axis_of(name)
        if axis is None:
            yield "", lambda: torch.sum(x)
            return
        out = torch.empty(x.shape[1 - axis])
        yield "", lambda: torch.sum(x, axis, out=out)

    @case(TORCH, "max axis 0", "max axis 1")
    def _(name, x):
        axis, out = axis_of(name), torch.empty(x.shape[0])
        yield "amax", lambda: torch.amax(x, axis, out=out)
        yield "max", lambda: torch.max(x, axis)[0]

    @case(TORCH, "var all", "var axis 1")
    def _(name, x):
        axis = axis_of(name)
        yield "", (lambda: torch.var(x)) if axis is None else (lambda: torch.var(x, axis))

    @case(TORCH, "layer norm fwd+bwd")
    def _(name, x, gain, bias, ct):
        wrt = [t.clone().requires_grad_() for t in (x, gain, bias)]

        def f():
            y = F.layer_norm(wrt[0], gain.shape, wrt[1], wrt[2])
            return (y.detach(), *torch.autograd.grad(y, wrt, ct))
        yield "", f

    @case(TORCH, *("softmax" + a for a in axes))
    def _(name, x):
        axis, out = axis_of(name), torch.empty_like(x)
        yield "out", lambda: torch._softmax(x, axis, False, out=out)
        yield "softmax", lambda: torch.softmax(x, axis)

    @case(TORCH, *("logsumexp" + a for a in axes))
    def _(name, x):
        axis, out = axis_of(name), torch.empty(x.shape[0])
        yield "", lambda: torch.logsumexp(x, axis, out=out)

    @case(TORCH, *("cumsum" + a for a in axes))
    def _(name, x):
        axis, out = axis_of(name), torch.empty_like(x)
        yield "", lambda: torch.cumsum(x, axis, out=out)

    @case(TORCH, "sort axis 1", "topk(8) axis 1")
    def _(name, x):
        k = x.shape[1] if name[0] == "s" else 8
        out = torch.empty(x.shape[0], k), torch.empty(x.shape[0], k, dtype=torch.int64)
        if name[0] == "s":
            yield "", lambda: torch.sort(x, 1, out=out)
        else:
            yield "", lambda: torch.topk(x, k, 1, out=out)

    @case(TORCH, "x[mask]")
    def _(name, x, m):
        out = torch.empty(int(m.sum()))
        yield "masked_select", lambda: torch.masked_select(x, m, out=out)
        yield "index", lambda: x[m]
        yield "nonzero", lambda: torch.index_select(x, 0, m.nonzero().squeeze(1), out=out)

    @case(TORCH, "x[mask] = v")
    def _(name, x, m):
        def put(x):
            x[m] = 0.25
        v = torch.tensor(0.25)
        yield "setitem", in_place(x, put)
        yield "masked_fill_", in_place(x, lambda x: x.masked_fill_(m, 0.25))
        yield "where", in_place(x, lambda x: torch.where(m, v, x, out=x))

    @case(TORCH, "transposed copy", "strided slice copy")
    def _(name, x):
        src = x.t() if name[0] == "t" else x[:, ::2]
        out = torch.empty(src.shape)
        yield "", lambda: out.copy_(src)

    @case(TORCH, "exp")
    def _(name, x):
        out = torch.empty_like(x)
        yield "", lambda: torch.exp(x, out=out)

    @case(TORCH, "add")
    def _(name, x, y):
        out = torch.empty_like(x)
        yield "", lambda: torch.add(x, y, out=out)

    @case(TORCH, "5-op chain")
    def _(name, x, y):
        out = torch.empty_like(x)
        yield "", lambda: torch.mul(x, y, out=out).add_(x).mul_(2).sub_(y).clamp_(min=0)

    @case(TORCH, "matmul 1024", "matmul 128", "matmul 64x128")
    def _(name, x, y):
        out = torch.empty_like(x)
        yield "", lambda: torch.matmul(x, y, out=out)

    @case(TORCH, "conv 3x3")
    def _(name, x, w):
        yield "", lambda: torch.nn.functional.conv2d(x, w, padding=1)

    def step(params, rate, loss_of):
        sgd = torch.optim.SGD(params, lr=rate)

        def f():
            sgd.zero_grad(set_to_none=True)
            loss = loss_of()
            loss.backward()
            sgd.step()
            return (loss.detach(), *(p.detach() for p in params))
        return f

    @case(TORCH, "embedding step / dense", "embedding step / sparse")
    def _(name, x, i):
        table = torch.nn.Embedding(*x.shape, sparse=name.endswith("sparse"), _weight=x.clone())
        yield "", step([table.weight], 1e-2, lambda: table(i).square().sum() * 0.5)

    @case(TORCH, "MLP step")
    def _(name, x, labels, *weights):
        w = [torch.nn.Parameter(p.clone()) for p in weights]

        def loss():
            h = torch.relu(torch.addmm(w[1], x, w[0]))
            h = torch.relu(torch.addmm(w[3], h, w[2]))
            return F.cross_entropy(torch.addmm(w[5], h, w[4]), labels)
        yield "", step(w, 0.1, loss)


class Worker:
    def __init__(self, library):
        self.torch = library == "torch"
        (torch_cases if self.torch else numpy_cases)()
        self.table = TORCH if self.torch else NUMPY
        self.forms = []

    def load_array(self, a):
        x = np.fromfile(a["file"], a["dtype"]).reshape(a["shape"])
        if not self.torch:
            return x
        import torch
        x = torch.from_numpy(x)
        return torch.empty_like(x).copy_(x)  # in memory as torch takes it

    def load(self, q):
        if q["case"] not in self.table:
            return {"error": "missing"}
        inputs = [self.load_array(a) for a in q["inputs"]]
        self.forms, told = [], []
        for name, f in self.table[q["case"]](*inputs):
            self.forms.append(f)
            told.append(self.first(name, f, os.path.join(q["dir"], str(len(told)))))
        return {"forms": told}

    def first(self, name, f, folder):
        try:
            os.makedirs(folder, exist_ok=True)
            began = time.perf_counter()
            outs = f()
            seconds = time.perf_counter() - began
            saved = []
            for k, out in enumerate(outs if isinstance(outs, tuple) else (outs,)):
                out = np.asarray(out)
                path = os.path.join(folder, str(k))
                out.tofile(path)
                saved.append({"file": path, "dtype": str(out.dtype), "shape": list(out.shape)})
            return {"name": name, "first": seconds, "outs": saved}
        except Exception as e:
            return {"name": name, "error": f"{type(e).__name__}: {e}".splitlines()[0]}

    def time(self, q):
        f, clock, seconds = self.forms[q["form"]], time.perf_counter, []
        began = clock()
        f()
        batch = 1 + int(1e-3 / (clock() - began))
        end = clock() + q["budget"]
        while not seconds or clock() < end:
            began = clock()
            for _ in range(batch):
                f()
            seconds.append((clock() - began) / batch)
        return {"seconds": seconds}


def main():
    worker = Worker(sys.argv[1])
    gc.disable()
    for line in sys.stdin:
        q = json.loads(line)
        if q["do"] == "load":
            reply = worker.load(q)
        elif q["do"] == "time":
            reply = worker.time(q)
        else:
            worker.forms, reply = [], {}
            gc.collect()
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
