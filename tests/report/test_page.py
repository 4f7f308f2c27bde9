from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

import altair as alt
import pytest

from lmkin.core import Alert
from lmkin.report import (
    Chapter,
    Figure,
    Option,
    Page,
    Part,
    Switch,
    Table,
    save_picture,
    write_page,
)
from lmkin.report.names import one_line
from lmkin.report.page.html_file import prose
from lmkin.report.page.vega import vega_bundle
from lmkin.report.tables import table_of

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
    def part() -> Part:
        return Part(
            NASTY,
            [
                Chapter(
                    NASTY,
                    [NASTY],
                    [Figure(heatmap(NASTY), NASTY, NASTY)],
                    switches=[
                        Switch(
                            "kind",
                            NASTY,
                            [Option("raw", NASTY, NASTY), Option("standardized", "b")],
                        )
                    ],
                    tables=[
                        Table(
                            table_of(NASTY, [(NASTY, "text")], [[NASTY]], title=NASTY),
                            folded=NASTY,
                            when={"kind": NASTY},
                        )
                    ],
                    details=[(NASTY, {NASTY: NASTY})],
                    entries=[Chapter(NASTY, [NASTY], details=[(NASTY, NASTY)])],
                )
            ],
            findings=[NASTY],
            facts=[(NASTY, NASTY)],
            alerts=[Alert(NASTY, NASTY)],
        )

    page = Page(NASTY, [part(), part()], last=Chapter(NASTY), subtitle=NASTY)
    write_page(page, tmp_path / "report.html")
    return tmp_path / "report.html"


def test_text_from_models_and_corpora_is_escaped(page) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    title = specs_of(page)[0]["layer"][0]["encoding"]["x"]["title"]
    assert title == "layer of " + NASTY.replace("\u2028", " ")


def test_page_is_offline_and_small(page) -> None:
    text = page.read_text(encoding="utf-8")
    addresses = re.findall(r'(?:src|href)\s*=\s*["\']([^"\']*)', text.split("<script")[0])
    assert all(address.startswith(("data:", "#")) for address in addresses)
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
            Table(
                table_of("t", [("head", "text")], [[f"table {k}"]]),
                folded="more",
                when={"left": str(k)},
            )
            for k in (1, 2)
        ],
    )
    write_page(Page("two", [Part("two", [chapter])]), tmp_path / "two.html")
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
        part = Part("r", facts=[("Corpus", NASTY)], alerts=alerts)
        write_page(Page("r", [part]), tmp_path / "r.html")
        return (tmp_path / "r.html").read_text("utf-8").split("<script")[0]

    assert "Alerts" not in text(None)
    assert "<p>No alerts.</p>" in text([])
    found = text([Alert("few units", "10 only."), Alert("other", NASTY)])
    assert "<strong>few units:</strong> 10 only." in found
    assert found.count("<li>") == 2
    assert "&lt;script&gt;alert" in found


def test_data_come_as_columns(tmp_path) -> None:
    part = Part("r", [Chapter("c", figures=[Figure(heatmap())])])
    write_page(Page("r", [part]), tmp_path / "r.html")
    (data,) = specs_of(tmp_path / "r.html")[0]["datasets"].values()
    assert data["fields"] == ["row", "column", "raw", "standardized"]
    assert data["columns"][2] == [1.0, 0.5, 0.5, 1.0]


def test_pictures_need_no_browser(tmp_path) -> None:
    for name, magic in (("a.png", b"\x89PNG"), ("a.svg", b"<svg")):
        save_picture(heatmap(), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(magic)


def test_numbers_in_sentences() -> None:
    said = "CKA 0.448 ± 0.003 (95 % interval -0.441 to 0.455), 0.9 ± < 0.001 by gpt-2"
    assert prose(said) == (
        "CKA 0.448\u00a0±\u00a00.003 (95% interval −0.441 to 0.455), 0.9\u00a0±\u00a0<\u00a00.001 by gpt-2"
    )
    # Arabic letters would turn the numbers that follow: they are isolated, Latin ones are not.
    assert prose("نموذج كبير-v2: 0.270") == "\u2068نموذج كبير\u2069-v2: 0.270"


@pytest.fixture
def cache_folder(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """A cache of one's own, and a bundler whose calls are counted."""
    bundled: list[str] = []

    def bundle(snippet: str, **_: str) -> str:
        bundled.append(snippet)
        return "draw('é </script>');\r\n"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("vl_convert.javascript_bundle", bundle)
    vega_bundle.cache_clear()
    yield tmp_path / "cache", bundled
    vega_bundle.cache_clear()


def _bundle_of_a_new_process() -> str:
    vega_bundle.cache_clear()
    return str(vega_bundle())


def test_the_drawing_script_is_bundled_once(cache_folder) -> None:
    folder, bundled = cache_folder
    first = _bundle_of_a_new_process()
    assert first == "draw('é <\\/script>');\r\n"
    assert _bundle_of_a_new_process() == first
    assert len(bundled) == 1
    (kept,) = (folder / "lmkin").iterdir()
    for damage in (kept.read_bytes()[:-1], b"", b"\xff\xfe", b"// sha256 0\nalert(1)"):
        kept.write_bytes(damage)
        assert _bundle_of_a_new_process() == first
    assert len(bundled) == 5


def test_a_script_that_others_may_have_written_is_not_drawn_with(cache_folder, tmp_path) -> None:
    """Into a page comes what only this user can have put there, however well it is signed; nothing waits or grows."""
    folder, bundled = cache_folder
    first = _bundle_of_a_new_process()
    (kept,) = (folder / "lmkin").iterdir()
    assert "6.4" in kept.name
    assert hashlib.sha256(b"window.vegaEmbed = vegaEmbed;").hexdigest()[:12] in kept.name
    assert (folder / "lmkin").stat().st_mode & 0o777 == 0o700
    evil = b"alert(1)"
    signed = b"// sha256 " + hashlib.sha256(evil).hexdigest().encode() + b"\n" + evil
    (tmp_path / "evil").write_bytes(signed)
    bad = b"\xff"
    not_text = b"// sha256 " + hashlib.sha256(bad).hexdigest().encode() + b"\n" + bad
    for number, lay in enumerate((
        lambda: kept.symlink_to(tmp_path / "evil"), lambda: kept.symlink_to("/dev/zero"),
        lambda: os.mkfifo(kept), lambda: kept.write_bytes(not_text),
    )):  # fmt: skip
        kept.unlink()
        lay()
        assert _bundle_of_a_new_process() == first
        assert len(bundled) == number + 2
        assert kept.is_file()
        assert not kept.is_symlink()
    kept.write_bytes(signed)
    for mode in (0o770, 0o707):
        (folder / "lmkin").chmod(mode)
        assert _bundle_of_a_new_process() == first
    (folder / "lmkin").rename(folder / "elsewhere")
    (folder / "elsewhere").chmod(0o700)
    (folder / "lmkin").symlink_to(folder / "elsewhere")
    assert _bundle_of_a_new_process() == first
    assert (folder / "elsewhere" / kept.name).read_bytes() == signed  # nor is it written there


def test_where_the_script_is_kept(cache_folder, tmp_path, monkeypatch) -> None:
    """In the cache of the user, if there is a user; what a killed process left there goes."""
    _, bundled = cache_folder
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    for cache, home, made in (
        ("relative", str(tmp_path / "home"), tmp_path / "home" / ".cache"), ("", "", None),
        ("", str(tmp_path / "nobody"), None), ("", "home", None),
        (str(tmp_path / "no" / "cache"), str(tmp_path / "home"), None),
    ):  # fmt: skip
        monkeypatch.setenv("XDG_CACHE_HOME", cache)
        monkeypatch.setenv("HOME", home)
        before = sorted(tmp_path.rglob("*"))
        _bundle_of_a_new_process()
        new = {p for p in tmp_path.rglob("*") if p.is_file()} - set(before)
        assert len(new) == (made is not None), (cache, home)
        assert all(made in p.parents for p in new)
        assert made or sorted(tmp_path.rglob("*")) == before
    assert len(bundled) == 5
    assert not Path("/.cache/lmkin").exists()
    left = tmp_path / "home" / ".cache" / "lmkin" / ".x.js.0123456789abcdef.tmp"
    left.write_text("half")
    next(left.parent.glob("*.js")).unlink()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    _bundle_of_a_new_process()
    assert not left.exists()


def test_no_place_to_keep_the_drawing_script_is_no_harm(cache_folder) -> None:
    folder, bundled = cache_folder
    folder.write_text("a file where a folder should be")
    assert _bundle_of_a_new_process() == _bundle_of_a_new_process()
    assert len(bundled) == 2
