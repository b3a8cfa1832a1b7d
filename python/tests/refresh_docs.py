"""Run every script of the documents at full length and put what it prints today under it: `make docs`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

from cwndlab.papers.language.quantities import QUANTITIES
from tests import documents
from tests.documents import Block

# The pictures of each document, and which of its runs draws them.
PICTURES = {
    "tutorial.md": {"two-flows.png": "out/two-flows/recorded.png"},
    "gallery.md": {
        "gallery/run-cdf.png": "out/one/cdf.png",
        "gallery/run-box.png": "out/one/box.png",
        "gallery/run-fairness.png": "out/one/fairness.png",
        "gallery/compare-box.png": "out/algorithms/box.png",
        "gallery/compare-cdf.png": "out/algorithms/cdf.png",
        "gallery/compare-fairness.png": "out/algorithms/fairness.png",
        "gallery/compare-pareto.png": "out/algorithms/pareto.png",
        "gallery/sweep-pareto.png": "out/grid/pareto.png",
        "gallery/sweep-heatmap.png": "out/grid/heatmap-queue-delay.png",
        "gallery/python-series.png": "steps.png",
    },
    "bbr-and-cubic.md": {"bbr-and-cubic.png": "jain.png"},
    "linux.md": {"windows-in-linux.png": "windows-in-linux.png"},
    "which-algorithm.md": {"which-algorithm.png": "out/my-link-sweep/pareto.png"},
}
# Measured together with the tables of their page, by the command there, and drawn again only with them.
DATED = ("cost-curves.png",)
IMAGES = documents.ROOT / "docs" / "images"


def refresh(page: Path, folder: Path) -> None:
    """Rewrite the outputs of a page."""
    content = page.read_text()
    found = documents.blocks(content)
    new = content
    shift = 0
    for block, after in zip(found, [*found[1:], None], strict=True):
        documents.save(block, folder)
        has_output = after is not None and after.language == "text"
        # A slow script may take hours. It is run only for the output under it, or for the page's picture.
        is_needed = has_output or page.name in PICTURES or block.remark != "slow"
        if not (block.is_runnable and is_needed):
            continue
        printed = run(block, folder, f"{page.name}:{block.line}")
        if after is not None and has_output:
            begin, end = (position + shift for position in after.span)
            new = new[:begin] + printed + new[end:]
            shift += len(printed) - (end - begin)
    page.write_text(new)


def functions_table() -> str:
    """What expressions may call, as a table of Markdown."""
    rows = [f"| `{each.usage}` | {each.unit} | {each.meaning} |" for each in QUANTITIES.values()]
    return "\n".join(["| function | unit | meaning |", "|---|---|---|", *rows]) + "\n"


def refresh_functions(page: Path) -> None:
    """Put the table of functions where the old one was."""
    before, head, rest = page.read_text().partition("| function |")
    _, gap, after = rest.partition("\n\n")
    if head:
        page.write_text(before + functions_table() + gap[1:] + after)


def run(block: Block, folder: Path, where: str) -> str:
    """What a block prints, without blanks at the ends of lines."""
    answer = documents.execute(block, folder, CWNDLAB_CACHE=str(folder / "cache"))
    if answer.returncode != block.status:
        sys.exit(f"{where}: exit status {answer.returncode}\n{answer.stdout}\n{answer.stderr}")
    lines = [line.rstrip() for line in answer.stdout.rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def keep(drawn: Path, picture: Path) -> None:
    """Store a picture; those of the gallery, as there are many, at half the size and with 256 colours."""
    picture.parent.mkdir(exist_ok=True)
    if picture.parent == IMAGES:
        shutil.copy(drawn, picture)
        return
    with Image.open(drawn) as whole:
        whole.convert("RGB").reduce(2).quantize(256).save(picture, optimize=True)


def main() -> None:
    """Refresh the pages named, or all."""
    chosen = [Path(argument).resolve() for argument in sys.argv[1:]] or documents.documents()
    refresh_functions(documents.ROOT / "papers" / "README.md")
    for page in chosen:
        if "```" not in page.read_text():
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            documents.prepare(folder, quick=False)
            refresh(page, folder)
            for picture, source in PICTURES.get(page.name, {}).items():
                keep(folder / source, IMAGES / picture)
        print(page.relative_to(documents.ROOT))


if __name__ == "__main__":
    main()
