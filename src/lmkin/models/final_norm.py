"""Whether a model normalises once more behind its last block, so that its last layer is unlike the others.

In pre-norm models (GPT-2, Llama, Qwen, Gemma, ModernBERT, T5) a block adds to a stream that is never normalised, and
one norm behind the last block makes of it what the model emits. In post-norm models (BERT) every block ends with a norm
of its own. It is found by a look at what a forward pass does, not by the name of the model.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch


class Step(NamedTuple):
    """What a module without parts made of its input, in a forward pass."""

    name: str
    module: torch.nn.Module
    given: torch.Tensor
    made: torch.Tensor


@contextlib.contextmanager
def watched(module: torch.nn.Module) -> Iterator[list[Step]]:
    """The steps behind the blocks of a model while it runs: those of modules that stand in no list."""
    steps: list[Step] = []
    hooks = []
    for name, part in module.named_modules():
        # Blocks stand in a list, by number; what they end with is theirs.
        if any(True for _ in part.children()) or any(p.isdigit() for p in name.split(".")):
            continue

        def note(part: Any, given: Any, made: Any, name: str = name) -> None:
            if given and torch.is_tensor(given[0]) and torch.is_tensor(made):
                steps.append(Step(name, part, given[0], made))

        hooks.append(part.register_forward_hook(note))
    try:
        yield steps
    finally:
        for hook in hooks:
            hook.remove()


def final_norm(steps: list[Step], emitted: torch.Tensor) -> str | None:
    """The name of the module that made what a model emits, if that is a norm behind all blocks; else None.

    A norm has no weights but one a neuron, keeps the shape, and changes what it is given: dropout at rest does not.
    """
    for step in reversed(steps):
        if (
            step.given.shape == step.made.shape == emitted.shape
            and all(weight.ndim <= 1 for weight in step.module.parameters())
            and torch.equal(step.made, emitted)
            and not torch.equal(step.given, step.made)
        ):
            return step.name
    return None


def layers_of(out: Any) -> tuple[torch.Tensor, ...]:
    """All hidden states of an output; the last is what the model emits, whatever it lists there."""
    states = tuple(out.hidden_states or ())
    emitted = getattr(out, "last_hidden_state", None)
    if not states or emitted is None or emitted.shape[:2] != states[-1].shape[:2]:
        return states
    return (*states[:-1], emitted)
