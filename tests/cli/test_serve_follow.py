"""serve --follow: another service's models, row by row."""
import contextlib
import errno
import http.client
import http.server
import json
import pathlib
import random
import re
import shutil
import socket
import socketserver
import ssl
import struct
import subprocess
import threading
import time

import pytest

from conftest import PROGRAM
from live_service import Service, until

CRASH = ("--durability", "crash")


def rounds(service, name, count, seed):
    draw, connection = random.Random(seed), service.connect()
    for i in range(count):
        row = {"x": round(draw.gauss(0, 1), 3), "city": draw.choice(["Paris", "Oslo"]), "words": f"some words {i % 5}"}
        made = service.post(f"/v1/models/{name}/propose", {"features": row, "baseline": "a"}, connection=connection).json
        if i % 3:
            service.post(f"/v1/models/{name}/feedback", {"id": made["id"], "label": "ab"[row["x"] > 0]} if i % 2
                         else {"id": made["id"], "right": (made["class"] == "b") == (row["x"] > 0)}, connection=connection)


def same(leader, follower, name):
    ours, theirs = (one.get(f"/v1/models/{name}") for one in (leader, follower))
    if theirs.status != 200:
        return False
    return {**ours.json, "snapshots": None} == {**theirs.json, "snapshots": None}


def test_a_follower_has_the_models_of_the_other_service_and_changes_nothing(tmp_path):
    with Service(PROGRAM, tmp_path / "leader", *CRASH, "--wait", "2s") as leader:
        leader.put("/v1/models/one", {"learner": "cspa-plus", "classes": ["a", "b"], "explore": 0.3, "expired": "wrong"})
        rounds(leader, "one", 60, 1)
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{leader.port}") as follower:
            until(lambda: same(leader, follower, "one"))
            leader.put("/v1/models/two", {"learner": "onebit", "classes": ["a", "b", "c"]})
            rounds(leader, "two", 40, 2)
            assert leader.put("/v1/models/one", {"classes": ["a", "b", "new"]}).status == 200
            assert leader.post("/v1/models/one/rollback", {"sequence": 40}).status == 200
            rounds(leader, "one", 30, 3)
            time.sleep(2.5)  # what waits expires there, by rows
            until(lambda: leader.get("/v1/models/one").json["waiting"] == leader.get("/v1/models/two").json["waiting"] == 0)
            assert leader.get("/v1/models/one").json["expired"] > 0
            for name in ("one", "two"):
                until(lambda: same(leader, follower, name))
                assert follower.get(f"/v1/models/{name}/model").body == leader.get(f"/v1/models/{name}/model").body
                assert follower.get(f"/v1/models/{name}/events?limit=10000").body == leader.get(f"/v1/models/{name}/events?limit=10000").body
                example = {"features": {"x": 1.5, "city": "Oslo"}}
                assert (follower.post(f"/v1/models/{name}/predict", example).json == leader.post(f"/v1/models/{name}/predict", example).json)
            for answer in (follower.put("/v1/models/three", {"classes": ["a", "b"]}), follower.post("/v1/models/one/propose", {"features": {"x": 1}}),
                           follower.post("/v1/models/one/feedback", {"id": "x", "right": True}), follower.post("/v1/models/one/snapshot", {})):
                assert answer.status == 403 and answer.detail == f"this service only follows http://127.0.0.1:{leader.port}: send changes there"


def test_a_follower_goes_on_after_either_was_killed(tmp_path):
    leader = Service(PROGRAM, tmp_path / "leader", *CRASH)
    with leader:
        leader.put("/v1/models/one", {"learner": "cspa-plus", "classes": ["a", "b"]})
        rounds(leader, "one", 30, 1)
        follower = Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{leader.port}")
        with follower:
            until(lambda: same(leader, follower, "one"))
            leader.kill()
            until(lambda: "cannot be reached" in follower.log.read_text())
            assert follower.post("/v1/models/one/predict", {"features": {"x": 1}}).status == 200
            leader.start()
            rounds(leader, "one", 30, 2)
            until(lambda: same(leader, follower, "one"))
            until(lambda: "is followed again" in follower.log.read_text())
            follower.kill()
            rounds(leader, "one", 30, 3)
            follower.start()
            until(lambda: same(leader, follower, "one"))
            assert follower.get("/v1/models/one/model").body == leader.get("/v1/models/one/model").body


