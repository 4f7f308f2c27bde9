"""What the others do not explain of a model: its main directions, and the texts that weigh most in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...core import MeasureError, is_whole, quoted
from .joint import Block, Joint
from .regression import columns_of, residual_rows
from .row_sample import Kept

_MISSING = {"input": -1, "text": ""}
"""Where a model has fewer directions than another; numbers are NaN."""


def of_every_model(tables: Sequence[xr.Dataset]) -> xr.Dataset:
    """One table along ``model``; directions and neurons that a narrower model lacks are NaN."""
    names = [t.attrs["model"] for t in tables]
    fill = {name: value for name, value in _MISSING.items() if name in tables[0]}
    joined: xr.Dataset = xr.concat(
        list(tables), xr.DataArray(names, dims="model", name="model"),
        data_vars="all", coords="minimal", compat="equals", join="outer",
        combine_attrs="drop_conflicts", fill_value=fill or np.nan,
    )  # fmt: skip
    return joined


def unexplained(
    joint: Joint,
    train: Block,
    W: Any,
    target: int,
    basis: Sequence[int],
    *,
    split: str,
    directions: int,
    inputs: int,
    kept: Kept | None,
    units: Any,
) -> xr.Dataset:
    """Principal directions of the residual on a split, with the rows that lie farthest along each."""
    mine, columns = columns_of(joint, [target]), columns_of(joint, basis)
    R = residual_rows(W, mine, columns, joint.layout.width)
    block = joint.total(split)
    moved = R @ (block.mean - train.mean)
    E = R @ block.products @ R.T + block.n * moved[:, None] * moved[None, :]
    values, vectors = np.linalg.eigh(E / block.n)
    if directions < 1 or inputs < 1:
        raise MeasureError(f"directions and inputs are 1 or more; got {directions} and {inputs}.")
    count = min(directions, len(values))
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    signs = np.sign(vectors[np.abs(vectors).argmax(0), np.arange(count)])
    vectors = vectors * signs
    total = np.diag(block.products)[mine].sum() / block.n
    data: dict[str, Any] = {
        "share": (("direction",), values / np.trace(E / block.n)),
        "share_of_model": (("direction",), values / total),
        "neurons": (("neuron", "direction"), vectors),
    }
    numbers, rows = kept.result() if kept is not None else (np.zeros(0, np.int64), {})
    if len(numbers):
        wanted = sorted({*columns.tolist(), *mine.tolist()})
        X = np.zeros((len(numbers), joint.layout.width))
        for group, array in rows.items():
            place = joint.layout.slices[joint.layout.number[group]]
            X[:, place] = array / joint.unit[place]
        left = (X[:, wanted] - train.mean[wanted]) @ R[:, wanted].T
        along = left @ vectors
        most = min(inputs, len(numbers))
        order = np.argsort(-np.abs(along), axis=0)[:most]
        data["input"] = (("rank", "direction"), numbers[order])
        data["weight"] = (
            ("rank", "direction"),
            np.take_along_axis(along, order, axis=0) * joint.unit[mine[0]],
        )
        if units is not None:
            texts = units.select(numbers[order].ravel()).texts
            data["text"] = (("rank", "direction"), np.array(texts, object).reshape(order.shape))
    return xr.Dataset(
        data,
        coords={"direction": np.arange(1, count + 1), "neuron": np.arange(len(mine))},
        attrs={"model": joint.names[target], "split": split, "rows_looked_at": len(numbers)},
    )


def check_counts(directions: Any, inputs: Any) -> None:
    """Raise if there cannot be so many directions, or texts for each."""
    if not all(is_whole(value) and value >= 1 for value in (directions, inputs)):
        raise MeasureError(
            f"directions and inputs are whole numbers, 1 or more; got {quoted(directions)} and {quoted(inputs)}."
        )
