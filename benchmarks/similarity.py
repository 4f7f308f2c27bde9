"""Time and memory of similarity, against the floor: one float32 symmetric product of the same matrix.

The floor is ``X.T @ X`` of all layers side by side (units × neurons), which any joint approach has to make. Every
job runs in a process of its own, in turn with the floor, with the same number of threads; the best of the repeats
counts.

    python benchmarks/similarity.py                    # 2 models × 13 layers × 384 neurons × 20,000 words
    python benchmarks/similarity.py --activations a.acts b.acts   # the same on stored activations
    python benchmarks/similarity.py --grow             # how time and memory grow with layers, width and words
    python benchmarks/similarity.py --large            # 4 models × 13 × 768 at 50,000 words, within 16 GB
    python benchmarks/similarity.py --peer             # the straightforward way, pair by pair, from raw data
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PAPER = ["neuronsim", "mixedsim", "svsim", "pwsim", "ckasim"]
JOBS: dict[str, dict[str, Any]] = {
    "all five": {"measures": PAPER, "intervals": False},
    "ckasim and neuronsim": {"measures": ["ckasim", "neuronsim"], "intervals": False},
    "ckasim and neuronsim, ten-part intervals": {
        "measures": ["ckasim", "neuronsim"],
        "intervals": True,
    },
    "all five, ten-part intervals": {"measures": PAPER, "intervals": True},
}


def make_layers(
    models: int, layers: int, width: int, words: int, dtype: str = "float32"
) -> dict[str, Any]:
    """Layers like those of a model: shared directions, variances that fall off, an offset, a large neuron."""
    random = np.random.default_rng(0)
    shared = random.standard_normal((words, width), dtype=np.float32)
    decay = (np.arange(1, width + 1) ** -0.5).astype(np.float32)
    result = {}
    for model in range(models):
        state = shared
        for layer in range(layers):
            mix = random.standard_normal((width, width), dtype=np.float32) / np.sqrt(width)
            noise = random.standard_normal((words, width), dtype=np.float32)
            state = (state + 0.5 * noise).astype(np.float32)
            X = (state * decay) @ mix
            X += random.standard_normal(width, dtype=np.float32)
            X[:, 0] *= 8
            result[f"model-{model}/{layer}"] = X.astype(dtype)
    return result


def load_layers(stores: list[str], words: int) -> dict[str, Any]:
    """The same from stored activations."""
    import lmkin

    opened = lmkin.common_units(*(lmkin.open_activations(s) for s in stores))
    return {
        f"{acts.name}/{n}": np.ascontiguousarray(acts.layer(n)[:words], np.float32)
        for acts in opened
        for n in acts.layers
    }


def best(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def peak() -> float:
    """Peak memory of this process in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def child(order: dict[str, Any]) -> dict[str, float]:
    """One job in turn with the floor; the floor's result is kept only while it is made."""
    import lmkin

    if order["stores"]:
        layers = load_layers(order["stores"], order["words"])
    else:
        layers = make_layers(order["models"], order["layers"], order["width"], order["words"])
    if order["job"] == "peer":
        return {"floor": floor_of(layers, order["repeats"]), "job": peer(layers), "peak": peak()}
    job = dict(JOBS[order["job"]])
    measures = job.pop("measures")
    times, floors = [], []
    for _ in range(order["repeats"]):
        floors.append(floor_of(layers, 1))
        times.append(best(lambda: lmkin.similarities(layers, measures, progress=False, **job), 1))
    return {"floor": min(floors), "job": min(times), "peak": peak()}


def floor_of(layers: dict[str, Any], repeats: int) -> float:
    """Seconds of the symmetric product. The matrix is made before the clock starts."""
    X = np.concatenate(list(layers.values()), axis=1, dtype=np.float32)
    return best(lambda: X.T @ X, repeats)


