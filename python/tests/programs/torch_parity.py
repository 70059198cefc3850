"""Every operation of torch.distributed on random tensors, on thunder and on Gloo."""

import sys

import torch
import torch.distributed as dist

import thundercollective.torch  # noqa: F401

dist.init_process_group("gloo")
gloo = dist.new_group(backend="gloo")
thunder = dist.new_group(backend="thunder")
rank, size = dist.get_rank(), dist.get_world_size()
count = 0

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.int8, torch.uint8, torch.int32, torch.int64]
MOVED = [*FLOATS, *INTS, torch.int16, torch.bool, torch.complex64, torch.complex128]
SHAPES = [(), (1,), (0,), (0, 3), (7,), (3, 5), (1000,), (130, 70)]


def random(shape, dtype, salt=0):
    g = torch.Generator().manual_seed(1000 * rank + salt)
    if dtype.is_complex or dtype.is_floating_point:
        return torch.randn(shape, generator=g, dtype=torch.complex64 if dtype.is_complex else torch.float32).to(dtype)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=g).bool()
    return torch.randint(0 if dtype == torch.uint8 else -4, 5, shape, generator=g).to(dtype)


def same(name, a, b, exact=True):
    """Sums of floats on more than two ranks depend on their order."""
    global count
    count += 1
    a, b = (x if isinstance(x, (list, tuple)) else [x] for x in (a, b))
    assert len(a) == len(b), name
    for x, y in zip(a, b):
        assert x.dtype == y.dtype and x.shape == y.shape, (name, x, y)
        if exact or size == 2 or not (x.dtype.is_floating_point or x.dtype.is_complex):
            assert torch.equal(x, y), (name, rank, x, y)
        else:
            tol = {torch.float16: 2e-2, torch.bfloat16: 1e-1}.get(x.dtype, 1e-5)
            torch.testing.assert_close(x, y, rtol=tol, atol=tol, msg=f"{name} rank {rank}")


def both(name, f, exact=True):
    same(name, f(thunder), f(gloo), exact)


def strided(t):
    """The same values in a tensor that is not contiguous."""
    if t.dim() == 0:
        return t
    wide = torch.zeros((*t.shape[:-1], 2 * t.shape[-1]), dtype=t.dtype)
    wide[..., ::2] = t
    return wide[..., ::2]


def reductions():
    sums = [(dist.ReduceOp.SUM, FLOATS + INTS + [torch.complex64]), (dist.ReduceOp.PRODUCT, FLOATS + INTS),
            (dist.ReduceOp.MIN, FLOATS + INTS), (dist.ReduceOp.MAX, FLOATS + INTS),
            (dist.ReduceOp.BAND, INTS), (dist.ReduceOp.BOR, INTS), (dist.ReduceOp.BXOR, INTS)]
    for op, dtypes in sums:
        for dtype in dtypes:
            for shape in SHAPES:
                name = f"{op} {dtype} {shape}"
                for view in (lambda t: t, strided):
                    def allreduce(g, view=view):
                        t = view(random(shape, dtype))
                        dist.all_reduce(t, op, group=g)
                        return t.contiguous()

                    if view is strided and (dtype == torch.complex64):
                        continue
                    want = random(shape, dtype)
                    dist.all_reduce(want, op, group=gloo)
                    same("all_reduce " + name, allreduce(thunder), want, exact=False)

                def reduce(g):
                    t = random(shape, dtype)
                    dist.reduce(t, size - 1, op, group=g)
                    return t if rank == size - 1 else torch.zeros(1)  # the others' is undefined in Gloo

                both("reduce " + name, reduce, exact=False)
    for dtype in FLOATS:
        t = random((100,), dtype)
        dist.all_reduce(t, dist.ReduceOp.AVG, group=thunder)
        u = random((100,), dtype)
        dist.all_reduce(u, group=gloo)
        same("avg", t, u / size, exact=False)
    t, u = random((100,), torch.float32), random((100,), torch.float32) * 0.25
    dist.all_reduce(t, dist._make_nccl_premul_sum(0.25), group=thunder)
    dist.all_reduce(u, group=gloo)
    same("premul_sum", t, u, exact=False)
    t = random((9,), torch.bool)
    u = t.to(torch.uint8)
    dist.all_reduce(t, dist.ReduceOp.MAX, group=thunder)
    dist.all_reduce(u, dist.ReduceOp.MAX, group=gloo)
    same("bool max", t, u.bool())


