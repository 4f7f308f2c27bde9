from __future__ import annotations

import json
import re

import numpy as np
import pytest
import xarray as xr
from synthetic import MEASURES, averages, localization, similarities

import lmkin
from lmkin.report import save_charts, similarity_charts, similarity_report
from lmkin.report.heatmap import colour_range
from lmkin.report.labels import broken
from lmkin.report.summary import pair_table
from lmkin.report.view import View, plain_names, said, slugs

NASTY = "</script><script>alert('x')</script>&\n\u2028\"'`${1}$title\\ {{x}}"


def write(dataset, path, **options):
    parts = localization(dataset) if {"neuronsim", "svsim"} <= set(dataset) else None
    similarity_report(dataset, parts, averages(dataset), **options).write(path)
    return path


def nasty() -> xr.Dataset:
    dataset = similarities([NASTY, NASTY + "2", "ж" * 80], [2, 3, 1], ["neuronsim", "svsim", NASTY])
    dataset.attrs |= {"corpus": NASTY, "alerts": [NASTY], "provenance": NASTY, "units": NASTY}
    for values in dataset.data_vars.values():
        if values.attrs:
            values.attrs |= {"long_name": NASTY, "summary": NASTY, "reference": NASTY}
            values.attrs["options"] = json.dumps({NASTY: NASTY})
    return dataset


def test_the_table_of_all_layers_is_the_dataset() -> None:
    dataset = similarities(["a", "b", "c"], [3, 1, 2])
    view = View(dataset)
    assert [(layer.model, layer.number) for layer in view.layers] == [
        (0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1)
    ]  # fmt: skip
    table = view.table(view.measures[0], view.scalings[1])
    for i, x in enumerate(view.layers):
        for j, y in enumerate(view.layers):
            value = dataset["neuronsim"].sel(
                scaling="standardized", model_x="abc"[x.model], layer_x=x.number,
                model_y="abc"[y.model], layer_y=y.number,
            )  # fmt: skip
            assert table[i, j] == float(value)


def test_only_measures_are_measures() -> None:
    dataset = similarities(["a"], [2], ["svsim"])
    place = ("model_x", "layer_x", "model_y", "layer_y")
    dataset["svsim_match"] = ((*place, "neuron"), np.zeros((1, 2, 1, 2, 4)))
    dataset["svsim_without"] = (("part", *place), np.zeros((5, 1, 2, 1, 2)))
    assert [m.name for m in View(dataset).measures] == ["svsim"]


def test_a_layer_without_any_value_is_shown_if_it_was_measured() -> None:
    dataset = similarities(["a"], [3], ["ckasim"], scaling=False, intervals=False)
    dataset["ckasim"][:, 1] = np.nan
    dataset["ckasim"][:, :, :, 1] = np.nan
    assert [layer.number for layer in View(dataset).layers] == [0, 1, 2]
    dataset.attrs["widths"] = "{}"
    assert [layer.number for layer in View(dataset).layers] == [0, 2]


def test_other_datasets_are_refused() -> None:
    with pytest.raises(lmkin.LmkinError, match="lacks layer_y"):
        View(similarities().isel(layer_y=0))
    with pytest.raises(lmkin.LmkinError, match="No measure in this Dataset"):
        View(similarities(measures=()).assign_coords())


def test_pairs_of_models_by_hand() -> None:
    values = np.zeros((2, 2, 2, 2))
    values[0, :, 0, :] = [[1.0, 0.4], [0.6, 1.0]]
    values[0, :, 1, :] = [[0.1, np.nan], [0.2, 0.9]]
    values[1, :, 0, :] = np.nan
    values[1, :, 1, :] = np.eye(2)
    dataset = similarities(measures=["neuronsim"], layers=[2, 2], scaling=False, intervals=False)
    dataset["neuronsim"].values[:] = values
    view = View(dataset)
    assert pair_table(view, view.measures[0], view.scalings[0])[1:] == [
        ["alpha", "alpha", "0.500", "1 and 0", "0.600"],  # a layer is not compared with itself
        ["alpha", "beta", "0.400", "1 and 1", "0.900"],
        ["beta", "alpha", "–", "–", "–"],
        ["beta", "beta", "0.000", "0 and 1", "0.000"],
    ]
    dataset["neuronsim"].attrs["symmetric"] = 1
    view = View(dataset)
    assert len(pair_table(view, view.measures[0], view.scalings[0])) == 4  # head and three pairs


