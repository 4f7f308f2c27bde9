"""A store on disk: resume after a kill, damage, other runs in the way."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import lmkin
from loaded_processes import run_loaded

OPTIONS = {"shard_bytes": 20_000, "batch_tokens": 32}


@pytest.fixture(scope="module")
def finished(model_folder, sample, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "acts"
    lmkin.extract(
        lmkin.load_model(model_folder("bert"), name="tiny"), sample[:60], folder, **OPTIONS
    )
    return folder


@pytest.fixture
def store(finished: Path, tmp_path) -> Path:
    """A copy of a finished store, to be damaged."""
    return Path(shutil.copytree(finished, tmp_path / "acts"))


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("shard-*.safetensors"))


def times(files: list[Path]) -> dict[str, int]:
    return {f.name: f.stat().st_mtime_ns for f in files}


def run_count(model, monkeypatch) -> list[int]:
    """A list that grows with every batch that a model runs."""
    ran: list[int] = []
    run = type(model).run

    def counted(self, windows, layers, **options):
        ran.append(len(windows))
        return run(self, windows, layers, **options)

    monkeypatch.setattr(type(model), "run", counted)
    return ran


KILLED = """
import os, signal, sys
from lmkin.activations import shards
from lmkin.cli import run

write, count = shards.write_file, 0

def killed_at_the_fourth(path, data):
    global count
    count += 1
    if count == 4:
        path.write_bytes(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, data)

