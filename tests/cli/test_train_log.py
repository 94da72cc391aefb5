"""train --log: examples from logged proposals and answers, each weighted by what it stands for."""
import json
import random
from collections import Counter

import pytest

from conftest import PROGRAM
from live_service import Service

NAMES = "abc"


def log(seed, events, explore, classes=NAMES):
    """A policy that favours the first class; the label is the largest of the features."""
    draw = random.Random(seed)
    lines, truth = ["id,x,y,z,class,probability,right"], []
    for i in range(events):
        row = [round(draw.gauss(0, 1), 4) for _ in range(len(classes))] + [0.0] * (3 - len(classes))
        label = classes[row.index(max(row[:len(classes)]))]
        chosen = draw.choice(classes) if draw.random() < explore else classes[0]
        probability = explore / len(classes) + (1 - explore) * (chosen == classes[0])
        lines.append(f"e{i},{row[0]},{row[1]},{row[2]},{chosen},{probability!r},{str(chosen == label).lower()}")
        truth.append((row, label, chosen, probability))
    return "\n".join(lines) + "\n", truth


def table(rows):
    return "x,y,z,class,weight\n" + "".join(f"{','.join(map(str, row))},{name},{weight!r}\n" for row, name, weight in rows)


def test_right_answers_are_examples_weighted_by_their_probability(unconfuse):
    text, events = log(1, 2000, 0.6)
    unconfuse.write("log.csv", text)
    found = unconfuse.json("train", "logistic", "--log", "log.csv", "-o", "log.uc")
    right = [(row, label, 1 / p) for row, label, chosen, p in events if chosen == label]
    weights = [weight for _, _, weight in right]
    assert found["log"]["events"] == 2000 and found["log"]["unanswered"] == 0 and found["log"]["explored"]
    assert found["log"]["examples"] == found["examples"] == len(right)
    assert found["log"]["effective_examples"] == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    unconfuse.write("table.csv", table(right))
    unconfuse.ok("train", "logistic", "table.csv", "--label", "class", "--weight", "weight", "-o", "table.uc")
    # As good as labels of all events would make it: classes that were proposed seldom count as often as they come.
    unconfuse.write("test.csv", table([(row, label, 1) for row, label, _, _ in log(2, 2000, 1.0)[1]]))
    by_log, by_table = (unconfuse.json("evaluate", model, "test.csv", "--label", "class", "--weight", "weight") for model in ("log.uc", "table.uc"))
    assert by_log["confusion"] == by_table["confusion"] and by_log["error"] < 0.05
    assert all(one["recall"] > 0.9 for one in by_log["per_class"])


def test_both_answers_about_two_classes_are_examples(unconfuse):
    text, events = log(3, 400, 0.5, "ab")
    unconfuse.write("log.csv", text)
    found = unconfuse.json("train", "logistic", "--log", "log.csv", "-o", "m.uc")
    assert found["log"]["examples"] == found["log"]["effective_examples"] == 400


@pytest.mark.parametrize("names", [("A", "B"), None], ids=["named", "numbered"])
def test_wrong_means_the_other_of_two_actions(unconfuse, names):
    """Also where that one was never proposed."""
    draw, events = random.Random(10), []
    for _ in range(300):
        x = round(draw.gauss(0, 1), 3)
        actions = [{"b_": {"class": name}} for name in names] if names else [{}, {}]
        events.append({"_label_cost": -int(x > 0), "_label_probability": 0.9, "_labelIndex": 0, "c": {"shared": {"x": x}, "_multi": actions}})
    unconfuse.write("log", "".join(json.dumps(event) + "\n" for event in events))
    found = unconfuse.json("train", "logistic", "--log", "log", "-o", "m.uc")
    assert found["log"]["examples"] == found["log"]["effective_examples"] == 300
    first, second = names or ("1", "2")
    unconfuse.write("test.csv", f"shared.x,class\n1,{first}\n-1,{second}\n")
    assert unconfuse.json("evaluate", "m.uc", "test.csv", "--label", "class")["error"] == 0


