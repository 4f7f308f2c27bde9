"""The same problems solved another way, slowly: coordinate by coordinate, from the definition."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp


def cross_entropy(S: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(logsumexp(S, axis=1) - S[np.arange(len(y)), y]))


def half_squares(S: np.ndarray, Y: np.ndarray) -> float:
    return float(((S - Y) ** 2).sum()) / (2 * len(Y))


def objective(loss, Z, y, W, b, l1, l2, penalty) -> float:
    omega = np.abs(W).sum() if penalty == "elementwise" else sum(np.linalg.norm(w) for w in W)
    return loss(Z @ W + b, y) + l1 * omega + l2 * (W**2).sum()


def coordinate_descent(loss, Z, y, outputs, l1, l2, penalty, sweeps=40):
    """Every weight in turn gets the best value that a scalar search finds; rows of weights once more as a whole."""
    W, b = np.zeros((Z.shape[1], outputs)), np.zeros(outputs)

    def best(change, start):
        def cost(v):
            V, c = W.copy(), b.copy()
            change(V, c, v)
            return objective(loss, Z, y, V, c, l1, l2, penalty)

        result = minimize_scalar(cost, bracket=(start - 0.5, start + 0.5), options={"xtol": 1e-9})
        value = min((result.x, start, 0.0), key=cost)
        change(W, b, value)

    for _ in range(sweeps):
        for c in range(outputs):
            best(lambda V, a, v, c=c: a.__setitem__(c, v), b[c])
        for j in range(Z.shape[1]):
            for c in range(outputs):
                best(lambda V, a, v, j=j, c=c: V.__setitem__((j, c), v), W[j, c])
            if penalty == "row" and W[j].any():
                direction = W[j].copy()
                best(lambda V, a, v, j=j, w=direction: V.__setitem__(j, v * w), 1.0)
    return W, b
