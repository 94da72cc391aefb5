"""The error on true classes: estimated from noisy labels, bounded, and by rows that somebody has checked."""
import csv
import io

import pytest

from conftest import blobs

TRAINED_ON_THEM = ("unconfuse: warning: the model was trained on as many rows as noisy.svm has, 600: if these are the same, "
                   "checked rows tell its error on them, which is too low for new rows\n")


@pytest.fixture
def noisy(unconfuse):
    """Data whose labels are wrong in three of ten rows, and a model of them."""
    unconfuse.write("clean.svm", blobs(["a", "b", "c"], 600, spread=0.9))
    unconfuse.ok("noise", "apply", "clean.svm", "--noise-rate", "0.3", "-o", "noisy.svm")
    unconfuse.ok("train", "logistic", "noisy.svm", "-o", "m.uc")
    return unconfuse


def labels_of(program, name):
    return [line.split()[0] for line in program.read(name).decode().splitlines()]


def rows_of(program, name):
    lines = program.read(name).decode().splitlines()
    return lines[0], list(csv.DictReader(io.StringIO("\n".join(lines[1:]))))


def fill(program, source, target, truth, most=None, change=None):
    """Writes true classes into the file, of the first `most` rows."""
    head, rows = rows_of(program, source)
    for row in rows[:most]:
        row["true_label"] = truth[int(row["row"]) - 1]
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    text = head + "\n" + text.getvalue()
    program.write(target, change(text) if change else text)
    return rows


def true_error(program, model="m.uc"):
    return program.json("evaluate", model, "clean.svm", "--no-clean-error")["error"]


def test_check_writes_the_columns_and_the_sizes_of_both_strata(noisy):
    result = noisy.json("check", "noisy.svm", "--model", "m.uc", "--rows", "60", "-o", "c.csv")
    head, rows = rows_of(noisy, "c.csv")
    assert list(rows[0]) == ["row", "id", "given_label", "predicted_label", "stratum", "true_label"]
    assert len(rows) == 60 == result["rows"] and all(row["true_label"] == "" for row in rows)
    given, predicted = labels_of(noisy, "noisy.svm"), noisy.ok("predict", "m.uc", "noisy.svm").out.split()
    agree = sum(a == b for a, b in zip(given, predicted, strict=True))
    drawn = [sum(row["stratum"] == name for row in rows) for name in ("agree", "disagree")]
    assert head.startswith(f"# stratum sizes: agree {agree} drawn {drawn[0]} disagree {600 - agree} drawn {drawn[1]}")
    assert result["strata"] == [{"stratum": "agree", "rows": agree, "drawn": drawn[0]},
                                {"stratum": "disagree", "rows": 600 - agree, "drawn": drawn[1]}]
    assert min(drawn) >= 5 and sum(drawn) == 60
    for row in rows:
        at = int(row["row"]) - 1
        assert (row["given_label"], row["predicted_label"]) == (given[at], predicted[at])
        assert (row["stratum"] == "agree") == (given[at] == predicted[at])
    assert len({row["row"] for row in rows}) == 60


def test_the_same_seed_draws_the_same_rows(noisy):
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        noisy.ok("check", "noisy.svm", "--model", "m.uc", "--rows", 50, "--seed", seed, "-o", name, "--threads", seed)
    assert noisy.read("a.csv") == noisy.read("b.csv") != noisy.read("c.csv")


def test_checked_rows_give_the_interval(noisy):
    noisy.ok("check", "noisy.svm", "--model", "m.uc", "--rows", "150", "--seed", "2", "-o", "c.csv")  # of 30 seeds, 1 misses
    fill(noisy, "c.csv", "checked.csv", labels_of(noisy, "clean.svm"))
    result = noisy.json("evaluate", "m.uc", "noisy.svm", "--gold", "checked.csv")
    clean, gold = result["clean_error"], result["gold"]
    assert clean["method"] == "checked rows, two strata" and clean["level"] == 0.9
    assert gold["checked"] == 150 and gold["empty"] == 0
    half, estimate = 0, 0
    for stratum in gold["strata"]:
        share, p = stratum["rows"] / 600, (stratum["errors"] + 0.5) / (stratum["checked"] + 1)
        estimate += share * stratum["errors"] / stratum["checked"]
        half += share * share * p * (1 - p) / stratum["checked"]
    half = 1.6448536269514722 * half ** 0.5
    assert clean["estimate"] == pytest.approx(estimate) and clean["low"] == pytest.approx(max(estimate - half, 0))
    assert clean["high"] == pytest.approx(estimate + half) and half < 0.06
    assert clean["low"] <= true_error(noisy) <= clean["high"]
    text = noisy.ok("evaluate", "m.uc", "noisy.svm", "--gold", "checked.csv").out
    assert f"clean error        {100 * estimate:.1f}% (90% interval" in text


