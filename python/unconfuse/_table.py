"""Tables with categories, dates, texts and missing values: what the program makes of CSV files, for data frames."""
from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._arrow import csv_of_stream
from ._library import Work, check, taken_bytes, text
from ._unconfuse import ffi, lib

Self = TypeVar("Self", bound="TableEncoder")
NAME_BYTES = 1024  # of a feature


def is_table(X: Any) -> bool:
    """Whether X has named columns that are not all numbers, so that only the encoder can make rows of it."""
    if hasattr(X, "to_csv") and hasattr(X, "dtypes") and hasattr(X, "columns"):
        kinds = [getattr(kind, "kind", "O") for kind in X.dtypes]
        return any(kind not in "biuf" for kind in kinds)
    return hasattr(X, "__arrow_c_stream__")


def _csv_of(X: Any, label: str | None, decimal: str = ".") -> bytes:
    """The table as the program would read it. `label`: one more column, which has the labels' name."""
    if hasattr(X, "to_csv"):
        frame = X if label is None else X.assign(**{label: "x"})
        return frame.to_csv(index=False, lineterminator="\n", decimal=decimal).encode(errors="surrogateescape")
    if hasattr(X, "__arrow_c_stream__"):
        return csv_of_stream(X, label, decimal)
    raise TypeError(f"{type(X).__name__} has no named columns: a pandas DataFrame or an Arrow table is needed")


def _label_name(X: Any, y: Any) -> str:
    """That of y, as a Series has one; otherwise one that no column has."""
    names = {str(name) for name in getattr(X, "columns", ())} if hasattr(X, "to_csv") else set()
    given = getattr(y, "name", None)
    name = given if isinstance(given, str) and given else "label"
    while name in names:
        name += "_"
    return name


