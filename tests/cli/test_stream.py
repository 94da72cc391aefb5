"""stream: online, in constant memory, and resumable."""
import json
import math
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import time

import pytest

from conftest import PROGRAM, blobs

FIELDS = ["rounds", "correct", "ratio_correct", "curve", "per_class", "seconds", "rounds_before", "unknown_labels",
          "drift", "expired", "agreement"]
FULL = ["perceptron", "pa", "spa", "copa", "arow", "scw"]
PARTIAL = ["cspa", "cspa-plus", "banditron", "bpa", "confidit", "soba", "onebit"]
MAP = ["--map", "landmarks", "--dimension", "80", "--width", "2"]


@pytest.fixture
def data(unconfuse):
    return unconfuse.write("data.svm", blobs(["a", "b", "c"], 300))


@pytest.fixture
def rings(unconfuse):
    """Two classes that no line tells apart."""
    draw = random.Random(5)
    lines = []
    for _ in range(1500):
        k = draw.randrange(2)
        angle, radius = draw.uniform(0, 2 * math.pi), draw.gauss(1 + k, 0.15)
        lines.append(f"{'io'[k]} 1:{radius * math.cos(angle):.5f} 2:{radius * math.sin(angle):.5f}\n")
    return unconfuse.write("rings.svm", "".join(lines))


def halves(unconfuse, text, at=None):
    lines = text.splitlines(keepends=True)
    at = at or len(lines) // 2
    unconfuse.write("whole.svm", "".join(lines))
    unconfuse.write("first.svm", "".join(lines[:at]))
    unconfuse.write("second.svm", "".join(lines[at:]))


def labels_of(unconfuse, name):
    return [line.split()[0] for line in unconfuse.read(name).decode().splitlines()]


def peak_of(unconfuse, *arguments):
    """Kilobytes. A process begins with the peak of the one that started it: a small one, not this."""
    if b"__asan_init" in pathlib.Path(PROGRAM).read_bytes():
        pytest.skip("a sanitizer keeps memory that was freed")
    measure = "import os, sys; child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); " \
              "_, status, usage = os.wait4(child, 0); print(usage.ru_maxrss); sys.exit(status != 0)"
    return int(subprocess.run([sys.executable, "-c", measure, PROGRAM, "stream", *arguments, "-q", "--threads", "2"],
                              cwd=unconfuse.directory, stdout=subprocess.PIPE, check=True).stdout)


def test_json_has_exactly_the_documented_fields_and_they_agree(unconfuse, data):
    result = unconfuse.json("stream", "spa", data)
    assert list(result) == FIELDS
    assert result["rounds"] == 300 and result["ratio_correct"] == pytest.approx(result["correct"] / 300)
    assert [point["round"] for point in result["curve"]] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert result["curve"][-1]["ratio_correct"] == pytest.approx(result["ratio_correct"])
    correct = before = 0
    for point in result["curve"]:
        assert list(point) == ["round", "ratio_correct", "recent_ratio", "ratio_interval", "recent_interval", "recent_recall"]
        assert all(0 <= point[f"{one}_interval"][0] <= value <= point[f"{one}_interval"][1] <= 1 for one, value in (("ratio", point["ratio_correct"]), ("recent", point["recent_ratio"])))
        correct += point["recent_ratio"] * (point["round"] - before)
        before = point["round"]
        assert point["ratio_correct"] == pytest.approx(correct / before)
    assert [entry["class"] for entry in result["per_class"]] == ["a", "b", "c"]
    assert sum(entry["examples"] for entry in result["per_class"]) == 300
    assert sum(round(entry["examples"] * entry["recall"]) for entry in result["per_class"]) == result["correct"]


def test_progress_table_on_standard_error_and_summary_on_standard_output(unconfuse, data):
    result = unconfuse.ok("stream", "spa", data)
    lines = result.err.splitlines()
    assert lines[0].split() == ["round", "correct", "recent", "last", "proposal"]
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "4", "8", "16", "32", "64", "128", "256", "300"]
    assert all(line.endswith(("right", "wrong")) for line in lines[1:])
    assert result.out.startswith("300 rounds, ") and "\na " in result.out
    assert unconfuse.ok("stream", "spa", data, "-q").err == ""


def test_a_perceptron_by_hand(unconfuse):
    # Both score 0: the first class is proposed. Then w_a = -x, w_b = +x for x = (1), and so on.
    unconfuse.write("data.svm", "b 1:1\nb 1:1\na 1:1\na 1:1\n")
    result = unconfuse.json("stream", "perceptron", "data.svm")
    assert [point["ratio_correct"] for point in result["curve"]] == [0, 0.5, 0.5]  # wrong, right, wrong, right (a tie)
    assert result["correct"] == 2


def test_streaming_once_is_training_once_in_the_order_of_the_file(unconfuse, data):
    unconfuse.ok("stream", "spa", data, "-o", "stream.uc")
    unconfuse.ok("train", "spa", data, "-o", "train.uc", "--passes", "1", "--no-shuffle")
    scores = [unconfuse.ok("predict", model, data, "--scores").stdout for model in ["stream.uc", "train.uc"]]
    assert scores[0] == scores[1]
    error = unconfuse.json("train", "spa", data, "-o", "train.uc", "--passes", "1", "--no-shuffle")["training_error"]
    assert unconfuse.json("stream", "spa", data)["ratio_correct"] == pytest.approx(1 - error)


