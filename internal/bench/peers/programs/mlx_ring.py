"""Times MLX's ring backend: mlx_ring.py MODE RANK SIZE_OF_GROUP BYTES...

MLX_HOSTFILE and MLX_RANK say who is who. Rank 0 prints a line "BYTES MICROS" for each
size. As in thunder bench, sizes are of the whole buffer, and times are the median over
the iterations of the mean over the ranks.
"""

import sys
import time

import mlx.core as mx


def main():
    mode, rank, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    mx.set_default_device(mx.cpu)
    group = mx.distributed.init(strict=True, backend="ring")
    for text in sys.argv[4:]:
        n = max(int(text) // 4, 1)
        if mode == "allreduce":
            x = mx.ones(n)
            call = mx.distributed.all_sum
        elif mode == "allgather":
            x = mx.ones(max(n // size, 1))
            call = mx.distributed.all_gather
        else:
            sys.exit(f"mlx: has no {mode}")
        mx.eval(x)
        mx.eval(call(x))
        start = time.perf_counter()
        mx.eval(call(x))
        once = mx.distributed.all_sum(mx.array([time.perf_counter() - start])).item() / size
        took = []
        for _ in range(max(5, min(1000, int(0.15 / (once + 1e-7))))):
            start = time.perf_counter()
            mx.eval(call(x))
            took.append(time.perf_counter() - start)
        took = mx.distributed.all_sum(mx.array(took)).tolist()
        if rank == 0:
            print(text, f"{sorted(took)[len(took) // 2] / size * 1e6:.3f}", flush=True)


main()
