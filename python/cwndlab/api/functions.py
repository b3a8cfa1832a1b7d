"""`cwndlab.run`, `compare` and `sweep`: the commands as functions for programs."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from cwndlab.api.results import Comparison, Result, Sweep
from cwndlab.errors import InputError
from cwndlab.linux.backend import engine_of
from cwndlab.output.answers.goal import require_totals, sensitive
from cwndlab.output.answers.precision import precision
from cwndlab.results import comparison
from cwndlab.results import sweep as sweep_
from cwndlab.results.recording import Record
from cwndlab.results.totals import checked_link
from cwndlab.results.until import DEFAULT_SEEDS
from cwndlab.results.wanted import Wanted
from cwndlab.running.execution import execute
from cwndlab.running.exports import Exports
from cwndlab.running.looking import run_until
from cwndlab.scenarios import grid
from cwndlab.scenarios import seeds as seeds_
from cwndlab.scenarios.axis import axis
from cwndlab.scenarios.contest import as_choices, contest
from cwndlab.scenarios.over import Over, PointsFile, plan_of
from cwndlab.scenarios.overwritten import require_own_set_once
from cwndlab.scenarios.sampling import sampling
from cwndlab.scenarios.seeds import DEFAULT_COUNT
from cwndlab.scenarios.source import loaded, written_values
from cwndlab.system.arguments import (
    DICTIONARY,
    PATH,
    SOURCE,
    TEXT,
    TEXTS,
    TEXTS_OR_WHOLES,
    WHOLE,
    WHOLES,
    checked,
    is_whole,
    optional,
    require,
)
from cwndlab.system.given import given_path
from cwndlab.system.threads import checked_threads
from cwndlab.system.wording import in_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Executor

    from cwndlab.results import result
    from cwndlab.scenarios.axis import Axis
    from cwndlab.scenarios.scenario import Scenario
    from cwndlab.scenarios.source import Overrides, Source

    Seeds = int | Iterable[int]
    # Values by key, or by keys joined by `+`; a text is written as for `--over`.
    Axes = Mapping[str, str | Sequence[Any]]


# What the functions have in common.
COMMON = {"source": SOURCE, "threads": optional(WHOLE), "backend": TEXT}


@in_arguments
@checked(**COMMON, record=TEXT, qlog=optional(PATH), pcap=optional(PATH))
def run(
    source: Source,
    seeds: Seeds = 5,
    overrides: Overrides | None = None,
    threads: int | None = None,
    *,
    record: str = "first",
    fresh: bool = False,
    executor: Executor | None = None,
    backend: str = "sim",
    qlog: str | PathLike[str] | None = None,
    pcap: str | PathLike[str] | None = None,
) -> Result:
    """Run a scenario and return its result.

    `source` is a path, the text of a scenario (anything with a line break), or a dictionary with the keys of
    a scenario file. `seeds` is a number of seeds (from 1 on) or a list of them. `overrides` maps keys such as
    `flow.0.cc` to values: numbers, bools, lists of them, or texts in the form of `--set`. `threads` is the
    number of concurrent runs (default: all cores). `record` selects the seeds whose series are kept: `first`,
    `all` or `none`. Finished runs are reused unless `fresh`. `executor` makes the runs instead of threads. It
    may be any executor of `concurrent.futures`, such as a `ProcessPoolExecutor` or that of a cluster.
    `backend` is where the scenario runs: `sim`, or `linux`, whose kernel `make linux` builds once.
    `qlog` and `pcap` are folders for files that qvis and Wireshark read, with a folder for each seed.

    Raises `ScenarioError` with all problems if the scenario has errors, `InputError` if an argument is wrong,
    `RunFailedError` if a run breaks off, and `OutputError` if an export cannot be written. Ctrl-C raises
    `KeyboardInterrupt` and keeps the finished runs for the next call.
    """
    exports = Exports.into(qlog, pcap)
    if exports is not None:
        exports.require(backend)
    experiment = _on(backend, loaded(source, overrides))
    experiment.validate()
    require_own_set_once(experiment)
    [result] = _execute([experiment], seeds, threads, record, fresh=fresh, executor=executor, exports=exports)
    return Result.of(result)


@overload
def compare(
    source: Source,
    algorithms: Sequence[str],
    flows: Sequence[str | int] = (),
    seeds: Seeds = 5,
    overrides: Overrides | None = None,
    threads: int | None = None,
    *,
    across: None = None,
    link: str | None = None,
    record: str = "first",
    fresh: bool = False,
    executor: Executor | None = None,
    backend: str = "sim",
) -> Comparison: ...


@overload
def compare(
    source: Source,
    algorithms: Sequence[str],
    flows: Sequence[str | int] = (),
    seeds: Seeds = 5,
    overrides: Overrides | None = None,
    threads: int | None = None,
    *,
    across: Axes,
    link: str | None = None,
    record: str = "first",
    fresh: bool = False,
    executor: Executor | None = None,
    backend: str = "sim",
) -> Sweep: ...


@in_arguments
@checked(
    **COMMON,
    algorithms=TEXTS,
    flows=TEXTS_OR_WHOLES,
    across=optional(DICTIONARY),
    link=optional(TEXT),
    record=TEXT,
)
def compare(
    source: Source,
    algorithms: Sequence[str],
    flows: Sequence[str | int] = (),
    seeds: Seeds = 5,
    overrides: Overrides | None = None,
    threads: int | None = None,
    *,
    across: Axes | None = None,
    link: str | None = None,
    record: str = "first",
    fresh: bool = False,
    executor: Executor | None = None,
    backend: str = "sim",
) -> Comparison | Sweep:
    """Run a scenario with each of these algorithms and return the comparison, paired by seed.

    `flows` (names, or positions from 0) run the algorithms; all flows do if none is given. If some are given,
    the scenario is also run without them, which shows how much they cost the other flows. The first algorithm
    is the baseline of the differences. `link` is the link whose queue the totals report (default: the one
    that delayed packets most).

    `across` maps keys to conditions that nobody chooses, as in `sweep`. The algorithms are then compared in
    each condition and over all of them; the result is that of `sweep`, without series and without harm.

    The other arguments and the errors are those of `run`.
    """
    some = [str(flow) for flow in flows]
    if across is not None:
        if record != "first":
            raise InputError("record: expected no across with it, found one")
        key, values = as_choices(list(algorithms), some)
        return sweep(
            source,
            {key: values},
            seeds,
            overrides,
            threads,
            across=across,
            link=link,
            fresh=fresh,
            executor=executor,
            backend=backend,
        )
    plan = contest(_on(backend, loaded(source, overrides)), list(algorithms), some)
    checked_link(plan.scenario, link)
    results = _execute(plan.scenarios, seeds, threads, record, fresh=fresh, executor=executor)
    return Comparison.of(comparison.collect(plan, results, link))


@in_arguments
@checked(
    **COMMON,
    over=optional(DICTIONARY | PATH),
    across=optional(DICTIONARY),
    sample=optional(WHOLE),
    design=optional(TEXT),
    sample_seed=optional(WHOLE),
    sensitivity=optional(TEXT),
    until=optional(TEXT),
    link=optional(TEXT),
)
def sweep(
    source: Source,
    over: Axes | str | PathLike[str] | None = None,
    seeds: Seeds | None = None,
    overrides: Overrides | None = None,
    threads: int | None = None,
    *,
    across: Axes | None = None,
    sample: int | None = None,
    design: str | None = None,
    sample_seed: int | None = None,
    sensitivity: str | None = None,
    until: str | None = None,
    link: str | None = None,
    fresh: bool = False,
    executor: Executor | None = None,
    backend: str = "sim",
) -> Sweep:
    """Run a scenario over a grid and return all results.

    `over` maps keys to their values: `{"link.cell.queue": ["1 bdp", "codel"]}`. A `*` in a key stands for
    every flow or link. `across` maps keys in the same way to conditions that nobody chooses, such as traces:
    `{"link.cell.trace": ["traces/*.down"]}`. Choices are then judged in each condition, on average and in
    the worst one. A text with `*` or `?` stands for the files that match. Keys joined by `+` vary together;
    each of their values is a list, or a text joined by `+`.

    `over` may also be the path of a CSV file, whose columns are keys and whose rows are points.

    `sample` draws this number of points in place of a grid. `over` then has ranges, `lin(A..B UNIT)` or
    `log(A..B UNIT)`, and lists of choices: `{"link.cell.rate": "log(1..100 Mbit/s)"}`. `design` is `lhs` (a
    Latin hypercube, the default) or `sobol` (a scrambled Sobol' sequence, whose length is a power of 2);
    `sample_seed` (default 1) decides the draw.

    `sensitivity` names a total, such as `goodput`, and draws points that show how much each key matters for
    it: `sample` (a power of 2) times the number of keys + 2. The sweep's `indices()` are Sobol' indices.

    `until` adds seeds to each point until a total is as precise as this: `"goodput ±1 %"`. `seeds` are then
    those that a point may use (default 80, without `until` 5). Intervals are widened for the looks at them.

    No series are kept. The other arguments and the errors are those of `compare`.
    """
    base = _on(backend, loaded(source, overrides))
    asked = Wanted(sensitivity=sensitive(sensitivity))
    if sensitivity is not None and across:
        raise InputError("sensitivity: expected no across with it, found one")
    conditions = _axes("--across", across, base)
    plan = plan_of(
        _over(over),
        base,
        Path(base.file).parent,
        sampling(sample, design, sample_seed, mixed=sensitivity is not None),
    )
    points = grid.points(base, plan, conditions)
    checked_link(base, link)
    scenarios = [point.scenario for point in points]
    chosen = _chosen(seeds if seeds is not None else DEFAULT_COUNT if until is None else DEFAULT_SEEDS)
    aim = None if until is None else precision(until, chosen)
    if until is not None and across:
        raise InputError("until: expected no across with it, found one")
    require_totals(asked, aim, scenarios)

    def make(needed: Sequence[Scenario], some: Sequence[int]) -> list[result.Result]:
        return _execute(needed, some, threads, Record.NONE, fresh=fresh, executor=executor)

    if aim is None:
        results = make(scenarios, chosen)
    else:
        results, link = run_until(scenarios, aim, link, make)
    return Sweep.of(sweep_.collect(base, plan, points, results, link, asked, conditions, aim))


def _over(given: Axes | str | PathLike[str] | None) -> list[Over | PointsFile]:
    """Return what a mapping varies, each key with its values as `--over` takes them, or a file of points."""
    if isinstance(given, str | PathLike):
        return [PointsFile(given_path(given, "over"))]
    return [
        Over(key, values if isinstance(values, str) else written_values(key, values), f"--over {key}")
        for key, values in (given or {}).items()
    ]


def _axes(option: str, given: Axes | None, base: Scenario) -> list[Axis]:
    """Return the axes of a mapping; messages name `option`."""
    folder = Path(base.file).parent
    return [
        axis(key, written_values(key, values), f"{option} {key}", folder)
        for key, values in (given or {}).items()
    ]


def _chosen(seeds: Seeds) -> list[int]:
    require("seeds", seeds, WHOLE | WHOLES)
    if is_whole(seeds):
        return seeds_.counted(int(cast("int", seeds)))
    return seeds_.listed(cast("Iterable[int]", seeds))


def _on(backend: str, scenario: Scenario) -> Scenario:
    """Return the scenario with the engine of this backend."""
    return replace(scenario, engine=engine_of(backend, scenario.engine))


def _execute(
    scenarios: Sequence[Scenario],
    seeds: Seeds,
    threads: int | None,
    record: str,
    *,
    fresh: bool,
    executor: Executor | None,
    exports: Exports | None = None,
) -> list[result.Result]:
    threads = checked_threads(threads)
    if threads is not None and executor is not None:
        raise InputError("threads and executor: expected one of the two")
    if exports is not None and executor is not None:
        raise InputError("executor and qlog or pcap: expected one of the two; this process writes exports")
    # The class has a `submit` too.
    is_executor = callable(getattr(executor, "submit", None)) and not isinstance(executor, type)
    if executor is not None and not is_executor:
        raise InputError(f"executor={executor!r}: expected an executor of concurrent.futures")
    if record not in list(Record):
        raise InputError(f"record={record!r}: expected one of {', '.join(Record)}")
    results = execute(
        scenarios,
        _chosen(seeds),
        record=Record(record),
        threads=threads,
        executor=executor,
        fresh=fresh,
        exports=exports,
    )
    if any(result.interrupted for result in results):
        raise KeyboardInterrupt
    return results
