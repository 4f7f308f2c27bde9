"""Checks of what every similarity should do: identity, rows, symmetry, order, and the value of unrelated data."""

from __future__ import annotations

import numpy as np

from .data import datasets, independent, related
from .registry import Outcome, check, judged
from .subject import Subject

_NULL_SIZES = {
    # name: (n, d), (n, d) when quick
    "unrelated, n = 2 d": ((512, 256), (128, 64)),
    "unrelated, n = 8 d": ((2000, 256), (500, 64)),
    "unrelated, n = d / 2": ((128, 256), (32, 64)),
}


_DRAWS = 8
_STUDENT = 5.408
"""Standard errors that the mean of 8 draws exceeds once in a thousand: Student's t, 7 degrees of freedom."""


@check("basics", "identity")
def identity(subject: Subject, name: str) -> Outcome:
    """A matrix with itself has the highest value."""
    selves = np.array([subject.value(X, X) for X, _ in datasets(subject)])
    if subject.top is None:
        others = np.array([subject.value(X, Y) for X, Y in datasets(subject)])
        good = bool((selves >= others - subject.tolerance).all())
        return judged(
            good,
            float(selves.min()),
            "A matrix is more like itself than like another.",
            "A matrix is less like itself than like another.",
        )
    worst = float(selves[np.abs(selves - subject.top).argmax()])
    return judged(
        abs(worst - subject.top) <= subject.tolerance,
        worst,
        f"fn(X, X) is {subject.top:g}, the maximum.",
        f"fn(X, X) should be {subject.top:g}, the maximum.",
    )


@check("basics", "rows matter")
def rows_matter(subject: Subject, name: str) -> Outcome:
    """Shuffling the rows of one side alone must lower the value."""
    drops = []
    for label, (X, _) in enumerate(datasets(subject)):
        shuffled = subject.rng(3, label).permutation(X)
        drops.append(subject.value(X, X) - subject.value(X, shuffled))
    return judged(
        min(drops) > 100 * subject.tolerance,
        min(drops),
        "Shuffling the rows of one side lowers the value by this much.",
        "Shuffling the rows of one side hardly lowers the value: which row belongs to which is ignored.",
    )


@check("basics", "symmetry")
def symmetry(subject: Subject, name: str) -> Outcome:
    """The value is the same with the sides exchanged."""
    worst = max(abs(subject.value(X, Y) - subject.value(Y, X)) for X, Y in datasets(subject))
    symmetric = worst <= subject.tolerance
    says = "fn(X, Y) = fn(Y, X)" if symmetric else "fn(X, Y) and fn(Y, X) differ"
    if subject.symmetric is None:
        return Outcome(worst, "info", f"{says}.")
    claim = "symmetric" if subject.symmetric else "not symmetric"
    return judged(
        symmetric == subject.symmetric,
        worst,
        f"{says}, as declared.",
        f"{says}, but declared {claim}.",
    )


@check("basics", "the same call twice")
def repeated(subject: Subject, name: str) -> Outcome:
    """The same data give the same number."""
    worst = max(abs(subject.value(X, Y) - subject.value(X, Y)) for X, Y in datasets(subject))
    return judged(
        worst <= 1e-9,
        worst,
        "The same data give the same number.",
        "The same data give different numbers: seed whatever is random in it.",
    )


@check("basics", "input left unchanged")
def unchanged(subject: Subject, name: str) -> Outcome:
    """The function does not write into what it is given."""
    X, Y = datasets(subject)[0]
    A, B = X.copy(), Y.copy()
    subject.call(A, B)
    change = max(float(np.abs(A - X).max()), float(np.abs(B - Y).max()))
    return judged(
        change == 0,
        change,
        "The arrays are the same after the call.",
        "The function writes into its arguments, and the caller's data change.",
    )


@check("basics", "different widths")
def widths(subject: Subject, name: str) -> Outcome:
    """Two layers need not have as many neurons."""
    rng = subject.rng(4)
    X = rng.normal(size=(240, 12))
    return Outcome(subject.value(X, X[:, :9]), "pass", "12 and 9 neurons can be compared.")


@check("row order", "rows shuffled alike", "blocks of rows reordered")
def order(subject: Subject, name: str) -> Outcome:
    """The order of units, or of the blocks in which they come, says nothing."""
    worst = 0.0
    for label, (n, d, e) in enumerate(((600, 12, 9), (331, 8, 15))):
        X, Y = related(subject, n, d, e, label=10 + label)
        rng = subject.rng(5, label)
        if name == "rows shuffled alike":
            rows = rng.permutation(n)
        else:
            blocks = np.array_split(np.arange(n), 7)
            rows = np.concatenate([blocks[i] for i in (4, 1, 6, 0, 5, 3, 2)])
        worst = max(worst, abs(subject.value(X[rows], Y[rows]) - subject.value(X, Y)))
    return judged(
        worst <= subject.tolerance,
        worst,
        "The order of rows changes nothing.",
        "The value depends on the order of rows.",
    )


@check("null", *_NULL_SIZES)
def null(subject: Subject, name: str) -> Outcome:
    """The mean over independent Gaussians, against its standard error over draws."""
    n, d = _NULL_SIZES[name][int(subject.quick)]
    values = [subject.value(*independent(subject, n, d, label)) for label in range(_DRAWS)]
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1) / np.sqrt(_DRAWS))
    centred = abs(mean) <= max(subject.tolerance, _STUDENT * error)
    where = f"n = {n}, d = {d}: unrelated data give {mean:.4f} ± {error:.4f}"
    if centred:
        return Outcome(mean, "pass" if subject.unbiased else "info", f"{where}, no bias is seen.")
    note = f"{where}, not 0."
    if subject.unbiased:
        return Outcome(mean, "fail", f"{note} Declared unbiased.")
    return Outcome(mean, "info", f"{note} Judge a value of this size of data against that.")
