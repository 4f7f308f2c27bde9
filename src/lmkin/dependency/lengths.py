"""Results for several lengths of the texts as one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import xarray as xr

from .. import __version__


def join_lengths(found: Mapping[int, xr.Dataset], corpus: str) -> xr.Dataset:
    """Results (``data`` of a `Dependency`) by length of the texts, as one Dataset along ``length``, for a report.

    What is the same at all lengths has no such axis; an alert is said once, with the lengths that have it. ``corpus``
    names the texts.
    """
    tables = list(found.values())
    fixed = [d.drop_vars("width", errors="ignore") for d in tables]
    lengths = xr.DataArray(list(found), dims="length", name="length")
    joined = xr.concat(
        fixed, dim=lengths, data_vars="all", coords="minimal", compat="equals", join="outer",
        combine_attrs="drop",
    )  # fmt: skip
    joined["width"] = tables[-1]["width"]
    provenance = {t: json.loads(d.attrs["provenance"]) for t, d in found.items()}
    joined.attrs = {
        **tables[-1].attrs,
        "corpus": corpus,
        "alerts": _alerts({t: list(d.attrs["alerts"]) for t, d in found.items()}),
        "alerts_by_length": {str(t): list(d.attrs["alerts"]) for t, d in found.items()},
        "provenance": json.dumps({"lmkin": __version__, "lengths": provenance}),
    }
    joined.attrs.pop("key", None)
    return joined


def _alerts(by_length: Mapping[int, Sequence[str]]) -> list[str]:
    """An alert of every kind, as it is at the largest length that has it, with the other lengths."""
    kinds: dict[str, dict[int, str]] = {}
    for length, alerts in by_length.items():
        for alert in alerts:
            kind, _, text = alert.partition(": ")
            kinds.setdefault(kind, {})[length] = text
    lines = []
    for kind, texts in kinds.items():
        largest = max(texts)
        others = [str(t) for t in sorted(texts) if t != largest]
        also = f" (This holds for {', '.join(others)} tokens too.)" if others else ""
        lines.append(f"{kind}: at {largest} tokens: {texts[largest]}{also}")
    return lines
