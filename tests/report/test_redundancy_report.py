from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest
import xarray as xr
from made import redundancy_of
from readiness import settle
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import lmkin
from lmkin.report import result_charts, save_picture, write_report
from lmkin.report.kinds.redundancy.drop_layers import drop_layers_table
from lmkin.report.kinds.redundancy.neurons_left import layer_table, left_table
from lmkin.report.kinds.redundancy.spans import span_table
from lmkin.report.kinds.redundancy.strips import farthest, neuron_names, strip_table
from lmkin.report.kinds.redundancy.view import LayersView, RedundancyView

NASTY = "</script><script>alert('x')</script>&\n\u2028\"'`${1}$title\\ {{x}}"
THRESHOLDS = (0.0, 0.1, 0.3, 0.5, 0.9)
LEFT, LAYERS, SPANS, MODELS, DROP, R2, CKA, AVERAGE, STRIP = range(9)
"""The charts of a report of two models."""


def arrays(models=("teacher", "student"), layers=(5, 3), *, n=300, seed=0) -> dict[str, np.ndarray]:
    """Layers that keep some of what the one before says, so that clusters reach over them."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, count in zip(models, layers, strict=True):
        X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, 9)) + rng.normal(size=(n, 9))
        for layer in range(count):
            found[f"{name}/{layer}"] = X
            X = X + np.linspace(0.1, 2.5, 9) * rng.normal(size=X.shape)
            X = X * np.where(np.arange(9) % 4 == 3, -1, 1)
    return found


def strip_of(model="teacher", words=19, rows=(5, 3), *, seed=0) -> xr.Dataset:
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(len(rows)) * 7 + 2, rows)
    count = sum(rows)
    return xr.Dataset(
        {"activation": (("row", "word"), rng.normal(size=(count, words)))},
        coords={
            "word": np.arange(words),
            "text": ("word", [f"word{k}" for k in range(words)]),
            "cluster": ("row", cluster),
            "layer": ("row", np.arange(count)),
            "neuron": ("row", 200 + np.arange(count)),
            "sign": ("row", np.where(np.arange(count) % 3 == 1, -1, 1)),
            "size": ("row", np.repeat([5, 40, *rows][: len(rows)], rows)),
        },
        attrs={"model": model, "threshold": 0.3},
    )


@pytest.fixture(scope="module")
def clustering() -> lmkin.Clustering:
    return lmkin.cluster_neurons(arrays(), thresholds=THRESHOLDS, progress=False)


@pytest.fixture(scope="module")
def tables(clustering) -> xr.Dataset:
    found = clustering.tables()
    alerts = [{"kind": "few rows", "text": "take more."}]
    return found.assign_attrs(corpus="my corpus", alerts=alerts)


@pytest.fixture(scope="module")
def layers() -> xr.Dataset:
    return lmkin.layer_redundancy(arrays(), parts=5, progress=False)


def write(path, *parts, **options):
    return write_report(redundancy_of(*parts), out=path, overwrite=True, **options)


def body(path) -> str:
    """The page as text, without its list of contents."""
    text = path.read_text("utf-8").split("<script")[0]
    return re.sub(r"<nav.*?</nav>", "", text, flags=re.S)


def test_report_says_everything_in_order(tables, layers, tmp_path) -> None:
    tables = tables.assign_attrs(command="lmkin redundancy a b")
    text = body(write(tmp_path / "r.html", tables, layers, [strip_of()]))
    wanted = [
        "Which neurons of teacher and student say the same thing?", "teacher (5 layers, 45 neurons)",
        "student (3 layers, 27 neurons)", "my corpus", "300 rows", "95%", "<strong>few rows:</strong>",
        "Neurons left by threshold",
        "Neurons left by layer", "drawn at random (seed 0)", "16.7 points",
        "How far apart the members of a cluster lie", "Layers that are nearly copies", "not a test of a task",
        "All layers of a model against all", "Neurons of a cluster over a sentence: teacher at 0.3", "Reproduction",
        "lmkin redundancy a b", "linkage=&#34;average&#34;", "Dalvi et al. 2020", "Provenance", "Clustering",
        "Versions",
    ]  # fmt: skip
    places = [text.index(word) for word in wanted]
    assert places == sorted(places)
    assert text.count("<strong>few rows:</strong>") == 1


def test_numbers_left_are_those_of_scipy(tables) -> None:
    """By another library, from the raw rows."""
    view = RedundancyView(tables)
    told = left_table(view).cells()
    heads = [column.heading for column in left_table(view).columns]
    assert heads == ["threshold", "teacher (of 45)", "student (of 27)"]
    rows = arrays()
    for m, name in enumerate(("teacher", "student")):
        X = np.column_stack([x for key, x in rows.items() if key.startswith(name)])
        D = np.clip(1 - np.abs(np.corrcoef(X.T)), 0, None)
        Z = linkage(squareform(D, checks=False), "average")
        for line, t in zip(told, THRESHOLDS, strict=True):
            count = len(set(fcluster(Z, t + 1e-9, "distance")))
            assert line[m + 1] == f"{count} ({100 * count / X.shape[1]:.1f}%)"
        labels = fcluster(Z, 0.3 + 1e-9, "distance")
        place = np.repeat(np.arange(X.shape[1] // 9), 9)
        spans = [place[labels == c] for c in set(labels)]
        spans = [np.ptp(s) for s in spans if len(s) > 1]
        line = span_table(view, m, "clusters").cells()[THRESHOLDS.index(0.3)]
        assert line[:2] == ["0.3", str(len(spans))]
        counts = [sum(min(s, 3) == k for s in spans) for k in range(4)]
        assert [int(cell.split()[0]) for cell in line[2:]] == counts


def test_tables_are_those_of_the_dataset(tables, layers) -> None:
    view = RedundancyView(tables)
    for m, (name, count) in enumerate((("teacher", 5), ("student", 3))):
        table = layer_table(view, m)
        heads = [column.heading for column in table.columns]
        assert heads == ["layer", "neurons", "0", "0.1", "0.3", "0.5", "0.9"]
        numbers = np.array([[int(c) for c in row[2:]] for row in table.cells()])
        assert len(numbers) == count
        assert (
            numbers.tolist() == tables["left_by_layer"].sel(model=name).values[:, :count].T.tolist()
        )
        assert numbers.sum(0).tolist() == tables["left"].sel(model=name).values.tolist()
    ranked = drop_layers_table(LayersView(layers), 1).cells()
    here = layers.sel(model="student")
    order = here["layer"].values[1:3][np.argsort(-here["r2"].values[1:3])]
    assert [int(row[1]) for row in ranked] == order.tolist()
    for row in ranked:
        one = here.sel(layer=int(row[1]))
        assert int(row[2]) == int(row[1]) - 1
        assert row[3] == f"{float(one['r2']):.3f} ± {float(one['r2_se']):.3f}"
        assert row[4] == f"{float(one['r2_low']):.3f} to {float(one['r2_high']):.3f}"
        assert row[5].startswith(f"{float(one['cka']):.3f} ± ")


def test_strips_name_their_neurons() -> None:
    strip = strip_of()
    assert neuron_names(strip)[:2] == ["layer 0, neuron 200", "layer 1, neuron 201 (−)"]
    table = strip_table(strip)
    assert [column.heading for column in table.columns][:3] == ["cluster", "neuron", "word0"]
    rows = table.cells()
    assert rows[5][:2] == ["9", "layer 5, neuron 205"]
    cells = np.array([[float(c.replace("−", "-")) for c in row[2:]] for row in rows])
    assert np.allclose(cells, strip["activation"], atol=0.0051)
    assert farthest([strip * 0.1]) == pytest.approx(0.1 * float(abs(strip["activation"]).max()))
    assert farthest([strip * 10]) == 3
    assert farthest([strip * 0]) == 1


def test_every_chart_as_a_picture(tables, layers, tmp_path, checked_charts) -> None:
    strips = [strip_of(), strip_of("student", 4, (2,), seed=1)]
    charts = result_charts(redundancy_of(tables, layers, strips))
    names = [
        "left-share", "left-number", "models-clusters-0-3", "models-neurons-0-3", "r2", "average",
        "strip-teacher-0-3", "strip-student-0-3",
        *(f"{kind}-{model}" for kind in ("layers", "spans-clusters", "spans-neurons", "drop", "cka")
          for model in ("teacher", "student")),
    ]  # fmt: skip
    assert sorted(charts) == sorted(f"redundancy-{name}" for name in names)
    for name, chart in charts.items():
        save_picture(chart(), tmp_path / f"{name}.svg")
    picture = (tmp_path / "redundancy-layers-student.svg").read_text("utf-8")
    assert "student" in picture
    assert "teacher" not in picture
    assert len(checked_charts) == len(charts)


def test_what_is_no_clustering_is_refused(tables, layers, tmp_path) -> None:
    out = tmp_path / "r.html"
    for wrong in (xr.Dataset(), tables.drop_vars("width"), tables.isel(threshold=[])):
        with pytest.raises(lmkin.LmkinError, match=r"lmkin\.redundancy"):
            write(out, wrong)
    with pytest.raises(lmkin.LmkinError, match=r"lmkin\.layer_redundancy.*lacks drop_rank"):
        write(out, tables, layers.drop_vars("drop_rank"))
    for wrong in ([strip_of().drop_vars("sign")], ["a sentence"]):
        with pytest.raises(lmkin.LmkinError, match=r"lmkin\.cluster_strips.*sign"):
            write(out, tables, None, wrong)


def test_medoids_and_other_linkages_are_told(tmp_path) -> None:
    found = lmkin.cluster_neurons(
        arrays(), thresholds=(0.2,), linkage="complete", representative="medoid", progress=False
    )
    text = body(write(tmp_path / "r.html", found.tables()))
    assert "its medoid is kept" in text
    assert "at random" not in text
    assert "no two neurons of a cluster lie farther apart" in text


def nasty() -> tuple[xr.Dataset, xr.Dataset, list[xr.Dataset]]:
    names = [NASTY, NASTY + "2", "ж" * 80]
    rows = arrays([*"abc"], (3, 2, 4))
    tables = lmkin.cluster_neurons(rows, thresholds=THRESHOLDS, progress=False).tables()
    layers = lmkin.layer_redundancy(rows, parts=3, progress=False)
    strip = strip_of(NASTY, 70)
    strip = strip.assign_coords(text=("word", [NASTY, *["</b>" * 20] * 69]))
    attrs = {
        "corpus": NASTY,
        "alerts": [{"kind": NASTY, "text": NASTY}],
        "provenance": NASTY,
        "units": NASTY,
    }
    named = tables.assign_coords(model=names).assign_attrs(attrs)
    return named, layers.assign_coords(model=names), [strip]


def test_names_and_words_cannot_break_out_of_the_page(tmp_path) -> None:
    text = write(tmp_path / "r.html", *nasty()).read_text("utf-8")
    assert "<script>alert" not in text
    assert "<script" not in text.split("Written by lmkin")[0]


def large(models=12, count=33) -> tuple[xr.Dataset, xr.Dataset, list[xr.Dataset]]:
    rng = np.random.default_rng(0)
    names = [f"organisation/some-model-{m}" for m in range(models)]
    thresholds = [*np.linspace(0, 0.9, 10), 0.95]
    by_layer = rng.integers(0, 769, (models, 11, count)).astype(float)
    dims = ("model", "threshold")
    total = np.full(models, 768 * count)
    left = by_layer.sum(-1).astype(int)
    tables = xr.Dataset(
        {
            "left": (dims, left),
            "share": (dims, left / total[:, None]),
            "largest": (dims, left // 10),
            "left_by_layer": ((*dims, "layer"), by_layer),
            "clusters": ((*dims, "span"), rng.integers(0, 500, (models, 11, 5))),
            "neurons_in": ((*dims, "span"), rng.integers(0, 5000, (models, 11, 5))),
            "neurons": ("model", total),
            "width": (("model", "layer"), np.full((models, count), 768.0)),
        },
        coords={
            "model": names, "threshold": thresholds, "layer": np.arange(count),
            "span": ["alone", "same layer", "±1", "±2", "further"],
        },
    )  # fmt: skip
    found = {}
    for end in ("", "_se", "_low", "_high"):
        for name in ("r2", "cka", "average"):
            found[name + end] = (("model", "layer"), rng.random((models, count)))
        found[f"cka_all{end}"] = (("model", "layer", "other"), rng.random((models, count, count)))
    ranks = np.argsort(np.argsort(-found["r2"][1], axis=1), axis=1) + 1.0
    found["drop_rank"] = (("model", "layer"), ranks)
    coords = {"model": names, "layer": np.arange(count), "other": np.arange(count)}
    strips = [strip_of(name, 60, (12, 12, 12)) for name in names]
    return tables, xr.Dataset(found, coords), strips


def test_a_large_report_is_small(tmp_path) -> None:
    path = write(tmp_path / "r.html", *large())
    assert path.stat().st_size < 5_000_000
    assert "strips.csv" in body(path)


# -- in a browser -----------------------------------------------------------------------------------

MARKS = """([chart, mark]) => [...document.querySelectorAll(`#chart-${chart} .mark-${mark}.role-mark path, ` +
    `#chart-${chart} .mark-${mark}.role-mark line`)].map(e => e.__data__.datum)"""


@pytest.fixture(scope="module")
def written(tables, layers, tmp_path_factory):
    return write(tmp_path_factory.mktemp("page") / "r.html", tables, layers, [strip_of()])


@pytest.fixture
def page(written, visit):
    return visit(written)


def section_of(page, chart: int):
    return page.locator("section", has=page.locator(f"#chart-{chart}"))


def choose(page, chart: int, *labels: str) -> None:
    for label in labels:
        section_of(page, chart).get_by_label(label, exact=True).check()
    settle(page)


def title_of(page, chart: int) -> str:
    return page.locator(f"#chart-{chart} .role-title").text_content()


def point_at(page, chart: int, test: str) -> str:
    page.evaluate(
        f"""document.getElementById('pointed')?.removeAttribute('id');
        [...document.querySelectorAll('#chart-{chart} .role-mark path')]
        .find(e => (d => {test})(e.__data__.datum)).id = 'pointed'"""
    )
    page.locator("#pointed").hover()
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    return " ".join(tip.inner_text().split())


def shown_table(page, chart: int) -> list[list[str]]:
    """The first table that is not hidden, unfolded."""
    details = section_of(page, chart).locator("details:not([hidden])").first
    details.evaluate("e => e.open = true")
    rows = details.locator("tr").all()
    return [row.locator("th, td").all_text_contents() for row in rows]


def test_lines_show_shares_and_numbers(page, tables) -> None:
    for label, name in (("fraction of all neurons", "share"), ("number of neurons", "left")):
        choose(page, LEFT, label)
        assert label in title_of(page, LEFT)
        points = page.evaluate(MARKS, [LEFT, "symbol"])
        assert len(points) == 10
        for d in points:
            true = float(tables[name].sel(model=d["model"], threshold=d["t"]))
            assert d["v"] == pytest.approx(true, rel=1e-4)
        heights = page.evaluate(
            """[...document.querySelectorAll('#chart-0 .mark-symbol.role-mark path')].map(e =>
            [e.__data__.datum.v, e.getBoundingClientRect().y])"""
        )
        assert [y for _, y in sorted(heights)] == sorted((y for _, y in heights), reverse=True)
    share = tables.sel(model="student", threshold=0.3)
    told = point_at(page, LEFT, "d.model == 'student' && d.t == 0.3")
    assert f"left {int(share['left'])} of 27 ({100 * float(share['share']):.1f}%)" in told


def test_the_heatmap_and_its_table_follow_the_model(page, tables) -> None:
    for name, count in (("student", 3), ("teacher", 5)):
        choose(page, LAYERS, name)
        assert name in title_of(page, LAYERS)
        cells = page.evaluate(MARKS, [LAYERS, "rect"])
        assert len(cells) == count * 5
        here = tables["left_by_layer"].sel(model=name)
        for d in cells:
            true = float(here.sel(threshold=THRESHOLDS[d["k"]], layer=d["layer"]))
            assert d["v"] == pytest.approx(true / 9, rel=1e-4)
            assert d["said"] == f"{true:.0f} of 9"
        rows = shown_table(page, LAYERS)
        assert len(rows) == count + 1
        assert [int(n) for n in rows[1][2:]] == here.values[:, 0].astype(int).tolist()
    dark, pale = page.evaluate(
        """[d => d.v, d => -d.v].map(by => [...document.querySelectorAll('#chart-1 .mark-rect.role-mark path')]
        .sort((a, b) => by(b.__data__.datum) - by(a.__data__.datum))[0]).map(
        e => getComputedStyle(e).fill.match(/\\d+/g).map(Number))"""
    )
    assert sum(dark) < sum(pale)


def test_bars_of_clusters_and_of_neurons(page, tables) -> None:
    spans = [str(s) for s in tables["span"].values]
    for kind, variable in (("clusters", "clusters"), ("neurons", "neurons_in")):
        for name in ("student", "teacher"):
            choose(page, SPANS, f"fraction of {kind}", name)
            assert name in title_of(page, SPANS)
            bars = page.evaluate(MARKS, [SPANS, "rect"])
            for k in range(len(THRESHOLDS)):
                counts = tables[variable].sel(model=name).values[k].astype(float)
                if kind == "clusters":
                    counts[0] = 0
                mine = {spans[d["s"]]: d["v"] for d in bars if d["bar"] == k}
                wanted = {s: c / counts.sum() for s, c in zip(spans, counts, strict=True) if c}
                assert mine == pytest.approx(wanted, rel=1e-4)
            rows = shown_table(page, SPANS)
            column = rows[0].index("in neighbouring layers (±1)")
            numbers = [row[column].split()[0] for row in rows[1:]]
            true = tables[variable].sel(model=name, span="±1").values
            assert [int(n) for n in numbers if n != "–"] == [
                int(c) for c, n in zip(true, numbers, strict=True) if n != "–"
            ]
        legend = page.locator(f"#chart-{SPANS} .role-legend-label").all_text_contents()
        assert ("alone" in legend) == (kind == "neurons")
    assert len(page.evaluate(MARKS, [MODELS, "rect"])) == int(
        (tables["neurons_in"].sel(threshold=0.3) > 0).sum()
    )
    section_of(page, MODELS).locator("select").select_option(label="0.9")
    settle(page)
    assert "threshold 0.9" in title_of(page, MODELS)
    bars = page.evaluate(MARKS, [MODELS, "rect"])
    here = tables["neurons_in"].sel(threshold=0.9).values
    for d in bars:
        assert d["v"] == pytest.approx(here[d["bar"], d["s"]] / here[d["bar"]].sum(), rel=1e-4)
    ends = page.locator(f"#chart-{MODELS} .mark-text.role-mark text").all_text_contents()
    assert sorted(ends) == ["27", "45"]


def test_candidates_to_drop_are_ranked(page, layers) -> None:
    for name, count in (("student", 2), ("teacher", 4)):
        choose(page, DROP, name)
        here = layers.sel(model=name)
        order = [
            int(here["layer"].values[here["drop_rank"].values == r][0]) for r in range(1, count + 1)
        ]
        labels = page.evaluate(
            f"""[...document.querySelectorAll('#chart-{DROP} .role-axis-label text')].map(e =>
            [e.getBoundingClientRect().y, e.textContent]).filter(([, t]) => t.includes('layer'))"""
        )
        assert [text for _, text in sorted(labels)] == [
            f"{k + 1}. layer {layer}" for k, layer in enumerate(order)
        ]
        points = page.evaluate(MARKS, [DROP, "symbol"])
        for label, variable in (("R²", "r2"), ("CKA", "cka")):
            mine = {d["rank"]: d["v"] for d in points if d["kind"].startswith(label)}
            assert [mine[k] for k in range(count)] == pytest.approx(
                [float(here[variable].sel(layer=n)) for n in order], rel=1e-4
            )
        assert len(points) == 2 * count
        bars = page.evaluate(MARKS, [DROP, "rule"])
        low = {d["rank"]: d["low"] for d in bars if d["kind"].startswith("R²")}
        assert low[0] == pytest.approx(float(here["r2_low"].sel(layer=order[0])), rel=1e-4)
        said = section_of(page, DROP).locator(".explained span:visible").inner_text()
        assert (
            f"In {name}, layer {order[0]} adds least: a linear regression on layer {order[0] - 1}"
            in said
        )
        assert shown_table(page, DROP)[1][:3] == ["1", str(order[0]), str(order[0] - 1)]
    lines = page.evaluate(MARKS, [R2, "symbol"])
    assert len(lines) == 4 + 2
    for d in lines:
        true = float(layers["r2"].sel(model=d["model"], layer=d["layer"]))
        assert d["v"] == pytest.approx(true, rel=1e-4)


def test_layers_against_layers_and_their_average(page, layers) -> None:
    for name, count in (("student", 3), ("teacher", 5)):
        choose(page, CKA, name)
        cells = page.evaluate(MARKS, [CKA, "rect"])
        assert len(cells) == count**2
        here = layers["cka_all"].sel(model=name).values
        for d in cells:
            assert d["v"] == pytest.approx(here[d["i"], d["j"]], rel=1e-4)
    told = point_at(page, CKA, "d.i == 0 && d.j == 2 && d.row")
    one = layers.sel(model="teacher", layer=0, other=2)
    value, error = float(one["cka_all"]), float(one["cka_all_se"])
    assert told.startswith(f"row layer 0 column layer 2 CKA {value:.4f} ± {error:.4f}")
    points = page.evaluate(MARKS, [AVERAGE, "symbol"])
    assert len(points) == 5 + 3
    for d in points:
        square = layers["cka_all"].sel(model=d["model"]).values
        others = [v for v in np.delete(square[d["layer"]], d["layer"]) if np.isfinite(v)]
        assert d["v"] == pytest.approx(np.mean(others), rel=1e-4)
    assert page.locator(f"#chart-{AVERAGE} .mark-area.role-mark path").count() == 2
    rows = shown_table(page, AVERAGE)
    assert rows[0] == ["layer", "teacher", "student"]
    assert rows[5][2] == "–"


def test_strips_show_words_and_neurons(page) -> None:
    strip = strip_of()
    cells = page.evaluate(MARKS, [STRIP, "rect"])
    assert len(cells) == 8 * 19
    for d in cells:
        assert d["v"] == pytest.approx(float(strip["activation"][d["i"], d["j"]]), rel=1e-4)
    labels = page.locator(f"#chart-{STRIP} .role-axis-label text").all_text_contents()
    assert set(neuron_names(strip)) <= set(labels)
    assert [f"word{k}" for k in range(19)] == [t for t in labels if t.startswith("word")]
    heads = page.locator(f"#chart-{STRIP} .mark-text.role-mark text").all_text_contents()
    assert heads == ["cluster 2: 5 neurons", "cluster 9: 40 neurons, 3 shown"]
    told = point_at(page, STRIP, "d.i == 1 && d.j == 4 && d.word")
    value = f"{float(strip['activation'][1, 4]):+.2f}".replace("-", "−")
    assert told == f"neuron layer 1, neuron 201 (−) word word4 deviations {value}"
    blue, red = page.evaluate(
        """([chart]) => [1, -1].map(sign => [...document.querySelectorAll(`#chart-${chart} .mark-rect.role-mark path`)]
        .sort((a, b) => sign * (b.__data__.datum.v - a.__data__.datum.v))[0]).map(
        e => getComputedStyle(e).fill.match(/\\d+/g).map(Number))""",
        [STRIP],
    )
    assert blue[2] > blue[0]
    assert red[0] > red[2]


def test_a_chart_can_be_saved(page, tmp_path) -> None:
    choose(page, SPANS, "fraction of neurons", "student")
    figure = page.locator("figure", has=page.locator(f"#chart-{SPANS}"))
    with page.expect_download() as download:
        figure.locator("[data-format=svg]").click()
    assert download.value.suggested_filename == "redundancy-spans-neurons-student.svg"
    download.value.save_as(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes().startswith(b"<svg")


@pytest.mark.parametrize("width", [1280, 360])
def test_fits_the_page_and_comes_to_rest(tmp_path, visit, width) -> None:
    tables, layers, strips = large(9, 14)
    page = visit(write(tmp_path / "r.html", tables, layers, strips[:1]), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = """[...document.querySelectorAll('.chart svg')].map(e => {
        const title = e.querySelector('.role-title text').getBoundingClientRect();
        const box = e.getBoundingClientRect();
        const labels = [...e.querySelectorAll('.role-axis-label text')].map(t => t.getBoundingClientRect().x - box.x);
        return [box.width, box.height, title.y - box.y, Math.min(...labels)]})"""
    before = page.evaluate(sizes)
    settle(page)
    assert page.evaluate(sizes) == before
    assert len(before) == 9
    for wide, high, top, left in before:
        assert wide > 150
        assert high > 100
        assert -1 <= top < 30
        assert left >= -1
    # Nine models: a list to choose from, no row of buttons; and every one has a look of its own.
    section_of(page, LAYERS).locator("select").select_option(label="organisation/some-model-7")
    settle(page)
    assert "some-model-7" in title_of(page, LAYERS)
    looks = page.evaluate(
        """[...document.querySelectorAll('#chart-0 .role-legend-symbol path')].map(e =>
        e.getAttribute('fill') + e.getAttribute('d'))"""
    )
    assert len(looks) == len(set(looks)) == 9
    words = page.evaluate(
        f"""[...document.querySelectorAll('#chart-{STRIP} .role-axis-label text')].filter(
        e => e.textContent.startsWith('word')).map(e => e.getBoundingClientRect()).map(b => [b.left, b.right])"""
    )
    assert len(words) >= (60 if width == 1280 else 12)
    assert all(b[0] >= a[1] - 4 for a, b in pairwise(words))


def test_names_and_words_of_any_kind(tmp_path, visit) -> None:
    page = visit(write(tmp_path / "r.html", *nasty()))
    counts = {LAYERS: 15, CKA: 9, STRIP: 8 * 60}
    for chart, count in counts.items():
        assert len(page.evaluate(MARKS, [chart, "rect"])) == count
    for control in page.locator("input").all():
        control.check()
    settle(page)
    assert "alert('x')" in point_at(page, LEFT, "d.i == 1 && d.t == 0.5")
    assert "There was no room for the last 10 words." in section_of(page, STRIP).inner_text()


def bare(tables: xr.Dataset) -> xr.Dataset:
    """One model, one threshold, no attributes."""
    part = tables.isel(model=[1], threshold=[2], layer=[0, 1, 2])
    return part.drop_attrs()


def test_one_model_one_threshold_and_nothing_else(tables, tmp_path, visit) -> None:
    page = visit(write(tmp_path / "r.html", bare(tables)))
    assert page.locator(".switch").count() == 2  # share or number, clusters or neurons
    assert page.locator(".chart").count() == 3
    assert len(page.evaluate(MARKS, [LEFT, "symbol"])) == 1
    assert len(page.evaluate(MARKS, [LAYERS, "rect"])) == 3
    assert "No alerts." in page.locator("main").inner_text()
    assert "student" in page.locator("h1").inner_text()


def test_every_neuron_alone(tmp_path, visit) -> None:
    rows = {f"m/{k}": np.random.default_rng(k).normal(size=(400, 5)) for k in range(2)}
    tables = lmkin.cluster_neurons(rows, thresholds=(0.0, 0.2), progress=False).tables()
    page = visit(write(tmp_path / "r.html", tables))
    assert not page.evaluate(MARKS, [SPANS, "rect"])
    texts = page.locator(f"#chart-{SPANS} .mark-text.role-mark text").all_text_contents()
    assert texts == ["none", "none"]
    choose(page, SPANS, "fraction of neurons")
    bars = page.evaluate(MARKS, [SPANS, "rect"])
    assert [(d["s"], d["v"]) for d in bars] == [(0, 1), (0, 1)]


def test_layers_without_intervals_and_with_holes(tables, layers, tmp_path, visit) -> None:
    plain = layers[["r2", "cka", "average", "cka_all", "drop_rank"]].copy(deep=True)
    plain["r2"][0, 2] = np.nan
    plain["cka_all"][0, 1, 3] = np.nan
    one = plain.isel(model=[1, 0]).drop_attrs()
    strip = strip_of()
    strip["activation"][0, 0] = np.nan
    page = visit(write(tmp_path / "r.html", tables, one, [strip]))
    text = page.locator("main").inner_text()
    assert "No intervals were computed" in text
    # The models stand in the order of the clustering.
    names = section_of(page, DROP).locator("label").all_inner_texts()
    assert [name.strip() for name in names] == ["teacher", "student"]
    assert len(page.evaluate(MARKS, [DROP, "symbol"])) == 7
    assert len(page.evaluate(MARKS, [CKA, "rect"])) == 25
    assert point_at(page, CKA, "d.i == 1 && d.j == 3 && d.row").endswith("CKA not defined")
    assert len(page.evaluate(MARKS, [STRIP, "rect"])) == 8 * 19
    assert point_at(page, STRIP, "d.i == 0 && d.j == 0 && d.word").endswith("not defined")
    only = visit(write(tmp_path / "s.html", bare(tables), plain.isel(model=[1])))
    assert "In student, layer" in only.locator("main").inner_text()
    assert only.locator(".chart").count() == 6


def test_a_report_of_tiny_models_on_a_corpus(model_folder, sample, tmp_path, visit) -> None:
    models = [
        lmkin.load_model(model_folder("bert"), name="tiny"),
        lmkin.load_model(f"untrained:{model_folder('bert')}@1", name="twin"),
    ]
    acts = [lmkin.extract(m, sample[:80], progress=False) for m in models]
    found = lmkin.cluster_neurons(acts, progress=False)
    layers = lmkin.layer_redundancy(acts, parts=4, progress=False)
    strip = lmkin.cluster_strips(models[0], "The old house is empty .", found, 0.9, model="tiny")
    page = visit(write(tmp_path / "r.html", found.tables(), layers, [strip]))
    labels = page.locator(f"#chart-{STRIP} .role-axis-label text").all_text_contents()
    assert {"The", "old", "house", "is", "empty", "."} <= set(labels)
    assert {text for text in labels if text.startswith("layer")} == set(neuron_names(strip))
    assert re.search(r"[\d,]+ words", page.locator("header").inner_text())
    shown = page.locator("details", has_text="Clustering").locator("pre").first.text_content()
    assert json.loads(shown)["representative"] == "random"
