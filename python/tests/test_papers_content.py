"""The papers' folders: nothing forgotten, nothing changed unnoticed, everything readable."""

from __future__ import annotations

import hashlib
from functools import cache

import pytest

from cwndlab.engine import SHIPPED
from cwndlab.papers.contents.cells import cells
from cwndlab.papers.contents.paper import Claim, Paper, Target
from cwndlab.papers.contents.readings import readings
from cwndlab.papers.language.units import UNITS
from cwndlab.papers.reading import library
from cwndlab.papers.reading.setting import in_force
from tests.documents import ROOT
from tests.refresh_docs import functions_table

# Of each paper: how many numbers it reports, and a hash of them. They were read in the papers; who corrects
# one changes the hash, and says in the commit where the paper has it.
NUMBERS = {
    "seo2024": (94, "d9885cd4ac6d"),
    "seo2022": (25, "d2238a7c74b1"),
    "han2024": (22, "4028d44ce491"),
    "lim2004": (111, "fc8c275204b5"),
    "cho2024": (43, "37aea2646f1c"),
}
CLAIMS = {
    "seo2024": [1, 2, 3, 4, 5, 6, 7, 23, 24, 25],
    "seo2022": [8, 21, 22],
    "han2024": [9, 10, 11, 12, 26, 27],
    "lim2004": [13, 14, 15, 16, 28],
    "cho2024": [17, 18, 19, 20, 29, 30],
}
# Settings that hold lists, or are printed otherwise than they are set; each was compared by hand.
NOT_ONE_NUMBER = {"cho2024-005"}


@cache
def paper(name: str) -> Paper:
    return library.read(name)


def statements(of: Paper) -> list[Claim]:
    return [*of.claims, *of.findings]


def targets(kind: str) -> list[Target]:
    return [target for name in NUMBERS for target in paper(name).targets if target.kind == kind]


def test_the_five_papers_are_there_in_the_order_of_their_claims() -> None:
    assert library.names() == list(NUMBERS)


@pytest.mark.parametrize("name", NUMBERS)
def test_no_number_is_forgotten_or_changed(name: str) -> None:
    told = [f"{each.place}|{each.metric}|{each.value}|{each.unit}\n" for each in paper(name).targets]
    digest = hashlib.sha256("".join(told).encode()).hexdigest()[:12]
    assert (len(told), digest) == NUMBERS[name]
    assert [each.id for each in paper(name).targets] == [f"{name}-{n:03}" for n in range(1, len(told) + 1)]


@pytest.mark.parametrize("name", CLAIMS)
def test_no_claim_is_forgotten(name: str) -> None:
    assert [claim.id for claim in paper(name).claims] == [f"Q{n}" for n in CLAIMS[name]]
    assert all(claim.parts and claim.text and claim.quote for claim in statements(paper(name)))


def test_the_claims_are_thirty() -> None:
    assert sorted(n for each in CLAIMS.values() for n in each) == list(range(1, 31))


@pytest.mark.parametrize("target", targets("measured"), ids=lambda target: target.id)
def test_a_measured_number_has_an_expression_or_a_reason(target: Target) -> None:
    assert target.effect is not None or target.notes.startswith("not measured: ")


@pytest.mark.parametrize("target", targets("setting"), ids=lambda target: target.id)
def test_a_setting_has_a_key_or_a_reason(target: Target) -> None:
    assert target.key or target.notes


@pytest.mark.parametrize(
    "target", [each for each in targets("setting") if each.key], ids=lambda target: target.id
)
def test_a_setting_is_what_the_paper_says(target: Target) -> None:
    of = paper(target.id.rpartition("-")[0])
    ran = [cell for cell in cells(of).values() if cell.experiment.id == target.experiment and cell.scenario]
    if not ran or ran[0].scenario is None or target.id in NOT_ONE_NUMBER:
        pytest.skip("its scenario cannot be read yet, or it is no single number")
    assert target.number is not None
    assert in_force(ran[0].scenario, target.key, target.unit) == pytest.approx(target.number)


