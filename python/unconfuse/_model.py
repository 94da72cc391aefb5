"""The library's models and online learners as objects of Python that copy and pickle as model files."""
from __future__ import annotations

import json
import os
import threading
import weakref
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import scipy.sparse

from ._labels import Classes
from ._library import (check, copied, doubles, entries, labels_buffer, last_error, matrix, refuse_columns, taken_bytes, text,
                       unchecked_matrix, Work)
from ._unconfuse import ffi, lib


class Model:
    """A trained model. It never changes, so that threads may share it."""

    def __init__(self, pointer: Any) -> None:
        self.pointer = ffi.gc(pointer, lib.uc_model_free)

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        out = ffi.new("uc_model **")
        check(lib.uc_model_load_memory(out, ffi.from_buffer(data), len(data), b"pickled model"))
        return cls(out[0])

    def __bytes__(self) -> bytes:
        return taken_bytes(lib.uc_model_save_memory, self.pointer)

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_bytes, (bytes(self),)

    def without_state(self) -> Model:
        """A copy from which no learner can go on."""
        copy = Model.from_bytes(bytes(self))
        lib.uc_model_forget_state(copy.pointer)
        return copy

    def describe(self) -> dict[str, Any]:
        """What `unconfuse inspect --json` shows."""
        out = ffi.new("char **")
        check(lib.uc_model_describe(out, self.pointer))
        try:
            described: dict[str, Any] = json.loads(text(out[0]))
            return described
        finally:
            lib.uc_model_text_free(out[0])

    @property
    def class_count(self) -> int:
        return int(lib.uc_model_classes(self.pointer).count)

    def predict(self, X: Any, n_jobs: int | None) -> np.ndarray:
        """The position of the best class of each row, in the library's order."""
        predicted = np.empty(X.shape[0], np.uint32)
        self._score(labels_buffer(predicted), ffi.NULL, False, X, n_jobs)
        return predicted

    def scores(self, X: Any, n_jobs: int | None, probabilities: bool = False) -> np.ndarray:
        """One column per class, in the library's order."""
        found = np.empty((X.shape[0], self.class_count))
        self._score(ffi.NULL, doubles(found), probabilities, X, n_jobs)
        return found

    def _score(self, predicted: Any, scores: Any, probabilities: bool, X: Any, n_jobs: int | None) -> None:
        """Columns of CSR rows are checked block by block, right before the block is scored."""
        view, _kept, X = unchecked_matrix(X)
        with Work(n_jobs) as work:
            status = lib.score_rows(predicted, scores, probabilities, self.pointer, view, entries(X), work.context)
            if status == lib.UC_ERR_FORMAT:
                refuse_columns(X)
            work.check(status)

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """One row per class, and the offset of each, in the library's order."""
        weights = np.empty((self.class_count, lib.uc_model_dimension(self.pointer)))
        offsets = np.empty(self.class_count)
        lib.copy_weights(doubles(weights), doubles(offsets), self.pointer)
        return weights, offsets

    def noise(self) -> np.ndarray | None:
        values = lib.uc_model_noise(self.pointer)
        return copied(values, (self.class_count, self.class_count)) if values else None


_online_learners: weakref.WeakSet[Online] = weakref.WeakSet()


def _free_locks() -> None:
    """In a forked child: whoever held them did not come along."""
    for online in list(_online_learners):
        online._lock = threading.Lock()


os.register_at_fork(after_in_child=_free_locks)


