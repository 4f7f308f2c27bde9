from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
import xarray as xr
from synthetic import similarities

import lmkin
from lmkin.report import attention_report, write_attention, write_similarity
from lmkin.report.heads import HeadView, group_table, model_table, nearest_table
from lmkin.report.view import View

NASTY = "</script><script>alert('x')</script>&\n\u2028\"'`${1}$title\\ {{x}}"
SHAPES = {"alpha": (2, 3), "beta": (3, 2)}
"""Layers and heads of each model."""
WORDS = ["It", "was", "not", "there", "."]


def maps(shapes=SHAPES, lengths=(5, 6, 7, 9), seed=0) -> dict[str, list[np.ndarray]]:
    """Random maps; of the first model, head 1 of layer 2 repeats head 0 of layer 1."""
    rng = np.random.default_rng(seed)
    found = {
        f"{model}/{layer}": [rng.dirichlet(np.full(n, 0.3), size=(heads, n)) for n in lengths]
        for model, (layers, heads) in shapes.items()
        for layer in range(1, layers + 1)
    }
    first = next(iter(shapes))
    if shapes[first] >= (2, 2):
        for one, two in zip(found[f"{first}/1"], found[f"{first}/2"], strict=True):
            two[1] = one[0]
    return found


def compared(shapes=SHAPES, measures="all", **options) -> xr.Dataset:
    return lmkin.attention_similarities(maps(shapes, **options), measures=measures)


def sentence(shapes=SHAPES, words=WORDS, seed=1) -> xr.DataArray:
    """In the form of lmkin.sentence_attention."""
    rng = np.random.default_rng(seed)
    heads = [
        (model, layer, head)
        for model, (layers, count) in shapes.items()
        for layer in range(1, layers + 1)
        for head in range(count)
    ]
    n = len(words)
    return xr.DataArray(
        rng.dirichlet(np.full(n + 1, 0.4), size=(len(heads), n)),
        dims=("head", "word", "to"),
        coords={
            "head": [f"{m}/{k}/{h}" for m, k, h in heads],
            "word": [f"{k}:{w}" for k, w in enumerate(words)],
            "to": [*(f"{k}:{w}" for k, w in enumerate(words)), "(elsewhere)"],
            "model": ("head", [m for m, _, _ in heads]),
            "layer": ("head", [k for _, k, _ in heads]),
        },
        attrs={"words": list(words), "text": " ".join(words)},
    )


def write(path, result, drawn=None, **options):
    heads = lmkin.attention_heads(result) if "js_heads" in result else None
    attention_report(result, heads, drawn, **options).write(path)
    return path


def body(path) -> str:
    return path.read_text("utf-8").split("<script")[0]


def specs_of(path):
    return json.loads(
        re.search(r'type="application/json">(.*?)</script>', path.read_text("utf-8"), re.S)[1]
    )


def drawings(path) -> tuple[dict[str, str], str]:
    """The texts of all heads, and the letters that they are made of."""
    charts = [s for s in specs_of(path) if any(p["name"] == "letters" for p in s.get("params", []))]
    assert len(charts) == 2
    (first,), (second,) = (list(chart["datasets"].values()) for chart in charts)
    assert second is None  # the same data, not stored twice
    letters = next(p["value"] for p in charts[0]["params"] if p["name"] == "letters")
    return dict(zip(*first["columns"], strict=True)), letters


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return compared()


def test_report_says_everything_in_order(result, tmp_path) -> None:
    result = result.assign_attrs(alerts=["attention sink: look at both."], corpus="my corpus")
    text = body(write(tmp_path / "r.html", result, sentence()))
    wanted = [
        "attention heads of alpha and beta?", "alpha (2 layers, 6 heads); beta (3 layers, 6 heads)", "my corpus",
        "words of 4 sentences", "<strong>attention sink:</strong>", "All layers against all layers",
        "Jensen-Shannon divergence", "Attention to the sink:", "kept", "dropped", "A map of all heads",
        "Which heads could go", "Nearest heads in other models", "Two heads on a sentence", "It was not there .",
        "First head:", "Second head:", "Pairs of models", "Reproduction", "Provenance", "What was counted",
    ]  # fmt: skip
    places = [text.index(word) for word in wanted]
    assert places == sorted(places)
    assert "Neurons" not in text


