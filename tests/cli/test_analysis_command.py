"""The one runner of all analyses, with an analysis that takes a millisecond: order, files, going on, exit codes."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
import xarray as xr
from command_line import Outcome, call

import lmkin
from lmkin import cli
from lmkin.analysis import Analysis, Running, Source, analysis, find_analysis, known_analyses
from lmkin.cli.analysis_command import analysis_command
from lmkin.core import Alert, Plan, Step, as_data, option, option_fields
from lmkin.models import Loading, Reading
from lmkin.report import ReportKind, known_report_kinds, report_kind
from lmkin.results import (
    Column,
    Result,
    ResultTable,
    known_loadable,
    load_result,
    result_kind,
    save_result,
)
from lmkin.rows import Workspace

REGISTRIES = {
    "lmkin.analysis.analysis": "_ANALYSES",
    "lmkin.report.kinds": "_KINDS",
    "lmkin.results.result": "_KINDS",
}
ROWS = np.random.default_rng(0).normal(2.0, size=(50, 3))


@dataclass(frozen=True)
class FakeOptions:
    power: int = option(1, "Of the means.", "Measures")
    norm: Literal["mean", "largest"] = option("mean", "Over the neurons.", "Measures")
    tables: bool = option(True, "Nothing.", "Measures", numbers=False)

    def check(self) -> None:
        if self.power < 1:
            raise lmkin.LmkinError(f"The power is 1 or more; got {self.power}. Give another.")


class FakeResult(Result):
    kind = "fake"

    def tables(self) -> list[ResultTable]:
        rows = [
            {"step": str(n), "size": float(v)} for n, v in self.dataset["size"].to_series().items()
        ]
        columns = [Column("step"), Column("size", kind="number")]
        return [ResultTable("sizes", columns, rows, title="Sizes of everything")]

    def findings(self) -> list[str]:
        return [f"The first is {float(self.dataset['size'][0]):.4f}."]

    def data(self) -> dict[str, Any]:
        return {"sizes": self.dataset["size"].values.tolist(), "more": [{"file": "fake.nc"}]}

    def files(self):
        return {"fake.nc": lambda path: save_result(self.dataset, path)}


class FakeReport(ReportKind):
    kind = "fake"

    def title(self, result: Any) -> str:
        return "How large?"

    def facts(self, result: Any) -> list[tuple[str, str]]:
        return [("Models", "none")]

    def chapters(self, result: Any) -> list[Any]:
        return []

    def charts(self, result: Any) -> dict[str, Any]:
        return {}


class Fake(Analysis[FakeOptions]):
    """Two steps; writes down what happens, and raises in the second what it is told to."""

    name, summary, function = "fake", "Say nothing.", "similarity"
    Options = FakeOptions
    result = FakeResult
    events: ClassVar[list[str]] = []
    raises: ClassVar[BaseException | None] = None
    given: ClassVar[tuple[Any, ...]] = ()

    def check(self, options: Any) -> None:
        self.events.append("options")
        super().check(options)
        options.check()

    def check_source(self, source: Source, options: Any) -> None:
        self.events.append("source")
        super().check_source(source, options)

    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        Fake.given = (source, options, running)
        self.events.append("plan")
        source.rows(1)
        return Plan("A fake", [Step("rows", seconds=0.5, note="quick")], details={"rows": 50})

    def run(self, source: Source, options: Any, running: Running, work: Workspace) -> Result:
        self.events.append("run")
        rows = source.rows(1)
        first = work.step(
            "first", lambda: self._sizes("first", rows, 1), save_result, load_result, ending="nc"
        )
        second = work.step(
            "second", lambda: self._sizes("second", rows, 2), save_result, load_result, ending="nc"
        )
        sizes = [float(d["size"]) for d in (first, second)]
        table = xr.Dataset({"size": ("step", sizes)}, {"step": ["first", "second"]})
        table.attrs["alerts"] = as_data([Alert("few units", "Only 50 rows. Take more.")])
        return FakeResult(table)

    def _sizes(self, name: str, rows: Any, factor: int) -> xr.Dataset:
        self.events.append(name)
        if name == "second" and Fake.raises is not None:
            raise Fake.raises
        return xr.Dataset({"size": factor * float(np.mean(rows.mean(rows.groups[0])))})


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The analysis as a command, in registries of this test alone; events are counted from here."""
    (
        known_analyses(),
        known_report_kinds(),
        known_loadable(),
    )  # what loads itself goes to the real ones
    for module, name in REGISTRIES.items():
        known = getattr(sys.modules[module], name)
        monkeypatch.setattr(sys.modules[module], name, dict(known))
    analysis(Fake)
    report_kind(FakeReport)
    result_kind(FakeResult)
    monkeypatch.setattr(cli.app, "registered_commands", [*cli.app.registered_commands])
    command = find_analysis("fake")
    cli.app.command("fake")(analysis_command(command))
    monkeypatch.setattr(Fake, "raises", None)
    monkeypatch.setattr(Fake, "events", [])


