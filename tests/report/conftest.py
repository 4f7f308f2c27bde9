"""A real browser for the report: Debian's chromium, driven by playwright."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120_000
"""Milliseconds for anything that a browser does: other programs may hold a machine for long."""


@pytest.fixture
def checked_charts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every piece of every chart is checked against the schema of Vega-Lite; the charts that were."""
    from lmkin.report.charts import pictures, style
    from lmkin.report.page import html_file

    found: list[Any] = []

    def checked(chart: Any) -> Any:
        found.append(chart)
        return style.styled(chart.to_dict(validate=True))

    monkeypatch.setattr(pictures, "debug_mode", lambda _: nullcontext())
    for module in (pictures, html_file):
        monkeypatch.setattr(module, "specification", checked)
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if not found:
        pytest.skip("BROWSER TESTS SKIPPED: no browser here. To run them: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("BROWSER TESTS SKIPPED: no playwright. To run them: pip install playwright")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=_QUIET, timeout=PATIENCE)
        yield running
        running.close()


@pytest.fixture(scope="session")
def windows(browser) -> list[Any]:
    """Windows that no test looks at; to open another takes longer than to draw a report in it."""
    return []


@pytest.fixture
def visit(browser, windows) -> Iterator[Callable[..., Any]]:
    """Open a file; in the end nothing was said on the console, and nothing asked of the network."""
    said: list[str] = []
    asked: list[str] = []
    listeners = {
        "console": lambda message: said.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: said.append(f"error: {error}"),
        "dialog": lambda dialog: (said.append("dialog"), dialog.dismiss()),
        "request": lambda request: asked.append(request.url),
    }
    pages = []

    def visit(path: Path, *, width: int = 1280) -> Any:
        page = windows.pop() if windows else browser.new_page()
        pages.append(page)
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size({"width": width, "height": 900})
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield visit
    for page in pages:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        page.mouse.move(0, 0)
        page.goto("about:blank")
        windows.append(page)
    assert not said
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked
