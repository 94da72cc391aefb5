"""Data frames and Arrow tables: the encoder as a transformer, inside every estimator, and against scikit-learn's own."""
import copy
import ctypes
import pickle
import random

import numpy as np
import pytest
import scipy.sparse
from conftest import CLASSIFIERS
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

import unconfuse
from unconfuse import TableEncoder
from unconfuse._arrow import _Array, _Schema, _Stream

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore:no noise matrix was given", "ignore:no noise rates given",
                                        "ignore:.*not converged")


def frame(rows=120, seed=1, text=True):
    draw = random.Random(seed)
    table = {"customer_id": [f"C-{seed}-{i}" for i in range(rows)],
             "income": [None if draw.random() < 0.1 else round(draw.gauss(3000, 900), 2) for _ in range(rows)],
             "age": [draw.randrange(18, 90) for _ in range(rows)],
             "colour": [draw.choice(["red", "green", "blue", None]) for _ in range(rows)],
             "member": [draw.random() < 0.5 for _ in range(rows)],
             "since": [f"20{draw.randrange(10, 24)}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 28):02d}"
                       for _ in range(rows)]}
    if text:
        table["comment"] = [" ".join(draw.choices("good bad late broken fast nice, refund".split(), k=5)) for _ in range(rows)]
    outcome = ["keep" if (income or 3000) + 900 * member > 3300 else "churn"
               for income, member in zip(table["income"], table["member"])]
    return pandas.DataFrame(table), pandas.Series(outcome, name="outcome")


# ---- the transformer ----


def test_numbers_and_categories_are_those_of_scikit_learn():
    X, _ = frame(text=False)
    encoder = TableEncoder()
    rows = encoder.fit_transform(X)
    names = list(encoder.get_feature_names_out())
    assert rows.dtype == np.float32 and rows.shape == (len(X), len(names))
    imputed = SimpleImputer(strategy="median", add_indicator=True).fit_transform(X[["income"]])
    assert (rows[:, [names.index("income"), names.index("income is missing")]] == imputed.astype(np.float32)).all()
    colours = OneHotEncoder(sparse_output=False).fit(X[["colour"]].dropna())
    known = [names.index(f"colour={value}") for value in colours.categories_[0]]
    there = X.colour.notna().to_numpy()
    assert (rows[there][:, known] == colours.transform(X[["colour"]][there])).all()
    assert (rows[~there][:, known] == 0).all() and (rows[:, names.index("colour is missing")] == ~there).all()
    assert (rows[:, names.index("member")] == X.member).all() and (rows[:, names.index("age")] == X.age).all()
    since = pandas.to_datetime(X.since)
    assert (rows[:, names.index("since days")] == (since - pandas.Timestamp(0)).dt.days).all()
    assert (rows[:, names.index("since weekday")] == since.dt.weekday).all()
    assert encoder.columns_ == {"customer_id": "id", "income": "number", "age": "number", "colour": "category",
                                "member": "boolean", "since": "date"}


def test_words_are_those_of_scikit_learn():
    """Each word is a slot: columns of equal counts are matched by their values."""
    texts = ["good day", "good good night", "a night out", "late again today", "day and night"] * 5
    X = pandas.DataFrame({"t": [f"{text} no{i}" for i, text in enumerate(texts)]})
    rows = TableEncoder().fit_transform(X)
    assert scipy.sparse.issparse(rows)
    vocabulary, counts = {}, []
    for text in X.t:
        words = text.lower().split()
        found = {}
        for word in words + [f"{a} {b}" for a, b in zip(words, words[1:])]:
            found[word] = found.get(word, 0) + 1
        counts.append({vocabulary.setdefault(word, len(vocabulary)): count for word, count in found.items()})
    table = np.zeros((len(X), len(vocabulary)))
    for i, found in enumerate(counts):
        table[i, list(found)] = list(found.values())
    expected = TfidfTransformer(norm=None, sublinear_tf=True, smooth_idf=True).fit_transform(table)
    expected = expected[:, (table > 0).sum(axis=0) >= 2]  # what one row alone has is left out
    assert rows.shape == expected.shape
    for i in range(len(X)):
        assert np.allclose(np.sort(rows[i].data), np.sort(expected[i].data), rtol=1e-6)


