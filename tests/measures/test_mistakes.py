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
    "an array": (lambda: lmkin.similarity(X), "Arrays need names"),
    "a list of arrays": (lambda: lmkin.similarities([X, Y]), "Arrays need names"),
    "no measure": (lambda: lmkin.similarity(D, None), "one measure"),
    "several measures": (lambda: lmkin.similarity(D, "ckasim,svsim"), "similarities takes several"),
    "a number of measures": (lambda: lmkin.similarities(D, measures=5), "list of names"),
    "variance": (lambda: lmkin.similarity(D, "svsim", variance="x"), "between 0 and 1"),
    "no variance": (lambda: lmkin.similarity(D, "svsim", variance=None), "between 0 and 1"),
    "large variance": (lambda: lmkin.similarity(D, "svsim", variance=1.5), "between 0 and 1"),
    "ridge": (lambda: lmkin.similarity(D, "mixedsim", ridge="x"), "ridge"),
    "infinite ridge": (lambda: lmkin.similarity(D, "mixedsim", ridge=np.inf), "ridge"),
    "nan ridge": (lambda: lmkin.similarity(D, "mixedsim", ridge=np.nan), "ridge"),
    "tolerance": (lambda: lmkin.similarity(D, "mixedsim", tolerance="x"), "tolerance"),
    "bandwidth": (lambda: lmkin.similarity(D, "rbfcka", bandwidth="x"), "bandwidth"),
    "estimator": (lambda: lmkin.similarity(D, estimator=5), "Unknown estimator"),
    "released": (lambda: lmkin.similarity(D, "svsim", released="yes"), "released is True or False"),
    "top_k": (lambda: lmkin.similarity(D, "neuronsim", top_k=1.5), "top_k"),
    "level": (lambda: lmkin.similarity(D, level="x"), "level"),
    "seed": (lambda: lmkin.similarity(D, seed="x"), "seed"),
    "intervals": (lambda: lmkin.similarity(D, intervals="x"), "intervals is True or False"),
    "held_out": (lambda: lmkin.similarity(D, held_out=True), "Nothing is fitted"),
    "parts": (lambda: lmkin.similarity(D, parts=-1), "parts is a number"),
    "a corpus for arrays": (lambda: lmkin.similarity(D, corpus="sample"), "for models to read"),
    "parts of moments": (lambda: lmkin.similarity(lmkin.Moments().update(D), parts=5), "no effect"),
    "an unknown option": (lambda: lmkin.moments(D, parst=3), "Did you mean 'parts'"),
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


def test_nothing_is_read_before_options_are_checked() -> None:
    """A wrong value is found before models are loaded."""
    with pytest.raises(lmkin.LmkinError, match="between 0 and 1"):
        lmkin.similarity(["no-such-model"], "svsim", corpus="no-such-file", variance=7)
