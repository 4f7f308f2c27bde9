"""No code runs from a model folder: neither Python beside it, nor a pickle, unless the user says so."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch

import lmkin

CODE = "from pathlib import Path\nPath({mark!r}).write_text('ran')\n"
CLASSES = (
    "from transformers import BertConfig, BertModel, BertTokenizer\n"
    "class MyConfig(BertConfig): pass\nclass MyModel(BertModel): pass\nclass MyTokenizer(BertTokenizer): pass\n"
)


class Payload:
    """What pickle runs when it is read."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return (Path.write_text, (self.mark, "ran"))


@pytest.fixture
def folder(model_folder, tmp_path: Path) -> Path:
    shutil.copytree(model_folder("bert"), tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("what", ["config", "model", "tokenizer", "renamed"])
@pytest.mark.parametrize("spec", ["{}", "untrained:{}@0"])
def test_python_in_the_folder_is_not_imported(
    what: str, spec: str, folder: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    for name in (
        "modeling_mine.py",
        "configuration_mine.py",
        "tokenization_mine.py",
        "__init__.py",
    ):
        (folder / name).write_text(CODE.format(mark=str(mark)) + CLASSES)
    maps = {
        "config": ("config.json", {"AutoConfig": "configuration_mine.MyConfig"}),
        "model": ("config.json", {"AutoModel": "modeling_mine.MyModel"}),
        "tokenizer": ("tokenizer_config.json", {"AutoTokenizer": ["tokenization_mine.MyTokenizer", None]}),
        "renamed": ("config.json", {"AutoConfig": "configuration_mine.MyConfig", "AutoModel": "modeling_mine.MyModel"}),
    }  # fmt: skip
    file, entries = maps[what]
    config = json.loads((folder / file).read_text())
    config["auto_map"] = entries
    if what == "renamed":
        config["model_type"] = "mine"
    (folder / file).write_text(json.dumps(config))
    try:
        lmkin.load_model(spec.format(folder))
    except lmkin.LmkinError as error:
        message = str(error)
    else:
        message = ""
    assert not mark.exists()
    assert "\n" not in message


@pytest.mark.parametrize("whole", [True, False])
def test_a_pickle_in_the_place_of_weights_is_not_run(
    whole: bool, folder: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    (folder / "model.safetensors").unlink()
    weights = folder / "pytorch_model.bin"
    if whole:
        weights.write_bytes(pickle.dumps({"a": Payload(mark)}))
    else:
        torch.save({"a": Payload(mark)}, weights)
    with pytest.raises(lmkin.ModelError, match="Cannot load the model"):
        lmkin.load_model(folder)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("config.json", "{"),
        ("config.json", "[]"),
        ("config.json", '{"model_type": "bert", "hidden_size": "wide"}'),
        ("config.json", '{"model_type": "bert", "num_attention_heads": 0}'),
        ("config.json", '{"model_type": "bert", "hidden_size": 99999999999}'),
        ("tokenizer.json", "[" * 50_000),
        ("tokenizer.json", '{"model": {"vocab": {"a": 4294967296}}}'),
        ("tokenizer_config.json", '{"tokenizer_class": 3}'),
        ("model.safetensors", "not tensors"),
    ],
)
def test_a_broken_folder_is_explained(file: str, text: str, folder: Path) -> None:
    (folder / file).write_text(text)
    with pytest.raises(lmkin.LmkinError) as caught:
        lmkin.load_model(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1200