def test_later_rows_become_the_same_features():
    X, y = frame()
    encoder = TableEncoder().fit(X, y)
    later = X[X.columns[::-1]].assign(colour="purple", extra=1).head(7)
    rows = encoder.transform(later)
    names = list(encoder.get_feature_names_out())
    assert (rows[:, names.index("colour=other")].toarray() == 1).all()
    assert encoder.transform(X).shape[1] == len(names) == encoder.n_features_out_
    for other in (pickle.loads(pickle.dumps(encoder)), copy.deepcopy(encoder)):
        assert (other.transform(X) != encoder.transform(X)).nnz == 0 and other.columns_ == encoder.columns_
    with pytest.raises(ValueError, match="there is no column 'age', which the model was trained on"):
        encoder.transform(X.drop(columns="age"))
    with pytest.raises(TypeError, match="ndarray has no named columns"):
        encoder.transform(np.zeros((2, 3)))


def test_parameters_decide():
    X, _ = frame(text=False)
    assert TableEncoder(columns={"age": "category"}, drop=["since"]).fit(X).columns_["age"] == "category"
    assert TableEncoder(drop=["since"]).fit(X).columns_["since"] == "drop"
    odd = X.assign(age=["unknown"] + X.age.astype(str).tolist()[1:])
    with pytest.raises(ValueError, match="'unknown' is not a number, but 119 of 120 values are numbers"):
        TableEncoder(max_categories=10).fit(odd)
    assert TableEncoder(missing_values=["unknown"]).fit(odd).columns_["age"] == "number"
    numbered = X.rename(columns={name: i for i, name in enumerate(X.columns)})
    assert list(TableEncoder().fit(numbered).columns_) == [str(i) for i in range(len(X.columns))]


# ---- estimators ----


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_every_estimator_takes_a_table(cls):
    X, y = frame(60)
    estimator = cls().fit(X, y)
    predicted = estimator.predict(X[X.columns[::-1]])
    assert set(predicted) <= {"keep", "churn"}
    assert (pickle.loads(pickle.dumps(estimator)).predict(X) == predicted).all()


@pytest.mark.parametrize("learner", ["LogisticClassifier", "CSPAPlusClassifier", "UMAClassifier"])
@pytest.mark.parametrize("text", [False, True])
def test_the_model_is_that_of_the_command_line(program, tmp_path, learner, text):
    X, y = frame(text=text)
    X.assign(outcome=y).to_csv(tmp_path / "t.csv", index=False)
    program("train", getattr(unconfuse, learner)._learner, "t.csv", "-q", "-o", "cli.uc")
    estimator = getattr(unconfuse, learner)().fit(X, y)
    unconfuse.save(estimator, tmp_path / "python.uc")
    assert (tmp_path / "python.uc").read_bytes() == (tmp_path / "cli.uc").read_bytes()
    lines = program("predict", "cli.uc", "t.csv").split("\n")[1:-1]
    assert [line.split(",")[1] for line in lines] == estimator.predict(X).tolist()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("learner", ["AutoClassifier", "LogisticClassifier"])
