"""A Python program that does not use thunder, started by thunder launch.

It reads the variables that torchrun sets, and passes a token once around the ranks over
TCP: rank 0 listens at MASTER_ADDR:MASTER_PORT and sends the addresses of all ranks to
each of them. It needs only the standard library.

    thunder launch -n 4 examples/torchrun-variables/ring.py
    torchrun --nproc-per-node 4 examples/torchrun-variables/ring.py
"""

import json
import os
import socket
import sys
import time

rank = int(os.environ["RANK"])
size = int(os.environ["WORLD_SIZE"])
local_rank = int(os.environ["LOCAL_RANK"])
local_size = int(os.environ["LOCAL_WORLD_SIZE"])
master = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]) + int("TORCHELASTIC_RUN_ID" in os.environ))
deadline = time.monotonic() + 60


def connect(address):
    while True:
        try:
            return socket.create_connection(address, timeout=5)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def meet(listener):
    """Exchanges the addresses of the ranks' listeners and returns all of them."""
    port = listener.getsockname()[1]
    if rank != 0:
        with connect(master) as conn, conn.makefile("rw") as stream:
            print(json.dumps([rank, conn.getsockname()[0], port]), file=stream, flush=True)
            return json.loads(stream.readline())
    addresses, streams = [[master[0], port]] + [None] * (size - 1), []
    family = socket.AF_INET6 if ":" in master[0] else socket.AF_INET
    with socket.create_server(("", master[1]), family=family) as server:
        for _ in range(size - 1):
            stream = server.accept()[0].makefile("rw")
            other, host, other_port = json.loads(stream.readline())
            addresses[other] = [host, other_port]
            streams.append(stream)
    for stream in streams:
        print(json.dumps(addresses), file=stream, flush=True)
        stream.close()
    return addresses


def main():
    family = socket.AF_INET6 if ":" in master[0] else socket.AF_INET
    listener = socket.create_server(("", 0), family=family)
    addresses = meet(listener)
    following = tuple(addresses[(rank + 1) % size])
    visited = []
    if rank != 0:
        visited = json.loads(listener.accept()[0].makefile("r").readline())
    with connect(following) as conn, conn.makefile("w") as stream:
        print(json.dumps(visited + [rank]), file=stream, flush=True)
    if rank == 0:
        visited = json.loads(listener.accept()[0].makefile("r").readline())
        if visited != list(range(size)):
            sys.exit(f"the token visited the wrong ranks: {visited}")
        print(f"the token went around all {size} ranks")
    print(f"rank {rank} of {size}, {local_rank} of {local_size} on this machine: done")


main()
