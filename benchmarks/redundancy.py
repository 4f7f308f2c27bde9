"""Speed and memory of clustering neurons, against the straightforward way in numpy and scipy.

    python benchmarks/redundancy.py             # 4,992 neurons × 20,000 words, nine thresholds
    python benchmarks/redundancy.py --wide      # 9,984 neurons: memory beyond the correlation matrix
    python benchmarks/redundancy.py --many      # 33 layers × 4,096 = 135,168 neurons up to 0.3, never an N × N matrix

The straightforward way does, for every threshold anew, what the definition says: np.corrcoef in float64, scipy's
average linkage, fcluster. Beside it stands a careful person's way, who does the first two once. All get the same
arrays, run with the same number of threads, in turn; the best of the repeats counts, and the partitions are compared.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

THRESHOLDS = tuple(round(0.1 * k, 1) for k in range(1, 10))


def make_layers(layers: int, width: int, words: int) -> dict[str, Any]:
    """Layers as a residual stream has them: a neuron is partly what it was a layer before, and some share a cause."""
    random = np.random.default_rng(0)
    causes = random.standard_normal((words, 24), dtype=np.float32)
    X = random.standard_normal((words, width), dtype=np.float32)
    found = {}
    for layer in range(layers):
        mix = np.where(random.random((24, width)) < 0.05, 1.0, 0.0).astype(np.float32)
        fresh = random.standard_normal((words, width), dtype=np.float32)
        X = np.float32(0.9) * X + np.float32(0.45) * fresh + np.float32(0.15) * (causes @ mix)
        found[f"model/{layer}"] = X.copy()
    return found


def ours(layers: dict[str, Any], thresholds: Any, **options: Any) -> Any:
    import lmkin

    found = lmkin.cluster_neurons(layers, thresholds=thresholds, progress=False, **options)
    return {t: found.labels(t) for t in found.thresholds}


def straightforward(layers: dict[str, Any], thresholds: Any, *, anew: bool) -> Any:
    """With everything anew for each threshold, or correlations and linkage once."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    def tree() -> Any:
        X = np.concatenate(list(layers.values()), axis=1)
        D = 1 - np.abs(np.corrcoef(X.T.astype(np.float64)))
        return linkage(squareform(D, checks=False), method="average")

    Z = None if anew else tree()
    return {t: fcluster(tree() if anew else Z, t, criterion="distance") for t in thresholds}


def same_partition(a: Any, b: Any) -> bool:
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a)) == len(set(b))


def timed(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def speed(order: dict[str, Any]) -> dict[str, Any]:
    """Ours and both peers in turn."""
    layers = make_layers(13, 384, order["words"])
    mine = ours(layers, THRESHOLDS)
    theirs = straightforward(layers, THRESHOLDS, anew=False)
    equal = sum(same_partition(mine[t], theirs[t]) for t in THRESHOLDS)
    best = {"ours": np.inf, "once": np.inf, "anew": np.inf}
    for _ in range(order["repeats"]):
        best["ours"] = min(best["ours"], timed(lambda: ours(layers, THRESHOLDS)))
        best["once"] = min(
            best["once"], timed(lambda: straightforward(layers, THRESHOLDS, anew=False))
        )
    best["anew"] = timed(lambda: straightforward(layers, THRESHOLDS, anew=True))
    return {**best, "equal": equal, "left": [len(set(mine[t])) for t in THRESHOLDS]}


class Lines(logging.Handler):
    """What is said while it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.said.append(record.getMessage())


def memory(order: dict[str, Any]) -> dict[str, Any]:
    """One clustering, and what it takes beyond the rows that were given."""
    layers = make_layers(order["layers"], order["width"], order["words"])
    before = _peak()
    lines = Lines()
    log = logging.getLogger("lmkin")
    log.setLevel("INFO")
    log.addHandler(lines)
    begun = time.perf_counter()
    found = ours(layers, order["thresholds"], memory=order["memory"])
    return {
        "seconds": time.perf_counter() - begun,
        "given": before,
        "peak": _peak(),
        "said": lines.said,
        "left": {f"{t:g}": len(set(labels)) for t, labels in found.items()},
    }


def run(order: dict[str, Any], threads: int) -> dict[str, Any]:
    """In a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", json.dumps(order)],
        env={**os.environ, "OMP_NUM_THREADS": str(threads)}, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, help="default: 20,000; with --many 1,000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--many", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        order = json.loads(arguments.child)
        print(json.dumps((speed if order["job"] == "speed" else memory)(order)))
        return
    if not (arguments.wide or arguments.many):
        order = {"job": "speed", "words": arguments.words or 20_000, "repeats": arguments.repeats}
        found = run(order, arguments.threads)
        print(
            f"4,992 neurons × {order['words']:,} words, 9 thresholds: lmkin {found['ours']:.2f} s\n"
            f"  everything anew for each threshold {found['anew']:.1f} s: {found['anew'] / found['ours']:.1f} times\n"
            f"  correlations and linkage once      {found['once']:.1f} s: {found['once'] / found['ours']:.1f} times\n"
            f"  the same partition at {found['equal']} of 9 thresholds; clusters: {found['left']}"
        )
        return
    if arguments.wide:
        order = {"layers": 13, "width": 768, "words": arguments.words or 20_000, "memory": None}
        order |= {"job": "memory", "thresholds": THRESHOLDS}
    else:
        order = {"layers": 33, "width": 4096, "words": arguments.words or 1_000, "memory": "8GB"}
        order |= {"job": "memory", "thresholds": (0.1, 0.2, 0.3)}
    neurons = order["layers"] * order["width"]
    found = run(order, arguments.threads)
    beyond = found["peak"] - found["given"]
    print(
        f"{neurons:,} neurons × {order['words']:,} words: {found['seconds']:.0f} s, peak {found['peak']:.1f} GB, "
        f"{beyond:.1f} GB beyond the rows given; the matrix of correlations is {neurons**2 * 4 / 1e9:.1f} GB (float32)"
    )
    print("\n".join(found["said"]), "\nclusters:", found["left"])


if __name__ == "__main__":
    main()
