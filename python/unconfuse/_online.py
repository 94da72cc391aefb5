"""Classifiers that learn one example after the other: from labels, or from nothing but right or wrong."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._classifier import Classifier
from ._labels import Classes
from ._library import check, matrix
from ._model import PROPOSAL, Model, Online
from ._training import Settings
from ._unconfuse import ffi, lib

Self = TypeVar("Self", bound="OnlineClassifier")


@dataclass(frozen=True)
class Replay:
    """How a labelled set was played: the class proposed in every round, whether it was right, and the curve of that."""

    proposed: np.ndarray
    correct: np.ndarray
    rounds: np.ndarray  # of the curve: 1, 2, 4, ... and the last
    ratio_correct: np.ndarray  # right proposals until there
    recent_ratio: np.ndarray  # right proposals since the point before


def _replay(proposed: np.ndarray, correct: np.ndarray) -> Replay:
    count = len(correct)
    rounds = np.unique(np.append(2 ** np.arange(count.bit_length()), count))
    so_far = np.cumsum(correct)[rounds - 1]
    recent = np.diff(so_far, prepend=0) / np.diff(rounds, prepend=0)
    return Replay(proposed, correct, rounds, so_far / rounds, recent)


class Proposals(np.ndarray):
    """Labels that were proposed: an array as any other, which remembers with what probability each was drawn. Parts of it
    that are picked by [] remember as well."""

    details: np.ndarray | None

    def __array_finalize__(self, source: Any) -> None:
        self.details = None  # of a result of arithmetic; whoever knows them sets them

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if self.details is not None and isinstance(part, Proposals):
            part.details = self.details[key]
        return part

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_proposals, (np.asarray(self), self.details)


def _restored_proposals(labels: np.ndarray, details: np.ndarray | None) -> Proposals:
    proposals = labels.view(Proposals)
    proposals.details = details
    return proposals


class OnlineClassifier(Classifier):
    """A learner that can be told one example after the other."""

    _online: Online

    def partial_fit(self: Self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Learns from rows in their order, once, as `unconfuse stream` does; returns self.

        The first call needs `classes`, all labels that will come; it reads the parameters, which later calls do not. After
        fit it goes on from there. A learner of right or wrong is told only whether its proposals are y.
        """
        if "_online" not in self.__dict__:
            self._begin_or_go_on(X, classes)
        rows = self._online_rows(X)
        codes = self._classes.encode(y)
        if len(codes) != rows.shape[0]:
            check_consistent_length(rows, codes)
        self._online.play(rows, codes)
        return self

    def replay(self, X: Any, y: Any) -> Replay:
        """Begins anew and plays a labelled set in its order: for each row a class is proposed, then the learner is told.

        What comes back shows how often it was right on the way. The classifier has then learned from all rows.
        """
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        check_consistent_length(X, y)
        self._begin(X, np.unique(y), whole=True)
        codes = self._classes.encode(y)
        proposed = self._online.play(self._online_rows(X), codes)
        return _replay(self._classes.decode(proposed), proposed == codes)

    @property
    def rounds_(self) -> int:
        """Rounds learned from, of a classifier that learns by partial_fit, learn_feedback or replay."""
        check_is_fitted(self, "_online")
        return self._online.rounds

    # ---- beginning ----

    def _begin_or_go_on(self, X: Any, classes: ArrayLike | None) -> None:
        if "classes_" in self.__dict__:
            self._online = Online.resume(self._model)
            return
        if classes is None:
            raise ValueError("the first call must be told all classes that will come: classes=...")
        check_classification_targets(classes)
        self._begin(X, np.unique(np.asarray(classes)))

    def _begin(self, X: Any, values: np.ndarray, whole: bool = False) -> None:
        """A learner without experience. `whole`: X is all that will come, and may be looked at beforehand."""
        if len(values) < 2:
            raise ValueError(f"only one class, {values.tolist()}, where two are needed")
        X = self._validate_data(X, accept_sparse="csr", dtype=np.float32, order="C")
        classes = Classes(values)
        settings = Settings(self._learner, self.get_params(deep=False))
        settings.weigh(getattr(self, "class_weight", None), classes)
        settings.train.passes, settings.train.shuffle = 1, 0
        steps = self._look_at(X, settings) if whole else self._without_a_look(settings)
        online = Online.begin(settings.learner, settings.own, settings.train, classes.names.pointer, steps)
        online.expect(X)
        self.__dict__.update(_online=online, _classes=classes, classes_=classes.values, n_iter_=1,
                             _is_plain=settings.train.scale == 0 and not online.has_map)

    @staticmethod
    def _without_a_look(settings: Settings) -> Any:
        if settings.train.scale != 0:
            raise ValueError("scale needs all rows beforehand: use fit, or scale the rows before partial_fit")
        return ffi.NULL

    @staticmethod
    def _look_at(X: Any, settings: Settings) -> Any:
        """The scaling of all rows, and the width of a kernel that is to be found."""
        view, _kept = matrix(X)
        map = settings.train.map
        if map.width == 0.0:
            width = ffi.new("double *")
            check(lib.uc_median_distance2(width, view, settings.train.seed, ffi.NULL))
            map.width = width[0]
        if settings.train.scale == 0:
            return ffi.NULL
        steps = ffi.gc(ffi.new("uc_steps *"), lib.uc_steps_free)
        check(lib.uc_steps_learn(steps, settings.train.scale, view))
        return steps

    # ---- rows, models, copies ----

    def _online_rows(self, X: Any) -> Any:
        """As `_rows`; whether they are finite is looked at by whoever plays them."""
        fast = self._fast_rows(X)
        if fast is not None:
            return fast
        return self._validate_data(X, accept_sparse="csr", dtype=np.float32, order="C", reset=False)

    def _current_model(self) -> Model:
        check_is_fitted(self, "classes_")
        online: Online | None = self.__dict__.get("_online")
        return self._model if online is None else online.model()

    def _more_tags(self) -> dict[str, Any]:
        # Without `bias` there is no constant feature, and no line but through the origin; scikit-learn's checks of scores
        # and of class weights ask for others. tests/python has checks of scores that they can reach.
        return {"poor_score": True}


