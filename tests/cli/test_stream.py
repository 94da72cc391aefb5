"""stream: online, in constant memory, and resumable."""
import json
import os
import subprocess

import pytest

from conftest import PROGRAM, blobs

FIELDS = ["rounds", "correct", "ratio_correct", "curve", "per_class", "seconds"]


@pytest.fixture
def data(unconfuse):
    return unconfuse.write("data.svm", blobs(["a", "b", "c"], 300))


def test_json_has_exactly_the_documented_fields_and_they_agree(unconfuse, data):
    result = unconfuse.json("stream", "spa", data)
    assert list(result) == FIELDS
    assert result["rounds"] == 300 and result["ratio_correct"] == pytest.approx(result["correct"] / 300)
    assert [point["round"] for point in result["curve"]] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert result["curve"][-1]["ratio_correct"] == pytest.approx(result["ratio_correct"])
    correct, before = 0, 0
    for point in result["curve"]:
        assert list(point) == ["round", "ratio_correct", "recent_ratio"]
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


@pytest.mark.parametrize("learner", ["perceptron", "pa", "spa"])
@pytest.mark.parametrize("options", [[], ["--no-average"], ["--normalize", "--bias", "1"], ["--class-weight", "balanced"]])
def test_resumed_half_way_gives_the_same_bytes_as_never_stopped(unconfuse, learner, options):
    lines = blobs(["a", "b", "c"], 300).splitlines(keepends=True)
    unconfuse.write("whole.svm", "".join(lines))
    unconfuse.write("first.svm", "".join(lines[:150]))
    unconfuse.write("second.svm", "".join(lines[150:]))
    unconfuse.ok("stream", learner, *options, "whole.svm", "-o", "whole.uc")
    unconfuse.ok("stream", learner, *options, "first.svm", "-o", "half.uc")
    unconfuse.ok("stream", learner, "second.svm", "--resume", "half.uc", "-o", "resumed.uc")
    assert unconfuse.read("whole.uc") == unconfuse.read("resumed.uc")


def test_resuming_refuses_another_learner_changed_settings_and_models_without_state(unconfuse, data):
    unconfuse.ok("stream", "spa", data, "-o", "m.uc")
    assert unconfuse.fails(1, "stream", "pa", data, "--resume", "m.uc") == "m.uc was learned by spa, not by pa"
    assert unconfuse.fails(2, "stream", "spa", data, "--resume", "m.uc", "--cost", "2") == \
        "--cost cannot be changed when a stream goes on"
    assert unconfuse.fails(2, "stream", "spa", data, "--resume", "m.uc", "--bias", "2") == \
        "--bias cannot be changed when a stream goes on"
    unconfuse.ok("train", "spa", data, "-o", "trained.uc")
    assert unconfuse.fails(1, "stream", "spa", data, "--resume", "trained.uc").startswith("trained.uc: ")


def test_standard_input_learns_classes_as_they_appear_or_from_the_option(unconfuse, data):
    text = unconfuse.read(data)
    appearing = unconfuse.json("stream", "spa", "-", stdin=text)
    assert appearing["rounds"] == 300
    order = list(dict.fromkeys(line.split()[0] for line in text.decode().splitlines()))
    assert [entry["class"] for entry in appearing["per_class"]] == order
    told = unconfuse.json("stream", "spa", "-", "--classes", "a,b,c", stdin=text)
    from_file = unconfuse.json("stream", "spa", data)
    for result in (told, from_file):
        del result["seconds"]
    assert told == from_file


def test_a_pipe_is_read_once_like_standard_input(unconfuse, data):
    script = f"{unconfuse.path} stream spa <(cat {data}) --json -q"
    result = subprocess.run(["bash", "-c", script], cwd=unconfuse.directory, capture_output=True, check=True)
    assert json.loads(result.stdout)["rounds"] == 300


def test_a_label_that_was_not_told_is_refused(unconfuse):
    assert unconfuse.fails(1, "stream", "spa", "-", "--classes", "a,b", "-q", stdin="a 1:1\nz 1:1\n") == \
        "-: label z of example 2 is not among --classes a,b"


def test_unlabelled_rows_are_refused(unconfuse):
    unconfuse.write("data.svm", "a 1:1\n? 1:1\nb 1:1\n")
    assert unconfuse.fails(1, "stream", "spa", "data.svm", "-q") == \
        "data.svm: example 2 has no label ('?'), which spa cannot use"


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


def test_a_large_file_streams_in_constant_memory(unconfuse):
    block = blobs(["a", "b", "c"], 2000, columns=30).encode()
    peaks = []
    for copies in [20, 200]:
        with open(unconfuse.directory / "large.svm", "wb") as file:
            for _ in range(copies):
                file.write(block)
        process = subprocess.Popen([PROGRAM, "stream", "spa", "large.svm", "-q", "--threads", "2"], cwd=unconfuse.directory,
                                   stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        assert status == 0
        peaks.append(usage.ru_maxrss)
    assert peaks[1] < peaks[0] + 8 * 1024, peaks  # kilobytes; the larger file has 100 MB more
