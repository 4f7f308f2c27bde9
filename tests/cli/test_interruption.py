"""Ctrl-C at any moment: one paragraph on what is kept and how to go on, code 130, and the same command goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from lmkin.cli.interruption import interruption_text
from lmkin.core import interruption
from lmkin.results import load_result
from loaded_processes import LoadedProcess, run_loaded

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")

# A measure that stops at the moment of interest, in every way in which an interrupt has come out: the file `reached`
# says that it is there, the byte in `go` lets it go on.
MEASURE = '''
import ctypes, os, pathlib, time
import numba
import numpy as np
import lmkin

HERE = pathlib.Path(__file__).parent
GO = np.asarray(np.memmap(HERE / "go", np.uint8, "r+", shape=(1,)))
MOMENT = os.environ.get("MOMENT", "")

usleep = ctypes.CDLL(None).usleep  # a call that the compiler cannot see through: it reads go[0] again
usleep.argtypes, usleep.restype = [ctypes.c_uint], ctypes.c_int

@numba.njit(nogil=True)
def spin(go):
    while go[0] == 0:
        usleep(1000)
    return go[0]

spin(np.ones(1, np.uint8))  # compiled before it counts

def wait():
    """Runs Python code until the interrupt is raised in it."""
    while True:
        time.sleep(0.001)

class Swallows:
    def __del__(self):
        (HERE / "reached").touch()
        wait()

def reach(moment):
    if moment == "compiled":
        (HERE / "reached").touch()
        spin(GO)
    elif moment == "another error":
        (HERE / "reached").touch()
        try:
            wait()
        except KeyboardInterrupt as error:
            raise SystemError("<built-in method> returned a result with an exception set") from error
    elif moment == "swallowed":
        Swallows()

@lmkin.measure("waitsim", title="wait", summary="Waits.", needs="moments", symmetric=True, range=(0.0, 1.0),
               invariances=())
def waitsim(pair):
    """1."""
    if MOMENT and not (HERE / "reached").exists():
        reach(MOMENT)
    return 1.0
'''


@pytest.fixture
def waiting(model_folder, tmp_path: Path) -> list[str]:
    """A command whose measure waits where MOMENT says."""
    (tmp_path / "wait.py").write_text(MEASURE)
    (tmp_path / "go").write_bytes(b"\0")
    return [
        "similarity", str(model_folder("bert")), "-c", "sample", "--limit", "500",
        "-o", str(tmp_path / "out"), "-m", "ckasim,waitsim", "--load", str(tmp_path / "wait.py"), "--no-charts",
    ]  # fmt: skip


def _hears_the_key() -> None:
    """A job in the background of a shell ignores Ctrl-C, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def begun(
    arguments: list[str], folder: Path, code: str = "", **environment: str
) -> Iterator[LoadedProcess]:
    """A process that has reached its moment."""
    process = LoadedProcess(arguments, code, {"COLUMNS": "500", **environment})
    try:
        while not (folder / "reached").exists():
            assert process.alive(), process.stderr
            time.sleep(0.01)
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
            process.wait()


def release(folder: Path) -> None:
    np.memmap(folder / "go", np.uint8, "r+", shape=(1,))[0] = 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "threads"),  # Python raises interrupts in the main thread only
    [("compiled", "1"), ("compiled", "2"), ("another error", "1"), ("swallowed", "1")],
)
def test_one_paragraph_and_130_and_it_goes_on(
    waiting: list[str], tmp_path: Path, moment: str, threads: str
) -> None:
    with begun(waiting, tmp_path, MOMENT=moment, OMP_NUM_THREADS=threads) as process:
        process.send_signal(signal.SIGINT)
        release(tmp_path)
        process.wait()
    error = process.stderr
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert "bug" not in error
    said = [line for line in error.splitlines() if line.startswith("Error:")]
    assert said == [
        f"Error: Interrupted. What was finished is kept in {tmp_path / 'out'}; run the same command again to go on "
        f"from there."
    ]
    assert list((tmp_path / "out" / "unfinished").glob("moments.*.safetensors"))
    if moment != "swallowed":  # a run takes seconds; what is kept is the same after all of them
        return
    again = run_loaded(waiting)
    assert again.returncode == 0, again.stderr
    assert "Going on: 10 of 10 shards" in again.stderr
    assert (load_result(tmp_path / "out" / "similarity.nc")["waitsim"] == 1).all()


@pytest.mark.slow
def test_a_second_key_ends_a_compiled_call_that_would_not_return(
    waiting: list[str], tmp_path: Path
) -> None:
    with begun(waiting, tmp_path, MOMENT="compiled", OMP_NUM_THREADS="1") as process:
        process.send_signal(signal.SIGINT)
        while "again ends at once" not in process.stderr:
            assert process.alive(), process.stderr
            time.sleep(0.01)
        before = len(process.stderr)
        process.send_signal(signal.SIGINT)
        process.wait()
    error = process.stderr[before:]
    assert process.returncode == 130
    assert "What was finished is kept" in error
    assert "Traceback" not in error


READS = """
import sys, time
from pathlib import Path
from lmkin.cli import run
from lmkin.corpus import reader

def wait(path, formats):
    (path.parent / "reached").touch()
    while True:
        time.sleep(0.001)

reader._detect = wait
run(sys.argv[1:])
"""


def test_nothing_kept_is_not_promised(tmp_path: Path) -> None:
    """Interrupted while it reads: the paragraph says that the same command begins anew."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("A sentence.\n")
    with begun(["inspect", str(corpus)], tmp_path, READS) as process:
        process.send_signal(signal.SIGINT)
        process.wait()
    assert process.returncode == 130
    assert " ".join(process.stderr.split()) == (
        "Error: Interrupted before anything was finished that could be kept; run the same command again to begin anew."
    )


def test_a_store_without_a_shard_is_nothing_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it has before its first shard took no time, and no model has run for it."""
    monkeypatch.setattr("lmkin.cli.interruption._written", [tmp_path])
    store = tmp_path / "unfinished" / "m.acts"
    store.mkdir(parents=True)
    for name in ("manifest.json", "corpus.jsonl", "units.safetensors", ".shard-00000.tmp"):
        (store / name).write_text("x")
    assert "begin anew" in interruption_text()
    (store / "shard-00000.safetensors").write_text("x")
    assert f"is kept in {tmp_path};" in interruption_text()


def test_a_key_inside_exec_is_130_too() -> None:
    """Python would end itself by SIGINT after an interrupt inside exec(), although it was handled."""
    code = (
        "import signal, sys, lmkin.cli, lmkin.corpus\n"
        "def read(*a, **k): exec('signal.raise_signal(signal.SIGINT)', {'signal': signal})\n"
        "lmkin.corpus.read_corpus = read\n"
        "lmkin.cli.run(['inspect', 'sample'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_hears_the_key,
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr.startswith("Error: Interrupted")


def test_without_a_key_everything_is_as_before() -> None:
    hook, handler = sys.unraisablehook, signal.default_int_handler
    before = signal.signal(signal.SIGINT, handler)
    try:
        with interruption.watched_interrupts(lambda: ""):
            assert signal.getsignal(signal.SIGINT) is not handler
            interruption.stop_if_interrupted()
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert sys.unraisablehook is hook
    assert not interruption.interrupted()
