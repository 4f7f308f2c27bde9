"""Moments against numpy on the rows themselves: however they are cut, merged, shifted, stored."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

import lmkin
from lmkin.core import LayerId, as_layer_id
from lmkin.core.files.tensors import _checksum
from lmkin.moments import Moments

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**31)
Rows = dict[str, np.ndarray]


def layers(seed: int, n: int = 90) -> Rows:
    """Three layers of two models, correlated, of very different size and mean."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 4)) * [1, 30, 1e-3, 1] + [0, 50, 0, -3]
    B = A @ rng.normal(size=(4, 3)) + rng.normal(size=(n, 3))
    return {"a/0": A, "a/1": B, "org/b/12": rng.gamma(2, size=(n, 2)) + A[:, :1]}


def cut(rows: Rows, start: int, stop: int) -> Rows:
    return {g: a[start:stop] for g, a in rows.items()}


def assert_moments_of(
    moments: Moments, rows: Rows, *, relative: float = 1e-9, **which: Any
) -> None:
    """Everything that a snapshot gives, against the rows."""
    snapshot = moments.snapshot(**which)
    names = list(rows)
    n = len(rows[names[0]])
    assert snapshot.n == n
    for i, a in enumerate(names):
        X = rows[a].astype(np.float64)
        spread = X.std(axis=0, ddof=1)
        off = np.abs(np.asarray(snapshot.mean(i)) - X.mean(0))
        assert (off <= relative * spread + 1e-12 * np.abs(X.mean(0))).all()
        assert np.asarray(snapshot.std(i)) == pytest.approx(spread, rel=relative, abs=1e-12)
        for j, b in enumerate(names):
            Y = rows[b].astype(np.float64)
            S = (X - X.mean(0)).T @ (Y - Y.mean(0)) / (n - 1)
            size = np.outer(spread, Y.std(axis=0, ddof=1))
            error = np.abs(np.asarray(snapshot.cov(i, j)) - S)
            assert (error <= relative * size + 1e-300).all()
            R = np.divide(S, size, out=np.zeros_like(S), where=size > 0)
            assert np.asarray(snapshot.corr(i, j)) == pytest.approx(R, abs=relative)
            norms = [((M - M.mean(0)) ** 2).sum(1) for M in (X, Y)]
            found = snapshot.norm_products(i, j, standardized=False)
            assert found == pytest.approx(norms[0] @ norms[1], rel=relative)


def standardized_norms(X: np.ndarray, Y: np.ndarray) -> float:
    Z = [(M - M.mean(0)) / M.std(0) for M in (X, Y)]
    return float((Z[0] ** 2).sum(1) @ (Z[1] ** 2).sum(1))


# -- any cut, any order ------------------------------------------------------------------------------


@given(seed=seeds, cuts=st.lists(st.integers(0, 90), max_size=8))
@few
def test_any_split_into_blocks_gives_the_same(seed: int, cuts: list[int]) -> None:
    rows = layers(seed)
    moments = Moments()
    for start, stop in itertools.pairwise([0, *sorted(cuts), 90]):
        moments.update(cut(rows, start, stop))
    assert moments.n == 90
    assert_moments_of(moments, rows)
    for (i, a), (j, b) in itertools.product(enumerate(rows), repeat=2):
        found = moments.snapshot().norm_products(i, j, standardized=True)
        assert found == pytest.approx(standardized_norms(rows[a], rows[b]), rel=1e-9)


@given(seed=seeds, labels=st.lists(st.sampled_from(["u", "v", 3]), min_size=90, max_size=90))
@few
def test_any_split_into_parts_gives_the_same(seed: int, labels: list[Any]) -> None:
    rows = layers(seed)
    moments = Moments()
    for k, label in enumerate(labels):
        moments.update(cut(rows, k, k + 1), part=label)
    assert_moments_of(moments, rows)
    counts = {label: labels.count(label) for label in dict.fromkeys(labels)}
    assert moments.part_sizes == counts
    assert list(moments.parts) == list(counts)
    for label, count in counts.items():
        mine = np.array([other == label for other in labels])
        if count > 1:
            assert_moments_of(moments, {g: a[mine] for g, a in rows.items()}, only=label)
        if 90 - count > 1:
            others = {g: a[~mine] for g, a in rows.items()}
            assert_moments_of(moments, others, without=label)


