"""What people do with classifiers in scikit-learn: strings, sparse rows, grids, pipelines, copies, threads."""
import copy
import errno
import functools
import inspect
import io
import pickle
import warnings

import joblib
import numpy as np
import pandas
import pytest
import scipy.sparse
from conftest import BINARY_ONLY, CLASSIFIERS, OWN_FEATURES, blobs, classes_for
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unconfuse

pytestmark = pytest.mark.filterwarnings("ignore:no noise matrix was given", "ignore:no noise rates given",
                                        "ignore:.*not converged")


def data_for(cls, **options):
    return blobs(classes_for(cls), **options)


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_learning_beats_guessing_by_far(cls):
    """scikit-learn's own check of scores leaves out what is tagged poor_score; so here is one without an intercept."""
    X, y = data_for(cls, spread=1.0)
    model = cls(passes=20) if hasattr(cls, "partial_fit") else cls()
    needed = 0.6 if "explore" in model.get_params() else 0.95  # some proposals are drawn at random for ever
    assert model.fit(X, y).score(X, y) > needed


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_scores_are_the_weights_times_the_row(cls):
    X, y = data_for(cls)
    model = cls(map=None, normalize=False).fit(X, y)
    scores = model.decision_function(X)
    if cls in OWN_FEATURES:  # which cannot be had from outside
        assert model.coef_.shape[0] == 4 and model.coef_.shape[1] > X.shape[1]
    else:
        expected = X.astype(float) @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(scores, expected[:, 0] if cls in BINARY_ONLY else expected, rtol=1e-6, atol=1e-6)
    best = model.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
    assert (model.predict(X) == best).all()


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_two_classes_have_one_row_of_weights(cls):
    X, y = blobs(2)
    model = cls(map=None).fit(X, y)
    columns = model.coef_.shape[1] if cls in OWN_FEATURES else 8
    assert model.coef_.shape == (1, columns) and model.intercept_.shape == (1,)
    assert model.decision_function(X).shape == (300,)


def test_scores_of_onebit_before_it_has_a_kernel():
    """Up to round 15 its features are the row at unit length."""
    X, y = blobs()
    model = unconfuse.OnebitClassifier().partial_fit(X[:15], y[:15], classes=range(4))
    unit = X / np.linalg.norm(X.astype(float), axis=1, keepdims=True)
    assert model.coef_.shape == (4, 8) and model.coef_.any()
    np.testing.assert_allclose(model.decision_function(X), unit @ model.coef_.T + model.intercept_, rtol=1e-5, atol=1e-6)
    assert unconfuse.OnebitClassifier().partial_fit(X[:16], y[:16], classes=range(4)).coef_.shape[1] > 8


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_sparse_rows_are_dense_rows(cls):
    X, y = data_for(cls)
    X[np.abs(X) < 4] = 0
    dense = cls(map=None).fit(X, y)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix, scipy.sparse.csr_array):
        sparse = cls(map=None).fit(kind(X), y)
        np.testing.assert_allclose(sparse.decision_function(kind(X)), dense.decision_function(X), rtol=1e-3, atol=1e-3)


