from __future__ import annotations

import numpy as np
import pytest
from readiness import settle
from test_attention_report import SHAPES, WORDS, compared, nasty, sentence, write

import lmkin

CELLS = """(chart) => [...document.querySelectorAll(`#chart-${chart} .mark-rect.role-mark path`)].map(
    e => [e.__data__.datum.i, e.__data__.datum.j, e.__data__.datum.v, getComputedStyle(e).fill])"""
HEATMAP, MAP, FIRST, SECOND = 0, 1, 2, 3


@pytest.fixture(scope="module")
def result():
    return compared()


@pytest.fixture
def page(result, tmp_path, visit):
    return visit(write(tmp_path / "report.html", result, sentence()))


def shown(page, chart: int) -> np.ndarray:
    """The numbers of a drawing, as a table."""
    cells = page.evaluate(CELLS, chart)
    n = len(WORDS)
    table = np.full((n, n + 1), np.nan)
    for i, j, value, _ in cells:
        table[i, j] = value
    assert len(cells) == table.size
    return table


def given(name: str) -> np.ndarray:
    return sentence().sel(head=name).values


def tooltip(page) -> str:
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    return " ".join(tip.inner_text().split())


def mark(page, chart: int, test: str) -> None:
    """Point at the mark whose datum ``d`` passes the test."""
    page.evaluate(
        f"""[...document.querySelectorAll('#chart-{chart} .role-mark path')]
        .find(e => (d => {test})(e.__data__.datum)).id = 'pointed'"""
    )
    page.locator("#pointed").hover()


def test_heatmap_follows_measure_and_sink(page, result) -> None:
    section = page.locator("section", has=page.locator("#chart-0"))
    layers = [(m, k) for m, (count, _) in SHAPES.items() for k in range(1, count + 1)]
    seen = []
    for measure, title in (
        ("js", "attention, 1 − Jensen-Shannon divergence"),
        ("pearson", "attention, correlation of rows"),
    ):
        section.get_by_label(title, exact=True).check()
        for sink in ("dropped", "kept"):
            section.get_by_label(sink, exact=True).check()
            settle(page)
            cells = page.evaluate(CELLS, HEATMAP)
            assert len(cells) == 25
            for i, j, value, _ in cells:
                (mx, kx), (my, ky) = layers[i], layers[j]
                true = result[measure].sel(
                    sink=sink, model_x=mx, layer_x=kx, model_y=my, layer_y=ky
                )
                assert value == pytest.approx(float(true), rel=1e-4)
            seen.append(tuple(fill for *_, fill in cells))
            assert f"(sink {sink})" in page.locator("#chart-0").text_content()
    assert len(set(seen)) == 4


def test_heatmap_says_value_and_error(page, result) -> None:
    mark(page, HEATMAP, "d.i == 0 && d.j == 3")
    text = tooltip(page)
    place = {"sink": "kept", "model_x": "alpha", "layer_x": 1, "model_y": "beta", "layer_y": 2}
    assert "layer 1 of alpha" in text
    assert "layer 2 of beta" in text
    assert f"{float(result['js'].sel(place)):.3f}"[:-1] in text
    assert f"± {float(result['js_se'].sel(place)):.3f}"[:-1] in text


def test_a_point_for_every_head(page, result) -> None:
    points = page.evaluate(
        """[...document.querySelectorAll('#chart-1 .mark-symbol.role-mark path')].map(e => [
        e.__data__.datum.label, e.__data__.datum.x, e.__data__.datum.y, e.getAttribute('fill'),
        +getComputedStyle(e).opacity, e.getBoundingClientRect().x, e.getBoundingClientRect().y])"""
    )
    heads = lmkin.attention_heads(result)
    assert len(points) == 12
    assert np.array([p[1:3] for p in points]) == pytest.approx(heads["map"].values, rel=1e-4)
    assert len({p[3] for p in points[:6]}) == 1
    assert points[0][3] != points[6][3]
    # The more goes to the sink the paler, and pixels are in proportion to the map on both axes.
    order = np.argsort(heads["sink_share"].values)
    assert (np.diff([points[k][4] for k in order]) <= 0).all()
    pixels = np.array([p[5:] for p in points])
    for axis, sign in ((0, 1), (1, -1)):
        far = np.ptp(heads["map"].values[:, 0])
        scale = (pixels[:, 0].max() - pixels[:, 0].min()) / far
        moved = heads["map"].values[:, axis] * sign * scale
        assert pixels[:, axis] - pixels[0, axis] == pytest.approx(moved - moved[0], abs=2.5)


def test_hover_says_what_a_head_resembles(page, result) -> None:
    mark(page, MAP, "d.label == 'alpha, layer 2, head 1'")
    text = tooltip(page)
    heads = lmkin.attention_heads(result).sel(head="alpha/2/1")
    model, layer, number = str(heads["elsewhere"].values).split("/")
    for part in (
        "head alpha, layer 2, head 1", "nearest alpha, layer 1, head 0 (1.000)",
        f"in another model {model}, layer {layer}, head {number} ({float(heads['elsewhere_js']):.3f})",
        f"to the sink {float(heads['sink_share']):.0%}", "group 2 heads; could go",
    ):  # fmt: skip
        assert part in text


