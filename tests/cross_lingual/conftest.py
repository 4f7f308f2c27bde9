"""What the tests of transfer share: parallel treebanks, and a run over them."""

from __future__ import annotations

import pytest

import lmkin
from cross_lingual.treebanks import WordVectors, treebanks

L1, L2 = 0.01, 0.005


@pytest.fixture(scope="session")
def banks() -> dict[str, lmkin.Corpus]:
    return treebanks()


@pytest.fixture(scope="session")
def models() -> list[WordVectors]:
    return [WordVectors("teacher", 0.8), WordVectors("student", 1.4)]


@pytest.fixture(scope="session")
def transfer(banks: dict[str, lmkin.Corpus], models: list[WordVectors]) -> lmkin.CrossLingual:
    """Two models, one task, some thresholds."""
    return lmkin.cross_lingual(
        models, banks, tags="upos", thresholds=[0.1, 0.5], parts=5, l1=L1, l2=L2, kkt=1e-4, ceiling=True,
        progress=False,
    )  # fmt: skip
