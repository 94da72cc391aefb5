"""s3vm: rows whose label is '?' are learned from."""
import random

import pytest


def clouds(names, rows, labels, seed=1, columns=10, apart=4.0):
    """LIBSVM text of one round cloud a class: training rows, of which the first `labels` a class show theirs, and the
    same rows with every label."""
    draw = random.Random(seed)
    hidden, shown = [], []
    for i in range(rows):
        k = i % len(names)
        values = [draw.gauss(apart if j == k else 0.0, 1.0) for j in range(columns)]
        row = "".join(f" {j + 1}:{value:.6g}" for j, value in enumerate(values))
        shown.append(names[k] + row)
        hidden.append((names[k] if i < labels * len(names) else "?") + row)
    return "\n".join(hidden) + "\n", "\n".join(shown) + "\n"


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"]])
def test_unlabelled_rows_make_it_better(unconfuse, names):
    hidden, shown = clouds(names, 600, 2)
    unconfuse.write("train.svm", hidden)
    unconfuse.write("true.svm", shown)
    result = unconfuse.json("train", "s3vm", "train.svm", "-o", "m.uc")
    assert result["learner"] == "s3vm" and result["examples"] == 600 and result["classes"] == names
    assert result["training_error"] == 0  # of the labelled rows
    unconfuse.ok("train", "s3vm", "train.svm", "-o", "plain.uc", "--unlabelled-cost", "0")
    error = unconfuse.json("evaluate", "m.uc", "true.svm")["error"]
    plain = unconfuse.json("evaluate", "plain.uc", "true.svm")["error"]
    assert error < 0.04 and error < plain


def test_a_map_and_scaling_come_before_it(unconfuse):
    hidden, shown = clouds(["a", "b", "c"], 300, 4)
    unconfuse.write("train.svm", hidden)
    unconfuse.write("true.svm", shown)
    unconfuse.ok("train", "s3vm", "train.svm", "-o", "m.uc", "--scale", "standard", "--map", "nystroem", "--dimension",
                 "60", "-c", "300")
    assert unconfuse.json("evaluate", "m.uc", "true.svm")["error"] < 0.15


def test_the_number_of_threads_does_not_change_the_file(unconfuse):
    unconfuse.write("train.svm", clouds(["a", "b", "c"], 2000, 5)[0])
    for threads in (1, 2):
        unconfuse.ok("train", "s3vm", "train.svm", "-o", f"m{threads}.uc", "--threads", threads)
    assert unconfuse.read("m1.uc") == unconfuse.read("m2.uc")


def test_other_learners_refuse_unlabelled_rows(unconfuse):
    unconfuse.write("train.svm", clouds(["a", "b"], 20, 2)[0])
    for learner in ("spa", "logistic", "uma"):
        sentence = unconfuse.fails(1, "train", learner, "train.svm", "-o", "m.uc")
        assert "example 5 has no label ('?')" in sentence


def test_data_without_any_label_are_refused(unconfuse):
    unconfuse.write("none.svm", "? 1:1\n? 1:2\n")
    assert unconfuse.fails(1, "train", "s3vm", "none.svm", "-o", "m.uc").endswith("no example has a label")
    unconfuse.write("one.svm", "a 1:1\n? 1:2\n")
    assert "only one class, 'a', where two are needed" in unconfuse.fails(1, "train", "s3vm", "one.svm", "-o", "m.uc")


@pytest.mark.parametrize("option", [("-c", "0"), ("--cost", "-1"), ("--unlabelled-cost", "-0.5")])
def test_values_outside_their_bounds_are_wrong_usage(unconfuse, option):
    unconfuse.write("train.svm", clouds(["a", "b"], 20, 2)[0])
    unconfuse.fails(2, "train", "s3vm", "train.svm", "-o", "m.uc", *option)
