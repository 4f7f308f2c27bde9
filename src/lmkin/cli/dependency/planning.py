"""What a decomposition would take, said before it is run."""

from __future__ import annotations

import time
from typing import Any

from ..output import busy, format_seconds, print_json, say
from .running import Plan
from .tables import plural

_SMALL = 600
"""Neurons of a decomposition that is timed in place of the real one."""


def say_plan(plan: Plan, *, as_json: bool) -> None:
    """Rows, tokens, memory of the sums, and time, for every length."""
    from ...activations.resources import human_bytes

    lengths = sorted(plan.jobs, key=lambda t: t or 0)
    found = [_length(plan, length) for length in lengths]
    with busy("Timing a small decomposition …"):
        fits = _seconds_of_fits(len(plan.models), found[0]["neurons"], plan.options)
    for each in found:
        each["seconds_fits"] = round(fits, 3)
    if as_json:
        print_json({"results": found})
        return
    say("Nothing is computed.")
    for each in found:
        name = "Texts as they are" if each["length"] is None else f"Length {each['length']}"
        say(
            f"{name}: {each['rows']:,} {plural(each['units'])}, {each['tokens']:,} tokens for all models. Memory: "
            f"{human_bytes(each['bytes_sums'])} for the sums of {each['neurons']:,} neurons in {each['parts']} parts, "
            f"{human_bytes(each['bytes_fits'])} for the fits. Time: about {format_seconds(each['seconds_models'])} "
            f"for the models, up to about {format_seconds(each['seconds_fits'])} for the fits."
        )
    say("Charts, and subsets of many models, come on top.")


def _length(plan: Plan, length: int | None) -> dict[str, Any]:
    from ...activations.planning import plan_extraction
    from ...dependency.planning import fit_precision, plan_decomposition
    from ...models import UnitRule
    from ...moments import row_source

    corpus = plan.texts(length)
    options = plan.options
    rule = {k: v for k, v in options.items() if k in _RULE} | plan.reading(length)
    batch = options["batch_tokens"]
    with busy("Tokenizing, and timing a few batches …"):
        source = row_source(
            plan.models, corpus, parts=1, layers=options["layers"], batch_tokens=batch, **rule
        )
        made = UnitRule.make(**rule)
        runs = [
            plan_extraction(m, corpus, made, layers=options["layers"], batch_tokens=batch)
            for m in plan.models
        ]
    total = sum(source.widths.values())
    need = plan_decomposition(
        total,
        options["parts"] if options["intervals"] else 1,
        len(options["split"]),
        precision=fit_precision(None, double=False, width=total),
        null=options["null"],
        choosing="validation" in (options["ridge"], options["rule"]),
        memory=options["memory"],
        say=say,
    )
    return {
        "length": length,
        "rows": source.n,
        "units": source.unit,
        "tokens": sum(run.tokens for run in runs),
        "neurons": total,
        "parts": need.parts * len(options["split"]),
        "bytes_sums": need.sums,
        "bytes_fits": need.fits,
        "seconds_models": round(sum(run.seconds for run in runs), 1),
    }


_RULE = (
    "units", "pooling", "first_token", "special_tokens", "long", "overlap", "max_length",
)  # fmt: skip


def _seconds_of_fits(models: int, neurons: int, options: dict[str, Any]) -> float:
    """About how long fits and intervals take: from random rows of fewer neurons, for time grows with their cube."""
    import numpy as np

    from ...dependency import decompose

    width = max(2, min(neurons, _SMALL) // models)
    random = np.random.default_rng(0)
    n = 20 * width * models
    rows = {str(k): random.standard_normal((n, width), dtype=np.float32) for k in range(models)}
    own = ("split", "ridge", "rule", "released", "intervals", "level", "parts", "null")
    for some in (
        {k: r[:1000, :2] for k, r in rows.items()},
        rows,
    ):  # what is compiled first is not to count
        begun = time.perf_counter()
        found = decompose(some, progress=False, **{k: options[k] for k in own})
        found.drop_order(progress=False)
        found.unique()
        seconds = time.perf_counter() - begun
    return seconds * max(1.0, neurons / (width * models)) ** 3
