"""--weights, --weight and --soft-labels."""
import json

import pytest
from conftest import blobs


@pytest.fixture
def data(unconfuse):
    """Rows with weights 0 to 3, and the rows repeated so often."""
    lines = blobs(["a", "b", "c"], 90).splitlines()
    weights = [i * 7 % 4 for i in range(len(lines))]
    unconfuse.write("rows.svm", "\n".join(lines) + "\n")
    unconfuse.write("weights.txt", "".join(f"{weight}\n" for weight in weights))
    unconfuse.write("repeated.svm", "".join((line + "\n") * weight for line, weight in zip(lines, weights)))
    labels = [line.split()[0] for line in lines]
    soft = "".join(",".join("1" if name == label else "0" for name in "cab") + "\n" for label in labels)
    unconfuse.write("soft.csv", "c,a,b\n" + soft)
    return unconfuse


def scores(program, model):
    rows = [line.split("\t")[1:] for line in program.ok("predict", model, "rows.svm", "--scores").out.splitlines()[1:]]
    return [float(score) for row in rows for score in row]


def test_a_weight_is_a_number_of_rows(data):
    data.ok("train", "logistic", "rows.svm", "--weights", "weights.txt", "--tolerance", "1e-9", "-o", "weighted.uc")
    data.ok("train", "logistic", "repeated.svm", "--tolerance", "1e-9", "-o", "repeated.uc")
    assert scores(data, "weighted.uc") == pytest.approx(scores(data, "repeated.uc"), abs=1e-4)
    weighed = data.json("evaluate", "repeated.uc", "rows.svm", "--weights", "weights.txt")
    counted = data.json("evaluate", "repeated.uc", "repeated.svm")
    for name in ("error", "balanced_accuracy", "macro_f1", "log_loss", "confusion_rate", "confusion_norm"):
        assert weighed[name] == pytest.approx(counted[name], abs=1e-12)
    assert weighed["confusion"] == [[float(cell) for cell in row] for row in counted["confusion"]]
    assert all(isinstance(cell, int) for row in counted["confusion"] for cell in row)
    assert weighed["weight"] == counted["examples"] and weighed["effective_examples"] < weighed["weight"]
    wide = weighed["error_interval"][1] - weighed["error_interval"][0]
    assert wide > counted["error_interval"][1] - counted["error_interval"][0]
    assert "effective_examples" not in counted


def test_rows_of_weight_0_are_absent(data):
    weights = data.read("weights.txt").decode().split()
    kept = [line for line, weight in zip(data.read("rows.svm").decode().splitlines(), weights) if weight != "0"]
    data.write("kept.svm", "\n".join(kept) + "\n")
    data.write("ones.txt", "".join("1\n" if weight != "0" else "0\n" for weight in weights))
    for learner in ("logistic", "pa", "uma", "csvm"):
        data.ok("train", learner, "rows.svm", "--weights", "ones.txt", "-o", "some.uc")
        data.ok("train", learner, "kept.svm", "-o", "kept.uc")
        assert scores(data, "some.uc") == scores(data, "kept.uc")
    some = data.json("train", "logistic", "rows.svm", "--weights", "ones.txt", "-v", "5")
    assert some["error"] == data.json("train", "logistic", "kept.svm", "-v", "5")["error"]
    stream = data.json("stream", "pa", "rows.svm", "--weights", "ones.txt")
    assert stream["rounds"] == len(kept) and stream["correct"] == data.json("stream", "pa", "kept.svm")["correct"]


def test_weights_travel_through_csv_and_ucd(data):
    data.ok("convert", "rows.svm", "rows.ucd", "--weights", "weights.txt")
    data.ok("convert", "rows.ucd", "rows.csv")
    assert data.read("rows.csv").splitlines()[0].endswith(b",label,weight")
    data.ok("train", "logistic", "rows.ucd", "-o", "a.uc")
    data.ok("train", "logistic", "rows.csv", "--weight", "weight", "-o", "b.uc")
    data.ok("train", "logistic", "rows.svm", "--weights", "weights.txt", "-o", "c.uc")
    assert data.read("a.uc") == data.read("c.uc")
    a, b = (data.json("inspect", model) for model in ("a.uc", "b.uc"))  # b.uc knows the names of its columns
    assert a["weight_norms"] == b["weight_norms"] and a["training_error"] == b["training_error"]
    scores = [data.ok("predict", model, "rows.svm", "--scores").out for model in ("a.uc", "b.uc")]
    assert scores[0] == scores[1]
    data.ok("convert", "rows.svm", "plain.ucd")
    assert len(data.read("plain.ucd")) < len(data.read("rows.ucd"))
    assert "left out" in data.ok("convert", "rows.ucd", "again.svm").err


def test_soft_labels_of_one_class_are_labels(data):
    for learner in ("logistic", "csvm"):
        data.ok("train", learner, "rows.svm", "-o", "hard.uc")
        data.ok("train", learner, "rows.svm", "--soft-labels", "soft.csv", "-o", "soft.uc")
        assert data.read("hard.uc") == data.read("soft.uc")
    hard, soft = (data.json("evaluate", "hard.uc", "rows.svm", *more) for more in ([], ["--soft-labels", "soft.csv"]))
    assert soft["error"] == pytest.approx(hard["error"], abs=1e-12)
    data.ok("convert", "rows.svm", "soft.ucd", "--soft-labels", "soft.csv")
    data.ok("train", "csvm", "soft.ucd", "-o", "mapped.uc")
    assert data.read("mapped.uc") == data.read("soft.uc")


@pytest.mark.parametrize("content, sentence", [
    ("1\n2\n", "w: 2 weights for 90 examples"),
    ("1\n" * 89 + "-1\n", "w:90: -1 is not a weight: a finite number of 0 or more"),
    ("nan\n" + "1\n" * 89, "w:1: nan is not a weight: a finite number of 0 or more"),
    ("1\n" * 3 + "x\n" + "1\n" * 86, "w:4: 'x' is not a number"),
])
def test_bad_weights_get_their_sentence(data, content, sentence):
    data.write("w", content)
    assert data.fails(1, "train", "logistic", "rows.svm", "--weights", "w", "-o", "m.uc") == sentence


@pytest.mark.parametrize("content, sentence", [
    ("a,b,c\n" + "1,0,0\n" * 3, "s: soft labels of 3 examples, but there are 90"),
    ("a,b,d\n" + "1,0,0\n" * 90, "s:1: no example is of class 'd'"),
    ("a,b,a\n" + "1,0,0\n" * 90, "s:1: 'a' is named twice"),
    ("a,b,c\n" + "1,0,0\n" * 88 + ".5,.1,.1\n1,0,0\n", "s:90: the probabilities sum to 0.7, not to 1"),
    ("a,b,c\n" + "1,0,0\n" * 89 + "2,-1,0\n", "s:91: 2 is not a probability"),
    ("a,b,c\n" + "1,0\n" * 90, "s:2: 2 columns, but the first line has 3"),
    ("a,b,c\n" + "1,0,nan\n" * 90, "s:2: nan is not a probability"),
])
def test_bad_soft_labels_get_their_sentence(data, content, sentence):
    data.write("s", content)
    assert data.fails(1, "train", "logistic", "rows.svm", "--soft-labels", "s", "-o", "m.uc") == sentence


def test_what_does_not_go_together_is_refused(data):
    sentence = data.fails(1, "train", "pa", "rows.svm", "--soft-labels", "soft.csv", "-o", "m.uc")
    assert sentence.startswith("pa learns from one example after the other and cannot use soft labels")
    assert "names a column of CSV data" in data.fails(1, "train", "pa", "rows.svm", "--weight", "w", "-o", "m.uc")
    data.write("t.csv", "x,w,label\n1,1,a\n2,-2,b\n")
    assert data.fails(1, "train", "pa", "t.csv", "--weight", "w", "-o", "m.uc") == (
        "t.csv:3: column 'w': '-2' is not a weight: a finite number of 0 or more")
    assert data.fails(1, "train", "pa", "t.csv", "--weight", "label", "--label", "label", "-o", "m.uc") == (
        "t.csv: label and weight cannot both be column 3")


def test_noise_is_estimated_by_weights(data):
    """Rows of weight 2 and 3 count so often in every method; folds are dealt to rows, so that of cv is near."""
    lines = data.read("rows.svm").decode().splitlines()
    weights = [int(weight) for weight in data.read("weights.txt").split()]
    gold = [line.split()[0] if i % 5 else "c" for i, line in enumerate(lines)]
    data.write("gold.txt", "".join(f"{label}\n" for label in gold))
    data.write("repeated-gold.txt", "".join(f"{label}\n" * weight for label, weight in zip(gold, weights)))
    data.ok("train", "perceptron", "rows.svm", "-o", "m.uc")
    for method in (("gold", "--gold", "gold.txt"), ("model", "--model", "m.uc")):
        weighed = data.json("noise", "estimate", "rows.svm", "--weights", "weights.txt", "--method", *method, "-o", "n.txt")
        again = [word.replace("gold.txt", "repeated-gold.txt") for word in method]
        counted = data.json("noise", "estimate", "repeated.svm", "--method", *again, "-o", "n.txt")
        assert sum(weighed["matrix"], []) == pytest.approx(sum(counted["matrix"], []), abs=1e-12)
        assert weighed["examples"] == sum(weight > 0 for weight in weights)
    plain = data.json("noise", "estimate", "rows.svm", "--method", "gold", "--gold", "gold.txt", "-o", "n.txt")
    assert sum(plain["matrix"], []) != pytest.approx(sum(counted["matrix"], []), abs=1e-3)
    folds = data.json("noise", "estimate", "rows.svm", "--weights", "weights.txt", "--method", "cv", "-o", "n.txt")
    assert folds["examples"] == sum(weight > 0 for weight in weights)


def test_pu_counts_rows_by_weights(unconfuse):
    """Weights as repeated rows, and classes that cost alike find more of the rare positives."""
    lines = ["+1" + line[1:] if line[0] == "b" and i % 3 else "?" + line[1:]
             for i, line in enumerate(blobs(["a", "a", "a", "b"], 200).splitlines())]
    weights = [1 + i * 7 % 3 for i in range(len(lines))]
    unconfuse.write("rows.svm", "\n".join(lines) + "\n")
    unconfuse.write("w.txt", "".join(f"{weight}\n" for weight in weights))
    unconfuse.write("repeated.svm", "".join((line + "\n") * weight for line, weight in zip(lines, weights)))
    options = ("--prior", "0.3", "--l2", "0.01", "--loss", "logistic", "--tolerance", "1e-9")
    unconfuse.ok("train", "pu", "rows.svm", "--weights", "w.txt", *options, "-o", "weighted.uc")
    unconfuse.ok("train", "pu", "repeated.svm", *options, "-o", "repeated.uc")
    assert scores(unconfuse, "weighted.uc") == pytest.approx(scores(unconfuse, "repeated.uc"), abs=1e-3)
    found = unconfuse.json("train", "pu", "rows.svm", "--weights", "w.txt", "-o", "m.uc")
    assert found["prior_low"] <= found["prior"] <= found["prior_high"] and found["labelled"] == sum(line[0] == "+" for line in lines)
    judged = unconfuse.json("evaluate", "m.uc", "rows.svm", "--positive-unlabelled", "--weights", "w.txt")
    counted = unconfuse.json("evaluate", "m.uc", "repeated.svm", "--positive-unlabelled")
    for figure in ("recall", "precision", "f1", "auc", "error", "predicted_positive"):
        assert judged[figure] == pytest.approx(counted[figure], abs=1e-12)
    assert judged["examples"] == len(lines)
    for risk in ("nonnegative", "unbiased", "elkan-noto"):
        unconfuse.ok("train", "pu", "rows.svm", *options, "--risk", risk, "-o", "plain.uc")
        unconfuse.ok("train", "pu", "rows.svm", *options, "--risk", risk, "--class-weight", "balanced", "-o", "balanced.uc")
        positives = [unconfuse.ok("predict", model, "rows.svm").out.split().count("+1") for model in ("plain.uc", "balanced.uc")]
        assert positives[0] < positives[1]


def test_soft_labels_of_pu_say_how_probable_a_positive_label_is(unconfuse):
    lines = ["+1" + line[1:] if line[0] == "b" and i % 3 else "-1" + line[1:]
             for i, line in enumerate(blobs(["a", "a", "b"], 120).splitlines())]
    unconfuse.write("rows.svm", "\n".join(lines) + "\n")
    unconfuse.write("hard.csv", "+1,-1\n" + "".join("1,0\n" if line[0] == "+" else "0,1\n" for line in lines))
    unconfuse.write("soft.csv", "+1,-1\n" + "".join("0.75,0.25\n" if line[0] == "+" else "0,1\n" for line in lines))
    options = ("--prior", "0.4", "--l2", "0.01", "--loss", "logistic", "--tolerance", "1e-9")
    unconfuse.ok("train", "pu", "rows.svm", *options, "-o", "plain.uc")
    unconfuse.ok("train", "pu", "rows.svm", *options, "--soft-labels", "hard.csv", "-o", "hard.uc")
    assert scores(unconfuse, "plain.uc") == scores(unconfuse, "hard.uc")
    split = [(line, 0.75 if line[0] == "+" else 1) for line in lines] + [("-1" + line[2:], 0.25) for line in lines if line[0] == "+"]
    unconfuse.write("split.svm", "".join(line + "\n" for line, _ in split))
    unconfuse.write("w.txt", "".join(f"{weight}\n" for _, weight in split))
    unconfuse.ok("train", "pu", "rows.svm", *options, "--soft-labels", "soft.csv", "-o", "soft.uc")
    unconfuse.ok("train", "pu", "split.svm", *options, "--weights", "w.txt", "-o", "split.uc")
    assert scores(unconfuse, "soft.uc") == pytest.approx(scores(unconfuse, "split.uc"), abs=1e-4)


def test_balanced_classes_are_for_every_batch_learner(data):
    for learner in ("logistic", "uma", "s3vm", "csvm", "ridge", "auto", "copa"):
        found = json.loads(data.ok("train", learner, "rows.svm", "--class-weight", "balanced", "-o", "m.uc", "--json").out)
        assert found["settings"]["class-weight"] == "balanced"


@pytest.mark.parametrize("weight, total", [("0", "0"), ("1e308", "inf"), ("1e-320", "1.79998e-319")])
@pytest.mark.parametrize("command", ["audit d.svm", "train logistic d.svm -o m.uc",
                                     "noise estimate d.svm --method self -o n.csv"])
def test_weights_that_are_beyond_the_numbers_are_refused_by_name(unconfuse, weight, total, command):
    unconfuse.write("d.svm", "".join(f"{'ab'[i % 2]} 1:{i % 2 + i / 50} 2:{i % 3}\n" for i in range(18)))
    unconfuse.write("w.txt", f"{weight}\n" * 18)
    assert unconfuse.fails(1, *command.split(), "--weights", "w.txt") == (
        f"w.txt: the weights sum to {total}, which must be from 1e-100 to 1e+100")


@pytest.mark.parametrize("option", ["label=x", "bag=x", "id=x", "columns=x=text", "drop=x", "missing-values=NA", "decimal=,",
                                    "separator=;"])
@pytest.mark.parametrize("path", ["rows.svm", "rows.npy", "rows.ucd"])
def test_options_about_columns_are_refused_where_there_are_none(data, path, option):
    data.write("rows.svm", "x 1:1 2:2\ny 1:2 2:1\n" * 3)
    data.ok("convert", "rows.svm", "rows.npy", "--labels-out", "labels.npy")
    data.ok("convert", "rows.svm", "rows.ucd")
    more = ["--labels", "labels.npy"] if path == "rows.npy" else []
    sentence = data.fails(1, "train", "pa", path, *more, f"--{option}", "-o", "m.uc")
    name = option.partition("=")[0]
    assert f"{path}: --{name} is about the columns of CSV data or JSON lines, and this is {path[5:].replace('svm', 'libsvm')}" in sentence


def test_that_there_are_no_labels_may_be_said_of_any_data(data):
    data.write("rows.svm", "x 1:1 2:2\ny 1:2 2:1\n" * 3)
    data.ok("convert", "rows.svm", "rows.npy", "--labels-out", "labels.npy")
    data.ok("train", "pa", "rows.svm", "-o", "m.uc")
    assert data.ok("predict", "m.uc", "rows.npy", "--label", "none").out == data.ok("predict", "m.uc", "rows.npy").out


def test_labels_of_npy_data_are_npy_too(data):
    data.write("rows.svm", "x 1:1 2:2\ny 1:2 2:1\n" * 3)
    data.ok("convert", "rows.svm", "rows.npy", "--labels-out", "labels.npy")
    data.write("labels.csv", "a\nb\n")
    assert "labels.csv: --labels takes an NPY file" in data.fails(1, "train", "pa", "rows.npy", "--labels", "labels.csv", "-o", "m.uc")


@pytest.mark.parametrize("option,sentence", [("--separator=", "--separator '' is not one character, tab or auto"),
                                             ("--columns=a=number,a=text", "--columns: 'a' is there twice")])
def test_options_about_columns_that_say_nothing_or_too_much_are_refused(data, option, sentence):
    data.write("t.csv", "a,label\n1,x\n2,y\n3,x\n4,y\n")
    assert sentence in data.fails(2, "train", "pa", "t.csv", option, "-o", "m.uc")


def test_labels_of_a_file_without_columns_need_none(data):
    """The options are about DATA, which is a table here."""
    data.write("t.csv", "a,grade,more\n" + "1,x,1\n2,y,1\n3,x,2\n4,y,2\n" * 30)
    data.write("gold.svm", "x 1:1\ny 1:2\nx 1:3\ny 1:4\n" * 30)
    data.ok("noise", "estimate", "t.csv", "--label", "grade", "--method", "gold", "--gold", "gold.svm", "-o", "m.csv")