def peer(layers: dict[str, Any]) -> float:
    """The straightforward way: every pair from raw data, timed on some pairs and scaled up to all."""
    names = list(layers)
    pairs = [(names[i], names[-1 - i]) for i in range(3)]

    def left(X: Any) -> tuple[Any, Any]:
        U, s, _ = np.linalg.svd(X - X.mean(0), full_matrices=False)
        return U, s

    begun = time.perf_counter()
    for a, b in pairs:
        X, Y = (layers[n].astype(np.float64) for n in (a, b))
        X, Y = X - X.mean(0), Y - Y.mean(0)
        R = np.abs(np.corrcoef(X.T, Y.T)[: X.shape[1], X.shape[1] :])
        R.max(1).mean(), R.max(0).mean()
        (U, s), (V, t) = left(X), left(Y)
        for P, Q in ((X, V), (Y, U)):
            (np.linalg.norm(Q.T @ P, axis=0) / np.linalg.norm(P, axis=0)).mean()
        k = np.searchsorted(np.cumsum(s**2) / (s**2).sum(), 0.99) + 1
        m = np.searchsorted(np.cumsum(t**2) / (t**2).sum(), 0.99) + 1
        L, rho, Rt = np.linalg.svd(U[:, :k].T @ V[:, :m], full_matrices=False)
        for H, P in ((U[:, :k] @ L, X), (V[:, :m] @ Rt.T, Y)):
            weights = np.abs(H.T @ P).sum(1)
            (weights * rho).sum() / weights.sum()
        np.linalg.norm(X.T @ Y) ** 2 / (np.linalg.norm(X.T @ X) * np.linalg.norm(Y.T @ Y))
    each = (time.perf_counter() - begun) / len(pairs)
    return each * len(names) * (len(names) + 1) / 2


def run(order: dict[str, Any], threads: int) -> dict[str, float]:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, __file__, "--child", json.dumps(order)],
        env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def show(what: str, found: dict[str, float]) -> None:
    print(
        f"{what:<58} {found['job']:7.1f} s   floor {found['floor']:6.1f} s   ratio "
        f"{found['job'] / found['floor']:5.2f}   peak {found['peak']:4.1f} GB",
        flush=True,
    )


def large() -> None:
    """4 models × 13 × 768 at 50,000 words in a process that may take 16 GB; data as float16, read from disk."""
    import lmkin

    with tempfile.TemporaryDirectory(prefix="lmkin-bench-") as folder:
        layers = {}
        for name, X in make_layers(4, 13, 768, 50_000, "float16").items():
            path = Path(folder) / f"{name.replace('/', '-')}.npy"
            np.save(path, X)
            layers[name] = np.load(path, mmap_mode="r")
        del X
        jobs = ((PAPER, False), (["ckasim", "neuronsim"], True))
        for measures, intervals in jobs:
            begun = time.perf_counter()
            lmkin.similarities(layers, measures, intervals=intervals, memory="14GB", say=print)
            seconds = time.perf_counter() - begun
            what = f"{', '.join(measures)}{', ten-part intervals' if intervals else ''}"
            print(f"{what}: {seconds:.0f} s, peak {peak():.1f} GB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--layers", type=int, default=13)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--activations", nargs="*", default=[], help="folders of lmkin extract")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(json.loads(arguments.child))))
        return
    base = {
        "models": arguments.models,
        "layers": arguments.layers,
        "width": arguments.width,
        "words": arguments.words,
        "stores": arguments.activations,
        "repeats": arguments.repeats,
    }
    if arguments.large:
        os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
        large()
    elif arguments.grow:
        for what, values in (
            ("layers", (4, 7, 13)),
            ("width", (192, 384, 768)),
            ("words", (5_000, 20_000, 80_000)),
        ):
            for value in values:
                small = {**base, "layers": 7, "repeats": 1, what: value}
                for job in ("all five", "all five, ten-part intervals"):
                    show(f"{what} {value:>6}: {job}", run({**small, "job": job}, arguments.threads))
    elif arguments.peer:
        show("pair by pair from raw data", run({**base, "job": "peer"}, arguments.threads))
    else:
        for job in JOBS:
            show(job, run({**base, "job": job}, arguments.threads))


if __name__ == "__main__":
    main()
