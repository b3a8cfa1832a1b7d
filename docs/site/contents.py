"""Adds the contents of `conf.py` to the pages, hidden: the Markdown files stay free of directives."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_config_value("site_contents", {}, "env")
    app.connect("source-read", add_contents)
    app.connect("build-finished", name_the_first_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Append the contents below a page to its text."""
    for heading, pages in app.config.site_contents.get(page, {}).items():
        source[0] += directive(heading, pages)


def directive(heading: str, pages: list[str]) -> str:
    """Return a hidden table of contents in MyST's Markdown."""
    lines = "\n".join(f"/{page}" for page in pages)
    return f"\n\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{lines}\n```\n"


def name_the_first_page(app: Sphinx, error: Exception | None) -> None:
    """Let a browser that opens the folder find the README."""
    if error is None:
        shutil.copy(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")
