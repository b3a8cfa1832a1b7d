"""`about.json`: what a folder of results holds, in a few lines that are read quickly."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from cwndlab.results.request import Request
from cwndlab.system import writing
from cwndlab.system.reading import read_regular

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.results.result import Study

FILE = "about.json"
SCHEMA = 1


@dataclass(frozen=True)
class About:
    """What a folder holds. `answer` has the sentences that its report begins with."""

    kind: str
    name: str
    scenario: str
    backend: str
    seeds: tuple[int, ...]
    interrupted: bool
    command: str
    answer: tuple[str, ...]
    request_sha256: str

    @property
    def request(self) -> Request:
        """The request that it answers."""
        return Request(self.kind, self.request_sha256)


def about(study: Study, request: Request) -> About:
    """Describe a study that answers this request."""
    from cwndlab.output.kinds import kind_of

    return About(
        kind=request.kind,
        name=study.name,
        scenario=study.scenario.file,
        backend=study.scenario.engine.backend,
        seeds=tuple(study.seeds),
        interrupted=study.interrupted,
        command=study.command,
        answer=tuple(kind_of(study).answer(study)),
        request_sha256=request.sha256,
    )


def write(described: About, folder: Path) -> None:
    """Write the description into a folder."""
    document = {"schema": SCHEMA, **asdict(described)}
    writing.write_text(folder / FILE, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def read(folder: Path) -> About | None:
    """Return the description of a folder; None if it has none that can be read."""
    try:
        document = json.loads(read_regular(folder / FILE))
        if document.pop("schema") != SCHEMA:
            return None
        known = {key: document[key] for key in About.__dataclass_fields__}
        return About(**known | {key: tuple(known[key]) for key in ("seeds", "answer")})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
