"""Estimates as variables of a labelled result; and the same with what depends on length taken out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import MeasureError, Ridge, quoted, to_numpy
from .intervals import FIELDS, Estimate, estimate
from .joint import ROWS, Block, Joint
from .solver import Solver

FloatArray = NDArray[np.float64]

_DIMS = {
    "r2_group": ("model",),
    "r2_pair": ("basis", "target"),
    "rho_pair": ("basis", "target"),
    "rho_group": (),
}


def variables_of(
    joint: Joint,
    tables: dict[str, dict[str, Estimate]],
    suffix: str = "",
    fields: Sequence[str] = FIELDS,
) -> dict[str, Any]:
    """Name → (dimensions, values), one slice a split."""
    variables: dict[str, Any] = {}
    for field in fields:
        by_split = tables[field]
        dims = ("split", *_DIMS[field])
        variables[f"{field}{suffix}"] = (dims, np.stack([e.value for e in by_split.values()]))
        if suffix or all(e.interval is None for e in by_split.values()):
            continue
        for part in ("se", "low", "high"):
            arrays = [
                getattr(e.interval, part) if e.interval else np.full_like(e.value, np.nan)
                for e in by_split.values()
            ]
            variables[f"{field}_{part}"] = (dims, np.stack(arrays))
    return variables


def beyond_length(
    joint: Joint, ridge: Ridge, most_workers: int | None, advance: Callable[[int], None]
) -> dict[str, Any]:
    """R² with what depends on length taken out of all models, and how much of each depends on it."""
    c = joint.covariate
    assert c is not None
    train = joint.total("train")
    beta = np.linalg.lstsq(train.products[c, c], train.products[c], rcond=1e-12)[0]
    mean = train.mean - beta.T @ train.mean[c]
    del train

    def change(block: Block) -> Block:
        """In place: (I − β)ᵀ C (I − β), which leaves nothing of the covariate itself."""
        C, cross, own = block.products, block.products[c].copy(), block.products[c, c].copy()
        for start in range(0, len(C), ROWS):
            r = slice(start, start + ROWS)
            C[r] -= beta[:, r].T @ cross + (cross[:, r] - own @ beta[:, r]).T @ beta
        return Block(block.n, block.mean - beta.T @ block.mean[c], C)

    tables = estimate(
        joint,
        Solver(joint, ridge),
        change=change,
        intervals=False,
        most_workers=most_workers,
        advance=advance,
    )
    variables = variables_of(joint, tables, "_beyond_length", ("r2_group", "r2_pair", "rho_group"))
    by_length = []
    for split in joint.parts:
        block = joint.total(split)
        total = np.diag(block.products).copy()
        left = change(block)
        rest = np.diag(left.products) + block.n * (left.mean - mean) ** 2
        by_length.append([1 - rest[s].sum() / total[s].sum() for s in joint.slices])
    variables["r2_length"] = (("split", "model"), np.array(by_length))
    return variables


def as_numbers(name: str, rows: Any) -> FloatArray:
    """Rows as float64. Raise if they are no numbers."""
    try:
        return np.asarray(to_numpy(rows), np.float64)
    except (TypeError, ValueError):
        raise MeasureError(
            f"{name}: rows × neurons of numbers expected; got {quoted(rows)}."
        ) from None
