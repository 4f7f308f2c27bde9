"""Write conformance_table.md: what the battery finds of every measure that comes with lmkin.

In a clone of the repository: python docs/make_conformance.py. It takes a few minutes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lmkin
from lmkin.measures import Check, Conformance, measure_function, measure_info, measure_names
from lmkin.measures.conformance.table import number

OUT = Path(__file__).with_name("conformance_table.md")


def through_moments(name: str) -> Any:
    """The measure from sums with float32 products, as for wide models; from sampled rows where it needs rows."""

    def function(X: Any, Y: Any) -> float:
        table = lmkin.similarity(
            {"X": X, "Y": Y},
            name,
            intervals=False,
            precision="float32",
            route="joint",
            progress=False,
        )
        return float(table[0, 1])

    return function


def checked(name: str, function: Any) -> Conformance:
    """The battery with what the measure declares."""
    info = measure_info(name)
    return lmkin.check_measure(
        function,
        declared=info.invariances,
        symmetric=info.symmetric,
        range=info.range,
        unbiased=info.unbiased,
        name=name,
        show=False,
    )


def cell(row: Check) -> str:
    """A word for what was found; a number where the number is the finding."""
    if row.verdict in ("fail", "error"):
        return f"**{row.verdict}** {number(row.finding)}"
    if row.group == "invariance":
        return "sees it" if row.note.count("changes the value") else "ignores it"
    if row.name == "symmetry":
        return "no" if "differ" in row.note else "yes"
    if row.name == "torch tensors":
        return "accepted" if "yes" in row.note else "refused"
    if row.group in ("null", "rogue neuron", "few rows"):
        return f"{row.finding:.3f}" if row.finding is not None else "–"
    refused = row.finding is None and row.note.startswith(("Raised", "Refused"))
    return "refused" if refused else "pass"


def main() -> None:
    """Both tables, and every row that failed."""
    names = [n for n in measure_names() if measure_info(n).function.__module__.startswith("lmkin.")]
    direct = {n: checked(n, measure_function(n)) for n in names}
    summed = {n: checked(n, through_moments(n)) for n in names}
    lines = [
        f"| check | {' | '.join(f'`{n}`' for n in names)} |",
        "| --- |" + " --- |" * len(names),
    ]
    group = ""
    for number_, row in enumerate(direct[names[0]].rows):
        if row.group != group:
            group = row.group
            lines.append(f"| **{group}** |" + " |" * len(names))
        cells = [cell(direct[n].rows[number_]) for n in names]
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    for title, results in (
        ("of two matrices", direct),
        ("through moments, float32 products", summed),
    ):
        lines.append(f"| **{title}** | {' | '.join(results[n].summary for n in names)} |")
    failures = [
        f"- `{n}`, {title}, {row.name}: {row.note}"
        for title, results in (("of two matrices", direct), ("through moments", summed))
        for n in names
        for row in results[n].failures
    ]
    lines += ["", *(["What failed:", "", *failures] if failures else ["No check failed."]), ""]
    OUT.write_text("\n".join(lines), encoding="utf-8")
    print(f"Wrote {OUT.name}: {len(failures)} failures.")


if __name__ == "__main__":
    main()
