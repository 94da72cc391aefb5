"""noise estimate: a matrix from gold labels, predictions, cross-validation, or the noisy labels alone."""
import json
import os
import pty
import random
import re
import subprocess

import pytest

from conftest import blobs

FIELDS = ["method", "examples", "skipped", "classes", "matrix", "low", "high", "counts", "condition_number", "wrong",
          "dominated_rows", "warnings", "output"]
# Gold x: observed x x x y; gold y: y y y y x. Columns are the true class.
OBSERVED = "xxxyyyyyx"
GOLD = "xxxxyyyyy"


def as_data(labels):
    return "".join(f"{label} 1:{i}\n" for i, label in enumerate(labels))


def as_list(labels):
    return "".join(f"{label}\n" for label in labels)


def matrix(unconfuse, name):
    rows = [line.split(",") for line in unconfuse.read(name).decode().splitlines()]
    return rows[0][1:], [[float(value) for value in row[1:]] for row in rows[1:]]


def noisy_blobs(unconfuse, rows=600, rate=0.3, seed=1):
    """Classes a, b, c far apart; `rate` of the labels, drawn evenly from the other two, are wrong."""
    unconfuse.write("clean.svm", blobs(["a", "b", "c"], rows, seed=seed, spread=0.1))
    unconfuse.ok("noise", "apply", "clean.svm", "--noise-rate", rate, "-o", "noisy.svm", "--seed", seed)
    return "noisy.svm"


@pytest.mark.parametrize("gold", [as_list, as_data])
def test_gold_labels_by_hand(unconfuse, gold):
    unconfuse.write("data.svm", as_data(OBSERVED))
    unconfuse.write("gold.txt", gold(GOLD))
    result = unconfuse.json("noise", "estimate", "data.svm", "--method", "gold", "--gold", "gold.txt", "-o", "c.csv")
    assert list(result) == FIELDS
    assert result["classes"] == ["x", "y"] and result["examples"] == 9 and result["skipped"] == 0
    assert result["counts"] == [[3, 1], [1, 4]]
    assert result["matrix"] == [[0.75, pytest.approx(0.2)], [0.25, pytest.approx(0.8)]]
    for low, value, high in zip(sum(result["low"], []), sum(result["matrix"], []), sum(result["high"], [])):
        assert 0 <= low < value < high <= 1
    assert result["condition_number"] > 1 and result["wrong"] == pytest.approx(0.225)
    assert result["warnings"] == ['fewer than 30 examples to estimate from, for class "x" (4), "y" (5)']
    assert matrix(unconfuse, "c.csv") == (["x", "y"], result["matrix"])


def test_a_share_that_depends_on_how_frequent_classes_are_says_so(unconfuse):
    """Of 200 a 10 are mislabelled, of 20 b 8: 8% of all labels, 22.5% if there were as many b as a."""
    unconfuse.write("data.svm", "a 1:1\n" * 190 + "b 1:1\n" * 10 + "b 1:2\n" * 12 + "a 1:2\n" * 8)
    gold = ["--method", "gold", "--gold", "gold.txt", "-o", "c.csv"]
    unconfuse.write("gold.txt", "a\n" * 200 + "b\n" * 20)
    shown = unconfuse.ok("noise", "estimate", "data.svm", *gold).out
    assert shown.startswith("220 examples, 2 classes, 22.5% of the labels wrong if classes are equally frequent, condition")
    unconfuse.write("data.svm", "a 1:1\n" * 90 + "b 1:1\n" * 10 + "b 1:2\n" * 90 + "a 1:2\n" * 10)
    unconfuse.write("gold.txt", "a\n" * 100 + "b\n" * 100)
    shown = unconfuse.ok("noise", "estimate", "data.svm", *gold).out
    assert shown.startswith("200 examples, 2 classes, 10.0% of the labels wrong, condition")


