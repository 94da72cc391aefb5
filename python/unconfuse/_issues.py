"""Which labels are wrong, by the probabilities of any model: the functions of cleanlab's names and meaning.

Probabilities must be out of fold: of a model that has not seen the label it is asked about."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _confident
from ._library import Work, copied, doubles, labels_buffer
from ._unconfuse import ffi, lib

SCORES = ("self_confidence", "normalized_margin", "confidence_weighted_entropy", "posterior")
FILTERS = ("prune_by_noise_rate", "prune_by_class", "both", "confident_learning", "predicted_neq_given",
           "low_self_confidence", "low_normalized_margin", "posterior")
ROUNDING = 0.01  # above 1; as much as the library allows
COUNTED = ("prune_by_noise_rate", "prune_by_class", "both")  # as many of each class as the confident joint expects


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
    bad = np.argwhere(~((probabilities >= 0.0) & (probabilities <= 1.0 + ROUNDING)))
    if len(bad):
        i, k = bad[0]
        raise ValueError(f"pred_probs[{i}, {k}] is {probabilities[i, k]:g}, which is not a probability")
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


def _by_posterior(given: np.ndarray, probabilities: np.ndarray, share: float, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """What the most suspicious labels are, by largest expected F1, and how probably each label is right."""
    wrong = np.ascontiguousarray(_audited(given, probabilities, n_jobs)[0])
    order = np.argsort(-wrong, kind="stable")
    sorted_wrong = np.ascontiguousarray(wrong[order])
    count = lib.uc_flag_most(doubles(sorted_wrong), len(wrong), float(wrong.sum()))
    issues = np.zeros(len(given), bool)
    issues[order[:int(round(share * count))]] = True
    return issues, 1.0 - wrong


def _by_joint(given: np.ndarray, probabilities: np.ndarray, filter_by: str, joint: np.ndarray, share: float,
              per_class: np.ndarray | None, least: int) -> np.ndarray:
    wrong = _confident.expected_wrong(given, joint, share, per_class)
    own = probabilities[np.arange(len(given)), given]
    by_class, by_pair = (np.ones(len(given), bool) for _ in range(2))
    if filter_by != "prune_by_noise_rate":
        by_class = _confident.worst_by_class(given, own, np.rint(wrong.sum(axis=1)), least)
    if filter_by != "prune_by_class":
        by_pair = _confident.worst_by_pair(given, probabilities, wrong, least)
    issues = by_class & by_pair
    if per_class is None:
        issues &= probabilities.argmax(axis=1) != given
    return np.asarray(issues)


def _limits(K: int, frac_noise: float, num_to_remove_per_class: ArrayLike | None, confident_joint: ArrayLike | None,
            filter_by: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """num_to_remove_per_class and confident_joint as arrays."""
    if not 0 < frac_noise <= 1:
        raise ValueError(f"frac_noise={frac_noise}: it must be above 0 and at most 1")
    per_class = joint = None
    if num_to_remove_per_class is not None:
        if filter_by not in (*COUNTED, "posterior"):
            raise ValueError(f"num_to_remove_per_class does not go with filter_by={filter_by!r}")
        per_class = np.asarray(num_to_remove_per_class)
        if per_class.shape != (K,) or (per_class < 0).any():
            raise ValueError(f"num_to_remove_per_class must have a number from 0 for each of the {K} columns of pred_probs")
    if confident_joint is not None:
        if filter_by not in COUNTED:
            raise ValueError(f"confident_joint does not go with filter_by={filter_by!r}")
        joint = np.asarray(confident_joint, dtype=np.float64)
        if joint.shape != (K, K) or not np.isfinite(joint).all() or (joint < 0).any():
            raise ValueError(f"confident_joint must be {K} x {K} counts, labels in rows and true classes in columns")
    return per_class, joint


def _leave(issues: np.ndarray, given: np.ndarray, quality: np.ndarray, least: int) -> np.ndarray:
    """Without the least suspicious issues of classes that would keep fewer than `least` labels."""
    if least <= 0:
        return issues
    counts = np.bincount(given[issues], minlength=int(given.max(initial=0)) + 1)
    return issues & _confident.worst_by_class(given, np.where(issues, quality, np.inf), counts, least)


def find_label_issues(labels: ArrayLike, pred_probs: ArrayLike, *, return_indices_ranked_by: str | None = None,
                      rank_by_kwargs: dict[str, Any] | None = None, filter_by: str = "posterior", frac_noise: float = 1.0,
                      num_to_remove_per_class: ArrayLike | None = None, min_examples_per_class: int | None = None,
                      confident_joint: ArrayLike | None = None, n_jobs: int | None = None, verbose: bool = False,
                      multi_label: bool = False, low_memory: bool = False) -> np.ndarray:
    """Which labels are probably wrong: True for these, or with return_indices_ranked_by (a method of
    get_label_quality_scores, whose further arguments are rank_by_kwargs) their positions, the worst first.

    filter_by: posterior, the default, flags as many of the most suspicious labels as have the largest expected F1, by the
    probability of the true class given also how classes are confused. The others are cleanlab's. prune_by_class flags as
    many labels of each class as the confident joint (see _confident.py) expects to be wrong, those with the lowest
    probability; prune_by_noise_rate as many of each pair of label and other class, those that prefer the latter most; both:
    what both flag; confident_learning: what the confident joint counts off its diagonal; predicted_neq_given: where the most
    probable class is another one; low_self_confidence, low_normalized_margin: as many labels as posterior flags, those with
    the lowest scores.

    frac_noise flags that share of the issues only, the worst (posterior, both and prune_by_*). num_to_remove_per_class has
    the number of issues of each class instead (the same). min_examples_per_class: so many labels of every class are left
    (1; with posterior 0). confident_joint: one of your own (both and prune_by_*). verbose and low_memory have no effect;
    multi_label=True is refused."""
    if multi_label:
        raise ValueError("multi_label=True: an example must have one label here")
    if filter_by not in FILTERS:
        raise ValueError(f"filter_by={filter_by!r}: it must be one of {', '.join(FILTERS)}")
    if return_indices_ranked_by is not None and return_indices_ranked_by not in SCORES:
        raise ValueError(f"return_indices_ranked_by={return_indices_ranked_by!r}: it must be one of {', '.join(SCORES)}")
    given, probabilities = _checked(labels, pred_probs)
    per_class, joint = _limits(probabilities.shape[1], frac_noise, num_to_remove_per_class, confident_joint, filter_by)
    least = int(filter_by != "posterior") if min_examples_per_class is None else int(min_examples_per_class)
    quality = probabilities[np.arange(len(given)), given]
    if filter_by == "predicted_neq_given":
        issues = probabilities.argmax(axis=1) != given
    elif filter_by == "confident_learning":
        classes = _confident.belongs_to(given, probabilities)
        issues = (classes >= 0) & (classes != given)
    elif filter_by in COUNTED:
        if joint is None:
            joint = _confident.confident_joint(given, probabilities)
        issues = _by_joint(given, probabilities, filter_by, joint, frac_noise, per_class, least)
    else:
        issues, quality = _by_posterior(given, probabilities, frac_noise if filter_by == "posterior" else 1.0, n_jobs)
        if filter_by != "posterior":
            quality = get_label_quality_scores(labels, pred_probs, method=filter_by[len("low_"):])
            worst = np.argsort(quality, kind="stable")[:issues.sum()]
            issues = np.isin(np.arange(len(given)), worst)
        elif per_class is not None:
            issues = _confident.worst_by_class(given, quality, per_class, least)
    issues = _leave(issues, given, quality, least)
    if return_indices_ranked_by is None:
        return np.asarray(issues)
    scores = get_label_quality_scores(labels, pred_probs, method=return_indices_ranked_by, n_jobs=n_jobs, **(rank_by_kwargs or {}))
    positions = np.flatnonzero(issues)
    return positions[np.argsort(scores[positions], kind="stable")]
