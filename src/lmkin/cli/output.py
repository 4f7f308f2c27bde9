"""How the command line speaks: tables on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator
from typing import Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table

from .messages import with_flags

_out = Console(highlight=False, emoji=False)
_err = Console(stderr=True, highlight=False, emoji=False)


def say_error(text: str) -> None:
    """One paragraph about what is wrong and what to do."""
    _err.print(f"[bold red]Error:[/] {escape(text)}", soft_wrap=not _err.is_terminal)


def say_warning(text: str) -> None:
    """Something that changes what the numbers mean."""
    _err.print(
        f"[bold yellow]Warning:[/] {escape(with_flags(text))}", soft_wrap=not _err.is_terminal
    )


def say(text: str) -> None:
    """A line for people, on standard error so that output can be piped."""
    _err.print(escape(text), soft_wrap=True)


@contextlib.contextmanager
def busy(text: str) -> Iterator[None]:
    """A spinner while something takes a moment."""
    if not _err.is_terminal:
        yield
        return
    with _err.status(escape(text)):
        yield


def show(title: str, rows: dict[str, Any], *, as_json: bool, data: dict[str, Any]) -> None:
    """A table for people, or ``data`` as JSON for machines."""
    if as_json:
        print_json(data)
        return
    table = Table(title=escape(title), title_justify="left", show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(escape(name), escape(str(value)))
    _out.print(table)


def print_table(table: RenderableType) -> None:
    """A table, on standard output."""
    _out.print(table)


def print_json(data: Any) -> None:
    """Data for machines, on standard output."""
    print(json.dumps(data, ensure_ascii=False, indent=1))


def set_verbosity(verbose: bool) -> None:
    """Say what the library logs; with -v also what happens inside."""
    silence()
    logger = logging.getLogger("lmkin")
    handler: logging.Handler = _Plain()
    if verbose:
        from rich.logging import RichHandler

        handler = RichHandler(console=_err, show_path=False, log_time_format="%H:%M:%S")
    logger.setLevel(logging.DEBUG if verbose else logging.INFO)
    logger.addHandler(handler)
    _handlers.append(handler)


def silence() -> None:
    """The command is over: what the library logs is nobody's output any more."""
    logger = logging.getLogger("lmkin")
    while _handlers:
        logger.removeHandler(_handlers.pop())
        logger.setLevel(logging.NOTSET)


_handlers: list[logging.Handler] = []


class _Plain(logging.Handler):
    """A line for people, without time or level."""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        (say_warning if record.levelno >= logging.WARNING else say)(text)
