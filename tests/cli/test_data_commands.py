"""generate, noise, convert and inspect."""
import gzip

import pytest

from conftest import blobs

GENERATORS = ["uma-circle", "copa-gaussians", "cspa-gaussians", "rp-ellipses", "rp-ring", "rp-chess", "rp-dart", "rp-hyper"]


def labels_of(unconfuse, name):
    return [line.split()[0] for line in unconfuse.read(name).decode().splitlines()]


# ---- generate ----

def test_generators_are_listed(unconfuse):
    assert [line.split()[0] for line in unconfuse.ok("generate").out.splitlines()] == GENERATORS
    assert [entry["name"] for entry in unconfuse.json("generate")["generators"]] == GENERATORS


@pytest.mark.parametrize("name", GENERATORS)
def test_generated_data_have_the_size_asked_for_and_depend_on_the_seed(unconfuse, name):
    result = unconfuse.json("generate", name, "--examples", "300", "--test", "test.svm", "--test-examples", "200", "-o",
                            "train.svm")
    assert result["generator"] == name and result["examples"] == 300 and result["test_examples"] == 200
    assert len(labels_of(unconfuse, "train.svm")) == 300 and len(labels_of(unconfuse, "test.svm")) == 200
    first = unconfuse.read("train.svm")
    unconfuse.ok("generate", name, "--examples", "300", "-o", "train.svm")
    assert unconfuse.read("train.svm") == first
    unconfuse.ok("generate", name, "--examples", "300", "-o", "train.svm", "--seed", "2")
    assert unconfuse.read("train.svm") != first


def test_generator_options_are_used(unconfuse):
    near, far = (unconfuse.json("generate", "cspa-gaussians", "--sigma", sigma, "-o", "data.svm") and
                 unconfuse.json("train", "spa", "data.svm", "-v", "3")["error"] for sigma in ["0.05", "1"])
    assert near < 0.05 < far


# ---- noise ----

def test_uniform_matrix(unconfuse):
    result = unconfuse.json("noise", "make", "uniform", "--classes", "4", "--rate", "0.3", "-o", "c.csv")
    assert result["classes"] == 4 and result["wrong"] == pytest.approx(0.3) and result["condition"] == pytest.approx(1 / 0.6)
    rows = [[float(x) for x in line.split(",")] for line in unconfuse.read("c.csv").decode().splitlines()]
    assert all(rows[p][q] == pytest.approx(0.7 if p == q else 0.1) for p in range(4) for q in range(4))


def test_random_matrix_with_names_has_columns_that_sum_to_1(unconfuse):
    unconfuse.ok("noise", "make", "random", "--classes", "cat,dog,eel", "--level", "4", "-o", "c.csv")
    lines = [line.split(",") for line in unconfuse.read("c.csv").decode().splitlines()]
    assert lines[0][1:] == [line[0] for line in lines[1:]] == ["cat", "dog", "eel"]
    for column in range(1, 4):
        assert sum(float(line[column]) for line in lines[1:]) == pytest.approx(1)


def test_a_diagonal_that_does_not_dominate_is_a_warning(unconfuse):
    result = unconfuse.ok("noise", "make", "uniform", "--classes", "a,b,c", "--rate", "0.9", "-o", "c.csv")
    assert result.err == ("unconfuse: warning: the noise matrix does not identify every class: in the row of class a the "
                          "diagonal is not the largest entry\n")


