"""What the measures of attention are, for tables and reports."""

from __future__ import annotations

from typing import Any

from ...measures import measure_info

_WU = "Wu et al. 2020, Similarity Analysis of Contextual Word Representation Models"
_OWN: dict[str, dict[str, Any]] = {
    "js": {
        "long_name": "attention, 1 − Jensen-Shannon divergence",
        "summary": "Mean over the heads of x of the best match among the heads of y: 1 − the divergence of what they "
        "attend to, {unit} by {unit}, in bits. 1: the same, 0: never to the same positions.",
        "low": 0.0,
        "high": 1.0,
    },
    "pearson": {
        "long_name": "attention, correlation of rows",
        "summary": "Mean over the heads of x of the best match among the heads of y: the correlation of the two rows "
        "of attention, averaged over {unit}s.",
        "low": -1.0,
        "high": 1.0,
    },
    "norm": {
        "long_name": "attention, minus the distance of maps",
        "summary": "Mean over the heads of x of the best match among the heads of y: minus the Frobenius distance of "
        "their maps, averaged over sentences. 0: the same.",
        "low": float("-inf"),
        "high": 0.0,
    },
}
ATTENTION = (*_OWN, "svsim", "pwsim", "ckasim")
"""Names of the measures of attention: of heads, and of layers with heads as columns."""


def describe(measure: str, unit: str, *, released: bool) -> dict[str, Any]:
    """What a result says of a measure of attention between such units."""
    if measure in _OWN:
        description = {
            **_OWN[measure],
            "summary": str(_OWN[measure]["summary"]).format(unit=unit),
            "symmetric": 0,
            "unbiased": 0,
            "held_out": 0,
            "reference": _WU,
        }
        description["released"] = int(released)
        if released and measure == "norm":
            description["high"] = 1.0
        if released and measure == "js":
            description["low"] = 1 - 0.6931471805599453  # the divergence is at most log 2
    else:
        info = measure_info(measure)
        description = {
            "long_name": f"attention, {info.title} of heads",
            "summary": f"Heads as columns, ({unit}, {unit}) pairs as rows. {info.summary}",
            "low": info.range[0],
            "high": info.range[1],
            "symmetric": int(info.symmetric),
            "unbiased": int(info.unbiased),
            "held_out": 0,
            "reference": info.reference,
        }
    if released and measure in ("js", "norm", "svsim", "pwsim"):
        description["long_name"] += ", as released"
    return description
