"""Scores of classifiers on labels that are noisy themselves, for GridSearchCV, cross_val_score and their like.

    T    noise matrix of the held-out labels       C    noise matrix that an estimator was trained with
    l    noisy label of a held-out row x           k    class predicted for x

Accuracy on noisy labels prefers a model that repeats the noise. Two scores do not:

    noise_aware_accuracy(T)     mean of T^-1[k, l], which is the accuracy on true labels on average over the noise
    noisy_log_likelihood        mean of log sum_q C[l, q] P(true class q | x)

In the first the matrix is part of the score and the same for all candidates: if each were scored by a matrix of its own, one
that claims more noise would be forgiven more errors. In the second each candidate may use its own, because what is scored is
its prediction of labels that it has not seen, and no claim of its own makes those more probable than they are."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from ._labels import Classes
from ._noise import inverse_of


@dataclass(frozen=True)
class _NoiseAwareAccuracy:
    """A scorer that pickles, so that searches can use several processes."""

    inverse: np.ndarray

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        classes = _classes_of(estimator)
        if len(classes) != len(self.inverse):
            raise ValueError(f"the noise matrix of the score has {len(self.inverse)} classes, the estimator {len(classes)}")
        predicted, observed = _places(classes, estimator.predict(X)), _places(classes, y)
        check_consistent_length(predicted, observed)
        return float(self.inverse[predicted, observed].mean())


def noise_aware_accuracy(noise_matrix: ArrayLike) -> Callable[[Any, Any, Any], float]:
    """A scorer: the accuracy that predictions would have on true labels, from labels with this noise.

    noise_matrix[p, q] is the probability that an example of class q is labelled p, classes in sorted order: the noise of
    the held-out labels, known or estimated once. Candidates of a search may have other matrices; those are not used.

    The score is right on average, not for every set of rows: it may be a little above 1 or below 0, and the closer the matrix
    is to one without an inverse, the more rows it needs.
    `unconfuse evaluate --noise-matrix` reports the same figure.

    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> y = np.repeat([0, 1], [750, 250])
    >>> noise = [[0.9, 0.3], [0.1, 0.7]]
    >>> noisy = np.repeat([0, 1, 0, 1], [675, 75, 75, 175])
    >>> always_0 = DummyClassifier().fit(y[:, None], noisy)
    >>> round(always_0.score(y[:, None], y), 6), round(noise_aware_accuracy(noise)(always_0, y[:, None], noisy), 6)
    (0.75, 0.75)
    """
    return _NoiseAwareAccuracy(inverse_of(noise_matrix))


def noisy_log_likelihood(estimator: Any, X: Any, y: Any) -> float:
    """A scorer: the mean log-likelihood of noisy labels, by the probabilities of the true class and the estimator's own noise.

    It is for estimators with predict_proba; one without `noise_matrix_`, or with None, takes the labels as they are. For a
    pipeline the noise is that of its last step. Because the labels are held out, a matrix that claims too much noise, or too
    little, predicts them worse. It cannot choose between a matrix and a model that is flexible enough to learn the noise
    itself: both predict noisy labels equally well.
    """
    classes = _classes_of(estimator)
    probabilities = np.asarray(estimator.predict_proba(X), float)
    observed = _places(classes, y)
    check_consistent_length(probabilities, observed)
    noise = getattr(_last_step(estimator), "noise_matrix_", None)
    if noise is not None:
        probabilities = probabilities @ np.asarray(noise).T
    found = probabilities[np.arange(len(observed)), observed]
    return float(np.log(np.maximum(found, np.finfo(float).eps)).mean())


def _classes_of(estimator: Any) -> Classes:
    return Classes(np.asarray(estimator.classes_))


def _places(classes: Classes, labels: Any) -> np.ndarray:
    """Where each label is among `classes.values`."""
    return classes.order[classes.encode(labels)]


def _last_step(estimator: Any) -> Any:
    """Of a pipeline, or of what a search found best."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator
