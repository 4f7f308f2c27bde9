"""Memory: as many parts as fit, an error before anything runs where nothing does, figures near the truth."""

from __future__ import annotations

import os
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.analyses.dependency import decomposition as decomposing
from lmkin.analyses.dependency.memory_plan import plan_decomposition
from lmkin.analyses.dependency.solver import Solver

RANDOM = np.random.default_rng(0)
ROWS = {name: RANDOM.normal(size=(600, 100)).astype(np.float32) for name in "abc"}


def use_cores(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with so many cores, all of them free."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", str(count))


def need(parts: int) -> int:
    # 480 train rows for 200 neurons: the ridge is chosen.
    plan = plan_decomposition(
        300, parts, 3, precision="float64", null=False, choosing=True, memory="1TB"
    )
    return plan.sums + plan.fits


@pytest.mark.usefixtures("bare_process")
@pytest.mark.parametrize(("asked", "fits"), [(10, 10), (10, 5), (10, 3), (10, 1), (4, 3)])
def test_as_many_parts_as_fit(
    asked: int, fits: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_cores(1, monkeypatch)
    caplog.set_level("INFO", "lmkin")
    found = lmkin.decompose(
        ROWS, parts=asked, memory=need(fits), precision="float64", permutation_baseline=False
    )
    assert ("r2_group_se" in found.dataset) == (fits > 1)
    said = [r.getMessage() for r in caplog.records if "parts" in r.getMessage()]
    assert bool(said) == (fits < asked)
    if fits < asked:
        assert f"there are {fits}" in said[0]
    whole = lmkin.decompose(ROWS, intervals=False, permutation_baseline=False, precision="float64")
    np.testing.assert_allclose(found.r2_group, whole.r2_group, atol=1e-10)


def test_where_nothing_fits_it_is_said_before_anything_runs() -> None:
    with pytest.raises(
        lmkin.LmkinError, match=r"The budget is 1 MB .* at least .* even without parts"
    ) as error:
        lmkin.decompose(ROWS, memory="1MB")
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("bare_process")
@pytest.mark.parametrize("workers", [4, 2, 1])
def test_workers_are_given_up_before_parts(
    workers: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget for what two fits at a time take, or for one fit, leaves the parts as they are."""
    caplog.set_level("INFO", "lmkin")
    options: dict[str, Any] = {"precision": "float32", "null": False, "choosing": True}
    use_cores(workers, monkeypatch)
    wanted = plan_decomposition(300, 10, 3, memory="1TB", **options)
    use_cores(4, monkeypatch)
    budget = wanted.sums + wanted.fits
    plan = plan_decomposition(300, 10, 3, memory=budget, **options)
    assert (plan.parts, plan.workers) == (10, workers)
    assert not [m for m in caplog.messages if "parts" in m]

    most, running = [0], [0]
    lock, fit = threading.Lock(), Solver.fit

    def counted(*args: Any, **others: Any) -> Any:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        try:
            return fit(*args, **others)
        finally:
            with lock:
                running[0] -= 1

    monkeypatch.setattr(Solver, "fit", counted)
    result = lmkin.decompose(
        ROWS,
        parts=10,
        memory=budget,
        precision="float32",
        permutation_baseline=False,
        progress=False,
    )
    assert 1 <= most[0] <= workers
    assert "r2_group_se" in result.dataset


def test_wide_fits_are_made_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    use_cores(4, monkeypatch)
    options: dict[str, Any] = {"precision": "float32", "null": False, "memory": "1TB"}
    assert [plan_decomposition(w, 10, 3, **options).workers for w in (2048, 2049)] == [4, 1]


@pytest.mark.parametrize("cores", [1, 2, 4])
@pytest.mark.parametrize("intervals", [True, False])
@pytest.mark.parametrize("lengths", [None, RANDOM.integers(5, 90, 600)])
@pytest.mark.parametrize("ridge", [1e-6, "validation"])
def test_fits_take_no_more_than_planned(
    cores: int, intervals: bool, lengths: Any, ridge: str | float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What numpy allocates while fits are made, against the plan; and the plan is not far above that."""
    use_cores(cores, monkeypatch)
    analyse, fit, seen = decomposing._analyse, Solver.fit, []
    main, together = threading.current_thread(), threading.Barrier(cores)

    def fitted(*args: Any, **options: Any) -> Any:
        """On a busy machine too, as many fits are there at the same time as there are workers."""
        fits = fit(*args, **options)
        if threading.current_thread() is not main:
            together.wait(timeout=300)
        return fits

    def measured(*args: Any, **options: Any) -> Any:
        tracemalloc.start()
        result = analyse(*args, **options)
        seen.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        return result

    monkeypatch.setattr(Solver, "fit", fitted)
    monkeypatch.setattr(decomposing, "_analyse", measured)
    parts = 8  # so that no worker is left alone at the barrier
    lmkin.decompose(
        ROWS, intervals=intervals, row_lengths=lengths, ridge=ridge, parts=parts, progress=False
    )
    plan = plan_decomposition(
        300,
        parts if intervals else 1,
        3,
        precision="float32",
        null=True,
        choosing=ridge == "validation",
        memory="1TB",
    )
    assert seen[0] <= plan.fits <= 2.5 * seen[0]
