"""Train a small multilingual encoder: masked words in treebanks' sentences and in manuals of many languages.

    apt-get install installation-guide-amd64 libreoffice-help-{en-us,de,fr,es,pt,pl,ru,fi,ja}
    OMP_NUM_THREADS=1 python studies/cross-lingual/train_encoder.py --minutes 60 [--until 05:00] [--pud none]
        [--shared FOLDER] [--manuals FOLDER] [--out FOLDER]

Reads config.json. Writes the encoder to --out, an ordinary Hugging Face folder that is whole at any time, and its log,
results/encoder.json: corpus, sizes, loss by language. A run that was killed goes on from its last checkpoint, in
OUT.checkpoints. The rate of learning falls with the time that is spent, so that a slower machine takes fewer steps,
and gets other weights.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
from encoder_start import count_embeddings
from encoder_texts import (
    Passage,
    corpus_sizes,
    held_out_pages,
    read_manual,
    read_sentences,
)
from encoder_tokens import Sequence, Sequences, repetitions, train_tokenizer
from torch.nn.functional import cross_entropy
from transformers import (
    BertConfig,
    BertForMaskedLM,
    DataCollatorForLanguageModeling,
    PreTrainedTokenizerFast,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)
from transformers.trainer_utils import get_last_checkpoint

HERE = Path(__file__).parent
_TESTED = 32  # sequences of each language and kind


def main() -> None:
    """Train, or go on."""
    arguments = parse_arguments()
    config = json.loads((HERE / "config.json").read_text())["encoder"]
    out: Path = arguments.out or HERE / "reports" / config["name"]
    kept = out.with_name(f"{out.name}.checkpoints")
    kept.mkdir(parents=True, exist_ok=True)
    check_settings(kept / "settings.json", {"pud": arguments.pud, "config": config})
    torch.set_num_threads(arguments.threads)
    set_seed(config["seed"])

    places = {"data": f"{arguments.shared}/data", "manuals": str(arguments.manuals).rstrip("/")}
    passages, counts = read_passages(config, places)
    held_out = held_out_pages(passages, config["held_out"])
    seen = [
        p
        for p in passages
        if (p.source, p.page) not in held_out and (p.source != "pud" or arguments.pud == "all")
    ]
    tokenizer = make_tokenizer(kept / "tokenizer", seen, config)
    sequences = Sequences(passages, tokenizer, config["length"])
    by_language = training_sequences(seen, sequences, config["seed"])
    tests = test_sequences(passages, held_out, sequences)
    model = BertForMaskedLM(shape(config, len(tokenizer)))
    if config["start"] == "counts" and not get_last_checkpoint(str(kept)):
        width = config["shape"]["hidden_size"]
        rows = count_embeddings(seen, sequences, len(tokenizer), width, config["seed"])
        model.bert.embeddings.word_embeddings.weight.data = torch.from_numpy(rows)
        model.tie_weights()

    log = arguments.log
    record = {
        "pud": arguments.pud,
        "parameters": sum(p.numel() for p in model.parameters()),
        "vocabulary": len(tokenizer),
        "left out": counts,
        "corpus": describe(passages, seen, sequences, by_language, config),
        "unigram loss": unigram_losses(by_language, tests, tokenizer, config),
        "evaluations": [],
    }
    if log.exists() and get_last_checkpoint(str(kept)):
        record["evaluations"] = json.loads(log.read_text())["evaluations"]
    clock = Clock(arguments.minutes, arguments.until, kept / "clock.json")
    watch = Watch(clock, arguments.save_every, out, tokenizer, tests, log, record, config)
    fit(model, tokenizer, by_language, watch, kept, config)


def parse_arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("LMKIN_SHARED", str(HERE.parents[2] / "shared"))
    parser.add_argument("--shared", default=shared, help="folder with data/")
    parser.add_argument("--manuals", default="/", help="where Debian's packages are unpacked")
    parser.add_argument("--out", type=Path, help="folder of the encoder")
    parser.add_argument("--log", type=Path, default=HERE / "results" / "encoder.json")
    parser.add_argument(
        "--pud", choices=["all", "none"], default="all", help="PUD's text: read it or not"
    )
    parser.add_argument("--minutes", type=float, default=60, help="in all, of all runs together")
    parser.add_argument("--until", help="stop at this time at the latest, HH:MM UTC")
    parser.add_argument("--save-every", type=float, default=5, help="minutes")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def check_settings(path: Path, settings: dict[str, Any]) -> None:
    """Keep the settings of a run; stop if what is there was made with others."""
    if path.exists() and json.loads(path.read_text()) != settings:
        raise SystemExit(
            f"{path.parent} was made with other settings: delete it, or take another --out."
        )
    path.write_text(json.dumps(settings, indent=2))


def read_passages(
    config: dict[str, Any], places: dict[str, str]
) -> tuple[list[Passage], dict[str, Counter[str]]]:
    """All passages, and what was left out of each manual."""
    passages: list[Passage] = []
    counts = {}
    for source, settings in config["sentences"].items():
        for language in config["languages"] + settings.get("also", []):
            passages += read_sentences(settings, source, language, places)
    for source, settings in config["manuals"].items():
        languages = config["languages"] + settings.get("also", [])
        found, counts[source] = read_manual(settings, source, languages, places)
        passages += found
    return passages, counts


def make_tokenizer(folder: Path, passages: list[Passage], config: dict[str, Any]) -> Any:
    """The tokenizer of an earlier run, or a new one."""
    if not (folder / "tokenizer.json").exists():
        train_tokenizer(
            passages, config["vocabulary"], config["training"]["smoothing"], config["length"]
        ).save_pretrained(folder)
    return PreTrainedTokenizerFast.from_pretrained(folder)


def shape(config: dict[str, Any], vocabulary: int) -> BertConfig:
    """The encoder's configuration; without dropout, as nothing is read more than a few times."""
    return BertConfig(
        vocab_size=vocabulary,
        max_position_embeddings=config["length"],
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=0,
        # The backward pass of torch's fused attention takes four fifths of a step on a processor.
        attn_implementation="eager",
        **config["shape"],
    )


