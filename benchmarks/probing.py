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
and number of threads, in one process; the best of the repeats counts. The loop's weights are hardly ever 0, and nothing
says how near it came to the minimum. Ours are timed twice: stopped after the fewest iterations (a fit made anew) at
which held-out accuracy is within 0.2 points of the loop's, and gone on with until no KKT condition is violated by more
than the tolerance (once).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HELD = 10_000
CLASSES = 20
PATH_STEPS = 20
NEAR = 0.002
"""How far accuracies may be apart that are called the same."""
STOPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Iterations on all rows, after which it is looked whether a fit is as good as the loop's."""
ENDS = {
    "early": "until it predicts as well",
    "full": "until it is certified (or out of iterations)",
}


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
    acts = lmkin.extract(order["model"], corpus[:few], Path(order["cache"]) / "layers.acts")
    labels = np.asarray(acts.units.tags("deprel"))
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
        # Both get standardized neurons, so that λ means the same; ours standardizes them once more.
        for low in range(0, self.X.shape[1], 384):
            here = slice(low, low + 384)
            mean, std = self.X[:, here].mean(0), self.X[:, here].std(0)
            for block in (self.X[:, here], self.held[:, here]):
                block -= mean
                block /= std
        y, types = np.load(folder / "labels.npy"), np.load(folder / "types.npy")
        self.y, self.true = y[:n], y[n:]
        drawn = np.random.default_rng(0).choice(self.y, size=types.max() + 1)
        self.control, self.control_true = drawn[types[:n]], drawn[types[n:]]
        self.layers = [slice(k, k + 384) for k in range(0, self.X.shape[1], 384)]

    def layer(self, k: int) -> Any:
        """The rows of one layer, side by side in memory."""
        return np.ascontiguousarray(self.X[:, self.layers[k]])


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

    given = {
        "l1": order["l1"], "l2": order["l2"], "tolerance": order["tolerance"],
        "iterations": order["iterations"], **options,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it was stopped; what it came to is printed
        return lmkin.Probe(**given).fit(X, y)


def accuracy(W: Any, b: Any, X: Any, y: Any) -> float:
    return float(((X @ W.astype(np.float32) + b).argmax(1) == y).mean())


def objective(W: Any, b: Any, X: Any, y: Any, order: dict[str, Any]) -> float:
    """Of weights for the columns as they are, in terms of standardized columns."""
    scores = (X @ W.astype(np.float32) + b).astype(np.float64)
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
    """One probe of all layers side by side: until it predicts as well as the loop's, and until it is certified."""
    best, given = in_turn(order["repeats"], loop=lambda: torch_loop(rows.X, rows.y, order))
    W, b = given["loop"]
    theirs = accuracy(W, b, rows.held, rows.true)

    def rate(probe: Any) -> float:
        return accuracy(probe.coef_.T, probe.intercept_, rows.held, rows.true)

    def fit(iterations: int) -> Any:
        return ours(rows.X, rows.y, order, iterations=iterations)

    early = until_as_good(fit, lambda probe: rate(probe) >= theirs - NEAR, order["repeats"])
    done, given = in_turn(1, ours=lambda: fit(order["iterations"]))
    return {
        **best,
        "accuracy": theirs,
        "objective": objective(W, b, rows.X, rows.y, order),
        "early": early and {"seconds": early["seconds"], **_said(early["fit"], rate, rows, order)},
        "full": {"seconds": done["ours"], **_said(given["ours"], rate, rows, order)},
    }


def _said(probe: Any, rate: Any, rows: Rows, order: dict[str, Any]) -> dict[str, Any]:
    V = probe.coef_.T
    return {
        "accuracy": rate(probe), "objective": objective(V, probe.intercept_, rows.X, rows.y, order),
        "residual": probe.residual_, "iterations": probe.n_iter_, "passes": probe.passes_,
        "zeros": float((V == 0).mean()), "neurons": len(probe.neurons_),
    }  # fmt: skip


def until_as_good(
    fit: Callable[[int], Any], good: Callable[[Any], bool], repeats: int
) -> dict[str, Any] | None:
    """The shortest fit that is good enough, made anew with so many iterations, and its best time; None: none is."""
    for iterations in STOPS:
        best, given = in_turn(1, fit=lambda k=iterations: fit(k))
        if good(given["fit"]):
            again, _ = in_turn(repeats - 1, fit=lambda k=iterations: fit(k))
            return {"seconds": min(best["fit"], again["fit"]), "fit": given["fit"]}
    return None


def layers(rows: Rows, order: dict[str, Any]) -> dict[str, Any]:
    """One probe a layer: until each predicts as well as its loop, and until all are certified."""
    best, given = in_turn(
        order["repeats"], loop=lambda: [torch_loop(rows.layer(k), rows.y, order) for k in range(13)]
    )
    held = [rows.held[:, s] for s in rows.layers]
    theirs = [accuracy(W, b, X, rows.true) for (W, b), X in zip(given["loop"], held, strict=True)]

    def rates(fits: Any) -> list[float]:
        return [accuracy(W, b, X, rows.true) for (W, b, _), X in zip(fits, held, strict=True)]

    def fit(iterations: int) -> Any:
        return our_fits(rows, {**order, "iterations": iterations}, rows.layers, [rows.y])

    def good(fits: Any) -> bool:
        return all(a >= b - NEAR for a, b in zip(rates(fits), theirs, strict=True))

    early = until_as_good(fit, good, order["repeats"])
    done, full = in_turn(1, ours=lambda: fit(order["iterations"]))

    def said(fits: Any) -> dict[str, Any]:
        return {"accuracy": rates(fits), "residual": max(r for _, _, r in fits)}

    return {
        **best,
        "accuracy": theirs,
        "early": early and {"seconds": early["seconds"], **said(early["fit"])},
        "full": {"seconds": done["ours"], **said(full["ours"])},
    }


def everything(rows: Rows, order: dict[str, Any]) -> dict[str, Any]:
    """Oracle and each layer, for the labels and for those of the control task, in the time of loops of the oracle.

    Ours are stopped where every fit predicts as well as a loop on the same neurons and labels; these other loops are
    run once, for their accuracy alone.
    """
    spans = [slice(0, rows.X.shape[1]), *rows.layers]
    labels = [(rows.y, rows.true), (rows.control, rows.control_true)]
    best, _ = in_turn(order["repeats"], loop=lambda: torch_loop(rows.X, rows.y, order))

    def rates(fits: Any) -> list[float]:
        held = [(rows.held[:, span], true) for span in spans for _, true in labels]
        return [accuracy(W, b, X, y) for (W, b, *_), (X, y) in zip(fits, held, strict=True)]

    theirs = rates(
        [
            torch_loop(np.ascontiguousarray(rows.X[:, span]), y, order)
            for span in spans
            for y, _ in labels
        ]
    )

    def fit(iterations: int) -> Any:
        mine = {**order, "iterations": iterations}
        return our_fits(rows, mine, spans, [y for y, _ in labels])

    def good(fits: Any) -> bool:
        return all(a >= b - NEAR for a, b in zip(rates(fits), theirs, strict=True))

    early = until_as_good(fit, good, order["repeats"])
    done, full = in_turn(1, ours=lambda: fit(order["iterations"]))

    def said(fits: Any) -> dict[str, Any]:
        return {"accuracy": rates(fits), "residual": max(r for _, _, r in fits)}

    return {
        **best,
        "fits": len(full["ours"]),
        "accuracy": theirs,
        "early": early and {"seconds": early["seconds"], **said(early["fit"])},
        "full": {"seconds": done["ours"], **said(full["ours"])},
    }


def our_fits(rows: Rows, order: dict[str, Any], spans: Any, labels: Any) -> list[Any]:
    """Weights, intercepts and residual of a fit for each span of columns and each set of labels."""
    from lmkin.estimators import CrossEntropy, Design, Penalized, fit_many

    design = Design(rows.X)
    what = Penalized(l2=order["l2"], tolerance=order["tolerance"], iterations=order["iterations"])
    parts = [design.part(span) for span in spans]
    fits = fit_many(parts, [CrossEntropy(y, CLASSES) for y in labels], what, order["l1"])
    return [
        (*part.unscaled(fit.W, fit.b), fit.relative)
        for part, mine in zip(parts, fits, strict=True)
        for fit in mine
    ]


def path(rows: Rows, order: dict[str, Any]) -> dict[str, Any]:
    """A row path, and single fits at some of its penalties."""
    from lmkin.estimators import CrossEntropy, Design, Penalized

    design, loss = Design(rows.X), CrossEntropy(rows.y, CLASSES)
    fits = list(_row_path(design, loss, order))
    some = [fits[k].l1 for k in (PATH_STEPS // 2, PATH_STEPS - 1)]
    what = Penalized(
        "row", order["l2"], tolerance=order["tolerance"], iterations=order["iterations"]
    )
    best, _ = in_turn(
        order["repeats"],
        path=lambda: list(_row_path(design, loss, order)),
        **{f"single{k}": lambda l1=l1: what.fit_at(design, loss, l1) for k, l1 in enumerate(some)},
    )
    return {**best, "neurons": [len(f.neurons) for f in fits], "l1": [f.l1 for f in fits]}


def _row_path(design: Any, loss: Any, order: dict[str, Any]) -> Any:
    from lmkin.estimators import fit_path

    return fit_path(
        design, loss, penalty="row", l2=order["l2"], steps=PATH_STEPS, least=order["least"],
        tolerance=order["tolerance"], iterations=order["iterations"],
    )  # fmt: skip


def memory(rows: Rows, order: dict[str, Any]) -> dict[str, Any]:
    """One fit: what it takes beyond the rows, and the same in a stream from where they are stored."""
    _forget_peak()
    before = _peak()
    probe = ours(rows.X, rows.y, order)
    return {"rows": rows.X.nbytes, "beyond": _peak() - before, "residual": probe.residual_}


def stream(order: dict[str, Any]) -> dict[str, Any]:
    """A fit of rows that stay in their file, read block by block with room for few of their columns."""
    from lmkin.estimators import CrossEntropy, Design, Penalized

    folder, n = Path(order["cache"]), order["rows"]
    y = np.load(folder / "labels.npy")[:n]
    what = Penalized(l2=order["l2"], tolerance=order["tolerance"], iterations=order["iterations"])
    small = np.random.default_rng(0).normal(size=(400, 20)).astype(np.float32)
    what.fit_at(Design(small), CrossEntropy(y[:400], CLASSES), 0.1)
    _forget_peak()
    before = _peak()
    begun = time.perf_counter()
    design = Design(Stored(folder / "rows.npy", n), room=order["room"])
    fit = what.fit_at(design, CrossEntropy(y, CLASSES), order["l1"])
    return {
        "rows": 4 * n * design.d,
        "beyond": _peak() - before,
        "seconds": time.perf_counter() - begun,
        "passes": design.passes,
        "residual": fit.relative,
    }


class Stored:
    """Rows of a file, read when they are asked for: nothing of them stays in memory."""

    def __init__(self, path: Path, n: int):
        self.path = path
        whole = np.load(path, mmap_mode="r")
        self.shape, self.dtype, self.start = (n, whole.shape[1]), whole.dtype, whole.offset

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        mapped = np.load(self.path, mmap_mode="r")
        return np.array(mapped[rows][:, columns])


def _peak() -> float:
    """The most memory since `_forget_peak`."""
    status = Path("/proc/self/status").read_text()
    return 1024 * float(next(v for v in status.splitlines() if v.startswith("VmHWM")).split()[1])


def _forget_peak() -> None:
    """Linux alone does so; what files were mapped while the rows were read is not ours."""
    Path("/proc/self/clear_refs").write_text("5")


def _warm_up(rows: Rows) -> None:
    """Libraries and compiled loops, for both sides."""
    import lmkin

    few = np.ascontiguousarray(rows.X[:400, :20])
    torch_loop(few, rows.y[:400], {"l1": 0.1, "l2": 0.1})
    for penalty in ("elementwise", "row"):
        lmkin.Probe(penalty=penalty, l1=0.1).fit(few, rows.y[:400])


JOBS = {"oracle": oracle, "layers": layers, "all": everything, "path": path, "memory": memory}


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
    parser.add_argument("model", nargs="?", help="a folder or name that lmkin reads")
    parser.add_argument("corpus", nargs="?", help="a CoNLL-U file with dependency labels")
    parser.add_argument(
        "--cache", default="probing-rows", help="folder for the rows; made where it is not there"
    )
    parser.add_argument(
        "--synthetic", action="store_true", help="random rows, where there is no model"
    )
    for name in (*list(JOBS)[1:], "stream"):
        parser.add_argument(f"--{name}", action="append_const", dest="jobs", const=name)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--l1", type=float, default=1e-3)
    parser.add_argument("--l2", type=float, help="default: as λ₁")
    parser.add_argument("--tolerance", type=float, default=0.5, help="of the KKT conditions")
    parser.add_argument(
        "--iterations", type=int, default=2000, help="after which ours stops all the same"
    )
    parser.add_argument("--least", type=float, default=0.01, help="end of the row path")
    parser.add_argument("--room", type=int, default=200_000_000, help="bytes of --stream")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        order = json.loads(arguments.child)
        if order["job"] == "make":
            make_rows(order)
            print("{}")
            return
        if order["job"] == "stream":
            print(json.dumps(stream(order)))
            return
        rows = Rows(order)
        _warm_up(rows)
        print(json.dumps(JOBS[order["job"]](rows, order)))
        return
    if not arguments.synthetic and not (arguments.model and arguments.corpus):
        parser.error("give MODEL and a CoNLL-U file, or --synthetic")
    order = {k: v for k, v in vars(arguments).items() if k not in ("jobs", "child", "threads")}
    order["l2"] = order["l1"] if order["l2"] is None else order["l2"]
    run({**order, "job": "make"}, arguments.threads)
    print(
        f"{order['rows']:,} words × 13 layers × 384, {CLASSES} labels; λ₁ {order['l1']:g}, λ₂ {order['l2']:g} for both "
        f"sides; ours until no KKT condition is violated by more than {order['tolerance']:g} λ₁, or for "
        f"{order['iterations']} iterations; {arguments.threads} threads"
    )
    for job in arguments.jobs or ["oracle"]:
        print("\n".join(SAID[job](run({**order, "job": job}, arguments.threads))), flush=True)


def said_of_oracle(found: dict[str, Any]) -> list[str]:
    lines = [
        f"all layers: the loop {found['loop']:.2f} s: held-out accuracy {100 * found['accuracy']:.2f} %, objective "
        f"{found['objective']:.5f}"
    ]
    for name in ("early", "full"):
        mine = found[name]
        if mine is None:
            lines.append(f"  lmkin did not come within {100 * NEAR:g} points of it")
            continue
        lines += [
            f"  lmkin {ENDS[name]}: {mine['seconds']:.2f} s: {found['loop'] / mine['seconds']:.2f} times; held-out "
            f"accuracy {100 * mine['accuracy']:.2f} %, objective {mine['objective']:.5f}",
            f"    {mine['iterations']} iterations, {mine['passes']:.1f} passes, KKT residual {mine['residual']:.3f} "
            f"λ₁; {100 * mine['zeros']:.1f} % of weights are 0, {mine['neurons']:,} neurons have some",
        ]
    return lines


def said_of_layers(found: dict[str, Any]) -> list[str]:
    theirs = found["accuracy"]
    lines = [
        f"13 layers: the loops {found['loop']:.2f} s: held-out accuracy {100 * np.mean(theirs):.2f} % (mean)"
    ]
    for name in ("early", "full"):
        mine = found[name]
        if mine is None:
            lines.append(f"  lmkin did not come within {100 * NEAR:g} points of all of them")
            continue
        behind = max(b - a for a, b in zip(mine["accuracy"], theirs, strict=True))
        lines.append(
            f"  lmkin {ENDS[name]}: {mine['seconds']:.2f} s: {found['loop'] / mine['seconds']:.2f} times; "
            f"{100 * np.mean(mine['accuracy']):.2f} %, behind by {100 * behind:.2f} points at most; KKT residual "
            f"{mine['residual']:.3f} λ₁ at most"
        )
    return lines


def said_of_everything(found: dict[str, Any]) -> list[str]:
    lines = [
        f"{found['fits']} fits (oracle, each layer, control labels for both); one loop of the oracle "
        f"{found['loop']:.2f} s"
    ]
    for name in ("early", "full"):
        mine = found[name]
        if mine is None:
            lines.append(f"  lmkin did not come within {100 * NEAR:g} points of all loops")
            continue
        behind = max(b - a for a, b in zip(mine["accuracy"], found["accuracy"], strict=True))
        lines += [
            f"  lmkin {ENDS[name]}: {mine['seconds']:.2f} s: {mine['seconds'] / found['loop']:.2f} loops; held-out "
            f"accuracy of the oracle {100 * mine['accuracy'][0]:.2f} %, of its loop "
            f"{100 * found['accuracy'][0]:.2f} %; "
            f"control {100 * mine['accuracy'][1]:.1f} and {100 * found['accuracy'][1]:.1f} %",
            f"    behind by {100 * behind:.2f} points at most; KKT residual {mine['residual']:.3f} λ₁ at "
            "most",
        ]
    return lines


def said_of_path(found: dict[str, Any]) -> list[str]:
    single = max(found["single0"], found["single1"])
    return [
        f"row path of {PATH_STEPS} steps: {found['path']:.2f} s; single fits {found['single0']:.2f} s "
        f"(step {PATH_STEPS // 2 + 1}) and {found['single1']:.2f} s (the last): {found['path'] / single:.2f} of the "
        "longer one",
        f"  neurons {found['neurons']}",
    ]


def said_of_memory(found: dict[str, Any]) -> list[str]:
    rows = found["rows"]
    return [
        f"memory: rows {rows / 1e9:.2f} GB, beyond them {found['beyond'] / 1e9:.2f} GB: "
        f"{1 + found['beyond'] / rows:.2f} times the rows"
    ]


def said_of_stream(found: dict[str, Any]) -> list[str]:
    rows = found["rows"]
    return [
        f"in a stream: {found['seconds']:.1f} s and {found['passes']:.1f} passes over {rows / 1e9:.2f} GB on disk, "
        f"{found['beyond'] / 1e9:.2f} GB of memory; KKT residual {found['residual']:.4f} λ₁"
    ]


SAID: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "oracle": said_of_oracle, "layers": said_of_layers, "all": said_of_everything, "path": said_of_path,
    "memory": said_of_memory, "stream": said_of_stream,
}  # fmt: skip


if __name__ == "__main__":
    main()
