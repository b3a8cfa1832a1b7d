"""Words what the library of the command line refuses as other errors: what is expected, what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError

if TYPE_CHECKING:
    import typer


def refusal(error: typer.BadParameter) -> InputError:
    """Return the error for an option or an argument whose value the library refuses."""
    from cwndlab.engine.suggestions import did_you_mean

    parameter: Any = error.param
    if parameter is None:
        return InputError(error.message)
    option = parameter.get_error_hint().strip("'")
    # What `typer.BadParameter` says is already ours; only the library's own checks have such details.
    details = getattr(error.__cause__, "errors", None)
    if details is None:
        return InputError(f"{option}: {error.message}")
    found = str(details()[0]["input"])
    choices = parameter.type_descriptor.choices
    words = [] if choices is None else [str(each) for each in choices]
    expected = f"one of {', '.join(words)}" if words else _numbers(parameter)
    near = did_you_mean(found, words, "")
    hint = f"; {near}" if near else ""
    return InputError(f"{option}: expected {expected}, found {found or 'an empty text'}{hint}")


def _numbers(parameter: Any) -> str:
    low, high = parameter.min, parameter.max
    if low is None:
        return "a whole number"
    return f"a whole number from {low} {'on' if high is None else f'to {high}'}"
