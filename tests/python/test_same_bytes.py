"""The same data and settings give the same model bytes from Python and from the command line."""
import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from conftest import CLASSIFIERS, ONLINE, blobs, classes_for
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import unconfuse
from unconfuse._labels import labels_of, names_of

pytestmark = pytest.mark.filterwarnings("ignore:no noise matrix was given", "ignore:no noise rates given",
                                        "ignore:.*not converged")
WORDS = np.array(["été", "cat", "a dog", "Zebra"])
LABELS = {
    "numbers": lambda y: y,
    "words": lambda y: WORDS[y],
    "numbers that are written": lambda y: np.array(["10", "9", "-1", "2.5"])[y],  # by number, not by letter
    "floats": lambda y: y.astype(float),  # 1.0 is called 1
}


def learner_of(cls):
    return cls._learner


def trained(program, tmp_path, learner, X, y, *options):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    program("train", learner, "X.npy", "--labels", "y.npy", *options, "-q", "-o", "cli.uc")
    return (tmp_path / "cli.uc").read_bytes()


def saved(tmp_path, estimator):
    unconfuse.save(estimator, tmp_path / "python.uc")
    return (tmp_path / "python.uc").read_bytes()


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_of_every_learner_at_its_defaults(program, tmp_path, cls):
    X, y = blobs(classes_for(cls))
    assert saved(tmp_path, cls().fit(X, y)) == trained(program, tmp_path, learner_of(cls), X, y)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("learner", ["SPAClassifier", "LogisticClassifier", "CSPAPlusClassifier"])
def test_of_labels_of_every_kind(program, tmp_path, learner, labels):
    cls = getattr(unconfuse, learner)
    X, y = blobs()
    y = LABELS[labels](y)
    estimator = cls().fit(X, y)
    assert saved(tmp_path, estimator) == trained(program, tmp_path, learner_of(cls), X, y)
    assert (estimator.classes_ == np.unique(y)).all() and estimator.predict(X).dtype == y.dtype
    lines = program("predict", "cli.uc", "X.npy").split("\n")[:-1]
    assert lines == names_of(estimator.predict(X))


def test_of_floats_that_a_file_has_as_integers(program, tmp_path):
    """scikit-learn reads labels of such files as floats."""
    X, y = blobs()
    dump_svmlight_file(X, y, str(tmp_path / "data.svm"), zero_based=False)
    program("train", "spa", "data.svm", "--storage", "dense", "-q", "-o", "cli.uc")
    rows, labels = load_svmlight_file(str(tmp_path / "data.svm"))
    assert labels.dtype == float
    estimator = unconfuse.SPAClassifier().fit(rows.toarray(), labels)
    unconfuse.save(estimator, tmp_path / "python.uc")
    figures = [json.loads(program("evaluate", model, "data.svm", "--json")) for model in ("cli.uc", "python.uc")]
    assert figures[0]["classes"] == figures[1]["classes"] == ["0", "1", "2", "3"]
    assert estimator.predict(X).dtype == float and estimator.score(X, y) > 0.5
    assert program("predict", "python.uc", "data.svm").split() == names_of(estimator.predict(X))


@pytest.mark.parametrize("names, labels", [
    (["0", "1"], np.array([0, 1])), (["0.0", "1.0"], np.array([0.0, 1.0])), (["-1", "2.5"], np.array([-1, 2.5])),
    (["1", "1.0"], np.array(["1", "1.0"])), (["01", "2"], np.array(["01", "2"])), (["a", "1"], np.array(["a", "1"]))])
def test_of_labels_that_come_back_from_names(names, labels):
    found = labels_of(names)
    assert found.dtype == labels.dtype and (found == labels).all()


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_of_sparse_rows(program, tmp_path, cls):
    X, y = blobs(classes_for(cls), columns=20)
    X[np.random.RandomState(1).rand(*X.shape) < 0.85] = 0
    sparse = scipy.sparse.csr_matrix(X)
    dump_svmlight_file(sparse, y, str(tmp_path / "data.svm"), zero_based=False)
    options = ["--map", "none"]  # a kernel of few sparse rows is no test of anything
    program("train", learner_of(cls), "data.svm", "--storage", "sparse", *options, "-q", "-o", "cli.uc")
    assert saved(tmp_path, cls(map=None).fit(sparse, y)) == (tmp_path / "cli.uc").read_bytes()


