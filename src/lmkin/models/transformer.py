"""Hugging Face transformers as language models: running them, and pooling their tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers

from ..core import ModelError
from ..corpus import Corpus
from .base import AlignedCorpus, FloatArray, IntArray, LanguageModel, Window
from .final_norm import final_norm, layers_of, watched
from .rule import UnitRule
from .tokens import Tokenizer
from .unit_reader import Reader

if TYPE_CHECKING:
    from .attention import UnitAttention

_PROBE_LENGTH = 6


class TransformerModel(LanguageModel):
    """A transformer of the `transformers` library, seen through its hidden states.

    Layers are what ``output_hidden_states`` gives: 0 the embedding output, then one after each block. The last one is
    what the model emits: of pre-norm models after the final norm, which the others are before.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        tokenizer: Tokenizer,
        *,
        name: str,
        side: str | None,
        provenance: dict[str, Any],
        unset: frozenset[str] = frozenset(),
    ):
        self.module = module.eval()
        self.tokenizer = tokenizer
        self.name = name
        self.side = side
        self.config: Any = module.config
        self.device = next(module.parameters()).device
        self._provenance = provenance
        self._unset = unset
        self._weight_hash: str | None = None
        self.limit = _length_limit(module, self.config, tokenizer)
        self.widths, self.causal, self.final_norm = self._probe()
        self.reader = Reader(tokenizer, limit=self.limit, causal=self.causal)

    # -- reading and running -----------------------------------------------------------------

    def read(self, corpus: Corpus, rule: UnitRule) -> AlignedCorpus:
        """Tokenize and align a corpus."""
        return self.reader.read(corpus, rule)

    def run(
        self, windows: Sequence[Window], layers: Sequence[int], *, reduce: str = "sum"
    ) -> tuple[IntArray, list[FloatArray]]:
        """Run a batch and pool its tokens into units."""
        states = layers_of(self.forward([w.ids for w in windows], [w.types for w in windows]))
        width = states[0].shape[1]
        flat = np.concatenate([w.positions + b * width for b, w in enumerate(windows)])
        rows, slot = np.unique(np.concatenate([w.rows for w in windows]), return_inverse=True)
        weights = np.concatenate([w.weights for w in windows])
        index = torch.from_numpy(flat.astype(np.int64)).to(self.device)
        plain = len(rows) == len(flat) and bool((weights == 1).all())
        # np.unique sorts: without repeated rows, `order` brings the tokens into the rows' order.
        order = torch.from_numpy(np.argsort(slot, kind="stable")).to(self.device)
        slots = torch.from_numpy(slot.astype(np.int64)).to(self.device)
        scale = torch.from_numpy(weights).to(self.device)[:, None]
        vectors = []
        for layer in layers:
            tokens = states[layer].flatten(0, 1)
            if plain:
                pooled = tokens.index_select(0, index[order]).float()
            else:
                picked = tokens.index_select(0, index).float()
                pooled = _reduce(picked, slots, len(rows), scale, reduce)
            vectors.append(pooled.cpu().numpy())
        return rows.astype(np.int32), vectors

    @torch.inference_mode()
    def forward(
        self,
        ids: Sequence[Sequence[int]],
        types: Sequence[Sequence[int]],
        *,
        attentions: bool = False,
    ) -> Any:
        """The bare model on a batch, padded on the right and masked; all hidden states.

        Padding is always on the right, whatever the tokenizer prefers: positions then start at 0 in
        every model, and no position ids need to be made up.
        """
        longest = max(len(row) for row in ids)
        shape = (len(ids), longest)
        tokens = torch.full(shape, self.tokenizer.pad_id)
        kinds = torch.zeros(shape, dtype=torch.long)
        mask = torch.zeros(shape, dtype=torch.long)
        for i, (row, kind) in enumerate(zip(ids, types, strict=True)):
            tokens[i, : len(row)] = torch.tensor(row)
            kinds[i, : len(row)] = torch.tensor(kind)
            mask[i, : len(row)] = 1
        inputs = {"input_ids": tokens.to(self.device), "attention_mask": mask.to(self.device)}
        if self.tokenizer.wants_types:
            inputs["token_type_ids"] = kinds.to(self.device)
        try:
            if self.side == "decoder":
                return self._forward_decoder(inputs, attentions=attentions)
            return self.module(
                **inputs, output_hidden_states=True, output_attentions=attentions, return_dict=True
            )
        except IndexError as error:
            raise ModelError(
                f"{self.name} has no embedding for a token or a position that its tokenizer gives ({error}). Its "
                f"folder is damaged, or the tokenizer is of another model (tokenizer=…)."
            ) from error

    def _forward_decoder(self, inputs: dict[str, torch.Tensor], *, attentions: bool) -> Any:
        """The decoder of an encoder-decoder, while it reproduces the sentence its encoder reads.

        Its input is the sentence itself, not shifted: a token's state is where the token goes in. Through
        the encoder it has seen the whole sentence, so it does not count as causal.
        """
        out = self.module(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            decoder_input_ids=inputs["input_ids"],
            decoder_attention_mask=inputs["attention_mask"],
            output_hidden_states=True,
            output_attentions=attentions,
            use_cache=False,
            return_dict=True,
        )
        return transformers.modeling_outputs.BaseModelOutput(
            last_hidden_state=out.last_hidden_state,
            hidden_states=out.decoder_hidden_states,
            attentions=out.decoder_attentions,
        )

    def attention(self, corpus: Corpus, **options: Any) -> Iterator[UnitAttention]:
        """Attention between words or tokens of each sentence; needs ``load_model(…, attention=True)``."""
        from .attention import unit_attention

        return unit_attention(self, corpus, **options)

    @property
    def shows_attention(self) -> bool:
        """Whether the model was loaded so that it can return its attention."""
        return getattr(self.config, "_attn_implementation", None) == "eager"

    # -- what kind of model it is ------------------------------------------------------------

    def _probe(self) -> tuple[tuple[int, ...], bool, str | None]:
        """Widths of all layers, whether the model is causal, and its final norm, by a look at what it does.

        Two inputs that differ in their last token only: in a causal model the other positions agree.
        """
        template = self.tokenizer.single
        special = set(self.tokenizer.hf.all_special_ids)
        ordinary = [i for i in range(min(1000, self._vocabulary())) if i not in special]
        body = (ordinary * _PROBE_LENGTH)[:_PROBE_LENGTH]
        other = [*body[:-1], ordinary[-1]]
        if self.limit is not None:
            body, other = body[-self.limit :], other[-self.limit :]
        rows = [[*template.prefix, *body], [*template.prefix, *other]]
        try:
            with watched(self.module) as steps:
                states = layers_of(self.forward(rows, [[0] * len(rows[0])] * 2))
        except (TypeError, ValueError, RuntimeError, KeyError, AttributeError, IndexError) as error:
            raise ModelError(
                f"{self.name} ({type(self.module).__name__}) does not run on text: "
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}. lmkin reads text encoders, "
                f"decoders and encoder-decoders."
            ) from error
        if not states:
            raise ModelError(
                f"{self.name} ({type(self.module).__name__}) gives no hidden states, so its layers "
                f"cannot be looked at."
            )
        if not all(bool(torch.isfinite(s).all()) for s in states):
            raise ModelError(
                f"{self.name} gives NaN or infinite activations already on a short text. Its weights are damaged, "
                f"or do not fit {self._dtype()}: try dtype='float32'."
            )
        if any(s.shape[1] != len(rows[0]) for s in states):
            raise ModelError(
                f"{self.name} ({type(self.module).__name__}) has layers of fewer positions than it reads, so its "
                f"tokens cannot be followed through them."
            )
        before = states[-1][:, : len(rows[0]) - 1].float()
        spread = before.std().clamp_min(1e-30)
        return (
            tuple(int(s.shape[-1]) for s in states),
            bool(((before[0] - before[1]).abs().max() / spread) < 1e-4),
            final_norm(steps, states[-1]) if len(states) > 1 else None,
        )

    def _vocabulary(self) -> int:
        return int(getattr(self.config, "vocab_size", None) or len(self.tokenizer.hf))

    def _dtype(self) -> str:
        return str(next(self.module.parameters()).dtype).removeprefix("torch.")

    @property
    def pre_norm(self) -> bool:
        """Whether the last layer is after a final norm that the others are before."""
        return self.final_norm is not None

    @property
    def n_parameters(self) -> int:
        """Number of weights."""
        return sum(p.numel() for p in self.module.parameters())

    @property
    def device_type(self) -> str:
        """Where the model runs."""
        return str(self.device.type)

    @property
    def memory(self) -> int:
        """Bytes of the weights."""
        return sum(p.numel() * p.element_size() for p in self.module.parameters())

    def forward_memory(self, tokens: int, longest: int) -> int:
        """About how many bytes of this process a batch takes beside the weights."""
        held = super().forward_memory(tokens, longest)
        if self.device_type != "cpu":
            return held
        size = next(self.module.parameters()).element_size()
        widest = max(self.widths)
        inner = max(
            int(getattr(self.config, name, None) or 0)
            for name in ("intermediate_size", "ffn_dim", "n_inner", "hidden_dim", "d_ff")
        )
        heads = max(
            int(getattr(self.config, name, None) or 0)
            for name in ("num_attention_heads", "n_head", "n_heads", "num_heads")
        )
        # A block: queries, keys, values, sums and norms; its inner layer before and after the activation function.
        block = tokens * (10 * widest + 3 * max(inner, 4 * widest)) * size
        # Eager attention holds scores, weights and a copy of heads × T × T; others hold a mask.
        eager = getattr(self.config, "_attn_implementation", None) == "eager"
        square = tokens * longest * size * (3 * max(heads, 1) if eager else 2)
        return held + block + square

    @property
    def weight_hash(self) -> str:
        """Hash of all weights that came from the checkpoint or the seed."""
        if self._weight_hash is None:
            digest = hashlib.blake2b(digest_size=16)
            for name, tensor in sorted(self.module.state_dict().items()):
                if name in self._unset:
                    continue
                digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
                flat = tensor.detach().cpu().contiguous().reshape(-1)
                digest.update(flat.view(torch.uint8).numpy().data)
            self._weight_hash = digest.hexdigest()
        return self._weight_hash

    def identity(self) -> dict[str, Any]:
        """Everything that the model's numbers depend on."""
        return {
            "name": self.name,
            **self._provenance,
            "class": type(self.module).__name__,
            "model_type": self.config.model_type,
            "side": self.side,
            "causal": self.causal,
            "pre_norm": self.pre_norm,
            "layers": self.n_layers,
            "widths": list(self.widths),
            "parameters": self.n_parameters,
            "dtype": self._dtype(),
            "attention_implementation": getattr(self.config, "_attn_implementation", None),
            "max_length": self.limit,
            "weights": self.weight_hash,
            "tokenizer": {
                "class": type(self.tokenizer.hf).__name__,
                "fast": self.tokenizer.is_fast,
                "hash": self.tokenizer.hash,
                "special_tokens_before": len(self.tokenizer.single.prefix),
                "special_tokens_after": len(self.tokenizer.single.suffix),
            },
        }


def _reduce(
    picked: torch.Tensor, slots: torch.Tensor, n: int, scale: torch.Tensor, reduce: str
) -> torch.Tensor:
    if reduce == "max":
        start = torch.full((n, picked.shape[1]), -torch.inf, device=picked.device)
        return start.index_reduce_(0, slots, picked, "amax")
    return torch.zeros((n, picked.shape[1]), device=picked.device).index_add_(
        0, slots, picked * scale
    )


def _length_limit(module: torch.nn.Module, config: Any, tokenizer: Tokenizer) -> int | None:
    """How many tokens the model reads at once; None if it has no limit of its own.

    Models with learned positions stop there. RoBERTa's kin count positions from ``padding_idx + 1``, so
    two of their positions are never used.
    """
    positions = getattr(config, "max_position_embeddings", None)
    for name, part in module.named_modules():
        if name.endswith("position_embeddings") and isinstance(part, torch.nn.Embedding):
            reserved = 0 if part.padding_idx is None else part.padding_idx + 1
            positions = part.num_embeddings - reserved
            break
    limits = [n for n in (positions, tokenizer.max_length) if n is not None and n > 0]
    return min(limits) if limits else None
