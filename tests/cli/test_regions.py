"""The regions of models of two columns or of maps to two dimensions, in the JSON of commands, against predictions of the same places."""
import random

import pytest


def plane(rows, classes="abc", seed=3):
    draw = random.Random(seed)
    centres = {name: (3 * i, (i % 2) * 4) for i, name in enumerate(classes)}
    lines = []
    for _ in range(rows):
        name = draw.choice(classes)
        x, y = (centre + draw.gauss(0, 1) for centre in centres[name])
        lines.append(f"{name} 1:{x:.4f} 2:{y:.4f}")
    return "\n".join(lines) + "\n"


def points_of(text):
    return [[float(cell.split(":")[1]) for cell in line.split()[1:]] for line in text.splitlines()]


def test_cells_are_predictions_of_their_middles(unconfuse):
    text = plane(1000)
    unconfuse.write("data.svm", text)
    unconfuse.ok("train", "ridge", "data.svm", "-o", "model.uc")
    found = unconfuse.json("evaluate", "model.uc", "data.svm")
    regions, size = found["regions"], found["regions"]["size"]
    for axis, place in (("x", 0), ("y", 1)):
        values = [point[place] for point in points_of(text)]
        span = max(values) - min(values)
        assert regions[axis] == pytest.approx([min(values) - span / 20, max(values) + span / 20], abs=1e-5)
    middle = [[low + (high - low) * (i + 0.5) / size for i in range(size)] for low, high in (regions["x"], regions["y"])]
    unconfuse.write("grid.svm", "".join(f"a 1:{x!r} 2:{y!r}\n" for y in middle[1] for x in middle[0]))
    unconfuse.ok("predict", "model.uc", "grid.svm", "-o", "grid.txt")
    expected = [found["classes"].index(name) for name in unconfuse.read("grid.txt").decode().split()]
    cells = [cell for row in regions["cells"] for cell in row]
    assert len(cells) == size * size and set(cells) == {0, 1, 2}
    assert sum(a != b for a, b in zip(cells, expected)) <= 2  # places on an edge, by the last bit of a float


def test_points_are_rows_evenly_and_not_too_many(unconfuse):
    text = plane(1000)
    unconfuse.write("data.svm", text)
    unconfuse.write("few.svm", "".join(text.splitlines(True)[:5]))
    unconfuse.ok("train", "ridge", "data.svm", "-o", "model.uc")
    points = unconfuse.json("evaluate", "model.uc", "data.svm")["regions"]["points"]
    rows = points_of(text)
    labels = ["abc".index(line[0]) for line in text.splitlines()]
    assert len(points) == 250  # every fourth: every second one would be more than 400
    assert [point[2] for point in points] == labels[::4]
    for (x, y, _), row in zip(points, rows[::4]):
        assert (x, y) == pytest.approx(row, abs=1e-5)
    assert len(unconfuse.json("evaluate", "model.uc", "few.svm")["regions"]["points"]) == 5


def test_labels_that_are_missing_or_unknown_have_no_class(unconfuse):
    unconfuse.write("data.svm", plane(200))
    unconfuse.write("odd.svm", "a 1:0 2:0\nzebra 1:1 2:1\n? 1:2 2:2\n")
    unconfuse.ok("train", "ridge", "data.svm", "-o", "model.uc")
    points = unconfuse.json("evaluate", "model.uc", "odd.svm")["regions"]["points"]
    assert points == [[0, 0, 0], [1, 1, None], [2, 2, None]]


def test_other_numbers_of_columns_have_no_regions(unconfuse):
    for columns in (1, 3):
        lines = [f"{'ab'[i % 2]} " + " ".join(f"{j + 1}:{(i % 7) + 3 * (i % 2)}" for j in range(columns)) for i in range(60)]
        unconfuse.write("data.svm", "\n".join(lines) + "\n")
        unconfuse.ok("train", "ridge", "data.svm", "-o", "model.uc")
        assert "regions" not in unconfuse.json("evaluate", "model.uc", "data.svm")
        assert "regions" not in unconfuse.json("experiment", "data.svm", "--learners", "ridge", "--noise", "none", "--runs", "1")


