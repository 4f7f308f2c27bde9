"""Any accumulator, any cut into shards and parts, any failure at a save: the same result, nothing counted twice."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkin.moments import MomentSums
from lmkin.rows import Workspace, one_pass
from lmkin.rows.passes import cut_shards, finish_shard
from rows.accumulators import CASES, Case, Once, of_sampled


class KilledError(Exception):
    """As if the process had ended."""


@contextmanager
def small_chunks(rows: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lmkin.rows.passes.CHUNK", rows)
        patch.setattr("lmkin.moments.accumulator.CHUNK", max(rows, 2))
        patch.setattr("lmkin.moments.buffer._FEW", max(rows, 2))
        yield


@contextmanager
def killed_at(save: int, renamed: bool) -> Iterator[list[int]]:
    """Each file is counted as it is written; at one of them the process ends, before or after the file has its name."""
    replace, count = Path.replace, [0]

    def watched(self: Path, target: Any) -> Path:
        if not self.name.endswith(".tmp"):
            return replace(self, target)
        count[0] += 1
        if count[0] == save and not renamed:
            raise KilledError
        done = replace(self, target)
        if count[0] == save:
            raise KilledError
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", watched)
        yield count


def arrays_of(n: int, seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, 3)) @ random.normal(size=(3, 5)) + 40
    return {"a/0": rows.astype(np.float32), "b/0": random.normal(size=(n, 2)).astype(np.float32)}


@st.composite
def cuts(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any, int]:
    """Arrays, the part of each row, where documents begin, and rows of a chunk."""
    n = draw(st.integers(1, 30))
    blocks = np.array(draw(st.lists(st.integers(-1, 4), min_size=1, max_size=12)))
    labels = {
        "blocks": np.sort(blocks[np.arange(n) * len(blocks) // n]),
        "mixed": blocks[np.arange(n) % len(blocks)],
        "one": np.zeros(n, np.int64),
    }[draw(st.sampled_from(["blocks", "mixed", "one"]))]
    starts = draw(st.none() | st.sets(st.integers(0, n - 1), max_size=12))
    known = None if starts is None else np.array(sorted({0, *starts}))
    return arrays_of(n, draw(st.integers(0, 3))), labels, known, draw(st.integers(1, 9))


def run(case: Case, cut: Any, folder: Path | None) -> tuple[Any, list[int]]:
    """What the accumulator holds after a pass, and the rows that were read for it."""
    arrays, labels, starts, chunk = cut
    source = case.source(arrays, labels, starts)
    with small_chunks(chunk):
        made = one_pass(source, {"it": case.make(source.n)}, work=Workspace(folder), progress=False)
    return made["it"], source.read


def assert_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """To the last bit."""
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def assert_close(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        if name.endswith("parts") and np.size(array):  # in the order that they came
            pairs = [sorted(map(tuple, np.asarray(a).tolist())) for a in (found[name], array)]
            assert pairs[0] == pairs[1]
        else:
            np.testing.assert_allclose(found[name], array, rtol=2e-4, atol=2e-4, err_msg=name)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=20)
@given(data=st.data(), cut=cuts())
def test_a_pass_that_fails_goes_on_to_the_same_result(name: str, cut: Any, data: Any) -> None:
    case = CASES[name]
    plain, _ = run(case, cut, None)
    with tempfile.TemporaryDirectory() as temporary:
        folder, again = Path(temporary) / "one", Path(temporary) / "other"
        with killed_at(0, renamed=False) as saves:
            whole, read = run(case, cut, folder)
        assert sorted(read) == list(range(len(cut[1])))
        for _ in range(data.draw(st.integers(1, 2), "failures")):
            save = data.draw(st.integers(1, max(saves[0], 1)), "save")
            try:
                with killed_at(save, renamed=data.draw(st.booleans(), "renamed")):
                    run(case, cut, again)
            except KilledError:
                pass
            files = sorted(again.iterdir()) if again.exists() else []
            if files and data.draw(st.booleans(), "truncated"):
                file = data.draw(st.sampled_from(files), "file")
                size = data.draw(st.integers(0, max(file.stat().st_size - 1, 0)), "bytes")
                file.write_bytes(file.read_bytes()[:size])
        found, _ = run(case, cut, again)
    assert_equal(case.holds(found), case.holds(whole))
    assert_close(case.holds(whole), case.holds(plain))
    if case.counts is not None:
        labels = cut[1][cut[1] >= 0]
        expected = dict(zip(*np.unique(labels, return_counts=True), strict=True))
        for each in (plain, whole, found):
            assert case.counts(each) == expected


@settings(max_examples=20)
@given(cut=cuts(), save=st.integers(1, 8), renamed=st.booleans())
def test_the_rows_that_are_drawn_are_the_same_after_a_failure(
    cut: Any, save: int, renamed: bool
) -> None:
    """Each shard draws with a seed of its own, so a pass without a workspace draws other rows."""
    case = Case(lambda n: MomentSums(sample_rows=6, seed=2), of_sampled, None)
    with tempfile.TemporaryDirectory() as temporary:
        whole, _ = run(case, cut, Path(temporary) / "one")
        try:
            with killed_at(save, renamed):
                run(case, cut, Path(temporary) / "other")
        except KilledError:
            pass
        found, _ = run(case, cut, Path(temporary) / "other")
    assert_equal(of_sampled(found), of_sampled(whole))


@pytest.mark.parametrize("fails", range(1, 9))
def test_only_what_is_missing_is_read_again(tmp_path: Path, fails: int) -> None:
    """Four shards, each with two files: a shard is finished once both are there."""
    labels = np.repeat(np.arange(4), 5)
    source = Once(arrays_of(20, 0), labels, None)
    both = {"moments": CASES["moments"].make(20), "kept": CASES["kept rows"].make(20)}
    with killed_at(fails, renamed=True), pytest.raises(KilledError):
        one_pass(source, both, work=Workspace(tmp_path), progress=False)
    source.read.clear()
    one_pass(source, both, work=Workspace(tmp_path), progress=False)
    assert source.read == list(range(5 * (fails // 2), 20))


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=10)
@given(data=st.data(), cut=cuts())
def test_after_the_first_shards_come_in_any_order(name: str, cut: Any, data: Any) -> None:
    """Each by somebody who knows the first shard only; then a pass finds them all.

    Sums of a shard that knows no origin have one of their own, which is changed when they are merged: the same but for
    rounding.
    """
    case = CASES[name]
    arrays, labels, starts, chunk = cut
    with tempfile.TemporaryDirectory() as temporary, small_chunks(chunk):
        whole, _ = run(case, cut, Path(temporary) / "one")
        source, work = case.source(arrays, labels, starts), Workspace(Path(temporary) / "other")
        kept = work.within(rows=source.identity())
        shards = cut_shards(source.part, source.starts(), source.small)
        wanted = {"it": case.make(source.n)}
        if len(source.part) > source.small:
            first = finish_shard(source, shards[0], wanted, None, kept)
            for shard in data.draw(st.permutations(shards[1:]), "order"):
                finish_shard(source, shard, wanted, first, kept)
            source.read.clear()
        found = one_pass(source, wanted, work=work, progress=False)["it"]
        if len(source.part) > source.small:
            assert source.read == []
    assert_close(case.holds(found), case.holds(whole))
    if case.counts is not None:
        assert case.counts(found) == case.counts(whole)


def test_other_settings_and_other_rows_are_other_work(tmp_path: Path) -> None:
    labels = np.repeat(np.arange(4), 5)
    first, second = (Once(arrays_of(20, seed), labels, None) for seed in (0, 1))
    for source, seed in ((first, 0), (second, 0), (first, 1), (second, 1)):
        sums = MomentSums(sample_rows=4, seed=seed)
        made = one_pass(source, {"it": sums}, work=Workspace(tmp_path), progress=False)["it"]
        assert source.read == list(range(20))
        source.read.clear()
        alone = one_pass(source, {"it": sums}, work=Workspace(tmp_path / "alone"), progress=False)
        assert_equal(of_sampled(made), of_sampled(alone["it"]))
        Workspace(tmp_path / "alone").clear()
        source.read.clear()


def test_memory_holds_one_shard_beside_the_total(tmp_path: Path) -> None:
    alive, most = [0], [0]

    class Counted(MomentSums):
        def __init__(self, **options: Any):
            super().__init__(**options)
            alive[0] += 1
            most[0] = max(most[0], alive[0])

        def __del__(self) -> None:
            alive[0] -= 1

        def fresh(self, shard: Any, first: Any) -> Any:
            return Counted(sample_rows=0)

        def load(self, path: Path) -> Any:
            return Counted(moments=super().load(path).moments)

    source = Once(arrays_of(20, 0), np.repeat(np.arange(5), 4), None)
    for _ in range(2):  # all shards are made, then all are loaded
        sums = Counted(sample_rows=0)
        made = one_pass(source, {"it": sums}, work=Workspace(tmp_path), progress=False)
        assert made["it"].moments.n == 20
        assert most[0] == 3  # the empty one that was given, the total and a shard
        del made, sums
        most[0] = 0


@given(
    n=st.integers(1, 200),
    parts=st.integers(1, 30),
    small=st.integers(0, 30),
    starts=st.none() | st.sets(st.integers(0, 199), max_size=40),
)
def test_shards_are_of_whole_documents(n: int, parts: int, small: int, starts: Any) -> None:
    known = None if starts is None else np.array(sorted({0, *(s for s in starts if s < n)}))
    for part in (np.arange(n) % parts, np.zeros(n, np.int64)):
        shards = cut_shards(part, known, small)
        rows = [row for shard in shards for row in range(shard.start, shard.stop)]
        assert rows == list(range(n))
        assert all(len(shard) for shard in shards)
        assert [shard.number for shard in shards] == list(range(len(shards)))
        if known is not None and len(known) > 1 and (part == 0).all():
            assert {shard.start for shard in shards} <= set(known.tolist())


def test_parts_that_are_neighbours_are_the_shards() -> None:
    part = np.array([3, 3, 0, 0, 0, 7])
    assert [(s.start, s.stop) for s in cut_shards(part, np.array([0, 1]))] == [
        (0, 2),
        (2, 5),
        (5, 6),
    ]
