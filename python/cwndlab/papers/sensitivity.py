"""Every verdict under every alternative, as a page: `python -m cwndlab.papers.sensitivity FILE`.

FILE is the `reproduction.json` of `cwndlab reproduce --full`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def page(document: Mapping[str, Any]) -> str:
    """The page: a table a paper, a row an alternative, a column a claim."""
    manifest = document["manifest"]
    head = [
        "# What the verdicts depend on",
        "",
        "Each claim of each paper under every alternative to what the paper leaves open, one at a time.",
        "Made by `make sensitivity` (`cwndlab reproduce --full`); the papers' folders say what they are.",
        "",
        f"Version {manifest['version']}, commit {manifest['commit']},",
        f"extension {manifest['extension_sha256'][:12]}, {len(document['seeds'])} seeds.",
        "",
        "Alternatives of which nothing could be run then are counted, not shown. Whatever came after that",
        "commit is not in it.",
    ]
    return "\n".join([*head, *(line for paper in document["papers"] for line in _paper(paper))]) + "\n"


def _paper(paper: Mapping[str, Any]) -> Iterator[str]:
    claims = paper["claims"]
    yield from ("", f"## {paper['id']}", "")
    judged = [claim for claim in claims if _was_judged(claim)]
    if not judged:
        yield "No claim can be judged yet."
        return
    yield f"| left open | answer | {' | '.join(claim['id'] for claim in judged)} |"
    yield "|---" * (2 + len(judged)) + "|"
    yield f"| | the defaults | {' | '.join(claim['verdict'] for claim in judged)} |"
    hidden = 0
    for index, option in enumerate(claims[0]["sensitivity"]):
        verdicts = [claim["sensitivity"][index]["verdict"] for claim in judged]
        if set(verdicts) == {"unavailable"}:
            hidden += 1
        else:
            yield f"| {option['option']} | {option['value']} | {' | '.join(verdicts)} |"
    if hidden:
        yield from ("", f"{hidden} alternatives cannot be tried yet.")


def _was_judged(claim: Mapping[str, Any]) -> bool:
    verdicts = [claim["verdict"], *(each["verdict"] for each in claim["sensitivity"])]
    return any(verdict != "unavailable" for verdict in verdicts)


if __name__ == "__main__":
    sys.stdout.write(page(json.loads(Path(sys.argv[1]).read_text())))
