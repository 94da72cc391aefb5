"""stream with the rules of the service: a baseline that is judged, feedback that is given up, classes that come later."""
import pytest

from conftest import blobs


@pytest.fixture
def data(unconfuse):
    lines = blobs(["a", "b", "c"], 900).splitlines(keepends=True)
    unconfuse.write("data.svm", "".join(lines))
    unconfuse.write("few.svm", "".join(lines[:60]))
    return "data.svm"


@pytest.mark.parametrize("learner", ["cspa-plus", "onebit", "spa", "cspa"])
def test_an_apprentice_proposes_what_the_baseline_does(unconfuse, data, learner):
    """As many proposals are right as the model's predictions, whoever learns; who has learned agrees with it."""
    unconfuse.ok("train", "spa", "few.svm", "-o", "base.uc", "-q")
    right = 1 - unconfuse.json("evaluate", "base.uc", data)["error"]
    result = unconfuse.json("stream", learner, data, "-q", "--baseline", "base.uc", "-o", "learned.uc")
    assert result["ratio_correct"] == pytest.approx(right)
    assert 0.6 < result["agreement"] < 1
    assert "baselines" in unconfuse.ok("stream", learner, data, "--baseline", "base.uc").out
    assert 1 - unconfuse.json("evaluate", "learned.uc", data)["error"] > 0.75
    assert unconfuse.json("stream", learner, data, "-q")["agreement"] is None


def test_a_baseline_that_is_none(unconfuse, data):
    assert "cannot read" in unconfuse.fails(1, "stream", "cspa", data, "--baseline", "nothing.uc")
    unconfuse.write("table.csv", "colour,size,label\n" + "red,1,a\nblue,2,b\ngreen,3,a\nred,4,b\n" * 5)
    unconfuse.ok("train", "spa", "table.csv", "--label", "label", "-o", "table.uc", "-q")
    assert "a baseline needs rows of numbers" in unconfuse.fails(1, "stream", "cspa", data, "--baseline", "table.uc")


def test_feedback_is_given_up(unconfuse, data):
    plain = unconfuse.json("stream", "cspa-plus", data, "-q", "--missing", "0.5", "-o", "plain.uc")
    ignored = unconfuse.json("stream", "cspa-plus", data, "-q", "--missing", "0.5", "--expire", "10", "-o", "ignored.uc")
    wrong = unconfuse.json("stream", "cspa-plus", data, "-q", "--missing", "0.5", "--expire", "10", "--expired", "wrong",
                           "-o", "wrong.uc")
    assert plain["expired"] == 0 and ignored["expired"] == wrong["expired"] and 400 < wrong["expired"] < 500
    assert unconfuse.read("plain.uc") == unconfuse.read("ignored.uc") != unconfuse.read("wrong.uc")
    late = unconfuse.json("stream", "cspa-plus", data, "-q", "--delay", "11", "--expire", "10")
    assert late["expired"] == 900
    assert unconfuse.json("stream", "cspa-plus", data, "-q", "--delay", "10", "--expire", "10")["expired"] == 0
    assert "--expired wrong is for right/wrong feedback" in unconfuse.fails(2, "stream", "spa", data, "--expire", "9",
                                                                              "--expired", "wrong")
    assert "--expired needs --expire N" in unconfuse.fails(2, "stream", "cspa", data, "--expired", "wrong")


@pytest.mark.parametrize("learner", ["cspa-plus", "onebit", "spa"])
def test_classes_come_with_their_labels(unconfuse, data, learner):
    known = unconfuse.json("stream", learner, data, "-q")["ratio_correct"]
    if learner != "spa":
        assert unconfuse.json("stream", learner, data, "-q", "--classes", "a,b")["unknown_labels"] == 302
    grown = unconfuse.json("stream", learner, data, "-q", "--classes", "a,b", "--grow-classes", "-o", "grown.uc")
    assert grown["unknown_labels"] == 0 and grown["ratio_correct"] > known - 0.03
    assert [entry["class"] for entry in grown["per_class"]] == ["a", "b", "c"]
    unconfuse.ok("stream", learner, data, "-q", "--resume", "grown.uc")
