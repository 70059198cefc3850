"""Collective operations over a few machines.

A program starts as one process per rank (``thunder launch -n 4 python train.py``)
and calls the same operations in the same order everywhere::

    import thundercollective as dist

    group = dist.init()
    x = dist.all_sum(x)                      # NumPy, PyTorch (CPU) and MLX arrays
    grads = dist.average_gradients(grads)    # nested lists and dicts of them

The names are those of ``mlx.core.distributed`` where the meaning is the same.
Operations return new arrays of the kind they were given; ``out=`` takes one to fill
instead. They release the interpreter lock, Ctrl-C ends them, and errors are
subclasses of :class:`ThunderError`. Started alone, a process is a group of one.
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
