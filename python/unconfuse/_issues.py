"""Which labels are wrong, by the probabilities of any model: the functions of cleanlab's names and meaning.

Probabilities must be out of fold: of a model that has not seen the label it is asked about."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._library import Work, copied, doubles, labels_buffer
from ._unconfuse import ffi, lib

SCORES = ("self_confidence", "normalized_margin", "confidence_weighted_entropy", "posterior")
FILTERS = ("prune_by_noise_rate", "prune_by_class", "both", "confident_learning", "predicted_neq_given",
           "low_self_confidence", "low_normalized_margin", "posterior")
# cleanlab's further arguments, of which none has a meaning here; those of the second line change what cleanlab finds.
HARMLESS = ("multi_label", "rank_by_kwargs", "verbose", "low_memory")
IGNORED = ("frac_noise", "num_to_remove_per_class", "min_examples_per_class", "confident_joint")


def _checked(labels: ArrayLike, pred_probs: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    given = np.asarray(labels)
    probabilities = np.ascontiguousarray(pred_probs, dtype=np.float64)
    if probabilities.ndim != 2:
        raise ValueError(f"pred_probs must have a row per example and a column per class, but its shape is {probabilities.shape}")
    if given.shape != (len(probabilities),):
        raise ValueError(f"labels must have one entry for each of the {len(probabilities)} rows of pred_probs, but its shape "
                         f"is {given.shape}")
    if given.dtype.kind not in "iu":
        whole = given.astype(np.int64) if given.dtype.kind == "f" else None
        if whole is None or not np.array_equal(whole, given):
            raise ValueError("labels must be integers: the columns of pred_probs, from 0")
        given = whole
    if len(given) and (given.min() < 0 or given.max() >= probabilities.shape[1]):
        raise ValueError(f"labels must be from 0 to {probabilities.shape[1] - 1}, the columns of pred_probs")
    return given.astype(np.uint32), probabilities


def _audited(labels: np.ndarray, probabilities: np.ndarray, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The probability that each label is wrong, and the most probable true class of each row."""
    found = ffi.gc(ffi.new("uc_probability_audit *"), lib.uc_probability_audit_free)
    with Work(n_jobs) as work:
        work.check(lib.uc_probability_audit_matrix(found, doubles(probabilities), *probabilities.shape, labels_buffer(labels),
                                                   work.context))
    return (copied(found.wrong, (len(labels),)),
            copied(found.most_probable, (len(labels),), "uint32_t", np.uint32).astype(np.intp))


def _adjusted(labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Without what the model gives a class on average where it is the label; at least 0, and rows sum to 1."""
    own = probabilities[np.arange(len(labels)), labels]
    mean = np.array([own[labels == k].mean() if (labels == k).any() else 1.0 for k in range(probabilities.shape[1])])
    shifted = probabilities - mean + mean.max()
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def get_label_quality_scores(labels: ArrayLike, pred_probs: ArrayLike, *, method: str = "self_confidence",
                             adjust_pred_probs: bool = False, n_jobs: int | None = None) -> np.ndarray:
    """How good each label is, from 0 to 1; the lower, the more probably it is wrong.

    method: self_confidence is the probability of the given label; normalized_margin compares it with the most probable other
    class; confidence_weighted_entropy divides the entropy of the probabilities by it; posterior is the probability that the
    label is right, given also how classes are confused and how sure the model may be (what find_label_issues goes by).
    adjust_pred_probs takes from each class what the model gives it on average where it is the label, for classes of unequal
    size."""
    if method not in SCORES:
        raise ValueError(f"method={method!r}: it must be one of {', '.join(SCORES)}")
    given, probabilities = _checked(labels, pred_probs)
    if adjust_pred_probs:
        if method == "confidence_weighted_entropy":
            raise ValueError("adjust_pred_probs does not go with method='confidence_weighted_entropy'")
        probabilities = _adjusted(given, probabilities)
    own = probabilities[np.arange(len(given)), given]
    if method == "self_confidence":
        return own
    if method == "posterior":
        return 1.0 - _audited(given, probabilities, n_jobs)[0]
    if method == "normalized_margin":
        others = probabilities.copy()
        others[np.arange(len(given)), given] = -np.inf
        return (own - others.max(axis=1) + 1.0) / 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(probabilities > 0, probabilities * np.log(probabilities), 0.0).sum(axis=1)
        ratio = entropy / np.log(probabilities.shape[1]) / np.clip(own, 1e-6, None)
    return np.where(ratio > 0, np.log1p(ratio) / np.where(ratio > 0, ratio, 1.0), 1.0)


def find_label_issues(labels: ArrayLike, pred_probs: ArrayLike, *, return_indices_ranked_by: str | None = None,
                      filter_by: str = "posterior", n_jobs: int | None = None, **unused: Any) -> np.ndarray:
    """Which labels are probably wrong: True for these, or with return_indices_ranked_by (a method of
    get_label_quality_scores) their positions, the worst first.

    Flagged are the most suspicious labels with the largest expected F1, by the posterior of the true class. filter_by takes
    cleanlab's names; predicted_neq_given flags where the most probable class of pred_probs is another one, and all others
    mean the posterior. Further arguments of cleanlab's have no effect, with a warning where they would change what cleanlab
    finds; multi_label=True is refused."""
    for name in unused:
        if name not in HARMLESS + IGNORED:
            raise TypeError(f"find_label_issues() got an unexpected keyword argument {name!r}")
        if name in IGNORED and unused[name] is not None:
            warnings.warn(f"{name} has no effect: the labels flagged are those with the largest expected F1", stacklevel=2)
    if unused.get("multi_label"):
        raise ValueError("multi_label=True: an example must have one label here")
    if filter_by not in FILTERS:
        raise ValueError(f"filter_by={filter_by!r}: it must be one of {', '.join(FILTERS)}")
    given, probabilities = _checked(labels, pred_probs)
    if filter_by == "predicted_neq_given":
        issues = probabilities.argmax(axis=1) != given
    else:
        wrong = np.ascontiguousarray(_audited(given, probabilities, n_jobs)[0])
        order = np.argsort(-wrong, kind="stable")
        sorted_wrong = np.ascontiguousarray(wrong[order])
        issues = np.zeros(len(given), bool)
        issues[order[:lib.uc_flag_most(doubles(sorted_wrong), len(wrong), float(wrong.sum()))]] = True
    if return_indices_ranked_by is None:
        return issues
    scores = get_label_quality_scores(labels, pred_probs, method=return_indices_ranked_by, n_jobs=n_jobs)
    positions = np.flatnonzero(issues)
    return positions[np.argsort(scores[positions], kind="stable")]