def test_unsorted_columns_and_duplicates_of_sparse_rows():
    X, y = blobs(2, columns=3)
    one = scipy.sparse.csr_matrix(X)
    half = one.data / 2
    other = scipy.sparse.csr_matrix((np.concatenate([half, half]).reshape(2, -1, 3).swapaxes(0, 1).ravel(),
                                     np.tile([2, 1, 0, 2, 1, 0], len(X)), np.arange(len(X) + 1) * 6), X.shape)
    other.data = np.repeat(np.ascontiguousarray(X[:, ::-1])[:, None, :] / 2, 2, axis=1).ravel()
    before = other.data.copy()
    expected = unconfuse.CSVMClassifier().fit(one, y)
    assert (unconfuse.CSVMClassifier().fit(other, y).coef_ == expected.coef_).all()
    assert (expected.predict(other) == expected.predict(one)).all()
    assert (other.data == before).all()


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_rows_of_any_layout_are_the_same_rows(cls):
    X, y = data_for(cls)
    model = cls().fit(X, y)
    expected = model.predict(X)
    for other in (X.astype(float), np.asfortranarray(X), X[::-1][::-1], X.tolist(),
                  np.repeat(X, 2, axis=1)[:, ::2], X.astype(">f4")):
        assert (model.predict(other) == expected).all()
        assert pickle.dumps(cls().fit(other, y)) == pickle.dumps(cls().fit(X, y))


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("scale", [None, "range"])
def test_what_is_not_finite_is_refused(cls, wrong, scale):
    X, y = data_for(cls)
    model = cls(scale=scale).fit(X, y)
    for bad in (X.copy(), X.astype(float)):
        bad[41, 3] = wrong
        for function in (model.predict, model.decision_function, lambda bad: cls().fit(bad, y)):
            with pytest.raises(ValueError, match="NaN|inf"):
                function(bad)
            if scale is None:
                with pytest.raises(ValueError, match="NaN|inf"):
                    function(scipy.sparse.csr_matrix(bad))
    with pytest.raises(ValueError, match="too large|inf"):
        model.predict(np.full((2, 8), 1e300))


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_copies_and_pickles_are_the_same_model(cls, tmp_path):
    X, y = data_for(cls)
    y = np.array(["d", "b", "a", "c"])[y]
    model = cls(scale="standard").fit(X, y)
    stored = io.BytesIO()
    joblib.dump(model, stored)
    stored.seek(0)
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(stored)]
    unconfuse.save(model, tmp_path / "model.uc")
    copies.append(unconfuse.load(tmp_path / "model.uc"))
    for other in copies:
        assert type(other) is cls
        assert (other.decision_function(X) == model.decision_function(X)).all()
        assert (other.classes_ == model.classes_).all()
        assert other.n_iter_ == model.n_iter_ and other.n_features_in_ == 8
        again = clone(other).fit(X, y)
        assert (again.decision_function(X) == model.decision_function(X)).all()


@pytest.mark.parametrize("name, parameters", [
    ("RPClassifier", dict(map=None, kappa=0.5)),
    ("SPAClassifier", dict(class_weight={"a": 3.0}, variant=2, average=False, random_state=9)),
    ("CSVMClassifier", dict(positive="a", class_weight="balanced", bias=0.0)),
    ("LogisticClassifier", dict(noise_matrix=[[0.9, 0.2], [0.1, 0.8]], map="kgs", dimension=9, width=44.0)),
    ("UMAClassifier", dict(returns="best", scale="range")),
    ("CSPAPlusClassifier", dict(replays=0, metric="diagonal", pair=False)),
])
def test_a_file_keeps_what_the_model_was_trained_with(tmp_path, name, parameters):
    """A clone of what was loaded learns the same model again."""
    X, y = blobs(2)
    y = np.array(["a", "b"])[y]
    model = getattr(unconfuse, name)(**parameters).fit(X, y)
    unconfuse.save(model, tmp_path / "model.uc")
    loaded = unconfuse.load(tmp_path / "model.uc")
    unconfuse.save(clone(loaded).fit(X, y), tmp_path / "again.uc")
    assert (tmp_path / "again.uc").read_bytes() == (tmp_path / "model.uc").read_bytes()


@pytest.mark.parametrize("name", ["SPAClassifier", "LogisticClassifier", "CSPAPlusClassifier"])
def test_grids_pipelines_and_frames(name):
    cls = getattr(unconfuse, name)
    X, y = blobs()
    frame = pandas.DataFrame(X, columns=[f"column {j}" for j in range(8)])
    pipeline = make_pipeline(StandardScaler(), cls())
    prefix = cls.__name__.lower()
    search = GridSearchCV(pipeline, {f"{prefix}__bias": [0, 1.0], f"{prefix}__random_state": [1, 2]}, cv=3, n_jobs=2)
    search.fit(frame, y)
    assert search.best_score_ > 0.5
    model = cls().fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert (model.predict(frame) == cls().fit(X, y).predict(X)).all()
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)
    assert cross_val_predict(cls(), X, y, cv=3).shape == y.shape


def test_class_weights():
    X, y = blobs(2, spread=12)
    for cls in CLASSIFIERS:
        if "class_weight" not in cls().get_params():
            continue
        options = {"variant": 1, "cost": 1e-4} if "variant" in cls().get_params() else {}
        if cls is unconfuse.COPAClassifier:
            options = {"cost": 1e-4}  # rows are long: at the default the margin decides, not the cost
        cls = functools.partial(cls, bias=1.0, **options)
        even, heavy, light = (cls(class_weight=weight).fit(X, y).predict(X).mean()
                              for weight in (None, {1: 100.0}, {1: 0.01}))
        assert light <= even <= heavy and heavy > light + 0.3
        with pytest.raises(ValueError, match="class_weight has the label 7"):
            cls(class_weight={7: 1.0}).fit(X, y)
        with pytest.raises(ValueError, match="is not a number above 0"):
            cls(class_weight={1: 0.0}).fit(X, y)
    names = {cls.__name__ for cls in CLASSIFIERS if "class_weight" in cls().get_params()}
    assert names == {"AutoClassifier", "COPAClassifier", "PUClassifier", "RidgeClassifier",
                     "PerceptronClassifier", "PAClassifier", "SPAClassifier", "AROWClassifier", "SCWClassifier", "CSVMClassifier",
                     "SloppySVMClassifier", "LogisticClassifier", "UMAClassifier", "RPClassifier", "S3VMClassifier"}


