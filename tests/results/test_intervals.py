"""Standard errors and intervals against the jackknife written out, on raw rows and for every measure."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

import lmkin
from lmkin.measures import Measure, forget, measure_function, measure_info, measure_names
from lmkin.results import jackknife, spread_of_folds
from measures.layer_pairs import correlated
from measures.naive import NAIVE, ON_TEST

MEASURES = [measure_info(name) for name in measure_names()]
X, Y = correlated(np.random.default_rng(11), 120, 6, 8)
EQUAL = np.repeat(np.arange(6), 20)
UNEQUAL = np.repeat(np.arange(5), [5, 40, 25, 20, 30])


def textbook(without: list[float]) -> float:
    """Tukey 1958, for parts of equal size."""
    g = len(without)
    mean = sum(without) / g
    return float(np.sqrt((g - 1) / g * sum((v - mean) ** 2 for v in without)))


def busing(value: float, without: list[float], sizes: list[int]) -> float:
    """Busing, Meijer & van der Leeden 1999, equation 9 and what leads to it, for parts of any size."""
    n, g = sum(sizes), len(sizes)
    estimate = g * value - sum((1 - m / n) * v for v, m in zip(without, sizes, strict=True))
    variance = 0.0
    for v, m in zip(without, sizes, strict=True):
        h = n / m
        pseudo = h * value - (h - 1) * v
        variance += (pseudo - estimate) ** 2 / (h - 1)
    return float(np.sqrt(variance / g))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)
@pytest.mark.parametrize("parts", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("standardize", [False, True])
def test_every_measure_without_each_part(
    measure: Measure, parts: np.ndarray, standardize: bool
) -> None:
    naive = NAIVE[measure.name]
    value = naive(X, Y, standardize=standardize)
    without = [
        naive(X[parts != p], Y[parts != p], standardize=standardize) for p in np.unique(parts)
    ]
    sizes = np.bincount(parts).tolist()
    result = lmkin.similarity(
        {"x": X, "y": Y},
        measures=measure.name,
        parts=parts,
        neurons="standardized" if standardize else "raw",
        level=0.9,
    )
    place = {"model_x": "x", "model_y": "y"}
    found = {
        key: result[f"{measure.name}{key}"].sel(place).values.ravel()
        for key in ("", "_se", "_low", "_high", "_without")
    }
    # Leaving a part out changes the unit of standardized neurons; row norms follow that to first order.
    approximate = standardize and measure.name == "ckasim"
    assert found["_without"] == pytest.approx(np.array(without), abs=2e-4 if approximate else 1e-8)
    assert found[""] == pytest.approx(value, abs=1e-8)
    expected = textbook(without) if parts is EQUAL else busing(value, without, sizes)
    assert found["_se"] == pytest.approx(expected, rel=0.02 if approximate else 1e-6)
    half = student.ppf(0.95, len(sizes) - 1) * found["_se"]
    assert found["_low"] == pytest.approx(found[""] - half)
    assert found["_high"] == pytest.approx(found[""] + half)
    assert result.attrs["parts"] == len(sizes)
    assert result.attrs["part_sizes"] == sizes
    assert result.attrs["level"] == 0.9


@pytest.mark.parametrize("name", list(ON_TEST))
def test_held_out_scores_of_each_part(name: str) -> None:
    result = lmkin.similarity(
        {"x": X, "y": Y}, measures=name, neurons="raw", parts=UNEQUAL, held_out=True
    )
    folds = []
    for part in np.unique(UNEQUAL):
        test = part == UNEQUAL
        folds.append(ON_TEST[name]((X[~test], Y[~test]), (X[test], Y[test])))
    place = {"model_x": "x", "model_y": "y"}
    assert result[f"{name}_without"].sel(place).values.ravel() == pytest.approx(
        np.array(folds), abs=1e-7
    )
    sizes = np.bincount(UNEQUAL)
    mean = np.average(folds, weights=sizes)
    spread = np.average((np.array(folds) - mean) ** 2, weights=sizes)
    assert result[name].sel(place).item() == pytest.approx(mean, abs=1e-7)
    assert result[f"{name}_se"].sel(place).item() == pytest.approx(np.sqrt(spread / 4), abs=1e-7)
    assert result[name].attrs["held_out"] == 1


def test_formulas_agree_where_parts_are_equal() -> None:
    rng = np.random.default_rng(0)
    without = rng.normal(size=8)
    assert busing(0.3, without.tolist(), [7] * 8) == pytest.approx(textbook(without.tolist()))
    found = jackknife(np.array(0.3), without, [7] * 8)
    assert found.se == pytest.approx(textbook(without.tolist()))
    sizes = rng.integers(1, 50, size=8).tolist()
    assert jackknife(np.array(0.3), without, sizes).se == pytest.approx(
        busing(0.3, without.tolist(), sizes)
    )


def test_the_standard_error_of_a_mean_is_the_known_one() -> None:
    """Of rows as parts: s / √n exactly."""
    sample = np.random.default_rng(1).normal(size=40)
    without = np.array([np.delete(sample, i).mean() for i in range(40)])
    found = jackknife(np.array(sample.mean()), without, [1] * 40)
    assert found.se == pytest.approx(sample.std(ddof=1) / np.sqrt(40))


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    """Two neurons with a correlation of 0.6, 300 times: nominally 95 of 100 intervals hold it."""
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(300):
        a, b = rng.normal(size=(2, 200, 1))
        table = lmkin.similarity(
            {"x": a, "y": 0.6 * a + 0.8 * b}, measures="neuronsim", neurons="raw", progress=False
        ).matrix()
        inside += bool(table.low.values[0, 1] <= 0.6 <= table.high.values[0, 1])
    # Binomial: ± 4 % is more than three standard errors.
    assert 0.91 <= inside / 300 <= 0.99


def test_the_error_is_that_of_repeated_samples() -> None:
    """The spread of CKA over fresh samples, against the mean of the standard errors."""
    rng = np.random.default_rng(3)
    M = rng.normal(size=(5, 6))
    values, errors = [], []
    for _ in range(120):
        A = rng.normal(size=(300, 5))
        table = lmkin.similarity(
            {"x": A, "y": A @ M + 3 * rng.normal(size=(300, 6))}, measures="ckasim", neurons="raw"
        ).matrix()
        values.append(table.values[0, 1])
        errors.append(table.se.values[0, 1])
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(values, ddof=1), rel=0.25)


def test_no_intervals_where_none_are_asked_for() -> None:
    result = lmkin.similarity({"x": X, "y": Y}, measures="ckasim", neurons="raw", intervals=False)
    assert set(result.dataset.data_vars) == {"ckasim"}
    assert result.attrs["parts"] == 0
    table = lmkin.similarity(
        {"x": X, "y": Y}, measures="ckasim", neurons="raw", intervals=False
    ).matrix()
    assert "se" not in table.coords


@pytest.mark.parametrize("parts", [0, 1])
@pytest.mark.parametrize("function", ["similarity", "decompose", "layer_redundancy", "redundancy"])
def test_one_part_is_no_jackknife(function: str, parts: int) -> None:
    """One way to have no intervals: ``intervals=False``."""
    layers = {"x/0": X, "x/1": Y}
    with pytest.raises(lmkin.LmkinError, match=r"two parts at least.*intervals=False"):
        getattr(lmkin, function)(layers, parts=parts)


def test_a_table_carries_its_errors() -> None:
    table = lmkin.similarity(
        {"x": X, "y": Y}, measures="svsim", neurons="raw", parts=EQUAL
    ).matrix()
    whole = lmkin.similarity({"x": X, "y": Y}, measures="svsim", neurons="raw", parts=EQUAL)
    for part in ("se", "low", "high"):
        assert table[part].values[0, 1] == whole[f"svsim_{part}"].values[0, 0, 1, 0]
    assert (table.low <= table).all()
    assert (table <= table.high).all()
    assert table.se.values[0, 0] == pytest.approx(0, abs=1e-9)
    assert table.attrs["n"] == 120
    assert table.attrs["d"] == [6, 8]


@pytest.mark.parametrize("route", ["panels", "joint"])
@pytest.mark.parametrize("seed", range(4))
def test_parts_with_hardly_any_sampled_row(route: str, seed: int) -> None:
    """RBF-CKA sees a sample of the rows; a part that is not in it must not break, or bend, the others' errors."""
    A, B = correlated(np.random.default_rng(4), 600, 3, 4)
    parts = np.repeat([3, 1, 2, 0], [200, 200, 199, 1])
    options = {"neurons": "raw", "parts": parts, "route": route, "seed": seed, "sample_rows": 150}
    result = lmkin.similarity({"x": A, "y": B}, measures=["rbfcka", "ckasim"], **options)
    assert np.isfinite(result.rbfcka_se.values).all()
    assert result.rbfcka_se.values[0, 0, 1, 0] > 0
    assert result.ckasim_without.sizes["part"] == 4
    value, without = result.rbfcka.values[0, 0, 1, 0], result.rbfcka_without.values[:, 0, 0, 1, 0]
    sizes = result.rbfcka.attrs["part_sizes"]
    assert len(sizes) == 4
    assert sum(sizes) == 150
    assert (without[np.array(sizes) == 0] == value).all()
    there = [k for k, size in enumerate(sizes) if size]
    expected = busing(value, [float(without[k]) for k in there], [sizes[k] for k in there])
    assert result.rbfcka_se.values[0, 0, 1, 0] == pytest.approx(expected)
    # The same order of parts as for what sees all rows: as they come.
    assert np.argsort(sizes).tolist()[0] == 3


