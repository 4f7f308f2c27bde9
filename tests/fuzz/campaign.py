"""Many mutants over some targets: children side by side, a new one after each that died."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fuzz.mutant import Mutant, draw_mutant
from fuzz.target import Target, digest
from fuzz.targets import TARGETS
from fuzz.worker import SECONDS, Outcome, Work, as_outcome, flush_standard_streams, of_death, serve

BATCH = 40
"""Mutants of a child: to fork takes as long as to try a few."""
BROKEN = 70
"""How a child ends that found a mistake of the fuzzer."""
LATE = SECONDS + 10
"""Seconds without a word after which a child is killed, whatever its own clock does."""


Planned = tuple[int, str, Callable[[], Mutant]]
"""The number of a mutant, its target, and what makes it."""


@dataclass(frozen=True)
class Tried:
    """A mutant, and what became of it."""

    number: int
    mutant: Mutant
    outcome: Outcome


@dataclass
class _Batch:
    target: Target
    work: Work
    again: bool = False
    """Whether it is tried a second time, after it took too long: others use this machine too."""


@dataclass
class _Child:
    batch: _Batch
    pid: int
    pipe: int
    folder: Path
    buffer: bytes = b""
    begun: Mutant | None = None
    spoke: float = field(default_factory=time.monotonic)
    late: bool = False


class Campaign:
    """Valid files of some targets in a folder, and mutants of them."""

    def __init__(self, names: list[str]):
        self.folder = Path(tempfile.mkdtemp(prefix="lmkin-fuzz-"))
        self.targets = {name: TARGETS[name] for name in names}
        self.known: dict[str, str] = {}
        for name, target in self.targets.items():
            valid = self.valid(name)
            valid.mkdir()
            with warnings.catch_warnings(action="ignore"):
                target.make(valid)
            self.known[name] = digest(target.use(target.read(valid)))
            if self.known[name] != digest(target.use(target.read(valid))):
                raise AssertionError(f"{name}: the same file is read differently twice")

    def __enter__(self) -> Campaign:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def valid(self, name: str) -> Path:
        """The valid files of a target."""
        return self.folder / f"valid {name}"

    def seeded(self, name: str, seed: int, *, flips: bool = False) -> Planned:
        """The mutant of a target and a number."""
        return (
            seed,
            name,
            partial(draw_mutant, self.targets[name], seed, self.valid(name), flips=flips),
        )

    def run(
        self, planned: Iterable[Planned], jobs: int, say: Callable[[int], None] | None = None
    ) -> list[Tried]:
        """Try all mutants; the order of what is given back is that of their ends."""
        waiting, active = deque(self._batches(planned)), dict[int, _Child]()
        tried: list[Tried] = []
        with selectors.DefaultSelector() as selector:
            while waiting or active:
                while waiting and len(active) < jobs:
                    child = self._start(waiting.popleft())
                    active[child.pipe] = child
                    selector.register(child.pipe, selectors.EVENT_READ)
                for key, _ in selector.select(timeout=1):
                    child = active[key.fd]
                    if not self._listen(child, tried):
                        selector.unregister(key.fd)
                        del active[key.fd]
                        waiting.extendleft(self._bury(child, tried))
                for child in active.values():
                    if time.monotonic() - child.spoke > LATE and not child.late:
                        child.late = True
                        os.kill(child.pid, signal.SIGKILL)
                if say is not None:
                    say(len(tried))
        return tried

    def _batches(self, planned: Iterable[Planned]) -> Iterator[_Batch]:
        begun: dict[str, _Batch] = {}
        for number, name, make in planned:
            batch = begun.setdefault(name, _Batch(self.targets[name], []))
            batch.work.append((number, make))
            if len(batch.work) == BATCH:
                yield begun.pop(name)
        yield from begun.values()

    def _start(self, batch: _Batch) -> _Child:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        reading, writing = os.pipe()
        flush_standard_streams()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            name, code = batch.target.name, BROKEN
            try:
                with os.fdopen(writing, "w") as pipe:
                    serve(
                        batch.work,
                        batch.target,
                        self.valid(name),
                        self.known[name],
                        pipe,
                        folder / "trace",
                    )
                code = 0
            except BaseException:
                (folder / "trace").write_text(traceback.format_exc())
            finally:
                os._exit(code)
        os.close(writing)
        return _Child(batch, pid, reading, folder)

    def _listen(self, child: _Child, tried: list[Tried]) -> bool:
        """Take in what a child says; False at its end."""
        data = os.read(child.pipe, 65536)
        child.spoke = time.monotonic()
        child.buffer += data
        *lines, child.buffer = child.buffer.split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "begin" in said:
                child.begun = Mutant(**said["mutant"])
                continue
            number, _ = child.batch.work.pop(0)
            assert child.begun is not None
            tried.append(Tried(number, child.begun, as_outcome(said)))
            child.begun = None
        return bool(data)

    def _bury(self, child: _Child, tried: list[Tried]) -> list[_Batch]:
        """After the end of a child: what it died of, and what is left to do."""
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == BROKEN:
            raise AssertionError(
                f"the fuzzer itself failed:\n{(child.folder / 'trace').read_text()}"
            )
        batch, again = child.batch, []
        if batch.work and (child.begun is not None or status):
            number, make = batch.work.pop(0)
            if child.begun is None:  # a library died of it before we could ask lmkin
                tried.append(Tried(number, Mutant(batch.target.name, "?"), Outcome("idle")))
            else:
                outcome = of_death(status, child.folder / "trace", late=child.late)
                if outcome.status == "HANG" and not batch.again:
                    again = [_Batch(batch.target, [(number, make)], again=True)]
                else:
                    tried.append(Tried(number, child.begun, outcome))
        shutil.rmtree(child.folder, ignore_errors=True)
        return [*again, *([_Batch(batch.target, batch.work)] if batch.work else [])]