def test_weights_told_are_balanced_ones():
    X, y = blobs(3, rows=90)
    X, y = X[y < 2 + (np.arange(90) % 3 == 0)], y[y < 2 + (np.arange(90) % 3 == 0)]
    counts = np.bincount(y)
    result = unconfuse.SPAClassifier(class_weight=dict(enumerate(len(y) / (3 * counts)))).fit(X, y)
    np.testing.assert_allclose(result.coef_, unconfuse.SPAClassifier(class_weight="balanced").fit(X, y).coef_)


def test_probabilities_are_of_the_true_class():
    X, y = blobs(3)
    noise = unconfuse.make_noise_matrix(3, rate=0.3)
    noisy = unconfuse.apply_noise(y, noise)
    model = unconfuse.LogisticClassifier(noise_matrix=noise).fit(X, noisy)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
    right = model.label_is_right(X, noisy)
    observed = P @ noise.T
    rows = np.arange(len(y))
    np.testing.assert_allclose(right, noise[noisy, noisy] * P[rows, noisy] / observed[rows, noisy])
    assert right[noisy == y].mean() > right[noisy != y].mean() + 0.5
    assert [cls.__name__ for cls in CLASSIFIERS if hasattr(cls, "predict_proba")] == [
        "AuditClassifier", "AutoClassifier", "LogisticClassifier"]


def test_a_seed_is_a_seed():
    X, y = blobs(spread=8)
    coef = [unconfuse.SPAClassifier(random_state=seed).fit(X, y).coef_ for seed in (None, 1, 2)]
    assert (coef[0] == coef[1]).all() and (coef[1] != coef[2]).any()
    first, second = (unconfuse.SPAClassifier(random_state=np.random.RandomState(5)).fit(X, y).coef_ for _ in range(2))
    assert (first == second).all() and (first != coef[0]).any()


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_parameters_are_those_of_the_option_tables(cls):
    """Every option has its default, and a value outside its bounds is refused with the library's sentence."""
    from unconfuse._library import options, text
    from unconfuse._model import find_learner
    from unconfuse._names import python_name
    from unconfuse._unconfuse import lib

    X, y = data_for(cls)
    parameters = inspect.signature(cls.__init__).parameters
    for option in options(lib.uc_learner_options(find_learner(cls._learner))):
        name = python_name(text(option.name))
        default = parameters[name].default
        assert str({None: "none", True: "on", False: "off"}.get(default, default)) == text(option.standard) or \
            default == float(text(option.standard))
        assert f"{name} : " in cls.__doc__
        if option.type in (lib.UC_OPTION_REAL, lib.UC_OPTION_COUNT):
            with pytest.raises(ValueError, match=f"^{name}=-1e\\+30: it must be"):
                cls(**{name: -1e30}).fit(X, y)


@pytest.mark.parametrize("parameters, sentence", [
    (dict(cost=-1), "cost=-1: it must be a number above 0 and at most 1000000000000"),
    (dict(cost="x"), "cost='x': it must be a number above 0"),
    (dict(variant=7), "variant=7: it must be one of 0|1|2"),
    (dict(passes=2.5), "passes=2.5: it must be a whole number from 1 to"),
    (dict(scale="big"), "scale='big': it must be one of none|range|standard|maxabs"),
    (dict(map="kgs", dimension=0), "dimension=0: it must be a whole number from 1 to"),
    (dict(n_jobs=0), "n_jobs=0: it must be a number of threads"),
    (dict(random_state="a"), "random_state='a': it must be an integer, a RandomState or None"),
    (dict(random_state=-4), "random_state=-4: it must not be negative"),
    (dict(random_state=2**60), "random_state=1152921504606846976: it must not be negative, nor above 9007199254740992"),
    (dict(random_state=1.5), "random_state=1.5: it must be an integer, a RandomState or None"),
    (dict(n_jobs=2.5), "n_jobs=2.5: it must be an integer or None"),
    (dict(n_jobs="all"), "n_jobs='all': it must be an integer or None"),
    (dict(n_jobs=10**12), "n_jobs=1000000000000: it must be a number of threads up to 1024"),
])
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises((ValueError, TypeError)) as raised:
        unconfuse.SPAClassifier(**parameters).fit(*blobs())
    assert sentence in str(raised.value)


