"""Layers that are nearly copies: against scikit-learn on the same rows, CKA from Gram matrices, a naive jackknife."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from redundancy import naive_redundancy as naive

FIELDS = ("r2", "cka", "average")


def layered(n: int = 300, seed: int = 0, name: str = "m") -> dict[str, Any]:
    """Five layers of different width: 1 nearly repeats 0, 3 repeats 2, 4 has nothing to do with any."""
    random = np.random.default_rng(seed)

    def noise(width: int) -> Any:
        return random.standard_normal((n, width))

    first = noise(8) * 2.0 ** -np.arange(8) + 3
    second = first @ random.standard_normal((8, 6)) + 0.3 * noise(6)
    third = second @ random.standard_normal((6, 7)) + 2 * noise(7)
    fourth = third @ np.linalg.qr(random.standard_normal((7, 7)))[0] * 5 - 40
    return dict(
        zip(
            (f"{name}/{k}" for k in range(5)), (first, second, third, fourth, noise(6)), strict=True
        )
    )


def compared(source: Any, corpus: Any = None, **options: Any) -> Any:
    return lmkin.layer_redundancy(source, corpus, progress=False, **options)


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The rows that maps were fitted on, and scored on."""
    from lmkin.analyses.redundancy import layers

    seen: list[dict[str, Any]] = []
    inner = layers.decompose_rows

    def spying(*arguments: Any, **options: Any) -> Any:
        seen.append({k: np.asarray(v) for k, v in options["split"].items()})
        return inner(*arguments, **options)

    monkeypatch.setattr(layers, "decompose_rows", spying)
    return seen


def assert_split(rows: dict[str, Any], n: int) -> None:
    assert set(rows) == {"train", "validation", "test"}
    every = np.concatenate(list(rows.values()))
    assert len(np.unique(every)) == len(every) == n
    assert len(rows["train"]) == pytest.approx(0.8 * n, abs=0.06 * n)
    assert len(rows["test"]) == pytest.approx(0.1 * n, abs=0.05 * n)


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", ["auto", 0, 0.1])
def test_maps_are_those_of_scikit_learn(ridge: Any, split: list[dict[str, Any]]) -> None:
    arrays = layered()
    found = compared(arrays, ridge=ridge, intervals=False).sel(model="m")
    assert_split(split[0], 300)
    size = 1e-6 if ridge == "auto" else ridge
    assert np.isnan(found.r2.sel(layer=0))
    for k, (before, after) in enumerate(pairwise(arrays.values()), start=1):
        rows = split[k - 1]
        expected = naive.mapped_r2(before, after, rows["train"], rows["test"], size)
        assert found.r2.sel(layer=k).item() == pytest.approx(expected, abs=1e-8)


def test_every_pair_is_scored_on_the_same_rows(split: list[dict[str, Any]]) -> None:
    compared(layered(), intervals=False, seed=0)
    assert len(split) == 4
    for rows in split[1:]:
        assert all(np.array_equal(rows[k], split[0][k]) for k in rows)
    compared(layered(), intervals=False, seed=1)
    assert not np.array_equal(split[4]["test"], split[0]["test"])


def test_cka_is_unbiased_cka() -> None:
    arrays = layered()
    found = compared(arrays, intervals=False).sel(model="m")
    layers = list(arrays.values())
    expected = np.array([[naive.unbiased_cka(a, b) for b in layers] for a in layers])
    theirs = np.array([[lmkin.linear_cka(a, b) for b in layers] for a in layers])
    assert found.cka_all.values == pytest.approx(expected, abs=1e-9)
    assert found.cka_all.values == pytest.approx(theirs, abs=1e-9)
    assert np.isnan(found.cka[0])
    assert found.cka.values[1:] == pytest.approx(np.diagonal(expected, 1), abs=1e-9)
    for k in range(5):
        mean = sum(expected[k, j] for j in range(5) if j != k) / 4
        assert found.average.values[k] == pytest.approx(mean, abs=1e-9)
    assert found.cka_all.dims == ("layer", "other")


