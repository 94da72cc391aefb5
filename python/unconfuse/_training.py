"""A training as the library is asked for it: settings from parameters, rows and labels."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_sample_weight

from ._labels import Classes, names_of
from ._library import Names, doubles, labels_buffer, matrix, names_list, seed_of, set_options
from ._model import find_learner
from ._unconfuse import ffi, lib


class Settings:
    """The settings of a training, from the parameters of an estimator; owns what they point to."""

    def __init__(self, learner: str, parameters: Mapping[str, Any]) -> None:
        self.learner = find_learner(learner)
        self.table = lib.uc_learner_options(self.learner)
        self.own = ffi.new("char[]", lib.uc_learner_settings_size(self.learner))
        lib.uc_options_defaults(self.table, self.own)
        set_options(self.table, self.own, parameters)
        self.train = ffi.new("uc_train_settings *", lib.uc_train_defaults())
        set_options(lib.uc_train_options, self.train, parameters)
        set_options(lib.uc_map_options, ffi.addressof(self.train.map), parameters)
        seed = seed_of(parameters.get("random_state"))
        if seed is not None:
            set_options(lib.uc_train_options, self.train, {"seed": seed})
        self._kept: list[Any] = []

    def weigh(self, class_weight: Any, classes: Classes) -> None:
        """Weights of classes that are given one by one; what is not named weighs 1."""
        if not isinstance(class_weight, Mapping):
            return
        known = set(classes.values.tolist())
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise ValueError(f"class_weight has the label {unknown[0]!r}, which is not among the classes")
        weights = np.array([class_weight.get(label, 1.0) for label in classes.labels.tolist()], float)
        self.train.class_weights = self._keep(doubles(weights))

    def tell_noise(self, noise: Any) -> None:
        self.train.noise = self._keep(noise)

    def tell_positive(self, name: str) -> None:
        self.train.positive = self._keep(ffi.new("char[]", name.encode(errors="surrogateescape")))

    def _keep(self, owner: Any) -> Any:
        self._kept.append(owner)
        return owner


class Data:
    """Rows and labels as the library sees them; the names of the classes are freed with this object."""

    def __init__(self, X: Any, codes: np.ndarray, classes: Classes, groups: Any = None, weights: np.ndarray | None = None,
                 soft: np.ndarray | None = None) -> None:
        view, self._rows = matrix(X)
        self._codes = codes
        self.pointer = ffi.gc(ffi.new("uc_dataset *"), self._free)
        self.pointer.X = view[0]
        self.pointer.y = labels_buffer(codes)
        self._counted = weights, soft
        if weights is not None:
            self.pointer.weights = doubles(weights)
        if soft is not None:
            self.pointer.soft = doubles(soft)
        Names(names_list(classes.names.pointer)).move_to(self.pointer.classes)
        if groups is not None:
            values, self._bags = np.unique(groups, return_inverse=True)
            self._bags = self._bags.astype(np.uint32)
            self.pointer.bag = labels_buffer(self._bags)
            Names(names_of(values)).move_to(self.pointer.bags)

    def tell_columns(self, encoder: Any) -> None:
        """What the columns of the table are that the rows come from; None: nothing."""
        if encoder is not None:
            self.pointer.table = lib.uc_table_share(encoder._table.pointer)

    @staticmethod
    def _free(pointer: Any) -> None:
        lib.uc_names_free(ffi.addressof(pointer.classes))
        lib.uc_names_free(ffi.addressof(pointer.bags))
        lib.uc_table_free(pointer.table)


class Counted:
    """What rows count: their weights, and how probable each class is for them. Rows of weight 0 are left out."""

    def __init__(self, sample_weight: Any, soft_labels: Any) -> None:
        self.weights: np.ndarray | None = None
        self.soft: np.ndarray | None = None
        self._given = sample_weight, soft_labels
        self._mask: np.ndarray | None = None

    def keep(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The rows that count."""
        sample_weight, soft_labels = self._given
        if soft_labels is not None:
            self.soft = check_array(soft_labels, dtype=np.float64, order="C", copy=True)
            check_consistent_length(X, self.soft)
        if sample_weight is None:
            return X, y
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            raise ValueError(f"sample_weight has {weights.min():g}, which is below 0")
        if not weights.any():
            raise ValueError("every sample_weight is 0: no example is left")
        if not weights.all():
            self._mask = weights > 0
        self.weights = np.ascontiguousarray(self.kept(weights))
        self.soft = None if self.soft is None else np.ascontiguousarray(self.kept(self.soft))
        return self.kept(X), self.kept(y)

    def kept(self, rows: Any) -> Any:
        return rows if self._mask is None else (rows[self._mask] if hasattr(rows, "shape") else np.asarray(rows)[self._mask])

    def harden(self, codes: np.ndarray, classes: Classes) -> np.ndarray:
        """Soft labels in the library's order of the classes; the most probable classes take the place of the codes."""
        if self.soft is None:
            return codes
        if self.soft.shape[1] != len(classes):
            raise ValueError(f"soft_labels has {self.soft.shape[1]} columns, but there are {len(classes)} classes")
        sums = self.soft.sum(axis=1)
        if (self.soft < 0).any() or (abs(sums - 1) > 1e-3).any():
            raise ValueError("soft_labels must hold probabilities, and its rows must sum to 1")
        soft = np.empty_like(self.soft)
        soft[:, classes.places] = self.soft / sums[:, None]
        self.soft = soft
        return soft.argmax(axis=1).astype(np.uint32)


COLUMNS = {"n_features_in_", "feature_names_in_", "_encoder"}  # which are set when rows are shown to an estimator


def remember(estimator: Any, seen: Any, **learned: Any) -> None:
    """What a fit found, all at once for other threads' eyes. Only now the estimator has the columns of the rows, which were
    shown to `seen`, a copy of it: a fit that fails changes nothing."""
    columns = {name: value for name, value in vars(seen).items() if name in COLUMNS}
    vars(estimator).update(learned | columns)
    for name in COLUMNS - columns.keys():
        vars(estimator).pop(name, None)
