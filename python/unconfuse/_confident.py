"""Confident learning (Northcutt, Jiang, Chuang, Journal of Artificial Intelligence Research 70:1373-1411, 2021): which labels the
probabilities contradict, by counting alone.

    t_j      mean probability of class j among the rows labelled j
    row i    belongs to the class j with the largest p_ij among those with p_ij >= t_j; to none where there are none
    J[k][j]  rows labelled k that belong to j, scaled so that every row k sums to the number of labels k: the confident joint"""
from __future__ import annotations

import numpy as np


def belongs_to(labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """The class that each row belongs to, -1 for those that belong to none."""
    counts = np.bincount(labels, minlength=probabilities.shape[1])
    own = probabilities[np.arange(len(labels)), labels]
    least = np.bincount(labels, own, probabilities.shape[1]) / np.maximum(counts, 1)
    least[counts == 0] = np.inf
    enough = probabilities >= least - 1e-12
    return np.where(enough.any(axis=1), np.where(enough, probabilities, -1.0).argmax(axis=1), -1)


def confident_joint(labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Counts of label and class that rows belong to; every class with labels has one on the diagonal at least."""
    K = probabilities.shape[1]
    classes = belongs_to(labels, probabilities)
    joint = np.zeros((K, K))
    np.add.at(joint, (labels[classes >= 0], classes[classes >= 0]), 1.0)
    seen = np.bincount(labels, minlength=K) > 0
    joint[seen, seen] = np.maximum(joint[seen, seen], 1.0)
    return joint


def expected_wrong(labels: np.ndarray, joint: np.ndarray, share: float, per_class: np.ndarray | None) -> np.ndarray:
    """How many labels k are wrong and really j: off the diagonal of the joint, scaled to the labels that there are, times share; or
    so that the row of class k sums to per_class[k]."""
    K = len(joint)
    counts = np.bincount(labels, minlength=K)
    off = joint * (counts / np.maximum(joint.sum(axis=1), 1e-300))[:, None]
    np.fill_diagonal(off, 0.0)
    if per_class is None:
        return np.asarray(off * share)
    totals = off.sum(axis=1, keepdims=True)
    even = (1.0 - np.eye(K)) / max(K - 1, 1)
    return np.asarray(np.where(totals > 0, off / np.maximum(totals, 1e-300), even) * per_class[:, None])


def whole(counts: np.ndarray) -> np.ndarray:
    """A row of counts as whole numbers with the same sum, rounded: the largest remainders are rounded up."""
    down = np.floor(counts + 1e-9).astype(int)
    left = int(round(counts.sum())) - down.sum()
    down[np.argsort(down - counts, kind="stable")[:max(left, 0)]] += 1
    return down


def worst_by_class(labels: np.ndarray, scores: np.ndarray, wanted: np.ndarray, least: int) -> np.ndarray:
    """True for the wanted[k] labels k with the lowest scores, of which at least `least` are left."""
    worst = np.zeros(len(labels), bool)
    for k, count in enumerate(wanted):
        rows = np.flatnonzero(labels == k)
        count = min(int(count), len(rows) - least)
        if count > 0:
            worst[rows[np.argsort(scores[rows], kind="stable")[:count]]] = True
    return worst


def worst_by_pair(labels: np.ndarray, probabilities: np.ndarray, wrong: np.ndarray, least: int) -> np.ndarray:
    """True, for labels k and each other class j, for the wrong[k][j] rows that prefer j to k most."""
    worst = np.zeros(len(labels), bool)
    for k in range(len(wrong)):
        rows = np.flatnonzero(labels == k)
        if len(rows) <= least:
            continue
        for j, count in enumerate(whole(wrong[k])):
            if count > 0 and j != k:
                margin = probabilities[rows, j] - probabilities[rows, k]
                worst[rows[np.argsort(-margin, kind="stable")[:count]]] = True
        kept = len(rows) - worst[rows].sum()
        if kept < least:  # the least bad of them stay
            bad = rows[worst[rows]]
            worst[bad[np.argsort(-probabilities[bad, k], kind="stable")[:least - kept]]] = False
    return worst