@pytest.mark.parametrize("change", [
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "\ufeff" + text.replace(",", ";").replace("\n", "\r\n"),
    lambda text: "\n".join('"' + line.replace(",", '","') + '"' for line in text.splitlines()) + "\n",
    lambda text: text.replace(",", "\t"),
    lambda text: text.split("\n", 1)[0] + ",,,,,\n" + text.split("\n", 1)[1] + "\n,,,,,\n",
    lambda text: text.split("\n", 1)[1],
    lambda text: "\n".join(text.splitlines()[:2] + sorted(text.splitlines()[2:])),
], ids=["crlf", "bom-semicolon", "quotes", "tabs", "padded", "without-sizes", "sorted"])
def test_a_spreadsheet_may_have_had_the_file(noisy, change):
    noisy.ok("check", "noisy.svm", "--model", "m.uc", "--rows", "40", "-o", "c.csv")
    truth = labels_of(noisy, "clean.svm")
    fill(noisy, "c.csv", "plain.csv", truth)
    fill(noisy, "c.csv", "changed.csv", truth, change=change)
    plain, changed = (noisy.json("evaluate", "m.uc", "noisy.svm", "--gold", name) for name in ("plain.csv", "changed.csv"))
    assert plain == changed


def test_rows_left_empty_do_not_count(noisy):
    noisy.ok("check", "noisy.svm", "--model", "m.uc", "--rows", "80", "-o", "c.csv")
    fill(noisy, "c.csv", "half.csv", labels_of(noisy, "clean.svm"), most=40)
    result = noisy.json("evaluate", "m.uc", "noisy.svm", "--gold", "half.csv")
    assert result["gold"]["checked"] == 40 and result["gold"]["empty"] == 40
    assert result["clean_error"]["low"] <= true_error(noisy) <= result["clean_error"]["high"]
    assert noisy.fails(1, "evaluate", "m.uc", "noisy.svm", "--gold", "c.csv") == "c.csv: no row has a true class yet"


def test_a_file_that_was_cut_off_is_noticed(noisy):
    noisy.ok("check", "noisy.svm", "--model", "m.uc", "--rows", "80", "-o", "c.csv")
    fill(noisy, "c.csv", "whole.csv", labels_of(noisy, "clean.svm"))
    lines = noisy.read("whole.csv").decode().splitlines(True)
    noisy.write("cut.csv", "".join(lines[:52]))
    run = noisy.ok("evaluate", "m.uc", "noisy.svm", "--gold", "cut.csv", "--json")
    assert run.err == ("unconfuse: warning: cut.csv: 30 of the 80 rows that were drawn are not in it: was it cut off? The interval "
                       "holds only if they are missing by chance; leave true_label empty where it is not clear\n"
                       + TRAINED_ON_THEM)
    import json
    gold = json.loads(run.out)["gold"]
    assert (gold["checked"], gold["empty"], gold["missing"]) == (50, 0, 30)
    assert noisy.json("evaluate", "m.uc", "noisy.svm", "--gold", "whole.csv")["gold"]["missing"] == 0
    noisy.write("cut.csv", "".join(lines)[:len("".join(lines[:52])) - 9])  # in the middle of a line
    assert "31 of the 80 rows" in noisy.ok("evaluate", "m.uc", "noisy.svm", "--gold", "cut.csv").err


def test_a_data_file_with_question_marks_is_one_sample(noisy):
    lines = noisy.read("clean.svm").decode().splitlines()
    noisy.write("gold.svm", "\n".join(line if i % 4 == 0 else "? " + line.split(" ", 1)[1]
                                      for i, line in enumerate(lines)) + "\n")
    run = noisy.ok("evaluate", "m.uc", "noisy.svm", "--gold", "gold.svm", "--json")
    assert "holds only if its rows were drawn at random" in run.err
    import json
    result = json.loads(run.out)
    assert result["clean_error"]["method"] == "checked rows" and result["gold"]["checked"] == 150
    assert result["clean_error"]["low"] <= true_error(noisy) <= result["clean_error"]["high"]
    full = noisy.ok("evaluate", "m.uc", "noisy.svm", "--gold", "clean.svm", "--json")
    assert full.err == TRAINED_ON_THEM and json.loads(full.out)["clean_error"]["estimate"] == pytest.approx(true_error(noisy))


