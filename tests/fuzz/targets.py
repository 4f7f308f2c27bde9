"""All targets by name, and what is registered in lmkin that one of them must cover."""

from __future__ import annotations

from fuzz import corpus_targets, file_targets, model_targets, result_targets
from fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for module in (corpus_targets, file_targets, result_targets, model_targets)
    for target in module.TARGETS
}


def registered() -> set[str]:
    """Everything that reads files and is registered: formats, kinds of results, what ``lmkin.load`` reads, sources."""
    from lmkin.corpus import known_formats
    from lmkin.interchange import FORMATS
    from lmkin.models.loader import known_sources
    from lmkin.results import known_kinds, known_loadable

    names = {f"loadable {kind.name}" for kind in known_loadable()}
    names |= {f"corpus {name}" for name in known_formats()}
    names |= {f"interchange {name}" for name in FORMATS}
    names |= {f"result {name}" for name in known_kinds()}
    return names | {f"source {name}" for name in known_sources()}
