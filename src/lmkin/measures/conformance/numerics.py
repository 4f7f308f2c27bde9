"""Checks of what computers add: offsets that eat digits, number types, memory layouts."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data import Matrix, on_grid
from .registry import Outcome, check, judged, raised
from .subject import Subject
from .table import number

_OFFSETS = {
    # name: (offset, neurons that get it, type)
    "100 in 3 neurons, float32": (100.0, 3, np.float32),
    "100 in 3 neurons, float64": (100.0, 3, np.float64),
    "10,000 in all neurons, float32": (1e4, None, np.float32),
    "10,000 in all neurons, float64": (1e4, None, np.float64),
}


@check("offset", *_OFFSETS)
def offset(subject: Subject, name: str) -> Outcome:
    """A large offset changes nothing, unless the function is not meant to ignore shifts.

    Sums that are not centred lose the digits that matter: in float32 the products of an offset of 10,000
    leave none for a standard deviation of 1.
    """
    size, neurons, dtype = _OFFSETS[name]
    X, Y = (M.astype(dtype) for M in on_grid(subject))
    value = subject.value(X, Y)
    for M in (X, Y):
        M[:, :neurons] += size
    moved = subject.call(X, Y)
    change = abs(moved - value)
    says = f"{number(value)} becomes {number(moved) if np.isfinite(moved) else moved}"
    if subject.declared is not None and "shift" not in subject.declared:
        return Outcome(change, "info", f"{says}; the function does not claim to ignore shifts.")
    return judged(
        change <= (subject.tolerance if dtype is np.float64 else subject.loose),
        change,
        "The offset changes nothing.",
        f"{says}: centre the columns, in float64, before any product.",
    )


def _strided(M: Matrix) -> Matrix:
    wide = np.full((2 * M.shape[0], 3 * M.shape[1]), np.nan)
    wide[::2, 1::3] = M
    return wide[::2, 1::3]


def _fortran(M: Matrix) -> NDArray[Any]:
    return np.asfortranarray(M, dtype=np.float32)


_LAYOUTS = {
    "float16": lambda M: M.astype(np.float16),
    "float32": lambda M: M.astype(np.float32),
    "float32, Fortran order": _fortran,
    "a non-contiguous view": _strided,
}


@check("types", *_LAYOUTS)
def layout(subject: Subject, name: str) -> Outcome:
    """The same numbers in another type or layout give the same value."""
    X, Y = on_grid(subject)
    value = subject.value(X, Y)
    other = subject.call(_LAYOUTS[name](X), _LAYOUTS[name](Y))
    if not np.isfinite(other):
        return Outcome(
            None, "fail", f"Returned {other}; the same numbers in float64 give {number(value)}."
        )
    return judged(
        abs(other - value) <= subject.loose,
        abs(other - value),
        "As in float64, C order.",
        f"Gives {number(other)}; the same numbers in float64, C order, give {number(value)}.",
    )


@check("types", "torch tensors")
def torch_tensors(subject: Subject, name: str) -> Outcome:
    """Whether tensors are accepted; if so, they give the same value."""
    if importlib.util.find_spec("torch") is None:
        return Outcome(None, "info", "Not tried: torch is not installed.")
    import torch

    X, Y = on_grid(subject)
    value = subject.value(X, Y)
    try:
        other = subject.call(torch.from_numpy(X.copy()), torch.from_numpy(Y.copy()))
    except Exception as error:
        return Outcome(None, "info", f"Accepts torch: no ({raised(error)}).")
    same = bool(abs(other - value) <= subject.loose)
    if same:
        return Outcome(abs(other - value), "info", "Accepts torch: yes, with the same value.")
    finding = abs(other - value) if np.isfinite(other) else None
    return Outcome(
        finding, "fail", f"Accepts torch, but gives {other:.4g} where arrays give {number(value)}."
    )
