"""unconfuse replay: logs from a service, from CSV and from DSJSON, and what they cannot tell."""
import random

import pytest

from conftest import PROGRAM
from live_service import Service

K = 3


def log(seed, events, explore):
    """A policy that favours a random class; the label is the largest feature."""
    draw = random.Random(seed)
    lines = ["id,x,y,z,class,probability,right"]
    for i in range(events):
        row = [round(draw.gauss(0, 1), 4) for _ in range(K)]
        favourite = draw.randrange(K)
        chosen = draw.randrange(K) if draw.random() < explore else favourite
        probability = explore / K + (1 - explore) * (chosen == favourite)
        right = chosen == row.index(max(row))
        lines.append(f"e{i},{row[0]},{row[1]},{row[2]},c{chosen},{probability!r},{str(right).lower()}")
    return "\n".join(lines) + "\n"


def test_estimates_from_csv(unconfuse):
    unconfuse.write("log.csv", log(1, 3000, 1.0))
    found = unconfuse.json("replay", "log.csv", "--learner", "cspa-plus")
    assert found["events"] == 3000 and abs(found["logged_ratio_correct"] - 1 / 3) < 0.05
    assert found["effective_events"] == found["agreed"] > 800
    for name in ("replay", "ips", "snips", "dr"):
        value = found[name]
        assert value["low"] < value["estimate"] < value["high"] and value["estimate"] > 0.7, (name, value)
    assert found["ratio_correct"] == found["dr"] and found["estimator"] == "dr"
    assert unconfuse.json("replay", "log.csv", "--learner", "cspa-plus", "--estimator", "ips")["ratio_correct"] == found["ips"]
    assert "<- chosen" in unconfuse.ok("replay", "log.csv", "--learner", "cspa-plus").out


def test_a_log_that_never_explored(unconfuse):
    unconfuse.write("log.csv", log(2, 400, 0.0))
    sentence = unconfuse.fails(1, "replay", "log.csv", "--learner", "cspa-plus", "--estimator", "ips")
    assert "never explored" in sentence and '"explore": 0.05' in sentence and "--estimator replay" in sentence
    told = unconfuse("replay", "log.csv", "--learner", "cspa-plus", "--estimator", "replay")
    assert told.returncode == 0 and "warning" in told.err and "drawn uniformly" in told.err and "snips" not in told.out and "replay  " in told.out


def test_a_small_effective_sample_is_said(unconfuse):
    unconfuse.write("log.csv", log(3, 120, 0.1))
    assert "which is few" in unconfuse.ok("replay", "log.csv", "--learner", "cspa-plus").err


def test_the_three_kinds_of_logs_agree(unconfuse, tmp_path):
    draw = random.Random(4)
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["a", "b", "c"], "explore": 0.5})
        connection = service.connect()
        for i in range(300):
            row = [round(draw.gauss(0, 1), 3) for _ in range(3)]
            made = service.post("/v1/models/m/propose", {"features": row}, connection=connection).json
            if i % 10:
                service.post("/v1/models/m/feedback", {"id": made["id"], "right": made["class"] == "abc"[row.index(max(row))]},
                             connection=connection)
    from_directory = unconfuse.json("replay", tmp_path / "dir", "--model", "m", "--learner", "cspa-plus")
    assert from_directory["events"] == 270 and from_directory["unanswered"] == 30
    assert unconfuse.json("replay", tmp_path / "dir", "--learner", "cspa-plus") == from_directory  # it is the only one
    for form in ("csv", "dsjson"):
        unconfuse.ok("journal", tmp_path / "dir", "--model", "m", "--format", form, "-o", f"log.{form}")
        assert unconfuse.json("replay", f"log.{form}", "--learner", "cspa-plus") == from_directory
    other = unconfuse.json("replay", tmp_path / "dir", "--model", "m", "--learner", "onebit")
    assert other["learner"] == "onebit" and other["events"] == 270


