"""Memory: as many parts as fit, an error before anything runs where nothing does, figures near the truth."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.dependency import decomposing
from lmkin.dependency.planning import plan_decomposition

RANDOM = np.random.default_rng(0)
ROWS = {name: RANDOM.normal(size=(600, 100)).astype(np.float32) for name in "abc"}


def need(parts: int) -> int:
    plan = plan_decomposition(300, parts, 3, precision="float64", null=False, memory="1TB")
    return plan.sums + plan.fits


@pytest.mark.parametrize(("asked", "fits"), [(10, 10), (10, 5), (10, 3), (10, 1), (4, 3)])
def test_as_many_parts_as_fit(asked: int, fits: int) -> None:
    said: list[str] = []
    found = lmkin.decompose(
        ROWS, parts=asked, memory=need(fits), precision="float64", null=False, say=said.append
    )
    assert ("r2_group_se" in found.data) == (fits > 1)
    assert bool(said) == (fits < asked)
    if fits < asked:
        assert f"there are {fits}" in said[0]
    whole = lmkin.decompose(ROWS, intervals=False, null=False, precision="float64")
    np.testing.assert_allclose(found.r2_group, whole.r2_group, atol=1e-10)


def test_where_nothing_fits_it_is_said_before_anything_runs() -> None:
    with pytest.raises(
        lmkin.LmkinError, match=r"even without parts; the budget is 0\.0 GB"
    ) as error:
        lmkin.decompose(ROWS, memory="1MB")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("intervals", [True, False])
@pytest.mark.parametrize("lengths", [None, RANDOM.integers(5, 90, 600)])
@pytest.mark.parametrize("ridge", ["auto", "validation"])
def test_fits_take_no_more_than_planned(
    intervals: bool, lengths: Any, ridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What numpy allocates while fits are made, against the plan; and the plan is not far above that."""
    analyse, seen = decomposing._analyse, []

    def measured(*args: Any, **options: Any) -> Any:
        tracemalloc.start()
        found = analyse(*args, **options)
        seen.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        return found

    monkeypatch.setattr(decomposing, "_analyse", measured)
    lmkin.decompose(ROWS, intervals=intervals, lengths=lengths, ridge=ridge, progress=False)
    plan = plan_decomposition(
        300,
        10 if intervals else 1,
        3,
        precision="float32",
        null=True,
        choosing=ridge == "validation",
        memory="1TB",
    )
    assert seen[0] <= plan.fits <= 2.5 * seen[0]
