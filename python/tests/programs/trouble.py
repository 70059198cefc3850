"""Lets something go wrong on one rank: trouble.py numpy|torch KIND... Each kind must raise
its exception before its deadline; otherwise the program exits with 1."""

import os
import signal
import sys
import threading
import time

layer, kinds = sys.argv[1], sys.argv[2:]

if layer == "numpy":
    import numpy as np

    import thundercollective as dist

    lost, timeout, mismatch, forked = dist.PeerLostError, dist.OperationTimeoutError, dist.MismatchError, dist.ForkedError
    assert len(kinds) == 1, "a process joins once"

    def start(seconds):
        return dist.init(timeout=seconds)

    def reduce(g, n, asynchronous=False):
        dist.all_sum(np.ones(n, np.float32), group=g)

    def receive(g, source):
        dist.recv((3,), np.float32, source, group=g)

    def send(g, target):
        dist.send(np.ones(3, np.float32), target, group=g)

    def rank_in(g):
        return g.rank()
else:
    from datetime import timedelta

    import torch
    import torch.distributed as dist

    import thundercollective.torch  # noqa: F401

    lost, timeout, mismatch, forked = dist.DistNetworkError, dist.DistBackendError, dist.DistBackendError, dist.DistBackendError
    dist.init_process_group("gloo")

    def start(seconds):
        return dist.new_group(backend="thunder", timeout=timedelta(seconds=seconds))

    def reduce(g, n, asynchronous=False):
        work = dist.all_reduce(torch.ones(n), group=g, async_op=asynchronous)
        if asynchronous:
            work.wait()

    def receive(g, source):
        dist.recv(torch.ones(3), source, group=g)

    def send(g, target):
        dist.send(torch.ones(3), target, group=g)

    def rank_in(g):
        return dist.get_rank(g)


def raises(kinds, word, f, *args):
    begin = time.monotonic()
    try:
        f(*args)
    except kinds as e:
        assert word in str(e), repr(e)
        assert time.monotonic() - begin < 20, "too late"
        return
    raise AssertionError(f"nothing was raised, not {kinds}")


def kill(g, rank):
    if rank == 1:
        receive(g, 0)
        os.kill(os.getpid(), signal.SIGKILL)
    raises(lost, "lost rank 1", lambda: (send(g, 1), reduce(g, 10)))


def uncaught(g, rank):
    """The error of the other ranks contains the exception that ended a rank."""
    if rank == 1:
        receive(g, 0)
        raise ValueError("the disk is full")
    raises(Exception, "ValueError: the disk is full", lambda: (send(g, 1), reduce(g, 10)))


def disagree(g, rank):
    raises(mismatch, "disagree", reduce, g, 10 + rank)


def late(g, rank):
    if rank == 0:
        raises(timeout, "gave up", reduce, g, 10)
    else:
        raises(timeout, "gave up", receive, g, 0)


def interrupt(g, rank, asynchronous=False):
    """Rank 0 waits for rank 1 in an all-reduce, rank 1 for a message of rank 0."""
    if rank == 0:
        receive(g, 1)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        raises(KeyboardInterrupt, "", reduce, g, 10, asynchronous)
    else:
        raises(Exception, "interrupted", lambda: (send(g, 0), receive(g, 0)))


def interrupt_async(g, rank):
    interrupt(g, rank, True)


def fork(g, rank):
    pid = os.fork()
    if pid == 0:
        try:
            raises(forked, "forked", reduce, g, 10)
        except BaseException as e:
            print("child:", repr(e), flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert status == 0
    reduce(g, 10)  # the parent still works


for kind in kinds:
    g = start(0.5 if kind == "late" else 60)
    if kind != "late":
        reduce(g, 10)
    globals()[kind](g, rank_in(g))
    print(kind, "ok", flush=True)
os._exit(0)  # closing a failed group is not tested here