# ---- standard input ----

def test_standard_input_learns_classes_as_they_appear_or_from_the_option(unconfuse, data):
    text = unconfuse.read(data)
    appearing = unconfuse.json("stream", "spa", "-", stdin=text)
    assert appearing["rounds"] == 300
    order = list(dict.fromkeys(line.split()[0] for line in text.decode().splitlines()))
    assert [entry["class"] for entry in appearing["per_class"]] == order
    reported = unconfuse.json("stream", "spa", "-", "--classes", "a,b,c", stdin=text)
    from_file = unconfuse.json("stream", "spa", data)
    for result in (reported, from_file):
        del result["seconds"]
    assert reported == from_file


def test_a_pipe_is_read_once_like_standard_input(unconfuse, data):
    script = f"{unconfuse.path} stream spa <(cat {data}) --json -q"
    result = subprocess.run(["bash", "-c", script], cwd=unconfuse.directory, capture_output=True, check=True)
    assert json.loads(result.stdout)["rounds"] == 300


def test_classes_that_are_given_change_nothing_else_of_a_file(unconfuse):
    """Its columns are known beforehand, for the metric above all."""
    draw = random.Random(2)
    lines = [f"{'ab'[i % 2]}" + "".join(f" {j}:{draw.gauss(i % 2, 3):.4f}" for j in range(1, 4 if i < 150 else 1501))
             for i in range(300)]
    unconfuse.write("data.svm", "\n".join(lines) + "\n")
    models = []
    for words in [[], ["--classes", "a,b"]]:
        unconfuse.ok("stream", "cspa-plus", "data.svm", *words, "-o", "m.uc")
        models.append(unconfuse.read("m.uc"))
    assert models[0] == models[1]
    unconfuse.write("empty.svm", "")
    assert unconfuse.fails(1, "stream", "cspa", "empty.svm", "--classes", "a,b").startswith("empty.svm")