SETTINGS = [
    ("SPAClassifier", dict(variant=2, cost=0.1, passes=3, average=False, random_state=7, class_weight="balanced"),
     "--variant 2 --cost 0.1 --passes 3 --no-average --seed 7 --class-weight balanced"),
    ("SPAClassifier", dict(scale="standard", bias=1, shuffle=False), "--scale standard --bias 1 --no-shuffle"),
    ("LogisticClassifier", dict(l2=0.01, map="nystroem", dimension=20, pick="kmeans", width=50.0, normalize=True),
     "--l2 0.01 --map nystroem --dimension 20 --pick kmeans --width 50 --normalize"),
    ("LogisticClassifier", dict(l2="auto", map="kgs", gamma=0.01), "--l2 auto --map kgs --gamma 0.01"),
    ("UMAClassifier", dict(returns="tail", choose="confusion", iterations=50, normalize=False),
     "--return tail --choose confusion --iterations 50 --no-normalize"),
    ("CSPAPlusClassifier", dict(replays=1, metric=None), "--replay 1 --metric none"),
    ("COPAClassifier", dict(cost_scale=None, scale="range"), "--cost-scale none --scale range"),
    ("CSVMClassifier", dict(cost=10, kernel="polynomial", degree=2, map="kpca", center=True, dimension=10),
     "--cost 10 --kernel polynomial --degree 2 --map kpca --center --dimension 10"),
]


@pytest.mark.parametrize("name, parameters, options", SETTINGS, ids=lambda value: value if isinstance(value, str) else "")
def test_of_settings(program, tmp_path, name, parameters, options):
    cls = getattr(unconfuse, name)
    X, y = blobs()
    expected = trained(program, tmp_path, learner_of(cls), X, y, *options.split())
    assert saved(tmp_path, cls(**parameters).fit(X, y)) == expected
    assert saved(tmp_path, cls(**parameters, n_jobs=1).fit(X, y)) == expected


@pytest.mark.parametrize("name", ["UMAClassifier", "LogisticClassifier"])
@pytest.mark.parametrize("labels", LABELS)
def test_with_a_noise_matrix(program, tmp_path, name, labels):
    cls = getattr(unconfuse, name)
    X, y = blobs()
    y = LABELS[labels](y)
    matrix = unconfuse.make_noise_matrix(4, level=4, random_state=2)
    noisy = unconfuse.apply_noise(y, matrix)
    names = names_of(np.unique(y))  # in Python's order
    lines = [",".join(["", *names])] + [",".join([name, *map(repr, row)]) for name, row in zip(names, matrix.tolist())]
    (tmp_path / "noise.csv").write_text("\n".join(lines) + "\n")
    estimator = cls(noise_matrix=matrix).fit(X, noisy)
    assert saved(tmp_path, estimator) == trained(program, tmp_path, learner_of(cls), X, noisy, "--noise-matrix",
                                                 "noise.csv")
    np.testing.assert_allclose(estimator.noise_matrix_, matrix, atol=1e-15)


@pytest.mark.parametrize("name, options", [("LogisticClassifier", []), ("SloppySVMClassifier", [])])
def test_with_noise_that_is_estimated(program, tmp_path, name, options):
    cls = getattr(unconfuse, name)
    X, y = blobs(classes_for(cls))
    noisy = unconfuse.apply_noise(y, unconfuse.make_noise_matrix(classes_for(cls), rate=0.2))
    estimator = cls(noise_matrix="estimate").fit(X, noisy)
    assert saved(tmp_path, estimator) == trained(program, tmp_path, learner_of(cls), X, noisy, "--noise", "estimate")
    assert estimator.noise_matrix_.shape == (classes_for(cls),) * 2


