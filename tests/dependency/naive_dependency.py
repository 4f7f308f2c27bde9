"""Language Model Decomposition as its definition says, from raw rows with scikit-learn. Slow and plain.

W = cov(u, z) (λI + cov(z, z))⁻¹ is the ridge regression of rows with the penalty λ (n − 1). A relative λ is a share of
the mean eigenvalue of each model's own covariance: the same as one share for all once each model is divided by the
square root of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Rows = Mapping[str, Array]
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Rule:
    """What is added to the diagonal; a value of 0 is ordinary least squares."""

    name: str = "relative"
    value: float = 1e-6


NOTHING = Rule("absolute", 0.0)


def covariance(X: Array) -> Array:
    return np.cov(X, rowvar=False).reshape(X.shape[1], X.shape[1])


def mean_eigenvalue(X: Array) -> float:
    return float(np.linalg.eigvalsh(covariance(X)).mean())


def lambda_of(rule: Rule, Z: Array) -> float:
    """λ of a basis for the rules that give one number in the models' own units."""
    if rule.name == "floor":
        return max(0.0, rule.value - float(np.linalg.eigvalsh(covariance(Z))[0]))
    return rule.value


def fitted(basis: Sequence[Array], target: Array, rule: Rule) -> tuple[list[Array], Array]:
    """W for every model of the basis, target × basis neurons, and b."""
    sizes = [np.sqrt(mean_eigenvalue(Z)) if rule.name == "relative" else 1.0 for Z in basis]
    Z = np.hstack([Z / s for Z, s in zip(basis, sizes, strict=True)])
    size = lambda_of(rule, Z)
    model = Ridge(alpha=size * (len(Z) - 1), solver="svd") if size > 0 else LinearRegression()
    model.fit(Z, target)
    W = np.atleast_2d(model.coef_)
    edges = np.cumsum([Z.shape[1] for Z in basis])[:-1]
    pieces = np.split(W, edges, axis=1)
    return [w / s for w, s in zip(pieces, sizes, strict=True)], np.atleast_1d(model.intercept_)


def predicted(W: Sequence[Array], b: Array, basis: Sequence[Array]) -> Array:
    return b + sum(Z @ w.T for Z, w in zip(basis, W, strict=True))


def scored(found: Array, target: Array) -> float:
    """1 − E‖e‖² / E‖u − E[u]‖², over all neurons together."""
    return float(r2_score(target, found, multioutput="variance_weighted"))


def r2(
    arrays: Arrays,
    target: str,
    basis: Sequence[str],
    fit: Array,
    on: Array,
    rule: Rule = NOTHING,
) -> float:
    """Of one model by some others, fitted on some rows and scored on others."""
    W, b = fitted([arrays[m][fit] for m in basis], arrays[target][fit], rule)
    found = predicted(W, b, [arrays[m][on] for m in basis])
    return scored(found, arrays[target][on])


def others(arrays: Arrays, target: str) -> list[str]:
    return [m for m in arrays if m != target]


def group_table(arrays: Arrays, fit: Array, on: Array, rule: Rule) -> Array:
    return np.array([r2(arrays, m, others(arrays, m), fit, on, rule) for m in arrays])


def pair_table(arrays: Arrays, fit: Array, on: Array, rule: Rule) -> Array:
    """Basis × target; a model explains itself."""
    return np.array(
        [[1.0 if v == u else r2(arrays, u, [v], fit, on, rule) for u in arrays] for v in arrays]
    )


def tables(arrays: Arrays, fit: Array, on: Array, rule: Rule) -> dict[str, Array]:
    pair, group = pair_table(arrays, fit, on, rule), group_table(arrays, fit, on, rule)
    k = len(group)
    rho = np.array([[(pair[i, j] + pair[j, i]) / 2 for j in range(k)] for i in range(k)])
    return {
        "r2_group": group,
        "r2_pair": pair,
        "rho_pair": rho,
        "rho_group": np.array(sum(group) / k),
    }


