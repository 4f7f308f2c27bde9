"""What the neuron sets of several tasks have in common, against chance."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import LmkinError, quoted
from ....results import Column, ResultTable
from ...redundancy import NeuronMask

Array = NDArray[Any]


def log_chance(both: int, one: int, other: int, total: int) -> float:
    r"""Log of the probability that two random sets share so many neurons or more (hypergeometric).

    .. math:: P(K \ge k) = \sum_{i \ge k} \binom{a}{i} \binom{d - a}{b - i} / \binom{d}{b}
    """
    from scipy.special import gammaln, logsumexp

    k = np.arange(max(both, one + other - total, 0), min(one, other) + 1)
    if not len(k):
        return -np.inf

    def choose(n: Any, m: Any) -> Any:
        return gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)

    log = choose(one, k) + choose(total - one, other - k) - choose(total, other)
    return float(min(logsumexp(log), 0.0))


def neuron_overlap(sets: Mapping[str, NeuronMask]) -> ResultTable:
    """A row for each pair of sets of neurons of one model: what they share, what chance would give, and its p-value.

    The p-value is that of two random sets of these sizes sharing as many or more (hypergeometric).
    """
    if not isinstance(sets, Mapping) or len(sets) < 2:
        raise LmkinError("Overlap is of two sets of neurons or more, by name: {'upos': mask, …}.")
    flat: dict[str, NDArray[np.bool_]] = {}
    shapes = {}
    for name, mask in sets.items():
        if not isinstance(mask, NeuronMask):
            raise LmkinError(
                f"A set of neurons is what lmkin.minimal_neurons gives; {quoted(name)} is a {type(mask).__name__}."
            )
        shapes[name] = (mask.model, tuple((n, len(m)) for n, m in mask.masks.items()))
        flat[name] = np.concatenate(list(mask.masks.values()))
    if len(set(shapes.values())) > 1:
        raise LmkinError(
            "The sets are of different models, or of different layers: nothing can be shared."
        )
    rows = []
    for (a, one), (b, other) in combinations(flat.items(), 2):
        rows.append({"one": a, "other": b, **overlap_numbers(one, other)})
    return ResultTable("overlap", overlap_columns(), rows, title="Neurons that sets have in common")


def overlap_columns() -> list[Column]:
    """Of a table of pairs of sets."""
    return [
        Column("one"),
        Column("other"),
        Column("size_one", "neurons", kind="count"),
        Column("size_other", "neurons", kind="count"),
        Column("both", kind="count"),
        Column("expected", "by chance", kind="number", decimals=1),
        Column("p", "p", kind="p", help="Of two random sets having as many or more in common."),
        Column("jaccard", kind="number", shown=False),
    ]


def overlap_numbers(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> dict[str, float]:
    """Sizes, what is shared, what chance gives, p, and Jaccard's index."""
    a, b, both = int(one.sum()), int(other.sum()), int((one & other).sum())
    return {
        "size_one": a,
        "size_other": b,
        "both": both,
        "expected": a * b / len(one),
        "p": float(np.exp(log_chance(both, a, b, len(one)))),
        "log_p": log_chance(both, a, b, len(one)),
        "jaccard": both / max(a + b - both, 1),
    }
