"""What scikit-learn 1.3 to 1.8 want in addition to what 1.2 checks: the same tests with a simulation of the newer interface,
and tests of our own for the checks that were added."""
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import sklearn
from conftest import CLASSIFIERS, MAPS, ROOT, blobs, classes_for, tags
from sklearn.base import clone

import unconfuse
from unconfuse._sklearn import Tagged

ESTIMATORS = CLASSIFIERS + MAPS
IS_NEW = hasattr(sklearn.utils, "get_tags")


@pytest.mark.skipif(IS_NEW, reason="this scikit-learn has the newer interface itself, or the simulation is on")
@pytest.mark.parametrize("tests", [
    ["test_sklearn_versions.py", "test_maps.py", "test_online.py"],
    ["test_estimator_checks.py", "-k", "few_scores or no_check or test_check[Logistic or test_check[SloppySVM "
     "or test_check[CSPAPlus or test_check[S3VM or test_check[Kernel or test_check[Nystroem"],
    ["test_classifiers.py", "-k", "grids and (Logistic or CSPAPlus or S3VM) or frames or refused"],
], ids=lambda tests: tests[0])
def test_with_the_newer_interface(tests):
    """The tests of other files once more, by a pytest whose scikit-learn is changed before unconfuse is imported."""
    directory = ROOT / "tests" / "python"
    arguments = [str(directory / word) if word.endswith(".py") else word for word in tests]
    reported = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "newer_sklearn",
                           *arguments], env={**os.environ, "PYTHONPATH": str(directory)}, capture_output=True, text=True)
    assert reported.returncode == 0, reported.stdout[-5000:] + reported.stderr


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_no_class_has_old_tags_alone(cls):
    """scikit-learn 1.6 would take the old tags of all classes then, and warn."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("unconfuse")]
    assert [base for base in ours if "_more_tags" in vars(base) or "__sklearn_tags__" in vars(base)] == [Tagged]
    assert cls.__mro__.index(Tagged) < min(i for i, base in enumerate(cls.__mro__) if base.__module__ == "sklearn.base")


def test_new_tags_say_what_the_old_ones_say():
    binary = {cls.__name__ for cls in CLASSIFIERS if tags(cls())["binary_only"]}
    assert binary == {"SloppySVMClassifier", "PUClassifier"}
    if IS_NEW:
        for cls in ESTIMATORS:
            found = sklearn.utils.get_tags(cls())
            assert found.input_tags.sparse
            assert (found.transformer_tags and found.transformer_tags.preserves_dtype) == (["float32"] if cls in MAPS else None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_sparse_arrays_are_sparse_rows(cls):
    """Newer versions hand on scipy's sparse arrays where older ones have matrices; their indices may be of 64 bits."""
    X, y = blobs(classes=classes_for(cls) if cls in CLASSIFIERS else 4, rows=60)
    X[np.abs(X) < 2] = 0
    expected = cls().fit(scipy.sparse.csr_matrix(X), y)
    result = (lambda model, rows: model.predict(rows)) if cls in CLASSIFIERS else (lambda model, rows: model.transform(rows))
    wide = scipy.sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for rows in (scipy.sparse.csr_array(X), scipy.sparse.csc_array(X), wide):
        model = cls().fit(rows, y)
        assert (result(model, rows) == result(expected, scipy.sparse.csr_matrix(X))).all()


def test_more_than_two_classes_are_refused_in_the_words_of_the_checks():
    X, y = blobs(classes=3)
    with pytest.raises(ValueError, match="^Only binary classification is supported: SloppySVMClassifier is for two classes, "
                                         "but there are 3; use LogisticClassifier or UMAClassifier with a noise_matrix$"):
        unconfuse.SloppySVMClassifier().fit(X, y)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_nonsense_is_refused_by_fit_and_not_before(cls):
    for value in [-1, 3.0, "helloworld", np.array([1.0, 4.0]), [1], {}, []]:
        parameters = {name: value for name in cls().get_params()}
        clone(cls(**parameters)).set_params(**parameters)


def test_metadata_can_be_routed():
    """From 1.3 scikit-learn makes the method from the signature of fit."""
    if not hasattr(unconfuse.SloppySVMClassifier, "set_fit_request"):
        pytest.skip("scikit-learn routes metadata from 1.3 on")
    with sklearn.config_context(enable_metadata_routing=True):
        unconfuse.SloppySVMClassifier(bags=True).set_fit_request(groups=True, sample_weight=True)
        unconfuse.LogisticClassifier().set_fit_request(sample_weight=True, soft_labels=True).set_score_request(sample_weight=True)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_weights_are_named_as_routing_finds_them(cls):
    """Routing goes by the names in signatures."""
    for method in ("fit", "partial_fit", "score"):
        if hasattr(cls, method) and not hasattr(cls, "transform"):
            assert "sample_weight" in inspect.signature(getattr(cls, method)).parameters
