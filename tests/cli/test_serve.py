"""unconfuse serve: requests and their answers, as a client sees them."""
import http.client
import json
import random
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from conftest import PROGRAM, ROOT, blobs
from live_service import Service, until

ABC = {"learner": "cspa-plus", "classes": ["a", "b", "c"]}


@pytest.fixture
def service(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as running:
        yield running


@pytest.fixture
def model(service):
    assert service.put("/v1/models/m", ABC).status == 201
    return service


def propose(service, features, **more):
    return service.post("/v1/models/m/propose", {"features": features, **more})


def feedback(service, **body):
    return service.post("/v1/models/m/feedback", body)


def test_an_event_from_proposal_to_feedback(model):
    first = propose(model, [1, 0, 2])
    assert first.status == 200
    assert set(first.json) == {"id", "class", "probability", "scores", "sequence"}
    assert first.json["class"] in "abc" and first.json["probability"] == 1 and set(first.json["scores"]) == set("abc")
    told = feedback(model, id=first.json["id"], right=True)
    assert told.status == 200 and told.json["id"] == first.json["id"] and told.json["learned"] is True
    state = model.get("/v1/models/m").json
    assert (state["proposals"], state["answered"], state["right"], state["waiting"]) == (1, 1, 1, 0)
    assert state["ratio_correct"] == state["recent_ratio_correct"] == 1.0 and state["sequence"] == 3


def test_an_answer_counts_once(model):
    event = propose(model, [1, 2], id="order 1/ü").json
    assert feedback(model, id="order 1/ü", right=False).json["learned"] is True
    before = model.get("/v1/models/m/model").body
    again = feedback(model, id="order 1/ü", right=False)
    assert again.status == 200 and again.json["repeated"] is True and again.json["learned"] is False
    other = feedback(model, id="order 1/ü", right=True)
    assert other.status == 409 and "another answer" in other.detail
    assert feedback(model, id="no such", right=True).status == 404
    wrong = [name for name in "abc" if name != event["class"]][0]
    assert feedback(model, id="order 1/ü", label=event["class"]).status == 409
    assert feedback(model, id="order 1/ü", label=wrong).json["repeated"] is True
    assert model.get("/v1/models/m/model").body == before


def test_the_same_id_again_is_the_same_answer(model):
    first = propose(model, {"1": 0.5, "3": 1}, id="x")
    again = propose(model, {"3": 1, "1": 0.5}, id="x")
    assert {**first.json, "repeated": True} == again.json
    assert propose(model, {"1": 0.25, "3": 1}, id="x").status == 409
    assert model.get("/v1/models/m").json["proposals"] == 1


def test_definitions(model):
    assert model.put("/v1/models/m", ABC).status == 200
    assert model.put("/v1/models/m", {**ABC, "learner": "onebit"}).status == 409
    assert model.put("/v1/models/m", {**ABC, "classes": ["a", "b"]}).status == 409
    assert model.get("/v1/models/m").json["sequence"] == 1
    more = model.put("/v1/models/m", {**ABC, "classes": ["a", "b", "c", "d"]})
    assert more.status == 200 and more.json["classes"] == ["a", "b", "c", "d"] and more.json["sequence"] == 2
    assert set(propose(model, [1]).json["scores"]) == set("abcd")
    assert model.put("/v1/models/n", {"classes": ["x", "y"]}).json["learner"] == "onebit"
    assert [m["name"] for m in model.get("/v1/models").json["models"]] == ["m", "n"]
    assert model.put("/v1/models/k", {"classes": ["x", "y"], "settings": {"bonus": -3}}).detail == \
        '"bonus": -3: it must be a number from 0 to 1000000, or auto'


def test_batches(model):
    made = model.post("/v1/models/m/propose", {"examples": [{"features": [i, 1], "id": f"b{i}"} for i in range(5)]}).json
    assert [p["id"] for p in made["proposals"]] == [f"b{i}" for i in range(5)]
    told = model.post("/v1/models/m/feedback", {"answers": [{"id": "b1", "right": True}, {"id": "b9", "right": True},
                                                            {"id": "b2", "label": "c"}]}).json["answers"]
    assert told[0]["learned"] and told[1]["status"] == 404 and told[2]["learned"]
    state = model.get("/v1/models/m").json
    assert state["answered"] == 2 and state["waiting"] == 3 and sum(map(sum, state["confusion"])) == 1


def test_names_categories_and_words(model):
    row = {"age": 31, "city": "Paris", "title": "a quick brown fox, a fox", "member": True, "gone": None}
    assert propose(model, row, id="n1").status == 200
    state = model.get("/v1/models/m").json
    assert state["columns"] == 1 + 1 + 4 + 1  # age, city=Paris, four words, member
    assert propose(model, {"age": "old"}).detail == "features: age is text, but it has been a number so far"
    assert "an object of names so far" in propose(model, [1, 2]).detail
    assert model.get("/v1/models/m").json["columns"] == 7
    assert feedback(model, id="n1", right=True).status == 200
    predicted = model.post("/v1/models/m/predict", {"features": {"city": "Oslo", "age": 31}})
    assert predicted.status == 200 and set(predicted.json) == {"class", "scores"}
    assert model.get("/v1/models/m").json["columns"] == 7
    shown = [event for event in model.events("m") if event["kind"] == "proposal"][0]["features"]
    assert shown == {"age": 31, "city": "Paris", "title": "a quick brown fox, a fox", "member": 1}


def test_reward_is_feedback(model):
    event = propose(model, [1])
    assert model.post(f"/v1/models/m/events/{event.json['id']}/reward", {"value": 0.5}).status == 204
    assert model.get("/v1/models/m").json["right"] == 1
    assert model.post(f"/v1/models/m/events/{event.json['id']}/reward", {"value": 0.4}).status == 409


def test_exploration_is_logged(service):
    service.put("/v1/models/m", {**ABC, "explore": 0.3})
    seen = [propose(service, [1.0, 0.0]).json for _ in range(200)]
    assert {round(p["probability"], 12) for p in seen} == {0.1, 0.8}
    share = sum(p["probability"] < 0.5 for p in seen) / 200
    assert 0.1 < share < 0.3  # 0.2 on average


def test_an_apprentice_returns_the_baseline(service):
    service.put("/v1/models/m", {**ABC, "mode": "apprentice"})
    assert "baseline" in propose(service, [1]).detail
    for i in range(30):
        made = propose(service, [1, i % 3 == 0, i % 3 == 1], baseline="abc"[i % 3]).json
        assert made["class"] == "abc"[i % 3]
        feedback(service, id=made["id"], right=True)
    assert service.get("/v1/models/m").json["agreement"] > 0.5


def test_expiry(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--wait", "1s", "--durability", "crash") as service:
        service.put("/v1/models/m", ABC)
        made = propose(service, [1, 2], id="late").json
        time.sleep(2.3)
        gone = feedback(service, id="late", right=True)
        assert gone.status == 410 and "expired" in gone.detail
        state = service.get("/v1/models/m").json
        assert (state["expired"], state["waiting"], state["answered"]) == (1, 0, 0)
        assert [e["kind"] for e in service.events("m")] == ["define", "proposal", "expiry"]
        assert made["sequence"] == 2


def test_too_many_that_wait(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--max-pending", "3", "--durability", "crash") as service:
        service.put("/v1/models/m", ABC)
        assert [propose(service, [1]).status for _ in range(5)] == [200, 200, 200, 429, 429]


def test_snapshot_and_rollback(model):
    for i in range(20):
        event = propose(model, [i % 2, 1 - i % 2, 1], id=f"e{i}").json
        feedback(model, id=f"e{i}", right=i % 2 == 0)
        if i == 9:
            before = model.get("/v1/models/m/model")
            assert model.post("/v1/models/m/snapshot").json == {"sequence": 21}
    assert before.headers["ETag"] == '"21"' and event["class"] in "abc"
    back = model.post("/v1/models/m/rollback", {"sequence": 21})
    assert back.status == 200 and back.json["sequence"] == 42
    assert model.get("/v1/models/m/model").body == before.body
    assert model.get("/v1/models/m").json["answered"] == 20
    rolled = propose(model, [1, 0, 1]).json
    model.stop()
    model.start()
    after = feedback(model, id=rolled["id"], right=True)
    assert after.status == 200 and model.events("m")[41]["to"] == 21


def test_thousands_of_classes(service):
    """Their confusion would be millions of counts in every answer and snapshot."""
    classes = [f"c{i}" for i in range(100)]
    service.put("/v1/models/m", {"learner": "cspa-plus", "classes": classes})
    for i in range(10):
        event = propose(service, [i % 2, 1]).json["id"]
        feedback(service, id=event, label=classes[-1])
    state = service.get("/v1/models/m").json
    assert len(state["confusion"]) == 100 and sum(state["confusion"][-1]) == 10
    classes += [f"d{i}" for i in range(20)]  # within the room that was made for growth
    grown = service.put("/v1/models/m", {"classes": classes}).json
    assert grown["confusion"] is None and grown["answered"] == 10 and len(grown["proposed"]) == 120
    feedback(service, id=propose(service, [1, 1]).json["id"], label="d3")
    service.put("/v1/models/m", {"classes": classes + [f"e{i}" for i in range(3000)]})
    feedback(service, id=propose(service, [1, 1]).json["id"], label="e2999")
    before = service.get("/v1/models/m")
    assert len(before.body) < 200_000 and before.json["confusion"] is None and before.json["answered"] == 12
    assert service.post("/v1/models/m/snapshot").status == 200
    service.kill()
    service.start()
    assert f'"model","message":"m: row {before.json["sequence"]} of the journal, 12 proposals, 0 of them wait"' in service.log.read_text()
    after = service.get("/v1/models/m").json
    assert {**after, "snapshots": []} == {**before.json, "snapshots": []}


def test_a_model_that_the_client_has_is_not_sent_again(model):
    has = model.get("/v1/models/m/model")
    assert has.headers["ETag"] == '"1"'
    for known, status in (('"1"', 304), ('W/"1", "7"', 304), ("*", 304), ('"2"', 200), ("1", 200)):
        again = model.get("/v1/models/m/model", headers={"If-None-Match": known})
        assert (again.status, again.body) == (status, has.body if status == 200 else b"") and again.headers["ETag"] == '"1"'
    propose(model, [1])
    assert model.get("/v1/models/m/model", headers={"If-None-Match": '"1"'}).headers["ETag"] == '"2"'


def test_a_restart_has_the_same_bytes(model):
    for i in range(50):
        propose(model, {"x": i % 7, "k": f"c{i % 3}"}, id=f"e{i}")
        if i >= 5:
            feedback(model, id=f"e{i - 5}", right=(i * 7) % 3 == 0)
    bytes_before, state_before = model.get("/v1/models/m/model").body, model.get("/v1/models/m").json
    for how in ("kill", "stop", "stop"):
        getattr(model, how)()
        model.start()
        assert model.get("/v1/models/m/model").body == bytes_before
        state = model.get("/v1/models/m").json
        assert {**state, "snapshots": 0} == {**state_before, "snapshots": 0}
    assert feedback(model, id="e49", right=True).json["learned"] is True


@pytest.mark.parametrize("learner, scale", [("cspa-plus", "standard"), ("cspa-plus", "maxabs"), ("onebit", "range")])
def test_scaling_is_learned_as_rows_come(unconfuse, service, learner, scale):
    """With answers three rounds late, as `stream --delay` has them; killed and stopped while rows wait."""
    lines = unconfuse.write("rows.svm", blobs(["a", "b", "c"], 120)) and unconfuse.read("rows.svm").decode().splitlines()
    unconfuse.ok("stream", learner, "-", "--classes", "a,b,c", "--scale", scale, "--delay", "3", "-o", "streamed.uc",
                 stdin="\n".join(lines))
    assert service.put("/v1/models/m", {"learner": learner, "classes": ["a", "b", "c"], "settings": {"scale": scale}}).status == 201
    proposed = {}
    for i, line in enumerate(lines + [""] * 3):
        if line:
            row = {column: float(value) for column, value in (cell.split(":") for cell in line.split()[1:])}
            proposed[i] = propose(service, row, id=f"e{i}").json["class"]
        if i in (40, 80):
            before = service.get("/v1/models/m/model").body
            service.kill() if i == 40 else service.stop()
            service.start()
            assert service.get("/v1/models/m/model").body == before
        if i >= 3:
            label = lines[i - 3].split()[0]
            assert feedback(service, id=f"e{i - 3}", right=proposed[i - 3] == label).status == 200
    assert service.get("/v1/models/m/model").body == unconfuse.read("streamed.uc")
    row = {column: float(value) for column, value in (cell.split(":") for cell in lines[0].split()[1:])}
    assert service.post("/v1/models/m/predict", {"features": row}).json["class"] in "abc"


def test_what_cannot_be_scaled(service):
    named = {"learner": "cspa-plus", "classes": ["a", "b"], "settings": {"scale": "standard"}}
    assert service.put("/v1/models/m", {**named, "settings": {"scale": "auto"}}).detail == \
        "settings: scale auto is chosen by the labels of a whole data set, which a service does not have; give standard, " \
        "range, maxabs or none"
    service.put("/v1/models/m", named)
    for i in range(20):
        event = propose(service, {"age": 20 + i, "income": 1e5 * i, "city": f"c{i % 3}"}).json
        feedback(service, id=event["id"], right=i % 2 == 0)
    assert propose(service, {"age": 3, "title": "several words here"}).detail == \
        "features: title is text of several words, whose zeros this model's scale would turn into other values; a model " \
        'with "scale":"maxabs" takes it'
    assert service.get("/v1/models/m").json["columns"] == 5  # age, income, three cities
    assert propose(service, {"age": 3, "city": "new"}).status == 200


def test_tokens(tmp_path):
    (tmp_path / "token").write_text("a-long-secret\n")
    with Service(PROGRAM, tmp_path / "dir", "--token-file", str(tmp_path / "token")) as service:
        assert service.get("/v1/models").status == 401 and service.get("/healthz").status == 401
        assert "token" in service.get("/v1/models", headers={"Authorization": "Bearer a-long-secreT"}).detail
        assert service.get("/v1/models", headers={"Authorization": "Bearer a-long-secret"}).status == 200


BAD = [
    ("{", 400, "the body is not JSON"),
    ("", 400, "the body is empty"),
    ("[1]", 400, "the body is not a JSON object"),
    ('{"features":[NaN]}', 400, "not JSON"),
    ('{"features":[1e400]}', 400, "not JSON"),
    ('{"features":[1e39]}', 400, "beyond the numbers"),
    ('{"features":["x"]}', 400, "number 1 is not a number"),
    ('{"features":[1],"features":[2]}', 400, "duplicate"),
    ('{"features":[1],"id":""}', 400, "id: expected 1 to 256"),
    ('{"features":[1],"id":"a\\nb"}', 400, "id: expected 1 to 256"),
    ('{"features":[1],"id":7}', 400, "id: expected a string"),
    ('{"features":{"0":1}}', 400, "column 0 is not an integer from 1"),
    ('{"features":{"1":1,"01":2}}', 400, "column 1 occurs twice"),
    ('{"features":3}', 400, "features: expected an array"),
    ('{"featurez":[3]}', 400, "'featurez' is unknown"),
    ('{"id":"x"}', 400, "features: missing"),
    (b'{"features":{"a":"\xff"}}', 400, "not JSON"),
    ('{"features":' + 200 * "[" + 200 * "]" + "}", 400, "nested more than 32 deep"),
    ('{"examples":[]}', 400, "examples: expected 1 to 1000"),
    ('{"examples":[{"features":[1]},{"features":[null]}]}', 400, "examples[1].features"),
]


@pytest.mark.parametrize("body, status, sentence", BAD, ids=range(len(BAD)))
def test_bad_proposals(model, body, status, sentence):
    answer = model.post("/v1/models/m/propose", body)
    assert answer.status == status and sentence in answer.detail
    assert model.get("/v1/models/m").json["sequence"] == 1


def test_bad_requests(model):
    assert model.post("/v1/models/m/propose", b"[" * 2000000).status == 413
    assert model.get("/v1/models/../x").status == 404
    assert "no name of a model" in model.put("/v1/models/..", ABC).detail
    assert "no name of a model" in model.put("/v1/models/Big", ABC).detail
    assert model.get("/v1/models/none").status == 404
    refused = model.request("DELETE", "/v1/models/m")
    assert refused.detail == "DELETE is not a method of /v1/models/m, which takes PUT, GET, HEAD"
    assert refused.status == 405 and refused.headers["Allow"] == "PUT, GET, HEAD"
    assert model.get("/v1/models/m/propose").headers["Allow"] == "POST"
    assert "right or label" in feedback(model, id="x").detail
    assert "right or label" in feedback(model, id="x", right=True, label="a").detail
    batch = [{"id": "x", "right": True}, {"id": "y"}]
    assert feedback(model, answers=batch).detail == "answers[1]: expected either right or label"
    batch[1]["wrong"] = True
    assert feedback(model, answers=batch).detail == "answers[1]: 'wrong' is unknown; expected id right label"
    event = propose(model, [1]).json["id"]
    assert feedback(model, id=event, label="z").detail == \
        "'z' is no class of m, which has a, b, c; PUT /v1/models/m with more classes adds it"
    assert model.get("/v1/models/m/events?limit=x").detail == "limit=x is not an integer from 0 to 10000"
    assert model.post("/v1/models/m/rollback", {"sequence": 99}).status == 400
    assert model.get("/healthz").status == 200


def test_nonsense_on_the_socket(model):
    nonsense = [b"\x00\xff\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"POST /v1/models/m/propose HTTP/1.1\r\nHost: x\r\n"
                b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"y" * 200000 + b"\r\n\r\n",
                b"POST /v1/models/m/propose HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"feat"]
    for bytes_sent in nonsense:
        with socket.create_connection(("127.0.0.1", model.port), timeout=1) as connection:
            try:
                connection.sendall(bytes_sent)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:  # closed, or still waiting for the rest
                pass
    assert model.get("/healthz").status == 200 and model.process.poll() is None


def check_metrics(text):
    """What Prometheus and its linter ask of the text format."""
    helped, typed, seen, buckets = set(), {}, set(), []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, words = line.split(" ", 3)[2:]
            assert name not in helped and words.strip()
            helped.add(name)
            continue
        if line.startswith("# TYPE "):
            name, kind = line.split(" ")[2:]
            assert name in helped and name not in typed and kind in ("counter", "gauge", "histogram")
            assert (kind == "counter") == name.endswith("_total")
            typed[name] = kind
            last = name
            continue
        sample = re.fullmatch(r'([a-z_]+)(\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})? (\S+)', line)
        family = re.sub("_(bucket|sum|count)$", "", sample[1]) if typed[last] == "histogram" else sample[1]
        assert family == last and (sample[1], sample[2]) not in seen and float(sample[3]) >= 0
        seen.add((sample[1], sample[2]))
        if sample[1].endswith("_bucket"):
            buckets.append(float(sample[3]))
    assert buckets == sorted(buckets) and f'le="+Inf"}} {buckets[-1]:.0f}' in text
    if shutil.which("promtool"):
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_open_inference_protocol(model):
    """Scores for platforms that speak it: no event, nothing learned."""
    assert model.get("/v2").json["name"] == "unconfuse" and model.get("/v2/health/live").json == {"live": True}
    assert model.get("/v2/health/ready").json == {"ready": True}
    assert model.get("/v2/models/m/ready").json == {"name": "m", "ready": True} == model.get("/v2/models/m/versions/1/ready").json
    missing = model.get("/v2/models/n/ready")
    assert missing.status == 404 and missing.json["error"] == missing.detail  # where clients of the protocol look
    described = model.get("/v2/models/m").json
    assert described == model.get("/v2/models/m/versions/1").json and described["versions"] == ["1"]
    assert described["inputs"] == [{"name": "features", "datatype": "FP32", "shape": [-1, -1]}]
    assert [output["shape"] for output in described["outputs"]] == [[-1, 3], [-1]]
    event = propose(model, [1, 2, 3]).json["id"]
    feedback(model, id=event, right=False)
    rows, before = [[1, 2, 3], [-1, 0.5, 2]], model.get("/v1/models/m").json
    expected = model.post("/v1/models/m/predict", {"examples": [{"features": row} for row in rows]}).json["predictions"]
    for data in (rows, sum(rows, [])):
        tensor = {"name": "features", "shape": [2, 3], "datatype": "FP32", "data": data}
        answer = model.post("/v2/models/m/infer", {"id": "request-7", "inputs": [tensor]}).json
        assert (answer["model_name"], answer["id"]) == ("m", "request-7")
        scores, classes = answer["outputs"]
        assert scores["shape"] == [2, 3] and scores["data"] == [score for one in expected for score in one["scores"].values()]
        assert classes["data"] == [one["class"] for one in expected]
        assert model.post("/v2/models/m/versions/1/infer", {"id": "request-7", "inputs": [tensor]}).json == answer
        wanted = model.post("/v2/models/m/infer", {"inputs": [tensor], "outputs": [{"name": "class"}]}).json
        assert wanted["outputs"] == [classes]
    assert model.get("/v1/models/m").json == before
    for wrong, sentence in (({"shape": [2, 2]}, "inputs[0].data: expected 4 numbers, as inputs[0].shape says"),
                            ({"shape": [6]}, "inputs[0].shape: expected [rows, columns], rows from 1 to 1000"),
                            ({"data": [rows[0], [1, 2]]}, "inputs[0].data: expected 6 numbers, as inputs[0].shape says"),
                            ({"data": ["a"] * 6}, "inputs[0].data: number 1 of row 1 is not a number"),
                            ({"datatype": "BYTES"}, "inputs[0].datatype: expected a type of numbers, such as FP32"),
                            ({"datatype": None}, "inputs[0].datatype: expected a type of numbers, such as FP32")):
        refused = model.post("/v2/models/m/infer", {"inputs": [{**tensor, **wrong}]})
        assert refused.detail == sentence == refused.json["error"]
    for inputs in ([], [tensor, tensor]):  # a second one would be left out without a word
        assert model.post("/v2/models/m/infer", {"inputs": inputs}).detail == "inputs: expected one tensor"
    for outputs, sentence in (({}, "outputs: expected an array"), ([{"name": "x"}], "outputs[0]: expected the name scores or class")):
        assert model.post("/v2/models/m/infer", {"inputs": [tensor], "outputs": outputs}).detail == sentence


def test_openapi_and_metrics(model):
    described = model.get("/v1/openapi.json").json
    assert described == json.loads((ROOT / "service" / "openapi.json").read_text()), "GET /v1/openapi.json > service/openapi.json"
    assert described["openapi"].startswith("3.1") and "/v1/models/{name}/propose" in described["paths"]
    operations = [one for path in described["paths"].values() for one in path.values()]
    assert len({one["operationId"] for one in operations}) == len(operations) >= 21
    assert described["paths"]["/v1/models/{name}/propose"]["post"]["operationId"] == "post_v1_models_name_propose"
    for path, methods in described["paths"].items():  # each is there, and takes these methods
        allowed = {method.upper() for method in methods} | ({"HEAD"} if "get" in methods else set())
        refused = model.request("PATCH", path.replace("{name}", "m").replace("{id}", "x"))
        assert refused.status == 405 and set(refused.headers["Allow"].split(", ")) == allowed, path
    event = propose(model, [1]).json["id"]
    feedback(model, id=event, right=False)
    metrics = model.get("/metrics").body.decode()
    check_metrics(metrics)
    for line in ('unconfuse_proposals_total{model="m"} 1', "unconfuse_journal_rows_total 3", "unconfuse_journal_commits_total 3", 'unconfuse_feedback_total{model="m",answer="wrong"} 1',
                 'unconfuse_waiting_events{model="m"} 0', "unconfuse_request_seconds_count"):
        assert line in metrics
    assert event not in metrics


def test_one_process_for_a_directory_and_addresses(unconfuse, model):
    taken = unconfuse("serve", model.directory, "--listen", "127.0.0.1:0")
    assert taken.returncode == 1 and "another process serves this directory" in taken.err
    taken = unconfuse("serve", unconfuse.directory / "other", "--listen", f"127.0.0.1:{model.port}")
    assert taken.returncode == 1 and taken.err == (f"unconfuse: --listen 127.0.0.1:{model.port}: cannot listen there: Address already in "
                                                   "use; port 0 takes any free one, which the log names\n")
    assert not (unconfuse.directory / "other").exists()
    for directory, where in (("new", ""), (model.directory, f" in {model.directory}")):
        if where:
            model.stop()
        missing = unconfuse.fails(1, "serve", directory, "--listen", "127.0.0.1:0", "--model", "other")
        assert missing == f"--model other: there is no such model{where} yet; --classes a,b,c makes it"
    assert not (unconfuse.directory / "new").exists()


@pytest.mark.parametrize("listen, sentence", [
    ("0.0.0.0:0", "only a loopback address"), ("nowhere", "expected ADDRESS:PORT"), ("127.0.0.1:99999", "expected ADDRESS:PORT"),
    ("host:80", "'host' is no numeric address")])
def test_bad_addresses_leave_nothing_behind(unconfuse, listen, sentence):
    assert sentence in unconfuse.fails(2, "serve", "x", "--listen", listen)
    assert not (unconfuse.directory / "x").exists()


def test_the_model_of_the_command_line(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--model", "m", "--learner", "cspa-plus", "--classes", "x,y") as service:
        assert service.get("/v1/models/m").json["classes"] == ["x", "y"]


def test_settings_of_the_command_line(tmp_path, unconfuse):
    """The same are those of PUT, however they are written; others are refused, with those that the model has."""
    words = ["--model", "m", "--classes", "x,y"]
    with Service(PROGRAM, tmp_path / "dir", *words, "--learner", "cspa-plus:bonus=.5:scale=standard:average=off") as service:
        state = service.get("/v1/models/m").json
        assert state["settings"] == {"bonus": 0.5, "scale": "standard", "average": "off"}
        for settings in ({"scale": "standard", "bonus": "0.50", "average": False}, state["settings"]):
            assert service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["x", "y"], "settings": settings}).json["sequence"] == 1
        refused = service.put("/v1/models/m", {"classes": ["x", "y"], "settings": {"bonus": 1}})
        assert refused.status == 409 and 'the settings {"bonus":0.5,"scale":"standard","average":"off"};' in refused.detail
    with Service(PROGRAM, tmp_path / "dir", *words, "--learner", "cspa-plus:scale=standard:average=off:bonus=5e-1") as service:
        assert service.get("/v1/models/m").json["sequence"] == 1
    for learner, sentence in (("cspa-plus:bonus", "--learner cspa-plus:bonus: a setting is written as NAME=VALUE, not as 'bonus'"),
                              ("cspa-plus:bonsu=1", "--model m: settings: cspa-plus has no setting 'bonsu'; did you mean 'bonus'?"),
                              ("cspa-plus:colour=1", "--model m: settings: cspa-plus has no setting 'colour'; unconfuse help stream "
                               "cspa-plus lists them"),
                              ("cspa-plus:bonus=x", '--model m: "bonus": "x": it must be a number from 0 to 1000000'),
                              ("cspa-puls", "--model m: learner: there is no learner 'cspa-puls'; a service can have perceptron, pa,")):
        refused = unconfuse("serve", "new", "--listen", "127.0.0.1:0", *words, "--learner", learner)
        assert refused.returncode in (1, 2) and refused.err.startswith(f"unconfuse: {sentence}")
        assert not (tmp_path / "new").exists()


def test_sigterm_under_load(tmp_path):
    service = Service(PROGRAM, tmp_path / "dir", "--durability", "crash").start()
    service.put("/v1/models/m", ABC)
    answered = []

    def client(number):
        connection = service.connect()
        try:
            for i in range(100000):
                answer = service.post("/v1/models/m/propose", {"features": [i, number], "id": f"{number}-{i}"},
                                      connection=connection)
                if answer.status == 200:
                    answered.append(f"{number}-{i}")
        except (OSError, http.client.HTTPException):
            pass

    threads = [threading.Thread(target=client, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    until(lambda: len(answered) > 20)
    assert service.stop() == 0
    for thread in threads:
        thread.join()
    with service:
        journaled = [e["id"] for e in service.events("m") if e["kind"] == "proposal"]
    assert len(answered) > 20 and len(set(journaled)) == len(journaled) and set(answered) <= set(journaled)


def test_journal_command(model, unconfuse):
    made = propose(model, {"x": 1.5, "city": 'a "b", c'}, id="e,1").json
    feedback(model, id="e,1", right=True)
    propose(model, {"x": 2}, id="e2")
    csv = unconfuse.ok("journal", model.directory, "--model", "m").out.splitlines()
    assert csv == ["id,city,x,class,probability,right", f'"e,1","a ""b"", c",1.5,{made["class"]},1,true',
                   f'e2,,2,{csv[2].split(",")[3]},1,']
    rows = [json.loads(line) for line in unconfuse.ok("journal", model.directory, "--model", "m", "--format", "jsonl")
            .out.splitlines()]
    assert [(r["id"], r["right"], r["expired"], r["probability"]) for r in rows] == [("e,1", True, False, 1.0),
                                                                                     ("e2", None, False, 1.0)]
    lines = unconfuse.ok("journal", model.directory, "--model", "m", "--format", "dsjson").out.splitlines()
    first = json.loads(lines[0])
    assert first["EventId"] == "e,1" and first["_label_cost"] == -1 and first["_label_probability"] == 1
    assert len(first["a"]) == len(first["p"]) == len(first["c"]["_multi"]) == 3
    assert unconfuse.fails(1, "journal", model.directory, "--model", "z").endswith("there is no model 'z'; there is m")
    assert "unable to open database file: No such file or directory" in unconfuse.fails(1, "journal", "nowhere", "--model", "z")
    assert "--model NAME" in unconfuse.fails(2, "journal", model.directory)


@pytest.mark.parametrize("classes", ["ab", "abc"])
def test_a_journal_as_training_data(service, unconfuse, classes):
    """Against the same from the CSV by hand; of two classes "wrong" reveals the other one."""
    service.put("/v1/models/m", {"learner": "cspa-plus", "classes": list(classes), "explore": 0.4})
    for i in range(300):
        label = i % len(classes)
        made = propose(service, {"x": 2.0 * label + i % 5 / 10, "kind": "odd" if i % 2 else "even"}, id=f"e{i}").json
        if i % 10 == 0:
            continue  # never answered
        answer = {"label": classes[label]} if i % 10 == 1 else {"right": made["class"] == classes[label]}
        assert feedback(service, id=f"e{i}", **answer).status == 200
    events = [json.loads(line) for line in unconfuse.ok("journal", service.directory, "--model", "m", "--format", "jsonl")
              .out.splitlines()]
    wrong = [event for event in events if event["right"] is False]
    labelled, expected = [event for event in wrong if "label" in event], []
    assert 0 < len(labelled) < len(wrong)
    for event in events:
        weight, shown = 1.0, event.get("label")
        if event["right"] is False and shown is not None and len(classes) > 2:
            weight = len(wrong) / len(labelled)
        elif event["right"] is False and len(classes) == 2:
            shown = classes[1 - classes.index(event["class"])]
        elif event["right"]:
            shown = event["class"]
        if shown is not None:
            expected.append((shown, pytest.approx(weight), event["features"]["kind"], event["features"]["x"]))
    unconfuse.ok("journal", service.directory, "--model", "m", "--format", "training", "-o", "training.csv")
    header, *lines = unconfuse.read("training.csv").decode().splitlines()
    assert header == "class,weight,kind,x"
    found = [line.split(",") for line in lines]
    assert [(c, float(w), k, float(x)) for c, w, k, x in found] == expected and len(expected) > 100
    unconfuse.ok("train", "logistic", "training.csv", "--label", "class", "--weight", "weight", "-o", "m.uc")
    unconfuse.write("new.csv", "kind,x\n" + "".join(f"even,{2.0 * k + 0.2}\n" for k in range(len(classes))))
    predicted = unconfuse.ok("predict", "m.uc", "new.csv", "--label", "none").out.splitlines()[1:]
    assert [line.split(",")[1] for line in predicted] == list(classes)


@pytest.mark.parametrize("words, sentence", [
    (["--model", "BAD", "--classes", "a,b"], "--model BAD: 'BAD' is no name of a model"),
    (["--model", "m", "--classes", "a,b", "--learner", "logistic"], "--model m: learner: logistic learns from whole data sets"),
    (["--model", "m", "--classes", "a"], "--model m: classes: expected an array of at least two names"),
], ids=["name", "learner", "classes"])
def test_a_model_that_cannot_be_leaves_no_directory(unconfuse, tmp_path, words, sentence):
    assert unconfuse.fails(1, "serve", "new", "--listen", "127.0.0.1:0", *words).startswith(sentence)
    assert not (tmp_path / "new").exists()


def test_onebit_learns_more_from_labels_than_from_wrong(tmp_path):
    """The same events, and of those that were wrong the label or not."""
    draw = random.Random(5)
    rows = [(k, [round(draw.gauss(3 * (k == j), 1), 3) for j in range(20)]) for k in (draw.randrange(20) for _ in range(200))]
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        for name in ("bits", "labels"):
            service.put(f"/v1/models/{name}", {"learner": "onebit", "classes": list("abcdefghijklmnopqrst")})
            for k, row in rows:
                made = service.post(f"/v1/models/{name}/propose", {"features": row}).json
                answer = {"label": chr(97 + k)} if name == "labels" else {"right": made["class"] == chr(97 + k)}
                assert service.post(f"/v1/models/{name}/feedback", {"id": made["id"], **answer}).status == 200
        bits, labels = (service.get(f"/v1/models/{name}").json["right"] for name in ("bits", "labels"))
        assert labels > bits + 20
        before = service.get("/v1/models/labels/model").body
        service.kill()
        service.start()
        assert service.get("/v1/models/labels/model").body == before


def test_tls_is_said_and_spoken(tmp_path, unconfuse):
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                           "/CN=localhost", "-days", "2", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "certificate.pem"], capture_output=True)
    if made.returncode != 0:
        pytest.skip("openssl cannot make a certificate here")
    options = ["--durability", "crash", "--tls-certificate", str(tmp_path / "certificate.pem"), "--tls-key", str(tmp_path / "key.pem")]
    with Service(PROGRAM, tmp_path / "dir", *options) as service:
        assert '"https://127.0.0.1:' in service.log.read_text()
        trust = ssl.create_default_context(cafile=tmp_path / "certificate.pem")
        trust.check_hostname = False
        connection = http.client.HTTPSConnection("127.0.0.1", service.port, context=trust, timeout=20)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        for version, spoken in (("-tls1", False), ("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
            said = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{service.port}", version, "-cipher", "ALL:@SECLEVEL=0"],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
            assert (said.returncode == 0) == spoken, (version, said.stdout, said.stderr)
    for certificate, key in (("key.pem", "certificate.pem"), ("certificate.pem", "certificate.pem")):
        assert unconfuse.fails(1, "serve", "new", "--listen", "127.0.0.1:0", "--tls-certificate", tmp_path / certificate, "--tls-key",
                               tmp_path / key) == "--tls-certificate, --tls-key: the files are not PEM, or not of each other"


@pytest.mark.parametrize("size", ["0", "1023", "2G"])
def test_a_body_that_no_request_fits_into_is_refused(unconfuse, size):
    """0 would be taken for no limit, and every request would get 413."""
    assert unconfuse.fails(2, "serve", "dir", "--max-body", size) == \
        f"--max-body {size}: it must be a number of bytes from 1024 to 1073741824"
