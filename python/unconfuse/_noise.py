"""Noise matrices: checked, made, applied to labels, estimated.

A noise matrix C is K x K: C[p, q] is the probability that an example of class q is labelled p, so columns sum to 1."""
from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_X_y

from ._labels import Classes, encode_with_unlabelled, is_marked, names_of, unmixed
from ._library import Names, Work, check, copied, doubles, labels_buffer, seed_of, set_options
from ._training import Counted, Data, Settings
from ._unconfuse import ffi, lib

DEFAULT_SEED = 1  # of the command line


@dataclass(frozen=True)
class NoiseCheck:
    """What to know about a noise matrix before learning with it."""

    matrix: np.ndarray  # columns are the true class, and sum to 1
    condition: float  # 2-norm condition number: how much noise in the data the correction magnifies, at most
    wrong: float  # share of wrong labels when all classes are equally frequent
    dominated: int  # observed classes that more often hide another class than show their own


@dataclass(frozen=True)
class NoiseEstimate:
    """An estimated noise matrix and how certain it is. All arrays are K x K: observed class, true class."""

    matrix: np.ndarray
    classes: np.ndarray  # of rows and columns
    counts: np.ndarray  # examples taken for the true class of the column that are observed as that of the row
    low: np.ndarray | None  # 95% bootstrap intervals; None without bootstrap
    high: np.ndarray | None
    families: dict[str, Any] | None = None  # from X, by full or symmetric: what either says, and which is likelier


def _as_matrix(noise_matrix: Any) -> np.ndarray:
    matrix = np.ascontiguousarray(noise_matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"noise_matrix must be square, but its shape is {matrix.shape}")
    return matrix


def _make_noise(matrix: np.ndarray, orientation: int, names: Any = ffi.NULL) -> Any:
    noise = ffi.gc(ffi.new("uc_noise *"), lib.uc_noise_free)
    check(lib.uc_noise_create(noise, doubles(matrix), len(matrix), names, orientation, b"noise_matrix"))
    return noise


def library_noise(noise_matrix: Any, classes: Classes) -> Any:
    """A uc_noise in the library's order of the classes, which the matrix has in that of `classes.values`."""
    matrix = _as_matrix(noise_matrix)
    if len(matrix) != len(classes):
        raise ValueError(f"noise_matrix has {len(matrix)} classes, the data have {len(classes)}")
    noise = _make_noise(matrix, lib.UC_NOISE_COLUMNS, Names(names_of(classes.values)).pointer)
    check(lib.uc_noise_match(noise, classes.names.pointer))
    return noise


def checked_noise(noise_matrix: Any, classes: Classes) -> Any:
    """The same, to learn with; warns when that is hard."""
    noise = library_noise(noise_matrix, classes)
    found = _inspected(noise)
    if found.dominated and not found.complementary:
        warnings.warn(f"the noise matrix does not identify every class: in the row of class "
                      f"{classes.labels[found.dominated_row]} the diagonal is not the largest entry", stacklevel=6)
    return noise


def _inspected(noise: Any) -> Any:
    found = ffi.new("uc_noise_check *")
    check(lib.uc_noise_inspect(found, noise))
    return found


def check_noise_matrix(noise_matrix: ArrayLike, *, noise_orientation: Literal["columns", "rows"] = "columns"
                       ) -> NoiseCheck:
    """Checks a noise matrix: ValueError says what is wrong with it, and the result how hard it is to learn with.

    noise_orientation="rows": rows stand for the true class; in the matrix that is returned, columns do.

    >>> check_noise_matrix([[0.8, 0.4], [0.2, 0.6]]).wrong
    0.3
    """
    orientations = {"columns": lib.UC_NOISE_COLUMNS, "rows": lib.UC_NOISE_ROWS}
    if noise_orientation not in orientations:
        raise ValueError(f"noise_orientation={noise_orientation!r}: it must be 'columns' or 'rows'")
    noise = _make_noise(_as_matrix(noise_matrix), orientations[noise_orientation])
    found = _inspected(noise)
    return NoiseCheck(copied(noise.values, (noise.classes,) * 2), found.condition, round(found.wrong, 15),
                      found.dominated)


def inverse_of(noise_matrix: Any) -> np.ndarray:
    """The inverse of a noise matrix; a matrix that has none is refused."""
    noise = _make_noise(_as_matrix(noise_matrix), lib.UC_NOISE_COLUMNS)
    inverse = np.empty((noise.classes,) * 2)
    check(lib.uc_noise_invert(doubles(inverse), noise, 0.0))
    return inverse


def make_noise_matrix(n_classes: int, *, rate: float | None = None, level: float | None = None,
                      rates: tuple[float, float] | None = None, complementary: bool = False,
                      random_state: Any = None) -> np.ndarray:
    """Makes a noise matrix from a rate, two rates or a level, or one of complementary labels.

    rate: the share of wrong labels in every class, spread evenly over the other classes.
    level, from 0 to 20: a random matrix; 0 is the identity, 10 a random stochastic matrix.
    rates, for two classes: the share of the later, positive class that carries the wrong label, and that of the earlier one.
    complementary, for three classes or more: a label names a class that the example does not belong to, each equally often.

    >>> make_noise_matrix(3, rate=0.4)
    array([[0.6, 0.2, 0.2],
           [0.2, 0.6, 0.2],
           [0.2, 0.2, 0.6]])
    """
    if sum(given is not None for given in (rate, level, rates)) + bool(complementary) != 1:
        raise ValueError("give one of rate, level, rates and complementary")
    if not isinstance(n_classes, Integral) or n_classes < 1:
        raise ValueError(f"n_classes={n_classes!r}: it must be a whole number from 1")
    if rates is not None and (n_classes != 2 or np.shape(rates) != (2,)):
        raise ValueError(f"rates={rates!r}: they are two numbers, of two classes, and n_classes={n_classes}")
    n_classes = int(n_classes)
    noise = ffi.gc(ffi.new("uc_noise *"), lib.uc_noise_free)
    if rate is not None:
        check(lib.uc_noise_uniform(noise, n_classes, rate))
    elif rates is not None:
        check(lib.uc_noise_binary(noise, *rates))
    elif complementary:
        check(lib.uc_noise_complementary(noise, n_classes))
    else:
        seed = seed_of(random_state)
        check(lib.uc_noise_random(noise, n_classes, level, DEFAULT_SEED if seed is None else seed))
    return copied(noise.values, (n_classes, n_classes))


