"""LoRA fine-tuning of a small transformer whose weights are sharded with FSDP2.

    thunder launch -n 2 -- python examples/torch_fsdp_lora.py --width 256 --depth 4

The base weights are frozen and sharded over the ranks; only the low-rank adapters learn.
The model has random weights; --width, --depth and --heads set its size.
"""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import thundercollective.torch  # noqa: F401  (registers the backend)

VOCABULARY = 64


class LoRA(nn.Module):
    """A frozen linear layer with a trainable low-rank correction."""

    def __init__(self, inputs: int, outputs: int, rank: int) -> None:
        super().__init__()
        self.base = nn.Linear(inputs, outputs)
        self.base.requires_grad_(False)
        self.down, self.up = nn.Linear(inputs, rank, bias=False), nn.Linear(rank, outputs, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.up(self.down(x))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, rank: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = LoRA(width, 3 * width, rank), LoRA(width, width, rank)
        self.up, self.down = LoRA(width, 4 * width, rank), LoRA(4 * width, width, rank)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, w))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, width: int, depth: int, heads: int, rank: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.ModuleList(Block(width, heads, rank) for _ in range(depth))
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def text(step: int, size: int, length: int) -> torch.Tensor:
    """Returns sequences that count upwards, each with its own step."""
    g = torch.Generator().manual_seed(1000 * step + dist.get_rank())
    start, by = torch.randint(VOCABULARY, (size, 1), generator=g), torch.randint(1, 4, (size, 1), generator=g)
    return (start + by * torch.arange(length + 1)) % VOCABULARY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--rank", type=int, default=8, help="rank of the adapters")
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args()

    dist.init_process_group("cpu:thunder")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(0)  # the same base model on all ranks
    model = Transformer(args.width, args.depth, args.heads, args.rank)
    for frozen in (model.embed, *(n for b in model.blocks for n in (b.norm1, b.norm2))):
        frozen.requires_grad_(False)
    whole = sum(p.numel() for p in model.parameters())
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    learning = [p for p in model.parameters() if p.requires_grad]
    here = sum(p.to_local().numel() for p in model.parameters())
    optimiser = torch.optim.AdamW(learning, lr=3e-3)

    losses, start = [], time.perf_counter()
    for step in range(args.steps):
        ids = text(step, 8, 32)
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learning, 1.0)
        optimiser.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        losses.append(mean.item())
    took = time.perf_counter() - start
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} ranks, {whole} parameters of which {here} are here and {sum(p.numel() for p in learning)} learn")
        print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}, {1e3 * took / args.steps:.1f} ms a step")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