class _Table:
    """What an encoder has learned; shared with models, and pickled as its bytes."""

    def __init__(self, pointer: Any) -> None:
        self.pointer = ffi.gc(pointer, lib.uc_table_free)

    @classmethod
    def from_bytes(cls, data: bytes) -> _Table:
        out = ffi.new("uc_table **")
        check(lib.uc_table_load_memory(out, data, len(data), b"the encoder"))
        return cls(out[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _Table.from_bytes, (taken_bytes(lib.uc_table_save_memory, self.pointer),)

    def __deepcopy__(self, memo: Any) -> _Table:
        return self  # it does not change

    def features(self) -> int:
        return int(lib.uc_table_features(self.pointer))

    def feature_names(self) -> list[str]:
        name = ffi.new("char[]", NAME_BYTES)
        found = []
        for j in range(self.features()):
            lib.uc_table_feature_name(name, NAME_BYTES, self.pointer, j)
            found.append(text(name))
        return found

    def columns(self) -> dict[str, str]:
        column = ffi.new("uc_column *")
        found = {}
        for i in range(lib.uc_table_column_count(self.pointer)):
            lib.uc_table_column_at(column, self.pointer, i)
            found[text(column.name)] = text(lib.uc_column_type_name(column.type))
        return found

    def decimal(self) -> str:
        """The decimal point of its numbers."""
        settings, _kept = TableEncoder()._settings(None)
        decided = lib.uc_table_decided(self.pointer, settings)
        return "," if decided and text(decided) == "decimal" else "."


def _joined(names: list[str] | str | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)


def _rows_of(X: Any) -> Any:
    """A matrix of the library, as an array or CSR of its own."""
    if X.offsets == ffi.NULL:
        padded = np.frombuffer(ffi.buffer(X.values, X.rows * X.stride * 4), np.float32)
        return padded.reshape(X.rows, X.stride)[:, : X.cols].copy()
    offsets = np.frombuffer(ffi.buffer(X.offsets, (X.rows + 1) * 8), np.uint64).astype(np.int64)
    count = int(offsets[-1])
    values = np.frombuffer(ffi.buffer(X.values, count * 4), np.float32).copy()
    columns = np.frombuffer(ffi.buffer(X.columns, count * 4), np.uint32).astype(np.int32)
    return scipy.sparse.csr_matrix((values, columns, offsets), shape=(X.rows, X.cols))


class TableEncoder(TransformerMixin, BaseEstimator):
    """Rows of numbers from a pandas DataFrame or an Arrow table with ids, categories, booleans, dates, texts and missing
    values, as `unconfuse train` makes them of the same table in a CSV file: the same types, the same values.

    columns: the types of columns by name, {"zip": "category"} or "zip=category": number, category, boolean, date, text, id
    or drop. drop: names of columns to leave out, a list or "a,b". missing_values: what stands for a missing value, likewise.
    decimal: "." or ",", of numbers that are text. max_categories: text of more different values is not a category.

    transform gives float32 rows: an array, or CSR when there is text or there are many categories. columns_ has the types
    that were found, n_features_out_ the number of features."""

    _table: _Table
    columns_: dict[str, str]
    n_features_out_: int

    def __init__(self, *, columns: dict[str, str] | str | None = None, drop: list[str] | str | None = None,
                 missing_values: list[str] | str | None = None, decimal: str = ".", max_categories: int = 100) -> None:
        self.columns = columns
        self.drop = drop
        self.missing_values = missing_values
        self.decimal = decimal
        self.max_categories = max_categories

    def fit(self: Self, X: Any, y: Any = None) -> Self:
        """Learns types, medians, categories and frequencies of words; y is not looked at but for its name. Returns self."""
        self._learn(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:
        """fit, and the rows."""
        return self._learn(X, y)

    def transform(self, X: Any) -> Any:
        """The rows of X, whose columns are found by their names, in any order."""
        check_is_fitted(self, "columns_")
        return self._read(_csv_of(X, None, self.decimal), self._table, None)[0]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """`age`, `age is missing`, `colour=red`, `since weekday`; a word is known by its place only: `text 17`."""
        check_is_fitted(self, "columns_")
        return np.array(self._table.feature_names(), dtype=object)

    def _learn(self, X: Any, y: Any) -> Any:
        name = _label_name(X, y)
        rows, table = self._read(_csv_of(X, name, self.decimal), None, name)
        self._adopt(table)
        return rows

    def _adopt(self, table: _Table) -> None:
        self._table = table
        self.columns_ = {column: kind for column, kind in table.columns().items() if kind not in ("label", "bag", "weight")}
        self.n_features_out_ = table.features()

    @classmethod
    def of_table(cls: type[Self], pointer: Any) -> Self:
        """That of a model; `pointer` is one owner's, who is the encoder from now on."""
        table = _Table(pointer)
        encoder = cls(decimal=table.decimal())
        encoder._adopt(table)
        return encoder

    def _settings(self, label: str | None) -> tuple[Any, list[Any]]:
        kept = []

        def keep(value: str | None) -> Any:
            if value is None:
                return ffi.NULL
            kept.append(ffi.new("char[]", value.encode(errors="surrogateescape")))
            return kept[-1]

        settings = ffi.new("uc_read_settings *", lib.uc_reader_defaults())
        settings.format = lib.UC_FORMAT_CSV
        settings.separator = keep(",")
        settings.label = keep("none" if label is None else label)
        columns = self.columns
        if isinstance(columns, dict):
            columns = ",".join(f"{name}={kind}" for name, kind in columns.items())
        settings.columns = keep(columns or None)
        settings.drop = keep(_joined(self.drop) or None)
        settings.missing_values = keep(_joined(self.missing_values))
        settings.decimal = keep(self.decimal)
        settings.max_categories = self.max_categories
        return settings, kept

    def _read(self, data: bytes, table: _Table | None, label: str | None) -> tuple[Any, _Table]:
        settings, _kept = self._settings(label)
        if table is not None:
            settings.table = table.pointer
        out = ffi.gc(ffi.new("uc_dataset *"), lib.uc_dataset_free)
        with Work() as work:
            work.check(lib.uc_dataset_read_memory(out, data, len(data), b"the table", settings, work.context))
        rows = _rows_of(out.X)
        return rows, table if table is not None else _Table(lib.uc_table_share(out.table))
