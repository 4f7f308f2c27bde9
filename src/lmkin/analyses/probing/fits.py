"""Fits of one set of layers: the probe, the one of its control task, and the code that fits along the way give."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core import LmkinError, Number, Whole, load_tensors, save_tensors
from ...estimators import (
    CrossEntropy,
    Design,
    Epochs,
    HalfSquaredError,
    HeldOut,
    Loss,
    PathStep,
    Penalized,
    adam_penalty,
    fit_by_adam,
    rate,
    scores_of,
)
from .options import ProbeOptions

if TYPE_CHECKING:
    from ...estimators import Probe

Array = NDArray[Any]
IntArray = NDArray[np.int64]
KIND = "probe"
BITS = "code length"
PORTIONS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5, 1.0)
"""Shares of train that the online code is sent in (Voita & Titov 2020)."""
_STEP = {
    "l1": Number(0), "l2": Number(0), "neurons": Whole(), "weights": Whole(), "dev_loss": float,
    "dev_score": float, "residual": Number(0), "iterations": Whole(),
}  # fmt: skip
_NUMBERS = {
    "l1": Number(0), "l2": Number(0), "objective": float, "residual": Number(0), "iterations": Whole(),
}  # fmt: skip
HEAD: dict[str, Any] = {**_NUMBERS, "path": [_STEP]}


@dataclass(frozen=True)
class FittedProbe:
    """Weights for neurons as they are, neurons × outputs, and how they came about."""

    weights: Array
    intercepts: Array
    l1: float
    l2: float
    objective: float
    residual: float
    """Largest violation of the KKT conditions, in units of λ₁ (or of a hundredth of the largest λ₁)."""
    iterations: int
    path: tuple[PathStep, ...] = ()
    scale: Array | None = None
    """What each neuron was divided by; None: nothing."""

    @property
    def standardized(self) -> Array:
        """Weights for neurons divided by ``scale``."""
        return self.weights if self.scale is None else self.weights * self.scale[:, None]

    @property
    def neurons(self) -> IntArray:
        """Neurons with a weight that is not 0."""
        return np.flatnonzero((self.weights != 0).any(1))

    def scores(self, X: Any) -> Array:
        """X W + b."""
        return scores_of(X, self.weights, self.intercepts)

    def predict(self, X: Any) -> Array:
        """Numbers of classes; of one output its scores."""
        scores = self.scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores.argmax(1)

    def save(self, path: Path) -> None:
        """Write weights and numbers to a safetensors file."""
        save_tensors(path, self.tensors(), head_of(self), kind=KIND, version=1, error=LmkinError)

    def tensors(self) -> dict[str, Array]:
        """What it is made of, by name."""
        scale = {} if self.scale is None else {"scale": self.scale}
        return {"weights": self.weights, "intercepts": self.intercepts, **scale}

    @staticmethod
    def load(path: Path) -> FittedProbe:
        """Read what `save` wrote."""
        tensors, head = load_tensors(path, kind=KIND, schema=HEAD, version=1, error=LmkinError)
        return FittedProbe.of(tensors, head, path)

    @staticmethod
    def of(tensors: Mapping[str, Array], head: dict[str, Any], path: Path) -> FittedProbe:
        """From what a file holds. Raise if it does not fit together."""
        W, b, scale = (tensors.get(name) for name in ("weights", "intercepts", "scale"))
        whole = W is not None and b is not None and W.ndim == 2 and b.shape == W.shape[1:]
        whole = whole and (scale is None or scale.shape == W.shape[:1])  # type: ignore[union-attr]
        finite = all(np.isfinite(a).all() for a in (W, b, scale) if a is not None)
        if not whole or not finite:
            raise LmkinError(f"{path} is damaged: its weights do not fit together. Fit again.")
        steps = tuple(PathStep(**step) for step in head.pop("path"))
        return FittedProbe(W, b, path=steps, scale=scale, **head)  # type: ignore[arg-type]


def head_of(fitted: FittedProbe) -> dict[str, Any]:
    """The numbers of a probe as plain data."""
    head = {name: getattr(fitted, name) for name in _NUMBERS}
    return {**head, "path": [asdict(step) for step in fitted.path]}


def probe_of(fitted: FittedProbe, classes: Sequence[str], options: Mapping[str, Any]) -> Probe:
    """The same as an estimator, with scikit-learn's methods."""
    from ...estimators import Probe

    probe = Probe(
        "classification" if classes else "regression",
        penalty=options.get("penalty", "elementwise"),
        l1=fitted.l1,
        l2=fitted.l2,
        standardize=bool(options.get("standardize", True)),
        solver=options.get("solver", "exact"),
        convention="released" if options.get("convention") == "released" else "paper",
    )
    probe.with_weights(fitted.weights.T, fitted.intercepts, classes, fitted.path)
    if fitted.scale is not None:
        probe.scale_ = fitted.scale
    return probe


