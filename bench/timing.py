"""What all parts of the benchmark share: running programs, medians of their times, ratios."""
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}
CORES = sorted(os.sched_getaffinity(0))


class Failed(Exception):
    pass


def note(text):
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def only(cores):
    """Programs started inside run on at most so many cores."""
    os.sched_setaffinity(0, CORES[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, CORES)


def run(command, cores=1, stdin=subprocess.DEVNULL):
    """Runs a program to its end; gives its times in seconds, its largest resident set in bytes, and what it printed."""
    with only(cores):
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=ENVIRONMENT)
    with process:
        output = process.stdout.read()
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed("%s ended with %d: %s" % (" ".join(command), process.returncode, errors.strip()))
    return {"elapsed": elapsed, "processor": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024,
            "output": output}


class Sklearn:
    """scikit-learn, and the naive form of uma, in a process of its own, which keeps the data."""

    def __init__(self, cores=1, script="sklearn_peer.py"):
        with only(cores):
            self.process = subprocess.Popen([PYTHON, os.path.join(HERE, script)], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.version = self.answer()["version"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed("scikit-learn's process ended")
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def median_times(answers):
    return {clock: statistics.median(t[clock] for t in answers) for clock in ("elapsed", "processor")}


def medians(tasks, rounds, warm_up=True):
    """tasks: (program, cores) -> function that gives times. The first round is a warm-up, unless there is none."""
    times = {name: [] for name in tasks}
    for i in range(rounds + warm_up):
        for name, task in tasks.items():
            answer = task()
            if i >= warm_up:
                times[name].append(answer)
    return [{"program": program, "cores": cores, **median_times(answers)}
            for (program, cores), answers in times.items()]


def seconds(times, program, cores, clock=None):
    """None when there is no such figure. One core: processor time, unless asked; two: elapsed time."""
    for entry in times:
        if (entry["program"], entry["cores"]) == (program, cores):
            return entry[clock or ("processor" if cores == 1 else "elapsed")]
    return None


def ratio(times, peer, cores=1, clock=None, peer_cores=1):
    """How many times as fast as `peer`, which uses one core unless told, unconfuse is."""
    ours, theirs = seconds(times, "unconfuse", cores, clock), seconds(times, peer, peer_cores, clock)
    return theirs / ours if ours and theirs else None
