"""Tables: CSV files as people have them, with ids, categories, dates, texts and missing values."""
import bz2
import csv
import io
import lzma
import os
import pickle
import random
import subprocess

import pytest

HEADER = ["customer_id", "income", "age", "colour", "member", "since", "comment", "outcome"]


def rows(count, seed):
    draw = random.Random(seed)
    for i in range(count):
        income, colour, member = draw.gauss(3000, 900), draw.choice(["red", "green", "blue"]), draw.choice(["yes", "no"])
        words = draw.choices("good bad late broken fast nice refund, great item".split(), k=6)
        good = (income > 3000) + (colour == "red") + (member == "yes") + words.count("good") - words.count("bad") > 1
        since = f"20{draw.randrange(10, 24)}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 28):02d}"
        yield [f"C-{seed}-{i}", f"{income:,.2f}", draw.choice([str(draw.randrange(100)), "NA", ""]), colour, member, since,
               " ".join(words), "keep" if good else "churn"]


def text_of(table, **style):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", **style).writerows(table)
    return text.getvalue()


@pytest.fixture
def table(unconfuse):
    unconfuse.write("train.csv", text_of([HEADER, *rows(300, 1)]))
    unconfuse.write("test.csv", text_of([HEADER, *rows(100, 2)]))
    unconfuse.ok("train", "logistic", "train.csv", "-o", "m.uc")
    return unconfuse


def types(unconfuse, text, *options):
    unconfuse.write("types.csv", text)
    return {column["name"]: column["type"] for column in unconfuse.json("inspect", "types.csv", *options)["columns"]}


def column(values, more=""):
    """A table with a column x of these values, beside a number and a label."""
    lines = [f'{value},{i},{"ab"[i % 2]}' for i, value in enumerate(values)]
    return "x,n,label\n" + "\n".join(lines) + "\n" + more


@pytest.mark.parametrize("values, kind", [
    (["1", "2.5", "-3e2"], "number"),
    (['"1,097.44"', "12", '"2,000,000"'], "number"),
    (["12%", "3%", "1%"], "number"),
    (["$3", "$4.50", "-$1"], "number"),
    (["1", "NA", "3"], "number"),
    (["yes", "no", "Yes"], "boolean"),
    (["true", "false", ""], "boolean"),
    (["2024-03-31", "2023-01-01", "1999-12-31"], "date"),
    (["31.03.2024", "01.01.2023", "31.12.1999"], "date"),
    (["03/31/2024", "01/01/2023", "12/31/1999"], "date"),
    (["2024-03-31T12:30:00Z", "2023-01-01 07:00", "1999-12-31"], "date"),
    (["2024/03/31 7:25:12 PM GMT+1", "2023/01/01 12:00:00 AM GMT", "1999/12/31 1:02:03 am"], "date"),
    (["2024-03-31 12:30:00 UTC", "2023-01-01 07:00 CEST", "1999-12-31 07:00:00.5 +0200"], "date"),
    (["2024-03-31 12:30 or so", "2023-01-01 07:00 or so", "1999-12-31 07:00 UTC"], "text"),
    (["12a", "13b", "14a"], "id"),
    (["red", "blue", "red", "blue"], "category"),
    (["a b", "c d", "e f"], "text"),
    (["u1", "u2", "u3"], "id"),
    (["u1", "u2", "u3", "u1", "u4"], "text"),
    (["same", "same", "same"], "drop"),
    (["", "NA", "?"], "drop"),
])
def test_each_type_is_recognised(unconfuse, values, kind):
    assert types(unconfuse, column(values)) == {"x": kind, "n": "number", "label": "label"}


def test_options_decide_over_what_was_found(unconfuse):
    text = column(["1", "2", "x", "2"])
    assert types(unconfuse, text, "--missing-values", "x")["x"] == "number"
    assert types(unconfuse, text, "--columns", "x=category")["x"] == "category"
    assert types(unconfuse, text, "--drop", "x")["x"] == "drop"
    assert types(unconfuse, text, "--id", "x")["x"] == "id"
    assert types(unconfuse, column(['"1,5"', '"1.097,44"', '"2"']), "--decimal", ",")["x"] == "number"
    assert types(unconfuse, column(["a", "b", "c", "a", "b", "c"]), "--max-categories", "2")["x"] == "text"
    unconfuse.write("data.csv", text)
    assert unconfuse.fails(1, "inspect", "data.csv", "--drop", "z") == "data.csv: no column is called 'z', which --drop names"
    assert unconfuse.fails(2, "inspect", "data.csv", "--columns", "x=word") == \
        "--columns: 'word' is not a type: number, category, boolean, date, text, id or drop"
    assert unconfuse.fails(2, "inspect", "data.csv", "--decimal", "x") == "--decimal 'x' is neither a point nor a comma"


def test_a_wrong_decimal_point_is_named(unconfuse):
    unconfuse.write("d.csv", column([f"{3695.94 + i:.2f}" for i in range(6)]))
    assert unconfuse.fails(1, "inspect", "d.csv", "--decimal", ",") == \
        "d.csv:2: column 'x': '3695.94' looks like a number with a decimal point: leave out --decimal ,"


@pytest.mark.parametrize("text, kinds", [
    ("a,b,label\n1,2,A\n", ["drop", "drop", "label"]),
    ("a,key,label\nsame,k1,A\nsame,k2,B\n", ["drop", "id", "label"]),
])
def test_inspect_shows_a_table_without_features(unconfuse, text, kinds):
    unconfuse.write("one.csv", text)
    assert [column["type"] for column in unconfuse.json("inspect", "one.csv")["columns"]] == kinds
    assert "constant" in unconfuse.ok("inspect", "one.csv").out
    if "id" in kinds:
        assert unconfuse.fails(1, "train", "pa", "one.csv", "-o", "m.uc") == \
            "one.csv: no column can be a feature: inspect shows what they are"


