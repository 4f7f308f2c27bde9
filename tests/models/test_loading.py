from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
import transformers

import lmkin
from lmkin.models.sources.untrained import split_seed


def vectors(model, corpus, layer: int = -1) -> np.ndarray:
    return np.asarray(lmkin.extract(model, corpus).layer(layer))


def test_untrained_twin_shares_shape_and_tokenizer_but_no_weight(model_folder, tricky) -> None:
    folder = model_folder("bert")
    trained, twin = lmkin.load_model(folder), lmkin.load_model(f"untrained:{folder}")
    assert twin.widths == trained.widths
    assert twin.tokenizer.hash == trained.tokenizer.hash
    a = trained.module.encoder.layer[0].attention.self.query.weight.detach()
    b = twin.module.encoder.layer[0].attention.self.query.weight.detach()
    assert abs(float(torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1])) < 0.2
    # from_config draws as the architecture does: BERT's standard deviation is 0.02
    assert float(b.std()) == pytest.approx(0.02, rel=0.2)


def test_untrained_twins_are_seeded(model_folder, tricky) -> None:
    folder = model_folder("bert")
    state = torch.random.get_rng_state()
    one, same, other = (
        vectors(lmkin.load_model(f"untrained:{folder}{seed}"), tricky) for seed in ("", "@0", "@1")
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 0.01
    assert torch.equal(state, torch.random.get_rng_state())  # the caller's seed is left alone


def test_seed_in_a_specification() -> None:
    assert split_seed("untrained:org/name@12") == ("org/name", 12)
    assert split_seed("untrained:org/na@me") == ("org/na@me", 0)


def test_loading_twice_gives_the_same_identity(model_folder) -> None:
    """Also where the checkpoint lacks the pooler, which is then drawn at random."""
    folder = model_folder("bert")
    assert lmkin.load_model(folder).identity() == lmkin.load_model(folder).identity()


def test_missing_pooler_is_no_reason_to_warn_but_a_missing_layer_is(model_folder, tmp_path) -> None:
    from safetensors.torch import load_file, save_file

    source = model_folder("bert")
    for missing, warns in (("pooler", False), ("encoder.layer.1.output", True)):
        folder = shutil.copytree(source, tmp_path / missing)
        weights = {
            k: v for k, v in load_file(folder / "model.safetensors").items() if missing not in k
        }
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        if warns:
            with pytest.warns(lmkin.LmkinWarning, match="made up at random"):
                lmkin.load_model(folder)
        else:
            first, second = lmkin.load_model(folder), lmkin.load_model(folder)
            assert first.weight_hash == second.weight_hash


def test_both_sides_of_an_encoder_decoder(model_folder, tricky) -> None:
    for name in ("t5", "bart"):
        folder = model_folder(name)
        encoder, decoder = lmkin.load_model(folder), lmkin.load_model(folder, side="decoder")
        assert (encoder.side, decoder.side) == ("encoder", "decoder")
        # Through its encoder, the decoder too has seen the whole sentence.
        assert (encoder.causal, decoder.causal) == (False, False)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        module = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        inputs = tokenizer("The dog barked.", return_tensors="pt")
        with torch.no_grad():
            out = module(**inputs, decoder_input_ids=inputs["input_ids"], output_hidden_states=True)
        corpus = lmkin.Corpus([lmkin.Sentence("The dog barked.", id="x")])
        options = {"units": "token", "special_tokens": "keep", "first_token": "keep"}
        for model, states in (
            (encoder, out.encoder_hidden_states),
            (decoder, out.decoder_hidden_states),
        ):
            acts = lmkin.extract(model, corpus, **options)
            assert len(acts.layers) == len(states)
            for layer in acts.layers:
                np.testing.assert_allclose(
                    np.asarray(acts.layer(layer)), states[layer][0].numpy(), atol=1e-4
                )


def test_an_encoder_has_no_decoder_side(model_folder) -> None:
    with pytest.raises(lmkin.ModelError, match="no encoder-decoder"):
        lmkin.load_model(model_folder("bert"), side="decoder")


def test_dtypes(model_folder, tricky) -> None:
    folder = model_folder("bert")
    full = vectors(lmkin.load_model(folder), tricky)
    half = vectors(lmkin.load_model(folder, dtype="float16"), tricky)
    assert half.dtype == np.float32
    assert 0 < np.abs(full - half).max() < 0.2
    with pytest.raises(lmkin.LmkinError, match="Did you mean 'float16'"):
        lmkin.load_model(folder, dtype="flaot16")


def test_half_precision_checkpoint_runs_in_float32(shared) -> None:
    model = lmkin.load_model(shared("models", "e5-small"))
    assert model.identity()["dtype"] == "float32"
    assert model.n_layers == 13


@pytest.mark.parametrize("name", ["e5-small", "gte-small", "stories15M"])
def test_real_models_agree_with_transformers(shared, name: str) -> None:
    """Last sub-word of every word of real sentences, against a plain run of the model."""
    folder = shared("models", name)
    corpus = lmkin.read_corpus(shared("data", "ud", "en_ewt-ud-dev.conllu"))[:40]
    acts = lmkin.extract(str(folder), corpus)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    module = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    causal = name == "stories15M"
    for number, sentence in enumerate(corpus):
        inputs = tokenizer(sentence.text, return_tensors="pt", return_offsets_mapping=True)
        offsets = inputs.pop("offset_mapping")[0].tolist()
        with torch.no_grad():
            states = module(**inputs, output_hidden_states=True).hidden_states
        rows = acts.units.rows_of(number)
        for row in range(rows.start, rows.stop):
            a, b = int(acts.units.start[row]), int(acts.units.end[row])
            last = max(t for t, (c, d) in enumerate(offsets) if c < b and d > a)
            assert not (causal and last == 0)
            for layer in (0, 1, acts.layers[-1]):
                want = states[layer][0, last].numpy()
                np.testing.assert_allclose(acts.layer(layer)[row], want, atol=2e-4, rtol=1e-3)


# -- what a user gets wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("./no/such/folder", "no model folder"),
        ("no-such-model-anywhere", "Cannot load the model"),
        ("package:no_such_package/model", "pip install no-such-package"),
        ("package:lmkin/no_such_folder", "has no folder"),
        ("untrained:./no/such/folder@3", "no model folder"),
    ],
)
def test_models_that_are_not_there(spec: str, says: str) -> None:
    with pytest.raises(lmkin.ModelError, match=says):
        lmkin.load_model(spec)


