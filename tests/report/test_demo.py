from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import lmkin
from lmkin.cli import app

runner = CliRunner()


@pytest.mark.slow
def test_demo_on_a_tiny_model(model_folder, tmp_path) -> None:
    out = tmp_path / "demo"
    done = runner.invoke(
        app, ["demo", "-o", str(out), "--model", str(model_folder("bert")), "--json"]
    )
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert "Corpus: sample" in done.stderr
    assert (out / "report.html").stat().st_size < 5_000_000
    assert "What was compared" in (out / "report.html").read_text("utf-8")
    trained, untrained = (lmkin.open_activations(path) for path in said["activations"])
    cka = lmkin.linear_cka(trained.layer(1), untrained.layer(2))
    shown = lmkin.load(out).ckasim.sel(
        scaling="raw", model_x=trained.name, layer_x=1, model_y=untrained.name, layer_y=2
    )
    assert float(shown) == pytest.approx(cka, abs=1e-6)
    assert (out / "charts" / "heatmap-ckasim-raw.png").stat().st_size > 1000


def test_demo_without_its_model(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = runner.invoke(app, ["demo", "-o", str(tmp_path)])
    assert isinstance(done.exception, lmkin.ModelError)
    assert "pip install 'lmkin[demo]'" in str(done.exception)
