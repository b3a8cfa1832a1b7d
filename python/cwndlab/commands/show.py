"""`cwndlab show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cwndlab.commands.document import print_document
from cwndlab.commands.options import AsJson, Controllers, as_name, as_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from cwndlab.engine import Engine


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            parser=as_name,
            help="An algorithm, queue, profile, trace, environment or example scenario; tcp or mptcp; or the "
            "file of a trace or a capture.",
        ),
    ],
    controllers: Controllers = [],  # noqa: B006 (typer copies it)
    as_json: AsJson = False,
    delays: Annotated[bool, typer.Option("--delays", help="The file has delays, not rates.")] = False,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Of a trace: the windows of its percentiles, and the shortest outage. Default: 100 ms; of "
            "delays 10 ms.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=as_path, help="Draw a trace over time: .png, .svg or .pdf."),
    ] = None,
) -> None:
    """Describe an algorithm, a queue, a profile or another built-in part; or the file of a trace.

    Prints its parameters with their defaults, allowed values and sources; the values that each profile sets;
    the properties of its controllers; and how it departs from its source. For a trace or an example scenario,
    prints the file itself. For a file: length, mean, percentiles and outages of the trace. For a packet
    capture (pcap, pcapng) of a bulk transfer: its losses, timeouts and RTTs.
    """
    from cwndlab.controllers.loading import load
    from cwndlab.engine import catalogue, in_use
    from cwndlab.scenarios import examples

    load(controllers)
    engine = in_use()
    example = None if Path(name).exists() else examples.file_of(name)
    if example is not None:
        _example(name, example, as_json=as_json, others=bool(delays or window or plot))
        return
    options = bool(delays or window or plot)
    if options:
        _require_recording(engine, name)
    if options or (not catalogue.has(engine, name) and _is_path(name)):
        _recording(engine, name, window, plot, delays=delays, as_json=as_json)
        return
    kind, entry = catalogue.find(engine, name, examples.names())
    if as_json:
        document = entry if kind == "profile" else catalogue.described(engine, kind, entry)
        print_document({"schema": 1, "kind": kind, **document})
        return
    if kind == "trace":
        typer.echo(engine.trace(name), nl=False)
        return
    _print(kind, catalogue.described(engine, kind, entry))


def _example(name: str, file: Path, *, as_json: bool, others: bool) -> None:
    from cwndlab.errors import InputError

    if others:
        raise InputError(f"{name}: --delays, --window and --plot are for traces, and this is a scenario")
    text = file.read_text(encoding="utf-8")
    if as_json:
        print_document({"schema": 1, "kind": "scenario", "name": name, "text": text})
        return
    typer.echo(text, nl=False)


def _is_path(name: str) -> bool:
    return "/" in name or Path(name).exists()


def _require_recording(engine: Engine, name: str) -> None:
    """Raise `InputError` if this is the name of something else than a file or a built-in trace."""
    from cwndlab.engine import catalogue
    from cwndlab.errors import InputError

    if Path(name).exists() or not catalogue.has(engine, name):
        return
    kind, _ = catalogue.find(engine, name)
    if kind != "trace":
        expected = "a trace with --delays, --window or --plot"
        raise InputError(f"{name}: expected {expected}, found the {kind} of this name")


def _recording(
    engine: Engine, name: str, window: str | None, plot: Path | None, *, delays: bool, as_json: bool
) -> None:
    from cwndlab.errors import InputError
    from cwndlab.output import replay
    from cwndlab.traces import capture

    if name.endswith(".toml"):
        raise InputError(
            f"{name}: expected a trace, found the name of a scenario; try `cwndlab check {name}`"
        )
    if capture.is_capture(Path(name)):
        _capture(engine, name, as_json=as_json, others=bool(delays or window or plot))
        return
    found = replay.describe(engine, name, window, delays=delays)
    if plot is not None:
        found.draw_into(plot)
    if as_json:
        kind = "delays" if delays else "trace"
        print_document({"schema": 1, "kind": kind, "name": name, **found.to_json()})
        return
    for line in found.lines():
        typer.echo(line)
    if plot is not None:
        typer.echo(f"figure in {plot}")


def _capture(engine: Engine, name: str, *, as_json: bool, others: bool) -> None:
    from cwndlab.errors import InputError
    from cwndlab.traces import capture

    if others:
        options = "--delays, --window and --plot are for traces"
        raise InputError(f"{name}: {options}, and this is a capture; make one with `cwndlab convert`")
    found = capture.read(engine, Path(name))
    if as_json:
        print_document({"schema": 1, "kind": "capture", "name": name, **found.to_json()})
        return
    for line in found.lines():
        typer.echo(line)


def _print(kind: str, entry: dict[str, Any]) -> None:
    from cwndlab.system.terminal import output

    console = output()
    console.print(f"{entry['name']} ({kind}): {entry['summary']}", markup=False)
    if entry.get("source"):
        console.print(f"source: {entry['source']}", markup=False)
    if kind == "environment":
        console.print(_environment(entry))
    if entry.get("params"):
        console.print()
        console.print(_table(entry["params"]))
    for title, lines in (
        ("declares", _declared(entry) if kind == "algorithm" else []),
        ("departures", entry.get("departures")),
        ("dialects", entry.get("dialects")),
    ):
        if lines:
            console.print(f"{title}:")
            console.print(_items(lines))


def _declared(algorithm: dict[str, Any]) -> list[str]:
    """Return the properties of the algorithm's controllers with default parameters."""
    declared = []
    if algorithm["probes"]:
        declared.append(f"recorded values: {', '.join(algorithm['probes'])}")
    if algorithm["actions_len"] is not None:
        declared.append(
            f"chooses among {algorithm['actions_len']} actions; "
            f"an agent observes {algorithm['observation_len']} numbers"
        )
    if algorithm["bounded"]:
        declared.append("its parameters limit its window on any path")
    if algorithm["coupled"]:
        declared.append("coupled: its window depends on its sibling subflows")
    if algorithm["own_window_in_recovery"]:
        declared.append("keeps its own window in recovery, without PRR")
    if algorithm["ecn"] != "as-configured":
        declared.append(f"sends its data as {algorithm['ecn'].upper()}")
    return declared


