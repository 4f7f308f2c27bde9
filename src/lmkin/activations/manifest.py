"""The manifest: everything that the numbers of a store depend on; the cache key is its hash."""

from __future__ import annotations

import datetime
import hashlib
import json
import platform
from collections.abc import Mapping
from typing import Any

from ..core import Choice, Text, Whole, fingerprint, package_version
from ..models import AlignedCorpus, LanguageModel

FORMAT = 2
SCHEMA: dict[Any, Any] = {
    "lmkin_store": Whole(FORMAT, FORMAT),
    "status": Choice(("partial", "complete")),
    "key": Text(r"[0-9a-f]{32}"),
    "checksum": Text(r"[0-9a-f]{32}"),
    "model": {
        "name": str,
        "layers?": Whole(1, 10**5),
        "device?": str,
        "spec?": str,
        "pre_norm?": (bool, None),
        str: Any,
    },
    "corpus": {
        "name": str,
        "format": (str, None),
        "hash": str,
        "sentences": Whole(),
        "words": Whole(),
        str: Any,
    },
    "units": {
        "kind": Choice(("word", "token", "sentence")),
        "offered": Whole(),
        "kept": Whole(),
        "hash": str,
        "rule": {str: Any},
        "losses": {
            "dropped?": {str: Whole()},
            "dropped_examples?": {str: [str]},
            "with_unknown_token?": (Whole(), None),
            "only_unknown_tokens?": (Whole(), None),
            str: (Whole(), None),
        },
    },
    "layers": [Whole(0, 10**5)],
    "widths": [Whole(1, 10**7)],
    "dtype": Choice(("float16", "float32")),
    "created": str,
    "versions": {str: (str, None)},
    "files": {"corpus.jsonl": str, "units.safetensors": str},
    "shards": [
        {
            "file": Text(r"shard-[0-9]{5,9}\.safetensors"),
            "rows": [Whole()],
            "crc32": (Text(r"[0-9a-f]{8}"), None),
        }
    ],
}
"""What a manifest on disk is; anything else is refused before anybody asks it for a file."""
_NAMES = ("name", "spec", "revision", "tokenizer_spec")
"""What may differ although the numbers are the same: weights and tokenizer are known by their hashes."""
_LIBRARIES = ("lmkin", "numpy", "torch", "transformers", "tokenizers", "safetensors")


def make_manifest(
    model: LanguageModel, reading: AlignedCorpus, layers: list[int], dtype: str
) -> dict[str, Any]:
    """What, how, from which model and corpus; the shards are added by whoever cuts them."""
    identity = model.identity()
    corpus = reading.units.corpus
    versions = {library: package_version(library) for library in _LIBRARIES}
    settings = {
        "rule": reading.rule.to_dict(),
        "layers": layers,
        "dtype": dtype,
        "corpus": corpus.hash,
        "model": {k: v for k, v in identity.items() if k not in _NAMES},
    }
    return {
        "lmkin_store": FORMAT,
        "status": "memory",
        "key": _run_key(settings),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "model": identity,
        "corpus": {
            "name": corpus.name,
            "format": corpus.format,
            "sentences": len(corpus),
            "pairs": sum(s.text_b is not None for s in corpus),
            "words": corpus.n_words,
            "tags": list(corpus.tag_names),
            "hash": corpus.hash,
        },
        "units": {
            "kind": reading.units.kind,
            "offered": reading.n_offered,
            "kept": len(reading.units),
            "hash": reading.units.hash,
            "rule": reading.rule.to_dict(),
            "losses": reading.losses.to_dict(),
        },
        "layers": layers,
        "widths": [model.widths[n] for n in layers],
        "dtype": dtype,
        "versions": {"python": platform.python_version(), **versions},
    }


def manifest_checksum(manifest: Mapping[str, Any]) -> str:
    """Of everything that a manifest says but this."""
    return fingerprint({k: v for k, v in manifest.items() if k != "checksum"})


def unknown_in(manifest: Mapping[str, Any]) -> dict[str, int] | None:
    """How many units of a store hold an unknown token, and how many nothing else; None where it was not counted."""
    units = manifest.get("units", {})
    losses = units.get("losses", {})
    if losses.get("with_unknown_token") is None:
        return None
    return {
        "units": int(units["kept"]),
        "with_unknown_token": int(losses["with_unknown_token"]),
        "only_unknown_tokens": int(losses.get("only_unknown_tokens", 0)),
    }


def _run_key(parts: dict[str, Any]) -> str:
    """Hash of everything that the numbers depend on: the cache key."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def shard_entries(ranges: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """The manifest's list of shards, before they are written."""
    return [
        {"file": f"shard-{i:05d}.safetensors", "rows": list(rows), "crc32": None}
        for i, rows in enumerate(ranges)
    ]


def what_differs(a: dict[str, Any], b: dict[str, Any], path: str = "") -> str:
    """The first entry in which two manifests differ, for an error message."""
    skip = {
        "created",
        "versions",
        "shards",
        "files",
        "checksum",
        "status",
        "key",
        "name",
        "spec",
        "tokenizer_spec",
        "losses",
        "device",
    }
    for name in b:
        if name in skip or a.get(name) == b[name]:
            continue
        if isinstance(a.get(name), dict) and isinstance(b[name], dict):
            return what_differs(a[name], b[name], f"{path}{name}.")
        return f"{path}{name}: {str(a.get(name))[:40]} there, {str(b[name])[:40]} now"
    return "it cannot be told which" if not path else f"{path[:-1]} differs"
