"""Times Gloo through PyTorch: gloo.py MODE RANK SIZE_OF_GROUP PORT BYTES...

Rank 0 prints a line "BYTES MICROS" for each size. As in thunder bench, sizes are of
the whole buffer, and times are the median over the iterations of the mean over the
ranks.
"""

import sys
import time

import torch
import torch.distributed as dist


def operation(mode, n, size):
    block = max(n // size, 1)
    out = torch.ones(n)
    if mode == "allreduce":
        return lambda: dist.all_reduce(out)
    if mode == "broadcast":
        return lambda: dist.broadcast(out, 0)
    if mode == "allgather":
        mine, parts = torch.ones(block), [torch.ones(block) for _ in range(size)]
        return lambda: dist.all_gather(parts, mine)
    if mode == "reducescatter":
        mine, whole = torch.ones(block), torch.ones(block * size)
        return lambda: dist.reduce_scatter_tensor(mine, whole)
    if mode == "alltoall":
        a, b = torch.ones(block * size), torch.ones(block * size)
        return lambda: dist.all_to_all_single(b, a)
    sys.exit(f"gloo: unknown mode {mode}")


def main():
    mode, rank, size, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
    for text in sys.argv[5:]:
        step = operation(mode, max(int(text) // 4, 1), size)
        step()
        start = time.perf_counter()
        step()
        once = torch.tensor([time.perf_counter() - start])
        dist.broadcast(once, 0)
        apart = mode == "broadcast"  # or the root would run ahead
        took = []
        for _ in range(max(5, min(1000, int(0.15 / (once.item() + 1e-7))))):
            if apart:
                dist.barrier()
            start = time.perf_counter()
            step()
            took.append(time.perf_counter() - start)
        took = torch.tensor(took, dtype=torch.float64)
        dist.all_reduce(took)
        if rank == 0:
            print(text, f"{sorted(took.tolist())[len(took) // 2] / size * 1e6:.3f}", flush=True)
    dist.destroy_process_group()


main()