def test_names_that_could_be_columns_stay_names(tmp_path):
    """null leaves such a name alone in a row, or none at all."""
    rows = [{"age": 1}, {"age": None, "1": 2}, {"age": None}, {}, {"1": 4, "city": None}, {"age": 3, "1": -1}]
    with Service(PROGRAM, tmp_path / "leader", *CRASH) as leader:
        for name, order in (("a", rows), ("b", rows[1:]), ("c", [{"3": 1}, {}, {"2": None, "1": 5}, [1, 2]])):
            leader.put(f"/v1/models/{name}", {"learner": "cspa-plus", "classes": ["a", "b"]})
            for row in order:
                made = leader.post(f"/v1/models/{name}/propose", {"features": row})
                assert leader.post(f"/v1/models/{name}/feedback", {"id": made.json["id"], "label": "b"}).status == 200
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{leader.port}") as follower:
            for name in "abc":
                until(lambda: same(leader, follower, name))
                for what in ("model", "events"):
                    assert follower.get(f"/v1/models/{name}/{what}").body == leader.get(f"/v1/models/{name}/{what}").body


@pytest.mark.parametrize("classes, count, sentence", [
    ("ab", 8, "its row 7 is not the one that is here"), ("xyz", 8, "its row 7 is not the one that is here"),
    ("ab", 2, "its rows end before row 7, which is here")])
def test_two_journals_are_not_joined(tmp_path, classes, count, sentence):
    """The model of the same name was made again, with more rows, other classes, or fewer rows."""
    leader = Service(PROGRAM, tmp_path / "leader", *CRASH)
    with leader:
        leader.put("/v1/models/one", {"learner": "cspa-plus", "classes": ["a", "b"]})
        rounds(leader, "one", 4, 1)
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{leader.port}") as follower:
            until(lambda: same(leader, follower, "one"))
            before = follower.get("/v1/models/one/events").body
            leader.kill()
            shutil.rmtree(leader.directory)
            leader.start()
            leader.put("/v1/models/one", {"learner": "cspa-plus", "classes": list(classes)})
            for i in range(count):
                leader.post("/v1/models/one/propose", {"features": {"x": i}, "id": str(i)})
            until(lambda: f"model one: {sentence}" in follower.log.read_text())
            time.sleep(2)
            said = follower.log.read_text()
            assert said.count("it is another journal, which needs a directory of its own") <= 2  # rows may have come between
            assert follower.get("/v1/models/one/events").body == before and follower.get("/readyz").status == 200
            assert follower.post("/v1/models/one/predict", {"features": {"x": 1}}).status == 200


def test_large_rows_come_in_several_answers(tmp_path):
    with Service(PROGRAM, tmp_path / "leader", *CRASH) as leader:
        leader.put("/v1/models/one", {"learner": "cspa-plus", "classes": ["a", "b"]})
        connection = leader.connect()
        for i in range(24):
            words = f"{i} " + "long" * 225000
            assert leader.post("/v1/models/one/propose", {"features": {"words": words}}, connection=connection).status == 200
        part = leader.get("/v1/models/one/events?limit=10000").body
        assert 16e6 < len(part) < 18e6 and part.endswith(b"}\n")
        assert [row["sequence"] for row in leader.events("one")] == list(range(1, 26))
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{leader.port}") as follower:
            until(lambda: same(leader, follower, "one"))


def test_the_token_of_the_other_service_is_sent(tmp_path):
    (tmp_path / "token").write_text("a-token-of-tests")
    with Service(PROGRAM, tmp_path / "leader", *CRASH, "--token-file", str(tmp_path / "token")) as leader:
        url, headers = f"http://127.0.0.1:{leader.port}", {"Authorization": "Bearer a-token-of-tests"}
        assert leader.put("/v1/models/one", {"classes": ["a", "b"]}, headers=headers).status == 201
        with Service(PROGRAM, tmp_path / "without", *CRASH, "--follow", url) as without:
            until(lambda: "it answers /v1/models with 401" in without.log.read_text())
        with Service(PROGRAM, tmp_path / "with", *CRASH, "--follow", url, "--follow-token-file", str(tmp_path / "token")) as follower:
            until(lambda: follower.get("/v1/models/one").status == 200)
            assert '"follow"' not in follower.log.read_text()


