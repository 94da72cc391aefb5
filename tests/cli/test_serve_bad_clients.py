"""Clients that are slow, broken or hostile: a sentence each, no growth, and everyone else is served."""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import time

import pytest

from conftest import PROGRAM
from live_service import Service

# The address sanitizer keeps freed memory back, by default far more than the service may grow here.
SANITIZER = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}
PROPOSE = b"POST /v1/models/m/propose HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
def model(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash", "--max-pending", "3000",
                 env=SANITIZER) as service:
        assert service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["a", "b"]}).status == 201
        yield service


def talk(service, sent, ends=False):
    """What comes back; all that was sent may not be taken."""
    received = b""
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        try:
            connection.sendall(sent)
            if ends:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            while part := connection.recv(65536):
                received += part
                head, _, body = received.partition(b"\r\n\r\n")
                length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
                if length and len(body) >= length[0]:
                    break
        except OSError:
            pass
    return received


def memory(service):
    """Resident bytes."""
    return int(pathlib.Path(f"/proc/{service.process.pid}/statm").read_text().split()[1]) * 4096


def test_a_body_that_takes_too_long_is_cut_off(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash", "--request-time", "1s") as service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["a", "b"]})
        with socket.create_connection(("127.0.0.1", service.port), timeout=10) as slow:
            began = time.monotonic()
            slow.sendall(b"POST /v1/models/m/propose HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
            with pytest.raises(OSError):
                while time.monotonic() - began < 40:
                    slow.sendall(b" ")
                    time.sleep(0.1)
                    slow.settimeout(0.01)
                    try:
                        if slow.recv(100) == b"":
                            raise ConnectionResetError
                    except TimeoutError:
                        pass
            assert 0.9 < time.monotonic() - began < 30
        assert service.post("/v1/models/m/propose", {"features": [1, 2]}).status == 200


def trickle(port, sent, most):
    """Sends a byte now and then, for at most so many seconds; how long the service let that go on."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as slow:
        began = time.monotonic()
        slow.sendall(sent)
        slow.settimeout(0.01)
        while time.monotonic() - began < most:
            time.sleep(0.2)
            try:
                slow.sendall(b"x")
                if slow.recv(100) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        return time.monotonic() - began


def test_heads_that_take_too_long_are_cut_off(model):
    """However often a byte of them comes."""
    heads = [b"", b"GET /healthz HTTP/1.1\r\nX: ", b"GET /heal", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /heal"]
    with concurrent.futures.ThreadPoolExecutor(len(heads)) as threads:
        took = list(threads.map(lambda head: trickle(model.port, head, 300), heads))
    assert all(25 < seconds < 200 for seconds in took), took
    assert model.get("/healthz").status == 200


def test_an_answer_that_is_taken_too_slowly_is_cut_off(tmp_path):
    """A few bytes now and then of one that is larger than what the system keeps of it."""
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["a", "b"]})
        for _ in range(12):
            assert service.post("/v1/models/m/propose", {"features": {"text": "word " * 199_000}}).status == 200
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash", "--request-time", "0.5s") as service:
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", service.port))
            slow.settimeout(60)
            slow.sendall(b"GET /v1/models/m/events HTTP/1.1\r\nHost: x\r\n\r\n")
            received, began = slow.recv(1000), time.monotonic()
            size = int(re.search(rb"Content-Length: (\d+)", received)[1])
            try:
                while (part := slow.recv(1000)) and time.monotonic() - began < 20:  # 7 seconds are allowed
                    received += part
                    time.sleep(0.1)
                while part:  # what was on its way
                    part = slow.recv(65536)
                    received += part
            except ConnectionError:
                pass
        assert size > 10_000_000 and len(received) < size
        assert service.get("/healthz").status == 200


def test_a_slow_body_keeps_nobody_waiting(model):
    body = b'{"features":[1,2]}'
    with socket.create_connection(("127.0.0.1", model.port), timeout=10) as slow:
        slow.sendall(PROPOSE + b"Content-Length: %d\r\n\r\n" % len(body))
        for byte in body:
            slow.sendall(bytes([byte]))
            assert model.get("/healthz").status == 200
            assert model.post("/v1/models/m/propose", {"features": [1, 2]}).status == 200
            time.sleep(0.05)
        assert slow.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_body_in_chunks(model):
    """Sound chunks are a body; others are refused, and nothing is proposed."""
    body = b'{"features":[1,2]}'
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    assert talk(model, PROPOSE + b"Transfer-Encoding: chunked\r\n\r\n" + chunks).startswith(b"HTTP/1.1 200 ")
    before = model.get("/v1/models/m").json["sequence"]
    for nonsense in (b"zz\r\n\r\n", b"-1\r\n{}\r\n", b"ffffffffffffffffff\r\n{}\r\n", b"2\r\n{}{}{}\r\n0\r\n\r\n"):
        assert talk(model, PROPOSE + b"Transfer-Encoding: chunked\r\n\r\n" + nonsense)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 413", b"")
    assert model.get("/v1/models/m").json["sequence"] == before


@pytest.mark.parametrize("head, status", [
    (b"Content-Length: x\r\n", b"400"), (b"Content-Length: 99999999999999999999999\r\n", b"413"),
    (b"X: " + b"y" * 10_000_000 + b"\r\n", b"431"), (b"X: y\r\n" * 100_000, b"431")], ids=["no number", "huge", "long", "many"])
def test_headers_that_are_too_much(model, head, status):
    answer = talk(model, PROPOSE + head + b"\r\n")
    assert answer == b"" or answer.startswith(b"HTTP/1.1 " + status), answer[:200]
    assert model.get("/healthz").status == 200


def problem_of(answer):
    """The sentence of an answer that must be a problem."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nContent-Type: application/problem+json\r\n" in head + b"\r\n", answer[:300]
    problem = json.loads(body)
    assert problem["status"] == int(head.split()[1]) and head.split(b"\r\n")[0].endswith(problem["title"].encode())
    return problem["status"], problem["detail"]


@pytest.mark.parametrize("sent, status, sentence", [
    (b"BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 405, "BREW"),
    (b"TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 405, "TRACE"),
    (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, "there is nothing"),
    (b"CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "there is nothing"),
    (b"GET  /healthz  HTTP/1.1\r\nHost: x\r\n\r\n", 404, "there is nothing"),
    (PROPOSE + b"Transfer-Encoding: gzip\r\n\r\n", 501, "only chunked"),
    (PROPOSE + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "only chunked"),
    (PROPOSE + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n", 501, "only chunked"),
    (PROPOSE + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "more than once"),
    (PROPOSE + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, "more than once"),
    (PROPOSE + b"X: " + b"y" * 40_000 + b"\r\n\r\n", 431, "more than 32768 bytes"),
    (b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431, "more than 32768 bytes"),
    (PROPOSE + b"X: y\r\n" * 500 + b"Content-Length: 2\r\n\r\n{}", 400, "features")],
    ids=["unknown method", "trace", "options", "connect", "spaces", "gzip", "gzip, chunked", "two encodings", "length and chunks",
         "two lengths", "long header", "long path", "many headers"])
def test_what_can_be_read_has_a_sentence(model, sent, status, sentence):
    before = model.get("/v1/models/m").json["sequence"]
    got, detail = problem_of(talk(model, sent))
    assert got == status and sentence in detail
    assert model.get("/v1/models/m").json["sequence"] == before


@pytest.mark.parametrize("sent, statuses", [
    (b"GARBAGE\r\n\r\n", [None]), (bytes(range(128, 256)) + b"\r\n\r\n", [None]), (b"\x16\x03\x01\x02\0\r\n\r\n", [None]),
    (b"GET /healthz\r\n\r\n", [400]), (b"GET /healthz FTP/1.1\r\n\r\n", [400]), (b"GET /healthz HTTP/9.9\r\n\r\n", [505]),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]), (b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n", [400]),
    (PROPOSE + b"Content-Length: -1\r\n\r\n", [400]), (PROPOSE + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", [400]),
    (b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\n\r\n", [None, 414])],
    ids=["word", "bytes", "tls", "no version", "ftp", "9.9", "http/2", "no colon", "negative length", "chunks", "path"])
def test_what_is_no_http_is_closed(model, sent, statuses):
    """libmicrohttpd answers these by itself, without a content type, or not at all; the connection ends, and nothing changes."""
    before = model.get("/v1/models/m").json["sequence"]
    with socket.create_connection(("127.0.0.1", model.port), timeout=60) as connection:
        received = b""
        try:
            connection.sendall(sent)
            while part := connection.recv(65536):
                received += part
        except ConnectionError:
            pass
    assert (int(received.split()[1]) if received else None) in statuses
    assert not received or b"\r\nConnection: close\r\n" in received
    assert model.get("/v1/models/m").json["sequence"] == before


def test_a_body_that_is_cut_off_changes_nothing(model):
    body = json.dumps({"examples": [{"features": [i, 1], "id": f"e{i}"} for i in range(50)]}).encode()
    for size in (0, 1, 20, len(body) - 1):
        talk(model, PROPOSE + b"Content-Length: %d\r\n\r\n" % len(body) + body[:size], ends=True)
    assert model.get("/v1/models/m").json["proposals"] == 0
    assert talk(model, PROPOSE + b"Content-Length: %d\r\n\r\n" % len(body) + body).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", ["/v1/models/..", "/v1/models/%2e%2e", "/v1/models/..%2f..%2fetc", "/v1/models/%2fetc%2fpasswd",
                                  "/v1/models/.hidden", "/v1/models/a%00b", "/v1/models/a%0ab", "/v1/models/" + "a" * 65,
                                  "/v1/models/%ff%fe", "/v1/models/A", "/v1/models/m%00evil", "/v1/models/journal.db",
                                  "/v1/models/journal.db-journal", "/v1/models/journal.db-wal", "/v1/models/journal.db-shm"])
def test_names_that_are_no_names(model, path):
    answer = model.put(path, {"learner": "cspa-plus", "classes": ["a", "b"]})
    assert answer.status in (400, 404, 405) and answer.detail
    assert sorted(p.name for p in model.directory.iterdir() if p.is_dir()) == []
    assert [m["name"] for m in model.get("/v1/models").json["models"]] == ["m"]


@pytest.mark.parametrize("name", ["\n", "a\tb", "\x7f", "?"])
def test_classes_that_are_no_names(model, name):
    answer = model.put("/v1/models/n", {"learner": "cspa-plus", "classes": ["a", name]})
    assert answer.status == 400 and answer.detail == 'classes[1]: a name has no control characters and is not "?"'
    assert model.get("/v1/models/n").status == 404


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer ", "Bearer wrong-wrong", "Basic a-long-secret", "Bearer a-long-secre",
                                   "Bearer a-long-secrets", "a-long-secret", "Bearer  a-long-secret"])
def test_wrong_tokens(tmp_path, given):
    (tmp_path / "token").write_text("a-long-secret\n")
    with Service(PROGRAM, tmp_path / "dir", "--token-file", str(tmp_path / "token")) as service:
        for path in ("/v1/models", "/metrics", "/healthz", "/nothing", "/v1/live"):
            answer = service.get(path, headers={"Authorization": given} if given is not None else {})
            assert answer.status == 401 and "needs a token" in answer.detail
        for scheme in ("Bearer", "bearer", "BEARER"):
            assert service.get("/v1/models", headers={"Authorization": f"{scheme} a-long-secret"}).status == 200


def test_pages_of_other_sites_change_nothing(model, tmp_path):
    """A browser sends a form or a text to any address, also to one that only its own machine reaches."""
    page, own = {"Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}, {"Sec-Fetch-Site": "same-origin"}
    refused = model.post("/v1/models/m/propose", {"features": [1]}, headers=page)
    assert refused.status == 403 and refused.detail == "a page of another site sends this; a service without a token refuses it"
    assert model.get("/v1/models/m").json["sequence"] == 1
    assert model.get("/v1/models/m", headers=page).status == 200  # which that page cannot read
    assert model.post("/v1/models/m/propose", {"features": [1]}, headers=own).status == 200
    (tmp_path / "token").write_text("a-long-secret\n")
    with Service(PROGRAM, tmp_path / "other", "--token-file", str(tmp_path / "token")) as service:
        made = service.put("/v1/models/m", {"classes": ["a", "b"]}, headers={**page, "Authorization": "Bearer a-long-secret"})
        assert made.status == 201


def test_ids_that_are_never_answered(model):
    """10,000 of them: the first 3,000 wait, the others are refused, and memory stays."""
    refused = 0
    for batch in range(10):
        examples = [{"features": [i % 3, 1.5, 2], "id": f"never-{batch}-{i}"} for i in range(1000)]
        made = model.post("/v1/models/m/propose", {"examples": examples}).json["proposals"]
        sentences = {item["detail"] for item in made if item.get("status") == 429}
        refused += sum(item.get("status") == 429 for item in made)
        assert sentences <= {"3000 proposals of m wait for feedback, as many as may (--max-pending)"}
        if batch == 4:
            before = memory(model)
    assert refused == 7000 and model.get("/v1/models/m").json["waiting"] == 3000
    assert model.post("/v1/models/m/propose", {"features": [1]}).status == 429
    assert model.post("/v1/models/m/feedback", {"id": "never-0-0", "right": True}).status == 200
    assert model.post("/v1/models/m/propose", {"features": [1]}).status == 200
    assert memory(model) < before + 8e6


def test_nonsense_does_not_grow(model):
    """Bodies of drawn bytes and JSON that is nearly right: each has a sentence, and memory stays."""
    draw, connection = random.Random(22), model.connect()
    good = '{"examples":[{"features":{"a":1,"b":"text of words","c":true},"id":"i"}]}'
    before = None
    for i in range(3000):
        body = bytearray(good.encode())
        for _ in range(draw.randint(1, 4)):
            body[draw.randrange(len(body))] = draw.randrange(256)
        if i % 3 == 0:
            body = draw.randbytes(draw.randint(1, 200))
        path = draw.choice(["propose", "feedback", "predict", "rollback"])
        answer = model.post(f"/v1/models/m/{path}", bytes(body), connection=connection)
        assert answer.status in (200, 400, 409, 429), (answer.status, answer.body)
        if answer.status == 400:
            assert answer.detail and "\n" not in answer.detail
        if i == 1000:
            before = memory(model)
    assert memory(model) < before + 16e6


@pytest.fixture
def many_files():
    """A thousand connections are as many descriptors here."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 1200:
        pytest.skip("too few descriptors are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 1200), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_requests_without_waiting_for_answers(model):
    """100 in one go on one connection: all are answered, in their order."""
    bodies = [b'{"features":[%d,1],"id":"p%d"}' % (i % 3, i) for i in range(100)]
    with socket.create_connection(("127.0.0.1", model.port), timeout=60) as connection:
        connection.sendall(b"".join(PROPOSE + b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies))
        received = b""
        while len(found := re.findall(rb'"id":"(p\d+)"', received)) < 100:
            part = connection.recv(65536)
            assert part, received[-300:]
            received += part
    assert found == [b"p%d" % i for i in range(100)] and received.count(b"HTTP/1.1 200 ") == 100


def test_fewer_descriptors_than_connections(tmp_path):
    """Who comes when all are taken waits, and is served when another has gone."""
    script = 'ulimit -n 256; exec "$0" "$@"'
    with Service("/bin/sh", tmp_path / "dir", "--durability", "crash", before=["-c", script, PROGRAM]) as service:
        held = [socket.create_connection(("127.0.0.1", service.port), timeout=60) for _ in range(400)]
        try:
            for connection in held[:150]:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
            for connection in held[:250]:
                connection.close()
            for connection in held[250:]:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            for connection in held[250:]:
                assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
            assert service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["a", "b"]}).status == 201
        finally:
            for connection in held:
                connection.close()


def test_many_connections_are_held(many_files, model):
    """1,000 that say nothing for a while are all served when they speak."""
    held = [socket.create_connection(("127.0.0.1", model.port), timeout=20) for _ in range(1000)]
    try:
        assert model.get("/healthz").status == 200
        for connection in held:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        for connection in held:
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
    finally:
        for connection in held:
            connection.close()


def test_requests_that_arrive_together_are_all_answered(model):
    """libmicrohttpd's own threads leave them lying when they see a multiple of 128 at once. There are two threads, so that
    of 128 to 256 requests one of them has 128 at some number."""
    held = [socket.create_connection(("127.0.0.1", model.port), timeout=20) for _ in range(256)]
    try:
        for connection in held:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        for count in range(128, 257):
            model.process.send_signal(signal.SIGSTOP)
            try:
                for connection in held[:count]:
                    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            finally:
                model.process.send_signal(signal.SIGCONT)
            for connection in held[:count]:
                assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
    finally:
        for connection in held:
            connection.close()
