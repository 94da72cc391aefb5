"""A hundred generated tables, read as pandas reads them: names, quotes, separators, line ends, encodings, missing values."""
import csv
import io
import json
import random

import pytest

pandas = pytest.importorskip("pandas")

MISSING = ["NA", "N/A", "NaN", "null", "None", "?"]
WORDS = ["plain", "two words", 'a "quoted" word', "comma, here", "semi; colon", "bar | bar", "ünïcödé", "日本 語", "line\nbreak",
         "tab\there", "  blanks  ", "'single'", "e\u0301", "😀", "=1+1", "100%", "\\n"]


def value(draw, kind, row):
    if draw.random() < 0.1:
        return draw.choice(["", *MISSING])
    if kind == "number":
        return draw.choice([f"{draw.gauss(0, 100):.6g}", str(draw.randrange(-5, 5000)), f"{draw.random():.3e}", "0", "-0.5"])
    if kind == "thousands":
        return f"{draw.gauss(0, 1e5):,.2f}"
    if kind == "category":
        return draw.choice(["red", "green", "blue", "dark blue"])
    if kind == "boolean":
        return draw.choice(["yes", "no", "Yes", "NO"])
    if kind == "date":
        return f"20{draw.randrange(10, 30)}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}"
    if kind == "id":
        return f"R{row:05d}"
    return " ".join(draw.choices(WORDS, k=draw.randrange(1, 5)))


def make(seed):
    """The text of a table, its separator, its names and its cells."""
    draw = random.Random(seed)
    kinds = draw.choices(["number", "thousands", "category", "boolean", "date", "text"], k=draw.randrange(1, 9)) + ["id"]
    names = [f"{draw.choice(['col', 'Größe', 'the name', 'a,b', 'x'])}{i}" for i in range(len(kinds))]
    count = draw.randrange(20, 60)
    cells = [[value(draw, kind, row) for kind in kinds] + [draw.choice("ab")] for row in range(count)]
    separator = draw.choice(",;\t|")
    style = {"delimiter": separator, "lineterminator": draw.choice(["\n", "\r\n"]),
             "quoting": draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])}
    text = io.StringIO(newline="")
    csv.writer(text, **style).writerows([[*names, "label"], *cells])
    return draw.choice(["", "\ufeff"]) + text.getvalue(), separator, [*names, "label"]


def cells_of(text):
    rows = [json.loads(line, parse_float=str, parse_int=str) for line in text.split("\n")[:-1]]
    return [["" if row[name] is None else str(row[name]) for name in row] for row in rows], list(rows[0])


@pytest.mark.parametrize("seed", range(100))
def test_a_generated_table_is_read_as_pandas_reads_it(unconfuse, seed):
    """Every cell, through JSON lines, which have names and text without quotes; blanks around a field are no part of it."""
    text, separator, names = make(seed)
    unconfuse.write("g.csv", text)
    expected = pandas.read_csv(io.BytesIO(text.encode()), sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    assert list(expected.columns) == names
    options = ["--label", "label", "--separator", "tab" if separator == "\t" else separator]
    unconfuse.ok("convert", "g.csv", "g.jsonl", *options)
    found, columns = cells_of(unconfuse.read("g.jsonl").decode())
    assert columns == names

    def bare(cell):
        return cell.replace("\r\n", "\n").strip(" \t")

    for row, (ours, theirs) in enumerate(zip(found, expected.values.tolist(), strict=True)):
        assert [bare(cell) for cell in ours] == [bare(cell) for cell in theirs], row
    missing = {name: int(column.isna().sum()) for name, column in pandas.read_csv(
        io.BytesIO(text.encode()), sep=separator, dtype=str, keep_default_na=False, na_values=["", *MISSING],
        encoding="utf-8-sig").items()}
    for column in unconfuse.json("inspect", "g.csv", *options)["columns"]:
        assert column["missing"] == missing[column["name"]], column