def test_a_folder_without_config(tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(lmkin.ModelError, match=r"no config\.json.*notes\.txt"):
        lmkin.load_model(tmp_path)


def test_a_file_that_is_no_model(tmp_path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"abc")
    with pytest.raises(lmkin.ModelError, match="is a file"):
        lmkin.load_model(tmp_path / "weights.bin")


def test_damaged_weights(model_folder, tmp_path) -> None:
    folder = shutil.copytree(model_folder("bert"), tmp_path / "damaged")
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    with pytest.raises(lmkin.ModelError, match="Cannot load the model"):
        lmkin.load_model(folder)


def test_weights_with_nan(model_folder, tmp_path) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(model_folder("bert"), tmp_path / "nan")
    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.0.output.dense.weight"][0, 0] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(lmkin.ModelError, match="NaN"):
        lmkin.load_model(folder)


def test_a_model_that_reads_no_text(tmp_path, model_folder) -> None:
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=8, patch_size=4
    )  # fmt: skip
    transformers.ViTModel(config).save_pretrained(tmp_path)
    for file in model_folder("bert").glob("tokenizer*"):
        shutil.copy(file, tmp_path)
    with pytest.raises(lmkin.ModelError, match=r"does not run on text|Cannot load"):
        lmkin.load_model(tmp_path)


def test_unknown_device(model_folder) -> None:
    with pytest.raises(lmkin.ModelError, match="cannot be used here"):
        lmkin.load_model(
            model_folder("bert"), device="cuda:99" if torch.cuda.is_available() else "cuda"
        )


def test_remote_code_is_never_run_unasked(model_folder, tmp_path) -> None:
    folder = shutil.copytree(model_folder("bert"), tmp_path / "remote")
    (folder / "evil.py").write_text("raise SystemExit('remote code ran')\n")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
    config["model_type"] = "unheard-of"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(lmkin.ModelError):
        lmkin.load_model(folder)
