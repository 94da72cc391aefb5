"""Noise matrices: made, checked, applied and estimated, as the command line does."""
import json

import numpy as np
import pytest
from conftest import blobs

import unconfuse


def test_labels_are_corrupted_as_the_command_line_does_it(program, tmp_path):
    X, y = blobs(rows=1000)
    y = np.array(["9", "10", "-3", "x"])[y]
    matrix = unconfuse.make_noise_matrix(4, level=7)
    program("noise", "make", "random", "--classes", 4, "--level", 7, "-o", "noise.csv")
    np.testing.assert_allclose(np.loadtxt(tmp_path / "noise.csv", delimiter=","), matrix, rtol=1e-6)
    np.savetxt(tmp_path / "noise.csv", matrix, delimiter=",", fmt="%.17g")  # by position: "x" makes all of them words
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    for seed in (1, 5):
        program("noise", "apply", "X.npy", "--labels", "y.npy", "--noise-matrix", "noise.csv", "--seed", seed, "-q", "-o",
                "noisy.csv")
        expected = [line.split(",") for line in (tmp_path / "noisy.csv").read_text().splitlines()]
        noisy = unconfuse.apply_noise(y, matrix, random_state=seed)
        column = next(j for j, value in enumerate(expected[1]) if value in y)
        labels = [row[column] for row in expected if row[column] in y]
        assert noisy.tolist() == labels


def test_noise_is_as_frequent_as_the_matrix_says():
    y = np.random.RandomState(0).randint(3, size=30000)
    matrix = np.array([[0.7, 0.1, 0.0], [0.2, 0.9, 0.5], [0.1, 0.0, 0.5]])
    noisy = unconfuse.apply_noise(y, matrix)
    shares = np.array([[np.mean(noisy[y == q] == p) for q in range(3)] for p in range(3)])
    np.testing.assert_allclose(shares, matrix, atol=0.02)
    assert (unconfuse.apply_noise([0, 0], np.eye(3)[::-1], classes=[0, 1, 2]) == 2).all()
    assert (unconfuse.apply_noise(y, np.eye(3)) == y).all()


def test_a_matrix_is_checked():
    found = unconfuse.check_noise_matrix([[0.8, 0.3], [0.2, 0.7]])
    assert found.wrong == pytest.approx(0.25) and found.dominated == 0
    assert found.condition == pytest.approx(np.linalg.cond([[0.8, 0.3], [0.2, 0.7]]))
    turned = unconfuse.check_noise_matrix([[0.8, 0.2], [0.3, 0.7]], noise_orientation="rows")
    assert (turned.matrix == found.matrix).all()
    assert unconfuse.check_noise_matrix([[0.4, 0.3], [0.6, 0.7]]).dominated == 0
    assert unconfuse.check_noise_matrix([[0.2, 0.4], [0.8, 0.6]]).dominated == 2
    nearly = unconfuse.check_noise_matrix([[0.8, 0.3001], [0.2, 0.7]]).matrix
    np.testing.assert_allclose(nearly.sum(axis=0), 1)


