"""Parquet and Arrow files, and folders that the `datasets` library saved."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from corpus_files import covered, problem
from pyarrow import ipc, parquet

from lmkin import CorpusError, read_corpus

datasets = pytest.importorskip("datasets")
from datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value

TAGS = ["NOUN", "VERB", "PUNCT"]
TREEBANK = Features(
    {
        "id": Value("string"),
        "tokens": List(Value("string")),
        "upos": List(ClassLabel(names=TAGS)),
        "xpos": List(Value("string")),
    }
)
PAIRS = Features(
    {
        "premise": Value("string"),
        "hypothesis": Value("string"),
        "label": ClassLabel(names=["entailment", "neutral"]),
        "idx": Value("int32"),
    }
)


def treebank(n: int = 6) -> Dataset:
    rows = [
        {
            "id": f"s{i}",
            "tokens": ["Dogs", f"bark{i}", "!"],
            "upos": [0, 1, 2],
            "xpos": ["n", "v", "p"],
        }
        for i in range(n)
    ]
    return Dataset.from_list(rows, features=TREEBANK)


def pairs(labels=(1, 0, -1)) -> Dataset:
    rows = [
        {"premise": f"p {i}", "hypothesis": f"h {i}", "label": label, "idx": i + 10}
        for i, label in enumerate(labels)
    ]
    return Dataset.from_list(rows, features=PAIRS)


@pytest.fixture
def saved(tmp_path):
    def save(dataset, **options):
        dataset.save_to_disk(tmp_path / "saved", **options)
        return tmp_path / "saved"

    return save


@pytest.fixture
def as_parquet(tmp_path):
    def save(columns):
        path = tmp_path / "x.parquet"
        if isinstance(columns, Dataset):
            columns.to_parquet(path)
        else:
            parquet.write_table(pa.table(columns), path)
        return path

    return save


def told(path, **options) -> str:
    with pytest.raises(CorpusError) as error:
        read_corpus(path, **options)
    return str(error.value)


@pytest.mark.parametrize("shards", [1, 3])
def test_a_saved_dataset_is_read_shard_by_shard_in_order(saved, shards):
    corpus = read_corpus(saved(treebank(), num_shards=shards))
    assert corpus.format == "arrow"
    assert [s.id for s in corpus] == [f"s{i}" for i in range(6)]
    assert corpus[4].words == ("Dogs", "bark4", "!")
    assert corpus.tags("upos") == TAGS * 6
    assert corpus.tags("xpos") == ["n", "v", "p"] * 6


def test_a_shuffled_selection_keeps_its_order(saved):
    dataset = treebank().select([4, 0, 3])
    assert [s.id for s in read_corpus(saved(dataset))] == ["s4", "s0", "s3"]


def test_parquet_and_the_saved_folder_hold_the_same(saved, as_parquet):
    assert read_corpus(saved(treebank())) == read_corpus(as_parquet(treebank()))


def test_pairs_have_both_texts_named_labels_and_none_for_a_missing_one(as_parquet):
    corpus = read_corpus(as_parquet(pairs()))
    assert [(s.text, s.text_b, s.id) for s in corpus] == [
        ("p 0", "h 0", "10"),
        ("p 1", "h 1", "11"),
        ("p 2", "h 2", "12"),
    ]
    assert corpus.labels == ["neutral", "entailment", None]
    assert corpus[0].words == ("p", "0")


def test_columns_are_chosen_by_name_or_position(as_parquet):
    path = as_parquet({"a": ["x y"], "b": ["z"], "c": [1.5]})
    (sentence,) = read_corpus(path, text=1, text_b="a", score=2)
    assert (sentence.text, sentence.text_b, sentence.label) == ("z", "x y", 1.5)


def test_a_split_of_a_dataset_dict_is_named(saved):
    path = saved(DatasetDict(train=treebank(5), test=treebank(2)))
    assert len(read_corpus(path, split="train")) == 5
    assert len(read_corpus(path, split="test")) == 2
    assert "several splits; choose one with split='…'. Known: train, test." in told(path)
    assert "no split 'trian'. Did you mean 'train'" in told(path, split="trian")


def test_the_only_split_needs_no_name(saved):
    assert len(read_corpus(saved(DatasetDict(dev=treebank(2))))) == 2


@pytest.mark.parametrize("folder", [True, False])
def test_a_single_dataset_has_no_splits(saved, as_parquet, folder):
    path = saved(treebank()) if folder else as_parquet(treebank())
    assert "leave split='train' out" in told(path, split="train")


@pytest.mark.parametrize("kind", [ipc.new_stream, ipc.new_file])
@pytest.mark.parametrize("suffix", ["arrow", "ARROW"])
def test_arrow_files_are_streams_or_files(tmp_path, kind, suffix):
    table = pa.table({"text": ["a b", "c"]})
    path = tmp_path / f"x.{suffix}"
    with pa.OSFile(str(path), "wb") as sink, kind(sink, table.schema) as writer:
        writer.write_table(table)
    assert [s.text for s in read_corpus(path)] == ["a b", "c"]


def test_a_text_column_is_the_raw_text_if_it_has_the_words(as_parquet):
    corpus = read_corpus(
        as_parquet({"text": ["Hi, you!", "other"], "tokens": [["Hi", ",", "you", "!"], ["a", "b"]]})
    )
    assert [s.text for s in corpus] == ["Hi, you!", "a b"]
    assert covered(corpus[0]) == ["Hi", ",", "you", "!"]


def test_the_column_of_words_can_be_named_or_passed_over(as_parquet):
    path = as_parquet(
        {"w": [["a", "b"]], "tokens": [["c", "d"]], "sentence": ["e f g"], "y": ["1"]}
    )
    assert read_corpus(path).words == ["c", "d"]
    assert read_corpus(path, tokens="w").words == ["a", "b"]
    assert read_corpus(path, tokens="w").tags("tokens") == ["c", "d"]
    labelled = read_corpus(path, text="sentence", label="y")
    assert (labelled.words, labelled.labels) == (["e", "f", "g"], ["1"])


def test_a_column_called_words_that_holds_no_lists_is_no_column_of_words(as_parquet):
    assert read_corpus(as_parquet({"text": ["a b"], "words": [2]})).words == ["a", "b"]


@pytest.mark.parametrize("id", ["key", 1])
def test_the_column_of_ids_can_be_named(as_parquet, id):
    path = as_parquet({"tokens": [["a"]], "key": ["k7"], "id": ["no"]})
    assert read_corpus(path, id=id)[0].id == "k7"


def test_a_missing_class_of_a_word_is_an_underscore(saved):
    dataset = Dataset.from_list(
        [{"id": "1", "tokens": ["a", "b"], "upos": [-1, 1], "xpos": ["x", None]}], features=TREEBANK
    )
    corpus = read_corpus(saved(dataset))
    assert (corpus.tags("upos"), corpus.tags("xpos")) == (["_", "VERB"], ["x", "_"])


def test_old_metadata_that_write_lists_in_brackets_are_understood(tmp_path):
    features = {"tags": [{"names": ["N", "V"], "_type": "ClassLabel"}]}
    table = pa.table({"tokens": [["a", "b"]], "tags": [[1, 0]]})
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    parquet.write_table(table.replace_schema_metadata(metadata), tmp_path / "old.parquet")
    assert read_corpus(tmp_path / "old.parquet").tags("tags") == ["V", "N"]


def test_lists_of_another_length_are_no_tags(as_parquet):
    corpus = read_corpus(as_parquet({"tokens": [["a", "b"], ["c"]], "spans": [[1], [2]]}))
    assert corpus.tag_names == ()


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({"tokens": [["a"], None]}, {}, "row 2: the column 'tokens' must hold lists of words"),
        ({"tokens": [["a", " "]]}, {}, "row 1"),
        ({"tokens": [["a"]]}, {"tokens": "tokns"}, "Did you mean 'tokens'"),
        ({"tokens": [["a"]], "y": [1]}, {"label": "y"}, "name the text too"),
        ({"tokens": [["a"]]}, {"id": "key"}, "no column 'key'"),
        ({"text": ["a"]}, {"text": "texts"}, "Did you mean 'text'"),
        ({"text": ["a", None]}, {}, "line 2: there is nothing in the column 'text'"),
        ({"a": ["a"]}, {}, "Columns: a, 0"),
        ({"text": pa.array([], pa.string())}, {}, "no sentence in it"),
    ],
)
def test_what_is_wrong_is_named(as_parquet, columns, options, says):
    message = told(as_parquet(columns), **options)
    assert "x.parquet" in message
    assert says in message


def test_an_unknown_word_rule_is_an_error(as_parquet):
    assert "Known: whitespace, punctuation" in told(as_parquet({"text": ["a"]}), words="none")


def test_words_and_classes_must_be_as_many(saved):
    row = {"id": "1", "tokens": ["a", "b"], "upos": [1], "xpos": ["x", "y"]}
    path = saved(Dataset.from_list([row], features=TREEBANK))
    assert "row 1: 2 words but 1 values of 'upos'" in told(path)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_damaged_file_is_named(name):
    assert f"{name}: cannot be read" in problem(name, b"PAR1 and then nothing")


def test_a_damaged_folder_is_named(saved):
    path = saved(treebank())
    (path / "state.json").unlink()
    assert "There is no file" in told(path)
