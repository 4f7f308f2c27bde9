"""The two gates: what is read is a regular file of a sane size inside its folder; what is written follows no link."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import stat
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.activations.manifest import manifest_checksum
from lmkin.core import (
    Choice,
    FolderLock,
    Number,
    Text,
    Unfit,
    Whole,
    cell,
    checked,
    locked,
    parse_json,
    read_file,
    replacing,
    to_json,
)

OPTIONS: dict[str, Any] = {"progress": False, "shard_bytes": 4000}


@pytest.fixture
def store(tiny: lmkin.LanguageModel, sample: lmkin.Corpus, tmp_path: Path) -> Path:
    lmkin.extract(tiny, sample[:30], tmp_path / "acts", **OPTIONS)
    return tmp_path / "acts"


def edit_manifest(store: Path, change: Any) -> None:
    """Somebody changes a manifest, and makes its checksum right."""
    manifest = json.loads((store / "manifest.json").read_text("utf-8"))
    change(manifest)
    manifest["checksum"] = manifest_checksum(manifest)
    (store / "manifest.json").write_text(to_json(manifest), "utf-8")


# -- links and names ------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["precious", "nothing"])
def test_a_lock_that_is_a_link_empties_nothing(target: str, tiny, sample, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    folder = tmp_path / "acts"
    folder.mkdir()
    (folder / ".lock").symlink_to(tmp_path / target)
    with pytest.raises(lmkin.LmkinError, match=r"\.lock is in the way"):
        lmkin.extract(tiny, sample[:3], folder, **OPTIONS)
    assert precious.read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_a_lock_that_is_a_file_of_somebody_stays(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("mine")
    with pytest.raises(lmkin.LmkinError, match="no lock of lmkin"):
        FolderLock(tmp_path).acquire()
    assert (tmp_path / ".lock").read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["../victim/x.safetensors", "/tmp/x.safetensors", "a/b", "..", "", 7]
)
def test_no_shard_lies_outside_its_store(name: Any, tiny, sample, store: Path) -> None:
    victim = store.parent / "victim"
    victim.mkdir()
    (victim / "x.safetensors").write_text("mine")
    edit_manifest(store, lambda m: m["shards"][0].update(file=name))
    with pytest.raises(lmkin.ActivationsError, match=r"manifest\.json is damaged"):
        lmkin.open_activations(store)
    with pytest.raises(lmkin.ActivationsError):
        lmkin.extract(tiny, sample[:30], store, **OPTIONS)
    assert (victim / "x.safetensors").read_text() == "mine"
    assert list(victim.iterdir()) == [victim / "x.safetensors"]


def test_a_shard_that_is_a_link_is_not_read(store: Path) -> None:
    shard = store / "shard-00000.safetensors"
    shard.rename(store.parent / "elsewhere")
    shard.symlink_to(store.parent / "elsewhere")
    with pytest.raises(lmkin.ActivationsError, match="is a link"):
        lmkin.open_activations(store)


def test_what_is_written_replaces_a_link_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "file").symlink_to(tmp_path / "precious")
    with replacing(tmp_path / "file") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "file").read_text() == "new"
    assert not (tmp_path / "file").is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "precious"]


def test_the_temporary_name_cannot_be_guessed(tmp_path: Path) -> None:
    names = []
    for _ in range(20):
        with replacing(tmp_path / "file") as temporary:
            names.append(temporary.name)
            assert temporary.exists()
    assert len(set(names)) == 20


def test_a_very_long_name_can_be_written(tmp_path: Path) -> None:
    name = "ä" * 120 + ".txt"
    with replacing(tmp_path / name) as temporary:
        temporary.write_text("x")
    assert (tmp_path / name).read_text() == "x"


@pytest.mark.parametrize("place", ["the file", "its folder"])
def test_what_the_disk_does_not_take_is_said(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is handed to the disk before it gets its name, the name after that: both may fail."""
    (tmp_path / "file").write_text("old")
    flushed: list[bool] = []

    def full(descriptor: int) -> None:
        flushed.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        if flushed[-1] == (place == "its folder"):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with (
        pytest.raises(lmkin.ActivationsError, match="disk is full"),
        replacing(tmp_path / "file") as temporary,
    ):
        temporary.write_text("new")
    assert flushed == ([False] if place == "the file" else [False, True])
    assert (tmp_path / "file").read_text() == ("old" if place == "the file" else "new")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EBADF, errno.EIO])
