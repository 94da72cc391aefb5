"""Learners that are reported the noise, maps, probabilities and suspicious labels, as a user types them."""
import pytest

MAPS = ["kpca", "kgs", "random", "nystroem", "jl", "landmarks"]


@pytest.fixture
def noisy(unconfuse):
    """clean.svm, noisy.svm, noise.csv and test.svm of four Gaussians, 40% of the labels wrong."""
    unconfuse.ok("generate", "cspa-gaussians", "--examples", "800", "--test", "test.svm", "--test-examples", "500",
                 "-o", "clean.svm", "-q")
    unconfuse.ok("noise", "make", "uniform", "--classes", "4", "--rate", "0.4", "-o", "noise.csv", "-q")
    unconfuse.ok("noise", "apply", "clean.svm", "--noise-matrix", "noise.csv", "-o", "noisy.svm", "-q")
    return unconfuse


def error(unconfuse, *arguments):
    unconfuse.ok("train", *arguments, "noisy.svm", "-o", "m.uc", "-q")
    return unconfuse.json("evaluate", "m.uc", "test.svm")["error"]


@pytest.mark.parametrize("learner", ["uma", "logistic"])
def test_told_the_noise_a_learner_is_good(noisy, learner):
    assert error(noisy, learner, "--noise-matrix", "noise.csv") < 0.13
    assert error(noisy, learner, "--noise-rate", "0.4") < 0.13


def test_uma_tells_the_condition_and_the_corrected_error(noisy):
    out = noisy.ok("train", "uma", "--noise-matrix", "noise.csv", "noisy.svm", "-o", "m.uc").out
    assert "corrected error" in out and "condition number 2.14" in out
    summary = noisy.json("inspect", "m.uc")["summary"]
    assert abs(summary["condition_number"] - 15 / 7) < 1e-9 and summary["ridge"] == 0
    assert 0 <= summary["corrected_error"] < 0.2 and 0 < summary["corrected_error_deviation"] < 0.1


def test_uma_without_noise_warns(noisy):
    assert "no noise matrix was given" in noisy.ok("train", "uma", "noisy.svm", "-o", "m.uc").err


def test_a_nearly_singular_matrix_is_regularised_with_a_warning(noisy):
    noisy.ok("noise", "make", "uniform", "--classes", "4", "--rate", "0.745", "-o", "bad.csv", "-q")
    assert "nearly singular" in noisy.ok("train", "uma", "--noise-matrix", "bad.csv", "noisy.svm", "-o", "m.uc").err


@pytest.mark.parametrize("options", [
    ["--choose", "confusion"], ["--choose", "random"], ["--step", "uniform"], ["--step", "worst"], ["--init", "means"],
    ["--return", "last"], ["--return", "average"], ["--return", "tail"], ["--return", "best"], ["--alpha", "0.0001"],
    ["--ridge", "0.01"], ["--bias", "1"],
])
def test_every_option_of_uma_learns(noisy, options):
    assert error(noisy, "uma", "--noise-matrix", "noise.csv", "--iterations", "200", *options) < 0.4


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("learner", ["spa", "logistic"])
def test_every_map_serves_every_learner_and_stays_in_the_model(noisy, kind, learner):
    assert error(noisy, learner, "--noise-matrix", "noise.csv", "--map", kind, "--dimension", "30") < 0.2
    described = noisy.json("inspect", "m.uc")
    assert described["map"]["kind"] == kind and described["map"]["dimension"] == 30 and described["features"] == 2
    first = noisy.ok("predict", "m.uc", "test.svm").out
    noisy.ok("train", learner, "--noise-matrix", "noise.csv", "--map", kind, "--dimension", "30", "noisy.svm", "-o",
             "again.uc", "-q", "--threads", "1")
    assert noisy.read("again.uc") == noisy.read("m.uc")
    assert noisy.ok("predict", "again.uc", "test.svm", "--threads", "1").out == first


@pytest.mark.parametrize("dimension, kernel", [
    (2, ["linear"]), (6, ["polynomial", "--degree", "2"]), (20, ["gaussian", "-g", "0.5"]), (20, ["gaussian", "--width", "2"]),
    (20, ["gaussian", "--width", "auto"]),
])
def test_every_kernel_learns(noisy, dimension, kernel):
    assert error(noisy, "logistic", "--map", "kgs", "--dimension", dimension, "--kernel", *kernel) < 0.2


def test_a_ring_needs_a_kernel(unconfuse):
    unconfuse.ok("generate", "rp-ring", "--examples", "600", "--test", "test.svm", "--test-examples", "600", "-o",
                 "noisy.svm", "-q")
    assert error(unconfuse, "logistic") > 0.3
    assert error(unconfuse, "logistic", "--map", "kgs", "--width", "auto") < 0.1


def test_a_model_with_a_map_is_no_liblinear_model(noisy):
    noisy.ok("train", "spa", "--map", "kgs", "--dimension", "5", "noisy.svm", "-o", "m.uc", "-q")
    assert "a model with a map cannot be written" in noisy.fails(1, "convert", "m.uc", "m.txt", "--to", "liblinear")


def test_probabilities_add_up_and_the_best_is_predicted(noisy):
    noisy.ok("train", "logistic", "--noise-matrix", "noise.csv", "noisy.svm", "-o", "m.uc", "-q")
    lines = [line.split("\t") for line in noisy.ok("predict", "m.uc", "test.svm", "--probabilities").out.splitlines()]
    assert lines[0] == ["label", "1", "2", "3", "4"] and len(lines) == 501
    for label, *values in lines[1:]:
        values = [float(value) for value in values]
        assert abs(sum(values) - 1) < 1e-9 and values.index(max(values)) == int(label) - 1