@given(
    seed=seeds,
    sizes=st.lists(st.integers(0, 40), min_size=3, max_size=3),
    summed=st.lists(st.booleans(), min_size=3, max_size=3),
)
@few
def test_merge_is_associative_and_commutative(
    seed: int, sizes: list[int], summed: list[bool]
) -> None:
    rows = layers(seed, n=sum(sizes) + 2)
    edges = [0, sizes[0], sizes[0] + sizes[1], sum(sizes) + 2]
    a, b, c = (Moments(seed=k).update(cut(rows, *edges[k : k + 2]), part=k % 2) for k in range(3))
    for moments, now in zip((a, b, c), summed, strict=True):
        if now and moments.n > 1:  # out of the buffer, into sums
            moments.cov("a/0", "a/0")
    before = [(m.n, m.parts) for m in (a, b, c)]
    first = rows["a/0"][edges[0] : edges[1]], rows["a/0"][edges[2] : edges[3]]
    for merged in (
        a.merge(b).merge(c),
        a.merge(b.merge(c)),
        c.merge(b).merge(a),
        c.merge(a.merge(b)),
    ):
        assert_moments_of(merged, rows)
        assert merged.part_sizes.get(1, 0) == sizes[1]
        assert merged.part_sizes.get(0, 0) == sizes[0] + sizes[2] + 2
        one = merged.snapshot(without=1) if sizes[1] else merged.snapshot()
        assert np.asarray(one.mean(0)) == pytest.approx(np.concatenate(first).mean(0), rel=1e-9)
    assert [(m.n, m.parts) for m in (a, b, c)] == before


def test_merging_with_nothing() -> None:
    rows = layers(0)
    full = Moments().update(rows)
    for merged in (full.merge(Moments()), Moments().merge(full)):
        assert_moments_of(merged, rows)
    assert Moments().merge(Moments()).n == 0


