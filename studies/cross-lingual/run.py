"""What probes of English words know of other languages: English encoders, a small multilingual one, its twin.

    python studies/cross-lingual/run.py [--shared FOLDER] [--encoder FOLDER] [--out FOLDER] [--part pud|pmb]
        [--models MiniLM,e5-small] [--tags upos] [--thresholds 0.1,0.3] [--l1 0.003] [--sentences 100]

Reads config.json; writes tables and pictures to results/, and full reports, which are not kept in the repository, to
reports/. A run that is killed goes on. The multilingual encoder is made by train_encoder.py (see ENCODER.md).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from documents import documents, translations

os.environ.setdefault("HF_HUB_OFFLINE", "1")
HERE = Path(__file__).parent
PARTS = ("pud", "pmb")
TABLES = ("languages", "families", "neurons", "classes", "models")


def main() -> None:
    """Run the study."""
    import lmkin

    arguments = parse_arguments()
    config = json.loads((HERE / "config.json").read_text())
    places = {
        "models": f"{arguments.shared}/models",
        "data": f"{arguments.shared}/data",
        "encoder": arguments.encoder,
    }
    models = open_models(config["models"], arguments.models, places)
    parts = [arguments.part] if arguments.part else list(PARTS)
    for name, corpora in parallel_corpora(config, parts, places):
        about = config[name.partition("-")[0]]
        options = {**config["options"], **about["options"]}
        if arguments.thresholds:
            options["thresholds"] = [float(t) for t in arguments.thresholds.split(",")]
        if arguments.l1 is not None:
            options["l1"] = arguments.l1
        tags = arguments.tags.split(",") if arguments.tags else about["tags"]
        some = {k: corpus[: arguments.sentences] for k, corpus in corpora.items()}
        begun = time.perf_counter()
        result = lmkin.cross_lingual(
            models, some, tags=tags, workspace=arguments.reports / f"{name}.unfinished", **options
        )
        keep(result, arguments.reports / name, arguments.out, name, config["charts"])
        print(f"{name}: {(time.perf_counter() - begun) / 60:.1f} minutes", flush=True)


def parse_arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("LMKIN_SHARED", str(HERE.parents[2] / "shared"))
    parser.add_argument("--shared", default=shared, help="folder with data/ and models/")
    parser.add_argument(
        "--encoder", default=str(HERE / "encoder"), help="what train_encoder.py made"
    )
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument(
        "--reports", type=Path, default=HERE / "reports", help="and unfinished work"
    )
    parser.add_argument("--part", choices=PARTS, help="one of the two; both by default")
    parser.add_argument("--models", help="names of config.json with commas; all by default")
    parser.add_argument("--tags", help="with commas; by default those of config.json")
    parser.add_argument("--thresholds", help="with commas; by default those of config.json")
    parser.add_argument("--l1", type=float, help="penalty; by default chosen along a path")
    parser.add_argument("--sentences", type=int, help="only the first so many, for a try")
    return parser.parse_args()


def open_models(specs: dict[str, str], names: str | None, places: dict[str, str]) -> list[Any]:
    """The models of the study, or some of them."""
    import lmkin

    wanted = names.split(",") if names else list(specs)
    unknown = [name for name in wanted if name not in specs]
    if unknown:
        raise SystemExit(f"config.json has no model {unknown[0]!r}: {', '.join(specs)}.")
    needs_encoder = [name for name in wanted if "{encoder}" in specs[name]]
    if needs_encoder and not Path(places["encoder"]).is_dir():
        raise SystemExit(
            f"There is no encoder at {places['encoder']}: train it (train_encoder.py), name its folder (--encoder), or "
            f"leave out {' and '.join(needs_encoder)} (--models)."
        )
    return [lmkin.load_model(specs[name].format(**places), name=name) for name in wanted]


def parallel_corpora(
    config: dict[str, Any], parts: list[str], places: dict[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and corpora by language of each run: PUD in nine languages; PMB in English and another."""
    import lmkin

    if "pud" in parts:
        pud = config["pud"]
        files = {k: pud["files"].format(language=k, **places) for k in pud["languages"]}
        yield "pud", {k: lmkin.read_corpus(file) for k, file in files.items()}
    if "pmb" in parts:
        pmb = config["pmb"]
        english = documents(pmb["files"], "en", places)
        for language in pmb["languages"]:
            other = documents(pmb["files"], language, places)
            yield f"pmb-{language}", translations(english, other, ("en", language))


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
