from __future__ import annotations

import json
import re

import numpy as np
import pytest
import xarray as xr
from made import attention_of

import lmkin
from lmkin.report import result_charts, save_picture, write_report
from lmkin.report.kinds.attention.heads import HeadView, group_table, model_table, nearest_table
from lmkin.report.kinds.layer_pairs import LayerPairs

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
    return lmkin.attention_similarity(maps(shapes, **options), measures=measures).dataset


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
    return write_report(attention_of(result, heads, drawn), out=path, overwrite=True, **options)


def similarity_of(result, sink="kept") -> np.ndarray:
    return result["js_heads"].sel(sink=sink).values


def body(path) -> str:
    """The page as text, without its list of contents."""
    text = path.read_text("utf-8").split("<script")[0]
    return re.sub(r"<nav.*?</nav>", "", text, flags=re.S)


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
    result = result.assign_attrs(
        alerts=[{"kind": "attention sink", "text": "look at both."}], corpus="my corpus"
    )
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
    about = HeadView(LayerPairs(result), lmkin.attention_heads(result))
    assert model_table(about).cells() == [
        ["alpha", "6", "5", "1", "17%"],
        ["beta", "6", "6", "0", "0%"],
    ]
    assert group_table(about, similarity_of(result)).cells() == [
        ["alpha", "2", "1/0", "2/1", "0.000"]
    ]


def test_the_largest_divergence_of_a_group(result) -> None:
    about = HeadView(LayerPairs(result), lmkin.attention_heads(result, threshold=1, sink="kept"))
    rows = group_table(about, similarity_of(result, "kept")).cells()
    assert [row[:2] for row in rows] == [["alpha", "6"], ["beta", "6"]]
    heads = result["js_heads"].sel(sink="kept").values
    for row, mine in zip(rows, (slice(0, 6), slice(6, 12)), strict=True):
        assert float(row[4]) == pytest.approx(1 - heads[mine, mine].min(), abs=6e-4)
        stays, go = row[2].split(", "), row[3].split(", ")
        assert len(stays) == 1
        assert len({*stays, *go}) == 6


def test_nearest_heads_are_those_of_other_models(result) -> None:
    about = HeadView(LayerPairs(result), lmkin.attention_heads(result))
    rows = nearest_table(about, most=3).cells()
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
    about = HeadView(LayerPairs(result), lmkin.attention_heads(result))
    assert nearest_table(about).cells()[0][:3] == [
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
    text = body(write(tmp_path / "r.html", result, title="mine"))
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
        write_report(attention_of(result, None, wrong), out="r.html")


def nasty() -> tuple[xr.Dataset, xr.DataArray]:
    shapes = {NASTY: (2, 3), NASTY + "2": (1, 2), "ж" * 80: (1, 5)}
    result = compared(shapes, "js,ckasim")
    result.attrs |= {
        "corpus": NASTY,
        "alerts": [{"kind": NASTY, "text": NASTY}],
        "provenance": NASTY,
        "counts": NASTY,
    }
    for name in ("js", "ckasim"):
        result[name].attrs |= {"long_name": NASTY, "summary": NASTY, "reference": NASTY}
    return result, sentence(shapes, [NASTY, "<b>", "ж" * 60, ""])


def test_names_and_words_cannot_break_out_of_the_page(tmp_path) -> None:
    result, drawn = nasty()
    text = write(tmp_path / "r.html", result, drawn).read_text("utf-8")
    assert "<script>alert" not in text
    assert "<b>" not in text.split("Written by lmkin")[0]
    assert len(re.findall(r"<script", text.split("Written by lmkin")[0])) == 0


@pytest.mark.slow
def test_a_large_report_is_small(tmp_path) -> None:
    shapes = dict.fromkeys(["one-model", "two-models", "three-models", "four-models"], (12, 12))
    result = compared(shapes, lengths=(4, 5, 6))
    path = write(tmp_path / "r.html", result, sentence(shapes, [f"word{k}" for k in range(40)]))
    assert path.stat().st_size < 5_000_000
    assert len(drawings(path)[0]) == 4 * 12 * 12


def test_every_chart_as_a_picture(result, tmp_path, checked_charts) -> None:
    charts = result_charts(attention_of(result, lmkin.attention_heads(result), sentence()))
    measures = ("js", "pearson", "norm", "svsim", "pwsim", "ckasim")
    names = [f"attention-{m}-{s}" for s in ("dropped", "kept") for m in measures]
    assert sorted(charts) == sorted([*names, "heads-map", "heads-pair"])
    for name in ("attention-js-kept", "heads-map", "heads-pair"):
        save_picture(charts[name](), tmp_path / f"{name}.svg")
    assert "(sink kept)" in (tmp_path / "attention-js-kept.svg").read_text("utf-8")
    pair = (tmp_path / "heads-pair.svg").read_text("utf-8")
    for word in (*WORDS, "elsewhere"):
        assert pair.count(f">{word}</text>") == (2 if word == "elsewhere" else 4)
    assert len(checked_charts) == 3


def test_one_way_of_the_sink_has_no_switch(result, tmp_path) -> None:
    one = result.sel(sink=["kept"]).assign_attrs(sink="kept")
    text = body(write_report(attention_of(one), out=tmp_path / "one.html"))
    assert "Attention to the sink:" not in text
