"""Model files: those of the command line, which reads what Python writes and the other way round."""
from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from ._classifier import Classifier
from ._labels import Classes, labels_of
from ._library import Work, check, names_list, options, text
from ._model import Model, Online
from ._names import python_name
from ._online import OnlineClassifier
from ._sklearn import keep_columns
from ._table import TableEncoder
from ._unconfuse import ffi, lib
from .estimators import LEARNERS


def save(estimator: Classifier, path: str | os.PathLike[str]) -> None:
    """Writes a fitted classifier as a model file: `unconfuse predict`, `evaluate` and `inspect` read it, and `stream
    --resume` continues from one that learned by partial_fit."""
    if not isinstance(estimator, Classifier):
        raise TypeError(f"a model file holds a classifier of unconfuse, not a {type(estimator).__name__}: "
                        "save the last step of a pipeline, or pickle it as a whole")
    source = estimator._known().source
    if isinstance(source, Online):
        model = source.model_with_state()
    else:
        model = source.without_state() if isinstance(estimator, OnlineClassifier) else source  # as `unconfuse train` has it
    output = ffi.new("uc_output **")
    with Work() as work:  # the reader of a pipe may never come
        work.check(lib.uc_output_begin(output, os.fsencode(path), lib.unconfuse_go_on, work.context.user))
        status = lib.uc_model_write(model.pointer, output[0])
        if status == lib.UC_OK:
            status = lib.uc_output_commit(output[0], True)
        else:
            lib.uc_output_abort(output[0])
        work.check(status)


def load(path: str | os.PathLike[str]) -> Classifier:
    """A fitted classifier from a model file, with the parameters that it was trained with.

    Labels that are all numbers come back as numbers, others as strings. A model of a table, which was a data frame or a CSV
    file, takes data frames and Arrow tables; feature_names_in_ has their columns.
    """
    out = ffi.new("uc_model **")
    check(lib.uc_model_load(out, os.fsencode(path)))
    model = Model(out[0])
    learner = text(lib.uc_model_learner(model.pointer))
    if learner not in LEARNERS:
        raise ValueError(f"{os.fspath(path)}: a model of {learner}, for which there is no estimator")
    described = model.describe()
    estimator = LEARNERS[learner]()
    estimator.n_features_in_ = int(lib.uc_model_features(model.pointer))
    table = lib.uc_table_share(lib.uc_model_table(model.pointer))
    if table:
        keep_columns(estimator, TableEncoder.of_table(table))
    labels = labels_of(names_list(lib.uc_model_classes(model.pointer)))
    classes = Classes(np.sort(labels), labels)
    estimator._adopt(model, classes, estimator)
    if described["resumable"] and isinstance(estimator, OnlineClassifier):
        estimator._learned = replace(estimator._learned, source=Online.resume(model))
    estimator.set_params(**_parameters(estimator, described, classes))
    return estimator


def _parameters(estimator: Classifier, described: dict[str, Any], classes: Classes) -> dict[str, Any]:
    """Stored settings by the names of the constructor."""
    known, stored = estimator.get_params(deep=False), described["settings"]
    found: dict[str, Any] = {"random_state": stored.get("seed")}
    tables = [lib.uc_learner_options(lib.uc_learner_find(estimator._learner.encode())), lib.uc_train_options,
              lib.uc_map_options]
    for option in (option for table in tables for option in options(table)):
        name, value = python_name(text(option.name)), stored.get(text(option.name))
        if name in known and value is not None:
            found[name] = None if value == "none" else int(value) if str(value).isdigit() else value
    if described["map"] == "none":
        found["map"] = None
    if "class-weights" in stored:
        found["class_weight"] = dict(zip(classes.labels.tolist(), stored["class-weights"]))
    if "positive" in stored:
        found["positive"] = dict(zip(described["classes"], classes.labels.tolist()))[stored["positive"]]
    if "noise_matrix" in known:
        found["noise_matrix"] = estimator.noise_matrix_
    return found
