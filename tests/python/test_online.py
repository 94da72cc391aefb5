"""One example after the other: labels, or nothing but right or wrong."""
import copy
import json
import pickle
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import ONLINE, RIGHT_WRONG, blobs
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import unconfuse


@pytest.mark.parametrize("cls", ONLINE)
def test_rows_one_by_one_are_rows_at_once(cls):
    X, y = blobs()
    at_once = cls().partial_fit(X, y, classes=range(4))
    one_by_one = cls()
    for i in range(len(X)):
        one_by_one.partial_fit(X[i:i + 1].astype(float), [y[i]], classes=range(4))
    assert pickle.dumps(one_by_one._learned) == pickle.dumps(at_once._learned)
    assert one_by_one.rounds_ == 300
    assert (one_by_one.predict(X) == at_once.predict(X)).all()


@pytest.mark.parametrize("cls", ONLINE)
def test_a_copy_goes_on_where_the_other_stopped(cls):
    X, y = blobs()
    first = cls().partial_fit(X[:150], y[:150], classes=range(4))
    before = first.decision_function(X)
    second = pickle.loads(pickle.dumps(first))
    other = (y[150:] + 1) % 4  # classes in other places: everyone has something to learn
    assert (first.partial_fit(X[150:], other).coef_ == second.partial_fit(X[150:], other).coef_).all()
    assert (first.decision_function(X) != before).any()


# fit knows beforehand how frequent the classes are, a stream does not, and copa's cost depends on it.
@pytest.mark.parametrize("cls", [cls for cls in ONLINE if cls is not unconfuse.COPAClassifier])
def test_partial_fit_goes_on_after_fit(cls):
    """As if all had been one stream: a pass in order, then the rest."""
    X, y = blobs()
    model = cls(passes=1, shuffle=False).fit(X[:150], y[:150])
    whole = cls().partial_fit(X, y, classes=range(4))
    np.testing.assert_array_equal(model.partial_fit(X[150:], y[150:]).coef_, whole.coef_)
    kept = pickle.loads(pickle.dumps(cls().fit(X, y)))
    assert kept.partial_fit(X, y).rounds_ == 6 * 300
    assert kept.fit(X, y).predict(X).shape == (300,)  # and fit begins anew
    with pytest.raises(AttributeError):
        kept.rounds_


def test_a_model_of_the_command_line_has_nothing_to_go_on_from(program, tmp_path):
    X, y = blobs()
    unconfuse.save(unconfuse.SPAClassifier().fit(X, y), tmp_path / "model.uc")
    with pytest.raises(ValueError, match="holds no learner's state to go on from"):
        unconfuse.load(tmp_path / "model.uc").partial_fit(X, y)


@pytest.mark.parametrize("cls", RIGHT_WRONG)
def test_feedback_one_by_one_is_a_replay(cls):
    X, y = blobs()
    replay = cls().replay(X, y)
    learner = cls()
    for i in range(len(X)):
        proposed = learner.propose(X[i:i + 1], classes=range(4))
        assert proposed[0] == replay.proposed[i]
        learner.learn_feedback(X[i:i + 1], proposed, proposed == y[i:i + 1])
    assert learner.rounds_ == 300


@pytest.mark.parametrize("cls", RIGHT_WRONG)
def test_feedback_goes_on_after_fit(cls):
    X, y = blobs()
    learner = cls().fit(X, y)
    learner.learn_feedback(X[:2], learner.propose(X[:2]), [True, True])
    assert learner.rounds_ == 5 * 300 + 2


@pytest.mark.parametrize("cls", RIGHT_WRONG)
def test_late_feedback_in_any_order(cls):
    X, y = blobs()
    y = np.array(["a", "b", "c", "d"])[y]
    learner = cls()
    proposed = learner.propose(X[:50], classes=["a", "b", "c", "d"])
    assert set(proposed) <= {"a", "b", "c", "d"}
    order = np.random.RandomState(0).permutation(50)[:40]  # ten answers never come
    picked = proposed[order]
    assert (picked.details["label"] == proposed.details["label"][order]).all()
    learner.learn_feedback(X[order], picked, np.asarray(picked) == y[order])
    assert learner.rounds_ == 40
    later = pickle.loads(pickle.dumps(proposed[order[:3]]))
    learner.learn_feedback(X[order[:3]], later, later == y[order[:3]])
    assert learner.rounds_ == 43


