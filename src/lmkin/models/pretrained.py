"""Transformers from a folder, the hub or a configuration; the library's errors in our words."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import torch
import transformers

from ..errors import LmkinWarning, ModelError
from .loading import LoadOptions
from .tokens import Tokenizer
from .transformer import TransformerModel


def load_pretrained(
    location: str, options: LoadOptions, *, spec: str, name: str
) -> TransformerModel:
    """Load a pretrained model and its tokenizer."""
    with _quiet(), _explained(location, name):
        tokenizer = _load_tokenizer(location, options)
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
    }
    with _quiet():
        return _finish(module, tokenizer, options, name, provenance, unset)


def load_fresh(
    location: str, options: LoadOptions, *, spec: str, seed: int, name: str
) -> TransformerModel:
    """The untrained twin: same configuration and tokenizer, weights drawn anew from a seed."""
    with _quiet(), _explained(location, name), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tokenizer = _load_tokenizer(location, options)
        config = transformers.AutoConfig.from_pretrained(
            location, revision=options.revision, trust_remote_code=options.trust_remote_code
        )
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
    }
    with _quiet():
        return _finish(module, tokenizer, options, name, provenance, frozenset())


def _finish(
    module: Any,
    tokenizer: Tokenizer,
    options: LoadOptions,
    name: str,
    provenance: dict[str, Any],
    unset: frozenset[str],
) -> TransformerModel:
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
    with _quiet(), _explained(location, location):
        return _load_tokenizer(location, options)


def _load_tokenizer(location: str, options: LoadOptions) -> Tokenizer:
    return Tokenizer(
        transformers.AutoTokenizer.from_pretrained(
            location, revision=options.revision, trust_remote_code=options.trust_remote_code
        )
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
        reason = str(error).splitlines()[0]
        raise ModelError(
            f"The device {name!r} cannot be used here ({reason}). Try device='cpu' or 'auto'."
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
    except ModelError:
        raise
    except ImportError as error:
        raise ModelError(
            f"{name} needs a library that is not installed: {_first_line(error)} "
            f"(SentencePiece tokenizers: pip install 'lmkin[sentencepiece]')."
        ) from error
    except (OSError, ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise ModelError(
            f"Cannot load the model {location!r}: {_first_line(error)} Give a folder with config.json, weights and "
            f"tokenizer, or a name on the Hugging Face hub (which must be reachable, or the model in its cache)."
        ) from error
    except Exception as error:  # safetensors and tokenizers raise classes of their own
        if type(error).__module__.split(".")[0] not in {
            "safetensors_rust",
            "safetensors",
            "builtins",
        }:
            raise
        raise ModelError(
            f"Cannot load the model {location!r}: its weights or tokenizer are damaged "
            f"({_first_line(error)})"
        ) from error


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if text.endswith(".") else text + "."
