"""Ctrl-C and SIGTERM: notices them at a safe place, and ends the Python code of another thread."""

from __future__ import annotations

import ctypes
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cwndlab.errors import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def noticing() -> Iterator[Callable[[], None]]:
    """Yield a function that raises `KeyboardInterrupt` once if Ctrl-C came since.

    Python raises it anywhere, also where it is swallowed: while an object is being removed. A second Ctrl-C
    does that.
    """
    came, told = threading.Event(), threading.Event()

    def note(number: int, frame: Any) -> None:
        if came.is_set():
            signal.default_int_handler(number, frame)
        came.set()

    def check() -> None:
        if came.is_set() and not told.is_set():
            told.set()
            raise KeyboardInterrupt

    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield check
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield check
        # It may have come after the last check.
        check()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def taking_sigterm_for_ctrl_c() -> Iterator[None]:
    """End a command after SIGTERM, which batch systems send, as after Ctrl-C, but with its own status."""
    came = threading.Event()

    def note(number: int, frame: Any) -> None:
        came.set()
        on_ctrl_c = signal.getsignal(signal.SIGINT)
        # A shell lets background commands ignore Ctrl-C.
        if not callable(on_ctrl_c):
            raise KeyboardInterrupt
        on_ctrl_c(number, frame)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, note)
    try:
        yield
    except SystemExit as ended:
        if came.is_set() and ended.code == INTERRUPTED:
            raise SystemExit(128 + signal.SIGTERM) from None
        raise


def interrupt(thread: int) -> None:
    """Raise `InterruptedError` in the thread of this identifier, as soon as it runs Python code."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(InterruptedError))