@pytest.mark.parametrize("cls", RIGHT_WRONG)
def test_labels_that_were_proposed_elsewhere(cls):
    """A learner that explores must know how each was drawn."""
    X, _ = blobs()
    learner = cls()
    proposed = learner.propose(X[:9], classes=range(4))
    right = np.zeros(9, bool)
    stale = proposed.copy()
    stale[0] = (stale[0] + 1) % 4
    for labels in (np.asarray(proposed), proposed.tolist(), proposed + 0, stale):
        if hasattr(learner, "explore"):
            with pytest.raises(ValueError, match="must know with what probability each label was drawn"):
                learner.learn_feedback(X[:9], labels, right)
        else:
            learner.learn_feedback(X[:9], labels, right)
    assert learner.rounds_ == (0 if hasattr(learner, "explore") else 36)


def test_proposals_keep_how_they_were_drawn():
    X, _ = blobs()
    learner = unconfuse.BanditronClassifier(explore=0.9)
    proposed = learner.propose(X[:40], classes=range(4))
    details, order = proposed.details, np.random.RandomState(0).permutation(40)
    assert len(set(details["probability"])) == 2
    for labels, expected in [(proposed.copy(), details), (copy.copy(proposed), details), (copy.deepcopy(proposed), details),
                             (proposed.take(order), details[order]), (np.take(proposed, order), details[order]),
                             (proposed[order], details[order]), (proposed.reshape(8, 5).ravel(), details),
                             (np.reshape(proposed, (8, 5)).flatten(), details),
                             (np.concatenate([proposed[7:], proposed[:7]]), np.roll(details, -7)),
                             (np.hstack([proposed[7:], proposed[:7]]), np.roll(details, -7)),
                             (pickle.loads(pickle.dumps(proposed)), details)]:
        assert (labels.details == expected).all()
    assert getattr(np.concatenate([proposed, [1]]), "details", None) is None
    assert (proposed == 1).details is None
    with pytest.raises(ValueError, match="must know with what probability"):
        learner.learn_feedback(X[:40], np.sort(proposed), proposed == 1)


@pytest.mark.parametrize("cls", RIGHT_WRONG)
def test_proposals_that_were_joined_are_learned_from_as_one_by_one(cls):
    X, y = blobs()
    joined, apart = cls(), cls()
    for learner in (joined, apart):
        proposed = [learner.propose(X[i:i + 1], classes=range(4)) for i in range(30)]
        if learner is joined:
            learner.learn_feedback(X[:30], np.concatenate(proposed), np.concatenate(proposed) == y[:30])
        for i in range(30 if learner is apart else 0):
            learner.learn_feedback(X[i:i + 1], proposed[i], proposed[i] == y[i:i + 1])
    assert joined.rounds_ == 30
    np.testing.assert_array_equal(joined.decision_function(X), apart.decision_function(X))


