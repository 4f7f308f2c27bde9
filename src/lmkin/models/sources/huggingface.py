"""Models by Hugging Face name or folder, through ``from_pretrained``."""

from __future__ import annotations

from pathlib import Path

from ...core import QUOTED_PATH, ModelError, near_files, quoted
from ..base import LanguageModel
from ..loader import LoadOptions, model_source


@model_source(
    "huggingface",
    summary="a Hugging Face name (bert-base-cased) or a folder with config.json",
    claims=lambda spec: True,
    last=True,
)
def load_huggingface(spec: str, options: LoadOptions) -> LanguageModel:
    """Load a pretrained model."""
    check_folder(spec)
    from ..pretrained import load_pretrained

    return load_pretrained(spec, options, spec=spec, name=options.name or display_name(spec))


def display_name(spec: str) -> str:
    """A folder by its last part, a hub name as it is."""
    path = Path(spec)
    return path.resolve().name if path.is_dir() else spec


def check_folder(spec: str) -> None:
    """A clear error for a path that is no model, before the hub is asked about it."""
    path = Path(spec).expanduser()
    if path.is_file():
        raise ModelError(
            f"{spec} is a file. A model is a folder with config.json, or a name on the hub; activations "
            f"are read from a store folder, an .hdf5 or a .json file."
        )
    if path.is_dir():
        if not (path / "config.json").exists():
            raise ModelError(
                f"The folder {spec} has no config.json, so it is no Hugging Face model. "
                f"It holds: {', '.join(sorted(p.name for p in path.iterdir())[:8]) or 'nothing'}."
            )
    elif spec.startswith((".", "/", "~")) or spec.count("/") > 1 or not spec:
        raise ModelError(f"There is no model folder {quoted(spec, QUOTED_PATH)}.{near_files(path)}")


def check_tokenizer(spec: str) -> None:
    """Raise if a path holds no tokenizer, before the hub is asked about it."""
    path = Path(spec).expanduser()
    if path.is_file():
        raise ModelError(
            f"{spec} is a file. A tokenizer is the folder that its files lie in, or a name on the hub."
        )
    if not path.is_dir() and (
        spec.startswith((".", "/", "~")) or spec.count("/") > 1 or not spec.strip()
    ):
        raise ModelError(
            f"There is no tokenizer folder {quoted(spec, QUOTED_PATH)}.{near_files(path)}"
        )