@pytest.mark.parametrize("change, sentence", [
    (lambda X, y: (X, np.zeros(300)), "only one class"),
    (lambda X, y: (X[:, :0], y), "0 feature"),
    (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    (lambda X, y: (X, y + 0.5), "Unknown label type"),
    (lambda X, y: (X, np.where(y == 0, np.nan, y)), "NaN"),
])
def test_bad_data_get_a_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        unconfuse.SPAClassifier().fit(*change(*blobs()))


def test_what_is_not_fitted_says_so():
    model = unconfuse.LogisticClassifier()
    X, _ = blobs()
    for function in (model.predict, model.decision_function, model.predict_proba, lambda X: model.coef_,
                     lambda X: unconfuse.save(model, "nowhere.uc")):
        with pytest.raises(NotFittedError):
            function(X)


@pytest.mark.parametrize("marker", [None, np.nan, "?"])
def test_markers_of_unlabelled_rows(marker):
    X, y = blobs()
    labels = np.array([marker if i % 4 else label for i, label in enumerate(y.tolist())], object)
    model = unconfuse.S3VMClassifier(unlabelled=marker).fit(X, labels)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert (model.predict(X) == y).mean() > 0.9
    with pytest.raises(ValueError, match="no example has a label"):
        unconfuse.S3VMClassifier(unlabelled=marker).fit(X, np.full(300, marker, object))


MARKED = {
    "a float, given as an integer": (lambda y, off: np.where(off, -1.0, y), -1),
    "an integer, given as a float": (lambda y, off: np.where(off, -1, y), -1.0),
    "an integer of NumPy": (lambda y, off: np.where(off, -1, y), np.int64(-1)),
    "objects of NumPy": (lambda y, off: np.array([*np.where(off, -1, y)], object), -1),
    "a string of NumPy": (lambda y, off: np.where(off, "?", y.astype(str)), np.str_("?")),
    "NaN, given as None": (lambda y, off: np.where(off, np.nan, y), None),
    "None, given as NaN": (lambda y, off: np.where(off, None, y.astype(object)), np.nan),
    "NaN among strings": (lambda y, off: pandas.Series(y.astype(str)).where(~off), np.nan),
    "NA": (lambda y, off: pandas.Series(y.astype(str), dtype="string").where(~off).astype(object), pandas.NA),
}


@pytest.mark.parametrize("kind", MARKED)
def test_a_marker_is_found_by_its_value(kind):
    X, y = blobs()
    labels, marker = MARKED[kind][0](y, np.arange(300) % 4 > 0), MARKED[kind][1]
    model = unconfuse.S3VMClassifier(unlabelled=marker).fit(X, labels)
    assert [int(label) for label in model.classes_] == [0, 1, 2, 3]
    assert (model.predict(X).astype(int) == y).mean() > 0.9


@pytest.mark.parametrize("missing", [None, np.nan, pandas.NA])
def test_a_label_that_is_missing_is_no_class(missing):
    X, y = blobs()
    labels = np.array(["x" if k else missing for k in y % 2], object)
    labels[1::5] = "?"
    with pytest.raises(ValueError, match="y contains NaN or None, in row .* where there should be a label"):
        unconfuse.S3VMClassifier().fit(X, labels)
    labels = np.array(["a", *(["b", None] * 150)], object)[:300]
    with pytest.raises(ValueError, match="y contains NaN or None, in row 3"):
        unconfuse.SPAClassifier().fit(X, labels)
    with pytest.raises(ValueError, match="y mixes strings with other labels"):
        unconfuse.S3VMClassifier().fit(X, np.array(["?", 1, "b"] * 100, object))


def test_true_is_no_marker_of_ones():
    X, y = blobs(2)
    assert unconfuse.S3VMClassifier(unlabelled=True).fit(X, y).classes_.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", [unconfuse.UMAClassifier, unconfuse.SPAClassifier, unconfuse.KernelPCA])
def test_a_fit_that_fails_changes_nothing(cls):
    X, y = blobs()
    frame = pandas.DataFrame(X, columns=[f"column {j}" for j in range(8)])
    model = cls().fit(frame, y)
    before = dict(vars(model))
    bad = X[:, :3].copy()
    model.set_params(width=-1.0)
    with pytest.raises(ValueError):
        model.fit(bad, y)
    model.set_params(width=before["width"])
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the library's, of which the fit is too short to have none
        if cls is unconfuse.UMAClassifier:
            with pytest.raises(UserWarning, match="no noise matrix was given"):
                model.fit(bad, y)
    assert model.n_features_in_ == 8 and len(model.feature_names_in_) == 8
    model.fit(bad, y)
    assert model.n_features_in_ == 3 and not hasattr(model, "feature_names_in_")


def test_sentences_call_options_as_python_does():
    X, y = blobs()
    with pytest.warns(UserWarning, match=r"takes the labels as they are \(see `noise_matrix`\)$"):
        unconfuse.UMAClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"use scale=.maxabs., or give dense rows, X.toarray\(\)$"):
        unconfuse.SPAClassifier(scale="standard").fit(scipy.sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="give `width`$"):
        unconfuse.SPAClassifier(map="landmarks").partial_fit(X, y, classes=range(4))
    with pytest.warns(UserWarning, match="so sloppy-svm equals csvm: use `noise_matrix` or noise_matrix='estimate'$"):
        unconfuse.SloppySVMClassifier().fit(*blobs(2))


