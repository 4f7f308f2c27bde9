"""Parts of rows and documents, and the planner that says beforehand what a comparison takes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from lmkin.core import LayerId
from lmkin.core.folds import parts_of_rows, runs
from lmkin.core.memory import available_memory, budget, parse_memory, process_memory
from lmkin.corpus import Corpus, Sentence, Units
from lmkin.moments import plan_moments
from lmkin.rows.parts import parts_of_units

# -- parts -------------------------------------------------------------------------------------------


@given(n=st.integers(1, 200), count=st.integers(0, 30))
def test_rows_are_cut_into_equal_blocks(n: int, count: int) -> None:
    part = parts_of_rows(n, count)
    assert len(part) == n
    assert (np.diff(part) >= 0).all()
    sizes = np.bincount(part)
    assert len(sizes) == max(1, min(count, n))
    assert sizes.max() - sizes.min() <= 1


def test_labels_of_ones_own() -> None:
    assert parts_of_rows(5, ["b", "a", "b", "c", "a"]).tolist() == [1, 0, 1, 2, 0]
    with pytest.raises(lmkin.MomentsError, match=r"5 rows, but labels of the shape \(4,\)"):
        parts_of_rows(5, [1, 2, 3, 4])
    with pytest.raises(lmkin.MomentsError, match="-2"):
        parts_of_rows(5, -2)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 9))
def test_runs_cover_every_row_once(labels: list[int], most: int) -> None:
    part = np.array(labels)
    seen = np.concatenate([np.arange(start, stop) for _, start, stop in runs(part, most)])
    assert seen.tolist() == list(range(len(part)))
    for label, start, stop in runs(part, most):
        assert (part[start:stop] == label).all()
        assert 0 < stop - start <= most


def corpus(lengths: list[list[int]]) -> Corpus:
    """Documents of sentences of so many words."""
    sentences = []
    for number, document in enumerate(lengths):
        for length in document:
            spans = tuple((5 * k, 5 * k + 4) for k in range(length))
            text = "word " * length
            sentences.append(Sentence(text, spans, document=f"doc {number}"))
    return Corpus(sentences, name="made")


@given(
    lengths=st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=5), min_size=1, max_size=40),
    count=st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_documents_stay_together(lengths: list[list[int]], count: int) -> None:
    made = corpus(lengths)
    units = Units.all_words(made)
    part, made_of = parts_of_units(units, count)
    assert len(part) == len(units)
    assert (np.diff(part) >= 0).all()
    assert part[0] == 0
    assert set(np.diff(part)) <= {0, 1}
    assert part.max() < count
    enough = len(lengths) >= 2 * count
    assert made_of == ("documents" if enough else "sentences")
    sentence_of = units.sentence
    owner = np.array([int((s.document or "").split()[1]) for s in made])[sentence_of]
    for whole in (owner, sentence_of) if enough else (sentence_of,):
        for each in np.unique(whole):
            assert len(set(part[whole == each])) == 1


def test_parts_of_documents_are_of_nearly_equal_size() -> None:
    rng = np.random.default_rng(0)
    lengths = [[int(x) for x in rng.integers(3, 30, size=4)] for _ in range(100)]
    part, made_of = parts_of_units(Units.all_words(corpus(lengths)), 10)
    sizes = np.bincount(part)
    assert made_of == "documents"
    assert len(sizes) == 10
    longest = max(sum(document) for document in lengths)
    assert sizes.max() - sizes.min() <= 2 * longest


# -- plans -------------------------------------------------------------------------------------------


def widths(models: int, layers: int, d: int) -> dict[LayerId, int]:
    return {LayerId(f"m{m}", n): d for m in range(models) for n in range(layers)}


def test_all_at_once_where_it_fits() -> None:
    plan = plan_moments(widths(4, 13, 384), 20_000, memory="64GB")
    assert plan.route == "joint"
    assert set(plan.needs) == {"joint", "pairs"}
    assert plan.needs["pairs"] < plan.needs["joint"]
    said = str(plan)
    assert "52 layers, 19,968 neurons, 20,000 units" in said
    assert "(chosen)" in said


@pytest.mark.usefixtures("bare_process")
def test_by_pairs_where_all_do_not_fit() -> None:
    wide = widths(4, 13, 768)
    generous = plan_moments(wide, 50_000, parts=10, memory="1TB").needs
    budget = (generous["pairs"] + generous["joint"]) // 2
    plan = plan_moments(wide, 50_000, parts=10, memory=budget)
    assert plan.route == "pairs"
    # The joint sums alone: half of a symmetric matrix in float64, and ten times in float32.
    assert generous["joint"] > 39_936**2 / 2 * (8 + 10 * 4)


def test_the_promise_of_sixteen_gigabytes() -> None:
    """4 models × 13 layers × 768 neurons at 50,000 words, by the planner's own choice."""
    assert plan_moments(widths(4, 13, 768), 50_000, memory="16GB").route in ("joint", "pairs")


def test_dual_where_units_are_few() -> None:
    plan = plan_moments(widths(2, 3, 768), 200, memory="8GB")
    assert plan.route == "dual"
    assert plan.needs["dual"] < plan.needs["joint"]
    assert "dual" not in plan_moments(widths(2, 3, 768), 768, memory="8GB").needs