def test_a_file_that_changes_while_it_is_read_gets_a_sentence(unconfuse):
    """It is replaced while the first pass reads it."""
    def is_being_read(process, path):
        for link in os.listdir(f"/proc/{process.pid}/fd"):
            try:
                place = int(pathlib.Path(f"/proc/{process.pid}/fdinfo/{link}").read_text().split()[1])
                if place > 100_000 and os.readlink(f"/proc/{process.pid}/fd/{link}") == str(path):
                    return True
            except FileNotFoundError:  # closed in between
                pass
        return False

    path = (unconfuse.directory / "data.svm").resolve()
    path.write_text("b 1:1\na 1:2\n" * 500_000)
    (unconfuse.directory / "other.svm").write_text("c 1:1\n")
    process = subprocess.Popen([PROGRAM, "stream", "spa", "data.svm", "-q"], cwd=unconfuse.directory,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not is_being_read(process, path):
        pass
    os.replace(unconfuse.directory / "other.svm", path)
    _, err = process.communicate()
    assert process.returncode == 1
    assert err == "unconfuse: data.svm: label c of example 1 is not among the classes: the file has changed since it " \
                  "was first read\n"


def test_a_label_that_was_not_given_is_refused(unconfuse):
    assert unconfuse.fails(1, "stream", "spa", "-", "--classes", "a,b", "-q", stdin="a 1:1\nz 1:1\n") == \
        "-: label z of example 2 is not among --classes a,b"


def test_unlabelled_rows_are_refused(unconfuse):
    unconfuse.write("data.svm", "a 1:1\n? 1:1\nb 1:1\n")
    assert unconfuse.fails(1, "stream", "spa", "data.svm", "-q") == \
        "data.svm: example 2 has no label ('?'), which spa cannot use"


def test_data_without_labels_are_refused(unconfuse):
    unconfuse.write("data.csv", "x,z\n1,2\n3,4\n")
    for words in [[], ["--shuffle"], ["--classes", "a,b"]]:
        assert unconfuse.fails(1, "stream", "spa", "data.csv", "--label", "none", *words) == \
            "data.csv: the data have no labels"
    assert unconfuse.fails(1, "stream", "spa", "-", "--label", "none", stdin=unconfuse.read("data.csv")) == \
        "-: the data have no labels"


def test_passes_count_every_round(unconfuse, data):
    result = unconfuse.json("stream", "spa", data, "--passes", "3")
    assert result["rounds"] == 900


def test_shuffling_depends_on_the_seed_only(unconfuse, data):
    models = []
    for seed in [1, 1, 2]:
        unconfuse.ok("stream", "spa", data, "--shuffle", "--seed", seed, "-o", "m.uc")
        models.append(unconfuse.read("m.uc"))
    assert models[0] == models[1] != models[2]
    unconfuse.ok("stream", "spa", data, "-o", "m.uc")
    assert unconfuse.json("stream", "spa", data, "--shuffle")["rounds"] == 300


def test_delay_changes_proposals_and_a_long_one_stops_learning(unconfuse, data):
    plain, late = unconfuse.json("stream", "spa", data), unconfuse.json("stream", "spa", data, "--delay", "5")
    assert plain["rounds"] == late["rounds"] == 300 and plain["curve"] != late["curve"]
    never = unconfuse.json("stream", "spa", data, "--delay", "300")
    first = [line.split()[0] for line in unconfuse.read(data).decode().splitlines()]
    assert never["correct"] == first.count("a")  # nothing is learned before the end: always the first class


def test_late_feedback_still_reaches_the_model(unconfuse):
    unconfuse.write("data.svm", "a 1:1\nb 2:1\n")
    unconfuse.ok("stream", "pa", "data.svm", "--delay", "100", "-o", "m.uc")
    assert unconfuse.json("inspect", "m.uc")["summary"]["rounds"] == 2
    assert unconfuse.ok("predict", "m.uc", "data.svm").out == "a\nb\n"


def test_missing_feedback(unconfuse, data):
    nothing = unconfuse.json("stream", "spa", data, "--missing", "1", "-o", "m.uc")
    first = [line.split()[0] for line in unconfuse.read(data).decode().splitlines()]
    assert nothing["correct"] == first.count("a")
    assert unconfuse.json("inspect", "m.uc")["summary"]["rounds"] == 0
    unconfuse.ok("stream", "spa", data, "--missing", "0.5", "-o", "m.uc")
    assert 110 < unconfuse.json("inspect", "m.uc")["summary"]["rounds"] < 190


def test_answers_that_are_false(unconfuse, data):
    right = unconfuse.json("stream", "cspa", data)["correct"]
    assert unconfuse.json("stream", "cspa", data, "--flip-feedback", "none")["correct"] == right
    flipped = unconfuse.json("stream", "cspa", data, "--flip-feedback", "0.3,0.3")["correct"]
    assert 75 < flipped < right  # four classes, 300 rounds; right proposals are counted, whatever was answered
    for noise in ["0.3,0.3", "estimate"]:
        unconfuse.ok("stream", "onebit", data, "--flip-feedback", "0.3,0.3", "--feedback-noise", noise, "-o", "m.uc")
        assert unconfuse.json("inspect", "m.uc")["settings"]["feedback-noise"] == noise
    assert unconfuse.fails(2, "stream", "onebit", data, "--feedback-noise", "0.6,0.1") == \
        "--feedback-noise 0.6,0.1: it must be two numbers with a comma between them, both from 0 to 0.49, or none, or estimate"
    assert unconfuse.fails(2, "stream", "spa", data, "--flip-feedback", "0.1,0.1") == \
        "--flip-feedback changes answers of right or wrong, and with --feedback full there are none: use unconfuse noise apply"


def test_labels_after_some_of_the_wrong_answers(unconfuse):
    right = {"0": 0, "0.2": 0, "1": 0}  # proposals in six streams of classes that are hard to find
    for seed in range(1, 7):
        data = unconfuse.write("eight.svm", blobs(list("abcdefgh"), 300, seed=seed))
        mixed = ["stream", "onebit", data, "--feedback", "mixed", "--label-share"]
        rounds = {share: unconfuse.json(*mixed, share)["correct"] for share in right}
        assert rounds["0"] == unconfuse.json("stream", "onebit", data)["correct"]
        assert rounds["1"] == unconfuse.json("stream", "onebit", data, "--feedback", "full")["correct"]
        right = {share: right[share] + rounds[share] for share in right}
    assert 1.1 * right["0"] < right["0.2"] < right["1"] / 1.05
    assert unconfuse.fails(2, "stream", "cspa", data, "--feedback", "mixed") == \
        "--feedback mixed: cspa does not learn from both labels and right or wrong; learners that do: onebit"
    assert unconfuse.fails(2, "stream", "onebit", data, "--label-share", "0.2") == "--label-share is for --feedback mixed only"
    sentence = unconfuse.fails(1, "stream", "onebit", "-", "--feedback", "mixed", stdin=unconfuse.read(data))
    assert sentence == "--feedback mixed on standard input needs --classes a,b,c"


@pytest.mark.parametrize("share", ["0.1", "0.4"])
def test_a_stream_of_false_answers_and_some_labels_resumes(unconfuse, data, share):
    options = ["--feedback", "mixed", "--label-share", share, "--flip-feedback", "0.1,0.2"]
    lines = unconfuse.read(data).splitlines(keepends=True)
    unconfuse.write("first.svm", b"".join(lines[:110]).decode())
    unconfuse.write("second.svm", b"".join(lines[110:]).decode())
    own = ["--feedback-noise", "estimate"]
    unconfuse.ok("stream", "onebit", data, *options, *own, "-o", "whole.uc")
    unconfuse.ok("stream", "onebit", "first.svm", *options, *own, "-o", "half.uc")
    unconfuse.ok("stream", "onebit", "second.svm", *options, "--resume", "half.uc", "-o", "parts.uc")
    assert unconfuse.read("whole.uc") == unconfuse.read("parts.uc")


@pytest.mark.parametrize("scale", ["range", "standard", "maxabs"])
def test_scaling_learned_in_a_first_pass_is_that_of_the_whole_data(unconfuse, data, scale):
    unconfuse.ok("stream", "spa", data, "--scale", scale, "-o", "stream.uc")
    unconfuse.ok("train", "spa", data, "--scale", scale, "-o", "train.uc", "--passes", "1", "--no-shuffle")
    scores = []
    for model in ["stream.uc", "train.uc"]:
        lines = unconfuse.ok("predict", model, data, "--scores").out.splitlines()[1:]
        scores.append([float(text) for line in lines for text in line.split("\t")[1:]])
    assert scores[0] == pytest.approx(scores[1], rel=1e-9, abs=1e-12)


def test_sparse_data_accept_maxabs_only(unconfuse):
    unconfuse.write("sparse.svm", "".join(f"{'ab'[i % 2]} {i + 1}:1\n" for i in range(100)))
    sentence = unconfuse.fails(1, "stream", "spa", "sparse.svm", "--scale", "range")
    assert sentence.startswith("--scale range would turn the zeros of sparse data into other values: use --scale maxabs")
    unconfuse.ok("stream", "spa", "sparse.svm", "--scale", "maxabs")


# ---- when a class is known ----

def test_a_class_is_known_when_its_label_is_given_not_before(unconfuse):
    text = "a 1:1\na 1:1\nb 2:1\nb 2:1\nb 2:1\nb 2:1\n"
    at_once = unconfuse.ok("stream", "pa", "-", stdin=text)
    assert at_once.err.splitlines()[1].split()[3:] == ["-,", "wrong"]  # nothing is known: nothing is proposed
    assert unconfuse.json("stream", "pa", "-", stdin=text)["correct"] == 4
    late = unconfuse.json("stream", "pa", "-", "--delay", "2", stdin=text)
    # a is reported after the third proposal, b after the fifth; the sixth is the first that can be b.
    assert [entry["class"] for entry in late["per_class"]] == ["a", "b"]
    assert late["correct"] == 1 and late["curve"][-1]["recent_ratio"] == 0.5
    assert late["unknown_labels"] == 0


def test_a_class_whose_label_is_never_given_is_never_known(unconfuse, data):
    result = unconfuse("stream", "pa", "-", "--missing", "1", "--json", "-q", stdin=unconfuse.read(data))
    reported = json.loads(result.out)
    assert reported["correct"] == 0 and reported["unknown_labels"] == 300
    assert sum(entry["examples"] for entry in reported["per_class"]) == 300
    assert all(entry["recall"] == 0 for entry in reported["per_class"])
    assert "300 of 300 rounds had a label that is not among the classes" in result.err
    assert unconfuse.fails(1, "stream", "pa", "-", "--missing", "1", "-q", "-o", "m.uc", stdin=unconfuse.read(data)) == \
        "no labels were seen, so there is no model to write to m.uc"


def test_classes_of_standard_input_come_in_the_order_in_which_they_are_given(unconfuse, data):
    plain = unconfuse.json("stream", "spa", "-", stdin=unconfuse.read(data))
    late = unconfuse.json("stream", "spa", "-", "--delay", "7", stdin=unconfuse.read(data))
    order = list(dict.fromkeys(labels_of(unconfuse, data)))
    for result in [plain, late]:
        assert [entry["class"] for entry in result["per_class"]] == order
    assert late["correct"] < plain["correct"]


def test_a_single_class_is_refused_where_two_are_needed(unconfuse):
    unconfuse.write("one.svm", "a 1:1\na 1:2\n")
    assert unconfuse.fails(1, "stream", "spa", "one.svm") == "one.svm: only one class, 'a', where two are needed"
    assert unconfuse.fails(2, "stream", "spa", "one.svm", "--classes", "a") == \
        "--classes a: only one class, where two are needed"
    assert unconfuse.json("stream", "spa", "one.svm", "--classes", "a,b")["correct"] == 2
    assert unconfuse.json("stream", "spa", "-", stdin="a 1:1\na 1:2\n")["correct"] == 1


# ---- right or wrong ----

@pytest.mark.parametrize("learner", PARTIAL)
def test_right_or_wrong_is_the_default_of_its_learners_and_they_learn(unconfuse, learner):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 2000, spread=0.3))
    result = unconfuse.json("stream", learner, "data.svm")
    assert result["ratio_correct"] > (0.5 if learner == "bpa" else 0.8)
    reported = unconfuse.json("stream", learner, "data.svm", "--feedback", "partial")
    assert reported["curve"] == result["curve"]
    if learner == "onebit":  # learns from labels, too
        unconfuse.write("hard.svm", blobs(list("abcdef"), 2000, spread=0.6))  # many that overlap: labels say more
        labels, bits = (unconfuse.json("stream", learner, "hard.svm", "--feedback", kind) for kind in ("full", "partial"))
        assert labels["ratio_correct"] > bits["ratio_correct"]
        return
    names = ", ".join([*FULL, "onebit"])
    assert unconfuse.fails(2, "stream", learner, "data.svm", "--feedback", "full") == \
        f"--feedback full: {learner} learns from right or wrong only; learners for labels: {names}"


