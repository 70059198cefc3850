"""Ctrl-C during a blocked call.

Python runs signal handlers between bytecodes, so not while its main thread waits in the
library. But the interpreter writes the number of a signal to a pipe at once. A thread
reads it and, unless the main thread runs Python code, aborts the blocked calls. Then the
main thread returns to Python, which raises KeyboardInterrupt.

This does nothing if the program has its own handler for Ctrl-C, because that may not
want to end the job, or if it already uses the pipe, as asyncio does.
"""

import ctypes
import os
import signal
import threading

from ._library import lib

_PAUSE = 0.03  # time for the main thread to show that it is not blocked

_lock = threading.Lock()
_watching = False


def watch() -> None:
    """Starts watching for Ctrl-C, if called from the main thread and for the first time."""
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


# Set by the main thread when it runs Python code, after signal handlers.
_alive = threading.Event()


def _show_life(_: object) -> int:
    _alive.set()
    return 0


_pending = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_show_life)  # must live as long as the process


def _read(read_end: int) -> None:
    while numbers := os.read(read_end, 64):
        if signal.SIGINT not in numbers or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            continue
        _alive.clear()
        ctypes.pythonapi.Py_AddPendingCall(_pending, None)
        while not _alive.wait(_PAUSE):
            lib.thunder_interrupt(b"interrupted (Ctrl-C)")
