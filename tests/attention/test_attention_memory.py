"""What a comparison of attention is said to take, against what it takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
import transformers as hf

import families
import lmkin
from lmkin.analyses.attention.memory import attention_memory
from lmkin.analyses.attention.model_maps import ModelMaps
from lmkin.core.memory import process_memory, release_memory

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


def peak() -> int:
    """The largest resident set since it was last reset, in bytes."""
    found = re.search(r"VmHWM:\s+([0-9]+) kB", STATUS.read_text())
    assert found
    return 1024 * int(found[1])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[lmkin.LanguageModel]:
    """Narrow, with many heads: what they take is attention."""
    folder = tmp_path_factory.mktemp("heads")
    tokenizer = next(f for f in families.FAMILIES if f.name == "bert").tokenizer()
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=96, num_hidden_layers=6, num_attention_heads=24,
        intermediate_size=96, max_position_embeddings=256,
    )  # fmt: skip
    hf.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return [lmkin.load_model(f"untrained:{folder}@{k}", attention=True) for k in range(2)]


def long_corpus(sample: lmkin.Corpus) -> lmkin.Corpus:
    """Sentences of some sixty words."""
    texts = [s.text for s in sample]
    joined = [" ".join(texts[k : k + 7]) for k in range(0, 42, 7)]
    return lmkin.Corpus([families.sentence(t, t.split(), f"{k}") for k, t in enumerate(joined)])


@pytest.mark.skipif(not RESET.exists(), reason="the peak can only be reset on Linux")
@pytest.mark.parametrize("measures", [["js"], ["js", "pearson", "norm", "ckasim"]])
@pytest.mark.slow
def test_as_much_as_is_said(
    measures: list[str], models: list[lmkin.LanguageModel], sample: lmkin.Corpus
) -> None:
    corpus = long_corpus(sample)
    # What is compiled and loaded first is not to count.
    lmkin.attention_similarity(models, corpus[:2], measures=measures, intervals=False)
    said = attention_memory(ModelMaps(models, corpus, 4), measures, parts=4)
    release_memory()
    before = process_memory()
    RESET.write_text("5")
    lmkin.attention_similarity(models, corpus, measures=measures, parts=4)
    taken = peak() - before
    assert taken > 20_000_000
    assert taken <= 1.1 * said
    assert said <= 5 * taken
