"""What the service does around proposals, in Python: classes that come later, baselines, feedback that is given up."""
import json
import math
import pickle

import numpy as np
import pytest
from conftest import ONLINE, RIGHT_WRONG, blobs
from sklearn.exceptions import NotFittedError

import unconfuse


@pytest.mark.parametrize("cls", ONLINE)
def test_classes_that_come_later(cls):
    """Two classes, then all: the learner goes on, and predicts the new ones."""
    X, y = blobs()
    known = y < 2
    learner = cls().partial_fit(X[known], y[known], classes=[0, 1])
    assert learner.add_classes([3, 2, 1]) is learner
    assert learner.classes_.tolist() == [0, 1, 2, 3]
    assert learner.add_classes([0]).classes_.tolist() == [0, 1, 2, 3]
    assert learner.coef_.shape[0] == 4
    for _ in range(3):
        learner.partial_fit(X, y)
    assert set(learner.predict(X)) == {0, 1, 2, 3} and learner.score(X, y) > 0.7
    again = pickle.loads(pickle.dumps(learner))
    assert (again.predict(X) == learner.predict(X)).all() and again.classes_.tolist() == [0, 1, 2, 3]


def test_classes_that_come_later_have_the_proposals_of_before():
    X, y = blobs()
    names = np.array(["d", "b", "a", "c"])[y]
    learner = unconfuse.CSPAPlusClassifier()
    proposed = learner.propose(X[:20], classes=["b", "d"])
    learner.add_classes(["a", "c"])
    learner.learn_feedback(X[:20], proposed, proposed == names[:20])
    assert learner.classes_.tolist() == ["a", "b", "c", "d"]
    for row, name in zip(X[20:], names[20:]):
        one = learner.propose([row])
        learner.learn_feedback([row], one, one == [name])
    assert (learner.predict(X) == names).mean() > 0.7
    with pytest.raises(ValueError, match="mixes strings"):
        learner.add_classes([1])
    with pytest.raises(ValueError, match="NaN"):
        learner.add_classes([None])
    with pytest.raises(NotFittedError):
        unconfuse.CSPAPlusClassifier().add_classes(["a"])


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_baseline_is_judged(program, tmp_path, scale):
    """As unconfuse stream --baseline has it, byte for byte."""
    X, y = blobs()
    base = unconfuse.SPAClassifier().fit(X[:30], y[:30])
    unconfuse.save(base, tmp_path / "base.uc")
    learner = unconfuse.CSPAPlusClassifier(scale=scale)
    for row, label in zip(X, y):
        said = base.predict([row])
        proposed = learner.propose([row], classes=range(4), baseline=said)
        assert (proposed == said).all() and proposed.details["probability"][0] == 1
        learner.learn_feedback([row], proposed, proposed == [label])
    agreement = learner.agreement_
    assert math.isnan(unconfuse.CSPAPlusClassifier().partial_fit(X, y, classes=range(4)).agreement_)
    assert 0.5 < agreement < 1
    assert pickle.loads(pickle.dumps(learner)).agreement_ == agreement
    with pytest.raises(ValueError, match="baseline has the label 9"):
        learner.propose(X[:1], baseline=[9])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        learner.propose(X[:2], baseline=[1])
    if scale == "none":
        rows = "".join(f"{label} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(map(float, row))) + "\n"
                       for row, label in zip(X, y))
        (tmp_path / "data.svm").write_text(rows)
        result = json.loads(program("stream", "cspa-plus", str(tmp_path / "data.svm"), "--baseline", str(tmp_path / "base.uc"),
                                    "--classes", "0,1,2,3", "--json", "-q"))
        assert result["agreement"] == pytest.approx(agreement)


@pytest.mark.parametrize("cls", RIGHT_WRONG)
def test_events_that_are_answered_in_any_order(cls):
    """The same as by hand, and the counts."""
    X, y = blobs()
    events, hand = unconfuse.Events(cls()), cls()
    order = np.random.default_rng(3).permutation(50)
    proposed = events.propose(X[:50], range(50), classes=range(4))
    mine = hand.propose(X[:50], classes=range(4))
    assert (proposed == mine).all() and events.waiting == 50
    for i in order:
        events.feedback([i], [bool(proposed[i] == y[i])])
        hand.learn_feedback(X[i:i + 1], mine[i:i + 1], mine[i:i + 1] == y[i:i + 1])
    assert pickle.dumps(events.learner._learned) == pickle.dumps(hand._learned)
    assert (events.waiting, events.answered, events.right) == (0, 50, int((proposed == y[:50]).sum()))
    assert events.drift.rounds == 50 and events.expire() == []


@pytest.mark.parametrize("expired", ["ignore", "wrong"])
def test_events_expire_by_rounds_and_by_time(expired):
    X, y = blobs()
    now = [0.0]
    events = unconfuse.Events(unconfuse.CSPAClassifier(), wait_rounds=3, wait=10, expired=expired, clock=lambda: now[0])
    for i in range(3):
        events.propose(X[i:i + 1], [f"e{i}"], classes=range(4))
    events.feedback(["e0"], [False])
    events.propose(X[3:4], ["e3"])
    with pytest.raises(ValueError, match="an event that waits"):
        events.propose(X[3:4], ["e3"])
    events.propose(X[4:5], ["e4"])
    assert events.expire() == ["e1"] and events.waiting == 3
    rounds = events.learner.rounds_
    assert rounds == (1 if expired == "ignore" else 2)
    with pytest.raises(KeyError):
        events.feedback(["e1"], [True])
    now[0] = 10.5
    assert events.expire() == ["e2", "e3", "e4"]
    assert (events.expired, events.waiting, events.answered) == (4, 0, 1)
    assert events.learner.rounds_ == (1 if expired == "ignore" else 5)


def test_answers_that_make_no_sense_teach_nothing():
    X, _ = blobs()
    events = unconfuse.Events(unconfuse.CSPAClassifier())
    events.propose(X[:3], "abc", classes=range(4))
    for ids, correct, sentence in ((["a"], [1], "True and False"), (["a", "a"], [True, True], "answered twice"),
                                   (["a", "b"], [True], "inconsistent numbers")):
        with pytest.raises(ValueError, match=sentence):
            events.feedback(ids, correct)
    with pytest.raises(KeyError):
        events.feedback(["a", "d"], [True, True])
    assert (events.waiting, events.answered, events.learner.rounds_) == (3, 0, 0)


@pytest.mark.parametrize("options, sentence", [({"wait": 0}, "wait=0"), ({"wait_rounds": -1}, "wait_rounds=-1"),
                                               ({"expired": "right"}, "expired='right'")])
def test_settings_that_make_no_sense(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        unconfuse.Events(unconfuse.CSPAClassifier(), **options)
