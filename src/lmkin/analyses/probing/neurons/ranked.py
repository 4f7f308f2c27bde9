"""`rank_neurons`: the neurons that a probe reads, in the order of their importance for its task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ....activations import Activations
from ....core import LmkinError, check_seed, is_whole, quoted, to_numpy
from ..fits import FittedProbe
from ..probe_rows import given_rows
from ..result import Probes
from .fits import FitSettings
from .order import NeuronRanking, Neurons
from .registry import find_ranking
from .subject import Subject, rank_subject

if TYPE_CHECKING:
    from ....estimators import Probe


def rank_neurons(
    probes: Any,
    method: str = "lca",
    *,
    reverse: bool = False,
    layers: str | int = "all",
    task: str | None = None,
    model: str | None = None,
    steps: int | None = None,
    standardize: bool | None = None,
    X: Any = None,
    y: Any = None,
    dev: tuple[Any, Any] | None = None,
    test: tuple[Any, Any] | None = None,
    groups: Any = None,
    resamples: int = 0,
    seed: int = 0,
) -> NeuronRanking:
    """Rank neurons by how much a probe, or the rows, say of them.

    Parameters
    ----------
    probes
        What `lmkin.probe` gives; a fitted `lmkin.Probe`; or a matrix of weights, classes × neurons (an array, or what
        ``probes.weights()`` gives, which knows layers). A matrix is taken as it is: its weights should be for
        standardized neurons. The weights of probes that were standardized are multiplied by the neurons' standard
        deviations first, so that a neuron with small activations is not thought important for its large weights.
    method
        ``lca`` (Linguistic Correlation Analysis), ``row-path``, ``probeless``, ``random``, or one of your own.
    reverse
        The least important first.
    layers, task, model
        Which probe of a result.
    steps
        Of ``lca`` (100) or ``row-path`` (20).
    standardize
        Of ``probeless``: divide neurons by their standard deviations. Not done by default, as in the paper.
    X, y, dev, test, groups
        Rows with labels, for a result that was loaded, a `lmkin.Probe`, or a matrix; ``dev`` and ``test`` are pairs
        ``(X, y)``, ``groups`` says what each row of X belongs to (its sentence). Without ``dev``, a tenth of X chooses.
        A result that was just made remembers its own.
    resamples
        How often train is drawn into two halves of whole groups, and both ranked: `NeuronRanking.stability` is then the
        share of the first neurons that they have in common.
    seed
        Of a random order, and of the halves.

    Examples
    --------
    >>> import numpy as np, lmkin
    >>> weights = np.array([[0.0, 3.0, 1.0, 0.0], [2.0, 0.5, 0.0, 0.0]])
    >>> ranking = lmkin.rank_neurons(weights)
    >>> ranking.order.tolist(), ranking.informed
    ([0, 1, 2, 3], 3)
    """
    how = find_ranking(method)
    check_seed(seed)
    if not is_whole(resamples) or resamples < 0:
        raise LmkinError(f"resamples is a number of draws, such as 5; got {quoted(resamples)}.")
    subject = subject_of(probes, layers, task, model)
    if X is not None or y is not None or dev is not None or test is not None:
        rows, labels = given_rows(
            X, y, dev=dev, test=test, groups=groups, width=len(subject.neurons),
            labels=subject.labels, seed=seed,
        )  # fmt: skip
        subject = replace(subject, rows=rows, labels=labels)
    given = {"steps": steps, "standardize": standardize}
    options = {name: value for name, value in given.items() if value is not None}
    return rank_subject(subject, how, options, reverse=reverse, resamples=resamples, seed=seed)


def subject_of(probes: Any, layers: str | int, task: str | None, model: str | None) -> Subject:
    """What is to be ranked."""
    if isinstance(probes, Probes):
        return _of_result(probes, layers, task, model)
    from ....estimators import Probe

    named = {"layers": layers != "all", "task": task is not None, "model": model is not None}
    for name, there in named.items():
        if there:
            raise LmkinError(
                f"{name} names one of the probes of a result of lmkin.probe, and here is a "
                f"{'probe' if isinstance(probes, Probe) else 'matrix'}: leave it out."
            )
    if isinstance(probes, Probe):
        return _of_probe(probes)
    if isinstance(probes, xr.DataArray):
        return _of_matrix(probes.values, _labelled_neurons(probes))
    if isinstance(probes, str | bytes | Activations) or not hasattr(probes, "__len__"):
        raise LmkinError(
            "Neurons are ranked by what lmkin.probe gives, by a fitted lmkin.Probe, or by a matrix of weights, classes "
            f"× neurons; got {type(probes).__name__}."
        )
    return _of_matrix(to_numpy(probes) if hasattr(probes, "detach") else probes, None)


def _of_result(probes: Probes, layers: str | int, task: str | None, model: str | None) -> Subject:
    fitted, rows, places = probes.probe_and_rows(layers, task=task, model=model)
    name, tag, _ = probes.key(layers, task, model)
    options = probes.provenance.get("options", {})
    settings = FitSettings.of(options, fitted.l1)
    neurons = Neurons.of(places, name, probes.attrs["probed"][name]["identity"])
    labels = np.array(probes.classes(tag))
    return Subject(neurons, tag, fitted.standardized.T, settings, fitted, labels, rows)


def _of_probe(probe: Probe) -> Subject:
    if not hasattr(probe, "coef_"):
        raise LmkinError("This lmkin.Probe is not fitted yet. Fit it first: probe.fit(X, y).")
    weights = np.atleast_2d(probe.coef_)
    intercepts = np.atleast_1d(probe.intercept_)
    scale = getattr(probe, "scale_", np.ones(weights.shape[1]))
    settings = FitSettings(
        probe.penalty, probe.l1_, probe.l2, probe.standardize, probe.tolerance
    )  # fmt: skip
    fitted = FittedProbe(
        weights.T, intercepts, probe.l1_, probe.l2_, np.nan, 0.0, 0, tuple(probe.path_), scale
    )
    labels = probe.classes_ if probe.task == "classification" else np.empty(0)
    neurons = Neurons.of([(0, k) for k in range(weights.shape[1])], "probe", None)
    return Subject(neurons, "label", fitted.standardized.T, settings, fitted, labels, None)


def _labelled_neurons(weights: xr.DataArray) -> Neurons | None:
    if "layer" not in weights.coords or "number" not in weights.coords:
        return None
    layer, number = weights["layer"].values.tolist(), weights["number"].values.tolist()
    return Neurons.of(list(zip(layer, number, strict=True)), "weights", None)


def _of_matrix(given: Any, neurons: Neurons | None) -> Subject:
    try:
        weights = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.ndim != 2 or not weights.size:
        raise LmkinError(
            "Weights are a matrix of numbers, classes × neurons (one row for scores); got "
            f"{quoted(type(given).__name__)} of the shape {np.shape(weights)}."
        )
    if not np.isfinite(weights).all():
        row, column = np.argwhere(~np.isfinite(weights))[0].tolist()
        raise LmkinError(
            f"The weight of neuron {column} for class {row} is NaN or infinite: such weights rank nothing."
        )
    if neurons is None:
        neurons = Neurons.of([(0, k) for k in range(weights.shape[1])], "weights", None)
    return Subject(neurons, "label", weights, FitSettings(), None, None, None)
