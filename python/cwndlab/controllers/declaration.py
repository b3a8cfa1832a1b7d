"""The decorator that makes a class an algorithm of this process."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cwndlab.controllers import code, faults, sources
from cwndlab.controllers.parameters import Parameter, declared_by
from cwndlab.engine import in_use
from cwndlab.engine.origins import Registration
from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError
from cwndlab.system.arguments import NUMBER, TEXT, TEXTS, YES_OR_NO, optional, require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cwndlab._native import Setup
    from cwndlab.engine import Engine

C = TypeVar("C", bound=type)

# A notebook imports modules, changes them and reloads them.
sources.install()

REQUIRED = ("on_ack", "on_event")
CALLBACKS = (*REQUIRED, "on_sent", "on_lost", "on_timer")
# What a controller may set besides its window; None leaves it to the transport.
TIMER = "next_timer_s"
OPTIONAL = ("pacing_rate_bps", "send_quantum_bytes", TIMER)
# What it says of its window; False if it says nothing.
FLAGS = ("own_window_in_recovery", "bounded")
ECN = ("as-configured", "ect0", "ect1")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _NoTimer:
    """In place of `next_timer_s` in a class without `on_timer`: to set a time would have no effect."""

    def __get__(self, instance: object, cls: type | None = None) -> None:
        return None

    def __set__(self, instance: object, value: object) -> None:
        if value is not None:
            raise InputError("next_timer_s is set, but the class has no on_timer")


@dataclass(frozen=True)
class Declaration:
    """A registered controller: its description for the extension module, and the methods that it calls."""

    cls: type
    name: str
    summary: str
    source: str
    departures: list[str]
    parameters: list[Parameter]
    probes: list[str]
    callbacks: list[str]
    ecn: str
    own_window_in_recovery: bool
    bounded: bool
    file: str | None
    # The code of the class when it was registered.
    written: code.Code

    def make(self, setup: Setup, settings: Mapping[str, Any]) -> object:
        """Make the controller of a flow."""
        made: Any = object.__new__(self.cls)
        for name, value in settings.items():
            setattr(made, name, value)
        made.__init__(setup)
        return made

    def told(self, error: BaseException, method: str) -> str:
        """Return the message for an error in one of the methods."""
        return faults.callback_message(error, f"{self.name}.{method}", self.cls, method)


def controller(name: str, *, source: str = "", departures: Sequence[str] = ()) -> Callable[[C], C]:
    """Register a class as the algorithm `name`: `@cwndlab.controller("my-aimd")`.

    The class is called with a `Setup` for each flow. Its `on_ack` and `on_event` set `self.cwnd_bytes`. The
    first paragraph of its docstring is its summary. `cwndlab show` prints `source` (where the algorithm is
    described) and `departures` (differences from it). Raises `InputError` if the class lacks a method, or if
    an algorithm that ships or another file has the name.
    """

    def register(cls: C) -> C:
        if not isinstance(cls, type):
            raise InputError(f"controller {name!r}: expected a class, found {cls!r}")
        require(f"controller {name!r}: source", source, TEXT)
        require(f"controller {name!r}: departures", departures, TEXTS)
        written = code.of(cls)
        engine = in_use()
        _check_name(engine, name, written)
        declared = _declared(cls, name, source, departures, written)
        registration = Registration(
            written.file, written.sha256, declared, written.registered_by, written.texts
        )
        engine.register(name, registration)
        return cls

    return register


def _declared(
    cls: type, name: str, source: str, departures: Sequence[str], written: code.Code
) -> Declaration:
    parameters = declared_by(cls)
    _check_optional(cls, name)
    for flag in FLAGS:
        require(f"controller {name!r}: {flag}", getattr(cls, flag, False), YES_OR_NO)
    ecn = getattr(cls, "ecn", ECN[0])
    if ecn not in ECN:
        raise InputError(f"controller {name!r}: ecn: expected one of {', '.join(ECN)}, found {ecn!r}")
    probes = getattr(cls, "probes", ())
    if not TEXTS.fits(probes):
        raise InputError(f"controller {name!r}: probes: expected names of attributes, found {probes!r}")
    summary = (inspect.getdoc(cls) if cls.__doc__ else None) or "a controller in Python"
    return Declaration(
        cls=cls,
        name=name,
        summary=" ".join(summary.split("\n\n")[0].split()).rstrip("."),
        source=source or written.file or "this session of Python",
        departures=list(departures),
        parameters=parameters,
        probes=list(probes),
        callbacks=_callbacks(cls, name),
        ecn=ecn,
        **{flag: getattr(cls, flag, False) for flag in FLAGS},
        file=written.file,
        written=written,
    )


def _check_optional(cls: type, name: str) -> None:
    """Check what the class sets for all its flows, and set what it leaves to the transport."""
    for attribute in OPTIONAL:
        value = getattr(cls, attribute, None)
        # A property has its values only in a run.
        if not hasattr(type(value), "__get__"):
            require(f"controller {name!r}: {attribute}", value, optional(NUMBER))
        if not hasattr(cls, attribute):
            setattr(cls, attribute, None)
    if hasattr(cls, "on_timer"):
        if isinstance(inspect.getattr_static(cls, TIMER, None), _NoTimer):
            # It is from a base class without the method.
            setattr(cls, TIMER, None)
    elif getattr(cls, TIMER) is not None:
        raise InputError(f"controller {name!r}: next_timer_s: expected a method on_timer with it, found none")
    elif inspect.getattr_static(cls, TIMER) is None:
        setattr(cls, TIMER, _NoTimer())


def _check_name(engine: Engine, name: str, written: code.Code) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"controller {name!r}: expected a name of letters, digits, dots, dashes and underscores, "
            "such as 'my-aimd'"
        )
    registered = engine.in_python()
    shipped = {algorithm["name"] for algorithm in engine.read_catalogue()["algorithms"]} - set(registered)
    if name in shipped:
        raise InputError(f"controller {name!r}: an algorithm that ships has this name; choose another")
    # A cell of a notebook, or a module that is loaded again, defines its class again: the last one counts.
    earlier = registered.get(name)
    if earlier is None:
        return
    if earlier.loaded_by != written.file and not earlier.replaceable:
        raise InputError(f"controller {name!r}: {earlier.loaded_by} has already registered this name")
    declared = earlier.declaration
    if isinstance(declared, Declaration) and written.is_of_same_loading(declared.written):
        other = declared.cls.__name__
        raise InputError(f"controller {name!r}: class {other} of this file has already registered this name")


def _callbacks(cls: type, name: str) -> list[str]:
    if cls.__init__ is object.__init__:  # type: ignore[misc]
        raise InputError(
            f"controller {name!r}: the class has no __init__(self, setup) that sets self.cwnd_bytes"
        )
    for required in REQUIRED:
        if not callable(getattr(cls, required, None)):
            raise InputError(f"controller {name!r}: the class has no method {required}")
    found = [each for each in dir(cls) if each.startswith("on_") and callable(getattr(cls, each))]
    for each in found:
        if each not in CALLBACKS:
            hint = did_you_mean(each, CALLBACKS, f"callbacks are {', '.join(CALLBACKS)}")
            raise InputError(f"controller {name!r}: nothing calls {each}; {hint}")
    return found
