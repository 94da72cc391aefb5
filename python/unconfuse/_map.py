"""Maps as transformers: from rows to the finite space of a kernel, in which linear learners work."""
from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._library import Work, check, matrix, taken_bytes
from ._sklearn import Tagged, validated
from ._training import Settings, remember
from ._unconfuse import ffi, lib

Self = TypeVar("Self", bound="MapTransformer")


class Map:
    """A map of the library that copies and pickles as its bytes."""

    def __init__(self, pointer: Any) -> None:
        self.pointer = ffi.gc(pointer, lib.uc_map_free)

    @classmethod
    def from_bytes(cls, data: bytes) -> Map:
        out = ffi.new("uc_map **")
        check(lib.uc_map_load_memory(out, ffi.from_buffer(data), len(data), b"pickled map"))
        return cls(out[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return Map.from_bytes, (taken_bytes(lib.uc_map_save_memory, self.pointer),)


class MapTransformer(Tagged, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A map as a transformer of scikit-learn. Its subclasses are generated."""

    _map: str
    _fitted: Map

    def fit(self: Self, X: Any, y: Any = None) -> Self:
        """Learns the map from rows X, dense or sparse; returns self. y is ignored."""
        seen = copy.copy(self)
        X = validated(seen, X, ensure_min_samples=2)
        parameters = {**self.get_params(deep=False), "map": self._map}
        train = Settings("perceptron", parameters).train  # any learner: only the map's settings and the seed are taken
        if parameters["dimension"] == "auto" or parameters["width"] == "auto":
            raise ValueError("'auto' is chosen by labels, which a map does not have: use it in a classifier")
        out = ffi.new("uc_map **")
        view, _kept = matrix(X)
        with Work(self.n_jobs) as work:
            status = lib.uc_map_fit(out, ffi.addressof(train.map), view, train.seed, work.context)
            fitted = Map(out[0])
            work.check(status)
        remember(self, seen, _fitted=fitted, width_=float(lib.uc_map_width(out[0])))
        return self

    @property
    def _n_features_out(self) -> int:
        return int(lib.uc_map_dimension(self._fitted.pointer))

    def transform(self, X: Any) -> np.ndarray:
        """The mapped rows, as float32."""
        check_is_fitted(self, "width_")
        X = validated(self, X, reset=False)
        out = ffi.gc(ffi.new("uc_matrix *"), lib.uc_matrix_free)
        view, _kept = matrix(X)
        with Work(self.n_jobs) as work:
            work.check(lib.uc_map_apply(out, self._fitted.pointer, view, work.context))
        padded = np.frombuffer(ffi.buffer(out.values, out.rows * out.stride * 4), np.float32)
        return padded.reshape(out.rows, out.stride)[:, : out.cols].copy()
