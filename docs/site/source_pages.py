"""Shows the source files that pages link to, as pages of the site: the links work offline and on GitHub."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from pygments.lexers import find_lexer_class_for_filename
from sphinx import addnodes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sphinx.application import Sphinx

# Where the pages of source files are.
PLACE = "source"

Page = tuple[str, dict[str, "Any"], str]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    # Before Sphinx's own collector, which would copy the files as downloads.
    app.connect("doctree-read", link_to_pages, priority=100)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


def link_to_pages(app: Sphinx, doctree: nodes.document) -> None:
    """Turn links to files and folders of the project into links to their pages."""
    for link in [*doctree.findall(addnodes.download_reference), *doctree.findall(addnodes.pending_xref)]:
        name = source_of(app, link)
        if name is not None:
            linked(app).update(files(app, name))
            target = app.builder.get_relative_uri(app.env.docname, page_of(name))
            link.replace_self(nodes.reference("", "", *link.children, refuri=target))


def source_of(app: Sphinx, link: nodes.Element) -> str | None:
    """Return the name of the file or folder that MyST took a link to, unless that is a page of the site."""
    if link.get("reftype") != "myst" or link["reftarget"] in app.env.found_docs:
        return None
    place, ending = (".", ".md") if link["refdomain"] == "doc" else (Path(app.env.docname).parent, "")
    path = Path(app.srcdir, place, link["reftarget"] + ending).resolve()
    return str(path.relative_to(app.srcdir)) if path.exists() else None


def linked(app: Sphinx) -> set[str]:
    """Return the names of the files and folders that pages link to."""
    if not hasattr(app.env, "linked_sources"):
        app.env.linked_sources = set()
    found: set[str] = app.env.linked_sources
    return found


def files(app: Sphinx, name: str) -> Iterator[str]:
    """Return a file, or a folder and everything in it."""
    yield name
    path = Path(app.srcdir) / name
    if path.is_dir():
        yield from (str(each.relative_to(app.srcdir)) for each in path.rglob("*") if each.is_file())


def page_of(name: str) -> str:
    """Return the name of a file's page."""
    return f"{PLACE}/{name.lstrip('.')}"


def pages(app: Sphinx) -> Iterator[Page]:
    """Return the pages of all files and folders that are linked to."""
    for name in sorted(linked(app)):
        path = Path(app.srcdir) / name
        body = listing(app, name) if path.is_dir() else highlighted(app, path)
        title = escape(name)
        yield page_of(name), {"title": title, "body": f"<h1>{title}</h1>\n{body}"}, "page.html"


def highlighted(app: Sphinx, path: Path) -> str:
    """Return a file as HTML."""
    lexer = find_lexer_class_for_filename(path.name)
    language = lexer.aliases[0] if lexer and lexer.aliases else "text"
    block: str = app.builder.highlighter.highlight_block(path.read_text(encoding="utf-8"), language)
    return block


def listing(app: Sphinx, name: str) -> str:
    """Return the links to the files of a folder as HTML."""
    inside = [each for each in sorted(files(app, name)) if each != name]
    uris = [app.builder.get_relative_uri(page_of(name), page_of(each)) for each in inside]
    items = [
        f'<li><a href="{escape(uri)}">{escape(each)}</a></li>' for uri, each in zip(uris, inside, strict=True)
    ]
    return f"<ul>{''.join(items)}</ul>"
