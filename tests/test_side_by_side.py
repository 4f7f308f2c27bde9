"""Work on several cores gives what it gives on one; the other tests run on one core each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.analyses.redundancy import clusters as grouping
from lmkin.analyses.redundancy import tiled_linkage as growing
from lmkin.analyses.redundancy.memory_plan import ClusterRoute


def rows(seed: int, widths: tuple[int, ...]) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    shared = random.standard_normal((400, 12))
    return {
        f"m{k}/0": shared @ random.standard_normal((12, w)) + random.standard_normal((400, w))
        for k, w in enumerate(widths)
    }


@pytest.fixture
def on_cores(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compute something on one core, then on all that there are."""

    def compute(work: Any) -> tuple[Any, Any]:
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        alone = work()
        monkeypatch.setenv("OMP_NUM_THREADS", "8")
        return alone, work()

    return compute


@pytest.mark.parametrize("ridge", ["auto", "validation"])
def test_a_decomposition(on_cores: Any, ridge: str) -> None:
    arrays = {name.partition("/")[0]: X for name, X in rows(0, (30, 20, 25)).items()}
    one, several = on_cores(lambda: lmkin.decompose(arrays, ridge=ridge, progress=False).dataset)
    for name in one:
        np.testing.assert_allclose(several[name], one[name], atol=1e-9, err_msg=str(name))


@pytest.mark.parametrize("route", ["matrix", "tiles"])
def test_clusters(on_cores: Any, route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {f"m/{k}": X for k, X in enumerate(rows(1, (300, 260, 90)).values())}
    if route == "tiles":
        monkeypatch.setattr(growing, "TILE", 64)
        monkeypatch.setattr(
            grouping, "plan_clustering", lambda *_, **__: ClusterRoute("tiles", 1, 500)
        )
    one, several = on_cores(
        lambda: lmkin.cluster_neurons(
            arrays, thresholds=[0.3, 0.6], representative="medoid", progress=False
        )
    )
    assert one.thresholds == several.thresholds
    for t in one.thresholds:
        assert np.array_equal(one.labels(t), several.labels(t))
        assert one.representatives(t) == several.representatives(t)
        assert one.signs(t) == several.signs(t)


def test_layers(on_cores: Any) -> None:
    arrays = {f"m/{k}": X for k, X in enumerate(rows(2, (20, 20, 20)).values())}
    one, several = on_cores(lambda: lmkin.layer_redundancy(arrays, progress=False))
    for name in one:
        np.testing.assert_allclose(several[name], one[name], atol=1e-7, err_msg=str(name))
