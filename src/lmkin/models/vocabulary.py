"""Whether a tokenizer has a vocabulary.

From a folder without a tokenizer's files transformers makes one out of ``config.json`` that knows special tokens alone:
every word becomes the unknown token, or none at all, and nothing is said.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core import ModelError, Unfit, Whole, checked, parse_json, read_file

MOST_TOKENS = 10_000_000
FEWEST = 4
"""Ordinary tokens that a vocabulary has at least: the smallest alphabet in use, that of DNA, has four letters."""
_FILES = "tokenizer.json, vocab.txt, vocab.json with merges.txt, or a SentencePiece model"
_PATTERNS = (
    "tokenizer*.json",
    "*vocab*",
    "*.model",
    "*.spm",
    "*.tiktoken",
    "tekken*.json",
    "*.bpe",
)
_NO_VOCABULARY = ("tokenizer_config.json",)
_REMEDY = (
    "Put the tokenizer's files into the folder, or name the tokenizer to use: tokenizer=…, the "
    "folder or the hub name of the model whose vocabulary this one was trained with."
)


def ordinary_tokens(hf: Any) -> int:
    """The number of tokens of a Hugging Face tokenizer that are neither special nor were added to its vocabulary."""
    special = {*hf.all_special_tokens, *hf.get_added_vocab()}
    return sum(token not in special for token in hf.get_vocab())


_IDS = {
    "model": {"vocab?": Any, str: Any},
    "added_tokens?": [{"id": Whole(0, MOST_TOKENS), str: Any}],
    str: Any,
}


def require_sane_tokenizer(location: str, name: str) -> None:
    """Raise if a tokenizer's file numbers its tokens beyond any vocabulary: the library would end the process."""
    path = Path(location) / "tokenizer.json"
    if not path.is_file():
        return
    try:
        vocabulary = checked(parse_json(read_file(path, error=ModelError)), _IDS)["model"].get(
            "vocab"
        )
        ids = vocabulary.values() if isinstance(vocabulary, dict) else ()
        if not all(isinstance(n, int) and 0 <= n <= MOST_TOKENS for n in ids):
            raise Unfit(f"a token has a number that is none from 0 to {MOST_TOKENS:,}")
    except Unfit as error:
        raise ModelError(f"The tokenizer of {name} is damaged: {path}: {error}.") from None


def require_vocabulary(hf: Any, location: str, name: str) -> None:
    """Raise if a tokenizer knows hardly anything but special tokens."""
    count = ordinary_tokens(hf)
    if count >= FEWEST:
        return
    names: dict[str, str] = getattr(hf, "vocab_files_names", {})
    own = [file for kind, file in names.items() if kind != "tokenizer_file"]
    wanted = ["tokenizer.json", " with ".join(own)] if own else ["tokenizer.json"]
    if _vocabulary_files(location):
        what = f"what lies in {location} has"
    else:
        what = f"{location} has neither {' nor '.join(wanted)}, and what transformers makes up instead has"
    fate = f"becomes {hf.unk_token}" if hf.unk_token else "is lost"
    raise ModelError(
        f"{name} comes without the vocabulary of its tokenizer: {what} {count or 'no'} "
        f"{'token' if count == 1 else 'tokens'} besides the special ones, so that every word {fate}. {_REMEDY}"
    )


def missing_files_error(location: str, name: str) -> ModelError | None:
    """What to say of a tokenizer that could not be made, if that is for want of files; else None."""
    folder = Path(location)
    if not folder.is_dir():
        return None
    files = _vocabulary_files(location)
    if not files:
        return ModelError(
            f"{name} comes without a tokenizer: {location} has none of the files that hold a vocabulary ({_FILES}). "
            f"{_REMEDY}"
        )
    halves = {"vocab.json": "merges.txt", "merges.txt": "vocab.json"}
    lacking = [other for file, other in halves.items() if file in files and other not in files]
    if lacking and "tokenizer.json" not in files:
        return ModelError(
            f"{name} comes with one half of a tokenizer: {location} has {halves[lacking[0]]}, but neither "
            f"{lacking[0]} nor tokenizer.json. {_REMEDY}"
        )
    return None


def _vocabulary_files(location: str) -> set[str]:
    """The files of a folder that may hold a vocabulary."""
    folder = Path(location)
    names = {path.name for pattern in (*_PATTERNS, "merges.txt") for path in folder.glob(pattern)}
    return names.difference(_NO_VOCABULARY)
