"""Real processes that have the libraries from the start: forked from one that loaded them.

A command that is killed or interrupted needs a process of its own, with its own signals, streams and end; that Python
and its libraries are loaded again for each is not what such a test is about.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

# The child leaves the loop: it ends as any Python does, whatever signal or exception ends it.
_SERVER = r"""
import json, os, runpy, signal, sys

import numba, torch, xarray
from transformers import AutoModel, AutoTokenizer, BertModel, BertTokenizer

import lmkin.cli
from lmkin import analyses, report

numba.njit(lambda x: x)(1.0)
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "end" in asked:
        ended, status = os.waitpid(asked["end"], 0 if asked["wait"] else os.WNOHANG)
        print(json.dumps(os.waitstatus_to_exitcode(status) if ended else None), flush=True)
        continue
    child = os.fork()
    if child == 0:
        break
    print(child, flush=True)
else:
    sys.exit()
for number, (path, mode) in enumerate(
    [(os.devnull, os.O_RDONLY), *((path, os.O_WRONLY | os.O_APPEND) for path in asked["streams"])]
):
    os.dup2(os.open(path, mode), number)
os.environ.clear()
os.environ.update(asked["environment"])
os.chdir(asked["folder"])
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[1:] = asked["arguments"]
if asked["code"]:
    exec(asked["code"], {"__name__": "__main__"})
else:
    runpy.run_module("lmkin", run_name="__main__", alter_sys=True)
"""


@cache
def _server() -> subprocess.Popen[str]:
    """One for all tests of this process; it ends with it, for then nobody asks any more."""
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    return server


def _ask(**asked: object) -> Any:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


@dataclass
class LoadedProcess:
    """``lmkin`` with arguments, or Python code, which has begun."""

    arguments: list[str]
    code: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside those of this process."""
    returncode: int | None = None

    def __post_init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        streams = [Path(self._folder.name) / name for name in ("out", "err")]
        for stream in streams:
            stream.touch()
        self.pid = _ask(
            arguments=self.arguments,
            code=self.code,
            environment={**os.environ, **self.environment},
            folder=str(Path.cwd()),
            streams=[str(stream) for stream in streams],
        )

    @property
    def stdout(self) -> str:
        """What it has printed so far."""
        return (Path(self._folder.name) / "out").read_text("utf-8")

    @property
    def stderr(self) -> str:
        """What it has said so far."""
        return (Path(self._folder.name) / "err").read_text("utf-8")

    def alive(self) -> bool:
        """Whether it has not ended yet."""
        if self.returncode is None:
            self.returncode = _ask(end=self.pid, wait=False)
        return self.returncode is None

    def send_signal(self, signal: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, signal)

    def wait(self) -> int:
        """Its exit code, once it has ended: that of a signal is negative."""
        if self.returncode is None:
            self.returncode = int(_ask(end=self.pid, wait=True))
        return self.returncode


def run_loaded(arguments: list[str], code: str = "", **environment: str) -> LoadedProcess:
    """A process that has ended."""
    process = LoadedProcess(arguments, code, environment)
    process.wait()
    return process