def test_which_heads_could_go_by_hand(result) -> None:
    about = HeadView(View(result), lmkin.attention_heads(result))
    assert model_table(about)[1:] == [
        ["alpha", "6", "5", "1", "17%"],
        ["beta", "6", "6", "0", "0%"],
    ]
    assert group_table(about, result)[1:] == [["alpha", "2", "1/0", "2/1", "0.000"]]


def test_the_largest_divergence_of_a_group(result) -> None:
    about = HeadView(View(result), lmkin.attention_heads(result, threshold=1, sink="kept"))
    rows = group_table(about, result)[1:]
    assert [row[:2] for row in rows] == [["alpha", "6"], ["beta", "6"]]
    heads = result["js_heads"].sel(sink="kept").values
    for row, mine in zip(rows, (slice(0, 6), slice(6, 12)), strict=True):
        assert float(row[4]) == pytest.approx(1 - heads[mine, mine].min(), abs=6e-4)
        stays, go = row[2].split(", "), row[3].split(", ")
        assert len(stays) == 1
        assert len({*stays, *go}) == 6


def test_nearest_heads_are_those_of_other_models(result) -> None:
    about = HeadView(View(result), lmkin.attention_heads(result))
    rows = nearest_table(about, most=3)[1:]
    across = result["js_heads"].sel(sink="kept").values[:6, 6:]
    i, j = np.unravel_index(across.argmax(), across.shape)
    assert rows[0][0] == f"alpha, layer {i // 3 + 1}, head {i % 3}"
    assert rows[0][1] == f"beta, layer {j // 2 + 1}, head {j % 2}"
    assert float(rows[0][2]) == pytest.approx(across.max(), abs=6e-4)
    similar = [float(row[2]) for row in rows]
    assert similar == sorted(similar, reverse=True)
    assert len({tuple(row[:2]) for row in rows}) == 3


def test_one_model_has_nearest_heads_of_its_own(tmp_path) -> None:
    result = compared({"alpha": (2, 3)}, "js")
    about = HeadView(View(result), lmkin.attention_heads(result))
    assert nearest_table(about)[1][:3] == [
        "alpha, layer 1, head 0", "alpha, layer 2, head 1", "1.000"
    ]  # fmt: skip
    text = body(write(tmp_path / "r.html", result, sentence({"alpha": (2, 3)})))
    assert "<h2>Nearest heads</h2>" in text
    assert "another model" not in text
    assert re.findall(r"<option [^>]* selected>([^<]*)", text) == [
        "alpha, layer 1, head 0", "alpha, layer 2, head 1"
    ]  # fmt: skip


def test_without_single_heads_and_without_a_sentence(tmp_path) -> None:
    result = compared(measures="ckasim")
    text = body(lmkin.report(result, tmp_path / "r.html", title="mine"))
    assert "<h1>mine</h1>" in text
    assert "All layers against all layers" in text
    for missing in ("map of all heads", "could go", "Nearest", "on a sentence"):
        assert missing not in text


def test_the_drawing_has_the_numbers_of_the_sentence(result, tmp_path) -> None:
    given = sentence()
    codes, letters = drawings(write(tmp_path / "r.html", result, given))
    assert list(codes) == [str(name).replace("/", "-") for name in given["head"].values]
    for text, weights in zip(codes.values(), given.values, strict=True):
        values = [(letters.index(letter) / (len(letters) - 1)) ** 2 for letter in text]
        assert np.abs(np.reshape(values, weights.shape) - weights).max() < 0.0025


def test_a_long_sentence_is_cut_and_nothing_lost(result, tmp_path) -> None:
    given = sentence(words=[f"w{k}" for k in range(57)])
    path = write(tmp_path / "r.html", result, given)
    codes, letters = drawings(path)
    values = np.array([letters.index(letter) for letter in codes["alpha-1-0"]]) / (len(letters) - 1)
    table = (values**2).reshape(40, 41)
    assert np.abs(table[:, 40] - given.values[0, :40, 40:].sum(-1)).max() < 0.0025
    assert "The first 40 words are drawn. What goes to the other 17 " in body(path)


