"""pu: some positives are labelled, all other rows are `?`; and evaluation with such labels."""
import math
import random

import pytest


def clouds(rows, seed, prior=0.4, shown=0.3, name="+1", columns=4, apart=3.0):
    """LIBSVM text of two clouds: with some labels, and with all of them ('+1' and '-1')."""
    draw = random.Random(seed)
    hidden, full = [], []
    for _ in range(rows):
        positive = draw.random() < prior
        row = "".join(f" {j + 1}:{draw.gauss(apart if positive and j == 0 else 0.0, 1.0):.5f}" for j in range(columns))
        hidden.append((name if positive and draw.random() < shown else "?") + row)
        full.append(("+1" if positive else "-1") + row)
    return "\n".join(hidden) + "\n", "\n".join(full) + "\n"


@pytest.fixture
def data(unconfuse):
    hidden, full = clouds(1200, 1)
    unconfuse.write("pu.svm", hidden)
    unconfuse.write("true.svm", full)
    return unconfuse


@pytest.mark.parametrize("options", [[], ["--loss", "logistic"], ["--loss", "hinge"], ["--risk", "unbiased"],
                                     ["--penalty", "plain"], ["--prior", "0.4"], ["--map", "nystroem", "--dimension", "30"]])
def test_some_positives_are_enough(data, options):
    trained = data.json("train", "pu", "pu.svm", "-o", "m.uc", *options)
    assert trained["classes"] == ["-1", "+1"] and trained["labelled"] + trained["unlabelled"] == 1200
    assert trained["prior"] == pytest.approx(0.4, abs=0.05)
    assert ("prior_low" in trained) == ("--prior" not in options)
    assert data.json("evaluate", "m.uc", "true.svm")["error"] < 0.10  # the best possible is about 6.5%


def test_the_baseline_and_two_samples(data):
    data.ok("train", "pu", "pu.svm", "-o", "m.uc", "--risk", "elkan-noto", "--prior", "0.4")
    assert data.json("evaluate", "m.uc", "true.svm")["error"] < 0.15
    text = data.read("pu.svm").decode()
    more = [line for line in clouds(1500, 2, shown=1.0)[0].splitlines() if line.startswith("+1")]
    data.write("two.svm", "".join(line + "\n" for line in more) + text.replace("+1 ", "? "))
    trained = data.json("train", "pu", "two.svm", "-o", "m.uc", "--scenario", "sampled")
    assert trained["prior"] == pytest.approx(0.4, abs=0.06)
    assert data.json("evaluate", "m.uc", "true.svm")["error"] < 0.10


def test_what_is_printed_and_stored(data):
    text = data.ok("train", "pu", "pu.svm", "-o", "m.uc").out
    assert "class prior 0.4" in text and "(estimated; 95% interval 0.3" in text and "positive class: '+1'" in text
    stored = data.json("inspect", "m.uc")
    assert stored["settings"]["prior"] == "estimate" and stored["settings"]["positive"] == "+1"
    found = stored["summary"]
    assert found["prior_low"] <= found["prior"] <= found["prior_high"] and stored["summary"]["l2"] > 0
    assert "class prior 0.400 (given)" in data.ok("train", "pu", "pu.svm", "-o", "m.uc", "--prior", "0.4").out


def test_threads_do_not_change_the_file(data):
    for threads in (1, 2, 7):
        data.ok("train", "pu", "pu.svm", "-o", f"m{threads}.uc", "--threads", threads)
    assert data.read("m1.uc") == data.read("m2.uc") == data.read("m7.uc")


def test_the_positive_class_has_a_name(unconfuse):
    unconfuse.write("pu.svm", clouds(300, 3, name="spam")[0])
    assert unconfuse.json("train", "pu", "pu.svm", "-o", "m.uc")["classes"] == ["not-spam", "spam"]
    unconfuse.write("pu.svm", clouds(300, 3, name="a")[0].replace("? ", "b "))
    unconfuse.ok("train", "pu", "pu.svm", "-o", "m.uc", "--positive", "a")
    assert unconfuse.json("inspect", "m.uc")["settings"]["positive"] == "a"
    recall = unconfuse.json("evaluate", "m.uc", "pu.svm", "--positive-unlabelled")["recall"]
    assert recall > 0.8


@pytest.mark.parametrize("text, sentence", [
    ("? 1:1\n? 1:2\n", "data.svm: no example is labelled positive"),
    ("1 1:1\n1 1:2\n", "data.svm: every example is labelled 1: unlabelled ones are needed too"),
    ("1 1:1\n? 1:2\n? 1:3\n", "data.svm: estimating the class prior takes 2 labelled and 2 unlabelled examples at least, "
                              "not 1 and 2: give --prior"),
    ("1 1:1\n2 1:2\n3 1:2\n", "positive and unlabelled examples are of one or two classes, not 3"),
])
def test_bad_labels_are_refused(unconfuse, text, sentence):
    unconfuse.write("data.svm", text)
    assert unconfuse.fails(1, "train", "pu", "data.svm", "-o", "m.uc") == sentence


