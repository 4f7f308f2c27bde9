from __future__ import annotations

import json
import re

import numpy as np
import pytest
import xarray as xr
from made import similarity_of
from synthetic import MEASURES, similarities

import lmkin
from lmkin.core import slugs
from lmkin.report import result_charts, save_picture, write_report
from lmkin.report.charts.text import few_lines, lines_of
from lmkin.report.kinds.layer_pairs import LayerPairs
from lmkin.report.kinds.layer_pairs.chapters import pair_table
from lmkin.report.kinds.layer_pairs.heatmap import colour_range, fitted_range
from lmkin.report.kinds.similarity.neurons import neuron_table
from lmkin.report.names import plain_names

NASTY = "</script><script>alert('x')</script>&\n\u2028\"'`${1}$title\\ {{x}}"


def write(dataset, path, **options):
    return write_report(similarity_of(dataset), out=path, overwrite=True, **options)


def nasty() -> xr.Dataset:
    dataset = similarities([NASTY, NASTY + "2", "ж" * 80], [2, 3, 1], ["neuronsim", "svsim", NASTY])
    dataset.attrs |= {
        "corpus": NASTY,
        "alerts": [{"kind": NASTY, "text": NASTY}],
        "provenance": NASTY,
        "units": NASTY,
    }
    for values in dataset.data_vars.values():
        if values.attrs:
            values.attrs |= {"long_name": NASTY, "summary": NASTY, "reference": NASTY}
            values.attrs["options"] = json.dumps({NASTY: NASTY})
    return dataset


def test_the_table_of_all_layers_is_the_dataset() -> None:
    dataset = similarities(["a", "b", "c"], [3, 1, 2])
    view = LayerPairs(dataset)
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
    assert [m.name for m in LayerPairs(dataset).measures] == ["svsim"]


def test_a_layer_without_any_value_is_shown_if_it_was_measured() -> None:
    dataset = similarities(["a"], [3], ["ckasim"], scaling=False, intervals=False)
    dataset["ckasim"][:, 1] = np.nan
    dataset["ckasim"][:, :, :, 1] = np.nan
    assert [layer.number for layer in LayerPairs(dataset).layers] == [0, 1, 2]
    dataset.attrs["widths"] = "{}"
    assert [layer.number for layer in LayerPairs(dataset).layers] == [0, 2]


def test_other_datasets_are_refused() -> None:
    with pytest.raises(lmkin.LmkinError, match="lacks layer_y"):
        LayerPairs(similarities().isel(layer_y=0))
    with pytest.raises(lmkin.LmkinError, match="No measure in this Dataset"):
        LayerPairs(similarities(measures=()).assign_coords())


def test_pairs_of_models_by_hand() -> None:
    values = np.zeros((2, 2, 2, 2))
    values[0, :, 0, :] = [[1.0, 0.4], [0.6, 1.0]]
    values[0, :, 1, :] = [[0.1, np.nan], [0.2, 0.9]]
    values[1, :, 0, :] = np.nan
    values[1, :, 1, :] = np.eye(2)
    dataset = similarities(measures=["neuronsim"], layers=[2, 2], scaling=False, intervals=False)
    dataset["neuronsim"].values[:] = values
    view = LayerPairs(dataset)
    assert pair_table(view, view.measures[0], view.scalings[0]).cells() == [
        ["alpha", "alpha", "0.500", "1 and 0", "0.600"],  # a layer is not compared with itself
        ["alpha", "beta", "0.400", "1 and 1", "0.900"],
        ["beta", "alpha", "–", "–", "–"],
        ["beta", "beta", "0.000", "0 and 1", "0.000"],
    ]
    dataset["neuronsim"].attrs["symmetric"] = 1
    view = LayerPairs(dataset)
    assert len(pair_table(view, view.measures[0], view.scalings[0]).rows) == 3


def test_where_the_colour_stops() -> None:
    measures = {m.name: m for m in LayerPairs(similarities(measures=[*MEASURES, "mine"])).measures}
    table = np.array([[-0.2, 3.0], [np.nan, 1.0]])
    svsim = measures["svsim"]
    assert fitted_range(svsim, table) == (0.9, 1.0)  # of one value, which is clipped
    assert fitted_range(svsim, np.array([[1.0, 0.2], [0.9, 1.0]])) is None
    close = np.array([[[1.0, 0.83], [0.91, 1.0]], [[1.0, 0.97], [np.nan, 1.0]]])
    assert fitted_range(svsim, close) == (0.8, 1.0)  # the same for both scalings
    assert colour_range(svsim, close) == (0.0, 1.0)
    assert fitted_range(svsim, np.array([[1.0]])) is None
    assert fitted_range(measures["mine"], close) is None
    below = np.array([[1.0, -0.2], [0.7, 1.0]])
    assert colour_range(measures["ckasim"], below) == (0.0, 1.0)  # can fall below 0 by chance
    assert colour_range(measures["mine"], table) == (-3.0, 3.0)  # 0 in the middle
    assert colour_range(measures["mine"], np.array([[2.0, 7.0]])) == (2.0, 7.0)
    assert colour_range(measures["mine"], np.array([[np.nan]])) == (0.0, 1.0)


def test_names() -> None:
    assert plain_names(["a\nb", "a b", "", "a b"]) == ["a b", "a b (2)", "(no name)", "a b (3)"]
    assert slugs(["../x", "x", "日本", "///"]) == ["x", "x-2", "日本", "nameless"]