def test_what_was_not_checked_is_skipped(unconfuse):
    unconfuse.write("data.svm", as_data(OBSERVED + "yyxx"))
    unconfuse.write("gold.txt", as_list(GOLD + "????"))
    result = unconfuse.json("noise", "estimate", "data.svm", "--method", "gold", "--gold", "gold.txt", "-o", "c.csv")
    assert result["examples"] == 9 and result["skipped"] == 4 and result["counts"] == [[3, 1], [1, 4]]


def test_names_with_blanks_and_commas_in_a_list(unconfuse):
    names = {"x": "New York", "y": "Paris, France"}
    unconfuse.write("data.csv", "label,f\n" + "".join(f'"{names[label]}",{i}\n' for i, label in enumerate(OBSERVED)))
    unconfuse.write("gold.txt", as_list(names[label] for label in GOLD))
    result = unconfuse.json("noise", "estimate", "data.csv", "--method", "gold", "--gold", "gold.txt", "-o", "c.csv")
    assert result["classes"] == ["New York", "Paris, France"] and result["counts"] == [[3, 1], [1, 4]]


def test_a_class_missing_in_the_gold_set(unconfuse):
    unconfuse.write("data.svm", as_data("xyz" * 40))
    unconfuse.write("gold.txt", as_list("xyx" * 40))
    result = unconfuse("noise", "estimate", "data.svm", "--method", "gold", "--gold", "gold.txt", "-o", "c.csv")
    assert result.returncode == 0 and 'the column is the identity\'s, for class "z" (0)' in result.err
    assert matrix(unconfuse, "c.csv") == (["x", "y", "z"], [[0.5, 0, 0], [0, 1, 0], [0.5, 0, 1]])


def test_predictions_and_the_model_that_made_them_agree(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 300))
    unconfuse.ok("train", "perceptron", "data.svm", "--passes", 1, "-o", "m.uc")
    unconfuse.ok("predict", "m.uc", "data.svm", "-o", "p.txt")
    by_model = unconfuse.json("noise", "estimate", "data.svm", "--method", "model", "--model", "m.uc", "-o", "c.csv")
    by_file = unconfuse.json("noise", "estimate", "data.svm", "--method", "model", "--predictions", "p.txt", "-o", "c.csv")
    assert by_model == by_file
    confusion = unconfuse.json("evaluate", "m.uc", "data.svm")["confusion"]
    assert by_model["counts"] == [list(column) for column in zip(*confusion)]


def test_a_class_that_is_only_predicted(unconfuse):
    unconfuse.write("data.svm", as_data(GOLD))
    unconfuse.write("p.txt", as_list(OBSERVED[:-1] + "a"))
    result = unconfuse.json("noise", "estimate", "data.svm", "--method", "model", "--predictions", "p.txt", "-o", "c.csv")
    assert result["classes"] == ["a", "x", "y"] and result["counts"] == [[0, 0, 1], [0, 3, 0], [0, 1, 4]]
    assert [row[0] for row in result["matrix"]] == [1, 0, 0]


def test_a_class_that_is_never_predicted_makes_it_singular(unconfuse):
    unconfuse.write("data.svm", as_data("xxxyyy"))
    unconfuse.write("p.txt", as_list("xxxxxx"))
    result = unconfuse.json("noise", "estimate", "data.svm", "--method", "model", "--predictions", "p.txt", "-o", "c.csv")
    assert result["condition_number"] is None and any("singular" in warning for warning in result["warnings"])


def test_cross_validation_counts_the_mistakes_of_the_learner(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 300))
    result = unconfuse.json("noise", "estimate", "data.svm", "--method", "cv", "--folds", 4, "--learner", "spa", "-o", "c.csv")
    confusion = unconfuse.json("train", "spa", "data.svm", "-v", 4)["confusion"]
    assert result["counts"] == [list(column) for column in zip(*confusion)]


