"""How many workers: what is asked for, else the cores that others leave."""

from __future__ import annotations

import os
import time

import pytest

from lmkin.analysis import Running
from lmkin.core import LmkinError
from lmkin.core import parallel as threads


@pytest.fixture(autouse=True)
def fresh() -> None:
    threads.free_cores.cache_clear()


@pytest.mark.parametrize(
    ("load", "own", "free"),
    [(0.0, 0.0, 8), (2.5, 0.0, 6), (8.0, 0.0, 1), (30.0, 0.0, 1), (4.0, 2.9, 7), (1.0, 5.0, 8)],
)
def test_free_cores(monkeypatch, load: float, own: float, free: int) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    monkeypatch.setattr(time, "process_time", lambda: own * 100)
    monkeypatch.setattr("psutil.Process.create_time", lambda self: time.time() - 100)
    assert threads.free_cores(8) == free


def test_without_a_load_all_cores(monkeypatch) -> None:
    def unknown() -> None:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown, raising=False)
    assert threads.free_cores(8) == 8


def test_what_is_asked_for_counts_whatever_the_load(monkeypatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 0.0, 0.0), raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads.worker_count() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    assert threads.worker_count() == 4
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads.worker_count() == 1


@pytest.mark.parametrize(("given", "count"), [("2,1", 2), (" 3 , 2,1 ", 3), ("", 4), ("1", 1)])
def test_the_variable_is_read_as_openmp_reads_it(monkeypatch, given: str, count: int) -> None:
    """One number, or one for each level of nesting; empty is as if it were not there."""
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert threads.worker_count() == count


@pytest.mark.parametrize("given", ["abc", "0", "-1", "2,0", "1.5", ",", "²", "2,,1"])
def test_a_variable_that_is_no_number_of_threads_is_a_plain_error(monkeypatch, given: str) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    for ask in (threads.worker_count, Running().limit_threads):
        with pytest.raises(LmkinError, match=r"OMP_NUM_THREADS .*1 or more.*unset it"):
            ask()
    monkeypatch.setattr("torch.set_num_threads", lambda _: None)
    monkeypatch.setattr("threadpoolctl.threadpool_limits", lambda _: None)
    Running(threads=1).limit_threads()  # what is asked for counts, whatever the variable says
    assert os.environ["OMP_NUM_THREADS"] == "1"


def test_one_worker_leaves_products_on_one_core(monkeypatch) -> None:
    """Else their threads wait for each other, tens of times as long, on the busy machine that asks for one worker."""
    import numpy  # noqa: F401 (its library of products is what is counted)
    from threadpoolctl import ThreadpoolController

    seen: list[int] = []

    def look(_: int) -> None:
        libraries = ThreadpoolController().info()
        seen.extend(x["num_threads"] for x in libraries if x["user_api"] == "blas")

    for count in (1, 2):
        monkeypatch.setattr(threads, "worker_count", lambda count=count: count)
        with threads.workers() as run:
            run(look, [0])
    assert set(seen) == {1}


def test_a_command_takes_the_cores_that_are_free(monkeypatch) -> None:
    import torch

    from lmkin.analysis import Running

    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    monkeypatch.setattr("threadpoolctl.threadpool_limits", asked.append)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr("lmkin.analysis.running.worker_count", lambda: 3)
    Running().limit_threads()
    assert asked == [3, 3]
    monkeypatch.setattr("lmkin.analysis.running.worker_count", lambda: 8)
    Running().limit_threads()
    assert asked == [3, 3]