@pytest.mark.parametrize("learner", FULL)
def test_learners_of_labels_refuse_right_or_wrong(unconfuse, data, learner):
    assert unconfuse.fails(2, "stream", learner, data, "--feedback", "partial") == \
        f"--feedback partial: {learner} needs labels; learners for right or wrong: {', '.join(PARTIAL)}"
    assert unconfuse.json("stream", learner, data, "--feedback", "full")["rounds"] == 300


def test_copa_finds_the_rare_class(unconfuse):
    unconfuse.write("rare.svm", blobs(["a"] * 12 + ["b"], 3000, columns=3, spread=0.4))
    recalls = {}
    for learner in ["spa", "copa"]:
        recalls[learner] = unconfuse.json("stream", learner, "rare.svm")["per_class"][1]["recall"]
    assert recalls["copa"] > recalls["spa"]


def test_standard_input_with_right_or_wrong_needs_the_classes(unconfuse, data):
    text = unconfuse.read(data)
    assert unconfuse.fails(1, "stream", "cspa", "-", stdin=text) == \
        "--feedback partial on standard input needs --classes a,b,c"
    reported = unconfuse.json("stream", "cspa", "-", "--classes", "a,b,c", stdin=text)
    assert reported["curve"] == unconfuse.json("stream", "cspa", data)["curve"]


