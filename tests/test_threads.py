"""How many workers: what is asked for, else the cores that others leave."""

from __future__ import annotations

import os
import time

import pytest

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
