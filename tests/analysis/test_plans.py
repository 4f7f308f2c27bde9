"""Plans count what a run would read: rows, tokens, neurons and bytes, as tokenizers and widths say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers

import lmkin
from lmkin.analyses.redundancy import plan as plan_module
from lmkin.analysis import Running, Source, find_analysis
from lmkin.models import Reading


@pytest.fixture(scope="module")
def folders(model_folder: Any) -> list[Path]:
    return [model_folder("bert"), model_folder("roberta")]


def plan(name: str, source: Source, **options: Any) -> dict[str, Any]:
    analysis = find_analysis(name)
    return analysis.plan(source, analysis.Options(**options), Running()).to_dict()


def tokens(folder: Path, texts: list[str], **options: Any) -> int:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return sum(len(tokenizer(text, **options)["input_ids"]) for text in texts)


def test_dependency_counts_texts_of_every_length(
    folders: list[Path], sample: lmkin.Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    reading = find_analysis("dependency").reading
    source = Source(folders, sample, limit=60, reading=reading)
    with caplog.at_level("INFO", "lmkin"):
        short, long = plan("dependency", source, token_lengths=(80, 16), parts=4)["results"]
    assert (short["length"], long["length"]) == (16, 80)
    assert (short["rows"], short["neurons"], short["parts"]) == (60, 64, 12)
    chunks = lmkin.cut_sequences(sample, str(folders[0]), 16, limit=60)
    cut = {"truncation": True, "max_length": 16}
    assert short["tokens"] == sum(tokens(f, [s.text for s in chunks], **cut) for f in folders)
    triangle = 64 * 65 // 2
    assert short["bytes_sums"] >= 4 * 12 * triangle
    assert short["seconds_fits"] > 0
    said = (
        "bert reads 64 tokens at once: where 80 are asked for, it reads the first 64 of each text."
    )
    assert said in caplog.messages


def test_redundancy_counts_what_is_stored(folders: list[Path], sample: lmkin.Corpus) -> None:
    corpus = sample[:20]
    source = Source(folders[:1], corpus, reading=Reading(layers="0,2"))
    steps = plan("redundancy", source)
    (model,) = steps["models"]
    assert model["rows"] == corpus.n_words
    assert (model["neurons"], model["layers"], model["route"]) == (64, 2, "matrix")
    assert model["tokens"] == tokens(folders[0], [s.text for s in corpus])
    assert model["bytes_disk"] == corpus.n_words * 64 * 4
    assert model["bytes_clusters"] >= 12 * 64**2
    assert "seconds_layers" in model
    assert [s["bytes_disk"] for s in steps["steps"]] == [model["bytes_disk"], None, None]
    half = plan("redundancy", source, store_dtype="float16", layer_regressions=False)["models"][0]
    assert half["bytes_disk"] == model["bytes_disk"] // 2
    assert "seconds_layers" not in half


def test_similarity_says_its_route(folders: list[Path], sample: lmkin.Corpus) -> None:
    source = Source(folders, sample[:20])
    assert plan("similarity", source, measures="ckasim")["route"] == "joint"
    with pytest.raises(lmkin.LmkinError, match="two models or fewer"):
        plan("similarity", source, measures="ckasim", route="pairs")


@pytest.mark.parametrize("neurons", [[64, 64], [384, 384], [768] * 13])
def test_time_between_layers_grows_as_fits_and_sums_do(
    monkeypatch: pytest.MonkeyPatch, neurons: list[int]
) -> None:
    """A clock that goes by a known formula: what every fit takes anyway is not taken for what grows with its width."""
    now = [0.0]

    def takes(widths: list[int], n: int) -> float:
        d, layers = max(widths), len(widths)
        fits = (layers - 1) * (0.05 + 7e-8 * d**3)
        return fits + 2e-10 * n * d**2 * (layers - 1 + layers**2 / 4) / 2

    def fake(arrays: dict[str, np.ndarray], **_: object) -> None:
        some = list(arrays.values())
        now[0] += takes([a.shape[1] for a in some], len(some[0]))

    monkeypatch.setattr("lmkin.analyses.redundancy.plan.layer_redundancy", fake)
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    plan_module._regressions_timed.cache_clear()
    options = find_analysis("redundancy").Options()
    try:
        planned = plan_module._seconds_of_regressions(neurons, 20_000, options)
    finally:
        plan_module._regressions_timed.cache_clear()
    assert planned == pytest.approx(takes(neurons, 20_000))
