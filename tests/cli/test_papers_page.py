"""scripts/papers-page: docs/papers.md is written from results of real runs, and cannot go stale."""
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "papers-page"


def page(*arguments):
    return subprocess.run([sys.executable, "-B", SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def cell(values, paper=None):
    mean = sum(values) / len(values)
    return {"mean": mean, "deviation": 0.5 if len(values) > 1 else None, "paper": paper, "paper_deviation": None,
            "best": False, "values": values}


def write_result(directory, only, rows, **changes):
    """A result as unconfuse-papers writes it, of an experiment run for one data set."""
    directory.mkdir(exist_ok=True)
    panel = {"name": "errors", "title": "Errors", "x": "problem", "y": "test error",
             "rows": [{"row": row, "x": 0, "cells": cells} for row, cells in rows.items()]}
    result = {"experiment": "toy.table", "what": "a toy", "command": f"unconfuse-papers run toy.table --only {only}",
              "date": "2026-11-17", "runs": 2, "quick": False, "seed": 1, "seconds": 250.0, "version": "0.1.0",
              "panels": [panel], "notes": [], "skipped": [], "failed": [], **changes}
    (directory / "toy.table.json").write_text(json.dumps(result))


@pytest.fixture
def toy(tmp_path):
    """Results of two data sets, a template, and the arguments that name them."""
    write_result(tmp_path / "a", "a", {"a": {"svm": cell([1.0, 2.0], paper=1.4), "none": cell([7.0])}})
    write_result(tmp_path / "b", "b", {"b": {"svm": cell([3.0, 4.0]), "none": cell([9.0])}}, date="2026-11-18")
    (tmp_path / "template.md").write_text('# Toy\n@runs toy.table\n@table toy.table/errors decimals=1\n\n'
                                          '@claim mean("toy.table/errors/a/svm") < mean("toy.table/errors/b/svm")\n'
                                          'b has {{mean("toy.table/errors/b/svm")|.2f}}.\n'
                                          '@if toy.table/other\nThere is more.\n@else\nThat is all.\n@end\n')
    return tmp_path, ["--results", tmp_path / "results", "--template", tmp_path / "template.md", "--page", tmp_path / "page.md"]


def test_the_page_in_the_docs_is_what_the_results_say():
    result = page("--check")
    assert result.returncode == 0, result.stderr


def test_parts_are_put_together_with_their_commands(toy):
    directory, names = toy
    assert page("--add", directory / "a", directory / "b", *names).returncode == 0
    assert (directory / "page.md").read_text() == """\
# Toy
    unconfuse-papers run toy.table --only a   # 2 runs, seed 1, 2026-11-17, 4 min
    unconfuse-papers run toy.table --only b   # 2 runs, seed 1, 2026-11-18, 4 min

| problem | svm | none |
|---|---|---|
| a | 1.5 ±0.5 (1.4) | 7.0 |
| b | 3.5 ±0.5 | 9.0 |

b has 3.50. That is all.
"""
    assert page("--check", *names).returncode == 0


@pytest.mark.parametrize("key", ["quick", "date", "seconds", "panels", "notes"])
def test_a_result_without_what_the_page_needs_is_one_sentence(toy, key):
    directory, names = toy
    path = directory / "a/toy.table.json"
    result = json.loads(path.read_text())
    del result[key]
    path.write_text(json.dumps(result))
    said = page("--add", directory / "a", *names)
    assert said.returncode == 1 and said.stderr == f"papers-page: {path}: '{key}' is missing from this result\n"


@pytest.mark.parametrize("rows", [None, []])
def test_a_panel_without_rows_is_one_sentence(toy, rows):
    directory, names = toy
    path = directory / "a/toy.table.json"
    result = json.loads(path.read_text())
    del result["panels"][0]["rows"]
    if rows is not None:
        result["panels"][0]["rows"] = rows
    path.write_text(json.dumps(result))
    said = page("--add", directory / "a", *names)
    assert said.returncode == 1 and said.stderr == f"papers-page: {path}: the panel 'errors' has no rows\n"


def test_commands_make_the_results_again(toy):
    directory, names = toy
    page("--add", directory / "a", directory / "b", *names)
    assert page("--commands", *names).stdout == """\
mkdir -p results
unconfuse-papers run toy.table --only a --out results/toy.table.a
unconfuse-papers run toy.table --only b --out results/toy.table.b
"""


def test_a_page_that_was_edited_or_is_old_fails_the_check(toy):
    directory, names = toy
    page("--add", directory / "a", directory / "b", *names)
    write_result(directory / "b", "b", {"b": {"svm": cell([3.0, 5.0]), "none": cell([9.0])}})
    before = (directory / "page.md").read_text()
    assert page("--add", directory / "b", "--check", *names).returncode == 1
    result = page("--check", *names)
    assert result.returncode == 1 and "is not what scripts/papers-page writes" in result.stderr
    assert (directory / "page.md").read_text() == before


def test_a_claim_that_is_no_longer_true_is_refused(toy):
    directory, names = toy
    page("--add", directory / "a", directory / "b", *names)
    before = (directory / "page.md").read_text()
    write_result(directory / "b", "b", {"b": {"svm": cell([0.0, 1.0]), "none": cell([9.0])}})
    result = page("--add", directory / "b", *names)
    assert result.returncode == 1 and "template.md:5: the figures say otherwise: @claim" in result.stderr
    assert (directory / "page.md").read_text() == before


@pytest.mark.parametrize("changes, sentence", [
    ({"quick": True}, "a quick version is not for the page"),
    ({"panels": []}, "there is nothing in it"),
])
def test_results_that_are_not_for_the_page_are_refused(toy, changes, sentence):
    directory, names = toy
    write_result(directory / "c", "c", {}, **changes)
    result = page("--add", directory / "c", *names)
    assert result.returncode == 1 and sentence in result.stderr
    assert not (directory / "results").exists()


def test_a_missing_result_is_named(toy):
    directory, names = toy
    page("--add", directory / "a", *names)
    result = page(*names)
    assert result.returncode == 1 and "there is no cell toy.table/errors/b/svm" in result.stderr
    shutil.rmtree(directory / "results")
    assert "template.md:2: there is no result toy.table" in page(*names).stderr
