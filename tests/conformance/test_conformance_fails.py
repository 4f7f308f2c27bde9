"""Each check on a function that fails it."""

from __future__ import annotations

import numpy as np
import pytest
import similarity_functions as fns
from similarity_functions import run

from lmkin.measures import INVARIANCES
from lmkin.measures.conformance.registry import CHECKS


def offset_by_one(X, Y):
    return fns.biased_cka(X, Y) - 0.01


def in_place(X, Y):
    X -= X.mean(0)
    return fns.biased_cka(X, Y)


def first_rows(X, Y):
    return fns.biased_cka(X[:50], Y[:50])


def mean_of_blocks(X, Y):
    return float(np.mean([fns.biased_cka(X[i : i + 64], Y[i : i + 64]) for i in (0, 64, 128)]))


def in_half_precision(X, Y):
    X, Y = X - X.mean(0), Y - Y.mean(0)
    norm = np.linalg.norm
    return norm(X.T @ Y) ** 2 / (norm(X.T @ X) * norm(Y.T @ Y))


def reads_memory(X, Y):
    """Takes for granted that rows lie one after the other."""
    strides = (X.shape[1] * X.itemsize, X.itemsize)
    return bare_cka(np.lib.stride_tricks.as_strided(X, strides=strides), Y)


def normal_equations(X, Y):
    """Canonical correlations by inverses: singular for n < d or dependent neurons."""
    X, Y = X - X.mean(0), Y - Y.mean(0)
    M = np.linalg.inv(X.T @ X) @ X.T @ Y @ np.linalg.inv(Y.T @ Y) @ Y.T @ X
    return np.sqrt(np.abs(np.linalg.eigvals(M))).mean()


def z_scored(X, Y):
    """Divides by a standard deviation that may be 0, or rounding."""
    X, Y = (X - X.mean(0)) / X.std(0), (Y - Y.mean(0)) / Y.std(0)
    return np.abs(X.T @ Y / len(X)).max(1).mean()


def range_scaled(X, Y):
    """Divides by a range that may be 0."""
    return bare_cka(X / np.ptp(X, axis=0), Y / np.ptp(Y, axis=0))


def whitened_rows(X, Y):
    """A decomposition that fails where one component holds nearly everything, in the words of LAPACK."""
    X, Y = fns.checked(X, Y)
    for M in (X, Y):
        s = np.linalg.svd(M, compute_uv=False)
        if s[0] ** 2 > 0.99 * (s**2).sum():
            raise np.linalg.LinAlgError("SVD did not converge")
    return fns.biased_cka(X, Y)


def bare_cka(X, Y):
    """Nothing is checked: NaN in, NaN out."""
    X, Y = X - X.mean(0), Y - Y.mean(0)
    norm = np.linalg.norm
    return norm(X.T @ Y) ** 2 / (norm(X.T @ X) * norm(Y.T @ Y))


def zero_filled(X, Y):
    n = min(len(X), len(Y))
    return fns.biased_cka(*(np.nan_to_num(M[:n], posinf=0) for M in (X, Y)))


def other_with_tensors(X, Y):
    value = fns.biased_cka(np.asarray(X), np.asarray(Y))
    return value if isinstance(X, np.ndarray) else value / 2


def noisy(X, Y, rng=np.random.default_rng(0)):  # noqa: B008
    return fns.biased_cka(X, Y) + rng.normal(scale=1e-6)


BAD = [
    (offset_by_one, "identity", "should be 1"),
    (lambda X, Y: 1.0, "rows matter", "ignored"),
    (noisy, "the same call twice", "different numbers"),
    (in_place, "input left unchanged", "writes into"),
    (fns.careless_unbiased_cka, "100 in 3 neurons, float32", "becomes"),
    (fns.careless_cka, "10,000 in all neurons, float32", "becomes"),
    (fns.uncentred_cka, "100 in 3 neurons, float64", "becomes"),
    (fns.uncentred_cka, "10,000 in all neurons, float64", "becomes"),
    (in_half_precision, "float16", "float64"),
    (lambda X, Y: float(X.dtype == np.float64), "float32", "Gives 0;"),
    (lambda X, Y: float(X.flags.c_contiguous), "float32, Fortran order", "Gives 0;"),
    (reads_memory, "a non-contiguous view", "nan"),
    (other_with_tensors, "torch tensors", "where arrays give"),
    (first_rows, "rows shuffled alike", "order of rows"),
    (mean_of_blocks, "blocks of rows reordered", "order of rows"),
    (normal_equations, "n < d", ""),
    (normal_equations, "n < d, with itself", "should be 1"),
    (lambda X, Y: 1.0 + (len(X) == X.shape[1]), "n = d", "Above 1"),
    (z_scored, "a neuron that is always 0", "Returned nan"),
    (z_scored, "0.1 in a neuron, as 0", "rounding errors pass for data"),
    (range_scaled, "a constant neuron", "Returned nan"),
    (normal_equations, "a duplicated neuron", ""),
    (normal_equations, "rank 4 of 12", ""),
    (whitened_rows, "99.9 % in one component", "SVD did not converge"),
    (range_scaled, "all rows alike", "Returned nan"),
    (bare_cka, "0.1 everywhere, as 0", "rounding errors pass for data"),
    (bare_cka, "NaN in X", "Returns nan in silence"),
    (bare_cka, "NaN in Y", "Returns nan in silence"),
    (zero_filled, "NaN in X", "as though all were well"),
    (zero_filled, "an infinite value in X", "as though all were well"),
    (zero_filled, "different numbers of rows", "as though all were well"),
]


@pytest.mark.parametrize(("fn", "name", "says"), BAD, ids=[f"{b[1]}-{b[0].__name__}" for b in BAD])
def test_each_check_can_fail(fn, name: str, says: str) -> None:
    row = run(fn)[name]
    assert row.verdict == "fail", row
    assert says in row.note


def test_every_judging_check_has_a_function_that_fails_it() -> None:
    elsewhere = {*INVARIANCES, "symmetry", "different widths"}
    informative = {row.name for row in CHECKS if row.group in ("null", "rogue neuron")}
    assert {row.name for row in CHECKS} - elsewhere - informative == {name for _, name, _ in BAD}


def test_an_offset_is_no_failure_of_a_function_that_does_not_claim_to_ignore_it() -> None:
    rows = run(fns.uncentred_cka, declared={"scale", "rotation"})
    assert {row.verdict for row in rows.values() if row.group == "offset"} == {"info"}
    assert rows["0.1 everywhere, as 0"].verdict == "info"


def test_an_offset_that_gives_nan_says_so() -> None:
    row = run(fns.careless_unbiased_cka)["10,000 in all neurons, float32"]
    assert (row.verdict, row.finding) == ("fail", None)
    assert "becomes nan" in row.note


def test_careless_sums_fail_only_where_digits_are_lost() -> None:
    rows = run(fns.careless_cka)
    assert rows["shift"].verdict == "invariant"
    assert rows["10,000 in all neurons, float32"].finding > 0.1
