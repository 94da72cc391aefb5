"""How Python and the C library talk: errors, progress, settings, arrays."""
from __future__ import annotations

import errno
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse
import threadpoolctl

from ._names import python_name, python_wording
from ._unconfuse import ffi, lib

NONE = int(lib.UC_NONE)  # as a label: there is none
MOST_COLUMNS = 2**31 - 1  # of a row
MOST_THREADS = 1024
LARGEST_SEED = 2**53

_EXCEPTIONS = {
    lib.UC_ERR_NOMEM: MemoryError,
    lib.UC_ERR_DIVERGED: FloatingPointError,
    lib.UC_ERR_CANCELLED: KeyboardInterrupt,
}


def last_error() -> str:
    """The library's sentence about the last failure in this thread."""
    return in_python(text(lib.uc_last_error()))


def check(status: int) -> None:
    """Raises what the library returned, with its sentence."""
    if status == lib.UC_ERR_IO:
        raise _os_error(last_error())
    if status != lib.UC_OK:
        raise _EXCEPTIONS.get(status, ValueError)(last_error())


def _os_error(sentence: str) -> OSError:
    """With the number of the reason that ends the sentence, so that it is a FileNotFoundError when it should be."""
    numbers = [number for number in errno.errorcode if sentence.endswith(": " + os.strerror(number))]
    return OSError(numbers[0], sentence) if numbers else OSError(sentence)


def text(pointer: Any) -> str:
    """A string of the library; '' for none."""
    return str(ffi.string(pointer).decode(errors="surrogateescape")) if pointer else ""


# ---- long work ----


def _remember(kind: Any, exception: BaseException, trace: Any) -> None:
    """Signals are handled before the main thread gets into a callback: Ctrl-C is an exception there, which ends the work."""
    ffi.from_handle(trace.tb_frame.f_locals["user"]).exception = exception


@ffi.def_extern(error=False, onerror=_remember)
def unconfuse_progress(task: Any, done: float, total: float, detail: Any, user: Any) -> bool:
    return ffi.from_handle(user).exception is None  # jobs of other threads end when they ask next


@ffi.def_extern(error=False, onerror=_remember)
def unconfuse_go_on(user: Any) -> bool:
    return ffi.from_handle(user).exception is None


@ffi.def_extern(onerror=_remember)
def unconfuse_warn(sentence: Any, user: Any) -> None:
    ffi.from_handle(user).warnings[in_python(text(sentence))] = None