@pytest.mark.parametrize("source", ["file", "-"])
def test_a_label_outside_of_the_classes_is_always_wrong(unconfuse, data, source):
    text = unconfuse.read(data)
    result = unconfuse("stream", "cspa", data if source == "file" else "-", "--classes", "a,b", "--json", "-q", stdin=text)
    reported, outside = json.loads(result.out), labels_of(unconfuse, data).count("c")
    assert reported["rounds"] == 300 and reported["unknown_labels"] == outside
    assert [(entry["class"], entry["recall"] == 0) for entry in reported["per_class"]] == \
        [("a", False), ("b", False), ("c", True)]
    assert result.err == f"unconfuse: warning: {outside} of 300 rounds had a label that is not among the classes, " \
                         "such as c: every proposal was wrong\n"


# ---- landmarks ----

@pytest.mark.parametrize("learner", ["spa", "cspa", "cspa-plus", "confidit"])
def test_landmarks_tell_apart_what_no_line_can(unconfuse, rings, learner):
    plain, mapped = (unconfuse.json("stream", learner, rings, *options)["ratio_correct"]
                     for options in [[], ["--map", "landmarks", "--dimension", "100"]])
    assert plain < 0.65 and mapped > (0.6 if learner == "confidit" else 0.9)


def test_there_are_700_landmarks_by_default(unconfuse, rings, data):
    unconfuse.ok("stream", "spa", rings, "--map", "landmarks", "-o", "m.uc")
    reported = unconfuse.json("inspect", "m.uc")
    assert reported["map"]["landmarks"] == reported["dimension"] == 700
    unconfuse.ok("stream", "spa", data, "--map", "landmarks", "-o", "m.uc")
    reported = unconfuse.json("inspect", "m.uc")
    assert reported["map"]["landmarks"] == 300 and reported["dimension"] == 700
    assert len(unconfuse.ok("predict", "m.uc", data).out.splitlines()) == 300


@pytest.mark.parametrize("options", [[], ["--scale", "range"], ["--scale", "maxabs", "--normalize-input"], ["--seed", "5"],
                                     ["--storage", "sparse"]])
def test_the_median_width_of_a_small_file_is_that_of_training(unconfuse, rings, options):
    unconfuse.ok("stream", "spa", rings, "--map", "landmarks", *options, "-o", "s.uc")
    unconfuse.ok("train", "spa", rings, "--map", "landmarks", *options, "-o", "t.uc")
    width = [unconfuse.json("inspect", name)["map"]["width"] for name in ["s.uc", "t.uc"]]
    assert width[0] == pytest.approx(width[1], rel=1e-6)
    unconfuse.ok("stream", "spa", rings, "--map", "landmarks", *options, "--shuffle", "-o", "s.uc")
    assert unconfuse.json("inspect", "s.uc")["map"]["width"] == pytest.approx(width[1], rel=1e-6)


def test_the_median_width_of_a_large_file_comes_from_a_sample_of_it_all(unconfuse):
    """The file changes half-way: a sample of its beginning would be far off."""
    draw = random.Random(2)
    rows = [(draw.gauss(0, 1 if i < 5000 else 30), draw.gauss(0, 1)) for i in range(20000)]
    unconfuse.write("large.svm", "".join(f"{'ab'[i % 2]} 1:{x:.5f} 2:{y:.5f}\n" for i, (x, y) in enumerate(rows)))
    pairs = [draw.sample(rows, 2) for _ in range(20000)]
    median = statistics.median((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 for a, b in pairs)
    widths = []
    for seed in ["1", "1", "2"]:
        unconfuse.ok("stream", "spa", "large.svm", "--map", "landmarks", "--dimension", "20", "--seed", seed, "-o", "m.uc")
        widths.append(unconfuse.json("inspect", "m.uc")["map"]["width"])
    assert widths[0] == widths[1] != widths[2]
    assert all(0.75 * median < width < 1.33 * median for width in widths)


@pytest.mark.parametrize("kernel", [["-g", "0.5"], ["--kernel", "linear"], ["--kernel", "polynomial", "--degree", "2"]])
def test_other_kernels_need_no_width(unconfuse, rings, kernel):
    text = unconfuse.read(rings)
    from_file = unconfuse.json("stream", "spa", rings, "--map", "landmarks", "--dimension", "30", *kernel)
    piped = unconfuse.json("stream", "spa", "-", "--classes", "i,o", "--map", "landmarks", "--dimension", "30", *kernel,
                           stdin=text)
    assert from_file["curve"] == piped["curve"]
    assert "linear" in kernel or from_file["ratio_correct"] > 0.8


def test_after_landmarks_nothing_depends_on_threads_or_blocks(unconfuse, rings):
    for options in [[], ["--shuffle"], ["--delay", "10"]]:
        for threads in ["1", "2"]:
            unconfuse.ok("stream", "cspa-plus", rings, *MAP, *options, "--threads", threads, "-o", f"{threads}.uc")
        assert unconfuse.read("1.uc") == unconfuse.read("2.uc")


def test_sparse_landmarks(unconfuse):
    draw = random.Random(3)
    lines = []
    for _ in range(600):
        k = draw.randrange(3)
        columns = sorted(draw.sample(range(1 + 60 * k, 100 + 60 * k), 8))
        lines.append("xyz"[k] + "".join(f" {column}:1" for column in columns) + "\n")
    unconfuse.write("sparse.svm", "".join(lines))
    for options, least in [(["spa", "--width", "2"], 0.9), (["cspa-plus", "--width", "2"], 0.85), (["cspa-plus"], 0.7)]:
        reported = [unconfuse.json("stream", *options, "--map", "landmarks", "sparse.svm", *more)["correct"]
                for more in [[], ["--storage", "dense"]]]
        assert reported[0] == reported[1] > 600 * least


def test_delayed_feedback_of_a_row_that_came_before_later_landmarks(unconfuse, rings):
    late = unconfuse.json("stream", "cspa-plus", rings, "--map", "landmarks", "--dimension", "100", "--delay", "20")
    assert late["ratio_correct"] > 0.85


def test_maps_that_a_stream_cannot_have(unconfuse, data):
    for name in ["kpca", "kgs", "random", "nystroem", "jl"]:
        assert unconfuse.fails(2, "stream", "spa", data, "--map", name) == \
            f"--map {name} is learned from a whole data set: in a stream use --map landmarks"
    assert unconfuse.fails(2, "stream", "spa", data, "--map", "landmarks", "--width", "auto") == \
        "--width auto cross-validates on a whole data set: in a stream give --width W, --width median or -g G"
    assert unconfuse.fails(1, "stream", "spa", "-", "--map", "landmarks", stdin=unconfuse.read(data)) == \
        "--width median on standard input: it can be read only once; give --width W, -g G, or a file"
    unconfuse.write("same.svm", "a 1:1\nb 1:1\n" * 20)
    assert unconfuse.fails(1, "stream", "spa", "same.svm", "--map", "landmarks") == \
        "the median distance of two rows is 0, because most rows are the same; give --width or --gamma"


# ---- usage ----

def test_standard_input_can_be_read_only_once(unconfuse, data):
    for words, shown in [(["--passes", "2"], "--passes above 1"), (["--shuffle"], "--shuffle")]:
        assert unconfuse.fails(1, "stream", "spa", "-", *words, stdin=unconfuse.read(data)) == \
            f"{shown} on standard input: it can be read only once; give a file"


@pytest.mark.parametrize("learner", ["uma", "logistic", "s3vm"])
def test_learners_of_whole_data_sets_say_what_to_do_instead(unconfuse, data, learner):
    assert unconfuse.fails(2, "stream", learner, data) == \
        f"{learner} learns from whole data sets, not one example at a time: use unconfuse train {learner}, or a " \
        "learner that unconfuse help stream lists"


def test_help_and_completion_offer_learners_that_can_stream_only(unconfuse):
    def offered(command):
        lines = unconfuse.ok("help", command).out.split("\nLearners ")[1].splitlines()[1:]
        return [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]

    assert offered("stream") == FULL + PARTIAL
    assert set(offered("train")) > set(FULL + PARTIAL)
    script = unconfuse.ok("help", "--completion", "bash").out
    words = script.split("'stream first')")[1].split("'")[1].split()
    assert words == FULL + PARTIAL
    assert unconfuse.fails(2, "stream", "cspaa", "x") == \
        "there is no learner called cspaa; did you mean cspa? (unconfuse help stream lists them)"


def test_options_of_learners(unconfuse, data):
    assert unconfuse.fails(2, "stream", "cspa", data, "--explore", "0.1") == \
        "--explore is not an option of cspa, but of banditron, bpa, soba"
    assert unconfuse.json("stream", "cspa", data, "--beta", "0.9")["curve"] != unconfuse.json("stream", "cspa", data)["curve"]
    assert unconfuse.json("stream", "banditron", data, "--explore", "1")["ratio_correct"] == pytest.approx(1 / 3, abs=0.1)


# ---- memory ----

def wide(unconfuse, name, columns, rows=20):
    return unconfuse.write(name, "".join(f"{'ab'[i % 2]} {i + 1}:1 {columns}:1\n" for i in range(rows)))


def test_a_model_that_does_not_fit_is_refused_before_the_first_round(unconfuse, data):
    wide(unconfuse, "wide.svm", 10_000_000)
    for learner, output in [("cspa", []), ("spa", []), ("confidit", ["-o", "m.uc"])]:
        sentence = unconfuse.fails(1, "stream", learner, "wide.svm", "--memory", "100M", *output)
        assert sentence.startswith(f"{learner} with 10000000 features and 2 classes needs ")
        assert sentence.endswith(" MB of memory, more than the limit of 104.9 MB (--memory)")
    unconfuse.ok("stream", "cspa", "wide.svm", "--memory", "2G")
    sentence = unconfuse.fails(1, "stream", "cspa", data, *MAP[:2], "--width", "1", "--dimension", "1000000000")
    assert sentence.startswith("cspa with 1000000000 features and 3 classes needs ")


def test_the_metric_and_the_replayed_rounds_count(unconfuse):
    lines = [f"{'ab'[i % 2]}" + "".join(f" {j}:1" for j in range(1, 1001)) + "\n" for i in range(1500)]
    unconfuse.write("data.svm", "".join(lines))
    unconfuse.ok("stream", "cspa-plus", "data.svm", "--memory", "64M")
    assert unconfuse.fails(1, "stream", "cspa-plus", "data.svm", "--memory", "10M").startswith("cspa-plus with 1000 ")
    assert unconfuse.fails(1, "stream", "cspa-plus", "data.svm", "--memory", "10M", "--metric", "none").startswith("cspa-plus")
    unconfuse.ok("stream", "cspa-plus", "data.svm", "--memory", "10M", "--metric", "none", "--memory-rounds", "100")


def test_what_is_counted_holds_while_the_model_is_saved(unconfuse):
    """The replayed rows are most of it: once in the learner, once in the model."""
    draw = random.Random(4)
    row = "".join(f" {j}:{draw.random():.3f}" for j in range(1, 401))
    unconfuse.write("data.svm", "".join(f"{'ab'[i % 2]}{row}\n" for i in range(10000)))
    words = ["cspa-plus", "data.svm", "--metric", "none", "-o", "m.uc"]
    sentence = unconfuse.fails(1, "stream", *words, "--memory", "10M")
    counted = float(sentence.split(" needs ")[1].split()[0]) * 1e6 / 1024
    idle = peak_of(unconfuse, "cspa", "data.svm")
    assert counted * 0.7 < peak_of(unconfuse, *words) - idle < counted, sentence


def test_a_stream_of_unknown_length_stops_when_its_memory_is_used_up(unconfuse):
    lines = "".join(f"{'ab'[i % 2]} {1000 * (i + 1)}:1\n" for i in range(20000)).encode()
    sentence = unconfuse.fails(1, "stream", "spa", "-", "-q", "--memory", "300M", stdin=lines)
    assert sentence.startswith("spa with ") and sentence.endswith("more than the limit of 314.6 MB (--memory)")


def test_a_delay_needs_memory_for_the_rounds_that_there_are(unconfuse, data):
    never = unconfuse.json("stream", "spa", data, "--delay", "1000000000", "--memory", "20M")
    assert never["correct"] == labels_of(unconfuse, data).count("a")
    text = unconfuse.read(data) * 400
    unconfuse.write("long.svm", text)
    words = ["stream", "spa", "--delay", "1000000000", "--memory", "10M", "-q"]
    assert unconfuse.fails(1, *words, "long.svm").endswith("more than the limit of 10.5 MB (--memory)")
    assert unconfuse.fails(1, *words, "-", stdin=text).endswith("more than the limit of 10.5 MB (--memory)")
    unconfuse.ok("stream", "spa", "long.svm", "--delay", "1000", "--memory", "10M")


@pytest.mark.parametrize("arguments", [["spa"], ["cspa", "--delay", "3000"], ["cspa-plus", "--memory-rounds", "2000"],
                                       ["cspa", "--map", "landmarks", "--dimension", "50", "--delay", "500"]])
def test_a_larger_file_needs_no_more_memory(unconfuse, arguments):
    block = blobs(["a", "b", "c"], 2000, columns=30).encode()
    peaks = []
    for copies in [10, 40]:
        with open(unconfuse.directory / "large.svm", "wb") as file:
            for _ in range(copies):
                file.write(block)
        peaks.append(peak_of(unconfuse, *arguments, "large.svm"))
    assert peaks[1] < peaks[0] + 4 * 1024, peaks  # the larger file has 18 MB more


def test_a_large_file_streams_in_constant_memory(unconfuse):
    block = blobs(["a", "b", "c"], 2000, columns=30).encode()
    peaks = []
    for copies in [20, 200]:
        with open(unconfuse.directory / "large.svm", "wb") as file:
            for _ in range(copies):
                file.write(block)
        peaks.append(peak_of(unconfuse, "spa", "large.svm"))
    assert peaks[1] < peaks[0] + 8 * 1024, peaks  # the larger file has 100 MB more


# ---- stopping ----

@pytest.mark.parametrize("options", [[], ["--map", "landmarks", "--width", "2"], ["--shuffle"], ["--delay", "1000"]])
def test_an_interrupted_stream_leaves_the_model_as_it_was(unconfuse, data, options):
    unconfuse.ok("stream", "cspa-plus", data, *options, "-o", "m.uc")
    before, files = unconfuse.read("m.uc"), sorted(os.listdir(unconfuse.directory))
    with subprocess.Popen([PROGRAM, "stream", "cspa-plus", data, *options, "--passes", "100000000", "-o", "m.uc", "-q"],
                          cwd=unconfuse.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(0.5)
        assert process.poll() is None, "it was over too soon"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
    assert (process.returncode, out, err) == (130, b"", b"unconfuse: interrupted\n")
    assert unconfuse.read("m.uc") == before and sorted(os.listdir(unconfuse.directory)) == files


def test_a_stream_that_waits_for_standard_input_can_be_interrupted(unconfuse):
    with subprocess.Popen([PROGRAM, "stream", "spa", "-", "-o", "m.uc", "-q"], cwd=unconfuse.directory,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"1 1:1\n2 2:1\n")
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=600) == 130
        assert process.stderr.read() == b"unconfuse: interrupted\n"
    assert os.listdir(unconfuse.directory) == []


# ---- the same learners in the other commands ----

@pytest.mark.parametrize("learner", ["copa"] + PARTIAL)
def test_online_learners_train_cross_validate_predict_and_convert(unconfuse, learner):
    unconfuse.write("data.svm", blobs(["1", "2", "3"], 900, columns=6, spread=0.3))
    mapped = ["--map", "landmarks", "--dimension", "40"]
    if learner == "onebit":
        assert unconfuse.fails(1, "train", learner, "data.svm", *mapped, "-o", "m.uc") == \
            "onebit makes a map of its own: leave out --map"
        mapped = ["--dimension", "40"]
    for options in [[], ["--average", "--scale", "maxabs"], mapped]:
        reported = unconfuse.json("train", learner, "data.svm", *options, "-o", "m.uc")
        assert reported["learner"] == learner and reported["iterations"] == 5
        assert unconfuse.json("evaluate", "m.uc", "data.svm")["error"] < (0.45 if learner == "bpa" else 0.15)
        assert set(unconfuse.ok("predict", "m.uc", "data.svm").out.split()) <= {"1", "2", "3"}
        assert unconfuse.json("inspect", "m.uc")["learner"] == learner
    folds = unconfuse.json("train", learner, "data.svm", "-v", "5", "--average")
    assert folds["fold_error_mean"] < (0.4 if learner == "bpa" else 0.15)
    unconfuse.ok("train", learner, "data.svm", "-o", "m.uc")
    if learner == "onebit":
        assert "a model with a map cannot be written as a LIBLINEAR model" in unconfuse.fails(1, "convert", "m.uc", "m.linear")
        return
    unconfuse.ok("convert", "m.uc", "m.linear")
    assert unconfuse.ok("predict", "m.linear", "data.svm").out == unconfuse.ok("predict", "m.uc", "data.svm").out


def test_the_curve_has_the_recall_of_each_class_between_its_points(unconfuse):
    """With the labels of the rounds in between, it gives back the shares of all rounds and of all classes."""
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 300))
    labels = [line.split()[0] for line in unconfuse.read("data.svm").decode().splitlines()]
    found = unconfuse.json("stream", "cspa", "data.svm", "--feedback", "partial", "-q")
    names, before = [one["class"] for one in found["per_class"]], 0
    right = dict.fromkeys(names, 0)
    for point in found["curve"]:
        seen = labels[before:point["round"]]
        hits = [recall * seen.count(name) if recall is not None else 0 for name, recall in zip(names, point["recent_recall"])]
        assert [recall is None for recall in point["recent_recall"]] == [name not in seen for name in names]
        assert sum(hits) == pytest.approx(point["recent_ratio"] * len(seen))
        right = {name: right[name] + hit for name, hit in zip(names, hits)}
        before = point["round"]
    assert [right[one["class"]] for one in found["per_class"]] == pytest.approx([one["recall"] * one["examples"] for one in found["per_class"]])


def test_many_classes_have_no_recall_between_points(unconfuse):
    unconfuse.write("data.svm", "".join(f"c{i % 61} 1:{i}\n" for i in range(122)))
    assert all("recent_recall" not in point for point in unconfuse.json("stream", "cspa", "data.svm", "-q", "--feedback", "partial")["curve"])


def exchanged(text, at):
    """The same rows; from row `at` on the labels a and b are exchanged."""
    other = {"a": "b", "b": "a", "c": "c"}
    lines = text.splitlines(keepends=True)
    return "".join(lines[:at] + [other[line[0]] + line[1:] for line in lines[at:]])


def test_a_fall_of_the_right_proposals_is_marked(unconfuse):
    text = blobs(["a", "b", "c"], 2000)
    unconfuse.write("steady.svm", text)
    unconfuse.write("exchanged.svm", exchanged(text, 1000))
    assert unconfuse.json("stream", "confidit", "steady.svm")["drift"] == []
    assert "drift" not in unconfuse.ok("stream", "confidit", "steady.svm").out

    result = unconfuse.json("stream", "confidit", "exchanged.svm", "--html", "page.html")
    assert len(result["drift"]) == 1
    fall = result["drift"][0]
    assert list(fall) == ["round", "before", "after"]
    assert 1000 < fall["round"] <= 1200 and fall["before"] > 0.7 and fall["after"] < 0.5
    page = re.search(r'<script type="application/json" id="report"[^>]*>(.*?)</script>', unconfuse.read("page.html").decode(), re.S)
    assert json.loads(page[1])["drift"] == result["drift"]

    said = unconfuse.ok("stream", "confidit", "exchanged.svm")
    line = f"right proposals fell from {100 * fall['before']:.1f}% to {100 * fall['after']:.1f}%"
    assert f"{fall['round']:>12}  drift: {line}\n" in said.err
    assert f"drift: right proposals fell 1 time, last at round {fall['round']}, from" in said.out
    assert unconfuse.ok("stream", "confidit", "exchanged.svm", "-q").err == ""