def test_suspicious_labels_come_first_and_are_mostly_wrong(noisy):
    noisy.ok("train", "logistic", "--noise-matrix", "noise.csv", "noisy.svm", "-o", "m.uc", "-q")
    lines = [line.split("\t")
             for line in noisy.ok("predict", "m.uc", "noisy.svm", "--probabilities", "--suspect").out.splitlines()]
    assert lines[0] == ["label", "1", "2", "3", "4", "given", "right", "example"] and len(lines) == 801
    right = [float(line[6]) for line in lines[1:]]
    assert right == sorted(right) and sorted(int(line[7]) for line in lines[1:]) == list(range(1, 801))
    clean = [line.split()[0] for line in noisy.read("clean.svm").decode().splitlines()]
    given = [line.split()[0] for line in noisy.read("noisy.svm").decode().splitlines()]
    assert all(line[5] == given[int(line[7]) - 1] for line in lines[1:])
    wrong = [clean[int(line[7]) - 1] != line[5] for line in lines[1:]]
    assert sum(wrong[:250]) > 235 and sum(wrong[-300:]) < 30
    found = noisy.json("predict", "m.uc", "noisy.svm", "--probabilities", "--suspect")["suspects"]
    assert [one["example"] for one in found] == [int(line[7]) for line in lines[1:]]


def test_suspects_need_probabilities_and_labels(noisy):
    noisy.ok("train", "spa", "noisy.svm", "-o", "m.uc", "-q")
    assert "--suspect needs --probabilities" in noisy.fails(2, "predict", "m.uc", "test.svm", "--suspect")
    assert "has scores but no probabilities" in noisy.fails(1, "predict", "m.uc", "test.svm", "--probabilities")
    noisy.ok("train", "logistic", "noisy.svm", "-o", "m.uc", "-q")
    noisy.write("plain.csv", "0.5,1\n1,2\n")
    assert "the data have no labels, so none is suspicious" in noisy.fails(1, "predict", "m.uc", "plain.csv", "--label", "none",
                                                           "--probabilities", "--suspect")


@pytest.mark.parametrize("options, what", [(["--l2", "auto"], "--l2"), (["--map", "kgs"], "--dimension"),
                                           (["--map", "kgs", "--width", "auto"], "--width")])
def test_too_few_examples_to_choose_by(unconfuse, options, what):
    (unconfuse.directory / "two.svm").write_text("1 1:1 2:0.5\n2 1:0.2 2:1\n")
    assert unconfuse.fails(1, "train", "logistic", *options, "two.svm", "-o", "m.uc") == \
        f"2 examples are too few to choose {what} by cross-validation: give a number"


def test_l2_auto_is_a_number_in_the_model(noisy):
    noisy.ok("train", "logistic", "--l2", "auto", "--noise-matrix", "noise.csv", "noisy.svm", "-o", "m.uc", "-q")
    assert noisy.json("inspect", "m.uc")["settings"]["l2"] in [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]


def test_a_map_cannot_be_learned_in_a_stream(noisy):
    assert noisy.fails(2, "stream", "spa", "noisy.svm", "--map", "kgs")


@pytest.mark.parametrize("returns", ["last", "average", "tail", "best"])
def test_the_corrected_error_is_that_of_the_model_returned(noisy, returns):
    noisy.ok("train", "uma", "--return", returns, "--noise-matrix", "noise.csv", "--iterations", "40", "noisy.svm", "-o", "m.uc", "-q")
    reported = noisy.json("inspect", "m.uc")["corrected_error"]
    assert abs(reported - noisy.json("evaluate", "m.uc", "noisy.svm", "--noise-matrix", "noise.csv")["corrected_error"]) < 1e-9


def test_uma_that_has_nothing_to_mend_is_a_model(unconfuse):
    unconfuse.write("zero.svm", "1 1:0\n2 1:0\n1 1:0\n2 1:0\n")
    unconfuse.ok("train", "uma", "zero.svm", "-o", "m.uc", "-q")
    assert unconfuse.json("inspect", "m.uc")["iterations"] == 0


def test_a_bad_noise_file_is_blamed_itself(noisy):
    noisy.write("bad.csv", "x,1\n0,1\n")
    assert noisy.fails(1, "train", "uma", "--noise-matrix", "bad.csv", "noisy.svm", "-o", "m.uc").startswith("bad.csv")


def test_a_stream_keeps_the_labels_of_a_sorted_file_apart(unconfuse):
    unconfuse.write("down.svm", "2 1:1\n1 1:2\n0 1:3\n" * 4)
    unconfuse.ok("convert", "down.svm", "down.ucd", "-q")
    result = unconfuse.json("stream", "spa", "-", stdin=unconfuse.read("down.ucd"))
    assert sorted(one["examples"] for one in result["per_class"]) == [4, 4, 4]


def test_predictions_keep_the_mode_of_the_file_that_they_replace(noisy):
    noisy.ok("train", "spa", "noisy.svm", "-o", "m.uc", "-q")
    noisy.write("p.txt", "")
    (noisy.directory / "p.txt").chmod(0o600)
    noisy.ok("predict", "m.uc", "test.svm", "-o", "p.txt")
    assert (noisy.directory / "p.txt").stat().st_mode & 0o777 == 0o600
