"""unconfuse.experiment: the draws and the figures of the command line, with estimators of scikit-learn among the learners."""
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import unconfuse
from conftest import blobs

NOISE = "none,uniform:0.3,pair:0.3,random:4,instance:0.3"


@pytest.fixture
def files(tmp_path):
    for name, classes in (("two.svm", 2), ("four.svm", 4)):
        X, y = blobs(classes=classes, rows=240)
        dump_svmlight_file(X, y, str(tmp_path / name), zero_based=False)
    return tmp_path


def without_seconds(report):
    for part in ("results", "learners"):
        for one in report[part]:
            del one["seconds"]
    return report


def close(a, b):
    """Equal but for the last bits of means."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    return a == pytest.approx(b, rel=1e-12) if isinstance(a, float) and b is not None else a == b


@pytest.mark.parametrize("source", ["files", "arrays"])
def test_it_is_the_command_line(program, files, source):
    """The same errors of every run, ranks and tests, from the same files or from arrays of their rows."""
    learners = "ridge,csvm:cost=10,sloppy-svm"
    told = json.loads(program("experiment", "two.svm", "four.svm", "--noise", NOISE, "--learners", learners, "--runs", 2, "--seed",
                              7, "--scale", "standard", "--latex", "out.tex", "--json"))
    data = [files / "two.svm", files / "four.svm"]
    if source == "arrays":
        data = {f"{name}.svm": blobs(classes=classes, rows=240) for name, classes in (("two", 2), ("four", 4))}
    found = unconfuse.experiment(data, noise=NOISE, learners=learners, runs=2, random_state=7, scale="standard")
    report = found.to_dict()
    told = {name: told[name] for name in report}  # but for what the program says of itself
    assert [one["failed"] is None for one in told["results"]] == [one["failed"] is None for one in report["results"]]
    assert [one["errors"] for one in told["results"]] == [one["errors"] for one in report["results"]]
    assert close(without_seconds(told), without_seconds(report))
    assert found.to_latex(files / "python.tex") == (files / "python.tex").read_text() == (files / "out.tex").read_text()


class Remembers(ClassifierMixin, BaseEstimator):
    """Keeps what it was given."""

    seen = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen.append((X, y))
        return self

    def predict(self, X):
        self.seen.append(X)
        return np.repeat(self.classes_[:1], len(X))


def test_estimators_get_the_rows_and_the_wrong_labels_of_split_and_noise(program, files):
    """By hand: split, noise make, noise apply with the seed of the run."""
    Remembers.seen.clear()
    found = unconfuse.experiment(files / "four.svm", noise="pair:0.3", learners=Remembers(), runs=1, random_state=5)
    program("split", "four.svm", "--share", "0.7", "--seed", 5, "-o", "train.svm", "--rest", "test.svm")
    program("noise", "make", "pair", "--classes", "0,1,2,3", "--rate", "0.3", "-o", "pair.csv")
    program("noise", "apply", "train.svm", "--noise-matrix", "pair.csv", "--seed", 5, "-o", "noisy.svm")
    (X, y), tested = Remembers.seen
    labels = [int(line.split()[0]) for line in (files / "noisy.svm").read_text().splitlines()]
    truth = [int(line.split()[0]) for line in (files / "test.svm").read_text().splitlines()]
    assert y.tolist() == labels and len(X) == len(labels) and len(tested) == len(truth)
    assert found.to_dict()["results"][0]["error"] == pytest.approx(np.mean(np.array(truth) != 0))


def test_a_library_learner_and_its_estimator_agree():
    """The same draw by either way into the library."""
    names = {"name": "ridge", "estimator": unconfuse.RidgeClassifier()}
    found = unconfuse.experiment(blobs(), noise="uniform:0.3", learners=names, runs=3).to_dict()["results"]
    assert found[0]["errors"] == found[1]["errors"] and found[0]["rank"] == found[1]["rank"] == 1.5


def test_told_noise_reaches_learners_and_estimators():
    data = blobs(classes=3, rows=900, spread=3.0)
    learners = {"name": "logistic", "estimator": unconfuse.LogisticClassifier(), "deaf": KNeighborsClassifier()}
    runs = [unconfuse.experiment(data, noise="pair:0.45", learners=learners, runs=2, tell_noise=tell).to_dict()["results"]
            for tell in (False, True)]
    assert runs[1][0]["errors"] == runs[1][1]["errors"] and runs[1][0]["error"] < runs[0][0]["error"]
    assert runs[0][2]["errors"] == runs[1][2]["errors"]


def test_the_same_seed_gives_the_same_errors_of_random_estimators():
    learners = [DecisionTreeClassifier(max_features=1)]
    errors = [unconfuse.experiment(blobs(spread=6.0), noise="none", learners=learners, runs=2, random_state=seed,
                                   n_jobs=1).to_dict()["results"][0]["errors"] for seed in (3, 3, 4)]
    assert errors[0] == errors[1] != errors[2]


def test_who_fails_is_left_out_and_says_why():
    class Breaks(Remembers):
        def fit(self, X, y):
            raise ValueError("no <b>luck</b>")

    found = unconfuse.experiment(blobs(), noise=["none"], runs=2, learners={"broken": Breaks(), "ridge": "ridge", "tree":
                                                                           DecisionTreeClassifier()})
    by_name = {one["learner"]: one for one in found.to_dict()["results"]}
    assert by_name["broken"]["failed"] == "no <b>luck</b>" and by_name["broken"]["errors"] == [None, None]
    assert by_name["ridge"]["rank"] + by_name["tree"]["rank"] == 3
    assert found.to_dict()["learners"][2] == {"learner": "broken", "rank": None, "error": None, "seconds": None}
    assert found.to_dict()["p_value"] is None and math.isnan(found.p_value)
    assert "--" in found.to_latex()
    with pytest.raises(ValueError, match="every learner failed: no <b>luck"):
        unconfuse.experiment(blobs(), noise=["none"], runs=1, learners=Breaks())


def test_tables_are_encoded_by_their_training_rows(program, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"colour": ["red", "blue", "green", "red"] * 60, "size": np.arange(240) % 7})
    y = pd.Series(np.where((np.arange(240) % 4 == 1) | (frame["size"] > 4), "yes", "no"), name="bought")
    frame.assign(bought=y).to_csv(tmp_path / "t.csv", index=False)
    told = json.loads(program("experiment", "t.csv", "--label", "bought", "--noise", "uniform:0.2", "--learners", "ridge,arow", "--runs",
                              2, "--json"))
    found = unconfuse.experiment((frame, y), noise="uniform:0.2", learners="ridge,arow", runs=2).to_dict()
    assert [one["errors"] for one in found["results"]] == [one["errors"] for one in told["results"]]


def test_results_are_frames_where_pandas_is_there():
    pd = pytest.importorskip("pandas")
    found = unconfuse.experiment(blobs(), noise="none,pair:0.2", learners=["ridge", "pa"], runs=2)
    assert isinstance(found.results, pd.DataFrame) and isinstance(found.learners, pd.DataFrame)
    assert found.results.drop(columns=["errors", "failed"]).to_dict("records") == [
        {name: one[name] for name in one if name not in ("errors", "failed")} for one in found.to_dict()["results"]]
    code = ("import sys; sys.modules['pandas'] = None\nimport unconfuse\nfrom sklearn.datasets import make_blobs\n"
            "found = unconfuse.experiment(make_blobs(60, random_state=1), noise='none', learners='ridge', runs=2)\n"
            "assert found.results == found.to_dict()['results'] and found.learners[0]['learner'] == 'ridge'\n")
    subprocess.run([sys.executable, "-B", "-c", code], check=True)


def test_the_page_is_the_programs(program, files):
    """But for the data and the command, every byte is that of --html."""
    learners = {"</script>": "ridge", "k": LogisticRegression()}
    found = unconfuse.experiment({"<b>.svm": files / "two.svm"}, noise="none", runs=2, learners=learners)
    try:
        found.to_html(files / "python.html")
    except RuntimeError:
        pytest.skip("built without pages")
    program("experiment", "two.svm", "--noise", "none", "--learners", "ridge", "--runs", "2", "--html", "program.html")
    data = re.compile(r'(<script type="application/json" id="report") data-page="experiment" data-command="[^"]*"'
                      r' data-version="[^"]*">(.*?)</script>', re.S)
    pages = [(files / f"{name}.html").read_text() for name in ("python", "program")]
    assert data.sub("", pages[0]) == data.sub("", pages[1])
    assert json.loads(data.search(pages[0])[2]) == found.to_dict() and "</script>" in found.to_dict()["results"][0]["learner"]


@pytest.mark.parametrize("arguments, sentence", [
    ({"noise": "unifrm:0.2"}, "noise: 'unifrm:0.2' is no kind of noise"),
    ({"noise": ["none", "none"]}, "noise: none is named twice"),
    ({"noise": []}, "noise is empty"),
    ({"noise": "rates:0.2:0.1"}, "noise 'rates' is for two classes, but there are 4"),
    ({"learners": "rigde"}, "rigde"),
    ({"learners": ["ridge:l3=1"]}, "learners: ridge:l3=1: options are written as NAME=VALUE, and ridge has "),
    ({"learners": ["csvm:cost=-1"]}, "learners: csvm:cost=-1: "),
    ({"learners": []}, "learners is empty"),
    ({"learners": [7]}, "learners: 7 is neither a learner's name nor an estimator with fit and predict"),
    ({"learners": [KNeighborsClassifier(), KNeighborsClassifier(3)]}, "KNeighborsClassifier is named twice; a dict gives them names"),
    ({"runs": 0}, "runs=0: it must be a whole number from 1 to 10000"),
    ({"test": 1.0}, "test=1.0: it must be above 0 and at most 0.99"),
    ({"sclae": "standard"}, "unexpected keyword argument 'sclae'"),
    ({"data": []}, "data is empty"),
    ({"data": [blobs(), 3]}, "a file's name or a pair"),
])
def test_what_is_wrong_is_said(arguments, sentence):
    given = {"data": blobs(), "learners": "ridge", "runs": 1, **arguments}
    with pytest.raises((ValueError, TypeError)) as caught:
        unconfuse.experiment(given.pop("data"), **given)
    assert sentence in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        unconfuse.experiment(tmp_path / "none.svm")
