"""Which labels are wrong, how many, and a model that does not believe them: what `unconfuse audit` does, for arrays."""
from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._crowd import Crowd, annotator_rows, coded, long_columns
from ._labels import Classes, is_marked, unmixed
from ._library import NONE, Names, Work, copied, labels_buffer, names_list, text
from ._model import Model
from ._sklearn import validated
from ._training import Counted, Data, Settings
from ._unconfuse import ffi, lib
from .estimators import AuditClassifier


@dataclass(frozen=True, repr=False)
class AuditResult:
    """What an audit found.

    issues: the flagged labels, the most suspicious first (with all=True every label): row (its position, from 0), given,
    suggested, p_wrong, flagged; with several annotators also annotator. A DataFrame where pandas is installed, whose index
    is that of X if X has one; else a list of dicts.
    """

    issues: Any
    model: AuditClassifier  # fitted: predict and predict_proba are about true classes
    classes: np.ndarray  # the order of all that has a row or column per class
    noise_matrix: np.ndarray  # [p, q]: P(label p | true class q)
    wrong: dict[str, float]  # estimate, low, high: share of the labels
    flagged: int
    clean_error: dict[str, float]  # estimate, low, high: of the model on true classes, 90%
    class_pairs: list[dict[str, Any]]  # given, true, estimate, low, high: shares of all labels, the largest first
    probabilities: np.ndarray  # n x K: of the true class of each row, its label included
    annotators: Any = None  # of several: labels, accuracy, low, high, information for each
    mode: str | None = None  # structure or labels; None: with several annotators
    guard_loss: float | None = None

    def __repr__(self) -> str:
        share = "{estimate:.1%} ({low:.1%} to {high:.1%})".format(**self.wrong)
        return (f"<AuditResult: {len(self.probabilities)} rows, {len(self.classes)} classes, wrong labels {share}, "
                f"{self.flagged} flagged; see .issues, .noise_matrix, .model>")

    @property
    def consensus(self) -> np.ndarray:
        """The most probable true class of each row."""
        return self.classes[self.probabilities.argmax(axis=1)]


def _share(share: Any) -> dict[str, float]:
    return {"estimate": share.estimate, "low": share.low, "high": share.high}


def _table(columns: dict[str, Any], index: Any = None, index_name: str | None = None) -> Any:
    """A DataFrame, or without pandas a list of dicts."""
    try:
        import pandas as pd
    except ImportError:
        if index_name is not None:
            columns = {index_name: np.asarray(index), **columns}
        return [dict(zip(columns, row)) for row in zip(*(np.asarray(values).tolist() for values in columns.values()))]
    frame = pd.DataFrame(columns, index=index)
    if index_name is not None:
        frame.index.name = index_name
    return frame


def _listed(X: Any, rows: np.ndarray, columns: dict[str, Any], flagged: int, every: bool) -> Any:
    """Issues as a table, the first `flagged` or all."""
    count = len(rows) if every else flagged
    table = {"row": rows, **columns, "flagged": np.arange(len(rows)) < flagged}
    index = X.index[rows[:count]] if hasattr(X, "index") and hasattr(X, "iloc") else None
    return _table({name: values[:count] for name, values in table.items()}, index)


def _codes_of_gold(gold: Any, classes: Classes, count: int) -> np.ndarray | None:
    """The true classes of checked rows: a label per row and None, NaN or NA for the others, or position -> label."""
    if gold is None:
        return None
    codes = np.full(count, NONE, np.uint32)
    if isinstance(gold, Mapping):
        rows = np.array(list(gold), np.intp)
        if len(rows) and (rows.min() < 0 or rows.max() >= count):
            raise ValueError(f"gold names row {rows.max() if rows.max() >= count else rows.min()}, but there are {count} rows")
        codes[rows] = classes.encode(unmixed(np.array(list(gold.values()), object), "gold"), "gold")
        return codes
    labels = np.asarray(gold, object)
    if labels.shape != (count,):
        raise ValueError(f"gold must have a label for each of the {count} rows, or None; its shape is {labels.shape}")
    known = ~is_marked(labels, None)
    if known.any():
        codes[known] = classes.encode(unmixed(labels[known], "gold"), "gold")
    return codes


def _pairs(pairs: Any, count: int, classes: Classes) -> list[dict[str, Any]]:
    labels = classes.labels.tolist()
    return [{"given": labels[pairs[i].given], "true": labels[pairs[i].truth], **_share(pairs[i].share)} for i in range(count)]


def _audit_labels(X: Any, y: Any, gold: Any, sample_weight: Any, bootstrap: int, every: bool, width: float,
                  estimator: AuditClassifier) -> AuditResult:
    seen, counted = copy.copy(estimator), Counted(sample_weight, None)
    rows, codes, classes = seen._validated(X, y, counted)
    positions = np.flatnonzero(np.asarray(sample_weight) > 0) if counted.weights is not None else np.arange(len(codes))
    checked = _codes_of_gold(gold, classes, len(np.asarray(y)))
    checked = None if checked is None else np.ascontiguousarray(checked[positions])
    settings = Settings("audit", estimator.get_params(deep=False))
    own = ffi.new("uc_label_audit_settings *")
    ffi.memmove(ffi.addressof(own, "learner"), settings.own, ffi.sizeof("uc_audit_settings"))
    own.learner.width, own.bootstrap, own.seed = width, bootstrap, settings.train.seed
    data = Data(rows, codes, classes, None, counted.weights)
    found = ffi.gc(ffi.new("uc_label_audit *"), lib.uc_label_audit_free)
    with Work(estimator.n_jobs) as work:
        work.check(lib.uc_label_audit_run(found, data.pointer, ffi.NULL if checked is None else labels_buffer(checked), own,
                                          work.context))
    model, found.model = Model(found.model), ffi.NULL
    estimator._adopt(model, classes, seen)
    suspects = [found.suspects[i] for i in range(found.labels)]
    place = np.array([one.row for one in suspects], np.intp)
    columns = {"given": classes.labels[np.array([one.given for one in suspects], np.intp)],
               "suggested": classes.labels[np.array([one.suggested for one in suspects], np.intp)],
               "p_wrong": np.array([one.p_wrong for one in suspects])}
    K = len(classes)
    return AuditResult(
        issues=_listed(X, positions[place], columns, found.flagged, every), model=estimator, classes=classes.values,
        noise_matrix=classes.matrix_from_library(copied(found.noise.values, (K, K))), wrong=_share(found.wrong),
        flagged=int(found.flagged), clean_error=_share(found.clean_error),
        class_pairs=_pairs(found.pairs, found.pair_count, classes),
        probabilities=classes.columns(copied(found.posterior, (len(codes), K))), mode=text(found.mode),
        guard_loss=None if np.isnan(found.loss) else found.loss)


# ---- several annotators ----