def test_where_the_colour_stops() -> None:
    measures = {m.name: m for m in View(similarities(measures=[*MEASURES, "mine"])).measures}
    table = np.array([[-0.2, 3.0], [np.nan, 1.0]])
    assert colour_range(measures["svsim"], table) == (0.0, 1.0)
    assert colour_range(measures["ckasim"], table) == (0.0, 1.0)  # can fall below 0 by chance
    assert colour_range(measures["mine"], table) == (-3.0, 3.0)  # 0 in the middle
    assert colour_range(measures["mine"], np.array([[2.0, 7.0]])) == (2.0, 7.0)
    assert colour_range(measures["mine"], np.array([[np.nan]])) == (0.0, 1.0)


def test_names() -> None:
    assert plain_names(["a\nb", "a b", "", "a b"]) == ["a b", "a b (2)", "(no name)", "a b (3)"]
    assert slugs(["../x", "x", "日本", "///"]) == ["x", "x-2", "日本", "nameless"]
    assert broken("bert-base-uncased") == ["bert-base-", "uncased", ""]
    assert broken("sentence-transformers/all-mpnet-base-v2")[1:] == [
        "transformers/", "all-mpnet-base-v2"
    ]  # fmt: skip
    assert [said(0.5), said(0.5, 0.01), said(np.nan), said(2e-5, np.nan)] == [
        "0.500", "0.500 ± 0.010", "–", "2e-05"
    ]  # fmt: skip


def test_report_says_everything_in_order(tmp_path, checked_charts) -> None:
    dataset = similarities(alerts=["Few units: only 12,210."])
    text = write(dataset, tmp_path / "r.html").read_text("utf-8").split("<script")[0]
    wanted = [
        "alpha and beta?", "alpha (7 layers); beta (7 layers)", "sample", "12,210 words", "95 %, from 20 parts",
        "Few units:", "All layers against all layers", "Localization", "Average similarity", "Pairs of models",
        "Reproduction", "variance=0.99", "nobody, 2020", "Provenance", "by a test", "alpha/6",
    ]  # fmt: skip
    places = [text.index(word) for word in wanted]
    assert places == sorted(places)
    assert len(checked_charts) > 1


def test_report_without_what_is_not_there(tmp_path) -> None:
    dataset = similarities(["a"], [1], ["ckasim"], scaling=False, intervals=False)
    text = write(dataset, tmp_path / "r.html", title="mine").read_text("utf-8").split("<script")[0]
    assert "<h1>mine</h1>" in text
    assert "No alerts." in text
    assert "Localization" not in text
    assert 'data-signal="scaling"' not in text
    assert "±" not in text
    assert similarity_report(dataset).alerts == []


def test_an_alert_that_a_file_format_made_a_plain_text() -> None:
    dataset = similarities()
    dataset.attrs["alerts"] = "Few units."
    assert similarity_report(dataset).alerts == ["Few units."]


def test_names_cannot_break_out_of_the_page(tmp_path) -> None:
    text = write(nasty(), tmp_path / "r.html").read_text("utf-8")
    assert "<script>alert" not in text
    assert len(re.findall(r"<script", text.split("Written by lmkin")[0])) == 0


def test_a_large_report_is_small(tmp_path) -> None:
    dataset = similarities(list("abcd"), [13] * 4, list(MEASURES))
    assert write(dataset, tmp_path / "r.html").stat().st_size < 3_000_000


def test_charts_by_name() -> None:
    dataset = similarities(layers=[2, 2])
    assert list(similarity_charts(dataset)) == ["heatmap"]
    charts = similarity_charts(dataset, localization(dataset), averages(dataset))
    assert list(charts) == ["heatmap", "localization", "averages"]
    data = charts["averages"].to_dict()["datasets"]
    rows = next(rows for rows in data.values() if len(rows) == 4)
    value = dataset["svsim"][1, 0, 1].mean().item()
    assert rows[1]["svsim|standardized|"] == pytest.approx(value, rel=1e-4)


def test_every_chart_as_a_picture(tmp_path) -> None:
    dataset = similarities(["a", NASTY], [2, 1], ["neuronsim", "svsim", "../" + NASTY])
    written = save_charts(dataset, localization(dataset), averages(dataset), tmp_path / "new")
    assert len({path.name for path in written}) == len(written) == 2 * 2 * (3 + 3 + 1)
    assert all(path.parent == tmp_path / "new" for path in written)
    for path in written:
        magic = b"\x89PNG" if path.suffix == ".png" else b"<svg"
        assert path.read_bytes().startswith(magic)
    svg = (tmp_path / "new" / "heatmap-svsim-standardized.svg").read_text("utf-8")
    assert "SVCCA (standardized)" in svg
    value = float(dataset["svsim"][1, 0, 1, 1, 0])
    assert f">{value:.2f}<" in svg
