"""The Python package, as it is installed in the build directory. UNCONFUSE names the program; without it the release build
is taken."""
import os
import pathlib
import subprocess

import numpy as np
import pytest
import sklearn.utils
from sklearn.datasets import make_blobs

import unconfuse

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("UNCONFUSE", str(ROOT / "build" / "release" / "unconfuse"))
CLASSIFIERS = [cls for cls in vars(unconfuse).values() if isinstance(cls, type) and cls.__name__.endswith("Classifier")]
MAPS = [cls for cls in vars(unconfuse).values()
        if isinstance(cls, type) and issubclass(cls, unconfuse.estimators.MapTransformer)]
ONLINE = [cls for cls in CLASSIFIERS if hasattr(cls, "partial_fit")]
RIGHT_WRONG = [cls for cls in CLASSIFIERS if hasattr(cls, "propose")]


def tags(estimator):
    """What scikit-learn takes an estimator for, by the names of versions up to 1.5."""
    if not hasattr(sklearn.utils, "get_tags"):
        return estimator._get_tags()
    found = sklearn.utils.get_tags(estimator)
    classifier = found.classifier_tags
    return {"binary_only": classifier is not None and not classifier.multi_class,
            "poor_score": classifier is not None and classifier.poor_score, "_skip_test": found._skip_test,
            "_xfail_checks": estimator._checks_that_fail()}  # which are no tags any more, but arguments of the checks


# Learners whose weights belong to features that they make of a row, whatever `map` says, and why.
OWN_FEATURES = {unconfuse.AuditClassifier: "three views of the row, each with a kernel map of its own, are concatenated",
                unconfuse.OnebitClassifier: "the row, standardised or at unit length, and kernel values of rows of the stream"}
BINARY_ONLY = [cls for cls in CLASSIFIERS if tags(cls())["binary_only"]]


@pytest.fixture
def program(tmp_path):
    """Runs the program in a directory of its own."""

    def run(*arguments, stdin=None):
        result = subprocess.run([PROGRAM, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=600,
                                input=stdin)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


def blobs(classes=4, rows=300, columns=8, seed=3, spread=2.5):
    """float32 rows around a centre a class, as files have them, and integer labels."""
    X, y = make_blobs(rows, columns, centers=classes, cluster_std=spread, random_state=seed)
    return X.astype(np.float32), y


def classes_for(cls):
    return 2 if cls in BINARY_ONLY else 4
