"""One mutant after another in a process of its own, with bounds for memory and time; what became of each."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import json
import os
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import lmkin
from fuzz.mutant import Mutant, write_mutant
from fuzz.target import Target, digest

SECONDS = 5
"""What takes longer hangs."""
ADDRESSES, RESIDENT = 2 * 2**30, 2**30
"""Bytes beyond what the process had: of addresses, which the system refuses; of memory, which is measured."""
FAILURES = ("FOREIGN", "CRASH", "HANG", "MEMORY", "SILENT")
_SOURCE = Path(lmkin.__file__).parent
_FRAME = re.compile(rf'File "{re.escape(str(_SOURCE))}/(.*)", line (\d+) in (\w+)')


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: same, other (both read without an error), refused, idle, or one of `FAILURES`."""

    status: str
    what: str = ""
    """The class of an exception or the signal, and the first line of what it said."""
    place: str = ""
    """The innermost line of lmkin."""
    stage: str = "read"
    """Whether it was read, or what was read was used."""

    @property
    def failed(self) -> bool:
        """Whether it must not happen."""
        return self.status in FAILURES

    @property
    def group(self) -> tuple[str, str, str, str]:
        """What is probably one mistake."""
        return self.status, self.what.split(":")[0], self.place, self.stage


Work = list[tuple[int, Callable[[], Mutant]]]
"""Mutants by number; they are made by those who try them."""


def serve(work: Work, target: Target, valid: Path, known: str, pipe: TextIO, trace: Path) -> None:
    """In a child: try mutants, and write a line before and after each to a pipe."""
    folder = trace.parent / "mutant"
    with trace.open("w") as file:
        _prepare(file)
        for number, make in work:
            mutant = make()
            changed = write_mutant(mutant, target, valid, folder)
            pipe.write(json.dumps({"begin": number, "mutant": asdict(mutant)}) + "\n")
            pipe.flush()
            outcome = (
                try_mutant(mutant, target, folder, known, file) if changed else Outcome("idle")
            )
            pipe.write(json.dumps({"end": number, **asdict(outcome)}) + "\n")
            pipe.flush()
            if outcome.status == "MEMORY":
                break  # what is left of it would count for the next


def _prepare(file: TextIO) -> None:
    """Bounds, silence, and a trace for what no exception tells of."""
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).mallopt(
        -8, 2
    )  # two arenas: each that a thread opens takes 128 MB of addresses
    faulthandler.enable(file)
    warnings.simplefilter("ignore")
    gc.freeze()  # what the parent made is not looked at again and again
    limit = _memory("VmSize") + ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def try_mutant(mutant: Mutant, target: Target, folder: Path, known: str, trace: TextIO) -> Outcome:
    """Read a mutant, use it, and say what happened."""
    stage, seen = "read", ""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _memory("VmRSS")
    trace.seek(0)
    trace.truncate()
    try:
        with _watched(trace):
            made = target.read(folder)
            stage = "use"
            seen = digest(target.use(made))
    except BaseException as error:  # whatever it is: this is what is looked for
        outcome = _of_error(error, stage)
    else:
        outcome = Outcome("same" if seen == known else "other", stage="use")
        if outcome.status == "other" and target.sealed and mutant.is_flip:
            outcome = Outcome(
                "SILENT", "a flipped bit was read as something else", mutant.file, "use"
            )
    grown = _memory("VmHWM") - before
    if grown > RESIDENT and outcome.status != "MEMORY":
        return Outcome("MEMORY", f"peak: {grown / 2**20:,.0f} MB", outcome.place, stage)
    return outcome


@contextmanager
def _watched(trace: TextIO) -> Iterator[None]:
    """The process ends, and leaves a trace, if this takes too long."""
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=trace)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _of_error(error: BaseException, stage: str) -> Outcome:
    said = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"
    place = _place(error)
    chain: list[BaseException] = [error]
    while (
        inner := chain[-1].__cause__ or chain[-1].__context__
    ) is not None and inner not in chain:
        chain.append(inner)
    short = next((e for e in chain if _is_memory(e)), None)
    if short is not None:
        # An error in our words after an attempt is one all the same: elsewhere the system grants it, and then dies.
        return Outcome("MEMORY", f"{type(short).__name__}: {said}", _place(short) or place, stage)
    if isinstance(error, lmkin.LmkinError):
        return Outcome("refused", said, place, stage)
    return Outcome("FOREIGN", said, place, stage)


def _is_memory(error: BaseException) -> bool:
    text = str(error)
    return isinstance(error, MemoryError) or "allocate memory" in text or "Cannot allocate" in text


def _place(error: BaseException) -> str:
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(_SOURCE))
    ]
    if not frames:
        last = traceback.extract_tb(error.__traceback__)[-1:]
        return f"{last[0].filename}:{last[0].lineno}" if last else "?"
    return f"{frames[-1].filename.removeprefix(f'{_SOURCE}/')}:{frames[-1].lineno}"


def of_death(status: int, trace: Path, *, late: bool) -> Outcome:
    """What became of a mutant whose process ended without a word."""
    text = trace.read_text(errors="replace") if trace.exists() else ""
    frame = _FRAME.search(text)
    place = f"{frame[1]}:{frame[2]}" if frame else "?"
    if late or "Timeout" in text:
        return Outcome("HANG", f"more than {SECONDS} s", place)
    if os.WIFSIGNALED(status):
        return Outcome("CRASH", signal.Signals(os.WTERMSIG(status)).name, place)
    return Outcome("CRASH", f"exit {os.waitstatus_to_exitcode(status)}", place)


def _memory(name: str) -> int:
    """Bytes by their name in /proc."""
    text = Path("/proc/self/status").read_text()
    found = re.search(rf"{name}:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


def flush_standard_streams() -> None:
    """Before a fork: what is not written yet would be written twice."""
    sys.stdout.flush()
    sys.stderr.flush()


def as_outcome(data: dict[str, Any]) -> Outcome:
    """From a line of a pipe."""
    return Outcome(**{k: data[k] for k in ("status", "what", "place", "stage")})
