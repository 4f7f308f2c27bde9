"""`lmkin inspect`: what is in anything that lmkin reads or writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import QUOTED_PATH, LmkinError, near_files, open_file, quoted
from .descriptions import (
    Described,
    describe_clusters,
    describe_corpus,
    describe_losses,
    describe_mask,
    describe_model,
    describe_moments,
    describe_reading,
    describe_result,
    describe_store,
)
from .flags import FORMAT, name_value_pairs
from .output import busy, print_table, say, set_verbosity, show
from .unfinished import describe_unfinished, unfinished_in

_CORPUS: dict[str, Any] = {"rich_help_panel": "Corpus"}


def command(
    path: Annotated[
        str,
        typer.Argument(
            help="A corpus, a store of activations, a model (folder or name), a result (folder or .nc file), "
            "unfinished work, clusters of neurons, a mask, or moments."
        ),
    ],
    format: Annotated[str | None, FORMAT] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="An option of the corpus format. May be repeated.",
            **_CORPUS,
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare all checksums of a store, however large.")
    ] = False,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            "-c",
            help="Of a model: say how it would read this corpus, and what of it is unknown to its tokenizer.",
            **_CORPUS,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many sentences.", **_CORPUS)
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="Name or folder of a tokenizer to use instead of the model's own.",
            rich_help_panel="Model",
        ),
    ] = None,
    trust_remote_code: Annotated[
        bool,
        typer.Option(
            "--trust-remote-code",
            help="Run Python code that comes with the model.",
            rich_help_panel="Model",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say what happens; show tracebacks.")
    ] = False,
) -> None:
    """Say what is in PATH: a corpus, activations, a model, or anything that lmkin wrote.

    lmkin inspect sample
    """
    set_verbosity(verbose)
    # With a corpus to read, --format is of that.
    kind = _kind(path, format if corpus is None else None)
    given = {
        "--corpus": corpus is not None,
        "--tokenizer": tokenizer is not None,
        "--trust-remote-code": trust_remote_code,
        "--verify": verify,
        "--option": bool(option),
    }
    _refuse_unused(kind, [flag for flag, is_given in given.items() if is_given])
    if limit is not None and corpus is None:
        raise LmkinError("--limit is for a model that reads a corpus: give --corpus, too.")
    result: Any = None
    with busy(f"Looking into {path} …"):
        if kind == "store":
            from ..activations import open_activations

            rows, data = describe_store(open_activations(path, verify=verify or None))
            for i, line in enumerate(describe_losses(data["manifest"])):
                rows[f"note {i + 1}"] = line
        elif kind == "model":
            from ..models import load_model

            model = load_model(path, trust_remote_code=trust_remote_code, tokenizer=tokenizer)
            rows, data = describe_model(model)
            if corpus is not None:
                from ..corpus import read_corpus

                sentences = read_corpus(corpus, format, **name_value_pairs(option))
                read, data["reading"] = describe_reading(model, sentences[:limit])
                rows |= read
        elif kind == "written":
            kind, result, (rows, data) = _written(path)
        elif kind == "unfinished":
            left = unfinished_in(Path(path))
            assert left is not None
            rows, data = describe_unfinished(left)
        else:
            from ..corpus import read_corpus

            rows, data = describe_corpus(read_corpus(path, format, **name_value_pairs(option)))
    show(f"{path} ({kind})", rows, as_json=as_json, data={"kind": kind, **data})
    work = unfinished_in(Path(path)) if result is not None else None
    if work is not None:
        say(f"There is unfinished work of a later run, too: lmkin inspect {work.folder}")
    if result is not None and not as_json:
        for table in result.tables():
            print_table(table.to_rich())
        for sentence in result.findings():
            say(sentence)


def _written(path: str) -> tuple[str, Any, Described]:
    """Something that lmkin wrote: its kind, the result if it is one, and what is in it."""
    from ..analyses.redundancy import Clustering, NeuronMask
    from ..moments import Moments
    from ..results import Result, load

    thing = load(path)
    if isinstance(thing, Clustering):
        return "clusters", None, describe_clusters(thing)
    if isinstance(thing, NeuronMask):
        return "mask", None, describe_mask(thing)
    if isinstance(thing, Moments):
        return "moments", None, describe_moments(thing)
    assert isinstance(thing, Result)
    return f"result: {thing.kind}", thing, describe_result(thing)


_WHAT = {"corpus": "a corpus", "model": "a model", "store": "a store of activations"}
_READS = "a model that reads a corpus"
_USES = {
    "--corpus": (_READS, ["model"]),
    "--tokenizer": (_READS, ["model"]),
    "--trust-remote-code": ("a model", ["model"]),
    "--verify": ("a store of activations", ["store"]),
    "--option": ("a corpus", ["corpus"]),
}
"""What flags are for: in words, and of which kinds."""


def _refuse_unused(kind: str, flags: list[str]) -> None:
    """Raise if a flag would do nothing for what is inspected; with a corpus, a model has the flags of that too."""
    for flag in flags:
        what, kinds = _USES[flag]
        if kind not in kinds and not (
            kind == "model" and "--corpus" in flags and "corpus" in kinds
        ):
            here = _WHAT.get(kind, "a result, unfinished work, clusters, a mask or moments")
            raise LmkinError(f"{flag} is for {what}; PATH is {here} here. Leave it out.")


def _kind(spec: str, format: str | None) -> str:
    path = Path(spec)
    if format is not None or spec.partition(":")[0] == "sample":
        return "corpus"
    if path.is_dir() and (path / "manifest.json").exists():
        return "store"
    if path.is_dir() and (path / "config.json").exists():
        return "model"
    if path.is_dir():
        from ..results import MANIFEST, find_loadable

        if (path / MANIFEST).exists():
            return "written"
        if unfinished_in(path) is not None:
            return "unfinished"
        try:
            find_loadable(path)
        except LmkinError:
            return "corpus"
        return "written"
    if path.suffix.lower() in (".hdf5", ".h5"):
        return "model"
    if path.suffix in (".safetensors", ".nc") and path.exists():
        return "written"
    if path.suffix.lower() == ".json" and path.exists():
        with open_file(path) as file:
            return "model" if b'"features"' in file.read(1000) else "corpus"
    if (
        not path.exists()
        and path.suffix[1:].isalpha()
        and not spec.startswith(("untrained:", "package:"))
    ):
        raise LmkinError(
            f"There is no corpus, store or model at {quoted(spec, QUOTED_PATH)}.{near_files(path)}"
        )
    # What has an extension of letters is meant as a file, even where it is missing; versions are names.
    return "corpus" if path.exists() or path.suffix[1:].isalpha() else "model"
