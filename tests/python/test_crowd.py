"""Crowds of annotators, and labels judged by probabilities."""
import numpy as np
import pandas as pd
import pytest

import unconfuse


def make_frame(tasks=300, workers=8, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, tasks)
    accuracy = np.linspace(0.5, 0.95, workers)
    rows = [(f"t{i}", f"w{j}", int(truth[i] if rng.random() < accuracy[j] else (truth[i] + 1) % classes))
            for i in range(tasks) for j in rng.choice(workers, 5, replace=False)]
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), pd.Series(truth, index=[f"t{i}" for i in range(tasks)])


def slow_dawid_skene(frame, smoothing, trust, steps):
    """By the equations, with dense arrays."""
    tasks, task = np.unique(frame["task"], return_inverse=True)
    workers, worker = np.unique(frame["worker"], return_inverse=True)
    classes, label = np.unique(frame["label"], return_inverse=True)
    n, J, K = len(tasks), len(workers), len(classes)
    R = np.zeros((n, K))
    np.add.at(R, (task, label), 1.0)
    R /= R.sum(axis=1, keepdims=True)
    for _ in range(steps):
        prior = (R.sum(axis=0) + smoothing) / (n + K * smoothing)
        C = np.zeros((J, K, K))
        np.add.at(C.transpose(0, 2, 1), (worker, label), R[task])
        C += smoothing + trust * np.eye(K)
        C /= C.sum(axis=2, keepdims=True)
        scores = np.tile(np.log(prior), (n, 1))
        np.add.at(scores, task, np.log(C[worker, :, label]))
        R = np.exp(scores - scores.max(axis=1, keepdims=True))
        R /= R.sum(axis=1, keepdims=True)
    return pd.DataFrame(R, index=tasks, columns=classes)


def test_dawid_skene_is_that_of_the_equations():
    frame, _ = make_frame()
    crowd = unconfuse.Crowd(n_iter=17, tol=0.0).fit(frame)
    slow = slow_dawid_skene(frame, 0.01, 1.0, 17)
    assert crowd.n_iter_ == 17
    np.testing.assert_allclose(crowd.probas_.loc[slow.index].to_numpy(), slow.to_numpy(), atol=1e-9)


def test_the_consensus_is_better_than_votes_and_knows_the_workers():
    frame, truth = make_frame()
    errors = {}
    for method in ("majority", "one-coin", "dawid-skene"):
        labels = unconfuse.Crowd(method).fit_predict(frame)
        errors[method] = (labels != truth[labels.index].to_numpy()).mean()
    assert errors["dawid-skene"] < errors["majority"]
    assert errors["one-coin"] < errors["majority"]
    crowd = unconfuse.Crowd().fit(frame)
    assert crowd.skills_["w7"] > crowd.skills_["w0"]
    assert (crowd.annotators_["low"] <= crowd.annotators_["accuracy"]).all()
    assert crowd.annotators_["labels"].sum() == len(frame)
    np.testing.assert_allclose(crowd.errors_["w3"].sum(axis=0), 1.0)
    np.testing.assert_allclose(crowd.probas_.sum(axis=1), 1.0)
    assert list(crowd.probas_.columns) == [0, 1, 2]


def test_more_classes_than_a_slab():
    frame, truth = make_frame(tasks=500, classes=20)
    crowd = unconfuse.Crowd().fit(frame)
    np.testing.assert_allclose(crowd.probas_.sum(axis=1), 1.0)
    assert (crowd.probas_.idxmax(axis=1) == crowd.labels_).all()


def test_true_labels_are_certain():
    frame, truth = make_frame()
    checked = {"t0": int((truth["t0"] + 1) % 3)}
    crowd = unconfuse.Crowd().fit(frame, true_labels=checked)
    assert crowd.labels_["t0"] == checked["t0"]
    assert crowd.probas_.loc["t0", checked["t0"]] == 1.0
    with pytest.raises(ValueError, match="a label that no worker gives"):
        unconfuse.Crowd().fit(frame, true_labels={"t0": 7})


def test_bad_frames_and_settings():
    frame, _ = make_frame(tasks=5)
    with pytest.raises(ValueError, match="there is no worker"):
        unconfuse.Crowd().fit(frame.rename(columns={"worker": "who"}))
    with pytest.raises(ValueError, match="method='median': it must be one of"):
        unconfuse.Crowd("median").fit(frame)
    with pytest.raises(ValueError, match="smoothing=-1"):
        unconfuse.Crowd(smoothing=-1).fit(frame)
    twice = pd.concat([frame, frame.iloc[:1].assign(label=99)])
    with pytest.raises(ValueError, match=f"annotator '{frame['worker'][0]}' calls task '{frame['task'][0]}' both"):
        unconfuse.Crowd().fit(twice)
    with pytest.raises(ValueError, match="worker is missing in row 3, which has a label"):
        unconfuse.Crowd().fit(frame.assign(worker=[None if i == 2 else w for i, w in enumerate(frame["worker"])]))