class RightWrongClassifier(OnlineClassifier):
    """A learner that is never told a label, only whether its proposal was right."""

    def propose(self, X: Any, classes: ArrayLike | None = None) -> Proposals:
        """A class for every row, which may be another than the best one, to learn more. The first call needs `classes`."""
        if "_online" not in self.__dict__:
            self._begin_or_go_on(X, classes)
        details = self._online.propose(self._online_rows(X))
        return _restored_proposals(self._classes.decode(details["label"]), details)

    def learn_feedback(self: Self, X: Any, proposed: ArrayLike, correct: ArrayLike) -> Self:
        """Learns from which proposals were right, now or rounds ago; returns self.

        `proposed` is what propose(X) gave, or some of it beside the rows that it was for. Other labels will do too, for
        what was proposed elsewhere: they count as drawn with certainty.
        """
        check_is_fitted(self, "classes_")
        if "_online" not in self.__dict__:
            self._begin_or_go_on(X, None)
        rows = self._online_rows(X)
        right = np.ascontiguousarray(correct)
        if right.dtype != np.bool_:
            raise ValueError(f"correct must hold True and False, not {right.dtype}")
        details = getattr(proposed, "details", None)
        if details is None:
            details = self._told_elsewhere(proposed)
        check_consistent_length(rows, details, right)
        self._online.learn(rows, np.ascontiguousarray(details), right)
        return self

    def _told_elsewhere(self, proposed: ArrayLike) -> np.ndarray:
        codes = self._classes.encode(proposed)
        details = np.zeros(len(codes), PROPOSAL)
        details["label"] = details["favourite"] = codes
        details["probability"] = 1.0
        return details
