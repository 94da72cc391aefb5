"""compare: which online learner suits the data."""
import os
import signal
import statistics
import subprocess
import time

import pytest

from conftest import PROGRAM, blobs

FIELDS = ["learners", "best", "best_position", "runs", "passes", "examples", "classes", "feedback", "grid", "width",
          "significance", "p_values"]
LEARNER_FIELDS = ["learner", "settings", "feedback", "reference", "mean", "deviation", "ratios", "seconds",
                  "differs_from_best", "p_value", "curve"]
PARTIAL = {"cspa", "cspa-plus", "banditron", "bpa", "confidit", "soba", "onebit"}


@pytest.fixture
def data(unconfuse):
    unconfuse.ok("generate", "cspa-gaussians", "--sigma", "0.3", "--examples", "400", "-o", "data.svm")
    return "data.svm"


def names(result):
    return [entry["learner"] for entry in result["learners"]]


def rows(text):
    """The lines of the table, header first, and the sentence at the end."""
    parts = text.rstrip("\n").split("\n\n")
    return parts[0], parts[1].splitlines(), parts[-1]


def test_json_has_the_documented_fields_and_they_agree(unconfuse, data):
    result = unconfuse.json("compare", data, "--runs", "4")
    assert list(result) == FIELDS
    assert PARTIAL <= set(names(result)) and not {"spa", "copa", "uma"} & set(names(result))
    assert result["best"] == names(result)[0] and result["best_position"] == 0
    assert (result["runs"], result["passes"], result["examples"]) == (4, 1, 400)
    assert result["feedback"] == "partial" and result["significance"] == 0.05 and result["width"] is None
    assert len(result["classes"]) == 4
    means = [entry["mean"] for entry in result["learners"]]
    assert means == sorted(means, reverse=True)
    for i, entry in enumerate(result["learners"]):
        assert list(entry) == LEARNER_FIELDS
        assert len(entry["ratios"]) == 4 and entry["mean"] == pytest.approx(sum(entry["ratios"]) / 4)
        spread = sum((ratio - entry["mean"]) ** 2 for ratio in entry["ratios"])
        assert entry["deviation"] == pytest.approx((spread / 3) ** 0.5)
        assert entry["feedback"] == "partial" and not entry["reference"] and entry["seconds"] > 0
        assert entry["p_value"] == result["p_values"][0][i] == result["p_values"][i][0]
        assert entry["differs_from_best"] == (entry["p_value"] < 0.05)
    assert result["learners"][0]["p_value"] == 1


def test_a_run_is_what_stream_plays_with_the_seed_of_that_run(unconfuse, data):
    result = unconfuse.json("compare", data, "--learners", "cspa,spa,bpa:explore=0.2,cspa-plus", "--runs", "3", "--seed", "5",
                            "--scale", "range", "--bias", "1")
    for entry in result["learners"]:
        own = ["--explore", "0.2"] if entry["learner"] == "bpa" else []
        for run, ratio in enumerate(entry["ratios"]):
            alone = unconfuse.json("stream", entry["learner"], *own, data, "--shuffle", "--seed", 5 + run, "--scale", "range",
                                   "--bias", "1")
            assert alone["ratio_correct"] == ratio


def test_a_run_behind_landmarks_is_what_stream_plays_too(unconfuse, data):
    options = ["--map", "landmarks", "--dimension", "30", "--width", "2", "--passes", "2"]
    result = unconfuse.json("compare", data, "--learners", "cspa,cspa-plus,spa", "--runs", "2", *options)
    assert result["width"] == 2
    for entry in result["learners"]:
        for run, ratio in enumerate(entry["ratios"]):
            alone = unconfuse.json("stream", entry["learner"], data, "--shuffle", "--seed", 1 + run, *options)
            assert alone["ratio_correct"] == ratio
    assert unconfuse.json("compare", data, "--map", "landmarks", "--runs", "1", "--learners", "cspa")["width"] > 0