def test_of_rates_and_a_positive_class(program, tmp_path):
    X, y = blobs(2)
    y = np.array(["no", "yes"])[y]
    rates = unconfuse.make_noise_matrix(2, rates=(0.3, 0.1))
    noisy = unconfuse.apply_noise(y, rates)
    estimator = unconfuse.SloppySVMClassifier(noise_matrix=rates).fit(X, noisy)
    assert saved(tmp_path, estimator) == trained(program, tmp_path, "sloppy-svm", X, noisy, "--noise-rates", "0.3,0.1")
    turned = unconfuse.SloppySVMClassifier(noise_matrix="estimate", positive="no").fit(X, noisy)
    assert saved(tmp_path, turned) == trained(program, tmp_path, "sloppy-svm", X, noisy, "--noise", "estimate",
                                              "--positive", "no")


def test_of_positives_beside_unlabelled_rows(program, tmp_path):
    X, y = blobs(2)
    labels = np.where((y == 1) & (np.arange(len(y)) % 2 == 0), "1", "?")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", labels)
    program("train", "sloppy-svm", "X.npy", "--labels", "y.npy", "--positive-unlabelled", "-q", "-o", "cli.uc")
    for y, marker in ((labels, "?"), (np.where(labels == "1", 1, np.nan), np.nan)):
        estimator = unconfuse.SloppySVMClassifier(positive_unlabelled=True, unlabelled=marker).fit(X, y)
        assert saved(tmp_path, estimator) == (tmp_path / "cli.uc").read_bytes()
        assert len(estimator.classes_) == 2


def test_of_bags(program, tmp_path):
    X, y = blobs(2, rows=200)
    bags = np.arange(200) // 4
    y = y[bags * 4]  # one label a bag
    lines = [f"{label} bag:{bag} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row))
             for label, bag, row in zip(y.tolist(), bags.tolist(), X.astype(float).tolist())]
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    program("train", "sloppy-svm", "data.svm", "--bags", "-q", "-o", "cli.uc")
    estimator = unconfuse.SloppySVMClassifier(bags=True).fit(X, y, groups=bags)
    assert saved(tmp_path, estimator) == (tmp_path / "cli.uc").read_bytes()
    for rule in ("instance", "witness"):
        program("train", "csvm", "data.svm", "--bags", "--bag-rule", rule, "-q", "-o", f"{rule}.uc")
        estimator = unconfuse.CSVMClassifier(bags=True, bag_rule=rule).fit(X, y, groups=bags)
        assert saved(tmp_path, estimator) == (tmp_path / f"{rule}.uc").read_bytes()


@pytest.mark.parametrize("parameters, options", [({}, []), ({"prior": 0.5, "loss": "logistic"}, ["--prior", "0.5", "--loss", "logistic"])])
def test_of_pu(program, tmp_path, parameters, options):
    X, y = blobs(2)
    labels = np.where((y == 1) & (np.arange(len(y)) % 3 > 0), "1", "?")
    expected = trained(program, tmp_path, "pu", X, labels, *options)
    for marker in ("?", 7, np.nan):
        y_with_marker = labels if marker == "?" else np.where(labels == "?", marker, 1)
        estimator = unconfuse.PUClassifier(unlabelled=marker, **parameters).fit(X, y_with_marker)
        assert saved(tmp_path, estimator) == expected
        assert estimator.classes_.tolist() == (["-1", "1"] if marker == "?" else [-1, 1])
        assert 0 < estimator.prior_ < 1 and hasattr(estimator, "prior_interval_") == (not parameters)


def test_of_unlabelled_rows(program, tmp_path):
    X, y = blobs()
    missing = np.arange(len(y)) % 5 != 0
    labels = np.where(missing, "?", y.astype(str))
    expected = trained(program, tmp_path, "s3vm", X, labels)
    for y_with_marker, marker in ((labels, "?"), (np.where(missing, np.nan, y), np.nan),
                                  (np.where(missing, None, y.astype(object)), None), (np.where(missing, -1, y), -1)):
        estimator = unconfuse.S3VMClassifier(unlabelled=marker).fit(X, y_with_marker)
        assert saved(tmp_path, estimator) == expected
        assert estimator.classes_.astype(int).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("cls", ONLINE)
