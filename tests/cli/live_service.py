"""A service that runs, for tests: on a free port of loopback, and ended whatever happens."""
import http.client
import json
import os
import re
import signal
import subprocess
import time


# RFC 9110 calls them otherwise than the Python of Debian 12 does.
TITLES = {413: "Content Too Large", 414: "URI Too Long"}


def until(condition, seconds=120):
    """Waits for it: a machine may be ten times as slow, and a build with sanitizers as slow again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it does not come about")


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def detail(self):
        """The sentence of a problem."""
        assert self.headers["Content-Type"] == "application/problem+json", (self.status, self.body)
        assert self.json["status"] == self.status
        assert self.json["title"] == TITLES.get(self.status, http.HTTPStatus(self.status).phrase)
        return self.json["detail"]


class Service:
    def __init__(self, program, directory, *options, env=None, before=()):
        """`before` comes before the words of the program, which it runs."""
        self.program, self.directory, self.options, self.before = program, directory, options, before
        self.process, self.log, self.port, self.env = None, directory.parent / (directory.name + ".log"), None, env

    def start(self, timeout=300):
        listen = f"127.0.0.1:{self.port or 0}"
        with open(self.log, "ab") as log:
            before = log.tell()
            self.process = subprocess.Popen([self.program, *self.before, "serve", str(self.directory), "--listen", listen, *self.options],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **(self.env or {})})
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            said = self.log.read_bytes()[before:].decode()
            found = re.search(r'"listening","message":"https?://127\.0\.0\.1:(\d+)"', said)
            if found:
                self.port = int(found[1])
                return self
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}: {said}")
            time.sleep(0.005)
        raise AssertionError("does not listen: " + said)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        if self.process:
            self.process.wait(120)

    def stop(self):
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, connection=None):
        used = connection or self.connect()
        data = body if isinstance(body, (bytes, str, type(None))) else json.dumps(body)
        used.request(method, path, data, headers or {})
        answer = Answer(used.getresponse())
        if not connection:
            used.close()
        return answer

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def put(self, path, body, **options):
        return self.request("PUT", path, body, **options)

    def post(self, path, body=None, **options):
        return self.request("POST", path, body, **options)

    def events(self, model):
        """All rows of the journal, by GET."""
        rows, after = [], 0
        while True:
            answer = self.get(f"/v1/models/{model}/events?after={after}&limit=10000")
            assert answer.status == 200, answer.body
            part = [json.loads(line) for line in answer.body.decode().splitlines()]
            if not part:
                return rows
            rows += part
            after = part[-1]["sequence"]
