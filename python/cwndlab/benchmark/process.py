"""Measurements in a process of their own, so that their peak of memory is not shared."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from cwndlab.errors import CwndlabError

_STATUS = Path("/proc/self/status")


def in_own_process(module: str, name: str, *arguments: int) -> dict[str, Any]:
    """Return the JSON that a module of this package prints for a name. Raises `CwndlabError` if it fails."""
    command = [sys.executable, "-m", f"{__package__}.{module}", name, *map(str, arguments)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise CwndlabError(f"{name} failed: {answer.stderr.strip().rpartition(chr(10))[2]}")
    measured: dict[str, Any] = json.loads(answer.stdout)
    return measured


def peak_rss_mb() -> float | None:
    """Return the most memory that this process ever had, where the system reports it."""
    found = re.search(r"^VmHWM:\s*(\d+) kB$", _STATUS.read_text(), re.MULTILINE) if _STATUS.exists() else None
    return None if found is None else int(found[1]) * 1024 / 1e6