def movements():
    for dtype in MOVED:
        for shape in SHAPES:
            name = f"{dtype} {shape}"
            for view in (lambda t: t, strided):
                def broadcast(g):
                    t = view(random(shape, dtype))
                    dist.broadcast(t, size - 1, group=g)
                    return t.contiguous()

                def all_gather(g):
                    out = [view(torch.zeros(shape, dtype=dtype)) for _ in range(size)]
                    dist.all_gather(out, view(random(shape, dtype)), group=g)
                    return [o.contiguous() for o in out]

                # Gloo takes only contiguous tensors in some of these.
                same("broadcast " + name, broadcast(thunder), _gathered(shape, dtype)[size - 1])
                same("all_gather " + name, all_gather(thunder), _gathered(shape, dtype))
            want = _gathered(shape, dtype)

            def gather(g):
                out = [torch.zeros(shape, dtype=dtype) for _ in range(size)] if rank == 0 else None
                dist.gather(random(shape, dtype), out, 0, group=g)
                return out or []

            same("gather " + name, gather(thunder), want if rank == 0 else [])

            def scatter(g):
                out = torch.zeros(shape, dtype=dtype)
                dist.scatter(out, [random(shape, dtype, k) for k in range(size)] if rank == 0 else None, 0, group=g)
                return out

            if dtype not in (torch.bool, torch.complex64, torch.complex128, torch.int16):
                both("scatter " + name, scatter)
            if shape and shape[0]:
                def into_tensor(g):
                    out = torch.zeros((size * shape[0], *shape[1:]), dtype=dtype)
                    dist.all_gather_into_tensor(out, random(shape, dtype), group=g)
                    return out

                same("all_gather_into_tensor " + name, into_tensor(thunder), torch.cat(want))

            def all_to_all(g):
                out = [torch.zeros(shape, dtype=dtype) for _ in range(size)]
                dist.all_to_all(out, [random(shape, dtype, k) for k in range(size)], group=g)
                return out

            same("all_to_all " + name, all_to_all(thunder), [_random_of(k, shape, dtype, rank) for k in range(size)])


def _random_of(other, shape, dtype, salt=0):
    global rank
    mine, rank = rank, other
    try:
        return random(shape, dtype, salt)
    finally:
        rank = mine


def _gathered(shape, dtype):
    return [_random_of(k, shape, dtype) for k in range(size)]


def scattered_reductions():
    for dtype in [torch.float32, torch.float64, torch.int64]:
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX):
            for shape in [(0,), (1,), (7,), (3, 5), (500,)]:
                total = random((size * shape[0], *shape[1:]), dtype)
                dist.all_reduce(total, op, group=gloo)
                want = total[rank * shape[0] : (rank + 1) * shape[0]]
                out = torch.zeros(shape, dtype=dtype)
                dist.reduce_scatter_tensor(out, random((size * shape[0], *shape[1:]), dtype), op, group=thunder)
                same(f"reduce_scatter_tensor {dtype} {shape}", out, want, exact=False)
                out = torch.zeros(shape, dtype=dtype)
                parts = list(random((size * shape[0], *shape[1:]), dtype).chunk(size)) if shape[0] else [out.clone() for _ in range(size)]
                dist.reduce_scatter(out, parts, op, group=thunder)
                same(f"reduce_scatter {dtype} {shape}", out, want, exact=False)