def test_missing_labels_are_left_out():
    frame, _ = make_frame(tasks=40)
    words = frame.assign(label=[f"k{label}" for label in frame["label"]])
    for full in (frame, words):
        some = full.assign(label=full["label"].where(np.arange(len(full)) % 7 > 0))
        assert some["label"].isna().any()
        without = full[np.arange(len(full)) % 7 > 0]
        found, expected = unconfuse.Crowd().fit(some), unconfuse.Crowd().fit(without)
        assert found.labels_.astype(str).str.replace(".0", "", regex=False).tolist() == expected.labels_.astype(str).tolist()
        assert (found.annotators_["labels"] == expected.annotators_["labels"]).all()
    assert repr(unconfuse.Crowd("majority")) == "Crowd('majority')"
    X = np.random.default_rng(1).normal(size=(40, 3))
    tasks = [int(task[1:]) for task in words["task"]]
    result = unconfuse.audit(X, words.assign(task=tasks, label=words["label"].where(np.arange(len(words)) % 7 > 0)))
    assert result.annotators["labels"].sum() == (np.arange(len(words)) % 7 > 0).sum()


def make_probabilities(n=2000, classes=4, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    labels = np.where(rng.random(n) < 0.2, (truth + 1) % classes, truth)
    scores = rng.standard_normal((n, classes))
    scores[np.arange(n), truth] += 3.0
    p = np.exp(scores)
    return labels, p / p.sum(axis=1, keepdims=True), labels != truth


def test_issues_are_found_and_ranked():
    labels, p, wrong = make_probabilities()
    found = unconfuse.find_label_issues(labels, p)
    assert found.dtype == bool and found.shape == labels.shape
    f1 = 2 * (found & wrong).sum() / (found.sum() + wrong.sum())
    plain = p.argmax(axis=1) != labels
    assert f1 > 2 * (plain & wrong).sum() / (plain.sum() + wrong.sum())
    ranked = unconfuse.find_label_issues(labels, p, return_indices_ranked_by="self_confidence")
    assert sorted(ranked) == np.flatnonzero(found).tolist()
    assert (np.diff(p[ranked, labels[ranked]]) >= 0).all()
    np.testing.assert_array_equal(unconfuse.find_label_issues(labels, p, filter_by="predicted_neq_given"), plain)
    np.testing.assert_array_equal(unconfuse.find_label_issues(labels, p, filter_by="posterior", n_jobs=1, verbose=True), found)
    adjusted = unconfuse.find_label_issues(labels, p, return_indices_ranked_by="self_confidence",
                                           rank_by_kwargs={"adjust_pred_probs": True})
    assert sorted(adjusted) == sorted(ranked) and adjusted.tolist() != ranked.tolist()
    with pytest.raises(ValueError, match="multi_label=True: an example must have one label"):
        unconfuse.find_label_issues([[0], [1, 2]], p[:2], multi_label=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'bogus'"):
        unconfuse.find_label_issues(labels, p, bogus=1)


# Six rows of three classes, t = .825, .275, .425: rows 0, 3 and 5 belong to their labels, row 1 to none, row 2 to class 2 and row 4 to
# class 1.
SIX = np.array([[0.9, 0.025, 0.075], [0.75, 0.15, 0.1], [0.1, 0.05, 0.85], [0.3, 0.5, 0.2], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]])
SIX_LABELS = [0, 0, 1, 1, 2, 2]
FILTERS = ("prune_by_noise_rate", "prune_by_class", "both", "confident_learning", "predicted_neq_given")


@pytest.mark.parametrize("filter_by", FILTERS)
def test_filters_by_hand(filter_by):
    found = unconfuse.find_label_issues(SIX_LABELS, SIX, filter_by=filter_by)
    assert np.flatnonzero(found).tolist() == [2, 4]
    ranked = unconfuse.find_label_issues(SIX_LABELS, SIX, filter_by=filter_by, return_indices_ranked_by="normalized_margin")
    assert ranked.tolist() == [4, 2]


def test_the_confident_joint_is_what_it_says():
    labels, p, _ = make_probabilities(n=300)
    least = [np.mean([p[i, k] for i in range(300) if labels[i] == k]) for k in range(4)]
    joint = np.zeros((4, 4))
    for i in range(300):
        classes = [j for j in range(4) if p[i, j] >= least[j]]
        if classes:
            joint[labels[i], max(classes, key=lambda j: p[i, j])] += 1
    expected = [round(sum(joint[k]) - joint[k, k]) * (labels == k).sum() / sum(joint[k]) for k in range(4)]
    flagged = unconfuse.find_label_issues(labels, p, filter_by="prune_by_class", confident_joint=joint)
    own = unconfuse.find_label_issues(labels, p, filter_by="prune_by_class")
    np.testing.assert_array_equal(flagged, own)
    for k in range(4):
        rows = np.flatnonzero(labels == k)
        worst = rows[np.argsort(p[rows, k])[:round(expected[k])]]
        assert set(np.flatnonzero(own & (labels == k))) == {i for i in worst if p[i].argmax() != k}
    learning = unconfuse.find_label_issues(labels, p, filter_by="confident_learning")
    assert learning.sum() == joint.sum() - np.trace(joint)


def test_filters_find_wrong_labels():
    labels, p, wrong = make_probabilities()
    found = {name: unconfuse.find_label_issues(labels, p, filter_by=name)
             for name in (*FILTERS, "posterior", "low_self_confidence", "low_normalized_margin")}
    for name, issues in found.items():
        assert 2 * (issues & wrong).sum() / (issues.sum() + wrong.sum()) > 0.8, name
    assert (found["both"] == (found["prune_by_class"] & found["prune_by_noise_rate"])).all()
    for name in ("low_self_confidence", "low_normalized_margin"):
        scores = unconfuse.get_label_quality_scores(labels, p, method=name[len("low_"):])
        assert found[name].sum() == found["posterior"].sum()
        assert scores[found[name]].max() <= scores[~found[name]].min()


@pytest.mark.parametrize("filter_by", ("posterior", "prune_by_class", "prune_by_noise_rate"))
def test_fewer_issues_on_request(filter_by):
    labels, p, _ = make_probabilities()
    all_of = unconfuse.find_label_issues(labels, p, filter_by=filter_by)
    half = unconfuse.find_label_issues(labels, p, filter_by=filter_by, frac_noise=0.5)
    assert (half <= all_of).all() and abs(half.sum() - all_of.sum() / 2) <= 9
    wanted = [5, 0, 1, 60]
    given = unconfuse.find_label_issues(labels, p, filter_by=filter_by, num_to_remove_per_class=wanted)
    assert np.bincount(labels[given], minlength=4).tolist() == wanted
    kept = unconfuse.find_label_issues(labels, p, filter_by=filter_by, min_examples_per_class=480)
    assert (kept <= all_of).all() and kept.sum() < all_of.sum()
    left = np.bincount(labels[~kept], minlength=4)
    assert (left >= np.minimum(480, np.bincount(labels, minlength=4))).all()


@pytest.mark.parametrize(("arguments", "match"), (
    ({"frac_noise": 0}, "frac_noise=0: it must be above 0"),
    ({"num_to_remove_per_class": [1, 2]}, "a number from 0 for each of the 4 columns"),
    ({"num_to_remove_per_class": [1, 2, 3, 4], "filter_by": "low_self_confidence"}, "does not go with filter_by='low_self_confidence'"),
    ({"confident_joint": np.eye(4)}, "confident_joint does not go with filter_by='posterior'"),
    ({"confident_joint": np.eye(3), "filter_by": "both"}, "must be 4 x 4 counts"),
    ({"confident_joint": -np.eye(4), "filter_by": "both"}, "must be 4 x 4 counts")))
def test_bad_limits(arguments, match):
    labels, p, _ = make_probabilities(n=20)
    with pytest.raises(ValueError, match=match):
        unconfuse.find_label_issues(labels, p, **arguments)


def test_scores_have_their_meaning():
    labels, p, wrong = make_probabilities()
    own = p[np.arange(len(labels)), labels]
    np.testing.assert_array_equal(unconfuse.get_label_quality_scores(labels, p), own)
    for method in ("self_confidence", "normalized_margin", "confidence_weighted_entropy", "posterior"):
        scores = unconfuse.get_label_quality_scores(labels, p, method=method)
        assert scores.min() >= 0.0 and scores.max() <= 1.0
        assert scores[wrong].mean() < scores[~wrong].mean()
    margin = unconfuse.get_label_quality_scores([0], [[0.6, 0.3, 0.1]], method="normalized_margin")
    assert margin == pytest.approx([0.65])


def test_bad_labels_and_probabilities():
    labels, p, _ = make_probabilities(n=10)
    for bad, match in (((labels[:5], p), "one entry for each of the 10 rows"), ((labels + 10, p), "from 0 to 3"),
                       ((labels.astype(str), p), "must be integers"), ((labels, p[:, 0]), "a column per class"),
                       ((labels, np.full((10, 4), 0.5)), "probabilities sum to 2"),
                       ((labels, p * [1, 1, 1, np.nan]), r"pred_probs\[0, 3\] is nan, which is not a probability"),
                       ((labels, p - np.eye(10, 4, -3)), r"pred_probs\[3, 0\] is -.*, which is not a probability")):
        with pytest.raises(ValueError, match=match):
            unconfuse.find_label_issues(*bad)
        if match != "probabilities sum to 2":
            with pytest.raises(ValueError, match=match):
                unconfuse.get_label_quality_scores(*bad)
    with pytest.raises(ValueError, match="return_indices_ranked_by='x': it must be one of self_confidence"):
        unconfuse.find_label_issues(labels, p, return_indices_ranked_by="x")
    with pytest.raises(ValueError, match="method='x'"):
        unconfuse.get_label_quality_scores(labels, p, method="x")
    with pytest.raises(ValueError, match="filter_by='x'"):
        unconfuse.find_label_issues(labels, p, filter_by="x")
