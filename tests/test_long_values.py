"""A bad value is quoted as far as it helps: no message becomes as long as what was given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lmkin
from lmkin.cli import run
from lmkin.core import quoted

# A user sees a warning, and the call goes on.
pytestmark = pytest.mark.filterwarnings("default::lmkin.core.errors.LmkinWarning")

LONG = "nonsense" * 2500
LONGEST = 1500
"""Characters of a message: a paragraph."""
OBJECTS = {"progress", "measure_options", "options", "chapters", "result", "fn"}
"""Arguments that are no texts, and that no text of a user's becomes."""


@given(st.one_of(st.text(), st.lists(st.integers()), st.integers(), st.floats()), st.integers(1, 80))  # fmt: skip
def test_a_quotation_is_short_and_begins_as_the_value_does(value: Any, limit: int) -> None:
    shown = quoted(value, limit)
    whole = value if isinstance(value, str) else " ".join(repr(value).split())
    if len(whole) <= limit:
        assert shown == (repr(value) if isinstance(value, str) else whole)
    else:
        assert shown.endswith(f"({len(whole):,} characters)")
        start = repr(whole[:limit] + "…") if isinstance(value, str) else whole[:limit] + "…"
        assert shown.startswith(start)


class Odd:
    """What cannot be written."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_what_cannot_be_written_is_named_by_its_type() -> None:
    assert quoted(Odd()) == "a value of type Odd"
    assert quoted(10**5000) == "a value of type int"


def entry_points(folder: Path, model: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Public functions and methods, each with arguments that work."""
    random = np.random.default_rng(0)
    corpus = lmkin.read_corpus("sample")[:6]
    layers = {"a/0": random.normal(size=(60, 4)), "b/0": random.normal(size=(60, 3))}
    maps = {"a/1": [random.dirichlet(np.ones(5), size=(2, 5)) for _ in range(12)]}
    acts = lmkin.extract(str(model), corpus, progress=False)
    moments = lmkin.compute_moments(layers, progress=False)
    similar = lmkin.similarity(layers, measures="ckasim", progress=False)
    alike = lmkin.attention_similarity(maps, progress=False)
    kin = lmkin.decompose(layers, progress=False)
    clusters = lmkin.cluster_neurons(layers, progress=False)
    similar.save(folder / "result.nc")
    rows = {"source": layers}
    return {
        "read_corpus": (lmkin.read_corpus, {"path": "sample", "format": "conllu", "encoding": "utf-8"}),
        "conllu": (partial(lmkin.read_corpus, "sample"), {"text": "forms"}),
        "Corpus.tags": (corpus.tags, {"name": "upos"}),
        "Corpus.split": (corpus.split, {"by": "sentence"}),
        "load_model": (lmkin.load_model, {"spec": str(model)}),
        "extract": (lmkin.extract, {"model": str(model), "corpus": corpus}),
        "open_activations": (lmkin.open_activations, {"path": folder / "none"}),
        "Activations.layer": (acts.layer, {"number": 0}),
        "compute_moments": (lmkin.compute_moments, rows),
        "Moments": (lmkin.Moments, {}),
        "Moments.cov": (moments.cov, {"a": "a", "b": "b"}),
        "Moments.snapshot": (moments.snapshot, {}),
        "similarity": (lmkin.similarity, rows | {"measures": "ckasim"}),
        "Similarity.matrix": (similar.matrix, {"measure": "ckasim"}),
        "Similarity.averages": (similar.averages, {}),
        "Similarity.plot": (similar.plot, {}),
        "Similarity.save": (similar.save, {"path": folder / "again.nc"}),
        "attention_similarity": (lmkin.attention_similarity, {"source": maps}),
        "attention_heads": (lmkin.attention_heads, {"result": alike}),
        "decompose": (lmkin.decompose, rows),
        "Dependency.unexplained": (kin.unexplained, {"target": "a"}),
        "Dependency.weights": (kin.weights, {"target": "a", "basis": "b"}),
        "Dependency.best_subsets": (kin.best_subsets, {}),
        "redundancy": (lmkin.redundancy, rows),
        "cluster_neurons": (lmkin.cluster_neurons, rows),
        "Clustering.members": (clusters.members, {"threshold": 0.3, "model": "a"}),
        "Clustering.keep": (clusters.keep, {"threshold": 0.3, "model": "a"}),
        "layer_redundancy": (lmkin.layer_redundancy, {"source": acts}),
        "published": (lmkin.published, {"name": "zhang2022/table2"}),
        "load": (lmkin.load, {"path": folder / "result.nc"}),
        "write_report": (partial(lmkin.write_report, similar), {"out": folder / "page.html"}),
        "write_result": (lmkin.write_result, {"result": similar, "out": folder / "all", "charts": False}),
        "measure_function": (lmkin.measure_function, {"name": "ckasim"}),
        "check_measure": (lmkin.check_measure, {"fn": "ckasim", "show": False, "quick": True}),
    }  # fmt: skip


def calls(function: Callable[..., Any], usual: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:  # fmt: skip
    """The same call with one argument after another replaced by something long."""
    known = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    for name in dict.fromkeys(n for n in (*known, *usual) if n not in OBJECTS):
        yield name, usual | {name: LONG}


def test_no_message_grows_with_what_was_given(
    tmp_path: Path, model_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong, refused = [], 0
    for point, (function, usual) in entry_points(tmp_path, model_folder("bert")).items():
        for name, arguments in calls(function, usual):
            try:
                function(**arguments)
            except lmkin.LmkinError as error:
                refused += 1
                if len(str(error)) > LONGEST:
                    wrong.append(f"{point}({name}=): {len(str(error))} characters: {str(error)[:200]}")  # fmt: skip
            except Exception as error:
                wrong.append(f"{point}({name}=): {type(error).__name__}: {str(error)[:200]}")
    assert wrong == []
    assert refused > 100


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", LONG],
        ["report", LONG],
        ["export", LONG, "vectors.hdf5"],
        ["measures", "--load", LONG],
        ["extract", LONG, "sample", "--dry-run"],
        ["similarity", "a.acts", "-o", LONG],
        ["similarity", LONG, "-o", "out"],
        ["similarity", "a.acts", "--measures", LONG, "-o", "out"],
        ["redundancy", "a.acts", "--thresholds", LONG, "-o", "out"],
        ["dependency", "a.acts", "--split", LONG, "-o", "out"],
    ],
    ids=lambda words: " ".join(w if w != LONG else "…" for w in words),
)
def test_the_command_line_says_no_more(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert "nonsense" in said
    assert len(said) < LONGEST
