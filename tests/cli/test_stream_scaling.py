"""stream: scaling that is learned as rows come, without a first look."""
import re

import numpy as np
import pytest

from conftest import blobs


def slowly_scaled(text, scale):
    """LIBSVM rows as they are when each is scaled by the rows up to it, by plain means over all of them."""
    rows = [line.split() for line in text.splitlines()]
    table = np.array([[float(cell.split(":")[1]) for cell in row[1:]] for row in rows], np.float32).astype(float)
    out = []
    for i, row in enumerate(rows):
        seen = table[:i + 1]
        low, high, size = seen.min(0), seen.max(0), np.abs(seen).max(0)
        shift, spread = {"standard": (seen.mean(0), seen.std(0)), "range": ((high + low) / 2, (high - low) / 2),
                         "maxabs": (0 * low, size)}[scale]
        spread = np.where((low == high) & (scale != "maxabs"), 0, spread)
        values = np.where(spread > 0, (table[i] - shift) / np.where(spread > 0, spread, 1), 0).astype(np.float32)
        out.append(" ".join([row[0], *(f"{j + 1}:{float(v)!r}" for j, v in enumerate(values))]))
    return "\n".join(out) + "\n"


CLASSES = ["--classes", "a,b,c"]


def columns_of_unlike_size(seed):
    return re.sub(r" 2:(\S+)", lambda cell: f" 2:{1000 * float(cell[1]) + 5000}", blobs(["a", "b", "c"], 400, seed))


@pytest.mark.parametrize("scale", ["standard", "range", "maxabs"])
@pytest.mark.parametrize("learner", ["spa", "cspa-plus", "onebit"])
def test_scaling_learned_as_rows_come_is_that_of_the_rows_so_far(unconfuse, learner, scale):
    """Nearly all proposals are the same; the last bit of a mean by another order of sums may change one."""
    text = columns_of_unlike_size(1)
    unconfuse.write("slow.svm", slowly_scaled(text, scale))
    slow = unconfuse.json("stream", learner, "slow.svm", *CLASSES)
    running = unconfuse.json("stream", learner, "-", *CLASSES, "--scale", scale, stdin=text)
    assert abs(running["correct"] - slow["correct"]) <= 8 and running["rounds"] == slow["rounds"] == 400


@pytest.mark.parametrize("scale", ["standard", "range", "maxabs"])
@pytest.mark.parametrize("learner", ["spa", "cspa-plus", "onebit"])
def test_scaling_learned_as_rows_come_does_no_harm(unconfuse, learner, scale):
    """In 2,000 rounds, of five streams."""
    def right(*options):
        return sum(unconfuse.json("stream", learner, "-", *CLASSES, *options, stdin=columns_of_unlike_size(seed))["correct"]
                   for seed in range(1, 6))
    assert right("--scale", scale) >= right() - 40


@pytest.mark.parametrize("options", [["spa", "--scale", "standard"], ["cspa-plus", "--scale", "maxabs", "--average"],
                                     ["onebit", "--scale", "range"],
                                     ["spa", "--scale", "standard", "--map", "landmarks", "--width", "2", "--dimension", "80"]])
def test_scaling_learned_as_rows_come_goes_on_where_it_stopped(unconfuse, options):
    lines = blobs(["a", "b", "c"], 300).splitlines(keepends=True)
    unconfuse.ok("stream", *options, "-", "--classes", "a,b,c", "-o", "whole.uc", stdin="".join(lines))
    for at in (1, 150):
        unconfuse.ok("stream", *options, "-", "--classes", "a,b,c", "-o", "half.uc", stdin="".join(lines[:at]))
        unconfuse.ok("stream", options[0], "-", "--resume", "half.uc", "-o", "resumed.uc", stdin="".join(lines[at:]))
        assert unconfuse.read("whole.uc") == unconfuse.read("resumed.uc")
    unconfuse.write("rows.svm", "".join(lines))
    assert unconfuse.ok("predict", "whole.uc", "rows.svm").out


def test_scaling_learned_as_rows_come_refuses_sparse_rows(unconfuse):
    text = "a 1:1 900:2\nb 3:1 400:1\n" * 5
    assert unconfuse.fails(1, "stream", "spa", "-", "--scale", "standard", stdin=text).startswith(
        "--scale standard would turn the zeros of sparse data into other values: use --scale maxabs")
    unconfuse.ok("stream", "spa", "-", "--scale", "maxabs", stdin=text)
    unconfuse.ok("stream", "spa", "-", "--scale", "standard", "--storage", "dense", stdin=text)