def test_rows_that_check_did_not_draw_are_one_sample(noisy):
    truth = labels_of(noisy, "clean.svm")
    noisy.write("mine.csv", "row,true_label\n" + "".join(f"{i + 1},{truth[i]}\n" for i in range(0, 600, 7)))
    run = noisy.ok("evaluate", "m.uc", "noisy.svm", "--gold", "mine.csv")
    assert run.err == ("unconfuse: warning: mine.csv: not as unconfuse check drew it (a row has no stratum): the interval is "
                       "that of one random sample, and holds only if its rows were drawn at random\n"
                       + TRAINED_ON_THEM)


def test_files_that_do_not_fit_get_a_sentence(noisy):
    noisy.ok("check", "noisy.svm", "--model", "m.uc", "--rows", "40", "-o", "c.csv")
    rows = fill(noisy, "c.csv", "checked.csv", labels_of(noisy, "clean.svm"))
    first = rows[0]
    text = noisy.read("checked.csv").decode()
    line = text.splitlines()[2]

    def refused(changed):
        noisy.write("bad.csv", changed)
        return noisy.fails(1, "evaluate", "m.uc", "noisy.svm", "--gold", "bad.csv")

    number = first["row"] + ","
    assert refused(text.replace(line, "601," + line.removeprefix(number))) == (
        "bad.csv:3: row '601' is not one of the rows 1 to 600 of noisy.svm")
    assert refused(text + line + "\n") == (
        f"bad.csv:43: row {first['row']} was given in line 3 already; keep one of the two")
    assert refused(text.replace(line, line.rsplit(",", 1)[0] + ",zebra")) == (
        "bad.csv:3: 'zebra' is not a class of the model; leave true_label empty if it is not clear")
    noisy.write("other.svm", "".join(noisy.read("noisy.svm").decode().splitlines(True)[:300]))
    assert "other.svm" in noisy.fails(1, "evaluate", "m.uc", "other.svm", "--gold", "checked.csv")
    assert noisy.fails(2, "evaluate", "m.uc", "noisy.svm", "--gold", "checked.csv", "--bags").startswith("--gold is for")
    assert noisy.fails(2, "check", "noisy.svm", "-o", "x.csv") == "check needs DATA, --model MODEL and -o FILE"
    assert "would replace the input" in noisy.fails(2, "check", "noisy.svm", "--model", "m.uc", "-o", "noisy.svm")


def test_more_rows_than_there_are_means_all(noisy):
    run = noisy.ok("check", "noisy.svm", "--model", "m.uc", "--rows", "1000", "-o", "c.csv")
    assert "600 labelled rows: all of them are to be checked" in run.err
    assert len(rows_of(noisy, "c.csv")[1]) == 600


def test_names_with_commas_and_quotes_survive(unconfuse):
    import random
    draw = random.Random(2)
    rows = "".join(f"{x},{name}\n" for x, name in ((draw.gauss(2 * k, 1), name) for _ in range(60)
                                                   for k, name in enumerate(['"a, b"', '"say ""c"""'])))
    unconfuse.write("d.csv", "x,y\n" + rows)
    unconfuse.ok("train", "logistic", "d.csv", "-o", "m.uc")
    unconfuse.ok("check", "d.csv", "--model", "m.uc", "--rows", "30", "-o", "c.csv")
    truth = [next(csv.reader([line]))[1] for line in rows.splitlines()]
    fill(unconfuse, "c.csv", "f.csv", truth)
    assert unconfuse.json("evaluate", "m.uc", "d.csv", "--gold", "f.csv")["gold"]["checked"] == 30


def test_ids_of_a_table_are_in_the_file(unconfuse):
    import random
    draw = random.Random(3)
    unconfuse.write("d.csv", "key,x,y\n" + "".join(f"r{i}k,{draw.gauss(2 * (i % 2), 1)},{'ab'[i % 2]}\n" for i in range(80)))
    unconfuse.ok("train", "logistic", "d.csv", "-o", "m.uc")
    unconfuse.ok("check", "d.csv", "--model", "m.uc", "--rows", "20", "-o", "c.csv")
    assert all(row["id"] == f"r{int(row['row']) - 1}k" for row in rows_of(unconfuse, "c.csv")[1])


