"""audit with several annotators, and with the probabilities of any model."""
import random

import pytest


def make_crowd(rows=120, annotators=8, seed=3):
    """Lines `row annotator label`, and the true classes."""
    draw = random.Random(seed)
    truth = [draw.choice("abc") for _ in range(rows)]
    lines = []
    for i, z in enumerate(truth):
        for j in draw.sample(range(annotators), 4):
            right = draw.random() < 0.55 + 0.05 * j
            lines.append(f"{i + 1} w{j} {z if right else draw.choice('abc')}")
    return lines, truth


def wrong(result, truth):
    return sum(row["class"] != z for row, z in zip(result["consensus"], truth)) / len(truth)


@pytest.fixture
def crowd(tmp_path):
    lines, truth = make_crowd()
    path = tmp_path / "crowd.txt"
    path.write_text("\n".join(lines) + "\n")
    return path, truth


def test_a_crowd_alone_has_consensus_annotators_and_issues(unconfuse, crowd):
    path, truth = crowd
    found = {name: unconfuse.json("audit", "--crowd", path, "--consensus", name)
             for name in ("audit", "dawid-skene", "majority", "one-coin")}
    assert found["audit"] == found["dawid-skene"]
    assert wrong(found["dawid-skene"], truth) <= wrong(found["majority"], truth)
    for result in found.values():
        assert result["examples"] == 120 and result["annotations"] == 480
        assert {"name", "labels", "accuracy", "low", "high"} <= set(result["annotators"][0])
        assert sum(annotator["labels"] for annotator in result["annotators"]) == 480
        assert [row["row"] for row in result["consensus"]] == list(range(1, 121))
        assert len(result["issues"]) == result["flagged"]
        assert all({"row", "id", "annotator", "given", "suggested", "p_wrong", "flagged"} <= set(one) for one in result["issues"])
        ranked = [one["p_wrong"] for one in result["issues"]]
        assert ranked == sorted(ranked, reverse=True)
        assert result["wrong"]["low"] <= result["wrong"]["estimate"] <= result["wrong"]["high"]
        matrix = result["noise_matrix"]
        assert all(abs(sum(row[q] for row in matrix) - 1) < 1e-9 for q in range(3))
    assert len(unconfuse.json("audit", "--crowd", path, "--all")["issues"]) == 480
    assert len(unconfuse.json("audit", "--crowd", path, "--ask", "3")["ask_again"]) == 3


def test_a_summary_for_people(unconfuse, crowd):
    out = unconfuse.ok("audit", "--crowd", crowd[0]).out
    assert "480 annotations of 120 rows by 8 annotators" in out
    assert "Least accurate annotators" in out and "Whom to ask again" in out


def test_features_help_and_make_a_model(unconfuse, crowd, tmp_path):
    path, truth = crowd
    draw = random.Random(1)
    data = tmp_path / "data.svm"
    centre = {"a": (0, 0), "b": (3, 0), "c": (0, 3)}
    data.write_text("".join(f"{z} 1:{centre[z][0] + draw.gauss(0, .5):.4f} 2:{centre[z][1] + draw.gauss(0, .5):.4f}\n"
                            for z in truth))
    model = tmp_path / "model.uc"
    with_features = unconfuse.json("audit", data, "--crowd", path, "--model-out", model)
    without = unconfuse.json("audit", data, "--crowd", path, "--no-features")
    assert wrong(with_features, truth) < 0.03 <= wrong(without, truth)
    assert with_features["iterations"] > 0 and with_features["converged"]
    assert unconfuse.json("evaluate", model, data)["error"] < 0.03
    alone = unconfuse.json("audit", "--crowd", path)
    assert [row["class"] for row in alone["consensus"]] == [row["class"] for row in without["consensus"]]


def test_checked_rows_are_certain(unconfuse, crowd, tmp_path):
    path, truth = crowd
    unconfuse.write("unfilled", "?\n" * 120)
    assert unconfuse.fails(1, "audit", "--crowd", path, "--gold", "unfilled") == "unfilled: no true class is filled in"
    gold = tmp_path / "gold.txt"
    gold.write_text("".join(f"{'c' if i == 0 else '?'}\n" for i in range(120)))
    for name in ("audit", "majority", "one-coin"):
        found = unconfuse.json("audit", "--crowd", path, "--consensus", name, "--gold", gold)
        assert found["consensus"][0] == {"row": 1, "id": "1", "class": "c", "probability": 1.0}
        assert found["checked"] == 1


