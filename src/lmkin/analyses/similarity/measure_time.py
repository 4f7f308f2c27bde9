"""About how long measures will take, from a few random layers of the same width."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...measures import Measure, MomentReplicates, evaluate, sampled, tasks_for
from ...moments import Moments

_LAYERS = 4


def seconds_of_measures(
    measures: Iterable[Measure],
    options: dict[str, Any],
    scalings: Sequence[bool],
    *,
    layers: int,
    width: int,
    replicates: int,
) -> float:
    """Seconds for all pairs of so many layers, computed ``replicates`` times: with everything, and without each part.

    A rough figure: real layers have fewer components than random ones, and measures then take less.
    """
    random = np.random.default_rng(0)
    rows = min(2 * width, 2000)
    blocks = {
        ("random", n): random.standard_normal((rows, width), dtype=np.float32)
        for n in range(_LAYERS)
    }
    moments = Moments(precision="float32", keep_parts=False).update(blocks)
    tasks = tasks_for(measures, options, scalings)
    sums = [t for t in tasks if t.measure.needs == "moments"]
    others = [t for t in tasks if t.measure.needs != "moments"]
    moments.mean(("random", 0))  # the rows go into the sums before the clock starts
    begun = time.perf_counter()
    for some, source in ((sums, MomentReplicates(moments)), (others, sampled(moments))):
        if some:
            evaluate(some, source, without_parts=False, held_out=False, advance=lambda _: None)
    pairs = _LAYERS * (_LAYERS + 1) / 2
    return (time.perf_counter() - begun) / pairs * layers * (layers + 1) / 2 * replicates
