"""Prints a page with every verdict under every alternative: `python -m cwndlab.papers.sensitivity FILE...`.

Each FILE is a `reproduction.json` of `cwndlab reproduce --full`, with some or all papers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.statistics.numbers import counted
from cwndlab.system.reading import MIB, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# Far more than all papers need.
MAX_BYTES = 1024 * MIB


def page(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return the page: a table for each paper, a row for each alternative, a column for each claim."""
    head = [
        "# What the verdicts depend on",
        "",
        "These tables show what becomes of each claim under every alternative to what its paper leaves open.",
        "Only one alternative is tried at a time, except for the combinations that a folder names.",
        "In brackets: readings that miss the paper's own baselines for that claim.",
        "The papers' folders describe them; `make sensitivity` (`cwndlab reproduce --full`) made the tables.",
        "The line above each table names the version that made it; later changes are not in it.",
        "",
        "Alternatives under which nothing could be run are counted, not shown.",
    ]
    papers = [
        line for document in documents for paper in document["papers"] for line in _paper(document, paper)
    ]
    return "\n".join([*head, *papers]) + "\n"


def _paper(document: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"## {paper['id']}", "", _made_by(document), "")
    judged = [claim for claim in paper["claims"] if claim["verdict"] != "unavailable"]
    if not judged:
        yield "No claim can be judged yet."
        return
    yield f"| left open | answer | {' | '.join(claim['id'] for claim in judged)} |"
    yield "|---" * (2 + len(judged)) + "|"
    yield f"| | **verdict** | {' | '.join(claim['verdict'] for claim in judged)} |"
    hidden = 0
    for index, reading in enumerate(judged[0]["readings"]):
        ours = [claim["readings"][index] for claim in judged]
        if {each["outcome"] for each in ours} == {"not run"}:
            hidden += 1
        else:
            # A claim may have baselines of its own, so a reading may pass its gate and miss another's.
            shown = [each["outcome"] if each["passes_gate"] else f"({each['outcome']})" for each in ours]
            answer = reading["value"] if reading["option"] else "the defaults"
            yield f"| {reading['option']} | {answer} | {' | '.join(shown)} |"
    if hidden:
        yield from ("", f"{counted(hidden, 'alternative')} could not be tried.")


def _made_by(document: Mapping[str, Any]) -> str:
    manifest = document["manifest"]
    fewer = document.get("alternative_seeds")
    seeds = counted(len(document["seeds"]), "seed")
    alternatives = "" if fewer is None else f" ({fewer} for alternatives)"
    return (
        f"{seeds}{alternatives}, version {manifest['version']}, commit {manifest['commit']}, "
        f"extension {manifest['extension_sha256'][:12]}."
    )


if __name__ == "__main__":
    expected = "the document of a reproduction (JSON)"
    sys.stdout.write(page(json.loads(read(Path(file), MAX_BYTES, expected)) for file in sys.argv[1:]))