def training_sequences(
    passages: list[Passage], sequences: Sequences, seed: int
) -> dict[str, list[Sequence]]:
    """By language: its texts alone, and passages of the manuals beside their translations."""
    by_language: dict[str, list[Sequence]] = {}
    for language in dict.fromkeys(p.language for p in passages):
        by_language[language] = list(
            sequences.alone([p for p in passages if p.language == language])
        )
    for language, sequence in sequences.paired(passages, seed):
        by_language[language].append(sequence)
    return by_language


def test_sequences(
    passages: list[Passage], held_out: set[tuple[str, str]], sequences: Sequences
) -> dict[str, dict[str, list[Sequence]]]:
    """Pages of the manuals that are held out, and PUD, which is held out or not: the same places in all languages."""
    tests: dict[str, dict[str, list[Sequence]]] = {"manuals": {}, "pud": {}}
    for language in dict.fromkeys(p.language for p in passages):
        mine = [p for p in passages if p.language == language]
        pages = [p for p in mine if (p.source, p.page) in held_out]
        for kind, texts in (("manuals", pages), ("pud", [p for p in mine if p.source == "pud"])):
            found = list(sequences.alone(texts))
            if found:
                at = np.linspace(0, len(found) - 1, min(_TESTED, len(found))).round().astype(int)
                tests[kind][language] = [found[k] for k in at]
    return tests


def describe(
    passages: list[Passage],
    seen: list[Passage],
    sequences: Sequences,
    by_language: dict[str, list[Sequence]],
    config: dict[str, Any],
) -> dict[str, Any]:
    """Passages, characters and tokens by language and source, and what one round over the data holds."""
    sizes: dict[str, Any] = dict(corpus_sizes(seen))
    tokens = Counter((p.language, p.source) for p in seen for _ in sequences.ids(p))
    for (language, source), n in tokens.items():
        sizes[language][source]["tokens"] = n
    times = repetitions(token_counts(by_language), config["training"]["smoothing"])
    for language, found in by_language.items():
        sizes[language]["round"] = {
            "sequences": len(found),
            "with translation": sum(any(types) for _, types in found),
            "tokens": sum(len(ids) for ids, _ in found),
            "times": times[language],
        }
    return {"passages held out": len(passages) - len(seen), "languages": sizes}


