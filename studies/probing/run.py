"""What layers and neurons of three encoders, a decoder and untrained twins know of tags: oracle, layers, smallest sets.

    python studies/probing/run.py [--shared FOLDER] [--out FOLDER] [--corpus ewt|pmb|conll2000|twins|cumulative|ccg]

Reads config.json; writes tables and pictures to results/, and full reports, which are not kept in the repository, to
reports/. A run that is killed goes on.
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
SPLITS = ("train", "dev", "test")


def main() -> None:
    """Run the study."""
    import lmkin

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("LMKIN_SHARED", str(HERE.parents[2] / "shared"))
    parser.add_argument("--shared", default=shared, help="folder with data/ and models/")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--corpus", help="one of those of config.json; all by default")
    arguments = parser.parse_args()
    config = json.loads((HERE / "config.json").read_text())
    places = {"models": f"{arguments.shared}/models", "data": f"{arguments.shared}/data"}
    for name, about in config["corpora"].items():
        if arguments.corpus not in (None, name):
            continue
        models = {
            model: lmkin.load_model(config["models"][model].format(**places), name=model)
            for model in about["models"]
        }
        corpora = {s: first_words(about.get(s), config[f"{s}_words"], places) for s in SPLITS}
        given = {split: corpus for split, corpus in corpora.items() if corpus is not None}
        report = HERE / "reports" / name
        result = lmkin.probe(
            list(models.values()), given, tag=about["tags"],
            thresholds=about.get("thresholds", config["thresholds"]),
            workspace=report.with_name(f"{name}.unfinished"),
            **{**config["options"], **about.get("options", {})},
        )  # fmt: skip
        keep(result, report, arguments.out, name, config["charts"])
        if about.get("smallest", True):
            smallest(result, config["smallest"], arguments.out / f"{name}-smallest.csv")
        if about.get("also"):
            other = first_words(about["also"], config["test_words"], places)
            elsewhere(result, models, other, arguments.out / f"{name}-elsewhere.csv")


def first_words(file: str | None, words: int, places: dict[str, str]) -> Any:
    """The first sentences of a file that have so many words."""
    import lmkin

    if file is None:
        return None
    corpus, count = lmkin.read_corpus(file.format(**places)), 0
    for number, sentence in enumerate(corpus):
        count += len(sentence.words)
        if count >= words:
            return corpus[: number + 1]
    return corpus


def keep(result: Any, report: Path, out: Path, name: str, charts: list[str]) -> None:
    """Write the report, and the small tables and pictures of it."""
    import lmkin

    lmkin.write_result(result, report, overwrite=True)
    out.mkdir(parents=True, exist_ok=True)
    for table in result.tables():
        if table.name != "classes":
            shutil.copy(report / f"{table.name}.csv", out / f"{name}-{table.name}.csv")
    for chart in charts:
        if (report / "charts" / f"{chart}.png").is_file():
            shutil.copy(report / "charts" / f"{chart}.png", out)
    print(name, *result.findings(), *result.alerts, sep="\n")


def smallest(result: Any, about: dict[str, Any], path: Path) -> None:
    """The first neurons of a ranking that keep the oracle's score on dev, what they score on test, where they lie."""
    import pandas as pd

    import lmkin

    rows = []
    for model in about["models"]:
        for task in result.tasks:
            for method in about["methods"]:
                ranking = lmkin.rank_neurons(result, method, task=task, model=model)
                found = lmkin.minimal_neurons(ranking, about["tolerance"])
                layers = max(found.by_layer.items(), key=lambda item: item[1])
                rows.append(
                    {
                        "model": model, "task": task, "ranking": method, "neurons": len(found),
                        "of": len(ranking.order), "fits": found.fits,
                        "test": round(float(found.test.value[0]), 4),
                        "test_se": round(float(found.test.interval.se[0]), 4),
                        "most in layer": layers[0], "there": layers[1],
                    }
                )  # fmt: skip
                pd.DataFrame(rows).to_csv(path, index=False)


def elsewhere(result: Any, models: dict[str, Any], corpus: Any, path: Path) -> None:
    """Accuracy of the same probes on text of another kind."""
    import pandas as pd

    import lmkin

    rows = []
    for name, model in models.items():
        acts = lmkin.extract(model, corpus, progress=False)
        for task in result.tasks:
            true = acts.units.tags(task)
            for probe in [str(p) for p in result.dataset["probe"].values]:
                if "-" in probe or probe not in known_probes(result, name):
                    continue
                told = result.predict(acts, probe, task=task, model=name)
                right = sum(a == b for a, b in zip(true, told, strict=True)) / len(true)
                at = {"model": name, "task": task, "probe": probe, "split": "test"}
                own = float(result.dataset["accuracy"].sel(at))
                rows.append({**at, "own test": round(own, 4), "elsewhere": round(right, 4)})
    pd.DataFrame(rows).drop(columns="split").to_csv(path, index=False)


def known_probes(result: Any, model: str) -> list[str]:
    """The sets of layers that a model was probed on."""
    width = result.dataset["width"].sel(model=model).isel(task=0)
    return [str(p) for p in width["probe"].values[width.notnull().values]]


if __name__ == "__main__":
    main()
