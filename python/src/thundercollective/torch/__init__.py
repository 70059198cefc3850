"""The backend "thunder" of torch.distributed.

    import torch.distributed
    import thundercollective.torch

    torch.distributed.init_process_group("thunder")    # or "cpu:thunder"

Processes are started by torchrun or thunder launch. Each process group is a job of
its own: its ranks meet through PyTorch's store, which also carries their secret.
"""

from ._register import register

register()