def test_complementary_labels(unconfuse):
    """No label is that of its example, every other class is as likely, and logistic learns from them."""
    result = unconfuse.ok("noise", "make", "complementary", "--classes", "a,b,c,d", "-o", "c.csv")
    assert result.err == "" and result.out == "4 classes, 100.0% of the labels wrong, condition number 3: c.csv\n"
    rows = [line.split(",")[1:] for line in unconfuse.read("c.csv").decode().splitlines()[1:]]
    assert all(float(rows[p][q]) == pytest.approx(0 if p == q else 1 / 3) for p in range(4) for q in range(4))
    unconfuse.write("data.svm", blobs(["a", "b", "c", "d"], 4000))
    result = unconfuse.ok("noise", "apply", "data.svm", "-o", "noisy.svm", "--noise-matrix", "c.csv")
    assert result.err == "" and result.out.startswith("4000 of 4000 labels changed (100.0%)")
    pairs = list(zip(labels_of(unconfuse, "data.svm"), labels_of(unconfuse, "noisy.svm"), strict=True))
    for true in "abcd":
        others = [p for t, p in pairs if t == true]
        assert true not in others and all(abs(others.count(p) / len(others) - 1 / 3) < 0.06 for p in set("abcd") - {true})
    clean = unconfuse.json("train", "logistic", "data.svm", "-o", "m.uc") and unconfuse.json(
        "evaluate", "m.uc", "data.svm")["error"]
    result = unconfuse.ok("train", "logistic", "noisy.svm", "--noise-matrix", "c.csv", "-o", "m.uc")
    assert result.err == ""
    assert unconfuse.json("evaluate", "m.uc", "data.svm")["error"] < clean + 0.03
    unconfuse.ok("train", "uma", "noisy.svm", "--noise-matrix", "c.csv", "-o", "m.uc")
    assert unconfuse.json("evaluate", "m.uc", "data.svm")["error"] < clean + 0.1
    unconfuse.ok("train", "logistic", "noisy.svm", "-o", "m.uc")
    assert unconfuse.json("evaluate", "m.uc", "data.svm")["error"] > 0.9


@pytest.mark.parametrize("words, status, sentence", [
    (["--classes", "2"], 1, "complementary labels need at least 3 classes, not 2"),
    (["--classes", "4", "--rate", "0.1"], 2, "--rate is not for noise make complementary"),
    (["--classes", "4", "--level", "3"], 2, "--level is not for noise make complementary"),
    ([], 2, "noise make complementary needs --classes and -o FILE"),
])
def test_complementary_labels_that_cannot_be(unconfuse, words, status, sentence):
    assert unconfuse.fails(status, "noise", "make", "complementary", *words, "-o", "c.csv").startswith(sentence)


def test_applied_noise_changes_the_share_of_labels_that_it_says(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 6000))
    result = unconfuse.json("noise", "apply", "data.svm", "-o", "noisy.svm", "--noise-rate", "0.25")
    before, after = labels_of(unconfuse, "data.svm"), labels_of(unconfuse, "noisy.svm")
    changed = sum(a != b for a, b in zip(before, after, strict=True))
    assert result["changed"] == changed and result["labels"] == 6000
    assert abs(changed / 6000 - 0.25) < 0.03
    text = unconfuse.ok("noise", "apply", "data.svm", "-o", "noisy.svm", "--noise-rate", "0.25").out
    assert text.startswith(f"{changed} of 6000 labels changed (") and "condition number 1.6" in text


def test_positive_class_of_the_two_rates(unconfuse):
    unconfuse.write("data.svm", blobs(["1", "2"], 4000))
    before = labels_of(unconfuse, "data.svm")
    for options, flipped in [([], "2"), (["--positive", "1"], "1")]:
        unconfuse.ok("noise", "apply", "data.svm", "-o", "noisy.svm", "--noise-rates", "0.4,0", *options)
        changed = [a for a, b in zip(before, labels_of(unconfuse, "noisy.svm")) if a != b]
        assert set(changed) == {flipped} and abs(len(changed) / before.count(flipped) - 0.4) < 0.05
    assert unconfuse.fails(1, "noise", "apply", "data.svm", "-o", "x.svm", "--noise-rates", ".4,0", "--positive", "3") == \
        "--positive 3: the classes are 1 and 2"


def test_names_in_a_matrix_decide_over_position(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 3000))
    unconfuse.write("c.csv", ",c,a,b\nc,0.5,0,0\na,0,1,0\nb,0.5,0,1\n")
    unconfuse.ok("noise", "apply", "data.svm", "-o", "noisy.svm", "--noise-matrix", "c.csv")
    pairs = set(zip(labels_of(unconfuse, "data.svm"), labels_of(unconfuse, "noisy.svm")))
    assert pairs == {("a", "a"), ("b", "b"), ("c", "c"), ("c", "b")}