def test_begins_with_the_best_pair_that_is_drawn(result, tmp_path) -> None:
    def selected(drawn) -> list[str]:
        text = body(write(tmp_path / "r.html", result, drawn))
        return re.findall(r'<option value="([^"]*)" selected>', text)

    across = result["js_heads"].sel(sink="kept").values[:6, 6:]
    i, j = np.unravel_index(across.argmax(), across.shape)
    best = [f"alpha-{i // 3 + 1}-{i % 3}", f"beta-{j // 2 + 1}-{j % 2}"]
    assert selected(sentence()) == best
    # Only heads of one model drawn: no pair across models is there.
    some = sentence().isel(head=slice(0, 6))
    many = xr.concat([some, sentence({"gamma": (1, 4)})], "head")
    assert selected(many) == ["alpha-1-0", "alpha-1-1"]


@pytest.mark.parametrize("wrong", ["a sentence", sentence().isel(head=0), sentence().values])
def test_other_things_are_no_sentence(result, wrong) -> None:
    with pytest.raises(lmkin.LmkinError, match=r"lmkin\.sentence_attention"):
        attention_report(result, None, wrong)


def nasty() -> tuple[xr.Dataset, xr.DataArray]:
    shapes = {NASTY: (2, 3), NASTY + "2": (1, 2), "ж" * 80: (1, 5)}
    result = compared(shapes, "js,ckasim")
    result.attrs |= {"corpus": NASTY, "alerts": [NASTY], "provenance": NASTY, "counts": NASTY}
    for name in ("js", "ckasim"):
        result[name].attrs |= {"long_name": NASTY, "summary": NASTY, "reference": NASTY}
    return result, sentence(shapes, [NASTY, "<b>", "ж" * 60, ""])


def test_names_and_words_cannot_break_out_of_the_page(tmp_path) -> None:
    result, drawn = nasty()
    text = write(tmp_path / "r.html", result, drawn).read_text("utf-8")
    assert "<script>alert" not in text
    assert "<b>" not in text.split("Written by lmkin")[0]
    assert len(re.findall(r"<script", text.split("Written by lmkin")[0])) == 0


def test_a_large_report_is_small(tmp_path) -> None:
    shapes = dict.fromkeys(["one-model", "two-models", "three-models", "four-models"], (12, 12))
    result = compared(shapes, lengths=(4, 5, 6))
    path = write(tmp_path / "r.html", result, sentence(shapes, [f"word{k}" for k in range(40)]))
    assert path.stat().st_size < 5_000_000
    assert len(drawings(path)[0]) == 4 * 12 * 12