def test_a_saved_model_takes_the_table_that_it_was_fitted_on(tmp_path, learner):
    X, y = frame()
    fitted = getattr(unconfuse, learner)().fit(X, y)
    unconfuse.save(fitted, tmp_path / "m.uc")
    loaded = unconfuse.load(tmp_path / "m.uc")
    assert set(loaded.feature_names_in_) == set(fitted.feature_names_in_) == set(X.columns)
    assert loaded.n_features_in_ == fitted.n_features_in_ == len(X.columns)
    expected = fitted.predict(X)
    for table in (X, X[X.columns[::-1]], X.assign(outcome=y, more=1), Batch(arrow(X), [(0, 60), (60, 120)])):
        assert (loaded.predict(table) == expected).all()
    assert (loaded.predict(fitted._encoder.transform(X)) == expected).all()
    for estimator in (fitted, loaded, pickle.loads(pickle.dumps(loaded))):
        with pytest.raises(ValueError, match="there is no column 'age', which the model was trained on"):
            estimator.predict(X.drop(columns="age"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("decimal", [".", ","])
def test_a_model_of_the_command_line_takes_tables(program, tmp_path, decimal):
    """Also one that was trained on numbers with a comma: those of a data frame have none."""
    X, y = frame()
    X.assign(outcome=y).to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=decimal)
    program("train", "logistic", "t.csv", "--decimal", decimal, "-q", "-o", "m.uc")
    expected = [line.split(",")[1] for line in program("predict", "m.uc", "t.csv").split("\n")[1:-1]]
    loaded = unconfuse.load(tmp_path / "m.uc")
    assert set(loaded.feature_names_in_) == set(X.columns)
    assert loaded.predict(X[X.columns[::-1]]).tolist() == expected
    assert loaded.predict(Batch(arrow(X), [(0, 120)])).tolist() == expected


def test_a_model_of_numbers_finds_its_columns_by_name(program, tmp_path):
    X, y = frame()
    X = X[["income", "age"]].fillna(0)
    X.assign(outcome=y).to_csv(tmp_path / "t.csv", index=False)
    program("train", "logistic", "t.csv", "-q", "-o", "m.uc")
    loaded = unconfuse.load(tmp_path / "m.uc")
    assert list(loaded.feature_names_in_) == ["income", "age"] and loaded.n_features_in_ == 2
    assert (loaded.predict(X[["age", "income"]]) == loaded.predict(X)).all()
    assert (loaded.predict(X.to_numpy()) == loaded.predict(X)).all()


def test_one_class_is_of_y_and_not_of_a_column():
    X, _ = frame()
    with pytest.raises(ValueError, match="^only one class, 'a', where two are needed$"):
        unconfuse.AutoClassifier().fit(X, ["a"] * len(X))


def test_numbers_after_a_table_are_numbers_again():
    X, y = frame(60)
    estimator = unconfuse.LogisticClassifier().fit(X, y).fit(X[["age"]], y)
    assert not hasattr(estimator, "_encoder") and estimator.n_features_in_ == 1


# ---- Arrow, without a library ----


class Batch:
    """Columns as a stream of the C data interface: what polars and pyarrow hand out, made by hand."""

    def __init__(self, columns, lengths):
        self.columns, self.lengths, self.kept, self.released = columns, list(lengths), [], 0

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def schema(self, into, name, kind, children=(), dictionary=None):
        into.format, into.name = kind.encode(), name.encode()
        into.n_children = len(children)
        into.children = self.keep((ctypes.POINTER(_Schema) * max(len(children), 1))(*map(ctypes.pointer, children)))
        if dictionary is not None:
            into.dictionary = ctypes.pointer(dictionary)
        into.release = self.keep(_Schema._fields_[7][1](self.release_schema))
        return self.keep(into)

    def release_schema(self, schema):
        schema.contents.release = _Schema._fields_[7][1]()

    def release_array(self, array):
        self.released += 1
        array.contents.release = _Array._fields_[8][1]()

    def array(self, into, length, buffers, children=(), dictionary=None, offset=0):
        into.length, into.offset, into.null_count = length, offset, -1
        into.n_buffers, into.n_children = len(buffers), len(children)
        addresses = [None if b is None else self.keep(np.ascontiguousarray(b)).ctypes.data for b in buffers]
        into.buffers = self.keep((ctypes.c_void_p * max(len(buffers), 1))(*addresses))
        into.children = self.keep((ctypes.POINTER(_Array) * max(len(children), 1))(*map(ctypes.pointer, children)))
        if dictionary is not None:
            into.dictionary = ctypes.pointer(dictionary)
        into.release = self.keep(_Array._fields_[8][1](self.release_array))
        return self.keep(into)

    def get_schema(self, stream, out):
        fields = []
        for name, (kind, _, words) in self.columns.items():
            dictionary = None if words is None else self.schema(_Schema(), "", "u")
            fields.append(self.schema(_Schema(), name, kind, dictionary=dictionary))
        self.schema(out.contents, "", "+s", fields)
        return 0

    def get_next(self, stream, out):
        if not self.lengths:
            out.contents.release = _Array._fields_[8][1]()
            return 0
        first, last = self.lengths.pop(0)
        children = []
        for _kind, buffers, words in self.columns.values():
            dictionary = None if words is None else self.array(_Array(), len(words), strings(words))
            children.append(self.array(_Array(), last - first, buffers, dictionary=dictionary, offset=first))
        self.array(out.contents, last - first, [None], children)
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        kinds = [field[1] for field in _Stream._fields_]
        stream = self.keep(_Stream(kinds[0](self.get_schema), kinds[1](self.get_next), kinds[2](lambda _: None),
                                   kinds[3](lambda _: None), None))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(stream), self.keep(b"arrow_array_stream"), None)


