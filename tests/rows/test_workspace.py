"""A workspace knows its own files: it finds them again, makes damaged ones again, and removes nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lmkin.core import LmkinError, replacing
from lmkin.rows import Workspace


def save(value: str, path: Path) -> None:
    with replacing(path) as temporary:
        temporary.write_text(f"<{value}>")


def load(path: Path) -> str:
    text = path.read_text()
    if not text.endswith(">"):
        raise LmkinError("damaged")
    return text[1:-1]


class Counted:
    """A value that is computed, and how often."""

    def __init__(self, value: str):
        self.value = value
        self.times = 0

    def __call__(self) -> str:
        self.times += 1
        return self.value


def step(work: Workspace, compute: Any, name: str = "step") -> str:
    return work.step(name, compute, save, load, ending="txt")


def test_a_step_is_computed_once(tmp_path: Path) -> None:
    compute = Counted("a")
    for _ in range(3):
        assert step(Workspace(tmp_path, {"seed": 1}), compute) == "a"
    assert compute.times == 1


def test_without_a_folder_nothing_is_kept() -> None:
    compute = Counted("a")
    work = Workspace()
    assert not work.keeps
    assert [step(work, compute), step(work, compute)] == ["a", "a"]
    assert compute.times == 2
    work.clear()
    with pytest.raises(ValueError, match="no folder"):
        work.path("step")


def test_another_key_or_name_is_another_file(tmp_path: Path) -> None:
    work = Workspace(tmp_path, {"seed": 1})
    places = [
        work,
        Workspace(tmp_path, {"seed": 2}),
        work.within(rows="x"),
        work.within(rows="y"),
        work.within(seed=3),
    ]
    values = [step(place, Counted(str(k))) for k, place in enumerate(places)]
    values += [step(work, Counted("other"), "other")]
    assert values == ["0", "1", "2", "3", "4", "other"]
    assert len(list(tmp_path.iterdir())) == 6
    assert [step(place, Counted("new")) for place in places] == values[:5]
    assert work.key == {"seed": 1}


def test_the_order_of_a_key_says_nothing(tmp_path: Path) -> None:
    one, other = {"a": 1, "b": [2, None]}, {"b": [2, None], "a": 1}
    assert Workspace(tmp_path, one).path("x") == Workspace(tmp_path, other).path("x")


@pytest.mark.parametrize("damage", ["<", "", "<a"])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: str) -> None:
    work = Workspace(tmp_path)
    step(work, Counted("a"))
    work.path("step", "txt").write_text(damage)
    compute = Counted("a")
    assert step(work, compute) == "a"
    assert compute.times == 1
    assert load(work.path("step", "txt")) == "a"


def test_a_workspace_or_a_folder_will_do(tmp_path: Path) -> None:
    work = Workspace(tmp_path, {"seed": 1})
    assert Workspace.of(work) is work
    assert Workspace.of(str(tmp_path)).folder == tmp_path
    assert not Workspace.of(None).keeps


def test_clear_removes_its_own_files_and_nothing_else(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    work = Workspace(folder, {"seed": 1})
    step(work, Counted("a"))
    step(Workspace(folder, {"seed": 2}), Counted("b"))  # of another run
    store = work.path("activations", "acts")
    (store / "0.acts").mkdir(parents=True)
    (store / "0.acts" / "shard.safetensors").write_text("x")
    half = folder / f".{work.path('step').name}.1234.tmp"
    half.write_text("half")
    (folder / ".tmpAb12_z").write_text("half, by the library that writes")
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine")
    foreign = ["notes.txt", "moments.safetensors", "step.0123.txt", ".hidden", ".tmp", ".tmpdata"]
    for name in foreign:
        (folder / name).write_text("mine")
    (folder / "data").mkdir()
    (folder / "data" / work.path("step").name).write_text("mine, in a folder of mine")
    links = [folder / "link", folder / f"link.{'0' * 32}.acts"]
    for link in links:
        link.symlink_to(elsewhere, target_is_directory=True)
    work.clear()
    left = {str(p.relative_to(folder)) for p in folder.rglob("*")}
    assert left == {*foreign, "data", f"data/{work.path('step').name}", *(p.name for p in links)}
    assert (elsewhere / "mine.txt").read_text() == "mine"


def test_clear_removes_the_folder_if_nothing_is_left(tmp_path: Path) -> None:
    work = Workspace(tmp_path / "deep" / "work")
    step(work, Counted("a"))
    work.clear()
    assert [p.name for p in tmp_path.rglob("*")] == ["deep"]
    work.clear()


def test_a_folder_says_of_which_run_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    Workspace().describe(analysis="probe")  # nowhere
    work = Workspace(folder, {"seed": 1})
    work.describe(analysis="probe", command="lmkin probe …")
    work.within(rows="x").describe(steps={"step": 3})
    assert work.about() == {"analysis": "probe", "command": "lmkin probe …", "steps": {"step": 3}}
    assert work.finished() == []
    step(work, Counted("a"))
    assert [path.name for path in work.finished()] == [work.path("step", "txt").name]
    work.clear_if_nothing_is_finished()
    assert folder.is_dir()
    (said,) = folder.glob("run.*.json")
    said.write_text('{"analysis": 3}')
    assert work.about() == {}
    work.clear()
    assert not folder.exists()
    work.describe(analysis="probe")
    work.clear_if_nothing_is_finished()
    assert not folder.exists()