def test_selects_change_the_drawing(page) -> None:
    section = page.locator("section", has=page.locator("#chart-2"))
    boxes = section.locator("select")
    assert boxes.count() == 2
    for chart, box in ((FIRST, boxes.nth(0)), (SECOND, boxes.nth(1))):
        name = box.input_value().replace("-", "/")
        assert np.abs(shown(page, chart) - given(name)).max() < 0.0025
    before = shown(page, SECOND)
    boxes.nth(0).select_option(label="beta, layer 3, head 1")
    settle(page)
    assert np.abs(shown(page, FIRST) - given("beta/3/1")).max() < 0.0025
    assert (shown(page, SECOND) == before).all()
    assert "beta, layer 3, head 1" in page.locator("#chart-2").text_content()
    assert (
        "Most like it in another model: alpha" in section.locator(".explained").nth(0).inner_text()
    )
    boxes.nth(1).select_option(label="alpha, layer 1, head 2")
    settle(page)
    assert np.abs(shown(page, SECOND) - given("alpha/1/2")).max() < 0.0025


def test_darker_is_more(page) -> None:
    cells = sorted(page.evaluate(CELLS, FIRST), key=lambda cell: cell[2])
    light = [sum(float(c) for c in fill[4:-1].split(",")) for *_, fill in cells]
    assert (np.diff(light) <= 3).all()
    assert light[0] > light[-1] + 200


def test_words_on_both_axes_and_under_the_pointer(page) -> None:
    labels = page.evaluate(
        "[...document.querySelectorAll('#chart-2 .role-axis-label text')].map(e => e.textContent)"
    )
    for word in WORDS:
        assert labels.count(word) == 2
    assert labels.count("elsewhere") == 1
    name = page.locator("select").first.input_value().replace("-", "/")
    for j, word in ((3, "there"), (5, "(elsewhere)")):
        mark(page, FIRST, f"d.i == 1 && d.j == {j} && 'code' in d")
        value = given(name)[1, j]
        text = tooltip(page)
        assert f"from was to {word} attention " in text
        assert abs(float(text.split()[-1].rstrip("%")) - 100 * value) < 0.8
        page.mouse.move(0, 0)
        page.evaluate("document.getElementById('pointed').id = ''")


@pytest.mark.parametrize(("form", "magic"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_drawings_can_be_saved(page, tmp_path, form, magic) -> None:
    chosen = page.locator("select").nth(1).input_value()
    figure = page.locator("figure", has=page.locator("#chart-3"))
    with page.expect_download() as download:
        figure.locator(f"[data-format={form}]").click()
    assert download.value.suggested_filename == f"head-{chosen}.{form}"
    download.value.save_as(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes().startswith(magic)


def test_drawings_stand_side_by_side_or_below_each_other(result, tmp_path, visit) -> None:
    path = write(tmp_path / "r.html", result, sentence(words=[f"word{k}" for k in range(30)]))
    boxes = "[2, 3].map(k => document.querySelector(`#chart-${k} svg`).getBoundingClientRect()).map(b => [b.x, b.y])"
    square = "(b => [b.width, b.height])(document.querySelector('#chart-2 .background').getBBox())"
    for width in (1280, 500, 360):
        page = visit(path, width=width)
        (x, y), (x2, y2) = page.evaluate(boxes)
        assert (x == x2 and y2 > y + 200) if width < 1000 else (y == y2 and x2 > x + 400)
        w, h = page.evaluate(square)
        assert w == h > 200
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_one_head_of_one_model(tmp_path, visit) -> None:
    shapes = {"only": (1, 1)}
    page = visit(write(tmp_path / "r.html", compared(shapes), sentence(shapes)))
    assert page.locator("#chart-1 .mark-symbol.role-mark path").count() == 1
    assert shown(page, SECOND) == pytest.approx(shown(page, FIRST))


def test_names_and_words_of_any_kind(tmp_path, visit) -> None:
    result, drawn = nasty()
    page = visit(write(tmp_path / "r.html", result, drawn))
    assert page.locator("#chart-0 .mark-rect.role-mark path").count() == 16
    for control in page.locator("input").all():
        control.check()
    for box in page.locator("select").all():
        box.select_option(index=7)
    settle(page)
    page.locator("#chart-1 .mark-symbol.role-mark path").nth(1).hover()
    assert "alert('x')" in tooltip(page)
    page.locator("#chart-2 .mark-rect.role-mark path").first.hover()
    page.wait_for_function(
        "document.getElementById('vg-tooltip-element').innerText.includes('attention')"
    )
    assert "alert('x')" in tooltip(page)