def named_crowd(unconfuse):
    """A crowd whose rows have names in an order of their own, and the true classes by name."""
    lines, truth = make_crowd()
    name = {i + 1: f"photo {(i * 37) % 120}" for i in range(120)}
    text = "task,worker,label\n" + "".join("{},{},{}\n".format(name[int(row)], *rest) for row, *rest in map(str.split, lines))
    unconfuse.write("named.csv", text)
    return {name[i + 1]: z for i, z in enumerate(truth)}


@pytest.mark.parametrize("consensus", ["audit", "dawid-skene", "one-coin", "majority"])
@pytest.mark.parametrize("header", ["task,label", "row,true_label", "id,class", "example,label"])
def test_checked_rows_go_by_their_names(unconfuse, consensus, header):
    truth = named_crowd(unconfuse)
    some = dict(list(truth.items())[:30])
    unconfuse.write("gold.csv", header + "\n" + "".join(f"{name},{z}\n" for name, z in some.items()))
    found = unconfuse.json("audit", "--crowd", "named.csv", "--consensus", consensus, "--gold", "gold.csv")
    by_name = {row["id"]: row for row in found["consensus"]}
    assert found["checked"] == 30
    assert all(by_name[name]["class"] == z and by_name[name]["probability"] == 1.0 for name, z in some.items())


def test_rows_without_an_order_cannot_be_counted(unconfuse):
    named_crowd(unconfuse)
    unconfuse.write("list", "a\n" * 120)
    assert unconfuse.fails(1, "audit", "--crowd", "named.csv", "--gold", "list") == (
        "list: named.csv gives its rows names, such as 'photo 0', and no order: name them here as well, by a header "
        "row,true_label")
    unconfuse.write("other", "task,label\nphoto 3,a\nphoto 120,b\n")
    assert unconfuse.fails(1, "audit", "--crowd", "named.csv", "--gold", "other") == (
        "other:3: 'photo 120' is not the id of a row of named.csv")
    unconfuse.write("twice", "task,label\nphoto 3,a\nphoto 3,b\n")
    assert "was given in line 2 already" in unconfuse.fails(1, "audit", "--crowd", "named.csv", "--gold", "twice")


def test_numbers_of_rows_count_the_checked_labels(unconfuse):
    unconfuse.write("crowd", "10 ann x\n2 ann y\n4 bob x\n1 bob y\n2 bob y\n10 bob x\n")
    unconfuse.write("gold", "?\nx\ny\ny\n?\n?\n?\n?\n?\ny\n")
    found = unconfuse.json("audit", "--crowd", "crowd", "--consensus", "majority", "--gold", "gold")
    assert [(row["id"], row["class"]) for row in found["consensus"]] == [("1", "y"), ("2", "x"), ("4", "y"), ("10", "y")]
    assert found["checked"] == 3
    unconfuse.write("short", "?\nx\ny\ny\n")
    assert unconfuse.fails(1, "audit", "--crowd", "crowd", "--gold", "short") == (
        "short: 4 true classes, but crowd has a row 10; '?' stands for a row that nobody has checked")


def test_people_see_the_names_of_rows(unconfuse):
    named_crowd(unconfuse)
    out = unconfuse.ok("audit", "--crowd", "named.csv").out
    assert "photo" in out.split("Most suspicious annotations:")[1].splitlines()[2]
    assert "  row photo " in out.split("Whom to ask again:")[1]


def test_annotations_are_added_to_a_result(unconfuse, tmp_path):
    lines = [line + "\n" for line in make_crowd(rows=400)[0]]
    early, late, path = tmp_path / "early.txt", tmp_path / "late.txt", tmp_path / "all.txt"
    early.write_text("".join(lines[:1000]))
    late.write_text("".join(lines[1000:]))
    path.write_text("".join(lines))
    unconfuse.ok("audit", "--crowd", early, "--state-out", tmp_path / "crowd.state")
    resumed = unconfuse.json("audit", "--crowd", late, "--resume", tmp_path / "crowd.state")
    whole = unconfuse.json("audit", "--crowd", path)
    assert resumed["annotations"] == whole["annotations"] == 1600
    for a, b in zip(resumed["consensus"], whole["consensus"]):
        assert a["id"] == b["id"] and abs(a["probability"] - b["probability"]) < 1e-4