def test_orientation_rows_is_the_transpose(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b"], 500))
    unconfuse.write("columns.csv", "0.9,0.4\n0.1,0.6\n")
    unconfuse.write("rows.csv", "0.9,0.1\n0.4,0.6\n")
    unconfuse.ok("noise", "apply", "data.svm", "-o", "1.svm", "--noise-matrix", "columns.csv")
    unconfuse.ok("noise", "apply", "data.svm", "-o", "2.svm", "--noise-matrix", "rows.csv", "--noise-orientation", "rows")
    assert unconfuse.read("1.svm") == unconfuse.read("2.svm")


# ---- convert ----

def test_data_survive_every_format(unconfuse):
    unconfuse.write("start.svm", blobs(["cat", "007", "-1"], 100))
    unconfuse.ok("convert", "start.svm", "0.svm")
    previous = "0.svm"
    for name in ["1.csv", "2.ucd", "3.tsv", "4.svm.gz", "5.csv.zst", "6.ucd", "7.svm"]:
        unconfuse.ok("convert", previous, name)
        previous = name
    assert unconfuse.read("7.svm") == unconfuse.read("0.svm")
    unconfuse.ok("convert", "0.svm", "x.npy", "--labels-out", "y.npy")
    unconfuse.ok("convert", "x.npy", "8.svm", "--labels", "y.npy")
    assert unconfuse.read("8.svm") == unconfuse.read("0.svm")
    assert unconfuse.ok("convert", "0.svm", "-").stdout == unconfuse.read("0.svm")
    assert unconfuse.ok("convert", "-", "-", stdin=unconfuse.read("0.svm")).stdout == unconfuse.read("0.svm")


def test_npy_without_a_file_for_the_labels_is_a_warning(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b"], 10))
    assert "--labels-out FILE writes them" in unconfuse.ok("convert", "data.svm", "x.npy").err
    assert unconfuse.fails(2, "convert", "data.svm", "x.csv", "--labels-out", "y.npy").startswith("--labels-out is for NPY")


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_labels_of_npy_that_are_whole_floats_are_called_as_integers(unconfuse, kind):
    numpy = pytest.importorskip("numpy")
    numpy.save(unconfuse.directory / "x.npy", numpy.ones((4, 1), "float32"))
    numpy.save(unconfuse.directory / "y.npy", numpy.array([1, -10, 2.5, 1e20], kind))
    unconfuse.ok("convert", "x.npy", "data.svm", "--labels", "y.npy")
    assert [line.split()[0] for line in unconfuse.read("data.svm").splitlines()] == [b"1", b"-10", b"2.5", b"1e+20"]


def test_libsvm_as_scikit_learn_reads_it(unconfuse):
    numpy = pytest.importorskip("numpy")
    datasets = pytest.importorskip("sklearn.datasets")
    text = blobs(["1", "2", "3"], 200, columns=7) + "2 qid:3 2:0.5 7:-1e-3 # comment\n3\n1 1:1e-45 3:12345678\n"
    unconfuse.write("data.svm", text)
    unconfuse.ok("convert", "data.svm", "x.npy", "--labels-out", "y.npy")
    ours, labels = (numpy.load(unconfuse.directory / name) for name in ["x.npy", "y.npy"])
    lines = "\n".join(line.replace("qid:3 ", "") for line in text.splitlines())
    unconfuse.write("plain.svm", lines + "\n")
    theirs, y = datasets.load_svmlight_file(str(unconfuse.directory / "plain.svm"))
    assert numpy.array_equal(ours, theirs.toarray().astype("float32"))
    assert [float(label) for label in labels] == list(y)


def test_compressed_and_piped_input_is_the_same_data(unconfuse):
    text = blobs(["a", "b"], 200).encode()
    unconfuse.write("data.svm", text)
    unconfuse.write("data.svm.gz", gzip.compress(text))
    models = set()
    for arguments, stdin in [(["data.svm"], b""), (["data.svm.gz"], b""), (["-"], text), (["-"], gzip.compress(text))]:
        unconfuse.ok("train", "pa", *arguments, "-o", "m.uc", stdin=stdin)
        models.add(unconfuse.read("m.uc"))
    assert len(models) == 1


def test_models_convert_both_ways(unconfuse):
    unconfuse.write("data.svm", blobs(["1", "2", "3"], 100))
    unconfuse.ok("train", "spa", "data.svm", "-o", "m.uc")
    unconfuse.ok("convert", "m.uc", "m.txt")
    unconfuse.ok("convert", "m.txt", "back.uc")
    unconfuse.ok("convert", "back.uc", "again.txt", "--to", "liblinear")
    assert unconfuse.read("m.txt") == unconfuse.read("again.txt")
    unconfuse.ok("convert", "m.uc", "copy.uc")
    assert unconfuse.read("copy.uc") == unconfuse.read("m.uc")
    assert unconfuse.fails(1, "convert", "m.uc", "m.csv", "--to", "csv") == "m.uc is a model: it becomes uc or liblinear"


def test_split_divides_every_class_alike(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 1000))
    result = unconfuse.json("split", "data.svm", "-o", "1.svm", "--rest", "2.svm", "--share", "0.8")
    first, second = labels_of(unconfuse, "1.svm"), labels_of(unconfuse, "2.svm")
    assert (result["examples"], result["rest_examples"]) == (len(first), len(second)) and len(first) + len(second) == 1000
    for name in "abc":
        assert abs(first.count(name) - 0.8 * (first.count(name) + second.count(name))) <= 1
    lines = unconfuse.read("1.svm").splitlines() + unconfuse.read("2.svm").splitlines()
    unconfuse.ok("convert", "data.svm", "same.svm")
    assert sorted(lines) == sorted(unconfuse.read("same.svm").splitlines())


# ---- inspect ----

def test_inspected_data(unconfuse):
    unconfuse.write("data.svm", "b 1:1 3:-2\na 2:4\n? 1:1\nb\n")
    assert unconfuse.json("inspect", "data.svm") == {
        "kind": "data", "format": "libsvm", "examples": 4, "features": 3,
        "classes": [{"class": "a", "examples": 1}, {"class": "b", "examples": 2}], "unlabelled": 1, "bags": 0,
        "density": pytest.approx(4 / 12), "range": [-2, 4]}
    text = unconfuse.ok("inspect", "data.svm").out
    assert "examples               4" in text and "\nb             2  50.0%" in text


def test_inspected_model_has_everything_stored(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b"], 50))
    trained = unconfuse.json("train", "spa", "data.svm", "-o", "m.uc", "--scale", "range")
    result = unconfuse.json("inspect", "m.uc")
    for field in ["learner", "settings", "features", "classes"]:
        assert result[field] == trained[field]
    for field in ["iterations", "updates", "training_error", "examples"]:
        assert result["summary"][field] == trained[field]
    assert result["format_version"] == 1 and result["map"] == "none" and len(result["checksum"]) == 8
    assert "learner                spa" in unconfuse.ok("inspect", "m.uc").out


def test_inspected_liblinear_model(unconfuse):
    unconfuse.write("data.svm", blobs(["1", "2"], 50))
    unconfuse.ok("train", "spa", "data.svm", "-o", "m.uc")
    unconfuse.ok("convert", "m.uc", "m.txt")
    assert unconfuse.json("inspect", "m.txt")["classes"] == ["1", "2"]


def test_bags_are_counted(unconfuse):
    unconfuse.write("data.svm", "a bag:x 1:1\nb bag:y 1:2\nb bag:y 1:3\n")
    assert unconfuse.json("inspect", "data.svm")["bags"] == 2


def test_inspect_of_labels_without_features(unconfuse):
    unconfuse.write("labels.svm", "1\n2\n1\n")
    found = unconfuse.json("inspect", "labels.svm")
    assert found["examples"] == 3 and found["features"] == 0 and found["range"] == [None, None]
    assert "examples" in unconfuse.ok("inspect", "labels.svm").out
