"""`lmkin.load`: everything that lmkin writes, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from safetensors.numpy import save_file

import lmkin
from lmkin.results import known_loadable, save_folder
from results.example_results import EXAMPLES, layers


def test_what_is_read_is_named() -> None:
    names = [kind.name for kind in known_loadable()]
    assert any("results" in n for n in names)
    assert {"activations", "moments", "clusters of neurons", "masks of neurons"} <= set(names)


def test_moments(tmp_path: Path) -> None:
    moments = lmkin.Moments().update(layers())
    moments.save(tmp_path / "m.safetensors")
    again = lmkin.load(tmp_path / "m.safetensors")
    assert isinstance(again, lmkin.Moments)
    np.testing.assert_array_equal(again.mean(again.groups[0]), moments.mean(moments.groups[0]))


def test_activations(tiny: Any, sample: lmkin.Corpus, tmp_path: Path) -> None:
    acts = lmkin.extract(tiny, sample[:2], tmp_path / "acts", progress=False)
    again = lmkin.load(tmp_path / "acts")
    assert isinstance(again, lmkin.Activations)
    np.testing.assert_array_equal(again.layer(1)[:, :], acts.layer(1)[:, :])


def test_clusters_and_masks(tmp_path: Path) -> None:
    clusters = EXAMPLES["redundancy"]().clustering
    clusters.save(tmp_path / "c.safetensors")
    again = lmkin.load(str(tmp_path / "c.safetensors"))
    assert isinstance(again, lmkin.Clustering)
    xr.testing.assert_equal(again.tables(), clusters.tables())
    mask = clusters.keep(0.3, clusters.models[0])
    mask.save(tmp_path / "k.safetensors")
    assert lmkin.load(tmp_path / "k.safetensors").hash == mask.hash


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    EXAMPLES["attention"]().save(tmp_path / "a")
    (tmp_path / "a" / "lmkin.json").unlink()
    again = lmkin.load(tmp_path / "a")
    assert isinstance(again, lmkin.AttentionSimilarity)
    assert again.heads is not None


def test_a_folder_that_holds_less_gives_less(tmp_path: Path) -> None:
    EXAMPLES["attention"]().save(tmp_path / "a")
    (tmp_path / "a" / "heads.nc").unlink()
    assert lmkin.load(tmp_path / "a").heads is None


# -- what is not lmkin's, or damaged ---------------------------------------------------------------


def foreign(folder: Path) -> dict[str, tuple[Path, str]]:
    """Things that lmkin did not write, and what is said of them."""
    folder.mkdir()
    (folder / "empty").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "notes.txt").write_text("x")
    (folder / "text.txt").write_text("hello")
    save_file({"x": np.zeros(2)}, folder / "other.safetensors", {"format": "pt"})
    (folder / "broken.safetensors").write_bytes(b"12345678")
    xr.Dataset({"x": ("y", [1.0])}).to_netcdf(folder / "other.nc", engine="scipy")
    (folder / "broken.nc").write_bytes(b"CDF\x01")
    return {
        "nothing there": (folder / "missing", "There is nothing at"),
        "an empty folder": (folder / "empty", "an empty folder"),
        "a folder": (folder / "full", "a folder with notes.txt"),
        "a text": (folder / "text.txt", r"5 bytes with the ending \.txt"),
        "tensors": (folder / "other.safetensors", "nothing that lmkin wrote"),
        "broken tensors": (folder / "broken.safetensors", "damaged"),
        "another netCDF": (folder / "other.nc", "no netCDF file that lmkin wrote"),
        "a broken netCDF": (folder / "broken.nc", "no netCDF file that lmkin wrote"),
    }


@pytest.mark.parametrize("name", [
    "nothing there", "an empty folder", "a folder", "a text", "tensors", "broken tensors", "another netCDF",
    "a broken netCDF",
])  # fmt: skip
def test_one_paragraph_says_what_was_found(name: str, tmp_path: Path) -> None:
    path, says = foreign(tmp_path / "f")[name]
    with pytest.raises(lmkin.LmkinError, match=says) as caught:
        lmkin.load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 700


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"kind": 1}', '{"kind": "similarity", "files": 3, "lmkin": "x"}']
)
def test_a_damaged_manifest(text: str, tmp_path: Path) -> None:
    EXAMPLES["similarity"]().save(tmp_path / "s")
    (tmp_path / "s" / "lmkin.json").write_text(text)
    with pytest.raises(lmkin.LmkinError, match=r"lmkin\.json is no manifest"):
        lmkin.load(tmp_path / "s")
    assert isinstance(lmkin.load(tmp_path / "s" / "similarity.nc"), lmkin.Similarity)


def test_a_manifest_of_a_kind_that_is_not_known(tmp_path: Path) -> None:
    save_folder("towers", {"towers.nc": lambda path: path.write_bytes(b"")}, tmp_path / "t")
    with pytest.raises(lmkin.LmkinError, match="of kind 'towers'; known are"):
        lmkin.load(tmp_path / "t")


@pytest.mark.parametrize("name", ["heads.nc", "attention.nc"])
def test_a_damaged_file_of_a_folder(name: str, tmp_path: Path) -> None:
    EXAMPLES["attention"]().save(tmp_path / "a")
    whole = (tmp_path / "a" / name).read_bytes()
    (tmp_path / "a" / name).write_bytes(whole[: len(whole) // 3])
    with pytest.raises(lmkin.LmkinError, match=name):
        lmkin.load(tmp_path / "a")


# -- the manifest of a folder -----------------------------------------------------------------------


def test_the_manifest_lists_what_was_written(tmp_path: Path) -> None:
    EXAMPLES["similarity"]().save(tmp_path / "s")
    said = json.loads((tmp_path / "s" / "lmkin.json").read_text("utf-8"))
    assert said["kind"] == "similarity"
    assert said["lmkin"] == lmkin.__version__
    assert said["files"] == ["similarity.nc", "similarity.csv", "averages.csv", "localization.csv"]


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(lmkin.LmkinError, match="is a file"):
        EXAMPLES["similarity"]().save(tmp_path / "file")
    with pytest.raises(lmkin.LmkinError, match=r"\.nc or \.csv, or into a folder"):
        EXAMPLES["similarity"]().save(tmp_path / "file.xlsx")
