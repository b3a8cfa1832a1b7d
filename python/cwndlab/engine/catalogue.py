"""Reads the simulator's catalogue: algorithms, queues, stack profiles, TCP options and traces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cwndlab.engine.extension import Engine

Entry = dict[str, Any]

# The parts of the catalogue, and the name of one entry of each.
PARTS = {
    "algorithms": "algorithm",
    "queues": "queue",
    "profiles": "profile",
    "traces": "trace",
    "environments": "environment",
}

# The backend that has the kernel's own algorithms and queues, and what stands before their names.
LINUX = "linux"

# Before an algorithm's name: each subflow runs it as if it were alone.
UNCOUPLED = "uncoupled:"

# `show tcp` describes the options that every profile sets, `show mptcp` those of a multipath connection.
TCP = "tcp"
MPTCP = "mptcp"


def find(engine: Engine, name: str, others: Iterable[str] = ()) -> tuple[str, Entry]:
    """Return the kind and the entry of this name.

    Raises `InputError` if it is unknown, with the nearest of all names and of the `others` that may be meant.
    """
    catalogue = engine.read_catalogue(LINUX if name.startswith(f"{LINUX}:") else None)
    if name == TCP:
        return "options", {
            "name": TCP,
            "summary": "options of the TCP stack, under [tcp]",
            "params": catalogue[TCP],
        }
    if name == MPTCP:
        return "options", {
            "name": MPTCP,
            "summary": "options of a multipath connection, under `mptcp` of a flow with `paths`",
            "params": catalogue[MPTCP],
        }
    name = name.removeprefix(UNCOUPLED)
    entries = {entry["name"]: (kind, entry) for part, kind in PARTS.items() for entry in catalogue[part]}
    if name not in entries:
        raise InputError(_unknown(name, [*entries, TCP, MPTCP, *others]))
    return entries[name]


def has(engine: Engine, name: str) -> bool:
    """Return whether something is called so."""
    catalogue = engine.read_catalogue(LINUX if name.startswith(f"{LINUX}:") else None)
    known = {entry["name"] for part in PARTS for entry in catalogue[part]}
    return name.removeprefix(UNCOUPLED) in known | {TCP, MPTCP}


def of_the_kernel(engine: Engine) -> list[Entry]:
    """Return the algorithms and queues that are code of the Linux kernel."""
    parts = engine.read_catalogue(LINUX)
    return [
        entry for part in ("algorithms", "queues") for entry in parts[part] if entry["name"].startswith(LINUX)
    ]


def queue(engine: Engine, kind: str) -> Entry:
    """Return the entry of a known kind of queue."""
    return next(entry for entry in engine.read_catalogue()["queues"] if entry["name"] == kind)


def described(engine: Engine, kind: str, entry: Entry) -> Entry:
    """Return the entry in the form of an algorithm's, with the values of its parameters under each profile.

    The options of a profile become parameters whose defaults are its values.
    """
    if kind in ("algorithm", "options"):
        in_force = in_force_by_profile(engine, kind, entry)
        params = [
            {**param, "in_force": {profile: values[param["name"]] for profile, values in in_force.items()}}
            for param in entry["params"]
        ]
        return {**entry, "params": params}
    if kind != "profile":
        return entry
    values = entry[TCP]
    options = [{**option, "default": values[option["name"]]} for option in engine.read_catalogue()[TCP]]
    dialects = [
        f"{algorithm}.{name} = {shown(value)}"
        for algorithm, settings in entry["dialects"].items()
        for name, value in settings.items()
    ]
    head = {key: entry[key] for key in ("name", "summary", "source", "departures")}
    return {**head, "params": options, "dialects": dialects}


def in_force_by_profile(engine: Engine, kind: str, entry: Entry) -> dict[str, dict[str, Any]]:
    """Return the values of an algorithm's parameters, or of the TCP options, under each profile."""
    defaults = {param["name"]: param["default"] for param in entry["params"]}
    return {
        profile["name"]: defaults
        | (
            profile.get(entry["name"], {})
            if kind == "options"
            else profile["dialects"].get(entry["name"], {})
        )
        for profile in engine.read_catalogue()["profiles"]
    }


def shown(value: Any) -> str:
    """Return a value as a scenario writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def _unknown(name: str, known: list[str]) -> str:
    return f"nothing is called {name!r}; {did_you_mean(name, known, 'see `cwndlab list`')}"
