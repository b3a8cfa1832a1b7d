"""Names as a figure can show them: short, and as they stand."""

from __future__ import annotations

# The longest name in a legend.
LONGEST = 40


def shown(name: str, length: int = LONGEST) -> str:
    """The name, cut to a length, safe for matplotlib."""
    return plain(shortened(name, length))


def shortened(text: str, length: int) -> str:
    """Beginning and end: names of one kind mostly differ at their ends."""
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def plain(text: str) -> str:
    """What matplotlib shows as it is: `$` would begin a formula, and a label with `_` is left out."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped
