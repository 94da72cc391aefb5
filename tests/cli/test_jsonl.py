"""JSON lines: objects of names to values, read through the same encoder as CSV."""
import csv
import gzip
import io
import json
import random

import pytest
from test_tables import HEADER, rows, text_of


def objects(table, seed=0, shuffle=True):
    """Lines of objects that say what the CSV rows say: keys in any order, missing values null or left out."""
    draw = random.Random(seed)
    for row in table:
        pairs = []
        for name, value in zip(HEADER, row):
            if value in ("", "NA"):
                if draw.random() < 0.5:
                    pairs.append((name, None))
            elif name == "age":
                pairs.append((name, int(value)))
            elif name == "member":
                pairs.append((name, value))
            else:
                pairs.append((name, value))
        if shuffle:
            draw.shuffle(pairs)
        yield json.dumps(dict(pairs), ensure_ascii=draw.random() < 0.5) + "\n"


@pytest.fixture
def lines(unconfuse):
    unconfuse.write("train.csv", text_of([HEADER, *rows(300, 1)]))
    unconfuse.write("test.csv", text_of([HEADER, *rows(100, 2)]))
    unconfuse.write("train.jsonl", "".join(objects(rows(300, 1))))
    unconfuse.write("test.jsonl", "".join(objects(rows(100, 2))))
    unconfuse.ok("train", "logistic", "train.jsonl", "--label", "outcome", "-o", "m.uc")
    return unconfuse


def test_objects_give_the_model_of_the_table(lines):
    """The same bytes from CSV, from objects in any order, compressed, from standard input and from shards."""
    lines.ok("train", "logistic", "train.csv", "-o", "csv.uc")
    model = lines.read("csv.uc")
    assert lines.read("m.uc") == model
    text = lines.read("train.jsonl")
    lines.write("train.jsonl.gz", gzip.compress(text))
    lines.ok("train", "logistic", "train.jsonl.gz", "--label", "outcome", "-o", "x.uc")
    assert lines.read("x.uc") == model
    lines.ok("train", "logistic", "-", "--label", "outcome", "-o", "x.uc", stdin=text)
    assert lines.read("x.uc") == model
    parts = text.splitlines(keepends=True)
    lines.write("part-1.jsonl", b"".join(parts[:7]))
    lines.write("part-2.jsonl", b"\n" + b"".join(parts[7:]))
    lines.ok("train", "logistic", "--shards", "part-?.jsonl", "--label", "outcome", "-o", "x.uc")
    assert lines.read("x.uc") == model


def test_predictions_are_those_of_the_table(lines):
    expected = lines.ok("predict", "m.uc", "test.csv", "--probabilities").out
    assert expected.startswith("id,predicted_label,")
    assert lines.ok("predict", "m.uc", "test.jsonl", "--probabilities").out == expected
    assert lines.ok("predict", "m.uc", "-", "--probabilities", stdin=lines.read("test.jsonl")).out == expected
    for command in (["evaluate", "m.uc"], ["inspect"]):
        assert lines.ok(*command, "test.jsonl").out
    one = lines.json("evaluate", "m.uc", "test.csv")
    assert lines.json("evaluate", "m.uc", "test.jsonl")["error"] == one["error"]


def test_rows_to_predict_need_no_label(lines):
    unlabelled = [json.dumps({k: v for k, v in json.loads(line).items() if k != "outcome"})
                  for line in lines.read("test.jsonl").decode().splitlines()]
    lines.write("new.jsonl", "\n".join(unlabelled))
    assert lines.ok("predict", "m.uc", "new.jsonl").out == lines.ok("predict", "m.uc", "test.jsonl").out


def test_a_key_that_no_line_has(lines):
    def without(name):
        kept = [{k: v for k, v in json.loads(line).items() if k != name}
                for line in lines.read("test.jsonl").decode().splitlines()]
        return lines.write("less.jsonl", "".join(json.dumps(row) + "\n" for row in kept))

    lines.ok("predict", "m.uc", without("age"))  # which was missing in training too
    assert lines.fails(1, "predict", "m.uc", without("colour")) == \
        "less.jsonl: there is no column 'colour', which the model was trained on"
    lines.write("more.jsonl", lines.read("test.jsonl").replace(b"}\n", b', "new": 1, "other": {"x": []}}\n'))
    assert "2 columns" in lines.ok("predict", "m.uc", "more.jsonl").err


