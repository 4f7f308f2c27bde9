"""Ctrl-C: once pressed it is remembered, wherever in the process it arrives.

Python raises KeyboardInterrupt in whatever the main thread is doing. Inside a call of compiled code, in a callback or a
destructor, another error comes out of that, or none. So the key is written down when it is pressed: loops ask
`stop_if_interrupted`, and whoever handles errors asks `interrupted` first.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

_pressed = threading.Event()
_PATIENCE = 3.0
"""Seconds after which a user who waits for the end of a step is told so."""


def interrupted() -> bool:
    """Whether Ctrl-C was pressed since `watched_interrupts` began."""
    return _pressed.is_set()


def stop_if_interrupted() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed, even if the one that Python raised was swallowed."""
    if _pressed.is_set():
        raise KeyboardInterrupt


@contextmanager
def watched_interrupts(farewell: Callable[[], str]) -> Iterator[None]:
    """Remember Ctrl-C; a second one ends the process at once, with ``farewell()`` on standard error and code 130.

    The second works while the main thread is inside compiled code too, where Python runs no handler: a thread waits for
    the signal itself. Where signals are not ours to handle (not the main thread, or Ctrl-C is ignored as in a
    background job), nothing is changed. After an interrupt the watch stays on, for what is still being ended.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _pressed.clear()
    receiving, sending = os.pipe()
    os.set_blocking(sending, False)
    watch = _Watch(receiving, farewell)
    before = signal.set_wakeup_fd(sending, warn_on_full_buffer=False)
    hook = sys.unraisablehook
    sys.unraisablehook = _quiet(hook)
    signal.signal(signal.SIGINT, _remember)
    watch.start()
    try:
        yield
    finally:
        watch.unwound.set()
        if not _pressed.is_set():
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.set_wakeup_fd(before)
            sys.unraisablehook = hook
            os.close(sending)  # the watch reads the end, and ends


def end_interrupted() -> NoReturn:
    """End the process with code 130; after a key, at once."""
    if not _pressed.is_set():
        sys.exit(130)
    # Python ends itself by a signal instead, and not with 130, if the key came inside an exec; and it would wait for
    # threads that are inside compiled code.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(130)


def _remember(number: int, frame: FrameType | None) -> None:
    if not _pressed.is_set():
        _pressed.set()
        raise KeyboardInterrupt


def _quiet(hook: Callable[[Any], Any]) -> Callable[[Any], None]:
    """The hook for errors that nobody can catch, silent about an interrupt: `stop_if_interrupted` raises it again."""

    def show(unraisable: Any) -> None:
        if not (_pressed.is_set() and issubclass(unraisable.exc_type, KeyboardInterrupt)):
            hook(unraisable)

    return show


class _Watch(threading.Thread):
    """Counts the signals that arrive, whatever the main thread is doing."""

    def __init__(self, receiving: int, farewell: Callable[[], str]):
        super().__init__(name="lmkin-interrupts", daemon=True)
        self.receiving = receiving
        self.farewell = farewell
        self.unwound = threading.Event()

    def run(self) -> None:
        """Until nothing more can arrive."""
        count, told = 0, False
        while True:
            patience = _PATIENCE if count and not told else None
            ready, _, _ = select.select([self.receiving], [], [], patience)
            if not ready:
                told = True
                if not self.unwound.is_set():
                    _write("Stopping after the step at hand; Ctrl-C again ends at once.\n")
                continue
            arrived = os.read(self.receiving, 64)
            if not arrived:
                os.close(self.receiving)
                return
            count += arrived.count(signal.SIGINT)
            if count > 1:
                _write(self.farewell() if not self.unwound.is_set() else "")
                os._exit(130)


def _write(text: str) -> None:
    """Past all buffers and locks, which the main thread may hold."""
    os.write(2, text.encode())
