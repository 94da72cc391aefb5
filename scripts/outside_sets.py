"""Data sets of Debian packages, for scripts/auto-grid: those of scikit-learn, and those of R's mlbench (r-cran-mlbench; R itself
is not needed: read_rda reads its files; UNCONFUSE_MLBENCH names their folder where the package is unpacked, not installed). Columns with names become a column of 0 and 1 for each name, missing ones included;
ordered names become their number, missing numbers the mean of their column."""
import bz2
import gzip
import lzma
import os
import pathlib
import struct

import numpy as np
from sklearn import datasets

MLBENCH = pathlib.Path(os.environ.get("UNCONFUSE_MLBENCH", "/usr/lib/R/site-library/mlbench/data"))
SKLEARN = {"iris": datasets.load_iris, "wine": datasets.load_wine, "wdbc": datasets.load_breast_cancer}
# File, column of the class, columns that are left out, most rows that are used.
R_SETS = {"sonar": ("Sonar", "Class", [], 600), "ionosphere": ("Ionosphere", "Class", [], 600),
          "glass": ("Glass", "Type", [], 600), "breastcancer": ("BreastCancer", "Class", ["Id"], 1000),
          "soybean": ("Soybean", "Class", [], 1000), "zoo": ("Zoo", "type", [], 600),
          "housevotes": ("HouseVotes84", "Class", [], 600), "shuttle": ("Shuttle", "Class", [], 3000)}
SETS = [*SKLEARN, *R_SETS]
NA_INTEGER = -2**31
ENVIRONMENTS = {0xFD, 0xF1, 0xF2, 0xFA, 0xFB, 0xFC}  # and other values that are a number and nothing else


class Reader:
    """R's serialization in XDR, as far as data frames need it."""

    def __init__(self, data):
        self.data, self.at, self.seen = data, 0, []

    def numbers(self, kind, count):
        size = struct.calcsize(">" + kind)
        values = np.frombuffer(self.data, f">{'i4' if kind == 'i' else 'f8'}", count, self.at)
        self.at += count * size
        return values

    def integer(self):
        return int(self.numbers("i", 1)[0])

    def pairs(self, flags):
        """A list of tagged values; ends with NIL."""
        found = {}
        while flags & 0xFF == 2:
            if flags & 0x200:
                self.item()
            tag = self.item() if flags & 0x400 else None
            found[tag] = self.item()
            flags = self.integer()
        return found

    def item(self):
        flags = self.integer()
        kind = flags & 0xFF
        if kind == 254 or kind in ENVIRONMENTS:
            return None
        if kind == 1:  # symbol
            self.seen.append(self.item())
            return self.seen[-1]
        if kind == 255:  # a symbol once more
            return self.seen[(flags >> 8 or self.integer()) - 1]
        if kind == 2:
            return self.pairs(flags)
        if kind == 9:  # text
            length = self.integer()
            text = None if length < 0 else self.data[self.at:self.at + length].decode("latin-1")
            self.at += max(length, 0)
            return text
        if kind in (10, 13):
            value = self.numbers("i", self.integer())
        elif kind == 14:
            value = self.numbers("d", self.integer())
        elif kind in (16, 19):
            value = [self.item() for _ in range(self.integer())]
        else:
            raise ValueError(f"an R value of type {kind} is not read here")
        return (value, self.item()) if flags & 0x200 else (value, {})


def read_rda(path):
    """The only data frame of a file: {column: (values, attributes)}."""
    data = path.read_bytes()
    for magic, module in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7zXZ", lzma)):
        data = module.decompress(data) if data.startswith(magic) else data
    version = {b"RDX2\nX\n": 2, b"RDX3\nX\n": 3}[data[:7]]
    reader = Reader(data[7:])
    reader.at = 12
    if version == 3:  # the encoding's name
        reader.at += 4 + struct.unpack(">i", reader.data[12:16])[0]
    (columns, attributes), = reader.item().values()
    return dict(zip(attributes["names"][0], columns))


def column_of(values, attributes):
    """A column of numbers, or one for each name."""
    if "levels" not in attributes:
        missing = np.isnan(values.astype(float)) | (values == NA_INTEGER)
        filled = np.where(missing, 0.0, values)
        return np.where(missing, filled.sum() / max((~missing).sum(), 1), filled)[:, None]
    codes = np.where(values == NA_INTEGER, 0, values)
    if "ordered" in attributes["class"][0]:
        known = codes[codes > 0]
        return np.where(codes > 0, codes, known.mean())[:, None].astype(float)
    return (codes[:, None] == np.unique(codes)[None, :]).astype(float)


def load(name):
    """Rows and classes 0, 1, ...; a class with fewer than four rows is left out."""
    if name in SKLEARN:
        X, y = SKLEARN[name](return_X_y=True)
    else:
        file, label, unused, most = R_SETS[name]
        frame = read_rda(MLBENCH / f"{file}.rda")
        y = np.array(frame.pop(label)[0])
        X = np.hstack([column_of(*column) for key, column in frame.items() if key not in unused])
        kept = np.random.default_rng(7).permutation(len(y))[:most]
        X, y = X[kept], y[kept]
    counts = np.unique(y, return_counts=True)
    kept = np.isin(y, counts[0][counts[1] >= 4])
    return X[kept], np.unique(y[kept], return_inverse=True)[1]


def available(name):
    return name in SKLEARN or (MLBENCH / f"{R_SETS[name][0]}.rda").exists()