def test_file_systems_that_hand_nothing_on_are_taken(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But an error of the disk itself is one."""

    def failing(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", failing)
    expected = pytest.raises(OSError, match="error") if number == errno.EIO else nullcontext()
    with expected, replacing(tmp_path / "file") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "file").exists() == (number != errno.EIO)


# -- flipped bits ---------------------------------------------------------------------------------


def test_no_flipped_bit_of_a_store_is_read_as_something_else(store: Path) -> None:
    whole = lmkin.open_activations(store)
    expected = {n: np.array(whole.layer(n)) for n in whole.layers}
    random = np.random.default_rng(0)
    refused = 0
    for file in sorted(store.iterdir()):
        good = file.read_bytes()
        for place in random.integers(0, 8 * min(len(good), 6000), 25).tolist():
            data = bytearray(good)
            data[place // 8] ^= 1 << place % 8
            file.write_bytes(data)
            try:
                acts = lmkin.open_activations(store)
            except lmkin.LmkinError:
                refused += 1
                continue
            assert acts.units.texts == whole.units.texts
            assert all(np.array_equal(acts.layer(n), a) for n, a in expected.items())
            assert acts.manifest == whole.manifest
        file.write_bytes(good)
    assert refused > 20


# -- what is no file, or too large ----------------------------------------------------------------


def test_pipes_devices_and_folders_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    (tmp_path / "folder.conllu").mkdir()
    for name in ("pipe.txt", "zero.txt"):
        with pytest.raises(lmkin.CorpusError, match="no regular file"):
            lmkin.read_corpus(tmp_path / name)
    os.mkfifo(tmp_path / "pipe.nc")
    os.mkfifo(tmp_path / "pipe.safetensors")
    for name in ("pipe.nc", "pipe.safetensors"):
        with pytest.raises(lmkin.LmkinError):
            lmkin.load(tmp_path / name)
    with pytest.raises(lmkin.LmkinError, match="is a folder"):
        read_file(tmp_path / "folder.conllu")
    (tmp_path / "long").write_bytes(b"x" * 11)
    with pytest.raises(lmkin.LmkinError, match="10 at most are expected"):
        read_file(tmp_path / "long", 10)


def test_packed_text_that_is_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(100):
            file.write(b"a b c\n" * 200_000)
    with pytest.raises(lmkin.CorpusError, match="no text packs into so small a file"):
        lmkin.read_corpus(path)
    with gzip.open(path, "wb") as file:
        file.write(b"A sentence.\n" * 50_000)
    assert len(lmkin.read_corpus(path)) == 50_000


# -- JSON -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, "9" * 5000, "NaN", "[1e999]" * 2, "", "{", "[" * 80 + "]" * 80],
)  # fmt: skip
def test_json_that_is_none_is_unfit(text: str) -> None:
    with pytest.raises(Unfit) as caught:
        checked(parse_json(text), Number(-1e9, 1e9))
    assert len(str(caught.value)) < 300


def test_schemas_name_the_place() -> None:
    schema = {
        "a": [{"b": Whole(0, 3), "c?": (Text("x+"), None)}],
        "d": Choice(("p", "q")),
        str: bool,
    }
    good = {"a": [{"b": 1}, {"b": 3, "c": "xx"}], "d": "q", "more": True}
    assert checked(good, schema) is good
    for data, says in (
        ({**good, "a": [{"b": 1}, {"b": 4}]}, r"a\[1\]\.b: a whole number from 0 to 3"),
        ({**good, "a": [{"b": True}]}, r"a\[0\]\.b: a whole number"),
        ({**good, "a": [{"b": 1, "c": "y"}]}, r"a\[0\]\.c: a text of another form"),
        ({**good, "a": {}}, "a: a list is expected"),
        ({**good, "d": ["p"]}, "d: one of p, q"),
        ({**good, "more": 1}, "'more': true or false"),
        ({"a": []}, "d is missing"),
        ([], "a mapping is expected"),
    ):
        with pytest.raises(Unfit, match=says):
            checked(data, schema)


# -- names and texts that cannot be written -------------------------------------------------------


def test_half_of_a_character_is_refused_where_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": "fine"}\n{"text": "half \\ud83d of it"}\n')
    with pytest.raises(lmkin.CorpusError, match="lone surrogate"):
        lmkin.read_corpus(path)


IN_TURN = """
import sys
from lmkin.__main__ import main

ends = sys.argv[1:]
while ends:
    count = int(ends.pop(0))
    sys.argv[1:], ends = ends[:count], ends[count:]
    try:
        main()
    except SystemExit as end:
        print("ended with", end.code or 0, file=sys.stderr, flush=True)
"""


def in_ascii(*commands: tuple[Any, ...]) -> list[tuple[int, bytes]]:
    """The exit code of each command, and what it said, one after another on a terminal that knows ASCII alone."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    words = [word for command in commands for word in (str(len(command)), *command)]
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN, *map(os.fsencode, words)],
        capture_output=True, env=environment, check=True,
    )  # fmt: skip
    *said, _ = re.split(rb"ended with (\d+)\n", done.stderr)
    return [(int(code), text) for text, code in zip(said[::2], said[1::2], strict=True)]


