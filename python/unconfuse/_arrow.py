"""Arrow tables through the C data interface: the structs of its ABI and nothing else, so that polars and pyarrow need no
copy through pandas. https://arrow.apache.org/docs/format/CDataInterface.html"""
from __future__ import annotations

import csv
import ctypes
import datetime
import io
from typing import Any, Callable

import numpy as np


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
                    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.POINTER(_Schema)),
                    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))), ("private_data", ctypes.c_void_p)]
_Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                   ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
                   ("dictionary", ctypes.POINTER(_Array)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
                   ("private_data", ctypes.c_void_p)]
_Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
                    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
                    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
                    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))), ("private_data", ctypes.c_void_p)]

_NUMBERS = {"c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16, "i": np.int32, "I": np.uint32, "l": np.int64,
            "L": np.uint64, "e": np.float16, "f": np.float32, "g": np.float64}
_UNITS = {"s": 1, "m": 10**3, "u": 10**6, "n": 10**9}  # of a second
_EPOCH = datetime.datetime(1970, 1, 1)


def _buffer(array: _Array, number: int, dtype: Any, count: int) -> np.ndarray:
    """A look at a buffer, which the array owns."""
    address = array.buffers[number]
    if not address or count == 0:
        return np.zeros(count, dtype)
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer(memoryview((ctypes.c_char * size).from_address(address)), dtype)


def _bits(array: _Array, number: int) -> np.ndarray:
    first, last = array.offset, array.offset + array.length
    packed = _buffer(array, number, np.uint8, (last + 7) // 8)
    return np.unpackbits(packed, bitorder="little")[first:last].astype(bool)


def _is_there(array: _Array) -> np.ndarray:
    if array.null_count == 0 or array.n_buffers == 0 or not array.buffers[0]:
        return np.full(array.length, array.n_buffers > 0)
    return _bits(array, 0)


def _strings(array: _Array, dtype: Any) -> list[str]:
    offsets = _buffer(array, 1, dtype, array.offset + array.length + 1)[array.offset:]
    data = _buffer(array, 2, np.uint8, int(offsets[-1]) if len(offsets) else 0).tobytes()
    return [data[a:b].decode(errors="surrogateescape") for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist())]


def _string_views(array: _Array) -> list[str]:
    """Sixteen bytes each: the length, then the text itself if it is short, else where it is."""
    views = _buffer(array, 1, np.uint8, 16 * (array.offset + array.length)).reshape(-1, 16)[array.offset:]
    lengths = views[:, :4].copy().view(np.int32).ravel()
    places = views[:, 8:].copy().view(np.int32)
    count = array.n_buffers - 3
    sizes = _buffer(array, array.n_buffers - 1, np.int64, count)
    data = [_buffer(array, 2 + k, np.uint8, int(sizes[k])).tobytes() for k in range(count)]
    found = []
    for view, length, (buffer, begin) in zip(views, lengths.tolist(), places.tolist()):
        raw = view[4:4 + length].tobytes() if length <= 12 else data[buffer][begin:begin + length]
        found.append(raw.decode(errors="surrogateescape"))
    return found


def _times(array: _Array, dtype: Any, text_of: Callable[[int], str]) -> list[str]:
    values = _buffer(array, 1, dtype, array.offset + array.length)[array.offset:]
    there = _is_there(array)
    return [text_of(value) if is_there else "" for value, is_there in zip(values.tolist(), there.tolist())]


def _day(days: int) -> str:
    return (_EPOCH + datetime.timedelta(days=days)).date().isoformat()


def _moment(units: int) -> Callable[[int], str]:
    return lambda value: (_EPOCH + datetime.timedelta(seconds=value // units)).isoformat(sep=" ")


def _numbers(array: _Array, dtype: Any) -> list[str]:
    values = _buffer(array, 1, dtype, array.offset + array.length)[array.offset:]
    if values.dtype.kind != "f":
        return [str(value) for value in values.tolist()]
    kept = values if values.dtype == np.float64 else values.astype(np.float32)
    return ["" if value != value else str(value) for value in (kept.tolist() if kept.dtype == np.float64 else kept)]


def _column(schema: _Schema, array: _Array, decimal: str) -> list[str]:
    """The values as text; missing ones are empty."""
    kind = schema.format.decode()
    if schema.dictionary:
        words = _column(schema.dictionary.contents, array.dictionary.contents, decimal)
        codes = _buffer(array, 1, _NUMBERS[kind], array.offset + array.length)[array.offset:]
        values = [words[code] if 0 <= code < len(words) else "" for code in codes.tolist()]
    elif kind in _NUMBERS:
        values = [value.replace(".", decimal) for value in _numbers(array, _NUMBERS[kind])]
    elif kind == "b":
        values = ["true" if value else "false" for value in _bits(array, 1).tolist()]
    elif kind in "uU":
        values = _strings(array, np.int32 if kind == "u" else np.int64)
    elif kind == "vu":
        values = _string_views(array)
    elif kind == "tdD":
        values = _times(array, np.int32, _day)
    elif kind == "tdm":
        values = _times(array, np.int64, lambda value: _day(value // 86400000))
    elif kind.startswith("ts"):
        values = _times(array, np.int64, _moment(_UNITS[kind[2]]))
    elif kind == "n":
        return [""] * array.length
    else:
        raise ValueError(f"column {schema.name.decode()!r} has Arrow's type {kind!r}, which is not a number, text, truth value "
                         "or time: convert it, or leave it out")
    there = _is_there(array)
    return values if there.all() else [value if is_there else "" for value, is_there in zip(values, there.tolist())]


def _pointer(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, name))


def _check(stream: _Stream, status: int) -> None:
    if status != 0:
        sentence = stream.get_last_error(ctypes.byref(stream))
        raise ValueError(f"the Arrow stream failed: {sentence.decode() if sentence else status}")


def csv_of_stream(source: Any, label: str | None, decimal: str = ".") -> bytes:
    """All batches of a stream as CSV with a header; `label`: one more column of that name."""
    capsule = source.__arrow_c_stream__()
    stream = _Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
    schema = _Schema()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    try:
        _check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)))
        if schema.format != b"+s":
            raise ValueError("the Arrow stream has no columns")
        fields = [schema.children[i].contents for i in range(schema.n_children)]
        more = [] if label is None else [label]
        writer.writerow([field.name.decode() for field in fields] + more)
        while True:
            batch = _Array()
            _check(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(batch)))
            if not batch.release:
                break
            try:
                columns = [_column(field, batch.children[i].contents, decimal) for i, field in enumerate(fields)]
                columns += [["x"] * batch.length] * len(more)
                writer.writerows(zip(*columns))
            finally:
                batch.release(ctypes.byref(batch))
    finally:
        if schema.release:
            schema.release(ctypes.byref(schema))
    return text.getvalue().encode(errors="surrogateescape")
