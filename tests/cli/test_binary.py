"""Binary label noise as a user types it: rp, csvm, sloppy-svm, rates estimated, positives and unlabelled, bags."""
import json
import math
import random
import shutil
import subprocess

import pytest

from conftest import blobs

needs_liblinear = pytest.mark.skipif(not shutil.which("liblinear-train"), reason="LIBLINEAR is not there")
LEARNERS = [["rp", "--map", "none", "--kappa", "0"], ["rp", "--kappa", "0.1", "--dimension", "20"], ["csvm"],
            ["sloppy-svm", "--noise-rates", "0.2,0.1"], ["sloppy-svm", "--loss", "weighted", "--noise-rates", "0.2,0.1"]]


def rows_of(text):
    """Labels, and rows as {column: value}; bags are left out."""
    labels, rows = [], []
    for line in text.splitlines():
        label, *pairs = line.split()
        labels.append(label)
        rows.append({int(column): float(value) for column, value in (pair.split(":") for pair in pairs) if column != "bag"})
    return labels, rows


def gaussians(rows, seed, flip=(0, 0), share=0.5, distance=1.5, names=("-1", "+1")):
    """Two Gaussians in the plane, the clean and the noisy text; `flip` are the rates of positives and negatives."""
    draw = random.Random(seed)
    clean, noisy = [], []
    for _ in range(rows):
        y = draw.random() < share
        x = f" 1:{draw.gauss(distance if y else -distance, 1):.6g} 2:{draw.gauss(0, 1):.6g}\n"
        wrong = draw.random() < flip[0 if y else 1]
        clean.append(names[y] + x)
        noisy.append(names[y != wrong] + x)
    return "".join(clean), "".join(noisy)


def error(unconfuse, *arguments, test="test.svm"):
    unconfuse.ok("train", *arguments, "-o", "m.uc", "-q")
    return unconfuse.json("evaluate", "m.uc", test)["error"]


# ---- training, models, threads ----

@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_predicts_alike_after_it_was_written_and_is_the_same_with_any_threads(unconfuse, learner):
    clean, noisy = gaussians(600, 1, (0.2, 0.1))
    unconfuse.write("noisy.svm", noisy)
    unconfuse.write("test.svm", clean)
    assert error(unconfuse, *learner, "noisy.svm", "--threads", "1") < 0.12
    expected = unconfuse.ok("predict", "m.uc", "test.svm").out
    unconfuse.ok("convert", "m.uc", "copy.uc", "-q")
    assert unconfuse.ok("predict", "copy.uc", "test.svm").out == expected
    for threads in [2, 3]:
        unconfuse.ok("train", *learner, "noisy.svm", "-o", "more.uc", "-q", "--threads", threads)
        assert unconfuse.read("more.uc") == unconfuse.read("m.uc")


@pytest.mark.parametrize("learner", LEARNERS)
def test_cross_validation_tells_the_error_of_held_out_labels(unconfuse, learner):
    unconfuse.write("noisy.svm", gaussians(400, 2, (0.2, 0.1))[1])
    result = unconfuse.json("train", *learner, "noisy.svm", "-v", 5)
    assert result["folds"] == 5 and len(result["fold_errors"]) == 5 and result["examples"] == 400
    assert 0.1 < result["error"] < 0.28  # of noisy labels: 15% of them are wrong


def test_rp_learns_a_ring_by_itself_and_tells_the_noise(unconfuse):
    unconfuse.ok("generate", "rp-ring", "--examples", 600, "--test", "test.svm", "--test-examples", 1000, "-o", "clean.svm", "-q")
    unconfuse.ok("noise", "apply", "clean.svm", "--noise-rate", "0.1", "-o", "noisy.svm", "-q")
    reported = unconfuse.json("train", "rp", "noisy.svm", "-o", "m.uc")
    assert reported["settings"]["map"] == "kgs" and reported["settings"]["kappa"] in [0, 0.03, 0.1, 0.2]
    assert 0.04 < reported["noise_rate"] < 0.2 and 0 < reported["noise_rate_deviation"] < 0.05
    assert unconfuse.json("inspect", "m.uc")["map"]["kind"] == "kgs"
    assert unconfuse.json("evaluate", "m.uc", "test.svm")["error"] < 0.2
    assert "noise rate " in unconfuse.ok("train", "rp", "noisy.svm", "-o", "m.uc", "--dimension", 20, "--kappa", 0).out
    reported = unconfuse.json("train", "rp", "--map", "none", "noisy.svm", "-o", "m.uc")
    assert "map" not in reported["settings"] and reported["training_error"] > 0.3
    assert unconfuse.json("inspect", "m.uc")["map"] == "none"


