"""Errors in terms of arguments instead of options."""

from __future__ import annotations

import pytest

from cwndlab.system.wording import worded


@pytest.mark.parametrize(
    ("of_a_command", "of_a_function"),
    [
        ("--sample -2: expected 1 to 100000", "sample=-2: expected 1 to 100000"),
        (
            "--until goodput: expected --seeds with 2 or more",
            "until='goodput': expected seeds with 2 or more",
        ),
        ("--set link.0.rate: error: wrong", "overrides['link.0.rate']: error: wrong"),
        ("--over points.csv: expected a key (--sample N)", "over='points.csv': expected a key (sample=N)"),
        ("found `cwndlab run x.toml --seeds 1-5`", "found `cwndlab run x.toml --seeds 1-5`"),
        ("two--flows.toml: no such file", "two--flows.toml: no such file"),
        ("vegas: loaded with --with FILE.py", "vegas: loaded with --with FILE.py"),
    ],
)
def test_options_become_arguments(of_a_command: str, of_a_function: str) -> None:
    assert worded(of_a_command) == of_a_function
