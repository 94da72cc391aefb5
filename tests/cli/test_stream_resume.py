"""stream --resume: it goes on exactly where it stopped."""
import itertools
import json
import pytest

from conftest import blobs

FULL = ["perceptron", "pa", "spa", "copa", "arow", "scw"]
PARTIAL = ["cspa", "cspa-plus", "banditron", "bpa", "confidit", "soba", "onebit"]
MAP = ["--map", "landmarks", "--dimension", "80", "--width", "2"]


@pytest.fixture
def data(unconfuse):
    return unconfuse.write("data.svm", blobs(["a", "b", "c"], 300))


def halves(unconfuse, text, at=None):
    lines = text.splitlines(keepends=True)
    at = at or len(lines) // 2
    unconfuse.write("whole.svm", "".join(lines))
    unconfuse.write("first.svm", "".join(lines[:at]))
    unconfuse.write("second.svm", "".join(lines[at:]))


def labels_of(unconfuse, name):
    return [line.split()[0] for line in unconfuse.read(name).decode().splitlines()]


def check_resumed(unconfuse, learner, options, later=()):
    """`later` are options that may change, and are the same here."""
    whole = unconfuse.json("stream", learner, *options, *later, "whole.svm", "-o", "whole.uc")
    first = unconfuse.json("stream", learner, *options, *later, "first.svm", "-o", "half.uc")
    second = unconfuse.json("stream", learner, *later, "second.svm", "--resume", "half.uc", "-o", "resumed.uc")
    assert unconfuse.read("whole.uc") == unconfuse.read("resumed.uc")
    assert first["correct"] + second["correct"] == whole["correct"]
    assert (first["rounds_before"], second["rounds_before"]) == (0, first["rounds"])
    assert first["rounds"] + second["rounds"] == whole["rounds"]
    return whole


@pytest.mark.parametrize("learner", ["perceptron", "pa", "spa"])
@pytest.mark.parametrize("options", [[], ["--no-average"], ["--normalize", "--bias", "1"], ["--class-weight", "balanced"]])
def test_resumed_half_way_gives_the_same_bytes_as_never_stopped(unconfuse, learner, options):
    halves(unconfuse, blobs(["a", "b", "c"], 300))
    check_resumed(unconfuse, learner, options)


@pytest.mark.parametrize("mapped", [[], MAP])
@pytest.mark.parametrize("learner", FULL + PARTIAL)
def test_every_learner_goes_on_exactly_where_it_stopped(unconfuse, learner, mapped):
    if mapped and learner == "onebit":
        pytest.skip("makes a map of its own")
    halves(unconfuse, blobs(["a", "b", "c", "d"], 600), at=251)
    whole = check_resumed(unconfuse, learner, [*mapped, "--bias", "0.5", "--seed", "7"])
    assert whole["ratio_correct"] > (0.35 if learner in ("banditron", "bpa", "soba") else 0.55)
    check_resumed(unconfuse, learner, [*mapped, "--average"], ["--missing", "0.3"])


def test_landmarks_may_still_be_missing_when_a_stream_stops(unconfuse):
    halves(unconfuse, blobs(["a", "b", "c"], 300), at=40)
    for learner in ["spa", "cspa-plus"]:
        check_resumed(unconfuse, learner, MAP)
    assert unconfuse.json("inspect", "half.uc")["map"]["landmarks"] == 40
    assert unconfuse.json("inspect", "resumed.uc")["map"]["landmarks"] == 80


def test_a_stream_may_go_on_from_standard_input_and_more_than_once(unconfuse):
    text = blobs(["a", "b", "c"], 400)
    halves(unconfuse, text)
    for learner, options in itertools.product(["copa", "cspa-plus", "confidit", "arow", "soba"], [[], MAP]):
        unconfuse.ok("stream", learner, *options, "whole.svm", "-o", "whole.uc")
        lines = text.splitlines(keepends=True)
        unconfuse.ok("stream", learner, *options, "--classes", "a,b,c", "-", "-o", "part.uc", stdin="".join(lines[:100]))
        for begin in range(100, 400, 100):
            unconfuse.ok("stream", learner, "--resume", "part.uc", "-", "-o", "part.uc",
                         stdin="".join(lines[begin:begin + 100]))
        assert unconfuse.read("whole.uc") == unconfuse.read("part.uc")


