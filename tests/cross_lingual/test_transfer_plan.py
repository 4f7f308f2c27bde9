"""What a plan counts, and what is refused where memory is short."""

from __future__ import annotations

from typing import Any

import pytest

import lmkin
from cross_lingual.treebanks import WIDTH, WordVectors, treebanks
from lmkin.analysis import Running, Source, find_analysis


def plan(options: dict[str, Any], memory: str | None = None) -> dict[str, Any]:
    analysis = find_analysis("cross-lingual")
    banks = treebanks(("en", "de", "fi"), 40)
    source = Source([WordVectors("a"), WordVectors("b")], banks, by_name=True)
    return analysis.plan(source, analysis.Options(**options), Running(memory=memory)).to_dict()


def test_rows_neurons_and_probes_are_counted():
    banks = treebanks(("en", "de", "fi"), 40)
    made = plan(
        {"thresholds": (0.1, 0.5), "ablations": ("top",), "ceiling": True, "train_on": ("en", "fi")}
    )
    assert "36 sentences are fitted on, 4 held out" in made["title"]
    assert "from en, fi to 3 languages" in made["title"]
    for about in made["models"]:
        assert about["rows"] == {name: corpus.n_words for name, corpus in banks.items()}
        assert about["neurons"] == 3 * WIDTH
        # Two tags; in two languages all neurons, two thresholds and one set of layers; a ceiling of the third.
        assert about["probes"] == 2 * (2 * (1 + 2 + 1) + 1)
        assert about["bytes_fits"] > max(about["rows"].values()) * about["neurons"] * 4
    assert [step["name"] for step in made["steps"]] == [
        f"{model}: {what}" for model in "ab" for what in ("activations", "clusters", "probes")
    ]


@pytest.mark.usefixtures("bare_process")
def test_too_little_memory_is_refused():
    with pytest.raises(lmkin.LmkinError, match="Take fewer sentences"):
        plan({}, "20MB")