def test_outputs_keep_the_lines(lines):
    text = lines.read("train.jsonl").decode()
    lines.ok("split", "train.jsonl", "--label", "outcome", "-o", "a.jsonl", "--rest", "b.jsonl")
    parts = lines.read("a.jsonl").decode() + lines.read("b.jsonl").decode()
    assert sorted(parts.splitlines()) == sorted(text.splitlines())
    lines.ok("noise", "apply", "train.jsonl", "--label", "outcome", "--noise-rate", "0.4", "-o", "n.jsonl")
    changed = 0
    for before, after in zip(text.splitlines(), lines.read("n.jsonl").decode().splitlines()):
        a, b = json.loads(before), json.loads(after)
        changed += a["outcome"] != b["outcome"]
        other = '"keep"' if a["outcome"] == "churn" else '"churn"'
        assert after == (before if a == b else before.replace(f'"outcome": "{a["outcome"]}"', f'"outcome": {other}'))
    assert changed > 50
    lines.ok("convert", "train.jsonl", "same.jsonl", "--label", "outcome")
    assert lines.read("same.jsonl").decode() == text


def test_tables_and_lines_become_each_other(lines):
    lines.ok("convert", "train.csv", "out.jsonl")
    table = list(csv.DictReader(io.StringIO(lines.read("train.csv").decode())))
    for line, row in zip(lines.read("out.jsonl").decode().splitlines(), table, strict=True):
        found = json.loads(line)
        assert list(found) == HEADER
        for name, value in row.items():
            assert (found[name] is None and value == "") or str(found[name]) == value
    lines.ok("convert", "out.jsonl", "back.csv")
    assert lines.read("back.csv") == lines.read("train.csv")
    lines.ok("convert", "train.csv", "out.tsv")
    assert next(csv.reader(io.StringIO(lines.read("out.tsv").decode()), delimiter="\t")) == HEADER
    lines.ok("generate", "rp-ring", "--examples", 20, "-o", "g.svm")
    lines.ok("convert", "g.svm", "g.jsonl")
    lines.ok("convert", "g.svm", "g.csv")
    lines.ok("convert", "g.jsonl", "back.csv", "--format", "jsonl")
    assert lines.read("back.csv") == lines.read("g.csv")


def test_values_of_every_kind(lines):
    text = ('{"a": {"b": 1, "c": {"d": "x"}}, "t": "line\\none \\u00e9\\ud83d\\ude00 \\"q\\"", "ok": true, "label": 1}\n'
            '{"t": "two", "ok": false, "label": "+1", "a": {"c": {"d": "y"}}}\n'
            '  {"a":{"b":-2.5e1},"ok":null,"label":2}  \r\n\n'
            '{"ok": true, "t": "three é", "a": {"b": 3, "c": {"d": "x"}}, "label": 2}\n')
    lines.write("kinds.jsonl", "\ufeff" + text)
    found = lines.json("inspect", "kinds.jsonl")
    kinds = {column["name"]: (column["type"], column["missing"]) for column in found["columns"]}
    assert kinds == {"a.b": ("number", 1), "a.c.d": ("category", 1), "t": ("text", 1), "ok": ("boolean", 1),
                     "label": ("label", 0)}
    assert [c["class"] if isinstance(c, dict) else c for c in found["classes"]] == ["1", "2"]
    lines.ok("convert", "kinds.jsonl", "kinds.csv")
    table = list(csv.reader(io.StringIO(lines.read("kinds.csv").decode(), newline="")))
    assert table[1] == ["1", "x", 'line\none é😀 "q"', "true", "1"]