def test_files_that_are_written(unconfuse, crowd, tmp_path):
    issues, consensus, noise = tmp_path / "issues.csv", tmp_path / "consensus.csv", tmp_path / "noise.csv"
    unconfuse.ok("audit", "--crowd", crowd[0], "-o", issues, "--consensus-out", consensus, "--noise-out", noise)
    assert issues.read_text().splitlines()[0] == \
        "row,id,given_label,predicted_label,label_score,is_label_issue,annotator"
    assert len(consensus.read_text().splitlines()) == 121
    assert noise.read_text().startswith(",a,b,c")


@pytest.mark.parametrize("text, sentence", [
    ("", "crowd.txt: empty: there are no annotations"),
    ("1 x a\n9 x b\n", "crowd.txt:2: '9' is not the number of a row: those of the data are 1 to 2"),
    ("1 x a\n2 x z\n", "crowd.txt:2: 'z' is not a class of the data"),
    ("1 x a\n1 x b\n", "crowd.txt:2: annotator 'x' calls this row 'b', but 'a' on line 1"),
])
def test_bad_crowds_have_their_sentence(unconfuse, tmp_path, text, sentence):
    crowd, data = tmp_path / "crowd.txt", tmp_path / "data.svm"
    crowd.write_text(text)
    data.write_text("a 1:1\nb 1:2\n")
    run = unconfuse("audit", data, "--crowd", crowd, "--json")
    assert run.returncode == 1 and sentence in run.err and run.out == ""


def test_options_that_do_not_go_together(unconfuse, crowd, tmp_path):
    data = tmp_path / "data.svm"
    data.write_text("a 1:1\nb 1:2\n")
    for arguments, sentence in (
            ([], "audit needs DATA"),
            ([data, "--consensus", "majority"], "it needs --crowd FILE"),
            (["--crowd", crowd[0], "--model-out", tmp_path / "m.uc"], "--model-out needs DATA with features"),
            ([data, "--crowd", crowd[0], "--weights", data], "annotations have no weights"),
            ([data, "--crowd", crowd[0], "--probabilities", data], "do not go together")):
        run = unconfuse("audit", *arguments)
        assert run.returncode == 2 and sentence in run.err


@pytest.mark.parametrize("options, sentence", [
    (["n.svm", "--repair", "drop"], "--repair says how the data of --clean-out DATA are repaired; give both"),
    (["n.svm", "--no-features"], "--no-features is about several annotators: it needs --crowd FILE"),
    (["n.svm", "--trust", "1"], "--trust is about several annotators: it needs --crowd FILE"),
    (["y.txt", "--probabilities", "p.csv", "--ask", "3"], "--ask is about several annotators: it needs --crowd FILE"),
])
def test_options_that_would_do_nothing_are_refused(unconfuse, crowd, options, sentence):
    """In the directory of `crowd` only crowd.txt exists: options are looked at first."""
    assert unconfuse.fails(2, "audit", *options) == sentence


def test_options_that_do_nothing_are_told(unconfuse, crowd):
    path, truth = crowd
    unconfuse.write("d.svm", "".join(f"{z} 1:{i % 7}\n" for i, z in enumerate(truth)))
    unconfuse.write("y.txt", "".join(z + "\n" for z in truth))
    unconfuse.write("p.csv", "a,b,c\n" + "".join(",".join("0.8" if k == z else "0.1" for k in "abc") + "\n" for z in truth))
    unused = "does nothing: no features are used"
    for options, warning in (
            (["y.txt", "--probabilities", "p.csv", "--axes", "9"], f"--axes {unused}"),
            (["y.txt", "--probabilities", "p.csv", "--bootstrap", "9"],
             "--bootstrap does nothing: it is for data with one label per row and features"),
            (["--crowd", path, "--width", "1"], f"--width {unused}"),
            (["d.svm", "--crowd", path, "--no-features", "--mode", "labels"], f"--mode {unused}"),
            (["d.svm", "--crowd", path, "--consensus", "majority", "--landmarks", "9"], f"--landmarks {unused}"),
            (["d.svm", "--crowd", path, "--landmarks", "9", "--width", "1"], None)):
        result = unconfuse.ok("audit", *options, "--json")
        assert result.err == (f"unconfuse: warning: {warning}\n" if warning else "")


