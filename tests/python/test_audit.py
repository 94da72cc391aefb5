"""unconfuse.audit: wrong labels, a model, and annotators, from arrays and frames."""
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import unconfuse


def clouds(n=240, classes=3, rate=0.2, seed=0):
    """Rows around class centres, labels of which some are wrong, and the true classes."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, classes, n)
    X = rng.standard_normal((n, 5)) + 4.0 * np.eye(classes, 5)[z]
    y = np.where(rng.random(n) < rate, (z + rng.integers(1, classes, n)) % classes, z)
    return X.astype(np.float32), y, z


def test_wrong_labels_are_found_and_the_model_knows_true_classes():
    X, y, z = clouds()
    result = unconfuse.audit(X, y, landmarks=80)
    assert list(result.issues.columns) == ["row", "given", "suggested", "p_wrong", "flagged"]
    assert result.issues["flagged"].all() and len(result.issues) == result.flagged
    assert (np.diff(result.issues["p_wrong"]) <= 0).all()
    rows = result.issues["row"].to_numpy()
    assert (y[rows] == result.issues["given"]).all()
    hits = (y[rows] != z[rows]).sum()
    assert 2 * hits / (len(rows) + (y != z).sum()) > 0.9
    assert (result.issues["suggested"].to_numpy() == z[rows]).mean() > 0.9
    assert (result.model.predict(X) == z).mean() > 0.95
    np.testing.assert_allclose(result.model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(result.noise_matrix.sum(axis=0), 1.0)
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1.0)
    assert (result.consensus == z).mean() > 0.95
    assert result.wrong["low"] <= (y != z).mean() <= result.wrong["high"]
    assert 0 <= result.clean_error["low"] <= result.clean_error["estimate"] <= result.clean_error["high"] <= 1
    assert result.annotators is None and result.mode in ("structure", "labels")
    assert repr(result).startswith(f"<AuditResult: {len(X)} rows, ") and f"{result.flagged} flagged" in repr(result)


def test_every_label_is_listed_on_request_and_agrees_with_the_posterior():
    X, y, _ = clouds(n=120)
    result = unconfuse.audit(X, y, all=True, landmarks=60)
    assert sorted(result.issues["row"]) == list(range(120))
    p = result.issues.sort_values("row")["p_wrong"].to_numpy()
    np.testing.assert_allclose(p, 1 - result.probabilities[np.arange(120), y], atol=1e-12)
    again = unconfuse.AuditClassifier(landmarks=60).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), result.model.predict_proba(X))


def test_a_width_of_ones_own():
    X, y, z = clouds(n=120)
    result = unconfuse.audit(X, y, width=0.5)
    assert (result.model.predict(X) == z).mean() > 0.95
    assert not np.array_equal(result.probabilities, unconfuse.audit(X, y).probabilities)
    chosen = [unconfuse.audit(X, y, width=width).probabilities for width in (0.3, 1, 3)]
    assert any(np.array_equal(unconfuse.audit(X, y).probabilities, one) for one in chosen)


def test_names_sparse_rows_index_and_unlabelled_rows():
    X, y, z = clouds(n=150)
    names = np.array(["oak", "elm", "pine"])
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(150)])
    result = unconfuse.audit(frame, names[y], landmarks=60)
    assert result.issues.index[0] == f"r{result.issues['row'].iloc[0]}"
    assert set(result.classes) == set(names)
    assert result.noise_matrix.diagonal().min() > 0.5
    marked = np.where(np.arange(150) % 10 == 0, -1, y)
    some = unconfuse.audit(scipy.sparse.csr_matrix(X), marked, all=True, landmarks=60)
    assert len(some.issues) == 135 and not (some.issues["row"] % 10 == 0).any()


def test_rows_of_weight_zero_are_left_out_and_keep_their_numbers():
    X, y, _ = clouds(n=150)
    weight = np.where(np.arange(150) < 30, 0.0, 1.0)
    result = unconfuse.audit(X, y, sample_weight=weight, all=True, landmarks=60)
    assert sorted(result.issues["row"]) == list(range(30, 150))


def test_gold_is_certain():
    X, y, z = clouds(n=150)
    wrong = int(np.flatnonzero(y != z)[0])
    for gold in ({wrong: int(z[wrong]), 0: int(z[0])},
                 [int(z[i]) if i in (0, wrong) else None for i in range(150)]):
        result = unconfuse.audit(X, y, gold=gold, all=True, landmarks=60)
        own = result.issues.set_index("row").loc[wrong]
        assert own["p_wrong"] == 1.0 and own["suggested"] == z[wrong]


def test_annotators_by_columns_and_by_a_frame():
    X, _, z = clouds(n=150)
    rng = np.random.default_rng(3)
    accuracy = [0.95, 0.75, 0.5]
    labels = pd.DataFrame({f"a{j}": np.where(rng.random(150) < right, z, (z + 1) % 3).astype(object)
                           for j, right in enumerate(accuracy)})
    labels.iloc[::4, 1] = None
    result = unconfuse.audit(X, labels, landmarks=60)
    assert result.annotators.index.tolist() == ["a0", "a1", "a2"]
    assert result.annotators.loc["a0", "accuracy"] > result.annotators.loc["a2", "accuracy"]
    assert result.annotators.loc["a1", "labels"] == 150 - 38
    assert (result.consensus == z).mean() > 0.9
    assert {"row", "annotator", "given", "suggested", "p_wrong", "flagged"} == set(result.issues.columns)
    first = result.issues.iloc[0]
    assert labels.loc[first["row"], first["annotator"]] == first["given"]
    long = labels.reset_index().melt(id_vars="index", var_name="worker", value_name="label").rename(columns={"index": "task"})
    again = unconfuse.audit(X, long.dropna(), landmarks=60)
    np.testing.assert_array_equal(again.probabilities, result.probabilities)
    assert (result.model.predict(X) == z).mean() > 0.9


def test_what_is_refused():
    X, y, _ = clouds(n=30)
    for arguments, match in (({"bootstrap": 1}, "bootstrap=1: it must be a whole number"), ({"mode": "x"}, "mode='x'"),
                             ({"width": 0}, "width=0: it must be from 0.001 to 1000"),
                             ({"gold": [0]}, "gold must have a label for each of the 30 rows"),
                             ({"gold": {31: 0}}, "gold names row 31"), ({"gold": {1: 9}}, "gold has the label 9")):
        with pytest.raises(ValueError, match=match):
            unconfuse.audit(X, y, **arguments)
    both = np.column_stack([y, y])
    with pytest.raises(ValueError, match="sample_weight does not go with several annotators"):
        unconfuse.audit(X, both, sample_weight=np.ones(30))
    with pytest.raises(ValueError, match="30 rows"):
        unconfuse.audit(X, both[:5])
    frame = pd.DataFrame({"task": [0, 99], "worker": ["a", "b"], "label": [0, 1]})
    with pytest.raises(ValueError, match="task 99 is not a row of X"):
        unconfuse.audit(X, frame)


def test_missing_labels_are_unlabelled_rows_if_told_so():
    X, y, _ = clouds()
    words = np.array([f"k{label}" for label in y], object)
    words[::9] = None
    with pytest.raises(ValueError, match="y contains None or NaN: with unlabelled=None these are rows without a label"):
        unconfuse.audit(X, words)
    marked = np.where(np.arange(len(y)) % 9 == 0, "?", words)
    assert unconfuse.audit(X, words, unlabelled=None).wrong == unconfuse.audit(X, marked, unlabelled="?").wrong
    with pytest.raises(ValueError, match="X is None: annotators of rows without features are audited by unconfuse.Crowd"):
        unconfuse.audit(None, y)
