"""Labels of Python, which are numbers or strings, and the library's, which are names in an order of their own."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ._library import NONE, Names, labels_buffer
from ._unconfuse import ffi, lib


def names_of(labels: np.ndarray) -> list[str]:
    """As the command line reads them from an NPY file."""
    return [str(label) for label in labels.tolist()]


def labels_of(names: list[str]) -> np.ndarray:
    """Labels of the plainest type whose names these are: integers, floats or strings."""
    for kind in (int, float):
        try:
            values = [kind(name) for name in names]
        except ValueError:
            continue
        if names_of(np.array(values)) == names:
            return np.array(values)
    return np.array(names)


class Classes:
    """The classes of a model: `values` sorted as NumPy does, and their places in the library's order."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.names = Names(names_of(values))
        if self.names.pointer.count != len(values):
            raise ValueError("two of the classes have the same name")
        self.places = self.names.sort()  # places[i]: where the library has values[i]
        self.order = np.argsort(self.places).astype(np.intp)  # order[k]: which of the values the library's k-th is
        self.is_sorted = bool((self.order == np.arange(len(values))).all())
        self.labels = values[self.order]  # in the library's order
        self._place = dict(zip(values.tolist(), self.places.tolist()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Classes, (self.values,)

    def __len__(self) -> int:
        return len(self.values)

    def encode(self, y: Any) -> np.ndarray:
        """Positions in the library's order."""
        y = np.asarray(y)
        if y.ndim == 1 and len(y) <= 4:  # one by one is faster
            try:
                return np.array([self._place[label] for label in y.tolist()], np.uint32)
            except (KeyError, TypeError):
                pass
        y = column_or_1d(y, warn=True)
        found = np.searchsorted(self.values, y).clip(max=len(self.values) - 1)
        unknown = self.values[found] != y
        if np.any(unknown):
            raise ValueError(f"y has the label {y[np.argmax(unknown)]!r}, which is not among the classes")
        return self.places[found]

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Labels of positions in the library's order."""
        if self.labels.dtype.itemsize != 8 or self.labels.dtype.hasobject:
            return self.labels.take(codes)
        codes, found = np.ascontiguousarray(codes), np.empty(len(codes), self.labels.dtype)
        lib.pick_labels(ffi.from_buffer("uint64_t[]", found), labels_buffer(codes), len(codes),
                        ffi.from_buffer("uint64_t[]", self.labels))
        return found

    def columns(self, scores: np.ndarray) -> np.ndarray:
        """Columns in the library's order, in that of `values`."""
        return scores if self.is_sorted else scores[:, self.places]

    def matrix_from_library(self, matrix: np.ndarray) -> np.ndarray:
        return matrix[np.ix_(self.places, self.places)]


def is_marked(y: np.ndarray, marker: Any) -> np.ndarray:
    """Which labels are the marker of unlabelled examples: None, NaN, or any label."""
    if isinstance(marker, (float, np.floating)) and np.isnan(marker):
        return np.array([label != label for label in y.tolist()], bool)
    return np.array([label is marker or (type(label) is type(marker) and label == marker) for label in y.tolist()], bool)


def unmixed(labels: np.ndarray) -> np.ndarray:
    """An array of objects as one of numbers or strings, where it is one."""
    return np.array(labels.tolist()) if labels.dtype == object and len(labels) else labels


def encode_with_unlabelled(y: np.ndarray, marked: np.ndarray) -> tuple[Classes, np.ndarray]:
    """The classes of what is labelled, and all codes. Integers among which NaN was written are integers again."""
    labelled = unmixed(y[~marked])
    if labelled.dtype.kind == "f" and not np.isfinite(labelled).all():
        raise ValueError("y contains NaN or infinity where there should be a label")
    if labelled.dtype.kind == "f" and marked.any() and (labelled == np.floor(labelled)).all():
        labelled = labelled.astype(np.int64)
    classes = Classes(np.unique(labelled))
    codes = np.full(len(y), NONE, np.uint32)
    codes[~marked] = classes.encode(labelled)
    return classes, codes