def test_rp_with_the_rule_that_is_told_the_rate(unconfuse):
    clean, noisy = gaussians(1000, 3, (0.3, 0.3))
    unconfuse.write("noisy.svm", noisy)
    unconfuse.write("test.svm", clean)
    assert error(unconfuse, "rp", "--map", "none", "--rule", "eta", "--noise-rate", "0.3", "noisy.svm") < 0.1
    train = ["train", "rp", "--map", "none", "--rule", "eta", "noisy.svm", "-o", "n.uc"]
    assert unconfuse.fails(1, *train) == "--rule eta needs the noise rate: give it with --noise-rate ETA"
    assert "classes that flip at the same rate, not at 0.3 and 0.1" in unconfuse.fails(1, *train, "--noise-rates", ".3,.1")
    result = unconfuse(*train, "--noise-rates", "0.6,0.6")  # warned of first: the labels point the other way
    assert result.returncode == 1 and result.err.endswith("unconfuse: the noise rate 0.6 is not below 0.5\n")


def test_rp_and_csvm_take_many_classes_one_against_the_rest(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c", "d"], 600, columns=8, spread=0.3))
    for learner in [["rp", "--kappa", "0", "--map", "none", "--bias", "1"], ["csvm"], ["rp", "--kappa", "0"]]:
        assert error(unconfuse, *learner, "data.svm", test="data.svm") < 0.1
        assert "noise_rate" not in unconfuse.json("inspect", "m.uc")["summary"]


# ---- csvm against LIBLINEAR ----

def hinge_objective(w, labels, rows, cost):
    loss = sum(max(0, 1 - float(label) * sum(value * w.get(column, 0) for column, value in row.items()))
               for label, row in zip(labels, rows))
    return sum(value * value for value in w.values()) / 2 + cost / len(rows) * loss


def liblinear_weights(text):
    """The weights of class 1 against -1; a column a class, or one for the class that comes first."""
    head, _, body = text.partition("w\n")
    order = next(line for line in head.splitlines() if line.startswith("label")).split()[1:]
    w = {}
    for j, line in enumerate(body.splitlines()):
        values = [float(value) for value in line.split()]
        w[j + 1] = values[order.index("1")] - values[order.index("-1")] if len(values) == 2 else \
            values[0] * (1 if order[0] == "1" else -1)
    return w


@needs_liblinear
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("cost", [1, 100, 3000])
def test_csvm_ends_where_liblinear_ends(unconfuse, sparse, cost):
    text = blobs(["-1", "1"], 400, columns=10, spread=1.2, seed=7)
    if sparse:
        draw = random.Random(1)
        text = "".join(" ".join([line.split()[0]] + [pair for pair in line.split()[1:] if draw.random() < 0.2]) + "\n"
                       for line in text.splitlines())
    labels, rows = rows_of(text)
    unconfuse.write("data.svm", text)
    unconfuse.ok("train", "csvm", "-c", cost, "--bias", 0, "--smoothing", "0.001", "--iterations", 20000, "--tolerance", "1e-7",
                 "data.svm", "-o", "m.uc", "-q")
    unconfuse.ok("convert", "m.uc", "ours.txt", "--to", "liblinear", "-q")
    subprocess.run(["liblinear-train", "-q", "-s", "3", "-B", "-1", "-e", "1e-6", "-c", repr(cost / 400), "data.svm", "theirs.txt"],
                   cwd=unconfuse.directory, check=True, capture_output=True)
    ours, theirs = (hinge_objective(liblinear_weights(unconfuse.read(name).decode()), labels, rows, cost)
                    for name in ["ours.txt", "theirs.txt"])
    assert abs(ours - theirs) <= 1e-3 * theirs, (ours, theirs)


@needs_liblinear
def test_a_csvm_model_predicts_in_liblinear_as_here(unconfuse):
    for classes in [["-1", "1"], ["3", "10", "2"]]:
        unconfuse.write("data.svm", blobs(classes, 300, columns=8))
        unconfuse.ok("train", "csvm", "data.svm", "-o", "m.uc", "-q")
        unconfuse.ok("convert", "m.uc", "m.txt", "--to", "liblinear", "-q")
        subprocess.run(["liblinear-predict", "data.svm", "m.txt", "theirs"], cwd=unconfuse.directory, check=True,
                       capture_output=True)
        assert unconfuse.ok("predict", "m.uc", "data.svm").out == unconfuse.read("theirs").decode()


# ---- sloppy-svm: rates ----

@pytest.fixture
def one_sided(unconfuse):
    """noisy.svm: 45% of the positives are labelled negative; test.svm is clean."""
    clean, noisy = gaussians(1500, 5, (0.45, 0), distance=1)
    unconfuse.write("noisy.svm", noisy)
    unconfuse.write("test.svm", clean)
    return unconfuse


def test_told_the_rates_sloppy_svm_is_good_where_csvm_is_not(one_sided):
    assert error(one_sided, "csvm", "noisy.svm") > 0.2  # the best possible is 15.9%
    assert error(one_sided, "sloppy-svm", "--noise-rates", "0.45,0", "noisy.svm") < 0.18
    assert error(one_sided, "sloppy-svm", "--loss", "weighted", "--noise-rates", "0.45,0", "noisy.svm") < 0.18
    assert error(one_sided, "sloppy-svm", "--positive", "-1", "--noise-rates", "0,0.45", "noisy.svm") < 0.18
    assert error(one_sided, "sloppy-svm", "--noise-rates", "0,0.2", "noisy.svm") > 0.3  # the wrong way round


def test_rates_are_estimated_and_told(one_sided):
    reported = one_sided.json("train", "sloppy-svm", "--noise", "estimate", "noisy.svm", "-o", "m.uc")
    found = reported["noise_estimate"]
    assert found["positive"] - found["negative"] == pytest.approx(0.45, abs=0.15)
    assert one_sided.json("evaluate", "m.uc", "test.svm")["error"] < 0.19
    curve = found["curve"]
    assert 25 < len(curve) <= 41 and all(set(one) == {"positive", "negative", "criterion", "deviation"} for one in curve)
    known = [one for one in curve if one["criterion"] is not None]
    best = min(known, key=lambda one: one["criterion"])
    assert [best[key] for key in ["positive", "negative", "criterion"]] == [
        found[key] for key in ["positive", "negative", "criterion"]]
    for side in ["positive", "negative"]:
        near = [one[side] for one in known if one["criterion"] <= best["criterion"] + best["deviation"]]
        assert found[side + "_interval"] == [min(near), max(near)]
    out = one_sided.ok("train", "sloppy-svm", "--noise", "estimate", "noisy.svm", "-o", "m.uc").out
    assert f"estimated noise rates: {found['positive']:.3g} of the true '+1' (" in out and "of the true '-1' (" in out
    validated = one_sided.json("train", "sloppy-svm", "--noise", "estimate", "noisy.svm", "-v", 3)
    assert validated["noise_estimate"] == found and validated["folds"] == 3


def test_a_curve_has_null_where_the_labels_do_not_allow_for_the_rates(unconfuse):
    text = gaussians(300, 2, share=0.15)[0]
    unconfuse.write("data.svm", text)
    curve = unconfuse.json("train", "sloppy-svm", "--noise", "estimate", "data.svm", "-o", "m.uc")["noise_estimate"]["curve"]
    share = text.count("+1 ") / 300
    sure = [one for one in curve if abs(one["negative"] - share) > 0.02]
    assert len(sure) > 20 and all((one["criterion"] is None) == (one["negative"] > share) for one in sure)


@pytest.mark.parametrize("options, sentence", [
    (["--noise-rates", "0.5,0.5"], "noise rates 0.5 and 0.5: the matrix is singular"),
    (["--noise-rates", "0.7,0.6"], "the noise rates 0.7 and 0.6 add up to 1 or more: such labels say nothing"),
    (["--noise-rates", "0,0.4"], "of the labels are '+1', but at a noise rate of 0.4 for '-1' more than that must be: the rate "
                                 "is too high, or use --loss weighted"),
    (["--noise-rates", "0.1"], "--noise-rates 0.1: it must be two numbers"),
    (["--noise", "estimate", "--noise-rates", "0.1,0.1"],
     "--noise estimate cannot be combined with --noise-matrix, --noise-rate or --noise-rates"),
    (["--positive", "maybe"], "--positive maybe: no example has this label"),
    (["--positive-unlabelled", "--positive", "maybe"], "no example is labelled maybe, which --positive names"),
    (["--positive-unlabelled", "--bags"], "give only one of --positive-unlabelled and --bags"),
    (["--bags"], "the data have no bags: LIBSVM rows name theirs as bag:ID after the label"),
])
def test_what_sloppy_svm_cannot_do_is_one_sentence(one_sided, options, sentence):
    result = one_sided("train", "sloppy-svm", *options, "noisy.svm", "-o", "n.uc")
    assert result.returncode in [1, 2] and result.out == "" and sentence in result.err
    lines = [line for line in result.err.splitlines() if "warning" not in line]
    assert len(lines) == 1 and not (one_sided.directory / "n.uc").exists()


def test_three_classes_are_refused_by_sloppy_svm(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 90))
    train = ["train", "sloppy-svm", "data.svm", "-o", "m.uc"]
    assert "sloppy-svm is for two classes, but there are 3" in unconfuse("train", "sloppy-svm", "data.svm", "-o", "m.uc").err
    assert unconfuse.fails(1, *train, "--noise", "estimate") == "noise rates are for two classes, but there are 3"
    assert "of one or two classes, not 3" in unconfuse.fails(1, *train, "--positive-unlabelled")


def test_few_rows_say_nothing_of_rates(unconfuse):
    unconfuse.write("data.svm", "1 1:1\n-1 1:2\n" * 4)
    assert "8 examples are too few to estimate noise rates from, 10 are needed" in unconfuse.fails(
        1, "train", "sloppy-svm", "--noise", "estimate", "data.svm", "-o", "m.uc")


def test_sloppy_svm_that_was_told_nothing_warns(one_sided):
    assert "no noise rates given, so sloppy-svm equals csvm" in one_sided.ok("train", "sloppy-svm", "noisy.svm", "-o", "m.uc").err
    one_sided.ok("train", "csvm", "-c", "100", "noisy.svm", "-o", "c.uc", "-q")
    same = one_sided.ok("predict", "m.uc", "test.svm", "--scores").out == one_sided.ok("predict", "c.uc", "test.svm", "--scores").out
    assert same


def test_cost_auto_is_a_number_in_the_model(one_sided):
    for learner in [["csvm"], ["sloppy-svm", "--noise-rates", "0.45,0"], ["sloppy-svm", "--noise", "estimate"]]:
        one_sided.ok("train", *learner, "-c", "auto", "noisy.svm", "-o", "m.uc", "-q")
        assert one_sided.json("inspect", "m.uc")["settings"]["cost"] in [0.1, 1, 10, 100, 1000, 1e4, 1e5, 1e6]


