"""Targets: files of lmkin's own beside results: moments, clusters, masks, stores, and what a workspace keeps."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import lmkin
from fuzz.seals import seal_store, seal_tensors
from fuzz.target import Target, itself
from lmkin.analyses.cross_lingual.families import read_families
from lmkin.analyses.probing.fits import FittedProbe, load_bits, save_bits
from lmkin.analyses.probing.neurons.arrays import load_arrays, save_arrays
from lmkin.cli.unfinished import describe_unfinished
from lmkin.estimators import PathStep
from lmkin.measures.kept_scores import KeptScores
from lmkin.rows import Workspace

THRESHOLDS = (0.1, 0.3, 0.6)
FAMILIES = '# of mine\nen,Germanic\nqke,"invented, by hand"\n\n日本語,Japonic\n'


def layers(n: int = 60, width: int = 4) -> dict[tuple[str, int], Any]:
    """Two models of two layers, with neurons in common and one that is constant."""
    random = np.random.default_rng(0)
    shared = random.normal(size=(n, 3))
    found = {
        (name, layer): shared @ random.normal(size=(3, width))
        + 0.3 * random.normal(size=(n, width))
        for name in "ab"
        for layer in range(2)
    }
    found["a", 1][:, 0] = 1.0
    return found


# -- moments -----------------------------------------------------------------------------------------


def make_moments(folder: Path) -> None:
    moments = lmkin.Moments(sample_rows=8)
    for part, rows in (("x", slice(0, 25)), ("y", slice(25, 60))):
        moments.update({k: a[rows] for k, a in layers().items()}, part=part)
    moments.save(folder / "m.safetensors")


def use_moments(moments: lmkin.Moments) -> Any:
    """Everything that measures are made of, and that another file can be merged."""
    from rows.accumulators import of_moments

    len(repr(moments))
    found = of_moments(moments)
    for a in moments.groups:
        moments.corr(a, moments.groups[0])
    sample = moments.sample
    other = lmkin.Moments.merge(moments, moments)
    return [found, sample.rows, sample.keys, sample.parts, moments.info, other.n]


# -- clusters and masks ------------------------------------------------------------------------------


@cache
def _clustering(representative: str) -> lmkin.Clustering:
    made = lmkin.redundancy(
        layers(), thresholds=list(THRESHOLDS), representative=representative, progress=False
    )
    assert made.clustering is not None
    return made.clustering


def use_clustering(clusters: lmkin.Clustering) -> Any:
    """Everything at every threshold of every model: compiled loops run over what was read."""
    len(repr(clusters))
    found: list[Any] = [clusters.tables(), clusters.limit, [str(a) for a in clusters.alerts]]
    for model in clusters.models:
        found.append(clusters.linkage_matrix(model))
        for t in clusters.thresholds:
            found += [
                clusters.labels(t, model),
                clusters.sizes(t, model),
                clusters.keep(t, model).hash,
            ]
            found += [clusters.members(t, model), clusters.representatives(t, model)]
            found.append(list(clusters.signs(t, model).items()))
    return found


def use_mask(mask: lmkin.NeuronMask) -> Any:
    """Which neurons, of which model; and it keeps them."""
    len(repr(mask))
    rows = {(mask.model, n): np.ones((2, len(m))) for n, m in mask.masks.items() if len(m)}
    kept = mask.apply(rows) if any(m.any() for m in mask.masks.values()) else None
    return [mask.hash, mask.model, mask.threshold, mask.identity, dict(mask.masks), kept]


# -- stores ------------------------------------------------------------------------------------------


@cache
def model_folder() -> str:
    """A tiny BERT, whose files are the same in every run."""
    from transformers.utils import logging

    import families

    logging.disable_progress_bar()
    family = next(f for f in families.FAMILIES if f.name == "bert")
    folder = families.build(family, Path(tempfile.mkdtemp(prefix="lmkin-fuzz-")) / "bert")
    atexit.register(shutil.rmtree, folder.parent, ignore_errors=True)
    # Of pieces that are equally frequent, training takes now this one, now that: letters and whole words instead.
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text("utf-8"))
    trained = tokenizer["model"]["vocab"]
    special = [piece for piece in trained if piece.startswith("[")]
    letters = sorted(piece for piece in trained if len(piece.removeprefix("##")) == 1)
    words = sorted({word.lower() for word in corpus().words} - {*letters})
    pieces = [*special, *letters, *words, *(f"filler{i}" for i in range(len(trained)))]
    tokenizer["model"]["vocab"] = {piece: i for i, piece in enumerate(pieces[: len(trained)])}
    path.write_text(json.dumps(tokenizer, indent=2, ensure_ascii=False), "utf-8")
    return str(folder)


@cache
def corpus() -> lmkin.Corpus:
    """Three sentences with tags."""
    return lmkin.read_corpus("sample")[:3]


def make_store(folder: Path) -> None:
    model = lmkin.load_model(model_folder(), name="tiny")
    lmkin.extract(model, corpus(), folder / "a.acts", progress=False)


def use_store(acts: lmkin.Activations) -> Any:
    """All layers, units and sentences."""
    len(repr(acts))
    units = acts.units
    found: list[Any] = [units.hash, units.corpus.hash, len(acts), acts.name, units.corpus.labels]
    found += [np.asarray(acts.layer(n)) for n in acts.layers]
    found += [list(acts.sentence(i).values()) for i in range(len(units.corpus))]
    said = {k: v for k, v in acts.manifest.items() if k not in ("created", "checksum", "files")}
    return [*found, said]


# -- what a workspace keeps --------------------------------------------------------------------------


def _source(case: Any) -> Any:
    random = np.random.default_rng(0)
    arrays = {(m, layer): random.normal(size=(20, 3)) for m in "ab" for layer in (0, 1)}
    labels = np.repeat([0, 1, 2], [7, 7, 6])
    return case.source(arrays, labels, np.arange(0, 20, 2))


def _accumulator(name: str, kind: str, module: str) -> Target:
    file = "sums.safetensors"

    def case() -> Any:
        from rows.accumulators import CASES

        return CASES[name]

    def make(folder: Path) -> None:
        from lmkin.rows import Shard

        sums = case().make(20).fresh(Shard(0, 0, 18), None)
        for chunk in _source(case()).chunks(0, 18):
            sums.update(chunk)
        sums.save(folder / file)

    def use(sums: Any) -> Any:
        """As a pass does: another shard is merged into what was read; then what it holds."""
        from lmkin.rows import Shard

        total = case().make(20).fresh(Shard(0, 0, 18), sums)
        total.merge(sums)
        more = case().make(20).fresh(Shard(1, 18, 20), total)
        for chunk in _source(case()).chunks(18, 20):
            more.update(chunk)
        total.merge(more)
        return case().holds(total)

    return Target(
        f"workspace: {kind}", make, lambda folder: case().make(20).load(folder / file), {file: "tensors"},
        (f"module {module}",), use, seal_tensors, sealed=True,
    )  # fmt: skip


def make_probe(folder: Path) -> None:
    random = np.random.default_rng(0)
    weights = random.normal(size=(5, 3)).astype(np.float32) * [[1, 0, 1]]
    step = PathStep(0.1, 0.1, 5, 10, 1.2, 0.5, 0.01, 9)
    FittedProbe(weights, random.normal(size=3), 0.1, 0.1, 1.5, 0.01, 12, (step,)).save(
        folder / "probe.safetensors"
    )


def use_probe(fitted: FittedProbe) -> Any:
    """What it predicts, and what it says of itself."""
    X = np.ones((2, len(fitted.weights)), np.float32)
    numbers = [fitted.l1, fitted.l2, fitted.objective, fitted.residual, fitted.iterations]
    path = [list(asdict(step).values()) for step in fitted.path]
    return [fitted.predict(X), fitted.weights, fitted.intercepts, fitted.neurons, numbers, path]


SCORES = f"w/{Workspace('w').path('scores').name}"


def _kept_scores(folder: Path) -> tuple[KeptScores, dict[tuple[str, bool], Any]]:
    """Finished scores of two measures over three layers, as a run begins with them: none."""
    empty = {
        (name, False): SimpleNamespace(value=np.zeros((3, 3)), without=None, details={})
        for name in ("ckasim", "neuronsim")
    }
    return KeptScores(Workspace(folder / "w"), 2, 3), empty


def make_scores(folder: Path) -> None:
    kept, scores = _kept_scores(folder)
    kept.done[:, :2] = True
    for score in scores.values():
        score.value[:2] = np.arange(6).reshape(2, 3) / 7
        score.without = np.arange(18).reshape(2, 3, 3) / 19
        score.details["match"] = {(0, 1): np.array([2, 0, 1]), (1, 2): np.array([0.5, 0.25])}
    kept.keep(scores, now=True)


def read_scores(folder: Path) -> Path:
    """Refused, where a run would compute anew."""
    kept, scores = _kept_scores(folder)
    kept._read(folder / SCORES, scores)
    return folder


def use_scores(folder: Path) -> Any:
    kept, scores = _kept_scores(folder)
    kept.restore(scores)
    return [kept.done, [[s.value, s.without, s.details] for s in scores.values()]]


RUN = Workspace("work").path("run", "json").name
"""What a workspace says of its run."""


def make_run(folder: Path) -> None:
    Workspace(folder / "work").describe(
        analysis="probe",
        command="lmkin probe m --train f",
        begun="2026-01-02T03:04:05",
        steps={"probe": 12, "code": 3},
    )


def use_run(folder: Path) -> Any:
    """What is shown of it: damaged, it says nothing."""
    rows, data = describe_unfinished(Workspace(folder / "work"))
    return [rows["to go on"][:20], data["run"], data["planned"]]


NEURONS = {"order": np.array([2, 0, 1]), "value": np.array([0.5, np.nan, 2.0])}


def make_neurons(folder: Path) -> None:
    save_arrays(NEURONS, folder / "n.safetensors")


def read_neurons(folder: Path) -> Any:
    return load_arrays(folder / "n.safetensors", list(NEURONS))


def use_neurons(arrays: Any) -> Any:
    return [np.asarray(a).tolist() for a in arrays.values()]


_TENSORS: dict[str, Any] = {"resign": seal_tensors, "sealed": True}
TARGETS = [
    Target("moments", make_moments, lambda folder: lmkin.load(folder / "m.safetensors"),
           {"m.safetensors": "tensors"}, ("loadable moments", "module moments.storage"), use_moments, **_TENSORS),
    Target("clusters", lambda folder: _clustering("random").save(folder / "c.safetensors"),
           lambda folder: lmkin.load(folder / "c.safetensors"), {"c.safetensors": "tensors"},
           ("loadable clusters of neurons", "module analyses.redundancy.cluster_files"), use_clustering, **_TENSORS),
    Target("clusters with medoids", lambda folder: _clustering("medoid").save(folder / "c.safetensors"),
           lambda folder: lmkin.load(folder / "c.safetensors"), {"c.safetensors": "tensors"},
           ("loadable clusters of neurons",), use_clustering, **_TENSORS),
    Target("mask", lambda folder: _clustering("random").keep(0.3, "a").save(folder / "k.safetensors"),
           lambda folder: lmkin.load(folder / "k.safetensors"), {"k.safetensors": "tensors"},
           ("loadable masks of neurons", "module analyses.redundancy.neuron_mask"), use_mask, **_TENSORS),
    Target("store", make_store, lambda folder: lmkin.load(folder / "a.acts"),
           {"a.acts/manifest.json": "json", "a.acts/corpus.jsonl": "lines of json",
            "a.acts/units.safetensors": "tensors", "a.acts/shard-00000.safetensors": "tensors"},
           ("loadable activations", "module activations.store", "module activations.shards"), use_store,
           lambda folder: seal_store(folder / "a.acts"), sealed=True),
    Target("workspace: scores", make_scores, read_scores, {SCORES: "tensors"}, ("module measures.kept_scores",),
           use_scores, **_TENSORS),
    Target("workspace: probe", make_probe, lambda folder: FittedProbe.load(folder / "probe.safetensors"),
           {"probe.safetensors": "tensors"}, ("module analyses.probing.fits",), use_probe, **_TENSORS),
    Target("workspace: code length", lambda folder: save_bits(1234.5, folder / "code.safetensors"),
           lambda folder: load_bits(folder / "code.safetensors"), {"code.safetensors": "tensors"},
           ("module analyses.probing.fits",), lambda bits: [bits], **_TENSORS),
    Target("workspace: run", make_run, itself, {f"work/{RUN}": "json"}, ("module rows.workspace",), use_run),
    Target("workspace: neurons", make_neurons, read_neurons, {"n.safetensors": "tensors"},
           ("module analyses.probing.neurons.arrays",), use_neurons, **_TENSORS),
    _accumulator("moments", "moments", "moments.moment_sums"),
    _accumulator("shuffled moments", "shuffled moments", "analyses.dependency.shuffled_moments"),
    _accumulator("kept rows", "rows", "analyses.dependency.row_sample"),
    _accumulator("attention", "attention", "analyses.attention.map_sums"),
    Target("families", lambda folder: (folder / "f.csv").write_bytes(FAMILIES.encode()) and None,
           lambda folder: read_families(folder / "f.csv"), {"f.csv": "text"},
           ("module analyses.cross_lingual.families",)),
]  # fmt: skip
