"""Scores that are finished are not computed again after a kill, and come out the same to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.measures import evaluation, kept_scores
from lmkin.measures.registry import forget


class KilledError(Exception):
    """As if the process had ended."""


def layers() -> dict[str, Any]:
    random = np.random.default_rng(0)
    base = random.normal(size=(300, 5))
    return {f"m/{k}": base @ random.normal(size=(5, 4 + k)) for k in range(6)}


OPTIONS: dict[str, Any] = {
    "measures": "ckasim,neuronsim,svsim",
    "neurons": "both",
    "progress": False,
}


def count_calls(monkeypatch: pytest.MonkeyPatch, fails_at: int = 0) -> list[int]:
    """How often a pair is scored; at one of them the process ends."""
    called, call = [0], evaluation.Task.__call__

    def counted(self: Any, pair: Any) -> Any:
        called[0] += 1
        if called[0] == fails_at:
            raise KilledError
        return call(self, pair)

    monkeypatch.setattr(evaluation.Task, "__call__", counted)
    return called


@pytest.mark.parametrize("more", [{}, {"intervals": False}, {"held_out": True}, {"route": "joint"}])
def test_what_is_finished_is_not_computed_again(more: Any, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(kept_scores, "EVERY", 0.0)
    monkeypatch.setattr(evaluation, "_BATCH", 4)
    plain = lmkin.similarity(layers(), **OPTIONS, **more)
    with monkeypatch.context() as patch:
        whole = count_calls(patch)
        lmkin.similarity(layers(), **OPTIONS, **more, workspace=tmp_path / "other")
    with monkeypatch.context() as patch:
        count_calls(patch, fails_at=whole[0] * 2 // 3)
        with pytest.raises(KilledError):
            lmkin.similarity(layers(), **OPTIONS, **more, workspace=tmp_path / "w")
    with monkeypatch.context() as patch:
        rest = count_calls(patch)
        again = lmkin.similarity(layers(), **OPTIONS, **more, workspace=tmp_path / "w")
    assert 0 < rest[0] < 0.7 * whole[0]
    for name in plain.dataset.data_vars:
        np.testing.assert_array_equal(again.dataset[name], plain.dataset[name], err_msg=str(name))


def test_other_rows_and_other_options_have_scores_of_their_own(tmp_path: Path) -> None:
    first = lmkin.similarity(layers(), **OPTIONS, workspace=tmp_path)
    random = np.random.default_rng(1)
    other = {name: random.normal(size=array.shape) for name, array in layers().items()}
    changed = lmkin.similarity(other, **OPTIONS, workspace=tmp_path)
    assert not np.allclose(first.ckasim, changed.ckasim)
    options = {**OPTIONS, "measure_options": {"variance": 0.5}}
    assert not np.allclose(
        first.svsim, lmkin.similarity(layers(), **options, workspace=tmp_path).svsim
    )


def test_a_damaged_file_is_computed_again(tmp_path: Path) -> None:
    first = lmkin.similarity(layers(), **OPTIONS, workspace=tmp_path)
    (file,) = tmp_path.glob("scores.*")
    file.write_bytes(file.read_bytes()[:-7])
    again = lmkin.similarity(layers(), **OPTIONS, workspace=tmp_path)
    np.testing.assert_array_equal(first.ckasim, again.ckasim)


def test_a_measure_of_a_users_own_is_always_computed(tmp_path: Path) -> None:
    def mine(X: Any, Y: Any) -> float:
        return value[0]

    value = [0.25]
    lmkin.measure("own_measure", symmetric=True, range=(0, 1))(mine)
    try:
        for value[0] in (0.25, 0.75):
            result = lmkin.similarity(
                layers(), measures="own_measure", workspace=tmp_path, progress=False
            )
            assert float(result["own_measure"].max()) == value[0]
    finally:
        forget("own_measure")