def test_the_median_width_is_that_of_stream_for_more_rows_than_its_sample_has(unconfuse):
    """compare took the median of all rows, stream that of 2,000 drawn ones."""
    unconfuse("generate", "cspa-gaussians", "--examples", "2500", "-o", "many.svm", "-q")
    options = ["--map", "landmarks", "--dimension", "20", "--scale", "standard", "--storage", "dense"]
    compared = unconfuse.json("compare", "many.svm", "--learners", "cspa", "--runs", "1", *options)
    unconfuse("stream", "cspa", "many.svm", "--shuffle", *options, "-q", "-o", "stream.uc")
    assert unconfuse.json("inspect", "stream.uc")["map"]["width"] == compared["width"]
    alone = unconfuse.json("stream", "cspa", "many.svm", "--shuffle", *options)
    assert alone["ratio_correct"] == compared["learners"][0]["mean"]


@pytest.mark.parametrize("options", [[], ["--grid"], ["--map", "landmarks", "--dimension", "20"]])
def test_threads_change_nothing_but_the_seconds(unconfuse, data, options):
    results = [unconfuse.json("compare", data, "--runs", "3", "--threads", threads, *options) for threads in [1, 2, 3]]
    for result in results:
        for entry in result["learners"]:
            del entry["seconds"]
    assert results[0] == results[1] == results[2]


def test_table_and_conclusion_say_what_json_says(unconfuse, data):
    options = ["compare", data, "--learners", "cspa-plus,cspa,banditron", "--runs", "5"]
    result, shown = unconfuse.json(*options), unconfuse.ok(*options)
    assert shown.err == ""
    head, table, conclusion = rows(shown.out)
    assert head == "400 examples, 4 classes, 5 runs of 1 pass, feedback: only right or wrong"
    assert table[0].split() == ["learner", "correct", "deviation", "seconds", "compared", "with", "the", "best"]
    for entry, line in zip(result["learners"], table[1:], strict=True):
        cells = line.split(None, 4)
        assert cells[0] == entry["learner"]
        assert cells[1] == f"{100 * entry['mean']:.2f}%" and cells[2] == f"{100 * entry['deviation']:.2f}%"
        if entry["learner"] == result["best"]:
            assert cells[4] == "best"
        elif entry["differs_from_best"]:
            assert cells[4] == f"worse (p = {entry['p_value']:.2g})"
        else:
            assert cells[4] == f"not significantly different (p = {entry['p_value']:.2g})"
    equal = [entry["learner"] for entry in result["learners"][1:] if not entry["differs_from_best"]]
    if equal:
        verb = "is" if len(equal) == 1 else "are"
        wanted = f"{result['best']} is best; {' and '.join(equal)} {verb} not significantly worse"
    else:
        wanted = f"{result['best']} is best; all others are significantly worse"
    assert conclusion == wanted + " (paired t-test over 5 runs, 5%)."


def test_conclusion_names_those_that_are_as_good(unconfuse, data):
    # Exploration of .05 and .0500001 draws the same numbers: the two are right equally often.
    shown = unconfuse.ok("compare", data, "--learners", "bpa,bpa:explore=0.0500001,bpa:explore=1", "--runs", "4").out
    assert "bpa is best; bpa:explore=0.0500001 is not significantly worse (paired t-test over 4 runs, 5%)." in shown
    assert "not significantly different (p = 1)" in shown


def test_verbose_adds_the_p_values_of_all_pairs(unconfuse, data):
    options = ["compare", data, "--learners", "cspa,bpa,confidit", "--runs", "4"]
    result = unconfuse.json(*options)
    shown = unconfuse.ok(*options, "--verbose").out
    lines = shown.split("\n\n")[2].splitlines()
    assert lines[0].split() == ["p-values", "1", "2", "3"]
    for i, line in enumerate(lines[1:]):
        assert line.split() == [str(i + 1), names(result)[i], *(f"{p:.2g}" for p in result["p_values"][i])]
    assert "p-values" not in unconfuse.ok(*options).out