@pytest.mark.parametrize("line, sentence", [
    ('{"a": 1, "a": 2, "label": "p"}', "the name 'a' is there twice"),
    ('{"a": 1, "label": "p"', "the line ends where a comma or a closing brace is expected"),
    ('{"a": 1 "label": "p"}', "'\"' where a comma or a closing brace is expected"),
    ('{"a" 1}', "'1' where a colon after a name is expected"),
    ('{"a": 1,}', "'}' where a name in quotes is expected"),
    ('{a: 1}', "'a' where a name in quotes is expected"),
    ('{"a": 01}', "'01' where a value is expected"),
    ('{"a": True}', "'True' where a value is expected"),
    ('{"a": }', "'}' where a value is expected"),
    ('{"a": "x', "a quote is not closed on its line"),
    ('{"a": "\\x"}', "\\x is not an escape of JSON"),
    ('{"a": "\\u12g4"}', "\\u is not followed by four digits of base 16"),
    ('{"a": "\\ud800 "}', "\\ud800 is half of a pair of surrogates"),
    ('{"a": "\\u0000"}', "\\u0000 is not a character of text"),
    ('{"a": [1, 2], "label": "p"}', "column 'a' has an array: leave it out with --drop a"),
    ('{"a": 1, "label": "p"} {"a": 2}', "'{' where the end of the line is expected"),
    ('nothing', "'nothing' where an object in braces, {\"name\": value, ...}, is expected"),
    ('{"a": ' * 17 + "1" + "}" * 17, "more than 16 objects within each other"),
])
def test_bad_lines_get_a_sentence(lines, line, sentence):
    good = '{"a": %d, "label": "p"}\n{"a": %d, "label": "q"}\n'
    lines.write("bad.jsonl", good % (1, 2) + line + "\n" + good % (3, 4))
    assert lines.fails(1, "train", "logistic", "bad.jsonl", "-o", "x.uc") == f"bad.jsonl:3: {sentence}"


def test_problems_of_all_lines_are_in_one_message(lines):
    lines.write("bad.jsonl", '{"a": 1, "tags": [1], "label": "p"}\n{"a": 2, "tags": ["x"]}\n{"a": 1, "a": 1}\n{"a":\n')
    assert lines.fails(1, "inspect", "bad.jsonl") == (
        "bad.jsonl:1: column 'tags' has an array: leave it out with --drop tags (and 1 more); bad.jsonl:3: the name 'a' is "
        "there twice; bad.jsonl:4: the line ends where a value is expected")
    lines.write("array.json", '[\n  {"a": 1}\n]\n')
    assert lines.fails(1, "inspect", "array.json") == \
        "array.json: a JSON array, where lines with an object each are expected: jq -c '.[]' writes them"


def test_the_label_is_named_or_last(lines):
    lines.write("last.jsonl", '{"x": 1, "kind": "p"}\n{"x": 2, "more": 3, "kind": "q"}\n')
    kinds = {c["name"]: c["type"] for c in lines.json("inspect", "last.jsonl")["columns"]}
    assert kinds["kind"] == "label"
    lines.write("mixed.jsonl", '{"x": 1, "kind": "p"}\n{"kind": "q", "x": 2}\n')
    assert "label" not in {c["type"] for c in lines.json("inspect", "mixed.jsonl")["columns"]}
    assert lines.fails(1, "train", "logistic", "mixed.jsonl", "--label", "sort", "-o", "x.uc") == \
        "mixed.jsonl: no column is called 'sort'; the lines have x, kind"


def test_bytes_that_are_no_utf_8_do_not_become_json(unconfuse):
    unconfuse.write("d.csv", b"id,x,town,label\n1,.5,K\xf6ln,a\n2,.75,\"two\nlines\",b\n3,2,R\xc3\xb6m \x7f,b\n")
    assert unconfuse.fails(1, "convert", "d.csv", "d.jsonl") == (
        "d.csv:2: 'K?ln' in column 3 is not UTF-8 text, which JSON needs: convert the file first, as iconv -f LATIN1 -t "
        "UTF-8 does")
    unconfuse.write("d.csv", b"id,x,town,label\n1,.5,K\xc3\xb6ln,a\n2,.75,\"two\nlines\",b\n3,2,R\xf6m,b\n")
    assert unconfuse.fails(1, "convert", "d.csv", "d.jsonl").startswith("d.csv:5: 'R?m' in column 3")


def test_lines_without_members_have_no_column_of_that_name(unconfuse):
    unconfuse.write("empty.jsonl", "{}\n{}\n{}\n")
    assert unconfuse.fails(1, "inspect", "empty.jsonl", "--label", "kind").startswith("empty.jsonl: ")