def test_groups_without_bags_are_refused():
    X, y = blobs(2)
    with pytest.raises(ValueError, match="groups are the bags of bags=True"):
        unconfuse.CSVMClassifier().fit(X, y, groups=np.arange(300))


@pytest.mark.parametrize("parameters, sentence", [
    (dict(positive="maybe"), "positive='maybe': no example is labelled so"),
    (dict(positive="maybe", positive_unlabelled=True), "positive='maybe': no example is labelled so"),
    (dict(positive_unlabelled=True, bags=True), "give only one of positive_unlabelled and bags"),
    (dict(bags=True), "bags=True needs to know the bag of every row"),
    (dict(bag_rule="witness"), "bag_rule='witness' is for labels of bags: give bags=True"),
    (dict(bags=True, bag_rule="vote"), "bag_rule"),
    (dict(noise_matrix="guess"), "noise_matrix='guess': it must be a matrix, 'estimate' or None"),
])
def test_labels_that_mean_something_else_get_a_sentence(parameters, sentence):
    X, y = blobs(2)
    with pytest.raises(ValueError) as raised:
        unconfuse.SloppySVMClassifier(**parameters).fit(X, np.array(["no", "yes"])[y])
    assert sentence in str(raised.value)


@pytest.mark.parametrize("rule", ["instance", "witness"])
def test_bag_rules_find_the_positive_rows(rule):
    """One row of every positive bag is far away; groups need not be in order."""
    draw = np.random.default_rng(1)
    groups = np.tile(np.arange(80), 5)
    truly = (groups % 2 == 1) & (np.arange(400) < 80)
    X = draw.normal(size=(400, 3)) + 5 * truly[:, None]
    y = np.where(groups % 2 == 1, "sick", "well")
    model = unconfuse.CSVMClassifier(bags=True, bag_rule=rule, positive="sick").fit(X, y, groups=groups)
    assert ((model.predict(X) == "sick") == truly).mean() > 0.98


def test_positives_that_are_numbers_need_a_number_for_the_others():
    X, y = blobs(2)
    labels = np.where(y == 1, 7, np.nan)
    with pytest.raises(ValueError, match="there is no number for what is not 7"):
        unconfuse.SloppySVMClassifier(positive_unlabelled=True, unlabelled=np.nan).fit(X, labels)


def test_a_matrix_that_hides_a_class_is_warned_of():
    X, y = blobs(2)
    with pytest.warns(UserWarning, match="in the row of class 0 the diagonal is not the largest") as caught:
        unconfuse.LogisticClassifier(noise_matrix=[[0.4, 0.5], [0.6, 0.5]]).fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}


def test_complementary_labels_are_learned_from_without_a_warning():
    X, y = blobs(3, rows=1500)
    noise = unconfuse.make_noise_matrix(3, complementary=True)
    noisy = unconfuse.apply_noise(y, noise)
    assert (noisy != y).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = unconfuse.LogisticClassifier(noise_matrix=noise).fit(X, noisy)
    assert model.score(X, y) > unconfuse.LogisticClassifier().fit(X, y).score(X, y) - 0.05


