"""What evaluate measures, against scikit-learn's definitions."""
import math
import random
import re
import warnings

import pytest

from conftest import blobs

metrics = pytest.importorskip("sklearn.metrics")


@pytest.fixture(autouse=True)
def no_warnings():
    """scikit-learn warns of a class that is never predicted, which is what some tests are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def labels_of(unconfuse, name):
    return [line.split()[0] for line in unconfuse.read(name).decode().splitlines()]


def probabilities_of(unconfuse, model, data):
    """Class names, and the rows of predict --probabilities."""
    lines = [line.split("\t") for line in unconfuse.ok("predict", model, data, "--probabilities").out.splitlines()]
    return lines[0][1:], [[float(value) for value in line[1:]] for line in lines[1:]], [line[0] for line in lines[1:]]


def assert_as_sklearn(report, y, predicted):
    names = sorted(set(y) | set(predicted))
    f1 = dict(zip(names, metrics.f1_score(y, predicted, labels=names, average=None), strict=True))
    for entry in report["per_class"]:
        assert entry["f1"] == (pytest.approx(f1[entry["class"]], abs=1e-14) if entry["class"] in f1 else None)
    assert report["macro_f1"] == pytest.approx(metrics.f1_score(y, predicted, average="macro"), abs=1e-14)
    assert report["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, predicted), abs=1e-14)


@pytest.mark.parametrize("learner", ["logistic", "spa"])
@pytest.mark.parametrize("spread", [0.3, 1.5])
def test_f1_and_balanced_accuracy_are_those_of_sklearn(unconfuse, learner, spread):
    unconfuse.write("data.svm", blobs(["a", "b", "c", "d"], 700, spread=spread))
    unconfuse.ok("train", learner, "data.svm", "-o", "m.uc")
    predicted = unconfuse.ok("predict", "m.uc", "data.svm").out.splitlines()
    assert_as_sklearn(unconfuse.json("evaluate", "m.uc", "data.svm"), labels_of(unconfuse, "data.svm"), predicted)


def test_log_loss_is_that_of_sklearn(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c", "d"], 700, spread=0.8))
    unconfuse.ok("train", "logistic", "data.svm", "-o", "m.uc")
    names, rows, _ = probabilities_of(unconfuse, "m.uc", "data.svm")
    y = labels_of(unconfuse, "data.svm")
    assert unconfuse.json("evaluate", "m.uc", "data.svm")["log_loss"] == pytest.approx(
        metrics.log_loss(y, rows, labels=names), rel=1e-12)


def test_log_loss_of_certain_mistakes_is_large_and_finite_as_that_of_sklearn(unconfuse):
    unconfuse.write("data.svm", "a 1:1\nb 1:-1\n" * 50)
    unconfuse.ok("train", "logistic", "data.svm", "--l2", "1e-6", "-o", "m.uc")
    unconfuse.write("test.svm", "a 1:-1000000\nb 1:-1000000\na 1:1\n")
    names, rows, _ = probabilities_of(unconfuse, "m.uc", "test.svm")
    assert rows[0][names.index("a")] == 0
    loss = unconfuse.json("evaluate", "m.uc", "test.svm")["log_loss"]
    assert loss == pytest.approx(metrics.log_loss(["a", "b", "a"], rows, labels=names), rel=1e-9) and 10 < loss < 13


def test_classes_that_do_not_occur_count_as_sklearn_counts_them(unconfuse):
    """One is never predicted, one occurs in the predictions alone, and one in neither, which has no F1."""
    unconfuse.write("train.svm", "a 1:1\nb 2:1\nc 3:1\nd 4:1\n" * 5)
    unconfuse.ok("train", "spa", "train.svm", "-o", "m.uc")
    unconfuse.write("test.svm", "a 1:1\na 1:1\na 2:1\nc 1:1\n")
    report = unconfuse.json("evaluate", "m.uc", "test.svm")
    assert_as_sklearn(report, ["a", "a", "a", "c"], ["a", "a", "b", "a"])
    assert [entry["f1"] for entry in report["per_class"]] == [pytest.approx(2 / 3), 0, 0, None]
    assert report["balanced_accuracy"] == pytest.approx(1 / 3)
    text = unconfuse.ok("evaluate", "m.uc", "test.svm").out
    assert re.search(r"^F1 +66\.7% +0\.0% +0\.0% +-\s*$", text, re.M), text


def test_unknown_labels_are_one_more_class_and_leave_no_log_loss(unconfuse):
    unconfuse.write("train.svm", "a 1:1\nb 2:1\n" * 5)
    unconfuse.ok("train", "logistic", "train.svm", "-o", "m.uc")
    unconfuse.write("test.svm", "a 1:1\ny 2:1\nz 1:1\nb 2:1\n? 1:1\n")
    report = unconfuse.json("evaluate", "m.uc", "test.svm")
    assert_as_sklearn(report, ["a", "other", "other", "b"], ["a", "b", "a", "b"])
    assert report["log_loss"] is None and report["unknown_labels"] == 2
    assert "log loss" not in unconfuse.ok("evaluate", "m.uc", "test.svm").out
    unconfuse.write("known.svm", "a 1:1\nb 2:1\n? 1:1\n")
    names, rows, _ = probabilities_of(unconfuse, "m.uc", "known.svm")
    assert unconfuse.json("evaluate", "m.uc", "known.svm")["log_loss"] == pytest.approx(
        metrics.log_loss(["a", "b"], rows[:2], labels=names))


def test_models_without_probabilities_have_no_log_loss(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b"], 100))
    unconfuse.ok("train", "pa", "data.svm", "-o", "m.uc")
    assert unconfuse.json("evaluate", "m.uc", "data.svm")["log_loss"] is None
    assert "log loss" not in unconfuse.ok("evaluate", "m.uc", "data.svm").out
    assert unconfuse.json("train", "logistic", "data.svm", "-v", "3")["log_loss"] is None


def test_a_noise_matrix_adds_the_corrected_numbers_and_changes_no_other(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b"], 500))
    unconfuse.ok("train", "logistic", "data.svm", "-o", "m.uc")
    plain = unconfuse.json("evaluate", "m.uc", "data.svm")
    corrected = unconfuse.json("evaluate", "m.uc", "data.svm", "--noise-rate", "0.1")
    assert {key: corrected[key] for key in plain if key != "clean_error"} == {
        key: plain[key] for key in plain if key != "clean_error"}
    assert plain["clean_error"]["method"] == "noise hypotheses" and corrected["clean_error"]["method"] == "noise matrix"
    assert set(corrected) - set(plain) == {"corrected_error", "corrected_error_plugin", "corrected_error_deviation",
                                           "corrected_confusion"}


def test_every_number_of_the_text_is_explained_on_its_line(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 300, spread=1.0))
    unconfuse.ok("train", "logistic", "data.svm", "-o", "m.uc")
    report = unconfuse.json("evaluate", "m.uc", "data.svm")
    head = unconfuse.ok("evaluate", "m.uc", "data.svm").out.split("\n\n")[0].splitlines()
    lines = [line for line in head if not line.startswith(" ")]
    assert [line.split() for line in head if line not in lines] == [  # goes on with the line before, and has no number
        "if these labels are noisy too; all of them right? --no-clean-error".split()]
    found = {match[1]: match[2] for match in (re.match(r"(\w[\w ]*?)  +([\d.]+%?) \(.{20,}\)$", line) for line in lines)}
    assert found == {"error": f"{100 * report['error']:.2f}%",
                     "error if noisy": f"{100 * report['clean_error']['estimate']:.1f}%",
                     "balanced accuracy": f"{100 * report['balanced_accuracy']:.2f}%",
                     "macro F1": f"{100 * report['macro_f1']:.2f}%",
                     "log loss": f"{report['log_loss']:.4f}",
                     "confusion rate": f"{report['confusion_rate']:.4f}",
                     "confusion norm": f"{report['confusion_norm']:.4f}",
                     "joint norm": f"{report['confusion_norm_joint']:.4f}"}
    assert all(len(line) <= 110 for line in head)
    assert not math.isnan(report["log_loss"])


def test_confused_rows_of_a_table_come_with_their_columns(unconfuse):
    rows = [(f"T{i}", (i * 7919 % 100) / 10, f"note, {i}", "ab"[(i * 7919 % 100) > 50 if i % 9 else i % 2]) for i in range(200)]
    unconfuse.write("t.csv", "tree_id,size,note,kind\n" + "".join(f'{a},{b},"{c}",{d}\n' for a, b, c, d in rows))
    unconfuse.ok("train", "logistic", "t.csv", "--drop", "note", "-o", "m.uc")
    found = unconfuse.json("evaluate", "m.uc", "t.csv")
    assert found["confused_pairs"]
    for pair in found["confused_pairs"]:
        assert len(pair["rows"]) == min(5, pair["examples"]) == len(pair["ids"]) == len(pair["columns"])
        for row, name, columns in zip(pair["rows"], pair["ids"], pair["columns"]):
            tree, size, note, kind = rows[row - 1]
            assert (name, columns) == (tree, {"tree_id": tree, "size": str(size), "note": note, "kind": kind})
            assert kind == pair["true"] != pair["predicted"]
    unconfuse.write("t.svm", "".join(f"{d} 1:{b}\n" for a, b, c, d in rows))
    unconfuse.ok("train", "logistic", "t.svm", "-o", "s.uc")
    assert all("columns" not in pair for pair in unconfuse.json("evaluate", "s.uc", "t.svm")["confused_pairs"])


def test_columns_of_confused_rows_are_left_out_where_memory_is_short(unconfuse):
    draw = random.Random(4)
    rows = [[draw.gauss(0, 1) for _ in range(20)] for _ in range(25000)]
    lines = [",".join([*(f"{x:.9f}" for x in row), "ab"[row[0] + draw.gauss(0, 1) > 0]]) for row in rows]
    unconfuse.write("t.csv", "\n".join([",".join(f"x{j}" for j in range(20)) + ",kind", *lines]) + "\n")
    unconfuse.ok("train", "logistic", "t.csv", "-o", "m.uc")
    whole = unconfuse.json("evaluate", "m.uc", "t.csv", "--no-clean-error")
    short = unconfuse.json("evaluate", "m.uc", "t.csv", "--no-clean-error", "--memory", "8M")
    assert all("columns" in pair for pair in whole["confused_pairs"]) and whole["confused_pairs"]
    assert all("columns" not in pair for pair in short["confused_pairs"])
    assert whole["error"] == short["error"]


def test_the_error_on_true_classes_is_conditional_where_labels_may_be_right(unconfuse):
    unconfuse.write("d.svm", blobs(["x", "y"], 60))
    unconfuse.ok("train", "ridge", "d.svm", "-o", "m.uc")
    shown = unconfuse.ok("evaluate", "m.uc", "d.svm").out
    assert "error if noisy     " in shown and "if these labels are noisy too; all of them right? --no-clean-error" in shown and "clean error   " not in shown
    assert "noisy too" not in unconfuse.ok("evaluate", "m.uc", "d.svm", "--no-clean-error").out
    given = unconfuse.ok("evaluate", "m.uc", "d.svm", "--noise-rate", "0.1").out
    assert "clean error   " in given and "noisy too" not in given
    assert "clean error   " in unconfuse.ok("train", "ridge", "d.svm", "-v", "3").out


def test_a_table_without_labels_names_the_option(unconfuse):
    rows = "".join(f"{i},{i},1,p,p,p\n2{i},{i + 20},3,q,q,q\n" for i in range(9))
    unconfuse.write("t.csv", "id,a,b,first,second,grade\n" + rows)
    unconfuse.ok("audit", "t.csv", "--annotators", "first,second", "--drop", "grade", "--model-out", "m.uc", "-o", "s.csv")
    assert unconfuse.fails(1, "evaluate", "m.uc", "t.csv") == (
        "there are no labels to compare the predictions with; --label COLUMN says which column has them")
    unconfuse.ok("evaluate", "m.uc", "t.csv", "--label", "grade")
