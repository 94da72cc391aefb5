"""Whether proposals have become worse."""
from __future__ import annotations

from typing import Any, NamedTuple

from ._unconfuse import ffi, lib


class Fall(NamedTuple):
    """A fall of the share of right proposals: the round at which it was found, and the shares before and after it."""

    round: int
    before: float
    after: float


class Drift:
    """Finds falls of the share of right proposals, by ADWIN on the right/wrong bits, as `unconfuse stream` and the service do.

    It takes little room, however many bits it sees, and needs no window to be chosen. Rises are no alarm.

    >>> drift = Drift()
    >>> [i for i in range(2000) if drift.add(i % 10 > 0 if i < 1000 else i % 2 > 0)]
    [1055]
    >>> drift.last
    Fall(round=1056, before=0.9, after=0.5)
    """

    def __init__(self) -> None:
        self._state = ffi.new("uc_drift *")

    def add(self, right: bool) -> bool:
        """Takes in whether one more proposal was right; True: their share has fallen, and `last` says when and how far."""
        return bool(lib.uc_drift_add(self._state, bool(right)))

    @property
    def rounds(self) -> int:
        """Bits so far."""
        return int(self._state.rounds)

    @property
    def alarms(self) -> int:
        """Falls so far."""
        return int(self._state.alarms)

    @property
    def last(self) -> Fall | None:
        """The last fall; None: there was none."""
        state = self._state
        return Fall(int(state.round), float(state.before), float(state.after)) if state.alarms > 0 else None

    def __getstate__(self) -> bytes:
        return bytes(ffi.buffer(self._state))

    def __setstate__(self, state: Any) -> None:
        self.__init__()  # type: ignore[misc]
        ffi.buffer(self._state)[:] = state


def falls_of(correct: Any) -> list[Fall]:
    """All falls in a series of bits."""
    drift, falls = Drift(), []
    for right in correct.tolist():
        if drift.add(right) and drift.last is not None:
            falls.append(drift.last)
    return falls
