"""Data-parallel training of a small network with PyTorch's DDP over thunder.

    thunder launch -n 2 -- python examples/torch_ddp.py
    torchrun --nproc-per-node 2 examples/torch_ddp.py     # the same with PyTorch's launcher

It prints the loss, and the duration of a step with gradients exchanged during the
backward pass and after it.
"""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn

import thundercollective.torch  # noqa: F401  (registers the backend)


def network(width: int, depth: int) -> nn.Module:
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Linear(8, width)]
    for _ in range(depth):
        layers += [nn.ReLU(), nn.Linear(width, width)]
    return nn.Sequential(*layers, nn.Linear(width, 1))


def batch(step: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(1000 * step + dist.get_rank())
    x = torch.randn(size, 8, generator=g)
    return x, (x[:, :1] * x[:, 1:2]).sin()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--width", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=9)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32, help="samples per rank and step")
    args = parser.parse_args()

    dist.init_process_group("thunder")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = nn.parallel.DistributedDataParallel(network(args.width, args.depth))
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=1e-3)

    def step(number: int, overlap: bool) -> tuple[float, float]:
        x, y = batch(number, args.batch)
        start = time.perf_counter()
        optimiser.zero_grad()
        if overlap:
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()  # DDP starts all-reduces during this call
        else:
            with model.no_sync():
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
            for p in parameters:
                dist.all_reduce(p.grad, dist.ReduceOp.AVG)
        optimiser.step()
        return loss.item(), time.perf_counter() - start

    first, _ = step(0, True)
    times: dict[bool, list[float]] = {True: [], False: []}
    loss = first
    for number in range(1, args.steps):
        overlap = number % 2 == 1
        loss, took = step(number, overlap)
        times[overlap].append(took)

    mean = torch.tensor([first, loss])
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    # Now all ranks must have the same weights.
    total = torch.stack([p.detach().double().sum() for p in parameters]).sum()
    low, high = total.clone(), total.clone()
    dist.all_reduce(low, dist.ReduceOp.MIN)
    dist.all_reduce(high, dist.ReduceOp.MAX)
    assert low == high, "the ranks' weights differ"
    if rank == 0:
        count = sum(p.numel() for p in parameters)
        print(f"{ranks} ranks, {count / 1e6:.1f} M parameters: loss {mean[0]:.4f} -> {mean[1]:.4f}")
        for overlap, name in ((True, "during the backward pass"), (False, "after it")):
            if times[overlap]:
                print(f"step {1e3 * min(times[overlap]):7.1f} ms with gradients exchanged {name}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
