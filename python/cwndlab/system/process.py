"""When this process began, and which files have changed since."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path


def changed_since_start(path: Path) -> bool:
    """Whether a file may be another than the one that this process has loaded.

    The time of a file's last change (not that of its content) cannot be set back by whoever writes it.
    """
    try:
        return path.stat().st_ctime >= _start_s()
    except OSError:
        return True


@cache
def _start_s() -> float:
    """The start in seconds since 1970; the beginning of time where no one can tell."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        after_boot_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + after_boot_s
    except (OSError, ValueError, LookupError, AttributeError):
        return 0.0
