"""Targets: corpora in every format."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lmkin
from fuzz.target import Target

TOKENS = [["The", "dog", "barked", "."], ["Yes", "!"], ["It", "'s", "late", "."]]
TAGS = [[0, 1, 2, 3], [4, 3], [0, 2, 1, 3]]
CLASSES = ["DET", "NOUN", "VERB", "PUNCT", "X"]
TEXTS = [" ".join(words) for words in TOKENS]

CONLLU = """# newdoc id = d1
# sent_id = s1
# text = The dog can't bark.
1\tThe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\tNumber=Sing\t5\tnsubj\t2:nsubj\t_
3-4\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
3\tca\tcan\tAUX\tMD\t_\t5\taux\t_\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_
5\tbark\tbark\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5.1\tloud\tloud\tADV\tRB\t_\t_\t_\t5:advmod\t_
6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_

# sent_id = s2
# text = Yes — 我爱!
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_
2\t—\t—\tPUNCT\t:\t_\t1\tpunct\t_\t_
3\t我爱\t_\tX\tFW\t_\t1\tdep\t_\tSpaceAfter=No
4\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""
COLUMNS = "-DOCSTART- -X- O\n\n" + "\n".join(
    "".join(f"{w} {CLASSES[t]} O\n" for w, t in zip(words, tags, strict=True))
    for words, tags in zip(TOKENS, TAGS, strict=True)
)
TSV = "index\tsentence1\tsentence2\tlabel\n" + "".join(
    f"{i}\t{text}\tThe cat slept .\tentailment\n" for i, text in enumerate(TEXTS)
)
CSV = 'text,score\n"The dog, he said, barked.",4.5\n"Say ""yes"" now",3\nPlain words,0.25\n'
LINES = "".join(
    json.dumps({"id": i, "text": t, "label": i % 2}) + "\n" for i, t in enumerate(TEXTS)
)
HINTS = {
    "info": {
        "features": {
            "tokens": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
            "tags": {"feature": {"names": CLASSES, "_type": "ClassLabel"}, "_type": "Sequence"},
            "id": {"dtype": "string", "_type": "Value"},
        }
    }
}


def _table() -> Any:
    import pyarrow as pa

    columns = {"id": ["a", "b", "c"], "tokens": TOKENS, "tags": TAGS, "text": TEXTS}
    return pa.table(columns).replace_schema_metadata({b"huggingface": json.dumps(HINTS).encode()})


def _parquet(path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(_table(), path)


def _arrow_file(path: Path) -> None:
    from pyarrow import ipc

    with ipc.new_file(path, _table().schema) as file:
        file.write_table(_table())


def _sentence_pairs(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    hints = {"info": {"features": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}
    columns = {"sentence1": TEXTS, "sentence2": TEXTS[::-1], "label": [0, 1, -1], "idx": [0, 1, 2]}
    table = pa.table(columns).replace_schema_metadata({b"huggingface": json.dumps(hints).encode()})
    parquet.write_table(table, path)


def _datasets(path: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    features = datasets.Features(
        {
            "tokens": datasets.Sequence(datasets.Value("string")),
            "tags": datasets.Sequence(datasets.ClassLabel(names=CLASSES)),
        }
    )
    data = datasets.Dataset.from_dict({"tokens": TOKENS, "tags": TAGS}, features=features)
    datasets.DatasetDict({"train": data}).save_to_disk(str(path))
    state = path / "train" / "state.json"
    said = json.loads(state.read_text())
    state.write_text(json.dumps({**said, "_fingerprint": "0" * 16}))  # the same in every run


def _use(corpus: lmkin.Corpus) -> Any:
    corpus.words  # noqa: B018
    for name in corpus.tag_names:
        corpus.tag_counts(name)
    len(repr(corpus))
    train, _ = corpus.split(0.5)
    return [corpus.hash, corpus.format, corpus.n_words, corpus.labels, corpus.documents, len(train)]


def _corpus(name: str, file: str, form: str, write: Callable[[Path], Any], *covers: str) -> Target:
    return Target(
        name,
        lambda folder: write(folder / file),
        lambda folder: lmkin.read_corpus(folder / file),
        {file: form},
        tuple(f"corpus {c}" for c in covers),
        _use,
    )


def _text(text: str) -> Callable[[Path], Any]:
    return lambda path: path.write_bytes(text.encode())


_SAVED = {
    "saved/dataset_dict.json": "json",
    "saved/train/state.json": "json",
    "saved/train/dataset_info.json": "json",
    "saved/train/data-00000-of-00001.arrow": "arrow",
}
TARGETS = [
    _corpus("CoNLL-U", "c.conllu", "text", _text(CONLLU), "conllu"),
    _corpus("columns", "c.conll", "text", _text(COLUMNS), "columns"),
    _corpus("plain text", "c.txt", "text", _text("\n".join(TEXTS) + "\n"), "text"),
    _corpus("TSV", "c.tsv", "text", _text(TSV), "table"),
    _corpus("CSV", "c.csv", "text", _text(CSV), "table"),
    _corpus("JSON lines", "c.jsonl", "lines of json", _text(LINES), "table"),
    _corpus("Parquet", "c.parquet", "arrow", _parquet, "arrow"),
    _corpus("Parquet of pairs", "p.parquet", "arrow", _sentence_pairs, "arrow"),
    _corpus("Arrow file", "c.arrow", "arrow", _arrow_file, "arrow"),
    _corpus("gzip", "c.conllu.gz", "gzip",
            lambda path: path.write_bytes(gzip.compress(CONLLU.encode(), mtime=0)), "conllu"),
    Target("saved dataset", lambda folder: _datasets(folder / "saved"),
           lambda folder: lmkin.read_corpus(folder / "saved"), _SAVED, ("corpus arrow",), _use),
]  # fmt: skip