def test_headers_that_lack_a_column_are_not_annotations(unconfuse):
    for text in ("row,who,what\n1,a,x\n2,b,y\n", "what,worker,label\n1,a,x\n2,b,y\n", "id annotator value\n1 a x\n2 b y\n"):
        unconfuse.write("bad.csv", text)
        assert unconfuse.fails(1, "audit", "--crowd", "bad.csv") == (
            "bad.csv:1: this header names some of the columns row (or id, task), annotator (or worker) and label (or class), "
            "but all three are needed")
    unconfuse.write("good.csv", "x1 worker yes\nx1 w2 yes\nx2 worker no\nx2 w2 no\n")
    assert unconfuse.json("audit", "--crowd", "good.csv")["annotations"] == 4


def test_summaries_say_what_intervals_mean_and_leave_out_checked_rows(unconfuse, crowd):
    path, truth = crowd
    unconfuse.write("gold.csv", "row,true_label\n" + "".join(f"{i + 1},{z}\n" for i, z in enumerate(truth[:90])))
    text = unconfuse.ok("audit", "--crowd", path, "--gold", "gold.csv").out
    assert "120 rows by 8 annotators: about " in text and "(95% interval " in text and " are flagged." in text
    listed = text.split("Most suspicious annotations:")[1].split("\n\n")[0].splitlines()[2:]
    assert listed and all(int(line.split()[0]) > 90 and line.split()[4].endswith("%") for line in listed)

    labels = [z if i % 6 else "abc"["abc".index(z) - 1] for i, z in enumerate(truth)]
    unconfuse.write("y.txt", "".join(label + "\n" for label in labels))
    unconfuse.write("p.csv", "a,b,c\n" + "".join(",".join("0.8" if k == z else "0.1" for k in "abc") + "\n" for z in truth))
    text = unconfuse.ok("audit", "y.txt", "--probabilities", "p.csv", "--gold", "gold.csv").out
    assert text.startswith("About ") and " of the 120 labels are wrong (95% interval " in text
    listed = text.split("Most suspicious labels:")[1].split("\n\n")[0].splitlines()[2:]
    assert sorted(int(line.split()[0]) for line in listed) == [91, 97, 103, 109, 115]
    assert "Of 90 checked labels 15 are wrong. Without the checks 15 of them had been flagged, 15 of those rightly." in text
    found = unconfuse.json("audit", "y.txt", "--probabilities", "p.csv", "--gold", "gold.csv")
    assert found["suspicion"] == {"checked": 90, "wrong": 15, "flagged": 15, "both": 15, "precision": 1.0, "recall": 1.0}
    assert found["calibration_of"] == "checked rows" and sum(bin["rows"] for bin in found["calibration"]) == 90


def test_probabilities_of_any_model(unconfuse, tmp_path):
    draw = random.Random(2)
    labels, p, truth = tmp_path / "labels.txt", tmp_path / "p.csv", []
    rows, given = ["c,a,b"], []
    for i in range(300):
        z = draw.choice("abc")
        truth.append(z)
        given.append(draw.choice([k for k in "abc" if k != z]) if draw.random() < 0.2 else z)
        weights = {k: draw.random() + (4 if k == z else 0) for k in "abc"}
        total = sum(weights.values())
        rows.append(",".join(f"{weights[k] / total:.6f}" for k in "cab"))
    labels.write_text("\n".join(given) + "\n")
    p.write_text("\n".join(rows) + "\n")
    found = unconfuse.json("audit", labels, "--probabilities", p)
    bad = {i + 1 for i in range(300) if given[i] != truth[i]}
    flagged = {one["row"] for one in found["issues"]}
    assert len(bad & flagged) / len(bad | flagged) > 0.9
    assert all(one["suggested"] == truth[one["row"] - 1] for one in found["issues"] if one["row"] in bad)
    assert abs(found["wrong"]["estimate"] - len(bad) / 300) < 0.05
    p.write_text("\n".join(rows[:-1]) + "\n")
    run = unconfuse("audit", labels, "--probabilities", p)
    assert run.returncode == 1 and "has 299 rows, but there are 300 labels" in run.err