def test_feedback_that_makes_no_sense_is_refused():
    X, y = blobs()
    learner = unconfuse.CSPAClassifier()
    with pytest.raises(ValueError, match="needs all classes"):
        learner.propose(X)
    proposed = learner.propose(X[:3], classes=range(4))
    with pytest.raises(ValueError, match="correct must hold True and False"):
        learner.learn_feedback(X[:3], proposed, [1, 0, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        learner.learn_feedback(X[:3], proposed, [True])
    with pytest.raises(ValueError, match="not among the classes"):
        learner.learn_feedback(X[:1], [9], [True])
    with pytest.raises(ValueError, match="features"):
        learner.propose(X[:, :3])
    bad = X[:3].copy()
    bad[1, 1] = np.nan
    with pytest.raises(ValueError, match="row 2 holds NaN or infinity"):
        learner.propose(bad)
    with pytest.raises(ValueError, match="only one class"):
        unconfuse.CSPAClassifier().propose(X, classes=["one"])
    assert learner.rounds_ == 0


def test_the_curve_of_a_replay():
    X, y = blobs()
    replay = unconfuse.CSPAPlusClassifier().replay(X, y)
    assert replay.rounds.tolist() == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert (replay.correct == (replay.proposed == y)).all()
    for i, end in enumerate(replay.rounds):
        assert replay.ratio_correct[i] == replay.correct[:end].mean()
        begin = replay.rounds[i - 1] if i else 0
        np.testing.assert_allclose(replay.recent_ratio[i], replay.correct[begin:end].mean())


def test_the_curve_is_that_of_the_command_line(program, tmp_path):

    X, y = blobs()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    result = json.loads(program("stream", "banditron", "X.npy", "--labels", "y.npy", "--json"))
    replay = unconfuse.BanditronClassifier().replay(X, y)
    assert replay.rounds.tolist() == [point["round"] for point in result["curve"]]
    np.testing.assert_allclose(replay.ratio_correct, [point["ratio_correct"] for point in result["curve"]])
    np.testing.assert_allclose(replay.recent_ratio, [point["recent_ratio"] for point in result["curve"]])


def test_what_needs_all_rows_is_refused_in_a_stream():
    X, y = blobs()
    for parameters, sentence in ((dict(map="kgs"), "learned from a whole data set"),
                                 (dict(map="landmarks"), "width of the kernel cannot be found")):
        with pytest.raises(ValueError, match=sentence):
            unconfuse.SPAClassifier(**parameters).partial_fit(X, y, classes=range(4))
    unconfuse.SPAClassifier(map="landmarks", width=100.0, dimension=30).partial_fit(X, y, classes=range(4)).predict(X)
    with pytest.raises(ValueError, match="first call needs all classes"):
        unconfuse.SPAClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="label 4, which is not among the classes"):
        unconfuse.SPAClassifier().partial_fit(X, y, classes=range(4)).partial_fit(X, y + 1)


@pytest.mark.parametrize("scale", ["standard", "range", "maxabs"])
def test_scaling_is_learned_as_rows_come(program, tmp_path, scale):
    """As `unconfuse stream` learns it from standard input, in pieces, pickled half-way, and from propose."""
    X, y = blobs()
    X = (X * [1, 1000, *[0.01] * (X.shape[1] - 2)] + 7).astype(np.float32)
    text = "".join(f"{label} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row)) + "\n" for row, label in zip(X, y))
    (tmp_path / "rows.svm").write_text(text)
    result = json.loads(program("stream", "cspa-plus", "-", "--classes", "0,1,2,3", "--scale", scale, "-o", "m.uc", "--json",
                                stdin=text))
    whole = unconfuse.CSPAPlusClassifier(scale=scale).partial_fit(X, y, classes=range(4))
    parts = unconfuse.CSPAPlusClassifier(scale=scale).partial_fit(X[:31], y[:31], classes=range(4))
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(X[31:], y[31:])
    asked, right = unconfuse.CSPAPlusClassifier(scale=scale), 0
    for row, label in zip(X, y):
        proposed = asked.propose(row[None], classes=range(4))
        right += int(proposed[0] == label)
        asked.learn_feedback(row[None], proposed, proposed == label)
    assert right == result["correct"]
    stored = unconfuse.load(tmp_path / "m.uc").decision_function(X)
    for model in (whole, parts, asked):
        np.testing.assert_array_equal(model.decision_function(X), stored)


@pytest.mark.parametrize("options", [["--scale", "standard"], ["--scale", "maxabs"], ["--map", "landmarks", "--dimension", "40", "--width", "9"],
                                     ["--scale", "range", "--map", "landmarks", "--dimension", "40", "--width", "2"]])
@pytest.mark.parametrize("sparse", [False, True])
def test_late_feedback_meets_rows_as_they_were_proposed_for(program, tmp_path, options, sparse):
    """As `unconfuse stream --delay` has them, whatever scaling and landmarks have become by then."""
    X, y = blobs()
    X = (X * np.linspace(0.1, 10, len(X))[:, None]).astype(np.float32)  # the scale goes on growing
    if sparse and options[1] in ("standard", "range"):
        pytest.skip("sparse rows have no such scaling")
    if sparse:
        X[np.abs(X) < 1] = 0
    text = "".join(f"{label} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v != 0 or not sparse) + "\n"
                   for row, label in zip(X, y))
    program("stream", "cspa-plus", "-", "--classes", "0,1,2,3", *options, "--delay", "10", "-o", "m.uc", stdin=text)
    parameters = {name[2:]: value if name in ("--scale", "--map") else int(value) for name, value in zip(options[::2], options[1::2])}
    learner, waiting = unconfuse.CSPAPlusClassifier(**parameters), []
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    for i in range(len(X)):
        waiting.append(learner.propose(rows[i:i + 1], classes=range(4)))
        if i >= 10:
            learner.learn_feedback(rows[i - 10:i - 9], waiting[i - 10], waiting[i - 10] == y[i - 10:i - 9])
    last = pickle.loads(pickle.dumps(np.concatenate(waiting[-10:])))
    learner.learn_feedback(rows[-10:], last, np.asarray(last) == y[-10:])
    np.testing.assert_array_equal(learner.decision_function(rows), unconfuse.load(tmp_path / "m.uc").decision_function(rows))


def test_sparse_rows_of_a_stream():
    X, y = blobs(columns=30)
    X[np.abs(X) < 9] = 0
    sparse = scipy.sparse.csr_matrix(X)
    for name in ("SPAClassifier", "CSPAClassifier", "ConfiditClassifier"):
        cls = getattr(unconfuse, name)
        dense = cls().partial_fit(X, y, classes=range(4))
        for rows in (sparse, sparse.astype(float)):
            other = cls().partial_fit(rows[:100], y[:100], classes=range(4)).partial_fit(rows[100:], y[100:])
            np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
        with pytest.raises(ValueError, match="NaN"):
            broken = sparse.copy()
            broken.data[5] = np.nan
            other.partial_fit(broken, y)


def test_class_weights_survive_a_pickle():
    X, y = blobs(spread=8)
    model = unconfuse.PerceptronClassifier(class_weight={0: 10.0}).partial_fit(X[:100], y[:100], classes=range(4))
    other = pickle.loads(pickle.dumps(model))
    assert (model.partial_fit(X[100:], y[100:]).coef_ == other.partial_fit(X[100:], y[100:]).coef_).all()
    plain = clone(model).set_params(class_weight=None).partial_fit(X, y, classes=range(4))
    assert (plain.coef_ != model.coef_).any()


@pytest.mark.parametrize("rows, labels, classes", [
    (slice(300), ["a"] * 300, range(4)),
    (slice(300), [9] * 300, range(4)),
    (slice(299), None, range(4)),
    (slice(300), None, [0, 1, np.nan]),
    (slice(300), None, ["a", "b"]),
    (slice(300), [None] * 300, range(4)),
])
def test_a_first_call_that_fails_leaves_nothing(rows, labels, classes):
    X, y = blobs()
    learner = unconfuse.CSPAClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError):
            learner.partial_fit(X[rows], y if labels is None else labels, classes=classes)
    with pytest.raises(NotFittedError):
        learner.predict(X)
    with pytest.raises(ValueError):
        learner.propose(np.full((2, 8), np.nan), classes=range(4))
    assert not [name for name in vars(learner) if name.endswith("_")]
    learner.partial_fit(X[:, :5], y, classes=range(4))
    assert learner.n_features_in_ == 5


def test_two_threads_begin_one_learner():
    X, y = blobs()
    for _ in range(20):
        learner, ready = unconfuse.SPAClassifier(), threading.Barrier(2)

        def learn():
            ready.wait()
            learner.partial_fit(X, y, classes=range(4))

        threads = [threading.Thread(target=learn) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert learner.rounds_ == 600


def test_classes_that_differ_later_are_refused():
    X, y = blobs()
    for learner in (unconfuse.CSPAClassifier().partial_fit(X, y, classes=range(4)), unconfuse.CSPAClassifier().fit(X, y)):
        learner.partial_fit(X, y, classes=[3, 1, 2, 0]).partial_fit(X, y, classes=np.arange(4.0))
        for other in (range(5), range(3), ["0", "1", "2", "3"]):
            with pytest.raises(ValueError, match=r"are not those of the calls before, \[0, 1, 2, 3\]"):
                learner.partial_fit(X, y, classes=other)
            with pytest.raises(ValueError, match="are not those of the calls before"):
                learner.propose(X, classes=other)


def test_drift_is_that_of_the_command_line(program, tmp_path):
    X, y = blobs(rows=2000)
    y[1000:] = (y[1000:] + 1) % 4
    (tmp_path / "rows.svm").write_text("".join(f"{label} " + " ".join(f"{j + 1}:{float(np.float32(v))!r}" for j, v in enumerate(row)) + "\n"
                                               for row, label in zip(X, y)))
    told = json.loads(program("stream", "confidit", "rows.svm", "--json"))["drift"]
    replay = unconfuse.ConfiditClassifier().replay(X, y)
    assert [fall._asdict() for fall in replay.drift] == told
    assert len(told) >= 1 and 1000 < told[0]["round"] < 1200
    assert unconfuse.ConfiditClassifier().replay(X[:1000], y[:1000]).drift == []


def test_drift_goes_on_after_pickle():
    whole, parts = unconfuse.Drift(), unconfuse.Drift()
    bits = np.random.RandomState(0).uniform(size=3000) < np.repeat([0.9, 0.6, 0.3], 1000)
    found = [(whole.add(bit), whole.last) for bit in bits]
    for i, bit in enumerate(bits):
        if i % 500 == 0:
            parts = copy.copy(pickle.loads(pickle.dumps(parts)))
        assert (parts.add(bit), parts.last) == found[i]
    assert parts.rounds == 3000 and parts.alarms == whole.alarms == 2
    assert [i // 1000 for i, (fell, _) in enumerate(found) if fell] == [1, 2]


@pytest.mark.parametrize("scale", ["none", "maxabs"])
def test_an_exploration_floor_is_that_of_the_command_line(program, tmp_path, scale):
    X, y = blobs()
    text = "".join(f"{label} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row)) + "\n" for row, label in zip(X, y))
    told = json.loads(program("stream", "cspa-plus", "-", "--classes", "0,1,2,3", "--scale", scale, "--explore-floor", "0.4", "-o", "m.uc",
                              "--json", stdin=text))
    learner, right, drawn = unconfuse.CSPAPlusClassifier(scale=scale), 0, set()
    for row, label in zip(X, y):
        proposed = learner.propose(row[None], classes=range(4), explore=0.4)
        right += int(proposed[0] == label)
        drawn.add(round(float(proposed.details["probability"][0]), 12))
        learner.learn_feedback(row[None], proposed, proposed == label)
    assert right == told["correct"] and drawn == {0.1, 0.7}
    np.testing.assert_array_equal(learner.decision_function(X), unconfuse.load(tmp_path / "m.uc").decision_function(X))
    with pytest.raises(ValueError, match="explore=2 is not from 0 to 1"):
        learner.propose(X[:1], explore=2)


def test_classes_in_the_order_in_which_they_came(program, tmp_path):
    """A stream from standard input adds classes as it meets them, and the model has them so."""
    X, y = blobs()
    y = np.array(["d", "b", "a", "c"])[y]
    text = "".join(f"{label} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row)) + "\n" for row, label in zip(X, y))
    (tmp_path / "rows.svm").write_text(text)
    program("stream", "spa", "-", "-o", "m.uc", stdin=text)
    assert json.loads(program("inspect", "m.uc", "--json"))["classes"] != ["a", "b", "c", "d"]
    model = unconfuse.load(tmp_path / "m.uc")
    for one in (model, pickle.loads(pickle.dumps(model))):
        assert one.classes_.tolist() == ["a", "b", "c", "d"]
        assert one.predict(X).tolist() == program("predict", "m.uc", "rows.svm").split()
        assert (one.classes_[one.decision_function(X).argmax(axis=1)] == one.predict(X)).all()
    before = model.score(X, y)
    assert model.partial_fit(X, y).score(X, y) >= before - 0.05
