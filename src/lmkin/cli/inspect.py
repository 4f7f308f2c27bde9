"""`lmkin inspect`: what is in a corpus, a store of activations, a model, or clusters of neurons."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import LmkinError, near_files
from .options import AsJson, Format, Option, TrustRemoteCode, Verbose, format_options
from .output import busy, set_verbosity, show

if TYPE_CHECKING:
    from ..activations import Activations
    from ..corpus import Corpus
    from ..models import LanguageModel
    from ..redundancy import Clustering, Keep

Described = tuple[dict[str, Any], dict[str, Any]]
"""Rows for people, data for machines."""
_SHOWN = 12


def command(
    path: Annotated[
        str,
        typer.Argument(
            help="A corpus, a store of activations, a model (folder or name), clusters of neurons, or a mask of those "
            "that are kept."
        ),
    ],
    format: Format = None,
    option: Option = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare all checksums of a store, however large.")
    ] = False,
    trust_remote_code: TrustRemoteCode = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Say what is in PATH: a corpus, a store of activations, a file of another tool, a model, or clusters of neurons.

    lmkin inspect sample
    """
    set_verbosity(verbose)
    kind = _kind(path, format)
    with busy(f"Looking into {path} …"):
        if kind == "store":
            from ..activations import open_activations

            rows, data = describe_store(open_activations(path, verify=verify or None))
            for i, line in enumerate(describe_losses(data["manifest"])):
                rows[f"note {i + 1}"] = line
        elif kind == "model":
            from ..models import load_model

            rows, data = describe_model(load_model(path, trust_remote_code=trust_remote_code))
        elif kind == "clusters":
            from ..redundancy import Clustering

            rows, data = describe_clusters(Clustering.load(path))
        elif kind == "mask":
            from ..redundancy import Keep

            rows, data = describe_mask(Keep.load(path))
        else:
            from ..corpus import read_corpus

            rows, data = describe_corpus(read_corpus(path, format, **format_options(option)))
    show(f"{path} ({kind})", rows, as_json=as_json, data={"kind": kind, **data})


def _kind(spec: str, format: str | None) -> str:
    path = Path(spec)
    if format is not None or spec.partition(":")[0] == "sample":
        return "corpus"
    if path.is_dir() and (path / "manifest.json").exists():
        return "store"
    if path.is_dir():
        return "model" if (path / "config.json").exists() else "corpus"
    if path.suffix.lower() in (".hdf5", ".h5"):
        return "model"
    if path.suffix == ".safetensors" and path.exists():
        return _kind_of_tensors(path)
    if path.suffix.lower() == ".json" and path.exists():
        with path.open("rb") as file:
            return "model" if b'"features"' in file.read(1000) else "corpus"
    if (
        not path.exists()
        and path.suffix[1:].isalpha()
        and not spec.startswith(("untrained:", "package:"))
    ):
        raise LmkinError(f"There is no corpus, store or model at {spec!r}.{near_files(path)}")
    # What has an extension of letters is meant as a file, even where it is missing; versions are names.
    return "corpus" if path.exists() or path.suffix[1:].isalpha() else "model"


