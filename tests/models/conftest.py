from __future__ import annotations

from pathlib import Path

import families
import pytest
from families import Family

import lmkin


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory):
    """The saved tiny model of a family; built once."""
    built: dict[str, Path] = {}

    def folder(family: Family | str) -> Path:
        if isinstance(family, str):
            family = next(f for f in families.FAMILIES if f.name == family)
        if family.name not in built:
            name = family.name.split(" ")[0]
            built[family.name] = families.build(family, tmp_path_factory.mktemp(name) / name)
        return built[family.name]

    return folder


@pytest.fixture(params=families.FAMILIES, ids=lambda f: f.name)
def family(request: pytest.FixtureRequest) -> Family:
    return request.param


@pytest.fixture
def model(family: Family, model_folder) -> lmkin.LanguageModel:
    return lmkin.load_model(model_folder(family))


@pytest.fixture(scope="session")
def tricky() -> lmkin.Corpus:
    return families.tricky_corpus()
