"""Inner loops of clustering. Imported when they are needed: they are compiled with numba."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...core import machine_code

exactly = partial(machine_code, exact=True)


@machine_code
def nearest(row: Any, dead: Any) -> Any:  # pragma: no cover - compiled
    """The least distance of a row; ``dead`` is 0, or infinite where nothing is left."""
    least = np.inf
    for i in range(len(row)):
        least = min(least, row[i] + dead[i])
    return least


@exactly
def chain(D: Any, size: Any, limit: Any, linkage: Any) -> Any:  # pragma: no cover - compiled
    """Merges in the order in which the chain finds them; D and size are used up.

    Heights are NaN where D is no matrix of distances.
    """
    n = len(D)
    first = np.empty(max(n - 1, 0), np.int64)
    second = np.empty(max(n - 1, 0), np.int64)
    height = np.empty(max(n - 1, 0))
    dead = np.zeros(n)
    chain = np.empty(n + 1, np.int64)
    length, merges, start = 0, 0, 0
    for i in range(n):
        D[i, i] = np.inf
    while True:
        if length == 0:
            while start < n and dead[start] > 0:
                start += 1
            if start == n:
                break
            chain[0] = start
            length = 1
        x = chain[length - 1]
        least = nearest(D[x], dead)
        if least > limit or least == np.inf:
            for k in range(length):  # each of them has its nearest above the limit
                dead[chain[k]] = np.inf
            length = 0
            continue
        if length > 1 and D[x, chain[length - 2]] <= least:
            y = chain[length - 2]
        else:
            y = -1
            for i in range(n):
                if D[x, i] + dead[i] == least:
                    y = i
                    break
            if (
                y < 0 or length == n
            ):  # NaN, or a chain that bites its own tail: distances are not symmetric
                height[:] = np.nan
                return first, second, height
            chain[length] = y
            length += 1
            continue
        length -= 2
        if x > y:
            x, y = y, x
        first[merges], second[merges], height[merges] = x, y, D[x, y]
        merges += 1
        nx, ny = size[x], size[y]
        dead[x] = np.inf
        size[y] = nx + ny
        for i in range(n):
            if dead[i] == 0 and i != y:
                if linkage == 0:
                    D[y, i] = (nx * D[x, i] + ny * D[y, i]) / (nx + ny)
                elif linkage == 1:
                    D[y, i] = max(D[x, i], D[y, i])
                else:
                    D[y, i] = min(D[x, i], D[y, i])
                D[i, y] = D[y, i]
    return first[:merges], second[:merges], height[:merges]


@exactly
def find(parent: Any, i: Any) -> Any:  # pragma: no cover - compiled
    """The root of a set."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@exactly
def unite(parent: Any, first: Any, second: Any) -> None:  # pragma: no cover - compiled
    """The root of a set is its first member."""
    for k in range(len(first)):
        a, b = find(parent, first[k]), find(parent, second[k])
        if a < b:
            parent[b] = a
        elif b < a:
            parent[a] = b


@exactly
def roots(parent: Any) -> Any:  # pragma: no cover - compiled
    """Of all."""
    root_of = np.empty_like(parent)
    for i in range(len(parent)):
        root_of[i] = find(parent, i)
    return root_of


@exactly
def as_scipy(
    leaves: Any, first: Any, second: Any, height: Any
) -> Any:  # pragma: no cover - compiled
    """Z, with a number for every merge."""
    parent = np.arange(leaves)
    node = np.arange(leaves)
    size = np.ones(leaves)
    Z = np.empty((leaves - 1, 4))
    for k in range(leaves - 1):
        a, b = find(parent, first[k]), find(parent, second[k])
        Z[k, 0], Z[k, 1] = min(node[a], node[b]), max(node[a], node[b])
        Z[k, 2], Z[k, 3] = height[k], size[a] + size[b]
        root, other = min(a, b), max(a, b)
        parent[other] = root
        size[root] = size[a] + size[b]
        node[root] = leaves + k
    return Z


@exactly
def unite_near(
    parent: Any, block: Any, threshold: Any, row: Any, column: Any
) -> None:  # pragma: no cover - compiled
    """Unite what is within the threshold; ``row`` and ``column`` are the numbers of the block's first ones."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            if 1.0 - np.float64(block[i, j]) <= threshold:
                a, b = find(parent, row + i), find(parent, column + j)
                if a < b:
                    parent[b] = a
                elif b < a:
                    parent[a] = b