def test_wide_tables_take_little_memory(unconfuse):
    width = 2000
    lines = [",".join([f"{i + j / 7:.3f}" for j in range(width)] + ["xy"[i % 3 == 0], "ab"[i % 2]]) for i in range(30)]
    unconfuse.write("wide.csv", "\n".join([",".join([f"c{j}" for j in range(width)] + ["t", "label"]), *lines]) + "\n")
    with subprocess.Popen([unconfuse.path, "inspect", "wide.csv", "--json"], cwd=unconfuse.directory,
                          stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert used.ru_maxrss < 600_000  # KB; room for a sanitizer


def test_inspect_shows_every_column_and_why(table):
    lines = table.ok("inspect", "train.csv").out.splitlines()
    shown = {line.split()[0]: line for line in lines if line}
    assert "its name" in shown["customer_id"] and "all values are numbers" in shown["income"]
    found = {column["name"]: column for column in table.json("inspect", "train.csv")["columns"]}
    data = list(rows(300, 1))
    assert found["colour"]["distinct"] == 3 and found["customer_id"]["distinct"] == 300
    assert found["age"]["missing"] == sum(row[2] in ("", "NA") for row in data)
    incomes = [float(row[1].replace(",", "")) for row in data]
    assert found["income"]["range"] == pytest.approx([min(incomes), max(incomes)], rel=1e-6)
    counts = {value["value"]: value["rows"] for value in found["colour"]["top"]}
    assert counts == {colour: sum(row[3] == colour for row in data) for colour in ("red", "green", "blue")}


def test_predictions_come_with_ids(table):
    out = list(csv.reader(io.StringIO(table.ok("predict", "m.uc", "test.csv").out)))
    assert out[0] == ["id", "predicted_label"]
    assert [row[0] for row in out[1:]] == [f"C-2-{i}" for i in range(100)]
    right = sum(line[1] == row[7] for line, row in zip(out[1:], rows(100, 2)))
    assert right == round(100 * (1 - table.json("evaluate", "m.uc", "test.csv")["error"]))
    with_probabilities = table.ok("predict", "m.uc", "test.csv", "--probabilities").out.splitlines()
    assert with_probabilities[0] == "id,predicted_label,churn,keep"


def test_columns_are_matched_by_name(table):
    order = [3, 7, 0, 6, 1, 5, 2, 4]
    moved = [[row[j] for j in order] + ["more"] for row in [HEADER, *rows(100, 2)]]
    moved[5][0] = "violet"
    table.write("moved.csv", text_of(moved, delimiter=";"))
    result = table("predict", "m.uc", "moved.csv")
    assert "1 value of categories that the model does not know: each counts as `other`" in result.err
    assert "1 column that the model does not know was ignored" in result.err
    table.write("moved.csv", text_of([row[:-1] for row in moved], delimiter="\t"))
    before = table.ok("predict", "m.uc", "test.csv").out.splitlines()
    after = table.ok("predict", "m.uc", "moved.csv").out.splitlines()
    assert [a for i, a in enumerate(after) if i != 5] == [b for i, b in enumerate(before) if i != 5]
    table.write("less.csv", text_of([row[1:] for row in moved]))
    assert table.fails(1, "predict", "m.uc", "less.csv") == "less.csv: there is no column 'colour', which the model was trained on"


@pytest.mark.parametrize("header, names", [
    ("a,a,label", ["a", "a.1", "label"]),
    ("a,,label", ["a", "column 2", "label"]),
    ("a.1,a,a,,label", ["a.1", "a", "a.2", "column 4", "label"]),
    ("a,b,label,label", ["a", "b", "label", "label.1"]),
])
def test_repeated_and_empty_names_are_told_apart(unconfuse, header, names):
    fields = len(names) - 1
    lines = [",".join([str(i)] + [f"{'xy'[i % 2]}{j}" for j in range(fields - 1)] + ["AB"[i % 2]]) for i in range(8)]
    unconfuse.write("d.csv", "\n".join([header, *lines]) + "\n")
    assert [column["name"] for column in unconfuse.json("inspect", "d.csv")["columns"]] == names
    unconfuse.ok("train", "logistic", "d.csv", "-o", "m.uc")
    assert unconfuse.json("evaluate", "m.uc", "d.csv")["error"] == 0
    unconfuse.ok("stream", "arow", "d.csv", "-o", "s.uc")
    assert sorted(column["name"] for column in unconfuse.json("inspect", "m.uc")["columns"]) == sorted(names)
    result = unconfuse("predict", "m.uc", "d.csv")
    assert "ignored" not in result.err and len(result.out.splitlines()) == 9


@pytest.mark.parametrize("name", ["plain.svm", "same.ucd"])
def test_a_model_of_a_table_needs_a_table(table, name):
    table.write("plain.svm", "keep 1:1 3:2\nchurn 2:1\n")
    table.ok("convert", "test.csv", "same.ucd")
    for command in (["predict", "m.uc", name], ["evaluate", "m.uc", name]):
        assert table.fails(1, *command) == f"{name}: a model of typed columns needs a table (CSV, JSON lines) with these columns by " \
            f"name, and this is {dict(svm='libsvm', ucd='ucd')[name[-3:]]}"


@pytest.mark.parametrize("values", ["xyxy", "1234"])
@pytest.mark.parametrize("name, sentence", [
    (b"c\0d", "control character 0x00"),
    (b"c\xff", "the name of column 2, 'c?', is not UTF-8 text: convert the file first, as iconv -f LATIN1 -t UTF-8 does"),
])
def test_names_of_columns_are_text(unconfuse, values, name, sentence):
    rows = "".join(f"{i},{value},{'AB'[i % 2]}\n" for i, value in enumerate(values))
    unconfuse.write("d.csv", b"n," + name + b",label\n" + rows.encode())
    for command in (["inspect", "d.csv"], ["train", "pa", "d.csv", "-o", "m.uc"]):
        assert unconfuse.fails(1, *command) == f"d.csv:1: {sentence}"


def test_a_label_with_a_line_break_is_called_that(unconfuse):
    unconfuse.write("d.csv", 'n,c,label\n1,x,"A\nb"\n2,y,B\n3,x,A\n4,y,B\n')
    assert "the label 'A?b' has a line break" in unconfuse.fails(1, "train", "pa", "d.csv", "-o", "m.uc")


def test_shuffled_columns_shards_and_pipes_give_the_same_model(table):
    whole = [HEADER, *rows(300, 1)]
    order = [4, 0, 3, 6, 5, 2, 1, 7]
    table.write("moved.csv", text_of([[row[j] for j in order] for row in whole]))
    table.ok("train", "logistic", "moved.csv", "-o", "moved.uc")
    table.write("part-0.csv", text_of(whole[:150]))
    table.write("part-1.csv", text_of([HEADER, *whole[150:]]))
    table.ok("train", "logistic", "--shards", "part-*.csv", "-o", "parts.uc")
    table.ok("train", "logistic", "-", "-o", "piped.uc", stdin=table.read("train.csv"))
    for model in ("moved.uc", "parts.uc", "piped.uc"):
        assert table.read(model) == table.read("m.uc")


def test_shuffled_rows_give_the_same_encoding(table):
    body = list(rows(300, 1))
    random.Random(3).shuffle(body)
    table.write("moved.csv", text_of([HEADER, *body]))
    assert table.json("inspect", "moved.csv")["columns"] == table.json("inspect", "train.csv")["columns"]
    scores = []
    for name in ("train", "moved"):
        table.ok("train", "ridge", f"{name}.csv", "-o", f"{name}.uc")
        lines = table.ok("predict", f"{name}.uc", "test.csv", "--scores").out.splitlines()[1:]
        scores.append([float(score) for line in lines for score in line.split(",")[2:]])
    assert table.json("inspect", "moved.uc")["columns"] == table.json("inspect", "train.uc")["columns"]
    # sums of rows are rounded in another order
    assert scores[0] == pytest.approx(scores[1], abs=1e-9) and len(scores[0]) == 200


def test_outputs_keep_the_table(table):
    text = table.read("train.csv")
    table.ok("convert", "train.csv", "same.csv")
    assert table.read("same.csv") == text
    table.ok("split", "train.csv", "-o", "a.csv", "--rest", "b.csv")
    a, b, all_lines = (table.read(name).split(b"\n") for name in ("a.csv", "b.csv", "train.csv"))
    assert a[0] == b[0] == all_lines[0] and sorted(a[1:-1] + b[1:-1]) == sorted(all_lines[1:-1])
    table.write("first.csv", text_of([row[::-1] for row in [HEADER, *rows(300, 1)]]))
    table.ok("noise", "apply", "first.csv", "-o", "noisy.csv", "--noise-rate", "0.3", "--label", "outcome")
    noisy = list(csv.reader(io.StringIO(table.read("noisy.csv").decode())))
    clean = list(csv.reader(io.StringIO(table.read("first.csv").decode())))
    assert [row[1:] for row in noisy] == [row[1:] for row in clean]
    assert 50 < sum(row[0] != old[0] for row, old in zip(noisy, clean)) < 130


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_quotes_separators_and_line_ends(unconfuse, separator, line_end):
    table = [["id", "note", "n", "label"]]
    table += [[f"r{i}", f'a "quoted"{separator} text\nin two lines {i}', str(i), "xy"[i % 2]] for i in range(30)]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=line_end).writerows(table)
    unconfuse.write("t.csv", b"\xef\xbb\xbf" + text.getvalue().encode())
    found = unconfuse.json("inspect", "t.csv")
    assert found["examples"] == 30
    assert [column["type"] for column in found["columns"]] == ["id", "text", "number", "label"]
    unconfuse.ok("convert", "t.csv", "same.csv")
    assert unconfuse.read("same.csv") == text.getvalue().encode()


