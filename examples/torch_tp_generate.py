"""Generates text with a decoder whose layers are sharded over the ranks by tensor
parallelism: each rank holds some of the heads and some of the feed-forward columns.

    thunder launch -n 2 -- python examples/torch_tp_generate.py --tokens 48

The sharded decoder first learns one sentence, and then continues its beginning. With
--check, a decoder that is not sharded must produce the same text.
"""

import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import thundercollective.torch  # noqa: F401  (registers the backend)

SENTENCE = "a few machines on a desk, joined by short cables, add up to one large one. "


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.head_size = width // heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, w = x.shape
        h = self.norm1(x)
        # The number of heads follows from the columns: all of them, or this rank's.
        q, k, v = (f(h).view(b, t, -1, self.head_size).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, -1))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self, width: int, depth: int, heads: int, context: int) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(128, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, 128)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids) + self.place(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def shard(model: Decoder, ranks: int) -> Decoder:
    mesh = init_device_mesh("cpu", (ranks,))
    for block in model.blocks:
        columns = {name: ColwiseParallel() for name in ("q", "k", "v", "up")}
        parallelize_module(block, mesh, {**columns, "out": RowwiseParallel(), "down": RowwiseParallel()})
    return model


def learn(model: Decoder, steps: int) -> float:
    ids = torch.tensor([[ord(c) for c in SENTENCE]])
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, foreach=False)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return loss.item()


@torch.no_grad()
def generate(model: Decoder, prompt: str, tokens: int) -> str:
    ids = [ord(c) for c in prompt]
    for _ in range(tokens):
        ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
    return "".join(map(chr, ids))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--steps", type=int, default=60, help="training steps")
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--check", action="store_true", help="compare with a decoder that is not sharded")
    args = parser.parse_args()

    dist.init_process_group("thunder")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if args.heads % ranks:
        parser.error(f"{args.heads} heads cannot be shared by {ranks} ranks")

    def decoder() -> Decoder:
        torch.manual_seed(0)
        return Decoder(args.width, args.depth, args.heads, len(SENTENCE) + args.tokens)

    model = shard(decoder(), ranks)
    loss = learn(model, args.steps)
    start = time.perf_counter()
    text = generate(model, SENTENCE[:12], args.tokens)
    took = time.perf_counter() - start
    if rank == 0:
        print(f"{ranks} ranks, loss {loss:.4f}, {args.tokens / took:.0f} tokens/s: {text!r}")
    if args.check:
        alone = decoder()
        assert abs(learn(alone, args.steps) - loss) < 1e-3, "the losses differ"
        assert generate(alone, SENTENCE[:12], args.tokens) == text, "the texts differ"
        if rank == 0:
            print("a decoder that is not sharded produces the same text")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
