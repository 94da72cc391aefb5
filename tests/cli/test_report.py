"""--html: one page that holds what --json prints."""
import base64
import hashlib
import json
import re

import pytest

from conftest import blobs

HOSTILE = '</script><img/src=x/onerror=alert(1)>&"'


def page_of(unconfuse, name):
    """Attributes and JSON of the page."""
    text = unconfuse.read(name).decode()
    found = re.search(r'<script type="application/json" id="report"([^>]*)>(.*?)</script>', text, re.S)
    return dict(re.findall(r'data-(\w+)="([^"]*)"', found.group(1))), json.loads(found.group(2)), text


@pytest.fixture
def built(unconfuse):
    """A program that can write pages; one built without esbuild says so."""
    unconfuse.write("probe.svm", blobs(["a", "b"], 40))
    if "built without pages" in unconfuse("compare", "probe.svm", "--learners", "spa", "--feedback", "full", "--html", "p").err:
        pytest.skip("the program was built without pages: esbuild or d3 is not there")
    return unconfuse


def commands(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 120))
    unconfuse.ok("train", "logistic", "data.svm", "-o", "model.uc")
    return {
        "evaluate": ["evaluate", "model.uc", "data.svm"],
        "train": ["train", "logistic", "data.svm", "-v", "3"],
        "stream": ["stream", "cspa", "data.svm", "--feedback", "partial"],
        "compare": ["compare", "data.svm", "--runs", "2", "--learners", "cspa,bpa"],
        "audit": ["audit", "data.svm"],
        "noise estimate": ["noise", "estimate", "data.svm", "--method", "self", "-o", "noise.csv"],
    }


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key != "seconds"}
    return [without_times(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["evaluate", "train", "stream", "compare", "audit", "noise estimate"])
def test_a_page_holds_what_json_prints(built, name):
    command = commands(built)[name]
    printed = built.json(*command)
    built.ok(*command, "--html", "page.html")
    attributes, held, _ = page_of(built, "page.html")
    assert attributes["page"] == name
    assert attributes["command"].startswith(f"unconfuse {name} ") and attributes["command"].endswith("--html page.html")
    assert without_times(held) == without_times(printed)


def test_json_and_page_of_one_run_are_the_same(built):
    command = commands(built)["compare"]
    printed = built.json(*command, "--html", "page.html")
    assert page_of(built, "page.html")[1] == printed


def test_text_from_data_cannot_end_the_element_that_holds_it(built):
    built.write("data.svm", blobs([HOSTILE, "b"], 80))
    built.ok("train", "logistic", "data.svm", "-o", "model.uc")
    built.ok("evaluate", "model.uc", "data.svm", "--html", "a\"&<b>.html")
    attributes, held, text = page_of(built, "a\"&<b>.html")
    assert HOSTILE in held["classes"]
    assert "<img" not in text
    assert attributes["command"] == "unconfuse evaluate model.uc data.svm --html 'a&quot;&amp;&lt;b&gt;.html'"


def test_the_page_allows_its_own_script_and_style_alone(built):
    command = commands(built)["compare"]
    built.ok(*command, "--html", "page.html")
    _, _, text = page_of(built, "page.html")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    for kind, element in (("script-src", "script"), ("style-src", "style")):
        body = re.search(rf"<{element}>(.*?)</{element}>", text, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "http://" not in text.replace("http://www.w3.org/", "") and "https://" not in text


def test_pages_are_small(built):
    built.ok(*commands(built)["compare"], "--html", "page.html")
    assert len(built.read("page.html")) < 400_000


def test_a_page_appears_with_the_other_files_or_not_at_all(built):
    commands(built)
    sentence = built.fails(1, "noise", "estimate", "data.svm", "--method", "self", "-o", "noise.csv", "--html", "none/page.html")
    assert "none/page.html" in sentence
    assert built.fails(2, "noise", "estimate", "data.svm", "--method", "self", "-o", "x", "--html", "x") == \
        "--html and -o are the same file, x"


def test_a_page_does_not_replace_what_is_read(built):
    commands(built)
    assert built.fails(2, "evaluate", "model.uc", "data.svm", "--html", "data.svm") == \
        "--html data.svm would replace the input data.svm"
    assert built.fails(2, "evaluate", "model.uc", "data.svm", "--html", "model.uc") == \
        "--html model.uc would replace the input model.uc"
    assert built.fails(2, "compare", "data.svm", "--html", "data.svm") == "--html data.svm would replace the input data.svm"


def test_bad_usage(built):
    commands(built)
    assert built.fails(2, "train", "logistic", "data.svm", "-o", "m.uc", "--html", "p.html") == \
        "--html shows a cross-validation: give -v K instead of -o MODEL; the page of a model is that of unconfuse evaluate MODEL DATA --html FILE"
    assert built.fails(2, "compare", "data.svm", "--html", "-", "--json") == "--html - and --json both want standard output"
    assert built.fails(2, "compare", "data.svm", "--html", "") == "--html '': a file needs a name"


def test_evaluate_names_confused_pairs_with_rows_and_how_sure_it_was(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 300, spread=0.9))
    unconfuse.ok("train", "logistic", "data.svm", "-o", "model.uc")
    found = unconfuse.json("evaluate", "model.uc", "data.svm")
    labels = [line.split()[0] for line in unconfuse.read("data.svm").decode().splitlines()]
    lines = unconfuse.ok("predict", "model.uc", "data.svm", "--probabilities").out.splitlines()
    predicted = [line.split("\t")[0] for line in lines[1:]]
    sure = [max(map(float, line.split("\t")[1:])) for line in lines[1:]]
    rows = {}
    for i, (label, one) in enumerate(zip(labels, predicted)):
        if label != one:
            rows.setdefault((label, one), []).append(i + 1)
    expected = sorted(rows.items(), key=lambda item: (-len(item[1]), item[0]))
    assert len(expected) > 2
    assert [((pair["true"], pair["predicted"]), pair["examples"], pair["rows"]) for pair in found["confused_pairs"]] == \
        [(names, len(where), where[:5]) for names, where in expected]
    histogram = found["score_histogram"]
    for name, equal in (("right", True), ("wrong", False)):
        bins = [0] * 20
        for label, one, p in zip(labels, predicted, sure):
            if (label == one) == equal:
                bins[min(19, int(20 * p))] += 1
        assert histogram[name] == bins
    assert histogram["edges"] == [i / 20 for i in range(21)]


def wilson(share, rows):
    """The 95% interval of a share of so many rows."""
    z = 1.959963984540054
    middle = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * (share * (1 - share) / rows + z * z / (4 * rows * rows)) ** 0.5
    return [max(0, middle - half), min(1, middle + half)]


def test_shares_of_a_stream_and_of_a_calibration_have_intervals(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 300, spread=0.9))
    found = unconfuse.json("stream", "cspa", "data.svm", "--feedback", "partial")
    before = 0
    for point in found["curve"]:
        assert point["ratio_interval"] == pytest.approx(wilson(point["ratio_correct"], point["round"]), abs=1e-9)
        assert point["recent_interval"] == pytest.approx(wilson(point["recent_ratio"], point["round"] - before), abs=1e-9)
        before = point["round"]
    assert sum(one["examples"] for one in found["per_class"]) == 300
    for one in found["per_class"]:
        assert one["recall_interval"] == pytest.approx(wilson(one["recall"], one["examples"]), abs=1e-9)
        low, high = one["precision_interval"]
        assert 0 <= low < one["precision"] < high <= 1
    bins = unconfuse.json("audit", "data.svm")["calibration"]
    assert sum(one["rows"] for one in bins) == 300
    for one in bins:
        assert one["interval"] == pytest.approx(wilson(one["wrong"], one["rows"]), abs=1e-9)


def test_a_class_that_did_not_occur_has_no_interval(unconfuse):
    unconfuse.write("data.svm", "a 1:1 2:0\nb 1:0 2:1\n" * 20)
    unconfuse.ok("train", "perceptron", "data.svm", "-o", "model.uc")
    unconfuse.write("one.svm", "a 1:1 2:0\n" * 5)
    missing = unconfuse.json("evaluate", "model.uc", "one.svm")["per_class"][1]
    assert (missing["class"], missing["examples"], missing["recall"], missing["recall_interval"]) == ("b", 0, None, None)
    assert missing["precision_interval"] is None
