"""The backend "thunder" of torch.distributed.

    import torch.distributed
    import thundercollective.torch

    torch.distributed.init_process_group("thunder")    # or "cpu:thunder"

Start the processes with torchrun or thunder launch. Each process group is a job of its
own: its ranks get the address and the token of the job from PyTorch's store.
"""

from ._register import register

register()