def _environment(entry: dict[str, Any]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from cwndlab.statistics.numbers import plain

    grid = Table.grid(padding=(0, 2, 0, 0))
    actions = (f"{number}: {action}" for number, action in enumerate(entry["actions"]))
    rows = {
        "algorithm": f"{entry['algorithm']} (`cwndlab show {entry['algorithm']}`)",
        "observation": f"{entry['observation_len']} numbers: " + entry["observation"].replace(",", ", "),
        "actions": f"{entry['actions_len']}: " + "; ".join(actions),
        "decides": entry["decides"],
        "reward": entry["reward"],
        "episode": f"{entry['duration']}, then truncated; terminated when the flow has sent all its data",
    } | {
        each["name"]: f"{plain(each['low'])} to {plain(each['high'])}, log-uniform: "
        f"{each['meaning']} ({each['source']})"
        for each in entry["ranges"]
    }
    for name, text in rows.items():
        grid.add_row(escape(name), escape(text))
    return grid


def _items(lines: Sequence[str]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    grid = Table.grid(padding=(0, 1, 0, 0))
    for line in lines:
        grid.add_row("  -", escape(line))
    return grid


def _table(params: Sequence[dict[str, Any]]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from cwndlab.engine.catalogue import shown

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("default", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("meaning")
    for param in params:
        details = [param["meaning"], f"allowed: {param['allowed']}", f"source: {param['source']}", ""]
        in_force = param.get("in_force", {})
        if any(value != param["default"] for value in in_force.values()):
            by_profile = ", ".join(f"{shown(value)} in profile {name}" for name, value in in_force.items())
            details.insert(1, f"in force: {by_profile}")
        cells = (param["name"], shown(param["default"]), param["unit"], "\n".join(details))
        table.add_row(*(escape(cell) for cell in cells))
    return table