def test_all_problems_are_in_one_message(unconfuse):
    unconfuse.write("bad.csv", 'id,x,y,label\n1,abc,2,a\n2,4,"1,5",b\n3,5\n4,6,"2,5",a\n5,7,"3,5",b\n')
    assert unconfuse.fails(1, "train", "pa", "bad.csv", "-o", "m.uc") == \
        "bad.csv:4: 2 columns, but the first line has 4; bad.csv:2: column 'x': 'abc' is not a number, but 4 of 5 values " \
        "are numbers: add it to --missing-values, or give --columns x=category, text or drop; bad.csv:3: column 'y': " \
        "'1,5' looks like a number with a decimal comma: add --decimal ,"


@pytest.mark.parametrize("command", [["inspect"], ["train", "pa", "-o", "m.uc"]])
@pytest.mark.parametrize("kinds", ["ab", "12"])
def test_a_separator_at_the_end_of_rows_gets_a_hint(unconfuse, command, kinds):
    unconfuse.write("t.csv", "x,c,label\n" + "".join(f"{i},{kinds[i % 2]},{'yn'[i % 2]},\n" for i in range(20)))
    sentence = unconfuse.fails(1, command[0], *command[1:2], "t.csv", *command[2:])
    assert sentence.startswith("t.csv:2: 4 columns, but the first line has 3: it ends with a separator, so let the first line "
                               "end with one, too")
    unconfuse.write("t.csv", "x,c,label,\n" + "".join(f"{i},{kinds[i % 2]},{'yn'[i % 2]},\n" for i in range(20)))
    assert [one["class"] for one in unconfuse.json("inspect", "t.csv")["classes"]] == ["n", "y"]


def test_numbers_with_a_unit_are_not_read_as_words(unconfuse):
    unconfuse.write("t.csv", "w,label\n" + "".join(f"{i}.5 kg,{'ab'[i % 2]}\n" for i in range(60)))
    assert unconfuse.fails(1, "train", "pa", "t.csv", "-o", "m.uc") == \
        "t.csv:2: column 'w': '0.5 kg' is a number with a unit: take the unit off, or give --columns w=text, id or drop"
    assert unconfuse.json("inspect", "t.csv", "--columns", "w=text")["columns"][0]["type"] == "text"
    # few of them are categories, and a street is none
    assert types(unconfuse, "w,label\n" + "".join(f"{i % 4} kg,{'ab'[i % 2]}\n" for i in range(60)))["w"] == "category"
    assert types(unconfuse, "w,label\n" + "".join(f"{i} Main Street,{'ab'[i % 2]}\n" for i in range(60)))["w"] == "text"


