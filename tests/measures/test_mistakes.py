"""Wrong options and types: one sentence, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import lmkin

random = np.random.default_rng(0)
X, Y = random.normal(size=(60, 4)), random.normal(size=(60, 3))
D = {"a/0": X, "b/0": Y}

MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "an array": (
        lambda: lmkin.similarity(X, measures="ckasim", neurons="raw").matrix(),
        "Arrays need names",
    ),
    "a list of arrays": (
        lambda: lmkin.similarity([X, Y], measures="all", neurons="raw"),
        "Arrays need names",
    ),
    "no measure": (
        lambda: lmkin.similarity(D, measures=None, neurons="raw"),
        "list of names",
    ),
    "several measures": (
        lambda: lmkin.similarity(D, measures="ckasim,svsim", neurons="raw").matrix(),
        "several measures: name one of ckasim, svsim",
    ),
    "a number of measures": (
        lambda: lmkin.similarity(D, measures=5, neurons="raw"),
        "list of names",
    ),
    "variance": (
        lambda: lmkin.similarity(
            D, measures="svsim", neurons="raw", measure_options={"variance": "x"}
        ).matrix(),
        "between 0 and 1",
    ),
    "no variance": (
        lambda: lmkin.similarity(
            D, measures="svsim", neurons="raw", measure_options={"variance": None}
        ).matrix(),
        "between 0 and 1",
    ),
    "large variance": (
        lambda: lmkin.similarity(
            D, measures="svsim", neurons="raw", measure_options={"variance": 1.5}
        ).matrix(),
        "between 0 and 1",
    ),
    "ridge": (
        lambda: lmkin.similarity(
            D, measures="mixedsim", neurons="raw", measure_options={"ridge": "x"}
        ).matrix(),
        "ridge",
    ),
    "infinite ridge": (
        lambda: lmkin.similarity(
            D, measures="mixedsim", neurons="raw", measure_options={"ridge": np.inf}
        ).matrix(),
        "ridge",
    ),
    "nan ridge": (
        lambda: lmkin.similarity(
            D, measures="mixedsim", neurons="raw", measure_options={"ridge": np.nan}
        ).matrix(),
        "ridge",
    ),
    "tolerance": (
        lambda: lmkin.similarity(
            D, measures="mixedsim", neurons="raw", measure_options={"tolerance": "x"}
        ).matrix(),
        "tolerance",
    ),
    "bandwidth": (
        lambda: lmkin.similarity(
            D, measures="rbfcka", neurons="raw", measure_options={"bandwidth": "x"}
        ).matrix(),
        "bandwidth",
    ),
    "estimator": (
        lambda: lmkin.similarity(
            D, measures="ckasim", neurons="raw", measure_options={"estimator": 5}
        ).matrix(),
        "Unknown estimator",
    ),
    "convention": (
        lambda: lmkin.similarity(
            D, measures="svsim", neurons="raw", measure_options={"convention": "yes"}
        ).matrix(),
        "convention is 'paper' or 'released'",
    ),
    "top_k": (
        lambda: lmkin.similarity(
            D, measures="neuronsim", neurons="raw", measure_options={"top_k": 1.5}
        ).matrix(),
        "top_k",
    ),
    "a measure that was not computed": (
        lambda: lmkin.similarity(D, measures="ckasim,svsim").matrix("svsin"),
        "not computed here.*Did you mean 'svsim'",
    ),
    "a scaling that there is not": (
        lambda: lmkin.similarity(D, measures="ckasim").matrix("ckasim", "standardised"),
        "raw or standardized here.*Did you mean 'standardized'",
    ),
    "neurons": (
        lambda: lmkin.similarity(D, measures="ckasim", neurons="standard"),
        "Unknown neurons 'standard'.*Did you mean 'standardized'",
    ),
    "an option that nobody has": (
        lambda: lmkin.similarity(D, measures="ckasim", intervalls=False),
        "no option 'intervalls'. Did you mean 'intervals'",
    ),
    "permutations": (
        lambda: lmkin.similarity(D, measures="ckasim", permutations=-1),
        "permutations is a whole number",
    ),
    "level": (
        lambda: lmkin.similarity(D, measures="ckasim", neurons="raw", level="x").matrix(),
        "level",
    ),
    "seed": (
        lambda: lmkin.similarity(D, measures="ckasim", neurons="raw", seed="x").matrix(),
        "seed",
    ),
    "intervals": (
        lambda: lmkin.similarity(D, measures="ckasim", neurons="raw", intervals="x").matrix(),
        "intervals is True or False",
    ),
    "held_out": (
        lambda: lmkin.similarity(D, measures="ckasim", neurons="raw", held_out=True).matrix(),
        "Nothing is fitted",
    ),
    "parts": (
        lambda: lmkin.similarity(D, measures="ckasim", neurons="raw", parts=-1).matrix(),
        "parts is a whole number",
    ),
    "more rows than measures of rows take": (
        lambda: lmkin.similarity(D, measures="rbfcka", neurons="raw", sample_rows=100_000),
        r"1,000 rows at most.*sample_rows=100000 would change nothing",
    ),
    "a corpus for arrays": (
        lambda: lmkin.similarity(D, measures="ckasim", neurons="raw", corpus="sample").matrix(),
        "for models to read",
    ),
    "parts of moments": (
        lambda: lmkin.similarity(
            lmkin.Moments().update(D), measures="ckasim", neurons="raw", parts=5
        ).matrix(),
        "no effect",
    ),
    "an unknown option": (lambda: lmkin.compute_moments(D, parst=3), "Did you mean 'parts'"),
    "no rows": (lambda: lmkin.Moments().update(None), "Rows come as a dict"),
    "merging": (lambda: lmkin.Moments().merge(3), "Moments merge with moments"),
    "no parentheses": (lambda: lmkin.measure(np.mean), "with parentheses"),
    "a number as name": (lambda: lmkin.measure(5), "letters, digits"),
    "no function": (lambda: lmkin.measure("z")(5), "A measure is a function"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    call, message = MISTAKES[name]
    with pytest.raises(lmkin.LmkinError, match=message):
        call()


def test_what_is_kept_is_what_measures_of_rows_and_permutations_are_computed_on() -> None:
    rows = {name: np.random.default_rng(7).normal(size=(1500, 2)) for name in ("a/0", "b/0")}
    about = {"measures": "rbfcka", "neurons": "raw", "intervals": False, "progress": False}
    for kept, used in ((300, 300), (1000, 1000), (2000, 1000)):
        result = lmkin.similarity(rows, sample_rows=kept, **about)
        assert result.rbfcka.attrs["n_used"] == used
    lmkin.similarity(rows, sample_rows=1200, permutations=2, **about)  # those take them all


def test_nothing_is_read_before_options_are_checked() -> None:
    """A wrong value is found before models are loaded."""
    with pytest.raises(lmkin.LmkinError, match="between 0 and 1"):
        lmkin.similarity(
            ["no-such-model"],
            measures="svsim",
            neurons="raw",
            corpus="no-such-file",
            measure_options={"variance": 7},
        ).matrix()
