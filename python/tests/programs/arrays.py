"""Runs operations on arrays of the given library: numpy, torch or mlx."""

import sys

import numpy as np

import thundercollective as dist

library = sys.argv[1]
g = dist.init()
rank, size = g.rank(), g.size()

if library == "numpy":
    make, dtypes = np.array, [np.float32, np.float64, np.float16, np.int8, np.int64, np.uint16, np.bool_, np.complex64]
    kind, back = np.ndarray, np.asarray
elif library == "torch":
    import torch

    make, dtypes = torch.tensor, [torch.float32, torch.bfloat16, torch.float16, torch.int16, torch.uint8, torch.complex128]
    kind, back = torch.Tensor, lambda t: (t.float() if t.dtype == torch.bfloat16 else t).numpy()
else:
    import mlx.core as mx

    make, dtypes = mx.array, [mx.float32, mx.bfloat16, mx.float16, mx.int32, mx.uint8, mx.complex64]
    kind, back = mx.array, lambda a: np.array(a.astype(mx.float32) if a.dtype == mx.bfloat16 else a)


def expect(name, x, want):
    assert isinstance(x, kind), (name, type(x))
    assert np.array_equal(back(x), np.asarray(want)), (name, rank, x, want)


for dtype in dtypes:
    def of(r):
        return make([[r, 1, 0], [1, r, 1]], dtype=dtype)

    x = of(rank)
    gathered = np.concatenate([back(of(r)) for r in range(size)])
    expect("all_gather", dist.all_gather(x), gathered)
    expect("broadcast", dist.broadcast(x, size - 1), back(of(size - 1)))
    if "bool" not in str(dtype):
        total = sum(back(of(r)) for r in range(size))
        expect("all_sum", dist.all_sum(x), total)
        assert dist.all_sum(x).dtype == x.dtype
        if "complex" not in str(dtype):
            expect("all_max", dist.all_max(x), back(of(size - 1)))
            expect("all_min", dist.all_min(x), back(of(0)))
    if size == 2:
        expect("reduce_scatter", dist.reduce_scatter(of(1)), back(of(1))[rank : rank + 1] * (1 if "bool" in str(dtype) else 2))
        expect("all_to_all", dist.all_to_all(x), [back(of(r))[rank] for r in range(2)])
    if rank == 0 and size > 1:
        assert dist.send(x, 1) is x
        dist.send(x, 1)
    elif rank == 1:
        expect("recv", dist.recv((2, 3), dtype, 0), back(of(0)))
        expect("recv_like", dist.recv_like(x, 0), back(of(0)))

tree = {"w": [make([1.0 * rank, 2.0]), make([[4.0 * rank]])], "b": (make([0.5]),), "none": None}
mean = dist.average_gradients(tree)
expect("average", mean["w"][0], [(size - 1) / 2, 2.0])
expect("average", mean["w"][1], [[2.0 * (size - 1)]])
assert mean["none"] is None and isinstance(mean["b"], tuple)
expect("average one by one", dist.average_gradients(tree, all_reduce_size=0)["w"][0], [(size - 1) / 2, 2.0])

if library == "numpy":
    wide = np.arange(12.0).reshape(3, 4)[:, ::2] + rank  # not contiguous
    assert np.array_equal(dist.all_sum(wide), wide * size + size * (size - 1) / 2 - rank * size)
    out = np.empty(3)
    assert dist.all_sum(np.ones(3), out=out) is out and out[0] == size
    assert dist.all_sum(3.0) == 3.0 * size and dist.all_gather(2.0).shape == (size,)
    assert dist.all_sum(memoryview(bytearray(b"\1\2")))[1] == 2 * size

    def refused(f, word):
        try:
            f()
        except dist.InvalidCallError as e:
            assert word in str(e), e
        else:
            raise AssertionError(word)

    refused(lambda: dist.all_sum(np.array(["text"])), "cannot be sent")
    refused(lambda: dist.all_sum(np.ones(3, ">f4")), "byte order")
    refused(lambda: dist.all_sum(np.ones(4), out=np.ones(8)[::2]), "contiguous")
    refused(lambda: dist.all_sum(np.ones(4), out=np.ones(4, np.float32)), "type of the input")
    refused(lambda: dist.all_sum(out, out=out), "overlaps")
    refused(lambda: dist.all_max(np.ones(2, np.complex64)), "complex")
    refused(lambda: dist.all_reduce(np.ones(2), "mean"), "unknown reduction")
    refused(lambda: dist.all_reduce(np.ones(2), "xor"), "xor")
    refused(lambda: dist.broadcast(np.ones(2), size), "not in the group")
    refused(lambda: dist.average_gradients({"a": "text"}) if size > 1 else dist.init(strict=True), "")
    assert dist.init() is g and g.error() is None
    half = g.split(rank % 2, key=size - rank)
    assert half is not None and half.size() == (size + 1 - rank % 2) // 2 and half.rank() == half.size() - 1 - rank // 2
    assert dist.all_sum(np.ones(1), group=half)[0] == half.size()
    half.close()
    assert g.split(-1) is None
dist.barrier()
print("ok")
