from __future__ import annotations

import io
import re

import pytest

from lmkin.core import progress
from lmkin.core.progress import progress_bar


def test_without_a_terminal_a_line_now_and_then(capsys, monkeypatch) -> None:
    clock = iter(range(0, 1000, 6))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    with progress_bar("Model", 1000, "words", done=200, show=True) as advance:
        for _ in range(4):
            advance(100)
    lines = capsys.readouterr().err.splitlines()
    # Begun at 0 s, told at 6, 12, 18 and 24 s: the second and the fourth are ten seconds after the last line.
    assert lines == [
        "Model: 400 of 1,000 words, 17 words/s, 36 s left",
        "Model: 600 of 1,000 words, 17 words/s, 24 s left",
    ]


def test_with_a_terminal_a_bar_with_speed_and_time_left(monkeypatch) -> None:
    from rich.console import Console

    screen = io.StringIO()
    real = Console
    monkeypatch.setattr(
        "rich.console.Console", lambda **options: real(file=screen, force_terminal=True, width=120)
    )
    with progress_bar("Model", 100, "words") as advance:
        advance(100)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    assert "Model" in shown
    assert "100/100" in shown
    assert "words/s left" in shown


@pytest.mark.parametrize("show", [False])
def test_switched_off_it_says_nothing(capsys, show: bool) -> None:
    with progress_bar("Model", 100, "words", show=show) as advance:
        advance(100)
    assert capsys.readouterr() == ("", "")
