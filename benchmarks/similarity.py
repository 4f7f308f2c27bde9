"""Time and memory of similarity, against the floor: one float32 symmetric product of the same matrix.

The floor is ``X.T @ X`` of all layers side by side (units × neurons), which any joint approach has to make. Every
job runs in a process of its own, in turn with the floor (and, with intervals, with the same job without), with the same
number of threads; the best of the repeats counts.

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
import threading
import time
from collections.abc import Callable, Iterator
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
) -> Iterator[tuple[str, Any]]:
    """Layers like those of a model: shared directions, variances that fall off, an offset, a large neuron."""
    random = np.random.default_rng(0)
    shared = random.standard_normal((words, width), dtype=np.float32)
    decay = (np.arange(1, width + 1) ** -0.5).astype(np.float32)
    for model in range(models):
        state = shared
        for layer in range(layers):
            mix = random.standard_normal((width, width), dtype=np.float32) / np.sqrt(width)
            noise = random.standard_normal((words, width), dtype=np.float32)
            state = (state + 0.5 * noise).astype(np.float32)
            X = (state * decay) @ mix
            X += random.standard_normal(width, dtype=np.float32)
            X[:, 0] *= 8
            yield f"model-{model}/{layer}", X.astype(dtype)


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

    if order["job"] == "large":
        return large_child(order)
    if order["stores"]:
        layers = load_layers(order["stores"], order["words"])
    else:
        shape = (order[k] for k in ("models", "layers", "width", "words"))
        layers = dict(make_layers(*shape))
    if order["job"] == "peer":
        return {"floor": floor_of(layers, order["repeats"]), "job": peer(layers), "peak": peak()}
    job = dict(JOBS[order["job"]])
    measures, intervals = job["measures"], job["intervals"]
    # Inner loops are compiled, or fetched from the cache, at their first call.
    lmkin.similarity(
        dict(make_layers(2, 1, 8, 200)), measures=measures, neurons="raw", progress=False
    )

    def compare(intervals: bool) -> float:
        return best(
            lambda: lmkin.similarity(
                layers, measures=measures, neurons="raw", intervals=intervals, progress=False
            ),
            1,
        )

    times, floors, plain = [], [], []
    for _ in range(order["repeats"]):
        floors.append(floor_of(layers, 1))
        if intervals:
            plain.append(compare(False))
        times.append(compare(intervals))
    found = {"floor": min(floors), "job": min(times), "peak": peak()}
    return found | ({"plain": min(plain)} if plain else {})


def floor_of(layers: dict[str, Any], repeats: int) -> float:
    """Seconds of the symmetric product. The matrix is made before the clock starts."""
    X = np.concatenate(list(layers.values()), axis=1, dtype=np.float32)
    return best(lambda: X.T @ X, repeats)


def peer(layers: dict[str, Any]) -> float:
    """The straightforward way, as published scripts do it: a decomposition of every layer, then pair by pair.

    In float32, with all cores. Layers are timed all; pairs some, scaled up to all.
    """
    begun = time.perf_counter()
    known = []
    for X in layers.values():
        X = X - X.mean(0)
        U, s, _ = np.linalg.svd(X, full_matrices=False)
        count = int(np.searchsorted(np.cumsum(s**2) / (s**2).sum(), 0.99)) + 1
        known.append((X, X / np.linalg.norm(X, axis=0), U, count, np.linalg.norm(X.T @ X)))
    alone = time.perf_counter() - begun
    some = [(i, (7 * i + 5) % len(known)) for i in range(0, len(known), 2)]
    begun = time.perf_counter()
    for i, j in some:
        (X, A, U, k, x), (Y, B, V, m, y) = known[i], known[j]
        R = np.abs(A.T @ B)
        R.max(1).mean(), R.max(0).mean()
        for P, Q in ((A, V), (B, U)):
            np.linalg.norm(Q.T @ P, axis=0).mean()
        L, rho, Rt = np.linalg.svd(U[:, :k].T @ V[:, :m], full_matrices=False)
        for H, P in ((U[:, :k] @ L, X), (V[:, :m] @ Rt.T, Y)):
            weights = np.abs(H.T @ P).sum(1)
            (weights * rho).sum() / weights.sum()
        np.linalg.norm(X.T @ Y) ** 2 / (x * y)
    each = (time.perf_counter() - begun) / len(some)
    return alone + each * len(known) * (len(known) + 1) / 2


def run(order: dict[str, Any], threads: int, show: bool = False) -> dict[str, float]:
    """In a process of its own; ``show``: with all that it prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, __file__, "--child", json.dumps(order)],
        env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    *said, last = done.stdout.splitlines()
    if show:
        print("\n".join(said), flush=True)
    result: dict[str, float] = json.loads(last)
    return result


def show(what: str, found: dict[str, float]) -> None:
    line = (
        f"{what:<45} {found['job']:7.1f} s   floor {found['floor']:6.1f} s   × floor "
        f"{found['job'] / found['floor']:5.2f}   peak {found['peak']:4.1f} GB"
    )
    if "plain" in found:
        line += (
            f"   × without intervals {found['job'] / found['plain']:4.2f} ({found['plain']:.1f} s)"
        )
    print(line, flush=True)


class OwnMemory(threading.Thread):
    """The peak of the memory that is the process's own; mapped files, which the system may drop, do not count."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self.start()

    def run(self) -> None:
        """Look at it, again and again."""
        while True:
            status = Path("/proc/self/status").read_text()
            own = next(line for line in status.splitlines() if line.startswith("RssAnon"))
            self.peak = max(self.peak, int(own.split()[1]) * 1024 / 1e9)
            time.sleep(0.1)


LARGE: tuple[tuple[list[str], bool], ...] = ((PAPER, False), (["ckasim", "neuronsim"], True))


def large(threads: int) -> None:
    """4 models × 13 × 768 at 50,000 words; data as float16, read from disk; every job in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="lmkin-bench-") as folder:
        for name, X in make_layers(4, 13, 768, 50_000, "float16"):
            np.save(Path(folder) / f"{name.replace('/', '@')}.npy", X)
        del X
        for number in range(len(LARGE)):
            run({"job": "large", "folder": folder, "number": number}, threads, show=True)


def large_child(order: dict[str, Any]) -> dict[str, float]:
    """One of the large jobs, in a process that may take 16 GB."""
    import lmkin

    resource.setrlimit(resource.RLIMIT_DATA, (16 * 10**9, 16 * 10**9))
    paths = sorted(
        Path(order["folder"]).iterdir(),
        key=lambda p: (p.stem.split("@")[0], int(p.stem.split("@")[1])),
    )
    layers = {p.stem.replace("@", "/"): np.load(p, mmap_mode="r") for p in paths}
    measures, intervals = LARGE[order["number"]]
    memory, begun = OwnMemory(), time.perf_counter()
    lmkin.similarity(layers, measures=measures, neurons="raw", intervals=intervals, memory="14GB")
    seconds = time.perf_counter() - begun
    what = f"{', '.join(measures)}{', ten-part intervals' if intervals else ''}"
    print(f"{what}: {seconds:.0f} s, peak {memory.peak:.1f} GB", flush=True)
    return {}


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
        large(arguments.threads)
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
