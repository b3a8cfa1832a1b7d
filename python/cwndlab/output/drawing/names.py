"""Names in a figure: shortened, and without formula syntax."""

from __future__ import annotations

from textwrap import wrap

# The longest name in a legend.
LONGEST = 40


def shown(name: str, length: int = LONGEST) -> str:
    """Return the name, cut to a length and safe for matplotlib."""
    return plain(shortened(name, length))


def shortened(text: str, length: int) -> str:
    """Return the beginning and the end of a long text. Similar names mostly differ at their ends."""
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def wrapped(text: str, length: int, lines: int | None = None) -> str:
    """Return the text in lines of at most this length. Its middle is cut if there are too many lines."""
    width = max(8, length)
    parts = wrap(text, width)
    room = len(text)
    while lines is not None and len(parts) > lines:
        room = min(room - 1, lines * width)
        parts = wrap(shortened(text, room), width)
    return plain("\n".join(parts))


def plain(text: str) -> str:
    """Escape a text for matplotlib: `$` would begin a formula, and a label that begins with `_` is hidden."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped
