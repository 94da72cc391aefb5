"""Being stopped, pipes that close, disks that are full, progress."""
import fcntl
import gzip
import os
import pathlib
import pty
import random
import re
import resource
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import PROGRAM, blobs


@pytest.fixture
def large(unconfuse):
    block = blobs(["1", "2", "3"], 2000, columns=30).encode()
    with open(unconfuse.directory / "large.svm", "wb") as file:
        for _ in range(60):
            file.write(block)
    return "large.svm"


def interrupt(unconfuse, *arguments, after, stdin=subprocess.DEVNULL, number=signal.SIGINT):
    before = sorted(os.listdir(unconfuse.directory))
    with subprocess.Popen([PROGRAM, *arguments], cwd=unconfuse.directory, stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        time.sleep(after)
        assert process.poll() is None, "it was over too soon"
        process.send_signal(number)
        out, err = process.communicate(timeout=600)
    assert sorted(os.listdir(unconfuse.directory)) == before, "something was left behind"
    return process.returncode, out.decode(), err.decode()


def test_interrupted_training_leaves_nothing(unconfuse, large):
    status, out, err = interrupt(unconfuse, "train", "spa", large, "-o", "m.uc", "--passes", "100000", after=1)
    assert (status, out) == (130, "") and err.splitlines()[-1] == "unconfuse: interrupted"


def test_interrupted_stream_leaves_nothing(unconfuse, large):
    status, out, err = interrupt(unconfuse, "stream", "spa", large, "-o", "m.uc", "--passes", "100000", "-q", after=1)
    assert (status, out, err) == (130, "", "unconfuse: interrupted\n")


def test_interrupted_prediction_leaves_nothing(unconfuse):
    unconfuse.write("data.svm", blobs(["1", "2"], 100))
    unconfuse.ok("train", "pa", "data.svm", "-o", "m.uc")
    before = sorted(os.listdir(unconfuse.directory))
    text = blobs(["1", "2"], 2000).encode()
    with subprocess.Popen([PROGRAM, "predict", "m.uc", "-", "-o", "out"], cwd=unconfuse.directory, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(text)
        process.stdin.flush()
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        assert process.wait(timeout=600) == 130
        assert process.stderr.read() == b"unconfuse: interrupted\n"
    assert sorted(os.listdir(unconfuse.directory)) == before


def test_a_program_that_waits_for_standard_input_can_be_interrupted(unconfuse):
    with subprocess.Popen([PROGRAM, "train", "pa", "-", "-o", "m.uc"], cwd=unconfuse.directory, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"1 1:1\n2 2:1\n")
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=600) == 130  # although nobody closes its standard input
        assert process.stderr.read() == b"unconfuse: interrupted\n"
    assert os.listdir(unconfuse.directory) == []


def test_terminated_likewise(unconfuse, large):
    status, _, err = interrupt(unconfuse, "train", "spa", large, "-o", "m.uc", "--passes", "100000", after=1,
                               number=signal.SIGTERM)
    assert status == 143 and err.splitlines()[-1] == "unconfuse: interrupted"


@pytest.fixture(scope="module")
def long_work(tmp_path_factory):
    """A directory with rows of 3,000 classes, 5,000 rows for maps, and a packed file of 50 million rows with a model for it."""
    directory = tmp_path_factory.mktemp("long")
    numbers = random.Random(1)
    rows = {"classes.svm": [(k % 3000, 20) for k in range(6000)], "rows.svm": [(k % 4, 40) for k in range(5000)]}
    for name, list_of_rows in rows.items():
        with open(directory / name, "w") as file:
            for label, columns in list_of_rows:
                file.write(f"{label} " + " ".join(f"{j}:{numbers.gauss(label % 7, 1):.3f}" for j in range(1, columns + 1)) + "\n")
    part = gzip.compress("".join(f"{k % 2} 1:{k % 7} 2:0.5 3:{k % 11} 4:-1.25 5:{k % 2}.125\n" for k in range(20000)).encode())
    (directory / "long.svm.gz").write_bytes(2500 * part)
    (directory / "part.svm.gz").write_bytes(part)
    subprocess.run([PROGRAM, "train", "pa", "part.svm.gz", "-o", "pa.uc", "-q"], cwd=directory, check=True,
                   stdout=subprocess.DEVNULL)
    return directory


# Each takes much longer than five seconds. The program is designed to end within one; a slow machine gets more.
LONG_COMMANDS = {
    "spa": "train spa classes.svm -o m.uc --passes 10000",
    "uma": "train uma classes.svm -o m.uc --iterations 100000",
    "logistic": "train logistic classes.svm -o m.uc --tolerance 1e-9",
    "csvm": "train csvm classes.svm -o m.uc --tolerance 1e-9",
    "s3vm": "train s3vm classes.svm -o m.uc",
    "rp": "train rp rows.svm --kappa auto --dimension auto --width auto -o m.uc",
    "kpca": "train pa rows.svm --map kpca --dimension 3000 --passes 1000 -o m.uc",
    "nystroem": "train pa rows.svm --map nystroem --dimension 4000 --passes 1000 -o m.uc",
    "clusters": "train pa rows.svm --map nystroem --pick kmeans --dimension 3000 --passes 1000 -o m.uc",
    "kgs": "train pa rows.svm --map kgs --dimension 4000 --passes 1000 -o m.uc",
    "auto": "train csvm rows.svm --map kpca --width auto --dimension auto -c auto -o m.uc",
    "noise matrix": "noise make random --classes 5000 --level 3 -o n.csv",
    "reading": "train pa long.svm.gz -o m.uc",
    "converting": "convert long.svm.gz out.svm",
    "packing": "convert long.svm.gz out.csv.zst",
    "predicting": "predict pa.uc long.svm.gz -o out.txt",
}


def processor_seconds(process):
    """What a process that runs has used so far."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("work", LONG_COMMANDS)
def test_long_work_ends_within_a_second(long_work, work, number):
    before = sorted(os.listdir(long_work))
    with subprocess.Popen([PROGRAM, *LONG_COMMANDS[work].split()], cwd=long_work, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
        time.sleep(1.5)
        assert process.poll() is None, process.stderr.read()
        process.send_signal(number)
        began, used = time.monotonic(), processor_seconds(process) + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        out, err = process.communicate(timeout=600)
        seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used  # little, also where a busy machine makes it wait
    assert process.returncode == 128 + number and out == b""
    assert err.decode().splitlines()[-1] == "unconfuse: interrupted"
    assert min(seconds, used) < 3
    assert sorted(os.listdir(long_work)) == before, "something was left behind"


def test_a_closed_pipe_ends_quietly(unconfuse, large):
    unconfuse.ok("train", "pa", large, "-o", "m.uc", "--passes", "1")
    for command in ["predict m.uc large.svm", "convert large.svm -", "help --man"]:
        result = subprocess.run(["bash", "-c", f"{PROGRAM} {command} | head -1"], cwd=unconfuse.directory, capture_output=True)
        assert result.stderr == b"" and result.stdout.count(b"\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is not there")
def test_a_full_disk_is_a_failure(unconfuse):
    unconfuse.write("data.svm", blobs(["1", "2"], 100))
    unconfuse.ok("train", "pa", "data.svm", "-o", "m.uc")
    before = sorted(os.listdir(unconfuse.directory))
    for arguments in [["predict", "m.uc", "data.svm"], ["evaluate", "m.uc", "data.svm"], ["learners", "--json"], ["help"],
                      ["--version"], ["inspect", "m.uc"], ["convert", "data.svm", "-"], ["train", "pa", "data.svm", "-o", "-"]]:
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, *arguments], cwd=unconfuse.directory, stdout=full, stderr=subprocess.PIPE)
        lines = result.stderr.decode().splitlines()
        assert result.returncode == 1 and lines[-1] == \
            "unconfuse: standard output: cannot write: No space left on device", (arguments, lines)
    for arguments in [["predict", "m.uc", "data.svm", "-o", "/dev/full"], ["train", "pa", "data.svm", "-o", "/dev/full"],
                      ["convert", "data.svm", "/dev/full", "--to", "csv"]]:
        assert unconfuse.fails(1, *arguments) == "/dev/full: cannot write: No space left on device"
    assert sorted(os.listdir(unconfuse.directory)) == before


def test_short_work_shows_no_progress(unconfuse):
    unconfuse.write("data.svm", blobs(["1", "2"], 100))
    assert unconfuse.ok("train", "pa", "data.svm", "-o", "m.uc").err == ""


def read_until(master, wanted, seconds):
    """What a terminal shows until `wanted`, an expression, is in it, its other end closes, or the time is over."""
    shown, deadline = b"", time.monotonic() + seconds
    while not re.search(wanted, shown) and time.monotonic() < deadline:
        if select.select([master], [], [], 0.1)[0]:
            try:
                shown += os.read(master, 65536)
            except OSError:
                break
    return shown


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_a_bar_on_a_terminal_and_nothing_with_quiet(unconfuse, large, quiet):
    master, slave = pty.openpty()
    with subprocess.Popen([PROGRAM, "train", "spa", large, "-o", "m.uc", "--passes", "100000", *quiet], stderr=slave,
                          cwd=unconfuse.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        os.close(slave)
        shown = read_until(master, b" left, pass ", 3 if quiet else 600)
        process.send_signal(signal.SIGINT)
        shown += read_until(master, b"interrupted\r\n", 600)
        assert process.wait(timeout=600) == 130
    os.close(master)
    if quiet:
        assert shown == b"unconfuse: interrupted\r\n"
    else:
        assert b"training [" in shown and b"/s, " in shown and b" of 100000, error " in shown
        assert shown.endswith(b"\r\x1b[Kunconfuse: interrupted\r\n")  # the bar is gone


def test_a_line_now_and_then_where_there_is_no_terminal(unconfuse, large):
    with subprocess.Popen([PROGRAM, "train", "spa", large, "-o", "m.uc", "--passes", "100000"], cwd=unconfuse.directory,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        line = process.stderr.readline().decode()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=600)
    assert line.startswith("unconfuse: training: ") and " left, pass " in line and "\x1b" not in line


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_trainings_of_an_auto_are_counted_on_one_line_of_any_terminal(unconfuse, columns):
    """A line that is wider than the terminal would be left behind when the next one is drawn."""
    unconfuse.write("data.svm", blobs(["1", "2", "3"], 2000, columns=30))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([PROGRAM, "train", "logistic", "data.svm", "-v", "9", "--l2", "auto", "--map", "nystroem", "--width",
                           "10", "--dimension", "500"], stderr=slave, cwd=unconfuse.directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as process:
        os.close(slave)
        # the first lines know no time yet
        shown = read_until(master, rb" left, fold \d of 9, choosing --l2: training \d+ of 30\r" if columns > 40 else b" left", 600)
        process.send_signal(signal.SIGINT)
        shown += read_until(master, b"interrupted\r\n", 600)
        assert process.wait(timeout=600) == 130
    os.close(master)
    lines = shown.decode().split("\r\x1b[K")
    assert max(map(len, lines[:-1])) < columns
    counted = [line for line in lines if line.startswith("cross-validating ")]
    assert counted, lines
    if columns > 40:
        assert any(re.search(r"%, \d+:\d\d left, fold \d+ of 9, choosing --l2: training \d+ of 30$", line) for line in counted), lines
    if columns != 80:
        assert any("[" in line for line in counted) == (columns == 200), lines