# ---- positive and unlabelled ----

def hide(text, seed, share=0.5, positive="+1", name=None, other="?"):
    """Only some positives keep their label; all other rows carry `other`."""
    draw = random.Random(seed)
    lines = [line.split(" ", 1) for line in text.splitlines()]
    return "".join(f"{(name or label) if label == positive and draw.random() < share else other} {rest}\n" for label, rest in lines)


@pytest.mark.parametrize("name, other", [("+1", "-1"), ("1", "-1"), ("apple", "not-apple"), ("spam", "not-spam"), ("7", "not-7")])
def test_positives_and_question_marks_are_learned_from(unconfuse, name, other):
    clean, _ = gaussians(1200, 8, distance=1.2)
    unconfuse.write("test.svm", "".join(f"{name if line[0] == '+' else other} {line.split(' ', 1)[1]}" for line in
                                        clean.splitlines(keepends=True)))
    unconfuse.write("pu.svm", hide(clean, 1, name=name))
    naive = error(unconfuse, "csvm", "--positive-unlabelled", "pu.svm")
    assert sorted(unconfuse.json("inspect", "m.uc")["classes"]) == sorted([name, other])
    reported = error(unconfuse, "sloppy-svm", "--positive-unlabelled", "--noise-rates", "0.5,0", "pu.svm")
    assert reported < 0.14 < naive  # the best possible is 11.5%
    found = unconfuse.json("train", "sloppy-svm", "--positive-unlabelled", "pu.svm", "-o", "m.uc")["noise_estimate"]
    assert found["positive"] == pytest.approx(0.5, abs=0.1) and found["negative"] == 0
    assert all(one["negative"] == 0 for one in found["curve"]) and 11 <= len(found["curve"]) <= 13
    assert unconfuse.json("evaluate", "m.uc", "test.svm")["error"] < 0.14
    named = error(unconfuse, "sloppy-svm", "--positive-unlabelled", "--positive", name, "--noise-rates", "0.5,0", "pu.svm")
    assert named == reported


@pytest.mark.parametrize("other", ["?", "-1", "both"])
def test_unlabelled_rows_may_be_called_negative(unconfuse, other):
    clean, _ = gaussians(800, 9, distance=1.2)
    unconfuse.write("test.svm", clean)
    text = hide(clean, 2, other="-1" if other == "both" else other)
    if other == "both":
        lines = text.splitlines()
        text = "\n".join("?" + line[2:] if line.startswith("-1") and i % 3 == 0 else line for i, line in enumerate(lines)) + "\n"
        assert text.count("?") > 50
    unconfuse.write("pu.svm", text)
    assert error(unconfuse, "sloppy-svm", "--positive-unlabelled", "--noise-rates", "0.5,0", "pu.svm") < 0.14
    unconfuse.write("expected.svm", text.replace("?", "-1"))
    unconfuse.ok("train", "sloppy-svm", "--noise-rates", "0.5,0", "expected.svm", "-o", "e.uc", "-q")
    assert unconfuse.ok("predict", "m.uc", "test.svm", "--scores").out == unconfuse.ok("predict", "e.uc", "test.svm", "--scores").out


