"""unconfuse audit --clean-out: tables stay as they are but for what is repaired."""
import csv
import io
import json

import pytest

np = pytest.importorskip("numpy")


def trees(seed=3, rows=120):
    """Lines of a table with ids, text with commas and quotes, and labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(rows):
        z = int(rng.integers(0, 2))
        label = ["ash", "oak"][z ^ int(rng.random() < 0.15)]
        note = ['"tall, old"', "young", 'a ""big"" one'][i % 3]
        note = f'"{note}"' if '""' in note else note
        lines.append((f"T{i}", f"{4.0 * z + rng.normal():.3f}", f"{rng.normal() - 4.0 * z:.2f}", note, label))
    return lines


def as_csv(lines, header="tree_id,height,width,note,species", end="\n"):
    return end.join([header, *(",".join(line) for line in lines)]) + end


def as_json(lines):
    names = ["tree_id", "height", "width", "note", "species"]
    rows = []
    for line in lines:
        fields = next(csv.reader([",".join(line)]))
        rows.append(json.dumps({name: float(f) if name in ("height", "width") else f for name, f in zip(names, fields)}))
    return "\n".join(rows) + "\n"


def scores(unconfuse, *command):
    unconfuse.ok("audit", *command, "--all", "-o", "all.csv")
    rows = csv.DictReader(io.StringIO(unconfuse.read("all.csv").decode()))
    return {int(row["row"]) - 1: float(row["label_score"]) for row in rows}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_weights_are_one_more_column_of_a_table(unconfuse, end):
    before = as_csv(trees(), end=end)
    unconfuse.write("trees.csv", before)
    unconfuse.ok("audit", "trees.csv", "--clean-out", "w.csv", "--repair", "weight")
    lines, expected = unconfuse.read("w.csv").decode().split(end), scores(unconfuse, "trees.csv")
    assert lines[0].endswith(",weight")
    assert end.join(line.rpartition(",")[0] for line in lines[:-1]) + end == before
    assert [float(line.rpartition(",")[2]) for line in lines[1:-1]] == pytest.approx([expected[i] for i in range(120)])
    assert min(expected.values()) < 0.1 < 0.9 < max(expected.values())
    unconfuse.write("weights.txt", "".join(line.rpartition(",")[2] + "\n" for line in lines[1:-1]))
    found = unconfuse.json("train", "logistic", "w.csv", "--weight", "weight", "-o", "a.uc")
    unconfuse.ok("train", "logistic", "trees.csv", "--weights", "weights.txt", "-o", "b.uc")
    assert found["classes"] == ["ash", "oak"]
    predicted = [unconfuse.ok("predict", model, "trees.csv", "--scores").out for model in ("a.uc", "b.uc")]
    assert predicted[0] == predicted[1]


def test_weights_are_the_first_key_of_json_lines(unconfuse):
    """The last key of all lines is the label where none has a usual name."""
    before = as_json(trees())
    unconfuse.write("trees.jsonl", before)
    unconfuse.ok("audit", "trees.jsonl", "--clean-out", "w.jsonl", "--repair", "weight")
    expected, rows = scores(unconfuse, "trees.jsonl"), []
    for line, old in zip(unconfuse.read("w.jsonl").decode().splitlines(), before.splitlines(), strict=True):
        rows.append(json.loads(line))
        assert list(rows[-1])[0] == "weight" and line == f'{{"weight": {line.split()[1]} {old[1:]}'
    assert [row["weight"] for row in rows] == pytest.approx([expected[i] for i in range(120)])
    assert unconfuse.json("train", "logistic", "w.jsonl", "--weight", "weight", "-o", "m.uc")["classes"] == ["ash", "oak"]
    unconfuse.ok("audit", "trees.jsonl", "--clean-out", "w.csv", "--repair", "weight")
    table = list(csv.DictReader(io.StringIO(unconfuse.read("w.csv").decode())))
    assert [float(row["weight"]) for row in table] == [row["weight"] for row in rows]
    assert [row["note"] for row in table] == [row["note"] for row in rows]


def test_json_lines_on_standard_output(unconfuse):
    before = as_json(trees()).splitlines()
    unconfuse.write("trees.jsonl", "\n".join(before) + "\n")
    flagged = {issue["row"] - 1: issue["suggested"] for issue in unconfuse.json("audit", "trees.jsonl")["issues"]}
    assert len(flagged) > 5
    suggested = unconfuse.ok("audit", "trees.jsonl", "--clean-out", "-").stdout.decode().splitlines()
    for i, (line, old) in enumerate(zip(suggested, before, strict=True)):
        assert json.loads(line) == {**json.loads(old), **({"species": flagged[i]} if i in flagged else {})}
        assert i in flagged or line == old
    dropped = unconfuse.ok("audit", "trees.jsonl", "--clean-out", "-", "--repair", "drop").stdout.decode().splitlines()
    assert dropped == [line for i, line in enumerate(before) if i not in flagged]
    unconfuse.ok("audit", "trees.jsonl", "--clean-out", "w.jsonl", "--repair", "weight")
    weighed = unconfuse.ok("audit", "trees.jsonl", "--clean-out", "-", "--repair", "weight").stdout
    assert weighed == unconfuse.read("w.jsonl")


def test_a_column_of_weights_is_multiplied(unconfuse):
    lines = [(*line[:4], ["2", "0.5"][i % 2], line[4]) for i, line in enumerate(trees())]
    unconfuse.write("trees.csv", as_csv(lines, "tree_id,height,width,note,count,species"))
    unconfuse.ok("audit", "trees.csv", "--weight", "count", "--clean-out", "w.csv", "--repair", "weight")
    expected = scores(unconfuse, "trees.csv", "--weight", "count")
    rows = list(csv.DictReader(io.StringIO(unconfuse.read("w.csv").decode())))
    assert list(rows[0]) == ["tree_id", "height", "width", "note", "count", "species"]
    assert [float(row["count"]) for row in rows] == pytest.approx([[2, 0.5][i % 2] * expected[i] for i in range(120)])
    unconfuse.ok("audit", "trees.csv", "--weight", "count", "--clean-out", "s.csv")
    assert [row["count"] for row in csv.DictReader(io.StringIO(unconfuse.read("s.csv").decode()))] == [x[4] for x in lines]


def test_a_column_called_weight_may_be_a_feature(unconfuse):
    header = "tree_id,weight,width,note,species"
    unconfuse.write("trees.csv", as_csv(trees(), header))
    done = unconfuse.ok("audit", "trees.csv", "--clean-out", "w.csv", "--repair", "weight")
    assert "w.csv: the table has a column 'weight' already; the one of weights is called 'label_weight'" in done.err
    assert unconfuse.read("w.csv").decode().splitlines()[0] == header + ",label_weight"
    unconfuse.ok("train", "logistic", "w.csv", "--weight", "label_weight", "-o", "m.uc")
    unconfuse.write("trees.csv", as_csv(trees(), "tree_id,weight,label_weight,note,species"))
    assert unconfuse.fails(1, "audit", "trees.csv", "--clean-out", "x.csv", "--repair", "weight") == (
        "trees.csv: weights need a column of their own, but 'weight' and 'label_weight' are columns already: rename "
        "one of them")


def test_a_table_without_header_gets_a_last_column(unconfuse):
    lines = [line[1:3] + line[4:] for line in trees()]
    unconfuse.write("trees.csv", "".join(",".join(line) + "\n" for line in lines))
    unconfuse.ok("audit", "trees.csv", "--clean-out", "w.csv", "--repair", "weight")
    written = [line.split(",") for line in unconfuse.read("w.csv").decode().splitlines()]
    assert [tuple(line[:3]) for line in written] == lines and all(0 <= float(line[3]) <= 1 for line in written)
    assert unconfuse.json("train", "logistic", "w.csv", "--weight", "-1", "-o", "m.uc")["classes"] == ["ash", "oak"]


@pytest.mark.parametrize("command", [["audit", "trees.csv", "--clean-out", "out.csv"],
                                     ["audit", "trees.csv", "--clean-out", "out.csv", "--repair", "drop"],
                                     ["split", "trees.csv", "-o", "out.csv", "--rest", "rest.csv"]])
def test_weights_of_a_file_become_a_column_of_the_table(unconfuse, command):
    lines = trees()
    unconfuse.write("trees.csv", as_csv(lines))
    unconfuse.write("weights.txt", "".join(f"{1 + i / 64}\n" for i in range(120)))
    flagged = {i["id"]: i["suggested"] for i in unconfuse.json("audit", "trees.csv", "--weights", "weights.txt")["issues"]}
    unconfuse.ok(*command, "--weights", "weights.txt")
    rows = list(csv.DictReader(io.StringIO(unconfuse.read("out.csv").decode())))
    dropped = set(flagged) if "drop" in command else set()
    assert len(flagged) > 5 and len(rows) > 50 and not dropped & {row["tree_id"] for row in rows}
    assert command[0] == "split" or len(rows) == 120 - len(dropped)
    for row in rows:
        i = int(row["tree_id"][1:])
        assert float(row["weight"]) == 1 + i / 64 and row["height"] == lines[i][1]
        suggested = command[0] == "audit" and row["tree_id"] in flagged
        assert row["species"] == (flagged[row["tree_id"]] if suggested else lines[i][4])


@pytest.mark.parametrize("weight, sentence", [
    ("0", "t.csv: the weights of labels sum to 0, which must be from 1e-100 to 1e+100"),
    ("1e308", "t.csv: the weights of labels sum to inf, which must be from 1e-100 to 1e+100"),
    ("1e-110", "t.csv: the weights of labels sum to 1.2e-108, which must be from 1e-100 to 1e+100"),
    ("-1", "t.csv:2: column 'w': '-1' is not a weight: a finite number of 0 or more"),
    ("nan", "t.csv:2: column 'w': 'nan' is not a weight: a finite number of 0 or more"),
    ("", "t.csv:2: column 'w' is empty"),
])
def test_bad_weights_of_a_column_have_their_sentence(unconfuse, weight, sentence):
    rows = [f"{line[1]},{line[2]},{weight},{line[4]}\n" for line in trees()]
    unconfuse.write("t.csv", "x,y,w,label\n" + "".join(rows))
    assert unconfuse.fails(1, "audit", "t.csv", "--weight", "w", "--model-out", "m.uc") == sentence
    unconfuse.write("t.csv", "x,y,w,label\n1,2,5,?\n" + "".join(rows))  # whose weight does not help
    if weight == "0":
        assert unconfuse.fails(1, "audit", "t.csv", "--weight", "w") == sentence


def test_rows_of_weight_0_do_not_matter_to_others(unconfuse):
    lines = trees()
    unconfuse.write("all.csv", "x,y,w,label\n" + "".join(
        f"{line[1]},{line[2]},{int(i < 100)},{line[4]}\n" for i, line in enumerate(lines)))
    unconfuse.write("some.csv", "x,y,label\n" + "".join(f"{line[1]},{line[2]},{line[4]}\n" for line in lines[:100]))
    everything, some = (unconfuse.json("audit", *command, "--all") for command in (["all.csv", "--weight", "w"], ["some.csv"]))
    p = {issue["row"]: issue["p_wrong"] for issue in some["issues"]}
    assert len(p) == 100
    assert all(abs(issue["p_wrong"] - p[issue["row"]]) < 0.02 for issue in everything["issues"] if issue["row"] <= 100)


def test_an_object_called_weight_keeps_its_name(unconfuse):
    """JSON lines: its members are columns such as weight.kg, and a second `weight` would take its place."""
    rows = [{**json.loads(line), "weight": {"kg": i % 7}} for i, line in enumerate(as_json(trees()).splitlines())]
    unconfuse.write("trees.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    unconfuse.ok("audit", "trees.jsonl", "--label", "species", "--clean-out", "w.jsonl", "--repair", "weight")
    for line, row in zip(unconfuse.read("w.jsonl").decode().splitlines(), rows, strict=True):
        members = json.loads(line, object_pairs_hook=list)
        assert [name for name, _ in members].count("weight") == 1 and "label_weight" in dict(members)
        assert dict(dict(members)["weight"]) == row["weight"]


def test_checked_changes_what_gold_says_and_nothing_else(unconfuse):
    lines = trees()
    unconfuse.write("trees.csv", as_csv(lines))
    flagged = unconfuse.json("audit", "trees.csv")["flagged"]
    assert flagged > 3
    turned = {7: "ash" if lines[7][4] == "oak" else "oak", 11: lines[11][4]}
    unconfuse.write("gold.csv", "id,true_label\n" + "".join(f"T{i},{name}\n" for i, name in turned.items()))
    done = unconfuse.ok("audit", "trees.csv", "--gold", "gold.csv", "--clean-out", "w.csv", "--repair", "checked")
    expected = [(*line[:4], turned.get(i, line[4])) for i, line in enumerate(lines)]
    assert unconfuse.read("w.csv").decode() == as_csv(expected)
    assert "1 checked label was changed in w.csv." in done.out
    sentence = unconfuse.fails(2, "audit", "trees.csv", "--clean-out", "x.csv", "--repair", "checked")
    assert sentence == "--repair checked changes labels to those of --gold; give both"


def test_how_many_labels_were_changed_is_said(unconfuse):
    unconfuse.write("trees.csv", as_csv(trees()))
    flagged = unconfuse.json("audit", "trees.csv")["flagged"]
    done = unconfuse.ok("audit", "trees.csv", "--clean-out", "w.csv")
    assert f"{flagged} labels were changed in w.csv." in done.out


def test_clouds_that_slide_along_ordered_classes_are_not_believed(unconfuse):
    """Grades on one scale, confused with their neighbours: clouds moved each into the place of the next, and a good part of the right
    labels was called wrong."""
    rng = np.random.default_rng(77)
    scale = rng.normal(size=1500)
    grade = np.digitize(scale, [-1.1, -0.35, 0.35, 1.1])
    columns = np.column_stack([-12 * scale + rng.normal(0, 6, 1500), -4 * scale + rng.normal(0, 2, 1500),
                               -1.2 * scale + rng.normal(0, 0.7, 1500), rng.poisson(np.exp(0.8 * scale)),
                               *rng.normal(size=(6, 1500))])
    near = np.clip(grade + rng.choice([-1, 1], 1500), 0, 4)
    given = np.where(rng.random(1500) < 0.28, near, grade)
    unconfuse.write("grades.svm", "".join("ABCDE"[y] + "".join(f" {j}:{v:.4f}" for j, v in enumerate(row, 1)) + "\n"
                                          for y, row in zip(given, columns)))

    def precision(mode):
        found = unconfuse.json("audit", "grades.svm", "--mode", mode)
        flagged = np.array([one["row"] - 1 for one in found["issues"]])
        return found["mode"], (given != grade)[flagged].mean()

    assert precision("auto") == precision("labels")
    assert precision("auto")[1] > precision("structure")[1] + 0.1