def test_copies_and_strangers() -> None:
    found = compared(layered(2000)).sel(model="m")
    r2 = found.r2.values
    assert r2[3] == pytest.approx(1, abs=1e-5)
    assert found.cka.values[3] == pytest.approx(1, abs=1e-6)
    assert found["drop_rank"].values[3] == 1
    assert abs(r2[4]) < 0.05
    assert abs(found.cka.values[4]) < 0.05
    assert abs(found.average.values[4]) < 0.05
    assert found["drop_rank"].values[4] == 4
    assert 0.8 < r2[1] < 0.999
    # Variance of the third layer by the second: all but the noise.
    arrays = layered(2000)
    residual = arrays["m/2"] - arrays["m/1"] @ np.linalg.lstsq(
        arrays["m/1"] - arrays["m/1"].mean(0), arrays["m/2"], rcond=None
    )[0]  # fmt: skip
    expected = 1 - residual.var(0).sum() / arrays["m/2"].var(0).sum()
    assert r2[2] == pytest.approx(expected, abs=0.05)


def test_the_table_of_layers() -> None:
    """A row a layer but the first, the one that adds least first; several models each by itself."""
    arrays = {**layered(), **{f"n/{2 * k}": x for k, x in enumerate(layered(seed=1).values())}}
    found = compared(arrays, parts=4)
    table = lmkin.ranked_layers(found)
    assert isinstance(table, pd.DataFrame)
    assert table["model"].tolist() == ["m"] * 4 + ["n"] * 4
    assert table["rank"].tolist() == [1, 2, 3, 4] * 2
    for model, mine in table.groupby("model"):
        assert (np.diff(mine["r2"]) <= 0).all()
        step = 1 if model == "m" else 2
        assert (mine["layer"] - mine["before"] == step).all()
        for row in mine.to_dict("records"):
            here = found.sel(model=model, layer=row["layer"])
            for name in ("r2", "r2_se", "r2_low", "cka", "cka_high", "average"):
                assert row[name] == float(here[name])
            assert row["cka"] == float(here["cka_all"].sel(other=row["before"]))
    assert lmkin.ranked_layers(compared(arrays, intervals=False))["r2_se"].isna().all()
    # No variable has the name of something else that a Dataset has.
    assert not [name for name in found.data_vars if hasattr(type(found), str(name))]


def test_a_rank_for_every_layer_but_the_first() -> None:
    found = compared(layered(), intervals=False).sel(model="m")
    rank = found["drop_rank"].values
    assert np.isnan(rank[0])
    assert sorted(rank[1:].tolist()) == [1, 2, 3, 4]
    order = sorted(range(1, 5), key=lambda k: -float(found.r2[k]))
    assert [int(rank[k]) for k in order] == [1, 2, 3, 4]


def test_the_dataset() -> None:
    found = compared(layered(), level=0.9)
    assert found.model.values.tolist() == ["m"]
    assert found.layer.values.tolist() == [0, 1, 2, 3, 4]
    for field in FIELDS:
        for part in ("", "_se", "_low", "_high"):
            assert found[f"{field}{part}"].dims == ("model", "layer")
    assert found.attrs["n"] == 300
    assert found.attrs["level"] == 0.9
    assert found.attrs["units"] == "row"
    assert isinstance(found.attrs["alerts"], list)
    assert found.attrs["provenance"]["lmkin"] == lmkin.__version__


def test_where_none_are_asked_for_there_are_no_intervals() -> None:
    found = compared(layered(), intervals=False)
    with_some = compared(layered(), parts=5)
    for field in FIELDS:
        assert found[field].values == pytest.approx(with_some[field].values, abs=1e-9, nan_ok=True)
        for part in ("_se", "_low", "_high"):
            name = f"{field}{part}"
            assert name not in found or np.isnan(found[name]).all(), name


# -- intervals ------------------------------------------------------------------------------------


