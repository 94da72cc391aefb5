"""Tables: what a look at their columns finds before anything is learned."""
import pytest


def types(unconfuse, text):
    unconfuse.write("types.csv", text)
    return {column["name"]: column["type"] for column in unconfuse.json("inspect", "types.csv")["columns"]}


@pytest.mark.parametrize("late, kind", [("NA", "number"), ("abc", "category")])
def test_inspect_looks_again_where_numbers_end_late(unconfuse, late, kind):
    """The first 64 KB of the file are numbers alone, as is all that train reads before it starts over."""
    lines = [f"{i / 7:.6f},{late if i == 9000 else i % 7},{'xy'[i % 2]}" for i in range(10000)]
    text = "a,b,label\n" + "\n".join(lines) + "\n"
    assert types(unconfuse, text) == {"a": "number", "b": kind, "label": "label"}
    assert unconfuse.json("inspect", "types.csv")["examples"] == 10000
    unconfuse.ok("train", "logistic", "types.csv", "-o", "m.uc")
    assert unconfuse.fails(1, "train", "logistic", "-", "-o", "m.uc", stdin=text.encode()).endswith(
        f"column 'b': '{late}' is not a number; standard input is read only once: give the type of the column with --columns, or read a file")


@pytest.mark.parametrize("value", ["", "NA"])
def test_a_model_of_numbers_alone_says_how_to_predict_missing_values(unconfuse, value):
    unconfuse.write("t.csv", "a,b,label\n" + "".join(f"{i % 2 + i / 100},{i % 7},{'xy'[i % 2]}\n" for i in range(60)))
    unconfuse.write("new.csv", f"a,b\n1,\n1.5,{value}\n".replace("1,\n", "1,2\n", 1))
    unconfuse.ok("train", "logistic", "t.csv", "-o", "m.uc")
    assert unconfuse.fails(1, "predict", "m.uc", "new.csv") == "new.csv:3: column 'b' has no value, and a model of numbers " \
        "alone has no median for it: fill it in, or give the column's type, number, when training"
    unconfuse.ok("train", "logistic", "t.csv", "--columns", "b=number", "-o", "m.uc")
    assert unconfuse.ok("predict", "m.uc", "new.csv").stdout.count(b"\n") == 3


def test_inspect_shows_a_text_that_is_longer_than_its_first_look(unconfuse):
    text = "a,note,label\n" + "".join(f"{i},{f'word{i} ' * 20000},{'xy'[i % 2]}\n" for i in range(20))
    assert types(unconfuse, text) == {"a": "number", "note": "text", "label": "label"}


def test_options_take_the_names_that_inspect_shows(unconfuse):
    unconfuse.write("t.csv", "a,label,label,\n" + "".join(f"{i},{'xy'[i % 2]},{'pqr'[i % 3]},{'uv'[i % 4 == 0]}\n" for i in range(60)))
    shown = [column["name"] for column in unconfuse.json("inspect", "t.csv")["columns"]]
    assert shown == ["a", "label", "label.1", "column 4"]
    for name, classes in (("label", ["x", "y"]), ("label.1", ["p", "q", "r"]), ("column 4", ["u", "v"])):
        assert unconfuse.json("train", "pa", "t.csv", "--label", name, "-o", "m.uc")["classes"] == classes
    assert unconfuse.fails(1, "train", "pa", "t.csv", "--label", "label.2", "-o", "m.uc") == \
        "t.csv: no column is called 'label.2'; the first line has a, label, label, "


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_names_of_columns_may_have_line_breaks(unconfuse, separator):
    lines = ['"amount\n(EUR)"', '"a ""b""\nc"', "label"], *([str(i % 7), str(i), "xy"[i % 2]] for i in range(20))
    unconfuse.write("t.csv", "\n".join(separator.join(line) for line in lines) + "\n")
    columns = unconfuse.json("inspect", "t.csv")["columns"]
    assert [column["name"] for column in columns] == ["amount\n(EUR)", 'a "b"\nc', "label"]
    unconfuse.ok("train", "pa", "t.csv", "-o", "m.uc")
    unconfuse.ok("split", "t.csv", "-o", "a.csv", "--rest", "b.csv")
    assert unconfuse.ok("predict", "m.uc", "a.csv").out and unconfuse.ok("evaluate", "m.uc", "b.csv").out


@pytest.mark.parametrize("value, place", [("soon", 8), ("2024-02-30", 3), ("0", 0), ("0", 5), ("9.5 or so", 0)])
def test_a_column_of_dates_with_a_value_that_is_none_is_refused(unconfuse, value, place):
    """It would become an id, which nothing is learned from, or words."""
    days = [f"2024-03-{i:02d}" for i in range(1, 9)]
    days.insert(place, value)
    unconfuse.write("d.csv", "when,n,label\n" + "".join(f"{day},{i},{'ab'[i % 2]}\n" for i, day in enumerate(days)))
    assert unconfuse.fails(1, "inspect", "d.csv") == (
        f"d.csv:{place + 2}: column 'when': '{value}' is not a date, but most values are: add it to --missing-values, or "
        "give --columns when=text, id or drop")
    kinds = {c["name"]: c["type"] for c in unconfuse.json("inspect", "d.csv", "--missing-values", f"NA,{value}")["columns"]}
    assert kinds["when"] == "date"
    unconfuse.ok("train", "logistic", "d.csv", "--columns", "when=text", "-o", "m.uc")


def test_a_value_that_is_no_date_is_found_in_any_block(unconfuse):
    rows = [f"20{i % 30:02d}-{i % 12 + 1:02d}-{i % 28 + 1:02d},{'x' * 40},{i},{'ab'[i % 2]}" for i in range(4000)]
    for bad in ([3500], range(40), [0, 1, 2, 3999]):
        changed = [f"soon,{row.split(',', 1)[1]}" if i in bad else row for i, row in enumerate(rows)]
        unconfuse.write("d.csv", "when,pad,n,label\n" + "\n".join(changed) + "\n")
        told = {unconfuse.fails(1, "inspect", "d.csv", "--threads", threads) for threads in (1, 2)}
        assert told == {f"d.csv:{bad[0] + 2}: column 'when': 'soon' is not a date, but most values are: add it to "
                        "--missing-values, or give --columns when=text, id or drop"}


def test_dates_in_more_than_one_form_are_a_problem(unconfuse):
    rows = "".join(f"2024-03-{i:02d},{i},{'ab'[i % 2]}\n" for i in range(1, 9))
    unconfuse.write("d.csv", "when,n,label\n" + rows + "09.03.2024,9,a\n" + "2024-03-10,10,b\n")
    assert unconfuse.fails(1, "train", "logistic", "d.csv", "-o", "m.uc") == (
        "d.csv:10: column 'when' has dates in more than one form, here '09.03.2024': write them in one, such as 2024-03-31, "
        "or give --columns when=text")
    assert unconfuse("train", "logistic", "d.csv", "-o", "m.uc", "--columns", "when=text")


def test_dates_of_another_form_in_a_later_block_are_found(unconfuse):
    rows = [f"2024-03-{i % 28 + 1:02d},{'x' * 40},{i},{'ab'[i % 2]}" for i in range(4000)]
    rows[3500] = "09.03.2024,y,1,a"
    unconfuse.write("d.csv", "when,pad,n,label\n" + "\n".join(rows) + "\n")
    for threads in 1, 2:
        assert unconfuse.fails(1, "inspect", "d.csv", "--threads", threads, "--max-categories", 5).startswith(
            "d.csv:3502: column 'when' has dates in more than one form, here '09.03.2024'")
