"""When a page is ready, and how large its charts are then."""

from __future__ import annotations

from typing import Any

_SIZES = """[...document.querySelectorAll('.chart')].map(e => {
    const box = e.querySelector('svg, canvas').getBoundingClientRect();
    return [e.clientWidth, box.width, box.height]})"""


def settle(page: Any) -> None:
    """Wait until every chart has its final size.

    What was switched makes the page unready at once, a changed window when the next frame is drawn.
    """
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_selector("html[data-ready]", state="attached")


def chart_sizes(page: Any) -> list[tuple[float, float, float]]:
    """Of every chart: the room that it has, its width and its height."""
    return [tuple(size) for size in page.evaluate(_SIZES)]


def redraw(page: Any) -> None:
    """All that a page does when its window changes, in a window of the same size."""
    page.evaluate("dispatchEvent(new Event('resize'))")
    settle(page)
