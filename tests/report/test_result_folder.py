"""A folder with everything that a result says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from made import similarity_of
from synthetic import similarities

import lmkin
from lmkin.analyses.similarity import Similarity
from lmkin.analysis import Analysis, Running, Source
from lmkin.core import Plan, fingerprint, option
from lmkin.report import Chapter, result_charts, run_to_folder, write_report, write_result
from lmkin.results import Result, load_result
from lmkin.rows import Workspace


def result(models: tuple[str, ...] = ("a", "b"), run: str | None = "one") -> Result:
    dataset = similarities(list(models), [2] * len(models), ["ckasim"], scaling=False)
    return similarity_of(dataset.assign_attrs(run=run))


def names(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def rewrite(folder: Path, **changed: Any) -> None:
    """Somebody changes a manifest, and makes its checksum right."""
    manifest = json.loads((folder / "lmkin.json").read_text("utf-8")) | changed
    manifest.pop("checksum")
    manifest["checksum"] = fingerprint(manifest)
    (folder / "lmkin.json").write_text(json.dumps(manifest), "utf-8")


def test_everything_is_written_and_listed(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    given = result()
    path = write_result(given, out, title="mine", chapters=[Chapter("More")], progress=False)
    assert path == out / "report.html"
    text = path.read_text("utf-8").split("<script")[0]
    assert "<h1>mine</h1>" in text
    assert "<h2>More</h2>" in text
    charts = {f"charts/{name}.{end}" for name in result_charts(given) for end in ("png", "svg")}
    own = {"similarity.nc", "similarity.csv", "averages.csv"}
    assert names(out) == {"lmkin.json", "report.html", *own, *charts}
    manifest = json.loads((out / "lmkin.json").read_text("utf-8"))
    assert set(manifest["files"]) == names(out) - {"lmkin.json"}
    assert (manifest["kind"], manifest["run"]) == ("similarity", "one")
    for name in charts:
        magic = b"\x89PNG" if name.endswith("png") else b"<svg"
        assert (out / name).read_bytes().startswith(magic)
    xr.testing.assert_equal(load_result(out / "similarity.nc"), given.dataset)


def test_the_same_run_again_and_another_one(tmp_path: Path) -> None:
    write_result(result(), tmp_path, charts=False)
    write_result(result(), tmp_path, charts=False)
    for other in (result(run="two"), result(run="")):
        with pytest.raises(lmkin.LmkinError, match=r"another run.*overwrite=True"):
            write_result(other, tmp_path)
    rewrite(tmp_path, kind="redundancy")
    with pytest.raises(lmkin.LmkinError, match=r"another kind \(redundancy\)"):
        write_result(result(), tmp_path)
    write_result(result(run="two"), tmp_path, charts=False, overwrite=True)
    assert json.loads((tmp_path / "lmkin.json").read_text("utf-8"))["run"] == "two"


def test_files_of_others_are_never_replaced(tmp_path: Path) -> None:
    """Whatever of lmkin's own has the same name, whether it may overwrite, by whatever way it is written."""
    given = result()
    drawn = f"charts/{next(iter(result_charts(given)))}.png"
    for number, name in enumerate(("report.html", "similarity.nc", "averages.csv", drawn)):
        folder = tmp_path / str(number)
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("mine")
        for overwrite in (False, True):
            with pytest.raises(lmkin.LmkinError, match=rf"{name} is there already.*did not write"):
                write_result(given, folder, progress=False, overwrite=overwrite)
            if name.endswith((".nc", ".csv")):
                with pytest.raises(lmkin.LmkinError, match="did not write"):
                    given.save(folder, overwrite=overwrite)
        assert (folder / name).read_text() == "mine"
        assert names(folder) == {name}
        (folder / name).unlink()
        (folder / name).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(lmkin.LmkinError, match="did not write"):
            write_result(given, folder, progress=False)
        assert (folder / name).is_symlink()
    out = tmp_path / "later"  # beside results of lmkin too
    write_result(given, out, charts=False)
    (out / "charts").mkdir()
    (out / drawn).write_text("mine")
    before = {name: (out / name).read_bytes() for name in names(out)}
    with pytest.raises(lmkin.LmkinError, match="did not write"):
        write_result(given, out, progress=False)
    assert {name: (out / name).read_bytes() for name in names(out)} == before


def test_a_result_that_is_saved_replaces_no_other_run(tmp_path: Path) -> None:
    """The rule of `write_result`, for `save` into a folder; what is one file is not replaced at all."""
    one, two = result(), result(run="two")
    out = tmp_path / "out"
    write_result(two, out, charts=False)
    before = {name: (out / name).read_bytes() for name in names(out)}
    with pytest.raises(lmkin.LmkinError, match=r"another run.*overwrite=True"):
        one.save(out)
    assert {name: (out / name).read_bytes() for name in names(out)} == before
    two.save(out)  # its own run
    one.save(out, overwrite=True)
    assert lmkin.load(out).attrs["run"] == "one"
    writers = {
        "r.nc": one.save, "r.csv": one.save,
        "r.html": lambda path, **more: write_report(one, out=path, **more),
    }  # fmt: skip
    for name, write in writers.items():
        (tmp_path / name).write_text("mine")
        with pytest.raises(lmkin.LmkinError, match=rf"{name} is there already.*overwrite=True"):
            write(tmp_path / name)
        assert (tmp_path / name).read_text() == "mine"
        write(tmp_path / name, overwrite=True)
        assert (tmp_path / name).read_bytes() != b"mine"


def test_old_files_go_when_the_new_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "charts").mkdir()
    for name in ("notes.txt", "charts/mine.png"):
        (tmp_path / name).write_text("mine")
    write_result(result(), tmp_path, progress=False)
    before = names(tmp_path)

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("lmkin.report.result_folder.write_report", fail)
        with pytest.raises(OSError, match="disk full"):
            write_result(result(run="two"), tmp_path, charts=False, overwrite=True)
    assert names(tmp_path) == before
    assert json.loads((tmp_path / "lmkin.json").read_text("utf-8"))["run"] == "one"
    write_result(result(run="two"), tmp_path, charts=False, overwrite=True)
    assert names(tmp_path) == {
        "notes.txt", "charts/mine.png", "lmkin.json", "report.html", "similarity.nc", "similarity.csv", "averages.csv"
    }  # fmt: skip


def test_an_edited_manifest_reaches_nothing_outside(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_result(result(), out, charts=False)
    outside = [tmp_path / "precious", tmp_path / "elsewhere" / "file"]
    for path in outside:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    (out / "linked").symlink_to(tmp_path / "elsewhere")
    (out / "link").symlink_to(outside[0])
    own = json.loads((out / "lmkin.json").read_text("utf-8"))["files"]
    for name in ("../precious", str(outside[0]), 7, ".", "a/../../precious", ""):
        rewrite(out, files=[*own, name])
        with pytest.raises(lmkin.LmkinError, match="is damaged"):
            write_result(result(), out, charts=False)
        write_result(result(), out, charts=False, overwrite=True)
    rewrite(out, files=[*own, "linked/file", "link", "gone"])
    write_result(result(), out, charts=False)
    assert all(path.read_text() == "mine" for path in outside)


def test_a_damaged_manifest_says_nothing(tmp_path: Path) -> None:
    for text in ("{", "[]", '"kind"', '{"kind": "similarity"}'):
        (tmp_path / "lmkin.json").write_text(text)
        with pytest.raises(lmkin.LmkinError, match="is damaged"):
            write_result(result(), tmp_path, charts=False)
        write_result(result(), tmp_path, charts=False, overwrite=True)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(lmkin.LmkinError, match="is a file"):
        write_result(result(), file)
    with pytest.raises(lmkin.LmkinError, match="Cannot make the folder"):
        write_result(result(), file / "inside")
    assert file.read_text() == "mine"


# -- an analysis into a folder ------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    layers: int = option(2, "How many.")


class Counting(Analysis[Asked]):
    """Takes no time, and counts how often it was run; fails while it is told to."""

    name, summary, function = "similarity", "Count.", "similarity"
    Options = Asked
    result = Similarity
    runs = 0
    failing = False

    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        raise NotImplementedError

    def run(self, source: Source, options: Any, running: Running, work: Workspace) -> Result:
        self.runs += 1
        work.folder.mkdir(parents=True, exist_ok=True)
        if self.failing:
            raise KeyboardInterrupt
        return result(run=None)


def test_an_analysis_runs_into_a_folder_and_goes_on(tmp_path: Path) -> None:
    analysis, running = Counting(), Running(progress=False)
    rows = np.random.default_rng(0).normal(size=(30, 3))

    def run(asked: Asked, **options: Any) -> Path:
        source = Source({"a/0": rows, "b/0": rows})
        return run_to_folder(
            analysis, source, asked, running, tmp_path / "out", charts=False, **options
        )[1]

    path = run(Asked(), command="lmkin similarity a b")
    assert "lmkin similarity a b" in path.read_text("utf-8").split("<script")[0]
    manifest = json.loads((path.parent / "lmkin.json").read_text("utf-8"))
    assert manifest["run"]
    run(Asked())
    assert json.loads((path.parent / "lmkin.json").read_text("utf-8"))["run"] == manifest["run"]
    with pytest.raises(lmkin.LmkinError, match="another run"):
        run(Asked(layers=3))
    assert analysis.runs == 2  # refused before anything was computed
    before = {name: (path.parent / name).read_bytes() for name in names(path.parent)}
    analysis.failing = True
    with pytest.raises(KeyboardInterrupt):
        run(Asked(layers=3), overwrite=True)
    for name, content in before.items():
        assert (path.parent / name).read_bytes() == content  # the old ones are whole
    analysis.failing, before_it = False, analysis.runs
    run(Asked(layers=3), overwrite=True)
    assert json.loads((path.parent / "lmkin.json").read_text("utf-8"))["run"] != manifest["run"]
    assert not (path.parent / "unfinished").exists()
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "report.html").write_text("mine")
    with pytest.raises(lmkin.LmkinError, match="did not write"):
        run_to_folder(
            analysis, Source({"a/0": rows, "b/0": rows}), Asked(), running, foreign, overwrite=True
        )
    assert (foreign / "report.html").read_text() == "mine"
    assert analysis.runs == before_it + 1  # refused before anything was computed