def test_standard_errors_are_those_of_a_jackknife(split: list[dict[str, Any]]) -> None:
    arrays = layered(203)
    layers = list(arrays.values())
    found = compared(arrays, parts=7).sel(model="m")
    blocks = np.array_split(np.arange(203), 7)

    def cka(a: int, b: int) -> Any:
        return lambda rows: naive.unbiased_cka(layers[a][rows], layers[b][rows])

    def average(k: int) -> Any:
        return lambda rows: np.mean([cka(k, j)(rows) for j in range(5) if j != k])

    for k in range(5):
        expected = naive.jackknife(average(k), blocks)
        assert found.average_se.values[k] == pytest.approx(expected, rel=1e-5)
        if not k:
            continue
        expected = naive.jackknife(cka(k - 1, k), blocks)
        assert found.cka_se.values[k] == pytest.approx(expected, rel=1e-5, abs=1e-9)
        train, test = split[k - 1]["train"], split[k - 1]["test"]
        before, after = layers[k - 1], layers[k]

        def fitted(rows: Any, a: Any = before, b: Any = after, test: Any = test) -> float:
            return naive.mapped_r2(a, b, rows, test)

        def scored(rows: Any, a: Any = before, b: Any = after, train: Any = train) -> float:
            return naive.mapped_r2(a, b, train, rows)

        errors = [
            naive.jackknife(f, np.array_split(rows, 7))
            for f, rows in ((fitted, train), (scored, test))
        ]
        assert found.r2_se.values[k] == pytest.approx(np.hypot(*errors), rel=1e-4, abs=1e-9)


def test_intervals_lie_around_their_values() -> None:
    narrow, wide = (compared(layered(), level=level).sel(model="m") for level in (0.5, 0.99))
    for field in FIELDS:
        some = slice(None) if field == "average" else slice(1, None)
        for found in (narrow, wide):
            value, low, high = (found[f"{field}{p}"].values[some] for p in ("", "_low", "_high"))
            assert (low <= value).all()
            assert (value <= high).all()
        small = (narrow[f"{field}_high"] - narrow[f"{field}_low"]).values[some]
        large = (wide[f"{field}_high"] - wide[f"{field}_low"]).values[some]
        assert (small <= large).all()
        assert (small < large).any()


def test_an_interval_holds_what_is_true_about_as_often_as_it_says() -> None:
    """r² of two layers with correlation √0.5, 30 times: an interval of 0.95 misses it now and then."""
    inside = 0
    for seed in range(30):
        random = np.random.default_rng(seed)
        X = random.standard_normal((400, 3))
        Y = X + random.standard_normal((400, 3))
        found = compared({"m/0": X, "m/1": Y}, parts=10).sel(model="m", layer=1)
        inside += bool(found.r2_low <= 0.5 <= found.r2_high)
    assert (
        inside >= 24
    )  # 28 or 29 are expected; the true value of a fit on 320 rows is a little below 0.5


# -- invariances ----------------------------------------------------------------------------------


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_units_and_turns_of_a_layer_change_nothing(seed: int) -> None:
    """A rotation, a scale and an offset of every layer."""
    arrays = layered(200, seed % 1000)
    random = np.random.default_rng(seed)
    turned = {}
    for k, a in arrays.items():
        Q = np.linalg.qr(random.standard_normal((a.shape[1], a.shape[1])))[0]
        scale = 10 ** random.uniform(-2, 2) * random.choice([-1, 1])
        turned[k] = a @ Q * scale + random.uniform(-1e3, 1e3, a.shape[1])
    first, second = compared(arrays, intervals=False), compared(turned, intervals=False)
    for field in (*FIELDS, "cka_all", "drop_rank"):
        mine, theirs = first[field].values, second[field].values
        assert mine == pytest.approx(theirs, abs=1e-6, nan_ok=True), field


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_permuting_neurons_changes_nothing(seed: int) -> None:
    arrays = layered(200, 1)
    random = np.random.default_rng(seed)
    mixed = {k: a[:, random.permutation(a.shape[1])] for k, a in arrays.items()}
    first, second = compared(arrays, intervals=False), compared(mixed, intervals=False)
    for field in (*FIELDS, "cka_all"):
        assert first[field].values == pytest.approx(second[field].values, abs=1e-9, nan_ok=True)


def test_float32() -> None:
    arrays = layered(400)
    small = {k: a.astype(np.float32) for k, a in arrays.items()}
    first, second = compared(arrays), compared(small)
    for field in (*FIELDS, "cka_all", "r2_se", "cka_se"):
        assert first[field].values == pytest.approx(second[field].values, abs=2e-4, nan_ok=True)


# -- several models -------------------------------------------------------------------------------


