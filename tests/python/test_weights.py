"""sample_weight and soft_labels: a row counts so many times, and not at all with 0."""
import numpy as np
import pytest

import unconfuse

BATCH = ["LogisticClassifier", "CSVMClassifier", "UMAClassifier", "S3VMClassifier", "RidgeClassifier"]
ONLINE = ["PAClassifier", "SPAClassifier", "PerceptronClassifier", "COPAClassifier", "AROWClassifier", "SCWClassifier"]


def problem(rows=120, classes=3):
    draw = np.random.default_rng(1)
    y = draw.integers(0, classes, rows)
    X = draw.normal(size=(rows, 4)) + np.eye(classes, 4)[y]
    return X.astype(np.float32), np.array(["b", "a", "c"])[y], draw.integers(0, 4, rows)


def made(name, **more):
    known = getattr(unconfuse, name)()
    options = {"tolerance": 1e-9, "iterations": 2000} if name in ("LogisticClassifier", "CSVMClassifier") else {}
    return known.set_params(**options, **more)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BATCH)
def test_a_weight_is_a_number_of_rows(name):
    X, y, weights = problem()
    weighted = made(name).fit(X, y, sample_weight=weights)
    repeated = made(name).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-3, atol=1e-3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BATCH + ONLINE)
def test_a_row_of_weight_0_is_absent(name):
    X, y, weights = problem()
    weights = np.minimum(weights, 1)
    weighted = made(name).fit(X, y, sample_weight=weights)
    without = made(name).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(weighted.decision_function(X), without.decision_function(X))


def test_partial_fit_leaves_out_rows_of_weight_0():
    X, y, weights = problem()
    for name in ONLINE:
        some = made(name).partial_fit(X, y, classes=["a", "b", "c"], sample_weight=np.minimum(weights, 1))
        without = made(name).partial_fit(X[weights > 0], y[weights > 0], classes=["a", "b", "c"])
        np.testing.assert_array_equal(some.decision_function(X), without.decision_function(X))


def test_soft_labels_of_one_class_are_labels():
    X, y, _ = problem()
    soft = (y[:, None] == np.array(["a", "b", "c"])).astype(float)
    for name in ["LogisticClassifier", "CSVMClassifier"]:
        hard = made(name).fit(X, y).decision_function(X)
        np.testing.assert_array_equal(made(name).fit(X, y, soft_labels=soft).decision_function(X), hard)


def test_soft_labels_are_the_mean_over_labels():
    X, y, _ = problem()
    soft = np.full((len(y), 3), 0.1)
    soft[np.arange(len(y)), np.searchsorted(["a", "b", "c"], y)] = 0.8
    found = made("LogisticClassifier").fit(X, y, soft_labels=soft)
    repeated = made("LogisticClassifier").fit(np.repeat(X, 3, axis=0), np.tile(["a", "b", "c"], len(y)),
                                              sample_weight=soft.ravel())
    np.testing.assert_allclose(found.decision_function(X), repeated.decision_function(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("weights, soft, sentence", [
    ([-1.0], None, "below 0"), ([0.0], None, "every sample_weight is 0"), ([np.nan], None, "NaN"),
    (None, np.ones((120, 2)) / 2, "2 columns, but there are 3 classes"), (None, np.ones((120, 3)), "must sum to 1"),
    (None, np.ones((7, 3)) / 3, "inconsistent numbers of samples"),
])
def test_what_is_no_weight_is_refused(weights, soft, sentence):
    X, y, _ = problem()
    weights = weights and np.full(len(y), weights[0])
    with pytest.raises(ValueError, match=sentence):
        made("LogisticClassifier").fit(X, y, sample_weight=weights, soft_labels=soft)


def test_learners_of_one_example_after_the_other_refuse_soft_labels():
    X, y, _ = problem()
    with pytest.raises(ValueError, match="cannot use soft labels"):
        made("PAClassifier").fit(X, y, soft_labels=np.full((len(y), 3), 1 / 3))


@pytest.mark.filterwarnings("ignore")
def test_class_weights_may_be_given_or_counted():
    X, y, _ = problem()
    for name in ["LogisticClassifier", "UMAClassifier", "S3VMClassifier"]:
        given = {label: len(y) / (3 * (y == label).sum()) for label in "abc"}
        balanced = made(name, class_weight="balanced").fit(X, y).decision_function(X)
        np.testing.assert_allclose(made(name, class_weight=given).fit(X, y).decision_function(X), balanced, rtol=.02, atol=.02)