def jackknife_variance(value: Array, without: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Delete-a-part jackknife for parts of unequal size, by pseudo-values."""
    n, g = sum(sizes), len(sizes)
    centre = g * value - sum((1 - m / n) * t for t, m in zip(without, sizes, strict=True))
    total = np.zeros_like(value)
    for t, m in zip(without, sizes, strict=True):
        h = n / m
        total = total + (h * value - (h - 1) * t - centre) ** 2 / (h - 1)
    return total / g


def standard_errors(arrays: Arrays, rows: Rows, on: str, rule: Rule, parts: int) -> Any:
    """Of all tables: rows that are scored left out in blocks, and rows that are fitted on, fitted anew without each."""
    fit, score = rows["train"], rows[on]
    fit_parts = np.array_split(fit, min(parts, len(fit)))
    refits = []
    for part in fit_parts:
        rest = np.setdiff1d(fit, part)
        refits.append(tables(arrays, rest, rest if on == "train" else score, rule))
    whole = tables(arrays, fit, score, rule)
    found = {
        name: jackknife_variance(value, [t[name] for t in refits], [len(p) for p in fit_parts])
        for name, value in whole.items()
    }
    if on != "train":
        blocks = np.array_split(score, min(parts, len(score)))
        less = [tables(arrays, fit, np.setdiff1d(score, block), rule) for block in blocks]
        for name, value in whole.items():
            found[name] = found[name] + jackknife_variance(
                value, [t[name] for t in less], [len(b) for b in blocks]
            )
    return {name: np.sqrt(variance) for name, variance in found.items()}


def regressed_out(arrays: Arrays, lengths: Array, fit: Array) -> dict[str, Array]:
    """What length, its logarithm and its inverse leave of every model; the regression is that of the rows fitted on."""
    F = np.stack([lengths, np.log(lengths), 1 / lengths], axis=1).astype(float)
    F = (F - F[fit].mean(0)) / F[fit].std(0)
    return {m: X - LinearRegression().fit(F[fit], X[fit]).predict(F) for m, X in arrays.items()}


def gaussian(
    covariance_: Array, widths: Mapping[str, int], n: int, seed: int, mean: Any = 0.0
) -> dict[str, Array]:
    """Rows of models whose joint covariance is known."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, len(covariance_))) @ np.linalg.cholesky(covariance_).T + mean
    edges = np.cumsum(list(widths.values()))[:-1]
    return dict(zip(widths, np.split(X, edges, axis=1), strict=True))


def true_r2(covariance_: Array, widths: Mapping[str, int], target: str, basis: Any) -> float:
    """tr(Suz Szz⁻¹ Szu) / tr Suu of a joint covariance."""
    edges = np.concatenate([[0], np.cumsum(list(widths.values()))])
    place = {m: np.arange(a, b) for m, a, b in zip(widths, edges[:-1], edges[1:], strict=True)}
    u, z = place[target], np.concatenate([place[m] for m in basis])
    S = covariance_
    explained = S[np.ix_(u, z)] @ np.linalg.inv(S[np.ix_(z, z)]) @ S[np.ix_(z, u)]
    return float(np.trace(explained) / np.trace(S[np.ix_(u, u)]))


def random_covariance(size: int, seed: int) -> Array:
    """Of neurons that have much in common."""
    random = np.random.default_rng(seed)
    A = random.standard_normal((size, size // 2))
    return A @ A.T + np.diag(random.uniform(0.3, 2, size))


def related_models(n: int, seed: int = 0, widths: Any = None) -> dict[str, Array]:
    """Models of different width and scale, with means away from 0, that share some of what they know."""
    random = np.random.default_rng(seed)
    widths = widths or {"a": 4, "b": 6, "c": 3, "d": 5}
    shared = random.standard_normal((n, 5))
    found = {}
    for k, (name, width) in enumerate(widths.items()):
        X = shared @ random.standard_normal((5, width)) + random.standard_normal((n, width))
        found[name] = 10.0 ** (k - 1) * (X + 3 * random.standard_normal(width))
    return found


def three_splits(n: int, seed: int = 0) -> dict[str, Array]:
    """Rows in no order: 70 %, 10 %, 20 %."""
    order = np.random.default_rng(seed).permutation(n)
    return dict(zip(SPLITS, np.split(order, [int(0.7 * n), int(0.8 * n)]), strict=True))


def embedding(
    folder: Path, texts: list[str], *, part: str | None = None, skip: int = 0, most: int = 64
) -> Any:
    """The mean of the last layer over the tokens of each text, alone and without padding."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    model = getattr(model, part) if part else model
    found = []
    with torch.no_grad():
        for text in texts:
            inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=most)
            states = model(input_ids=inputs["input_ids"]).last_hidden_state
            found.append(states[0, skip:].mean(0).numpy())
    return np.stack(found).astype(np.float64)