def test_models_of_different_depth_are_each_as_alone() -> None:
    deep = layered(300, 1, "deep")
    flat = {f"flat/{k}": v for k, v in enumerate(list(layered(300, 2).values())[:3])}
    both = compared({**deep, **flat}, parts=4)
    assert both.model.values.tolist() == ["deep", "flat"]
    for name, arrays in (("deep", deep), ("flat", flat)):
        alone = compared(arrays, parts=4).sel(model=name)
        mine = both.sel(model=name, layer=alone.layer.values, other=alone.other.values)
        for field in alone.data_vars:
            assert mine[field].values == pytest.approx(alone[field].values, abs=1e-9, nan_ok=True)
    absent = both.sel(model="flat", layer=[3, 4])
    assert all(np.isnan(absent[field]).all() for field in (*FIELDS, "cka_all", "drop_rank"))


def test_models_that_have_other_layers() -> None:
    """Numbers of layers are names: what stands before is the layer chosen before."""
    arrays = layered()
    chosen = {"a/0": arrays["m/0"], "a/4": arrays["m/1"], "a/9": arrays["m/2"]}
    found = compared({**chosen, "b/1": arrays["m/2"], "b/9": arrays["m/3"]}, intervals=False)
    assert found.layer.values.tolist() == [0, 1, 4, 9]
    straight = compared({f"m/{k}": v for k, v in enumerate(chosen.values())}, intervals=False)
    mine = found.r2.sel(model="a", layer=[0, 4, 9]).values
    assert mine == pytest.approx(straight.r2.values[0], abs=1e-12, nan_ok=True)
    assert found.r2.sel(model="b", layer=9).item() == pytest.approx(1, abs=1e-4)
    assert np.isnan(found.r2.sel(model="b", layer=[0, 1, 4])).all()


# -- models and texts -----------------------------------------------------------------------------


def test_whole_documents_are_held_out(
    bert: lmkin.LanguageModel, sample: lmkin.Corpus, split: list[dict[str, Any]]
) -> None:
    acts = lmkin.extract(bert, sample[:800], progress=False)
    found = compared(acts, intervals=False).sel(model="bert")
    rows = split[0]
    assert_split(rows, len(acts))
    documents = np.array([s.document for s in acts.units.corpus])[acts.units.sentence]
    assert len(set(documents)) > 60
    for a in rows:
        for b in rows:
            if a != b:
                assert not set(documents[rows[a]]) & set(documents[rows[b]])
    for k in (1, 2):
        before, after = (np.asarray(acts.layer(n)[:, :]) for n in (k - 1, k))
        expected = naive.mapped_r2(before, after, rows["train"], rows["test"])
        assert found.r2.sel(layer=k).item() == pytest.approx(expected, abs=1e-4)
        expected = float(lmkin.linear_cka(before, after))
        assert found.cka.sel(layer=k).item() == pytest.approx(expected, abs=1e-5)


def test_without_documents_whole_sentences_are_held_out(
    bert: lmkin.LanguageModel, sample: lmkin.Corpus, split: list[dict[str, Any]]
) -> None:
    plain = lmkin.Corpus(
        [lmkin.Sentence(s.text, s.spans, id=str(k)) for k, s in enumerate(sample[:150])], name="p"
    )
    acts = lmkin.extract(bert, plain, progress=False)
    compared(acts, intervals=False)
    owner = acts.units.sentence
    for a in split[0]:
        for b in split[0]:
            if a != b:
                assert not set(owner[split[0][a]]) & set(owner[split[0][b]])


def test_activations_and_models_are_the_same(
    bert: lmkin.LanguageModel, gpt2: lmkin.LanguageModel, sample: lmkin.Corpus, tmp_path: Any
) -> None:
    corpus = sample[:150]
    acts = [lmkin.extract(m, corpus, progress=False) for m in (bert, gpt2)]
    lmkin.extract(bert, corpus, tmp_path / "bert.acts", progress=False)
    expected = compared(acts, parts=4)
    assert expected.model.values.tolist() == ["bert", "gpt2"]
    assert expected.attrs["units"] == "word"
    assert expected.attrs["corpus"] == corpus.name
    found = compared([bert, gpt2], corpus, parts=4)
    for field in expected.data_vars:
        assert found[field].values == pytest.approx(expected[field].values, abs=1e-6, nan_ok=True)
    one = compared(acts[0], parts=4)
    for source, text in ((bert, corpus), (tmp_path / "bert.acts", None), ([acts[0]], None)):
        again = compared(source, text, parts=4)
        for field in one.data_vars:
            assert again[field].values == pytest.approx(one[field].values, abs=1e-6, nan_ok=True)


