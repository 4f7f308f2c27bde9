"""Speed, memory and accuracy of probes, against a plain loop in torch, on real activations.

    python benchmarks/probing.py MODEL TRAIN --cache DIR            # the oracle: 13 layers × 384 side by side
    python benchmarks/probing.py MODEL TRAIN --cache DIR --layers   # 13 probes, one a layer
    python benchmarks/probing.py MODEL TRAIN --cache DIR --all      # oracle, each layer, and control labels for both
    python benchmarks/probing.py MODEL TRAIN --cache DIR --path     # a row path of 20 steps, against single fits
    python benchmarks/probing.py MODEL TRAIN --cache DIR --memory   # peak beyond the process, in units of the rows
    python benchmarks/probing.py --synthetic …                      # rows of random numbers, where there is no model

MODEL reads TRAIN (CoNLL-U) once, into the cache; the rows are its words with one of the 20 most frequent dependency
labels: the first 50,000 are fitted, the next 10,000 say how good the probes are. The loop is what people write: 10
epochs of shuffled batches of 128, Adam at 1e-3, λ₁ Σ|w| + λ₂ Σw² by autograd. Both sides get the same rows, penalties
and number of threads, in one process, in turn; the best of the repeats counts. The loop's weights are hardly ever 0,
and nothing says how near it came to the minimum: objectives stand beside each other.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HELD = 10_000
CLASSES = 20
PATH_STEPS = 20


# -- rows -------------------------------------------------------------------------------------------


def make_rows(order: dict[str, Any]) -> None:
    """Write rows, labels and word types to the cache, where they are not there yet."""
    folder = Path(order["cache"])
    if (folder / "types.npy").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    X, y, types = synthetic_rows(order) if order["synthetic"] else read_rows(order)
    np.save(folder / "rows.npy", X)
    np.save(folder / "labels.npy", y)
    np.save(folder / "types.npy", types)


def read_rows(order: dict[str, Any]) -> tuple[Any, Any, Any]:
    """All layers side by side of words whose label is among the most frequent."""
    import lmkin

    corpus = lmkin.read_corpus(order["corpus"])
    wanted = order["rows"] + HELD
    counts = Counter(corpus.tags("deprel"))
    frequent = sorted(label for label, _ in counts.most_common(CLASSES))
    few, found = 0, 0
    while few < len(corpus) and found < wanted:
        found += sum(tag in frequent for tag in corpus[few : few + 1].tags("deprel"))
        few += 1
    acts = lmkin.extract(order["model"], corpus[:few])
    labels = acts.units.tags("deprel")
    rows = np.flatnonzero(np.isin(labels, frequent))[:wanted]
    if len(rows) < wanted:
        raise SystemExit(f"{wanted:,} labelled words are needed, {len(rows):,} are there.")
    X = np.concatenate([acts.layer(n)[rows] for n in acts.layers], axis=1).astype(np.float32)
    words = np.asarray(acts.units.texts)[rows]
    return X, np.searchsorted(frequent, labels[rows]), np.unique(words, return_inverse=True)[1]


def synthetic_rows(order: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Layers that share most of what they hold, and labels that a few of their directions tell."""
    random = np.random.default_rng(0)
    n = order["rows"] + HELD
    X = np.empty((n, 13 * 384), np.float32)
    layer = random.standard_normal((n, 384), dtype=np.float32)
    for k in range(13):
        X[:, k * 384 : (k + 1) * 384] = layer
        layer = 0.9 * layer + 0.45 * random.standard_normal((n, 384), dtype=np.float32)
    scores = layer[:, :40] @ random.standard_normal((40, CLASSES), dtype=np.float32)
    y = (scores + 3 * random.gumbel(size=scores.shape)).argmax(1)
    return X, y, random.integers(0, 8000, n)