@pytest.mark.parametrize("estimator", ["counting", "anchor"])
def test_noise_of_the_data_alone(unconfuse, estimator):
    data = noisy_blobs(unconfuse, rows=1500)
    result = unconfuse.json("noise", "estimate", data, "--method", "self", "--estimator", estimator, "-o", "c.csv",
                            "--scale", "standard")
    for p in range(3):
        for q in range(3):
            assert result["matrix"][p][q] == pytest.approx(0.7 if p == q else 0.15, abs=0.1)
    assert [sum(column) for column in zip(*result["matrix"])] == pytest.approx([1, 1, 1])


def test_training_with_the_estimate(unconfuse):
    data = noisy_blobs(unconfuse, rate=0.4)
    shown = unconfuse.ok("train", "logistic", data, "--noise", "estimate", "-o", "estimated.uc").out
    assert re.search(r"estimated noise: \d+\.\d% of the labels wrong, condition number", shown)
    unconfuse.ok("noise", "estimate", data, "--method", "self", "-o", "c.csv")
    unconfuse.ok("train", "logistic", data, "--noise-matrix", "c.csv", "-o", "told.uc")
    assert unconfuse.read("estimated.uc") == unconfuse.read("told.uc")
    assert unconfuse.json("evaluate", "estimated.uc", "clean.svm")["error"] < 0.05
    assert "cannot be combined" in unconfuse.fails(2, "train", "logistic", data, "--noise", "estimate", "--noise-rate", 0.1, "-o", "m.uc")


def test_the_number_of_threads_does_not_matter(unconfuse):
    data = noisy_blobs(unconfuse)
    outputs = [unconfuse.ok("noise", "estimate", data, "--method", "self", "--threads", n, "--json", "-o", "c.csv").out
               for n in (1, 3)]
    assert outputs[0] == outputs[1]
    other = unconfuse.json("noise", "estimate", data, "--method", "self", "--seed", 2, "-o", "d.csv")
    assert other["low"] != json.loads(outputs[0])["low"]