class Tunnel(socketserver.ThreadingTCPServer):
    """What stunnel does: plain on loopback, TLS to the other end, whose certificate must be the one that is known."""

    daemon_threads = True

    def __init__(self, port, certificate):
        self.other, self.context = port, ssl.create_default_context(cafile=certificate)
        super().__init__(("127.0.0.1", 0), self.Passage)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Passage(socketserver.BaseRequestHandler):
        def handle(self):
            with socket.create_connection(("127.0.0.1", self.server.other), timeout=20) as plain, \
                    self.server.context.wrap_socket(plain, server_hostname="localhost") as there:
                there.sendall(self.request.recv(65536))
                while part := there.recv(65536):
                    self.request.sendall(part)


def test_a_service_that_speaks_tls_is_followed_through_a_tunnel(tmp_path):
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-addext",
                           "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], capture_output=True)
    if made.returncode:
        pytest.skip("openssl makes no certificate here")
    secret = "a-long-secret"
    (tmp_path / "token").write_text(secret + "\n")
    with Service(PROGRAM, tmp_path / "leader", *CRASH, "--tls-certificate", certificate, "--tls-key", key, "--token-file",
                 str(tmp_path / "token")) as leader, Tunnel(leader.port, certificate) as tunnel:
        known = ssl.create_default_context(cafile=certificate)
        connection = http.client.HTTPSConnection("localhost", leader.port, timeout=20, context=known)
        headers = {"Authorization": f"Bearer {secret}"}
        assert leader.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["a", "b"]}, headers=headers, connection=connection).status == 201
        for i in range(20):
            leader.post("/v1/models/m/propose", {"features": [i, 1]}, headers=headers, connection=connection)
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{tunnel.server_address[1]}",
                     "--follow-token-file", str(tmp_path / "token")) as follower:
            until(lambda: follower.get("/v1/models/m").json.get("proposals") == 20)
            ours = leader.get("/v1/models/m/model", headers=headers, connection=connection).body
            assert follower.get("/v1/models/m/model").body == ours
        tunnel.shutdown()


class Server6(http.server.HTTPServer):
    address_family = socket.AF_INET6


def test_an_ipv6_address_has_brackets_in_the_host_header(tmp_path):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 here")
    with fake_leader({}, Server6, "::1") as leader:
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://[::1]:{leader.server_port}"):
            until(lambda: leader.asked)
            assert leader.asked[0][1]["Host"] == f"[::1]:{leader.server_port}"