def token_counts(by_language: dict[str, list[Sequence]]) -> dict[str, int]:
    """Tokens of each language."""
    return {name: sum(len(ids) for ids, _ in found) for name, found in by_language.items()}


def as_features(found: list[Sequence]) -> list[dict[str, list[int]]]:
    """Sequences as Hugging Face's collators take them."""
    return [{"input_ids": ids, "token_type_ids": types} for ids, types in found]


def masked_batches(
    found: list[Sequence], tokenizer: Any, config: dict[str, Any]
) -> list[dict[str, torch.Tensor]]:
    """Test sequences in batches, with the same tokens masked every time."""
    collate = DataCollatorForLanguageModeling(
        tokenizer, mlm_probability=config["training"]["masked"], seed=config["seed"]
    )
    features = as_features(found)
    return [dict(collate(features[k : k + 16])) for k in range(0, len(features), 16)]


def unigram_losses(
    by_language: dict[str, list[Sequence]],
    tests: dict[str, dict[str, list[Sequence]]],
    tokenizer: Any,
    config: dict[str, Any],
) -> dict[str, dict[str, float]]:
    """Loss at the masked tokens of who knows the language and its tokens' frequencies, and nothing else."""
    losses: dict[str, dict[str, float]] = {}
    for kind, by_test in tests.items():
        losses[kind] = {}
        for language, found in by_test.items():
            counts = np.ones(len(tokenizer))
            for ids, types in by_language.get(language, []):
                if not any(types):
                    np.add.at(counts, ids[1:-1], 1)
            labels = torch.cat(
                [b["labels"][b["labels"] != -100] for b in masked_batches(found, tokenizer, config)]
            )
            losses[kind][language] = float(
                np.log(counts.sum()) - np.log(counts[labels.numpy()]).mean()
            )
    return losses


class Clock:
    """Minutes spent, those of earlier runs included, and the share of all that there are."""

    def __init__(self, minutes: float, until: str | None, path: Path) -> None:
        self._path = path
        self._earlier = json.loads(path.read_text())["minutes"] if path.exists() else 0.0
        self._begin = time.monotonic()
        self._all = minutes
        if until:
            now = datetime.now(UTC)
            hour, minute = map(int, until.split(":"))
            end = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
            end += timedelta(days=end <= now)
            self._all = min(minutes, self._earlier + (end - now).total_seconds() / 60)

    def minutes(self) -> float:
        """Spent so far."""
        return self._earlier + (time.monotonic() - self._begin) / 60

    def share(self) -> float:
        """Spent so far, as a share."""
        return min(1.0, self.minutes() / self._all)

    def keep(self) -> None:
        """Note the time beside the checkpoint."""
        self._path.write_text(json.dumps({"minutes": self.minutes()}))


@dataclass
class Watch(TrainerCallback):
    """Saves every few minutes, publishes what is saved, tests it, and stops in time."""

    clock: Clock
    every: float
    out: Path
    tokenizer: Any
    tests: dict[str, dict[str, list[Sequence]]]
    log: Path
    record: dict[str, Any]
    config: dict[str, Any]
    last: float = 0.0
    trained: float = math.nan

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """What an untrained encoder makes of it."""
        self.last = self.clock.minutes()
        if not self.record["evaluations"]:
            self.evaluate(kwargs["model"], state)

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Keep the loss in training."""
        self.trained = kwargs["logs"].get("loss", self.trained)
        print(f"{self.clock.minutes():.1f} min", state.global_step, kwargs["logs"], flush=True)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        """Save when it is time; stop when it is over."""
        over = self.clock.share() >= 1
        if over or self.clock.minutes() - self.last >= self.every:
            control.should_save = True
            control.should_training_stop = over
        return control

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Publish and test."""
        self.clock.keep()
        publish(kwargs["model"], self.tokenizer, self.out)
        self.evaluate(kwargs["model"], state)
        self.last = self.clock.minutes()

    def evaluate(self, model: Any, state: Any) -> None:
        """Add the loss by language to the log."""
        model.eval()
        entry: dict[str, Any] = {
            "minutes": round(self.clock.minutes(), 1),
            "steps": state.global_step,
            "tokens": int(state.num_input_tokens_seen),
            "training": None if math.isnan(self.trained) else round(self.trained, 3),
        }
        for kind, by_language in self.tests.items():
            entry[kind] = {
                language: test_loss(model, masked_batches(found, self.tokenizer, self.config))
                for language, found in by_language.items()
            }
        model.train()
        self.record["evaluations"].append(entry)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text(json.dumps(self.record, indent=1, ensure_ascii=False) + "\n")
        print(json.dumps(entry), flush=True)


