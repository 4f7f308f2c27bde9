"""Speed of a decomposition, against fitting each target separately from raw data in torch.

    python benchmarks/dependency.py             # 4 models × 384 × 50,000 + 5,000 + 5,000 rows: group and pair R²
    python benchmarks/dependency.py --grow      # 2 to 12 models
    python benchmarks/dependency.py --memory    # 12 models × 768, 512,000 sequences in a stream: peak memory

The peer does what the definition says, for every target and every basis: covariances of the train rows in float32,
a Cholesky solve, then the residuals of all rows of all three splits. Both get the same arrays in memory and run with
the same number of threads, in turn; the best of the repeats counts. Their R² are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SIZES = {"train": 50_000, "validation": 5_000, "test": 5_000}
RIDGE = 1e-6


def make_models(models: int, width: int, rows: int) -> dict[str, Any]:
    """Embeddings that share some directions, with variances that fall off, each model in a unit of its own."""
    random = np.random.default_rng(0)
    shared = random.standard_normal((rows, width), dtype=np.float32)
    found = {}
    for number in range(models):
        own = random.standard_normal((rows, width), dtype=np.float32)
        mix = random.standard_normal((width, width), dtype=np.float32) / np.sqrt(width)
        decay = (np.arange(1, width + 1) ** -0.5).astype(np.float32)
        X = ((shared + 0.7 * own) * decay) @ mix
        found[f"model-{number}"] = X * np.float32(2.0**number) + 1
    return found


def splits(sizes: dict[str, int]) -> dict[str, slice]:
    """Rows of each split, one after another."""
    found, start = {}, 0
    for name, size in sizes.items():
        found[name] = slice(start, start + size)
        start += size
    return found


def ours(models: dict[str, Any], rows: dict[str, slice], precision: str | None) -> Any:
    """All group and pair R² on all splits, as decompose gives them (without what else it can give)."""
    import lmkin

    return lmkin.decompose(
        models,
        split=rows,
        intervals=False,
        permutation_baseline=False,
        precision=precision,
        progress=False,
    )


def peer(models: dict[str, Any], rows: dict[str, slice]) -> dict[tuple[str, tuple[str, ...]], Any]:
    """Every target by every basis, from raw data."""
    import torch

    tensors = {name: torch.from_numpy(X) for name, X in models.items()}
    found = {}
    names = list(tensors)
    for target in names:
        others = [n for n in names if n != target]
        for basis in (
            [tuple(others), *((n,) for n in others)] if len(others) > 1 else [(others[0],)]
        ):
            found[target, basis] = _fit(tensors, target, basis, rows)
    return found


def _fit(tensors: Any, target: str, basis: tuple[str, ...], rows: dict[str, slice]) -> list[float]:
    import torch

    u, z = tensors[target], torch.cat([tensors[b] for b in basis], dim=1)
    train = rows["train"]
    d = u.shape[1]
    S = torch.cov(torch.cat([u[train], z[train]], dim=1).T)
    penalty = torch.cat(
        [
            torch.full((tensors[b].shape[1],), RIDGE * float(part.diagonal().mean()))
            for b, part in zip(
                basis, _blocks(S[d:, d:], [tensors[b].shape[1] for b in basis]), strict=True
            )
        ]
    )
    factor = torch.linalg.cholesky(S[d:, d:] + torch.diag(penalty))
    W = torch.cholesky_solve(S[d:, :d], factor).T
    b = u[train].mean(0) - z[train].mean(0) @ W.T
    scores = []
    for some in rows.values():
        left = u[some] - z[some] @ W.T - b
        total = u[some] - u[some].mean(0)
        scores.append(1 - float(left.pow(2).sum() / total.pow(2).sum()))
    return scores


def _blocks(S: Any, widths: list[int]) -> list[Any]:
    found, start = [], 0
    for width in widths:
        found.append(S[start : start + width, start : start + width])
        start += width
    return found


def best(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def child(order: dict[str, Any]) -> dict[str, Any]:
    """Ours and the peer in turn."""
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if order["job"] == "memory":
        return stream(order)
    rows = splits(SIZES)
    models = make_models(order["models"], order["width"], sum(SIZES.values()))
    few = {"train": slice(0, 800), "validation": slice(800, 900), "test": slice(900, 1000)}
    small = {name: X[:1000, :8] for name, X in models.items()}
    (
        ours(small, few, order["precision"]),
        peer(small, few),
    )  # what is loaded and compiled first is not to count
    begun = time.perf_counter()
    result = ours(models, rows, order["precision"])
    middle = time.perf_counter()
    reference = peer(models, rows)
    times = [(middle - begun, time.perf_counter() - middle)]
    for (target, basis), scores in reference.items():
        mine = (
            result.r2_pair.sel(basis=basis[0], target=target)
            if len(basis) == 1
            else result.r2_group.sel(model=target)
        )
        np.testing.assert_allclose(mine.values, scores, atol=2e-4)
    times += [
        (
            best(lambda: ours(models, rows, order["precision"]), 1),
            best(lambda: peer(models, rows), 1),
        )
        for _ in range(order["repeats"] - 1)
    ]
    return {"ours": min(a for a, _ in times), "peer": min(b for _, b in times), "peak": _peak()}


def stream(order: dict[str, Any]) -> dict[str, Any]:
    """Rows that are made when they are needed and forgotten: only sums stay."""
    import lmkin

    models, width, total = order["models"], order["width"], order["rows"]
    random = np.random.default_rng(0)
    mixes = [
        random.standard_normal((width, width), dtype=np.float32) / np.sqrt(width)
        for _ in range(models)
    ]
    begun = time.perf_counter()
    moments = {}
    for name, size in {"train": total, "test": total // 10}.items():
        found = lmkin.Moments(sample_rows=0)
        parts = order["parts"]
        for part in range(parts):
            left = size // parts
            while left > 0:
                some = min(4096, left)
                shared = random.standard_normal((some, width), dtype=np.float32)
                found.update(
                    {
                        f"model-{k}": (
                            shared + random.standard_normal((some, width), dtype=np.float32)
                        )
                        @ mix
                        for k, mix in enumerate(mixes)
                    },
                    part=part,
                )
                left -= some
        moments[name] = found
    summed = time.perf_counter() - begun
    result = lmkin.decompose(moments, intervals=order["parts"] > 1, progress=True)
    rho = float(result.rho_group.sel(split="test"))
    return {"sums": summed, "all": time.perf_counter() - begun, "rho": rho, "peak": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


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
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--precision", help="float32 or float64; default: what decompose takes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--rows", type=int, default=512_000, help="for --memory")
    parser.add_argument("--parts", type=int, default=1, help="for --memory: 10 for intervals")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(json.loads(arguments.child))))
        return
    base = {k: getattr(arguments, k) for k in ("models", "width", "precision", "repeats")}
    if arguments.memory:
        order = {
            "job": "memory",
            "models": 12,
            "width": 768,
            "rows": arguments.rows,
            "parts": arguments.parts,
        }
        found = run(order, arguments.threads)
        print(
            f"12 × 768, {arguments.rows:,} rows in a stream, {arguments.parts} parts: sums {found['sums']:.0f} s, all "
            f"{found['all']:.0f} s, peak {found['peak']:.1f} GB, group correlation {found['rho']:.3f}"
        )
        return
    for models in (2, 4, 8, 12) if arguments.grow else (arguments.models,):
        order = {**base, "job": "speed", "models": models}
        order["repeats"] = 1 if arguments.grow else order["repeats"]
        found = run(order, arguments.threads)
        print(
            f"{models:>2} models × {arguments.width}: lmkin {found['ours']:6.2f} s   each target by itself "
            f"{found['peer']:7.2f} s   {found['peer'] / found['ours']:5.1f} times faster   peak {found['peak']:.1f} GB",
            flush=True,
        )


if __name__ == "__main__":
    main()