def test_learners_that_need_labels_are_a_reference_and_marked(unconfuse, data):
    result = unconfuse.json("compare", data, "--learners", "spa,banditron", "--runs", "3")
    reported = {entry["learner"]: (entry["feedback"], entry["reference"]) for entry in result["learners"]}
    assert reported == {"spa": ("full", True), "banditron": ("partial", False)}
    assert names(result)[0] == "spa"  # it is right more often, but had it easier
    assert result["best"] == "banditron" and result["best_position"] == 1
    shown = unconfuse.ok("compare", data, "--learners", "spa,banditron", "--runs", "3").out
    assert "; sees the labels\n" in shown
    assert shown.endswith("banditron is best. spa sees the labels; it is a reference and is not ranked.\n")


def test_answers_that_are_false_and_labels_now_and_then(unconfuse, data):
    learners = "onebit,onebit:feedback-noise=0.2,0.2,onebit:feedback-noise=estimate,spa"
    result = unconfuse.json("compare", data, "--learners", learners, "--runs", "1", "--flip-feedback", "0.2,0.2")
    noise = [entry["settings"].get("feedback-noise") for entry in result["learners"] if entry["learner"] == "onebit"]
    assert sorted(noise) == ["0.2,0.2", "estimate", "none"]
    plain = unconfuse.json("compare", data, "--learners", "onebit,spa", "--runs", "1")
    ratios = [{entry["learner"]: entry["ratios"] for entry in run["learners"] if
               entry["settings"].get("feedback-noise", "none") == "none"} for run in (plain, result)]
    assert ratios[0]["onebit"] > ratios[1]["onebit"] and ratios[0]["spa"] == ratios[1]["spa"]
    mixed = unconfuse.json("compare", data, "--learners", "onebit,cspa,spa", "--runs", "1", "--feedback", "mixed",
                           "--label-share", "0.5")
    assert mixed["feedback"] == "mixed"
    assert {entry["learner"]: (entry["feedback"], entry["reference"]) for entry in mixed["learners"]} == {
        "onebit": ("mixed", False), "cspa": ("partial", False), "spa": ("full", True)}


def test_full_feedback_compares_learners_of_labels_and_marks_those_of_right_or_wrong(unconfuse, data):
    result = unconfuse.json("compare", data, "--feedback", "full", "--runs", "2")
    assert {"perceptron", "pa", "spa", "copa", "arow", "scw"} <= set(names(result)) and not PARTIAL & set(names(result))
    shown = unconfuse.ok("compare", data, "--feedback", "full", "--learners", "spa,cspa", "--runs", "2").out
    assert "feedback: the label\n" in shown and "; sees only right or wrong\n" in shown


def test_grid_prints_what_was_chosen_and_leaves_what_was_typed(unconfuse, data):
    options = ["compare", data, "--grid", "--runs", "3", "--learners", "cspa,bpa:explore=0.05,cspa-plus,confidit:prior=2"]
    result, shown = unconfuse.json(*options), unconfuse.ok(*options).out
    settings = {entry["learner"]: entry["settings"] for entry in result["learners"]}
    assert settings["cspa"]["beta"] in ["auto", .1, .2, .3, .4, .5, .6, .7, .8, .9]
    assert settings["bpa"]["explore"] == 0.05 and settings["confidit"]["prior"] == 2
    assert f"cspa:beta={settings['cspa']['beta']} " in shown and "bpa:explore=0.05 " in shown
    assert "\ncspa-plus " in shown and ", options chosen on 2 other shuffles\n" in shown
    chosen = unconfuse.json("compare", data, "--runs", "3", "--learners", f"cspa:beta={settings['cspa']['beta']}")
    assert chosen["learners"][0]["ratios"] == next(e["ratios"] for e in result["learners"] if e["learner"] == "cspa")


