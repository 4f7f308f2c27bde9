"""Smallest sets, curves by another probe, clusters × probes: against brute force and against lmkin.Probe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import lmkin
from lmkin.analyses.probing import neuron_curves
from lmkin.analyses.probing.neurons.minimal import by_doubling, grid_of

PLANTED = (2, 9, 14, 21)


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    """Four neurons that know a part each, and twenty of noise."""
    random = np.random.default_rng(1)
    X = random.normal(size=(700, 24))
    y = np.array(list("abcd"))[(X[:, PLANTED] + 0.4 * random.normal(size=(700, 4))).argmax(1)]
    return {
        "X": X[:500], "y": y[:500], "dev": (X[500:600], y[500:600]), "test": (X[600:], y[600:]),
    }  # fmt: skip


@pytest.fixture(scope="module")
def ranking(rows: dict[str, Any]) -> lmkin.NeuronRanking:
    probe = lmkin.Probe(l1=0.01, tolerance=1e-3).fit(rows["X"], rows["y"])
    return lmkin.rank_neurons(probe, **rows)


@pytest.fixture(scope="module")
def brute_force(ranking: lmkin.NeuronRanking, rows: dict[str, Any]) -> dict[str, list[float]]:
    """Scores of a probe of its own for every number of first neurons, by the estimator."""
    scores: dict[str, list[float]] = {"dev": [], "test": []}
    for n in range(1, 25):
        columns = ranking.order[:n]
        probe = lmkin.Probe(l1=0.01, tolerance=1e-3).fit(rows["X"][:, columns], rows["y"])
        for split, mine in scores.items():
            X, y = rows[split]
            mine.append(probe.score(X[:, columns], y))
    return scores


@pytest.mark.parametrize("tolerance", [0.01, 0.03, 0.3])
def test_the_smallest_set_is_that_of_brute_force(
    ranking: lmkin.NeuronRanking, brute_force: dict[str, list[float]], tolerance: float
) -> None:
    every = brute_force["dev"]
    bound = (1 - tolerance) * every[-1]
    first = next(n for n, score in enumerate(every, start=1) if score >= bound)
    found = lmkin.minimal_neurons(ranking, tolerance, grid=range(1, 25))
    assert len(found) == first
    assert found.fits == first
    assert found.oracle == pytest.approx(every[-1])
    assert found.tried == pytest.approx({**dict(enumerate(every[:first], 1)), 24: every[-1]})
    searched = lmkin.minimal_neurons(ranking, tolerance)
    n = len(searched)
    assert every[n - 1] >= bound
    assert n == 1 or every[n - 2] < bound
    assert searched.score == pytest.approx(every[n - 1])
    assert searched.fits <= 10
    assert searched.test is not None
    assert searched.test.value[0] == pytest.approx(brute_force["test"][n - 1])


def test_planted_neurons_are_the_smallest_set() -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(900, 24))
    y = np.array(list("abcd"))[X[:, PLANTED].argmax(1)]
    rows: dict[str, Any] = {"X": X[:600], "y": y[:600], "dev": (X[600:], y[600:])}
    probe = lmkin.Probe(l1=0.02).fit(rows["X"], rows["y"])
    found = lmkin.minimal_neurons(lmkin.rank_neurons(probe, **rows), 0.1)
    assert isinstance(found, lmkin.NeuronMask)
    assert set(found.neurons) == {(0, k) for k in PLANTED}
    assert found.by_layer == {0: 4}
    assert found.reached
    mask = found.apply({"probe/0": rows["X"]})
    assert np.array_equal(mask, rows["X"][:, sorted(PLANTED)])
    assert found.table().to_records()[-1]["neurons"] == 24


def test_it_saves_and_loads_as_a_mask(ranking: lmkin.NeuronRanking, tmp_path: Path) -> None:
    found = lmkin.minimal_neurons(ranking, 0.03)
    found.save(tmp_path / "mask.safetensors")
    again = lmkin.load(tmp_path / "mask.safetensors")
    assert again.hash == found.hash
    assert again.threshold is None
    assert cloudpickle.loads(cloudpickle.dumps(found)).hash == found.hash


def test_a_matrix_alone_needs_rows_and_then_does(
    ranking: lmkin.NeuronRanking, rows: dict[str, Any]
) -> None:
    plain = lmkin.rank_neurons(np.eye(4, 24))
    with pytest.raises(lmkin.LmkinError, match="no rows to fit probes on"):
        lmkin.minimal_neurons(plain)
    weights = np.zeros((4, 24))
    weights[range(4), PLANTED] = 1
    found = lmkin.minimal_neurons(lmkin.rank_neurons(weights), 0.05, **rows)
    assert set(found.neurons) == {(0, k) for k in PLANTED}
    without_dev = lmkin.minimal_neurons(lmkin.rank_neurons(weights), 0.1, X=rows["X"], y=rows["y"])
    assert len(without_dev) <= 6


def test_scores_are_kept_by_correlation() -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(500, 12))
    y = X[:, 4] - 2 * X[:, 7] + 0.1 * random.normal(size=500)
    probe = lmkin.Probe("regression", l1=0.01).fit(X[:400], y[:400])
    ranking = lmkin.rank_neurons(probe, X=X[:400], y=y[:400], dev=(X[400:], y[400:]))
    assert ranking.order[:2].tolist() == [7, 4]
    with pytest.raises(lmkin.LmkinError, match="of classes, and here are scores"):
        lmkin.rank_neurons(probe, "probeless", X=X[:400], y=y[:400])
    found = lmkin.minimal_neurons(ranking, 0.03)
    assert set(found.neurons) == {(0, 4), (0, 7)}
    predicted = probe.predict(X[400:])
    assert found.oracle == pytest.approx(np.corrcoef(predicted, y[400:])[0, 1])


def test_nothing_is_kept_of_a_probe_that_knows_nothing() -> None:
    random = np.random.default_rng(4)
    X, y = random.normal(size=(60, 5)), random.normal(size=60)
    probe = lmkin.Probe("regression", l1=0.01).fit(X, y)
    ranking = lmkin.rank_neurons(probe, X=X, y=y, dev=(X, -probe.predict(X)))
    with pytest.raises(lmkin.LmkinError, match="nothing that fewer could keep"):
        lmkin.minimal_neurons(ranking)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 1.0}, "tolerance is a fraction"),
        ({"tolerance": "1 %"}, "tolerance is a fraction"),
        ({"grid": "papr"}, "grid is 'paper'"),
        ({"grid": [0, 3]}, "from 1 to 24"),
        ({"grid": 0}, "grid is 'paper'"),
        ({"l1": "best"}, "a number or 'dev'"),
        ({"l1": -1}, "0 or more"),
    ],
)
def test_mistakes_are_named(
    ranking: lmkin.NeuronRanking, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(lmkin.LmkinError, match=message):
        lmkin.minimal_neurons(ranking, **options)


def test_a_ranking_is_asked_for() -> None:
    with pytest.raises(lmkin.LmkinError, match="got list"):
        lmkin.minimal_neurons([3, 1, 2])  # type: ignore[arg-type]


def test_grids_are_those_of_the_papers() -> None:
    assert grid_of(10, 35) == [10, 20, 30]
    shares = [0.1, 0.2, 0.3, 0.4, 0.5, *range(1, 11), *range(15, 55, 5), 60, 70, 80, 90]
    assert grid_of("paper", 10_000) == [round(100 * s) for s in shares]


@pytest.mark.parametrize("most", [1, 2, 3, 10, 97])
def test_doubling_finds_every_number(most: int) -> None:
    for wanted in range(1, most + 1):
        asked: list[int] = []

        def holds(n: int, wanted: int = wanted, asked: list[int] = asked) -> bool:
            asked.append(n)
            return n >= wanted

        assert by_doubling(holds, most) == wanted
        assert len(asked) <= 2 * np.log2(most + 1) + 3
        assert len(asked) == len(set(asked))


def test_curves_are_those_of_another_probe(
    ranking: lmkin.NeuronRanking, rows: dict[str, Any]
) -> None:
    """The judge has the row penalty at the same share of its largest λ₁; ablated is the probe with columns at means."""
    curves = neuron_curves(ranking, [1, 4, 12], draws=2)
    X, y = rows["X"], rows["y"]
    Z = (X - X.mean(0)) / X.std(0)
    Y = (y[:, None] == np.array(list("abcd"))).astype(float)
    G = Z.T @ (Y - Y.mean(0)) / len(Z)
    l1 = 0.01 * np.linalg.norm(G, axis=1).max() / abs(G).max()
    X_test, y_test = rows["test"]
    own = lmkin.Probe(l1=0.01, tolerance=1e-3).fit(X, y)
    for n in (1, 4, 12):
        first, rest = ranking.order[:n], ranking.order[n:]
        for name, columns in (("kept", first), ("removed", rest)):
            probe = lmkin.Probe(penalty="row", l1=l1, l2=l1, tolerance=1e-3).fit(X[:, columns], y)
            expected = probe.score(X_test[:, columns], y_test)
            assert curves[name].sel(top=n).item() == pytest.approx(expected, abs=0.021)
        gone = X_test.copy()
        gone[:, first] = X[:, first].mean(0)
        assert curves["ablated"].sel(top=n).item() == pytest.approx(own.score(gone, y_test))
        assert curves["random_least"].sel(top=n) <= curves["random"].sel(top=n)
    assert curves["kept"].sel(top=4) > curves["random"].sel(top=4) + 0.2
    assert curves["kept"].sel(top=4) > curves["removed"].sel(top=4) + 0.2
    assert curves.attrs["judge"] == "row"


def test_curves_need_the_rows_that_they_score(rows: dict[str, Any]) -> None:
    probe = lmkin.Probe(l1=0.01).fit(rows["X"], rows["y"])
    ranking = lmkin.rank_neurons(probe, X=rows["X"], y=rows["y"])
    with pytest.raises(lmkin.LmkinError, match="no rows 'test'"):
        ranking.curves()
    with pytest.raises(lmkin.LmkinError, match="from 1 to 23"):
        ranking.curves([24], test=rows["test"], X=rows["X"], y=rows["y"])
    some = ranking.curves([3], test=rows["test"], X=rows["X"], y=rows["y"], draws=1)
    assert some.attrs["fits"] == 4