BAD = [
    ("", "log: the log is empty"),
    ("a,b\n1,2\n", "log:1: a log has the columns class, probability and right"),
    ("x,class,probability,right\n1,a,0.5,true\n2,b\n", "log:3: 2 fields, where the first line has 4"),
    ("x,class,probability,right\n1,a,0,true\n2,b,1,true\n", "log:2: probability 0 is not from 1e-09 to 1"),
    ("x,class,probability,right\n1,a,0.5,maybe\n", "log:2: right 'maybe' is not true, false or empty"),
    ("x,class,probability,right\n1,a,z,true\n", "log:2: probability 'z' is not a number"),
    ("x,class,probability,right\n1,a,.5,true\n", "the log has answered proposals of one class only, where two are needed"),
    ("x,class,probability,right\n1,a,.5,true\n1,b,1e-300,true\n", "log:3: probability 1e-300 is not from 1e-09 to 1"),
    ("x,class,probability,right\n1,a,.5,\n", "the log has no event with an answer"),
    ("x,class,probability,right\n1,a,.5,true\n1,,.5,true\n", "log:3: the class is empty"),
    ("x,class,probability,right\n1,a,.5,true\n1,b,.5,true\n\0\0", "log:4: a zero byte"),
    ('x,class,probability,right\n"1\n\n2",a,.5,true\n"1,b,.5,true\n3,c,.5,true\n', "log:5: a quote is opened and never closed"),
    ('x,class,probability,right\n"1\n\n2",a,.5,true\n3,b,.5\n', "log:5: 3 fields, where the first line has 4"),
    ("x,class,probability,right\n1,a,.5,true\nnan,b,.5,true\n", "log:3: x 'nan' is not a finite number"),
    ("x,class,probability,right\n-inf,a,.5,true\n1,b,.5,true\n", "log:2: x '-inf' is not a finite number"),
    ("{}\n", "log:1: not an event of DSJSON"),
    ('{"sequence":2,"id":"x","features":[1],"features_kind":"array","class":"a","probability":0.5,"right":true}\n',
     "log:1: an event of journal --format jsonl, which is not read: write it with --format csv or dsjson"),
    *((f'{{"_label_cost": 0, "p": [0.5], "c": {{"_multi": [{{}}, {{}}]}}, {chosen}}}\n\n{{}}\n',
       "log:1: the action that was chosen is not one of the event's")
      for chosen in ('"_labelIndex": 2', '"_labelIndex": -1', '"_labelIndex": 9223372036854775807', '"a": [0]', '"a": [3]',
                     '"a": [-9223372036854775808]', '"a": []')),
    ('{"_label_cost": 0, "p": [0.5], "c": {"_multi": [{}, {}]}, "a": [2]}\n\r\n{}\n', "log:3: not an event of DSJSON"),
]


@pytest.mark.parametrize("text, sentence", BAD, ids=range(len(BAD)))
def test_bad_logs(unconfuse, text, sentence):
    unconfuse.write("log", text)
    assert unconfuse.fails(1, "replay", "log", "--learner", "cspa-plus") == sentence


def test_ratios_stay_between_0_and_1(unconfuse):
    unconfuse.write("log.csv", "x,class,probability,right\n" + "1,a,.05,1\n2,b,.9,0\n" * 3)
    found = unconfuse.json("replay", "log.csv", "--learner", "cspa-plus")
    for name in ("ratio_correct", "replay", "ips", "snips", "dr"):
        assert 0 <= found[name]["low"] <= found[name]["estimate"] <= found[name]["high"] <= 1, name
    assert found["ips"]["high"] == 1  # weights of 20 go far beyond


def test_nothing_can_be_estimated(unconfuse):
    unconfuse.write("log.csv", "x,class,probability,right\n1,a,.5,1\n")
    for estimator in ("auto", "replay", "ips", "snips", "dr"):
        sentence = unconfuse.fails(1, "replay", "log.csv", "--classes", "b,a", "--estimator", estimator)
        assert sentence == "the learner and the log agree in no event: nothing can be estimated"


def test_the_settings_of_the_learner(unconfuse):
    """A learner that is told to explore at random is right as often as chance."""
    unconfuse.write("log.csv", log(5, 2000, 1.0))
    at_defaults, random_one = (unconfuse.json("replay", "log.csv", "--learner", learner)["dr"]["estimate"]
                               for learner in ("banditron", "banditron:explore=0.99"))
    assert at_defaults > 0.6 and random_one < 0.45
    assert unconfuse.json("replay", "log.csv", "--learner", "banditron:explore=0.99")["learner"] == "banditron:explore=0.99"
    for learner, sentence in (("cspa-plus:bonsu=1", "--learner cspa-plus:bonsu=1: cspa-plus has no option bonsu; it has beta,"),
                              ("cspa-plus:bonus", "--learner cspa-plus:bonus: an option is written as NAME=VALUE, not as 'bonus'"),
                              ("pa,spa", "--learner pa,spa: expected one learner"),
                              ("cspa-puls", "--learner: there is no learner called cspa-puls; did you mean cspa-plus?")):
        assert unconfuse.fails(2, "replay", "log.csv", "--learner", learner).startswith(sentence)