def apply_noise(y: ArrayLike, noise_matrix: ArrayLike, *, classes: ArrayLike | None = None,
                random_state: Any = None) -> np.ndarray:
    """Labels corrupted on purpose: a label q becomes p with probability noise_matrix[p, q].

    `classes` are the labels of the matrix's rows and columns, in their order; without them, those of y, sorted. The same
    random_state draws the same labels; None is the seed 1.

    >>> apply_noise(["cat", "cat", "dog"], [[0, 1], [1, 0]])
    array(['dog', 'dog', 'cat'], dtype='<U3')
    """
    y, matrix = unmixed(column_or_1d(y)), _as_matrix(noise_matrix)
    if classes is None:
        known = Classes(np.unique(y))
    else:
        given = unmixed(column_or_1d(classes), "classes")
        values, order = np.unique(given, return_index=True)
        if len(values) != len(given) or len(given) != len(matrix):
            raise ValueError(f"classes={given.tolist()}: they must be {len(matrix)} different labels, one per row of the matrix")
        known, matrix = Classes(values), matrix[np.ix_(order, order)]
    noise = library_noise(matrix, known)
    codes = known.encode(y).copy()
    data = ffi.new("uc_dataset *")
    data.X.rows = len(codes)
    data.y = labels_buffer(codes)
    data.classes = known.names.pointer[0]
    seed = seed_of(random_state)
    check(lib.uc_noise_apply(data, noise, DEFAULT_SEED if seed is None else seed, ffi.NULL))
    return known.decode(codes)


# ---- estimating ----


def _pair_of_labels(y: np.ndarray, gold: Any) -> tuple[Classes, np.ndarray, np.ndarray]:
    """Both as codes; gold labels that nobody checked have none."""
    gold = column_or_1d(np.asarray(gold, dtype=object))
    check_consistent_length(y, gold)
    unchecked = is_marked(gold, None) | is_marked(gold, "?")
    classes = Classes(np.unique(y))
    codes = np.full(len(y), lib.UC_NONE, np.uint32)
    codes[~unchecked] = classes.encode_by_name(unmixed(gold[~unchecked], "gold"), "gold")
    return classes, classes.encode(y), codes


def estimate(X: Any, y: Any, gold: Any, sample_weight: Any, parameters: dict[str, Any]) -> NoiseEstimate:
    """The body of estimate_noise_matrix, whose signature is generated."""
    if X is None and gold is None:
        raise ValueError("give X or gold: the noise is estimated from the rows, or from true labels of the same examples")
    found = ffi.gc(ffi.new("uc_noise_estimate *"), lib.uc_noise_estimate_free)
    settings = ffi.new("uc_noise_estimate_settings *")
    lib.uc_options_defaults(lib.uc_noise_estimate_options, settings)
    set_options(lib.uc_noise_estimate_options, settings, parameters)
    train = Settings("logistic", {name: value for name, value in parameters.items() if name != "l2"})
    settings.seed = train.train.seed
    rows = Counted(sample_weight, None)
    with Work(parameters["n_jobs"]) as work:
        if gold is not None:
            y = unmixed(column_or_1d(y))
            classes, observed, true = _pair_of_labels(y, gold)
            observed, true = (np.ascontiguousarray(codes) for codes in rows.keep(observed, true))
            work.check(lib.uc_noise_from_weighted_labels(
                found, labels_buffer(observed), labels_buffer(true), ffi.NULL if rows.weights is None else doubles(rows.weights),
                len(observed), classes.names.pointer, settings, work.context))
        else:
            X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float32, order="C")
            X, y = rows.keep(X, y)
            classes, observed = encode_with_unlabelled(unmixed(y), np.zeros(len(y), bool))
            data = Data(X, observed, classes, None, rows.weights)
            work.check(lib.uc_noise_from_data(found, data.pointer, settings, train.train, work.context))
    return _told(found, classes)


def _told(found: Any, classes: Classes) -> NoiseEstimate:
    shape = (len(classes),) * 2

    def square(pointer: Any) -> np.ndarray | None:
        return classes.matrix_from_library(copied(pointer, shape)) if pointer else None

    matrix = square(found.noise.values)
    assert matrix is not None
    counts = classes.matrix_from_library(copied(found.counts, shape, "size_t", np.uintp))
    return NoiseEstimate(matrix, classes.values, counts.astype(np.int64), square(found.low), square(found.high),
                         _families(found.families))


def _families(found: Any) -> dict[str, Any] | None:
    """As the JSON of `unconfuse noise estimate` has them."""
    if found.chosen == ffi.NULL:
        return None
    return {"chosen": ffi.string(found.chosen).decode(), "full": {"wrong": found.wrong_full},
            "symmetric": {"wrong": found.wrong_symmetric},
            "full_over_symmetric": {"gain": found.gain, "deviation": found.gain_deviation},
            "symmetric_over_none": {"gain": found.symmetric_gain, "deviation": found.symmetric_gain_deviation}}