@pytest.mark.parametrize("matrix, sentence", [
    ([[0.5, 0.5], [0.2, 0.9]], "column 1 sums to 0.7, not 1"),
    ([[0.8, 0.2], [0.4, 0.6]], "every row sums to 1"),
    ([[0.5, 0.5], [0.5, 0.5]], "singular"),
    ([[1.5, 0.5], [-0.5, 0.5]], "1.5"),
    ([[np.nan, 0.5], [0.5, 0.5]], "nan"),
    ([1, 2], "must be square"),
    ([[1, 0, 0], [0, 1, 0]], "must be square"),
])
def test_what_is_no_noise_matrix_is_refused(matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        unconfuse.check_noise_matrix(matrix)
    X, y = blobs(2)
    with pytest.raises(ValueError, match=sentence):
        unconfuse.LogisticClassifier(noise_matrix=matrix).fit(X, y)


def test_matrices_are_made():
    np.testing.assert_allclose(unconfuse.make_noise_matrix(2, rates=(0.4, 0.1)), [[0.9, 0.4], [0.1, 0.6]])
    assert (unconfuse.make_noise_matrix(5, level=0) == np.eye(5)).all()
    assert (unconfuse.make_noise_matrix(5, level=5) == unconfuse.make_noise_matrix(5, level=5, random_state=1)).all()
    np.testing.assert_allclose(unconfuse.make_noise_matrix(3, complementary=True), (1 - np.eye(3)) / 2)
    for arguments in (dict(), dict(rate=0.1, level=3), dict(rates=(0.1, 0.2)), dict(rate=0.1, complementary=True)):
        with pytest.raises(ValueError, match="give one of|of two classes"):
            unconfuse.make_noise_matrix(3, **arguments)
    with pytest.raises(ValueError):
        unconfuse.make_noise_matrix(3, rate=1.5)


@pytest.mark.parametrize("arguments, sentence", [
    (dict(n_classes=2, rates=(0.1,)), "two numbers, of two classes"),
    (dict(n_classes=2, rates=(0.1, 0.2, 0.3)), "two numbers, of two classes"),
    (dict(n_classes=2, rates=0.1), "two numbers, of two classes"),
    (dict(n_classes=0, rate=0.1), "n_classes=0: it must be a whole number"),
    (dict(n_classes=2.5, rate=0.1), "n_classes=2.5: it must be a whole number"),
    (dict(n_classes=2, level=3, random_state=2**70), "random_state=1180591620717411303424: it must not be"),
    (dict(n_classes=2, level=3, random_state="a"), "random_state='a': it must be an integer"),
])
def test_what_no_matrix_is_made_of_is_refused(arguments, sentence):
    with pytest.raises(ValueError) as raised:
        unconfuse.make_noise_matrix(**arguments)
    assert sentence in str(raised.value)


def test_sentences_call_parameters_as_python_does():
    with pytest.raises(ValueError, match="noise_orientation='row': it must be 'columns' or 'rows'"):
        unconfuse.check_noise_matrix(np.eye(2), noise_orientation="row")
    with pytest.raises(ValueError, match=r"give its transpose, noise_matrix\.T$"):
        unconfuse.check_noise_matrix([[0.8, 0.2], [0.4, 0.6]])
    with pytest.raises(ValueError, match="give X or gold"):
        unconfuse.estimate_noise_matrix(None, [0, 1])


def test_the_order_of_classes_is_that_of_the_matrix():
    matrix = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # each label becomes the next one given
    for classes in ([0, 1, 2], [2, 0, 1], [1, 0, 2]):
        noisy = unconfuse.apply_noise(classes, matrix, classes=classes)
        assert noisy.tolist() == np.roll(classes, -1).tolist()
    for classes in ([0, 1], [0, 1, 1], [0, 1, 2, 3]):
        with pytest.raises(ValueError, match="they must be 3 different labels"):
            unconfuse.apply_noise([0, 1], matrix, classes=classes)


def estimated(program, tmp_path, X, y, *options):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    return json.loads(program("noise", "estimate", "X.npy", "--labels", "y.npy", *options, "-o", "noise.csv", "--json"))


def same(found, result, order=slice(None)):
    for name in ("matrix", "low", "high", "counts"):
        np.testing.assert_allclose(getattr(found, name), np.array(result[name], float)[order][:, order], rtol=1e-12)
    assert [str(label) for label in found.classes.tolist()] == [result["classes"][k] for k in np.arange(4)[order]]


def test_an_estimate_is_that_of_the_command_line(program, tmp_path):
    X, y = blobs(rows=600)
    noisy = unconfuse.apply_noise(y, unconfuse.make_noise_matrix(4, rate=0.3))
    found = unconfuse.estimate_noise_matrix(X, noisy, scale="standard", bootstrap=20)
    same(found, estimated(program, tmp_path, X, noisy, "--method", "self", "--scale", "standard", "--bootstrap", 20))
    assert np.abs(found.matrix - unconfuse.make_noise_matrix(4, rate=0.3)).max() < 0.1
    anchors = unconfuse.estimate_noise_matrix(X, noisy, estimator="anchor", folds=3, bootstrap=0, random_state=3)
    assert anchors.low is None and anchors.high is None


def test_an_estimate_from_gold_labels_is_that_of_the_command_line(program, tmp_path):
    X, y = blobs(rows=400)
    names = np.array(["10", "9", "3", "-1"])  # an order of numbers for the command line, of words for NumPy
    y = names[y]
    noisy = unconfuse.apply_noise(y, unconfuse.make_noise_matrix(4, level=4))
    gold = np.where(np.arange(400) % 3 == 0, "?", y)
    (tmp_path / "gold.txt").write_text("\n".join(gold) + "\n")
    result = estimated(program, tmp_path, X, noisy, "--method", "gold", "--gold", "gold.txt")
    found = unconfuse.estimate_noise_matrix(None, noisy, gold=gold)
    same(found, result, np.argsort(result["classes"]))
    for marker in (None, np.nan):
        again = unconfuse.estimate_noise_matrix(X, noisy, gold=[marker if label == "?" else label for label in gold])
        assert (again.matrix == found.matrix).all()


@pytest.mark.filterwarnings("ignore:fewer than 30 examples")
def test_gold_labels_are_compared_as_they_are():
    y = ["1", "2", "1", "2"] * 20
    with pytest.raises(ValueError, match="gold has the label '10', which is not among the classes"):
        unconfuse.estimate_noise_matrix(None, y, gold=["10", "2", "1", "2"] * 20)
    with pytest.raises(ValueError, match="gold has the label 1.5, which is not among the classes"):
        unconfuse.estimate_noise_matrix(None, [1, 2] * 40, gold=[1.5, 2] * 40)
    numbers = np.array(y, int)
    expected = unconfuse.estimate_noise_matrix(None, numbers, gold=numbers).matrix
    for gold in (y, numbers.astype(float), np.where(np.arange(80) < 40, numbers, "?")):  # of which NumPy makes strings
        assert (unconfuse.estimate_noise_matrix(None, numbers, gold=gold).matrix == expected).all()
    assert (unconfuse.estimate_noise_matrix(None, y, gold=numbers).matrix == expected).all()


def test_noise_that_is_told_helps():
    X, y = blobs(rows=1500, spread=4)
    noise = np.array([[0.6, 0.35, 0, 0], [0.4, 0.65, 0, 0], [0, 0, 0.55, 0], [0, 0, 0.45, 1.0]])
    noisy = unconfuse.apply_noise(y, noise)
    for cls in (unconfuse.LogisticClassifier, unconfuse.UMAClassifier):
        assert cls(noise_matrix=noise).fit(X, noisy).score(X, y) > 0.85
    with pytest.raises(ValueError, match="noise_matrix has 4 classes, the data have 3"):
        unconfuse.LogisticClassifier(noise_matrix=noise).fit(X[noisy < 3], noisy[noisy < 3])
