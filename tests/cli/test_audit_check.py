"""audit --check: rows to look at next, in three formats; columns and calibration; several label columns of a table."""
import csv
import json
import random

import pytest

NAMES = ["ash", "beech", "cedar"]


def draw(rows=300, wrong=0.2, seed=2):
    """Features, true classes and labels."""
    rng = random.Random(seed)
    truth = [rng.randrange(3) for _ in range(rows)]
    X = [[rng.gauss(4.0 * (j == z), 1.0) for j in range(3)] for z in truth]
    labels = [(z + rng.randrange(1, 3)) % 3 if rng.random() < wrong else z for z in truth]
    return X, truth, labels


@pytest.fixture
def trees(unconfuse):
    X, truth, labels = draw()
    lines = [f"T{i},{','.join(f'{v:.4f}' for v in x)},\"a, b {i}\",{NAMES[y]}" for i, (x, y) in enumerate(zip(X, labels))]
    unconfuse.write("trees.csv", "\n".join(["tree_id,height,width,age,note,species", *lines]) + "\n")
    return truth, labels


AUDIT = ["audit", "trees.csv", "--drop", "note"]


def test_rows_are_drawn_as_check_draws_them_and_separately_the_worst(unconfuse, trees, tmp_path):
    truth, labels = trees
    found = unconfuse.json(*AUDIT, "--check", "40", "--check-out", "drawn.csv", "--check-worst", "worst.csv")
    with open(tmp_path / "drawn.csv") as file:
        assert file.readline().startswith("# stratum sizes: agree ")
        drawn = list(csv.DictReader(file))
    assert list(drawn[0]) == ["row", "id", "given_label", "predicted_label", "stratum", "true_label"]
    assert len(drawn) == 40 and {row["stratum"] for row in drawn} == {"agree", "disagree"}
    assert [int(row["row"]) for row in drawn] == [row["row"] for row in found["check"]["drawn"]]
    for row in drawn:
        assert (row["given_label"] == row["predicted_label"]) == (row["stratum"] == "agree")
        assert row["id"] == f"T{int(row['row']) - 1}" and row["true_label"] == ""
    worst = list(csv.DictReader(open(tmp_path / "worst.csv")))
    assert [int(row["row"]) for row in worst] == [issue["row"] for issue in found["issues"]][:40]
    assert list(worst[0]) == ["row", "id", "given_label", "predicted_label", "label_score", "true_label"]
    text = unconfuse.ok(*AUDIT, "--check", "12").out
    assert "To check next, most likely wrong:" in text and "drawn at random" in text


def fill(path, out, truth):
    """The file with true classes written into it."""
    lines = open(path).read().splitlines()
    heads = 1 + lines[0].startswith("#")
    filled = [line + NAMES[truth[int(line.split(",")[0]) - 1]] for line in lines[heads:]]
    open(out, "w").write("\n".join(lines[:heads] + filled) + "\n")


def test_answers_come_back_and_are_not_asked_for_again(unconfuse, trees, tmp_path):
    truth, labels = trees
    unconfuse.ok(*AUDIT, "--check", "30", "--check-out", "drawn.csv", "--check-worst", "worst.csv", "--model-out", "m.uc")
    for name in ("drawn.csv", "worst.csv"):
        fill(tmp_path / name, tmp_path / "filled.csv", truth)
        found = unconfuse.json(*AUDIT, "--gold", "filled.csv", "--check", "30")
        checked = {int(row) for row in (line.split(",")[0] for line in open(tmp_path / "filled.csv")) if row.isdigit()}
        assert found["suspicion"]["checked"] == 30
        assert found["calibration_of"] == "checked rows"
        assert sum(one["rows"] for one in found["calibration"]) == 30
        for rows in found["check"].values():
            assert not checked & {row["row"] for row in rows}
    fill(tmp_path / "drawn.csv", tmp_path / "filled.csv", truth)
    error = unconfuse.json("evaluate", "m.uc", "trees.csv", "--gold", "filled.csv")["clean_error"]
    assert error["low"] <= error["estimate"] <= error["high"] < 0.3