@pytest.fixture
def moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the analysis reads; to open it is an event."""
    path = tmp_path / "m.safetensors"
    lmkin.compute_moments({"a/0": ROWS}, progress=False).save(path)
    load = lmkin.Moments.load

    def watched(path: Path) -> lmkin.Moments:
        if "open" not in Fake.events:
            Fake.events.append("open")
        return load(path)

    monkeypatch.setattr(lmkin.Moments, "load", staticmethod(watched))
    return path


def run(moments: Path, *more: object) -> Outcome:
    return call("fake", moments, "-o", moments.parent / "out", *more)


SIZE = float(ROWS.mean())


def written(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


# -- the steps, in their order -------------------------------------------------------------------------


def test_a_run_checks_opens_runs_writes_and_says(moments: Path) -> None:
    outcome = run(moments)
    assert outcome.code == 0, outcome.err
    assert Fake.events == ["options", "source", "open", "run", "first", "second"]
    out = moments.parent / "out"
    assert written(out) == {"fake.nc", "report.html", "lmkin.json"}
    assert json.loads((out / "lmkin.json").read_text("utf-8"))["kind"] == "fake"
    np.testing.assert_allclose(lmkin.load(out)["size"], [SIZE, 2 * SIZE])
    assert "Sizes of everything" in outcome.printed
    assert f"{SIZE:.3f}" in outcome.printed
    assert f"The first is {SIZE:.4f}." in outcome.said
    assert "Warning: few units: Only 50 rows. Take more." in outcome.said
    assert f"open {out / 'report.html'} in a browser" in outcome.said


def test_for_machines_json_alone_is_printed(moments: Path) -> None:
    outcome = run(moments, "--json")
    assert outcome.code == 0, outcome.err
    printed, out = json.loads(outcome.out), moments.parent / "out"
    assert printed["sizes"] == pytest.approx([SIZE, 2 * SIZE])
    assert printed["more"] == [
        {"file": str(out / "fake.nc")}
    ]  # a path from here, not from the folder
    assert printed["report"] == str(out / "report.html")
    assert [a["kind"] for a in printed["alerts"]] == ["few units"]
    assert printed["findings"] == [f"The first is {SIZE:.4f}."]
    assert printed["seconds"] >= 0
    assert "Sizes of everything" not in outcome.out


def test_a_dry_run_plans_and_stops(moments: Path) -> None:
    outcome = run(moments, "--dry-run")
    assert outcome.code == 0, outcome.err
    assert Fake.events == ["options", "source", "plan", "open"]
    assert not (moments.parent / "out").exists()
    assert "Nothing is computed. A fake. rows: about 0.5 s; quick" in outcome.said
    assert outcome.out == ""
    outcome = call("fake", moments, "--dry-run", "--json")  # without a folder too
    assert json.loads(outcome.out)["rows"] == 50
    assert json.loads(outcome.out)["steps"][0]["name"] == "rows"


def test_a_folder_is_asked_for_first(moments: Path) -> None:
    outcome = call("fake", moments, "--power", "0")
    assert outcome.code == 1
    assert "-o DIR" in outcome.said
    assert Fake.events == []


def test_options_are_checked_before_anything_is_opened_or_made(moments: Path) -> None:
    outcome = run(moments, "--power", "0")
    assert outcome.code == 1
    assert outcome.said == "Error: The power is 1 or more; got 0. Give another."
    assert Fake.events == ["options"]
    assert not (moments.parent / "out").exists()
    outcome = run(moments, "--limit", "3")  # of a corpus, and there is none
    assert outcome.code == 1
    assert Fake.events == ["options", "options", "source"]
    outcome = run(moments, "--norm", "middle")
    assert outcome.code == 2


def test_a_folder_that_cannot_be_one_is_refused_before_the_source_is_opened(moments: Path) -> None:
    (moments.parent / "out").write_text("mine")
    outcome = run(moments)
    assert outcome.code == 1
    assert "is a file" in outcome.said
    assert Fake.events == ["options", "source"]


def test_another_run_is_refused_before_it_begins(moments: Path) -> None:
    assert run(moments).code == 0
    Fake.events.clear()
    outcome = run(moments, "--norm", "largest")
    assert outcome.code == 1
    assert "--overwrite" in outcome.said
    assert Fake.events == ["options", "source", "open"]
    assert run(moments, "--no-tables").code == 0  # no number depends on it: the same run
    assert run(moments, "--norm", "largest", "--overwrite").code == 0


# -- what flags become ----------------------------------------------------------------------------------

VALUES: dict[str, tuple[tuple[str, ...], Any]] = {
    "names": (("M",), "M"), "untrained": ((), True), "limit": (("7",), 7), "format": (("text",), "text"),
    "layers": (("0,2",), "0,2"), "units": (("token",), "token"), "pooling": (("mean",), "mean"),
    "first_token": (("keep",), "keep"), "special_tokens": (("drop",), "drop"), "long": (("truncate",), "truncate"),
    "overlap": (("5",), 5), "max_length": (("64",), 64), "batch_tokens": (("256",), 256),
    "device": (("cpu",), "cpu"), "dtype": (("float16",), "float16"), "revision": (("main",), "main"),
    "side": (("decoder",), "decoder"), "trust_remote_code": ((), True), "tokenizer": (("T",), "T"),
    "memory": (("8GB",), "8GB"), "threads": (("1",), 1), "seed": (("3",), 3),
    "power": (("2",), 2), "norm": (("largest",), "largest"), "tables": ((), False),
}  # fmt: skip
"""Of every option that all commands share: what is typed after its flag, and what it is in Python."""


@pytest.mark.parametrize("kind", [Source, Reading, Loading, Running, FakeOptions])
def test_every_flag_reaches_its_option_and_no_other(
    kind: type, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "few.txt").write_text("A few words.\n")
    monkeypatch.setattr(Source, "rows", lambda self, parts: None)  # nothing is loaded
    monkeypatch.setattr(Running, "limit_threads", lambda self: None)

    def planned(*flags: str) -> dict[type, Any]:
        outcome = call("fake", "a-model", "-c", tmp_path / "few.txt", "--dry-run", *flags)
        assert outcome.code == 0, outcome.err
        source, options, running = Fake.given
        parts = (source, source.reading, source.loading, running, options)
        return {type(part): part for part in parts}

    usual = planned()
    for field in option_fields(kind):
        typed, value = VALUES[field.name]
        given = planned(field.flags[0], *typed)
        assert getattr(given[kind], field.name) == value, field.name
        for other, part in given.items():
            for one in option_fields(other):
                if (other, one.name) != (kind, field.name):
                    same = getattr(usual[other], one.name)
                    assert getattr(part, one.name) == same, (field.name, one.name)


# -- what goes wrong ------------------------------------------------------------------------------------


def test_an_interruption_keeps_what_is_finished_and_the_next_run_goes_on(moments: Path) -> None:
    out, Fake.raises = moments.parent / "out", KeyboardInterrupt()
    outcome = run(moments)
    assert outcome.code == 130
    assert outcome.said == (
        f"Error: Interrupted. What was finished is kept in {out}; run the same command again to go on from there."
    )
    assert [name.split(".")[0] for name in sorted(written(out))] == [
        "unfinished/first",
        "unfinished/run",
    ]
    seen = call("inspect", out, "--json")
    data = json.loads(seen.out)
    assert data["kind"] == "unfinished"
    assert data["run"]["analysis"] == "fake"
    assert data["finished"] == {"first": 1}
    assert "run of lmkin fake that was broken off" in call("inspect", out / "unfinished").out
    Fake.raises = None
    Fake.events.clear()
    outcome = run(moments)
    assert outcome.code == 0, outcome.err
    assert Fake.events == ["options", "source", "open", "run", "second"]  # not the first again
    assert "Going on: the step first is there from an earlier run." in outcome.said
    assert written(out) == {"fake.nc", "report.html", "lmkin.json"}
    np.testing.assert_allclose(lmkin.load(out)["size"], [SIZE, 2 * SIZE])


def test_an_interruption_before_anything_is_finished(moments: Path, monkeypatch: Any) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Fake, "run", interrupt)
    outcome = run(moments)
    assert outcome.code == 130
    assert "begin anew" in outcome.said
    assert "is kept" not in outcome.said
    assert not (moments.parent / "out").exists()


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (
            lmkin.LmkinError("Too dark [here]. Make light."),
            1,
            "Error: Too dark [here]. Make light.",
        ),
        (
            OSError(28, "No space left on device", "x.nc"),
            1,
            "Error: No space left on device: 'x.nc'.",
        ),
        (MemoryError(), 1, "Error: The memory is full."),
    ],
)
def test_what_a_user_can_mend_is_one_paragraph(
    moments: Path, error: Exception, code: int, says: str
) -> None:
    Fake.raises = error
    outcome = run(moments)
    assert outcome.code == code
    assert outcome.said.startswith(says)
    assert len(outcome.err.splitlines()) == 1
    assert outcome.out == ""
    assert [name.split(".")[0] for name in sorted(written(moments.parent / "out"))] == [
        "unfinished/first", "unfinished/run",
    ]  # fmt: skip


def test_a_bug_is_70_and_keeps_what_is_finished(moments: Path) -> None:
    Fake.raises = ZeroDivisionError("of my own making")
    outcome = run(moments)
    assert outcome.code == 70
    assert "ZeroDivisionError: of my own making" in outcome.err
    assert "bug in lmkin" in outcome.said
    Fake.raises = None
    Fake.events.clear()
    assert run(moments).code == 0
    assert "first" not in Fake.events


def test_a_disk_that_is_full_at_the_end_costs_no_step(moments: Path, monkeypatch: Any) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "report.html")

    with monkeypatch.context() as patch:
        patch.setattr("lmkin.report.result_folder.write_report", full)
        outcome = run(moments)
    assert outcome.code == 1
    assert "No space left on device" in outcome.said
    Fake.events.clear()
    assert run(moments).code == 0
    assert Fake.events == ["options", "source", "open", "run"]
    assert written(moments.parent / "out") == {"fake.nc", "report.html", "lmkin.json"}