def test_the_three_kinds_of_logs_make_the_same_model(unconfuse, tmp_path):
    draw = random.Random(4)
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": list(NAMES), "explore": 0.7})
        connection = service.connect()
        for i in range(400):
            row = {name: round(draw.gauss(0, 1), 3) for name in "xyz"}
            made = service.post("/v1/models/m/propose", {"features": row}, connection=connection).json
            label = NAMES[max(range(3), key=lambda k: row["xyz"[k]])]
            if i % 10:
                service.post("/v1/models/m/feedback", {"id": made["id"], "right": made["class"] == label}, connection=connection)
    made = [["--log", tmp_path / "dir", "--log-model", "m"]]
    for form in ("csv", "dsjson"):
        unconfuse.ok("journal", tmp_path / "dir", "--model", "m", "--format", form, "-o", f"log.{form}")
        made.append(["--log", f"log.{form}"])
    unconfuse.ok("journal", tmp_path / "dir", "--model", "m", "--format", "training", "-o", "table.csv")
    models = []
    for i, words in enumerate(made):
        found = unconfuse.json("train", "logistic", *words, "-o", f"{i}.uc")
        assert found["log"]["events"] == 360 and found["log"]["unanswered"] == 40
        models.append(unconfuse.read(f"{i}.uc"))
    unconfuse.ok("train", "logistic", "table.csv", "--label", "class", "--weight", "weight", "-o", "table.uc")
    assert models[0] == models[1] == models[2] == unconfuse.read("table.uc")


