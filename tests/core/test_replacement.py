"""What takes the place of something else: whatever goes wrong on the way, one of the two is whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.report import run_to_folder

OPTIONS: dict[str, Any] = {"progress": False, "shard_bytes": 4000}


class KilledError(BaseException):
    """As if the process had ended."""


@contextmanager
def killed_at(rename: int, folder: Path) -> Iterator[None]:
    """The process ends before a file is put from ``.replacement`` (or ``.new-…``) into its place."""
    replace, count = Path.replace, [0]

    def watched(self: Path, target: Any) -> Path:
        if Path(target).parent == folder and self.parent != folder:
            count[0] += 1
            if count[0] == rename:
                raise KilledError
        return replace(self, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", watched)
        yield


@pytest.fixture
def store(tiny: lmkin.LanguageModel, sample: lmkin.Corpus, tmp_path: Path) -> Path:
    lmkin.extract(tiny, sample[:30], tmp_path / "acts", **OPTIONS)
    return tmp_path / "acts"


def assert_same(store: Path, expected: lmkin.Activations) -> None:
    acts = lmkin.open_activations(store, verify=True)
    assert acts.units == expected.units
    for n in expected.layers:
        np.testing.assert_array_equal(acts.layer(n), expected.layer(n))
    assert not (store / ".replacement").exists()


@pytest.mark.parametrize("rename", range(1, 7))
def test_a_kill_while_a_store_takes_its_place(
    rename: int, tiny, sample, store: Path, tmp_path: Path
) -> None:
    expected = lmkin.extract(tiny, sample[:20], tmp_path / "new", **OPTIONS)
    with killed_at(rename, store), pytest.raises(KilledError):
        lmkin.extract(tiny, sample[:20], store, overwrite=True, **OPTIONS)
    with pytest.raises(lmkin.ActivationsError):
        lmkin.open_activations(store)
    shutil.copytree(store, tmp_path / "copy")
    lmkin.extract(tiny, sample[:20], store, **OPTIONS)
    assert_same(store, expected)
    # Another run does not throw the whole store away, either.
    with pytest.raises(lmkin.ActivationsError, match="another run"):
        lmkin.extract(tiny, sample[:5], tmp_path / "copy", **OPTIONS)
    assert_same(tmp_path / "copy", expected)


@pytest.mark.parametrize("file", ["units.safetensors", "corpus.jsonl", "shard-00001.safetensors"])
@pytest.mark.parametrize("damage", [Path.unlink, lambda p: p.write_bytes(p.read_bytes()[:-3])])
def test_the_same_extraction_mends_a_store(
    file: str, damage: Any, tiny, sample, store: Path, tmp_path: Path
) -> None:
    expected = lmkin.extract(tiny, sample[:30], tmp_path / "other", **OPTIONS)
    damage(store / file)
    lmkin.extract(tiny, sample[:30], store, **OPTIONS)
    assert_same(store, expected)


def test_a_folder_with_the_name_of_a_shard_is_foreign(tiny, sample, store: Path) -> None:
    before = np.array(lmkin.open_activations(store).layer(0))
    (store / "shard-99999.safetensors").mkdir()
    with pytest.raises(lmkin.ActivationsError, match="something else"):
        lmkin.extract(tiny, sample[:10], store, overwrite=True, **OPTIONS)
    assert np.array_equal(lmkin.open_activations(store).layer(0), before)


def test_files_of_others_stay_where_they_are(tiny, sample, store: Path) -> None:
    (store / ".replacement").mkdir()
    (store / ".replacement" / "notes.txt").write_text("mine")
    (store / ".tmpbackup").write_text("mine")
    lmkin.extract(tiny, sample[:10], store, overwrite=True, **OPTIONS)
    assert (store / ".replacement" / "notes.txt").read_text() == "mine"
    assert (store / ".tmpbackup").read_text() == "mine"
    lmkin.extract(tiny, sample[:10], store, **OPTIONS)


# -- results ----------------------------------------------------------------------------------------


def results() -> tuple[lmkin.Similarity, lmkin.Similarity]:
    random = np.random.default_rng(0)
    first, second = (
        lmkin.similarity(
            {n: random.normal(size=(80, 4)) for n in "ab"}, measures="ckasim", progress=False
        )
        for _ in range(2)
    )
    return first, second


@pytest.mark.parametrize(
    "way", ["a folder for the report", "charts that are a link", "charts that are a file"]
)
def test_what_is_in_the_way_is_found_before_anything_is_replaced(way: str, tmp_path: Path) -> None:
    first, second = results()
    folder, charts = tmp_path / "r", way != "a folder for the report"
    lmkin.write_result(first, folder, charts=charts)
    if way == "a folder for the report":
        (folder / "report.html").unlink()
        (folder / "report.html").mkdir()
    else:
        shutil.rmtree(folder / "charts")
        (tmp_path / "elsewhere").mkdir()
        if "link" in way:
            (folder / "charts").symlink_to(tmp_path / "elsewhere")
        else:
            (folder / "charts").write_text("mine")
    with pytest.raises(lmkin.LmkinError, match="in the way"):
        lmkin.write_result(second, folder, charts=charts, overwrite=True)
    assert lmkin.load(folder / "similarity.nc").ckasim.equals(first.ckasim)
    assert not list((tmp_path).glob("elsewhere/*"))


@pytest.mark.parametrize("rename", [1, 2, 4])
def test_a_kill_while_results_take_their_place_is_noticed(rename: int, tmp_path: Path) -> None:
    first, second = results()
    folder = tmp_path / "r"
    lmkin.write_result(first, folder, charts=False)
    with killed_at(rename, folder), pytest.raises(KilledError):
        lmkin.write_result(second, folder, charts=False, overwrite=True)
    with pytest.raises(lmkin.LmkinError, match="broken off while its results took the place"):
        lmkin.load(folder)
    lmkin.write_result(second, folder, charts=False)
    assert lmkin.load(folder).ckasim.equals(second.ckasim)


def test_unfinished_work_is_not_kept_through_a_link(model_folder, sample, tmp_path: Path) -> None:
    from lmkin.analysis import Running, Source, find_analysis

    analysis = find_analysis("similarity")
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    victim.mkdir()
    precious = victim / f"mine.{'0' * 32}.txt"
    precious.write_text("mine")
    (out / "unfinished").symlink_to(victim)
    source = Source([model_folder("bert")], sample[:20], reading=analysis.reading)
    with pytest.raises(lmkin.LmkinError, match="unfinished is a link"):
        run_to_folder(
            analysis, source, analysis.Options(measures="ckasim"), Running(), out, charts=False
        )
    assert precious.read_text() == "mine"


def test_masked_rows_in_a_list_are_refused() -> None:
    X = np.ma.masked_array(np.ones((5, 3)), mask=False)
    X[1, 2] = np.ma.masked
    with pytest.raises(lmkin.LmkinError, match="masked array, with 1 values hidden"):
        lmkin.linear_cka(list(X), np.ones((5, 2)))


def test_links_that_lead_out_of_a_saved_dataset_are_not_followed(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"text": ["one line", "another line"]}).save_to_disk(
        tmp_path / "saved"
    )
    assert len(lmkin.read_corpus(tmp_path / "saved")) == 2
    (file,) = (tmp_path / "saved").glob("*.arrow")
    file.rename(tmp_path / "elsewhere.arrow")
    file.symlink_to(tmp_path / "elsewhere.arrow")
    with pytest.raises(lmkin.CorpusError, match="leads out of its folder"):
        lmkin.read_corpus(tmp_path / "saved")