def test_experiment_has_those_of_the_first_run(unconfuse):
    """Of the model that split, noise apply and train make by hand."""
    unconfuse.write("data.svm", plane(600))
    found = unconfuse.json("experiment", "data.svm", "--noise", "none,pair:0.3", "--learners", "ridge,sloppy-svm,perceptron", "--runs", "2",
                           "--seed", "4")
    assert [(one["data"], one["noise"]) for one in found["regions"]] == [("data.svm", "none"), ("data.svm", "pair:0.3")]
    region = found["regions"][1]
    assert [one["learner"] for one in region["learners"]] == ["ridge", "perceptron"]  # sloppy-svm is for two classes
    assert region["classes"] == ["a", "b", "c"]
    unconfuse.ok("split", "data.svm", "--share", "0.7", "--seed", "4", "-o", "train.svm", "--rest", "test.svm")
    unconfuse.ok("noise", "make", "pair", "--classes", "a,b,c", "--rate", "0.3", "-o", "pair.csv")
    unconfuse.ok("noise", "apply", "train.svm", "--noise-matrix", "pair.csv", "--seed", "4", "-o", "noisy.svm")
    unconfuse.ok("train", "ridge", "noisy.svm", "--seed", "4", "-o", "model.uc")
    by_hand = unconfuse.json("evaluate", "model.uc", "noisy.svm")["regions"]
    assert by_hand["points"] == region["points"] and by_hand["x"] == region["x"]
    assert by_hand["cells"] == region["learners"][0]["cells"]


def test_too_many_pictures_are_none(unconfuse):
    unconfuse.write("data.svm", plane(60))
    noise = ",".join(f"uniform:{i / 1000}" for i in range(101))
    assert "regions" not in unconfuse.json("experiment", "data.svm", "--noise", noise, "--learners", "ridge", "--runs", "1")


def test_cross_validation_has_those_of_a_model_of_all_rows(unconfuse):
    unconfuse.write("data.svm", plane(300))
    unconfuse.ok("train", "ridge", "data.svm", "-o", "model.uc")
    found = unconfuse.json("train", "ridge", "data.svm", "-v", "3")["regions"]
    assert found == unconfuse.json("evaluate", "model.uc", "data.svm")["regions"]
    assert found["of"] == "columns" and {cell for row in found["cells"] for cell in row} == {0, 1, 2}


def test_a_map_to_two_dimensions_has_regions_in_its_plane(unconfuse):
    """Scores are linear there, so cells along a line change class at most once for two classes; points are the mapped rows."""
    draw = random.Random(5)
    rows = [[draw.gauss(3 * (i % 2), 1) for _ in range(5)] for i in range(200)]
    unconfuse.write("data.svm", "".join(f"{'ab'[i % 2]} " + " ".join(f"{j + 1}:{v:.5f}" for j, v in enumerate(row)) + "\n"
                                        for i, row in enumerate(rows)))
    options = ["--map", "kpca", "--kernel", "linear", "--dimension", "2"]
    unconfuse.ok("train", "logistic", "data.svm", "-o", "model.uc", *options)
    regions = unconfuse.json("evaluate", "model.uc", "data.svm")["regions"]
    assert regions["of"] == "map" and len(regions["points"]) == 200
    for line in [*regions["cells"], *zip(*regions["cells"])]:
        assert sum(a != b for a, b in zip(line, line[1:])) <= 1
    assert {cell for row in regions["cells"] for cell in row} == {0, 1}
    # the ground below a row is what predict says of the row
    unconfuse.ok("predict", "model.uc", "data.svm", "-o", "out.txt")
    predicted = unconfuse.read("out.txt").decode().split()
    size, (x0, x1), (y0, y1) = regions["size"], regions["x"], regions["y"]
    differ = 0
    for (x, y, _), name in zip(regions["points"], predicted):
        cell = regions["cells"][int((y - y0) / (y1 - y0) * size)][int((x - x0) / (x1 - x0) * size)]
        differ += "ab"[cell] != name
    assert differ <= 4  # rows in a cell that the border cuts
    assert unconfuse.json("train", "logistic", "data.svm", "-v", "3", *options)["regions"] == regions
