"""Classifiers that learn one example after the other: from labels, or from nothing but right or wrong."""
from __future__ import annotations

import copy
import math
import os
import threading
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from ._classifier import Classifier
from ._drift import Fall, falls_of
from ._labels import Classes, names_of, refuse_missing, unmixed
from ._library import check, labels_buffer, matrix
from ._model import PROPOSAL, Learned, Online
from ._sklearn import validated
from ._training import Settings, remember
from ._unconfuse import ffi, lib

Self = TypeVar("Self", bound="OnlineClassifier")


@dataclass(frozen=True)
class Replay:
    """How a labelled set was replayed: the class proposed in every round, whether it was right, and the curve of that."""

    proposed: np.ndarray
    correct: np.ndarray
    rounds: np.ndarray  # of the curve: 1, 2, 4, ... and the last
    ratio_correct: np.ndarray  # right proposals until there
    recent_ratio: np.ndarray  # right proposals since the point before
    drift: list[Fall]  # where the share of right proposals fell


def _replay(proposed: np.ndarray, correct: np.ndarray) -> Replay:
    count = len(correct)
    rounds = np.unique(np.append(2 ** np.arange(count.bit_length()), count))
    so_far = np.cumsum(correct)[rounds - 1]
    recent = np.diff(so_far, prepend=0) / np.diff(rounds, prepend=0)
    return Replay(proposed, correct, rounds, so_far / rounds, recent, falls_of(correct))


class Proposals(np.ndarray):
    """Proposed labels: an ordinary array that also remembers the probability with which each was drawn. So do copies,
    parts that are picked by [] or take, other shapes, and what np.concatenate joins; results of anything else do not."""

    details: np.ndarray | None

    def __array_finalize__(self, source: Any) -> None:
        self.details = None  # whoever knows them sets them

    def _with_details_of(self, labels: Any, pick: Any) -> Any:
        """These labels, with the details that `pick` makes of the own ones."""
        if self.details is not None and isinstance(labels, Proposals):
            labels.details = pick(self.details)
        return labels

    def __getitem__(self, key: Any) -> Any:
        return self._with_details_of(super().__getitem__(key), lambda details: details[key])

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        """The labels at these positions."""
        return self._with_details_of(super().take(indices, axis, out, mode),
                                     lambda details: details.take(indices, axis, mode=mode))

    def copy(self, order: Any = "C") -> Any:
        """The labels in an array of their own."""
        return self._with_details_of(super().copy(order), lambda details: details.copy())

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def ravel(self, order: Any = "C") -> Any:
        """The labels in one dimension."""
        return self._with_details_of(super().ravel(order), lambda details: details.ravel(order))

    def flatten(self, order: Any = "C") -> Any:
        """A copy in one dimension."""
        return self._with_details_of(super().flatten(order), lambda details: details.flatten(order))

    def reshape(self, *shape: Any, order: Any = "C") -> Any:
        """The labels in another shape."""
        return self._with_details_of(super().reshape(*shape, order=order),
                                     lambda details: details.reshape(*shape, order=order))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        result = super().__array_function__(function, types, arguments, options)
        if function is not np.concatenate or np.ndim(result) != 1:
            return result
        details = [part.details.ravel() for part in arguments[0] if isinstance(part, Proposals) and part.details is not None]
        if len(details) < len(arguments[0]):
            return result
        return _restored_proposals(np.asarray(result), np.concatenate(details))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_proposals, (np.asarray(self), self.details)


def _restored_proposals(labels: np.ndarray, details: np.ndarray | None) -> Proposals:
    proposals = labels.view(Proposals)
    proposals.details = details
    return proposals


# Two threads must not both begin one learner.
_beginning = threading.RLock()


def _free_lock() -> None:
    """In a forked child: whoever held it did not come along."""
    global _beginning
    _beginning = threading.RLock()


os.register_at_fork(after_in_child=_free_lock)


class OnlineClassifier(Classifier):
    """A learner that can learn from one example after the other."""

    def partial_fit(self: Self, X: Any, y: Any, classes: ArrayLike | None = None,
                    sample_weight: ArrayLike | None = None) -> Self:
        """Learns from the rows once, in their order, as `unconfuse stream` does; returns self.

        The first call needs `classes`, all labels that will ever occur, and reads the parameters; later calls do not. After
        fit it continues from there. A learner from right/wrong feedback sees only whether its proposals equal y. What a
        sample_weight does to a round is the learner's; a row of weight 0 has none. `scale` is learned as rows come: a row is
        scaled by what it and the rows before it say.
        """
        learned, online = self._begin_or_go_on(X, classes, y)
        rows = self._online_rows(X, learned)
        codes = learned.classes.encode(y)
        if len(codes) != rows.shape[0]:
            check_consistent_length(rows, codes)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows, dtype=np.float64)
        online.run(rows, codes, weights=weights)
        return self

    def replay(self, X: Any, y: Any, delay: int = 0, missing: float = 0.0) -> Replay:
        """Begins anew and replays a labelled set in its order: for each row a class is proposed, then feedback comes.

        The result shows how often the proposals were right on the way; the classifier has then learned from all rows.
        Feedback arrives `delay` rounds late, and never with probability `missing`, as in `unconfuse stream`.
        """
        if delay < 0:
            raise ValueError(f"delay={delay} is below 0")
        if not 0.0 <= missing <= 1.0:
            raise ValueError(f"missing={missing} is not from 0 to 1")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_consistent_length(X, y)
        learned, online = self._begin(X, np.unique(y), whole=True)
        codes = learned.classes.encode(y)
        proposed = online.run(self._online_rows(X, learned), codes, delay, missing)
        return _replay(learned.classes.decode(proposed), proposed == codes)

    def add_classes(self: Self, classes: ArrayLike) -> Self:
        """Labels that may come from now on, besides those of before; returns self. What was learned stays, and a new class begins
        without experience: its weights are 0. Classes that are there already may be repeated."""
        self._known()
        values = unmixed(np.atleast_1d(np.asarray(classes)), "classes")
        refuse_missing(values, "classes")
        check_classification_targets(values)
        with _beginning:
            learned, online = self._begin_or_go_on(None, None, None)
            more = learned.classes.with_more(values)
            for name in names_of(more.labels[len(learned.classes):]):
                online.add_class(name)
            self._learned = replace(learned, classes=more)
            self.classes_ = more.values
        return self

    @property
    def rounds_(self) -> int:
        """Number of rounds learned from by partial_fit, learn_feedback or replay."""
        online = self._known().online
        if online is None:
            raise NotFittedError("rounds are counted of a classifier that learns by partial_fit, learn_feedback or replay")
        return online.rounds

    # ---- beginning ----

    def _begin_or_go_on(self, X: Any, classes: ArrayLike | None, y: Any) -> tuple[Learned, Online]:
        """A learner that goes on from what was learned, or one without experience for the classes that will come."""
        with _beginning:
            learned: Learned | None = self.__dict__.get("_learned")
            if learned is None:
                if classes is None:
                    raise ValueError("the first call needs all classes that will come: classes=...")
                values = unmixed(np.asarray(classes), "classes")
                refuse_missing(values, "classes")
                check_classification_targets(values)
                return self._begin(X, np.unique(values), y)
            if classes is not None and not learned.classes.are(classes):
                raise ValueError(f"classes={classes!r} are not those of the calls before, {learned.classes.values.tolist()}")
            online = learned.online
            if online is None:
                online = Online.resume(learned.model())
                learned = self._learned = replace(learned, source=online)
            return learned, online

    def _begin(self, X: Any, values: np.ndarray, y: Any = None, whole: bool = False) -> tuple[Learned, Online]:
        """A learner without experience. `whole`: X is all that will come, and may be looked at beforehand. What is wrong with
        X and y, the labels of the first rows if they are known, must come out before anything is remembered."""
        if len(values) < 2:
            raise ValueError(f"only one class, {values.tolist()}, where two are needed")
        seen = copy.copy(self)
        X = validated(seen, X)
        classes = Classes(values)
        if y is not None:
            check_consistent_length(X, classes.encode(y))
        settings = Settings(self._learner, self.get_params(deep=False))
        settings.weigh(getattr(self, "class_weight", None), classes)
        settings.train.passes, settings.train.shuffle = 1, 0
        look = self._look_at(X, settings) if whole else None
        scaling = ffi.addressof(look, "scaling") if look is not None and settings.train.scale != 0 else ffi.NULL
        online = Online.begin(settings.learner, settings.own, settings.train, classes.names.pointer, scaling)
        online.expect(X)
        learned = Learned(online, classes, X.shape[1], settings.train.scale == 0 and not online.has_map)
        remember(self, seen, _learned=learned, classes_=classes.values, n_iter_=1)
        return learned, online

    @staticmethod
    def _look_at(X: Any, settings: Settings) -> Any:
        """The first look of a stream at all rows; the width of a kernel that is to be found becomes known."""
        view, _kept = matrix(X)
        data = ffi.new("uc_dataset *", {"X": view[0]})
        look = ffi.gc(ffi.new("uc_first_look *"), lib.uc_first_look_free)
        check(lib.uc_first_look_at_data(look, data, settings.train, ffi.NULL))
        if settings.train.map.width == 0.0 and not math.isnan(look.width):
            settings.train.map.width = look.width
        return look

    # ---- rows ----

    def _online_rows(self, X: Any, learned: Learned) -> Any:
        """As `_rows`; whether they are finite is checked by whoever runs the rounds."""
        fast = self._fast_rows(X, learned)
        return self._checked_rows(X, learned) if fast is None else fast

    def _checks_that_fail(self) -> dict[str, str]:
        return {"check_sample_weights_invariance": "it shuffles the rows, and what learns from one example after the other "
                                                   "depends on their order; in one order a row of weight 0 is absent"}

    def _has_poor_score(self) -> bool:
        # scikit-learn's check of class weights has 1000 next to 0.0001 on classes that overlap, and wants nearly all rows to be
        # of the heavy one, which the steps of a few passes do not come to, with `bias` or without; its check of scores has
        # blobs that bpa, one class against the rest, tells apart only with `bias`. tests/python checks both in easier ways.
        return hasattr(self, "class_weight") or self._learner == "bpa"


class RightWrongClassifier(OnlineClassifier):
    """A learner that never sees a label, only whether its proposal was right."""

    def propose(self, X: Any, classes: ArrayLike | None = None, explore: float = 0.0, baseline: ArrayLike | None = None) -> Proposals:
        """Proposes a class for every row, which a learner that explores may draw at random. The first call needs `classes`.

        With the probability `explore` a class drawn evenly from all is proposed instead, whatever the learner. The probability of
        each class proposed is in `details["probability"]` of what comes back. With `baseline`, labels that something else would
        propose, these are proposed and judged, the learner learns from that, and `agreement_` is how often its own were the same.
        """
        if not 0.0 <= explore <= 1.0:
            raise ValueError(f"explore={explore} is not from 0 to 1")
        learned, online = self._begin_or_go_on(X, classes, None)
        rows = self._online_rows(X, learned)
        policy = ffi.new("uc_policy *", {"apprentice": baseline is not None, "explore": explore})
        codes = None if baseline is None else learned.classes.encode(baseline, "baseline")
        if codes is not None:
            check_consistent_length(rows, codes)
        baselines = ffi.NULL if codes is None else labels_buffer(codes)
        propose = online.propose if learned.is_plain else online.propose_and_keep
        details = propose(rows, policy, baselines)
        return _restored_proposals(learned.classes.decode(details["label"]), details)

    @property
    def agreement_(self) -> float:
        """How often the learner would have proposed what the baseline did; NaN before there was one."""
        online = self._known().online
        compared, agreed = (0, 0) if online is None else online.compared_and_agreed
        return agreed / compared if compared else math.nan

    def learn_feedback(self: Self, X: Any, proposed: ArrayLike, correct: ArrayLike) -> Self:
        """Learns from whether proposals were right, made now or rounds ago; returns self.

        `proposed` is what propose(X) returned, or a part of it with the rows of X that belong to it: they are learned from as
        they were scaled and mapped for the proposal. For a learner without the parameter `explore` it may also be labels that
        something else proposed, and rows are then scaled as of now.
        """
        right = np.ascontiguousarray(correct)
        if right.dtype != np.bool_:
            raise ValueError(f"correct must hold True and False, not {right.dtype}")
        self._learn_late(X, proposed, right)
        return self

    def _learn_late(self, X: Any, proposed: ArrayLike, right: np.ndarray | None, expired_is_wrong: bool = False) -> None:
        """right None: the answers did not come."""
        self._known()
        learned, online = self._begin_or_go_on(X, None, None)
        rows = self._online_rows(X, learned)
        details = self._details_of(proposed, learned.classes)
        check_consistent_length(rows, details, *([] if right is None else [right]))
        online.learn(rows, details, right, ffi.new("uc_policy *", {"expired_is_wrong": expired_is_wrong}))

    def _details_of(self, proposed: ArrayLike, classes: Classes) -> np.ndarray:
        """How the labels were drawn. Details that are of other labels say nothing; a learner that explores needs them, any
        other draws with certainty."""
        codes = classes.encode(proposed, "proposed")
        details = proposed.details if isinstance(proposed, Proposals) else None
        if details is not None and details.size == len(codes) and (details["label"].ravel() == codes).all():
            return np.ascontiguousarray(details.ravel())
        if hasattr(self, "explore"):
            raise ValueError("a learner that explores must know with what probability each label was drawn: give it the "
                             "array that propose gave, or parts of it picked by []")
        certain = np.zeros(len(codes), PROPOSAL)
        certain["label"] = certain["favourite"] = codes
        certain["probability"] = 1.0
        return certain