def test_tasks_for_label_studio_and_records_for_argilla(unconfuse, trees, tmp_path):
    found = unconfuse.json(*AUDIT, "--check", "7", "--check-out", "drawn.json", "--check-worst", "worst.jsonl")
    tasks = json.loads((tmp_path / "drawn.json").read_text())
    assert [task["data"]["row"] for task in tasks] == [row["row"] for row in found["check"]["drawn"]]
    for task in tasks:
        assert task["data"]["note"] == f"a, b {task['data']['row'] - 1}"
        assert {"row", "id", "given_label", "stratum", "tree_id", "height"} <= set(task["data"])
        (prediction,) = task["predictions"]
        (result,) = prediction["result"]
        assert result["type"] == "choices" and result["value"]["choices"][0] in NAMES
        assert 0 <= prediction["score"] <= 1
    records = [json.loads(line) for line in (tmp_path / "worst.jsonl").read_text().splitlines()]
    for record, row in zip(records, found["check"]["most_suspicious"]):
        assert record["id"] == row["id"] and record["suggestions"][0]["value"] == row["suggested"]
        assert record["fields"]["row"] == str(row["row"])
        assert all(isinstance(value, str) for value in record["fields"].values())
    unconfuse.ok(*AUDIT, "--check", "7", "--check-out", "x.txt", "--check-format", "argilla")
    assert len((tmp_path / "x.txt").read_text().splitlines()) == 7


def answered(tool, tasks, truth):
    """What the tool exports after people have answered all tasks but the last, which it has, too."""
    out = json.loads(json.dumps(tasks))
    for task in out[:-1]:
        name = NAMES[truth[int((task.get("data") or task.get("fields"))["row"]) - 1]]
        if tool == "label-studio":
            result = {"from_name": "true_label", "to_name": "text", "type": "choices", "value": {"choices": [name]}}
            task["annotations"] = [{"id": 1, "was_cancelled": True, "result": []},
                                   {"id": 2, "was_cancelled": False, "result": [{"from_name": "remark"}, result]}]
        elif tool == "label-studio short":
            task.update(task.pop("data"), true_label=name, id=77)
        elif tool == "argilla":
            task["responses"] = {"true_label": [{"value": name, "user_id": "u"}]}
            task["suggestions"] = {"true_label": {"value": task["suggestions"][0]["value"]}}
        else:
            task["responses"] = [{"status": "submitted", "values": {"true_label": {"value": name}}},
                                 {"status": "discarded", "values": {"true_label": {"value": "other"}}}]
    return out


@pytest.mark.parametrize("tool", ["label-studio", "label-studio short", "argilla", "argilla 1"])
def test_answers_of_annotation_tools_are_read_as_those_in_csv(unconfuse, trees, tmp_path, tool):
    truth, labels = trees
    suffix = "json" if tool.startswith("label") else "jsonl"
    unconfuse.ok(*AUDIT, "--check", "30", "--check-out", "drawn.csv", "--check-worst", "worst.csv", "--model-out", "m.uc")
    unconfuse.ok(*AUDIT, "--check", "30", "--check-out", f"drawn.{suffix}", "--check-worst", f"worst.{suffix}")
    for name in ("drawn", "worst"):
        text = (tmp_path / f"{name}.{suffix}").read_text()
        tasks = json.loads(text) if suffix == "json" else [json.loads(line) for line in text.splitlines()]
        done = answered(tool, tasks, truth)
        if tool == "argilla 1":
            unconfuse.write("answers", "".join(json.dumps(one) + "\n" for one in done))
        else:
            unconfuse.write("answers", json.dumps(done, indent=1))
        lines = (tmp_path / f"{name}.csv").read_text().splitlines()
        last = lines.pop()
        (tmp_path / "part.csv").write_text("\n".join(lines) + "\n")
        fill(tmp_path / "part.csv", tmp_path / "filled.csv", truth)
        (tmp_path / "filled.csv").write_text((tmp_path / "filled.csv").read_text() + last + "\n")
        by_table = unconfuse.json(*AUDIT, "--gold", "filled.csv")
        assert by_table["suspicion"]["checked"] == 29
        assert unconfuse.json(*AUDIT, "--gold", "answers") == by_table
        if name == "drawn":
            assert (unconfuse.json("evaluate", "m.uc", "trees.csv", "--gold", "answers")["clean_error"]
                    == unconfuse.json("evaluate", "m.uc", "trees.csv", "--gold", "filled.csv")["clean_error"])


