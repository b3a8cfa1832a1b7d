"""Names in a figure: shortened, and without formula syntax."""

from __future__ import annotations

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


def plain(text: str) -> str:
    """Escape a text for matplotlib: `$` would begin a formula, and a label that begins with `_` is hidden."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped
