"""Several lengths of the texts: one result, kept length by length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import lmkin
from lmkin.analyses.dependency import check_lengths, decompose_lengths, join_lengths, subset_sizes
from lmkin.rows import Workspace

quiet = {"progress": False, "parts": 2, "permutation_baseline": False}


@pytest.fixture(scope="module")
def two(model_folder: Any) -> list[Any]:
    return [lmkin.load_model(model_folder(f), name=f) for f in ("bert", "roberta")]


def test_is_what_each_length_gives(two: Any, sample: lmkin.Corpus) -> None:
    whole = decompose_lengths(two, sample[:150], [16, 8], limit=120, **quiet)
    assert whole.dataset["length"].values.tolist() == [8, 16]
    for length in (8, 16):
        texts = lmkin.cut_sequences(sample[:150], two[0], length, limit=120)
        alone = lmkin.decompose(two, texts, max_length=length, long="truncate", **quiet)
        for name in ("r2_group", "r2_pair_se", "n"):
            mine = whole.dataset[name].sel(length=length)
            xr.testing.assert_equal(mine.drop_vars("length"), alone.dataset[name])
    # The portfolio is that of the largest.
    xr.testing.assert_equal(whole.portfolio["unique"], alone.unique())
    assert whole.portfolio["drop_order"].attrs["length"] == 16
    assert [t.name for t in whole.tables()] == ["r2_group"]
    assert any(sentence.startswith("At 8 tokens, on test rows") for sentence in whole.findings())
    assert [r["length"] for r in whole.data()["results"]] == [8, 16]
    assert set(whole.provenance["lengths"]) == {"8", "16"}


def test_finished_lengths_are_not_computed_again(
    two: Any, sample: lmkin.Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Workspace(tmp_path / "unfinished")
    first = decompose_lengths(two, sample[:80], [8, 16], work=work, **quiet)

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("computed again")

    with monkeypatch.context() as patch:
        patch.setattr("lmkin.analyses.dependency.lengths.decompose_rows", refuse)
        again = decompose_lengths(two, sample[:80], [8, 16], work=work, **quiet)
        with pytest.raises(AssertionError, match="computed again"):
            decompose_lengths(two, sample[:81], [8, 16], work=work, **quiet)
        with pytest.raises(AssertionError, match="computed again"):
            decompose_lengths(two, sample[:80], [8, 16], work=work, **quiet, seed=1)
    xr.testing.assert_identical(again.dataset, first.dataset)
    assert again.data() == first.data()
    work.clear()
    assert not (tmp_path / "unfinished").exists()


def test_texts_as_they_are(two: Any, sample: lmkin.Corpus) -> None:
    whole = decompose_lengths(two, sample[:80], subsets="none", **quiet)
    assert "length" not in whole.dataset.dims
    assert set(whole.portfolio) == {"drop_order", "unique", "unexplained"}


@pytest.mark.parametrize("lengths", [[7], ["16"], [16.5], 3, [True]])
def test_lengths_that_are_none(lengths: Any) -> None:
    with pytest.raises(lmkin.LmkinError, match="numbers of tokens from 8 on"):
        check_lengths(lengths)
    assert check_lengths([64, 16, 64]) == (16, 64)
    assert check_lengths(32) == (32,)
    assert check_lengths(None) == ()


@pytest.mark.parametrize("subsets", ["1-", "x", "0", [0], [1.5], "", None])
def test_sizes_that_are_none(subsets: Any) -> None:
    with pytest.raises(lmkin.LmkinError, match="all, none, or sizes"):
        subset_sizes(subsets)


def test_an_alert_is_said_once_with_its_lengths(two: Any, sample: lmkin.Corpus) -> None:
    results = {
        t: lmkin.decompose(two, lmkin.cut_sequences(sample[:80], two[0], t), **quiet)
        for t in (8, 16)
    }
    joined = join_lengths(results, "texts")
    kinds = [a.kind for a in joined.alerts]
    assert len(kinds) == len(set(kinds))
    everywhere = {a.kind for a in results[8].alerts} & {a.kind for a in results[16].alerts}
    assert "few parts" in everywhere
    for alert in joined.alerts:
        if alert.kind in everywhere:
            assert alert.where == "8 tokens, 16 tokens"
            assert alert.text.startswith("at 16 tokens: ")
            assert alert.text.endswith("(This holds for 8 tokens too.)")