def judged(rows, names, seed=5):
    """Labels, of which one in five is wrong, and lines of probabilities that know the truth."""
    draw, given, lines = random.Random(seed), [], []
    for _ in range(rows):
        z = draw.choice(names)
        given.append(draw.choice([k for k in names if k != z]) if draw.random() < 0.2 else z)
        weights = {k: draw.random() + (4 if k == z else 0) for k in names}
        lines.append([f"{weights[k] / sum(weights.values()):.6f}" for k in names])
    return given, lines


@pytest.mark.parametrize("names", ["id class target", "class y label", "tree_id weight uuid", "key bag id"])
def test_classes_may_be_called_as_columns_are(unconfuse, names):
    given, lines = judged(120, "abc")
    text = "\n".join(map(",".join, lines)) + "\n"
    found = []
    for called in ("a b c".split(), names.split()):
        unconfuse.write("labels.txt", "".join(called["abc".index(label)] + "\n" for label in given))
        unconfuse.write("p.csv", ",".join(called) + "\n" + text)
        found.append(unconfuse.json("audit", "labels.txt", "--probabilities", "p.csv", "--all"))
        assert sorted(found[-1]["classes"]) == sorted(called)
    by_row = [{i["row"]: (i["p_wrong"], i["flagged"]) for i in one["issues"]} for one in found]
    assert found[0]["flagged"] == found[1]["flagged"] > 10
    for row, (p, flagged) in by_row[0].items():
        assert by_row[1][row] == (pytest.approx(p, abs=1e-6), flagged)


def test_columns_that_are_no_classes_are_refused(unconfuse):
    given, lines = judged(40, "ab")
    unconfuse.write("labels.txt", "\n".join(given) + "\n")
    for first, sentence in (
            (["id", *map(str, range(40))], "p.csv: no label is of class 'id': leave that column out, rows are in the "
                                           "order of the labels"),
            (["name", *(f"r{i}" for i in range(40))], "p.csv:2: column 'name': 'r0' is not a number"),
            (["fold", *["2"] * 40], "p.csv: row 1, column 1: 2 is not a probability")):
        unconfuse.write("p.csv", "".join(",".join([one, *line]) + "\n" for one, line in zip(first, [["a", "b"], *lines])))
        assert unconfuse.fails(1, "audit", "labels.txt", "--probabilities", "p.csv") == sentence
    assert unconfuse.fails(2, "audit", "labels.txt", "--probabilities", "-").startswith(
        "--probabilities needs a file: its first line is read twice")


def test_checked_rows_and_probabilities(unconfuse):
    """A file of checks that nobody has filled in says so; filled in, its rows are certain."""
    given, lines = judged(120, "abc")
    unconfuse.write("labels.txt", "\n".join(given) + "\n")
    unconfuse.write("p.csv", "a,b,c\n" + "\n".join(map(",".join, lines)) + "\n")
    command = ["audit", "labels.txt", "--probabilities", "p.csv", "--gold", "gold"]
    header = "row,id,given_label,predicted_label,label_score,true_label\n"
    for empty in ("?\n" * 120, header + "".join(f"{i + 1},,{given[i]},a,0.1,\n" for i in range(10))):
        unconfuse.write("gold", empty)
        assert unconfuse.fails(1, *command) == "gold: no true class is filled in"
    for filled in ("".join("c\n" if i < 10 else "?\n" for i in range(120)),
                   header + "".join(f"{i + 1},,{given[i]},a,0.1,{'c' if i < 10 else ''}\n" for i in range(20))):
        unconfuse.write("gold", filled)
        found = unconfuse.json(*command, "--all")
        p = {issue["row"]: issue["p_wrong"] for issue in found["issues"]}
        assert [p[i + 1] for i in range(10)] == [float(given[i] != "c") for i in range(10)]