def test_one_run_has_no_deviation_and_no_test_and_says_so(unconfuse, data):
    result = unconfuse.json("compare", data, "--runs", "1")
    for entry in result["learners"]:
        assert entry["deviation"] is entry["p_value"] is entry["differs_from_best"] is None
    assert all(p is None for line in result["p_values"] for p in line)
    shown = unconfuse.ok("compare", data, "--runs", "1").out
    assert shown.endswith("was best in the one run; whether that is chance, only more runs can tell (--runs).\n")


def test_standard_input_and_sparse_data(unconfuse):
    text = blobs(["x", "y", "z"], 120)
    unconfuse.write("data.svm", text)
    options = ["--runs", "2", "--learners", "cspa,cspa-plus", "--storage", "sparse", "--scale", "maxabs"]
    piped, read = unconfuse.json("compare", "-", *options, stdin=text), unconfuse.json("compare", "data.svm", *options)
    assert [e["ratios"] for e in piped["learners"]] == [e["ratios"] for e in read["learners"]]
    assert read["classes"] == ["x", "y", "z"]


@pytest.mark.parametrize("typed, sentence", [
    (["--learners", "cspa,,bpa"], "--learners: a learner's name is empty"),
    (["--learners", "cspa,csap"], "--learners: there is no learner called csap; did you mean cspa?"),
    (["--learners", "uma"], "--learners: uma learns from whole data sets, and compare is about one example "
     "after the other: unconfuse experiment DATA --learners uma --noise none compares errors"),
    (["--learners", "cspa:beta"], "--learners cspa:beta: an option is written as NAME=VALUE, not as 'beta'"),
    (["--learners", "cspa:eta=1"], "--learners cspa:eta=1: cspa has no option eta; it has beta"),
    (["--learners", "cspa:beta=7"], "--learners cspa:beta=7: --beta 7: it must be a number above 0 and at most 1, or auto"),
    (["--learners", "cspa-plus:metric=big"], "--learners cspa-plus:metric=big: --metric big: it must be one of auto|none"),
    (["--learners", "bpa,bpa:explore=0.05,bpa:explore=0.05"], "--learners: bpa is named twice with the same settings"),
    (["--runs", "0"], "--runs 0: it must be a whole number from 1 to 1000000"),
    (["--feedback", "none"], "--feedback none: it must be one of full|partial|mixed"),
    (["--no-shuffle"], "--shuffle is not for compare: every run is a shuffle of its own"),
    (["--average"], "--average is not for compare: it changes models, never a proposal"),
    (["--seed", "9007199254740992"], "--seed 9007199254740992: with 10 runs it must be at most 9007199254740982"),
])
def test_wrong_usage_gets_one_sentence(unconfuse, data, typed, sentence):
    assert unconfuse.fails(2, "compare", data, *typed).startswith(sentence)


@pytest.mark.parametrize("content, sentence", [
    ("a 1:1\na 1:2\n", "bad.svm: only one class, 'a', where two are needed"),
    ("a 1:1\n? 1:2\nb 1:3\n", "bad.svm: example 2 has no label ('?'), which cspa cannot use"),
    ("", "bad.svm: no examples"),
    ("a 1:1\nb 1:x\n", "bad.svm:2: the value 'x' of column 1 is not a number"),
])
def test_bad_data_get_one_sentence(unconfuse, content, sentence):
    unconfuse.write("bad.svm", content)
    assert unconfuse.fails(1, "compare", "bad.svm") == sentence


def test_maps_of_whole_data_sets_are_refused(unconfuse, data):
    for name in ["kpca", "kgs", "random", "nystroem", "jl"]:
        assert unconfuse.fails(2, "compare", data, "--map", name) == \
            f"--map {name} is learned from a whole data set: online learners use --map landmarks"
    assert unconfuse.fails(2, "compare", data, "--map", "landmarks", "--width", "auto") == \
        "--width auto cross-validates on a whole data set: online learners need --width W, --width median or -g G"
    unconfuse.ok("compare", data, "--map", "landmarks", "--width", "auto", "-g", "1", "--learners", "cspa", "--runs", "1")


