"""Work side by side: small matrices use cores better so than one after another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")
Run = Callable[[Callable[[Any], None], Iterable[Any]], None]
"""Do something with every item; an error of one is raised, and those that have not begun are left."""


def _one_by_one(work: Callable[[Item], None], items: Iterable[Item]) -> None:
    for item in items:
        work(item)


@contextmanager
def one_core(wanted: bool = True) -> Iterator[None]:
    """Small matrices on one core: several would mostly wait for each other, and for long on a busy machine."""
    if not wanted:
        yield
        return
    from threadpoolctl import ThreadpoolController

    with ThreadpoolController().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def workers(threads: bool = True) -> Iterator[Run]:
    """Run items side by side, each on one core; what is done between runs has all cores for itself."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limit = int(os.environ.get("OMP_NUM_THREADS") or cores or 1)
    count = min(cores or 1, limit)
    if not threads or count < 2:
        yield _one_by_one
        return
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController()
    with ThreadPoolExecutor(count) as pool:

        def run(work: Callable[[Item], None], items: Iterable[Item]) -> None:
            with libraries.limit(limits=1, user_api="blas"):
                waiting = [pool.submit(work, item) for item in items]
                try:
                    for each in waiting:
                        each.result()
                finally:
                    for each in waiting:
                        each.cancel()

        yield run
