"""Ends the Python code of another thread."""

from __future__ import annotations

import ctypes


def interrupt(thread: int) -> None:
    """Raise `InterruptedError` in the thread of this identifier, as soon as it runs Python code."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(InterruptedError))
