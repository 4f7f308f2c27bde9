from __future__ import annotations

import numpy as np
import pytest

import lmkin
from lmkin.activations import require_same_units


def test_models_with_different_tokenizers_share_their_rows(model_folder, sample) -> None:
    a, b = (lmkin.extract(str(model_folder(name)), sample[:40]) for name in ("bert", "roberta"))
    assert a.units.hash == b.units.hash
    require_same_units(a, b)


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ([0, 2], "row {first} is word 0 ({word!r}) of sentence {id!r} in one and word 0"),
        ([0], "the first that only one has is row {first}, word 0 ({word!r}) of sentence {id!r}"),
    ],
)
def test_the_first_difference_is_named(tiny, sample, chosen: list[int], says: str) -> None:
    a, b = lmkin.extract(tiny, sample[:2]), lmkin.extract(tiny, sample[chosen])
    with pytest.raises(lmkin.ActivationsError) as caught:
        require_same_units(a, b)
    assert says.format(first=len(sample[0]), word=sample[1].words[0], id=sample[1].id) in str(
        caught.value
    )


def test_words_and_sentences_are_not_compared(tiny, sample) -> None:
    words = lmkin.extract(tiny, sample[:5])
    sentences = lmkin.extract(tiny, sample[:5], units="sentence")
    with pytest.raises(lmkin.ActivationsError, match="one has words, the other sentences"):
        require_same_units(words, sentences)
    with pytest.raises(lmkin.ActivationsError, match="one has words, the other sentences"):
        lmkin.common_units(words, sentences)


def test_a_word_that_one_model_loses_is_left_out_of_all(model_folder, sample) -> None:
    encoder = lmkin.extract(str(model_folder("bert")), sample[:40])
    decoder = lmkin.extract(str(model_folder("gpt2")), sample[:40])
    assert len(decoder) < len(encoder)
    with pytest.raises(lmkin.ActivationsError, match="common_units"):
        require_same_units(encoder, decoder)
    a, b = lmkin.common_units(encoder, decoder)
    require_same_units(a, b)
    pairs = set(zip(decoder.units.sentence, decoder.units.index, strict=True))
    kept = [p in pairs for p in zip(encoder.units.sentence, encoder.units.index, strict=True)]
    np.testing.assert_array_equal(np.asarray(a.layer(1)), np.asarray(encoder.layer(1))[kept])
    np.testing.assert_array_equal(np.asarray(b.layer(1)), np.asarray(decoder.layer(1)))


def test_other_tags_are_still_the_same_rows(tiny, sample) -> None:
    bare = lmkin.Corpus(lmkin.Sentence(s.text, s.spans, s.words, id=s.id) for s in sample[:10])
    require_same_units(lmkin.extract(tiny, sample[:10]), lmkin.extract(tiny, bare))
