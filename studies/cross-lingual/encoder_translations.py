"""How often a sentence's nearest English one is its translation: by language and layer, and for the untrained twin.

    python studies/cross-lingual/encoder_translations.py MODEL [--shared FOLDER] [--sentences 300]

PUD's sentences as means over their tokens, centred by language; nearest by cosine. Writes
results/encoder_translations.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from pathlib import Path

import numpy as np

os.environ.setdefault("HF_HUB_OFFLINE", "1")
HERE = Path(__file__).parent


def main() -> None:
    """Ask the encoder and its twin."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("LMKIN_SHARED", str(HERE.parents[2] / "shared"))
    parser.add_argument("model", help="folder of the encoder")
    parser.add_argument("--shared", default=shared, help="folder with data/")
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "encoder_translations.csv")
    arguments = parser.parse_args()
    config = json.loads((HERE / "config.json").read_text())["encoder"]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["model", "language", "layer", "found"])
        for name, spec in (
            ("encoder", arguments.model),
            ("untrained", f"untrained:{arguments.model}"),
        ):
            for language, shares in found_translations(spec, config, arguments).items():
                for layer, share in enumerate(shares):
                    table.writerow([name, language, layer, f"{share:.3f}"])
                print(name, language, *(f"{share:.2f}" for share in shares), flush=True)


def found_translations(
    spec: str, config: dict[str, list[str]], arguments: argparse.Namespace
) -> dict[str, list[float]]:
    """By language, the share of sentences whose nearest English one is their own, at each layer."""
    import lmkin

    model = lmkin.load_model(spec)
    vectors: dict[str, list[np.ndarray]] = {}
    ids: dict[str, list[str | None]] = {}
    for language in config["languages"]:
        path = f"{arguments.shared}/data/ud/{language}_pud-ud-test.conllu"
        corpus = lmkin.read_corpus(path)[: arguments.sentences]
        ids[language] = [sentence.id for sentence in corpus]
        if ids[language] != ids["en"]:
            raise SystemExit(f"The sentences of {language} are not those of English.")
        acts = lmkin.extract(model, corpus, units="sentence", special_tokens="drop", progress=False)
        vectors[language] = [directions(np.asarray(acts.layer(layer))) for layer in acts.layers]
    return {
        language: [
            float(np.mean((a @ b.T).argmax(1) == np.arange(len(a))))
            for a, b in zip(vectors[language], vectors["en"], strict=True)
        ]
        for language in config["languages"]
        if language != "en"
    }


def directions(X: np.ndarray) -> np.ndarray:
    """Rows less their mean, of length 1."""
    centred = np.asarray(X, np.float64) - np.mean(X, 0, dtype=np.float64)
    return np.asarray(centred / np.linalg.norm(centred, axis=1, keepdims=True))


if __name__ == "__main__":
    main()
