"""Results as a dataset of xarray: the measures as arrays over settings, seeds and components."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.results.summary import components, is_measure
from cwndlab.results.units import unit

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    import xarray

    from cwndlab.results.seed_run import SeedRun

KINDS = ("flow", "subflow", "group", "link", "change")


def dataset(
    variants: Sequence[tuple[Mapping[str, str], Sequence[SeedRun]]], kind: str, attributes: Mapping[str, str]
) -> xarray.Dataset:
    """Return the measures of all components of one kind in the runs of these variants.

    The dimensions are the settings of the variants, then `seed` and `name`. What was not run, or has no
    value, is NaN. Raises `InputError` if there is no such kind, or if xarray is not installed.
    """
    if kind not in KINDS:
        raise InputError(f"to_xarray: expected a kind of component ({', '.join(KINDS)}), found {kind!r}")
    rows = [
        ((*settings.values(), run.seed, component["name"]), component)
        for settings, runs in variants
        for run in runs
        for component in components(run.outcome, kind)
    ]
    dimensions = (*(variants[0][0] if variants else {}), "seed", "name")
    coordinates = _coordinates(dimensions, [place for place, _ in rows])
    index = [{value: at for at, value in enumerate(values)} for values in coordinates.values()]
    places = [tuple(known[value] for known, value in zip(index, place, strict=True)) for place, _ in rows]
    found = [component for _, component in rows]
    measures = dict.fromkeys(key for each in found for key in each if is_measure(each, key))
    shape = tuple(map(len, coordinates.values()))
    variables = {
        key: (dimensions, _filled(shape, places, found, key), {"units": unit(key)}) for key in measures
    }
    if any("cc" in each for each in found):
        variables["cc"] = (dimensions, _texts(shape, places, found), {})
    made: xarray.Dataset = _library().Dataset(variables, coordinates, attributes)
    return made


def _library() -> Any:
    try:
        return importlib.import_module("xarray")
    except ModuleNotFoundError as error:
        text = "to_xarray: expected the package xarray, found none; pip install 'cwndlab[xarray]'"
        raise InputError(text) from error


def _coordinates(dimensions: Sequence[str], places: Sequence[tuple[Hashable, ...]]) -> dict[str, list[Any]]:
    """Return the values along each dimension, in the order in which they first appear."""
    return {
        dimension: list(dict.fromkeys(place[number] for place in places))
        for number, dimension in enumerate(dimensions)
    }


def _filled(
    shape: tuple[int, ...], places: Sequence[tuple[int, ...]], found: Sequence[Mapping[str, Any]], key: str
) -> Any:
    import numpy as np

    array = np.full(shape, np.nan)
    for place, component in zip(places, found, strict=True):
        value = component.get(key)
        array[place] = np.nan if value is None else value
    return array


def _texts(
    shape: tuple[int, ...], places: Sequence[tuple[int, ...]], found: Sequence[Mapping[str, Any]]
) -> Any:
    import numpy as np

    array = np.full(shape, "", dtype=object)
    for place, component in zip(places, found, strict=True):
        array[place] = component.get("cc", "")
    return array