@pytest.mark.parametrize("name", NUMBERS)
def test_every_world_can_be_planned(name: str) -> None:
    """Each scenario of each alternative is checked; what cannot be run has its reason."""
    for reading in readings(paper(name), [1], full=True):
        assert reading.missing or reading.cells
        assert all(cell.missing for cell in reading.cells.values() if cell.scenario is None)


@pytest.mark.parametrize("name", NUMBERS)
def test_an_experiment_marked_unavailable_cannot_be_read(name: str) -> None:
    """A mark that has become untrue is found."""
    from cwndlab.scenarios.scenario import load

    for experiment in paper(name).experiments:
        if experiment.unavailable and "part" in experiment.unavailable:
            problems = load(experiment.scenario, experiment.set.items()).problems()
            assert any(problem.is_error for problem in problems), experiment.id


@pytest.mark.parametrize("name", NUMBERS)
def test_some_answer_is_telling(name: str) -> None:
    """A usual run tries an answer of each paper, and the paper's page marks its point."""
    text = (paper(name).folder / "README.md").read_text()
    marked = [point.id for point in paper(name).open_points if f"| {point.id} (tried by default) |" in text]
    assert marked == [point.id for point in paper(name).open_points if point.telling] != []


@pytest.mark.parametrize("name", NUMBERS)
def test_the_readme_tells_all(name: str) -> None:
    text = (paper(name).folder / "README.md").read_text()
    flat = " ".join(text.split())
    told = [
        *(f"| {claim.id} | {claim.text}" for claim in statements(paper(name))),
        *(f"| {experiment.id} | {experiment.title}" for experiment in paper(name).experiments),
        *(point.default for point in paper(name).open_points),
        *(alternative.label for point in paper(name).open_points for alternative in point.alternatives),
        *(erratum.text for erratum in paper(name).errata),
        *(v.label for experiment in paper(name).experiments for v in experiment.variants),
    ]
    missing = [each for each in told if " ".join(each.split()) not in flat]
    assert missing == []


def test_learners_have_controls() -> None:
    """Beside each cell with a DQN stand a constant window, CUBIC with C = 1.2 and chance."""
    for name in ("seo2024", "seo2022"):
        for experiment in paper(name).experiments:
            if any("dqn" in variant.label for variant in experiment.variants):
                controls = " ".join(variant.label for variant in experiment.variants if variant.control)
                for word in ("constant", "C=1.2", "random"):
                    assert word in controls, experiment.id


def test_quantities_are_documented() -> None:
    assert functions_table() in (library.folder() / "README.md").read_text()


def test_units_are_documented() -> None:
    text = (library.folder() / "README.md").read_text()
    assert [name for name in UNITS if f"`{name}`" not in text] == []


def test_algorithms_that_are_missing_come_later() -> None:
    known = {entry["name"] for entry in SHIPPED.read_catalogue()["algorithms"]}
    missing = {
        cell.missing.split()[3].rstrip(",")
        for name in NUMBERS
        for cell in cells(paper(name)).values()
        if cell.missing and cell.missing.startswith("needs the algorithm")
    }
    assert missing.isdisjoint(known)


def test_algorithms_may_run_uncoupled() -> None:
    assert cells(paper("han2024"))["E001-2/uncoupled cubic"].missing is None


@pytest.mark.parametrize("name", NUMBERS)
def test_the_table_of_runs_is_true(name: str) -> None:
    """What docs/reproduction.md says of the number of runs follows from the papers."""
    usual, quick = (readings(paper(name), range(1, n + 1), quick=n == 3) for n in (20, 3))
    most = [each.most_runs for each in usual]
    row = [sum(most) // 4, sum(most), sum(most[1:]), quick[0].most_runs]
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert f"| {name} | {' | '.join(map(str, row))} |" in text
