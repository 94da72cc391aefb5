"""stream --explore-floor: classes drawn evenly, whatever the learner would propose."""
import pytest

from conftest import blobs


@pytest.mark.parametrize("learner", ["spa", "cspa-plus", "onebit", "banditron"])
def test_an_exploration_floor_for_any_learner(unconfuse, learner):
    text = blobs(["a", "b", "c"], 900)
    lines = text.splitlines(keepends=True)
    for name, part in [("whole.svm", lines), ("first.svm", lines[:400]), ("second.svm", lines[400:])]:
        unconfuse.write(name, "".join(part))
    plain = unconfuse.json("stream", learner, "whole.svm", "-q")["ratio_correct"]
    assert unconfuse.json("stream", learner, "whole.svm", "-q", "--explore-floor", "0")["ratio_correct"] == plain
    some = unconfuse.json("stream", learner, "whole.svm", "-q", "--explore-floor", "0.5", "-o", "whole.uc")["ratio_correct"]
    every = unconfuse.json("stream", learner, "whole.svm", "-q", "--explore-floor", "1")["ratio_correct"]
    assert every == pytest.approx(1 / 3, abs=0.08) and every < some < plain
    unconfuse.ok("stream", learner, "first.svm", "--classes", "a,b,c", "-q", "--explore-floor", "0.5", "-o", "part.uc")
    unconfuse.ok("stream", learner, "second.svm", "--resume", "part.uc", "-q", "--explore-floor", "0.5", "-o", "part.uc")
    assert unconfuse.ok("predict", "part.uc", "whole.svm", "--scores").out == unconfuse.ok("predict", "whole.uc", "whole.svm", "--scores").out
    assert "--explore-floor 1.5" in unconfuse.fails(2, "stream", learner, "whole.svm", "--explore-floor", "1.5")
