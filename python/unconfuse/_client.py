"""A client of `unconfuse serve`, from the standard library alone."""
import http.client
import json
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any


BATCH = 1000  # as many entries as a request may have


class ServiceError(Exception):
    """The service refused a request: `status` is that of HTTP, the text its sentence."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.detail = status, detail


def _plain(value: Any) -> Any:
    """Arrays and numbers of NumPy as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"features cannot have a {type(value).__name__}: {value!r:.80}")


class Client:
    """Proposals and feedback over HTTP.

    Requests that got no answer are sent again, up to `retries` times, which is safe: every proposal has an id, made here
    when none is given, and the service answers the same id with the same proposal and counts the same feedback once.
    Answers 429, 503 and 507 are waited for in the same way; without any answer a ConnectionError names the service. Batches may be
    of any size. Numbers and arrays of NumPy are taken as they are. One client is for one thread.

    >>> client = unconfuse.Client("http://127.0.0.1:8470", token="...")  # doctest: +SKIP
    >>> client.define("route", ["billing", "login"], learner="cspa-plus")  # doctest: +SKIP
    >>> event = client.propose("route", {"words": "I cannot log in"})  # doctest: +SKIP
    >>> client.feedback("route", event["id"], right=event["class"] == "login")  # doctest: +SKIP
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 10.0, retries: int = 5) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url {url!r} is not http://HOST:PORT or https://HOST:PORT")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._prefix, self._url = parts.path.rstrip("/"), url
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self.timeout, self.retries = timeout, retries
        self._connection: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """Closes the connection; the next request opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _send(self, method: str, path: str, data: bytes | None) -> tuple[int, bytes]:
        if self._connection is None:
            make = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._connection = make(self._host, self._port, timeout=self.timeout)
        try:
            self._connection.request(method, self._prefix + path, data, self._headers)
            response = self._connection.getresponse()
            return response.status, response.read()
        except BaseException:
            self.close()
            raise

    def _request(self, method: str, path: str, body: Any = None, retries: int | None = None) -> bytes:
        """The bytes of the answer. Safe to send again, because every request of this client is, but for a rollback."""
        data = None if body is None else json.dumps(body, allow_nan=False, default=_plain).encode()
        retries = self.retries if retries is None else retries
        for attempt in range(retries + 1):
            last = attempt == retries
            status: int | None = None
            answer = b""
            try:
                status, answer = self._send(method, path, data)
            except (OSError, http.client.HTTPException) as error:
                if last:
                    raise ConnectionError(f"{self._url}: no answer after {retries + 1} attempts: {error}") from error
            if status is not None and status < 300:
                return answer
            if status is not None and (last or status not in (429, 503, 507)):
                try:
                    detail = json.loads(answer)["detail"]
                except (ValueError, KeyError, TypeError):
                    detail = answer.decode(errors="replace")[:200]
                raise ServiceError(status, detail)
            time.sleep(min(0.05 * 2**attempt, 2.0))
        raise AssertionError("unreachable")

    def _json(self, method: str, path: str, body: Any = None) -> Any:
        return json.loads(self._request(method, path, body))

    @staticmethod
    def _path(model: str, *rest: str) -> str:
        return "/".join(["/v1/models", *(urllib.parse.quote(part, safe="") for part in (model, *rest))])

    @staticmethod
    def _example(features: Any, id: str | None, baseline: str | None) -> dict[str, Any]:
        example = {"features": features, "id": uuid.uuid4().hex if id is None else id}
        if baseline is not None:
            example["baseline"] = baseline
        return example

    @staticmethod
    def _answer(id: str, right: bool | None, label: str | None) -> dict[str, Any]:
        if (right is None) == (label is None):
            raise ValueError("give either right or label")
        if label is not None:
            return {"id": id, "label": label}
        plain = getattr(right, "tolist", lambda: right)()  # NumPy's True is no bool
        if not isinstance(plain, bool):  # "no" would count as true
            raise TypeError(f"right is True or False, not {right!r:.80}")
        return {"id": id, "right": plain}

    def define(self, model: str, classes: Iterable[str], learner: str | None = None, settings: Mapping[str, Any] | None = None,
               **more: Any) -> dict[str, Any]:
        """Makes the model, with the learner onebit if none is named, or adds classes to it. What is not given stays as it is.
        `more` is mode, explore or expired. Returns the model's state."""
        body: dict[str, Any] = {"classes": list(classes), **more}
        if learner is not None:
            body["learner"] = learner
        if settings is not None:
            body["settings"] = settings
        state: dict[str, Any] = self._json("PUT", self._path(model), body)
        return state

    def models(self) -> list[dict[str, Any]]:
        """The state of every model."""
        states: list[dict[str, Any]] = self._json("GET", "/v1/models")["models"]
        return states

    def state(self, model: str) -> dict[str, Any]:
        """What the model is and has seen."""
        state: dict[str, Any] = self._json("GET", self._path(model))
        return state

    def propose(self, model: str, features: Any, id: str | None = None, baseline: str | None = None) -> dict[str, Any]:
        """A class for one example: a dict with id, class, probability, scores, sequence."""
        event: dict[str, Any] = self._json("POST", self._path(model, "propose"), self._example(features, id, baseline))
        return event

    def propose_many(self, model: str, rows: Iterable[Any], ids: Sequence[str] | None = None,
                     baselines: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The same for several examples, 1,000 in a request; one that was refused is a dict with status and detail."""
        rows = list(rows)
        for name, given in (("ids", ids), ("baselines", baselines)):
            if given is not None and len(given) != len(rows):
                raise ValueError(f"{len(rows)} rows, but {len(given)} {name}")
        examples = [self._example(row, None if ids is None else ids[i], None if baselines is None else baselines[i])
                    for i, row in enumerate(rows)]
        return self._batches(model, "propose", "examples", examples, "proposals")

    def feedback(self, model: str, id: str, right: bool | None = None, label: str | None = None) -> dict[str, Any]:
        """Tells whether the proposal was right, or the label."""
        told: dict[str, Any] = self._json("POST", self._path(model, "feedback"), self._answer(id, right, label))
        return told

    def feedback_many(self, model: str, answers: Mapping[str, bool | str]) -> list[dict[str, Any]]:
        """The same for a dict of id to True or False, or to a label."""
        body = [self._answer(id, None, answer) if isinstance(answer, str) else self._answer(id, answer, None)
                for id, answer in answers.items()]
        return self._batches(model, "feedback", "answers", body, "answers")

    def _batches(self, model: str, what: str, given: str, items: list[dict[str, Any]], answered: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for i in range(0, len(items), BATCH):
            found += self._json("POST", self._path(model, what), {given: items[i:i + BATCH]})[answered]
        return found

    def predict(self, model: str, features: Any) -> dict[str, Any]:
        """Class and scores, without an event."""
        found: dict[str, Any] = self._json("POST", self._path(model, "predict"), {"features": features})
        return found

    def model(self, model: str) -> bytes:
        """The bytes of the model file."""
        return self._request("GET", self._path(model, "model"))

    def snapshot(self, model: str) -> int:
        """Takes a snapshot of the model now; its sequence number."""
        sequence: int = self._json("POST", self._path(model, "snapshot"))["sequence"]
        return sequence

    def rollback(self, model: str, sequence: int) -> dict[str, Any]:
        """The learner as it was after that row of the journal. Not sent again: rows may have come between."""
        done: dict[str, Any] = json.loads(self._request("POST", self._path(model, "rollback"), {"sequence": sequence}, retries=0))
        return done

    def events(self, model: str, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """Rows of the journal after a sequence number."""
        lines = self._request("GET", f"{self._path(model, 'events')}?after={after}&limit={limit}")
        return [json.loads(line) for line in lines.decode().splitlines()]
