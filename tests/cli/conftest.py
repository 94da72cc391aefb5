"""The program as a user types it. UNCONFUSE names the program; without it the release build is taken."""
import json
import os
import pathlib
import random
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = ["build/release/unconfuse", "build/release/bin/unconfuse", "build/release/cli/unconfuse"]


def find_program():
    named = os.environ.get("UNCONFUSE")
    if named:
        return str(pathlib.Path(named).resolve())
    for place in PLACES:
        if (ROOT / place).exists():
            return str(ROOT / place)
    pytest.exit("no program to test: set UNCONFUSE to its path", returncode=2)


PROGRAM = find_program()


@pytest.fixture(scope="session", autouse=True)
def signals():
    """Programs start with the signals of a terminal, though pytest may be a background job, which ignores SIGINT: a handler
    is at its default in what we start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    signal.signal(signal.SIGINT, before)


class Program:
    """Runs the program in a directory of its own; arguments may be paths or numbers."""

    def __init__(self, directory):
        self.directory = directory
        self.path = PROGRAM

    def __call__(self, *arguments, stdin=b"", env=None, timeout=600):
        stdin = stdin.encode() if isinstance(stdin, str) else stdin
        result = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, cwd=self.directory,
                                env={**os.environ, **(env or {})}, timeout=timeout)
        result.out, result.err = result.stdout.decode(errors="replace"), result.stderr.decode()
        return result

    def ok(self, *arguments, **options):
        result = self(*arguments, **options)
        assert result.returncode == 0, result.err
        return result

    def json(self, *arguments, **options):
        """The one object on standard output."""
        return json.loads(self.ok(*arguments, "--json", **options).out)

    def fails(self, status, *arguments, **options):
        """The one sentence of a failure, without the program's name; standard output is empty."""
        before = sorted(os.listdir(self.directory))
        result = self(*arguments, **options)
        assert result.returncode == status, (result.out, result.err)
        assert result.out == ""
        assert sorted(os.listdir(self.directory)) == before, "something was left behind"
        lines = result.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("unconfuse: "), result.err
        return lines[0].removeprefix("unconfuse: ")

    def write(self, name, content):
        path = self.directory / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def read(self, name):
        return (self.directory / name).read_bytes()


@pytest.fixture
def unconfuse(tmp_path):
    return Program(tmp_path)


def blobs(names, rows, seed=1, columns=4, spread=0.6):
    """LIBSVM text of one Gaussian a class, in random order."""
    draw = random.Random(seed)
    centres = [[draw.uniform(-1, 1) for _ in range(columns)] for _ in names]
    lines = []
    for _ in range(rows):
        k = draw.randrange(len(names))
        values = [draw.gauss(centre, spread) for centre in centres[k]]
        lines.append(names[k] + "".join(f" {j + 1}:{value:.6g}" for j, value in enumerate(values)))
    return "\n".join(lines) + "\n"
