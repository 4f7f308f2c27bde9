"""Text that has no attention to compare: messages that help, and are short however long the text is."""

from __future__ import annotations

import pytest

import lmkin
from lmkin.analyses.attention import choose_sentence
from lmkin.cli import run


def test_an_over_long_sentence(model_folder, tmp_path, capsys) -> None:
    (tmp_path / "long.txt").write_text("word " * 3000 + "\n")
    corpus, out = tmp_path / "long.txt", tmp_path / "o"
    with pytest.raises(SystemExit) as end:
        run(["attention", str(model_folder("bert")), "-c", str(corpus), "-o", str(out)])
    said = " ".join(capsys.readouterr().err.split())
    assert end.value.code == 1
    assert "longer than it reads at once" in said
    assert "shorter sentences, one a line" in said
    assert len(said) < 1000


def test_text_without_spaces(model_folder) -> None:
    text = lmkin.Corpus(
        [lmkin.Sentence(t, [(0, len(t))]) for t in ("我喜欢语言", "他去学校了")], name="zh"
    )
    with pytest.raises(lmkin.LmkinError, match="units='token'") as error:
        lmkin.attention_similarity(
            [str(model_folder("bert"))], text, measures=["js"], progress=False
        )
    assert "sink" not in str(error.value)


def test_the_sentence_that_is_drawn_is_not_the_one_that_cannot_be_read() -> None:
    long, short = (lmkin.Sentence("a" * n, [(k, k + 1) for k in range(n)]) for n in (3000, 5))
    assert choose_sentence(None, lmkin.Corpus([long, short])) is short
