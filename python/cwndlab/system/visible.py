"""Text from files, as a terminal may show it."""

from __future__ import annotations

import unicodedata

# Controls (ECMA-48) move the cursor or change colours; Unicode's format characters turn the text around.
_ACTING = {"Cc", "Cf", "Zl", "Zp"}
_KEPT = "\n\t"


def visible(text: str) -> str:
    """Return the text with a symbol for each character that acts on a terminal instead of showing.

    The length stays the same, so a mark below a column still points at its character.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each in _KEPT or unicodedata.category(each) not in _ACTING else _symbol(each) for each in text
    )


def _symbol(character: str) -> str:
    """Return the picture of a control character (Unicode block Control Pictures), or U+FFFD."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