# ---- the estimate from labels alone


@pytest.mark.parametrize("learner", ["spa", "logistic", "csvm", "rp"])
def test_every_learner_has_an_interval(unconfuse, learner):
    classes = ["a", "b"] if learner == "rp" else ["a", "b", "c"]
    unconfuse.write("clean.svm", blobs(classes, 400, spread=0.8))
    unconfuse.ok("noise", "apply", "clean.svm", "--noise-rate", "0.2", "-o", "noisy.svm")
    unconfuse.ok("train", learner, "noisy.svm", "-o", "m.uc")
    folds = unconfuse.json("train", learner, "noisy.svm", "-v", "3")
    for result in (unconfuse.json("evaluate", "m.uc", "noisy.svm"), folds):
        clean = result["clean_error"]
        assert list(clean)[:5] == ["estimate", "low", "high", "level", "method"]
        assert clean["method"] == "noise hypotheses" and clean["level"] == 0.9
        assert 0 <= clean["low"] <= clean["estimate"] <= clean["high"] <= 1
        assert clean["low"] < result["error"] - 0.05 < result["error"]


def test_a_bound_on_wrong_labels_bounds_the_error(noisy):
    for bound in (0.05, 0.3):
        for command in (("evaluate", "m.uc", "noisy.svm"), ("train", "logistic", "noisy.svm", "-v", "3")):
            result = noisy.json(*command, "--wrong-at-most", bound)
            clean, error = result["clean_error"], result["error"]
            assert clean["wrong_at_most"] == bound
            assert clean["bound"] == pytest.approx([max(error - bound, 0), error + bound])
            assert clean["bound"][0] <= clean["low"] <= clean["estimate"] <= clean["high"] <= clean["bound"][1]
    model = noisy.json("train", "noisy.svm", "--time", "fast", "--wrong-at-most", "0.02", "-o", "a.uc")["clean_error"]
    assert model["bound"][0] <= model["low"] <= model["high"] <= model["bound"][1] <= model["bound"][0] + 0.0400001
    assert noisy.fails(2, "evaluate", "m.uc", "noisy.svm", "--wrong-at-most", "0")
    assert noisy.fails(2, "evaluate", "m.uc", "noisy.svm", "--wrong-at-most", "1.5")
    warned = noisy.ok("train", "spa", "noisy.svm", "--wrong-at-most", "0.1", "-o", "s.uc").err
    assert "--wrong-at-most has no effect: spa does not estimate its error on true classes" in warned


def test_a_wide_interval_says_what_to_do(unconfuse):
    unconfuse.write("d.svm", blobs(["a", "b"], 120, spread=3.0))
    unconfuse.ok("noise", "apply", "d.svm", "--noise-rate", "0.4", "-o", "n.svm")
    unconfuse.ok("train", "logistic", "n.svm", "-o", "m.uc")
    clean = unconfuse.json("evaluate", "m.uc", "n.svm")["clean_error"]
    assert clean["high"] - clean["low"] > 0.25 and 20 <= clean["rows_to_check"] <= 120
    text = unconfuse.ok("evaluate", "m.uc", "n.svm").out
    assert "if wrong labels do not depend on the example" in text
    advice = text.split("These labels alone cannot narrow this down; check ")[1].splitlines()[1].split()
    assert advice[0] == "unconfuse"
    unconfuse.ok(*advice[1:])
    assert len(rows_of(unconfuse, "to-check.csv")[1]) == clean["rows_to_check"]


def test_the_plugin_error_stays_a_share(unconfuse):
    """Told too much noise, the corrected error would be below 0."""
    unconfuse.write("d.svm", blobs(["a", "b"], 200, spread=0.2))
    unconfuse.ok("train", "logistic", "d.svm", "-o", "m.uc")
    result = unconfuse.json("evaluate", "m.uc", "d.svm", "--noise-rate", "0.3")
    assert result["corrected_error_plugin"] == 0 == result["clean_error"]["low"]
    text = unconfuse.ok("evaluate", "m.uc", "d.svm", "--noise-rate", "0.3").out
    assert "without noise      error 0.00%" in text and "unbiased if the noise given is that of these labels" in text


def test_threads_change_no_byte(noisy):
    one, two = (noisy.ok("evaluate", "m.uc", "noisy.svm", "--json", "--threads", n).out for n in (1, 3))
    assert one == two
