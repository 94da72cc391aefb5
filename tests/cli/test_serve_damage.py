"""What the service does when the disk is full, when files are damaged and when the clock is set back."""
import json
import os
import resource
import sqlite3
import time

import pytest

from conftest import PROGRAM
from live_service import Service, until
from test_serve_killed import send_again

ABC = {"learner": "cspa-plus", "classes": ["p", "q", "r"]}
PAGE = 4096


def play(service, first, count):
    """Proposes and tells; what was answered with 200, as (id, told)."""
    connection = service.connect()
    done = []
    for i in range(first, first + count):
        features = [i % 7 - 3, (i * i) % 5 - 2, 1]
        made = service.post("/v1/models/m/propose", {"features": features, "id": f"e{i}"}, connection=connection)
        if made.status != 200:
            return done, made
        told = service.post("/v1/models/m/feedback", {"id": f"e{i}", "right": made.json["class"] == "pqr"[i % 3]},
                            connection=connection)
        done.append((f"e{i}", told.status == 200))
        if told.status != 200:
            return done, told
    return done, None


def check_events(events, done):
    """Every acknowledged event is there exactly once, in an unbroken sequence."""
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    proposed = [event["id"] for event in events if event["kind"] == "proposal"]
    told = [event["id"] for event in events if event["kind"] == "feedback"]
    assert len(set(proposed)) == len(proposed) and len(set(told)) == len(told)
    assert {name for name, _ in done} <= set(proposed) and {name for name, was_told in done if was_told} <= set(told)


def same_model(events, model, directory):
    with Service(PROGRAM, directory, "--durability", "crash") as other:
        send_again(events, other)
        assert other.get("/v1/models/m/model").body == model


def test_a_disk_that_fills_up(tmp_path):
    """No file may grow beyond a limit, which is lifted later."""
    with Service(PROGRAM, tmp_path / "dir", "--snapshot-every", "50") as service:
        service.put("/v1/models/m", ABC)
        done, failed = play(service, 0, 120)
        assert failed is None and service.get("/readyz").status == 200
        largest = max(path.stat().st_size for path in (tmp_path / "dir").glob("journal.db*"))
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (largest + 3 * PAGE, resource.RLIM_INFINITY))
        more, failed = play(service, 120, 2000)
        done += more
        assert failed.status == 507 and failed.detail.endswith("journal.db: the disk is full; nothing was changed")
        assert service.get("/healthz").status == 200
        for _ in range(20):  # also after requests that write nothing
            assert service.get("/readyz").status == 507
            time.sleep(0.1)
        assert "\nunconfuse_journal_writable 0\n" in service.get("/metrics").body.decode()
        state = service.get("/v1/models/m").json  # reading goes on
        model = service.get("/v1/models/m/model").body
        assert state["proposals"] == sum(1 for event in service.events("m") if event["kind"] == "proposal")
        assert service.post("/v1/models/m/predict", {"features": [1, 2, 1]}).status == 200
        assert service.put("/v1/models/n", ABC).status == 507 and service.get("/v1/models/n").status == 404
        check_events(service.events("m"), done)
        assert service.get("/v1/models/m/model").body == model
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        until(lambda: service.get("/readyz").status == 200)
        again, failed = play(service, 5000, 20)
        assert failed is None
        done += again
        service.kill()
        service.start()
        events, model = service.events("m"), service.get("/v1/models/m/model").body
    check_events(events, done)
    same_model(events, model, tmp_path / "other")


def killed_service(tmp_path, rounds, *options):
    service = Service(PROGRAM, tmp_path / "dir", *options).start()
    service.put("/v1/models/m", ABC)
    done, failed = play(service, 0, rounds)
    assert failed is None
    events, model = service.events("m"), service.get("/v1/models/m/model").body
    return service, done, events, model


@pytest.mark.parametrize("damage", ["cut", "flipped", "zeros"])
def test_the_end_of_the_write_ahead_log_is_damaged(tmp_path, damage):
    """What is left is the journal up to a row, and the model of these rows."""
    service, _, events, _ = killed_service(tmp_path, 60, "--snapshot-every", "25")
    service.kill()
    log = tmp_path / "dir" / "journal.db-wal"
    bytes_before = log.read_bytes()
    assert len(bytes_before) > 6 * PAGE
    end = 2 * PAGE
    log.write_bytes({"cut": bytes_before[:-end - 100], "zeros": bytes_before[:-end] + bytes(end),
                     "flipped": bytes_before[:-end] + bytes(b ^ 0x55 for b in bytes_before[-end:])}[damage])
    with service:
        left, model = service.events("m"), service.get("/v1/models/m/model").body
        done, failed = play(service, 1000, 10)
        assert failed is None and len(done) == 10
    assert len(events) - 8 <= len(left) < len(events) and left == events[:len(left)]
    same_model(left, model, tmp_path / "other")


def test_pages_of_the_journal_are_damaged(tmp_path, unconfuse):
    """A damaged page is never taken for rows: the start says so, or it was no page of rows and everything is there."""
    service, _, events, model = killed_service(tmp_path, 200)
    assert service.stop() == 0
    path = tmp_path / "dir" / "journal.db"
    whole = path.read_bytes()
    pages, refused = len(whole) // PAGE, 0
    for page in range(max(1, pages - 12), pages):
        path.write_bytes(whole[:page * PAGE] + os.urandom(PAGE) + whole[(page + 1) * PAGE:])
        for snapshot in (tmp_path / "dir" / "m").glob("*.uc"):
            snapshot.unlink()
        try:
            service.start()
        except AssertionError as ended:
            refused += 1
            assert "ended with 1" in str(ended) and "the journal is damaged (" in str(ended)
            continue
        answer = service.get("/v1/models/m/events?limit=10000")
        if answer.status == 200:
            assert [json.loads(line) for line in answer.body.decode().splitlines()] == events
            assert service.get("/v1/models/m/model").body == model
        service.kill()
        for extra in (tmp_path / "dir").glob("journal.db-*"):
            extra.unlink()
    assert refused > 0


@pytest.mark.parametrize("sql", ["CREATE TABLE theirs(x)", "CREATE TABLE models(x)",
                                 "PRAGMA application_id = 7; CREATE TABLE theirs(x)", "PRAGMA application_id = 7"])
def test_the_database_of_another_program(tmp_path, unconfuse, sql):
    path = tmp_path / "dir" / "journal.db"
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.executescript(sql)
    before = path.read_bytes()
    sentence = f"{path}: this is the database of another program, not a journal of unconfuse serve"
    assert sentence in unconfuse.fails(1, "serve", path.parent, "--listen", "127.0.0.1:0")
    assert sentence in unconfuse.fails(1, "journal", path.parent, "--model", "m")
    assert sentence in unconfuse.fails(1, "replay", path.parent, "--model", "m")
    assert path.read_bytes() == before and os.listdir(path.parent) == ["journal.db"]


def test_an_empty_journal(tmp_path, unconfuse):
    path = tmp_path / "dir" / "journal.db"
    path.parent.mkdir()
    path.touch()
    sentence = f"{path}: the journal is empty; unconfuse serve has not written it yet"
    assert sentence in unconfuse.fails(1, "journal", path.parent, "--model", "m")
    with Service(PROGRAM, path.parent) as service:
        assert service.put("/v1/models/m", ABC).status == 201


DAMAGED_ROWS = [
    ("UPDATE journal SET proposed = 7 WHERE sequence = 2", 2),
    ("UPDATE journal SET proposed = NULL WHERE sequence = 4", 4),
    ("UPDATE journal SET id = NULL WHERE sequence = 4", 4),
    ("UPDATE journal SET features = x'00' WHERE sequence = 4", 4),
    ("UPDATE journal SET features = NULL WHERE sequence = 4", 4),
    ("UPDATE journal SET probability = NULL WHERE sequence = 4", 4),
    ("UPDATE journal SET kind = 0 WHERE sequence = 1", 1),
    ("UPDATE journal SET text = NULL WHERE sequence = 1", 1),
    ("UPDATE journal SET text = '{\"classes\":7}' WHERE sequence = 1", 1),
    ("DELETE FROM journal WHERE sequence = 1", 2),
    ("UPDATE journal SET answer = 99 WHERE sequence = 3", 3),
    ("UPDATE journal SET label = 99 WHERE sequence = 3", 3),
    ("UPDATE journal SET answer = 2 WHERE sequence = 3", 3),
    ("UPDATE journal SET event = NULL WHERE sequence = 3", 3),
    ("UPDATE journal SET kind = 5, event = 9 WHERE sequence = 3", 3),
]


