"""The public face: every name can be had, and travels to another process."""

from __future__ import annotations

import inspect
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

import lmkin

NAMES = [name for name in lmkin.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_everything_public_pickles(name: str) -> None:
    thing = getattr(lmkin, name)
    assert cloudpickle.loads(cloudpickle.dumps(thing)) is thing
    assert not inspect.ismodule(thing)


def test_results_and_sums_pickle() -> None:
    random = np.random.default_rng(0)
    layers = {f"m/{k}": random.normal(size=(80, 4)) for k in range(2)}
    moments = lmkin.compute_moments(layers, progress=False)
    result = lmkin.similarity(moments, measures="ckasim", neurons="raw", progress=False)
    clusters = lmkin.cluster_neurons(layers, progress=False)
    again, alike, same = (
        cloudpickle.loads(cloudpickle.dumps(x)) for x in (moments, result, clusters)
    )
    assert np.array_equal(again.cov("m/0", "m/1"), moments.cov("m/0", "m/1"))
    assert np.array_equal(alike.matrix().values, result.matrix().values)
    assert same.members(0.5) == clusters.members(0.5)


def test_the_import_is_light() -> None:
    code = "import sys, lmkin, lmkin.cli; print(sorted({'torch', 'transformers', 'altair'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_function_hides_its_options() -> None:
    """Keywords are typed, for editors and `help()`: no bare ``**options``."""
    plug_ins = {"read_corpus"}
    """Options of a corpus format, which may be a user's own."""
    hidden = {
        name
        for name in NAMES
        if inspect.isfunction(getattr(lmkin, name))
        for p in inspect.signature(getattr(lmkin, name)).parameters.values()
        if p.kind is p.VAR_KEYWORD and "Unpack[" not in str(p.annotation)
    }
    assert hidden <= plug_ins