def test_a_model_of_a_crowd_knows_the_columns_of_its_table(unconfuse, tmp_path):
    draw = random.Random(4)
    rows = [(f"r{i}", "ab"[i % 2], f"{i % 2 * 3 + draw.gauss(0, .5):.3f}", draw.choice(["n", "s"])) for i in range(80)]
    (tmp_path / "data.csv").write_text("id,x,side,ann,bob\n" + "".join(
        f"{name},{x},{side},{label},{label if draw.random() < .8 else 'a'}\n" for name, label, x, side in rows))
    (tmp_path / "new.csv").write_text("other,side,id,x\n" + "".join(f"7,{side},{name},{x}\n" for name, _, x, side in rows))
    unconfuse.ok("audit", "data.csv", "--annotators", "ann,bob", "--model-out", "m.uc")
    lines = unconfuse.ok("predict", "m.uc", "new.csv").out.splitlines()
    assert lines[0] == "id,predicted_label" and len(lines) == 81
    assert sum(line == f"{name},{label}" for line, (name, label, _, _) in zip(lines[1:], rows)) >= 78


def test_rows_of_a_table_are_matched_by_id(unconfuse, tmp_path):
    data, crowd = tmp_path / "data.csv", tmp_path / "crowd.csv"
    data.write_text("id,x,label\n" + "".join(f"r{i},{i % 2}.{i},{'ab'[i % 2]}\n" for i in range(20)))
    crowd.write_text("id,annotator,label\n" + "".join(f"r{i},w{j},{'ab'[i % 2]}\n" for i in reversed(range(20)) for j in range(2)))
    found = unconfuse.json("audit", data, "--crowd", crowd, "--no-features")
    assert [row["id"] for row in found["consensus"]] == [f"r{i}" for i in range(20)]
    assert [row["class"] for row in found["consensus"]] == ["ab"[i % 2] for i in range(20)]
    crowd.write_text("id,annotator,label\nr99,w,a\n")
    assert "crowd.csv:2: 'r99' is not the id of a row of the data" in unconfuse("audit", data, "--crowd", crowd).err


def test_probabilities_of_a_table_keep_ids_and_columns(unconfuse):
    """The classes come in their order, and rows with their names, whatever the file of probabilities looks like."""
    given, lines = judged(120, "abc")
    rows = [f"r{i},{i * 0.5},{label}" for i, label in enumerate(given)]
    unconfuse.write("t.csv", "\n".join(["tree_id,height,label", *rows]) + "\n")
    unconfuse.write("labels.txt", "\n".join(given) + "\n")
    unconfuse.write("p.csv", "\n".join(["c,b,a", *(",".join(line[::-1]) for line in lines)]) + "\n")
    unconfuse.write("p-sorted.csv", "\n".join(["a,b,c", *map(",".join, lines)]) + "\n")
    found = unconfuse.json("audit", "t.csv", "--probabilities", "p.csv", "-o", "s.csv")
    assert found["classes"] == ["a", "b", "c"]
    assert all(one["id"] == f"r{one['row'] - 1}" and one["columns"]["height"] == f"{(one['row'] - 1) * 0.5}"
               for one in found["issues"])
    text = unconfuse.read("s.csv").decode().splitlines()
    assert text[0] == "row,id,given_label,predicted_label,label_score,is_label_issue,tree_id,height,label"
    for line, one in zip(text[1:], found["issues"], strict=True):
        assert line.split(",")[:3] == [str(one["row"]), one["id"], one["given"]]
        assert ",".join(line.split(",")[6:]) == rows[one["row"] - 1]
    piped = unconfuse.json("audit", "-", "--probabilities", "p.csv", stdin=unconfuse.read("t.csv"))
    assert piped["issues"] == found["issues"]
    listed = unconfuse.json("audit", "labels.txt", "--probabilities", "p-sorted.csv")
    assert [(i["row"], i["suggested"]) for i in listed["issues"]] == [(i["row"], i["suggested"]) for i in found["issues"]]
    assert listed["noise_matrix"] == found["noise_matrix"] and all(one["id"] is None for one in listed["issues"])
    command = ["audit", "t.csv", "--probabilities", "p.csv", "--gold", "gold.csv"]
    unconfuse.write("gold.csv", "row,id,true_label\n4,r3,a\n5,r4,b\n")
    unconfuse.ok(*command)
    unconfuse.write("gold.csv", "row,id,true_label\n4,r3,a\n5,r7,b\n")
    assert "r7" in unconfuse.fails(1, *command)
    text = unconfuse.ok("audit", "t.csv", "--probabilities", "p.csv").out
    assert text.count("  r") >= 10 and "  id" in text
