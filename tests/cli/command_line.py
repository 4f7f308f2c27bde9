"""The command line in this process."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from lmkin.cli import run


@dataclass(frozen=True)
class Outcome:
    """What a command came to: its exit code, what it printed, and what it said."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Standard error, in one line."""
        return " ".join(self.err.split())

    @property
    def printed(self) -> str:
        """Standard output, in one line."""
        return " ".join(self.out.split())


def call(*arguments: object) -> Outcome:
    """Run a command as a user does."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run([str(a) for a in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return Outcome(code, out.getvalue(), err.getvalue())