@pytest.mark.parametrize("options", [[], ["--map", "landmarks"]])
def test_interrupted_it_ends_at_once(unconfuse, options):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 5000))
    process = subprocess.Popen([PROGRAM, "compare", "data.svm", "--runs", "100000", *options], cwd=unconfuse.directory,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ})
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130 and out == b""
    assert err.decode().endswith("unconfuse: interrupted\n")


@pytest.mark.parametrize("arguments", [["compare", "--runs", "2"], ["stream", "spa"]])
def test_rows_beyond_all_numbers_behind_the_map_are_refused(unconfuse, arguments):
    unconfuse.write("far.svm", b"".join(b"%d 1:%s\n" % (1 + i % 2, b"1e15" if i == 20 else b"%d" % (i % 5)) for i in range(40)))
    assert unconfuse.fails(1, *arguments, "--map", "landmarks", "--kernel", "polynomial", "far.svm").endswith(
        "a row's mapped features overflowed; scale the data (--scale)")


def test_curves_are_those_of_the_streams(unconfuse):
    """The mean over the runs, the deviation, and the recall of each class of all runs together."""
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 150))
    (one,) = unconfuse.json("compare", "data.svm", "--learners", "cspa", "--runs", "3", "--seed", "5")["learners"]
    streams = [unconfuse.json("stream", "cspa", "data.svm", "--feedback", "partial", "--shuffle", "--seed", str(5 + run)) for run in range(3)]
    assert [point["round"] for point in one["curve"]] == [1, 2, 4, 8, 16, 32, 64, 128, 150]
    for point, *by_hand in zip(one["curve"], *(stream["curve"] for stream in streams)):
        ratios = [at["ratio_correct"] for at in by_hand]
        assert point["ratio_correct"] == pytest.approx(sum(ratios) / 3, abs=1e-12)
        assert point["deviation"] == pytest.approx(statistics.stdev(ratios), abs=1e-12)
    assert one["curve"][-1]["ratio_correct"] == pytest.approx(one["mean"], abs=1e-12)
    (alone,) = unconfuse.json("compare", "data.svm", "--learners", "cspa", "--runs", "1", "--seed", "6")["learners"]
    assert [point["recent_recall"] for point in alone["curve"]] == [point["recent_recall"] for point in streams[1]["curve"]]
    assert all(point["deviation"] is None for point in alone["curve"])
    names = [f"c{k}" for k in range(61)]
    unconfuse.write("many.svm", blobs(names, 1500))
    (many,) = unconfuse.json("compare", "many.svm", "--learners", "cspa", "--runs", "1")["learners"]
    assert all("recent_recall" not in point for point in many["curve"])


def test_quiet_leaves_out_progress_and_not_the_result(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b"], 100))
    for command in (["compare", "data.svm", "--learners", "cspa,bpa", "--runs", "2"], ["experiment", "data.svm", "--learners", "pa,spa", "--runs", "1"]):
        result = unconfuse.ok(*command, "-q")
        assert "spa" in result.out and result.err == ""


def test_two_runs_show_next_to_nothing(unconfuse):
    unconfuse.write("data.svm", blobs(["x", "y"], 60))
    typed = ["compare", "data.svm", "--learners", "cspa,cspa-plus", "--runs"]
    entry = next(e for e in unconfuse.json(*typed, "2")["learners"] if e["p_value"] is not None)
    assert entry["p_value"] > 0.05
    shown = unconfuse.ok(*typed, "2").out
    assert "too few runs to tell (p = " in shown and "two runs cannot show that" in shown and "significant" not in shown
    assert "too few runs" not in unconfuse.ok(*typed, "3").out
