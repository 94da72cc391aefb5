"""Proposals that wait for their answers, which come late, in any order, and not always."""
from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from ._drift import Drift
from ._online import Proposals, RightWrongClassifier


class _Event(NamedTuple):
    row: Any
    proposed: Proposals
    time: float
    round: int


class Events:
    """Keeps what a right/wrong learner has proposed, each under an id, until it hears whether it was right.

    An event that is not answered within `wait` seconds, or before `wait_rounds` more were proposed, expires: the learner hears
    nothing of it (`expired="ignore"`) or "wrong". `clock` tells the time. With `explore` and a baseline proposals are as those of
    `propose`. Nothing is kept on disk: for that there is `unconfuse serve`, whose rules these are. For one thread.

    >>> import unconfuse
    >>> events = unconfuse.Events(unconfuse.CSPAClassifier(), wait_rounds=2, expired="wrong")
    >>> events.propose([[1.0, 2.0]], ["first"], classes=["a", "b"])
    Proposals(['a'], dtype='<U1')
    >>> events.feedback(["first"], [False])
    >>> events.answered, events.waiting, events.propose([[1.0, 2.0]], ["second"])[0]
    (1, 0, 'b')
    """

    def __init__(self, learner: RightWrongClassifier, *, wait: float | None = None, wait_rounds: int | None = None,
                 expired: str = "ignore", explore: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        for name, value in (("wait", wait), ("wait_rounds", wait_rounds)):
            if value is not None and not value > 0:
                raise ValueError(f"{name}={value} is not above 0")
        if expired not in ("ignore", "wrong"):
            raise ValueError(f"expired={expired!r} is neither 'ignore' nor 'wrong'")
        self.learner, self.drift = learner, Drift()
        self.answered = self.right = self.expired = 0
        self._wait, self._wait_rounds, self._explore, self._clock = wait, wait_rounds, explore, clock
        self._expired_is_wrong = expired == "wrong"
        self._events: dict[Hashable, _Event] = {}  # the oldest first
        self._rounds = 0

    @property
    def waiting(self) -> int:
        """Events without an answer."""
        return len(self._events)

    @property
    def agreement(self) -> float:
        """How often the learner would have proposed what the baseline did."""
        return self.learner.agreement_

    def propose(self, X: Any, ids: Iterable[Hashable], classes: ArrayLike | None = None,
                baseline: ArrayLike | None = None) -> Proposals:
        """Proposes a class for every row; `ids` are what the answers will call them."""
        ids = list(ids)
        X = X if hasattr(X, "shape") else np.asarray(X)
        check_consistent_length(X, ids)
        self.expire()
        if len(set(ids)) < len(ids) or not self._events.keys().isdisjoint(ids):
            raise ValueError("an id is that of an event that waits")
        proposed = self.learner.propose(X, classes, self._explore, baseline)
        now = self._clock()
        for i, one in enumerate(ids):
            self._rounds += 1
            row = X.iloc[i:i + 1] if hasattr(X, "iloc") else X[i:i + 1].copy()
            self._events[one] = _Event(row, proposed[i:i + 1], now, self._rounds)
        return proposed

    def feedback(self, ids: Iterable[Hashable], correct: ArrayLike) -> None:
        """Learns whether these proposals were right. KeyError, and nothing learned: an event is not known, or has expired."""
        ids, right = list(ids), np.ascontiguousarray(correct)
        check_consistent_length(ids, right)
        if right.dtype != np.bool_:
            raise ValueError(f"correct must hold True and False, not {right.dtype}")
        if len(set(ids)) < len(ids):
            raise ValueError("an event is answered twice")
        self.expire()
        events = [self._events[one] for one in ids]
        for one, event, answer in zip(ids, events, right):
            self.learner.learn_feedback(event.row, event.proposed, np.array([answer]))
            del self._events[one]
            self.answered += 1
            self.right += bool(answer)
            self.drift.add(bool(answer))

    def expire(self) -> list[Hashable]:
        """Gives up what has waited for too long, and returns the ids. The other calls do so first."""
        gone, now = [], self._clock()
        for one, event in self._events.items():
            late = self._wait is not None and now - event.time > self._wait
            if not late and not (self._wait_rounds is not None and self._rounds - event.round >= self._wait_rounds):
                break
            gone.append(one)
        for one in gone:
            event = self._events.pop(one)
            self.learner._learn_late(event.row, event.proposed, None, self._expired_is_wrong)
            self.expired += 1
        return gone
