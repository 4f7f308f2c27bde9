"""Exceptions, odd results, and the table that shows them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import similarity_functions as fns
from similarity_functions import run

import lmkin
from lmkin.measures import INVARIANCES, Check, Conformance, check_measure
from lmkin.measures.conformance.registry import CHECKS
from lmkin.measures.conformance.subject import as_number


def test_an_exception_becomes_a_finding_and_the_battery_goes_on() -> None:
    def fussy(X, Y):
        if X.dtype != np.float64:
            raise TypeError("only float64\nplease")
        return fns.biased_cka(X, Y)

    rows = run(fussy)
    assert rows["float32"] == Check(
        "float32", "types", None, "error", "raised TypeError: only float64 please"
    )
    assert rows["a non-contiguous view"].verdict == "pass"
    assert rows["torch tensors"].verdict == "info"
    assert "Accepts torch: no (raised TypeError" in rows["torch tensors"].note


def test_a_function_that_always_raises_still_gives_a_table() -> None:
    def broken(X, Y):
        raise RuntimeError

    result = check_measure(broken, quick=True, show=False)
    assert not result.passed
    assert len(result.rows) == len(CHECKS)
    assert {row.name: row for row in result.rows}[
        "identity"
    ].note == "raised RuntimeError, without a message"


def test_a_function_of_equal_widths_is_checked_on_such() -> None:
    def diagonal(X, Y):
        X, Y = fns.checked(X, Y)
        if X.shape != Y.shape:
            raise ValueError("Shapes must agree.")
        norms = np.linalg.norm(X, axis=0) * np.linalg.norm(Y, axis=0)
        return ((X * Y).sum(0) / np.maximum(norms, 1e-300)).mean()

    rows = run(diagonal, declared={"shift", "neuron-scale"}, symmetric=True)
    assert rows["different widths"].verdict == "error"
    assert "Shapes must agree" in rows["different widths"].note
    assert {rows[name].verdict for name in (*INVARIANCES, "symmetry", "identity")} == {"pass"}


def test_nan_for_ordinary_data_is_a_failure() -> None:
    row = run(lambda X, Y: float("nan"))["rotation"]
    assert (row.verdict, row.finding) == ("fail", None)
    assert "Returned nan" in row.note


def test_whatever_holds_one_number_is_a_number() -> None:
    torch = pytest.importorskip("torch")
    for wrap in (
        np.float32,
        np.array,
        torch.tensor,
        lambda v: torch.tensor([[v]]),
        lambda v: np.array([v]),
    ):
        assert as_number(wrap(0.5)) == 0.5
    assert as_number(1) == 1.0
    assert as_number(torch.tensor(0.5, requires_grad=True)) == 0.5


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ((0.5, 0.1), "a tuple"),
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        (None, "NoneType"),
        ("0.5", "a str"),
        (True, "a bool"),
        (1 + 2j, "a complex"),
        ({"cka": 0.5}, "a dict"),
    ],
)
def test_what_is_no_number_is_an_error_that_says_what_it_is(value, what: str) -> None:
    with pytest.raises(lmkin.LmkinError, match=what):
        check_measure(lambda X, Y: value, show=False)


def test_no_number_in_one_case_only_is_that_rows_error() -> None:
    row = run(lambda X, Y: None if len(X) < X.shape[1] else fns.biased_cka(X, Y))["n < d"]
    assert row.verdict == "error"
    assert "gave a NoneType" in row.note


def test_a_clear_exception_for_degenerate_data_passes() -> None:
    row = run(fns.biased_cka)["all rows alike"]
    assert (row.verdict, row.finding) == ("pass", None)
    assert "All rows are alike" in row.note


def test_a_value_below_the_declared_range_fails() -> None:
    assert run(lambda X, Y: -0.5, range=(0, 1))["n < d"].verdict == "fail"


def test_a_similarity_without_an_upper_end() -> None:
    def negative_distance(X, Y):
        return -float(np.abs(X - Y).mean())

    def distance(X, Y):
        return float(np.abs(X - Y).mean())

    unlimited = (-np.inf, np.inf)
    assert run(negative_distance, range=(-np.inf, 0))["identity"].verdict == "pass"
    assert run(negative_distance, range=unlimited)["identity"].verdict == "pass"
    assert run(distance, range=unlimited)["identity"].verdict == "fail"


NASTY = "<script>alert('x')</script> | *bold*\n\x1b[31mred `code` " + "long " * 100


@pytest.fixture(scope="module")
def nasty() -> Conformance:
    def fn(X, Y):
        if X.dtype != np.float64:
            raise ValueError(NASTY)
        return fns.biased_cka(X, Y)

    return check_measure(fn, name=NASTY, quick=True, show=False)


def test_text_is_aligned_and_at_most_a_hundred_columns_wide(nasty: Conformance) -> None:
    lines = str(nasty).splitlines()
    assert max(map(len, lines)) == 100
    assert not any("\x1b" in line or "\t" in line for line in lines)
    header = next(line for line in lines if line.startswith("check"))
    rows = [line for line in lines if line[2:].startswith(("identity", "rotation", "float32"))]
    assert len(rows) == 4
    for row in rows:
        assert row[header.index("verdict") :].startswith(("pass", "fail", "inv", "not", "err"))
    assert lines[-1] == nasty.summary


def test_html_and_markdown_are_escaped(nasty: Conformance) -> None:
    page = nasty._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    table = nasty.markdown()
    assert "<script>" not in table
    body = [line for line in table.splitlines() if line.startswith("|")]
    assert len(body) == len(nasty.rows) + 2
    assert {line.replace("\\|", "").count("|") for line in body} == {6}


def test_dictionary_is_json_and_complete(nasty: Conformance) -> None:
    stored = json.loads(json.dumps(nasty.to_dict(), allow_nan=False))
    assert stored["passed"] is False
    assert [Check(**row) for row in stored["rows"]] == nasty.rows
    assert len(nasty.failures) == sum(row["verdict"] in ("fail", "error") for row in stored["rows"])


def test_shown_by_default_and_silent_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    result = check_measure(fns.biased_cka, quick=True)
    assert capsys.readouterr().out == f"{result}\n"
    check_measure(fns.biased_cka, quick=True, show=False)
    assert capsys.readouterr() == ("", "")
