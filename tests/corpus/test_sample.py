"""The sample corpus: the library ships its files, and nothing that makes them."""

from __future__ import annotations

import pytest

import lmkin
from lmkin.corpus import sample


def test_the_folder_holds_one_file_a_language_and_their_reader() -> None:
    folder = sample.path("en").parent
    names = {file.name for file in folder.iterdir() if file.name != "__pycache__"}
    assert names == {"__init__.py", "en.conllu", "qke.conllu", "qta.conllu"}
    assert [sample.path(language).stem for language in sample.LANGUAGES] == ["en", "qke", "qta"]


def test_an_unknown_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(lmkin.CorpusError, match=r"no language 'xx'\. Known: en, qke, qta\."):
        sample.path("xx")
