from __future__ import annotations

import numpy as np
import pytest
from readiness import settle
from synthetic import MEASURES, similarities
from test_similarity import nasty, write

CELLS = """[...document.querySelectorAll('#chart-0 .mark-rect.role-mark path')].map(
    e => [e.__data__.datum.i, e.__data__.datum.j, e.__data__.datum.v, getComputedStyle(e).fill])"""


@pytest.fixture(scope="module")
def dataset():
    found = similarities(["alpha", "beta"], [4, 3])
    found["svsim"].loc[{"model_x": "alpha", "layer_x": 1, "model_y": "beta", "layer_y": 0}] = np.nan
    return found


@pytest.fixture
def page(dataset, tmp_path, visit):
    return visit(write(dataset, tmp_path / "report.html"))


def shade(fill: str) -> float:
    """The lightness of an rgb(…) colour."""
    return sum(float(part) for part in fill[4:-1].split(","))


def place(dataset, i: int) -> dict[str, object]:
    return {"model": "alpha" if i < 4 else "beta", "layer": i % 4}


def value(dataset, name: str, i: int, j: int, scaling: str) -> float:
    x, y = place(dataset, i), place(dataset, j)
    return float(
        dataset[name].sel(
            scaling=scaling, model_x=x["model"], layer_x=x["layer"], model_y=y["model"], layer_y=y["layer"]
        )
    )  # fmt: skip


def check_cells(page, dataset, name: str, scaling: str) -> dict[tuple[int, int], str]:
    """Every cell has the Dataset's value, and the more alike the darker."""
    cells = page.evaluate(CELLS)
    assert len(cells) == 49
    for i, j, shown, fill in cells:
        true = value(dataset, name, i, j, scaling)
        if np.isnan(true):
            assert shown is None
            assert fill == "rgb(227, 227, 227)"
        else:
            assert shown == pytest.approx(true, rel=1e-4)
    known = sorted((min(max(v, 0), 1), shade(fill)) for _, _, v, fill in cells if v is not None)
    lightness = np.array([light for _, light in known])
    assert (np.diff(lightness) <= 3).all()  # three channels, each rounded
    assert lightness[0] > lightness[-1] + 100
    return {(i, j): fill for i, j, _, fill in cells}


def test_switches_change_colours_and_text(page, dataset) -> None:
    first = check_cells(page, dataset, "neuronsim", "raw")
    section = page.locator("section", has=page.locator("#chart-0"))
    assert "Not symmetric" in section.locator(".explained").first.inner_text()
    section.get_by_label("SVCCA").check()
    settle(page)
    second = check_cells(page, dataset, "svsim", "raw")
    assert second != first
    text = section.locator(".explained").first.inner_text()
    assert text == "svsim: Random numbers in the manner of SVCCA."
    assert "SVCCA (raw)" in page.locator("#chart-0").text_content()
    section.get_by_label("each neuron standardized").check()
    settle(page)
    assert check_cells(page, dataset, "svsim", "standardized") != second
    assert "SVCCA (standardized)" in page.locator("#chart-0").text_content()


def test_curves_and_tables_follow_their_switch(page) -> None:
    points = """[...document.querySelectorAll('#chart-2 .mark-symbol.role-mark path')].map(
        e => e.getAttribute('transform'))"""
    before = page.evaluate(points)
    assert len(before) >= 7
    section = page.locator("section", has=page.locator("#chart-2"))
    section.locator("summary").locator("visible=true").click()
    number = section.locator("td:visible").nth(1).inner_text()
    assert "±" in number
    section.get_by_label("linear CKA, unbiased").check()
    settle(page)
    assert page.evaluate(points) != before
    assert section.locator("td:visible").nth(1).inner_text() != number
    assert page.locator("#chart-2 .mark-area.role-mark path").count() == 2