def test_a_connection_may_take_a_few_seconds(tmp_path):
    """The queue of the listening socket is full, so that nothing is answered."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as waiting:
        for _ in range(3):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{full.getsockname()[1]}") as follower:
            time.sleep(2.5)
            assert '"follow"' not in follower.log.read_text()
            until(lambda: "it cannot be reached: Connection timed out" in follower.log.read_text())


def test_a_service_that_cannot_follow_does_not_serve(tmp_path):
    """The thread that cannot be started is the first, the second, and so on: of the journal, of HTTP, of following."""
    shim = pathlib.Path(PROGRAM).parent / "tests" / "torture" / "shim.so"
    if not shim.exists():
        pytest.skip("the library that makes calls fail was not built")
    plan, said, thread_class, classes = tmp_path / "plan", [], 11, 12
    while not said or said[-1]:
        number = len(said) + 1
        plan.write_bytes(struct.pack(f"4q{classes + 1}q256x", thread_class, number, number, errno.EAGAIN, *[0] * (classes + 1)))
        follower = Service(PROGRAM, tmp_path / f"follower{number}", *CRASH, "--follow", "http://127.0.0.1:1",
                           env={"LD_PRELOAD": str(shim), "TORTURE_PLAN": str(plan)})
        try:
            with follower:
                said.append(None)
        except AssertionError as ended:
            said.append(str(ended))
    assert said[0] == said[-2] == "ended with 1: unconfuse: cannot start a thread\n"
    assert len(said) > 3 and all("cannot listen there" in one for one in said[1:-2])


@pytest.mark.parametrize("words, sentence", [
    (["--follow", "https://x:1"], "--follow https://x:1: a follower speaks http only; let stunnel or ssh -L listen on loopback "
     "and speak TLS to the other service, and follow http://127.0.0.1:PORT"),
    (["--follow", "http://"], "--follow http://: expected http://HOST:PORT"),
    (["--follow", "http://x:/"], "--follow http://x:/: expected http://HOST:PORT"),
    (["--follow", "http://x:1", "--model", "m", "--classes", "a,b"], "--follow copies the models of another service: leave out --model"),
    (["--follow-token-file", "token"], "--follow-token-file needs --follow URL"),
])
def test_bad_usage(unconfuse, words, sentence):
    unconfuse.write("token", "a-token-of-tests")
    assert unconfuse.fails(2, "serve", "new", *words) == sentence


class Leader(http.server.BaseHTTPRequestHandler):
    """Answers what its server's `models` have: rows as lines of JSON."""
    def do_GET(self):
        self.server.asked.append((self.path, self.headers))
        found = re.fullmatch(r"/v1/models/(.*)/events\?after=(\d+)&limit=(\d+)", self.path)
        body = json.dumps({"models": [{"name": name} for name in self.server.models]})
        if found:
            body = "".join(self.server.models[found[1]].splitlines(True)[int(found[2]):])
        body = body.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def fake_leader(models, server=http.server.HTTPServer, host="127.0.0.1"):
    with server((host, 0), Leader) as leader:
        leader.models, leader.asked = models, []
        threading.Thread(target=leader.serve_forever, daemon=True).start()
        yield leader
        leader.shutdown()


DEFINITION = {"learner": "cspa-plus", "classes": ["a", "b"], "settings": {}, "mode": "online", "explore": 0.0, "expired": "ignore"}


def lines(*rows):
    """Rows of a journal, with a sequence and a time each."""
    return "".join(json.dumps({"sequence": i + 1, "time": "2026-11-18T04:20:00.000Z", **row}) + "\n" for i, row in enumerate(rows))


def test_a_model_that_cannot_be_copied_stops_no_other(tmp_path):
    good = {"kind": "define", "definition": DEFINITION}
    with fake_leader({"a": "nonsense\n", "b": lines(good), "c": "{}\n", "d": lines(good)}) as leader:
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{leader.server_port}") as follower:
            until(lambda: [one["name"] for one in follower.get("/v1/models").json["models"]] == ["b", "d"])
            until(lambda: len(leader.asked) > 15)  # three times round
            said = follower.log.read_text()
            assert said.count('"follow"') == 2
            assert "model a: its answer to /v1/models/a/events?after=0&limit=1000 is not JSON lines; trying again" in said
            assert "model c: the rows of model c do not begin with its definition; trying again" in said


DEFINE = {"kind": "define", "definition": DEFINITION}
PROPOSAL = {"kind": "proposal", "id": "x", "features": [1, 2], "features_kind": "array", "class": "a", "probability": 1.0, "favourite": "a"}
FEEDBACK = {"kind": "feedback", "event": 2, "id": "x", "right": True}
NO_ROW = "it is not a row of a journal"


def without(row, *members):
    return {key: value for key, value in row.items() if key not in members}


BAD_ROWS = [
    *([{**DEFINE, "definition": {**without(DEFINITION, *changed), **changed}}] + [sentence] for changed, sentence in [
        ({"mode": "other"}, 'row 1: mode: expected "online" or "apprentice"'), ({"mode": None}, 'row 1: mode: expected "online" or "apprentice"'),
        ({"expired": 1}, 'row 1: expired: expected "ignore" or "wrong"'), ({"explore": 5}, "row 1: explore: expected a probability, from 0 to 1"),
        ({"learner": None}, "row 1: learner: expected a name"), ({"learner": "ridge"}, "row 1: learner: ridge learns from whole data sets"),
        ({"classes": ["a"]}, "row 1: classes: expected an array"), ({"classes": [1, 2]}, "row 1: classes[0]: expected a name"),
        ({"settings": []}, "row 1: settings: expected an object"), ({"more": 1}, "row 1: 'more' is unknown")]),
    [DEFINE, {**DEFINE, "definition": {**DEFINITION, "classes": ["b", "c"]}}, "row 2: class 'a' is missing or elsewhere"],
    [DEFINE, {**PROPOSAL, "probability": 5}, f"row 2: {NO_ROW}"], [DEFINE, {**PROPOSAL, "probability": 0}, f"row 2: {NO_ROW}"],
    [DEFINE, {**PROPOSAL, "class": "z"}, f"row 2: {NO_ROW}"], [DEFINE, without(PROPOSAL, "id"), f"row 2: {NO_ROW}"],
    [DEFINE, {**PROPOSAL, "features_kind": "names"}, "row 2: features: expected"], [DEFINE, {**PROPOSAL, "features": [None]}, "row 2: features: "],
    [DEFINE, {**PROPOSAL, "time": "now"}, f"row 2: {NO_ROW}"], [DEFINE, {**PROPOSAL, "kind": "other"}, f"row 2: {NO_ROW}"],
    [DEFINE, PROPOSAL, {**PROPOSAL, "features": {"x": 1}, "features_kind": "names", "id": "y"}, "row 3: features: an object of names"],
    [DEFINE, PROPOSAL, PROPOSAL, "row 3: it has the id of row 2"], [DEFINE, PROPOSAL, without(FEEDBACK, "right"), f"row 3: {NO_ROW}"],
    [DEFINE, PROPOSAL, {**FEEDBACK, "label": "z"}, f"row 3: {NO_ROW}"],
    [DEFINE, PROPOSAL, FEEDBACK, FEEDBACK, "row 4: it answers row 2, which does not wait"], [DEFINE, FEEDBACK, "row 2: it answers row 2"],
    [DEFINE, {"kind": "expiry", "event": 1}, "row 2: it answers row 1"], [DEFINE, {"kind": "expiry"}, f"row 2: {NO_ROW}"],
    *([DEFINE, {"kind": "rollback", "to": to}, f"row 2: {NO_ROW}"] for to in (0, -1, 2, "1")),
    [DEFINE, {**PROPOSAL, "sequence": 7}, "row 7 comes after row 1"],
]


def test_rows_that_no_service_would_write_are_refused_and_end_nothing(tmp_path):
    """Those before them stay, and the log has one line for each model."""
    leaders = {f"m{i}": (lines(*rows), len(rows) - 1, sentence) for i, (*rows, sentence) in enumerate(BAD_ROWS)}
    with fake_leader({name: text for name, (text, _, _) in leaders.items()}) as leader:
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{leader.server_port}") as follower:
            until(lambda: len(leader.asked) > 3 * len(leaders) + 3)  # three times round
            assert follower.get("/readyz").status == 200
            said = [json.loads(line) for line in follower.log.read_text().splitlines()]
            assert not [line for line in said if line["event"] == "journal"]
            for name, (_, kept, sentence) in leaders.items():
                mine = [line["message"] for line in said if f": model {name}: " in line["message"]]
                assert len(mine) == 1 and f": model {name}: {sentence}" in mine[0], (name, sentence, mine)
                state = follower.get(f"/v1/models/{name}")
                assert state.json["sequence"] == kept if kept else state.status == 404, name
            assert follower.stop() == 0


@pytest.mark.parametrize("row", ["{}", "[]", '{"sequence": 1, "kind": "feedback"}', '{"sequence": 1, "kind": "define"}'])
def test_rows_that_begin_no_model_make_none(tmp_path, row):
    with fake_leader({"m": row + "\n"}) as leader:
        with Service(PROGRAM, tmp_path / "follower", *CRASH, "--follow", f"http://127.0.0.1:{leader.server_port}") as follower:
            until(lambda: "the rows of model m do not begin with its definition" in follower.log.read_text())
            assert follower.get("/v1/models").json["models"] == []
