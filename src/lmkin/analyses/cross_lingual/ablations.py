"""Sets of layers that are left when others are taken away."""

from __future__ import annotations

from collections.abc import Callable, Sequence

ABLATIONS: dict[str, tuple[str, Callable[[int], Sequence[int]]]] = {
    "alternate": ("every second layer, from the first on", lambda n: range(0, n, 2)),
    "top": ("the upper half of the layers", lambda n: range((n + 1) // 2, n)),
    "bottom": ("the lower half of the layers", lambda n: range((n + 1) // 2)),
    "embedding": ("the embedding only", lambda n: range(1)),
    "above-embedding": ("all layers but the embedding", lambda n: range(1, n)),
}
"""What each is, and the places of its layers among n."""


def ablation_layers(name: str, layers: Sequence[int]) -> tuple[int, ...]:
    """The numbers of the layers of a set, of those that are read; empty where it has none.

    Of an odd number of layers the middle one is in the lower half. Layer 0 is the embedding: where it was not read,
    there is neither a set of it nor one without it.

    >>> ablation_layers("alternate", range(7)), ablation_layers("top", range(7)), ablation_layers("bottom", range(7))
    ((0, 2, 4, 6), (4, 5, 6), (0, 1, 2, 3))
    """
    if "embedding" in name and (not layers or layers[0] != 0):
        return ()
    places = ABLATIONS[name][1](len(layers))
    return tuple(layers[k] for k in places)
