"""A progress bar for whatever takes longer than a moment; on standard error, never in the way."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from .interruption import stop_if_interrupted

_QUIET_SECONDS = 10.0


@contextlib.contextmanager
def progress_bar(
    what: str, total: int, unit: str, *, done: int = 0, show: bool | None = None
) -> Iterator[Callable[[int], None]]:
    """Yields ``advance(n)``. With a terminal a live bar, without one a line every ten seconds.

    ``done`` of ``total`` were finished earlier, and do not count for the speed. ``advance`` raises KeyboardInterrupt if
    Ctrl-C was pressed.
    """
    with _shown(what, total, unit, done, show) as advance:

        def step(n: int) -> None:
            stop_if_interrupted()
            advance(n)

        yield step


@contextlib.contextmanager
def _shown(
    what: str, total: int, unit: str, done: int, show: bool | None
) -> Iterator[Callable[[int], None]]:
    if show is False:
        yield lambda n: None
        return
    from rich.console import Console

    console = Console(stderr=True, emoji=False)
    if console.is_terminal or console.is_jupyter:
        with _live_bar(console, what, total, unit, done) as advance:
            yield advance
    else:
        yield _plain_lines(what, total, unit, done)


@contextlib.contextmanager
def _live_bar(
    console: object, what: str, total: int, unit: str, done: int
) -> Iterator[Callable[[int], None]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Speed(ProgressColumn):
        """Units a second since this run began."""

        def render(self, task: Task) -> Text:
            elapsed = task.elapsed or 0
            speed = (task.completed - done) / elapsed if elapsed > 0.2 else 0
            return Text(f"{speed:,.{1 if speed < 10 else 0}f} {unit}/s" if speed else f"– {unit}/s")

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Speed(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("·"),
        TimeElapsedColumn(),
        console=console,  # type: ignore[arg-type]
    )
    with bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda n: bar.advance(task, n)


def _plain_lines(what: str, total: int, unit: str, done: int) -> Callable[[int], None]:
    begun = last = time.monotonic()
    count = done

    def advance(n: int) -> None:
        nonlocal count, last
        count += n
        now = time.monotonic()
        if now - last < _QUIET_SECONDS:
            return
        last = now
        speed = (count - done) / (now - begun)
        left = (total - count) / speed if speed else 0
        sys.stderr.write(
            f"{what}: {count:,} of {total:,} {unit}, {speed:,.{1 if speed < 10 else 0}f} {unit}/s, {left:,.0f} s left\n"
        )
        sys.stderr.flush()

    return advance
