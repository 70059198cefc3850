"""Data-parallel training with MLX arrays over thunder.

    thunder launch -n 2 -- python examples/mlx_average_gradients.py

The script is the same as for mlx.core.distributed, except for the import.
"""

import argparse

import mlx.core as mx

import thundercollective as dist  # with MLX's own: import mlx.core.distributed as dist


def loss(params: dict[str, mx.array], x: mx.array, y: mx.array) -> mx.array:
    h = mx.tanh(x @ params["w1"] + params["b1"])
    return mx.mean(mx.square(h @ params["w2"] - y))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32, help="samples per rank and step")
    args = parser.parse_args()

    group = dist.init()
    mx.random.seed(0)  # the same weights on all ranks
    params = {"w1": mx.random.normal((4, 32)), "b1": mx.zeros((32,)), "w2": mx.random.normal((32, 1)) * 0.1}
    step = mx.value_and_grad(loss)
    mx.random.seed(1 + group.rank())  # different data on each rank
    first = last = None
    for _ in range(args.steps):
        x = mx.random.normal((args.batch, 4))
        value, grads = step(params, x, x[:, :1] * x[:, 1:2])
        grads = dist.average_gradients(grads, group)
        params = {name: p - 0.05 * grads[name] for name, p in params.items()}
        last = dist.all_sum(value, group=group) / group.size()
        first = last if first is None else first
    spread = dist.all_max(params["w1"], group=group) - dist.all_min(params["w1"], group=group)
    assert mx.max(mx.abs(spread)).item() == 0, "the ranks' weights differ"
    if group.rank() == 0:
        print(f"{group.size()} ranks: loss {first.item():.4f} -> {last.item():.4f}")


if __name__ == "__main__":
    main()
