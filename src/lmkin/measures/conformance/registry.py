"""The list of checks: one function each, found by its decorator."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .result import Check, Verdict
from .subject import NotANumberError, NotFiniteError, Subject
from .table import one_line


class Outcome(NamedTuple):
    """What a check gives back; name and group are added from its registration."""

    finding: float | None
    verdict: Verdict
    note: str


Run = Callable[[Subject, str], Outcome]


@dataclass(frozen=True)
class Registered:
    """A row of the table to be."""

    group: str
    name: str
    run: Run

    def check(self, subject: Subject) -> Check:
        """Run it; an exception of the function becomes the finding."""
        try:
            finding, verdict, note = self.run(subject, self.name)
        except NotFiniteError as error:
            finding, verdict, note = None, "fail", str(error)
        except NotANumberError as error:
            finding, verdict, note = None, "error", str(error)
        except Exception as error:
            finding, verdict, note = None, "error", raised(error)
        if finding is not None and not math.isfinite(finding):
            finding = None  # the note says so; JSON could not
        return Check(self.name, self.group, finding, verdict, one_line(note))


CHECKS: list[Registered] = []


def check(group: str, *names: str) -> Callable[[Run], Run]:
    """Register ``run(subject, name) -> Outcome`` as one row for each name.

    An exception that the function under test raises need not be caught: it becomes the row's finding.
    """

    def register(run: Run) -> Run:
        CHECKS.extend(Registered(group, name, run) for name in names)
        return run

    return register


def raised(error: Exception) -> str:
    """``raised ValueError: the message``, on one line."""
    message = one_line(str(error), 180)
    return f"raised {type(error).__name__}" + (f": {message}" if message else ", without a message")


def judged(good: bool, finding: float, well: str, badly: str) -> Outcome:
    """Pass or fail, with the sentence for either."""
    return Outcome(finding, "pass" if good else "fail", well if good else badly)


def outside(subject: Subject) -> str:
    """What is wrong with a value that is not in range."""
    if subject.range is None:
        return "Above 1, the value of a matrix with itself."
    return "Outside of its range, {:g} to {:g}.".format(*subject.range)


def capital(text: str) -> str:
    """A sentence of a phrase."""
    return text[:1].upper() + text[1:]
