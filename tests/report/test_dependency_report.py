from __future__ import annotations

import re

import numpy as np
import pytest
import xarray as xr
from made import dependency_of
from readiness import settle

import lmkin
from lmkin.report import result_charts, save_picture, write_report
from lmkin.report.kinds.dependency.explained import group_table, length_table
from lmkin.report.kinds.dependency.portfolio import drop_table, input_table, subset_table
from lmkin.report.kinds.dependency.view import DependencyView
from lmkin.report.names import shortened

NASTY = "</script><script>alert('x')</script>&\n\u2028\"'`${1}$title\\ {{x}}"
NAMES = ("alpha", "beta", "gamma", "delta")
GROUP, LENGTHS, RHO, R2, DROP, UNIQUE = range(6)
"""The charts of a report with several lengths."""


def arrays(names=NAMES, *, n=400, noise=0.6, seed=0) -> dict[str, np.ndarray]:
    """Models that see the same eight causes, each through noise of its own, the first most clearly."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 8))
    return {
        name: causes @ rng.normal(size=(8, 5 + k)) + noise * (k + 1) * rng.normal(size=(n, 5 + k))
        for k, name in enumerate(names)
    }


def portfolio_of(found, progress=False) -> dict[str, xr.Dataset]:
    return {
        "drop_order": found.drop_order(progress=progress),
        "best_subsets": found.best_subsets(exhaustive=True, progress=progress),
        "unique": found.unique(),
        "unexplained": found.unexplained(),
    }


def decomposed(names=NAMES, **options) -> lmkin.Dependency:
    sizes = np.random.default_rng(1).integers(3, 60, 400)
    return lmkin.decompose(arrays(names, **options), row_lengths=sizes, progress=False)


def by_length(names=NAMES, lengths=(16, 64)) -> tuple[xr.Dataset, dict[str, xr.Dataset]]:
    found = [decomposed(names, noise=1.2 / (k + 1)) for k in range(len(lengths))]
    data = xr.concat(
        [f.dataset for f in found], xr.DataArray(list(lengths), dims="length", name="length"),
        combine_attrs="override",
    )  # fmt: skip
    data.attrs["alerts"] = [{"kind": "few rows", "text": "take more."}]
    portfolio = portfolio_of(found[-1], progress=False)
    for table in portfolio.values():
        table.attrs["length"] = lengths[-1]
    return data, portfolio


def with_texts(portfolio: dict[str, xr.Dataset], text: str) -> dict[str, xr.Dataset]:
    left = portfolio["unexplained"]
    texts = np.array([f"{text} {n}" for n in left["input"].values.ravel()], object)
    dims = left["input"].dims
    return portfolio | {"unexplained": left.assign(text=(dims, texts.reshape(left["input"].shape)))}


@pytest.fixture(scope="module")
def one() -> lmkin.Dependency:
    return decomposed()


@pytest.fixture(scope="module")
def several() -> tuple[xr.Dataset, dict[str, xr.Dataset]]:
    return by_length()


@pytest.fixture(scope="module")
def published() -> xr.DataArray:
    """Of two of the models, at lengths that are not all ours."""
    return xr.DataArray(
        [[0.31, 0.42, 0.53, 0.64], [0.35, 0.45, 0.55, 0.65], [0.9, 0.9, 0.9, 0.9]],
        dims=("model", "length"),
        coords={"model": ["hub/alpha", "gamma", "group"], "length": [8, 16, 32, 64]},
        attrs={"source": "Somebody 2022, table 9"},
    )


def write(path, result, portfolio=None, published=None, **options):
    return write_report(
        dependency_of(result, portfolio, published), out=path, overwrite=True, **options
    )


def body(path) -> str:
    """The page as text, without its list of contents."""
    text = path.read_text("utf-8").split("<script")[0]
    return re.sub(r"<nav.*?</nav>", "", text, flags=re.S)


def r_squared(target: np.ndarray, basis: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """By least squares on raw rows."""
    design = np.column_stack([np.ones(len(basis)), basis])
    W = np.linalg.lstsq(design[train], target[train], rcond=None)[0]
    left = target[test] - design[test] @ W
    return 1 - (left**2).sum() / ((target[test] - target[test].mean(0)) ** 2).sum()


def test_report_says_everything_in_order(several, published, tmp_path) -> None:
    data, portfolio = several
    data = data.assign_attrs(corpus="my corpus", command="lmkin dependency a b")
    text = body(write(tmp_path / "r.html", data, with_texts(portfolio, "row"), published=published))
    wanted = [
        "How much do 4 models explain of each other?", "alpha (5 neurons)", "my corpus", "16, 64 tokens",
        "320 train, 40 validation, 40 test", "95%", "<strong>few rows:</strong>",
        "How much of every model the others explain", "Tokens of a text:", "By length of the text",
        "Somebody 2022, table 9", "alpha, as published", "One model explained by one other", "No order to switch off",
        "explain the rest best", "What only one model knows of another", "What the others do not explain",
        "Reproduction", "lmkin dependency a b", "Zhang 2022", "Provenance", "Ridge",
    ]  # fmt: skip
    place = 0
    for word in wanted:  # each after the one before it
        place = text.index(word, place)


def test_the_numbers_are_those_of_least_squares_on_raw_rows() -> None:
    rows = arrays(("alpha", "beta", "gamma"))
    train, test = np.arange(0, 300), np.arange(300, 400)
    found = lmkin.decompose(rows, split={"train": train, "test": test}, ridge=0, progress=False)
    view = DependencyView(found.dataset)
    told = {row[0]: row[1] for row in group_table(view, view.scored, view.longest).cells()}
    for name, target in rows.items():
        others = np.column_stack([rows[m] for m in rows if m != name])
        assert float(told[name].split(" ± ")[0]) == pytest.approx(
            r_squared(target, others, train, test), abs=6e-4
        )


def test_the_last_step_of_the_order_and_the_smallest_subset_by_hand() -> None:
    rows = arrays(("alpha", "beta", "gamma"))
    split = {"train": np.arange(240), "validation": np.arange(240, 320), "test": np.arange(320, 400)}  # fmt: skip
    found = lmkin.decompose(rows, split=split, ridge=0, intervals=False, progress=False)
    portfolio = portfolio_of(found, progress=False)

    def alone(basis: str, on: str) -> dict[str, float]:
        others = [m for m in rows if m != basis]
        return {m: r_squared(rows[m], rows[basis], split["train"], split[on]) for m in others}

    best = max(rows, key=lambda m: np.mean(list(alone(m, "validation").values())))
    told = alone(best, "test")
    worst = min(told, key=told.__getitem__)
    assert subset_table(portfolio["best_subsets"]).cells()[0] == [
        "1", best, f"{np.mean(list(told.values())):.3f}", f"{worst}: {told[worst]:.3f}"
    ]  # fmt: skip
    *_, last, stays = drop_table(portfolio["drop_order"]).cells()
    left = alone(stays[1], "test")
    assert last[3:] == [f"{np.mean(list(left.values())):.3f}", f"{min(left.values()):.3f}", "no"]
    assert last[2] == f"{left[last[1]]:.3f}"


def test_published_figures_stand_under_the_same_checkpoints(several, published) -> None:
    view = DependencyView(several[0], published)
    rows = length_table(view, view.scored).cells()
    assert [row[0] for row in rows] == [
        "alpha", "alpha, as published", "beta", "gamma", "gamma, as published", "delta", "mean of all (ρ)"
    ]  # fmt: skip
    assert rows[1][1:] == ["0.420", "0.640"]
    assert rows[4][1:] == ["0.450", "0.650"]
    assert (
        len(length_table(view, view.splits[-1]).rows) == 5
    )  # train rows are not what was published
    assert DependencyView(several[0], published.isel(model=[2])).published is None
    with pytest.raises(lmkin.LmkinError, match=r"lmkin\.published"):
        DependencyView(several[0], published.isel(model=0))


def test_published_names_of_the_hub_are_found() -> None:
    names = ("roberta-base", "allenai/longformer-base-4096", "deberta-base", "mine")
    data = decomposed(names).dataset.assign_attrs(length=64)
    view = DependencyView(data, lmkin.published("zhang2022/table3"))
    found = view.as_published(view.longest)
    assert found is not None
    assert found.tolist() == pytest.approx([0.9532, 0.9542, 0.8738, np.nan], nan_ok=True)


def test_a_decomposition_without_its_portfolio(one, tmp_path) -> None:
    text = body(write(tmp_path / "r.html", one.dataset, portfolio_of(one), title="mine"))
    assert "<h1>mine</h1>" in text
    assert "No order: alpha and beta cannot be told apart" in text
    assert "By length of the text" not in text
    text = body(write(tmp_path / "r.html", one.dataset))
    assert "One model explained by one other" in text
    assert "switch off" not in text


def test_every_chart_as_a_picture(several, published, tmp_path, checked_charts) -> None:
    data, portfolio = several
    charts = result_charts(dependency_of(data, portfolio, published))
    names = [f"dependency-{c}-test-{n}" for c in ("group", "rho", "r2") for n in (16, 64)]
    names += ["dependency-lengths-test", "dependency-drop-order", "dependency-unique"]
    assert sorted(charts) == sorted(names)
    assert next(iter(charts)) == "dependency-group-test-16"
    for name, chart in charts.items():
        save_picture(chart(), tmp_path / f"{name}.svg")
    assert "test rows, 16 tokens" in (tmp_path / "dependency-rho-test-16.svg").read_text("utf-8")
    assert len(checked_charts) == len(charts)


def test_without_intervals_splits_chance_and_pairs(tmp_path) -> None:
    rows = arrays()
    split = {"train": np.arange(400)}
    found = lmkin.decompose(
        rows, split=split, intervals=False, permutation_baseline=False, progress=False
    )
    data = found.dataset[["r2_group", "rho_group", "n"]]
    text = body(write(tmp_path / "r.html", data))
    assert "No intervals were computed." in text
    assert "<legend>" not in text
    for missing in ("shuffled", "taken out", "explained by one other"):
        assert missing not in text


def test_several_layers_of_a_model(tmp_path) -> None:
    rows = arrays()
    source = {"m/1": rows["alpha"], "m/2": rows["beta"], "other/1": rows["gamma"]}
    found = lmkin.decompose(source, progress=False)
    text = body(write(tmp_path / "r.html", found.dataset))
    assert "m/1 (5 neurons); m/2 (6 neurons); other/1 (7 neurons)" in text


def test_texts_are_cut_and_rows_counted(several) -> None:
    left = several[1]["unexplained"]
    assert [c.heading for c in input_table(left.isel(model=0)).columns] == [
        "direction",
        "weight",
        "row",
    ]
    long = with_texts(several[1], "word\n" * 100)["unexplained"].isel(model=0)
    texts = [row[2] for row in input_table(long).cells()]
    assert len(texts) == 3 * 5
    for text in texts:
        assert len(text) <= 120
        assert re.fullmatch("(word )+…", text)
    weights = [float(row[1].replace("−", "-")) for row in input_table(long).cells()[:5]]
    assert weights == pytest.approx(left["weight"].values[0, :5, 0], rel=6e-3)
    assert shortened("x" * 500, 120) == "x" * 119 + "…"


@pytest.mark.parametrize("wrong", [xr.Dataset(), xr.Dataset({"r2_group": ("model", [0.5])})])
def test_other_datasets_are_no_decomposition(wrong, tmp_path) -> None:
    with pytest.raises(lmkin.LmkinError, match=r"lmkin\.decompose"):
        write(tmp_path / "r.html", wrong)


def nasty() -> tuple[xr.Dataset, dict[str, xr.Dataset]]:
    data, portfolio = by_length((NASTY, NASTY + "2", "ж" * 80, "<b>"))
    data.attrs |= {
        "corpus": NASTY,
        "alerts": [{"kind": NASTY, "text": NASTY}],
        "provenance": NASTY,
        "units": NASTY,
    }
    return data, with_texts(portfolio, NASTY)


def test_names_and_texts_cannot_break_out_of_the_page(tmp_path) -> None:
    text = write(tmp_path / "r.html", *nasty()).read_text("utf-8")
    assert "<script>alert" not in text
    before = text.split("Written by lmkin")[0]
    assert "<b>" not in before
    assert "<script" not in before


def test_a_large_report_is_small(tmp_path) -> None:
    rng = np.random.default_rng(0)
    names = [f"some/model-{m}/{layer}" for m in range(12) for layer in range(13)]
    splits, k = ["train", "validation", "test"], len(names)
    data = {}
    for end in ("", "_se", "_low", "_high"):
        data[f"r2_group{end}"] = (("split", "model"), rng.random((3, k)))
        data[f"rho_group{end}"] = (("split",), rng.random(3))
        for name in ("r2_pair", "rho_pair"):
            data[name + end] = (("split", "basis", "target"), rng.random((3, k, k)))
    coords = {"split": splits, "model": names, "basis": names, "target": names}
    path = write(tmp_path / "r.html", xr.Dataset(data, coords))
    assert path.stat().st_size < 5_000_000


# -- in a browser -----------------------------------------------------------------------------------

MARKS = """([chart, mark]) => [...document.querySelectorAll(`#chart-${chart} .mark-${mark}.role-mark path, ` +
    `#chart-${chart} .mark-${mark}.role-mark line`)].map(e => e.__data__.datum)"""


@pytest.fixture
def page(several, published, tmp_path, visit):
    data, portfolio = several
    return visit(write(tmp_path / "r.html", data, with_texts(portfolio, "row"), published=published))  # fmt: skip


def choose(page, chart: int, *labels: str) -> None:
    section = page.locator("section", has=page.locator(f"#chart-{chart}"))
    for label in labels:
        section.get_by_label(label, exact=True).check()
    settle(page)


def point_at(page, chart: int, test: str) -> str:
    page.evaluate(
        f"""[...document.querySelectorAll('#chart-{chart} .role-mark path')]
        .find(e => (d => {test})(e.__data__.datum)).id = 'pointed'"""
    )
    page.locator("#pointed").hover()
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    return " ".join(tip.inner_text().split())


def test_rows_of_the_group_follow_split_and_length(page, several, published) -> None:
    data, _ = several
    for split in ("test", "train"):
        for length in (64, 16):
            choose(page, GROUP, split, str(length))
            here = data.sel(split=split, length=length)
            found = page.evaluate(MARKS, [GROUP, "symbol"])
            kinds = {
                "by all other models": here["r2_group"].values,
                "without the length of the text": here["r2_group_beyond_length"].values,
                "permutation baseline": here["r2_group_null"].values,
            }
            if split == "test":
                kinds["as published"] = published.sel(length=length).values[:2]
            for kind, values in kinds.items():
                marks = sorted((d for d in found if d["kind"] == kind), key=lambda d: d["i"])
                assert [d["v"] for d in marks] == pytest.approx(values, rel=1e-4)
            assert len(found) == sum(len(v) for v in kinds.values())
            bars = page.evaluate(MARKS, [GROUP, "rule"])
            lows = {d["i"]: d["low"] for d in bars if "low" in d}
            assert [lows[i] for i in range(4)] == pytest.approx(
                here["r2_group_low"].values, rel=1e-4
            )
            assert f"{split} rows, {length} tokens" in page.locator("#chart-0").text_content()


def test_the_best_explained_stands_first(page, several) -> None:
    labels = page.evaluate(
        """[...document.querySelectorAll('#chart-0 .role-axis-label text')].map(e =>
        [e.getBoundingClientRect().y, e.textContent])"""
    )
    order = several[0]["r2_group"].sel(split="test", length=64)
    names = [str(m) for m in order["model"].values[np.argsort(-order.values)]]
    assert [text for _, text in sorted(labels) if text in NAMES] == names


def test_lines_bands_and_what_was_published(page, several, published) -> None:
    data, _ = several
    points = page.evaluate(MARKS, [LENGTHS, "symbol"])
    ours = {(d["i"], d["tokens"]): d["v"] for d in points if "v" in d}
    theirs = {(d["i"], d["tokens"]): d["p"] for d in points if "p" in d}
    for i, name in enumerate(NAMES):
        for length in (16, 64):
            true = float(data["r2_group"].sel(split="test", model=name, length=length))
            assert ours[i, length] == pytest.approx(true, rel=1e-4)
    # Lengths outside ours are not drawn, nor is the mean of models that are not here.
    assert theirs == {
        (0, 16): 0.42, (0, 32): 0.53, (0, 64): 0.64, (2, 16): 0.45, (2, 32): 0.55, (2, 64): 0.65
    }  # fmt: skip
    lines = page.evaluate(
        """[...document.querySelectorAll('#chart-1 .mark-line.role-mark path')].map(e =>
        [e.getAttribute('stroke'), e.getAttribute('stroke-dasharray')])"""
    )
    solid, dashed = ([c for c, dash in lines if bool(dash) is kind] for kind in (False, True))
    assert len(set(solid)) == 4
    assert dashed == [solid[0], solid[2]]
    assert page.locator("#chart-1 .mark-area.role-mark path").count() == 4
    choose(page, LENGTHS, "train")
    assert not any("p" in d for d in page.evaluate(MARKS, [LENGTHS, "symbol"]))


def test_heatmaps_follow_split_and_length(page, several) -> None:
    data, _ = several
    seen = set()
    for split in ("test", "validation"):
        for length in (64, 16):
            choose(page, RHO, split, str(length))
            for chart, name in ((RHO, "rho_pair"), (R2, "r2_pair")):
                cells = page.evaluate(MARKS, [chart, "rect"])
                assert len(cells) == 16
                for d in cells:
                    place = {"basis": NAMES[d["i"]], "target": NAMES[d["j"]]}
                    true = float(data[name].sel(split=split, length=length, **place))
                    if d["i"] == d["j"]:
                        assert d["v"] is None
                    else:
                        assert d["v"] == pytest.approx(true, rel=1e-4)
            fills = page.evaluate(
                """[...document.querySelectorAll('#chart-3 .mark-rect.role-mark path')].map(
                e => getComputedStyle(e).fill).join()"""
            )
            seen.add(fills)
    assert len(seen) == 4


def test_rows_explain_and_columns_are_explained(page, several) -> None:
    text = point_at(page, R2, "d.i == 0 && d.j == 2 && d.target")
    here = several[0].sel(split="test", length=64, basis="alpha", target="gamma")
    value, error = float(here["r2_pair"]), float(here["r2_pair_se"])
    low, high = float(here["r2_pair_low"]), float(here["r2_pair_high"])
    assert text.startswith(f"basis alpha target gamma R² {value:.4f} ± {error:.4f}")
    assert text.endswith(f"{low:.4f} to {high:.4f}")


def test_order_and_shares_are_drawn(page, several) -> None:
    _, portfolio = several
    points = page.evaluate(MARKS, [DROP, "symbol"])
    order = portfolio["drop_order"]
    assert [d["v"] for d in points] == pytest.approx(
        [*order["r2_dropped"].values, *order["r2_least"].values], rel=1e-4
    )
    labels = page.locator("#chart-4 .role-axis-label text").all_text_contents()
    assert [x for x in labels if "." in x and x[-1].isalpha()] == [
        f"{k + 1}. {name}" for k, name in enumerate(order["model"].values)
    ]
    bars = [d for d in page.evaluate(MARKS, [UNIQUE, "rect"]) if "part" in d]
    unique = portfolio["unique"]
    for i in range(4):
        parts = {d["part"]: d["v"] for d in bars if d["i"] == i}
        assert sum(parts.values()) == pytest.approx(1, abs=1e-4)
        assert parts[4] == pytest.approx(float(unique["shared"][i]), rel=1e-4)
        assert parts[5] == pytest.approx(float(unique["unexplained"][i]), rel=1e-4)
        for j in set(range(4)) - {i}:
            assert parts[j] == pytest.approx(float(unique["unique"][j, i]), rel=1e-4)


def test_a_switch_between_models_shows_their_texts(page, several) -> None:
    section = page.locator("section", has_text="What the others do not explain")
    left = several[1]["unexplained"]
    for name in ("delta", "beta"):
        section.get_by_label(name, exact=True).check()
        settle(page)
        shown = section.locator("td:visible").all_text_contents()
        rows = left["input"].sel(model=name).values[:5].T.ravel()
        assert [t for t in shown if t.startswith("row ")] == [f"row {n}" for n in rows]


def test_a_heatmap_can_be_saved(page, tmp_path) -> None:
    choose(page, RHO, "train", "16")
    figure = page.locator("figure", has=page.locator("#chart-2"))
    with page.expect_download() as download:
        figure.locator("[data-format=svg]").click()
    assert download.value.suggested_filename == "dependency-rho-train-16.svg"
    download.value.save_as(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes().startswith(b"<svg")


@pytest.mark.parametrize("width", [1280, 360])
def test_fits_the_page_and_comes_to_rest(several, tmp_path, visit, width) -> None:
    data, portfolio = by_length(("a-rather-long-name-of-a-model", "beta", "gamma", "d"))
    page = visit(write(tmp_path / "r.html", data, portfolio), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = """[...document.querySelectorAll('.chart svg')].map(e => {
        const title = e.querySelector('.role-title text')?.getBoundingClientRect();
        const box = e.getBoundingClientRect();
        return [box.width, box.height, title ? title.y - box.y : 0]})"""
    before = page.evaluate(sizes)
    settle(page)
    assert page.evaluate(sizes) == before
    assert all(w > 150 and h > 100 and top >= -1 for w, h, top in before)
    (x, y), (x2, y2) = page.evaluate(
        "[2, 3].map(k => document.getElementById('chart-' + k).getBoundingClientRect()).map(b => [b.x, b.y])"
    )
    assert (y == y2 and x2 > x + 300) if width > 1000 else (x == x2 and y2 > y + 150)


def test_names_and_texts_of_any_kind(tmp_path, visit) -> None:
    page = visit(write(tmp_path / "r.html", *nasty()))
    for chart, mark, count in ((GROUP, "symbol", 12), (RHO, "rect", 16), (DROP, "symbol", 6)):
        assert len(page.evaluate(MARKS, [chart, mark])) == count
    for control in page.locator("input").all():
        control.check()
    settle(page)
    assert "alert('x')" in point_at(page, R2, "d.i == 0 && d.j == 1 && d.target")


def test_a_report_of_tiny_models_on_a_corpus(model_folder, sample, tmp_path, visit) -> None:
    models = [
        lmkin.load_model(model_folder("bert"), name="tiny"),
        lmkin.load_model(f"untrained:{model_folder('bert')}@1", name="twin"),
    ]
    found = lmkin.decompose(models, sample[:150], progress=False)
    page = visit(write(tmp_path / "r.html", found.dataset, portfolio_of(found)))
    texts = {s.text for s in sample[:150]}
    shown = page.locator("section", has_text="What the others do not explain").locator("td:visible")
    told = [t for t in shown.all_text_contents() if len(t) > 12]
    assert told
    for text in told:
        assert any(whole.startswith(text.removesuffix(" …")[:100]) for whole in texts)
    assert re.search(r"\d+ train, \d+ validation, \d+ test", page.locator("header").inner_text())