def test_labels_that_were_given_count_once(unconfuse, tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": list(NAMES), "explore": 0.5})
        for i in range(30):
            made = service.post("/v1/models/m/propose", {"features": [i % 3, 1]}).json
            service.post("/v1/models/m/feedback", {"id": made["id"], "label": NAMES[i % 3]})
    found = unconfuse.json("train", "logistic", "--log", tmp_path / "dir", "--log-model", "m", "-o", "m.uc")
    assert found["log"]["examples"] == found["log"]["effective_examples"] == 30


@pytest.mark.parametrize("share", [None, 0.0, 0.25, 1.0], ids=["labels", "right or wrong", "some labels", "labels if wrong"])
def test_every_example_counts_once_on_average(unconfuse, tmp_path, share):
    """A label for each event; or "right" where it was, and for a share of the wrong proposals a label."""
    draw, truth, weights = random.Random(9), Counter(), Counter()
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": list(NAMES), "explore": 0.4})
        connection = service.connect()
        for _ in range(12):
            rows = [{"features": [round(draw.gauss(0, 1), 2), 1]} for _ in range(1000)]
            answers = []
            for made in service.post("/v1/models/m/propose", {"examples": rows}, connection=connection).json["proposals"]:
                label = draw.choices(NAMES, (6, 3, 1))[0]
                truth[label] += 1
                right = made["class"] == label
                named = share is None or (not right and draw.random() < share)
                answers.append({"id": made["id"], **({"label": label} if named else {"right": right})})
            assert service.post("/v1/models/m/feedback", {"answers": answers}, connection=connection).status == 200
    unconfuse.ok("journal", tmp_path / "dir", "--model", "m", "--format", "training", "-o", "table.csv")
    for line in unconfuse.read("table.csv").decode().splitlines()[1:]:
        label, weight, *_ = line.split(",")
        weights[label] += float(weight)
    for label in NAMES:
        assert weights[label] / truth[label] == pytest.approx(1, abs=0.1 if share != 1 and share is not None else 1e-9), label


def test_blanks_at_the_ends_of_names_are_kept(unconfuse, tmp_path):
    names = ["a", " a", "a "]
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        assert service.put("/v1/models/m", {"learner": "cspa-plus", "classes": names, "explore": 0.9}).status == 201
        for i in range(90):
            made = service.post("/v1/models/m/propose", {"features": {name: int(i % 3 == k) for k, name in enumerate(["x", " x", "x "])}}).json
            service.post("/v1/models/m/feedback", {"id": made["id"], "right": made["class"] == names[i % 3]})
    unconfuse.ok("journal", tmp_path / "dir", "--model", "m", "--format", "csv", "-o", "log.csv")
    models = []
    for words in (["--log", tmp_path / "dir", "--log-model", "m"], ["--log", "log.csv"]):
        found = unconfuse.json("train", "logistic", *words, "-o", "m.uc")
        assert found["classes"] == sorted(names) and found["features"] == 3
        models.append(unconfuse.read("m.uc"))
    assert models[0] == models[1]


def id_log(names, value):
    """The first feature is the class."""
    draw, lines = random.Random(11), [f"event,{','.join(names)},class,probability,right"]
    for i in range(400):
        label, chosen = draw.choice(NAMES), draw.choice(NAMES)
        lines.append(",".join([str(i % 7), value(label), *(str(draw.randrange(9)) for _ in names[1:]), chosen, str(1 / 3), str(label == chosen)]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("value", [lambda label: str(NAMES.index(label)), lambda label: "team-" + label], ids=["number", "text"])
@pytest.mark.parametrize("names", [["team_id"], ["key", "x"], ["UUID", "user_id"]], ids=",".join)
def test_features_are_features_whatever_they_are_called(unconfuse, names, value):
    unconfuse.write("log.csv", id_log(names, value))
    assert unconfuse.json("train", "logistic", "--log", "log.csv", "-o", "log.uc")["features"] > len(names)
    unconfuse.write("test.csv", "event," + ",".join(names) + ",class\n" + "".join(
        f"1,{value(label)}{',4' * (len(names) - 1)},{label}\n" for label in NAMES))
    assert unconfuse.json("evaluate", "log.uc", "test.csv", "--label", "class")["error"] == 0


def test_what_a_log_cannot_tell_is_said(unconfuse):
    unconfuse.write("log.csv", log(5, 300, 0.0)[0])
    assert unconfuse.fails(1, "train", "logistic", "--log", "log.csv", "-o", "m.uc") == (
        'log.csv: the answers reveal one class only, where two are needed; let the service explore (PUT with "explore": 0.05)')
    text = "id,x,class,probability,right\n" + "".join(f"{i},{i % 7},{NAMES[i % 3]},1,{i % 2}\n" for i in range(60))
    unconfuse.write("log.csv", text)
    told = unconfuse.ok("train", "logistic", "--log", "log.csv", "-o", "m.uc").err
    assert "it never explored, so classes that it never proposed correctly have no examples" in told and "the effective sample size is only 30; log more" in told


def test_a_byte_order_mark_is_no_part_of_the_first_name(unconfuse):
    text = log(7, 200, 1.0)[0]
    unconfuse.write("log.csv", text)
    unconfuse.write("marked.csv", "\ufeff" + text)
    for name in ("log", "marked"):
        unconfuse.ok("train", "logistic", "--log", f"{name}.csv", "-o", f"{name}.uc")
    assert unconfuse.read("log.uc") == unconfuse.read("marked.uc")


BAD = [
    ("id,x,class,probability,right\n", "log: the log has no event with an answer"),
    ("id,x,class,probability,right\n1,2,a,.5,\n", "log: the log has no event with an answer"),
    ("id,x,class,probability,right\n1,2,a,.5,0\n2,2,b,.5,0\n3,3,c,.5,0\n",
     'log: no answer reveals a class: of more than two classes only "right" and labels do'),
    ("id,weight,class,probability,right\n1,2,a,.5,1\n", "log: a feature is called 'weight', as a column of the examples is; rename it"),
    ("x,class,probability,right\n1,a,7,true\n", "log:2: probability 7 is not from 1e-09 to 1"),
    ("", "log: the log is empty"),
    *((f'{{"_label_cost": -1, "p": [0.5], "a": [1], "c": {{"features": {one}}}}}\n{{"_label_cost": -1, "p": [0.5], "a": [2], '
       f'"c": {{"features": {two}}}}}\n', "log: features have names in some events and only numbers in others")
      for one, two in (('[1, 2]', '{"x": 1}'), ('{"x": 1}', '[1, 2]'))),
]


@pytest.mark.parametrize("text, sentence", BAD, ids=range(len(BAD)))
def test_bad_logs(unconfuse, text, sentence, tmp_path):
    unconfuse.write("log", text)
    assert unconfuse.fails(1, "train", "logistic", "--log", "log", "-o", "m.uc") == sentence
    assert not (tmp_path / "m.uc").exists()


def test_bad_usage(unconfuse, tmp_path):
    unconfuse.write("log.csv", log(6, 50, 1.0)[0])
    train = ["train", "logistic", "-o", "m.uc"]
    assert unconfuse.fails(2, *train, "log.csv", "--log", "log.csv") == "give either log.csv or --log log.csv"
    assert unconfuse.fails(2, *train, "log.csv", "--log-model", "m") == "--log-model needs --log DIR"
    assert unconfuse.fails(2, *train, "--log", "log.csv", "--label", "x").startswith("--log says what is label and weight")
    for option in (["--separator", ";"], ["--format", "libsvm"]):
        assert unconfuse.fails(2, *train, "--log", "log.csv", *option).startswith("--log finds out by itself how the log is written")
    assert unconfuse.fails(1, *train, "--log", "absent").startswith("absent: cannot open: ")
    (tmp_path / "empty").mkdir()
    assert unconfuse.fails(1, *train, "--log", "empty") == "empty: say which model with --log-model NAME"
    assert unconfuse.fails(2, "train", "logistic", "--log", "log.csv", "-o", "log.csv") == "-o log.csv would replace the input log.csv"
