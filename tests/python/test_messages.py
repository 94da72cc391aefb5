"""Sentences of the library in Python: they name parameters that exist."""
import inspect
import re

import numpy as np
import pytest
import scipy.sparse
from conftest import CLASSIFIERS, MAPS, ROOT, blobs

import unconfuse
from unconfuse._library import in_python
from unconfuse._names import RENAMED, REWORDED

# Of what the package does not call: files are read by NumPy here, and streams are compared by replay.
NOT_CALLED = {"data/reader.c", "data/open.c", "data/crowd_table.c", "data/table_types.c", "data/shards.c", "data/generate.c",
              "select/compare.c", "select/contest.c"}
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
NAMED = re.compile(r"\{[a-z][a-z0-9-]*[}=, ]")
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*\b|[{}]")


def sentences():
    """(file, sentence) of the library that name an option, each as it is printed; a number stands for a number."""
    for path in sorted((ROOT / "src").rglob("*.c")):
        for found in STRINGS.finditer(path.read_text(encoding="utf-8")):
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[0]))
            if NAMED.search(text):
                yield str(path.relative_to(ROOT / "src")), re.sub(r"%[.0-9]*(zu|llu|l?[du]|g|f)", "3", text)


def filled():
    """With the words that the library puts in; `say {noise-orientation=%ss}` is of rows and of columns."""
    for file, sentence in sentences():
        if file not in NOT_CALLED:
            for word in ("row", "column"):
                yield file, sentence.replace("{noise-orientation=%s", f"{{noise-orientation={word}").replace(
                    "choose {%s}", "choose {l2}").replace("%s", "range")


def signatures():
    """Names of the parameters of every estimator and function."""
    return {name: set(inspect.signature(getattr(unconfuse, name)).parameters) for name in unconfuse.__all__
            if name[0].islower() or hasattr(getattr(unconfuse, name), "fit")}


def named(sentence):
    return set(re.findall(r"`(\w+)`", sentence)) | set(re.findall(r"\b([a-z_]+)=", sentence))


def test_every_option_in_a_sentence_becomes_a_parameter():
    """One that does not is either in a file that the package does not call, or must be reworded in _names.py."""
    parameters = set().union(*signatures().values()) | {"groups"}
    found = list(filled())
    assert len(found) > 60
    for file, sentence in found:
        said = in_python(sentence)
        assert not OPTION.search(said), (file, said)
        assert named(said) <= parameters, (file, said)


SAID_BY = {
    "learn/logistic.c": ["LogisticClassifier"], "learn/uma/uma.c": ["UMAClassifier"], "learn/rp.c": ["RPClassifier"],
    "learn/svm/svm.c": ["SloppySVMClassifier"], "learn/cspa_plus.c": ["CSPAPlusClassifier"],
    "learn/minimise.c": ["LogisticClassifier", "SloppySVMClassifier", "CSVMClassifier"],
    "train/online_model.c": [cls.__name__ for cls in CLASSIFIERS if hasattr(cls, "partial_fit")],
    "map/kernel.c": [cls.__name__ for cls in CLASSIFIERS + MAPS],
}


def test_a_learner_names_parameters_of_its_own():
    said = [(file, in_python(sentence)) for file, sentence in filled() if file in SAID_BY]
    assert len(said) > 10
    own = signatures()
    for file, sentence in said:
        for name in SAID_BY[file]:
            assert named(sentence) <= own[name], (name, sentence)


def test_documentation_names_parameters_that_exist():
    for name, own in signatures().items():
        text = getattr(unconfuse, name).__doc__
        if name not in ("save", "noise_aware_accuracy"):  # which speak of commands
            assert not re.search(r"(?<![\w-])--[a-z]", text), name
        if name in unconfuse.estimators.__all__:
            assert set(re.findall(r"`([a-z_]+)`", text)) <= own, name


@pytest.mark.parametrize("phrase", REWORDED)
def test_every_rewording_is_of_a_sentence_of_the_library(phrase):
    """A sentence that was changed needs another."""
    said = [sentence for _, sentence in filled()]
    for path in ROOT.glob("src/**/*.c"):
        said += ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[0])) for found in STRINGS.finditer(path.read_text())]
    assert any(phrase in sentence for sentence in said)


def test_every_renamed_option_is_one():
    assert not set(RENAMED.values()) & set(RENAMED)
    own = set().union(*signatures().values())
    assert {name.replace("-", "_") for name in RENAMED.values()} <= own


def test_values_are_written_as_in_python():
    for sentence, expected in {
        "use {scale=maxabs}": "use scale='maxabs'",
        "{map=none}: there is no map": "map=None: there is no map",
        "lower {dimension}": "lower `dimension`",
        "with {ridge=0.001}, and": "with ridge=0.001, and",
        "try {normalize} or {scale}": "try `normalize` or `scale`",
        "give {width W}": "give `width`",
        "({noise-matrix}, {noise-rate})": "(`noise_matrix`)",
        "{noise-rates ETA+,ETA-} or {noise=estimate}": "`noise_matrix` or noise_matrix='estimate'",
        "{return=best}": "returns='best'",
        "{bags:=on}": "bags=True",
        "a file called --other": "a file called --other",
        "a class called {{seed}}, another {{{{noise-rate}}}}": "a class called {seed}, another {{noise-rate}}",
    }.items():
        assert in_python(sentence) == expected


@pytest.mark.parametrize("name", ["{seed}", "{scale=maxabs}", "{{noise-rate}", "}{", "--seed", "say {noise-orientation=rows}"])
def test_braces_in_what_the_user_brought_are_no_options(tmp_path, name):
    with pytest.raises(FileNotFoundError) as refused:
        unconfuse.load(tmp_path / name)
    assert f"{tmp_path / name}: " in str(refused.value)


def test_a_matrix_whose_rows_sum_to_1_is_to_be_transposed():
    X, y = blobs(2)
    matrix = np.array([[0.9, 0.1], [0.3, 0.7]])
    for refused in (lambda: unconfuse.LogisticClassifier(noise_matrix=matrix).fit(X, y),
                    lambda: unconfuse.apply_noise(y, matrix), lambda: unconfuse.check_noise_matrix(matrix)):
        with pytest.raises(ValueError, match=r"if the true class is in rows, give its transpose, noise_matrix\.T$"):
            refused()
    unconfuse.LogisticClassifier(noise_matrix=matrix.T).fit(X, y)
    with pytest.raises(ValueError, match="leave noise_orientation at 'columns'$"):
        unconfuse.check_noise_matrix(matrix.T, noise_orientation="rows")


def test_sparse_rows_that_are_to_be_standardised():
    X, y = blobs(2)
    with pytest.raises(ValueError, match=r"use scale='maxabs', or give dense rows, X.toarray\(\)$"):
        unconfuse.SPAClassifier(scale="standard").fit(scipy.sparse.csr_matrix(X), y)
