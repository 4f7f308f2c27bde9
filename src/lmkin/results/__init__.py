"""Results: labelled, with intervals and alerts, on disk and back."""

from .curves import average_similarity, localization
from .file_kinds import Loadable, find_loadable, holds, known_loadable, load, loadable
from .folder import MANIFEST, FolderManifest, require_places, require_same_run, save_folder
from .intervals import Interval, jackknife, spread_of_folds
from .labelled import Entry, Labels, as_dataset, as_matrix, plain
from .provenance import make_provenance, package_versions
from .published import published, published_names
from .result import Files, Result, known_kinds, listed, result_kind
from .sentences import say_interval, say_value
from .storage import load_result, save_frame, save_result
from .table import Column, ResultTable, format_value

__all__ = [
    "MANIFEST",
    "Column",
    "Entry",
    "Files",
    "FolderManifest",
    "Interval",
    "Labels",
    "Loadable",
    "Result",
    "ResultTable",
    "as_dataset",
    "as_matrix",
    "average_similarity",
    "find_loadable",
    "format_value",
    "holds",
    "jackknife",
    "known_kinds",
    "known_loadable",
    "listed",
    "load",
    "load_result",
    "loadable",
    "localization",
    "make_provenance",
    "package_versions",
    "plain",
    "published",
    "published_names",
    "require_places",
    "require_same_run",
    "result_kind",
    "save_folder",
    "save_frame",
    "save_result",
    "say_interval",
    "say_value",
    "spread_of_folds",
]
