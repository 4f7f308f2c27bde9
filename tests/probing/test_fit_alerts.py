"""What is said of fits that were made: whether a smaller penalty might have been better."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lmkin.analyses.probing import FittedProbe, ProbeOptions, design_of, fit_alerts, fit_probe
from lmkin.estimators import PathStep

PENALTIES = (0.1, 0.05, 0.02)


def fitted(losses: tuple[float, ...], taken: float) -> FittedProbe:
    """A probe that took one penalty of a path with these losses on dev."""
    steps = [
        PathStep(l1, l1, 1, 2, loss, 0.5, 0.01, 3)
        for l1, loss in zip(PENALTIES, losses, strict=False)
    ]
    return FittedProbe(np.ones((1, 2)), np.zeros(2), taken, taken, 0.5, 0.01, 3, tuple(steps))


def kinds_of(*probes: FittedProbe) -> list[str]:
    return [alert.kind for alert in fit_alerts(probes, 0.05, "probes", "dev")]


@pytest.mark.parametrize(
    ("losses", "taken", "at_end"),
    [
        ((0.7, 0.6, 0.5), 0.02, True),
        (
            (0.7, 0.6, 0.601),
            0.02,
            True,
        ),  # the exact fit is worse than the rough one that was chosen
        ((0.7, 0.5, 0.6), 0.05, False),
        (
            (0.7, 0.601, 0.6),
            0.05,
            False,
        ),  # as the exact fit of the second step, the last looks better
        ((0.7,), 0.1, False),  # one penalty has no smaller one beside it
        ((), 0.02, False),
    ],
)
def test_a_path_that_ends_too_soon(losses: tuple[float, ...], taken: float, at_end: bool) -> None:
    assert kinds_of(fitted(losses, taken)) == ["penalty at its end"] * at_end


def test_how_many_probes_end_a_path_too_soon() -> None:
    probes = [fitted((0.7, 0.6, 0.601), 0.02), fitted((0.7, 0.5, 0.6), 0.05)]
    (alert,) = fit_alerts(probes, 0.05, "probes of m", "dev", "m")
    assert alert.text.startswith("1 of 2 probes of m predict dev best with the smallest penalty")
    assert alert.where == "m"


@pytest.mark.parametrize(("noise", "at_end"), [(0.0, True), (3.0, False)])
def test_classes_that_one_neuron_tells_want_the_smallest_penalty(
    noise: float, at_end: bool
) -> None:
    """Where the classes are told without error, less penalty is always better on dev; where they are not, it is not."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6))
    y = (X[:, 0] + noise * rng.standard_normal(400) > 0).astype(np.int64)
    options = ProbeOptions()
    probe = fit_probe(design_of(X[:200], options), y[:200], (X[200:], y[200:]), 2, options)
    assert kinds_of(probe) == ["penalty at its end"] * at_end
    last: Any = replace(probe.path[-1], dev_loss=np.inf)  # as if the exact fit were worse
    assert kinds_of(replace(probe, path=(*probe.path[:-1], last))) == kinds_of(probe)
