"""A decomposition that is killed goes on where it stopped; other work is never taken for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from dependency import naive_dependency as naive

plain = {"progress": False, "intervals": False, "permutation_baseline": False}
quiet = {"progress": False}


class KilledError(Exception):
    """As if the process had ended."""


FIELDS = (
    "r2_group", "r2_pair", "r2_group_se", "r2_group_beyond_length", "r2_length", "r2_group_null",
)  # fmt: skip


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of 16 texts and more, for else there would have to be thousands of them."""
    monkeypatch.setattr("lmkin.rows.passes.CHUNK", 16)
    monkeypatch.setattr("lmkin.analyses.dependency.split_moments.CHUNK", 16)


def watched(patch: pytest.MonkeyPatch, model: Any, stop_after: int = 10**9) -> list[int]:
    """Texts that a model reads; at some number it is killed."""
    run, read = model.run, [0]

    def counting(windows: Any, *arguments: Any, **options: Any) -> Any:
        read[0] += len(windows)
        if read[0] > stop_after:
            raise KilledError
        return run(windows, *arguments, **options)

    patch.setattr(model, "run", counting)
    return read


def assert_same(found: Any, expected: Any) -> None:
    assert found.n.values.tolist() == expected.n.values.tolist()
    for field in FIELDS:
        mine, theirs = found.dataset[field].values, expected.dataset[field].values
        assert mine == pytest.approx(theirs, abs=1e-4), field


@pytest.mark.usefixtures("small_pieces")
class TestResuming:
    """A decomposition of models that is killed goes on where it stopped."""

    def test_goes_on(
        self, two: Any, uneven: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        expected = lmkin.decompose(two, uneven, **quiet)
        with pytest.MonkeyPatch.context() as patch:
            watched(patch, two[0], stop_after=110)
            with pytest.raises(KilledError):
                lmkin.decompose(two, uneven, workspace=tmp_path, **quiet)
        with pytest.MonkeyPatch.context() as patch, caplog.at_level("INFO", "lmkin"):
            read = watched(patch, two[0])
            found = lmkin.decompose(two, uneven, workspace=tmp_path, **quiet)
        assert 0 < read[0] < len(uneven) - 80
        assert "Going on: 6 of 12 shards" in " ".join(caplog.messages)
        assert_same(found, expected)

    def test_texts_that_weigh_most_are_the_same_after_a_kill(
        self, two: Any, uneven: Any, tmp_path: Path
    ) -> None:
        expected = lmkin.decompose(two, uneven, **plain).unexplained("bert")
        with pytest.MonkeyPatch.context() as patch:
            watched(patch, two[0], stop_after=110)
            with pytest.raises(KilledError):
                lmkin.decompose(two, uneven, workspace=tmp_path, **plain)
        found = lmkin.decompose(two, uneven, workspace=tmp_path, **plain).unexplained("bert")
        assert found.attrs["rows_looked_at"] == expected.attrs["rows_looked_at"]
        assert found.input.values.tolist() == expected.input.values.tolist()

    @pytest.mark.parametrize("texts", [64, 72, 88])
    def test_a_finished_run_counts_no_row_twice(
        self, two: Any, uneven: Any, tmp_path: Path, texts: int
    ) -> None:
        """Whether or not the last piece is a whole one."""
        corpus = uneven[:texts]
        expected = lmkin.decompose(two, corpus, **quiet)
        for _ in range(2):
            assert_same(lmkin.decompose(two, corpus, workspace=tmp_path, **quiet), expected)

    def test_other_work_is_not_taken_for_this(self, two: Any, uneven: Any, tmp_path: Path) -> None:
        lmkin.decompose(two, uneven[:104], workspace=tmp_path, **quiet)
        other = uneven[40:144]
        for options in ({}, {"layers": 1}, {"split": naive.three_splits(104)}):
            found = lmkin.decompose(two, other, workspace=tmp_path, **options, **quiet)
            assert_same(found, lmkin.decompose(two, other, **options, **quiet))

    @pytest.mark.parametrize("what", ["seed", "lengths"])
    def test_what_goes_along_with_the_rows_is_another(
        self, two: Any, uneven: Any, tmp_path: Path, what: str
    ) -> None:
        """The same rows in the same split, shuffled otherwise or with other lengths."""
        corpus, split = uneven[:104], naive.three_splits(104)
        lengths = np.random.default_rng(0).integers(1, 90, 104)
        options: dict[str, Any] = {"seed": 5} if what == "seed" else {"row_lengths": lengths}
        lmkin.decompose(two, corpus, split=split, workspace=tmp_path, **quiet)
        found = lmkin.decompose(two, corpus, split=split, workspace=tmp_path, **options, **quiet)
        assert_same(found, lmkin.decompose(two, corpus, split=split, **options, **quiet))

    def test_damaged_files_are_made_again(self, two: Any, uneven: Any, tmp_path: Path) -> None:
        expected = lmkin.decompose(two, uneven, workspace=tmp_path, **quiet)
        for file in [p for p in tmp_path.rglob("*") if p.is_file()]:
            file.write_bytes(file.read_bytes()[:50])
        assert_same(lmkin.decompose(two, uneven, workspace=tmp_path, **quiet), expected)


def test_arrays_are_read_again(tmp_path: Path) -> None:
    """A second run counts no row twice, and other arrays of the same shape are not those of before."""
    first, second = (naive.related_models(200, seed=s) for s in (0, 1))
    for arrays in (first, first, second):
        found = lmkin.decompose(arrays, workspace=tmp_path, **quiet)
        expected = lmkin.decompose(arrays, **quiet)
        assert found.n.values.tolist() == expected.n.values.tolist()
        assert found.r2_group.values == pytest.approx(expected.r2_group.values, abs=1e-10)