def test_bad_answers_of_annotation_tools_are_refused(unconfuse, trees):
    task = {"data": {"row": 3, "id": "T2"}}
    answer = lambda *names: {"result": [{"from_name": "true_label", "value": {"choices": list(names)}}]}
    for content, problem in [
            ("[{", "gold.json: it begins as JSON does, but is not JSON: "),
            ('[{"data": {"id": 1}}]', "gold.json:1: there is no `row`, the number of the row in the data"),
            (json.dumps([task, 17]), "gold.json:2: a task of Label Studio or a record of Argilla is an object"),
            (json.dumps([{**task, "annotations": [answer(NAMES[0]), answer(NAMES[1])]}]),
             f"gold.json:1: answered twice, '{NAMES[0]}' and '{NAMES[1]}'; decide for one of them"),
            (json.dumps([{**task, "annotations": [answer(NAMES[0], NAMES[1])]}]),
             "gold.json:1: several classes were chosen; a row has one true class"),
            (json.dumps([task, {"data": {"row": 99999}}]), "gold.json:2: row '99999' is not one of the rows 1 to "),
            (json.dumps([task, task]), "gold.json:2: row 3 was given in line 1 already; keep one of the two"),
            (json.dumps([{**task, "annotations": [answer("zebra")]}]), "gold.json:1: "),
            ("[]", "gold.json: no true class is filled in")]:
        unconfuse.write("gold.json", content)
        assert unconfuse.fails(1, *AUDIT, "--gold", "gold.json").startswith(problem), content


def test_labels_in_brackets_are_no_json(unconfuse, tmp_path):
    names = ["[p]", "{q}"]
    draw = random.Random(3)
    lines = [(names[k], draw.gauss(4.0 * k, 1)) for k in (draw.randrange(2) for _ in range(80))]
    unconfuse.write("data.svm", "".join(f"{name} 1:{x:.3f} 2:1\n" for name, x in lines))
    unconfuse.write("gold.txt", "".join(f"{name if i < 20 else '?'}\n" for i, (name, _) in enumerate(lines)))
    assert unconfuse.json("audit", "data.svm", "--gold", "gold.txt")["suspicion"]["checked"] == 20


def test_other_questions_of_a_task_are_not_its_proposal(unconfuse, trees, tmp_path):
    truth, _ = trees
    unconfuse.ok(*AUDIT, "--check", "30", "--check-out", "drawn.json", "--model-out", "m.uc")
    tasks = answered("label-studio", json.loads((tmp_path / "drawn.json").read_text()), truth)
    unconfuse.write("answers.json", json.dumps(tasks))
    expected = unconfuse.json("evaluate", "m.uc", "trees.csv", "--gold", "answers.json")["clean_error"]
    for task in tasks:
        other = {"from_name": "quality", "type": "choices", "value": {"choices": ["poor"]}}
        task["predictions"][0]["result"].insert(0, other)
    unconfuse.write("answers.json", json.dumps(tasks))
    assert unconfuse.json("evaluate", "m.uc", "trees.csv", "--gold", "answers.json")["clean_error"] == expected


def test_columns_called_as_those_of_a_task_do_not_take_their_place(unconfuse, tmp_path):
    X, truth, labels = draw()
    lines = [f"T{i},{','.join(f'{v:.4f}' for v in x)},{1000 + i},{NAMES[y]}" for i, (x, y) in enumerate(zip(X, labels))]
    unconfuse.write("own.csv", "\n".join(["id,height,width,age,row,species", *lines]) + "\n")
    unconfuse.ok("audit", "own.csv", "--drop", "row", "--check", "5", "--check-out", "x.json")
    for task in json.loads((tmp_path / "x.json").read_text()):
        assert task["data"]["id"] == f"T{task['data']['row'] - 1}"


def test_what_check_refuses(unconfuse, trees):
    assert unconfuse.fails(2, *AUDIT, "--check-out", "x.csv") == "--check-out needs --check N: how many rows"
    unconfuse.write("crowd.txt", "1 p a\n1 q b\n2 p b\n2 q b\n")
    assert unconfuse.fails(2, "audit", "--crowd", "crowd.txt", "--check", "3") == (
        "--check is for data with one label per row and features; --ask N proposes rows and annotators to ask again")


def test_issues_have_the_columns_of_the_table_and_suspicion_its_calibration(unconfuse, trees):
    truth, labels = trees
    found = unconfuse.json(*AUDIT, "--all")
    for issue in found["issues"]:
        columns = issue["columns"]
        assert list(columns) == ["tree_id", "height", "width", "age", "note", "species"]
        assert columns["tree_id"] == issue["id"] and columns["species"] == issue["given"]
        assert columns["note"] == f"a, b {issue['row'] - 1}"
    bins = found["calibration"]
    assert sum(one["rows"] for one in bins) == 300 and found["calibration_of"] == "labels left out"
    for one in bins:
        assert one["low"] - 1e-9 <= one["expected"] <= one["high"] + 1e-9
    gap = sum(one["rows"] * abs(one["expected"] - one["wrong"]) for one in bins) / 300
    assert gap < 0.05


