"""A training as the library is asked for it: settings from parameters, rows and labels."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

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

    def __init__(self, X: Any, codes: np.ndarray, classes: Classes, groups: Any = None) -> None:
        view, self._rows = matrix(X)
        self._codes = codes
        self.pointer = ffi.gc(ffi.new("uc_dataset *"), self._free)
        self.pointer.X = view[0]
        self.pointer.y = labels_buffer(codes)
        Names(names_list(classes.names.pointer)).move_to(self.pointer.classes)
        if groups is not None:
            values, self._bags = np.unique(groups, return_inverse=True)
            self._bags = self._bags.astype(np.uint32)
            self.pointer.bag = labels_buffer(self._bags)
            Names(names_of(values)).move_to(self.pointer.bags)

    @staticmethod
    def _free(pointer: Any) -> None:
        lib.uc_names_free(ffi.addressof(pointer.classes))
        lib.uc_names_free(ffi.addressof(pointer.bags))


COLUMNS = {"n_features_in_", "feature_names_in_"}  # which scikit-learn sets when rows are shown to an estimator


def remember(estimator: Any, seen: Any, **learned: Any) -> None:
    """What a fit found, all at once for other threads' eyes. Only now the estimator has the columns of the rows, which were
    shown to `seen`, a copy of it: a fit that fails changes nothing."""
    columns = {name: value for name, value in vars(seen).items() if name in COLUMNS}
    vars(estimator).update(learned | columns)
    for name in COLUMNS - columns.keys():
        vars(estimator).pop(name, None)
