"""An explanation as tables of texts, for the report and for the papers' pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Document = Mapping[str, Any]

# At most so many answers of one point are shown beside a number, the largest changes first.
MOST_SHIFTS = 3
FITTED = "all numbers of the paper (fitted)"
SET_UP = "the paper's own baselines"


@dataclass(frozen=True)
class TextTable:
    """A table with a title, and a note on what it leaves out."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def introduction(paper: Document) -> str:
    """Return what was searched. `paper` is one of the document of a reproduction."""
    known = paper["explanation"]
    return (
        f"A search over {counted(known['combinations'], 'combination')} of answers to what the paper leaves "
        f"open compared {counted(known['numbers'], 'number')} with the paper's."
    )


def tables(paper: Document, most: int | None = None) -> Iterator[TextTable]:
    """Yield the closest readings, the answers that move numbers, and those that act together.

    At most `most` rows are shown of each of the last two.
    """
    known = paper["explanation"]
    yield _closest(paper)
    if known["effects"]:
        yield _limited(
            "Which answers move which number",
            ("number", "the paper", "left open", "share of variance", "change from the default"),
            [_effect(each) for each in known["effects"]],
            most,
        )
    if known["pairs"]:
        yield _limited(
            "Answers that act together",
            (
                "number",
                "the paper",
                "answers",
                "the first alone",
                "the second",
                "both",
                "beyond their sum",
            ),
            [_pair(each) for each in known["pairs"]],
            most,
        )


def _limited(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], most: int | None
) -> TextTable:
    hidden = 0 if most is None else max(0, len(rows) - most)
    note = f"Not shown: {counted(hidden, 'row')} with smaller effects." if hidden else ""
    return TextTable(title, columns, rows[: len(rows) - hidden], note)


def _closest(paper: Document) -> TextTable:
    known = paper["explanation"]
    columns = (
        "closest to",
        "answers",
        "distance",
        "of the defaults",
        "baselines missed",
        "claims there",
    )
    rows = [_found(paper, known["set_up"], SET_UP), _found(paper, known["charitable"], FITTED)]
    return TextTable("The closest readings that were found", columns, rows)


def _found(paper: Document, found: Document, aim: str) -> list[str]:
    index = reading_of(paper, found)
    answers = "; ".join(found["answers"]) or "the defaults"
    distances = [f"{found[name]:.2f}" for name in ("distance", "distance_of_defaults")]
    missed = [each["text"] for each in paper["readings"][index]["baselines"] if not each["passes"]]
    outcomes = [f"{claim['id']} {claim['readings'][index]['outcome']}" for claim in paper["claims"]]
    return [aim, answers, *distances, "; ".join(missed) or "none", ", ".join(outcomes)]


def reading_of(paper: Document, found: Document) -> int:
    """Return the place of the reading with the answers that were found."""
    return next(index for index, each in enumerate(paper["readings"]) if each["answers"] == found["answers"])


def _effect(effect: Document) -> list[str]:
    moved = [each for each in effect["answers"] if each["ci95"][0] > 0 or each["ci95"][1] < 0]
    largest = sorted(moved, key=lambda each: -abs(each["mean"]))[:MOST_SHIFTS]
    changes = [f"{each['value']}: {_change(each)}" for each in largest]
    return [
        *_number(effect["number"]),
        effect["option"],
        f"{100 * effect['share_of_variance']:.0f} %",
        "; ".join(changes),
    ]


def _pair(pair: Document) -> list[str]:
    alone = [_signed(pair[name]) for name in ("first_alone", "second_alone", "both")]
    return [*_number(pair["number"]), " and ".join(pair["answers"]), *alone, _change(pair["interaction"])]


def _number(number: Document) -> list[str]:
    unit = f" {number['unit']}" if number["unit"] else ""
    return [number["text"], f"{plain(number['paper'])}{unit}"]


def _change(known: Document) -> str:
    return f"{_signed(known['mean'])} [{', '.join(map(plain, known['ci95']))}]"


def _signed(value: float) -> str:
    return f"+{plain(value)}" if value > 0 else plain(value)
