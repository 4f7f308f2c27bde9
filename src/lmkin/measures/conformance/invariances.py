"""Checks of what a similarity does not see: each change is made to one side, then to the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..registry import INVARIANCES
from .data import Matrix, datasets
from .registry import Outcome, check
from .subject import Subject
from .table import number

Change = Callable[[Matrix, np.random.Generator], list[Matrix]]


def _shift(X: Matrix, rng: np.random.Generator) -> list[Matrix]:
    return [X + rng.normal(scale=3, size=X.shape[1]), X + 5]


def _scale(X: Matrix, rng: np.random.Generator) -> list[Matrix]:
    # 1e-4: a ridge that is not relative to the data shows there.
    return [X * factor for factor in (1e-4, 7.0, 1e4)]


def _neuron_scale(X: Matrix, rng: np.random.Generator) -> list[Matrix]:
    return [X * rng.permutation(np.geomspace(0.2, 5, X.shape[1]))]


def _sign(X: Matrix, rng: np.random.Generator) -> list[Matrix]:
    signs = rng.permutation(np.where(np.arange(X.shape[1]) % 2, 1.0, -1.0))
    return [X * signs, -X]


def _permutation(X: Matrix, rng: np.random.Generator) -> list[Matrix]:
    return [X[:, rng.permutation(X.shape[1])], X[:, ::-1]]


def _orthogonal(d: int, rng: np.random.Generator) -> Matrix:
    Q: Matrix = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return Q


def _rotation(X: Matrix, rng: np.random.Generator) -> list[Matrix]:
    return [X @ _orthogonal(X.shape[1], rng)]


def _linear(X: Matrix, rng: np.random.Generator) -> list[Matrix]:
    # Singular values between 1 and 30: visible, and still well within the digits of float32.
    d = X.shape[1]
    return [(X @ _orthogonal(d, rng)) * np.geomspace(1, 30, d) @ _orthogonal(d, rng)]


_CHANGES: dict[str, tuple[Change, str]] = {
    "shift": (_shift, "Adding a constant to each neuron"),
    "scale": (_scale, "One factor for all neurons"),
    "neuron-scale": (_neuron_scale, "A factor for each neuron"),
    "sign": (_sign, "Flipping the sign of neurons"),
    "permutation": (_permutation, "Another order of neurons"),
    "rotation": (_rotation, "An orthogonal map of the neurons"),
    "linear": (_linear, "An invertible linear map of the neurons"),
}


@check("invariance", *INVARIANCES)
def invariance(subject: Subject, name: str) -> Outcome:
    """The largest difference that a change makes, over several data and both sides."""
    change, what = _CHANGES[name]
    left = right = 0.0
    for label, (X, Y) in enumerate(datasets(subject)):
        value = subject.value(X, Y)
        rng = subject.rng(6, INVARIANCES.index(name), label)
        left = max(left, *(abs(subject.value(V, Y) - value) for V in change(X, rng)))
        right = max(right, *(abs(subject.value(X, V) - value) for V in change(Y, rng)))
    worst = max(left, right)
    invariant = worst <= subject.tolerance
    note = f"{what} changes {'nothing' if invariant else _sides(subject, left, right)}"
    if subject.declared is None:
        return Outcome(worst, "invariant" if invariant else "not invariant", f"{note}.")
    claimed = name in subject.declared
    if invariant == claimed:
        return Outcome(worst, "pass", f"{note}, as declared.")
    return Outcome(worst, "fail", f"{note}, but declared {'' if claimed else 'not '}invariant.")


def _sides(subject: Subject, left: float, right: float) -> str:
    if min(left, right) > subject.tolerance:
        return "the value"
    side, other = ("X", right) if left > right else ("Y", left)
    return f"the value on the side of {side} only (the other: {number(other)})"