def test_errors_of_a_sample_follow_the_parts_of_the_sample() -> None:
    """The formula takes the sizes of the parts that were left out: those of the sampled rows."""
    A, B = correlated(np.random.default_rng(4), 3000, 3, 4)
    parts = np.repeat([0, 1, 2], [200, 1300, 1500])
    moments = lmkin.compute_moments({"x": A, "y": B}, parts=parts, sample_rows=90, seed=5)
    result = lmkin.similarity(moments, measures="rbfcka", neurons="raw")
    sizes = np.bincount(moments.sample.parts, minlength=3).tolist()
    assert sum(sizes) == 90
    expected = busing(
        result.rbfcka.values[0, 0, 1, 0],
        result.rbfcka_without.values[:, 0, 0, 1, 0].tolist(),
        sizes,
    )
    assert result.rbfcka_se.values[0, 0, 1, 0] == pytest.approx(expected)


def test_a_part_without_a_row_in_the_sample_is_named_with_what_to_do() -> None:
    """A fitted measure of rows is scored on each part of the sample."""

    @lmkin.measure("fits", fitted=True)
    def fits(X: np.ndarray, Y: np.ndarray) -> float:
        return float(np.corrcoef(X[:, 0], Y[:, 0])[0, 1])

    try:
        A, B = correlated(np.random.default_rng(4), 3000, 3, 4)
        labels = np.repeat([0, 1, 2], [1498, 4, 1498])
        moments = lmkin.compute_moments({"x": A, "y": B}, parts=labels, sample_rows=90, seed=5)
        with pytest.raises(lmkin.LmkinError, match=r"in part '1'; there are 0\..*sample_rows"):
            lmkin.similarity(moments, measures="fits", neurons="raw", held_out=True)
        with pytest.raises(
            lmkin.LmkinError, match=r"Three units .* in part '1'; there are 2\..*parts="
        ):
            lmkin.similarity(
                {"x": A[:8], "y": B[:8]}, measures="svsim", held_out=True, neurons="raw",
                parts=[0, 0, 0, 1, 1, 2, 2, 2],
            )  # fmt: skip
    finally:
        forget("fits")