def table_of(path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_folder_with_everything(result, tmp_path, checked_charts) -> None:
    folder = tmp_path / "new" / "out"
    path = write_attention(result, folder, sentence=sentence(), progress=False)
    assert path == folder / "report.html"
    xr.testing.assert_allclose(lmkin.load_result(folder / "attention.nc"), result)
    rows = table_of(folder / "attention.csv")
    assert len(rows) == 2 * 5 * 5
    assert not any("head" in name or "without" in name for name in rows[0])
    for row in rows:
        place = {k: row[k] for k in ("sink", "model_x", "model_y")}
        place |= {k: int(row[k]) for k in ("layer_x", "layer_y")}
        assert float(row["pearson"]) == pytest.approx(float(result["pearson"].sel(place)))
        assert float(row["js_se"]) == pytest.approx(float(result["js_se"].sel(place)))
    names = {p.name for p in (folder / "charts").iterdir()}
    measures = ("js", "pearson", "norm", "svsim", "pwsim", "ckasim")
    charts = [f"attention-{m}-{s}" for m in measures for s in ("dropped", "kept")]
    charts += ["heads-map", "heads-pair"]
    assert names == {f"{name}.{ending}" for name in charts for ending in ("png", "svg")}
    for name in names:
        magic = b"\x89PNG" if name.endswith("png") else b"<svg"
        assert (folder / "charts" / name).read_bytes().startswith(magic)
    assert "(sink kept)" in (folder / "charts" / "attention-js-kept.svg").read_text("utf-8")
    pair = (folder / "charts" / "heads-pair.svg").read_text("utf-8")
    for word in (*WORDS, "elsewhere"):
        assert pair.count(f">{word}</text>") == (2 if word == "elsewhere" else 4)
    assert len(checked_charts) > 4


def test_a_line_for_every_head(result, tmp_path) -> None:
    heads = lmkin.attention_heads(result)
    write_attention(result, tmp_path, charts=False, progress=False)
    rows = table_of(tmp_path / "heads.csv")
    assert [f"{r['model']}/{r['layer']}/{r['head']}" for r in rows] == list(heads["head"].values)
    similarity = result["js_heads"].sel(sink="kept").values - 2 * np.eye(12)
    for k, row in enumerate(rows):
        assert row["nearest"] == heads["head"].values[similarity[k].argmax()]
        assert float(row["nearest_js"]) == pytest.approx(similarity[k].max())
        assert row["elsewhere"].split("/")[0] != row["model"]
        assert float(row["sink_share"]) == pytest.approx(float(result["sink_share"][k]))
        assert [float(row["map_x"]), float(row["map_y"])] == pytest.approx(heads["map"].values[k])
    assert [row["stays"] for row in rows].count("False") == 1
    assert not (tmp_path / "charts").exists()


def test_only_an_earlier_comparison_of_attention_is_swept_away(result, tmp_path) -> None:
    write_similarity(similarities(layers=[1, 1], measures=["ckasim"]), tmp_path, progress=False)
    write_attention(result[["js", "js_heads", "sink_share", "head_model", "head_layer", "head_number"]],
                    tmp_path, progress=False)  # fmt: skip
    assert (tmp_path / "charts" / "heads-map.png").exists()
    write_attention(compared(measures="norm"), tmp_path, progress=False)
    found = {path.name for path in tmp_path.rglob("*.*")}
    assert {"attention-norm-kept.png", "heatmap-ckasim-raw.png", "similarity.nc"} <= found
    assert not found & {"heads.csv", "heads-map.png", "attention-js-kept.png"}
    (tmp_path / "file").write_text("")
    with pytest.raises(lmkin.LmkinError, match="is a file"):
        write_attention(result, tmp_path / "file")


def test_report_knows_attention_also_from_a_file(result, tmp_path) -> None:
    lmkin.save_result(result, tmp_path / "attention.nc")
    loaded = lmkin.load_result(tmp_path / "attention.nc")
    text = body(lmkin.report(loaded, tmp_path / "r.html", sentence=sentence()))
    assert "Two heads on a sentence" in text
    assert re.findall(r"<td[^>]*>([^<]*)</td>", text)[:5] == ["alpha", "6", "5", "1", "17%"]
    path = lmkin.report(loaded, tmp_path / "folder", charts=False, progress=False)
    assert path == tmp_path / "folder" / "report.html"
    assert (tmp_path / "folder" / "heads.csv").exists()
    one = body(lmkin.report(loaded.sel(sink="kept"), tmp_path / "one.html"))
    assert "Attention to the sink:" not in one
    with pytest.raises(lmkin.LmkinError, match="attention_similarities"):
        lmkin.report([1, 2], tmp_path / "r.html")  # type: ignore[arg-type]


def test_head_by_head_results_have_tables_of_their_own(tmp_path) -> None:
    matrix = lmkin.attention_similarity(maps(), measure="js", heads=True)
    lmkin.save_result(matrix, tmp_path / "heads.csv")
    assert len(table_of(tmp_path / "heads.csv")) == 12 * 12
    lmkin.save_result(sentence(), tmp_path / "sentence.csv")
    assert len(table_of(tmp_path / "sentence.csv")) == 12 * 5 * 6
