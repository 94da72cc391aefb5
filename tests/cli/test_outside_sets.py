"""scripts/outside_sets.py reads R's data frames without R."""
import gzip
import importlib.util
import struct

import pytest
from conftest import ROOT

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")
ATTRIBUTES, TAG, CHARSXP, LIST_END = 0x200, 0x400, 9, struct.pack(">i", 254)


@pytest.fixture
def outside_sets(monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("outside_sets", ROOT / "scripts" / "outside_sets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Writer:
    """R's serialization, from its description: values with attributes, symbols named again by their number."""

    def __init__(self):
        self.symbols = []

    def symbol(self, name):
        if name in self.symbols:
            return struct.pack(">i", 255 | (self.symbols.index(name) + 1) << 8)
        self.symbols.append(name)
        return struct.pack(">i", 1) + self.text(name)

    @staticmethod
    def text(value):
        if value is None:
            return struct.pack(">ii", CHARSXP, -1)
        return struct.pack(">ii", CHARSXP, len(value)) + value.encode("latin-1")

    def pairs(self, members):
        return b"".join(struct.pack(">i", 2 | TAG) + self.symbol(name) + value() for name, value in members.items()) + LIST_END

    def texts(self, values):
        return struct.pack(">ii", 16, len(values)) + b"".join(map(self.text, values))

    def factor(self, codes, levels, *classes):
        flags = 13 | ATTRIBUTES
        return struct.pack(f">ii{len(codes)}i", flags, len(codes), *codes) + self.pairs(
            {"levels": lambda: self.texts(levels), "class": lambda: self.texts(classes)})

    def frame(self, columns):
        body = struct.pack(">ii", 19 | ATTRIBUTES, len(columns)) + b"".join(column() for column in columns.values())
        return body + self.pairs({"names": lambda: self.texts(list(columns)), "class": lambda: self.texts(["data.frame"])})


def small_frame(version):
    """Four rows of each of two classes; a missing number, a missing name."""
    writer = Writer()
    numbers = [1.0, 2.0, float("nan"), 3.0, 4.0, 5.0, 6.0, 7.0]
    body = writer.pairs({"Sonar": lambda: writer.frame({
        "a": lambda: struct.pack(">ii8d", 14, 8, *numbers),
        "b": lambda: writer.factor([1, 2, 1, -2**31, 2, 2, 1, 1], ["x", "y"], "factor"),
        "c": lambda: writer.factor([1, 2, 3, 1, 2, 3, 1, 2], ["low", "mid", "high"], "ordered", "factor"),
        "Class": lambda: writer.factor([1, 2, 1, 2, 1, 2, 1, 2], ["M", "R"], "factor")})})
    encoding = struct.pack(">i", 5) + b"UTF-8" if version == 3 else b""
    return b"RDX%d\nX\n" % version + struct.pack(">iii", version, 0x40000, 0x20300) + encoding + body


@pytest.mark.parametrize("version", [2, 3])
def test_a_data_frame_becomes_numbers(outside_sets, tmp_path, version):
    (tmp_path / "Sonar.rda").write_bytes(gzip.compress(small_frame(version)))
    outside_sets.MLBENCH = tmp_path
    assert outside_sets.available("sonar") and not outside_sets.available("glass")
    X, y = outside_sets.load("sonar")
    assert X.shape == (8, 5) and sorted(y) == [0] * 4 + [1] * 4
    by_number = {row[0]: (list(row[1:4]), row[4], label) for row, label in zip(X, y)}
    assert by_number[1.0] == ([0, 1, 0], 1, 0)  # missing, x, y; low; M
    assert by_number[3.0] == ([1, 0, 0], 1, 1)
    missing = [row for row in X if row[0] not in (1, 2, 3, 5, 6, 7)]  # the mean of the others is 4, which one row has
    assert [row[0] for row in missing] == [4.0, 4.0]


def test_a_class_of_few_rows_is_left_out(outside_sets):
    for name in outside_sets.SKLEARN:
        X, y = outside_sets.load(name)
        assert len(X) == len(y) and set(y) == set(range(y.max() + 1)) and np.bincount(y).min() >= 4
