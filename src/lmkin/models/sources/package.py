"""Models that come inside an installed Python package, by the names that `import` knows."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ...core import ModelError, quoted
from ..base import LanguageModel
from ..loader import LoadOptions, model_source

_PREFIX = "package:"


def resolve_package(spec: str) -> str:
    """The folder behind ``package:PACKAGE/FOLDER``; any other specification as it is."""
    if not spec.startswith(_PREFIX):
        return spec
    package, _, folder = spec.removeprefix(_PREFIX).partition("/")
    try:
        module_spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        module_spec = None
    if module_spec is None or not module_spec.submodule_search_locations:
        pip_name = package.replace("_", "-")
        raise ModelError(
            f"The Python package {quoted(package)} is not installed here: pip install {pip_name}."
        )
    path = Path(module_spec.submodule_search_locations[0]) / folder
    if not path.is_dir():
        raise ModelError(f"The Python package {quoted(package)} has no folder {quoted(folder)}.")
    return str(path)


def package_name(spec: str) -> str:
    """What to call a model of a package: the package, and the folder if that says more."""
    return spec.removeprefix(_PREFIX).removesuffix("/model")


@model_source(
    "package",
    summary="package:PACKAGE/FOLDER, a model inside an installed Python package",
    claims=lambda spec: spec.startswith(_PREFIX),
)
def load_package(spec: str, options: LoadOptions) -> LanguageModel:
    """Load a model from an installed package."""
    from .huggingface import check_folder

    folder = resolve_package(spec)
    check_folder(folder)
    from ..pretrained import load_pretrained

    name = options.name or package_name(spec)
    return load_pretrained(folder, options, spec=spec, name=name)
