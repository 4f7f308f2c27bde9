"""What every kind of result has: tables, data, findings, alerts, a page for notebooks, files and back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import lmkin
from lmkin.core import AlertKind
from lmkin.results import known_kinds, known_loadable
from results.example_results import EXAMPLES, HOSTILE

known_loadable()  # imports every analysis, which registers its kind
NAMELESS = ("left", "baselines", "published")
"""Tables that name no model of one's own."""
every = pytest.mark.parametrize("kind", list(known_kinds()))
pytestmark = pytest.mark.filterwarnings("ignore:.*holds the main table alone")


def test_every_kind_has_an_example() -> None:
    assert set(known_kinds()) == set(EXAMPLES)


@every
def test_names_itself(kind: str) -> None:
    result = EXAMPLES[kind]()
    assert type(result) is known_kinds()[kind]
    assert result.kind == result.attrs["kind"] == kind
    assert result.models
    assert HOSTILE in result.models
    assert repr(result).startswith(f"<{type(result).__name__} of ")


@every
def test_tables_have_rows_and_names(kind: str) -> None:
    tables = EXAMPLES[kind]().tables()
    assert tables
    assert len({t.name for t in tables}) == len(tables)
    for table in tables:
        assert table.rows
        assert table.title
        assert all(len(cells) == len(table.shown) for cells in table.cells())
        json.dumps(table.to_records(), allow_nan=False)
        assert "script" in str(table) or table.name in NAMELESS


@every
def test_data_are_plain(kind: str) -> None:
    result = EXAMPLES[kind]()
    data = result.data()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["alerts"] == [a.to_dict() for a in result.alerts]


@every
def test_findings_are_sentences_with_numbers(kind: str) -> None:
    result = EXAMPLES[kind]()
    findings = result.findings()
    assert findings
    for sentence in findings:
        assert sentence[0].isupper() or sentence.startswith(tuple(result.models)), sentence
        assert sentence.endswith("."), sentence
        assert re.search(r"\d", sentence), sentence
        assert "nan" not in sentence.lower(), sentence


@every
def test_alerts_are_of_known_kinds(kind: str) -> None:
    result = EXAMPLES[kind]()
    assert all(a.kind in set(AlertKind) for a in result.alerts)
    assert result.attrs["alerts"] == [a.to_dict() for a in result.alerts]


@every
def test_provenance_says_what_was_done(kind: str) -> None:
    provenance = EXAMPLES[kind]().provenance
    assert provenance["lmkin"] == lmkin.__version__
    assert provenance["analysis"] == kind
    assert provenance["versions"]["numpy"] == np.__version__
    assert provenance["options"]
    assert "source" in provenance


@every
def test_html_escapes_names(kind: str) -> None:
    html = EXAMPLES[kind]()._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<table>" in html


def assert_same(one: Any, other: Any) -> None:
    xr.testing.assert_equal(one.dataset, other.dataset)
    assert one.attrs == other.attrs
    assert json.dumps(one.data()) == json.dumps(other.data())
    assert one.findings() == other.findings()
    assert [str(t) for t in one.tables()] == [str(t) for t in other.tables()]


