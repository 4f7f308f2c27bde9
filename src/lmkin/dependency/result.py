"""`Dependency`: what a decomposition found, and the fits themselves on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..arguments import is_whole
from ..errors import LmkinError, MeasureError, did_you_mean
from ..moments.arrays import to_numpy
from .fitting import columns_of, weights
from .joint import Block, Joint
from .keeping import Kept
from .portfolio import Subsets, best_subsets, commonality, drop_order, unique_shares
from .solving import Solver
from .unexplained import of_every_model, unexplained

FloatArray = NDArray[np.float64]


class Dependency:
    """How well models explain each other linearly.

    ``data`` is the labelled result: ``r2_group`` (split, model), how much of every model all others explain;
    ``r2_pair`` (split, basis, target); ``rho_pair`` (split, basis, target), the mean of both directions; ``rho_group``
    (split); each with ``_se``, ``_low``, ``_high``, and attributes with alerts and provenance. Each of these is also an
    attribute.
    """

    def __init__(
        self,
        data: xr.Dataset,
        joint: Joint | None = None,
        solver: Solver | None = None,
        kept: Kept | None = None,
        texts: Any = None,
    ):
        self.data = data
        self._joint = joint
        self._solver = solver
        self._kept = kept
        self._texts = texts
        self._train: Block | None = None
        self._known_subsets: Subsets | None = None

    def __getattr__(self, name: str) -> xr.DataArray:
        if name.startswith("_") or name == "data" or name not in self.data:
            raise AttributeError(
                f"There is no {name!r} here. {did_you_mean(name, list(map(str, self.data)))}"
            )
        return self.data[name]

    def __repr__(self) -> str:
        scored = "test" if "test" in self.data["split"].values else "train"
        rho = float(self.data["rho_group"].sel(split=scored))
        return (
            f"<Dependency of {', '.join(self.models)}: {rho:.3f} of each by all others ({scored})>"
        )

    @property
    def models(self) -> list[str]:
        """Names, in the order given."""
        return [str(m) for m in self.data["model"].values]

    @property
    def alerts(self) -> list[str]:
        """What to be careful about."""
        return list(self.data.attrs.get("alerts", []))

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
        found, start = {}, 0
        for j in numbers:
            width = joint.slices[j].stop - joint.slices[j].start
            found[joint.names[j]] = W[:, start : start + width]
            start += width
        return found, b

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
        arrays = {name: _numbers(name, rows[name]) for name in W}
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
                f"Here are several layers of models, and layers are named: {name!r} has {', '.join(own)}. Give one, "
                f"such as {own[-1]!r}."
            )
        raise MeasureError(
            f"There is no model {name!r:.60} here. {did_you_mean(str(name), joint.names)}"
        )

    def _basis(self, target: int, basis: str | Sequence[str] | None) -> list[int]:
        joint, _ = self._fitted()
        model = joint.groups[target].model
        if basis is None:
            return [k for k, g in enumerate(joint.groups) if g.model != model]
        if not isinstance(basis, Iterable):
            raise MeasureError(
                f"A basis is the name of a model, or a list of names; got {basis!r:.60}."
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
        every = range(1, len(self._subsets().names))
        asked: Any = every if sizes is None else sizes
        several = isinstance(asked, Iterable) and not isinstance(asked, str)
        chosen = list(asked) if several else [asked]
        return best_subsets(self._subsets(), chosen, exhaustive=exhaustive, progress=progress)

    def drop_order(self, *, progress: bool | None = None) -> xr.Dataset:
        """Switch off in this order: each time the model that costs least, with R² of it, and of all dropped so far."""
        return drop_order(self._subsets(), progress=progress)

    def unique(self) -> xr.Dataset:
        """What only one model knows of another, what several share, and what none explains."""
        return unique_shares(self._subsets())

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
        joint, _ = self._fitted()
        for value in (directions, inputs):
            if not is_whole(value) or value < 1:
                raise MeasureError(
                    f"directions and inputs are whole numbers, 1 or more; got {directions!r:.40} and {inputs!r:.40}."
                )
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

    def _subsets(self) -> Subsets:
        if self._known_subsets is None:
            self._known_subsets = Subsets(*self._fitted())
        return self._known_subsets

    # -- storing --------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the tables to a netCDF file; fits are made again from the source."""
        from ..results import save_result

        try:
            save_result(self.data, path)
        except OSError as error:
            raise LmkinError(
                f"Cannot write {path}: {error.strerror or error}. Give a file in a folder that you may write to."
            ) from error

    @staticmethod
    def load(path: str | Path) -> Dependency:
        """Read what `save` wrote."""
        from ..results import load_result

        data = load_result(path)
        if "r2_group" not in data:
            raise MeasureError(f"{path} holds no decomposition.")
        return Dependency(data)


def _numbers(name: str, rows: Any) -> FloatArray:
    try:
        return np.asarray(to_numpy(rows), np.float64)
    except (TypeError, ValueError):
        raise MeasureError(
            f"{name}: rows × neurons of numbers expected; got {rows!r:.60}."
        ) from None
