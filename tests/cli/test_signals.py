"""Programs that are started with a signal ignored, blocked, or at its default.

What is ignored stays ignored, as in a background job of a shell or under nohup; what is blocked is unblocked; SIGTERM ends
a program that ignores SIGINT. The test runner itself, started so, starts its tests with default signals."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import PROGRAM, ROOT, blobs

BUILD = pathlib.Path(os.environ.get("UNCONFUSE_BUILD", ROOT / "build" / "release"))
LONG = {
    "unconfuse": ["train", "spa", "data.svm", "-o", "m.uc", "--passes", "1000000000", "-q"],
    "unconfuse-mpi": ["train", "spa", "data.svm", "-o", "m.uc", "--passes", "1000000000", "-q"],
    "unconfuse-papers": ["run", "uma.figure1a"],
}
# What a program calls itself when it says that it was interrupted; its exit status is that of a shell.
NAMES = {"unconfuse": b"unconfuse", "unconfuse-mpi": b"unconfuse", "unconfuse-papers": b"unconfuse-papers"}


def ignoring(number):
    return lambda: signal.signal(number, signal.SIG_IGN)


def blocking(number):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {number})


def signal_set(pid, field):
    """SigIgn, SigBlk or SigCgt of a process, as a set of numbers."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    bits = int(re.search(rf"^{field}:\t(\w+)$", text, re.MULTILINE)[1], 16)
    return {number for number in range(1, 65) if bits >> (number - 1) & 1}


def wait_until(condition, seconds=600):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(params=sorted(LONG))
def long_work(unconfuse, request):
    """Starts a program with much to do, and comes back when it has settled its signals; what is left of it is ended."""
    name = request.param
    program = pathlib.Path(PROGRAM) if name == "unconfuse" else BUILD / name
    if not program.exists():
        pytest.skip(f"{name} was not built")
    unconfuse.write("data.svm", blobs(["1", "2", "3"], 300))
    environment = dict(os.environ, **({"ASAN_OPTIONS": "detect_leaks=0"} if name == "unconfuse-mpi" else {}))  # Open MPI's
    started = []

    def settled(pid):
        return signal.SIGTERM in signal_set(pid, "SigCgt") and not signal_set(pid, "SigBlk") & {signal.SIGINT, signal.SIGTERM}

    def start(before_exec=None):
        process = subprocess.Popen([program, *LONG[name]], cwd=unconfuse.directory, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=before_exec, env=environment)
        started.append(process)
        wait_until(lambda: process.poll() is not None or settled(process.pid))
        time.sleep(0.2)  # into the work
        return process

    yield name, start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended_by(name, process, number):
    _, err = process.communicate(timeout=600)
    return process.returncode == 128 + number and err.endswith(NAMES[name] + b": interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_its_default_ends_a_program(long_work, number):
    name, start = long_work
    process = start()
    assert process.poll() is None
    process.send_signal(number)
    assert ended_by(name, process, number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_was_blocked_ends_a_program(long_work, number):
    name, start = long_work
    process = start(blocking(number))
    assert process.poll() is None
    process.send_signal(number)
    assert ended_by(name, process, number)


def test_an_ignored_interrupt_stays_ignored_and_a_termination_ends(long_work):
    name, start = long_work
    process = start(ignoring(signal.SIGINT))
    process.send_signal(signal.SIGINT)
    time.sleep(0.7)
    assert process.poll() is None and signal.SIGINT in signal_set(process.pid, "SigIgn")
    process.send_signal(signal.SIGTERM)
    assert ended_by(name, process, signal.SIGTERM)


def test_an_interrupt_that_came_before_the_start_is_not_lost(unconfuse):
    """Blocked by the parent, it waits until the program has its handlers."""
    unconfuse.write("data.svm", blobs(["1", "2", "3"], 300))

    def blocked_and_sent():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.kill(os.getpid(), signal.SIGINT)

    result = subprocess.run([PROGRAM, *LONG["unconfuse"]], cwd=unconfuse.directory, stdin=subprocess.DEVNULL,
                            capture_output=True, timeout=600, preexec_fn=blocked_and_sent)
    assert (result.returncode, result.stderr) == (130, b"unconfuse: interrupted\n")
    assert os.listdir(unconfuse.directory) == ["data.svm"]


SETTLED = """
import importlib.machinery, importlib.util, os, signal, sys
loader = importlib.machinery.SourceFileLoader("run_tests", sys.argv[1])
runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
loader.exec_module(runner)
runner.settle_signals()
os.kill(os.getpid(), signal.SIGINT)  # of somebody who pressed Ctrl-C in front of something else
print(runner.run(["sed", "-n", "s/^Sig[BI][lg][kn]:\t//p", "/proc/self/status"], dict(os.environ), 10)[1])
"""


@pytest.mark.parametrize("start", ["ignored", "both"])
def test_the_test_runner_gives_tests_the_signals_of_a_terminal(start):
    def as_in_the_background():
        ignoring(signal.SIGINT)()
        if start == "both":
            blocking(signal.SIGINT)()

    result = subprocess.run([sys.executable, "-B", "-c", SETTLED, ROOT / "scripts" / "run-tests"], capture_output=True,
                            text=True, timeout=600, preexec_fn=as_in_the_background)
    assert result.returncode == 0, result.stderr
    blocked, ignored = (int(word, 16) for word in result.stdout.split())
    assert not (blocked | ignored) >> (signal.SIGINT - 1) & 1