def test_plain_numbers_in_a_file_and_shades_on_a_terminal(unconfuse):
    unconfuse.write("data.svm", as_data(OBSERVED))
    unconfuse.write("gold.txt", as_list(GOLD))
    command = ["noise", "estimate", "data.svm", "--method", "gold", "--gold", "gold.txt", "-o"]
    plain = unconfuse.ok(*command, "c.csv").out
    assert "\033" not in plain and re.search(r"^x +0\.750 +0\.200$", plain, re.M) and "95% intervals" in plain
    assert "observed" not in unconfuse.ok(*command, "-").out  # the CSV alone; the picture is on standard error
    master, slave = pty.openpty()
    subprocess.run([unconfuse.path, *command, "c.csv"], stdout=slave, stderr=subprocess.DEVNULL, cwd=unconfuse.directory,
                   env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": ""}, check=True)
    os.close(slave)
    shown = b""
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(master)
    assert b"\033[48;5;" in shown and b"0.750" in shown


def test_many_classes_are_summarised(unconfuse):
    draw = random.Random(1)
    gold = [draw.randrange(30) for _ in range(2000)]
    unconfuse.write("data.svm", as_data((g + 1) % 30 if draw.random() < 0.3 else g for g in gold))
    unconfuse.write("gold.txt", as_list(gold))
    shown = unconfuse.ok("noise", "estimate", "data.svm", "--method", "gold", "--gold", "gold.txt", "-o", "c.csv").out
    assert "most frequent mistakes" in shown and len(shown.splitlines()) < 20


@pytest.mark.parametrize("status, sentence, arguments", [
    (1, "gold.txt has 9 labels, but short.svm has 3 examples", ["short.svm", "--method", "gold", "--gold", "gold.txt"]),
    (1, "gold.txt has 9 labels, but short.svm has 3 examples", ["short.svm", "--method", "model", "--predictions", "gold.txt"]),
    (1, 'odd.txt: label 2 is "z", a class that no example of DATA is observed as; give all the data, with \'?\' as the gold '
        "label of what was not checked", ["short.svm", "--method", "gold", "--gold", "odd.txt"]),
    (1, "blank.txt:2: there is no label on this line", ["short.svm", "--method", "gold", "--gold", "blank.txt"]),
    (1, "zero.txt:3: control character 0x00", ["short.svm", "--method", "model", "--predictions", "zero.txt"]),
    (1, "scores.txt:1: control character 0x09", ["short.svm", "--method", "model", "--predictions", "scores.txt"]),
    (1, "no example has both an observed and a gold label", ["short.svm", "--method", "gold", "--gold", "none.txt"]),
    (1, "nowhere.txt: No such file or directory", ["short.svm", "--method", "gold", "--gold", "nowhere.txt"]),
    (1, 'strange.svm: label 2 is "z", a class that the model does not know', ["strange.svm", "--method", "model", "--model", "m.uc"]),
    (1, "--folds 5: there are only 3 examples", ["short.svm", "--method", "cv"]),
    (1, "open.svm: example 2 has no label ('?'), which cannot be used to estimate noise",
     ["open.svm", "--method", "self", "--folds", "2"]),
    (2, "noise estimate needs DATA, --method gold, model, cv or self, and -o FILE", ["short.svm"]),
    (2, "--method gold needs the true labels: --gold FILE", ["short.svm", "--method", "gold"]),
    (2, "--method model needs one of --model G and --predictions FILE", ["short.svm", "--method", "model"]),
    (2, "--gold is not for --method self", ["short.svm", "--method", "self", "--gold", "gold.txt"]),
    (2, "--scale is not for --method gold", ["short.svm", "--method", "gold", "--gold", "gold.txt", "--scale", "range"]),
    (2, "--l2 is an option of logistic; say --learner logistic, or leave it out", ["short.svm", "--method", "cv", "--l2", "1"]),
])
def test_refusals(unconfuse, status, sentence, arguments):
    unconfuse.write("short.svm", as_data("xyx"))
    unconfuse.write("strange.svm", as_data("xzx"))
    unconfuse.write("open.svm", as_data("x?xyxy"))
    unconfuse.write("gold.txt", as_list(GOLD))
    unconfuse.write("odd.txt", as_list("xzx"))
    unconfuse.write("none.txt", as_list("???"))
    unconfuse.write("blank.txt", "x\n\nx\n")
    unconfuse.write("zero.txt", "x\ny\nx\0z\n")
    unconfuse.write("scores.txt", "x\t1\ny\t2\nx\t3\n")
    unconfuse.ok("train", "perceptron", "short.svm", "-o", "m.uc")
    assert unconfuse.fails(status, "noise", "estimate", *arguments, *([] if arguments == ["short.svm"] else ["-o", "c.csv"])) == sentence


def test_an_unknown_learner(unconfuse):
    unconfuse.write("data.svm", as_data(GOLD))
    sentence = unconfuse.fails(2, "noise", "estimate", "data.svm", "--method", "cv", "--learner", "guess", "-o", "c.csv")
    assert sentence.startswith("there is no learner called guess; unconfuse learners lists them")


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_matrix_of_either_byte_order_is_applied(unconfuse, order):
    """Data were read in both orders, noise matrices in one."""
    numpy = pytest.importorskip("numpy")
    unconfuse.write("data.svm", as_data("xyxy"))
    numpy.save(unconfuse.directory / "c.npy", numpy.array([[0, 1], [1, 0]], order + "f8"))
    unconfuse.ok("noise", "apply", "data.svm", "--noise-matrix", "c.npy", "-o", "swapped.svm")
    assert [line.split()[0] for line in unconfuse.read("swapped.svm").decode().splitlines()] == list("yxyx")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_gold_labels_of_a_spreadsheet_program(unconfuse, mark):
    """Windows lines, with or without a byte order mark."""
    unconfuse.write("data.svm", as_data(OBSERVED))
    unconfuse.write("gold.txt", mark + as_list(GOLD).replace("\n", "\r\n"))
    result = unconfuse.json("noise", "estimate", "data.svm", "--method", "gold", "--gold", "gold.txt", "-o", "c.csv")
    assert result["counts"] == [[3, 1], [1, 4]]


# ---- two classes: overlap and noise look the same


def two_gaussians(unconfuse, distance, wrong, rows=600):
    """Classes a and b, so far apart in the first of three columns; wrong[class] of their labels are wrong."""
    draw = random.Random(8)
    lines = []
    for i in range(rows):
        true = "ab"[i % 2]
        label = "ba"[i % 2] if draw.random() < wrong[true] else true
        x = [draw.gauss(distance * (i % 2), 1), draw.gauss(0, 1), draw.gauss(0, 1)]
        lines.append(f"{label} " + " ".join(f"{j}:{value:.3f}" for j, value in enumerate(x, 1)) + "\n")
    unconfuse.write("two.svm", "".join(lines))


def test_two_classes_get_symmetric_noise_unless_full_is_clearly_likelier(unconfuse):
    two_gaussians(unconfuse, 2, {"a": 0.3, "b": 0.3}, rows=200)
    found = unconfuse.json("noise", "estimate", "two.svm", "--method", "self", "--bootstrap", "0", "-o", "c.csv")
    symmetric = unconfuse.json("noise", "estimate", "two.svm", "--method", "self", "--estimator", "symmetric", "--bootstrap", "0",
                               "-o", "c.csv")
    assert found["families"]["chosen"] != "full" and found["matrix"] == symmetric["matrix"]
    full = unconfuse.json("noise", "estimate", "two.svm", "--method", "self", "--estimator", "full", "--bootstrap", "0", "-o", "c.csv")
    assert full["matrix"] != found["matrix"] and full["families"] == found["families"]


def test_learners_do_not_believe_in_noise_that_overlap_explains(unconfuse):
    two_gaussians(unconfuse, 1, {"a": 0.3, "b": 0.3})
    unconfuse.ok("train", "logistic", "two.svm", "-o", "plain.uc")
    run = unconfuse.ok("train", "logistic", "two.svm", "--noise", "estimate", "-o", "m.uc")
    assert "labels of two classes that overlap do not show whether some are wrong: all are taken for right" in run.err
    for name in ("plain.uc", "m.uc"):
        unconfuse.ok("predict", name, "two.svm", "-o", name + ".txt")
    assert unconfuse.read("plain.uc.txt") == unconfuse.read("m.uc.txt")
    two_gaussians(unconfuse, 8, {"a": 0.3, "b": 0.3})
    run = unconfuse.ok("train", "logistic", "two.svm", "--noise", "estimate", "-o", "m.uc")
    assert "taken for right" not in run.err and re.search(r"estimated noise: (2[5-9]|3[0-5])\.", run.out)


def test_noise_that_overlap_explains_as_well_is_warned_of(unconfuse):
    """Held-out labels are no likelier with a noise matrix, which nevertheless finds some."""
    two_gaussians(unconfuse, 1, {"a": 0.3, "b": 0.3})
    found = unconfuse.json("noise", "estimate", "two.svm", "--method", "self", "--bootstrap", "0", "-o", "c.csv")
    assert found["families"]["chosen"] == "none" and found["families"]["full"]["wrong"] > 0.15
    assert any("classes that overlap may explain these labels as well" in text for text in found["warnings"])


def test_data_without_features_are_refused(unconfuse):
    unconfuse.write("d.svm", "a\nb\n" * 8)
    for options in (["--l2", "auto"], ["--estimator", "anchor"], []):
        assert unconfuse.fails(1, "noise", "estimate", "d.svm", "--method", "self", *options, "-o", "n.csv") == (
            "d.svm: the data have no features")
