"""Products are made of several groups at once; how many must not matter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lmkin

WIDTHS = {"a/0": 3, "a/1": 5, "b/0": 2, "b/1": 4, "c/0": 1}


def rows(n: int = 400) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    shared = random.normal(size=(n, 3))
    return {
        g: 5 + random.normal(size=(n, w)) + shared @ random.normal(size=(3, w))
        for g, w in WIDTHS.items()
    }


@pytest.mark.parametrize("panel", [1, 4, 6, 9, 1000])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_any_width_of_panels_gives_the_same(
    panel: int, precision: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("lmkin.core.layer_ids.PANEL", panel)
    data = rows()
    everything = np.concatenate(list(data.values()), axis=1)
    exact = np.cov(np.delete(everything, np.s_[100:200], 0).T)
    atol = 1e-12 if precision == "float64" else 2e-5
    halves = []
    for half in (slice(0, 200), slice(200, 400)):
        moments = lmkin.Moments(precision=precision)
        for start in range(half.start, half.stop, 100):
            block = {g: a[start : start + 100] for g, a in data.items()}
            moments.update(block, part=start)
        moments.mean("a/0")  # the sums get a reference of their own
        halves.append(moments)
    merged = halves[0].merge(halves[1])
    merged.save(tmp_path / "m.safetensors")
    monkeypatch.undo()  # a file of other panels is read as it is
    for each in (merged, lmkin.Moments.load(tmp_path / "m.safetensors")):
        snapshot = each.snapshot(without=100)
        starts = np.cumsum([0, *WIDTHS.values()])
        for i in range(len(WIDTHS)):
            for j in range(len(WIDTHS)):
                block = exact[starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
                np.testing.assert_allclose(snapshot.cov(i, j), block, atol=atol * 10)
                x, y = (
                    np.delete(data[g], np.s_[100:200], 0)
                    for g in (list(WIDTHS)[i], list(WIDTHS)[j])
                )
                norms = ((x - x.mean(0)) ** 2).sum(1) @ ((y - y.mean(0)) ** 2).sum(1)
                found = snapshot.norm_products(i, j, standardized=False)
                assert found == pytest.approx(norms, rel=1e-9 if precision == "float64" else 1e-5)
    result = lmkin.similarity(merged, measures="ckasim", neurons="raw").matrix()
    direct = lmkin.similarity(
        data, measures="ckasim", neurons="raw", parts=np.repeat([0, 100, 200, 300], 100)
    ).matrix()
    np.testing.assert_allclose(result, direct, atol=atol)
    np.testing.assert_allclose(result.se, direct.se, atol=atol)
