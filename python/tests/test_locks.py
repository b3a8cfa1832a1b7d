"""`make` installs what the lock files pin, and these pin what the project asks for."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.documents import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKS = {f"requirements/{extra}.lock": extra for extra in ("dev", "sb3", "site", "wheel")}

PIN = re.compile(
    r"(?P<requirement>[\w.-]+==[^\s;]+(?: ; [^\\]+)?) \\\n"
    r"(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)(?:    #.*\n)+"
)


def pins(lock: str) -> dict[str, Requirement]:
    """The packages of a lock file, each with one version and its hashes; the file has nothing else."""
    header, options, text = (ROOT / lock).read_text().partition("--only-binary :all:\n\n")
    assert options
    assert all(line.startswith("#") for line in header.splitlines())
    assert PIN.sub("", text) == ""
    found = [Requirement(match["requirement"]) for match in PIN.finditer(text)]
    names = [canonicalize_name(pin.name) for pin in found]
    assert len(names) == len(set(names))
    return dict(zip(names, found, strict=True))


def version(pin: Requirement) -> str:
    (specifier,) = pin.specifier
    return specifier.version


@pytest.mark.parametrize(("lock", "extra"), LOCKS.items())
def test_a_lock_pins_what_the_project_asks_for(lock: str, extra: str) -> None:
    pinned = pins(lock)
    asked = [Requirement(text) for text in PROJECT["dependencies"] + PROJECT["optional-dependencies"][extra]]
    for requirement in asked:
        pin = pinned.get(canonicalize_name(requirement.name))
        assert pin is not None, f"{lock} lacks {requirement}: make lock"
        assert pin.marker is None, f"{lock} has {pin} for some machines only"
        assert requirement.specifier.contains(version(pin)), f"{lock} has {pin}, not {requirement}: make lock"


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations(LOCKS, 2)])
def test_the_locks_agree(first: str, second: str) -> None:
    one, other = pins(first), pins(second)
    assert {name: version(one[name]) for name in one.keys() & other.keys()} == {
        name: version(other[name]) for name in one.keys() & other.keys()
    }


@pytest.mark.parametrize("tool", ["site", "wheel"])
def test_make_installs_its_tools_from_their_lock(tool: str) -> None:
    commands = make("--always-make", "--dry-run", f".venv/{tool}")
    assert f"--require-hashes --requirement requirements/{tool}.lock" in commands


def test_make_installs_from_the_lock_and_from_nothing_else() -> None:
    commands = make("--always-make", "--dry-run", "setup")
    installs = [line for line in commands.splitlines() if re.search(r"\bpip install\b", line)]
    assert len(installs) == 1
    assert "--require-hashes --requirement requirements/dev.lock" in installs[0]
    (build,) = (line for line in commands.splitlines() if "maturin develop" in line)
    assert "PIP_NO_INDEX=1" in build


def test_make_sets_up_again_when_a_lock_changes() -> None:
    rules = make("--print-data-base", "--dry-run", "setup")
    assert re.search(r"^\.venv/locked: requirements/dev\.lock$", rules, re.MULTILINE)
    assert re.search(r"^\.venv/built:.* \.venv/locked .*\bCargo\.lock\b", rules, re.MULTILINE)


def test_make_leaves_the_lock_of_the_crates_alone() -> None:
    commands = make("--always-make", "--dry-run", "test")
    cargo = [
        line
        for line in commands.splitlines()
        if re.match(r"cargo (test|clippy)", line) and "--version" not in line
    ]
    # Clippy and the tests: once for the workspace, once for the validation, which is no part of it.
    assert len(cargo) == 4
    assert all("--locked" in line for line in cargo)


def make(*arguments: str) -> str:
    # What a make around the tests was called with is not meant for this one.
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    answer = subprocess.run(
        ["make", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return answer.stdout