def test_the_library_sentence_for_files(program, tmp_path):
    with pytest.raises(FileNotFoundError, match="no-such-file: cannot read: No such file") as raised:
        unconfuse.load(tmp_path / "no-such-file")
    assert raised.value.errno == errno.ENOENT
    with pytest.raises(TypeError, match="not a Pipeline: save the last step"):
        unconfuse.save(make_pipeline(unconfuse.SPAClassifier()), tmp_path / "model.uc")
    (tmp_path / "text").write_text("no model")
    with pytest.raises(ValueError, match="text: not a model file of unconfuse"):
        unconfuse.load(tmp_path / "text")
    (tmp_path / "liblinear").write_text("solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n0.5 \n")
    program("convert", "liblinear", "liblinear.uc")
    with pytest.raises(ValueError, match="liblinear.uc: a model of liblinear, for which there is no estimator"):
        unconfuse.load(tmp_path / "liblinear.uc")
    with pytest.raises(OSError, match="cannot write"):
        unconfuse.save(unconfuse.SPAClassifier().fit(*blobs()), tmp_path / "no" / "directory")


def unsound_matrices():
    """CSR matrices that SciPy makes without a word, each with an entry where there is none."""
    data = np.ones(4, np.float32)
    columns, offsets = [0, 2, 1, 2], [0, 2, 4]
    for wrong in (3, 100_000_000, -1, 2**33 + 1):
        yield data, np.array([0, 2, 1, wrong]), np.array(offsets)
    yield data, np.array([2, 0, 2, 1]), np.array([0, 4, 1])  # rows that overlap, with columns that SciPy would sort
    for wrong in ([0, 2, 5], [0, 9, 4], [-1, 2, 4], [0, 2, 2**40], [0, 3, 2], [2, 0, 4]):
        yield data, np.array(columns), np.array(wrong)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("case", range(11))
def test_a_sparse_matrix_that_is_not_sound_is_refused(case, index):
    """Its columns and offsets went to the library as they are: a column of 10^8 ended the interpreter."""
    data, columns, offsets = list(unsound_matrices())[case]
    if index is np.int32 and max(columns.max(), offsets.max()) >= 2**31:
        pytest.skip("such a number does not fit")
    sound = scipy.sparse.csr_matrix(np.array([[1, 0, 1], [0, 1, 1]], np.float32))
    X = sound.copy()
    X.data, X.indices, X.indptr = data, columns.astype(index), offsets.astype(index)
    learned = unconfuse.PerceptronClassifier().fit(sound, ["a", "b"])
    with pytest.raises(ValueError, match="not a sound CSR matrix"):
        learned.predict(X)
    with pytest.raises(ValueError, match="not a sound CSR matrix"):
        unconfuse.LogisticClassifier().fit(X, ["a", "b"])


def test_columns_that_are_said_to_ascend_and_do_not_are_refused():
    X = scipy.sparse.csr_matrix(np.array([[1, 0, 1], [0, 1, 1]], np.float32))
    learned = unconfuse.PerceptronClassifier().fit(X, ["a", "b"])
    X.indices[:2] = X.indices[1::-1]
    X.has_canonical_format = X.has_sorted_indices = True
    with pytest.raises(ValueError, match="do not ascend"):
        learned.predict(X)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("row", [0, 2500, 4999])
def test_an_unsound_row_is_found_in_every_block_of_rows(row, n_jobs):
    """Rows are checked block by block, right before they are scored; NaN in an earlier row matters less."""
    sound = scipy.sparse.csr_matrix(np.tile(np.array([[1, 2, 1], [3, 1, 1]], np.float32), (2500, 1)))
    learned = unconfuse.PerceptronClassifier(n_jobs=n_jobs).fit(sound, ["a", "b"] * 2500)
    for column, sentence in (10**8, "an entry in column 100000000"), (0, "their columns do not ascend"):
        X = sound.copy()
        X.has_canonical_format = X.has_sorted_indices = True
        X.indices[3 * row + 2] = column
        X.data[0] = np.nan
        with pytest.raises(ValueError, match=sentence):
            learned.predict(X)
        with pytest.raises(ValueError, match=sentence):
            learned.decision_function(X)
    X = sound.copy()
    X.data[3 * row] = np.inf
    with pytest.raises(ValueError, match=f"row {row + 1} has no finite scores: it holds NaN or infinity"):
        learned.predict(X)
