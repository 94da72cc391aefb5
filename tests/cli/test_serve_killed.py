"""Nothing is lost when the service is killed, and the journal alone decides the model."""
import http.client
import os
import random
import threading
import time

from conftest import PROGRAM
from live_service import Service, until

KILLS = int(os.environ.get("UNCONFUSE_KILLS", "20"))


class Client(threading.Thread):
    """Proposes and tells until it is stopped; remembers what was acknowledged. What was not is sent again."""

    def __init__(self, service, number):
        super().__init__(daemon=True)
        self.service, self.number, self.ends = service, number, False
        self.proposed, self.told = {}, {}
        self.random = random.Random(number)

    def send(self, path, body):
        while not self.ends:
            try:
                return self.service.post(path, body)
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
        return None

    def run(self):
        for i in range(10**9):
            if self.ends:
                return
            name = f"{self.number}/{i}"
            features = [round(self.random.uniform(-1, 1), 3) for _ in range(3)] + [-0.0 if i == 0 else round(self.random.uniform(-1, 1), 3)]
            answer = self.send("/v1/models/m/propose", {"features": features, "id": name})
            if answer is None or answer.status != 200:
                assert answer is None or answer.status == 503, (answer.status, answer.body)
                continue
            self.proposed[name] = (features, answer.json["class"])
            if i % 5 == 4:
                continue  # never answered
            right = "pqr"[(features[0] > 0) + (features[1] > 0)] == answer.json["class"]
            answer = self.send("/v1/models/m/feedback", {"id": name, "right": right})
            if answer is not None and answer.status == 200:
                self.told[name] = right


def send_again(events, service):
    """The same rows in the same order to a service that is never killed."""
    connection = service.connect()
    for event in events:
        if event["kind"] == "define":
            service.put("/v1/models/m", event["definition"], connection=connection)
        elif event["kind"] == "proposal":
            body = {"features": event["features"], "id": event["id"]}
            made = service.post("/v1/models/m/propose", body, connection=connection).json
            assert (made["class"], made["sequence"]) == (event["class"], event["sequence"])
        else:
            service.post("/v1/models/m/feedback", {"id": event["id"], "right": event["right"]}, connection=connection)


def test_killed_at_random_moments(tmp_path):
    service = Service(PROGRAM, tmp_path / "dir", "--snapshot-every", "300")
    chance = random.Random(22)
    with service:
        service.put("/v1/models/m", {"learner": "cspa-plus", "classes": ["p", "q", "r"]})
        clients = [Client(service, number) for number in range(3)]
        for client in clients:
            client.start()
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.02, 0.25))
            service.kill()
            service.start()
        until(lambda: sum(len(client.proposed) for client in clients) > 5 * KILLS, seconds=300 + KILLS)  # a slow disk
        for client in clients:
            client.ends = True
        for client in clients:
            client.join(60)
        events = service.events("m")
        model = service.get("/v1/models/m/model").body
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    proposals = [event["id"] for event in events if event["kind"] == "proposal"]
    answers = [event["id"] for event in events if event["kind"] == "feedback"]
    assert len(set(proposals)) == len(proposals) and len(set(answers)) == len(answers)
    by_id = {event["id"]: event for event in events if event["kind"] == "proposal"}
    told = {event["id"]: event["right"] for event in events if event["kind"] == "feedback"}
    acknowledged = 0
    for client in clients:
        for name, (features, label) in client.proposed.items():
            assert by_id[name]["class"] == label and len(by_id[name]["features"]) == len(features)
            acknowledged += 1
        for name, right in client.told.items():
            assert told[name] == right
    assert acknowledged > 5 * KILLS
    with Service(PROGRAM, tmp_path / "other", "--durability", "crash") as other:
        send_again(events, other)
        assert other.get("/v1/models/m/model").body == model
