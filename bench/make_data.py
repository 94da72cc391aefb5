#!/usr/bin/python3
"""Writes the benchmark's data, the same bytes for the same arguments: LIBSVM text of about the size asked for, or
arrays.

    make_data.py sparse|dense CLASSES BYTES FILE
    make_data.py arrays ROWS COLUMNS CLASSES FILE LABELS

sparse  like text: 50,000 columns, about 60 of them in a row, a few columns frequent and most rare (the frequency of the
        r-th is about 1/r), one word in eight drawn from a ranking of the row's class, rows of unit length
dense   100 columns, all of them given; the classes are Gaussians around random means
arrays  NPY files of floats and of labels; the classes are Gaussians that overlap, with eigenvalues that fall slowly,
        and one label in five is wrong

The text's values have six significant digits; one label in twenty is wrong.
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


def write_arrays(rows, columns, classes, path, labels_path):
    rng = numpy.random.Generator(numpy.random.PCG64(SEED))
    spread = 1 / (1 + numpy.arange(columns) / 8)
    rotation = numpy.linalg.qr(rng.normal(size=(columns, columns)))[0]
    means = rng.normal(size=(classes, columns)) * spread
    labels = rng.integers(classes, size=rows)
    values = (0.7 * means[labels] + rng.normal(size=(rows, columns)) * spread) @ rotation
    wrong = rng.random(rows) < 0.2
    labels[wrong] = (labels[wrong] + rng.integers(1, classes, size=wrong.sum())) % classes
    numpy.save(path, values.astype(numpy.float32))
    numpy.save(labels_path, labels + 1)


def write_text(shape, classes, size, path):
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
    if sys.argv[1] == "arrays":
        write_arrays(*(int(count) for count in sys.argv[2:5]), *sys.argv[5:7])
    else:
        write_text(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