def bits(values):
    return np.packbits(np.array(values, bool), bitorder="little")


def strings(values):
    data = [(value or "").encode() for value in values]
    offsets = np.cumsum([0, *map(len, data)]).astype(np.int32)
    there = bits([value is not None for value in values])
    return [there, offsets, np.frombuffer(b"".join(data) or b" ", np.uint8)]


def arrow(X):
    """The frame's columns in Arrow's layout."""
    income, colour = X.income.to_numpy(float), X.colour.tolist()
    words = ["blue", "green", "red"]
    codes = np.array([words.index(c) if c else 0 for c in colour], np.int8)
    days = (pandas.to_datetime(X.since) - pandas.Timestamp(0)).dt.days.to_numpy(np.int32)
    return {"customer_id": ("u", strings(X.customer_id.tolist()), None),
            "income": ("g", [bits(~np.isnan(income)), income], None),
            "age": ("l", [None, X.age.to_numpy(np.int64)], None),
            "colour": ("c", [bits([c is not None for c in colour]), codes], words),
            "member": ("b", [None, bits(X.member.to_numpy())], None),
            "since": ("tdD", [None, days], None),
            "comment": ("u", strings(X.comment.tolist()), None)}


def test_arrow_tables_are_read_without_a_library():
    """In one batch and in several, with offsets: the rows of the data frame."""
    X, _ = frame()
    encoder = TableEncoder()
    expected = encoder.fit_transform(X)
    for lengths in ([(0, 120)], [(0, 50), (50, 51), (51, 120)]):
        table = Batch(arrow(X), lengths)
        other = TableEncoder()
        assert (other.fit_transform(table) != expected).nnz == 0
        assert table.released == len(lengths)
        assert list(other.get_feature_names_out()) == list(encoder.get_feature_names_out())
    assert (encoder.transform(Batch(arrow(X), [(0, 120)])) != expected).nnz == 0
    table = arrow(X)
    table["odd"] = ("+l", [None, np.zeros(121, np.int32)], None)
    with pytest.raises(ValueError, match="column 'odd' has Arrow's type '\\+l'"):
        encoder.transform(Batch(table, [(0, 120)]))


def test_estimators_take_arrow_tables():
    X, y = frame()
    estimator = unconfuse.LogisticClassifier().fit(Batch(arrow(X), [(0, 120)]), y)
    assert (estimator.predict(Batch(arrow(X), [(0, 60), (60, 120)])) == unconfuse.LogisticClassifier().fit(X, y).predict(X)).all()