def test_a_unit_without_a_blank_is_one_if_all_values_have_it(unconfuse):
    for values in (["230ms", "15.5ms", "-7ms"], [f"{i}ms" for i in range(20000)]):  # more than a block
        unconfuse.write("t.csv", column(values))
        assert unconfuse.fails(1, "inspect", "t.csv") == f"t.csv:2: column 'x': '{values[0]}' is a number with a unit: " \
            "take the unit off, or give --columns x=text, id or drop"
    mixed = [f"{i}{'kg' if i < 15000 else 'g'}" for i in range(20000)]
    assert types(unconfuse, column(mixed))["x"] == "id"
    assert types(unconfuse, column(["1st", "2nd", "3rd"]))["x"] == "id"
    assert types(unconfuse, column(["5ms", "7ms"] * 3))["x"] == "category"


@pytest.mark.parametrize("row", ["{a},{city},{label},", "{a},{b},{label},,"])
def test_a_separator_at_the_end_of_all_lines_makes_no_label(unconfuse, row):
    names = row.format(a="age", b="income", city="city", label="churn")
    lines = [row.format(a=i, b=i * i, city=["Lille", "Lyon"][i % 2], label=["yes", "no"][i % 3 == 0]) for i in range(20)]
    unconfuse.write("t.csv", "\n".join([names, *lines]) + "\n")
    kinds = {column["name"]: column["type"] for column in unconfuse.json("inspect", "t.csv")["columns"]}
    assert kinds["churn"] == "label" and kinds["age"] == "number" and kinds["column 4"] == "drop"
    unconfuse.ok("train", "pa", "t.csv", "-o", "m.uc")
    told = [unconfuse.ok(command, "m.uc", "t.csv").out for command in ("predict", "evaluate")]
    unconfuse.write("t.csv", "\n".join(line.rstrip(",") for line in [names, *lines]) + "\n")
    assert told == [unconfuse.ok(command, "m.uc", "t.csv").out for command in ("predict", "evaluate")]


def test_a_last_column_without_a_name_may_be_the_label(unconfuse):
    unconfuse.write("t.csv", "a,b,\n" + "".join(f"{i},{i % 7},{'xy'[i % 2]}\n" for i in range(20)))
    assert unconfuse.json("inspect", "t.csv")["columns"][2]["type"] == "label"


@pytest.mark.parametrize("title", ["Report\n", "Quarterly report\n\n", "Report\nmade on Monday\n# draft\n", "# a draft\n",
                                   "\n# made by a tool\n#\n"])
def test_lines_above_a_table_are_named(unconfuse, title):
    unconfuse.write("t.csv", title + "a,b,kind\n1,2,x\n3,4,y\n")
    assert unconfuse.fails(1, "inspect", "t.csv") == \
        f"t.csv: a table seems to begin at line {title.count(chr(10)) + 1}, below lines without columns: take out what is " \
        "above the names of the columns"
    unconfuse.write("d.svm", "1\n-1\n1,2 3:1\n")  # rows without features, and a label with a comma
    assert unconfuse.json("inspect", "d.svm")["format"] == "libsvm"
    unconfuse.write("d.svm", "# a draft\n# of 3, by hand\n1 1:1\n-1 1:2\n")
    assert unconfuse.json("inspect", "d.svm")["format"] == "libsvm"
    unconfuse.write("t.csv", "#id,a,kind\n1,2,x\n2,4,y\n")
    assert [column["name"] for column in unconfuse.json("inspect", "t.csv")["columns"]] == ["#id", "a", "kind"]


def test_a_label_that_looks_missing_gets_a_warning(unconfuse):
    for kinds in ("pq", "12"):
        unconfuse.write("t.csv", "x,c,label\n" + "".join(f"{i},{kinds[i % 2]},{['a', 'b', 'NA'][i % 3]}\n" for i in range(60)))
        warned = unconfuse.ok("train", "pa", "t.csv", "-o", "m.uc").stderr.decode()
        assert warned.count("t.csv: the label 'NA' is a class: leave such rows out if it means that there is none") == 1
    unconfuse.write("t.csv", "x,c,label\n" + "".join(f"{i},{i % 5},{['a', 'b', 'None'][i % 3]}\n" for i in range(60)))
    assert unconfuse.ok("train", "pa", "t.csv", "-o", "m.uc").stderr == b""


def test_labels_that_differ_in_case_get_a_warning(unconfuse):
    def warnings(labels):
        unconfuse.write("t.csv", "x,c,label\n" + "".join(f"{i},{'pq'[i % 2]},{labels[i % len(labels)]}\n" for i in range(60)))
        return unconfuse.ok("train", "pa", "t.csv", "-o", "m.uc").stderr.decode()
    warned = warnings(["yes", "no", "Yes", "YES "])
    assert "t.csv: the labels 'yes' and 'Yes' are two classes: write them alike if they mean the same" in warned
    assert warned.count("write them alike") == 2  # Yes, and YES
    assert warnings(["a", "A", "b2", "b3"]) == ""


@pytest.mark.parametrize("text, sentence", [
    ("Age,since,label\n30,2024-01-01,a\n", "t.csv: there is no column 'age', which the model was trained on; did you mean 'Age'?"),
    ("30,2024-01-01\n31,2024-01-02\n", "t.csv: there is no column 'age', which the model was trained on; does its first line name "
                                       "the columns?"),
    ("age,since,label\n30,01/02/2024,a\n", "t.csv:2: column 'since': '01/02/2024' is not a date as the column has them: "
                                           "year-month-day"),
])
def test_rows_that_a_model_cannot_read_get_a_hint(unconfuse, text, sentence):
    unconfuse.write("train.csv", "age,since,label\n" + "".join(f"{i % 9},2024-01-{i:02d},{'ab'[i % 2]}\n" for i in range(1, 30)))
    unconfuse.ok("train", "pa", "train.csv", "-o", "m.uc")
    unconfuse.write("t.csv", text)
    assert unconfuse.fails(1, "predict", "m.uc", "t.csv") == sentence