def test_file_names_that_are_not_utf8(model_folder, tmp_path: Path) -> None:
    """A corpus is shown as well as can be; a model cannot be loaded by such a name, and that is said."""
    corpus = Path(os.fsdecode(os.fsencode(tmp_path) + b"/corpus-\xff.txt"))
    corpus.write_text("One line here.\nAnother line there.\nA third one.\n" * 4)
    model = Path(os.fsdecode(os.fsencode(tmp_path) + b"/model-\xfe"))
    model.symlink_to(model_folder("bert"))
    out = tmp_path / "out"
    options = ("--layers", "0", "-m", "ckasim", "--parts", "2", "--no-charts", "-o", out)
    (code, said), (inspected, _), (refused, why) = in_ascii(
        ("similarity", model_folder("bert"), "--names", "naive", "-c", corpus, *options),
        ("inspect", out),
        ("similarity", model, "-c", corpus, *options[:-1], tmp_path / "other"),
    )
    assert code == 0, said[-2000:]
    assert lmkin.load(out).models == ["naive"]
    assert "corpus-�.txt" in (out / "report.html").read_text("utf-8")
    assert inspected == 0
    assert refused == 1
    assert b"Traceback" not in why
    assert b"Cannot load the model" in why


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx"])
def test_cells_are_no_formulas(text: str) -> None:
    assert cell(text) == f"'{text}"
    assert [cell(v) for v in ("-", "-1.5", "+3", "a=b", "", 2, None)] == [
        "-",
        "-1.5",
        "+3",
        "a=b",
        "",
        2,
        None,
    ]


# -- nothing already made is lost -----------------------------------------------------------------


def test_old_results_stay_where_new_ones_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    first, second = (
        lmkin.similarity(
            {n: random.normal(size=(80, 4)) for n in "ab"}, measures="ckasim", progress=False
        )
        for _ in range(2)
    )
    lmkin.write_result(first, tmp_path / "r", charts=False)
    before = {p.name: p.read_bytes() for p in (tmp_path / "r").iterdir()}

    def fails(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lmkin.report.result_folder.write_report", fails)
    with pytest.raises(OSError, match="No space"):
        lmkin.write_result(second, tmp_path / "r", charts=False, overwrite=True)
    assert {p.name: p.read_bytes() for p in (tmp_path / "r").iterdir()} == before
    assert lmkin.load(tmp_path / "r").ckasim.equals(first.ckasim)


def test_old_activations_stay_until_the_new_ones_are_whole(
    tiny, sample, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = np.array(lmkin.open_activations(store).layer(0))
    with monkeypatch.context() as patch:
        patch.setattr(
            type(tiny), "run", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("boom"))
        )
        with pytest.raises(RuntimeError, match="boom"):
            lmkin.extract(tiny, sample[:40], store, overwrite=True, **OPTIONS)
    assert np.array_equal(lmkin.open_activations(store).layer(0), before)
    lmkin.extract(tiny, sample[:40], store, overwrite=True, **OPTIONS)
    assert len(lmkin.open_activations(store)) > len(before)
    assert not (store / ".replacement").exists()


def test_two_runs_cannot_write_to_one_folder(tmp_path: Path) -> None:
    result = lmkin.similarity(
        {n: np.random.default_rng(0).normal(size=(80, 4)) for n in "ab"},
        measures="ckasim",
        progress=False,
    )
    with locked(tmp_path), pytest.raises(lmkin.LmkinError, match="Another process is writing"):
        lmkin.write_result(result, tmp_path, charts=False)
    lmkin.write_result(result, tmp_path, charts=False)