def test_many_rows_in_many_chunks() -> None:
    rows = layers(1, n=20_000)
    moments = Moments()
    for start in range(0, 20_000, 999):
        moments.update(cut(rows, start, start + 999), part=start // 4000)
    assert_moments_of(moments, rows)
    inside = np.arange(20_000) // 999 * 999 // 4000 == 2
    assert_moments_of(moments, {g: a[~inside] for g, a in rows.items()}, without=2)


def test_a_small_first_piece_does_not_spoil_standardized_norms() -> None:
    """Three rows hardly know the spread of a neuron; merged, the larger piece must give the unit."""
    rows = layers(2, n=3000)
    exact = standardized_norms(rows["a/0"], rows["a/1"])
    for size in (1, 2, 3, 10):
        small, large = Moments().update(cut(rows, 0, size)), Moments().update(cut(rows, size, 3000))
        for moments in (small, large):
            moments.snapshot()
        for merged in (small.merge(large), large.merge(small)):
            found = merged.snapshot().norm_products(0, 1, standardized=True)
            assert found == pytest.approx(exact, rel=1e-3)  # the small piece follows to first order


# -- numbers of every size ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_shift_changes_nothing(dtype: Any, precision: str) -> None:
    """By 10,000, of numbers that both types hold exactly: multiples of 1/64."""
    rng = np.random.default_rng(3)
    plain = {"a": (np.round(rng.normal(size=(700, 6)) * 64) / 64).astype(dtype)}
    plain["b"] = np.round((plain["a"][:, :4] + rng.normal(size=(700, 4))) * 64).astype(dtype) / 64
    moved = {g: a + dtype(1e4) for g, a in plain.items()}
    assert moved["a"].dtype == dtype
    assert all((moved[g] - dtype(1e4) == plain[g]).all() for g in plain)
    before, after = (Moments(precision=precision).update(rows) for rows in (plain, moved))
    # A sum of 700 products in float32 has an error of about √700 · 6e-8 by itself.
    relative = 1e-6 if precision == "float64" else 3e-6
    for a, b in itertools.product(plain, repeat=2):
        assert after.corr(a, b) == pytest.approx(before.corr(a, b), abs=relative)
        scale = np.outer(plain[a].std(0), plain[b].std(0))
        assert (np.abs(after.cov(a, b) - before.cov(a, b)) <= relative * scale).all()
    assert_moments_of(after, moved, relative=relative)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_float16_is_safe(precision: str) -> None:
    """Its largest number is 65,504: sums and squares must be made in something wider."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-6e4, 6e4, size=(5000, 5)).astype(np.float16)
    Y = (X.astype(np.float64)[:, :3] * 1e-6 + rng.normal(size=(5000, 3))).astype(np.float16)
    moments = Moments(precision=precision).update({"a": X, "b": Y})
    assert_moments_of(moments, {"a": X, "b": Y}, relative=1e-9 if precision == "float64" else 3e-6)


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12, 1e30])
def test_numbers_of_any_size_in_float32(size: float) -> None:
    rows = {g: (a * size).astype(np.float32) for g, a in layers(5, n=500).items()}
    moments = Moments(precision="float32").update(rows)
    for a, b in itertools.product(rows, repeat=2):
        R = np.corrcoef(rows[a].T.astype(np.float64), rows[b].T.astype(np.float64))
        d = rows[a].shape[1]
        assert moments.corr(a, b) == pytest.approx(R[:d, d:], abs=1e-6)


def test_precision_follows_the_arrays() -> None:
    narrow, wide = np.ones((5, 10), np.float32), np.ones((5, 3000), np.float32)
    assert Moments().update({"a": narrow}).precision == "float64"
    assert Moments().update({"a": wide}).precision == "float32"
    assert Moments().update({"a": wide.astype(np.float64)}).precision == "float64"
    assert Moments(precision="float32").update({"a": narrow}).precision == "float32"


def test_a_constant_neuron_has_no_spread_wherever_it_is_constant() -> None:
    """In a part, without a part, and after a merge, whatever the origin of the sums."""
    for seed, precision in itertools.product(range(10), ("float64", "float32")):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(50, 3000))
        X = rng.normal(size=(n, 3))
        X[:, 1] = rng.normal() * 10 ** rng.uniform(-2, 3)
        odd = rng.normal(size=(30, 3)) * 10 ** rng.uniform(-1, 2)
        moments = Moments(precision=precision)
        moments.update({"a": odd}, part="odd").update({"a": X}, part="even")
        for which in ({"only": "even"}, {"without": "odd"}):
            snapshot = moments.snapshot(**which)
            assert snapshot.std(0)[1] == 0
            assert (snapshot.corr(0, 0)[1] == 0).all()
            assert (snapshot.std(0)[[0, 2]] > 0.5).all()
        pieces = [Moments(precision=precision).update({"a": X[i::2]}) for i in (0, 1)]
        assert pieces[0].merge(pieces[1]).snapshot().std(0)[1] == 0


# -- what it is, and what it refuses -----------------------------------------------------------------


def test_groups_by_name_and_by_pair() -> None:
    rows = layers(0)
    moments = Moments().update(rows)
    assert moments.groups == (LayerId("a", 0), LayerId("a", 1), LayerId("org/b", 12))
    assert moments.widths == {LayerId("a", 0): 4, LayerId("a", 1): 3, LayerId("org/b", 12): 2}
    assert (moments.cov(("a", 1), "org/b/12") == moments.cov("a/1", ("org/b", 12))).all()
    reordered = Moments().update(rows).update(dict(reversed(rows.items())))
    assert_moments_of(reordered, {g: np.tile(a, (2, 1)) for g, a in rows.items()})
    assert "3 layers, 9 neurons, over 90 rows" in repr(moments)
    assert as_layer_id("bert") == LayerId("bert", 0)


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        ({}, "no arrays"),
        (
            {"a/0": np.ones((3, 4)), "a/1": np.ones((2, 3)), "org/b/12": np.ones((3, 2))},
            "same rows",
        ),
        ({"a/0": np.ones((3, 4))}, "'a/1' is missing"),
        ({**cut(layers(0), 0, 3), "c": np.ones((3, 1))}, "'c/0' is new"),
        ({**cut(layers(0), 0, 3), "a/1": np.ones((3, 9))}, "9 neurons; it had 3"),
        ({"a/0": np.ones((3, 4)), ("a", 0): np.ones((3, 4))}, "Two of the arrays"),
        ({"a/0": np.ones(3)}, "shape"),
        ({("a", 1.5): np.ones((3, 2))}, "layer number"),
        ({7: np.ones((3, 2))}, "model/layer"),
    ],
)
def test_blocks_that_do_not_fit(blocks: dict[Any, Any], says: str) -> None:
    rows = layers(0)
    moments = Moments().update(rows)
    with pytest.raises(lmkin.MomentsError, match=says):
        moments.update(blocks)
    assert_moments_of(moments, rows)  # nothing of the bad block is in it


def test_bad_numbers_are_refused_by_name() -> None:
    rows = layers(0)
    rows["a/1"][5, 1] = np.nan
    with pytest.raises(lmkin.MomentsError, match="a/1 holds NaN"):
        Moments().update(rows).cov("a/0", "a/0")


def test_what_cannot_be_asked() -> None:
    with pytest.raises(lmkin.MomentsError, match="empty"):
        Moments().snapshot()
    moments = Moments().update(layers(0), part="only")
    with pytest.raises(lmkin.MomentsError, match="no group 'a/9' here"):
        moments.cov("a/0", "a/9")
    with pytest.raises(lmkin.MomentsError, match="no part 'other' here"):
        moments.snapshot(without="other")
    with pytest.raises(lmkin.MomentsError, match="None is no name"):
        moments.update(layers(0), part=None)
    with pytest.raises(lmkin.MomentsError, match="none kept"):
        Moments(keep_parts=False).update(layers(0), part=1).snapshot(without=1)
    with pytest.raises(lmkin.MomentsError, match="two rows"):
        Moments().update(cut(layers(0), 0, 1)).cov("a/0", "a/0")
    with pytest.raises(lmkin.MomentsError, match="float32, float64"):
        Moments(precision="float16")
    with pytest.raises(lmkin.MomentsError, match="same groups"):
        moments.merge(Moments().update({"a/0": np.ones((4, 4))}))


# -- on disk -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_saved_and_loaded(tmp_path: Any, precision: str) -> None:
    rows = layers(7)
    moments = Moments(precision=precision, sample_rows=20, seed=3)
    moments.info = {"corpus": 'names "with" \n anything ✓'}
    for k in range(3):
        moments.update(cut(rows, 30 * k, 30 * k + 30), part=("p", 1, np.int64(7))[k])
    moments.save(tmp_path / "folder" / "m.safetensors")
    again = Moments.load(tmp_path / "folder" / "m.safetensors")
    assert again.groups == moments.groups
    assert again.parts == ("p", 1, 7)
    assert again.part_sizes == {"p": 30, 1: 30, 7: 30}
    assert again.info == moments.info
    assert again.precision == precision
    for which in ({}, {"without": "p"}, {"only": 7}):
        for i, j in itertools.product(range(3), repeat=2):
            ours, theirs = moments.snapshot(**which), again.snapshot(**which)
            assert (ours.cov(i, j) == theirs.cov(i, j)).all()
            for standardized in (False, True):
                assert ours.norm_products(i, j, standardized=standardized) == theirs.norm_products(
                    i, j, standardized=standardized
                )
    for name in ("ckasim", "rbfcka"):
        assert (
            lmkin.similarity(again, measures=name, neurons="raw").matrix().values
            == lmkin.similarity(moments, measures=name, neurons="raw").matrix().values
        ).all()
    # It goes on growing, and merges.
    double = {g: np.concatenate([a, a]) for g, a in rows.items()}
    close = 1e-9 if precision == "float64" else 1e-6
    assert_moments_of(again.merge(moments), double, relative=close)
    assert_moments_of(again.update(rows, part=9), double, relative=close)


def test_files_that_are_no_moments(tmp_path: Any) -> None:
    path = tmp_path / "m.safetensors"
    with pytest.raises(lmkin.MomentsError, match="no file"):
        Moments.load(path)
    with pytest.raises(lmkin.MomentsError, match="empty"):
        Moments().save(path)
    assert not path.exists()
    Moments().update(layers(0)).save(path)
    good = path.read_bytes()
    for damaged in (good[: len(good) // 2], good[:5], b"", b"\x00" * 100, b"not moments at all"):
        path.write_bytes(damaged)
        with pytest.raises(lmkin.MomentsError, match=r"m\.safetensors"):
            Moments.load(path)
    save_file({"a": np.ones(3)}, path)
    with pytest.raises(lmkin.MomentsError, match="holds no moments"):
        Moments.load(path)
    for head in ("{}", "[]", '"x"', "not json"):
        save_file({"a": np.ones(3)}, path, metadata={"lmkin": head})
        with pytest.raises(lmkin.MomentsError, match=r"m\.safetensors"):
            Moments.load(path)
    with pytest.raises(lmkin.MomentsError):
        Moments.load(tmp_path)


def changed(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """The file after someone changed it and made its checksum right."""
    with safe_open(path, framework="numpy") as file:
        head = json.loads(file.metadata()["lmkin"])
        arrays = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
    change(head, arrays)
    head["checksum"] = _checksum(head["kind"], head["format"], head["data"], arrays)
    save_file(arrays, path, metadata={"lmkin": json.dumps(head)})


WRONG: dict[str, Callable[[Any, Any], Any]] = {
    **{f"no {name}": lambda _, arrays, name=name: arrays.pop(name)
       for name in ("shift", "total.first", "total.panel0", "sample.keys")},
    "no rows": lambda head, _: head["data"].update(n=0),
    "rows that are no number": lambda head, _: head["data"].update(n="many"),
    "a width that is none": lambda head, _: head["data"]["groups"][0].__setitem__(2, 10**6),
    "a layer twice": lambda head, _: head["data"]["groups"].append(head["data"]["groups"][0]),
    "panels that overlap": lambda head, _: head["data"].update(panels=[[0, 3], [2, 9]]),
    "a panel of another shape": lambda _, arrays: arrays.update({"total.panel0": np.ones((2, 2))}),
    "a scale of 0": lambda _, arrays: arrays["scale"].__setitem__(0, 0),
    "NaN": lambda _, arrays: arrays["total.first"].__setitem__(0, np.nan),
    "another precision": lambda head, _: head["data"].update(precision="float8"),
    "parts that do not add up": lambda head, _: head["data"]["kept"][0].__setitem__(1, 3),
    "a sample of a part that is none": lambda _, arrays: arrays["sample.parts"].__setitem__(0, 99),
    "a sample that is too large": lambda head, _: head["data"].update(sample=[1, 0]),
    "info that is none": lambda head, _: head["data"].update(info=3),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_together_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    moments = Moments(keep_parts=True)
    for part in range(2):
        moments.update(layers(part), part=part)
    moments.save(path)
    changed(path, WRONG[name])
    with pytest.raises(lmkin.MomentsError, match=r"m\.safetensors.*damaged"):
        Moments.load(path)


def test_files_of_another_time(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    Moments().update(layers(0)).save(path)
    changed(path, lambda head, _: head.update(format=head["format"] + 1))
    with pytest.raises(lmkin.MomentsError, match="newer lmkin"):
        Moments.load(path)


def test_every_flipped_bit_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    Moments().update(layers(0)).save(path)
    good, kept = path.read_bytes(), Moments.load(path)
    random = np.random.default_rng(0)
    for place in random.integers(0, 8 * len(good), 400).tolist():
        bytes_ = bytearray(good)
        bytes_[place // 8] ^= 1 << place % 8
        path.write_bytes(bytes_)
        try:
            back = Moments.load(path)
        except lmkin.MomentsError:
            continue
        assert back.widths == kept.widths
        for group in kept.groups:
            np.testing.assert_array_equal(back.cov(group, group), kept.cov(group, group))


# -- other arrays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_torch(dtype: str, precision: str, tmp_path: Any) -> None:
    torch = pytest.importorskip("torch")
    tensors = {
        g: torch.tensor(10 * a).to(getattr(torch, dtype)) for g, a in layers(8, n=300).items()
    }
    rows = {g: t.double().numpy() for g, t in tensors.items()}
    moments = Moments(precision=precision)
    for start, stop in ((0, 77), (77, 300)):
        moments.update({g: t[start:stop] for g, t in tensors.items()}, part=start)
    assert isinstance(moments.cov("a/0", "a/1"), torch.Tensor)
    relative = 1e-9 if precision == "float64" else 2e-6
    assert_moments_of(moments, rows, relative=relative)
    assert_moments_of(moments, cut(rows, 77, 300), relative=relative, without=0)
    moments.save(tmp_path / "m.safetensors")
    assert_moments_of(Moments.load(tmp_path / "m.safetensors"), rows, relative=relative)
    assert_moments_of(
        moments.merge(Moments(precision=precision).update(tensors)),
        {g: np.tile(a, (2, 1)) for g, a in rows.items()},
        relative=relative,
    )