# pandas writes its index first, without a name, and calls it "Unnamed: 0" when it has read that.
def test_all_missing_columns_are_named_at_once(unconfuse):
    names = [f"x{i:02d}" for i in range(30)]
    rows = "".join(",".join(str(i * j % 7) for j in range(30)) + f",{'ab'[i % 2]}\n" for i in range(20))
    unconfuse.write("train.csv", ",".join([*names, "label"]) + "\n" + rows)
    unconfuse.ok("train", "pa", "train.csv", "-o", "m.uc")
    unconfuse.write("t.csv", ",".join(["X00", "other", *names[2:], "label"]) + "\n" + rows)
    assert unconfuse.fails(1, "predict", "m.uc", "t.csv") == \
        "t.csv: there is no column 'x00', which the model was trained on; did you mean 'X00'?; nor is there 'x01' " \
        "(did you mean 'X00'?)"
    unconfuse.write("t.csv", ",".join([*[f"unlike {i}" for i in range(29)], "x29", "label"]) + "\n" + rows)  # x29 is no misspelling
    sentence = unconfuse.fails(1, "predict", "m.uc", "t.csv")
    assert sentence.count("'x") == 20 and sentence.endswith("'x19' (and 9 more)")


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
@pytest.mark.parametrize("kinds", ["ab", "12"])
def test_the_index_of_a_frame_is_an_id(unconfuse, name, kinds):
    unconfuse.write("t.csv", f"{name},x,c,y\n" + "".join(f"{7 * i},{i % 5},{kinds[i % 3 % 2]},{i % 2}\n" for i in range(30)))
    columns = unconfuse.json("inspect", "t.csv")["columns"]
    assert columns[0]["type"] == "id"
    assert columns[0]["why"] == "a column without a name whose values differ: an index"
    unconfuse.ok("train", "pa", "t.csv", "-o", "m.uc")
    assert unconfuse.ok("predict", "m.uc", "t.csv").stdout.splitlines()[2].startswith(b"7,")
    # a column of values that come again is none, nor is the first of a file without names
    unconfuse.write("t.csv", f"{name},x,c,y\n" + "".join(f"{i % 9},{i % 5},{kinds[i % 3 % 2]},{i % 2}\n" for i in range(30)))
    assert unconfuse.json("inspect", "t.csv", "--columns", "c=category")["columns"][0]["type"] == "number"
    unconfuse.write("t.csv", "".join(f"{i + 0.5},{i % 5},{i % 2}\n" for i in range(30)))
    assert unconfuse.json("inspect", "t.csv")["features"] == 2