def penalized(options: ProbeOptions) -> Penalized:
    """What is minimized, from the options."""
    return Penalized(options.penalty, options.l2, tolerance=options.kkt)


def loss_of(y: Array, classes: int) -> Loss:
    """Cross-entropy of numbers of classes; without classes half the squared error."""
    return CrossEntropy(y, classes) if classes else HalfSquaredError(y.reshape(len(y), -1))


def design_of(X: Any, options: ProbeOptions, room: int | None = None) -> Design:
    """The rows of fits; every fit of the same rows, or of some of their layers, may share it.

    ``room``: bytes that a working set of neurons may take.
    """
    centre = options.standardize or options.solver != "adam"
    return Design(X, standardize=options.standardize, room=room, centre=centre)


def fit_probe(
    design: Design,
    y: Array,
    dev: tuple[Any, Array],
    classes: int,
    options: ProbeOptions,
    *,
    l1: float | None = None,
    seed: int = 0,
) -> FittedProbe:
    """The probe of some rows; its penalty is given, or chosen on dev along a path."""
    loss, what = loss_of(y, classes), penalized(options)
    l1 = options.l1 if l1 is None else l1
    path: Sequence[PathStep] = ()
    if options.solver == "adam":
        given = adam_penalty(options.penalty, l1, options.l2, options.convention)
        epochs = Epochs(shuffled=options.convention != "released")
        fit = fit_by_adam(design, loss, given, seed=seed, epochs=epochs)
    elif l1 is not None:
        fit = what.fit_at(design, loss, float(l1))
    else:
        other, true = dev
        known = true >= 0 if classes else np.ones(len(true), bool)
        held = HeldOut(other, loss_of(true[known], classes), known, lambda s: rate(s, true))
        fit, path = what.fit_on_dev(design, loss, held)
    V, b = design.unscaled(fit.W, fit.b)
    kept = V.astype(np.float32)
    b = b + design.mean @ (V - kept)  # what rounding took from the weights of neurons far from 0
    return FittedProbe(
        kept, b, fit.l1, fit.l2, fit.objective, fit.relative, fit.iterations, tuple(path),
        design.standard.scale if options.standardize else None,
    )  # fmt: skip


def code_length(
    X: Any,
    y: IntArray,
    dev: tuple[Any, IntArray],
    classes: int,
    owner: IntArray,
    options: ProbeOptions,
    seed: int,
    room: int | None = None,
) -> float:
    """Bits of the online code of the labels of train (Voita & Titov 2020).

    The first portion is sent with equal probabilities; each next one with those of a probe that is fitted on the rows
    sent before, its penalty chosen on dev. With n of these and C classes, p is sent as (n p + 1) / (n + C), so that a
    class that has not come yet has a code, too. Rows come in whole sentences (``owner``), in a seeded order.
    """
    order = np.random.default_rng(seed).permutation(owner.max() + 1)
    rows = np.argsort(order[owner], kind="stable")
    edges = np.flatnonzero(np.diff(order[owner][rows], append=-1)) + 1
    ends = np.unique([int(edges[np.searchsorted(edges, p * len(y))]) for p in PORTIONS])
    bits = float(ends[0]) * math.log2(classes)
    for begin, end in pairwise(ends.tolist()):
        known, new = np.sort(rows[:begin]), np.sort(rows[begin:end])
        design = design_of(some(X, known), options, room)
        fitted = fit_probe(design, y[known], dev, classes, options, seed=seed)
        scores = fitted.scores(some(X, new))
        top = np.exp(scores - scores.max(1, keepdims=True))
        p = top[np.arange(len(new)), y[new]] / top.sum(1)
        bits -= float(np.log2((begin * p + 1) / (begin + classes)).sum())
    return bits


def save_bits(bits: float, path: Path) -> None:
    """Write a code length."""
    save_tensors(path, {"bits": np.array([bits])}, {}, kind=BITS, version=1, error=LmkinError)


def load_bits(path: Path) -> float:
    """Read what `save_bits` wrote."""
    tensors, _ = load_tensors(path, kind=BITS, schema={}, version=1, error=LmkinError)
    if "bits" not in tensors or tensors["bits"].shape != (1,):
        raise LmkinError(f"{path} is damaged: it holds no code length.")
    return float(tensors["bits"][0])


def some(X: Any, rows: IntArray) -> Any:
    """Some rows; of what lies on disk they stay there."""
    return X.select(rows) if hasattr(X, "select") else X[rows]