def test_hover_says_value_error_and_interval(page, dataset) -> None:
    page.evaluate(
        """[...document.querySelectorAll('#chart-0 .mark-rect.role-mark path')]
        .find(e => e.__data__.datum.i == 5 && e.__data__.datum.j == 2).id = 'cell'"""
    )
    page.locator("#cell").hover()  # in the middle, where the number stands
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    text = " ".join(tip.inner_text().split())
    shown, error, low, high = (
        f"{value(dataset, 'neuronsim' + suffix, 5, 2, 'raw'):.3f}"
        for suffix in ("", "_se", "_low", "_high")
    )
    assert "layer 1 of beta" in text
    assert "layer 2 of alpha" in text
    for part in (shown[:-1], f"± {error[:-1]}", low[:-1], f"to {high[:-1]}", "95% interval"):
        assert part in text


@pytest.mark.parametrize(("form", "magic"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_charts_can_be_saved(page, tmp_path, form, magic) -> None:
    button = page.locator("figure", has=page.locator("#chart-0")).locator(f"[data-format={form}]")
    button.focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == f"heatmap-neuronsim-raw.{form}"
    download.value.save_as(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes().startswith(magic)


def test_layer_numbers_of_every_model(page) -> None:
    texts = page.evaluate(
        "[...document.querySelectorAll('#chart-0 .mark-text.role-mark text')].map(e => e.textContent)"
    )
    for side in ("alpha", "beta"):
        assert texts.count(side) == 2
    assert [texts.count(str(k)) for k in range(4)] == [4, 4, 4, 2]


@pytest.mark.parametrize("large", [False, True])
def test_no_sideways_scrolling_on_a_phone(tmp_path, visit, large) -> None:
    dataset = (
        similarities(["a-long-name/of-a-model", "b", "c", "d"], [13, 13, 13, 7], list(MEASURES))
        if large
        else similarities()
    )
    page = visit(write(dataset, tmp_path / "report.html"), width=500)
    widths = page.evaluate(
        "[document.documentElement.scrollWidth, ...[...document.querySelectorAll('.chart')].map("
        "e => e.querySelector('svg').getBoundingClientRect().right)]"
    )
    assert max(widths) <= 500
    # The heatmap is square, and follows the window.
    size = "(b => [b.width, b.height])(document.querySelector('#chart-0 .background').getBBox())"
    narrow = page.evaluate(size)
    assert narrow[0] == narrow[1]
    page.set_viewport_size({"width": 900, "height": 900})
    settle(page)
    wide = page.evaluate(size)
    assert wide[0] == wide[1] > narrow[0]


@pytest.mark.parametrize(
    "options",
    [
        {"models": ["a"], "layers": [1], "scaling": False, "intervals": False},
        {"models": ["a", "b", "c"], "layers": [13, 1, 4], "measures": [*MEASURES, "x", "y"]},
    ],
)
def test_other_shapes_are_drawn(tmp_path, visit, options) -> None:
    page = visit(write(similarities(**options), tmp_path / "report.html"))
    assert page.locator("#chart-0 .mark-rect.role-mark path").count() == sum(options["layers"]) ** 2
    for control in page.locator("input, select").all():
        if control.evaluate("e => e.tagName") == "SELECT":
            control.select_option(index=8)
        else:
            control.check()
    settle(page)


def test_nothing_defined_at_all(tmp_path, visit) -> None:
    dataset = similarities()
    for name in dataset.data_vars:
        dataset[name].values[:] = np.nan
    page = visit(write(dataset, tmp_path / "report.html"))
    assert page.locator("#chart-0 .mark-rect.role-mark path").count() == 14**2


def test_names_of_any_kind(tmp_path, visit) -> None:
    page = visit(write(nasty(), tmp_path / "report.html"))
    assert page.locator("#chart-0 .mark-rect.role-mark path").count() == 36
    for control in page.locator("input").all():
        control.check()
    page.locator("#chart-0 .mark-rect.role-mark path").first.hover()
    assert "alert('x')" in page.locator("#vg-tooltip-element").inner_text()
