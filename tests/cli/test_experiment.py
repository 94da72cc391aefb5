"""experiment: learners on labels that are made wrong on purpose."""
import csv
import os
import signal
import statistics
import subprocess
import time
from fractions import Fraction

import pytest

from conftest import PROGRAM, blobs

RESULT = ["data", "noise", "learner", "runs", "error", "deviation", "seconds", "rank", "errors", "failed"]


@pytest.fixture
def data(unconfuse):
    unconfuse.write("two.svm", blobs(["a", "b"], 200))
    return unconfuse.write("four.svm", blobs(["a", "b", "c", "d"], 300))


def test_json_has_the_documented_fields_and_they_agree(unconfuse, data):
    result = unconfuse.json("experiment", "two.svm", "four.svm", "--noise", "none,uniform:0.3", "--learners",
                            "perceptron,ridge,sloppy-svm", "--runs", "3")
    assert [list(one) for one in result["results"]] == [RESULT] * 12
    for one in result["results"]:
        failed = one["learner"] == "sloppy-svm" and one["data"] == "four.svm"
        assert (one["error"] is None) == failed == (one["failed"] is not None) and one["runs"] == 3
        if not failed:
            assert one["error"] == pytest.approx(statistics.mean(one["errors"]))
            assert one["deviation"] == pytest.approx(statistics.stdev(one["errors"]))
    ranked = [one["rank"] for one in result["learners"]]
    assert ranked[2] is None and ranked[0] <= ranked[1] and ranked[0] + ranked[1] == pytest.approx(3)
    assert 0 <= result["p_value"] <= 1 and result["critical_difference"] > 0
    for problem in range(4):
        ranks = [one["rank"] for one in result["results"][3 * problem:3 * problem + 3] if one["rank"]]
        assert sum(ranks) == pytest.approx(len(ranks) * (len(ranks) + 1) / 2)


def test_mean_ranks_are_means_of_ranks_and_equal_counts_are_ties(unconfuse, data):
    """Against exact fractions: sums of floating-point errors differ in their last bits."""
    learners = ["perceptron", "ridge", "pa", "arow", "csvm", "logistic"]
    result = unconfuse.json("experiment", "two.svm", "four.svm", "--noise", "none,uniform:0.1,uniform:0.2", "--learners",
                            ",".join(learners), "--runs", "7")
    ties = 0
    ranks = {name: [] for name in learners}
    for first in range(0, len(result["results"]), len(learners)):
        cells = result["results"][first:first + len(learners)]
        exact = [sum(Fraction(error).limit_denominator(1000) for error in cell["errors"]) for cell in cells]
        for cell, mine in zip(cells, exact):
            below, equal = sum(other < mine for other in exact), sum(other == mine for other in exact)
            assert cell["rank"] == below + (equal + 1) / 2, cells
            ranks[cell["learner"]].append(cell["rank"])
            ties += equal > 1
    assert ties > 0
    for one in result["learners"]:
        assert one["rank"] == pytest.approx(statistics.mean(ranks[one["learner"]]))


def test_errors_are_those_of_split_noise_and_train_by_hand(unconfuse, data):
    """Test labels stay true: with 40% wrong training labels and easy classes the error is far below 40%."""
    result = unconfuse.json("experiment", "two.svm", "--noise", "uniform:0.4", "--learners", "ridge", "--runs", "5")
    assert result["results"][0]["error"] < 0.3


def test_same_seed_same_result_whatever_the_threads(unconfuse, data):
    command = ["experiment", "four.svm", "--noise", "pair:0.3,instance:0.3,random:4", "--learners", "ridge,arow", "--runs", "2"]
    first = unconfuse.json(*command, "--threads", "1")
    second = unconfuse.json(*command, "--threads", "2")
    other = unconfuse.json(*command, "--seed", "2")
    errors = [[one["errors"] for one in run["results"]] for run in (first, second, other)]
    assert errors[0] == errors[1] != errors[2]


def test_tables_for_people_and_for_latex(unconfuse, data):
    said = unconfuse.ok("experiment", "two.svm", "four.svm", "--noise", "none,pair:0.2", "--learners", "pa,csvm:cost=10,sloppy-svm",
                        "--runs", "2", "--csv", "out.csv", "--latex", "out.tex").out
    assert said.startswith("Test errors on true labels, 2 runs, mean ±deviation (* the smallest of a column)\n\ntwo.svm ")
    assert "Left out in 2 of 4: sloppy-svm: sloppy-svm is for two classes, but there are 4" in said
    assert "Friedman's test over 4 problems: p = " in said
    rows = list(csv.DictReader(unconfuse.read("out.csv").decode().splitlines()))
    assert len(rows) == 12 and list(rows[0]) == RESULT[:8] and rows[11]["error"] == ""
    latex = unconfuse.read("out.tex").decode()
    assert latex.count("\\\\\n") == 6 and latex.count("&") == 6 * 4 and "csvm:cost=10" in latex and "\\mathbf{" in latex


def test_a_table_is_encoded_by_its_training_rows(unconfuse):
    lines = ["id,colour,size,label"] + [f"r{i},{['red', 'blue'][i % 2]},{i % 7},{['x', 'y'][i % 2]}" for i in range(120)]
    unconfuse.write("t.csv", "\n".join(lines) + "\n")
    result = unconfuse.json("experiment", "t.csv", "--noise", "uniform:0.1", "--learners", "ridge", "--runs", "2")
    assert result["results"][0]["error"] == 0


def test_noise_that_is_told_helps(unconfuse):
    unconfuse.ok("generate", "cspa-gaussians", "--examples", "1200", "-o", "toy.svm")
    command = ["experiment", "toy.svm", "--noise", "pair:0.4", "--learners", "logistic", "--runs", "3"]
    untold, told = (unconfuse.json(*command, *more)["results"][0]["error"] for more in ([], ["--tell-noise"]))
    assert told < 0.6 * untold


@pytest.mark.parametrize("arguments, status, sentence", [
    (["two.svm", "--noise", "unifrm:0.2"], 2, "--noise: 'unifrm:0.2' is no kind of noise"),
    (["two.svm", "--noise", "pair:0.2,pair:0.2"], 2, "--noise: pair:0.2 is named twice"),
    (["two.svm", "--learners", "rigde"], 2, "--learners: there is no learner called rigde; did you mean ridge?"),
    (["four.svm", "--noise", "rates:0.2:0.1", "--learners", "ridge"], 1, "noise 'rates' is for two classes, but there are 4"),
    (["four.svm", "--learners", "sloppy-svm"], 1, "every learner failed: sloppy-svm is for two classes"),
    (["two.svm", "--test", "1.5"], 2, "--test"),
    (["two.svm", "--latex", "x", "--csv", "x"], 2, "x"),
    (["none.svm"], 1, "none.svm"),
    ([], 2, "an argument is missing"),
])
def test_what_is_wrong_is_said_in_a_sentence(unconfuse, data, arguments, status, sentence):
    before = sorted(os.listdir(unconfuse.directory))
    result = unconfuse("experiment", *arguments, "--quiet")
    assert result.returncode == status and sentence in result.err and len(result.err.splitlines()) == 1, result.err
    assert sorted(os.listdir(unconfuse.directory)) == before


def test_an_interrupt_leaves_nothing_behind(unconfuse, data):
    process = subprocess.Popen([PROGRAM, "experiment", "four.svm", "--runs", "1000", "--csv", "out.csv"], cwd=unconfuse.directory,
                               stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130 and err.endswith(b"unconfuse: interrupted\n")
    assert sorted(os.listdir(unconfuse.directory)) == ["four.svm", "two.svm"]
