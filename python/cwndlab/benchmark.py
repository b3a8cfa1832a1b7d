"""Speed measurements, each in a process of its own, so that the peak of memory is the case's."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from typing import Any

from cwndlab import _native
from cwndlab.errors import CwndlabError, InputError

_PROGRAM = "import sys; from cwndlab import _native; print(_native.bench(sys.argv[1], int(sys.argv[2])))"


def chosen(case: str | None) -> list[str]:
    """All cases, or the one named."""
    known = _native.bench_cases()
    if case is None:
        return known
    if case not in known:
        near = difflib.get_close_matches(case, known, n=1)
        raise InputError(
            f"no case is called {case!r}; {f'did you mean {near[0]}?' if near else ', '.join(known)}"
        )
    return [case]


def measure(case: str, repeats: int) -> dict[str, Any]:
    """Run one case; the best of `repeats` by CPU time."""
    command = [sys.executable, "-c", _PROGRAM, case, str(repeats)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise CwndlabError(f"{case} failed: {answer.stderr.strip().rpartition(chr(10))[2]}")
    measured: dict[str, Any] = json.loads(answer.stdout)
    return measured
