"""What runs inside Python: predictions against the call of the C library below them, and rows learned one by one against
scikit-learn. Run by the Python of the virtual environment: python_inside.py ROWS STEPS RUNS; prints one JSON object.
"""
import json
import os
import statistics
import sys
import time
import warnings

import numpy
import scipy.sparse
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import PassiveAggressiveClassifier

import unconfuse
from unconfuse._library import labels_buffer, matrix
from unconfuse._unconfuse import ffi, lib

ROWS, STEPS, RUNS = map(int, sys.argv[1:4])
COLUMNS, CLASSES = 100, 10
warnings.filterwarnings("ignore")


def data(rows, columns, classes):
    X, y = make_classification(rows, columns, n_informative=20, n_classes=classes, n_clusters_per_class=1, random_state=1)
    return X.astype(numpy.float32), y


def seconds(work, times=1):
    """Processor time of one core."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begun) / times


def in_turns(*tasks):
    """The times of each task; in each of the runs, after a warm-up, all take their turn."""
    times = [[seconds(task, 10) for task in tasks] for _ in range(RUNS + 1)][1:]
    return [list(column) for column in zip(*times)]


def predictions():
    """predict, and uc_model_predict on the same array: both with one thread. Sparse rows have as many values as dense ones,
    among a hundred times as many columns."""
    X, y = data(ROWS, COLUMNS, CLASSES)
    sparse = scipy.sparse.random(ROWS, 100 * COLUMNS, 0.01, "csr", numpy.float32, random_state=1)
    result = []
    for name, rows in (("dense", X), ("sparse", sparse)):
        model = unconfuse.SPAClassifier(passes=1, n_jobs=1).fit(rows, y)
        context = ffi.new("uc_context *", {"threads": 1})
        view, kept = matrix(rows)

        def below():
            predicted = numpy.empty(ROWS, numpy.uint32)
            assert lib.uc_model_predict(labels_buffer(predicted), model._learned.model().pointer, view, context) == 0
            return predicted

        outer, inner = in_turns(lambda: model.predict(rows), below)
        assert (model.classes_[below()] == model.predict(rows)).all()
        del kept
        overhead = statistics.median(a / b - 1 for a, b in zip(outer, inner))
        result.append({"rows": name, "python": statistics.median(outer), "c": statistics.median(inner),
                       "overhead": overhead})
    return result


def one_by_one():
    """partial_fit with one row a call; the first calls, which begin, are not counted."""
    result = []
    for classes in (2, CLASSES):
        X, y = data(STEPS, 64, classes)
        X = X.astype(numpy.float64)  # scikit-learn's own type
        rows = [(X[i:i + 1], y[i:i + 1]) for i in range(STEPS)]

        def run(learner):
            learner.partial_fit(X[:1], y[:1], classes=numpy.arange(classes))
            return seconds(lambda: [learner.partial_fit(*row) for row in rows]) / STEPS

        ours, theirs = [], []
        for _ in range(RUNS + 1):
            ours.append(run(unconfuse.PAClassifier()))
            theirs.append(run(PassiveAggressiveClassifier()))
        result.append({"classes": classes, "unconfuse": statistics.median(ours[1:]),
                       "scikit_learn": statistics.median(theirs[1:]),
                       "ratio": statistics.median(b / a for a, b in zip(ours[1:], theirs[1:]))})
    return result


os.environ.setdefault("OMP_NUM_THREADS", "1")
print(json.dumps({"scikit_learn": sklearn.__version__, "shape": [ROWS, COLUMNS, CLASSES], "predictions": predictions(),
                  "one_by_one": one_by_one()}))
