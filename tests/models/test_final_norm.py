"""The last layer is what a model emits; of pre-norm models the others are before the final norm, and it is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import lmkin
from cli.command_line import call
from families import FAMILIES, Family

TEXT = "I saw the old harbour again."


def _by_name(name: str) -> Family:
    return next(f for f in FAMILIES if f.name == name)


def _sizes(tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 48, "max_position_embeddings": 64, "pad_token_id": tokenizer.pad_token_id or 0,
    }  # fmt: skip


def _modernbert(tokenizer: Any) -> Any:
    more = {"bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    return hf.ModernBertModel(hf.ModernBertConfig(**_sizes(tokenizer), **more))


def _gemma2(tokenizer: Any) -> Any:
    return hf.Gemma2Model(
        hf.Gemma2Config(**_sizes(tokenizer), num_key_value_heads=2, head_dim=16, sliding_window=16)
    )


def _qwen3(tokenizer: Any) -> Any:
    return hf.Qwen3Model(hf.Qwen3Config(**_sizes(tokenizer), num_key_value_heads=2, head_dim=16))


def _openai_gpt(tokenizer: Any) -> Any:
    config = hf.OpenAIGPTConfig(
        vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=64
    )
    return hf.OpenAIGPTModel(config)


LLAMA = _by_name("llama with BOS")
MODELS = [
    # family, the list of blocks, the norm behind them
    (_by_name("gpt2"), "h", "ln_f"),
    (LLAMA, "layers", "norm"),
    (replace(LLAMA, name="qwen3", model=_qwen3), "layers", "norm"),
    (replace(LLAMA, name="gemma2", model=_gemma2), "layers", "norm"),
    (replace(_by_name("bert"), name="modernbert", model=_modernbert), "layers", "final_norm"),
    (_by_name("t5"), "encoder.block", "encoder.final_layer_norm"),
    (_by_name("bert"), "encoder.layer", None),
    (_by_name("roberta"), "encoder.layer", None),
    (replace(_by_name("gpt2"), name="openai-gpt", model=_openai_gpt), "h", None),
]


@pytest.mark.parametrize(("family", "blocks", "norm"), MODELS, ids=[f.name for f, _, _ in MODELS])
def test_layers_are_the_blocks_outputs_and_the_last_what_is_emitted(
    family: Family, blocks: str, norm: str | None, model_folder: Any
) -> None:
    model = lmkin.load_model(model_folder(family))
    corpus = lmkin.Corpus([lmkin.Sentence(TEXT, ((0, len(TEXT)),))])
    acts = lmkin.extract(
        model, corpus, units="token", special_tokens="keep", first_token="keep", progress=False
    )
    made: list[torch.Tensor] = []
    module = hf.AutoModel.from_pretrained(model_folder(family)).float().eval()
    if module.config.is_encoder_decoder:
        module = module.get_encoder()
    # Every block by its own hook; its output is a tensor, or the first of several.
    listed = module.get_submodule(
        blocks.removeprefix("encoder.") if norm and "." in norm else blocks
    )
    for block in listed:
        block.register_forward_hook(
            lambda _, __, out: made.append(out if torch.is_tensor(out) else out[0])
        )
    inputs = hf.AutoTokenizer.from_pretrained(model_folder(family))(TEXT, return_tensors="pt")
    with torch.inference_mode():
        emitted = module(**inputs).last_hidden_state[0].numpy()
        last = made[-1]
        if norm is not None:
            behind = module.get_submodule(norm.removeprefix("encoder."))
            last = behind(last)
    assert len(made) == 2
    np.testing.assert_allclose(acts.layer(1)[:], made[0][0].numpy(), atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(acts.layer(2)[:], last[0].numpy(), atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(acts.layer(-1)[:], emitted, atol=1e-4, rtol=1e-4)
    assert model.pre_norm == (norm is not None)
    assert acts.manifest["model"]["pre_norm"] == (norm is not None)
    apart = np.abs(made[1][0].numpy() - emitted).max()
    assert (apart > 0.1) == (norm is not None)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_every_family(family: Family, model_folder: Any) -> None:
    known = {"gpt2", "llama", "llama with BOS", "t5", "ctrl (slow BPE)"}
    assert lmkin.load_model(model_folder(family)).pre_norm == (family.name in known)


def test_both_sides_of_an_encoder_decoder(model_folder: Any) -> None:
    for family, expected in (("t5", True), ("bart", False)):
        for side in ("encoder", "decoder"):
            assert lmkin.load_model(model_folder(family), side=side).pre_norm is expected


def test_a_list_of_states_that_lacks_the_norm_is_mended(
    model_folder: Any, sample: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some models list their last state as it is before the norm, and emit it after."""
    expected = lmkin.extract(model_folder("gpt2"), sample[:3], progress=False)
    forward = hf.GPT2Model.forward

    def raw(self: Any, *args: Any, **more: Any) -> Any:
        before: list[torch.Tensor] = []
        hook = self.ln_f.register_forward_pre_hook(lambda _, given: before.append(given[0]))
        out = forward(self, *args, **more)
        hook.remove()
        out.hidden_states = (*out.hidden_states[:-1], before[0])
        return out

    monkeypatch.setattr(hf.GPT2Model, "forward", raw)
    model = lmkin.load_model(model_folder("gpt2"))
    found = lmkin.extract(model, sample[:3], progress=False)
    assert model.pre_norm
    for layer in expected.layers:
        np.testing.assert_allclose(found.layer(layer)[:], expected.layer(layer)[:], atol=1e-5)


# -- it is said ---------------------------------------------------------------------------------------


def alerts(result: Any) -> list[Any]:
    return [a for a in result.alerts if a.kind == "before the norm"]


def test_comparisons_say_it_where_both_sides_of_the_norm_take_part(
    model_folder: Any, sample: lmkin.Corpus, tmp_path: Path
) -> None:
    models = [lmkin.load_model(model_folder(f), name=f) for f in ("gpt2", "bert")]
    some = sample[:30]

    def compare(layers: Any, given: Any = models, corpus: Any = some) -> list[Any]:
        return alerts(
            lmkin.similarity(given, corpus, measures="ckasim", neurons="raw", intervals=False,
                             layers=layers, progress=False)
        )  # fmt: skip

    (alert,) = compare("all")
    assert alert.where == "gpt2"
    assert "layer 2 is what it emits" in alert.text
    assert "layers 0 and 1 are before the norm" in alert.text
    assert "layer 1 is before" in compare("1,2")[0].text
    assert compare("last") == []
    assert compare("0,1") == []
    stores = [lmkin.extract(m, some, tmp_path / f"{m.name}.acts", progress=False) for m in models]
    assert compare("all", stores, None) == [alert]
    moments = lmkin.compute_moments(stores, progress=False)
    moments.save(tmp_path / "m.safetensors")
    loaded = lmkin.load(tmp_path / "m.safetensors")
    of_sums = lmkin.similarity(loaded, measures="ckasim", neurons="raw", intervals=False)
    assert alerts(of_sums) == [alert]
    clusters = lmkin.cluster_neurons(stores, thresholds=[0.5], progress=False)
    assert alerts(clusters) == [alert]


def test_stores_remember_it(model_folder: Any, sample: lmkin.Corpus, tmp_path: Path) -> None:
    whole = lmkin.extract(model_folder("gpt2"), sample[:3], tmp_path / "a.acts", progress=False)
    lmkin.extract(
        model_folder("gpt2"), sample[:3], tmp_path / "b.acts", layers="0,1", progress=False
    )
    lmkin.extract(model_folder("bert"), sample[:3], tmp_path / "c.acts", progress=False)
    assert whole.manifest["model"]["pre_norm"] is True
    models = [lmkin.load_model(str(tmp_path / f"{name}.acts")) for name in "abc"]
    # What ends below the last layer ends before the norm, as all of it.
    assert [m.pre_norm for m in models] == [True, False, False]
    manifest = tmp_path / "a.acts" / "manifest.json"
    data = json.loads(manifest.read_text())
    data["model"]["pre_norm"] = "yes"
    manifest.write_text(json.dumps(data))
    with pytest.raises(lmkin.ActivationsError, match="damaged"):
        lmkin.open_activations(tmp_path / "a.acts")


def test_inspect_says_it(model_folder: Any, sample: lmkin.Corpus, tmp_path: Path) -> None:
    shown = call("inspect", model_folder("gpt2"))
    assert "2: what the model emits, after its final norm" in shown.printed
    assert "final norm" not in call("inspect", model_folder("bert")).printed
    assert json.loads(call("inspect", model_folder("gpt2"), "--json").out)["pre_norm"] is True
    lmkin.extract(model_folder("gpt2"), sample[:3], tmp_path / "a.acts", progress=False)
    assert "layers 0 and 1 are before the norm" in call("inspect", tmp_path / "a.acts").printed


def test_real_models(shared: Any, minilm: lmkin.LanguageModel) -> None:
    assert lmkin.load_model(shared("models", "stories15M")).pre_norm is True
    assert minilm.pre_norm is False