def test_shuffled_passes_go_on_with_the_next_order(unconfuse, data):
    for options in [[], MAP]:
        both = unconfuse.json("stream", "cspa-plus", *options, data, "--shuffle", "--passes", "2", "--missing", "0.1")
        first = unconfuse.json("stream", "cspa-plus", *options, data, "--shuffle", "--missing", "0.1", "-o", "m.uc")
        second = unconfuse.json("stream", "cspa-plus", data, "--shuffle", "--missing", "0.1", "--resume", "m.uc")
        assert both["correct"] == first["correct"] + second["correct"]


def test_missing_feedback_is_drawn_on_where_it_stopped(unconfuse, data):
    """Not from the beginning: the second run would miss the same rounds again."""
    halves(unconfuse, unconfuse.read(data).decode())
    rounds = {}
    for name, options in [("whole", []), ("first", ["-o", "half.uc"]), ("second", ["--resume", "half.uc"])]:
        unconfuse.ok("stream", "spa", f"{name}.svm", "--missing", "0.5", *(options or ["-o", "m.uc"]), "-o", f"{name}.uc")
        rounds[name] = unconfuse.json("inspect", f"{name}.uc")["summary"]["rounds"]
        if name == "first":
            unconfuse.ok("stream", "spa", "first.svm", "--missing", "0.5", "-o", "half.uc")
    assert rounds["second"] == rounds["whole"] != 2 * rounds["first"]


def test_a_resumed_run_tells_of_its_own_rounds_and_of_all(unconfuse):
    halves(unconfuse, blobs(["a", "b", "c"], 300))
    unconfuse.ok("stream", "spa", "first.svm", "-o", "half.uc")
    result = unconfuse.ok("stream", "spa", "second.svm", "--resume", "half.uc")
    assert [line.split()[0] for line in result.err.splitlines()[1:]] == ["1", "2", "4", "8", "16", "32", "64", "128", "150"]
    assert result.out.splitlines()[0].startswith("150 rounds, ")
    assert result.out.splitlines()[1] == "300 rounds since the beginning of the stream"


def test_feedback_that_is_on_its_way_arrives_before_the_model_is_saved(unconfuse):
    halves(unconfuse, blobs(["a", "b", "c"], 300))
    unconfuse.ok("stream", "spa", "first.svm", "--delay", "20", "-o", "half.uc")
    assert unconfuse.json("inspect", "half.uc")["summary"]["rounds"] == 150
    unconfuse.ok("stream", "spa", "second.svm", "--delay", "20", "--resume", "half.uc", "-o", "m.uc")
    assert unconfuse.json("inspect", "m.uc")["summary"]["rounds"] == 300


def test_resuming_refuses_another_learner_and_models_without_state(unconfuse, data):
    unconfuse.ok("stream", "spa", data, "-o", "m.uc")
    assert unconfuse.fails(1, "stream", "pa", data, "--resume", "m.uc") == "m.uc was learned by spa, not by pa"
    unconfuse.ok("train", "spa", data, "-o", "trained.uc")
    assert unconfuse.fails(1, "stream", "spa", data, "--resume", "trained.uc") == \
        "trained.uc: the model holds no learner's state to go on from: save it with `unconfuse stream`"
    assert unconfuse.fails(1, "stream", "spa", data, "--resume", data).startswith("data.svm: ")
    assert unconfuse.fails(1, "stream", "spa", data, "--resume", "nowhere.uc").startswith("nowhere.uc: ")


def test_resuming_refuses_settings_that_would_change_and_takes_those_that_do_not(unconfuse, data):
    unconfuse.ok("stream", "spa", data, "-o", "m.uc", "--seed", "3")
    for typed, stored in [("--cost 2", "1"), ("--bias 2", "0"), ("--seed 4", "3"), ("--scale range", "none"),
                          ("--average off", "on"), ("--normalize on", "off"), ("--class-weight balanced", "none")]:
        name, value = typed.split()
        words = [name if value == "on" else f"--no-{name[2:]}"] if value in ("on", "off") else [name, value]
        assert unconfuse.fails(2, "stream", "spa", data, "--resume", "m.uc", *words) == \
            f"{typed}: m.uc was learned with {stored}, and a stream continues as it began"
    assert unconfuse.fails(2, "stream", "spa", data, "--resume", "m.uc", *MAP) == \
        "--map landmarks: m.uc was learned with none, and a stream continues as it began"
    assert unconfuse.fails(2, "stream", "spa", data, "--resume", "m.uc", "--classes", "a,b,c") == \
        "--classes cannot be given with --resume: the model has its classes"
    unconfuse.ok("stream", "spa", data, "--resume", "m.uc", "--cost", "1", "--average", "--seed", "3", "--delay", "3",
                 "--missing", "0.1", "--passes", "2", "--shuffle")
    unconfuse.ok("stream", "spa", data, *MAP, "-o", "m.uc")
    assert unconfuse.fails(2, "stream", "spa", data, "--resume", "m.uc", "--width", "3") == \
        "--width 3: m.uc was learned with 2, and a stream continues as it began"
    unconfuse.ok("stream", "spa", data, "--resume", "m.uc", *MAP)