def test_what_cannot_be_computed() -> None:
    with pytest.raises(lmkin.LmkinError, match="two parts at least"):
        jackknife(np.array(1.0), np.array([1.0]), [5])
    for level in (0, 1, 95):
        with pytest.raises(lmkin.LmkinError, match="level"):
            lmkin.similarity(
                {"x": X, "y": Y}, measures="ckasim", neurons="raw", level=level
            ).matrix()
        with pytest.raises(lmkin.LmkinError, match="level"):
            spread_of_folds(np.array(1.0), np.array([1.0, 1.0]), [5, 5], level)
    with pytest.raises(lmkin.LmkinError, match="two parts at least"):
        lmkin.similarity(
            {"x": X, "y": Y}, measures="svsim", neurons="raw", held_out=True, parts=1
        ).matrix()


def test_too_few_units_for_parts_is_said_so() -> None:
    """Four units are enough for unbiased CKA; without one of four parts they are three."""
    assert np.isfinite(measure_function("ckasim")(X[:4], Y[:4]))
    with pytest.raises(lmkin.LmkinError, match=r"(?i)part|interval"):
        lmkin.similarity({"x": X[:4], "y": Y[:4]}, measures="ckasim", neurons="raw").matrix()


@pytest.mark.parametrize("parts", [np.int64(6), 6])
def test_the_number_of_parts_may_come_from_numpy(parts: int) -> None:
    assert (
        lmkin.similarity({"x": X, "y": Y}, measures="ckasim", neurons="raw", parts=parts)
        .matrix()
        .attrs["parts"]
        == 6
    )
