"""Several annotators who label the same tasks: the consensus, and how good each annotator is.

The frame and the attributes are those of crowd-kit: columns task, worker and label; labels_, probas_, skills_, priors_."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from ._labels import is_marked, names_of, unmixed
from ._library import NONE, Names, Work, copied, labels_buffer, names_list, set_options, text
from ._unconfuse import ffi, lib

METHODS = ("dawid-skene", "one-coin", "majority")


def column(data: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(data[name])
    except (KeyError, ValueError, IndexError, TypeError):
        raise ValueError(f"data must have columns task, worker and label; there is no {name}") from None


def _is_missing(values: np.ndarray) -> np.ndarray:
    """Which values are None, NaN or NA."""
    try:
        import pandas as pd
    except ImportError:
        return is_marked(values, None)
    return np.asarray(pd.isna(values))


def long_columns(data: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Task, worker and label of every annotation; rows without a label are left out."""
    tasks, workers, labels = (column(data, name) for name in ("task", "worker", "label"))
    known = ~_is_missing(labels)
    for name, values in (("task", tasks), ("worker", workers)):
        missing = np.flatnonzero(known & _is_missing(values))
        if len(missing):
            raise ValueError(f"{name} is missing in row {missing[0] + 1}, which has a label")
    return tasks[known], workers[known], unmixed(labels[known], "label")


def coded(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The different values, the position of each entry among them, and their names."""
    distinct, positions = np.unique(values, return_inverse=True)
    return distinct, positions.astype(np.uint32).ravel(), names_of(distinct)


def _series(values: np.ndarray, index: np.ndarray, name: str, index_name: str) -> Any:
    import pandas as pd
    return pd.Series(values, index=pd.Index(index, name=index_name), name=name)


def annotator_rows(found: Any, places: list[int]) -> dict[str, list[Any]]:
    """What a consensus says of the annotators at these places, as columns."""
    all_of = [found.annotators[j] for j in places]
    return {"labels": [one.labels for one in all_of], "accuracy": [one.accuracy for one in all_of],
            "low": [one.interval[0] for one in all_of], "high": [one.interval[1] for one in all_of],
            "information": [one.information for one in all_of]}


class Crowd:
    """The consensus of annotators. Missing labels (None or NaN) are left out.

    method: dawid-skene (a noise matrix per annotator), one-coin (an accuracy per annotator) or majority (votes). smoothing is
    what every count of labels begins with; trust, how many right labels per class every annotator is credited with.

    After fit: labels_ (Series: task -> label), probas_ (DataFrame: task x label), skills_ (Series: worker -> accuracy),
    annotators_ (DataFrame: labels, accuracy, low, high, information), errors_ (dict: worker -> matrix, columns are true
    labels), priors_, loss_history_ has the final log-likelihood, n_iter_."""

    def __init__(self, method: str = "dawid-skene", *, smoothing: float = 0.01, trust: float = 1.0, n_iter: int = 1000,
                 tol: float = 1e-12, n_jobs: int | None = None) -> None:
        self.method = method
        self.smoothing = smoothing
        self.trust = trust
        self.n_iter = n_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def __repr__(self) -> str:
        return f"Crowd({self.method!r})"

    def fit(self, data: Any, true_labels: Any = None) -> Crowd:
        """data: a frame, or anything with the columns task, worker and label. true_labels: task -> label, for tasks that were
        checked (a Series or a dict)."""
        import pandas as pd
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r}: it must be one of {', '.join(METHODS)}")
        (tasks, task, _), (workers, worker, worker_names), (classes, label, class_names) = map(coded, long_columns(data))
        gold = self._gold(true_labels, tasks, classes)
        settings = ffi.new("uc_consensus_settings *")
        lib.uc_options_defaults(lib.uc_consensus_options, settings)
        set_options(lib.uc_consensus_options, settings,
                    {"consensus": self.method, "smoothing": self.smoothing, "trust": self.trust,
                     "consensus_iterations": self.n_iter, "consensus_tolerance": self.tol})
        crowd = ffi.gc(ffi.new("uc_crowd *"), lib.uc_crowd_free)
        found = ffi.gc(ffi.new("uc_consensus *"), lib.uc_consensus_free)
        who, what = Names(worker_names), Names(class_names)
        with Work(self.n_jobs) as work:
            status = lib.uc_crowd_from_arrays(crowd, labels_buffer(task), labels_buffer(worker), labels_buffer(label),
                                              len(task), len(tasks), who.pointer, what.pointer, work.context)
            try:
                work.check(status)
            except ValueError as error:  # the library only knows numbers of tasks
                named = re.sub(r"calls row (\d+) ", lambda found: f"calls task {tasks[int(found[1]) - 1]!r} ", str(error))
                raise ValueError(named) from None
            work.check(lib.uc_consensus_find(found, crowd, ffi.NULL if gold is None else labels_buffer(gold), ffi.NULL,
                                             settings, work.context))
        best = copied(found.most_probable, (len(tasks),), "uint32_t", np.uint32)
        self.classes_ = classes
        self.labels_ = _series(classes[best], tasks, "agg_label", "task")
        self.probas_ = pd.DataFrame(self._posterior(found), index=pd.Index(tasks, name="task"), columns=classes)
        order = {name: place for place, name in enumerate(names_list(ffi.addressof(crowd, "annotators")))}
        places = [order[name] for name in worker_names]
        self.annotators_ = pd.DataFrame(annotator_rows(found, places), index=pd.Index(workers, name="worker"))
        self.skills_ = self.annotators_["accuracy"].rename("skill")
        self.errors_ = {worker: self._matrix(found, crowd, j) for worker, j in zip(workers.tolist(), places)}
        self.priors_ = _series(copied(found.prior, (len(classes),)), classes, "prior", "label")
        self.loss_history_ = [] if np.isnan(found.log_likelihood) else [found.log_likelihood]
        self.n_iter_ = int(found.iterations)
        return self

    def fit_predict(self, data: Any, true_labels: Any = None) -> Any:
        """labels_: the most probable label of each task."""
        return self.fit(data, true_labels).labels_

    def fit_predict_proba(self, data: Any, true_labels: Any = None) -> Any:
        """probas_: how probable each label is for each task."""
        return self.fit(data, true_labels).probas_

    @staticmethod
    def _gold(true_labels: Any, tasks: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
        if true_labels is None:
            return None
        gold = np.full(len(tasks), NONE, np.uint32)
        places, columns = {task: i for i, task in enumerate(tasks.tolist())}, {c: k for k, c in enumerate(classes.tolist())}
        for task, label in dict(true_labels).items():
            if task not in places:
                continue  # nobody labelled it
            if label not in columns:
                raise ValueError(f"true_labels: task {task!r} is {label!r}, a label that no worker gives")
            gold[places[task]] = columns[label]
        return gold

    @staticmethod
    def _posterior(found: Any) -> np.ndarray:
        """rows x classes, which the library keeps in slabs of classes."""
        rows, classes, width = found.posterior.rows, found.posterior.classes, found.posterior.width
        values = copied(found.posterior.values, (rows * classes,))
        slabs = [values[first * rows:min(first + width, classes) * rows].reshape(rows, -1) for first in range(0, classes, width)]
        return np.hstack(slabs)

    @staticmethod
    def _matrix(found: Any, crowd: Any, j: int) -> np.ndarray:
        K = found.posterior.classes
        matrix = np.empty((K, K))
        status = lib.uc_consensus_matrix(ffi.from_buffer("double[]", matrix), found, crowd, j)
        if status != lib.UC_OK:
            raise MemoryError(text(lib.uc_last_error()))
        return matrix


