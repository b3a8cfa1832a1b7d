"""The start of this process, and the files that have changed since."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path


def changed_since_start(path: Path) -> bool:
    """Whether a file may have changed since this process loaded it.

    This reads the time of the last status change (ctime). Unlike the modification time, a program that writes
    the file cannot set it back.
    """
    try:
        return path.stat().st_ctime >= _start_s()
    except OSError:
        return True


@cache
def _start_s() -> float:
    """Return the start in seconds since 1970, or 0 if it is not known."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        after_boot_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + after_boot_s
    except (OSError, ValueError, LookupError, AttributeError):
        return 0.0