@pytest.mark.parametrize("learner,words", [
    ("cspa-plus", "--map landmarks --width median --dimension 20"), ("spa", "--map landmarks -g 0.3"),
    ("cspa", "--map landmarks --kernel polynomial --degree 2"), ("cspa", "--width 2 --map none"),
    ("cspa-plus", "--metric auto --tail auto --pair --beta 0.1 --prior 0.3"), ("spa", "--scale range --bias auto"),
    ("cspa-plus", "--map landmarks --dimension auto --width 0.1 --no-pair --normalize --seed 9")])
def test_the_same_command_line_goes_on(unconfuse, data, learner, words):
    unconfuse.ok("stream", learner, data, *words.split(), "-o", "m.uc")
    unconfuse.ok("stream", learner, data, *words.split(), "--resume", "m.uc", "-o", "m.uc")
    again = unconfuse.json("stream", learner, data, *words.split(), "--resume", "m.uc")
    assert again["rounds_before"] == 600
    assert again["curve"] == unconfuse.json("stream", learner, data, "--resume", "m.uc")["curve"]


def test_what_auto_came_to_may_be_typed_and_another_value_may_not(unconfuse, data):
    def refused(learner, typed, stored):
        assert unconfuse.fails(2, "stream", learner, data, "--resume", "m.uc", *typed.split()) == \
            f"{typed.replace('--no-pair', '--pair off')}: m.uc was learned with {stored}, and a stream continues as it began"

    unconfuse.ok("stream", "cspa-plus", data, "-o", "m.uc")
    unconfuse.ok("stream", "cspa-plus", data, "--resume", "m.uc", "--pair", "--metric", "full", "--tail", "10", "--bias", "0")
    refused("cspa-plus", "--no-pair", "on")
    refused("cspa-plus", "--tail 0", "10")
    refused("cspa-plus", "--metric diagonal", "full")
    unconfuse.ok("stream", "cspa-plus", data, "--metric", "none", "-o", "m.uc")
    unconfuse.ok("stream", "cspa-plus", data, "--resume", "m.uc", "--no-pair", "--tail", "0")
    unconfuse.ok("stream", "cspa", data, "-o", "m.uc")
    unconfuse.ok("stream", "cspa", data, "--resume", "m.uc", "--beta", "0.25")
    refused("cspa", "--beta 0.5", "0.25")
    unconfuse.ok("stream", "cspa", data, "--map", "landmarks", "-g", "0.5", "-o", "m.uc")
    unconfuse.ok("stream", "cspa", data, "--resume", "m.uc", "--width", "2", "--dimension", "700")
    refused("cspa", "--width 3", "2")
    refused("cspa", "--gamma 0.25", "0.5")
    refused("cspa", "--dimension 100", "700")
    refused("cspa", "--map none", "landmarks")


def test_labels_that_a_resumed_learner_does_not_know(unconfuse, data):
    unconfuse.write("more.svm", "z 1:9 2:9 3:9 4:9\n" * 5)
    unconfuse.ok("stream", "spa", data, "-o", "m.uc")
    full = unconfuse.json("stream", "spa", "more.svm", "--resume", "m.uc")
    assert [entry["class"] for entry in full["per_class"]] == ["a", "b", "c", "z"] and full["correct"] >= 3
    unconfuse.ok("stream", "cspa", data, "-o", "m.uc")
    partial = unconfuse("stream", "cspa", "more.svm", "--resume", "m.uc", "--json", "-q")
    assert json.loads(partial.out)["unknown_labels"] == 5 and json.loads(partial.out)["correct"] == 0
    assert partial.err == "unconfuse: warning: 5 of 5 rounds had a label that is not among the classes, such as z: " \
                          "every proposal was wrong\n"


@pytest.mark.parametrize("columns", [1024, 1025, 3000])
def test_onebit_on_rows_of_more_columns_than_it_keeps(unconfuse, columns):
    rows = [f"{'ab'[i % 2]} " + " ".join(f"{j + 1}:{(i * 7 + j * 13) % 11 - 5}" for j in range(columns)) + "\n" for i in range(24)]
    for at in (1, 12):
        halves(unconfuse, "".join(rows), at)
        check_resumed(unconfuse, "onebit", ["--classes", "a,b"])