def _kind_of_tensors(path: Path) -> str:
    """Clusters or a mask, by what the file says of itself."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy") as file:
            said = (file.metadata() or {}).get("lmkin", "")
    except (OSError, SafetensorError) as error:
        raise LmkinError(f"Cannot read {path}: {error}") from error
    kind = {"clustering": "clusters", "keep": "mask"}.get(said)
    if kind is None:
        raise LmkinError(
            f"{path} holds neither clusters of neurons nor a mask of those that are kept. Of a model, or a store, give "
            f"the folder."
        )
    return kind


def describe_corpus(corpus: Corpus) -> Described:
    """What is in a corpus."""
    lengths = sorted(len(s) for s in corpus)
    labels = [s.label for s in corpus if s.label is not None]
    documents = {d for d in corpus.documents if d is not None}
    tags = {name: corpus.tag_counts(name) for name in corpus.tag_names}
    rows: dict[str, Any] = {
        "format": corpus.format,
        "sentences": f"{len(corpus):,}"
        + (f" in {len(documents):,} documents" if documents else ""),
        "words": f"{corpus.n_words:,} ({len(set(corpus.words)):,} different), "
        f"{lengths[0]} to {lengths[-1]} a sentence, median {median(lengths):g}",
    }
    if any(s.text_b is not None for s in corpus):
        rows["pairs"] = f"{sum(s.text_b is not None for s in corpus):,}"
    if labels:
        numbers = [x for x in labels if isinstance(x, float)]
        values = sorted({str(x) for x in labels})
        listed = ", ".join(values[:_SHOWN]) + (" …" if len(values) > _SHOWN else "")
        rows["labels"] = (
            f"scores {min(numbers):g} to {max(numbers):g}"
            if numbers
            else f"{len(values)}: {listed}"
        )
    for name, counts in tags.items():
        top = ", ".join(f"{tag} {n:,}" for tag, n in counts.most_common(_SHOWN))
        rows[f"tag {name}"] = f"{len(counts)} values: {top}{' …' if len(counts) > _SHOWN else ''}"
    rows["first"] = corpus[0].text[:100]
    rows["hash"] = corpus.hash
    data = {
        "name": corpus.name,
        "format": corpus.format,
        "sentences": len(corpus),
        "words": corpus.n_words,
        "types": len(set(corpus.words)),
        "documents": len(documents),
        "labels": len(labels),
        "tags": {name: dict(counts.most_common()) for name, counts in tags.items()},
        "hash": corpus.hash,
    }
    return rows, data


def describe_store(acts: Activations) -> Described:
    """What is in a store of activations."""
    from ..activations.store import store_size

    info = acts.manifest
    units = info["units"]
    rule = ", ".join(
        f"{key} {value}"
        for key, value in units["rule"].items()
        if value is not None and key != "kind"
    )
    assert acts.path is not None
    rows = {
        "model": f"{acts.name} ({info['model']['class']}, {info['dtype']} stored)",
        "corpus": f"{info['corpus']['name']}: {info['corpus']['sentences']:,} sentences, "
        f"{info['corpus']['words']:,} words",
        "rows": f"{units['kept']:,} of {units['offered']:,} {units['kind']}s",
        "rule": rule,
        "layers": ", ".join(f"{n} × {width}" for n, width in acts.widths.items()),
        "shards": f"{len(info['shards'])}, {store_size(acts.path)}",
        "units hash": units["hash"],
    }
    return rows, {"path": str(acts.path), "rows": len(acts), "manifest": info}


def describe_losses(manifest: dict[str, Any]) -> list[str]:
    """What was lost or is special about the rows, a sentence each."""
    units = manifest["units"]
    losses = units["losses"]
    lines = []
    for reason, count in losses["dropped"].items():
        examples = ", ".join(losses["dropped_examples"][reason][:3])
        lines.append(
            f"{count:,} of {units['offered']:,} {units['kind']}s left out: {reason} (e.g. {examples})."
        )
    if losses["with_unknown_token"]:
        lines.append(f"{losses['with_unknown_token']:,} words have an unknown token in them.")
    if losses.get("means_without_first_token"):
        lines.append(
            f"{losses['means_without_first_token']:,} words are means without their first sub-word, the first token "
            f"of a decoder."
        )
    if losses["sentences_in_windows"]:
        lines.append(
            f"{losses['sentences_in_windows']:,} long sentences were read in overlapping windows."
        )
    if losses["tokens_cut"]:
        lines.append(
            f"{losses['tokens_cut']:,} tokens of {losses['sentences_cut']:,} long sentences were cut off."
        )
    if units["kind"] == "sentence" and manifest["corpus"].get("pairs"):
        lines.append(
            f"{manifest['corpus']['pairs']:,} sentence pairs were each read as one input, one row a pair. For "
            f"separate rows read the corpus once with --option text=FIRST and once with text=SECOND."
        )
    if manifest["model"].get("made_up_weights"):
        lines.append(
            f"{manifest['model']['made_up_weights']} weights were not in the checkpoint, and are random."
        )
    return lines


def describe_model(model: LanguageModel) -> Described:
    """What kind of model it is."""
    info = model.identity()
    tokenizer = info.get("tokenizer", {})
    rows = {"name": info["name"], "class": info["class"]}
    if "parameters" in info:
        rows["parameters"] = f"{info['parameters']:,}"
    widths = sorted(set(info["widths"]))
    rows["layers"] = f"{info['layers']} (0: embeddings) × {'/'.join(map(str, widths))}"
    if "causal" in info:
        rows["direction"] = "left to right" if info["causal"] else "both directions"
        rows["reads"] = (
            f"{info['max_length']:,} tokens at once" if info["max_length"] else "any length"
        )
        speed = "fast" if tokenizer["fast"] else "slow: spans are found by matching"
        rows["tokenizer"] = (
            f"{tokenizer['class']} ({speed}), special tokens: {tokenizer['special_tokens_before']} "
            f"before, {tokenizer['special_tokens_after']} after a sentence"
        )
    rows["weights hash"] = info["weights"]
    return rows, info


def describe_clusters(clustering: Clustering) -> Described:
    """What is in clusters of neurons."""
    tables = clustering.tables()
    thresholds = [f"{t:g}" for t in clustering.thresholds]
    seed = f" (seed {clustering.seed})" if clustering.representative == "random" else ""
    rows = {
        "rows": f"{tables.attrs['n']:,} {tables.attrs['units']}s of {tables.attrs['corpus'] or 'arrays'}",
        "clusters": f"{clustering.linkage} linkage, cut at {', '.join(thresholds)}",
        "stands for all": f"{clustering.representative}{seed}",
    }
    data: dict[str, Any] = {
        **{
            k: tables.attrs[k]
            for k in ("n", "units", "corpus", "linkage", "representative", "seed")
        },
        "thresholds": list(clustering.thresholds),
        "models": {},
        "alerts": clustering.alerts,
    }
    for i, name in enumerate(clustering.models):
        left = tables["left"].values[i].tolist()
        neurons, constant = int(tables["neurons"][i]), int(tables["constant"][i])
        rows[f"model {name}"] = (
            f"{neurons:,} neurons{f', {constant:,} constant' if constant else ''}; left: "
            + ", ".join(f"{n:,} at {t}" for t, n in zip(thresholds, left, strict=True))
        )
        data["models"][name] = {"neurons": neurons, "constant": constant, "left": left}
    for i, line in enumerate(clustering.alerts):
        rows[f"note {i + 1}"] = line
    return rows, data


def describe_mask(keep: Keep) -> Described:
    """Which neurons of a model are kept."""
    widths = {n: len(mask) for n, mask in keep.masks.items()}
    kept = {n: int(mask.sum()) for n, mask in keep.masks.items()}
    rows = {
        "model": keep.model,
        "threshold": f"{keep.threshold:g}",
        "kept": f"{len(keep):,} of {sum(widths.values()):,} neurons",
        "layers": ", ".join(f"{n}: {kept[n]:,} of {width:,}" for n, width in widths.items()),
        "model hash": keep.identity or "– (chosen from arrays)",
        "hash": keep.hash,
    }
    data = {
        "model": keep.model, "threshold": keep.threshold, "neurons": len(keep), "kept": kept, "widths": widths,
        "identity": keep.identity, "hash": keep.hash,
    }  # fmt: skip
    return rows, data
