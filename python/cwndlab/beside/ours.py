"""Our own algorithms in both backends, by the same code: `python -m cwndlab.beside.ours`.

Prints the table of docs/validation.md, "Our own algorithms" beside Linux.
"""

from __future__ import annotations

from cwndlab.beside.validation import HEADINGS, OTHER, Case, print_table, row, rows

# google/bbr v3 has these constants where the draft has others (docs/validation.md).
BBR3_OF_THE_KERNEL = (
    '{ name = "bbr3", drain_pacing_gain = 0.34375, probe_down_pacing_gain = 0.90625, '
    "loss_threshold = 0.01953125, beta = 0.703125, headroom = 0.1484375 }"
)
LOSSES = tuple(
    Case(f"{loss} % random loss", 50, 40, "4 bdp", f"loss = {loss / 100}", seconds=60, runs=runs)
    for loss, runs in ((0.5, 20), (1, 60), (2, 60))
)
TOGETHER = OTHER.format("cubic").replace("2 s", "0 s")
BESIDE_CUBIC = Case("beside CUBIC, 0.7 BDP", 50, 40, "0.7 bdp", other=TOGETHER, seconds=150, runs=20)
CASES = [(case, name) for case in LOSSES for name in ("bbr2", "bbr3")] + [(BESIDE_CUBIC, BBR3_OF_THE_KERNEL)]


def main() -> None:
    """Print the table."""
    compared = rows(CASES, "our algorithms in both backends")
    print_table(HEADINGS, (row(case, both) for case, _, both in compared))


if __name__ == "__main__":
    main()
