"""`Dependency`: what a decomposition found, and the fits themselves on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...core import MeasureError, did_you_mean, quoted
from ...results import Files, Result, ResultTable, load_result, result_kind, save_result
from .findings import dependency_findings
from .joint import Block, Joint
from .portfolio import Subsets, best_subsets, drop_order
from .portfolio_tables import PORTFOLIO, SubsetSizes, compute_portfolio, load_portfolio
from .regression import columns_of, weights
from .row_sample import Kept
from .shared_variance import commonality, unique_shares
from .solver import Solver
from .tables import dependency_data, dependency_table, published_rows, published_table, scored_split
from .unexplained import check_counts, of_every_model, unexplained
from .variables import as_numbers

FloatArray = NDArray[np.float64]


@result_kind
class Dependency(Result):
    """How well models explain each other: R² of the linear regression of every model on the others.

    ``dataset``: ``r2_group`` (split, model), how much of every model all others explain; ``r2_pair`` (split, basis,
    target); ``rho_pair`` (split, basis, target), the mean of both directions; ``rho_group`` (split); each with ``_se``,
    ``_low``, ``_high``. Each of these is also an attribute. With several lengths of the texts, ``length`` comes first.
    """

    kind = "dependency"

    def __init__(
        self,
        dataset: xr.Dataset,
        joint: Joint | None = None,
        solver: Solver | None = None,
        kept: Kept | None = None,
        texts: Any = None,
        *,
        portfolio: Mapping[str, xr.Dataset] | None = None,
        published: xr.DataArray | None = None,
    ):
        if "r2_group" not in dataset or "model" not in dataset.coords:
            raise MeasureError(
                "A dependency is what lmkin.decompose gives; this Dataset has the variables "
                f"{', '.join(map(str, dataset)) or 'none'}."
            )
        names = [str(m) for m in dataset["model"].values]
        super().__init__(dataset.assign_attrs(models=names))
        self._joint = joint
        self._solver = solver
        self._kept = kept
        self._texts = texts
        self._train: Block | None = None
        self._known_subsets: Subsets | None = None
        self._portfolio = None if portfolio is None else dict(portfolio)
        self.published = published
        """Figures of the paper for these models (see `compare_published`), to be shown beside; or None."""

    def __repr__(self) -> str:
        scored = scored_split(self.dataset)
        rho = self.dataset["rho_group"].sel(split=scored).values.reshape(-1)[-1]
        return (
            f"<Dependency of {', '.join(self.models)}: {rho:.3f} of each by all others ({scored})>"
        )

    @property
    def portfolio(self) -> dict[str, xr.Dataset]:
        """``drop_order``, ``best_subsets``, ``unique``, ``unexplained``; made when first asked for, from the fits.

        Nothing where there are no fits: of a result that was loaded without them.
        """
        if self._portfolio is None:
            self._portfolio = self.make_portfolio() if self.fitted else {}
        return self._portfolio

    def make_portfolio(
        self, subsets: SubsetSizes = "auto", *, progress: bool | None = None
    ) -> dict[str, xr.Dataset]:
        """Which models to keep, as `portfolio` has it: with ``best_subsets`` of some sizes.

        ``subsets``: ``auto`` (all sizes; every subset of up to 8 models), ``all``, ``none``, or sizes (``"1,3-5"``, or
        a list).
        """
        self._fitted()
        self._portfolio = compute_portfolio(self, subsets, progress=progress)
        return self._portfolio

    # -- what every result has ----------------------------------------------------------------------

    def tables(self) -> list[ResultTable]:
        """R² of every model by all others; beside it the paper's, where they were asked for."""
        tables = [dependency_table(self.dataset)]
        rows = published_rows(self.dataset, self.published)
        return [*tables, published_table(rows)] if rows else tables

    def data(self) -> dict[str, Any]:
        """R² by length and model, the order to switch off, alerts."""
        data = dependency_data(self.dataset, self.portfolio)
        if self.published is not None:
            data["published"] = published_rows(self.dataset, self.published)
        return {**data, "alerts": [a.to_dict() for a in self.alerts]}

    def findings(self) -> list[str]:
        """Which model the others explain best and least, and which could be switched off."""
        return dependency_findings(self.dataset, self.portfolio)

    def files(self) -> Files:
        """``dependency.nc``, ``r2_group.csv``, ``r2_pair.csv``; the portfolio as .csv and .nc."""
        dataset, published = self.dataset, self.published
        pairs = [name for name, table in dataset.items() if "basis" in table.dims]
        group = dataset.drop_vars([*pairs, "basis", "target"])
        files: Files = {
            "dependency.nc": lambda path: save_result(dataset, path),
            "r2_group.csv": lambda path: save_result(group, path),
        }
        if pairs:
            files["r2_pair.csv"] = lambda path: save_result(dataset[pairs], path)
        for name, table in self.portfolio.items():
            for ending in (".csv", ".nc"):
                files[name + ending] = partial(save_result, table)
        if published is not None:
            files["published.nc"] = lambda path: save_result(published.to_dataset(), path)
        return files

    @classmethod
    def _restore(cls, dataset: xr.Dataset, folder: Path) -> Self:
        portfolio = {
            name: load_portfolio(name, folder / f"{name}.nc")
            for name in PORTFOLIO
            if (folder / f"{name}.nc").is_file()
        }
        published = None
        if (folder / "published.nc").is_file():
            stored = load_result(folder / "published.nc")
            (name,) = stored.data_vars
            published = stored[name]
        return cls(dataset, portfolio=portfolio, published=published)

    @property
    def fitted(self) -> bool:
        """Whether its fits are at hand; a result that was loaded has tables only."""
        return self._joint is not None and self._solver is not None

    # -- fits -----------------------------------------------------------------------------------

    def weights(
        self, target: str, basis: str | Sequence[str] | None = None
    ) -> tuple[dict[str, FloatArray], FloatArray]:
        """W (by basis model, target × basis neurons) and b of a fit: u = Σ W v + b.

        ``basis``: one model or several; all other models by default.
        """
        joint, _ = self._fitted()
        i = self._number(target)
        numbers = self._basis(i, basis)
        W, mine, columns = self._weights(i, numbers)
        unit, mean = joint.unit, self._train_block().mean * joint.unit
        W = W * unit[mine][:, None] / unit[columns][None, :]
        b = mean[mine] - W @ mean[columns]
        by_model, start = {}, 0
        for j in numbers:
            width = joint.slices[j].stop - joint.slices[j].start
            by_model[joint.names[j]] = W[:, start : start + width]
            start += width
        return by_model, b

    def predict(
        self,
        rows: Mapping[str, Any],
        target: str,
        basis: str | Sequence[str] | None = None,
    ) -> FloatArray:
        """The target's rows as the basis explains them, from rows of the basis models."""
        W, b = self.weights(target, basis)
        if not isinstance(rows, Mapping):
            raise MeasureError("Rows come as a dict {'model': rows × neurons}.")
        missing = [name for name in W if name not in rows]
        if missing:
            raise MeasureError(
                f"Rows of {', '.join(missing)} are needed too, under these names; got rows of "
                f"{', '.join(map(str, rows)) or 'none'}."
            )
        arrays = {name: as_numbers(name, rows[name]) for name in W}
        n = max((len(a) for a in arrays.values() if a.ndim), default=0)
        result = np.zeros((n, len(b))) + b
        for name, w in W.items():
            array = arrays[name]
            if array.ndim != 2 or array.shape[1] != w.shape[1] or len(array) != len(result):
                raise MeasureError(
                    f"{name}: {len(result)} rows × {w.shape[1]} neurons expected; got the shape {array.shape}."
                )
            result += array @ w.T
        return result

    def _weights(self, i: int, numbers: Sequence[int]) -> tuple[FloatArray, Any, Any]:
        joint, solver = self._fitted()
        train = self._train_block()
        mine, columns = columns_of(joint, [i]), columns_of(joint, numbers)
        S = train.products / (train.n - 1)
        added = solver.ridge_for(S, i, numbers)
        W = weights(S, mine, columns, added, solver.tolerance, joint.unit)
        return W, mine, columns

    def _fitted(self) -> tuple[Joint, Solver]:
        if self._joint is None or self._solver is None:
            raise MeasureError(
                "This result was loaded from disk, and holds tables only. Run the decomposition again for its fits."
            )
        return self._joint, self._solver

    def _train_block(self) -> Block:
        if self._train is None:
            self._train = self._fitted()[0].total("train")
        return self._train

    def _number(self, name: Any) -> int:
        joint, _ = self._fitted()
        if isinstance(name, str) and name in joint.names:
            return joint.names.index(name)
        if isinstance(name, str) and name in joint.models:
            own = [joint.names[i] for i in joint.models[name]]
            raise MeasureError(
                f"Here are several layers of models, and layers are named: {quoted(name)} has {', '.join(own)}. Give "
                f"one, such as {quoted(own[-1])}."
            )
        known = did_you_mean(name, joint.names)
        raise MeasureError(f"There is no model {quoted(name)} here. {known}")

    def _basis(self, target: int, basis: str | Sequence[str] | None) -> list[int]:
        joint, _ = self._fitted()
        model = joint.groups[target].model
        if basis is None:
            return [k for k, g in enumerate(joint.groups) if g.model != model]
        if not isinstance(basis, Iterable):
            raise MeasureError(
                f"A basis is the name of a model, or a list of names; got {quoted(basis)}."
            )
        numbers = [self._number(b) for b in ([basis] if isinstance(basis, str) else basis)]
        if target in numbers or not numbers or len(set(numbers)) < len(numbers):
            raise MeasureError("A basis is one model or several others, each once.")
        return numbers

    # -- which models to keep -------------------------------------------------------------------

    def best_subsets(
        self,
        sizes: int | Sequence[int] | None = None,
        *,
        exhaustive: bool | None = None,
        progress: bool | None = None,
    ) -> xr.Dataset:
        """For every size, the models that explain the rest best: ``kept`` (size, model), ``r2``, ``r2_rest``.

        Chosen on validation rows and reported on test rows. All subsets are tried for up to 15 models, else (or with
        ``exhaustive=False``) one model is added at a time.
        """
        if sizes is None and (stored := self._stored("best_subsets")) is not None:
            return stored
        every = range(1, len(self._subsets().names))
        asked: Any = every if sizes is None else sizes
        several = isinstance(asked, Iterable) and not isinstance(asked, str)
        wanted_sizes = list(asked) if several else [asked]
        return best_subsets(self._subsets(), wanted_sizes, exhaustive=exhaustive, progress=progress)

    def drop_order(self, *, progress: bool | None = None) -> xr.Dataset:
        """Switch off in this order: each time the model that costs least, with R² of it, and of all dropped so far.

        Only where ``carried``: R² of the model by those left is above 0, and no other model could as well go instead,
        both by their intervals (jackknife, as for R²). ``attrs["no_order"]`` says why the next step is no advice.
        """
        if (stored := self._stored("drop_order")) is not None:
            return stored
        intervals = "r2_group_se" in self.dataset
        level = float(self.dataset.attrs["level"]) if intervals else None
        return drop_order(self._subsets(), level=level, progress=progress)

    def unique(self) -> xr.Dataset:
        """What only one model knows of another, what several share, and what none explains."""
        stored = self._stored("unique")
        return stored if stored is not None else unique_shares(self._subsets())

    def commonality(
        self, target: str, groups: Mapping[str, str | Sequence[str]]
    ) -> dict[str, float]:
        """R² of a model divided among up to three groups of others, and what these share."""
        return commonality(self._subsets(), target, groups)

    def unexplained(
        self,
        target: str | None = None,
        basis: str | Sequence[str] | None = None,
        *,
        directions: int = 3,
        inputs: int = 10,
    ) -> xr.Dataset:
        """Main directions of what the others do not explain, and the texts that weigh most in each.

        Of one model, or, without ``target``, of every model from all others, along ``model``.
        ``share`` is that of a direction in the residual, ``share_of_model`` in the model; ``input`` are row numbers,
        ``text`` what they are, ``weight`` how far they lie along the direction; out of a sample of the test rows.
        """
        if target is None and (stored := self._stored("unexplained")) is not None:
            return stored
        joint, _ = self._fitted()
        check_counts(directions, inputs)
        if target is None:
            if basis is not None:
                raise MeasureError("A basis is of one target: name the model that it explains.")
            every = [self.unexplained(m, directions=directions, inputs=inputs) for m in self.models]
            return of_every_model(every)
        i = self._number(target)
        numbers = self._basis(i, basis)
        W, _, _ = self._weights(i, numbers)
        split = "test" if "test" in joint.parts else "train"
        return unexplained(
            joint, self._train_block(), W, i, numbers,
            split=split, directions=directions, inputs=inputs, kept=self._kept, units=self._texts,
        )  # fmt: skip

    def _stored(self, name: str) -> xr.Dataset | None:
        """A table of a result that was loaded from disk, without its fits."""
        return None if self.fitted else self.portfolio.get(name)

    def _subsets(self) -> Subsets:
        if self._known_subsets is None:
            self._known_subsets = Subsets(*self._fitted())
        return self._known_subsets
