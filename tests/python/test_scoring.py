"""Scores on held-out labels that are noisy themselves, and searches that use them."""
import json
import pickle

import numpy as np
import pytest
from conftest import blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unconfuse

pytestmark = pytest.mark.filterwarnings("ignore:no noise matrix was given", "ignore:the noise matrix does not identify")
NOISE = np.array([[0.8, 0.1, 0.6], [0.1, 0.9, 0.0], [0.1, 0.0, 0.4]])  # most of the last class are labelled as the first
TOO_MUCH = 0.4 * NOISE + 0.2


def noisy_blobs(rows=2000, names=("10", "9", "-3")):
    """Rows, true labels and noisy ones; in the library's order -3 comes first, in NumPy's too, but then 9 before 10."""
    X, y = blobs(classes=3, rows=rows, columns=4, spread=4.0)
    y = np.array(names)[y]
    order = np.sort(names)
    return X, y, unconfuse.apply_noise(y, NOISE, classes=order)


def test_the_score_is_what_evaluate_tells(program, tmp_path):
    X, y, noisy = noisy_blobs()
    model = unconfuse.UMAClassifier(noise_matrix=NOISE).fit(X, noisy)
    unconfuse.save(model, tmp_path / "m.uc")
    np.savetxt(tmp_path / "test.csv", np.column_stack([X.astype(str), noisy]), fmt="%s", delimiter=",")
    order = np.sort(np.unique(y)).tolist()
    table = [",".join(["", *order]), *(",".join([name, *map(repr, row)]) for name, row in zip(order, NOISE.tolist()))]
    (tmp_path / "noise.csv").write_text("\n".join(table) + "\n")
    result = json.loads(program("evaluate", "m.uc", "test.csv", "--noise-matrix", "noise.csv", "--json"))
    score = unconfuse.noise_aware_accuracy(NOISE)(model, X, noisy)
    assert score == pytest.approx(1 - result["corrected_error"], rel=1e-12)
    assert abs(score - model.score(X, y)) < 0.1 < abs(model.score(X, noisy) - model.score(X, y))


def test_the_score_is_the_accuracy_on_true_labels_on_average():
    X, y, noisy = noisy_blobs(rows=1000)
    model = LogisticRegression().fit(X, noisy)
    scorer = unconfuse.noise_aware_accuracy(NOISE)
    scores = [scorer(model, X, unconfuse.apply_noise(y, NOISE, random_state=seed)) for seed in range(300)]
    assert abs(np.mean(scores) - model.score(X, y)) < 4 * np.std(scores) / np.sqrt(300) < 0.02
    assert scorer(model, X, noisy) != model.score(X, noisy)


def test_a_search_finds_the_noise_that_accuracy_on_noisy_labels_does_not():
    X, y, noisy = noisy_blobs(names=(0, 1, 2))
    matrices = [None, NOISE, TOO_MUCH]

    def found(scoring, estimator):
        search = GridSearchCV(estimator, {"noise_matrix": matrices}, scoring=scoring, cv=3).fit(X, noisy)
        return search.best_index_, search.best_estimator_.score(X, y)

    for estimator in (unconfuse.LogisticClassifier(), unconfuse.UMAClassifier()):
        plain, plain_score = found(None, estimator)
        aware, aware_score = found(unconfuse.noise_aware_accuracy(NOISE), estimator)
        assert (plain, aware) == (0, 1) and aware_score > plain_score + 0.2
    assert found(unconfuse.noisy_log_likelihood, unconfuse.LogisticClassifier())[0] == 1


def test_the_matrix_of_a_candidate_plays_no_part_in_its_accuracy():
    X, y, noisy = noisy_blobs(rows=300)
    scorer = unconfuse.noise_aware_accuracy(NOISE)
    one = unconfuse.LogisticClassifier(noise_matrix=NOISE).fit(X, noisy)
    expected = scorer(one, X, noisy)
    one.noise_matrix_ = one.noise_matrix = TOO_MUCH  # its predictions stay
    assert scorer(one, X, noisy) == expected


def test_the_likelihood_is_that_of_the_noisy_labels():
    X, y, noisy = noisy_blobs(rows=300)
    model = unconfuse.LogisticClassifier(noise_matrix=NOISE).fit(X, noisy)
    rows = model.predict_proba(X)
    expected = np.mean([np.log(sum(NOISE[p, q] * rows[i, q] for q in range(3)))
                        for i, p in enumerate(np.searchsorted(model.classes_, noisy))])
    assert unconfuse.noisy_log_likelihood(model, X, noisy) == pytest.approx(expected, rel=1e-12)
    plain = unconfuse.LogisticClassifier().fit(X, noisy)
    rows = plain.predict_proba(X)
    expected = np.mean(np.log(rows[np.arange(300), np.searchsorted(plain.classes_, noisy)]))
    assert unconfuse.noisy_log_likelihood(plain, X, noisy) == pytest.approx(expected, rel=1e-12)
    pipeline = make_pipeline(StandardScaler(), unconfuse.LogisticClassifier(noise_matrix=NOISE)).fit(X, noisy)
    scaled = unconfuse.LogisticClassifier(noise_matrix=NOISE).fit(StandardScaler().fit_transform(X), noisy)
    assert unconfuse.noisy_log_likelihood(pipeline, X, noisy) == \
        unconfuse.noisy_log_likelihood(scaled, StandardScaler().fit_transform(X), noisy)


def test_scorers_go_to_other_processes():
    X, y, noisy = noisy_blobs(rows=300)
    scorer = unconfuse.noise_aware_accuracy(NOISE)
    model = unconfuse.LogisticClassifier(n_jobs=1)
    expected = cross_val_score(model, X, noisy, scoring=scorer, cv=2)
    assert (cross_val_score(model, X, noisy, scoring=scorer, cv=2, n_jobs=2) == expected).all()
    assert pickle.loads(pickle.dumps(scorer))(model.fit(X, noisy), X, noisy) == scorer(model, X, noisy)


def test_what_cannot_be_scored_is_refused():
    X, y, noisy = noisy_blobs(rows=300)
    model = unconfuse.LogisticClassifier().fit(X, noisy)
    with pytest.raises(ValueError, match="the noise matrix of the score has 2 classes, the estimator 3"):
        unconfuse.noise_aware_accuracy([[0.9, 0.2], [0.1, 0.8]])(model, X, noisy)
    with pytest.raises(ValueError, match="y has the label 'cat', which is not among the classes"):
        unconfuse.noise_aware_accuracy(NOISE)(model, X, np.where(noisy == "9", "cat", noisy))
    with pytest.raises(ValueError, match="singular|inverse"):
        unconfuse.noise_aware_accuracy([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="noise_matrix: column 1 sums to 1.2"):
        unconfuse.noise_aware_accuracy([[0.9, 0.1], [0.3, 0.7]])