def test_loss(model: Any, batches: list[dict[str, torch.Tensor]]) -> dict[str, float]:
    """Mean loss at masked tokens in nats, and the share that is guessed right."""
    losses, right = [], []
    with torch.no_grad():
        for batch in batches:
            scores, labels = masked_scores(model, batch)
            losses.append(cross_entropy(scores, labels, reduction="none"))
            right.append(scores.argmax(-1) == labels)
    return {
        "loss": round(float(torch.cat(losses).mean()), 3),
        "right": round(float(torch.cat(right).float().mean()), 3),
    }


def masked_scores(model: Any, batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores and labels of the masked tokens alone: scores of the others are most of the work, and not needed."""
    labels = batch["labels"]
    hidden = model.bert(
        input_ids=batch["input_ids"],
        attention_mask=batch["attention_mask"],
        token_type_ids=batch["token_type_ids"],
    ).last_hidden_state
    chosen = labels != -100
    return model.cls(hidden[chosen]), labels[chosen]


def publish(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a Hugging Face folder, file by file at once, so that it can be loaded at any time."""
    fresh = folder.with_name(f"{folder.name}.new")
    model.save_pretrained(fresh)
    tokenizer.save_pretrained(fresh)
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(fresh.iterdir()):
        file.replace(folder / file.name)
    fresh.rmdir()


class MaskedTrainer(Trainer):
    """Hugging Face's Trainer, with the loss computed at masked tokens only, in half precision or not."""

    half = False

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Mean over the masked tokens of the batch."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            scores, labels = masked_scores(model, inputs)
        return cross_entropy(scores.float(), labels)


def fit(
    model: Any,
    tokenizer: Any,
    by_language: dict[str, list[Sequence]],
    watch: Watch,
    kept: Path,
    config: dict[str, Any],
) -> None:
    """Train with AdamW; the rate rises over the first share of the time, then falls to nothing along a cosine."""
    settings: dict[str, float] = config["training"]
    times = repetitions(token_counts(by_language), settings["smoothing"])
    data = as_features([s for name, found in by_language.items() for s in found * times[name]])
    groups: list[dict[str, Any]] = [
        {"params": [p for p in model.parameters() if p.ndim > 1]},
        {"params": [p for p in model.parameters() if p.ndim == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(
        groups,
        lr=settings["rate"],
        betas=(0.9, 0.98),
        weight_decay=settings["weight_decay"],
        fused=True,
    )

    def rate(step: int) -> float:
        share = watch.clock.share()
        if share < settings["warm_up"]:
            return max(share, 1e-4) / settings["warm_up"]
        left = (share - settings["warm_up"]) / (1 - settings["warm_up"])
        return (1 + math.cos(math.pi * left)) / 2

    trainer = MaskedTrainer(
        model=model,
        args=TrainingArguments(
            output_dir=str(kept),
            per_device_train_batch_size=int(settings["batch"]),
            max_steps=10**6,  # time ends it
            save_strategy="no",  # the watch says when
            save_total_limit=1,
            logging_steps=50,
            include_num_input_tokens_seen="non_padding",
            use_cpu=True,
            seed=config["seed"],
            report_to="none",
            disable_tqdm=True,
            remove_unused_columns=False,
        ),
        train_dataset=data,
        data_collator=DataCollatorForLanguageModeling(
            tokenizer, mlm_probability=settings["masked"]
        ),
        optimizers=(optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, rate)),
        callbacks=[watch],
    )
    trainer.half = bool(settings["bf16"])
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(kept)))


if __name__ == "__main__":
    main()
