"""What the simulator has to offer: algorithms, queues, stack profiles, TCP options and traces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError

if TYPE_CHECKING:
    from cwndlab.engine.extension import Engine

Entry = dict[str, Any]

# How the catalogue names its parts, and what one entry is called.
PARTS = {
    "algorithms": "algorithm",
    "queues": "queue",
    "profiles": "profile",
    "traces": "trace",
    "environments": "environment",
}

# Before an algorithm's name: each subflow runs it as if it were alone.
UNCOUPLED = "uncoupled:"

# `show tcp` describes the options that every profile sets, `show mptcp` those of a multipath connection.
TCP = "tcp"
MPTCP = "mptcp"


def find(engine: Engine, name: str) -> tuple[str, Entry]:
    """Find the entry of this name and say what kind of thing it is; else suggest the nearest name."""
    catalogue = engine.read_catalogue()
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
        raise InputError(_unknown(name, [*entries, TCP, MPTCP]))
    return entries[name]


def queue(engine: Engine, kind: str) -> Entry:
    """Give the entry of a kind of queue that there is."""
    return next(entry for entry in engine.read_catalogue()["queues"] if entry["name"] == kind)


def described(engine: Engine, kind: str, entry: Entry) -> Entry:
    """Give the entry in the form of an algorithm's, with what each profile makes of its parameters.

    A profile's options become parameters with its values.
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
    told = {key: entry[key] for key in ("name", "summary", "source", "departures")}
    return {**told, "params": options, "dialects": dialects}


def in_force_by_profile(engine: Engine, kind: str, entry: Entry) -> dict[str, dict[str, Any]]:
    """Give the values that an algorithm's parameters, or the options of TCP, have under each profile."""
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
    """A value as it is written in a scenario."""
    return value if isinstance(value, str) else json.dumps(value)


def _unknown(name: str, known: list[str]) -> str:
    return f"nothing is called {name!r}; {did_you_mean(name, known, 'see `cwndlab list`')}"