class Rows:
    """What both sides get: rows that are fitted, rows that judge, and labels of the control task for both."""

    def __init__(self, order: dict[str, Any]):
        folder, n = Path(order["cache"]), order["rows"]
        # The rows that are fitted lie together: the loop's batches are views of them.
        whole = np.load(folder / "rows.npy", mmap_mode="r")
        self.X, self.held = np.array(whole[:n]), np.array(whole[n:])
        y, types = np.load(folder / "labels.npy"), np.load(folder / "types.npy")
        self.y, self.true = y[:n], y[n:]
        drawn = np.random.default_rng(0).choice(self.y, size=types.max() + 1)
        self.control, self.control_true = drawn[types[:n]], drawn[types[n:]]
        self.layers = [slice(k, k + 384) for k in range(0, self.X.shape[1], 384)]


# -- both sides -------------------------------------------------------------------------------------


def torch_loop(X: Any, y: Any, order: dict[str, Any]) -> tuple[Any, Any]:
    """The plain loop; weights (columns × classes) and intercepts."""
    import torch

    torch.manual_seed(0)
    rows, labels = torch.from_numpy(X), torch.from_numpy(y)
    model = torch.nn.Linear(X.shape[1], CLASSES)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(10):
        for batch in torch.randperm(len(rows)).split(128):
            W = model.weight
            loss = torch.nn.functional.cross_entropy(model(rows[batch]), labels[batch])
            loss = loss + order["l1"] * W.abs().sum() + order["l2"] * (W**2).sum()
            adam.zero_grad()
            loss.backward()
            adam.step()
    return model.weight.detach().numpy().T, model.bias.detach().numpy()


def ours(X: Any, y: Any, order: dict[str, Any], **options: Any) -> Any:
    """One probe of ours."""
    import lmkin

    given = {"l1": order["l1"], "l2": order["l2"], "tolerance": order["tolerance"], **options}
    return lmkin.Probe(**given).fit(X, y)


def accuracy(W: Any, b: Any, X: Any, y: Any) -> float:
    return float(((X @ W + b).argmax(1) == y).mean())


def objective(W: Any, b: Any, X: Any, y: Any, order: dict[str, Any]) -> float:
    """Of weights for the columns as they are, in terms of standardized columns."""
    scores = (X @ W + b).astype(np.float64)
    scores -= scores.max(1, keepdims=True)
    loss = (np.log(np.exp(scores).sum(1)) - scores[np.arange(len(y)), y]).mean()
    V = W * X.std(0)[:, None]
    return float(loss + order["l1"] * np.abs(V).sum() + order["l2"] * (V.astype(float) ** 2).sum())


def in_turn(repeats: int, **works: Callable[[], Any]) -> tuple[dict[str, float], dict[str, Any]]:
    """The best time of each, and what it gave last."""
    best, given = dict.fromkeys(works, np.inf), {}
    for _ in range(repeats):
        for name, work in works.items():
            begun = time.perf_counter()
            given[name] = work()
            best[name] = min(best[name], time.perf_counter() - begun)
    return best, given


# -- jobs -------------------------------------------------------------------------------------------


def oracle(rows: Rows, order: dict[str, Any]) -> dict[str, Any]:
    """One probe of all layers side by side."""
    best, given = in_turn(
        order["repeats"],
        ours=lambda: ours(rows.X, rows.y, order),
        loop=lambda: torch_loop(rows.X, rows.y, order),
    )
    probe, (W, b) = given["ours"], given["loop"]
    V, c = probe.coef_.T, probe.intercept_
    return {
        **best,
        "accuracy": [accuracy(V, c, rows.held, rows.true), accuracy(W, b, rows.held, rows.true)],
        "objective": [objective(V, c, rows.X, rows.y, order), objective(W, b, rows.X, rows.y, order)],
        "residual": probe.residual_, "iterations": probe.n_iter_,
        "passes": probe.passes_, "zeros": float((V == 0).mean()), "neurons": len(probe.neurons_),
    }  # fmt: skip