@pytest.mark.parametrize("damage, row", DAMAGED_ROWS, ids=range(len(DAMAGED_ROWS)))
def test_rows_that_are_damaged_are_named(tmp_path, unconfuse, damage, row):
    service, _, _, _ = killed_service(tmp_path, 3)
    directory = tmp_path / "dir"
    service.kill()
    with sqlite3.connect(directory / "journal.db") as journal:
        journal.execute(damage)
    for form in ("csv", "jsonl", "dsjson"):
        sentence = unconfuse.fails(1, "journal", directory, "--model", "m", "--format", form, "-o", "events")
        assert sentence == f"{directory}: row {row} of the journal is damaged"
        assert not (unconfuse.directory / "events").exists()
    assert unconfuse.fails(1, "replay", directory, "--model", "m") == f"row {row} of the journal is damaged"


@pytest.mark.parametrize("text", ['{}', '{"learner":7,"classes":["a","b"],"mode":"online","expired":"ignore"}',
                                  '{"learner":"cspa-plus","classes":["a","b"]}', '{"learner":"cspa-plus","classes":[1,2],"mode":"online","expired":"ignore"}'])
def test_a_damaged_definition_is_refused(tmp_path, unconfuse, text):
    with Service(PROGRAM, tmp_path / "dir") as service:
        service.put("/v1/models/m", ABC)
    with sqlite3.connect(tmp_path / "dir" / "journal.db") as journal:
        journal.execute("UPDATE journal SET text = ?", (text,))
    assert "row 1 of the journal is no definition" in unconfuse.fails(1, "serve", tmp_path / "dir", "--listen", "127.0.0.1:0")


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "gone", "text"])
def test_the_newest_snapshots_are_damaged(tmp_path, damage):
    service, _, _, model = killed_service(tmp_path, 60, "--snapshot-every", "20", "--keep-snapshots", "5")
    service.kill()
    snapshots = sorted((tmp_path / "dir" / "m").glob("*.uc"), key=lambda path: int(path.stem))
    assert len(snapshots) >= 3
    for path in snapshots[-2:]:
        content = path.read_bytes()
        middle = len(content) // 2
        if damage == "gone":
            path.unlink()
        else:
            path.write_bytes({"flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:],
                              "cut": content[:middle], "empty": b"", "text": b"no model\n"}[damage])
    with service:
        assert service.get("/v1/models/m/model").body == model
        said = [json.loads(line) for line in service.log.read_text().splitlines()]
    warnings = [line for line in said if line["event"] == "snapshot" and line["level"] == "warning"]
    assert len(warnings) == 2 and all("cannot be used, an older one is tried: " in line["message"] for line in warnings)
    assert str(snapshots[-1]) in warnings[0]["message"]


def test_no_snapshot_at_all(tmp_path):
    service, _, _, model = killed_service(tmp_path, 60, "--snapshot-every", "20")
    service.kill()
    for path in (tmp_path / "dir" / "m").glob("*.uc"):
        path.unlink()
    with service:
        assert service.get("/v1/models/m/model").body == model


def test_the_clock_is_set_back(tmp_path):
    """The journal's last rows are from the future: times never go back, and nothing expires before its time."""
    service, _, events, model = killed_service(tmp_path, 20, "--wait", "1h")
    waiting = service.post("/v1/models/m/propose", {"features": [1, 0, 1], "id": "waits"}).json
    service.kill()  # no snapshot, which would have its own time
    ahead = 24 * 3600 * 1000
    with sqlite3.connect(tmp_path / "dir" / "journal.db") as journal:
        journal.execute("UPDATE journal SET time = time + ?", (ahead,))
    with service:
        last = service.events("m")[-1]["time"]
        done, failed = play(service, 100, 10)
        assert failed is None and len(done) == 10
        rows = service.events("m")
        times = [row["time"] for row in rows]
        assert times == sorted(times) and rows[len(events)]["time"] == last and times[-1] >= last
        assert service.get("/v1/models/m").json["expired"] == 0
        told = service.post("/v1/models/m/feedback", {"id": waiting["id"], "right": True})
        assert told.status == 200 and told.json["learned"] is True
    assert model


def test_sigterm_with_bodies_under_way(tmp_path):
    """A body that never ends does not keep the service from ending."""
    service = Service(PROGRAM, tmp_path / "dir").start()
    service.put("/v1/models/m", ABC)
    connection = service.connect()
    connection.putrequest("POST", "/v1/models/m/propose")
    connection.putheader("Content-Length", "1000")
    connection.endheaders()
    connection.send(b'{"features":[1')
    began = time.monotonic()
    assert service.stop() == 0 and time.monotonic() - began < 30
    with service:
        assert [event["kind"] for event in service.events("m")] == ["define"]
