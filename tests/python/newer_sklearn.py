"""A plugin of pytest that gives scikit-learn 1.2 the interface that 1.6 to 1.8 have for estimators of others, as far as it
concerns us: `validate_data` is a function, tags are dataclasses that `__sklearn_tags__` returns, and what was there before is
gone. Written after the documentation of those versions; it is no substitute for a run with them.

What scikit-learn 1.2 itself asks an estimator for, in its checks and searches, is answered from the new tags alone."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import sklearn.base
import sklearn.utils
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import validation

# Slots, as in the real ones: to set a tag that there is not is an error.


@dataclass(slots=True)
class InputTags:
    two_d_array: bool = True
    sparse: bool = False
    positive_only: bool = False
    allow_nan: bool = False
    pairwise: bool = False


@dataclass(slots=True)
class TargetTags:
    required: bool
    multi_output: bool = False
    single_output: bool = True


@dataclass(slots=True)
class TransformerTags:
    preserves_dtype: list[str] = field(default_factory=lambda: ["float64"])


@dataclass(slots=True)
class ClassifierTags:
    poor_score: bool = False
    multi_class: bool = True
    multi_label: bool = False


@dataclass(slots=True)
class Tags:
    estimator_type: str | None
    target_tags: TargetTags
    transformer_tags: TransformerTags | None = None
    classifier_tags: ClassifierTags | None = None
    no_validation: bool = False
    non_deterministic: bool = False
    requires_fit: bool = True
    _skip_test: bool = False
    input_tags: InputTags = field(default_factory=InputTags)


def base_tags(self):
    return Tags(None, TargetTags(False))


def classifier_tags(self):
    tags = super(ClassifierMixin, self).__sklearn_tags__()
    tags.estimator_type, tags.classifier_tags, tags.target_tags.required = "classifier", ClassifierTags(), True
    return tags


def transformer_tags(self):
    tags = super(TransformerMixin, self).__sklearn_tags__()
    tags.transformer_tags = TransformerTags()
    return tags


old_get_tags, old_validate_data = BaseEstimator._get_tags, BaseEstimator._validate_data


def is_ours(estimator):
    return any(cls.__module__.startswith("unconfuse") for cls in type(estimator).__mro__)


def tags_for_1_2(self):
    """The answer to scikit-learn 1.2, which knows nothing of the new tags."""
    if not is_ours(self):
        return old_get_tags(self)
    tags, classifier = self.__sklearn_tags__(), self.__sklearn_tags__().classifier_tags
    found = {"requires_y": tags.target_tags.required, "_skip_test": tags._skip_test, "non_deterministic": tags.non_deterministic,
             "_xfail_checks": self._checks_that_fail()}  # an argument of the checks, from 1.6
    if classifier is not None:
        found |= {"binary_only": not classifier.multi_class, "poor_score": classifier.poor_score}
    if tags.transformer_tags is not None:
        found["preserves_dtype"] = [np.dtype(name).type for name in tags.transformer_tags.preserves_dtype]
    return {**BaseEstimator._more_tags(self), **found}


def refuse_old_method(self, *arguments, **options):
    if is_ours(self):
        raise AttributeError("_validate_data is a method of scikit-learn up to 1.5")
    return old_validate_data(self, *arguments, **options)


def validate_data(_estimator, /, X="no_validation", y="no_validation", reset=True, validate_separately=False,
                  skip_check_array=False, **check_params):
    assert not skip_check_array and is_ours(_estimator)
    return old_validate_data(_estimator, X, y, reset=reset, validate_separately=validate_separately, **check_params)


BaseEstimator.__sklearn_tags__ = base_tags
ClassifierMixin.__sklearn_tags__ = classifier_tags
TransformerMixin.__sklearn_tags__ = transformer_tags
BaseEstimator._get_tags = tags_for_1_2
BaseEstimator._validate_data = refuse_old_method
validation.validate_data = validate_data
sklearn.utils.get_tags = lambda estimator: estimator.__sklearn_tags__()
