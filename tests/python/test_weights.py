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
    for name in ["LogisticClassifier", "UMAClassifier", "S3VMClassifier", "RidgeClassifier", "AutoClassifier"]:
        given = {label: len(y) / (3 * (y == label).sum()) for label in "abc"}
        balanced = made(name, class_weight="balanced").fit(X, y).decision_function(X)
        np.testing.assert_allclose(made(name, class_weight=given).fit(X, y).decision_function(X), balanced, rtol=.02, atol=.02)


@pytest.mark.filterwarnings("ignore")
def test_class_weights_of_pu_are_those_of_the_true_classes():
    X, y, weights = problem(400, 2)
    y = np.where(y == "a", 1, 0) * (np.arange(400) % 2)
    known = {"prior": 0.4, "l2": 0.01, "loss": "logistic"}
    balanced = unconfuse.PUClassifier(**known, class_weight="balanced").fit(X, y).decision_function(X)
    given = unconfuse.PUClassifier(**known, class_weight={1: 1 / 0.8, 0: 1 / 1.2}).fit(X, y).decision_function(X)
    np.testing.assert_allclose(balanced, given, rtol=1e-6, atol=1e-6)
    weighted = unconfuse.PUClassifier(**known, tolerance=1e-9).fit(X, y, sample_weight=weights).decision_function(X)
    repeated = unconfuse.PUClassifier(**known, tolerance=1e-9).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted, repeated.decision_function(X), rtol=1e-3, atol=1e-3)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_passes_weights_on():
    """AdaBoost, pipelines, searches and cross-validation are who has weights."""
    from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, weights = problem(240)
    for name in ("LogisticClassifier", "RidgeClassifier", "PAClassifier"):
        boosted = AdaBoostClassifier(getattr(unconfuse, name)(), n_estimators=3, algorithm="SAMME", random_state=1).fit(X, y)
        assert boosted.score(X, y) > 0.5
    bagged = BaggingClassifier(made("LogisticClassifier"), n_estimators=3, random_state=1).fit(X, y, sample_weight=weights)
    assert bagged.score(X, y) > 0.5
    line = make_pipeline(StandardScaler(), made("LogisticClassifier")).fit(X, y, logisticclassifier__sample_weight=weights)
    plain = make_pipeline(StandardScaler(), made("LogisticClassifier")).fit(X, y)
    assert abs(line.decision_function(X) - plain.decision_function(X)).max() > 0.01
    search = GridSearchCV(made("LogisticClassifier"), {"l2": [1e-3, 1e-1]}, cv=3).fit(X, y, sample_weight=weights)
    assert search.best_score_ > 0.5
    assert cross_val_score(made("RidgeClassifier"), X, y, cv=3, fit_params={"sample_weight": weights}).min() > 0.4


@pytest.mark.filterwarnings("ignore")
def test_noise_is_estimated_by_weights():
    X, y, weights = problem(300)
    gold = np.where(np.arange(300) % 6 == 0, "c", y)
    weighted = unconfuse.estimate_noise_matrix(None, y, gold=gold, sample_weight=weights)
    repeated = unconfuse.estimate_noise_matrix(None, np.repeat(y, weights), gold=np.repeat(gold, weights))
    np.testing.assert_allclose(weighted.matrix, repeated.matrix, rtol=0, atol=1e-12)
    ones = unconfuse.estimate_noise_matrix(X, y, sample_weight=np.ones(300), bootstrap=0).matrix
    np.testing.assert_array_equal(ones, unconfuse.estimate_noise_matrix(X, y, bootstrap=0).matrix)
