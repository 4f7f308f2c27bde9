"""Every registered kind of report, alone and together: sizes, links, scripts, hostile names, charts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import test_attention_report as attention
import test_dependency_report as dependency
import test_probe_report as probing
import test_redundancy_report as redundancy
import test_similarity as similarity
import xarray as xr
from made import (
    attention_of,
    cross_lingual_of,
    dependency_of,
    probe_of,
    redundancy_of,
    similarity_of,
)
from readiness import chart_sizes, redraw, settle
from synthetic import similarities

import lmkin
from cross_lingual.treebanks import WordVectors, treebanks
from lmkin.core import Alert
from lmkin.report import known_report_kinds, result_charts, save_picture, write_report
from lmkin.report.page.html_file import prose
from lmkin.results import Result

LONG = "a-rather-long-name-of-a-model"
HOSTILE = ("<script>alert(1)</script>", "constructor", "toString", "__proto__")
WORDY = (
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
    "哈工大讯飞联合实验室中文全词掩码预训练语言模型",
    "نموذج اللغة العربية الكبير",
)
"""Longer than there is room for in one line, in three scripts."""
FONTS = ("monospace", "8px")
"""A wide one, and one that no browser knows."""
PHONE, DESK = 360, 1280


def similarity_result(names: tuple[str, ...]) -> Result:
    dataset = similarities(list(names), [3] * len(names), ["neuronsim", "svsim", "ckasim"])
    extra = similarity.matched(names, layers=3, neurons=8)
    for name in ("neuronsim_match", "neuronsim_match_r"):
        dataset[name] = extra[name]
    return similarity_of(dataset)


def attention_result(names: tuple[str, ...]) -> Result:
    shapes = {name: (2, 2 + k % 2) for k, name in enumerate(names)}
    compared = attention.compared(shapes, "js,ckasim")
    return attention_of(compared, lmkin.attention_heads(compared), attention.sentence(shapes))


def dependency_result(names: tuple[str, ...]) -> Result:
    return dependency_of(*dependency.by_length(names))


def redundancy_result(names: tuple[str, ...]) -> Result:
    rows = redundancy.arrays([f"m{k}" for k in range(len(names))], (3,) * len(names))
    tables = lmkin.cluster_neurons(rows, thresholds=redundancy.THRESHOLDS, progress=False).tables()
    layers = lmkin.layer_redundancy(rows, parts=3, progress=False)
    tables, layers = (part.assign_coords(model=list(names)) for part in (tables, layers))
    return redundancy_of(tables, layers, [redundancy.strip_of(names[0], 7)])


def probe_result(names: tuple[str, ...]) -> Result:
    layers = tuple(2 + k % 2 for k in range(len(names)))
    tasks = ("upos", names[0])
    return probe_of(probing.scores(names, layers, tasks), probing.paper(tasks[:1]))


@cache
def transfer_dataset(models: int) -> xr.Dataset:
    """Of a run on invented treebanks; models are renamed."""
    planted = [WordVectors(f"m{k}", 0.8 + 0.2 * k) for k in range(models)]
    banks = treebanks(sentences=40)
    return lmkin.cross_lingual(
        planted,
        banks,
        train_on=["en", "fi"],
        tags="upos",
        thresholds=[0.1, 0.5],
        l1=0.02,
        parts=4,
        compare_published=True,
        progress=False,
    ).dataset


def cross_lingual_result(names: tuple[str, ...]) -> Result:
    dataset = transfer_dataset(len(names))
    layers = dict(zip(names, dataset.attrs["layers_read"].values(), strict=True))
    about = {**dataset.attrs, "models": list(names), "layers_read": layers, "alerts": []}
    return cross_lingual_of(dataset.assign_coords(model=list(names)).assign_attrs(about))


MAKERS: dict[str, Callable[[tuple[str, ...]], Result]] = {
    "similarity": similarity_result,
    "attention": attention_result,
    "dependency": dependency_result,
    "redundancy": redundancy_result,
    "probe": probe_result,
    "cross-lingual": cross_lingual_result,
}


def test_every_registered_kind_is_tried_here() -> None:
    assert set(known_report_kinds()) == set(MAKERS)


@pytest.fixture(scope="module", params=[*MAKERS, "combined"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@cache
def result_of(kind: str, names: tuple[str, ...]) -> Result:
    """Made once: a page of its own, the page of all and its pictures show the same result."""
    return MAKERS[kind](names)


def made(kind: str, names: tuple[str, ...], path: Path) -> Path:
    kinds = MAKERS if kind == "combined" else (kind,)
    return write_report(
        *(result_of(k, names) for k in kinds), out=path / f"{kind}.html", overwrite=True
    )


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every chart of every kind, on one page."""
    return made("combined", (LONG, "beta", "gamma"), tmp_path_factory.mktemp("everything"))