def test_words_that_a_model_lacks_are_counted(
    bert: lmkin.LanguageModel, gpt2: lmkin.LanguageModel, read: lmkin.Corpus
) -> None:
    """A decoder has no first word: it is left out of both models, and nothing is left out in silence."""
    acts = [lmkin.extract(m, read, progress=False) for m in (bert, gpt2)]
    lost = len(acts[0]) - len(acts[1])
    assert lost > 0
    found = compared(acts, intervals=False)
    assert found.attrs["n"] == len(acts[1])
    alerts = [lmkin.core.Alert.of(a) for a in found.attrs["alerts"]]
    assert any(a.kind == "dropped" and f" {lost} " in a.text for a in alerts)
    assert len(set(alerts)) == len(alerts)


def test_layers_can_be_chosen(bert: lmkin.LanguageModel, acts: lmkin.Activations) -> None:
    for found in (
        compared(acts, layers=[0, 2], intervals=False),
        compared(bert, acts.units.corpus, layers=[0, 2], intervals=False),
    ):
        assert found.layer.values.tolist() == [0, 2]
        first, last = (np.asarray(acts.layer(n)[:, :]) for n in (0, 2))
        value = found.cka.sel(model="bert", layer=2).item()
        assert value == pytest.approx(float(lmkin.linear_cka(first, last)), abs=1e-5)


# -- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "options", "match"),
    [
        ({"m/0": layered()["m/0"]}, {}, "m has one layer here"),
        ({**layered(), "n/0": layered()["m/0"]}, {}, "n has one layer here"),
        (layered(8), {}, "rows"),
        ({**layered(), "m/5": np.ones((300, 3))}, {}, "All neurons of m/5 are constant"),
        ({**layered(), "m/5": np.full((300, 3), np.nan)}, {}, "m/5 holds NaN or infinite"),
        (layered(), {"level": 1.5}, "level is a fraction"),
        (layered(), {"parts": -1}, "parts"),
        (layered(), {"parts": "many"}, "parts"),
        (layered(), {"ridge": -1}, "ridge"),
        (layered(), {"ridge": "much"}, "ridge"),
        (layered(), {"memory": "lots"}, "size of memory"),
        (layered(), {"memory": "1kB"}, "budget"),
        (layered(), {"layers": [0]}, "layers= chooses"),
        (layered(), {"seed": -1}, "seed"),
        (layered(), {"seed": "x"}, "seed"),
        (layered(), {"colour": "red"}, "colour"),
        (layered(), {"corpus": "sample"}, "corpus"),
        (None, {}, "Rows come from"),
        ([], {}, "Rows come from"),
        (None, {"corpus": "sample"}, None),
        ([], {"corpus": "sample"}, None),
        (layered()["m/0"], {}, "Arrays need names"),
        (lmkin.compute_moments(layered(), progress=False), {}, "Moments"),
    ],
)
def test_mistakes(source: Any, options: Any, match: str | None) -> None:
    with pytest.raises(lmkin.LmkinError, match=match) as caught:
        compared(source, **options)
    assert "\n" not in str(caught.value)


def test_mistakes_with_a_model(
    bert: lmkin.LanguageModel, acts: lmkin.Activations, read: lmkin.Corpus
) -> None:
    with pytest.raises(lmkin.LmkinError, match="one layer"):
        compared(acts, layers=[1])
    with pytest.raises(lmkin.LmkinError, match="corpus"):
        compared(acts, read)
    with pytest.raises(lmkin.LmkinError, match="colour"):
        compared(bert, read, colour="red")
    with pytest.raises(lmkin.LmkinError, match="colour"):
        compared(acts, colour="red")


def test_a_wrong_option_is_found_before_a_model_runs(
    bert: lmkin.LanguageModel, read: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    monkeypatch.setattr(bert, "run", lambda *_, **__: ran.append(1))
    for options in ({"ridge": -1}, {"level": 2}, {"seed": -1}, {"memory": "lots"}, {"parts": -1}):
        with pytest.raises(lmkin.LmkinError):
            compared(bert, read, **options)
    assert not ran