@every
def test_a_folder_gives_everything_back(kind: str, tmp_path: Path) -> None:
    result = EXAMPLES[kind]()
    result.save(tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    written = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert written == {*result.files(), "lmkin.json"}
    again = lmkin.load(folder)
    assert type(again) is type(result)
    assert_same(again, result)
    # What was read is written again to the same tables, so nothing was lost on the way.
    again.save(tmp_path / "again")
    for name in sorted(n for n in written if n.endswith(".csv")):
        old, new = (
            pd.read_csv(f / name, keep_default_na=False) for f in (folder, tmp_path / "again")
        )
        columns = sorted(old.columns)
        assert columns == sorted(new.columns)
        assert sorted(old[columns].values.tolist(), key=str) == sorted(
            new[columns].values.tolist(), key=str
        )


@every
def test_a_file_gives_the_dataset_back(kind: str, tmp_path: Path) -> None:
    result = EXAMPLES[kind]()
    result.save(tmp_path / "result.nc")
    again = lmkin.load(tmp_path / "result.nc")
    assert type(again) is type(result)
    xr.testing.assert_equal(again.dataset, result.dataset)
    assert again.alerts == result.alerts
    assert type(result).load(tmp_path / "result.nc").attrs == result.attrs
    assert again.tables()
    assert again.findings()
    assert again.data()


@every
def test_other_kinds_are_refused(kind: str, tmp_path: Path) -> None:
    EXAMPLES[kind]().save(tmp_path / "result.nc")
    for other, cls in known_kinds().items():
        if other != kind:
            with pytest.raises(lmkin.LmkinError, match=rf"kind '{kind}', not '{other}'"):
                cls.load(tmp_path / "result.nc")


@every
def test_survives_cloudpickle(kind: str) -> None:
    result = EXAMPLES[kind]()
    again = cloudpickle.loads(cloudpickle.dumps(result))
    assert_same(again, result)


@every
def test_variables_are_attributes(kind: str) -> None:
    result = EXAMPLES[kind]()
    name = next(iter(result))
    assert result[name] is not None
    xr.testing.assert_identical(getattr(result, name), result.dataset[name])
    assert name in result
    assert name in dir(result)
    with pytest.raises(AttributeError, match="Did you mean"):
        getattr(result, f"{name}s")
    with pytest.raises(lmkin.LmkinError, match="Did you mean"):
        result[f"{name}s"]
    with pytest.raises(lmkin.LmkinError, match="no table 'nothing'"):
        result.find_table("nothing")


@every
def test_what_an_earlier_result_left_is_removed(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    for other in (k for k in EXAMPLES if k != kind):
        EXAMPLES[other]().save(folder, overwrite=True)
        (folder / "mine.txt").write_text("mine")
    with pytest.raises(lmkin.LmkinError, match="another kind"):
        EXAMPLES[kind]().save(folder)
    EXAMPLES[kind]().save(folder, overwrite=True)
    left = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert left == {*EXAMPLES[kind]().files(), "lmkin.json", "mine.txt"}
    assert type(lmkin.load(folder)) is known_kinds()[kind]


def test_masks_and_members_are_those_of_the_clusters(tmp_path: Path) -> None:
    result = EXAMPLES["redundancy"]()
    assert result.keep_at == [0.3, 0.6]
    result.save(tmp_path / "r")
    members = pd.read_csv(tmp_path / "r" / "members.csv")
    for entry in result.data()["keep"]:
        mask = lmkin.load(tmp_path / "r" / entry["file"])
        assert isinstance(mask, lmkin.NeuronMask)
        assert mask.hash == entry["hash"] == result.clustering.keep(mask.threshold, mask.model).hash
        mine = members[(members.model == mask.model) & (members.threshold == mask.threshold)]
        kept = [tuple(r) for r in mine[mine.kept == 1][["layer", "neuron"]].values.tolist()]
        assert sorted(kept) == sorted(mask.neurons)
        clusters = mine.groupby("cluster").size().tolist()
        assert clusters == result.clustering.sizes(mask.threshold, mask.model).tolist()


def test_what_only_a_folder_holds_is_missed_with_a_message(tmp_path: Path) -> None:
    EXAMPLES["redundancy"]().save(tmp_path / "r.nc")
    alone = lmkin.load(tmp_path / "r.nc")
    assert alone.clustering is None
    with pytest.raises(lmkin.LmkinError, match="Load the folder"):
        alone.masks(0.3)
    EXAMPLES["dependency"]().save(tmp_path / "d.nc")
    with pytest.raises(lmkin.LmkinError, match="holds tables only"):
        lmkin.load(tmp_path / "d.nc").drop_order()


def test_findings_claim_no_more_than_the_intervals() -> None:
    """Two pairs of layers that are alike to the same degree cannot be ranked; one that stands out can."""
    random = np.random.default_rng(3)
    base = random.normal(size=(2000, 5))

    def near(noise: float) -> Any:
        return base + noise * random.normal(size=base.shape)

    same = {"a/0": near(0.5), "b/0": near(0.5), "b/1": near(0.5)}
    (sentence, *_) = lmkin.similarity(same, measures="ckasim").findings()
    assert "do not tell one other pair from this one" in sentence
    apart = {"a/0": near(0.1), "b/0": near(0.1), "b/1": near(3.0)}
    result = lmkin.similarity(apart, measures="ckasim")
    (sentence, *_) = result.findings()
    value = result.matrix("ckasim").sel(x="a/0", y="b/0")
    assert f"layer 0 of a and layer 0 of b: {value.item():.3f} ± " in sentence
    assert f"{value.low.item():.3f} to {value.high.item():.3f}" in sentence
    assert "do not tell" not in sentence
    (sentence, *_) = lmkin.similarity(apart, measures="ckasim", intervals=False).findings()
    assert "no intervals to say" in sentence