def test_positives_and_unlabelled_on_a_ring(unconfuse):
    unconfuse.ok("generate", "rp-ring", "--examples", 600, "--test", "test.svm", "--test-examples", 1000, "-o", "clean.svm", "-q")
    unconfuse.write("pu.svm", hide(unconfuse.read("clean.svm").decode(), 1))
    pu = ["--positive-unlabelled", "--map", "kgs", "--width", "auto", "pu.svm"]
    assert error(unconfuse, "csvm", "-c", "100", *pu) > 0.3
    assert error(unconfuse, "sloppy-svm", *pu) < 0.15
    validated = unconfuse.json("train", "sloppy-svm", "--positive-unlabelled", "--noise-rates", "0.5,0", "pu.svm", "-v", 5, "--map", "kgs")
    assert validated["examples"] == 600 and validated["unlabelled"] == 0


def test_a_mapped_file_keeps_its_question_marks(unconfuse):
    unconfuse.write("pu.svm", hide(gaussians(300, 3)[0], 2))
    unconfuse.ok("convert", "pu.svm", "pu.ucd", "-q")
    before = unconfuse.read("pu.ucd")
    train = ["train", "sloppy-svm", "--positive-unlabelled", "--noise-rates", "0.5,0"]
    unconfuse.ok(*train, "pu.ucd", "-o", "a.uc", "-q")
    unconfuse.ok(*train, "pu.svm", "-o", "b.uc", "-q")
    assert unconfuse.read("pu.ucd") == before
    assert unconfuse.ok("predict", "a.uc", "pu.svm", "--scores").out == unconfuse.ok("predict", "b.uc", "pu.svm", "--scores").out


@pytest.mark.parametrize("text, sentence", [
    ("? 1:1\n? 1:2\n", "data.svm: no example is labelled positive"),
    ("1 1:1\n1 1:2\n", "data.svm: every example is labelled 1: unlabelled ones are needed too"),
])
def test_labels_without_positives_or_unlabelled_are_refused(unconfuse, text, sentence):
    unconfuse.write("data.svm", text)
    assert unconfuse.fails(1, "train", "sloppy-svm", "--positive-unlabelled", "data.svm", "-o", "m.uc") == sentence


# ---- bags ----

def bags(count, seed, names=("-1", "1"), size=4):
    """Positive bags have about half truly positive examples, at least one; negative ones have none."""
    draw = random.Random(seed)
    lines = []
    for b in range(count):
        positive = b % 2 == 0
        sure = draw.randrange(size)
        for i in range(size):
            y = positive and (i == sure or draw.random() < 0.35)
            lines.append(f"{names[positive]} bag:b{b} 1:{draw.gauss(2 if y else -2, 1):.6g} 2:{draw.gauss(0, 1):.6g}\n")
    draw.shuffle(lines)
    return "".join(lines)


def best_of_bags(unconfuse, text, model, data, positive):
    """The bags' confusion, by hand: a bag is positive when an example of it is predicted so."""
    head, *lines = [line.split("\t") for line in unconfuse.ok("predict", model, data, "--scores").out.splitlines()]
    column, other = head.index(positive), 3 - head.index(positive)
    label, best = {}, {}
    for line, row in zip(text.splitlines(), lines, strict=True):
        bag = line.split()[1]
        label[bag] = line.split()[0]
        best[bag] = max(best.get(bag, -math.inf), float(row[column]) - float(row[other]))
    wrong = sum((best[bag] > 0) != (label[bag] == positive) for bag in best)
    return len(best), wrong


def test_bags_are_learned_from_and_scored_by_their_best_example(unconfuse):
    train, test = bags(300, 1), bags(101, 2)
    unconfuse.write("train.svm", train)
    unconfuse.write("test.svm", test)
    reported = unconfuse.json("train", "sloppy-svm", "--bags", "train.svm", "-o", "m.uc")
    assert reported["noise_estimate"]["positive"] == 0 and reported["noise_estimate"]["negative"] > 0.1
    found = unconfuse.json("evaluate", "m.uc", "test.svm", "--bags")
    count, wrong = best_of_bags(unconfuse, test, "m.uc", "test.svm", "1")
    assert found["examples"] == count == 101 and found["error"] == pytest.approx(wrong / count)
    assert found["error"] < 0.15
    assert unconfuse.json("evaluate", "m.uc", "test.svm")["examples"] == 404
    unconfuse.ok("train", "sloppy-svm", "--bags", "--noise-rates", "0,0.3", "train.svm", "-o", "m.uc", "-q")
    count, wrong = best_of_bags(unconfuse, test, "m.uc", "test.svm", "1")
    assert unconfuse.json("evaluate", "m.uc", "test.svm", "--bags")["error"] == pytest.approx(wrong / count)
    assert unconfuse.json("train", "sloppy-svm", "--bags", "--noise-rates", "0,0.3", "train.svm", "-v", 4)["folds"] == 4


def test_the_positive_class_of_bags_may_be_named(unconfuse):
    text = bags(200, 3, names=("zebra", "ant"))
    unconfuse.write("train.svm", text)
    reported = unconfuse.json("train", "sloppy-svm", "--bags", "--positive", "ant", "train.svm", "-o", "m.uc")
    assert reported["noise_estimate"]["positive"] == 0 and reported["noise_estimate"]["negative"] > 0
    found = unconfuse.json("evaluate", "m.uc", "train.svm", "--bags", "--positive", "ant")
    count, wrong = best_of_bags(unconfuse, text, "m.uc", "train.svm", "ant")
    assert found["examples"] == count == 200 and found["error"] == pytest.approx(wrong / count) and found["error"] < 0.15
    assert unconfuse.json("evaluate", "m.uc", "train.svm", "--bags") == found  # the model remembers it
    other = unconfuse.json("evaluate", "m.uc", "train.svm", "--bags", "--positive", "zebra")
    assert other["error"] == pytest.approx(best_of_bags(unconfuse, text, "m.uc", "train.svm", "zebra")[1] / 200)
    assert other["error"] > 0.3
    assert unconfuse.fails(1, "evaluate", "m.uc", "train.svm", "--bags", "--positive", "bee").endswith(
        "--positive bee: the classes are ant and zebra")


@pytest.mark.parametrize("learner", [["pa"], ["csvm"], ["sloppy-svm"], ["uma", "--noise-rate", "0.1"]])
def test_a_positive_class_that_nothing_asks_for_is_refused(one_sided, learner):
    sentence = "--positive says which class the first of --noise-rates is for; give both"
    assert one_sided.fails(2, "train", *learner, "--positive", "-1", "noisy.svm", "-o", "m.uc") == sentence
    one_sided.ok("train", "csvm", "noisy.svm", "-o", "m.uc", "-q")
    assert one_sided.fails(2, "evaluate", "m.uc", "noisy.svm", "--positive", "-1") == sentence


def test_bags_of_a_csv_file_are_in_a_column(unconfuse):
    lines = [line.replace("bag:", "").replace("1:", "", 1).replace("2:", "").split() for line in bags(120, 4, names=("no", "yes")).splitlines()]
    unconfuse.write("data.csv", "label,patient,a,b\n" + "".join(",".join(line) + "\n" for line in lines))
    bag = ["--bag", "patient", "--label", "label"]
    unconfuse.ok("train", "sloppy-svm", "--bags", *bag, "data.csv", "-o", "m.uc", "-q")
    found = unconfuse.json("evaluate", "m.uc", "data.csv", "--bags", *bag)
    assert found["examples"] == 120 and found["error"] < 0.2


def test_unlabelled_bags_are_skipped_with_a_count(unconfuse):
    unconfuse.write("train.svm", bags(60, 5))
    unconfuse.write("test.svm", bags(20, 6) + "? bag:x 1:1\n? bag:x 1:2\n")
    unconfuse.ok("train", "sloppy-svm", "--bags", "train.svm", "-o", "m.uc", "-q")
    result = unconfuse.ok("evaluate", "m.uc", "test.svm", "--bags", "--json")
    assert '"examples": 20' in result.out and "1 unlabelled" in result.err


@pytest.mark.parametrize("text, sentence", [
    ("1 bag:a 1:1\n1 bag:a 1:2\n", "data.svm: all examples are in one bag, where two are needed"),
    ("1 bag:a 1:1\n-1 bag:a 1:2\n", "data.svm: bag a has examples labelled 1 and -1: a bag has one label"),
    ("1 bag:a 1:1\n? bag:b 1:2\n", "data.svm: example 2 has no label"),
    ("1 bag:a 1:1\n1 bag:b 1:2\n", "data.svm: only one class, '1', where two are needed"),
    ("1 1:1\n-1 1:2\n", "data.svm: the data have no bags: LIBSVM rows name theirs as bag:ID after the label, CSV files in a "
                        "column that --bag names"),
])
def test_bags_that_are_not_are_refused(unconfuse, text, sentence):
    unconfuse.write("data.svm", text)
    assert unconfuse.fails(1, "train", "sloppy-svm", "--bags", "data.svm", "-o", "m.uc") == sentence


