"""What scikit-learn 1.2 to 1.8 call differently; nothing else in the package looks at its version.

    up to 1.5                              from 1.6
    estimator._validate_data(X, y, ...)    sklearn.utils.validation.validate_data(estimator, X, y, ...)
    _more_tags, which returns a dict       __sklearn_tags__, which returns dataclasses

Which of the two there is decides, not the number of the version: some 1.6 have both."""
from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils import validation

from ._table import TableEncoder, is_table

_validate_data = getattr(validation, "validate_data", None)


def encoded(estimator: Any, reset: bool, X: Any, y: Any = None) -> Any:
    """X, or what the estimator's encoder makes of it; `reset`: a new one, if X needs it."""
    if reset:
        vars(estimator).pop("_encoder", None)
        if not is_table(X):
            return X
        estimator._encoder = TableEncoder()
        return estimator._encoder.fit_transform(X, y)
    encoder = vars(estimator).get("_encoder")
    if encoder is None or not (hasattr(X, "to_csv") or hasattr(X, "__arrow_c_stream__")):
        return X
    return encoder.transform(X)


def keep_columns(estimator: Any, encoder: TableEncoder) -> None:
    """The estimator takes tables from now on, as the encoder does."""
    estimator._encoder = encoder
    estimator.feature_names_in_ = np.array(list(encoder.columns_), dtype=object)
    estimator.n_features_in_ = len(encoder.columns_)


def validated(estimator: Any, *data: Any, reset: bool = True, **checks: Any) -> Any:
    """Rows, or rows and labels, as the library wants rows: float32 in C order, dense or CSR. `reset`: the estimator
    remembers their columns; otherwise they must be those that it remembers. A table of several types goes through an
    encoder, which the estimator keeps."""
    data = (encoded(estimator, reset, *data), *data[1:])
    checks = {"accept_sparse": "csr", "dtype": np.float32, "order": "C", "reset": reset, **checks}
    encoder = vars(estimator).get("_encoder")
    seen = estimator
    if encoder is not None:  # scikit-learn sees the encoder's features, which have no names, instead of the columns
        seen = copy.copy(estimator)
        vars(seen).pop("feature_names_in_", None)
        seen.n_features_in_ = encoder.n_features_out_
    rows = seen._validate_data(*data, **checks) if _validate_data is None else _validate_data(seen, *data, **checks)
    if encoder is not None and reset:
        keep_columns(estimator, encoder)
    return rows


class Tagged:
    """Tells scikit-learn what an estimator can do. It goes before scikit-learn's own classes, whose tags it changes."""

    def _is_binary_only(self) -> bool:
        """It refuses more than two classes."""
        return False

    def _has_poor_score(self) -> bool:
        """scikit-learn's checks want more of it than it can do."""
        return False

    def _checks_that_fail(self) -> dict[str, str]:
        """scikit-learn's checks of a property that it does not have, and why."""
        return {}

    def _more_tags(self) -> dict[str, Any]:
        return {"binary_only": self._is_binary_only(), "poor_score": self._has_poor_score(), "preserves_dtype": [np.float32],
                "_xfail_checks": self._checks_that_fail()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc] # of scikit-learn's classes, from 1.6
        tags.input_tags.sparse = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_class = not self._is_binary_only()
            tags.classifier_tags.poor_score = self._has_poor_score()
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