# ---- several label columns ----


def annotator_table(unconfuse, rows=200):
    X, truth, _ = draw(rows, 0.0, 5)
    rng = random.Random(6)
    lines, long = ["key,height,width,age,ann,bob,eve"], []
    for i, (x, z) in enumerate(zip(X, truth)):
        said = [NAMES[z] if rng.random() < right else rng.choice(NAMES) for right in (0.9, 0.7, 0.5)]
        said[2] = "" if i % 5 == 0 else said[2]
        said[1] = "NA" if i % 7 == 0 else said[1]
        lines.append(f"k{i},{','.join(f'{v:.4f}' for v in x)},{','.join(said)}")
        long += [f"k{i},{who},{label}" for who, label in zip(("ann", "bob", "eve"), said) if label not in ("", "NA")]
    unconfuse.write("table.csv", "\n".join(lines) + "\n")
    unconfuse.write("features.csv", "\n".join(",".join(line.split(",")[:4]) for line in lines) + "\n")
    unconfuse.write("crowd.csv", "\n".join(["id,annotator,label", *long]) + "\n")
    return truth, len(long)


def test_label_columns_of_a_table_are_annotators(unconfuse):
    truth, count = annotator_table(unconfuse)
    found = unconfuse.json("audit", "table.csv", "--annotators", "ann,bob,eve", "--model-out", "m.uc")
    same = unconfuse.json("audit", "features.csv", "--label", "none", "--crowd", "crowd.csv")
    assert found["annotations"] == count == same["annotations"]
    assert [one["name"] for one in found["annotators"]] == ["ann", "bob", "eve"]
    assert found["consensus"] == same["consensus"]
    assert found["issues"][0]["columns"]["key"] == found["issues"][0]["id"]
    wrong = sum(row["class"] != NAMES[z] for row, z in zip(found["consensus"], truth))
    assert wrong <= 10
    assert 0 <= found["clean_error"]["low"] <= found["clean_error"]["high"] <= 1
    plain = unconfuse.json("audit", "table.csv", "--annotators", "ann,bob,eve", "--consensus", "majority")
    assert plain["clean_error_of"] == "consensus" and found["clean_error_of"] == "model"


def test_bad_label_columns(unconfuse):
    annotator_table(unconfuse)
    assert unconfuse.fails(1, "audit", "table.csv", "--annotators", "ann,zoe") == (
        "table.csv: no column is called 'zoe', which --annotators names")
    assert unconfuse.fails(1, "audit", "table.csv", "--annotators", "ann,ann") == "--annotators names column 'ann' twice"
    assert unconfuse.fails(2, "audit", "table.csv", "--annotators", "ann") == (
        "--annotators needs the names of two columns or more")
    assert unconfuse.fails(2, "audit", "table.csv", "--annotators", "ann,bob", "--crowd", "crowd.csv") == (
        "--crowd and --annotators do not go together")
    assert unconfuse.fails(2, "audit", "--annotators", "ann,bob") == (
        "--annotators needs DATA: the table that has the columns")
    unconfuse.write("data.svm", "a 1:1\nb 1:2\n")
    assert unconfuse.fails(1, "audit", "data.svm", "--annotators", "ann,bob") == (
        "data.svm is no table, whose columns --annotators could name")
    unconfuse.write("empty.csv", "x,p,q\n1,a,\n2,b,\n3,a,\n")
    assert unconfuse.fails(1, "audit", "empty.csv", "--annotators", "p,q") == "empty.csv: column 'q' has no label"


@pytest.mark.parametrize("option", ["--model-out", "--noise-out", "--clean-out", "--check-out", "--check-worst"])
def test_no_file_is_mixed_with_json_or_the_report(unconfuse, trees, option):
    check = ["--check", 5] if option.startswith("--check") else []
    assert unconfuse.fails(2, "audit", "trees.csv", *check, option, "-", "--json") == (
        f"--json and {option} - both want standard output")
    unconfuse.ok("audit", "trees.csv", *check, option, "file.csv")
    both = unconfuse.ok("audit", "trees.csv", *check, option, "-")
    assert both.stdout == unconfuse.read("file.csv")
    assert "labels are wrong" in both.err


