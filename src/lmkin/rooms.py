"""Rooms that share their name with a function of theirs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def make_callable(module: str, function: Callable[..., Any]) -> None:
    """Let a module be called like its function.

    Importing anything from the room ``lmkin.moments`` makes ``lmkin.moments`` the module; without this, calling
    ``lmkin.moments(…)`` would work or not, depending on what was imported before.
    """

    class CallableRoom(ModuleType):
        def __call__(self, *args: Any, **options: Any) -> Any:
            return function(*args, **options)

    room = sys.modules[module]
    room.__class__ = CallableRoom
    room.__doc__ = f"{room.__doc__}\n\nCalled, it is `{function.__name__}`:\n\n{function.__doc__}"
