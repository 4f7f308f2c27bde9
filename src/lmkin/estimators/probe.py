"""`Probe`: a penalized linear model by scikit-learn's conventions, with exact zeros and a certificate."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, validate_data

from ..core import LmkinError, as_labels
from .adam import Convention, Epochs, Solver, adam_penalty, check_solver, fit_by_adam
from .arguments import check_numbers
from .certificate import Fit
from .choice import Penalized
from .design import Design
from .losses import CrossEntropy, HalfSquaredError, Loss
from .path import LEAST, STEPS
from .penalties import PenaltyName, make_penalty
from .predictions import Predictions
from .row_blocks import matrix_of
from .selection import HeldOut, PathStep, fold_rows, held_out_rows, on_disk, rate, some_rows
from .targets import numbered_classes, numbers_of, output_units, require_finite, scores_as_columns

Array = NDArray[Any]
Task = Literal["classification", "regression"]


class Probe(Predictions, BaseEstimator):  # type: ignore[misc]
    r"""Multinomial logistic regression, or linear regression, with an elastic net of exact zeros.

    .. math:: \min_{W, b} \; \mathrm{loss}(ZW + b) + \lambda_1 \Omega(W) + \lambda_2 \|W\|^2

    with Z the (standardized) columns of X, the mean cross-entropy or half the mean squared error as loss, and
    :math:`\Omega(W) = \sum |w_{jc}|` (``penalty="elementwise"``) or :math:`\sum_j \|w_j\|_2` (``"row"``: a neuron is in
    or out for all classes together). The intercepts b are free.

    Parameters
    ----------
    task
        ``classification`` or ``regression``.
    penalty
        ``elementwise`` or ``row``.
    l1, l2
        λ₁ and λ₂. ``l1=None``: λ₁ is chosen on held-out rows along a path. ``l2=None``: as λ₁; in a
        regression λ₁ divided by the standard deviation of y, so that its unit does not matter. Of several outputs each
        is divided by its deviation first, in units of their root mean square, and its weights are multiplied by it at
        the end: an output whose scores are small is not penalized more than others.
    standardize
        Divide every column by its standard deviation; weights are given for the columns as they are.
    dev_share
        Share of the rows that choose λ₁, where `fit` is given none; the fit is then made again on all rows.
    steps, least
        Of the path: how many penalties, and the smallest of them in units of the one at which all weights are 0.
    tolerance, iterations
        Largest violation of the KKT conditions, in units of λ₁ (or of a hundredth of the largest λ₁, where λ₁ is
        smaller), and iterations after which a fit stops all the same.
    seed
        For the rows that choose, and for Adam.
    cv
        Choose λ₁ by so many folds of X instead of one share: the least mean loss over them.
    solver
        ``exact`` goes to the minimum. ``adam`` does what the papers did (Dalvi et al. 2020): 10 epochs of shuffled
        batches of 128, a rate of 1e-3, λ₁ and λ₂ 1e-5 where none are given; it ends somewhere near, hardly any weight
        is exactly 0, and `residual_` says how far it is.
    convention
        Of ``adam``: ``released`` as their code has it, with λ₂ ‖W‖ in place of its square, and no shuffling.

    Attributes
    ----------
    coef_, intercept_
        Outputs × columns, and outputs, for X as it is.
    scale_
        What the columns were divided by.
    classes_
        The labels, in the order of the outputs (classification).
    l1_, l2_
        The penalties.
    path_
        The steps of the path (`PathStep`), where λ₁ was chosen.
    objective_, residual_, n_iter_, passes_
        The minimum, the largest violation of the KKT conditions in the same unit, iterations, and passes over the rows
        (of two reads each, in shares of the columns that were read).

    References
    ----------
    Zou & Hastie 2005; Simon, Friedman & Hastie 2013 (rows); Dalvi et al. 2019 (probes with an elastic net).

    Examples
    --------
    >>> import numpy as np, lmkin
    >>> X = np.random.default_rng(0).normal(size=(400, 50))
    >>> y = np.where(X[:, 3] + X[:, 17] > 0, "yes", "no")
    >>> probe = lmkin.Probe(penalty="row", l1=0.1).fit(X, y)
    >>> probe.neurons_.tolist(), probe.predict(X[:3]).tolist()
    ([3, 17], ['no', 'yes', 'no'])
    """

    def __init__(
        self,
        task: Task = "classification",
        *,
        penalty: PenaltyName = "elementwise",
        l1: float | None = None,
        l2: float | None = None,
        standardize: bool = True,
        dev_share: float = 0.1,
        steps: int = STEPS,
        least: float = LEAST,
        tolerance: float = 0.01,
        iterations: int = 2000,
        seed: int = 0,
        cv: int | None = None,
        solver: Solver = "exact",
        convention: Convention = "paper",
    ):
        self.task = task
        self.penalty = penalty
        self.l1 = l1
        self.l2 = l2
        self.standardize = standardize
        self.dev_share = dev_share
        self.steps = steps
        self.least = least
        self.tolerance = tolerance
        self.iterations = iterations
        self.seed = seed
        self.cv = cv
        self.solver = solver
        self.convention = convention

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.task == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
            tags.target_tags.multi_output = True
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    # -- fitting ------------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, *, dev: tuple[Any, Any] | None = None, groups: Any = None
    ) -> Self:
        """Fit the weights.

        ``dev``: rows and labels that choose λ₁; the fit is then of X alone. ``groups``: what each row of X belongs to,
        such as its sentence, so that no group is on both sides where rows of X are held out.
        """
        self._check_options(dev)
        X, y = self._checked(X, y)
        target = self._learn_target(y)
        self.path_: list[PathStep] = []
        if self.solver == "adam":
            return self._keep(*self._by_adam(X, target))
        design, loss = Design(X, standardize=self.standardize), self._loss(target)
        if dev is not None and self.l1 is None:
            other = self._checked_dev(dev)
            fit, self.path_ = self._penalized().fit_on_dev(design, loss, self._held_out(*other))
            return self._keep(design, fit)
        l1 = self._choose(X, target, groups, design) if self.l1 is None else float(self.l1)
        return self._keep(design, self._penalized().fit_at(design, loss, l1))

    def _check_options(self, dev: Any) -> None:
        """Raise if something cannot be meant."""
        if self.task not in ("classification", "regression"):
            raise LmkinError(f"task is 'classification' or 'regression'; got {self.task!r}.")
        check_numbers(self.l1, self.l2, self.tolerance, self.iterations)
        make_penalty(self.penalty, self.l1 or 0.0, self.l2 or 0.0)
        check_solver(self.solver, self.convention)
        if self.cv is not None and dev is not None:
            raise LmkinError("The penalty is chosen by folds (cv=…) or by dev=(X, y): give one.")

    def _by_adam(self, X: Any, target: Array) -> tuple[Design, Fit]:
        """The papers' fit; rows that are not standardized are taken as they are, and not centred either."""
        design = Design(X, standardize=self.standardize, centre=self.standardize)
        return design, fit_by_adam(
            design, self._loss(target), adam_penalty(self.penalty, self.l1, self.l2, self.convention),
            seed=self.seed, epochs=Epochs(shuffled=self.convention == "paper"),
        )  # fmt: skip

    def _choose(self, X: Any, target: Array, groups: Any, design: Design) -> float:
        """The λ₁ that predicts rows of X best that were not fitted; all of X is then fitted with it."""
        penalized = self._penalized()

        def parted(rows: Array, held: Array) -> tuple[Design, Loss, HeldOut]:
            part = Design(some_rows(X, rows), standardize=self.standardize)
            other = self._held_out(some_rows(X, held), target[held], target[rows])
            return part, self._loss(target[rows]), other

        if self.cv is None:
            rows = held_out_rows(len(target), self.dev_share, groups, self.seed)
            fit, self.path_ = penalized.fit_on_dev(*parted(*rows))
            return fit.l1
        folds = [parted(*rows) for rows in fold_rows(len(target), self.cv, groups, self.seed)]
        l1, self.path_ = penalized.choose_on_folds(design, self._loss(target), folds)
        return l1

    def _checked(self, X: Any, y: Any) -> tuple[Any, Array]:
        """X and y as scikit-learn checks them; a matrix that is not in memory stays where it is."""
        X, y = matrix_of(X), y if y is None else as_labels(y, "y")
        if on_disk(X):
            self.n_features_in_ = int(X.shape[1])
            y = check_array(y, ensure_2d=False, dtype=None)
            if len(y) != X.shape[0]:
                raise LmkinError(
                    f"X has {X.shape[0]} rows, and y has {len(y)}: one label a row is needed."
                )
            return X, y
        X, y = validate_data(
            self, X, y, dtype=(np.float64, np.float32), multi_output=self.task == "regression",
            y_numeric=self.task == "regression", ensure_min_samples=2, ensure_all_finite=False,
        )  # fmt: skip
        return require_finite(X), y

    def _checked_dev(self, dev: tuple[Any, Any]) -> tuple[Any, Array]:
        """Rows and targets that choose the penalty. Raise if they cannot be of this fit."""
        if not isinstance(dev, tuple | list) or len(dev) != 2:
            raise LmkinError(
                "dev is a pair of rows and labels that choose the penalty: dev=(X, y)."
            )
        X = self._same_columns(dev[0])
        y = check_array(as_labels(dev[1], "dev"), ensure_2d=False, dtype=None)
        if len(y) != X.shape[0]:
            raise LmkinError(
                f"dev has {X.shape[0]} rows, and {len(y)} labels: one label a row is needed."
            )
        return X, self._known_target(y)

    def _learn_target(self, y: Array) -> Array:
        """Numbers of classes, fixed here, or scores, rows × outputs."""
        if self.task == "regression":
            self._flat, scores = y.ndim == 1, scores_as_columns(y)
            self._units = output_units(scores)
            return scores / self._units
        self.classes_, target = numbered_classes(y)
        return target

    def _known_target(self, y: Array) -> Array:
        """The same of other rows; a label that was not fitted is −1."""
        if self.task == "regression":
            scores = scores_as_columns(y)
            if scores.shape[1] != len(self._units):
                raise LmkinError(
                    f"dev has scores of {scores.shape[1]} outputs, and y of {len(self._units)}: give both alike."
                )
            return scores / self._units
        return numbers_of(self.classes_, y)

    def _loss(self, target: Array) -> Loss:
        if self.task == "regression":
            return HalfSquaredError(target)
        return CrossEntropy(target, len(self.classes_))

    def _penalized(self) -> Penalized:
        return Penalized(
            self.penalty, self.l2, self.steps, self.least, self.tolerance, self.iterations
        )

    def _held_out(self, X: Any, true: Array, fitted: Array | None = None) -> HeldOut:
        """Rows that choose the penalty; ``fitted``: targets of the rows that are fitted, where these lack some."""
        known = np.ones(len(true), bool) if true.ndim > 1 else true >= 0
        if fitted is not None and true.ndim == 1:
            known &= np.isin(true, fitted)
        if not known.any():
            raise LmkinError(
                "No label of the rows that choose the penalty occurs in the rows that are fitted."
            )
        return HeldOut(X, self._loss(true[known]), known, lambda scores: rate(scores, true))

    def _keep(self, design: Design, fit: Fit) -> Self:
        V, b = design.unscaled(fit.W, fit.b)
        if self.task == "regression":
            V, b = V * self._units, b * self._units
        self.coef_, self.intercept_, self.scale_ = V.T.copy(), b, design.standard.scale
        self.l1_, self.l2_ = fit.l1, fit.l2
        self.objective_, self.residual_, self.n_iter_ = fit.objective, fit.relative, fit.iterations
        self.neurons_, self.passes_ = fit.neurons, fit.passes
        if self.task == "regression" and self._flat:
            self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]
        if fit.relative > self.tolerance and self.solver == "exact":
            rounding = "" if design.dtype == np.float64 else ", or rows in float64 (float32 rounds)"
            warnings.warn(
                f"The fit stopped after {fit.iterations} iterations with a KKT residual of {fit.relative:.1e} (asked "
                f"for: {self.tolerance:.0e}). Give more iterations, or a larger l1{rounding}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def with_weights(
        self, coef: Array, intercept: Array, classes: Sequence[str], path: Sequence[PathStep] = ()
    ) -> Self:
        """A probe that was fitted elsewhere: outputs × columns, outputs, and the classes of the outputs."""
        self.coef_, self.intercept_ = coef.astype(np.float64), intercept.astype(np.float64)
        self.n_features_in_ = coef.shape[1]
        self.neurons_ = np.flatnonzero((coef != 0).any(0))
        self.l1_, self.l2_ = float(self.l1 or 0), float(self.l2 or 0)
        self.path_ = list(path)
        if self.task == "classification":
            self.classes_ = np.asarray(classes)
        else:
            self._flat = len(coef) == 1
            if self._flat:
                self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]
        return self
