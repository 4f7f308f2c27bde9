"""The study's parallel documents: no translation of one that is held out is fitted on."""

from __future__ import annotations

import importlib.util
import json
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lmkin
from lmkin.analyses.cross_lingual.options import CrossLingualOptions
from lmkin.analyses.cross_lingual.parallel import align_corpora

STUDY = Path(__file__).parents[2] / "studies" / "cross-lingual"


@pytest.fixture(scope="module")
def study() -> ModuleType:
    spec = importlib.util.spec_from_file_location("documents", STUDY / "documents.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder: Path, language: str, part: str, documents: dict[str, list[str]]) -> None:
    """Documents of sentences, as the Parallel Meaning Bank writes them."""
    lines = []
    for name, sentences in documents.items():
        lines.append(f"# newdoc id = {name}")
        for text in sentences:
            lines.append(f"# raw sent = {text}")
            lines += [f"{w}\t{w}\t{w}\tCON\tn\tO\t[]" for w in text.split()]
            lines.append("")
    (folder / f"{language}_{part}.conll").write_text("\n".join(lines) + "\n", "utf-8")


def test_documents_of_one_sentence_that_both_have_each_once(study: ModuleType, tmp_path: Path):
    english = {
        "train": {"p1": ["A dog"], "p2": ["Two", "sentences"], "p3": ["a DOG !"], "p4": ["A cat"]},
        "dev": {"p5": ["A bird"], "p6": ["Only English"]},
        "test": {"p7": ["The bird"], "p8": ["A fish"]},
    }
    german = {
        "train": {"p5": ["Ein Vogel"], "p7": ["ein Vogel ."], "p2": ["Zwei Sätze"]},
        "dev": {"p1": ["Ein Hund"], "p3": ["Der Hund"], "p9": ["Nur deutsch"]},
        "test": {"p4": ["Eine Katze"], "p8": ["Ein Fisch"]},
    }
    for language, parts in (("en", english), ("de", german)):
        for part, some in parts.items():
            write(tmp_path, language, part, some)
    files = "{folder}/{language}_{part}.conll"
    both = [study.documents(files, k, {"folder": str(tmp_path)}) for k in ("en", "de")]
    corpora = study.translations(*both, ("en", "de"))
    # p2 is two sentences in English; p3 is p1 in English, p7 is p5 in German; p6 and p9 are in one language.
    assert (
        [s.id for s in corpora["en"]] == [s.id for s in corpora["de"]] == ["p1", "p4", "p5", "p8"]
    )
    assert [s.text for s in corpora["de"]] == ["Ein Hund", "Eine Katze", "Ein Vogel", "Ein Fisch"]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=30))
def test_no_two_documents_that_are_kept_are_joined_by_others(
    study: ModuleType, pairs: list[tuple[int, int]]
):
    """By sets that are merged until nothing changes: one document of each is kept, the first."""
    one, other = (
        {f"p{k}": lmkin.Sentence(f"w{pair[side]}", id="1") for k, pair in enumerate(pairs)}
        for side in (0, 1)
    )
    kept = [s.id for s in study.translations(one, other, ("en", "de"))["en"]]
    groups = [{k} for k in range(len(pairs))]
    changed = True
    while changed:
        changed = False
        for a, b in product(groups, groups):
            if a is not b and any(
                pairs[i][0] == pairs[j][0] or pairs[i][1] == pairs[j][1] for i in a for j in b
            ):
                groups = [g for g in groups if g is not a and g is not b] + [a | b]
                changed = True
                break
    assert kept == [f"p{k}" for k in sorted(min(g) for g in groups)]


@pytest.mark.parametrize("language", ["de", "it", "nl"])
def test_no_translation_of_a_held_out_document_is_fitted_on(
    study: ModuleType, shared: Any, language: str
):
    """With the study's own files and settings."""
    config: dict[str, Any] = json.loads((STUDY / "config.json").read_text("utf-8"))
    pmb, places = config["pmb"], {"data": str(shared("data"))}
    names = ("en", language)
    both = [study.documents(pmb["files"], k, places) for k in names]
    corpora = study.translations(*both, names)
    known = {k: pmb["options"][k] for k in ("align", "held_out_share")}
    parallel = align_corpora(corpora, CrossLingualOptions(**known), config["options"]["seed"])
    held, fitted = (
        {s.id for s, out in zip(parallel.corpora["en"], parallel.held_out, strict=True) if out == is_held}
        for is_held in (True, False)
    )  # fmt: skip
    assert len(held) > 200
    assert len(fitted) > 900
    assert not held & fitted
    for name, documents in zip(names, both, strict=True):
        assert [s.text for s in parallel.corpora[name]] == [
            documents[s.id].text for s in parallel.corpora["en"]
        ]
        # In neither language has a document that is fitted on the words of one that is held out.
        of_fitted = {tuple(w.casefold() for w in documents[d].words) for d in fitted}
        assert not [d for d in held if tuple(w.casefold() for w in documents[d].words) in of_fitted]
