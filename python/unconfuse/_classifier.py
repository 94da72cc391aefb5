"""What all classifiers share: parameters to settings, data to the library, models to predictions."""
from __future__ import annotations

import copy
from typing import Any, Literal, TypeVar, Union

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._labels import Classes, encode_with_unlabelled, is_marked, labels_of, refuse_missing, unmixed
from ._library import Work, check, doubles, names_list
from ._model import Learned, Model, find_learner
from ._noise import checked_noise
from ._sklearn import Tagged, validated
from ._training import Counted, Data, Settings, remember
from ._unconfuse import ffi, lib

RandomState = Union[int, np.random.RandomState, None]
NoiseMatrix = Union[ArrayLike, Literal["estimate"], None]
Self = TypeVar("Self", bound="Classifier")


class Classifier(Tagged, ClassifierMixin, BaseEstimator):
    """A learner of the library as an estimator of scikit-learn. Its subclasses are generated."""

    _learner: str
    _learned: Learned
    classes_: np.ndarray
    n_features_in_: int
    n_iter_: int
    noise_matrix_: np.ndarray | None  # of learners that have the parameter

    # ---- learning ----

    def fit(self: Self, X: Any, y: Any, sample_weight: ArrayLike | None = None, soft_labels: ArrayLike | None = None) -> Self:
        """Learns from rows X, dense or sparse, and labels y, numbers or strings; returns self.

        A row counts sample_weight times; one of weight 0 is left out. soft_labels[i, k] is the probability that row i is of
        class k, in the order of classes_; it is used instead of y, whose labels say which classes there are. Learners that
        see one example after the other refuse it.
        """
        return self._fit(X, y, sample_weight=sample_weight, soft_labels=soft_labels)

    def _fit(self: Self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, soft_labels: Any = None) -> Self:
        seen = copy.copy(self)
        rows = Counted(sample_weight, soft_labels)
        X, codes, classes = seen._validated(X, y, rows)
        if len(classes) > 2 and self._is_binary_only():  # in the words that scikit-learn's checks look for
            raise ValueError(f"Only binary classification is supported: {type(self).__name__} is for two classes, but there "
                             f"are {len(classes)}; use LogisticClassifier or UMAClassifier with a noise_matrix")
        if groups is not None:
            groups = rows.kept(groups)
            check_consistent_length(X, groups)
        codes = rows.harden(codes, classes)
        settings = Settings(self._learner, self.get_params(deep=False))
        settings.train.keep_state = 1  # partial_fit goes on from there
        data = Data(X, codes, classes, groups, rows.weights, rows.soft)
        out = ffi.new("uc_model **")
        with Work(self.n_jobs) as work:
            classes = self._tell_labels(settings, data, classes, work)
            work.check(lib.uc_dataset_check_classes(data.pointer))  # before there are columns, none of which has the labels
            data.tell_columns(vars(seen).get("_encoder"))
            settings.weigh(getattr(self, "class_weight", None), classes)
            status = lib.uc_tune_and_train(out, settings.learner, settings.own, settings.train, data.pointer,
                                             work.context)
            model = Model(out[0])
            work.check(status)
        self._adopt(model, classes, seen)
        return self

    def _validated(self, X: Any, y: Any, rows: Counted) -> tuple[Any, np.ndarray, Classes]:
        """Rows as the library wants them, codes of the labels, and the classes; without rows of weight 0."""
        if y is None or not self._may_lack_labels():
            X, y = rows.keep(*validated(self, X, y))
            refuse_missing(y)
            check_classification_targets(y)
            classes = Classes(np.unique(y))
            return X, classes.encode(y), classes
        X = validated(self, X)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        X, y = rows.keep(X, y)
        marked = is_marked(y, self.unlabelled)
        labelled = unmixed(y[~marked])
        if len(labelled):
            refuse_missing(labelled)
            check_classification_targets(labelled)
        classes, codes = encode_with_unlabelled(labelled, marked)
        return X, codes, classes

    def _may_lack_labels(self) -> bool:
        learner = find_learner(self._learner)
        return bool(lib.uc_learner_uses_unlabelled(learner)) or bool(getattr(self, "positive_unlabelled", False))

    def _tell_labels(self, settings: Settings, data: Data, classes: Classes, work: Work) -> Classes:
        """What the labels mean: positives among unlabelled examples, bags, noise. As `unconfuse train` does."""
        positive, free = 1, lib.UC_RATES_BOTH
        if hasattr(self, "positive"):
            classes, positive, free = self._meaning_of_labels(data, classes)
            if len(classes) == 2:
                settings.tell_positive(names_list(data.pointer.classes)[positive])
        if hasattr(self, "noise_matrix"):
            self._tell_noise(settings, data, classes, positive, free, work)
        return classes

    def _meaning_of_labels(self, data: Data, classes: Classes) -> tuple[Classes, int, int]:
        """The classes, the place of the positive one, and which rates are left to be estimated."""
        unlabelled = bool(lib.uc_learner_is_positive_unlabelled(find_learner(self._learner))) or self.positive_unlabelled
        bags = getattr(self, "bags", False)
        if unlabelled and bags:
            raise ValueError("give only one of positive_unlabelled and bags")
        if self.positive is not None and self.positive not in classes.values.tolist():
            raise ValueError(f"positive={self.positive!r}: no example is labelled so")
        positive = 1 if self.positive is None else int(classes.encode([self.positive])[0])
        if unlabelled:
            self._refuse_one_class(data, classes)
            index = ffi.new("uint32_t *")
            named = ffi.NULL if self.positive is None else data.pointer.classes.text[positive]
            check(lib.uc_dataset_positive_unlabelled(index, data.pointer, named, ffi.NULL))
            return self._classes_with_others(data, classes), index[0], lib.UC_RATES_POSITIVE_ONLY
        if not bags:
            return classes, positive, lib.UC_RATES_BOTH
        check(lib.uc_dataset_check_bags(data.pointer, ffi.NULL))
        return classes, positive, lib.UC_RATES_NEGATIVE_ONLY

    @staticmethod
    def _refuse_one_class(data: Data, classes: Classes) -> None:
        """In the words that scikit-learn's checks look for."""
        codes = np.frombuffer(ffi.buffer(data.pointer.y, 4 * data.pointer.X.rows), np.uint32)
        if len(classes) == 1 and (codes == 0).all():
            raise ValueError(f"every example is of one class, {classes.values[0]}: unlabelled ones are needed too")

    @staticmethod
    def _classes_with_others(data: Data, classes: Classes) -> Classes:
        """The library names the class that no label names."""
        names = names_list(data.pointer.classes)
        if len(names) == len(classes):
            return classes
        if classes.values.dtype.kind == "U":
            return Classes(np.sort(names))
        labels = labels_of(names)
        if labels.dtype.kind == "U":
            raise ValueError(f"there is no number for what is not {classes.values[0]}: call the positive class 1, "
                             "or label some of the others")
        return Classes(np.sort(labels.astype(np.result_type(labels, classes.values))))

    def _tell_noise(self, settings: Settings, data: Data, classes: Classes, positive: int, free: int,
                    work: Work) -> None:
        """The noise that is given, or estimated from the data."""
        given = self.noise_matrix
        estimated = isinstance(given, str)
        if estimated and given != "estimate":
            raise ValueError(f"noise_matrix={given!r}: it must be a matrix, 'estimate' or None")
        by_rates = bool(lib.uc_learner_uses_rates(settings.learner))
        if given is None and (free == lib.UC_RATES_BOTH or not by_rates):
            return
        if len(classes) < 2:
            return  # which the library refuses
        if given is not None and not estimated:
            settings.tell_noise(checked_noise(given, classes))
            return
        noise = ffi.gc(ffi.new("uc_noise *"), lib.uc_noise_free)
        if by_rates:
            work.check(lib.uc_noise_rates_from_data(noise, ffi.NULL, ffi.cast("uc_svm_settings *", settings.own),
                                                    settings.train, data.pointer, positive, free, work.context))
        else:
            work.check(lib.uc_noise_estimate_self(noise, data.pointer, settings.train, work.context))
        settings.tell_noise(noise)

    def _adopt(self, model: Model, classes: Classes, seen: Classifier) -> None:
        """The attributes of what was learned from the rows that `seen` was shown."""
        described = model.describe()
        is_plain = described["map"] == "none" and "views" not in described and described["steps"]["scale"] == "none"
        found: dict[str, Any] = {"_learned": Learned(model, classes, int(lib.uc_model_features(model.pointer)), is_plain),
                                 "classes_": classes.values, "n_iter_": int(described.get("iterations", 1))}
        if "prior" in described:
            found["prior_"] = described["prior"]
        if "prior_low" in described:
            found["prior_interval_"] = (described["prior_low"], described["prior_high"])
        if hasattr(self, "noise_matrix"):
            noise = model.noise()
            found["noise_matrix_"] = None if noise is None else classes.matrix_from_library(noise)
        remember(self, seen, **found)

    def _checks_that_fail(self) -> dict[str, str]:
        if self._learner != "uma":
            return {}
        return {"check_class_weight_classifiers": "it wants nearly all rows in the heavy one of two classes that overlap, "
                                                  "which takes an offset, and uma has none at its defaults"}

    # ---- using what was learned ----

    def _known(self) -> Learned:
        """To be read once by a function: another thread may replace it."""
        check_is_fitted(self, "classes_")
        return self._learned

    def _rows(self, X: Any, learned: Learned) -> Any:
        """Rows of a fitted estimator. Those that are as the library wants them are not looked at one value after the other:
        the library refuses what is not finite, unless scaling or a map hides it."""
        fast = self._fast_rows(X, learned) if learned.is_plain else None
        return self._checked_rows(X, learned) if fast is None else fast

    def _fast_rows(self, X: Any, learned: Learned) -> Any:
        """Rows that are as they should be but for their values, which nobody has looked at; None: they are not."""
        if "feature_names_in_" in self.__dict__ and "_encoder" not in self.__dict__:  # they may be in another order, or missing
            return None
        if X.__class__ is np.ndarray:
            if X.ndim == 2 and X.dtype.char in "fd" and X.shape[1] == learned.n_features and len(X):
                return np.ascontiguousarray(X, np.float32)
        elif scipy.sparse.isspmatrix_csr(X) and X.dtype == np.float32 and X.shape[1] == learned.n_features and X.shape[0]:
            return X
        return None

    def _checked_rows(self, X: Any, learned: Learned) -> Any:
        X = validated(self, X, reset=False)
        if X.shape[1] != learned.n_features:  # another thread has replaced what was learned
            raise ValueError(f"X has {X.shape[1]} features, but the model has {learned.n_features}")
        return X

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        learned = self._known()
        return learned.classes.decode(learned.model().predict(self._rows(X, learned), self.n_jobs))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores, one column per class; for two classes, the score of the later one minus that of the earlier one."""
        learned = self._known()
        scores = learned.classes.columns(learned.model().scores(self._rows(X, learned), self.n_jobs))
        return scores[:, 1] - scores[:, 0] if len(learned.classes) == 2 else scores

    def _weights(self) -> tuple[np.ndarray, np.ndarray]:
        learned = self._known()
        weights, offsets = (values[learned.classes.places] for values in learned.model().weights())
        if len(learned.classes) == 2:
            return weights[1:] - weights[:1], offsets[1:] - offsets[:1]
        return weights, offsets

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one row per class; for two classes a single row, which speaks for the later one."""
        return self._weights()[0]

    @property
    def intercept_(self) -> np.ndarray:
        """The constant that is added to each score."""
        return self._weights()[1]

    def _is_binary_only(self) -> bool:
        learner = find_learner(self._learner)
        return bool(lib.uc_learner_uses_rates(learner)) or bool(lib.uc_learner_is_positive_unlabelled(learner))