def test_texts_are_broken_where_they_have_joints() -> None:
    assert lines_of("bert-base-uncased", 14) == ["bert-base-", "uncased"]
    assert lines_of("a model of sentence-transformers/all-mpnet", 16) == [
        "a model of", "sentence-", "transformers/", "all-mpnet"
    ]  # fmt: skip
    assert lines_of("one two-three", 9) == ["one", "two-three"]
    assert lines_of("abcdefgh", 3) == ["abc", "def", "gh"]
    assert lines_of("北京大学模型", 4) == ["北京", "大学", "模型"]  # twice as wide as other letters
    assert lines_of("", 5) == [""]
    assert few_lines("bert-base-uncased", 3) == 7


def test_report_says_everything_in_order(tmp_path, checked_charts) -> None:
    dataset = similarities(alerts=["few units: only 12,210."])
    text = write(dataset, tmp_path / "r.html").read_text("utf-8").split("<script")[0]
    text = re.sub(r"<nav.*?</nav>", "", text, flags=re.S)
    wanted = [
        "alpha and beta?", "alpha (7 layers); beta (7 layers)", "sample", "12,210 words", "95%, from 20 parts",
        "few units:", "All layers against all layers", "Localization", "Average similarity", "Pairs of models",
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


def test_names_cannot_break_out_of_the_page(tmp_path) -> None:
    text = write(nasty(), tmp_path / "r.html").read_text("utf-8")
    assert "<script>alert" not in text
    assert len(re.findall(r"<script", text.split("Written by lmkin")[0])) == 0


def test_a_large_report_is_small(tmp_path) -> None:
    dataset = similarities(list("abcd"), [13] * 4, list(MEASURES))
    assert write(dataset, tmp_path / "r.html").stat().st_size < 3_000_000


def test_charts_have_the_numbers_of_their_scaling() -> None:
    dataset = similarities(layers=[2, 2])
    result = similarity_of(dataset)
    charts = result_charts(result)
    assert next(iter(charts)) == "heatmap-neuronsim-raw"
    data = charts["averages-svsim-standardized"]().to_dict()["datasets"]
    rows = next(rows for rows in data.values() if len(rows) == 4)
    others = dataset["svsim"].values[1, 0, 1].copy()
    others[0, 1] = np.nan  # not with itself
    assert rows[1]["svsim|standardized|"] == pytest.approx(np.nanmean(others), rel=1e-4)


def test_every_chart_as_a_picture(tmp_path) -> None:
    dataset = similarities(["a", NASTY], [2, 1], ["neuronsim", "svsim", "../" + NASTY])
    charts = result_charts(similarity_of(dataset))
    assert len(charts) == 2 * (3 + 3 + 1)
    for name, chart in charts.items():
        assert "/" not in name
        save_picture(chart(), tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").read_bytes().startswith(b"<svg")
    svg = (tmp_path / "heatmap-svsim-standardized.svg").read_text("utf-8")
    assert "SVCCA (standardized)" in svg
    value = float(dataset["svsim"][1, 0, 1, 1, 0])
    assert f">{value:.2f}<" in svg


def matched(models=("alpha", "beta"), layers=2, neurons=30, seed=0) -> xr.Dataset:
    """Similarities with matches of single neurons, as neuronsim keeps them; the last neuron of a layer has none."""
    dataset = similarities(list(models), [layers] * len(models), ["neuronsim"], scaling=False)
    rng = np.random.default_rng(seed)
    shape = (len(models), layers) * 2 + (neurons,)
    match = rng.integers(0, neurons, shape)
    r = rng.random(shape)
    match[..., -1], r[..., -1] = -1, np.nan
    dims = ("model_x", "layer_x", "model_y", "layer_y", "neuron")
    dataset["neuronsim_match"] = (dims, match)
    dataset["neuronsim_match_r"] = (dims, r)
    return dataset


def test_neurons_best_matched_across_models_by_hand() -> None:
    dataset = matched()
    table = neuron_table(dataset, 1, 0)
    match, r = (dataset[n].values[1, :, 0] for n in ("neuronsim_match", "neuronsim_match_r"))
    best = []
    for layer in range(2):
        for neuron in range(29):
            other = int(r[layer, :, neuron].argmax())
            partner = int(match[layer, other, neuron])
            best.append((-r[layer, other, neuron], layer, neuron, other, partner))
    wanted = [
        [str(k + 1), str(layer), str(neuron), str(other), str(partner), f"{-value:.3f}"]
        for k, (value, layer, neuron, other, partner) in enumerate(sorted(best)[:20])
    ]
    assert table.cells() == wanted


def test_a_page_ranks_matched_neurons_where_they_were_kept(tmp_path) -> None:
    text = write(matched(), tmp_path / "r.html").read_text("utf-8").split("<script")[0]
    assert "Neurons best matched across models" in text
    assert "alpha in beta" in text
    for missing in ("neuronsim_match", "neuronsim_match_r"):
        rest = write(matched().drop_vars(missing), tmp_path / "r.html").read_text("utf-8")
        assert "best matched" not in rest.split("<script")[0]
    alone = write(matched(["alpha"]), tmp_path / "r.html").read_text("utf-8")
    assert "best matched" not in alone.split("<script")[0]