def _annotations(X: Any, y: Any, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, annotator and label of every annotation, from a frame task, worker, label or from a column per annotator."""
    names = list(getattr(y, "columns", []))
    if {"task", "worker", "label"} <= set(names):
        tasks, workers, labels = long_columns(y)
        if hasattr(X, "index") and hasattr(X, "iloc"):
            places = {value: i for i, value in enumerate(X.index.tolist())}
        else:
            places = {i: i for i in range(count)}
        unknown = [task for task in tasks.tolist() if task not in places]
        if unknown:
            raise ValueError(f"task {unknown[0]!r} is not a row of X")
        return np.array([places[task] for task in tasks.tolist()], np.uint32), workers, labels
    labels = np.asarray(y, object)
    if labels.shape[0] != count:
        raise ValueError(f"y has {labels.shape[0]} rows of labels, but X has {count} rows")
    known = ~np.column_stack([is_marked(labels[:, j], None) for j in range(labels.shape[1])])
    row, who = np.nonzero(known)
    annotators = np.array(names if names else range(labels.shape[1]), object)
    return row.astype(np.uint32), annotators[who], unmixed(labels[known])


def _crowd_issues(X: Any, row: np.ndarray, found: Any, crowd: Any, classes: Classes, names: np.ndarray, every: bool) -> Any:
    listed = [found.issues[i] for i in range(found.count)]
    annotation = np.array([one.annotation for one in listed], np.intp)
    rows = np.array([one.row for one in listed], np.intp)
    said = copied(crowd.label, (crowd.count,), "uint32_t", np.uint32)
    who = copied(crowd.annotator, (crowd.count,), "uint32_t", np.uint32)
    columns = {"annotator": names[who[annotation]], "given": classes.labels[said[annotation]], "suggested": row[rows],
               "p_wrong": np.array([one.wrong for one in listed])}
    return _listed(X, rows, columns, found.flagged, every)


def _audit_crowd(X: Any, y: Any, gold: Any, every: bool, width: float, estimator: AuditClassifier) -> AuditResult:
    seen = copy.copy(estimator)
    rows = validated(seen, X)
    row, annotator, label = _annotations(X, y, rows.shape[0])
    workers, worker, worker_names = coded(annotator)
    classes = Classes(np.unique(unmixed(np.asarray(label))))
    checked = _codes_of_gold(gold, classes, rows.shape[0])
    settings = Settings("audit", estimator.get_params(deep=False))
    data = Data(rows, np.full(rows.shape[0], NONE, np.uint32), classes)
    own = ffi.cast("uc_audit_settings *", settings.own)
    own.width = width
    crowd = ffi.gc(ffi.new("uc_crowd *"), lib.uc_crowd_free)
    found = ffi.gc(ffi.new("uc_consensus *"), lib.uc_consensus_free)
    issues = ffi.gc(ffi.new("uc_crowd_issues *"), lib.uc_crowd_issues_free)
    error, out, seed = ffi.new("uc_clean_error *"), ffi.new("uc_model **"), settings.train.seed
    who, codes = Names(worker_names), np.ascontiguousarray(classes.encode(label))
    with Work(estimator.n_jobs) as work:
        work.check(lib.uc_crowd_from_arrays(crowd, labels_buffer(row), labels_buffer(worker), labels_buffer(codes), len(row),
                                            rows.shape[0], who.pointer, classes.names.pointer, work.context))
        status = lib.uc_consensus_with_features(
            found, out, error, data.pointer, crowd, ffi.NULL if checked is None else labels_buffer(checked),
            own, seed, work.context)
        model = Model(out[0])
        work.check(status)
        work.check(lib.uc_crowd_issues_find(issues, found, crowd, seed, work.context))
    estimator._adopt(model, classes, seen)
    K, order = len(classes), {name: place for place, name in enumerate(names_list(ffi.addressof(crowd, "annotators")))}
    places = [order[name] for name in worker_names]
    names = np.empty(len(workers), object)
    names[places] = workers
    best = classes.labels[copied(found.most_probable, (rows.shape[0],), "uint32_t", np.uint32)]
    pooled = copied(found.pooled, (K, K)).T
    return AuditResult(
        issues=_crowd_issues(X, best, issues, crowd, classes, names, every), model=estimator, classes=classes.values,
        noise_matrix=classes.matrix_from_library(np.ascontiguousarray(pooled)), wrong=_share(issues.wrong),
        flagged=int(issues.flagged), clean_error=_share(error), class_pairs=_pairs(issues.pairs, issues.pair_count, classes),
        probabilities=classes.columns(Crowd._posterior(found)),
        annotators=_table(annotator_rows(found, places), workers, "annotator"))


def _check_missing(y: Any, unlabelled: Any) -> None:
    """Complains of None or NaN in a label per row, where another value means that there is no label."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "Of" or is_marked(np.array([unlabelled], object), None)[0]:
        return
    if is_marked(labels, None).any():
        raise ValueError("y contains None or NaN: with unlabelled=None these are rows without a label")


def audit(X: Any, y: Any, *, gold: Any = None, sample_weight: ArrayLike | None = None,
          mode: Literal["auto", "structure", "labels"] = "auto", landmarks: int | Literal["auto"] = "auto",
          axes: int | Literal["auto"] = "auto", width: float | Literal["auto"] = "auto", bootstrap: int = 200,
          all: bool = False, unlabelled: Any = -1, random_state: Any = None, n_jobs: int | None = None) -> AuditResult:
    """Finds the labels that are probably wrong, how many there are, and a model that predicts true classes.

    X: rows, dense or sparse. y: a label per row (`unlabelled` for none; with unlabelled=None None, NaN and NA are none); or the
    labels of several annotators, as an array or frame with a column per annotator (None or NaN where one said nothing), or as a
    frame with columns task, worker and label, where a task is the position of a row of X, or its index if X is a DataFrame.
    gold: true classes of rows that somebody has checked, as a label per row and None for the others, or as a dict from
    positions to labels. width: of the kernels, exp(-width |x - y|^2 / median); auto: chosen of 0.3, 1 and 3. all: list every
    label, not only the flagged ones.

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> import unconfuse
    >>> noisy = unconfuse.apply_noise(y, unconfuse.make_noise_matrix(10, rate=0.2))
    >>> result = unconfuse.audit(X, noisy)
    >>> bool(abs(result.wrong["estimate"] - 0.2) < 0.05)
    True
    """
    if bootstrap != int(bootstrap) or not 2 <= bootstrap <= 1e6:
        raise ValueError(f"bootstrap={bootstrap!r}: it must be a whole number from 2 to 1000000")
    if width != "auto" and not 1e-3 <= float(width) <= 1e3:
        raise ValueError(f"width={width!r}: it must be from 0.001 to 1000, or 'auto'")
    kernel = 0.0 if width == "auto" else float(width)
    estimator = AuditClassifier(mode=mode, landmarks=landmarks, axes=axes, unlabelled=unlabelled, random_state=random_state,
                                n_jobs=n_jobs)
    if X is None:
        raise ValueError("X is None: annotators of rows without features are audited by unconfuse.Crowd")
    _check_missing(y, unlabelled)
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        if sample_weight is not None:
            raise ValueError("sample_weight does not go with several annotators")
        return _audit_crowd(X, y, gold, all, kernel, estimator)
    return _audit_labels(X, y, gold, sample_weight, int(bootstrap), all, kernel, estimator)
