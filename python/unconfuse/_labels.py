"""Labels of Python, which are numbers or strings, and the library's, which are names in an order of their own."""
from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ._library import NONE, Names, labels_buffer
from ._unconfuse import ffi, lib


def names_of(labels: np.ndarray) -> list[str]:
    """As the command line reads them from a file: a float that is whole is called as the integer."""
    return [str(label).removesuffix(".0") if isinstance(label, float) else str(label) for label in labels.tolist()]


def labels_of(names: list[str]) -> np.ndarray:
    """Labels of the plainest type whose names these are: integers, floats or strings."""
    for kind in (int, float):
        try:
            labels = np.array([kind(name) for name in names])
        except (ValueError, OverflowError):
            continue
        whole = [name.removesuffix(".0") if kind is float else name for name in names]
        if names_of(labels) == whole and len(set(whole)) == len(names):
            return labels
    return np.array(names)


def is_text(labels: np.ndarray) -> bool:
    """Strings, not numbers."""
    return labels.dtype.kind in "US" or (labels.dtype == object and len(labels) > 0 and isinstance(labels[0], str))


class Classes:
    """The classes of a model: `values` sorted as NumPy does, and their places in the library's order."""

    def __init__(self, values: np.ndarray, labels: np.ndarray | None = None) -> None:
        """`labels`: the values in the order of a model, which a stream leaves as its classes came; None: the usual one."""
        self.values = values
        self.names = Names(names_of(values if labels is None else labels))
        if self.names.pointer.count != len(values):
            raise ValueError("two of the classes have the same name")
        # places[i]: where the library has values[i]
        self.places = self.names.sort() if labels is None else np.argsort(labels).astype(np.uint32)
        self.order = np.argsort(self.places).astype(np.intp)  # order[k]: which of the values the library's k-th is
        self.is_sorted = bool((self.order == np.arange(len(values))).all())
        self.labels = values[self.order]  # in the library's order
        self._place = dict(zip(values.tolist(), self.places.tolist()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Classes, (self.values, self.labels)

    def __len__(self) -> int:
        return len(self.values)

    def are(self, values: Any) -> bool:
        """Whether the same classes are given once more, in any order."""
        known = self.values.tolist()
        return list(values) == known or np.unique(np.asarray(values)).tolist() == known

    def with_more(self, values: np.ndarray) -> Classes:
        """These and the new ones among `values`, which come last in the library's order."""
        if is_text(values) != is_text(self.values):
            raise ValueError("classes mixes strings with other labels")
        new = [value for value in np.unique(values) if value not in self.values]
        labels = np.concatenate([self.labels, np.array(new, values.dtype)]) if new else self.labels
        return Classes(np.sort(labels), labels)

    def encode(self, y: Any, called: str = "y") -> np.ndarray:
        """Positions in the library's order. `called` is what complaints call the labels."""
        y = np.asarray(y)
        if y.ndim == 1 and len(y) <= 4:  # one by one is faster
            try:
                return np.array([self._place[label] for label in y.tolist()], np.uint32)
            except (KeyError, TypeError):
                pass
        y = unmixed(column_or_1d(y, warn=True), called)
        if len(y) == 0:
            return np.empty(0, np.uint32)
        if is_text(y) != is_text(self.values):
            raise _unknown_label(y[0], called)
        found = np.searchsorted(self.values, y).clip(max=len(self.values) - 1)
        unknown = self.values[found] != y
        if np.any(unknown):
            raise _unknown_label(y[np.argmax(unknown)], called)
        return self.places[found]

    def encode_by_name(self, y: np.ndarray, called: str) -> np.ndarray:
        """The same, where '3' is 3."""
        if len(y) == 0 or is_text(y) == is_text(self.values):
            return self.encode(y, called)
        place = dict(zip(names_of(self.values), self.places.tolist()))
        for label, name in zip(y, names_of(y)):
            if name not in place:
                raise _unknown_label(label, called)
        return np.array([place[name] for name in names_of(y)], np.uint32)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Labels of positions in the library's order."""
        if self.labels.dtype.itemsize != 8 or self.labels.dtype.hasobject:
            return self.labels.take(codes)
        codes, found = np.ascontiguousarray(codes), np.empty(len(codes), self.labels.dtype)
        picked = lib.pick_labels(ffi.from_buffer("uint64_t[]", found), labels_buffer(codes), len(codes),
                                 ffi.from_buffer("uint64_t[]", self.labels), len(self.labels))
        if picked < len(codes):
            raise IndexError(f"class {codes[picked]} of {len(self)}")
        return found

    def columns(self, scores: np.ndarray) -> np.ndarray:
        """Columns in the library's order, in that of `values`."""
        return scores if self.is_sorted else scores[:, self.places]

    def matrix_from_library(self, matrix: np.ndarray) -> np.ndarray:
        return matrix[np.ix_(self.places, self.places)]


def _unknown_label(label: Any, called: str) -> ValueError:
    return ValueError(f"{called} has the label {_plain(label)!r}, which is not among the classes")


# ---- labels that are missing ----


def _plain(label: Any) -> Any:
    """A number or string of NumPy as one of Python."""
    return label.item() if isinstance(label, np.generic) else label


def _is_missing(label: Any) -> bool:
    """None, NaN, or pandas' NA, of which nobody knows whether it is itself."""
    return label is None or (label == label) is not True


def _is_number(label: Any) -> bool:
    return isinstance(label, Real) and not isinstance(label, bool)


def is_marked(y: np.ndarray, marker: Any) -> np.ndarray:
    """Which labels are the marker of unlabelled examples: any label, where -1 is -1.0, or one of None, NaN and NA, which
    mean the same."""
    marker = _plain(marker)
    labels = [_plain(label) for label in y.tolist()]
    if _is_missing(marker):
        return np.array([_is_missing(label) for label in labels], bool)
    if _is_number(marker):
        return np.array([_is_number(label) and label == marker for label in labels], bool)
    return np.array([type(label) is type(marker) and label == marker for label in labels], bool)


def refuse_missing(y: np.ndarray, called: str = "y") -> None:
    """Complains of a label that is None, NaN or NA."""
    if y.dtype == object:
        for i, label in enumerate(y.tolist()):
            if _is_missing(_plain(label)):
                raise ValueError(f"{called} contains NaN or None, in row {i + 1}, where there should be a label")
    elif y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{called} contains NaN or infinity where there should be a label")


def unmixed(y: np.ndarray, called: str = "y") -> np.ndarray:
    """An array of objects as one of numbers or strings."""
    if y.dtype != object or len(y) == 0:
        return y
    refuse_missing(y, called)
    labels = [_plain(label) for label in y.tolist()]
    if len({isinstance(label, str) for label in labels}) > 1:
        raise ValueError(f"{called} mixes strings with other labels")
    return np.array(labels)


def encode_with_unlabelled(labelled: np.ndarray, marked: np.ndarray) -> tuple[Classes, np.ndarray]:
    """The classes of what is labelled, and all codes. Integers among which NaN was written are integers again."""
    refuse_missing(labelled)
    if labelled.dtype.kind == "f" and marked.any() and (labelled == np.floor(labelled)).all():
        labelled = labelled.astype(np.int64)
    classes = Classes(np.unique(labelled))
    codes = np.full(len(marked), NONE, np.uint32)
    codes[~marked] = classes.encode(labelled)
    return classes, codes
