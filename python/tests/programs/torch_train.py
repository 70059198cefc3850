"""Trains small models on thunder and on Gloo and compares them step by step.

    torch_train.py ddp|fsdp|tp|pipeline ...
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh

import thundercollective.torch  # noqa: F401

STEPS = 4


class Block(nn.Module):
    def __init__(self, width: int, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, w))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, vocabulary: int = 17, width: int = 16, depth: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def batches(rank):
    g = torch.Generator().manual_seed(100 + rank)
    for _ in range(STEPS):
        ids = torch.randint(0, 17, (3, 9), generator=g)
        yield ids[:, :-1], ids[:, 1:]


def train(model, rank):
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for x, y in batches(rank):
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses, {n: full(p) for n, p in model.named_parameters()}


def full(p):
    return (p.full_tensor() if hasattr(p, "full_tensor") else p).detach().clone()


def ddp(group, rank, size):
    model = nn.parallel.DistributedDataParallel(Transformer(), process_group=group, bucket_cap_mb=0.01)
    return train(model, rank)


def fsdp(group, rank, size):
    from torch.distributed.fsdp import fully_shard

    mesh = DeviceMesh.from_group(group, "cpu")
    model = Transformer()
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return train(model, rank)


def tp(group, rank, size):
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = DeviceMesh.from_group(group, "cpu")
    model = Transformer()
    for block in model.blocks:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return train(model, 0)  # all ranks see the same batch


def pipeline(group, rank, size):
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    whole = [nn.Linear(8, 8) for _ in range(size)]
    stage = PipelineStage(whole[rank], rank, size, torch.device("cpu"), group=group)
    schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=nn.functional.mse_loss)
    optimiser = torch.optim.SGD(whole[rank].parameters(), lr=0.1)
    losses = []
    for step in range(STEPS):
        g = torch.Generator().manual_seed(step)
        x, y = torch.randn(4, 8, generator=g), torch.randn(4, 8, generator=g)
        optimiser.zero_grad()
        found = []
        if rank == 0:
            schedule.step(x)
        elif rank == size - 1:
            schedule.step(target=y, losses=found)
        else:
            schedule.step()
        optimiser.step()
        losses += [v.item() for v in found]
    return losses, {n: p.detach().clone() for n, p in whole[rank].named_parameters()}


if __name__ == "__main__":
    dist.init_process_group("gloo")
    groups = [dist.new_group(backend=name) for name in ("thunder", "gloo")]
    for how in sys.argv[1:]:
        results = []
        for group in groups:
            torch.manual_seed(0)
            results.append({"ddp": ddp, "fsdp": fsdp, "tp": tp, "pipeline": pipeline}[how](group, dist.get_rank(), dist.get_world_size()))
        ours, theirs = results
        assert len(ours[0]) == len(theirs[0])
        for step, (a, b) in enumerate(zip(ours[0], theirs[0])):
            assert abs(a - b) < 1e-5, f"{how}: loss at step {step}: {a} on thunder, {b} on gloo"
        for name, p in ours[1].items():
            torch.testing.assert_close(p, theirs[1][name], rtol=1e-4, atol=1e-5, msg=f"{how}: {name}")
        print(how, "has the same losses", [round(v, 4) for v in ours[0]])
    dist.barrier()
    dist.destroy_process_group()
