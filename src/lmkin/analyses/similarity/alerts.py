"""Traps that a result should not hide, each with a sentence on what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...core import Alert, AlertKind
from ...measures import LayerStats, Measure

FEW = 10
"""Units per neuron below which fits in-sample are much too good."""
ROGUE = 0.1
"""Fraction of a layer's variance from which one neuron decides what CKA says."""
ONE_COMPONENT = 0.99
FEW_PARTS = 5
UNKNOWN = 0.01
"""Fraction of the units with an unknown token from which they change what is compared."""
DRIFT = 0.25
"""Mean change of variance against that of the reference, from which a correction to first order is not enough."""


def find_alerts(
    sides: Sequence[LayerStats],
    measures: Iterable[Measure],
    info: dict[str, Any],
    *,
    held_out: bool = False,
    standardized: bool = False,
    parts: int | None = None,
) -> list[Alert]:
    """All alerts of a comparison; layers of a model with the same trap share one."""
    measures = list(measures)
    return [
        *_few_units(sides, measures, held_out),
        *_rogue(sides),
        *_one_component(sides),
        *constant_alerts((_place(side), side.d - side.n_alive) for side in sides),
        *dropped_alerts(info),
        *unknown_alerts(info),
        *pre_norm_alerts(info, map(_place, sides)),
        *_outliers(info),
        *_repeated(info, sides[0].n),
        *_drifted(sides, measures, standardized),
        *_parts(parts),
        *([ungrouped_alert()] if held_out and info.get("parts_of") == "rows" else []),
    ]


def ungrouped_alert() -> Alert:
    """Of rows that know no sentences, where some are fitted on and others scored."""
    return Alert(
        AlertKind.UNGROUPED,
        "Plain arrays do not say which rows are of one sentence or document, so some of one sentence may be in train "
        "and others in test: scores on test rows are then too high. Give layers of activations as they are "
        "(acts.layer(6), or acts.layer(6).select(rows)), which carry their units; or say what belongs together "
        "yourself.",
    )


def _outliers(info: dict[str, Any]) -> list[Alert]:
    parts = info.get("outliers", [])
    if not parts:
        return []
    return [
        Alert(
            AlertKind.OUTLIERS,
            f"Part {', '.join(parts[:5])} holds over 99 % of the squares of some neuron. Without it float32 products "
            f"have few digits left, so standard errors may be wrong: use precision='float64', or look at the words "
            f"with such values.",
        )
    ]


def _few_units(
    sides: Sequence[LayerStats], measures: Sequence[Measure], held_out: bool
) -> list[Alert]:
    widest = max(sides, key=lambda s: s.d)
    n, d = widest.n, widest.d
    fits = [m.name for m in measures if m.fitted and not held_out]
    inflated = [*fits, *(m.name for m in measures if m.name == "procrustes")]
    if n >= FEW * d or not inflated:
        return []
    chance = min(1.0, (d / n) ** 0.5)
    remedy = "Take more text (ten units a neuron)"
    if fits:
        remedy += ", or score on held-out parts (held_out=True)"
    return [
        Alert(
            AlertKind.FEW_UNITS,
            f"{n:,} units for {d:,} neurons. In-sample, {', '.join(inflated)} {'is' if len(inflated) == 1 else 'are'} "
            f"too high: {d:,} unrelated neurons predict another with a correlation of about {chance:.2f} "
            f"by chance. {remedy}; "
            f"unbiased ckasim is safe.",
        )
    ]


def _rogue(sides: Sequence[LayerStats]) -> list[Alert]:
    by_model: dict[str, list[tuple[int, int, float]]] = {}
    for side in sides:
        xp = side.xp
        variance = side.std * side.std
        share = variance / xp.sum(variance)
        top = int(xp.argmax(share))
        if side.d > 1 and float(share[top]) > max(ROGUE, 5 / side.d):
            model, layer = _place(side)
            by_model.setdefault(model, []).append((layer, top, float(share[top])))
    alerts = []
    for model, hits in by_model.items():
        layer, neuron, share = max(hits, key=lambda h: h[2])
        alerts.append(
            Alert(
                AlertKind.ROGUE,
                f"in {model}, {listed_layers([h[0] for h in hits])}, one neuron holds much of the variance (at "
                f"most {share:.0%}: neuron "
                f"{neuron} in layer {layer}). Measures of raw neurons that mind their size (ckasim, svsim, pwsim, "
                f"procrustes) say mostly what that neuron says; those of standardized neurons, which similarity gives "
                f"beside them, do not.",
            )
        )
    return alerts


def _one_component(sides: Sequence[LayerStats]) -> list[Alert]:
    by_model: dict[str, list[int]] = {}
    for side in sides:
        spectrum = side.spectrum(False)
        if side.n_alive > 1 and float(spectrum.values[0]) >= ONE_COMPONENT * spectrum.total:
            model, layer = _place(side)
            by_model.setdefault(model, []).append(layer)
    return [
        Alert(
            AlertKind.ONE_COMPONENT,
            f"in {model}, {listed_layers(layers)}, one direction holds over 99 % of the variance: svsim and "
            "pwsim compare that "
            "direction alone. Standardize the neurons (neurons='standardized'), or ask for more of the "
            "variance (variance=0.9999).",
        )
        for model, layers in by_model.items()
    ]


def constant_alerts(constant: Iterable[tuple[tuple[str, int], int]]) -> list[Alert]:
    """Of neurons that never change: how many in each layer; layers of a model share one."""
    by_model: dict[str, list[tuple[int, int]]] = {}
    for (model, layer), count in constant:
        if count:
            by_model.setdefault(model, []).append((layer, count))
    return [
        Alert(
            AlertKind.CONSTANT,
            f"in {model}, {listed_layers([layer for layer, _ in hits])}, {sum(c for _, c in hits):,} neurons "
            "never change. They take no "
            f"part in any measure. If there are many, the model may be pruned or damaged, or the text too uniform.",
        )
        for model, hits in by_model.items()
    ]


_LOOK = "If they are many, look at the text with lmkin inspect."
_ADVICE = {
    "the first token of a decoder": "That token is an attention sink, left out by rule; first_token='keep' keeps it.",
    "behind the cut of a long sentence": "Let long sentences be read in windows (long='window').",
}


def dropped_alerts(info: Mapping[str, Any]) -> list[Alert]:
    """Words that one model lacks, and that were left out of all."""
    alerts = []
    unit = info.get("units", "row")
    for model, reasons in info.get("lost", {}).items():
        listed = ", ".join(f"{count:,} ({why})" for why, count in reasons.items())
        advice = " ".join(_ADVICE.get(why, _LOOK) for why in dict.fromkeys(reasons))
        alerts.append(
            Alert(
                AlertKind.DROPPED,
                f"{model} lacks {listed} of the {unit}s; they were left out of all models. {advice}",
            )
        )
    known = sum(count for reasons in info.get("lost", {}).values() for count in reasons.values())
    others = {model: n for model, n in info.get("dropped", {}).items() if n > known}
    if others:
        listed = ", ".join(f"{model} ({count:,})" for model, count in others.items())
        alerts.append(
            Alert(
                AlertKind.DROPPED,
                f"{unit}s that {listed} has are missing in another model, and were left out of all. Nothing is to be "
                f"done if they are few.",
            )
        )
    return alerts


def unknown_alerts(info: Mapping[str, Any]) -> list[Alert]:
    """One alert for all models to whose tokenizers a good part of the units is unknown."""
    unit = info.get("units", "row")
    listed = []
    for model, counts in info.get("unknown", {}).items():
        n, some, only = (
            counts[key] for key in ("units", "with_unknown_token", "only_unknown_tokens")
        )
        if some > UNKNOWN * n:
            listed.append(
                f"{model} reads {some:,} of {n:,} {unit}s ({some / n:.1%}) with an unknown token in them, and "
                f"{only:,} ({only / n:.1%}) as nothing else"
            )
    if not listed:
        return []
    return [
        Alert(
            AlertKind.UNKNOWN_TOKENS,
            f"{'; '.join(listed)}. Whatever a tokenizer does not know becomes one and the same token: {unit}s of "
            f"nothing else are told apart by their context alone, and the numbers say little about them. Take a model "
            f"whose vocabulary covers the text, or the right tokenizer (tokenizer=…).",
        )
    ]


