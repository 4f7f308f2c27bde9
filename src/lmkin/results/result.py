"""`Result`: what every analysis gives, with the same members whatever its kind."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import xarray as xr

from ..core import (
    ALERTS,
    Alert,
    LmkinError,
    LmkinWarning,
    alerts_of,
    as_path,
    checked,
    did_you_mean,
    fingerprint,
    listed_names,
    quoted,
    require_new_file,
)
from .folder import save_folder, written_in
from .storage import load_result, save_result
from .table import ResultTable

Files = dict[str, Callable[[Path], None]]
"""Name → what writes that file."""


class Result(ABC):
    """A labelled result: ``dataset`` (xarray), ``tables()``, ``alerts``, ``provenance``, ``plot()``, ``save()``.

    Variables of the dataset are attributes too: ``result.ckasim`` is ``result.dataset["ckasim"]``.
    """

    kind: ClassVar[str]
    """Names the analysis, its command, its files and its part of a report."""

    def __init__(self, dataset: xr.Dataset):
        self.dataset = dataset.assign_attrs(kind=self.kind)

    # -- what every kind says ---------------------------------------------------------------------

    @abstractmethod
    def tables(self) -> list[ResultTable]:
        """What a person reads first, in the terminal, a notebook and a report; the most important first."""

    @abstractmethod
    def findings(self) -> list[str]:
        """Sentences that say what came out, each with its number and interval; only what the intervals carry."""

    @abstractmethod
    def files(self) -> Files:
        """The files of a result folder, beside report and charts; ``lmkin.load`` restores the result from them."""

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """Plain data for machines: what ``--json`` prints."""

    @property
    def models(self) -> list[str]:
        """Names of the models, in the order given."""
        return [str(m) for m in self.dataset.attrs.get("models", [])]

    @property
    def alerts(self) -> list[Alert]:
        """Known traps that were found, as data."""
        return alerts_of(self.dataset.attrs)

    @property
    def provenance(self) -> dict[str, Any]:
        """Everything that the numbers depend on."""
        return dict(self.dataset.attrs.get("provenance", {}))

    @property
    def attrs(self) -> dict[Any, Any]:
        """Attributes of the dataset."""
        return self.dataset.attrs

    def find_table(self, name: str) -> ResultTable:
        """One of `tables`, by its name."""
        tables = {table.name: table for table in self.tables()}
        if name not in tables:
            raise LmkinError(f"There is no table {quoted(name)} here. {did_you_mean(name, tables)}")
        return tables[name]

    # -- files and pictures -------------------------------------------------------------------------

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the dataset as netCDF (``.nc``) or CSV; under a name without an ending, everything into a folder.

        ``lmkin.load`` reads the first and the last back. Raise if the file is there already, or the folder holds the
        results of another run, unless ``overwrite``.
        """
        path = as_path(path)
        try:
            if path.suffix in (".nc", ".csv"):
                require_new_file(path, overwrite=overwrite)
                save_result(self.dataset, path)
                self._warn_of_the_rest(path)
            elif path.suffix and not path.is_dir():
                raise LmkinError(
                    f"A result is saved as .nc or .csv, or into a folder; got {quoted(path.name)}."
                )
            else:
                run = self.attrs.get("run") or self.run_of_its_own()
                save_folder(self.kind, self.files(), path, run=run, overwrite=overwrite)
        except OSError as error:
            raise LmkinError(
                f"Cannot write {quoted(path)}: {error.strerror or error}. Give a place that you may write to."
            ) from error

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote: a netCDF file, or a folder; of the netCDF file of a folder all that belongs to it."""
        path = Path(path)
        if path.name == f"{cls.kind}.nc" and path.name in written_in(path.parent):
            path = path.parent
        file = path / f"{cls.kind}.nc" if path.is_dir() else path
        dataset = load_result(file)
        kind = dataset.attrs.get("kind")
        if kind != cls.kind:
            said = f"a result of kind {quoted(kind)}" if kind else "no result of lmkin"
            raise LmkinError(
                f"{file} holds {said}, not {quoted(cls.kind)}. lmkin.load reads any kind."
            )
        try:
            checked(dict(dataset.attrs), {"alerts?": ALERTS, "provenance?": {str: Any}, str: Any})
            result = cls._restore(dataset, path) if path.is_dir() else cls(dataset)
            # Whatever is in a file, it is found out now, and not when somebody asks for a table.
            result.tables(), result.findings(), result.data(), result.models
        except LmkinError:
            raise
        except Exception as error:  # of whatever class: xarray, pandas and numpy have their own
            raise LmkinError(
                f"{file} is damaged, or of another version of lmkin: its tables do not fit together "
                f"({type(error).__name__}: {str(error)[:120]}). Run the analysis again."
            ) from None
        return result

    def run_of_its_own(self) -> str:
        """A name for the run of a result that no command made: of its kind, its options and its numbers."""
        numbers = {
            str(name): fingerprint(array.values)
            for name, array in self.dataset.variables.items()
            if array.dtype.kind in "biuf"
        }
        return fingerprint([self.kind, self.provenance.get("options"), self.models, numbers])

    def _warn_of_the_rest(self, path: Path) -> None:
        """Warn if a file alone does not hold all that `load` would read from a folder."""
        rest = [
            n
            for n in self.files()
            if n.endswith((".nc", ".safetensors")) and n != f"{self.kind}.nc"
        ]
        if path.suffix == ".nc" and rest:
            warnings.warn(
                f"{path.name} holds the main table alone. Save into a folder (a name without an ending) to keep "
                f"{listed_names(rest)} too.",
                LmkinWarning,
                stacklevel=3,
            )

    @classmethod
    def _restore(cls, dataset: xr.Dataset, folder: Path) -> Self:
        """The result from its dataset and the other files of its folder."""
        return cls(dataset)

    def plot(self, name: str | None = None) -> Any:
        """A chart of the result (Altair), by name; without one, the most important. An unknown name lists them."""
        from ..report import (
            result_charts,  # the one lazy import to the right: charts are found by kind
        )

        charts = result_charts(self)
        if name is not None and name not in charts:
            raise LmkinError(f"There is no chart {quoted(name)}. {did_you_mean(name, charts)}")
        return charts[next(iter(charts)) if name is None else name]()

    def _repr_html_(self) -> str:
        from html import escape

        said = "".join(f"<li>{escape(text)}</li>" for text in self.findings())
        alerts = "".join(f"<li>{escape(str(alert))}</li>" for alert in self.alerts)
        return (
            (f"<ul>{said}</ul>" if said else "")
            + "".join(table.to_html() for table in self.tables())
            + (f"<p>Alerts:</p><ul>{alerts}</ul>" if alerts else "")
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {listed(self.models) if self.models else 'no models'}>"

    def __getattr__(self, name: str) -> xr.DataArray:
        dataset = self.__dict__.get("dataset")  # not there yet while it is unpickled
        if dataset is None or name.startswith("_") or name not in dataset:
            known = [] if dataset is None else list(map(str, dataset))
            raise AttributeError(
                f"{type(self).__name__} has no {quoted(name)}. {did_you_mean(name, known) if known else ''}".strip()
            )
        variable: xr.DataArray = dataset[name]
        return variable

    def __getitem__(self, name: str) -> xr.DataArray:
        if name not in self.dataset:
            raise LmkinError(
                f"There is no {quoted(name)} here. {did_you_mean(str(name), list(map(str, self.dataset)))}"
            )
        return self.dataset[name]

    def __contains__(self, name: str) -> bool:
        return name in self.dataset

    def __iter__(self) -> Iterator[str]:
        """Names of the variables."""
        return iter(map(str, self.dataset))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *map(str, self.dataset)})


_KINDS: dict[str, type[Result]] = {}


Kind = TypeVar("Kind", bound=type[Result])


def result_kind(cls: Kind) -> Kind:
    """Register a class of results, so that ``lmkin.load`` finds it by its kind."""
    _KINDS[cls.kind] = cls
    return cls


def known_kinds() -> Mapping[str, type[Result]]:
    """Registered classes of results by kind."""
    return dict(_KINDS)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names as a sentence has them; their number, where there are many.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"])
    ('a, b and c', '4 models')
    """
    if len(names) > most:
        return f"{len(names)} models"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
