"""train auto: nothing is known but the data and their labels."""
import json


def digits_like(folder, unconfuse, rate):
    """Four clouds with some wrong labels, and clean test rows."""
    unconfuse("generate", "cspa-gaussians", "--examples", "600", "--sigma", "0.15", "--test", "test.svm",
              "--test-examples", "2000", "-o", "clean.svm")
    unconfuse("noise", "apply", "clean.svm", "--noise-rate", rate, "-o", "noisy.svm")


def test_without_a_learner_it_is_auto(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.3")
    unconfuse("train", "noisy.svm", "-o", "a.uc")
    unconfuse("train", "auto", "noisy.svm", "-o", "b.uc")
    assert (tmp_path / "a.uc").read_bytes() == (tmp_path / "b.uc").read_bytes()


def test_it_says_what_it_chose_and_how_good_it_is(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.3")
    result = unconfuse.json("train", "noisy.svm", "-o", "m.uc")
    assert result["learner"] == "auto"
    assert abs(result["wrong_labels"] - 0.3) < 0.06
    assert result["chosen"]["noise"] in ("symmetric", "full")
    assert len(result["candidates"]) == 14
    assert all({"learner", "options", "criterion"} <= set(candidate) for candidate in result["candidates"])
    clean = result["clean_error"]
    assert 0 <= clean["low"] <= clean["estimate"] <= clean["high"] <= 1 and clean["level"] == 0.9
    error = unconfuse.json("evaluate", "m.uc", "test.svm")["error"]
    assert clean["low"] <= error <= clean["high"]
    assert error < 0.03
    text = unconfuse("train", "noisy.svm", "-o", "m.uc").stdout.decode()
    assert "view: " in text and "% are wrong" in text and "error on true classes: " in text
    assert unconfuse.json("inspect", "m.uc")["clean_error"] == clean


def test_time_decides_how_many_views_are_tried(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.1")
    assert len(unconfuse.json("train", "auto", "--time", "fast", "noisy.svm", "-o", "m.uc")["candidates"]) == 4
    assert len(unconfuse.json("train", "auto", "--time", "thorough", "noisy.svm", "-o", "m.uc")["candidates"]) == 18


def test_probabilities_are_of_the_true_class(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.4")
    unconfuse("train", "noisy.svm", "-o", "m.uc")
    lines = unconfuse("predict", "m.uc", "test.svm", "--probabilities").stdout.decode().splitlines()[1:]
    sure = [max(map(float, line.split("\t")[1:])) for line in lines]
    assert sum(sure) / len(sure) > 0.75  # of the labels, 60% are as predicted


def test_ridge_prints_its_path(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.1")
    result = unconfuse.json("train", "ridge", "noisy.svm", "-o", "m.uc")
    path = result["leave_one_out"]
    best = min(path, key=lambda point: point["squared_error"] + point["error"])
    assert len(path) == 11 and result["lambda"] == best["lambda"]
    assert result["leave_one_out_error"] == best["error"]


def test_a_wide_interval_says_so(unconfuse, tmp_path):
    rows = "".join(f"{(i * 7919) % 2} 1:{(i * 104729) % 97} 2:{(i * 1299709) % 89}\n" for i in range(200))
    (tmp_path / "random.svm").write_text(rows)
    done = unconfuse("train", "random.svm", "-o", "m.uc")
    clean = json.loads(unconfuse("inspect", "m.uc", "--json").stdout)["clean_error"]
    assert (b"cannot tell" in done.stdout) == (clean["high"] - clean["low"] > 0.25)


def test_rows_that_are_all_the_same_give_a_model(unconfuse, tmp_path):
    (tmp_path / "same.svm").write_text("".join(f"{i % 2} 1:5 2:5\n" for i in range(20)))
    result = unconfuse.json("train", "same.svm", "-o", "m.uc")
    assert [candidate["options"]["map"] for candidate in result["candidates"]] == ["none", "none"]
    assert unconfuse.json("evaluate", "m.uc", "same.svm")["error"] == 0.5