def test_of_a_stream(program, tmp_path, cls):
    """partial_fit in pieces, and replay, are `unconfuse stream`."""
    X, y = blobs()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    program("stream", learner_of(cls), "X.npy", "--labels", "y.npy", "-q", "-o", "cli.uc")
    expected = (tmp_path / "cli.uc").read_bytes()
    estimator = cls()
    for first in range(0, len(X), 70):
        estimator.partial_fit(X[first:first + 70], y[first:first + 70], classes=range(4))
    assert saved(tmp_path, estimator) == expected
    replayed = cls()
    replayed.replay(X, y)
    assert saved(tmp_path, replayed) == expected


@pytest.mark.parametrize("options, parameters", [("--scale standard", dict(scale="standard")),
                                                 ("--map landmarks --dimension 50", dict(map="landmarks", dimension=50)),
                                                 ("--map landmarks --dimension 50 --scale standard",
                                                  dict(map="landmarks", dimension=50, scale="standard")),
                                                 ("--map landmarks --dimension 50 --normalize-input",
                                                  dict(map="landmarks", dimension=50, normalize_input=True))])
@pytest.mark.parametrize("rows", [1, 10])  # times those of blobs: fewer and more than the sample of the median
def test_of_a_stream_that_is_looked_at_beforehand(program, tmp_path, options, parameters, rows):
    X, y = blobs()
    X, y = np.tile(X * np.linspace(1, 100, X.shape[1], dtype=X.dtype), (rows, 1)), np.tile(y, rows)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    program("stream", "cspa", "X.npy", "--labels", "y.npy", *options.split(), "-q", "-o", "cli.uc")
    estimator = unconfuse.CSPAClassifier(**parameters)
    estimator.replay(X, y)
    assert saved(tmp_path, estimator) == (tmp_path / "cli.uc").read_bytes()


@pytest.mark.parametrize("cls", ONLINE)
def test_of_a_stream_with_late_and_missing_feedback(program, tmp_path, cls):
    X, y = blobs()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    result = program("stream", learner_of(cls), "X.npy", "--labels", "y.npy", "--delay", "9", "--missing", "0.3", "--json",
                   "-q", "-o", "cli.uc")
    estimator = cls()
    replay = estimator.replay(X, y, delay=9, missing=0.3)
    assert saved(tmp_path, estimator) == (tmp_path / "cli.uc").read_bytes()
    assert replay.ratio_correct[-1] == json.loads(result)["ratio_correct"]


def test_of_a_stream_that_goes_on_in_the_other_language(program, tmp_path):
    X, y = blobs()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    whole = unconfuse.CSPAPlusClassifier()
    whole.replay(X, y)
    np.save(tmp_path / "first.npy", X[:100])
    np.save(tmp_path / "first-y.npy", y[:100])
    program("stream", "cspa-plus", "first.npy", "--labels", "first-y.npy", "-q", "-o", "first.uc")
    rest = unconfuse.load(tmp_path / "first.uc").partial_fit(X[100:], y[100:])
    assert saved(tmp_path, rest) == saved(tmp_path, whole)
    np.save(tmp_path / "rest.npy", X[100:])
    np.save(tmp_path / "rest-y.npy", y[100:])
    unconfuse.save(unconfuse.CSPAPlusClassifier().partial_fit(X[:100], y[:100], classes=range(4)), tmp_path / "half.uc")
    program("stream", "cspa-plus", "rest.npy", "--labels", "rest-y.npy", "--resume", "half.uc", "-q", "-o", "end.uc")
    assert (tmp_path / "end.uc").read_bytes() == saved(tmp_path, whole)


def test_at_the_cpu_level_that_is_told(program, tmp_path, monkeypatch):
    X, y = blobs()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    monkeypatch.setenv("UNCONFUSE_CPU", "baseline")
    program("train", "spa", "X.npy", "--labels", "y.npy", "-q", "-o", "cli.uc")
    script = ("import numpy, unconfuse; model = unconfuse.SPAClassifier().fit(numpy.load('X.npy'), numpy.load('y.npy'));"
              "unconfuse.save(model, 'python.uc')")
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "python.uc").read_bytes() == (tmp_path / "cli.uc").read_bytes()
    monkeypatch.setenv("UNCONFUSE_CPU", "none such")
    result = subprocess.run([sys.executable, "-c", "import unconfuse"], capture_output=True, text=True)
    assert result.returncode != 0 and "none such" in result.stderr
