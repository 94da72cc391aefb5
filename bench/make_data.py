#!/usr/bin/python3
"""Writes the benchmark's data: LIBSVM text of about the size asked for, the same bytes for the same arguments.

    make_data.py sparse|dense CLASSES BYTES FILE

sparse  like text: 50,000 columns, about 60 of them in a row, a few columns frequent and most rare (the frequency of the
        r-th is about 1/r), one word in eight drawn from a ranking of the row's class, rows of unit length
dense   100 columns, all of them given; the classes are Gaussians around random means

Values have six significant digits. One label in twenty is wrong.
"""
import sys

import numpy

SEED = 20101
COLUMNS = {"sparse": 50000, "dense": 100}
ROWS = 2000  # at a time


def sparse_rows(rng, classes):
    """Yields labels, and for every row its columns (from 1) and values."""
    columns = COLUMNS["sparse"]
    common = rng.permutation(columns)
    own = numpy.array([rng.permutation(columns) for _ in range(classes)])
    while True:
        labels = rng.integers(classes, size=ROWS)
        lengths = numpy.maximum(rng.poisson(66, ROWS), 5)
        row = numpy.repeat(numpy.arange(ROWS), lengths)
        rank = (columns ** rng.random(row.size)).astype(int) - 1
        topical = rng.random(row.size) < 0.125
        column = numpy.where(topical, own[labels[row], rank], common[rank])
        key = numpy.unique(row * columns + column)
        row, column = key // columns, key % columns
        values = numpy.exp(rng.normal(0.0, 0.5, key.size))
        values /= numpy.sqrt(numpy.bincount(row, values * values, ROWS))[row]
        yield labels, numpy.bincount(row, minlength=ROWS), column + 1, values


def dense_rows(rng, classes):
    columns = COLUMNS["dense"]
    means = rng.normal(0.0, 0.15, (classes, columns))
    column = numpy.tile(numpy.arange(1, columns + 1), ROWS)
    while True:
        labels = rng.integers(classes, size=ROWS)
        values = means[labels] + rng.normal(size=(ROWS, columns))
        yield labels, numpy.full(ROWS, columns), column, values.ravel()


def main(shape, classes, size, path):
    rng = numpy.random.Generator(numpy.random.PCG64(SEED))
    rows = (sparse_rows if shape == "sparse" else dense_rows)(rng, classes)
    written = 0
    with open(path, "w", encoding="ascii") as file:
        for labels, counts, columns, values in rows:
            labels = numpy.where(rng.random(ROWS) < 0.05, rng.integers(classes, size=ROWS), labels)
            words = ["%d:%.6g" % pair for pair in zip(columns.tolist(), values.tolist())]
            first = 0
            for label, count in zip(labels.tolist(), counts.tolist()):
                line = "%d %s\n" % (label + 1, " ".join(words[first : first + count]))
                first += count
                file.write(line)
                written += len(line)
                if written >= size:
                    return


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