@pytest.fixture(scope="module")
def page(kind: str, everything: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if kind == "combined":
        return everything
    return made(kind, (LONG, "beta", "gamma"), tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def hostile(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(kind, HOSTILE, tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind on one page."""
    return made("combined", WORDY, tmp_path_factory.mktemp("wordy"))


def body(path: Path) -> str:
    return path.read_text("utf-8").split("<script")[0]


def test_a_page_is_small_and_its_links_lead_somewhere(page: Path) -> None:
    assert page.stat().st_size < 5_000_000
    text = body(page)
    links = re.findall(r'href="#([^"]+)"', text)
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(links) >= 4
    assert len(ids) == len(set(ids))
    assert set(links) <= set(ids)
    titles = re.findall(r'<section[^>]*id="[^"]*">\s*<h\d>(.*?)</h\d>', text)
    nav = re.search(r"<nav.*?</nav>", text, re.S)
    assert nav is not None
    assert [t for t in re.findall(r">([^<]+)</a>", nav[0]) if t in titles] == titles


def check_sizes(page: Path, widths: tuple[int, ...], visit: Any) -> None:
    """Charts are as large when the page is ready as they ever become, and fit into it."""
    for width in widths:
        shown = visit(page, width=width)
        first = chart_sizes(shown)
        redraw(shown)
        assert chart_sizes(shown) == first
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert all(drawn <= room + 1 and height > 100 for room, drawn, height in first)


def test_charts_have_their_final_size_at_once(page: Path, visit: Any) -> None:
    check_sizes(page, (PHONE, DESK), visit)


@pytest.mark.parametrize("font", FONTS)
def test_they_have_it_with_any_font(
    everything: Path, font: str, tmp_path: Path, visit: Any
) -> None:
    text = everything.read_text("utf-8")
    assert '"font":"system-ui, sans-serif"' in text
    changed = tmp_path / everything.name
    changed.write_text(text.replace('"font":"system-ui, sans-serif"', f'"font":"{font}"'), "utf-8")
    check_sizes(changed, (PHONE, 500, DESK), visit)


_CUT = """[...document.querySelectorAll('.chart svg')].flatMap(svg => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(text => text.getBBox().width).filter(text => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return text.textContent.includes('…') || left < box.left - 1 || right > box.right + 1
            || top < box.top - 1 || bottom > box.bottom + 1;
    }).map(text => `${svg.closest('.chart').id}: ${text.textContent}`)})"""
"""Texts of charts that end in an ellipsis, or are not wholly inside their chart."""
_WIDER = """[...document.querySelectorAll('main *')].filter(e => !e.closest('.table, pre, svg, .chart')
    && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 80))"""
"""Elements that reach beyond the page, but for tables and code, which scroll inside their box."""


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_is_cut_nor_wider_than_the_page(wordy: Path, width: int, visit: Any) -> None:
    shown = visit(wordy, width=width)
    assert shown.evaluate(_CUT) == []
    assert shown.evaluate(_WIDER) == []
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_letters_stand_for_names_that_have_no_room(tmp_path: Path, visit: Any) -> None:
    shown = visit(made("similarity", (*WORDY, "delta"), tmp_path), width=PHONE)
    key = shown.locator(".key")
    assert key.is_visible()
    assert key.inner_text().strip().startswith(f"A: {WORDY[0]}; B: {WORDY[1]};")
    texts = shown.locator("#chart-0 text").all_text_contents()
    assert [t for t in texts if re.fullmatch("[A-Z]", t)] == [*"ABCD"] * 2
    few = visit(made("similarity", ("alpha", "beta"), tmp_path), width=PHONE)
    assert few.locator(".key").is_hidden()
    assert "alpha" in few.locator("#chart-0 text").all_text_contents()


def test_a_window_that_changes_gives_the_same_as_a_new_page(everything: Path, visit: Any) -> None:
    shown = visit(everything, width=DESK)
    for width in (PHONE, 700):
        shown.set_viewport_size({"width": width, "height": 900})
        settle(shown)
        fresh = chart_sizes(visit(everything, width=width))
        for (room, drawn, _), (_, wide, _) in zip(chart_sizes(shown), fresh, strict=True):
            assert drawn <= room + 1
            assert abs(drawn - wide) < 40


def test_hostile_names_are_text(hostile: Path, visit: Any) -> None:
    assert "<script>alert" not in hostile.read_text("utf-8")
    for name in HOSTILE:
        assert name in html.unescape(body(hostile))
    shown = visit(hostile)  # which fails on errors, dialogs and requests
    before = chart_sizes(shown)
    for control in shown.locator("input[type=radio]").all():
        control.check()
    for control in shown.locator("select").all():
        control.select_option(index=1)
    settle(shown)
    assert len(chart_sizes(shown)) == len(before)
    texts = shown.locator(".chart").all_text_contents()
    assert all("undefined" not in text and "NaN" not in text for text in texts)


@pytest.mark.parametrize("name", MAKERS)
def test_every_chart_is_drawn(name: str, tmp_path: Path, checked_charts: list[Any]) -> None:
    charts = result_charts(result_of(name, HOSTILE))
    assert charts
    for number, (title, chart) in enumerate(charts.items()):
        assert re.fullmatch(r"[\w-]+", title)
        path = tmp_path / f"{number}.svg"
        save_picture(chart(), path)
        assert path.read_bytes().startswith(b"<svg")
    assert len(checked_charts) == len(charts)


# -- several results on one page ----------------------------------------------------------------------


def test_several_results_are_parts_of_one_page(tmp_path: Path) -> None:
    first, second = (similarity_result(names) for names in (("a", "b"), ("c", "d")))
    first.dataset.attrs["alerts"] = [Alert("few units", "take more.").to_dict()] * 2
    first.dataset.attrs["command"] = "lmkin similarity a b"
    path = write_report(first, second, out=tmp_path / "new" / "r.html")
    text = html.unescape(body(path))
    wanted = [
        "<h1>Similarity: 2 results</h1>",
        "What came out", "How alike are the layers of a and b?", prose(first.findings()[0]),
        "How alike are the layers of c and d?", prose(second.findings()[0]),
        "Alerts (1)", "How alike are the layers of a and b?", "<strong>few units:</strong> take more.",
        "Contents", "How alike are the layers of a and b?", "How alike are the layers of c and d?", "Reproduction",
        '<h2>How alike are the layers of a and b?</h2>', "a (3 layers); b (3 layers)",
        "<h3>All layers against all layers</h3>",
        '<h2>How alike are the layers of c and d?</h2>', "<h3>All layers against all layers</h3>",
        "<h2>Reproduction</h2>", "<h3>How alike are the layers of a and b?</h3>", "lmkin similarity a b", "Provenance",
        "<h3>How alike are the layers of c and d?</h3>", "Provenance",
    ]  # fmt: skip
    place = 0
    for word in wanted:
        place = text.index(word, place) + len(word)
    assert text.count("<h2>Reproduction</h2>") == text.count("few units") == 1


def test_data_that_parts_share_are_stored_once(tmp_path: Path) -> None:
    result = similarity_result(("a", "b"))
    one = write_report(result, out=tmp_path / "one.html", title="mine")
    two = write_report(result, result, out=tmp_path / "two.html")
    assert "<h1>mine</h1>" in body(one)

    def data(path: Path) -> list[Any]:
        specs = re.search(r'application/json">(.*?)</script>', path.read_text("utf-8"), re.S)
        assert specs is not None
        return [v for spec in json.loads(specs[1]) for v in spec.get("datasets", {}).values()]

    kept = [value for value in data(two) if value is not None]
    assert kept == [value for value in data(one) if value is not None]
    assert len(data(two)) == 2 * len(data(one))


def test_what_is_no_report(tmp_path: Path) -> None:
    result = similarity_result(("a", "b"))
    with pytest.raises(lmkin.LmkinError, match=r"one HTML file.*write_result"):
        write_report(result, out=tmp_path / "folder")
    with pytest.raises(lmkin.LmkinError, match="needs a result"):
        write_report(out=tmp_path / "r.html")
    with pytest.raises(lmkin.LmkinError, match="shows results of lmkin; got Dataset"):
        write_report(result.dataset, out=tmp_path / "r.html")  # type: ignore[arg-type]
