"""Runs the readings of papers, one after the other on all cores, or side by side with an executor."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING

from cwndlab.papers.contents.readings import Reading, judged_cells, numbered_cells
from cwndlab.papers.explaining.explanation import expected_searches
from cwndlab.papers.judging.evaluation import Evaluated
from cwndlab.results.recording import Record
from cwndlab.results.result import Result
from cwndlab.running.execution import execute_each, weight
from cwndlab.system.interrupting import noticing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor, Future

    from cwndlab.papers.judging.gate import Gate
    from cwndlab.scenarios.scenario import Scenario

# How many readings a search runs together: their runs fill all cores and still fit into the memory.
SEARCHED_AT_ONCE = 16
# How many readings run side by side with an executor: one alone seldom has runs for all workers.
SIDE_BY_SIDE = 32
# How long Ctrl-C may wait.
POLL_S = 0.1


class InterruptedSearchError(Exception):
    """Ctrl-C ended a search."""


class Course:
    """Runs readings. Of alternatives, only the judged values are kept."""

    def __init__(
        self,
        all_readings: Sequence[Reading],
        searched: Sequence[Reading],
        watch: Callable[[float], None],
        *,
        threads: int | None,
        executor: Executor | None,
        fresh: bool,
    ) -> None:
        self.interrupted = False
        self._threads, self._executor, self._fresh, self._watch = threads, executor, fresh, watch
        self._ahead: dict[int, Future[Evaluated]] = {}
        self._stopped = False
        self._lock = threading.Lock()
        # How much of the readings is done that run now.
        self._under_way: dict[int, float] = {}
        self._whole = sum(map(_weight, all_readings)) + sum(map(_search_weight, searched)) or 1.0
        self._done = 0.0

    def run_ahead(self, readings: Sequence[Reading]) -> None:
        """Run readings side by side if an executor makes the runs; `run` returns them later.

        After Ctrl-C, they lack runs. Raises `RunFailedError` if a run fails.
        """
        if self._executor is None:
            return
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool, noticing() as check:
            futures = [pool.submit(self._run, reading) for reading in readings]
            self._ahead = dict(zip(map(id, readings), futures, strict=True))
            try:
                _await(futures, check)
            except KeyboardInterrupt:
                self.interrupted = True
            finally:
                self._stopped = True
        self._stopped = self.interrupted

    def run(self, reading: Reading) -> Evaluated:
        """Run a reading, look by look, until everything is decided or all seeds are there.

        After Ctrl-C, it is returned without the missing runs.
        """
        ahead = self._ahead.get(id(reading))
        return self._run(reading) if ahead is None else ahead.result()

    def _run(self, reading: Reading) -> Evaluated:
        evaluated = Evaluated(reading, {}, {})
        needed = {cell.key for cell in reading.runnable}
        seen = 0
        for look in reading.looks:
            if reading.only:
                needed = self._baselines_first(evaluated, needed, seen, look)
            self._add(evaluated, needed, seen, look)
            if self.interrupted:
                break
            seen = look
            needed = _settle(evaluated, look)
            if not needed:
                break
        with self._lock:
            self._done += _weight(reading)
            self._under_way.pop(id(reading), None)
        if reading.answers:
            evaluated.condense()
        return evaluated

    def _baselines_first(self, evaluated: Evaluated, needed: set[str], begin: int, end: int) -> set[str]:
        """Run what the gates need, and return the other cells that are needed.

        Claims whose gate is missed for good are given up, and their cells are not run.
        """
        reading = evaluated.reading
        baselines = reading.baseline_cells & needed
        self._add(evaluated, baselines, begin, end)
        if not self.interrupted:
            gate, is_last = evaluated.gate_so_far(), end == reading.looks[-1]
            gates = {name: gate.of(name) for name in reading.only}
            evaluated.given_up |= {
                name
                for name, own in gates.items()
                if _stops(reading, own, end) or (is_last and not own.passes)
            }
        return (needed - baselines) & judged_cells(reading.paper, set(reading.only) - evaluated.given_up)

    def measure(self, readings: Sequence[Reading]) -> list[Evaluated]:
        """Run readings with all their seeds and keep the judged values. Raises `InterruptedSearchError`."""
        found = []
        for begin in range(0, len(readings), SEARCHED_AT_ONCE):
            found += self._measure(readings[begin : begin + SEARCHED_AT_ONCE])
        return found

    def _measure(self, readings: Sequence[Reading]) -> list[Evaluated]:
        """Run readings together. A cell that several of them share is run once."""
        cells = [
            (reading, cell, cell.scenario)
            for reading in readings
            for cell in reading.runnable
            if cell.scenario is not None
        ]
        jobs = {
            (scenario.canonical, *reading.seeds): (scenario, reading.seeds) for reading, _, scenario in cells
        }
        done, size = self._done, sum(map(_weight, readings))
        results = execute_each(
            list(jobs.values()),
            record=Record.NONE,
            threads=self._threads,
            executor=self._executor,
            fresh=self._fresh,
            watch=lambda share: self._watch(min(1, (done + share * size) / self._whole)),
        )
        self._done += size
        self.interrupted |= any(result.interrupted for result in results)
        if self.interrupted:
            raise InterruptedSearchError
        known = dict(zip(jobs, results, strict=True))
        found = []
        for reading in readings:
            own = {
                cell.key: known[scenario.canonical, *reading.seeds]
                for of, cell, scenario in cells
                if of is reading
            }
            counts = dict.fromkeys(own, len(reading.seeds))
            found.append(Evaluated(reading, own, counts))
        return found

    def _add(self, evaluated: Evaluated, keys: set[str], begin: int, end: int) -> None:
        """Make the runs of these cells from one look to the next."""
        reading = evaluated.reading
        jobs = reading.jobs(keys, begin, end)
        shown = [cell.key for cell in reading.runnable if cell.key in keys]
        if self.interrupted or self._stopped or not jobs:
            results = [Result(scenario, [], interrupted=True) for scenario, _ in jobs]
        else:
            results = self._execute(reading, jobs, begin)
        for key, result in zip(shown, results, strict=True):
            known = evaluated.results.get(key)
            runs = [*(known.runs if known else []), *result.runs]
            evaluated.results[key] = replace(result, runs=runs)
            evaluated.counts[key] = end

    def _execute(
        self, reading: Reading, jobs: Sequence[tuple[Scenario, Sequence[int]]], begin: int
    ) -> list[Result]:
        each = _weight(reading) / len(reading.seeds)

        def watch(done: float) -> None:
            if self._stopped:
                raise KeyboardInterrupt
            with self._lock:
                self._under_way[id(reading)] = each * (begin + done * len(jobs[0][1]))
                share = (self._done + sum(self._under_way.values())) / self._whole
            self._watch(min(1, share))

        results = execute_each(
            jobs,
            record=Record.NONE,
            threads=self._threads,
            executor=self._executor,
            fresh=self._fresh,
            watch=watch,
        )
        self.interrupted |= any(result.interrupted for result in results)
        return results


def _await(futures: Sequence[Future[Evaluated]], check: Callable[[], None]) -> None:
    """Wait for readings. Raises what the first one raised that failed, and what `check` raises."""
    pending = set(futures)
    while pending:
        check()
        done, pending = wait(pending, POLL_S, FIRST_EXCEPTION)
        for future in done:
            future.result()


def _settle(evaluated: Evaluated, look: int) -> set[str]:
    """Settle the parts that this look decides, and return the cells that the others and the gates need.

    A reading that clearly misses the gate of a claim gives the claim up; from the look of `missing_seeds` on,
    so does one that misses the gate at all.
    """
    reading = evaluated.reading
    gate = evaluated.gate_so_far()
    needed: set[str] = set()
    for claims in (reading.paper.claims, () if reading.answers else reading.paper.findings):
        for judged in evaluated.judged(claims, reading.looks[-1]):
            name = judged.claim.id
            # Findings have no gate: they are tested under the defaults, whatever these are.
            if claims is reading.paper.claims:
                own = gate.of(name)
                if _stops(reading, own, look):
                    evaluated.given_up.add(name)
                elif name not in evaluated.given_up and reading.judges(name):
                    needed |= own.unclear_cells
            if name in evaluated.given_up:
                continue
            for part in judged.parts:
                if not part.is_decided and part.part.effect is not None:
                    needed.update(part.part.effect.cells)
                # Whether Holm's correction counts a part without an estimate is asked anew at each look.
                elif part.estimate is not None:
                    evaluated.settled[id(part.part)] = part
    return needed & {cell.key for cell in reading.runnable}


def _stops(reading: Reading, gate: Gate, look: int) -> bool:
    if reading.missing_seeds is None:
        return False
    return gate.is_clearly_missed or (look >= reading.missing_seeds and not gate.passes)


def _search_weight(defaults: Reading) -> float:
    """Return about how much a search takes, in the unit of `_weight`."""
    keys = numbered_cells(defaults.paper)
    once = sum(weight(cell.scenario) for cell in defaults.runnable if cell.scenario and cell.key in keys)
    return once * expected_searches(defaults.paper)


def _weight(reading: Reading) -> float:
    return sum(weight(cell.scenario) * len(reading.seeds) for cell in reading.runnable if cell.scenario)
