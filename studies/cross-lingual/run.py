"""What probes of English words know of eight other languages: English encoders, a small multilingual one, its twin.

    python studies/cross-lingual/run.py [--shared FOLDER] [--encoder FOLDER] [--out FOLDER] [--part pud|pmb]

Reads config.json; writes tables and pictures to results/, and full reports, which are not kept in the repository, to
reports/. A run that is killed goes on. The multilingual encoder is made by train_encoder.py (see ENCODER.md).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
HERE = Path(__file__).parent
TABLES = ("languages", "families", "neurons", "differences")


def main() -> None:
    """Run the study."""
    import lmkin

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("LMKIN_SHARED", str(HERE.parents[2] / "shared"))
    parser.add_argument("--shared", default=shared, help="folder with data/ and models/")
    parser.add_argument(
        "--encoder", default=str(HERE / "encoder"), help="what train_encoder.py made"
    )
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--part", choices=("pud", "pmb"), help="one of the two; both by default")
    arguments = parser.parse_args()
    config = json.loads((HERE / "config.json").read_text())
    places = {
        "models": f"{arguments.shared}/models",
        "data": f"{arguments.shared}/data",
        "encoder": arguments.encoder,
    }
    models = [
        lmkin.load_model(spec.format(**places), name=name)
        for name, spec in config["models"].items()
    ]
    parts = [arguments.part] if arguments.part else ["pud", "pmb"]
    for name, corpora, tags in runs(config, places):
        if name.partition("-")[0] not in parts:
            continue
        result = lmkin.cross_lingual(
            models, corpora, tags=tags, align="id" if name == "pud" else "order",
            workspace=HERE / "reports" / f"{name}.unfinished", **config["options"],
        )  # fmt: skip
        keep(result, HERE / "reports" / name, arguments.out, name, config["charts"])


def runs(config: dict[str, Any], places: dict[str, str]) -> list[tuple[str, dict[str, Any], Any]]:
    """Name, parallel corpora and tags of each run."""
    import lmkin

    pud = config["pud"]
    files = {k: pud["files"].format(language=k, **places) for k in pud["languages"]}
    made = [("pud", {k: lmkin.read_corpus(f) for k, f in files.items()}, pud["tags"])]
    pmb = config["pmb"]
    documents = {k: meaning_bank(pmb["files"], k, places) for k in ("en", *pmb["languages"])}
    for language in pmb["languages"]:
        both = [d for d in documents["en"] if d in documents[language]]
        pair = {
            k: lmkin.Corpus([documents[k][d] for d in both], name=f"pmb-{k}")
            for k in ("en", language)
        }
        made.append((f"pmb-{language}", pair, pmb["tags"]))
    return made


def meaning_bank(files: str, language: str, places: dict[str, str]) -> dict[str, Any]:
    """Sentences of the Parallel Meaning Bank by document, of documents that are one sentence."""
    import lmkin

    found: dict[str, list[Any]] = {}
    for part in ("train", "dev", "test"):
        for sentence in lmkin.read_corpus(files.format(language=language, part=part, **places)):
            found.setdefault(sentence.document, []).append(sentence)
    return {document: some[0] for document, some in found.items() if len(some) == 1}


def keep(result: Any, report: Path, out: Path, name: str, charts: list[str]) -> None:
    """Write the report, and the small tables and pictures of it."""
    import lmkin

    lmkin.write_result(result, report, overwrite=True)
    out.mkdir(parents=True, exist_ok=True)
    for table in TABLES:
        if (report / f"{table}.csv").is_file():
            shutil.copy(report / f"{table}.csv", out / f"{name}-{table}.csv")
    for chart in charts:
        if (report / "charts" / f"{chart}.png").is_file():
            shutil.copy(report / "charts" / f"{chart}.png", out / f"{name}-{chart}.png")
    print(name, *result.findings(), *result.alerts, sep="\n")


if __name__ == "__main__":
    main()