@pytest.mark.parametrize("options, status, sentence", [
    (["--prior", "0"], 2, "--prior 0: it must be a number above 0 and at most 0.999, or estimate"),
    (["--prior", "1"], 2, "--prior 1: it must be a number above 0 and at most 0.999, or estimate"),
    (["--prior", "0.01"], 1, "--prior 0.01: 0.1"),
    (["--positive", "maybe"], 1, "no example is labelled maybe, which --positive names"),
])
def test_bad_settings_are_refused(data, options, status, sentence):
    assert data.fails(status, "train", "pu", "pu.svm", "-o", "m.uc", *options).startswith(sentence)


# ---- evaluation ----

def slow_figures(rows, prior, censored):
    """(labelled, score) of rows to the figures, by their definitions."""
    known = [score for labelled, score in rows if labelled]
    population = [score for labelled, score in rows if censored or not labelled]
    recall = sum(score > 0 for score in known) / len(known)
    share = sum(score > 0 for score in population) / len(population)
    area = sum((a > b) + (a == b) / 2 for a in known for b in population) / (len(known) * len(population))
    precision = min(1, prior * recall / share)
    return {"recall": recall, "predicted_positive": share, "precision": precision,
            "f1": min(1, 2 * prior * recall / (prior + share)), "auc": min(1, (area - prior / 2) / (1 - prior)),
            "error": max(0, share + prior - 2 * prior * recall)}


@pytest.mark.parametrize("scenario", ["censored", "sampled"])
def test_figures_are_those_of_their_formulas(data, scenario):
    data.ok("train", "pu", "pu.svm", "-o", "m.uc", "--prior", "0.4")
    lines = data.ok("predict", "m.uc", "pu.svm", "--scores", "-q").out.splitlines()[1:]
    labels = [line.split(" ", 1)[0] for line in data.read("pu.svm").decode().splitlines()]
    rows = [(label == "+1", float(line.split("\t")[2]) - float(line.split("\t")[1])) for label, line in zip(labels, lines)]
    found = data.json("evaluate", "m.uc", "pu.svm", "--positive-unlabelled", "--scenario", scenario)
    for name, value in slow_figures(rows, 0.4, scenario == "censored").items():
        assert found[name] == pytest.approx(value, abs=1e-9), name
    assert found["examples"] == 1200 and found["labelled"] == sum(label == "+1" for label in labels)
    assert found["recall_interval"][0] < found["recall"] < found["recall_interval"][1]
    assert found["prior"] == 0.4 and found["positive"] == "+1"


def test_figures_are_near_those_of_all_labels(unconfuse):
    hidden, full = clouds(6000, 5)
    unconfuse.write("pu.svm", hidden)
    unconfuse.write("true.svm", full)
    unconfuse.ok("train", "pu", "pu.svm", "-o", "m.uc", "--prior", "0.4")
    found = unconfuse.json("evaluate", "m.uc", "pu.svm", "--positive-unlabelled", "--prior", "0.4")
    all_labels = unconfuse.json("evaluate", "m.uc", "true.svm")
    positive = all_labels["per_class"][1]
    assert found["error"] == pytest.approx(all_labels["error"], abs=0.03)
    for name in ("recall", "precision", "f1"):
        assert found[name] == pytest.approx(positive[name], abs=0.04), name
    best = 0.5 * (1 + math.erf(3.0 / 2))  # AUC of two clouds at distance 3
    assert found["auc"] == pytest.approx(best, abs=0.02)


def test_text_of_the_evaluation(data):
    data.ok("train", "pu", "pu.svm", "-o", "m.uc", "--prior", "0.4")
    text = data.ok("evaluate", "m.uc", "pu.svm", "--positive-unlabelled").out
    assert "are not; class prior 0.4000" in text
    for word in ("recall ", "precision ", "F1 ", "AUC ", "error ", "predicted positive "):
        assert word in text


@pytest.mark.parametrize("options, status, sentence", [
    (["--bags"], 2, "--positive-unlabelled cannot be combined with --bags or with noise"),
    (["--noise-rate", "0.1"], 2, "--positive-unlabelled cannot be combined with --bags or with noise"),
    (["--prior", "1"], 2, "--prior 1: it must be a number above 0 and at most 0.999, or model"),
    (["--positive", "maybe"], 1, "--positive maybe: the classes are -1 and +1"),
])
def test_bad_evaluations_are_refused(data, options, status, sentence):
    data.ok("train", "pu", "pu.svm", "-o", "m.uc", "--prior", "0.4", "-q")
    assert data.fails(status, "evaluate", "m.uc", "pu.svm", "--positive-unlabelled", *options) == sentence


def test_models_without_a_prior_need_one(data):
    data.ok("train", "csvm", "true.svm", "-o", "m.uc", "-q")
    assert data.fails(2, "evaluate", "m.uc", "pu.svm", "--positive-unlabelled") == (
        "--positive-unlabelled: the model has no class prior: give it with --prior")
    assert data.json("evaluate", "m.uc", "pu.svm", "--positive-unlabelled", "--prior", "0.4")["error"] < 0.12
    data.write("none.svm", "? 1:1\n? 1:2\n")
    assert data.fails(1, "evaluate", "m.uc", "none.svm", "--positive-unlabelled", "--prior", "0.4") == (
        "there is no labelled example to evaluate with")
    data.write("other.svm", "+1 1:1\nmaybe 1:2\n")
    assert data.fails(1, "evaluate", "m.uc", "other.svm", "--positive-unlabelled", "--prior", "0.4") == (
        "--positive-unlabelled: the model does not know the label 'maybe'")
