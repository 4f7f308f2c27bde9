"""The rows that moments keep as they are: a fair draw, whatever way the rows came."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

import lmkin
from lmkin.moments import Moments


def kept(moments: Moments) -> np.ndarray:
    """Which rows are in the sample: each row's first neuron is its number."""
    reference = moments.reference
    assert reference is not None
    assert moments.sample.rows is not None
    shift = next(iter(reference.values()))[0]
    return np.round(moments.sample.rows[:, 0] + shift[0]).astype(int)


def numbered(n: int, start: int = 0) -> np.ndarray:
    return np.stack([np.arange(start, start + n), np.ones(n)], axis=1).astype(np.float64)


def pieces(seed: int) -> Moments:
    """80 rows in uneven updates and two moments that are merged."""
    rows = numbered(80)
    first = Moments(sample_rows=20, seed=2 * seed).update({"a": rows[:7]}, part="p")
    first.update({"a": rows[7:50]}, part="q")
    second = Moments(sample_rows=20, seed=2 * seed + 1).update({"a": rows[50:51]}, part="q")
    second.update({"a": rows[51:]}, part="r")
    for moments in (first, second):
        moments.snapshot()
    return first.merge(second)


def test_every_row_has_the_same_chance() -> None:
    """Pearson's statistic of 600 draws of 20 out of 80; fixed seeds, so this fails always or never."""
    counts = np.zeros(80)
    for seed in range(600):
        found = kept(pieces(seed))
        assert len(set(found.tolist())) == 20
        counts[found] += 1
    expected = 600 * 20 / 80
    # Draws without replacement vary less than independent ones, by 1 − 20/80.
    statistic = ((counts - expected) ** 2 / expected).sum() / (1 - 20 / 80)
    assert chi2.ppf(0.0005, 79) < statistic < chi2.ppf(0.9995, 79)


def test_rows_are_kept_whole_with_their_parts() -> None:
    moments = pieces(5)
    reference = moments.reference
    assert reference is not None
    numbers = kept(moments)
    assert np.allclose(moments.sample.rows[:, 1] + reference[moments.groups[0]][0][1], 1)
    names = np.array(moments.parts, dtype=object)[moments.sample.parts]
    true = np.where(numbers < 7, "p", np.where(numbers < 51, "q", "r"))
    assert (names == true).all()


def test_fewer_rows_than_asked_for_are_all_kept() -> None:
    moments = Moments(sample_rows=100).update({"a": numbered(30)}).update({"a": numbered(30, 30)})
    assert sorted(kept(moments).tolist()) == list(range(60))


def test_seeded() -> None:
    draws = [
        kept(Moments(sample_rows=10, seed=s).update({"a": numbered(500)})).tolist()
        for s in (1, 1, 2)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_none_are_kept_if_none_are_wanted() -> None:
    moments = Moments(sample_rows=0).update({"a": numbered(50)})
    assert moments.sample.rows is None
    assert moments.merge(moments).sample.rows is None
    assert lmkin.similarity(moments, measures="ckasim", neurons="raw").matrix().values == 1


def test_all_neurons_of_a_row_stay_together() -> None:
    """What a sample is for: a measure of the sampled rows is one of real rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4)) + 100
    moments = Moments(sample_rows=50, seed=4)
    for start in range(0, 700, 90):
        moments.update({"a": X[start : start + 90], "b": X[start : start + 90] * 2 - 7})
    table = lmkin.similarity(moments, measures="rbfcka", neurons="raw", intervals=False).matrix()
    assert np.allclose(table.values, 1)


def test_last_bits_of_activations_do_not_draw_other_rows() -> None:
    """Another CPU or number of threads moves them; values around 0 (constant neurons) even change sign."""
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 40)).astype(np.float32)
    X[:, 0] = np.arange(500)
    X[:, 3] = 1e-12
    moved = X * (1 + 1e-6 * random.normal(size=X.shape).astype(np.float32))
    moved[:, 0] = X[:, 0]
    moved[::2, 3] *= -1
    drawn = [kept(Moments(sample_rows=50, seed=0).update({"a": rows})) for rows in (X, moved)]
    assert drawn[0].tolist() == drawn[1].tolist()
    X[0, 10:] *= -1
    assert kept(Moments(sample_rows=50, seed=0).update({"a": X})).tolist() != drawn[0].tolist()


@pytest.mark.parametrize(
    ("width", "rogue"), [(64, 1), (64, 5), (64, 40), (2, 1), (1, 0)], ids=lambda n: str(n)
)
def test_samples_of_different_rows_do_not_draw_alike(width: int, rogue: int) -> None:
    """Whatever some neurons, far larger than the others, say; and of rows that hold few values."""
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, width))
    X[:, :rogue] *= 5e4
    each = [
        Moments(sample_rows=50, seed=0).update({"a": X[i : i + 200]}) for i in range(0, 4000, 200)
    ]
    for moments in each:
        moments.snapshot()
    drawn = {tuple(sorted(moments.sample.keys.tolist())) for moments in each}
    assert len(drawn) == 20
    merged = each[0]
    for moments in each[1:]:
        merged.merge(moments)
    assert len(set(merged.sample.keys.tolist())) == 50