class Online:
    """A learner of one example after the other. One thread at a time gets at it."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = ffi.gc(pointer, lib.uc_online_free)
        self._lock = threading.Lock()
        _online_learners.add(self)
        self._view = ffi.new("uc_matrix *")  # of the rows at hand: a round needs nothing new
        self._model: Model | None = None  # of the learner as it is now
        self._events = ffi.new("uc_event_counts *")
        self._uses_blas = bool(lib.uc_learner_uses_blas(lib.uc_online_learner(pointer)))

    @classmethod
    def begin(cls, learner: Any, settings: Any, train: Any, names: Any, steps: Any) -> Online:
        out = ffi.new("uc_online **")
        check(lib.uc_online_begin(out, learner, settings, train, names, steps))
        return cls(out[0])

    @classmethod
    def resume(cls, model: Model) -> Online:
        out = ffi.new("uc_online **")
        check(lib.uc_online_resume(out, model.pointer))
        return cls(out[0])

    @classmethod
    def from_bytes(cls, data: bytes, compared: int = 0, agreed: int = 0) -> Online:
        online = cls.resume(Model.from_bytes(data))
        online._events.compared, online._events.agreed = compared, agreed
        return online

    def __reduce__(self) -> tuple[Any, ...]:
        return Online.from_bytes, (bytes(self.model_with_state()), *self.compared_and_agreed)

    @property
    def compared_and_agreed(self) -> tuple[int, int]:
        """Proposals with a baseline, and those where the learner's own was the same."""
        return int(self._events.compared), int(self._events.agreed)

    def add_class(self, name: str) -> None:
        """One class more, after those that are there."""
        with self._lock:
            self._model = None
            check(lib.uc_online_add_class(ffi.new("uint32_t *"), self._pointer, name.encode(errors="surrogateescape")))

    def expect(self, X: Any) -> None:
        """Rows will be like these."""
        view, _kept = matrix(X)
        check(lib.uc_online_expect(self._pointer, X.shape[1], lib.uc_matrix_density(view)))

    def _rows(self, X: Any) -> tuple[Any, Any]:
        view, kept = matrix(X, self._view)
        wrong = lib.first_row_not_finite(view)
        if wrong < view.rows:
            raise ValueError(f"row {wrong + 1} holds NaN or infinity")
        return view, kept

    def run(self, X: Any, codes: np.ndarray, delay: int = 0, missing: float = 0.0,
            weights: np.ndarray | None = None) -> np.ndarray:
        """Propose, get feedback, learn, for every row; returns what was proposed. Rows of weight 0 have no round."""
        counted = ffi.NULL if weights is None else doubles(weights)
        proposed = np.empty(X.shape[0], np.uint32)
        with self._lock:
            view, _kept = self._rows(X)
            self._model = None
            if len(proposed) == 1 and not self._uses_blas:  # too short to be interrupted
                check(lib.run_rows(labels_buffer(proposed), self._pointer, view, labels_buffer(codes), counted, delay, missing,
                                    ffi.NULL))
                return proposed
            with Work() as work:
                work.check(lib.run_rows(labels_buffer(proposed), self._pointer, view, labels_buffer(codes), counted, delay, missing,
                                         work.context))
        return proposed

    def propose(self, X: Any, policy: Any, baselines: Any) -> np.ndarray:
        """An array of uc_proposal. `baselines`: codes, or NULL."""
        proposals = np.empty(X.shape[0], PROPOSAL)
        with self._lock:
            view, _kept = self._rows(X)
            check(lib.propose_rows(ffi.from_buffer("uc_proposal[]", proposals), self._events, self._pointer, view, policy, baselines))
        return proposals

    def propose_and_keep(self, X: Any, policy: Any, baselines: Any) -> np.ndarray:
        """The same with the rows as the weights saw them, which scaling and maps that grow will not make of them later."""
        kept = np.empty(X.shape[0], KEPT_PROPOSAL)
        proposal = ffi.new("uc_proposal *")
        with self._lock:
            view, _kept = self._rows(X)
            for i in range(X.shape[0]):
                check(lib.propose_row(proposal, self._events, self._pointer, view, i, policy, baselines))
                kept[i] = (proposal.label, proposal.probability, proposal.favourite, proposal.ticket,
                           _copied_row(lib.uc_online_prepared(self._pointer)))
        return kept

    def learn(self, X: Any, proposals: np.ndarray, right: np.ndarray | None, policy: Any = ffi.NULL) -> None:
        """Rows that were kept with their proposals are learned from as they were then. right None: answers did not come, and
        the policy says what that means."""
        plain = np.empty(len(proposals), PROPOSAL)  # what np.concatenate joins has other offsets
        for name in PROPOSAL.names or ():
            plain[name] = proposals[name]
        if "prepared" not in (proposals.dtype.names or ()):
            self._learn(X, plain, right, policy, False)
            return
        for (sparse, _), places in groupby(range(len(plain)), lambda i: _kind_of(proposals["prepared"][i])):
            group = list(places)
            kept = [proposals["prepared"][i] for i in group]
            self._learn(_sparse_rows(kept) if sparse else np.stack(kept), plain[group], None if right is None else right[group],
                        policy, True)

    def _learn(self, X: Any, proposals: np.ndarray, right: np.ndarray | None, policy: Any, prepared: bool) -> None:
        answers = ffi.NULL if right is None else ffi.from_buffer("bool[]", right)
        with self._lock, Work() as work:
            view, _kept = self._rows(X)
            self._model = None
            work.check(lib.learn_rows(self._pointer, self._events, view, ffi.from_buffer("uc_proposal[]", proposals), answers,
                                      policy, prepared, work.context))

    @property
    def rounds(self) -> int:
        """Rounds learned from."""
        return int(lib.uc_online_rounds(self._pointer))

    @property
    def has_map(self) -> bool:
        return bool(lib.uc_online_has_map(self._pointer))

    def _make_model(self, with_state: bool) -> Model:
        out = ffi.new("uc_model **")
        check(lib.uc_online_model(out, self._pointer, with_state))
        return Model(out[0])

    def model(self) -> Model:
        """What has been learned so far; the same object until more is."""
        with self._lock:
            if self._model is None:
                self._model = self._make_model(False)
            return self._model

    def model_with_state(self) -> Model:
        """From which a learner can go on."""
        with self._lock:
            return self._make_model(True)


