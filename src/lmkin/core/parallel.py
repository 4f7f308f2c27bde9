"""Work side by side: small matrices use cores better so than one after another."""

from __future__ import annotations

import functools
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from .errors import LmkinError
from .interruption import stop_if_interrupted
from .quotation import quoted

Item = TypeVar("Item")
Run = Callable[[Callable[[Any], None], Iterable[Any]], None]
"""Do something with every item; an error of one is raised, and those that have not begun are left."""


def _one_by_one(work: Callable[[Item], None], items: Iterable[Item]) -> None:
    for item in items:
        stop_if_interrupted()
        work(item)


def worker_count() -> int:
    """How many items are worked on side by side: as ``OMP_NUM_THREADS`` says (``--threads`` sets it), else free cores.

    On a busy machine threads that share a core wait for each other, and are slower than one. Results do not depend on
    it, but for the rounding of sums.
    """
    some = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = some or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").strip()
    return min(cores, _first_number(asked)) if asked else free_cores(cores)


def _first_number(asked: str) -> int:
    """Threads of the outermost level, as OpenMP reads its variable: one number, or one a level with commas."""
    levels = [level.strip() for level in asked.split(",")]
    if not all(level.isascii() and level.isdigit() and int(level) for level in levels):
        raise LmkinError(
            f"The variable OMP_NUM_THREADS of the environment is a number of threads, 1 or more; got {quoted(asked)}. "
            f"Set it to one, or unset it."
        )
    return int(levels[0])


@functools.cache
def free_cores(cores: int) -> int:
    """Cores that others leave, rounded up, at least 1; as it was when first asked, so that a run does not change."""
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):  # not on every system
        return cores
    import psutil

    # What this process has itself done since it began is in the load too.
    age = max(time.time() - psutil.Process().create_time(), 1.0)
    others: float = max(load - time.process_time() / age, 0.0)
    return max(min(cores, math.ceil(cores - others)), 1)


def _libraries() -> Any:
    """The BLAS libraries of this process; they are looked for again after an import, which may have brought one."""
    return _find_libraries(len(sys.modules))


@functools.lru_cache(maxsize=1)
def _find_libraries(_: int) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_core(wanted: bool = True) -> Iterator[None]:
    """Small matrices on one core: several would mostly wait for each other, and for long on a busy machine."""
    if not wanted:
        yield
        return
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def workers(threads: bool = True, *, most: int | None = None) -> Iterator[Run]:
    """Run items side by side, each on one core; what is done between runs has all cores for itself.

    At most ``most`` at the same time, where memory has been planned for so many.
    """
    count = worker_count() if most is None else min(most, worker_count())
    if not threads:
        yield _one_by_one
        return
    libraries = _libraries()
    if count < 2:

        def run_alone(work: Callable[[Item], None], items: Iterable[Item]) -> None:
            # On a busy machine the threads of a product would wait for each other, tens of times as long.
            with libraries.limit(limits=1, user_api="blas"):
                _one_by_one(work, items)

        yield run_alone
        return
    with ThreadPoolExecutor(count) as pool:

        def run(work: Callable[[Item], None], items: Iterable[Item]) -> None:
            def begin(item: Item) -> None:
                stop_if_interrupted()
                work(item)

            with libraries.limit(limits=1, user_api="blas"):
                futures = [pool.submit(begin, item) for item in items]
                try:
                    for future in futures:
                        future.result()
                finally:
                    for future in futures:
                        future.cancel()

        yield run
