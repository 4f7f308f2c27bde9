from __future__ import annotations

import pytest

import families
import lmkin
from families import Family


@pytest.fixture(params=families.FAMILIES, ids=lambda f: f.name)
def family(request: pytest.FixtureRequest) -> Family:
    return request.param


@pytest.fixture
def model(family: Family, model_folder) -> lmkin.LanguageModel:
    return lmkin.load_model(model_folder(family))
