"""Ctrl-C during a blocked call.

Python runs signal handlers between bytecodes, so not while its main thread waits in
the library. The interpreter does write the number of the signal to a pipe at once; a
thread reads it and, unless the main thread turns out to be running Python, ends the
calls that are blocked, whereupon the main thread comes back to Python, which raises
KeyboardInterrupt.

It is left alone where the program has a handler of its own for Ctrl-C, which may not
want the job to end, or has taken the pipe (asyncio does).
"""

import ctypes
import os
import signal
import threading

from ._library import lib

_PAUSE = 0.03  # what the main thread gets to show that it is not blocked

_lock = threading.Lock()
_watching = False


def watch() -> None:
    """Begins to watch for Ctrl-C; only from the main thread, only once."""
    global _watching
    if threading.current_thread() is not threading.main_thread():
        return
    with _lock:
        if _watching:
            return
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        taken = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        if taken != -1:
            signal.set_wakeup_fd(taken)
            os.close(read_end)
            os.close(write_end)
            return
        _watching = True
    threading.Thread(target=_read, args=(read_end,), name="thunder-interrupt", daemon=True).start()


# Set by the main thread when it runs Python, after the handlers of signals.
_alive = threading.Event()


def _show_life(_: object) -> int:
    _alive.set()
    return 0


_pending = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_show_life)  # has to live as long as the process


def _read(read_end: int) -> None:
    while numbers := os.read(read_end, 64):
        if signal.SIGINT not in numbers or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            continue
        _alive.clear()
        ctypes.pythonapi.Py_AddPendingCall(_pending, None)
        while not _alive.wait(_PAUSE):
            lib.thunder_interrupt(b"interrupted (Ctrl-C)")
