"""Inner loops as machine code: one pass over numbers where array libraries need many, and threads run side by side."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_MATH = {"reassoc", "contract", "nsz", "arcp", "nnan"}
"""What a compiler may do to vectorize sums and maxima: all but to take numbers for finite."""


def compiled(function: Function) -> Function:
    """Compile a function of numpy arrays at its first call; where a folder can be written, for later runs too."""
    machine: list[Callable[..., Any]] = []

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        if not machine:
            machine.append(machine_code(function))
        return machine[0](*arguments)

    return call  # type: ignore[return-value]


def machine_code(function: Function, *, exact: bool = False) -> Function:
    """Compile a function that others of this kind may call; its module loads numba. ``exact``: rounded as written."""
    import numba

    math = set() if exact else _MATH
    try:
        result = numba.njit(nogil=True, fastmath=math, cache=True)(function)
    except RuntimeError:  # there is no place for a cache
        result = numba.njit(nogil=True, fastmath=math)(function)
    return result  # type: ignore[no-any-return]
