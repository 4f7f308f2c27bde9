"""Results made of datasets, as pages take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import xarray as xr

from lmkin.analyses.attention import AttentionSimilarity
from lmkin.analyses.cross_lingual import CrossLingual
from lmkin.analyses.dependency import Dependency
from lmkin.analyses.probing import Probes
from lmkin.analyses.redundancy import Redundancy
from lmkin.analyses.similarity import Similarity


def similarity_of(dataset: xr.Dataset) -> Similarity:
    return Similarity(dataset)


def attention_of(
    dataset: xr.Dataset,
    heads: xr.Dataset | None = None,
    sentence: xr.DataArray | None = None,
) -> AttentionSimilarity:
    return AttentionSimilarity(dataset, heads, sentence)


def dependency_of(
    dataset: xr.Dataset,
    portfolio: Mapping[str, xr.Dataset] | None = None,
    published: xr.DataArray | None = None,
) -> Dependency:
    return Dependency(dataset, portfolio=portfolio or {}, published=published)


def redundancy_of(
    dataset: xr.Dataset,
    layers: xr.Dataset | None = None,
    strips: Sequence[xr.Dataset] = (),
) -> Redundancy:
    return Redundancy(dataset, None, layers, strips)


def probe_of(dataset: xr.Dataset, published: xr.DataArray | None = None) -> Probes:
    return Probes(dataset, published=published)


def cross_lingual_of(dataset: xr.Dataset) -> CrossLingual:
    return CrossLingual(dataset)