def test_no_file_of_annotators_is_mixed_with_json(unconfuse):
    unconfuse.write("c.csv", "".join(f"{i},{who},{'a' if i % 2 else 'b'}\n" for i in range(1, 9) for who in "rst"))
    for option in ("--state-out", "--consensus-out"):
        assert unconfuse.fails(2, "audit", "--crowd", "c.csv", option, "-", "--json") == (
            f"--json and {option} - both want standard output")
    unconfuse.ok("audit", "--crowd", "c.csv", "--consensus-out", "file")
    assert unconfuse.ok("audit", "--crowd", "c.csv", "--consensus-out", "-").stdout == unconfuse.read("file")


def test_an_id_must_be_that_of_its_row(unconfuse, trees, tmp_path):
    truth, labels = trees
    unconfuse.ok(*AUDIT, "--check", "30", "--check-out", "drawn.csv", "--model-out", "m.uc")
    assert unconfuse.fails(1, *AUDIT, "--gold", "drawn.csv") == "drawn.csv: no true class is filled in"
    fill(tmp_path / "drawn.csv", tmp_path / "filled.csv", truth)
    text = unconfuse.read("filled.csv").decode()
    first = text.splitlines()[2]
    number, tree, given = first.split(",")[:3]
    listed = {line.split(",")[0] for line in text.splitlines()[2:]}
    other = next(i + 1 for i in range(300) if str(i + 1) not in listed and NAMES[labels[i]] == given)
    unconfuse.write("moved.csv", text.replace(first, f"{other},{first.split(',', 1)[1]}"))
    sentence = f"moved.csv:3: id '{tree}' is not that of row {other}, which is 'T{other - 1}' in trees.csv"
    assert unconfuse.fails(1, *AUDIT, "--gold", "moved.csv") == sentence
    assert unconfuse.fails(1, "evaluate", "m.uc", "trees.csv", "--gold", "moved.csv") == sentence
    unconfuse.ok("evaluate", "m.uc", "trees.csv", "--gold", "filled.csv")


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_suspects_keep_the_columns_whatever_separates_them(unconfuse, trees, tmp_path, separator):
    rows = list(csv.reader(unconfuse.read("trees.csv").decode().splitlines()))
    with open(tmp_path / "d.csv", "w", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)
    unconfuse.ok("audit", "d.csv", "--drop", "note", "-o", "s.csv")
    with open(tmp_path / "s.csv", newline="") as file:
        suspects = list(csv.reader(file))
    assert suspects[0][6:] == rows[0] and len(suspects) > 10
    for suspect in suspects[1:]:
        assert suspect[6:] == rows[int(suspect[0])]


def test_checked_rows_are_no_suspects_and_the_error_is_of_rows_seen(unconfuse, trees, tmp_path):
    truth, labels = trees
    text = unconfuse.ok(*AUDIT, "--check", "40", "--check-out", "drawn.csv", "--check-worst", "worst.csv", "--model-out",
                        "m.uc").out
    assert "for one that was trained on them it is too low" in text
    assert "Most suspicious (row 1 is the first line after the header):" in text
    listed = [line.split() for line in text.split("Most suspicious")[1].split("\n\n")[0].splitlines()[2:]]
    assert len(listed) == 10 and all(line[-1] == f"T{int(line[0]) - 1}" for line in listed)
    fill(tmp_path / "worst.csv", tmp_path / "filled.csv", truth)
    checked = {line.split(",")[0] for line in unconfuse.read("filled.csv").decode().splitlines()[1:]}
    text = unconfuse.ok(*AUDIT, "--gold", "filled.csv").out
    assert "Most suspicious" in text
    again = [line.split()[0] for line in text.split("Most suspicious")[1].split("\n\n")[0].splitlines()[2:]]
    assert again and not checked & set(again)
    fill(tmp_path / "drawn.csv", tmp_path / "filled.csv", truth)
    warning = ("unconfuse: warning: the model was trained on as many rows as trees.csv has, 300: if these are the same, "
               "checked rows tell its error on them, which is too low for new rows\n")
    assert warning in unconfuse.ok("evaluate", "m.uc", "trees.csv", "--gold", "filled.csv").err
    assert warning in unconfuse.ok("check", "trees.csv", "--model", "m.uc", "-o", "c.csv").err
    lines = unconfuse.read("trees.csv").decode().splitlines(True)
    unconfuse.write("part.csv", "".join(lines[:200]))
    assert "trained on" not in unconfuse.ok("check", "part.csv", "--model", "m.uc", "-o", "c.csv").err