def test_bags_that_cannot_be_evaluated_are_refused(unconfuse):
    unconfuse.write("train.svm", bags(60, 5))
    unconfuse.ok("train", "sloppy-svm", "--bags", "train.svm", "-o", "m.uc", "-q")
    unconfuse.write("plain.svm", "1 1:1\n-1 1:2\n")
    assert "the data have no bags" in unconfuse.fails(1, "evaluate", "m.uc", "plain.svm", "--bags")
    unconfuse.write("both.svm", "1 bag:a 1:1\n-1 bag:a 1:2\n")
    assert "has examples of both labels" in unconfuse.fails(1, "evaluate", "m.uc", "both.svm", "--bags")
    unconfuse.write("three.svm", blobs(["a", "b", "c"], 60))
    unconfuse.ok("train", "csvm", "three.svm", "-o", "three.uc", "-q")
    assert "--positive is for two classes, but the model has 3" in unconfuse.fails(
        1, "evaluate", "three.uc", "train.svm", "--bags", "--positive", "a")


@pytest.mark.parametrize("rule", ["instance", "witness"])
@pytest.mark.parametrize("learner", ["csvm", "sloppy-svm"])
def test_bag_rules_find_the_positive_examples(unconfuse, learner, rule):
    train, test = bags(200, 7, size=6), bags(200, 8, size=6)
    unconfuse.write("train.svm", train)
    unconfuse.write("test.svm", test)
    reported = unconfuse.json("train", learner, "--bags", "--bag-rule", rule, "train.svm", "-o", "m.uc")
    assert reported["settings"]["bag-rule"] == rule and reported["alternations"] >= 1
    truly = sum(float(line.split()[2].split(":")[1]) > 0 for line in train.splitlines())
    assert reported["positive_examples"] == 100 if rule == "witness" else abs(reported["positive_examples"] - truly) < 40
    found = unconfuse.json("evaluate", "m.uc", "test.svm", "--bags")
    count, wrong = best_of_bags(unconfuse, test, "m.uc", "test.svm", "1")
    assert found["examples"] == count == 200 and found["error"] == pytest.approx(wrong / count) and found["error"] < 0.12
    unconfuse.ok("train", "csvm", "--bags", "train.svm", "-o", "spread.uc", "-q")
    assert unconfuse.json("evaluate", "spread.uc", "test.svm", "--bags")["error"] > 1.5 * found["error"]
    for threads in (2, 7):
        unconfuse.ok("train", learner, "--bags", "--bag-rule", rule, "train.svm", "-o", "n.uc", "-q", "--threads", threads)
        assert unconfuse.read("n.uc") == unconfuse.read("m.uc")


def test_bag_rules_on_a_map_with_everything_chosen(unconfuse):
    """Positive examples are near 0, all others on a ring around it: no line separates them."""
    draw = random.Random(3)

    def ringed(count):
        lines = []
        for b in range(count):
            for i in range(4):
                inside = b % 2 == 0 and i == 0
                angle, radius = draw.uniform(0, 2 * math.pi), draw.gauss(0.3 if inside else 3, 0.3)
                lines.append(f"{'+1' if b % 2 == 0 else '-1'} bag:{b} 1:{radius * math.cos(angle):.5f} 2:{radius * math.sin(angle):.5f}\n")
        return "".join(lines)

    unconfuse.write("train.svm", ringed(120))
    unconfuse.write("test.svm", ringed(120))
    unconfuse.ok("train", "csvm", "--bags", "--bag-rule", "witness", "--map", "kgs", "--dimension", "40", "--width", "auto",
                 "-c", "auto", "train.svm", "-o", "m.uc", "-q")
    assert unconfuse.json("evaluate", "m.uc", "test.svm", "--bags")["error"] < 0.05


def test_bags_of_three_classes(unconfuse):
    """A bag has one example of its class; the others are of no class."""
    draw = random.Random(4)
    centres = {"ant": (4, 0), "bee": (-4, 0), "cow": (0, 4)}

    def mixed(count):
        lines = []
        for b in range(count):
            name = list(centres)[b % 3]
            for i in range(5):
                x, y = centres[name] if i == 0 else (0, -1)
                lines.append(f"{name} bag:{b} 1:{draw.gauss(x, 1):.5f} 2:{draw.gauss(y, 1):.5f}\n")
        draw.shuffle(lines)
        return "".join(lines)

    test = mixed(150)
    unconfuse.write("train.svm", mixed(300))
    unconfuse.write("test.svm", test)
    unconfuse.ok("train", "csvm", "--bags", "--bag-rule", "witness", "train.svm", "-o", "m.uc", "-q")
    head, *rows = [line.split("\t") for line in unconfuse.ok("predict", "m.uc", "test.svm", "--scores").out.splitlines()]
    best, label = {}, {}
    for line, row in zip(test.splitlines(), rows, strict=True):
        name, bag = line.split()[:2]
        label[bag] = name
        best[bag] = max(best.get(bag, (-math.inf, "")), *((float(row[head.index(k)]), k) for k in centres))
    wrong = sum(best[bag][1] != label[bag] for bag in best)
    found = unconfuse.json("evaluate", "m.uc", "test.svm", "--bags")
    assert found["examples"] == 150 and found["error"] == pytest.approx(wrong / 150) and found["error"] < 0.08
    unconfuse.write("both.svm", "ant bag:a 1:1\nbee bag:a 1:2\n")
    assert "bag number 1 has examples of two labels" in unconfuse.fails(1, "evaluate", "m.uc", "both.svm", "--bags")


