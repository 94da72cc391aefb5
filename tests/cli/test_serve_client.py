"""The Python client, loaded without the package: it needs the standard library alone."""
import importlib.util
import threading
import time

import pytest

from conftest import PROGRAM, ROOT
from live_service import Service

spec = importlib.util.spec_from_file_location("unconfuse_client", ROOT / "python" / "unconfuse" / "_client.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def test_a_client_from_definition_to_model(tmp_path):
    (tmp_path / "token").write_text("correct-horse")
    with Service(PROGRAM, tmp_path / "dir", "--token-file", str(tmp_path / "token")) as service:
        with module.Client(f"http://127.0.0.1:{service.port}", token="correct-horse") as client:
            assert client.define("m", ["a", "b"], learner="cspa-plus")["classes"] == ["a", "b"]
            event = client.propose("m", [1.0, 2.0])
            assert client.feedback("m", event["id"], right=True)["learned"]
            made = client.propose_many("m", [[1, 0], [0, 1]], ids=["x", "y z/ü"])
            assert [p["id"] for p in made] == ["x", "y z/ü"]
            assert [a["learned"] for a in client.feedback_many("m", {"x": False, "y z/ü": "a"})] == [True, True]
            assert client.state("m")["answered"] == 3 and client.models()[0]["name"] == "m"
            assert client.predict("m", [1, 0])["class"] in "ab" and len(client.model("m")) > 100
            assert [e["kind"] for e in client.events("m", after=5)] == ["feedback", "feedback"]
            with pytest.raises(module.ServiceError, match="404: there is no event 'none'"):
                client.feedback("m", "none", right=True)
        with pytest.raises(module.ServiceError, match="401"):
            module.Client(f"http://127.0.0.1:{service.port}", token="wrong").models()


class Array:
    """As NumPy's arrays and numbers are."""

    def __init__(self, values):
        self.values = values

    def tolist(self):
        return self.values


def test_batches_of_any_size_and_arrays(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service, \
            module.Client(f"http://127.0.0.1:{service.port}") as client:
        client.define("m", ["a", "b"], learner="cspa-plus")
        made = client.propose_many("m", [Array([i % 2, 1.0]) for i in range(2300)], ids=[f"e{i}" for i in range(2300)])
        assert [event["id"] for event in made] == [f"e{i}" for i in range(2300)]
        told = client.feedback_many("m", {event["id"]: event["class"] == "a" for event in made})
        assert len(told) == 2300 and all(one["learned"] for one in told)
        assert client.state("m")["answered"] == 2300 and client.snapshot("m") == 4601
        assert client.rollback("m", 4601) == {"sequence": 4602, "rolled_back_to": 4601}
        assert client.propose("m", [Array(1), Array(0.5)])["id"] and client.propose_many("m", []) == []
        client.define("named", ["a", "b"], learner="cspa-plus")
        assert client.propose("named", {"age": Array(7), "city": "Oslo"})["class"] in "ab"
        with pytest.raises(ValueError, match="2 rows, but 1 ids"):
            client.propose_many("m", [[1, 2], [3, 4]], ids=["x"])
        with pytest.raises(TypeError, match="features cannot have a set: {1}"):
            client.propose("named", {"x": {1}})
        url = f"http://127.0.0.1:{service.port}"
    with pytest.raises(ConnectionError, match=f"^{url}: no answer after 2 attempts: .*refused"):
        module.Client(url, retries=1).models()


def test_classes_are_added_without_repeating_the_definition(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service, \
            module.Client(f"http://127.0.0.1:{service.port}") as client:
        client.define("m", ["a", "b"], learner="cspa-plus", settings={"bonus": 0.5}, explore=0.25)
        state = client.define("m", ["a", "b", "c"])
        assert (state["learner"], state["classes"], state["settings"]) == ("cspa-plus", ["a", "b", "c"], {"bonus": 0.5})
        assert state["explore"] == 0.25 and client.define("other", ["a", "b"])["learner"] == "onebit"


def test_an_answer_is_true_or_false(tmp_path):
    """A text such as "no" is never taken for right."""
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service, \
            module.Client(f"http://127.0.0.1:{service.port}") as client:
        client.define("m", ["a", "b"], learner="cspa-plus", mode="apprentice")
        made = client.propose_many("m", [[1, 0], [0, 1], [1, 1]], ids=["x", "y", "z"], baselines=["a", "b", "a"])
        assert [event["class"] for event in made] == ["a", "b", "a"]
        with pytest.raises(ValueError, match="1 rows, but 2 baselines"):
            client.propose_many("m", [[1, 0]], baselines=["a", "b"])
        for wrong in ("no", 0, 1.0, Array("yes")):
            with pytest.raises(TypeError, match="right is True or False, not"):
                client.feedback("m", "x", right=wrong)
        assert client.state("m")["answered"] == 0
        assert client.feedback("m", "x", right=Array(False))["learned"]
        assert all(told["learned"] for told in client.feedback_many("m", {"y": Array(True), "z": "b"}))
        assert (client.state("m")["answered"], client.state("m")["right"]) == (3, 1)


def test_requests_without_an_answer_are_sent_again(tmp_path):
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        client = module.Client(f"http://127.0.0.1:{service.port}", retries=8)
        client.define("m", ["a", "b"], learner="cspa-plus")

        def restart():
            for _ in range(3):
                time.sleep(0.15)
                service.kill()
                service.start()

        thread = threading.Thread(target=restart)
        thread.start()
        sent = 0
        while thread.is_alive():
            event = client.propose("m", [sent % 2, 1])
            client.feedback("m", event["id"], right=True)
            sent += 1
        thread.join()
        state = client.state("m")
    assert state["proposals"] == state["answered"] == sent > 10
