"""Transformers from a folder, the hub or a configuration; the library's errors in our words."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import torch
import transformers

from ..core import (
    QUOTED_PATH,
    LmkinError,
    LmkinWarning,
    ModelError,
    available_memory,
    human_bytes,
    quoted,
)
from .loader import LoadOptions
from .sources.untrained import tokenizer_location
from .tokens import Tokenizer
from .transformer import TransformerModel
from .vocabulary import missing_files_error, require_sane_tokenizer, require_vocabulary


def load_pretrained(
    location: str, options: LoadOptions, *, spec: str, name: str
) -> TransformerModel:
    """Load a pretrained model and its tokenizer."""
    tokenizer = _own_or_given(location, options, name)
    with _quiet(), _explained(location, name):
        _require_room(_config(location, options), options, name)
        module, info = transformers.AutoModel.from_pretrained(
            location,
            revision=options.revision,
            trust_remote_code=options.trust_remote_code,
            dtype="auto" if options.dtype == "auto" else _torch_dtype(options.dtype),
            attn_implementation="eager" if options.attention else None,
            output_loading_info=True,
        )
    unset = frozenset(info.get("missing_keys", ()))
    # A pooler comes after the last layer: whether it was in the checkpoint changes nothing here.
    matters = sorted(key for key in unset if "pooler" not in key)
    if matters:
        warnings.warn(
            f"{name}: {len(matters)} weights are not in the checkpoint and were made up at random (the first: "
            f"{matters[0]}). Layers behind them are not what their authors trained.",
            LmkinWarning,
            stacklevel=2,
        )
    provenance = {
        "spec": spec,
        "revision": getattr(module.config, "_commit_hash", None) or options.revision,
        "seed": None,
        "made_up_weights": len(matters),
        "tokenizer_spec": options.tokenizer,
    }
    with _quiet(), _explained(location, name):
        return _finish(module, tokenizer, options, name, provenance, unset)


def load_fresh(
    location: str, options: LoadOptions, *, spec: str, seed: int, name: str
) -> TransformerModel:
    """The untrained twin: same configuration and tokenizer, weights drawn anew from a seed."""
    tokenizer = _own_or_given(location, options, name)
    with _quiet(), _explained(location, name), torch.random.fork_rng(devices=[]):
        config = _config(location, options)
        _require_room(config, options, name)
        torch.manual_seed(seed)
        module = transformers.AutoModel.from_config(
            config,
            trust_remote_code=options.trust_remote_code,
            dtype=_torch_dtype(None if options.dtype == "auto" else options.dtype),
            attn_implementation="eager" if options.attention else None,
        )
    provenance = {
        "spec": spec,
        "revision": getattr(config, "_commit_hash", None) or options.revision,
        "seed": seed,
        "made_up_weights": 0,
        "tokenizer_spec": options.tokenizer,
    }
    with _quiet(), _explained(location, name):
        return _finish(module, tokenizer, options, name, provenance, frozenset())


def _config(location: str, options: LoadOptions) -> Any:
    return transformers.AutoConfig.from_pretrained(
        location, revision=options.revision, trust_remote_code=options.trust_remote_code
    )


def _require_room(config: Any, options: LoadOptions, name: str) -> None:
    """Raise if a model of these sizes does not fit into memory, before any of it is made."""
    try:
        with torch.device("meta"):
            shapes = transformers.AutoModel.from_config(
                config, trust_remote_code=options.trust_remote_code
            )
        weights = sum(tensor.numel() for tensor in shapes.state_dict().values())
    except (NotImplementedError, RuntimeError):  # some models compute while they are made
        return
    room = available_memory()
    if 2 * weights > room:  # two bytes each, at the least
        raise ModelError(
            f"{name} has {weights:,} weights by its config.json, and {human_bytes(room)} of memory are free. If it is "
            f"not that large, its config.json is damaged."
        )


def _finish(
    module: Any,
    tokenizer: Tokenizer,
    options: LoadOptions,
    name: str,
    provenance: dict[str, Any],
    unset: frozenset[str],
) -> TransformerModel:
    if options.tokenizer is not None:
        _require_fit(module, tokenizer, options.tokenizer, name)
    side = options.side if module.config.is_encoder_decoder else None
    if side == "encoder":
        module = module.get_encoder()
        unset = frozenset(key.removeprefix("encoder.") for key in unset)
    if options.side == "decoder" and side is None:
        raise ModelError(f"{name} is no encoder-decoder, so it has no decoder side to choose.")
    for switch in ("use_cache", "use_mems_eval"):
        if hasattr(module.config, switch):
            setattr(module.config, switch, False)
    module = module.to(_device(options.device))
    return TransformerModel(
        module, tokenizer, name=name, side=side, provenance=provenance, unset=unset
    )


def load_tokenizer_of(location: str, options: LoadOptions) -> Tokenizer:
    """A tokenizer without its model."""
    return _load_tokenizer(location, options, location, options.revision)


def _own_or_given(location: str, options: LoadOptions, name: str) -> Tokenizer:
    """The tokenizer that was asked for, or the one that lies beside the weights."""
    if options.tokenizer is None:
        return _load_tokenizer(location, options, name, options.revision)
    given = options.tokenizer
    return _load_tokenizer(tokenizer_location(given), options, f"The tokenizer {given}", None)


def _load_tokenizer(
    location: str, options: LoadOptions, name: str, revision: str | None
) -> Tokenizer:
    with _quiet(), _explained(location, name):
        require_sane_tokenizer(location, name)
        try:
            hf = transformers.AutoTokenizer.from_pretrained(
                location, revision=revision, trust_remote_code=options.trust_remote_code
            )
        except ImportError:
            raise
        except Exception as error:
            # What is raised for want of files depends on the class, and says nothing of them.
            missing = missing_files_error(location, name)
            if missing is None:
                raise
            raise missing from error
        require_vocabulary(hf, location, name)
        return Tokenizer(hf)


def _require_fit(module: Any, tokenizer: Tokenizer, spec: str, name: str) -> None:
    """Raise if a tokenizer that was given has more tokens than the model has embeddings."""
    embedded = getattr(module.config, "vocab_size", None)
    # Tokens that were added later (padding, chat) lie behind the embeddings in sound folders, too, and are never met.
    if embedded is not None and tokenizer.hf.vocab_size > embedded:
        raise ModelError(
            f"The tokenizer {spec} is not one of {name}: it has {tokenizer.hf.vocab_size:,} tokens, and the model "
            f"has embeddings for {embedded:,}. Give the tokenizer that the model was trained with."
        )


def _torch_dtype(name: str | None) -> torch.dtype:
    dtype = getattr(torch, name or "float32")
    assert isinstance(dtype, torch.dtype)
    return dtype


def _device(name: str) -> torch.device:
    if name == "auto":
        name = (
            "cuda"
            if torch.cuda.is_available()
            else "mps"
            if torch.backends.mps.is_available()
            else "cpu"
        )
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0][:200]
        raise ModelError(
            f"The device {quoted(name)} cannot be used here ({reason}). Try device='cpu' or 'auto'."
        ) from None
    return device


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the library's progress bars and load reports: what matters of them we say ourselves."""
    logger = transformers.utils.logging
    level, bars = logger.get_verbosity(), logger.is_progress_bar_enabled()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    logger.set_verbosity_error()
    logger.disable_progress_bar()
    hub.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.set_verbosity(level)
        hub.setLevel(hub_level)
        if bars:
            logger.enable_progress_bar()


@contextlib.contextmanager
def _explained(location: str, name: str) -> Iterator[None]:
    """Errors of the library, as one paragraph for the user."""
    try:
        yield
    except LmkinError:
        raise
    except ImportError as error:
        raise ModelError(
            f"{name} needs a library that is not installed: {_first_line(error)} "
            f"(SentencePiece tokenizers: pip install 'lmkin[sentencepiece]')."
        ) from error
    except (OSError, ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise ModelError(
            f"Cannot load the model {quoted(location, QUOTED_PATH)}: {_first_line(error)} Give a folder with "
            f"config.json, weights and tokenizer, or a name on the Hugging Face hub (which must be reachable, or the "
            "model in its cache)."
        ) from error
    except (
        Exception
    ) as error:  # safetensors, tokenizers, huggingface_hub, pickle … raise classes of their own
        raise ModelError(
            f"Cannot load the model {quoted(location, QUOTED_PATH)}: its weights or tokenizer are damaged "
            f"({_first_line(error)})"
        ) from error


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if text.endswith(".") else text + "."