class ProbabilityClassifier(Classifier):
    """For a learner whose scores are probabilities of the true class."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability that each class is the true one (not the noisy label), one column per class."""
        learned = self._known()
        found = learned.model().scores(self._rows(X, learned), self.n_jobs, probabilities=True)
        return learned.classes.columns(found)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities."""
        return np.log(self.predict_proba(X))

    def label_is_right(self, X: Any, y: Any) -> np.ndarray:
        """The probability that each label in y is the true class, given the noise that the model was trained with. The
        lowest are the most suspicious."""
        learned = self._known()
        model = learned.model()
        found = model.scores(self._rows(X, learned), self.n_jobs, probabilities=True)
        codes = learned.classes.encode(y)
        check_consistent_length(found, codes)
        row = ffi.cast("double *", doubles(found))
        count = found.shape[1]
        return np.array([lib.uc_model_label_is_right(model.pointer, row + i * count, code)
                         for i, code in enumerate(codes.tolist())])


class BagClassifier(Classifier):
    """For a learner of labels that belong to bags of rows."""

    def fit(self: Self, X: Any, y: Any, sample_weight: ArrayLike | None = None, soft_labels: ArrayLike | None = None,
            groups: Any = None) -> Self:
        """Learns from rows X and labels y; with bags=True, groups[i] is the bag of row i. Returns self.

        A row counts sample_weight times; one of weight 0 is left out. soft_labels[i, k] is the probability that row i is of
        class k, in the order of classes_; it is used instead of y.
        """
        if groups is not None and not self.bags:
            raise ValueError("groups are the bags of bags=True")
        return self._fit(X, y, groups, sample_weight, soft_labels)
