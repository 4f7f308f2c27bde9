"""Whatever file of a run is the last one: the same run goes on, does nothing finished again, and gives the same.

By injection, for every registered analysis: the process "ends" before or after a file gets its name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import lmkin
from least_runs import corpus_of, least_options, write_conllu
from lmkin.analysis import Analysis, Running, Source, known_analyses
from lmkin.report import run_to_folder

pytestmark = pytest.mark.slow
ANALYSES = known_analyses()
FRACTIONS = (0.0, 0.35, 0.7, 1.0)
"""Of all files that a run writes: where it ends. With EVERY_POINT=1 in the environment, at each of them."""


class KilledError(BaseException):
    """As if the process had ended; no ``except Exception`` mends that."""


@contextmanager
def ends_at(out: Path, file: int, renamed: bool) -> Iterator[list[str]]:
    """Files of a run are counted as they get their names; at one of them the process ends, before or after that.

    What a first run keeps in the user's cache is none of them.
    """
    replace, written = Path.replace, []

    def watched(self: Path, target: Any) -> Path:
        if not (self.name.endswith(".tmp") and Path(target).is_relative_to(out)):
            return replace(self, target)
        written.append(Path(target).name)
        if len(written) == file and not renamed:
            raise KilledError
        done = replace(self, target)
        if len(written) == file:
            raise KilledError
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", watched)
        patch.setattr("lmkin.rows.passes.CHUNK", 32)
        patch.setattr("lmkin.measures.kept_scores.EVERY", 0.0)
        yield written


def run(analysis: Analysis[Any], models: list[Path], corpus: Path, out: Path) -> Any:
    options = least_options(analysis, parts=3)
    source = Source(
        models,
        corpus_of(analysis, corpus),
        untrained=True,
        reading=analysis.reading,
        attention=analysis.attention,
        by_name=analysis.by_name,
    )
    result, _ = run_to_folder(analysis, source, options, Running(progress=False), out, charts=False)
    return result


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "few.conllu"
    return write_conllu(path, lmkin.read_corpus("sample")[:60])


@pytest.mark.parametrize("name", ANALYSES)
@pytest.mark.filterwarnings("ignore::lmkin.core.errors.LmkinWarning")
def test_a_run_goes_on_from_any_file(name: str, model_folder, corpus: Path, tmp_path: Path) -> None:
    analysis, models = ANALYSES[name], [model_folder("bert")]
    with ends_at(tmp_path, 0, renamed=False) as files:
        whole = run(analysis, models, corpus, tmp_path / "whole")
    total = list(files)
    every = [k / (len(total) - 1) for k in range(len(total))]
    for number, fraction in enumerate(every if os.environ.get("EVERY_POINT") else FRACTIONS):
        out, last = tmp_path / f"{number}", 1 + round(fraction * (len(total) - 1))
        with ends_at(out, last, renamed=bool(number % 2)) as before, pytest.raises(KilledError):
            run(analysis, models, corpus, out)
        finished = before if number % 2 else before[:-1]
        with ends_at(out, 0, renamed=False) as after:
            again = run(analysis, models, corpus, out)
        # A shard, a store, a step: its name is made of what it depends on, so that it counts once.
        kept = {n for n in finished if re.fullmatch(r"[a-z0-9_-]+\.[0-9a-f]{32}\.safetensors", n)}
        redone = kept & set(after) - {n for n in kept if n.startswith("scores.")}
        # But for the shard under way: it is finished when the files of all its accumulators are there, one of each.
        under_way = finished[len(finished) - len(redone) :]
        assert redone == set(under_way), f"{fraction}: done again"
        assert len({n.partition(".")[0] for n in redone}) == len(redone) < 4
        xr.testing.assert_equal(again.dataset, whole.dataset)
        assert {p.name for p in out.iterdir()} == {p.name for p in (tmp_path / "whole").iterdir()}
        assert lmkin.load(out).findings() == whole.findings()
