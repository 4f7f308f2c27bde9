"""What is in a corpus, a store, a model, clusters, a mask or moments: rows for people, data for machines."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

from .messages import with_flags

if TYPE_CHECKING:
    from ..activations import Activations
    from ..analyses.redundancy import Clustering, NeuronMask
    from ..corpus import Corpus
    from ..models import LanguageModel
    from ..moments import Moments
    from ..results import Result

_SHOWN = 12
Described = tuple[dict[str, Any], dict[str, Any]]
"""Rows for people, data for machines."""


def describe_unknown(counts: Mapping[str, int] | None, unit: str) -> str:
    """How many units hold the unknown token of the tokenizer."""
    if counts is None:
        return "not known of vectors that were computed before"
    n, some, only = (counts[k] for k in ("units", "with_unknown_token", "only_unknown_tokens"))
    if not some:
        return f"no {unit} has an unknown token"
    return (
        f"{some:,} of {n:,} {unit}s ({some / n:.1%}) have an unknown token, {only:,} ({only / n:.1%}) "
        f"nothing else"
    )


def describe_reading(model: LanguageModel, corpus: Corpus) -> Described:
    """How a model would read the words of a corpus, and what of them is unknown to its tokenizer."""
    from ..activations import read_units
    from ..analyses.similarity import unknown_alerts
    from ..models import UnitRule

    reading = read_units(model, corpus, UnitRule.make("word"))
    rows = {
        "corpus": f"{corpus.name}: {len(corpus):,} sentences, {corpus.n_words:,} words",
        "words": f"{len(reading.units):,} of {reading.n_offered:,} are read, with {reading.n_tokens:,} tokens",
        "unknown": describe_unknown(reading.unknown, "word"),
    }
    counts = reading.unknown
    info = {"units": "word", "unknown": {} if counts is None else {model.name: counts}}
    alerts = [with_flags(str(alert)) for alert in unknown_alerts(info)]
    rows |= {f"note {i + 1}": alert for i, alert in enumerate(alerts)}
    data = {
        "corpus": corpus.name,
        "hash": corpus.hash,
        "offered": reading.n_offered,
        "kept": len(reading.units),
        "tokens": reading.n_tokens,
        "losses": reading.losses.to_dict(),
        "alerts": alerts,
    }
    return rows, data


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
    from ..activations import store_size, unknown_in

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
        "unknown": describe_unknown(unknown_in(info), units["kind"]),
        "rule": rule,
        "layers": ", ".join(f"{n} × {width}" for n, width in acts.widths.items()),
        "shards": f"{len(info['shards'])}, {store_size(acts.path)}",
        "units hash": units["hash"],
    }
    return rows, {"path": str(acts.path), "rows": len(acts), "manifest": info}


def describe_losses(manifest: dict[str, Any]) -> list[str]:
    """What was lost or is special about the rows, a sentence each."""
    from ..activations import unknown_in
    from ..analyses.similarity import pre_norm_alerts, unknown_alerts

    units = manifest["units"]
    losses = units["losses"]
    lines = []
    for reason, count in losses["dropped"].items():
        examples = ", ".join(losses["dropped_examples"][reason][:3])
        lines.append(
            f"{count:,} of {units['offered']:,} {units['kind']}s left out: {reason} (e.g. {examples})."
        )
    if counts := unknown_in(manifest):
        info = {"units": units["kind"], "unknown": {manifest["model"]["name"]: counts}}
        lines += [with_flags(str(alert)) for alert in unknown_alerts(info)]
    name = manifest["model"]["name"]
    layers = [(name, n) for n in manifest["layers"]]
    lines += [str(alert) for alert in pre_norm_alerts({"manifests": {name: manifest}}, layers)]
    if losses.get("means_without_first_token"):
        lines.append(
            f"{losses['means_without_first_token']:,} words are means without their first subword token, the first "
            f"token of a decoder."
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
    if info.get("pre_norm"):
        rows["last layer"] = (
            f"{info['layers'] - 1}: what the model emits, after its final norm; the others are before the norm"
        )
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
        if info["tokenizer_spec"] is not None:
            rows["tokenizer of"] = info["tokenizer_spec"]
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
        "alerts": [a.to_dict() for a in clustering.alerts],
    }
    for i, name in enumerate(clustering.models):
        left = tables["left"].values[i].tolist()
        neurons, constant = int(tables["neurons"][i]), int(tables["constant"][i])
        rows[f"model {name}"] = (
            f"{neurons:,} neurons{f', {constant:,} constant' if constant else ''}; left: "
            + ", ".join(f"{n:,} at {t}" for t, n in zip(thresholds, left, strict=True))
        )
        data["models"][name] = {"neurons": neurons, "constant": constant, "left": left}
    for i, alert in enumerate(clustering.alerts):
        rows[f"note {i + 1}"] = with_flags(str(alert))
    return rows, data


def describe_mask(keep: NeuronMask) -> Described:
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


def describe_moments(moments: Moments) -> Described:
    """What is in a file of moments."""
    rows = {
        "rows": f"{moments.n:,} {moments.info.get('units', 'row')}s in {len(moments.parts)} parts",
        "layers": ", ".join(f"{layer} × {width}" for layer, width in moments.widths.items()),
        "precision": f"{moments.precision} products",
    }
    data = {
        "n": moments.n,
        "parts": len(moments.parts),
        "widths": {str(layer): width for layer, width in moments.widths.items()},
        "corpus": moments.info.get("corpus", ""),
    }
    return rows, data


def describe_result(result: Result) -> Described:
    """What a result says, in short; its tables are shown beside."""
    attrs = result.attrs
    rows = {
        "models": ", ".join(result.models),
        "rows": f"{int(attrs['n']):,} {attrs.get('units', 'row')}s" if "n" in attrs else "",
        "corpus": str(attrs.get("corpus", "")),
        "command": str(attrs.get("command", "")),
    }
    rows |= {f"note {i + 1}": with_flags(str(alert)) for i, alert in enumerate(result.alerts)}
    data = {
        **result.data(),
        "findings": result.findings(),
        "alerts": [a.to_dict() for a in result.alerts],
        "provenance": result.provenance,
    }
    return {name: value for name, value in rows.items() if value}, data