def test_refuses_with_the_numbers_and_what_to_do() -> None:
    with pytest.raises(lmkin.MomentsError) as error:
        plan_moments(widths(4, 13, 768), 50_000, parts=10, memory="500MB")
    text = str(error.value)
    for needed in ("52 layers", "39,936 neurons", "500", "fewer layers", "memory='"):
        assert needed in text


def test_routes_by_name() -> None:
    few = widths(2, 2, 10)
    with pytest.raises(lmkin.MomentsError, match="more units than neurons"):
        plan_moments(few, 500, route="dual", memory="8GB")
    with pytest.raises(lmkin.MomentsError, match="two models or fewer"):
        plan_moments(few, 500, route="pairs", memory="8GB")
    with pytest.raises(lmkin.MomentsError, match="Unknown route 'jointly'"):
        plan_moments(few, 500, route="jointly", memory="8GB")
    assert plan_moments(widths(2, 2, 100), 50, route="joint", memory="8GB").route == "joint"


def test_one_part_is_refused_where_none_are_asked_for_by_another_word() -> None:
    rows = {"a/0": np.random.default_rng(0).normal(size=(40, 3))}
    with pytest.raises(lmkin.LmkinError, match=r"two at least; got 1.*parts=0"):
        lmkin.compute_moments(rows, parts=1, progress=False)
    assert not lmkin.compute_moments(rows, parts=0, progress=False).part_sizes


@pytest.mark.parametrize("parts", [0, 10])
def test_the_estimate_covers_what_the_sums_take(parts: int) -> None:
    """Every array that moments hold at the end, counted."""
    rng = np.random.default_rng(0)
    layers = {f"m/{k}": rng.normal(size=(400, 60)).astype(np.float32) for k in range(5)}
    moments = lmkin.compute_moments(layers, parts=parts, sample_rows=50)
    state = moments.state
    sums = [state.total, *state.parts.values()]
    held = sum(a.nbytes for s in sums if s for a in [*s.small(), *s.panels])
    planned = plan_moments(moments.widths, 400, parts=parts, rows=50, memory="8GB")
    assert held < planned.needs["joint"] < 60 * held


@pytest.mark.usefixtures("bare_process")
def test_the_budget_decides_in_a_comparison(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(0)
    layers = {f"m{k}/0": rng.normal(size=(900, 300)) for k in range(6)}
    needs = plan_moments(
        {LayerId(f"m{k}", 0): 300 for k in range(6)}, 900, memory="1TB", double=True, rows=0
    ).needs
    options = {"measures": "ckasim", "neurons": "raw", "intervals": False}
    budget = (needs["pairs"] + needs["joint"]) // 2
    with caplog.at_level("INFO", "lmkin"):
        table = lmkin.similarity(layers, memory=budget, sample_rows=0, **options).matrix()
    assert "one pair of models at a time" in caplog.messages[0]
    assert table.values == pytest.approx(
        lmkin.similarity(layers, **options).matrix().values, abs=1e-9
    )
    with pytest.raises(lmkin.MomentsError, match="The budget is"):
        lmkin.similarity(layers, measures="ckasim", neurons="raw", memory="1MB").matrix()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GB", 8e9), ("8 gb", 8e9), ("500MB", 5e8), ("1.5 GiB", 1.5 * 2**30), ("2k", 2000),
        ("7", 7), (123, 123), (8e9, 8e9), ("1TiB", 2**40), ("4G", 4e9),
    ],
)  # fmt: skip
def test_sizes_of_memory(text: Any, size: float) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "many", "8XB", "-1GB", 0, -5, "0GB", True, [8], float("nan")])
def test_what_is_no_size_of_memory(text: Any) -> None:
    with pytest.raises(lmkin.LmkinError):
        parse_memory(text)


def test_by_default_what_is_free() -> None:
    assert parse_memory(None) is None
    free, held = available_memory(), process_memory()
    assert 0.5 * free < budget(None).memory - held < free * 1.1


def test_a_budget_is_for_the_whole_process() -> None:
    before = budget("64GB")
    block = np.ones(30_000_000)  # 240 MB that are resident
    after = budget("64GB")
    assert 200e6 < after.process - before.process < 300e6
    # What libraries are yet to take is counted once, and not again when the process has grown by it.
    grown = after.process - before.process
    assert before.left - after.left == grown - (before.libraries - after.libraries)
    assert after.process + after.libraries + after.left == after.memory == 64e9
    del block


def test_the_least_that_is_named_fits() -> None:
    wide = widths(4, 13, 768)
    for memory in ("1MB", "500MB", "2GB"):
        with pytest.raises(lmkin.MomentsError) as error:
            plan_moments(wide, 50_000, parts=10, memory=memory, weights=10**7)
        found = re.search(r"memory='([0-9.]+[MG]B)'", str(error.value))
        assert found
        assert "Python and libraries take" in str(error.value)
        assert "the models 10 MB" in str(error.value)
        plan = plan_moments(wide, 50_000, parts=10, memory=found[1], weights=10**7)
        assert plan.needs[plan.route] == min(plan.needs.values())