shards.write_file = killed_at_the_fourth
run(sys.argv[1:])
"""
"""A command that is killed in the middle of a file."""


@pytest.mark.slow
def test_kill_and_resume(model_folder, tmp_path) -> None:
    """A real process, killed with SIGKILL while it writes its fourth shard; then the same command again."""
    out = tmp_path / "killed.acts"
    arguments = [
        "extract", str(model_folder("bert")), "sample", "-o", str(out), "--shard-mb", "0.2", "--batch-tokens", "64",
        "--threads", "1",
    ]  # fmt: skip
    killed = run_loaded(arguments, KILLED)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    survivors = times(shards(out))
    planned = len(json.loads((out / "manifest.json").read_text())["shards"])
    assert 3 == len(survivors) < planned
    assert list(out.glob(".*tmp"))  # the fourth, half of it
    with pytest.raises(lmkin.ActivationsError, match=f"half-written: .* of {planned} shards"):
        lmkin.open_activations(out)

    again = run_loaded(arguments)
    assert again.returncode == 0, again.stderr
    assert f"Going on: 3 of {planned} shards" in again.stderr
    assert len(shards(out)) == planned
    assert survivors.items() <= times(shards(out)).items()  # none of them was written again
    assert not list(out.glob(".*tmp")), "left-overs of the killed process"
    resumed = lmkin.open_activations(out)
    whole = lmkin.extract(str(model_folder("bert")), "sample")
    for layer in whole.layers:
        np.testing.assert_allclose(
            np.asarray(resumed.layer(layer)), np.asarray(whole.layer(layer)), atol=1e-4
        )


def test_finished_store_is_not_computed_again(tiny, sample, store, monkeypatch) -> None:
    ran = run_count(tiny, monkeypatch)
    before = times(shards(store))
    lmkin.extract(tiny, sample[:60], store, **OPTIONS)
    assert not ran
    assert before == times(shards(store))


def test_only_what_is_missing_or_damaged_is_computed(tiny, sample, store, monkeypatch) -> None:
    files = shards(store)
    expected = {f.name: f.read_bytes() for f in files}
    files[1].unlink()
    flip_a_bit(files[3])
    untouched = times([f for i, f in enumerate(files) if i not in (1, 3)])
    ran = run_count(tiny, monkeypatch)
    lmkin.extract(tiny, sample[:60], store, **OPTIONS)
    assert ran
    assert untouched.items() <= times(shards(store)).items()
    assert {f.name: f.read_bytes() for f in shards(store)} == expected


def test_resume_keeps_the_cuts_of_the_first_try(tiny, sample, store) -> None:
    shards(store)[0].unlink()
    lmkin.extract(tiny, sample[:60], store, shard_bytes=10_000_000)
    assert len(lmkin.open_activations(store)) == sample[:60].n_words


def flip_a_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)


def cut_in_half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def garbage(file: Path) -> None:
    file.write_bytes(os.urandom(500))


@pytest.mark.parametrize("damage", [flip_a_bit, cut_in_half, empty, garbage, Path.unlink])
@pytest.mark.parametrize(
    "name", ["shard-00002.safetensors", "units.safetensors", "corpus.jsonl", "manifest.json"]
)
def test_damage_is_said_when_a_store_is_opened(store, name: str, damage) -> None:
    damage(store / name)
    with pytest.raises(lmkin.ActivationsError, match=r"damaged|missing|no store of activations"):
        lmkin.open_activations(store)


def test_shard_of_another_run_is_found(tiny, sample, store, tmp_path) -> None:
    lmkin.extract(tiny, sample[60:120], tmp_path / "other", **OPTIONS)
    shutil.copy(tmp_path / "other" / "shard-00002.safetensors", store)
    with pytest.raises(lmkin.ActivationsError, match="belongs to another run"):
        lmkin.open_activations(store)


def test_another_run_in_the_way(tiny, sample, store, monkeypatch) -> None:
    with pytest.raises(
        lmkin.ActivationsError, match=r"another run \(corpus\.sentences: 60 there, 61 now"
    ):
        lmkin.extract(tiny, sample[:61], store)
    with pytest.raises(
        lmkin.ActivationsError, match=r"another run \(units\.rule\.pooling: last there, mean now"
    ):
        lmkin.extract(tiny, sample[:60], store, pooling="mean")
    lmkin.extract(tiny, sample[:61], store, overwrite=True)
    assert len(lmkin.open_activations(store)) == sample[:61].n_words


def test_another_model_in_the_way(model_folder, sample, store) -> None:
    twin = lmkin.load_model(f"untrained:{model_folder('bert')}", name="tiny")
    with pytest.raises(lmkin.ActivationsError, match=r"another run \(model\.(seed|weights)"):
        lmkin.extract(twin, sample[:60], store)


def test_foreign_folder_is_left_alone(tiny, sample, tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(lmkin.ActivationsError, match=r"thesis\.tex.*nothing was touched"):
            lmkin.extract(tiny, sample[:3], tmp_path, overwrite=overwrite)
    assert [f.name for f in tmp_path.iterdir()] == ["thesis.tex"]


def test_foreign_manifest_is_left_alone(tiny, sample, tmp_path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    for overwrite in (False, True):
        with pytest.raises(lmkin.ActivationsError, match="nothing was touched"):
            lmkin.extract(tiny, sample[:3], tmp_path, overwrite=overwrite)
    assert (tmp_path / "manifest.json").read_text() == '{"name": "a web page"}'


@pytest.mark.parametrize("key", ["status", "key", "model", "corpus", "units", "layers", "shards"])
def test_manifest_that_lacks_something(store, key: str) -> None:
    manifest = json.loads((store / "manifest.json").read_text())
    del manifest[key]
    (store / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(lmkin.ActivationsError, match="damaged"):
        lmkin.open_activations(store)


def test_killed_before_the_manifest_is_no_obstacle(tiny, sample, store) -> None:
    (store / "manifest.json").unlink()
    for file in shards(store):
        file.unlink()
    assert len(lmkin.extract(tiny, sample[:60], store)) == sample[:60].n_words


def test_store_of_a_later_format(store) -> None:
    manifest = json.loads((store / "manifest.json").read_text())
    manifest["lmkin_store"] = 99
    (store / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(lmkin.ActivationsError, match="store format 99"):
        lmkin.open_activations(store)


@pytest.mark.parametrize("path", ["nowhere", "file.txt", "folder"])
def test_paths_that_are_no_store(tmp_path, path: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(lmkin.ActivationsError, match=r"no store|is a file"):
        lmkin.open_activations(tmp_path / path)


def test_full_disk_is_explained_and_finished_shards_stay(
    tiny, sample, tmp_path, monkeypatch
) -> None:
    import errno

    from lmkin.activations import shards as module

    write = module.write_file
    count = 0

    def fills_up(path, data):
        nonlocal count
        count += 1
        write(path, data[: len(data) // 2] if count > 3 else data)
        if count > 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "write_file", fills_up)
    with pytest.raises(lmkin.ActivationsError, match=r"disk is full.*run the same command again"):
        lmkin.extract(tiny, sample[:60], tmp_path / "acts", **OPTIONS)
    assert len(shards(tmp_path / "acts")) == 3  # the fourth did not fit
    assert not list((tmp_path / "acts").glob(".*tmp"))
    monkeypatch.setattr(module, "write_file", write)
    assert (
        len(lmkin.extract(tiny, sample[:60], tmp_path / "acts", **OPTIONS)) == sample[:60].n_words
    )


def test_a_really_full_disk(tiny, sample, monkeypatch, tmp_path) -> None:
    """A file system of fixed size in memory, filled up; where one may be mounted."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no permission to mount a file system here")
    try:
        monkeypatch.setattr("lmkin.activations.extraction.require_disk", lambda *a: None)
        with pytest.raises(lmkin.ActivationsError, match="disk is full"):
            lmkin.extract(tiny, sample[:120], tmp_path / "acts", **OPTIONS)
        planned = json.loads((tmp_path / "acts" / "manifest.json").read_text())["shards"]
        assert 0 < len(shards(tmp_path / "acts")) < len(planned)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_second_writer_is_turned_away(tiny, sample, store) -> None:
    from lmkin.core.files.lock import FolderLock

    lock = FolderLock(store)
    lock.acquire()
    with pytest.raises(lmkin.ActivationsError, match="Another process is writing"):
        lmkin.extract(tiny, sample[:60], store, **OPTIONS)
    lock.release()
    lmkin.extract(tiny, sample[:60], store, **OPTIONS)
    assert not (store / ".lock").exists()


def test_leftovers_of_a_killed_process_are_swept(tiny, sample, store) -> None:
    (store / ".shard-00001.safetensors.0123456789abcdef.tmp").write_bytes(b"half a shard")
    lmkin.extract(tiny, sample[:60], store, **OPTIONS)
    assert not list(store.glob(".*"))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_explained_whoever_writes(tmp_path, number) -> None:
    """safetensors has an error of its own, with the number in its text."""
    from safetensors import SafetensorError

    from lmkin.core.files.atomic import replacing

    for error in (
        OSError(number, "No space"),
        SafetensorError(f"Error while serializing: I/O error: No space (os error {number})"),
    ):
        with pytest.raises(lmkin.ActivationsError, match="disk is full"), replacing(tmp_path / "x"):
            raise error
    with pytest.raises(SafetensorError), replacing(tmp_path / "x"):
        raise SafetensorError("Error while serializing: I/O error: Denied (os error 13)")
