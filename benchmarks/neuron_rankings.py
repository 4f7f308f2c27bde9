"""Speed of the LCA ordering, against a loop over its thresholds.

    python benchmarks/neuron_rankings.py             # 4,992 neurons × 20 classes, 1,000 thresholds

The loop does what the definition says: for each threshold, of each class the first neurons that reach this share of the
sum of its weights, and the union of these. It sorts each class once, and sums it once; `--plain` sorts at every
threshold, as the released code does. Both orders are compared before they are timed; the best of the repeats counts.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lmkin


def make_weights(classes: int, neurons: int, share: float) -> Any:
    """Weights as an elastic net leaves them: many zeros, a few large ones."""
    random = np.random.default_rng(0)
    weights = random.laplace(size=(classes, neurons)) ** 3
    return np.where(random.random(weights.shape) < share, weights, 0.0)


def by_loop(weights: Any, steps: int, *, plain: bool) -> list[int]:
    """Threshold by threshold."""
    A = np.abs(weights)
    total = A.sum(1)
    share = (A / total[:, None]).max(0)
    orders = [np.argsort(-row, kind="stable") for row in A]
    sums = [np.cumsum(row[order]) for row, order in zip(A, orders, strict=True)]
    seen: set[int] = set()
    ranking: list[int] = []
    for step in range(1, steps + 1):
        entered: set[int] = set()
        for c, row in enumerate(A):
            if plain:
                orders[c] = np.argsort(-row, kind="stable")
                sums[c] = np.cumsum(row[orders[c]])
            count = int(np.searchsorted(sums[c], step / steps * total[c] * (1 - 1e-9))) + 1
            first = orders[c][:count]
            entered.update(first[row[first] > 0].tolist())
        ranking += sorted(entered - seen, key=lambda j: (-share[j], j))
        seen |= entered
    return ranking


def best_of(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--neurons", type=int, default=4992)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--share", type=float, default=1.0, help="of weights that are not 0")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--plain", action="store_true")
    given = parser.parse_args()
    weights = make_weights(given.classes, given.neurons, given.share)
    ours = lmkin.rank_neurons(weights, steps=given.steps)
    loop = by_loop(weights, given.steps, plain=given.plain)
    found = {
        "neurons": given.neurons, "classes": given.classes, "thresholds": given.steps,
        "same order": ours.order[: len(loop)].tolist() == loop,
        "ours": best_of(lambda: lmkin.rank_neurons(weights, steps=given.steps), given.repeats),
        "loop": best_of(lambda: by_loop(weights, given.steps, plain=given.plain), 2),
    }  # fmt: skip
    found["ratio"] = round(found["loop"] / found["ours"], 1)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