@dataclass(frozen=True)
class Learned:
    """All that a prediction needs. It is replaced and never changed, so that who reads it once has labels of this model."""

    source: Model | Online
    classes: Classes
    n_features: int
    is_plain: bool  # no scaling, map or views stand between the rows and the weights

    def model(self) -> Model:
        return self.source.model() if isinstance(self.source, Online) else self.source

    @property
    def online(self) -> Online | None:
        return self.source if isinstance(self.source, Online) else None


def _proposal_dtype() -> np.dtype:
    """uc_proposal as NumPy sees it."""
    fields = {"label": np.uint32, "probability": np.float64, "favourite": np.uint32, "ticket": np.uint64}
    return np.dtype({"names": list(fields), "formats": list(fields.values()),
                     "offsets": [ffi.offsetof("uc_proposal", name) for name in fields],
                     "itemsize": ffi.sizeof("uc_proposal")})


PROPOSAL = _proposal_dtype()
# With the row as the weights saw it: an array of its values, or of its columns and another of its values.
KEPT_PROPOSAL = np.dtype([*((name, PROPOSAL[name]) for name in PROPOSAL.names or ()), ("prepared", object)])


def _copied_row(row: Any) -> Any:
    values = copied(row.values, (row.count,), "float", np.float32)
    return (copied(row.columns, (row.count,), "uint32_t", np.uint32), values) if row.columns else values


def _kind_of(row: Any) -> tuple[bool, int]:
    """Whether a row that was kept is sparse, and its width if it is dense."""
    return (True, 0) if isinstance(row, tuple) else (False, len(row))


def _sparse_rows(rows: list[Any]) -> Any:
    columns = np.concatenate([row[0] for row in rows]).astype(np.int32)
    offsets = np.cumsum([0, *(len(row[0]) for row in rows)])
    width = int(columns.max()) + 1 if len(columns) else 1
    return scipy.sparse.csr_matrix((np.concatenate([row[1] for row in rows]), columns, offsets), (len(rows), width))


def find_learner(name: str) -> Any:
    learner = lib.uc_learner_find(name.encode())
    if not learner:
        raise ValueError(last_error())
    return learner