class _OneBlasThread:
    """While the library works, OpenBLAS has one thread: the library has threads of its own, and its results must not depend
    on how many there are. NumPy, which may share that OpenBLAS, has as many as before again afterwards."""

    def __init__(self) -> None:
        self._pools = threadpoolctl.ThreadpoolController().select(user_api="blas")
        self._limit: Any = None
        self.forget_users()

    def forget_users(self) -> None:
        """A forked child has none: whoever held the lock did not come along."""
        self._lock = threading.Lock()
        self._users = 0

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limit = self._pools.limit(limits=1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()


class Work:
    """A call that may take long: Ctrl-C ends it, and its warnings become Python's.

    with Work(n_jobs) as work:
        work.check(lib.uc_something(..., work.context))

    The check may raise though the library succeeded: what it made must have its owner before.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.warnings: dict[str, None] = {}
        self.exception: BaseException | None = None
        self._handle = ffi.new_handle(self)
        self.context = ffi.new("uc_context *")
        self.context.threads = thread_count(n_jobs)
        self.context.progress = lib.unconfuse_progress
        self.context.warn = lib.unconfuse_warn
        self.context.user = self._handle

    def check(self, status: int) -> None:
        if self.exception is not None:
            raise self.exception
        check(status)

    def __enter__(self) -> Work:
        _one_blas_thread.__enter__()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        _one_blas_thread.__exit__()
        if kind is not None:
            return  # a warning that is an error would hide the exception
        for sentence in self.warnings:
            warnings.warn(sentence, UserWarning, stacklevel=4)


def thread_count(n_jobs: int | None) -> int:
    """For the library, where 0 means all cores. In a process that was forked there is one: who forks, as a rule, has
    started a process for each core."""
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs={n_jobs!r}: it must be an integer or None")
    if n_jobs is not None and (n_jobs == 0 or n_jobs > MOST_THREADS):
        raise ValueError(f"n_jobs={n_jobs}: it must be a number of threads up to {MOST_THREADS}, or -1 or None for all cores")
    if _is_forked:
        return 1
    if n_jobs is None:
        wanted = os.environ.get("OMP_NUM_THREADS", "")
        return int(wanted) if wanted.isdigit() else 0
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


# ---- settings ----


def options(table: Any) -> Iterator[Any]:
    """The entries of an option table."""
    option = ffi.addressof(table, 0)
    while option.name:
        yield option
        option += 1


def in_python(sentence: str) -> str:
    """A sentence of the library with the options that it names as the parameters of Python."""
    rendered = ffi.new("char[4096]")
    worded = python_wording(sentence).encode(errors="surrogateescape")
    lib.uc_message_render(rendered, len(rendered), worded, lib.UC_MESSAGE_PYTHON)
    return str(ffi.string(rendered).decode(errors="replace"))


def _as_typed(value: object) -> str:
    """A value as it is typed on the command line."""
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, (tuple, list)):
        return ",".join(map(_as_typed, value))
    return str(value)


def set_options(table: Any, settings: Any, values: Mapping[str, Any]) -> None:
    """Sets the fields of a settings struct from parameters of the same names; parameters that it lacks stay as they are."""
    for option in options(table):
        name = python_name(text(option.name))
        if name not in values or (isinstance(values[name], Mapping) and name == "class_weight"):
            continue
        status = lib.uc_option_set(option, settings, _as_typed(values[name]).encode())
        if status != lib.UC_OK:  # cost=-1: it must be above 0
            raise ValueError(f"{name}={values[name]!r}: {last_error().partition(': ')[2]}")


def seed_of(random_state: Any) -> int | None:
    """None: the library's own."""
    if random_state is None:
        return None
    if isinstance(random_state, Integral):
        seed = int(random_state)
        if not 0 <= seed <= LARGEST_SEED:
            raise ValueError(f"random_state={seed}: it must not be negative, nor above {LARGEST_SEED}")
        return seed
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(f"random_state={random_state!r}: it must be an integer, a RandomState or None")


# ---- arrays ----


def check_offsets(X: Any) -> None:
    """SciPy does not look into the arrays that a CSR matrix is made of, and its own functions follow them anywhere."""
    offsets = X.indptr
    if (len(offsets) != X.shape[0] + 1 or offsets[0] < 0 or offsets[-1] > min(len(X.data), len(X.indices))
            or (offsets[1:] < offsets[:-1]).any()):
        raise ValueError("X is not a sound CSR matrix: its rows do not lie within its arrays")


def refuse_columns(X: Any) -> None:
    wrong = X.indices[(X.indices >= X.shape[1]) | (X.indices < 0)]
    if len(wrong):
        raise ValueError(f"X is not a sound CSR matrix: it has {X.shape[1]} columns, and an entry in column {wrong[0]}")
    raise ValueError("X is not a sound CSR matrix: its rows do not follow each other, or their columns do not ascend")


def entries(X: Any) -> int:
    """How many entries the arrays of a CSR matrix have room for; 0 for dense rows."""
    return min(len(X.data), len(X.indices)) if scipy.sparse.issparse(X) else 0


def matrix(X: Any, into: Any = None) -> tuple[Any, Any]:
    """A uc_matrix that looks at float32 rows, dense in C order or CSR, and what must be kept alive with it."""
    view, kept, X = unchecked_matrix(X, into)
    if scipy.sparse.issparse(X) and not lib.is_sound(view, entries(X)):
        refuse_columns(X)
    return view, kept


def unchecked_matrix(X: Any, into: Any = None) -> tuple[Any, Any, Any]:
    """The same for CSR rows whose columns nobody has looked at, and the rows that it looks at, which may be a copy."""
    view = ffi.new("uc_matrix *") if into is None else into
    view.rows, view.cols = X.shape
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"{X.shape[1]} columns are more than {MOST_COLUMNS}")
    if scipy.sparse.issparse(X):
        check_offsets(X)
        if not X.has_canonical_format:  # the library needs ascending columns, each once
            X = X.copy()
            X.sum_duplicates()
        narrow = X.indices.dtype == np.int32
        columns = X.indices.view(np.uint32) if narrow else X.indices.astype(np.uint32)
        if not narrow and not np.array_equal(columns, X.indices):
            refuse_columns(X)
        kept = (ffi.from_buffer("float[]", X.data), ffi.from_buffer("uint64_t[]", X.indptr.astype(np.uint64)),
                ffi.from_buffer("uint32_t[]", columns))
        view.stride = 0
        view.values, view.offsets, view.columns = kept
        return view, kept, X
    values = ffi.from_buffer("float[]", X)
    view.stride = X.shape[1]
    view.values = values
    view.offsets = view.columns = ffi.NULL
    return view, values, X


