"""Speed of comparing attention heads, against the straightforward loop over layer pairs and sentences in torch.

    python benchmarks/attention.py             # 2 models × 6 layers × 12 heads × 200 sentences of about 25 words
    python benchmarks/attention.py --memory    # peak memory at 100, 400 and 1,600 sentences

Both get the same maps and run with the same number of threads, in turn; the best of the repeats counts. The loop is
the textbook's: for every pair of layers and every sentence, all pairs of heads by broadcasting. Two ratios are given:
against a loop that takes each pair of layers once (both directions come from the same head × head table), and, from
its time, against one that takes all cells of the layer × layer table. Ours is the sums alone, of one view (maps as they
are), without reading maps from a model.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def make_maps(layers: int, heads: int, sentences: int) -> Iterator[Any]:
    """Maps of all layers of all models, layers × heads × words × words: rows like those of a softmax."""
    random = np.random.default_rng(0)
    for _ in range(sentences):
        words = int(random.integers(15, 36))
        logits = random.standard_normal((layers, heads, words, words), dtype=np.float32) * 2
        weights = np.exp(logits)
        yield weights / weights.sum(-1, keepdims=True)


def loop(maps: list[Any], measure: str) -> dict[tuple[int, int], Any]:
    """Head × head for every pair of layers, a sentence at a time."""
    import torch

    compare = {"norm": _norm, "pearson": _pearson, "js": _js}[measure]
    tensors = [torch.from_numpy(m) for m in maps]
    layers = len(maps[0])
    result = {}
    for i in range(layers):
        for j in range(i, layers):
            total, count = 0, 0
            for sentence in tensors:
                found = compare(sentence[i][:, None], sentence[j][None, :])
                total = total + found.sum(-1)
                count += found.shape[-1]
            result[i, j] = total / count
    return result


def _norm(a: Any, b: Any) -> Any:
    return -(a - b).pow(2).sum((-1, -2)).sqrt()[..., None]


def _pearson(a: Any, b: Any) -> Any:
    a, b = a - a.mean(-1, keepdim=True), b - b.mean(-1, keepdim=True)
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))


def _js(a: Any, b: Any) -> Any:
    import torch

    middle = (a + b) / 2
    nothing = torch.zeros(())
    both = (torch.where(p > 0, p * torch.log2(p / middle), nothing).sum(-1) for p in (a, b))
    return 1 - sum(both) / 2


def ours(maps: list[Any], measure: str) -> Any:
    """The same from running sums."""
    from lmkin.analyses.attention.maps import SentenceMaps, View, entries_of
    from lmkin.analyses.attention.sums import HeadSums
    from lmkin.core.parallel import workers

    heads = maps[0].shape[0] * maps[0].shape[1]
    sums = HeadSums(heads, [measure])
    view = View("dropped", past=False)
    with workers() as run:
        for start in range(0, len(maps), 25):
            batch = []
            for each in maps[start : start + 25]:
                flat = each.reshape(heads, *each.shape[2:])
                nothing = np.zeros(flat.shape[:2], np.float32)
                batch.append(entries_of(SentenceMaps(flat, nothing), view))
            sums.add(batch, run)
    return sums.similarity(measure)


def best(work: Callable[[], Any], repeats: int) -> float:
    """Seconds of the fastest."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def child(order: dict[str, Any]) -> dict[str, Any]:
    """One measure, in turn with the loop; or the peak of memory."""
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    layers, heads = order["models"] * order["layers"], order["heads"]
    if order["measure"] == "memory":
        from lmkin.analyses.attention.map_sums import accumulate_maps

        maps = _lazy(layers, heads, order["sentences"])
        accumulate_maps(maps, ["js", "pearson", "norm"])
        return {"peak": _peak()}
    maps = list(make_maps(layers, heads, order["sentences"]))
    table, reference = ours(maps, order["measure"]), loop(maps, order["measure"])
    for (i, j), block in reference.items():
        mine = table[i * heads : (i + 1) * heads, j * heads : (j + 1) * heads]
        np.testing.assert_allclose(mine, block.numpy(), atol=2e-5)
    times = [
        (
            best(lambda: ours(maps, order["measure"]), 1),
            best(lambda: loop(maps, order["measure"]), 1),
        )
        for _ in range(order["repeats"])
    ]
    return {"ours": min(a for a, _ in times), "loop": min(b for _, b in times)}


def _lazy(layers: int, heads: int, count: int) -> Any:
    """A source of maps that are made when they are asked for."""
    from lmkin.analyses.attention.maps import SentenceMaps
    from lmkin.analyses.attention.sources import MapSource
    from lmkin.core import LayerId, Layout

    class Lazy(MapSource):
        layout = Layout({LayerId("model", n): heads for n in range(1, layers + 1)})
        causal = np.zeros(layers, bool)
        part = np.arange(count) * 10 // count

        def sentences(
            self, start: int = 0, stop: int | None = None, advance: Any = None
        ) -> Iterator[Any]:
            """Every sentence is forgotten after it was compared."""
            for number, maps in enumerate(make_maps(layers, heads, count)):
                flat = maps.reshape(-1, *maps.shape[2:])
                yield number, SentenceMaps(flat, np.zeros(flat.shape[:2], np.float32))

    return Lazy()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def run(order: dict[str, Any], threads: int) -> dict[str, Any]:
    """In a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", json.dumps(order)],
        env={**os.environ, "OMP_NUM_THREADS": str(threads)}, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Print the ratios, or the memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(json.loads(arguments.child))))
        return
    base = {k: getattr(arguments, k) for k in ("models", "layers", "heads", "sentences", "repeats")}
    if arguments.memory:
        for sentences in (100, 400, 1600):
            found = run({**base, "sentences": sentences, "measure": "memory"}, arguments.threads)
            print(f"{sentences:>5} sentences: peak {found['peak']:.0f} MB", flush=True)
        return
    for measure in ("norm", "pearson", "js"):
        found = run({**base, "measure": measure}, arguments.threads)
        ratio = found["loop"] / found["ours"]
        layers = arguments.models * arguments.layers
        cells = ratio * layers**2 / (layers * (layers + 1) / 2)
        print(
            f"{measure:<8} loop {found['loop']:7.2f} s   lmkin {found['ours']:7.3f} s   {ratio:5.1f} times faster "
            f"({cells:.0f} times than a loop over all cells)",
            flush=True,
        )


if __name__ == "__main__":
    main()