@pytest.mark.parametrize("words, status, sentence", [
    (["--bag-rule", "witness"], 1, "--bag-rule witness is for labels of bags: say --bags"),
    (["--bag-rule", "instance"], 1, "--bag-rule instance is for labels of bags: say --bags"),
    (["--bags", "--bag-rule", "vote"], 2, "--bag-rule vote: it must be one of spread|instance|witness"),
])
def test_bag_rules_that_are_none_are_refused(unconfuse, words, status, sentence):
    unconfuse.write("train.svm", bags(20, 5))
    assert sentence in unconfuse.fails(status, "train", "csvm", *words, "train.svm", "-o", "m.uc")


def test_the_model_remembers_which_class_is_positive(unconfuse):
    """Words: the later one would be `well`."""
    rows = ["x,patient,state"]
    for bag in range(40):
        sick = bag % 2 == 0
        for i in range(4):
            rows.append(f"{(2 if sick and i == 0 else -1) + 0.01 * i},p{bag},{'sick' if sick else 'well'}")
    unconfuse.write("bags.csv", "\n".join(rows).encode() + b"\n")
    train = ["train", "sloppy-svm", "--bags", "--bag", "patient", "--noise-rates", "0,0.4"]
    assert "positive class: 'sick'\n" in unconfuse.ok(*train, "--positive", "sick", "bags.csv", "-o", "m.uc").out
    assert unconfuse.json("inspect", "m.uc")["settings"]["positive"] == "sick"
    report = unconfuse.json("evaluate", "m.uc", "bags.csv", "--bags", "--bag", "patient")
    assert report["examples"] == 40 and report["error"] == 0
    assert "positive class: 'well' (--positive NAME for the other)" in unconfuse.ok(
        "train", "csvm", "--bag", "patient", "bags.csv", "-o", "n.uc").out


def test_one_class_beside_question_marks_names_the_option_for_that(unconfuse):
    unconfuse.write("pu.svm", b"yes 1:1\n? 1:2\nyes 1:3\n? 1:4\n")
    result = unconfuse("train", "sloppy-svm", "pu.svm", "-o", "m.uc")
    assert result.returncode == 1 and "use --positive-unlabelled" in result.err


def test_a_column_ten_billion_times_as_large_as_the_other_does_not_decide(unconfuse):
    numbers = random.Random(3)
    rows = []
    for _ in range(200):
        large, other = numbers.gauss(0, 1), numbers.gauss(0, 1)
        rows.append(f"{'+1' if other > 0 else '-1'} 1:{1e10 * large:.6g} 2:{other:.6g}\n")
    unconfuse.write("sizes.svm", "".join(rows).encode())
    for learner in [["sloppy-svm", "--noise-rates", "0.05,0.02"], ["csvm"], ["logistic"]]:
        result = unconfuse.ok("train", *learner, "sizes.svm", "-o", "m.uc", "--json")
        assert "warning" not in result.err and json.loads(result.out)["training_error"] < 0.1


def test_rates_that_are_a_guess_are_called_so(unconfuse):
    unconfuse.write("same.svm", b"".join(b"%s 1:1\n" % (b"+1" if i % 2 else b"-1") for i in range(60)))
    assert "the noise rates are a guess" in unconfuse.ok("train", "sloppy-svm", "--noise", "estimate", "same.svm", "-o", "m.uc").err


def test_fewer_bags_than_folds_are_enough_to_estimate(unconfuse):
    numbers = random.Random(3)
    unconfuse.write("bags.svm", "".join(
        f"{'-1' if bag == 1 else '+1'} bag:b{bag} 1:{(1 if bag != 1 else -1) + numbers.gauss(0, .3):.4f}\n"
        for bag in range(3) for _ in range(20)).encode())
    assert unconfuse.json("train", "sloppy-svm", "--bags", "bags.svm", "-o", "m.uc")["noise_estimate"]["positive"] == 0
    assert "that of examples, not of bags" in unconfuse.fails(
        2, "evaluate", "m.uc", "bags.svm", "--bags", "--noise-rates", "0.1,0.1")
