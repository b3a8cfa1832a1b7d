"""The parts of a paper's claims on both backends, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.statistics.estimate import estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.papers.contents.paper import Claim
    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.papers.reproducing.reproduction import PaperReproduction
    from cwndlab.statistics.estimate import Estimate


@dataclass(frozen=True)
class Beside:
    """A part of a claim under the defaults, in the simulator (`here`) and in Linux (`there`)."""

    claim: Claim
    here: Judged
    there: Judged

    @property
    def difference(self) -> Estimate | None:
        """The effect in Linux less that in the simulator, paired by seed, over the seeds that both have."""
        if self.here.estimate is None or self.there.estimate is None:
            return None
        pairs = zip(self.there.estimate.values, self.here.estimate.values, strict=False)
        return estimate([there - here for there, here in pairs])

    @property
    def parts_ways(self) -> bool:
        """Whether the 95 % interval of the difference excludes zero."""
        known = self.difference
        if known is None or known.low is None or known.high is None:
            return False
        return known.low > 0 or known.high < 0


def beside(paper: PaperReproduction) -> Iterator[Beside]:
    """Yield every part of the claims of a paper that was run on both backends."""
    if paper.in_linux is None:
        return
    for here, there in zip(paper.claims, paper.in_linux.claims, strict=True):
        parts = zip(here.defaults.judged.parts, there.defaults.judged.parts, strict=True)
        yield from (Beside(here.claim, *each) for each in parts)