def test_which_model(unconfuse, tmp_path):
    directory = tmp_path / "dir"
    with Service(PROGRAM, directory, "--durability", "crash") as service:
        assert unconfuse.fails(1, "replay", directory) == f"{directory}: say which model with --model NAME; there is no model yet"
        for name in ("b", "a"):
            service.put(f"/v1/models/{name}", {"learner": "cspa-plus", "classes": ["x", "y"]})
        assert service.get("/v1/models/z/events").detail == "there is no model 'z'; there is b, a"
    assert unconfuse.fails(1, "replay", directory) == f"{directory}: say which model with --model NAME; there is b, a"
    assert unconfuse.fails(1, "replay", directory, "--model", "z") == "there is no model 'z'; there is b, a"


def test_usage(unconfuse):
    assert "cannot open" in unconfuse.fails(1, "replay", "nowhere.csv")
    assert "learns from whole data sets" in unconfuse.fails(2, "replay", "log", "--learner", "logistic")


def test_numbers_and_words_in_one_column_are_categories(unconfuse):
    """House numbers: 12 and 12A."""
    draw = random.Random(6)
    lines = []
    for i in range(600):
        house, chosen = draw.choice(["12", "12A", "13"]), draw.choice("ab")
        lines.append(f"{house},{chosen},0.5,{int((house == '12A') == (chosen == 'a'))}")
    unconfuse.write("log.csv", "house,class,probability,right\n" + "\n".join(lines) + "\n")
    assert unconfuse.json("replay", "log.csv", "--learner", "cspa-plus")["dr"]["estimate"] > 0.9


def test_a_number_may_be_the_name_of_a_column(unconfuse):
    """Rows where only that column is given have names nevertheless."""
    draw, lines = random.Random(7), []
    for i in range(400):
        value, chosen = draw.choice([-1, 1]), draw.choice("ab")
        lines.append(f"{'' if i % 2 else 3},{value},{chosen},0.5,{int((value > 0) == (chosen == 'a'))}")
    unconfuse.write("log.csv", "age,1,class,probability,right\n" + "\n".join(lines) + "\n")
    assert unconfuse.json("replay", "log.csv", "--learner", "cspa-plus")["dr"]["estimate"] > 0.9


def test_names_in_a_directory_are_names_in_its_exports(unconfuse, tmp_path):
    """Also of rows where null leaves only a name that could be the number of a column."""
    draw = random.Random(8)
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["a", "b"], "explore": 0.5})
        for i in range(200):
            row = {"age": None if i % 3 else 2, "1": draw.choice([-1, 1])}
            made = service.post("/v1/models/m/propose", {"features": row}).json
            service.post("/v1/models/m/feedback", {"id": made["id"], "right": (made["class"] == "a") == (row["1"] > 0)})
    expected = unconfuse.json("replay", tmp_path / "dir", "--model", "m", "--learner", "cspa-plus")
    for form in ("csv", "dsjson"):
        unconfuse.ok("journal", tmp_path / "dir", "--model", "m", "--format", form, "-o", f"log.{form}")
        assert unconfuse.json("replay", f"log.{form}", "--learner", "cspa-plus") == expected


def test_line_breaks_and_quotes_in_the_service_s_own_export(unconfuse, tmp_path):
    """In texts, categories and names of features."""
    texts = ["two\nlines", 'a "quoted" word', "one\r\ntwo\n\nthree", ",", '"', "5\" wide", " "]
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["a", "b", 'c "c"'], "explore": 0.9})
        for i in range(140):
            row = {"text": texts[i % 7], "na\nme": i % 2, '"q"': texts[(i + 1) % 7]}
            made = service.post("/v1/models/m/propose", {"features": row}).json
            service.post("/v1/models/m/feedback", {"id": made["id"], "right": made["class"] == "ab"[i % 2]})
    expected = unconfuse.json("replay", tmp_path / "dir", "--model", "m", "--learner", "cspa-plus")
    for form in ("csv", "dsjson"):
        unconfuse.ok("journal", tmp_path / "dir", "--model", "m", "--format", form, "-o", f"log.{form}")
        assert unconfuse.json("replay", f"log.{form}", "--learner", "cspa-plus") == expected
    models = []
    for words in (["--log", tmp_path / "dir", "--log-model", "m"], ["--log", "log.csv"], ["--log", "log.dsjson"]):
        unconfuse.ok("train", "logistic", *words, "-o", "m.uc")
        models.append(unconfuse.read("m.uc"))
    assert models[0] == models[1] == models[2]
