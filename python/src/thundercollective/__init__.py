"""Collective operations between the processes of a job on one or a few machines.

A job has one process per rank (``thunder launch -n 4 python train.py``). All ranks call
the same operations in the same order::

    import thundercollective as dist

    group = dist.init()
    x = dist.all_sum(x)                      # NumPy, PyTorch (CPU) and MLX arrays
    grads = dist.average_gradients(grads)    # nested lists and dicts of them

Functions have the names of ``mlx.core.distributed`` where they do the same. Operations
return a new array of the same library as their input, or fill the one given as ``out=``.
They release the interpreter lock, and Ctrl-C ends them. Errors are subclasses of
:class:`ThunderError`. A process that was not started as part of a job is a group of one
rank.
"""

from ._errors import (
    AbortedError,
    AuthError,
    ClosedError,
    ForkedError,
    InvalidCallError,
    MismatchError,
    OperationTimeoutError,
    PeerLostError,
    ThunderError,
)
from ._gradients import average_gradients
from ._group import Group, init, is_available
from ._ops import (
    all_gather,
    all_max,
    all_min,
    all_reduce,
    all_sum,
    all_to_all,
    barrier,
    broadcast,
    recv,
    recv_like,
    reduce_scatter,
    send,
    split,
    sum_scatter,
)

__all__ = [
    "AbortedError", "AuthError", "ClosedError", "ForkedError", "Group", "InvalidCallError", "MismatchError",
    "OperationTimeoutError", "PeerLostError", "ThunderError", "all_gather", "all_max", "all_min", "all_reduce",
    "all_sum", "all_to_all", "average_gradients", "barrier", "broadcast", "init", "is_available", "recv",
    "recv_like", "reduce_scatter", "send", "split", "sum_scatter",
]