def uneven():
    sizes = [3 * r + 1 for r in range(size)]
    out = [torch.zeros(n) for n in sizes]
    dist.all_gather(out, torch.full((sizes[rank],), float(rank)), group=thunder)
    same("uneven all_gather", out, [torch.full((n,), float(r)) for r, n in enumerate(sizes)])

    got = torch.zeros(sizes[rank])
    dist.reduce_scatter(got, [torch.full((n,), float(rank + 1)) for n in sizes], group=thunder)
    same("uneven reduce_scatter", got, torch.full((sizes[rank],), float(size * (size + 1) // 2)))

    def single(g):
        rows = [(rank + k) % 3 for k in range(size)]
        come = [(k + rank) % 3 for k in range(size)]
        out = torch.zeros(sum(come), 2)
        dist.all_to_all_single(out, random((sum(rows), 2), torch.float32), come, rows, group=g)
        return out

    both("uneven all_to_all_single", single)

    def even(g):
        out = torch.zeros(size * 3, 2, dtype=torch.int64)
        dist.all_to_all_single(out, random((size * 3, 2), torch.int64), group=g)
        return out

    both("all_to_all_single", even)
    c = torch.zeros(size * 2, dtype=torch.complex64)
    dist.all_to_all_single(c, random((size * 2,), torch.complex64), group=thunder)
    same("complex all_to_all_single", c, torch.cat([_random_of(k, (size * 2,), torch.complex64)[2 * rank : 2 * rank + 2] for k in range(size)]))


def pairs():
    to, fr = (rank + 1) % size, (rank - 1) % size
    for dtype in MOVED:
        out = torch.zeros(33, dtype=dtype)
        works = [dist.isend(random((33,), dtype), to, group=thunder), dist.irecv(out, fr, group=thunder)]
        for w in works:
            w.wait()
        same(f"isend {dtype}", out, _random_of(fr, (33,), dtype))
    out = strided(torch.zeros(5))
    ops = [dist.P2POp(dist.isend, random((5,), torch.float32), to, thunder), dist.P2POp(dist.irecv, out, fr, thunder)]
    for w in dist.batch_isend_irecv(ops):
        w.wait()
    same("batch_isend_irecv", out.contiguous(), _random_of(fr, (5,), torch.float32))
    if rank == 0:
        dist.send(torch.arange(4), 1, group=thunder)
    elif rank == 1:
        got = torch.zeros(4, dtype=torch.int64)
        dist.recv(got, 0, group=thunder)
        same("recv", got, torch.arange(4))


def the_rest():
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank, "x": [1] * rank}, group=thunder)
    assert objects == [{"rank": r, "x": [1] * r} for r in range(size)]
    box = [("hello", rank)]
    dist.broadcast_object_list(box, 0, group=thunder)
    assert box == [("hello", 0)]
    out = [None]
    dist.scatter_object_list(out, [f"to {r}" for r in range(size)] if rank == 0 else None, 0, group=thunder)
    assert out == [f"to {rank}"]
    gathered = [None] * size if rank == 0 else None
    dist.gather_object(rank * 2, gathered, 0, group=thunder)
    assert rank != 0 or gathered == [2 * r for r in range(size)]

    dist.barrier(group=thunder)
    dist.monitored_barrier(group=thunder)

    w = dist.all_reduce(torch.ones(3), group=thunder, async_op=True)
    doubled = w.get_future().then(lambda f: f.value()[0] * 2)
    assert torch.equal(doubled.wait(), torch.full((3,), 2.0 * size))
    assert w.is_completed()

    works = [dist.all_reduce(torch.full((1000,), float(k)), group=thunder, async_op=True) for k in range(50)]
    for k, w in enumerate(works):
        w.wait()
        assert w.get_future().value()[0][7] == k * size

    with dist._coalescing_manager(group=thunder):
        a, b = torch.ones(4), torch.full((2, 2), 2.0)
        dist.all_reduce(a, group=thunder)
        dist.all_reduce(b, group=thunder)
    same("coalesced", [a, b], [torch.full((4,), 1.0 * size), torch.full((2, 2), 2.0 * size)])

    evens = dist.new_group(list(range(0, size, 2)), backend="thunder")
    if rank % 2 == 0:
        t = torch.ones(1)
        dist.all_reduce(t, group=evens)
        assert t.item() == (size + 1) // 2
    pair = dist.split_group(parent_pg=thunder, split_ranks=[[0, 1]])
    if rank < 2:
        t = torch.full((2,), float(rank + 1))
        dist.all_reduce(t, group=pair)
        assert torch.equal(t, torch.full((2,), 3.0))


def mistakes():
    def raises(kind, f, word):
        try:
            f()
        except kind as e:
            assert word in str(e), e
        else:
            raise AssertionError(f"no {kind.__name__} with {word!r}")

    raises(ValueError, lambda: dist.all_reduce(torch.ones(2), dist.ReduceOp.BXOR, group=thunder), "xor")
    raises(TypeError, lambda: dist.all_reduce(torch.ones(2).to(torch.float8_e4m3fn), group=thunder), "cannot be combined")
    raises(ValueError, lambda: dist.all_reduce(torch.ones(2, dtype=torch.complex64), dist.ReduceOp.MAX, group=thunder), "complex")
    raises((ValueError, RuntimeError), lambda: dist.all_gather([torch.ones(2)] * (size + 1), torch.ones(2), group=thunder), "")
    raises(NotImplementedError, lambda: dist.recv(torch.ones(2), group=thunder), "source")
    raises(TypeError, lambda: dist.all_reduce(torch.ones(2).to_sparse(), group=thunder), "")
    dist.barrier(group=thunder)  # it still works


if __name__ == "__main__":
    parts = [reductions, movements, scattered_reductions, uneven, pairs, the_rest, mistakes]
    for part in parts:
        part()
    print(count, "results compared")
    sys.stdout.flush()
    dist.barrier(group=thunder)
    dist.destroy_process_group()