def doubles(array: np.ndarray) -> Any:
    return ffi.from_buffer("double[]", array)


def labels_buffer(array: np.ndarray) -> Any:
    return ffi.from_buffer("uint32_t[]", array)


def copied(pointer: Any, shape: tuple[int, ...], kind: str = "double", dtype: Any = np.float64) -> np.ndarray:
    """A NumPy array of its own from the library's memory."""
    count = int(np.prod(shape))
    return np.frombuffer(ffi.buffer(pointer, count * ffi.sizeof(kind)), dtype=dtype).reshape(shape).copy()


def taken_bytes(save: Any, pointer: Any) -> bytes:
    """What a uc_*_save_memory function makes."""
    data, length = ffi.new("void **"), ffi.new("size_t *")
    check(save(data, length, pointer))
    try:
        return bytes(ffi.buffer(data[0], length[0]))
    finally:
        lib.uc_model_memory_free(data[0])


class Names:
    """A list of names for the library; freed with this object."""

    def __init__(self, names: list[str]) -> None:
        self.pointer = ffi.gc(ffi.new("uc_names *"), lib.uc_names_free)
        index = ffi.new("uint32_t *")
        for name in names:
            data = name.encode(errors="surrogateescape")
            check(lib.uc_names_add(index, self.pointer, data, len(data)))

    def move_to(self, into: Any) -> None:
        """Gives them to a struct, whose owner frees them."""
        ffi.memmove(ffi.addressof(into), self.pointer, ffi.sizeof("uc_names"))
        ffi.gc(self.pointer, None)

    def sort(self) -> np.ndarray:
        """Brings them into the library's order; returns the new position of each."""
        renumber = np.empty(self.pointer.count, np.uint32)
        check(lib.uc_names_sort(self.pointer, labels_buffer(renumber)))
        return renumber


def names_list(pointer: Any) -> list[str]:
    return [text(pointer.text[k]) for k in range(pointer.count)]


# ---- when the package is imported ----


def _after_fork() -> None:
    global _is_forked
    _is_forked = True
    _one_blas_thread.forget_users()


def _settle_cpu_level() -> None:
    """The environment may fix it, for Python as for the program."""
    level = os.environ.get("UNCONFUSE_CPU")
    if level:
        check(lib.uc_cpu_set_level(level.encode()))


def _settle_blas() -> None:
    """The library tells OpenBLAS once that it wants one thread, when it first needs it: let that be now."""
    one = ffi.new("double *", 1.0)
    with _one_blas_thread:
        check(lib.uc_noise_inspect(ffi.new("uc_noise_check *"), ffi.new("uc_noise *", {"classes": 1, "values": one})))


_is_forked = False
os.register_at_fork(after_in_child=_after_fork)
_settle_cpu_level()
_settle_blas()