def pre_norm_alerts(info: Mapping[str, Any], layers: Iterable[tuple[str, int]]) -> list[Alert]:
    """Of each model whose last layer is after a norm that others of the ``layers``, (model, number), are before."""
    by_model: dict[str, set[int]] = {}
    for model, layer in layers:
        by_model.setdefault(model, set()).add(layer)
    alerts = []
    for model, manifest in info.get("manifests", {}).items():
        about, mine = manifest.get("model", {}), by_model.get(model, set())
        last = about.get("layers", 0) - 1
        before = sorted(mine - {last})
        if about.get("pre_norm") and last in mine and before:
            alerts.append(
                Alert(
                    AlertKind.PRE_NORM,
                    f"{model} is a pre-norm model: layer {last} is what it emits, after its final norm; "
                    f"{listed_layers(before)} {'are' if len(before) > 1 else 'is'} before the norm. Part of what sets "
                    f"layer {last} apart is that norm alone, and a model that is cut after an earlier layer emits that "
                    f"layer through the norm, too.",
                    model,
                )
            )
    return alerts


def _repeated(info: dict[str, Any], n: int) -> list[Alert]:
    count = int(info.get("repeated", 0))
    unit = info.get("units", "row")
    if count <= 0.01 * n:
        return []
    what = "rows" if unit == "row" else f"{unit}s stand in sentences that"
    return [
        Alert(
            AlertKind.REPEATED,
            f"{count:,} of {n:,} {what} occur again. Repeats in different parts make intervals too "
            "narrow, and held-out scores too "
            f"high; remove doubles from the corpus.",
        )
    ]


def _drifted(
    sides: Sequence[LayerStats], measures: Sequence[Measure], standardized: bool
) -> list[Alert]:
    if not standardized or not any(m.name == "ckasim" for m in measures):
        return []
    by_model: dict[str, list[int]] = {}
    for side in sides:
        if getattr(side, "drift", 0.0) > DRIFT:
            model, layer = _place(side)
            by_model.setdefault(model, []).append(layer)
    return [
        Alert(
            AlertKind.SCALE_MOVED,
            f"in {model}, {listed_layers(layers)}, neurons vary far more (or less) in the text as a whole than in its "
            "first rows, whose scale the one pass was made in: standardized unbiased ckasim is off there. "
            "Store the activations "
            f"first (lmkin extract) and compare the stores: rows that can be read twice are standardized exactly.",
        )
        for model, layers in by_model.items()
    ]


def _parts(parts: int | None) -> list[Alert]:
    if parts is None or parts >= FEW_PARTS:
        return []
    if parts < 2:
        text = (
            "the rows are not in parts, so there are no intervals. Take more text: a part is whole sentences. Moments "
            "of your own have the parts that their rows were added under."
        )
    else:
        text = (
            f"the intervals come from {parts} parts. With fewer than {FEW_PARTS} they are wide and uncertain "
            f"themselves; take more text, or more parts of it (10 by default)."
        )
    return [Alert(AlertKind.FEW_PARTS if parts > 1 else AlertKind.NO_PARTS, text)]


def _place(side: LayerStats) -> tuple[str, int]:
    model, _, layer = side.name.rpartition("/")
    return model, int(layer)


def listed_layers(numbers: Sequence[int]) -> str:
    """Layer numbers as people write them.

    >>> listed_layers([0, 1, 2, 5]), listed_layers([3])
    ('layers 0–2 and 5', 'layer 3')
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [f"{run[0]}–{run[-1]}" if len(run) > 2 else " and ".join(map(str, run)) for run in runs]
    listed = ", ".join(texts[:-1]) + (" and " if len(texts) > 1 else "") + texts[-1]
    return f"{'layers' if len(numbers) > 1 else 'layer'} {listed}"