@pytest.mark.parametrize("content, sentence", [
    (b"PAR1\x15\x04\x15", "f: a Parquet file: write it as CSV first, as pandas.read_parquet(...).to_csv(...) does"),
    (b"PK\x03\x04\x14\x00", "f: a ZIP archive, such as an Excel workbook (.xlsx): save the sheet as CSV, or unpack the "
                            "archive, first"),
    (b"ARROW1\0\0\xff\xff", "f: an Arrow (Feather) file: write it as CSV first, as pandas.read_feather(...).to_csv(...) does"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1", "f: an old Office document, such as an Excel workbook (.xls): save the sheet as CSV first"),
    (b"%PDF-1.4\n%\xe2\xe3\n1 0 obj\n", "f: a PDF document: take its table out as CSV first"),
    (b"SQLite format 3\0\x10\0", "f: an SQLite database: write its table as CSV first, as sqlite3 -csv -header does"),
    (b"\x89HDF\r\n\x1a\n", "f: an HDF5 file: write its table as CSV or NPY first"),
    (pickle.dumps({"a": 1}), "f: a pickle of Python: write what it holds as CSV or NPY first"),
    (bz2.compress(b"a,b,label\n1,2,x\n"), "f: a bzip2 archive: unpack it first, as bunzip2 does"),
    (lzma.compress(b"a,b,label\n1,2,x\n"), "f: an xz archive: unpack it first, as unxz does"),
    (b"\n<!DOCTYPE html>\n<body>Not found, sorry</body>\n", "f: an HTML page, perhaps one that says why a download failed"),
    (b"<html><p>1,2</p>\n", "f: an HTML page, perhaps one that says why a download failed"),
    (b"<?xml version='1.0'?>\n<a>1,2</a>\n", "f: an XML document: save its table as CSV first"),
    (b"\xef\xbb\xbfsep=;\r\na;b;label\r\n1;2;x\r\n", "f: its first line, sep=, is for Excel alone: take it out; the separator "
                                                      "is found without it"),
    ("".join(f"{i},{i / 7:.4f}\n" for i in range(40)).encode(),
     "f: column 2, taken for the labels, has 40 different numbers in 40 rows and looks continuous: name the labels' column "
     "with --label, or give --label none"),
    (b"x,name\n" + "".join(f"{i},n{i}\n" for i in range(40)).encode(),
     "f: column 2, taken for the labels, has 40 different values in 40 rows, so most rows would be a class of their own: "
     "name the labels' column with --label, or give --label none"),
])
def test_suspicious_files_get_a_sentence(unconfuse, content, sentence):
    unconfuse.write("f", content)
    assert unconfuse.fails(1, "train", "pa", "f", "-o", "m.uc") == sentence


def test_spellings_of_a_number_are_one_class(unconfuse):
    unconfuse.write("mixed.svm", "+1 1:1\n-1 2:1\n1 1:2\n-1.0 2:3\n1.0 1:1\n")
    assert unconfuse.json("train", "pa", "mixed.svm", "-o", "m.uc")["classes"] == ["-1", "1"]
    unconfuse.write("plus.svm", "+1 1:1\n-1 2:1\n+1 1:2\n")
    unconfuse.ok("train", "pa", "plus.svm", "-o", "plus.uc")
    unconfuse.write("plain.svm", "1 1:1\n-1 2:1\n")
    result = unconfuse.json("evaluate", "plus.uc", "plain.svm")
    assert result["error"] == 0 and result["unknown_labels"] == 0
    unconfuse.write("codes.csv", "x,label\n1,007\n2,7\n3,007\n")
    assert unconfuse.json("train", "pa", "codes.csv", "-o", "c.uc")["classes"] == ["007", "7"]


def test_streams_and_comparisons_read_tables(table):
    table.ok("stream", "arow", "train.csv", "-o", "s.uc")
    assert table.json("evaluate", "s.uc", "test.csv")["error"] < 0.3
    table.ok("stream", "arow", "-", "-o", "piped.uc", stdin=table.read("train.csv"))
    assert table.json("evaluate", "piped.uc", "test.csv")["error"] < 0.3
    table.ok("compare", "train.csv", "--runs", "2", "--learners", "cspa,banditron")


def test_a_model_shows_its_columns_and_weights_by_name(table):
    columns = {column["name"]: column for column in table.json("inspect", "m.uc")["columns"]}
    assert columns["colour"] == {"name": "colour", "type": "category", "features": 4}
    assert columns["age"]["features"] == 2 and columns["customer_id"]["features"] == 0
    top = {one["class"]: one["weights"] for one in table.json("inspect", "m.uc", "--top", "20")["top"]}
    assert set(top) == {"churn", "keep"} and len(top["keep"]) == 20
    sizes = [abs(weight["weight"]) for weight in top["keep"]]
    assert sizes == sorted(sizes, reverse=True)
    everything = {weight["feature"] for weight in table.json("inspect", "m.uc", "--top", "1000")["top"][0]["weights"]}
    assert {"colour=red", "member", "age is missing", "income", "since weekday"} <= everything
    shown = table.ok("inspect", "m.uc", "--top", "3").out
    assert "class" in shown and "feature" in shown
    table.ok("train", "pa", "train.csv", "--map", "random", "--dimension", "5", "-o", "mapped.uc")
    assert "--top has no names for them" in table.fails(1, "inspect", "mapped.uc", "--top", "3")


@pytest.mark.parametrize("learner", ["cspa-plus", "onebit"])
def test_a_resumed_stream_matches_columns_by_name(unconfuse, learner):
    rows = [(i % 7, i * 3 % 11, "AB"[i % 2]) for i in range(40)]
    unconfuse.write("first.csv", "x,y,label\n" + "".join(f"{x},{y},{label}\n" for x, y, label in rows))
    unconfuse.write("swapped.csv", "y,x,label\n" + "".join(f"{y},{x},{label}\n" for x, y, label in rows))
    unconfuse.write("other.csv", "a,b,label\n1,u,A\n2,v,B\n3,u,A\n4,v,B\n")
    unconfuse.ok("stream", learner, "first.csv", "-o", "model.uc")
    unconfuse.ok("stream", learner, "first.csv", "--resume", "model.uc", "-o", "same.uc")
    unconfuse.ok("stream", learner, "swapped.csv", "--resume", "model.uc", "-o", "matched.uc")
    assert unconfuse.read("same.uc") == unconfuse.read("matched.uc")
    result = unconfuse("stream", learner, "other.csv", "--resume", "model.uc", "-o", "never.uc")
    assert result.returncode == 1
    assert "other.csv: there is no column 'x', which the model was trained on" in result.err


@pytest.mark.parametrize("options, sentence", [
    (["--drop", "outcome"], "train.csv: --drop names column 'outcome', which has the labels: name another with --label, "
                            "or leave out --drop"),
    (["--id", "outcome"], "train.csv: --id names column 'outcome', which has the labels: name another with --label, or "
                          "leave out --id"),
    (["--columns", "outcome=text"], "train.csv: --columns names column 'outcome', which has the labels: name another with "
                                    "--label, or leave out --columns"),
    (["--weight", "age", "--drop", "colour,age"], "train.csv: --drop names column 'age', which has the weights: name "
                                                  "another with --weight, or leave out --drop"),
])
def test_options_name_columns_of_features(table, options, sentence):
    assert table.fails(1, "train", "logistic", "train.csv", *options, "-o", "x.uc") == sentence


@pytest.mark.parametrize("odd", ["inf", "-inf", "nan", "Infinity"])
def test_numbers_that_are_not_finite_are_no_category(unconfuse, odd):
    unconfuse.write("n.csv", column([1, 2, 3, 1, 2, odd, 3, 1, 2, 1] * 5))
    sentence = unconfuse.fails(1, "inspect", "n.csv")
    assert sentence == (f"n.csv:7: column 'x': '{odd}' is not a finite number, but 45 of 50 values are numbers: add it to "
                        "--missing-values, or give --columns x=category, text or drop")
    kinds = {c["name"]: c["type"] for c in unconfuse.json("inspect", "n.csv", "--missing-values", odd)["columns"]}
    assert kinds["x"] == "number"


def test_the_file_is_named_once(table):
    table.write("other.csv", table.read("test.csv").replace(b"income", b"salary", 1))
    assert table.fails(1, "check", "other.csv", "--model", "m.uc", "-o", "x.csv") == \
        "other.csv: there is no column 'income', which the model was trained on"


def test_the_first_line_of_a_record_is_blamed(table):
    lines = table.read("test.csv").decode().splitlines()
    lines[3] = 'C,"1,5",3,red,yes,2020-01-01,"three\nlines\nhere",keep'
    lines[5] = 'C,1,3,red,perhaps,2020-01-01,"two\nlines",keep'
    table.write("broken.csv", "\n".join(lines) + "\n")
    assert table.fails(1, "predict", "m.uc", "broken.csv") == \
        "broken.csv:4: column 'income': '1,5' is not a number"
    lines[3] = lines[3].replace('"1,5"', "15")
    table.write("broken.csv", "\n".join(lines) + "\n")
    assert table.fails(1, "predict", "m.uc", "broken.csv") == \
        "broken.csv:8: column 'member': 'perhaps' is neither of the two words that the column has"
    table.write("look.csv", "a,b,label\n" + 'x,"1\n2",p\n' * 3 + '1,"2"3,q\n' + "1,2\n")
    assert table.fails(1, "inspect", "look.csv") == \
        "look.csv:8: text follows a closing quote; look.csv:9: 2 columns, but the first line has 3"


def test_carriage_returns_alone_get_a_hint(unconfuse):
    unconfuse.write("mac.csv", "a,b,label\r1,2,x\r3,4,y\r")
    assert unconfuse.fails(1, "inspect", "mac.csv") == \
        "mac.csv: its lines end with a carriage return alone: write line feeds first, as tr '\\r' '\\n' does"


def test_wide_tables_are_matched_quickly(unconfuse):
    """Names are looked up, not searched for: 20,000 columns take seconds."""
    names = [f"c{i}" for i in range(20000)]
    rows = "".join(",".join(str((i * j) % 10) for i in range(20000)) + f",w{j % 2}\n" for j in range(4))
    unconfuse.write("wide.csv", ",".join(names) + ",label\n" + rows.replace("0,", ",", 1))
    unconfuse.ok("train", "perceptron", "wide.csv", "-o", "w.uc", timeout=20)
    unconfuse.ok("predict", "w.uc", "wide.csv", timeout=20)


def test_spellings_over_shards_are_one_class(unconfuse):
    unconfuse.write("s1.svm", "+1 1:1\n-1 1:2\n")
    unconfuse.write("s2.svm", "1 1:1\n-1 1:2\n")
    unconfuse.ok("train", "logistic", "--shards", "s?.svm", "-o", "k.uc")
    assert unconfuse.json("inspect", "k.uc")["classes"] == ["-1", "1"]


def test_one_value_in_the_label_column_names_the_column(unconfuse):
    rows = "".join(f"{i},{i % 3},{'keep' if i % 2 else 'churn'},v1.2\n" for i in range(20))
    unconfuse.write("d.csv", "age,visits,outcome,firmware\n" + rows)
    sentence = ("d.csv: the labels are taken from 'firmware', the last column, which has one value, 'v1.2', where two are "
                "needed; --label NAME chooses another column")
    for command in ("audit d.csv", "train logistic d.csv -o m.uc", "train d.csv -o m.uc", "compare d.csv"):
        assert unconfuse.fails(1, *command.split()) == sentence
    assert unconfuse.fails(1, "audit", "d.csv", "--label", "nope") == (
        "d.csv: no column is called 'nope'; the first line has age, visits, outcome, firmware")
    wide = ",".join(f"x{i}" for i in range(14))
    unconfuse.write("wide.csv", wide + "\n" + ",".join("1" * 14) + "\n")
    assert unconfuse.fails(1, "audit", "wide.csv", "--label", "nope") == (
        "wide.csv: no column is called 'nope'; the first line has " + ", ".join(f"x{i}" for i in range(10)) + " and 4 more")


@pytest.mark.parametrize("option", [["--drop", "city"], ["--columns", "x"], ["--columns", "city=text"]])
def test_the_columns_of_a_model_cannot_be_chosen_again(unconfuse, option):
    rows = "".join(f"{i},{'Rome' if i % 3 else 'Bonn'},{'ab'[i % 2]}\n" for i in range(30))
    unconfuse.write("d.csv", "age,city,label\n" + rows)
    unconfuse.ok("train", "logistic", "d.csv", "-o", "m.uc")
    for command in ("predict m.uc d.csv", "evaluate m.uc d.csv", "check d.csv --model m.uc -o c.csv"):
        assert unconfuse.fails(1, *command.split(), *option) == (
            f"{option[0]}: the model decides which columns are what, as it was trained; leave {option[0]} out")


def test_no_more_values_differ_than_there_are(unconfuse):
    unconfuse.write("d.csv", "x,label\n" + "".join(f"{i}.5,{'ab'[i % 2]}\n" for i in range(5000)))
    found = {c["name"]: c for c in unconfuse.json("inspect", "d.csv")["columns"]}
    assert not found["x"]["distinct_is_exact"] and 4500 < found["x"]["distinct"] <= 5000


def test_the_range_of_dates_is_one_of_dates(unconfuse):
    unconfuse.write("d.csv", "when,n,label\n31.12.1969,1,a\n29.02.2024,2,b\n01.01.2000,3,a\n")
    found = {c["name"]: c for c in unconfuse.json("inspect", "d.csv")["columns"]}
    assert found["when"]["range"] == ["1969-12-31", "2024-02-29"]
    assert found["n"]["range"] == [1, 3]


def test_the_lines_of_inspect_fit_a_terminal(unconfuse):
    rows = "".join(f"{'a long name of a value'} {i % 9},{i},{'ab'[i % 2]}\n" for i in range(90))
    unconfuse.write("d.csv", "colour,n,label\n" + rows)
    lines = unconfuse("inspect", "d.csv").stdout.decode().splitlines()
    assert any(line.startswith("colour") and line.rstrip().endswith("text of 9 different values") for line in lines)
    assert all(len(line) <= 100 for line in lines)


def test_predict_refuses_what_the_model_has_decided(unconfuse):
    unconfuse.write("d.csv", "id,x,kind,label\n" + "".join(f"r{i},{i},{'pq'[i % 2]},{'ab'[i % 2]}\n" for i in range(9)))
    unconfuse("train", "logistic", "d.csv", "-o", "m.uc")
    for option, value in (("--missing-values", "p"), ("--decimal", ","), ("--id", "x"), ("--max-categories", "7")):
        assert unconfuse.fails(1, "predict", "m.uc", "d.csv", option, value) == (
            f"{option}: the model decides which columns are what, as it was trained; leave {option} out")
    plain = unconfuse("predict", "m.uc", "d.csv").stdout
    assert unconfuse("predict", "m.uc", "d.csv", "--decimal", ".", "--id", "id").stdout == plain


def test_a_stream_of_one_class_names_the_column(unconfuse):
    unconfuse.write("d.csv", "x,kind,label\n1,p,a\n2,q,a\n3,p,a\n4,q,a\n")
    for learner in (["stream", "spa", "d.csv"], ["stream", "spa", "d.csv", "--shuffle"]):
        assert unconfuse.fails(1, *learner) == (
            "d.csv: the labels are taken from 'label', the last column, which has one value, 'a', where two are needed; "
            "--label NAME chooses another column")


def test_dates_of_one_year_do_not_outweigh_the_numbers_of_sparse_rows(unconfuse):
    draw = random.Random(5)
    rows = []
    for i in range(400):
        x = draw.gauss(0, 1)
        words = " ".join(draw.choices([f"w{k}" for k in range(30)], k=4))
        rows.append(f"1974-{draw.randrange(7, 11):02d}-{draw.randrange(1, 29):02d},{x:.3f},{words},{'ab'[x > 0]}\n")
    unconfuse.write("d.csv", "when,x,remark,label\n" + "".join(rows))
    found = unconfuse.json("inspect", "d.csv")
    assert found["range"][1] < 100  # days by their deviation; the year as it is would be 1974
    unconfuse("train", "logistic", "d.csv", "--scale", "auto", "--l2", "auto", "-o", "m.uc")
    assert unconfuse.json("evaluate", "m.uc", "d.csv")["error"] < 0.1


def test_names_that_occur_once_do_not_tell_the_labels(unconfuse):
    """A column of names, all different, and labels of which a third are wrong: nothing may reproduce them."""
    draw = random.Random(8)
    lines = []
    for i in range(600):
        x = draw.gauss(0, 1)
        right = draw.random() > 0.3
        lines.append(f"Customer {'abc'[i % 3]}{i},{x:.3f},{2021 + i % 3}-0{1 + i % 9}-17,{'ab'[(x > 0) == right]}\n")
    unconfuse.write("n.csv", "name,x,signup,label\n" + "".join(lines))
    assert unconfuse.json("inspect", "n.csv")["features"] < 20
    for learner in ("auto", "logistic"):
        found = unconfuse.json("train", learner, "n.csv", "-o", "m.uc")
        assert unconfuse.json("evaluate", "m.uc", "n.csv")["error"] > 0.25, found


def test_numbers_and_dates_of_sparse_rows_are_centred(unconfuse):
    draw = random.Random(9)
    lines = [f"202{draw.randrange(4)}-0{draw.randrange(1, 10)}-{draw.randrange(10, 28)},{draw.gauss(1000, 1):.3f},"
             f"{' '.join(draw.choices('good fine fast bad late broken'.split(), k=4))},{'ab'[i % 2]}\n" for i in range(400)]
    unconfuse.write("s.csv", "when,x,remark,label\n" + "".join(lines))
    low, high = unconfuse.json("inspect", "s.csv")["range"]
    assert -6 < low and high < 20  # the year was 1,800 deviations from 0


@pytest.mark.parametrize("values, kind", [
    ([f"Customer {i}" for i in range(200)], "id"), ([f"Case {i} / {2020 + i % 4}" for i in range(200)], "text"),
    ([f"Customer {i % 150}" for i in range(200)], "text"), ([f"Customer {i}{'x' * (i == 7)}" for i in range(200)], "text")])
def test_texts_that_differ_in_a_number_only_are_ids(unconfuse, values, kind):
    found = types(unconfuse, "name,x,label\n" + "".join(f"{name},{i * i % 91},{'ab'[i % 2]}\n" for i, name in enumerate(values)))
    assert found["name"] == kind


def test_measurements_as_labels_get_a_warning(unconfuse):
    rows = [f"{i % 13},{'uv'[i % 2]},{(i * i % 97) / 8 + 0.01}\n" for i in range(300)]
    unconfuse.write("m.csv", "x,place,firmness\n" + "".join(rows))
    refused = unconfuse.fails(1, "train", "pa", "m.csv", "-o", "m.uc")
    assert "column 3, taken for the labels, has 49 different numbers in 300 rows and looks continuous" in refused
    told = unconfuse.ok("train", "pa", "m.csv", "--label", "firmness", "-o", "m.uc")
    assert "the labels, column 'firmness', have 49 different numbers in 300 rows, which look like measurements" in told.err
    grades = [f"{i % 13},{'uv'[i % 2]},{(i % 5) / 2}\n" for i in range(300)]
    unconfuse.write("g.csv", "x,place,grade\n" + "".join(grades))
    assert unconfuse.ok("train", "pa", "g.csv", "-o", "g.uc").err == ""


def test_a_missing_label_names_a_column_that_was_taken_for_the_labels(unconfuse):
    unconfuse.write("a.csv", "x,place,a1,a2\n" + "".join(f"{i},{'uv'[i % 2]},{'pq'[i % 2]},{'pq'[i % 2] if i != 3 else ''}\n" for i in range(30)))
    sentence = unconfuse.fails(1, "train", "pa", "a.csv", "-o", "m.uc")
    assert sentence == "a.csv:5: no label in column 'a2', taken for the labels as the last one: name another, or leave the row " \
                       "out, or write ? for a learner that takes such rows"
    assert unconfuse.fails(1, "train", "pa", "a.csv", "--label", "a2", "-o", "m.uc").startswith("a.csv:5: no label: leave")


def test_training_says_what_the_columns_are(unconfuse):
    lines = [f"c{i},{i * i % 97},{i * 7 % 31},{'uv'[i % 2]},same,{2020 + i % 4}-03-17,{'ab'[i % 2]}\n" for i in range(60)]
    unconfuse.write("t.csv", "ticket_id,x,y2,place,constant,when,outcome\n" + "".join(lines))
    told = unconfuse.ok("train", "pa", "t.csv", "-o", "m.uc").out.splitlines()
    assert told[1] == "columns: 2 numbers, 1 category, 1 date; not used: ticket_id (id), constant (constant) (unconfuse inspect DATA: why)"
    unconfuse.write("n.csv", "x,y2,outcome\n" + "".join(f"{i},{i * i % 7},{'ab'[i % 2]}\n" for i in range(60)))
    assert "columns:" not in unconfuse.ok("train", "pa", "n.csv", "-o", "m.uc").out
