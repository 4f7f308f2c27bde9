"""`--memory` bounds the peak of the whole process, on every route; a refusal names a budget that then does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers as hf

import families
import lmkin
from lmkin.core.memory import parse_memory

pytestmark = pytest.mark.slow

SCRIPT = r"""
import contextlib, io, re, resource, sys
from lmkin.cli import run

said = io.StringIO()
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    try:
        run([*sys.argv[1:], "--memory", "1MB"])
    except SystemExit as end:
        assert end.code == 1, said.getvalue()
text = " ".join(said.getvalue().split())
least = re.search(r"at least ([0-9.]+ [MG]B) would do", text)
assert least, text
print("LEAST", least[1])
print("REFUSED", text)
try:
    run([*sys.argv[1:], "--memory", least[1]])
except SystemExit as end:
    if end.code:
        raise
print("PEAK", int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) * 1024)
"""
FAST = ("--no-charts", "-m", "ckasim")
TEXT = ("--corpus", "sample", "--limit", "300")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small, but with neurons enough that sums of all pairs are of some weight."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = next(f for f in families.FAMILIES if f.name == "bert").tokenizer()
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=512, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=384, max_position_embeddings=128,
    )  # fmt: skip
    hf.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def stores(model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("stores")
    corpus = lmkin.read_corpus("sample")[:300]
    for number in range(2):
        spec = f"untrained:{model}@{number}"
        lmkin.extract(spec, corpus, folder / f"{number}.acts", progress=False)
    return [str(folder / f"{number}.acts") for number in range(2)]


def bounded(*arguments: str, out: Path) -> str:
    """Run a command with the least budget that its refusal names; its words, when the peak has kept to the budget."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments, "-o", str(out)],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    named = re.search(r"^LEAST (.*)$", said, re.MULTILINE)
    peak = re.search(r"^PEAK (.*)$", said, re.MULTILINE)
    refused = re.search(r"^REFUSED (.*)$", said, re.MULTILINE)
    assert named
    assert peak
    assert refused
    assert "Python and libraries take" in refused[1]
    budget = parse_memory(named[1])
    assert budget is not None
    assert int(peak[1]) <= 1.1 * budget, said
    # Nor is far more asked for than is taken: what is refused would not have fitted.
    assert int(peak[1]) >= 0.6 * budget, said
    assert (out / "report.html").exists()
    return said


def twins(model: Path, count: int) -> list[str]:
    return [f"untrained:{model}@{number}" for number in range(count)]


@pytest.mark.parametrize(
    ("route", "count", "more"),
    [
        ("joint", 2, TEXT),
        ("pairs", 3, (*TEXT, "--no-intervals")),
        ("dual", 2, ("--corpus", "sample", "--limit", "20", "--no-intervals")),
    ],
)
def test_similarity_of_models(
    route: str, count: int, more: tuple[str, ...], model: Path, tmp_path: Path
) -> None:
    said = bounded("similarity", *twins(model, count), *more, *FAST, "--route", route, out=tmp_path)
    assert "the models" in said


def test_similarity_of_rows_in_memory(stores: list[str], tmp_path: Path) -> None:
    bounded("similarity", *stores, *FAST, "--route", "panels", out=tmp_path)


def test_dependency(model: Path, tmp_path: Path) -> None:
    texts = ("--corpus", "sample", "--units", "word", "--limit", "200", "--no-charts")
    bounded(
        "dependency",
        *twins(model, 3),
        *texts,
        "--no-intervals",
        "--no-permutation-baseline",
        "--subsets",
        "none",
        out=tmp_path,
    )


def test_redundancy_from_a_matrix(model: Path, tmp_path: Path) -> None:
    bounded(
        "redundancy", *twins(model, 1), *TEXT, "--no-charts", "--no-layer-regressions", out=tmp_path
    )


def test_redundancy_from_stored_rows(stores: list[str], tmp_path: Path) -> None:
    bounded("redundancy", stores[0], "--no-charts", "--no-intervals", out=tmp_path)
