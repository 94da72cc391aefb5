"""train, predict and evaluate, as a user types them."""
import math
import random
import re
import shutil
import subprocess

import pytest

from conftest import blobs

LEARNERS = ["perceptron", "pa", "spa"]
TRAIN_FIELDS = ["learner", "settings", "examples", "features", "classes", "iterations", "updates", "training_error", "seconds",
                "model"]
EVALUATE_FIELDS = ["examples", "error", "error_interval", "balanced_accuracy", "macro_f1", "log_loss", "classes", "confusion",
                   "confusion_rate", "confusion_norm", "confusion_norm_joint", "per_class", "unlabelled", "unknown_labels",
                   "clean_error"]
needs_liblinear = pytest.mark.skipif(not shutil.which("liblinear-predict"), reason="LIBLINEAR is not there")


@pytest.fixture
def data(unconfuse):
    return unconfuse.write("data.svm", blobs(["a", "b", "c"], 300))


@pytest.mark.parametrize("learner", LEARNERS)
def test_train_evaluate_predict(unconfuse, data, learner):
    summary = unconfuse.ok("train", learner, data, "-o", "m.uc").out
    assert summary.startswith(f"{learner}: 300 examples, 4 features, 3 classes") and "model: m.uc" in summary
    report = unconfuse.json("evaluate", "m.uc", data)
    predicted = unconfuse.ok("predict", "m.uc", data).out.splitlines()
    labels = [line.split()[0] for line in unconfuse.read(data).decode().splitlines()]
    wrong = sum(p != y for p, y in zip(predicted, labels, strict=True))
    assert report["examples"] == 300 and report["error"] == pytest.approx(wrong / 300)
    assert report["error"] < 0.3


def test_json_of_train_has_exactly_the_documented_fields(unconfuse, data):
    result = unconfuse.json("train", "spa", data, "-o", "m.uc", "--passes", "3")
    assert list(result)[:len(TRAIN_FIELDS)] == TRAIN_FIELDS
    assert result["learner"] == "spa" and result["iterations"] == 3 and result["settings"]["passes"] == 3
    assert result["classes"] == ["a", "b", "c"] and result["features"] == 4 and result["model"] == "m.uc"
    assert 0 <= result["training_error"] <= 1 and 0 < result["updates"] <= 900


def test_json_of_evaluate_has_exactly_the_documented_fields_and_they_agree(unconfuse, data):
    unconfuse.ok("train", "spa", data, "-o", "m.uc")
    result = unconfuse.json("evaluate", "m.uc", data)
    assert list(result) == EVALUATE_FIELDS + ["confused_pairs"]
    counts, K = result["confusion"], 3
    assert sum(map(sum, counts)) == 300
    assert result["error"] == pytest.approx(1 - sum(counts[k][k] for k in range(K)) / 300)
    rates = [[counts[p][q] / sum(counts[p]) if p != q else 0 for q in range(K)] for p in range(K)]
    assert result["confusion_rate"] == pytest.approx(math.sqrt(sum(r * r for row in rates for r in row) / K))
    low, high = result["error_interval"]
    assert 0 <= low < result["error"] < high <= 1
    for k, entry in enumerate(result["per_class"]):
        assert list(entry) == ["class", "examples", "recall", "precision", "f1", "recall_interval", "precision_interval"]
        for name in ("recall", "precision"):
            low, high = entry[f"{name}_interval"]
            assert 0 <= low < entry[name] < high <= 1
        assert entry["examples"] == sum(counts[k]) and entry["recall"] == pytest.approx(counts[k][k] / sum(counts[k]))


def test_confusion_norms_agree_with_numpy(unconfuse, data):
    numpy = pytest.importorskip("numpy")
    unconfuse.ok("train", "perceptron", data, "-o", "m.uc", "--passes", "1", "--no-average")
    result = unconfuse.json("evaluate", "m.uc", data)
    counts = numpy.array(result["confusion"], dtype=float)
    rates = counts / counts.sum(axis=1, keepdims=True)
    numpy.fill_diagonal(rates, 0)
    joint = counts / counts.sum()
    numpy.fill_diagonal(joint, 0)
    assert result["confusion_norm"] == pytest.approx(numpy.linalg.norm(rates, 2))
    assert result["confusion_norm_joint"] == pytest.approx(numpy.linalg.norm(joint, 2))


def test_confusion_matrix_is_a_table_with_recall(unconfuse, data):
    unconfuse.ok("train", "spa", data, "-o", "m.uc")
    counts = unconfuse.json("evaluate", "m.uc", data)["confusion"]
    lines = unconfuse.ok("evaluate", "m.uc", data).out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if re.match(r"^[abc] ", line)}
    assert [[int(n) for n in rows[name][:3]] for name in "abc"] == counts
    assert rows["a"][3].endswith("%")
    assert len({len(line) for line in lines if re.match(r"^[abc] ", line)}) == 1


def test_many_classes_are_summarised(unconfuse):
    names = [f"class{i:02d}" for i in range(30)]
    unconfuse.write("many.svm", blobs(names, 600, columns=6, spread=1.0))
    unconfuse.ok("train", "pa", "many.svm", "-o", "m.uc")
    text = unconfuse.ok("evaluate", "m.uc", "many.svm").out
    assert "largest confusions" in text and len(text.split("largest confusions")[1].splitlines()) == 12
    counts = unconfuse.json("evaluate", "m.uc", "many.svm")["confusion"]
    largest = max(counts[p][q] for p in range(30) for q in range(30) if p != q)
    assert int(text.split("largest confusions")[1].splitlines()[2].split()[2]) == largest


def test_labels_come_back_as_they_were_written(unconfuse):
    names = ["cat", "007", "-1", "1.0", "größe", "a:b"]
    unconfuse.write("words.csv", "".join(f"{3 * k},{k % 2},{name}\n" for k, name in enumerate(names)) * 3)
    unconfuse.ok("train", "spa", "words.csv", "-o", "m.uc", "--passes", "200", "--bias", "1", "--scale", "standard")
    predicted = unconfuse.ok("predict", "m.uc", "words.csv").stdout.decode().splitlines()
    assert set(predicted) <= set(names)
    assert set(unconfuse.json("evaluate", "m.uc", "words.csv")["classes"]) == set(names)
    numbers = ["007", "-1", "1.0", "3e1"]
    unconfuse.write("numbers.svm", "".join(f"{name} {k + 1}:1\n" for k, name in enumerate(numbers)) * 3)
    unconfuse.ok("train", "spa", "numbers.svm", "-o", "m.uc")
    assert unconfuse.ok("predict", "m.uc", "numbers.svm").out.splitlines() == numbers * 3
    assert unconfuse.json("evaluate", "m.uc", "numbers.svm")["classes"] == ["-1", "1.0", "007", "3e1"]


def test_scores_have_a_header_and_read_back_exactly(unconfuse, data):
    unconfuse.ok("train", "spa", data, "-o", "m.uc")
    lines = [line.split("\t") for line in unconfuse.ok("predict", "m.uc", data, "--scores").out.splitlines()]
    plain = unconfuse.ok("predict", "m.uc", data).out.splitlines()
    assert lines[0] == ["label", "a", "b", "c"]
    listed = unconfuse.json("predict", "m.uc", data, "--scores")["predictions"]
    for line, label, entry in zip(lines[1:], plain, listed, strict=True):
        scores = [float(text) for text in line[1:]]
        assert line[0] == label == "abc"[scores.index(max(scores))]
        assert entry == {"label": label, "scores": scores}


def test_probabilities_are_refused_with_a_sentence(unconfuse, data):
    unconfuse.ok("train", "spa", data, "-o", "m.uc")
    assert unconfuse.fails(1, "predict", "m.uc", data, "--probabilities") == \
        "m.uc: a model of spa has scores but no probabilities; use --scores"


def test_predictions_go_to_standard_output_a_file_or_json(unconfuse, data):
    unconfuse.ok("train", "spa", data, "-o", "m.uc")
    text = unconfuse.ok("predict", "m.uc", data).stdout
    assert unconfuse.ok("predict", "m.uc", data, "-o", "-").stdout == text
    assert unconfuse.ok("predict", "m.uc", data, "-o", "out.txt").stdout == b""
    assert unconfuse.read("out.txt") == text
    assert unconfuse.ok("predict", "m.uc", "-", stdin=unconfuse.read(data)).stdout == text
    assert unconfuse.json("predict", "m.uc", data) == {"examples": 300, "classes": ["a", "b", "c"],
                                                       "predictions": text.decode().splitlines()}
    assert unconfuse.json("predict", "m.uc", data, "-o", "out.txt") == {"examples": 300, "classes": ["a", "b", "c"],
                                                                        "output": "out.txt"}


def test_model_may_be_piped(unconfuse, data):
    result = unconfuse.ok("train", "spa", data, "-o", "-")
    unconfuse.ok("train", "spa", data, "-o", "m.uc")
    assert result.stdout == unconfuse.read("m.uc") and "spa: 300 examples" in result.err
    assert unconfuse.ok("predict", "-", data, stdin=result.stdout).stdout == unconfuse.ok("predict", "m.uc", data).stdout


def test_pipes_may_stand_for_files(unconfuse, data):
    unconfuse.ok("train", "spa", data, "-o", "m.uc")
    script = f'{unconfuse.path} predict <(cat m.uc) <(cat {data})'
    result = subprocess.run(["bash", "-c", script], cwd=unconfuse.directory, capture_output=True, check=True)
    assert result.stdout == unconfuse.ok("predict", "m.uc", data).stdout


def test_predictions_replace_the_file_behind_a_link(unconfuse, data):
    unconfuse.ok("train", "spa", data, "-o", "m.uc")
    unconfuse.write("real.txt", "old")
    (unconfuse.directory / "link.txt").symlink_to("real.txt")
    unconfuse.ok("predict", "m.uc", data, "-o", "link.txt")
    assert (unconfuse.directory / "link.txt").is_symlink() and unconfuse.read("real.txt").count(b"\n") == 300


@pytest.mark.parametrize("options, sentence", [
    (["--positive", "a"], "--positive says which class the first of --noise-rates is for; give both"),
])
def test_options_without_effect_are_refused(unconfuse, data, options, sentence):
    assert unconfuse.fails(2, "train", "pa", data, "-o", "m.uc", *options) == sentence


def test_columns_that_the_model_does_not_know_are_dropped_with_one_warning(unconfuse):
    unconfuse.write("train.svm", "a 1:1\nb 2:1\n")
    unconfuse.ok("train", "pa", "train.svm", "-o", "m.uc")
    unconfuse.write("test.svm", "a 1:1 9:5\nb 2:1\nb 2:1 3:7 4:1\na\n")
    result = unconfuse.ok("predict", "m.uc", "test.svm")
    assert result.out.splitlines()[:3] == ["a", "b", "b"]
    assert result.err == ("unconfuse: warning: test.svm: 2 of 4 examples have columns above 2, which the model does not know; "
                          "those were ignored\n")


def test_csv_of_another_width_is_refused(unconfuse):
    unconfuse.write("train.csv", "x,y,label\n1,0,a\n0,1,b\n")
    unconfuse.ok("train", "pa", "train.csv", "-o", "m.uc")
    unconfuse.write("wide.csv", "1,0,0,a\n0,1,0,b\n")
    assert unconfuse.fails(1, "predict", "m.uc", "wide.csv") == \
        "wide.csv: the data have 3 columns of features, but the model was trained on 2"
    unconfuse.write("named.csv", "z,y,x,label\n5,0,1,a\n5,1,0,b\n")
    named = unconfuse.ok("predict", "m.uc", "named.csv")
    assert named.out == "a\nb\n"
    assert named.err == "unconfuse: warning: named.csv: 1 column that the model does not know was ignored\n"
    unconfuse.write("bare.csv", "1,0\n0,1\n")
    assert unconfuse.ok("predict", "m.uc", "bare.csv").out == "a\nb\n"


def test_unknown_and_missing_labels_are_counted(unconfuse):
    unconfuse.write("train.svm", "a 1:1\nb 2:1\n")
    unconfuse.ok("train", "pa", "train.svm", "-o", "m.uc")
    unconfuse.write("test.svm", "a 1:1\nz 2:1\n? 2:1\nb 2:1\nb 1:1\n")
    result = unconfuse.json("evaluate", "m.uc", "test.svm")
    assert result["examples"] == 4 and result["unknown_labels"] == 1 and result["error"] == 0.5
    assert result["confusion"] == [[1, 0], [1, 1]]
    text = unconfuse.ok("evaluate", "m.uc", "test.svm").out
    assert "unknown labels     1, counted as errors" in text and "unlabelled         1, skipped" in text


def test_noise_of_the_test_labels_gives_the_corrected_error(unconfuse):
    clean = blobs(["a", "b"], 4000, spread=0.3)
    unconfuse.write("clean.svm", clean)
    unconfuse.ok("noise", "apply", "clean.svm", "-o", "noisy.svm", "--noise-rates", "0.3,0.1")
    unconfuse.ok("train", "pa", "clean.svm", "-o", "m.uc")
    true = unconfuse.json("evaluate", "m.uc", "clean.svm")["error"]
    result = unconfuse.json("evaluate", "m.uc", "noisy.svm", "--noise-rates", "0.3,0.1")
    assert list(result) == EVALUATE_FIELDS + ["corrected_error", "corrected_error_plugin", "corrected_error_deviation",
                                              "corrected_confusion", "confused_pairs"]
    assert result["error"] > 0.15
    assert abs(result["corrected_error"] - true) < 4 * result["corrected_error_deviation"] < 0.1
    assert sum(map(sum, result["corrected_confusion"])) == pytest.approx(1)
    swapped = unconfuse.json("evaluate", "m.uc", "noisy.svm", "--noise-rates", "0.1,0.3", "--positive", "a")
    assert swapped["corrected_error"] == pytest.approx(result["corrected_error"])


def test_cross_validation_reports_error_and_confusion_and_writes_nothing(unconfuse, data):
    text = unconfuse.ok("train", "spa", data, "-v", "5").out
    assert text.startswith("spa: 5 folds, error per fold ") and "true \\ predicted" in text
    result = unconfuse.json("train", "spa", data, "-v", "5")
    assert set(EVALUATE_FIELDS) <= set(result) and result["examples"] == 300 and result["folds"] == 5
    assert len(result["fold_errors"]) == 5
    assert result["fold_error_mean"] == pytest.approx(sum(result["fold_errors"]) / 5)
    assert sorted(path.name for path in unconfuse.directory.iterdir()) == ["data.svm"]


def test_a_noise_matrix_that_the_learner_does_not_use_is_a_warning(unconfuse, data):
    sentence = "unconfuse: warning: perceptron does not use a noise matrix; it is ignored\n"
    assert unconfuse.ok("train", "perceptron", data, "-o", "m.uc", "--noise-rate", "0.2").err == sentence
    assert unconfuse.ok("train", "perceptron", data, "-v", "3", "--noise-rate", "0.2").err == sentence


@pytest.mark.parametrize("learner", LEARNERS)
def test_threads_do_not_change_a_byte(unconfuse, learner):
    unconfuse.write("data.svm", blobs(["a", "b", "c", "d"], 3000, columns=20))
    models, predictions = set(), set()
    for threads in [1, 2, 7]:
        unconfuse.ok("train", learner, "data.svm", "-o", "m.uc", "--scale", "standard", "--threads", threads)
        models.add(unconfuse.read("m.uc"))
        predictions.add(unconfuse.ok("predict", "m.uc", "data.svm", "--scores", "--threads", threads).stdout)
    assert len(models) == 1 and len(predictions) == 1


def test_same_seed_same_bytes_and_another_seed_others(unconfuse, data):
    models = []
    for seed in [1, 1, 2]:
        unconfuse.ok("train", "pa", data, "-o", "m.uc", "--seed", seed)
        models.append(unconfuse.read("m.uc"))
    assert models[0] == models[1] != models[2]


def test_a_model_is_replaced_whole(unconfuse, data):
    unconfuse.write("m.uc", "old")
    unconfuse.ok("train", "pa", data, "-o", "m.uc")
    assert unconfuse.ok("predict", "m.uc", data).out
    assert sorted(path.name for path in unconfuse.directory.iterdir()) == ["data.svm", "m.uc"]


def test_steps_before_the_weights_are_remembered(unconfuse):
    draw = random.Random(3)
    rows = [(draw.gauss(1000, 1), draw.gauss(0, 1e-3)) for _ in range(200)]
    unconfuse.write("data.csv", "".join(f"{x:.6f},{y:.9f},{'p' if x - 1000 + 1e3 * y > 0 else 'n'}\n" for x, y in rows))
    unconfuse.ok("train", "pa", "data.csv", "-o", "m.uc", "--scale", "standard", "--passes", "20")
    assert unconfuse.json("evaluate", "m.uc", "data.csv")["error"] < 0.05


# ---- against LIBLINEAR ----

def liblinear_predict(unconfuse, data, model):
    subprocess.run(["liblinear-predict", data, model, "theirs"], cwd=unconfuse.directory, check=True, capture_output=True)
    return unconfuse.read("theirs").decode().split()


def assert_same_but_for_ties(unconfuse, model, data, theirs):
    lines = [line.split("\t") for line in unconfuse.ok("predict", model, data, "--scores").out.splitlines()][1:]
    differing = 0
    for ours, their in zip(lines, theirs, strict=True):
        if float(ours[0]) == float(their):
            continue
        best, second = sorted(map(float, ours[1:]))[:-3:-1]
        assert abs(best - second) <= 1e-6 * abs(best), (ours, their)
        differing += 1
    assert differing <= len(theirs) // 100


@needs_liblinear
@pytest.mark.parametrize("classes", [["-1", "1"], ["3", "10", "2", "7"]])
@pytest.mark.parametrize("options", [[], ["--bias", "1"], ["--normalize"], ["--scale", "standard"], ["--scale", "range", "--bias", "2"]])
def test_exported_model_predicts_in_liblinear_as_ours(unconfuse, classes, options):
    unconfuse.write("data.svm", blobs(classes, 500, columns=8))
    unconfuse.ok("train", "spa", "data.svm", "-o", "m.uc", *options)
    unconfuse.ok("convert", "m.uc", "m.liblinear")
    assert unconfuse.read("m.liblinear").startswith(b"solver_type MCSVM_CS\n")
    theirs = liblinear_predict(unconfuse, "data.svm", "m.liblinear")
    assert_same_but_for_ties(unconfuse, "m.uc", "data.svm", theirs)
    assert_same_but_for_ties(unconfuse, "m.liblinear", "data.svm", theirs)


@needs_liblinear
@pytest.mark.parametrize("solver", [0, 1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("classes", [["1", "-1"], ["3", "10", "2"]])
@pytest.mark.parametrize("bias", [-1, 1])
def test_imported_model_predicts_as_liblinear(unconfuse, solver, classes, bias):
    unconfuse.write("data.svm", blobs(classes, 300, columns=8))
    subprocess.run(["liblinear-train", "-q", "-s", str(solver), "-B", str(bias), "data.svm", "theirs.model"], check=True,
                   cwd=unconfuse.directory, capture_output=True)
    theirs = liblinear_predict(unconfuse, "data.svm", "theirs.model")
    unconfuse.ok("convert", "theirs.model", "m.uc")
    assert_same_but_for_ties(unconfuse, "m.uc", "data.svm", theirs)
    assert_same_but_for_ties(unconfuse, "theirs.model", "data.svm", theirs)


def test_export_refuses_what_the_format_cannot_say(unconfuse, data):
    unconfuse.ok("train", "pa", data, "-o", "words.uc")
    assert "integer labels" in unconfuse.fails(1, "convert", "words.uc", "out")
    unconfuse.write("numbers.svm", blobs(["1", "2"], 50))
    unconfuse.ok("train", "pa", "numbers.svm", "-o", "unit.uc", "--normalize", "--bias", "1")
    assert "unit length" in unconfuse.fails(1, "convert", "unit.uc", "out")


def narrow_blobs(names, rows, seed):
    """Classes in six columns, for which a kernel of width 0.25 is far too narrow."""
    draw = random.Random(seed)
    centres = {name: [random.Random(f"{name}{j}").gauss(0, 2) for j in range(6)] for name in names}
    lines = []
    for _ in range(rows):
        name = draw.choice(names)
        lines.append(name + "".join(f" {j + 1}:{x + draw.gauss(0, 1):.4f}" for j, x in enumerate(centres[name])) + "\n")
    return "".join(lines)


@pytest.mark.parametrize("kind", ["kgs", "random", "nystroem", "kpca"])
def test_csvm_defaults_hold_after_a_narrow_gaussian_kernel(unconfuse, kind):
    """Most rows are far from all landmarks and nearly vanish; as they are, the offset alone would decide."""
    unconfuse.write("train.svm", narrow_blobs("abc", 300, 1))
    unconfuse.write("test.svm", narrow_blobs("abc", 300, 2))
    words = ["train", "csvm", "train.svm", "-o", "m.uc", "--map", kind, "--dimension", "40", "--width", "0.25"]
    unconfuse.ok(*words)
    assert unconfuse.json("evaluate", "m.uc", "test.svm")["error"] < 0.1
    unconfuse.ok(*words, "--no-normalize")
    assert unconfuse.json("evaluate", "m.uc", "test.svm")["error"] > 0.3


@pytest.mark.parametrize("options, unit", [([], False), (["--map", "kgs"], True), (["--map", "kpca"], True),
                                           (["--map", "kpca", "--center"], False), (["--map", "kgs", "--no-normalize"], False),
                                           (["--map", "kgs", "--kernel", "polynomial"], False),
                                           (["--map", "kgs", "--kernel", "linear"], False)])
def test_csvm_rows_get_unit_length_after_a_gaussian_map_only(unconfuse, options, unit):
    unconfuse.write("train.svm", narrow_blobs("ab", 60, 1))
    for learner in ["csvm", "sloppy-svm", "logistic", "s3vm"]:
        more = ["--dimension", "5"] if options else []
        more += ["--noise-rates", "0.1,0.1"] if learner == "sloppy-svm" else []
        unconfuse.ok("train", learner, "train.svm", "-o", "m.uc", *options, *more)
        assert unconfuse.json("inspect", "m.uc")["steps"]["normalize"] is (unit and learner == "csvm"), learner


def test_a_search_that_ran_out_says_what_helps(unconfuse):
    unconfuse.write("d.svm", "".join(f"{'abc'[i % 3]} 1:{i % 3 + i / 90} 2:{i % 7} 3:{i * i % 11}\n" for i in range(90)))
    run = unconfuse.ok("train", "logistic", "d.svm", "--iterations", "1", "-o", "m.uc")
    assert run.err.endswith("; allow more --iterations, or let --l2 auto choose the regularisation\n")
    assert "(of the labels as given), 1 iteration\n" in run.out


def test_a_column_without_values_does_not_slow_logistic_down(unconfuse):
    """Without a penalty nothing curves there; Newton steps go on with the other columns."""
    draw, steps = random.Random(5), []
    rows = [(k, sorted(draw.sample(range(60), 8)), [draw.gauss(0, 1) for _ in range(8)]) for k in (draw.randrange(3) for _ in range(2500))]
    for gap in (0, 1):
        lines = (f"{k} " + " ".join(f"{j + 1 + gap * (j >= 30)}:{v + 0.4 * (j % 3 == k):.4f}" for j, v in zip(columns, values)) for k, columns, values in rows)
        unconfuse.write("data.svm", "\n".join(lines) + "\n")
        steps.append(unconfuse.json("train", "logistic", "data.svm", "--l2", "0", "-o", "m.uc")["iterations"])
    assert steps[0] == steps[1]


def test_many_classes_that_need_too_much_memory_are_refused(unconfuse, tmp_path):
    """The vectors of the solver are many times the model, for which there is room."""
    lines = [f"{row % 30} {1 + row * 300}:1 {2 + row * 300}:0.5" for row in range(60)] + ["0 20000:1"]
    (tmp_path / "wide.svm").write_text("\n".join(lines) + "\n")
    arguments = ["train", "logistic", tmp_path / "wide.svm", "-o", tmp_path / "m.uc", "--memory"]
    refused = unconfuse.fails(1, *arguments, "30M")
    assert re.search(r"logistic with 20000 features and 30 classes needs \d+\.\d MB of memory", refused)
    unconfuse.ok(*arguments, "200M")


MAP_OPTIONS = [("gamma", "0.5"), ("width", "2"), ("kernel", "linear"), ("degree", "2"), ("coefficient", "2"), ("dimension", "9"),
               ("center", None), ("pick", "kmeans")]


@pytest.mark.parametrize("option, value", MAP_OPTIONS)
def test_options_of_a_map_without_a_map_are_told(unconfuse, option, value):
    """Who knows LIBSVM takes `csvm -g 0.5` for a machine with a Gaussian kernel."""
    unconfuse.write("d.svm", blobs(["x", "y"], 60))
    typed = [f"--{option}"] + ([value] if value else [])
    warning = f"unconfuse: warning: --{option} has no effect"
    for command in (["train", "csvm", "d.svm", "-o", "m.uc"], ["train", "auto", "--map", "none", "d.svm", "-o", "m.uc"],
                    ["train", "csvm", "d.svm", "-v", "2"], ["stream", "pa", "d.svm"],
                    ["compare", "d.svm", "--learners", "pa,spa", "--runs", "2"],
                    ["experiment", "d.svm", "--learners", "ridge,csvm", "--noise", "none", "--runs", "1"]):
        assert warning + " without --map: " in unconfuse.ok(*command, *typed).err
    unconfuse.ok("train", "csvm", "d.svm", "-o", "plain.uc")
    unconfuse.ok("train", "csvm", "d.svm", "-o", "m.uc", *typed)
    assert unconfuse.read("m.uc") == unconfuse.read("plain.uc")
    assert warning + ": audit chooses its features itself" in unconfuse.ok("train", "audit", "d.svm", "-o", "m.uc", *typed).err
    told = unconfuse.ok("train", "onebit", "d.svm", "-o", "m.uc", *typed).err
    assert (warning + ": onebit chooses its features itself" in told) == (option != "dimension")
    for learner in ("rp", "auto"):
        assert "no effect" not in unconfuse.ok("train", learner, "d.svm", "-o", "m.uc", *typed).err
    assert "no effect" not in unconfuse.ok("train", "csvm", "d.svm", "--map", "kpca", "-o", "m.uc", *typed).err


def test_an_image_is_called_one(unconfuse):
    for name, content in {"x.png": b"\x89PNG\r\n\x1a\n" + bytes(40), "x.jpg": b"\xff\xd8\xff\xe0" + bytes(40), "x.gif": b"GIF89a"}.items():
        unconfuse.write(name, content)
        assert unconfuse.fails(1, "train", name, "-o", "m.uc").startswith(f"{name}: an image, where rows of features are expected")


def test_quiet_leaves_the_report_of_evaluate(unconfuse):
    unconfuse.write("d.svm", blobs(["x", "y"], 60))
    assert unconfuse.ok("train", "ridge", "d.svm", "-q", "-o", "m.uc").out == ""
    assert unconfuse.ok("evaluate", "m.uc", "d.svm", "-q").out == unconfuse.ok("evaluate", "m.uc", "d.svm").out
    assert "results on standard output" in " ".join(unconfuse.ok("help", "evaluate").out.split())
