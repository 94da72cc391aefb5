"""Pictures of audit, evaluate and stream: on a terminal only, of what the terminal can show, and no wider than it."""
import fcntl
import math
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from conftest import PROGRAM, blobs

PLAIN = {"NO_COLOR": "1", "LC_ALL": "C"}
BLOCKS = {"NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
COLOURS = {"NO_COLOR": "", "LC_ALL": "C.UTF-8"}
MATRIX = {"audit": "Labels by true class", "evaluate": "What each class is taken for"}


@pytest.fixture
def commands(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b", "c"], 300))
    unconfuse.ok("train", "ridge", "data.svm", "-o", "model.uc")
    return {"audit": ["audit", "data.svm"], "evaluate": ["evaluate", "model.uc", "data.svm"],
            "stream": ["stream", "cspa", "data.svm", "--feedback", "partial"]}


def on_terminal(unconfuse, words, env, width=80):
    """What the program writes to a terminal of that width; standard error goes elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LC_") and name not in ("LANG", "NO_COLOR")}
    process = subprocess.Popen([PROGRAM, *words], stdout=theirs, stderr=subprocess.DEVNULL, cwd=unconfuse.directory,
                               env={**clean, "TERM": "xterm-256color", **env})
    os.close(theirs)
    said = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end was closed
            break
        if not more:
            break
        said += more
    os.close(ours)
    assert process.wait() == 0
    return said.decode().replace("\r\n", "\n")


def picture_of(said, title):
    """The lines below a title, up to an empty one."""
    lines = said[said.index(title):].split("\n")[1:]
    return lines[:lines.index("")] if "" in lines else lines


@pytest.mark.parametrize("command", ["audit", "evaluate"])
def test_the_shades_are_those_of_the_shares(unconfuse, commands, command):
    """Every level, from the matrix of the JSON."""
    found = unconfuse.json(*commands[command])
    rows = found["noise_matrix"] if command == "audit" else [[cell / sum(row) for cell in row] for row in found["confusion"]]
    for env, marks in ((PLAIN, ".:+*#@"), (BLOCKS, "·░▒▓██")):
        lines = picture_of(on_terminal(unconfuse, commands[command], env), MATRIX[command])[:3]
        for name, row, line in zip("abc", rows, lines):
            levels = [0 if share < 0.01 else max(1, math.floor(5 * math.sqrt(min(1, share)) + 0.5)) for share in row]
            assert line == f"  {name} " + "".join(2 * marks[level] for level in levels)


def test_a_matrix_of_marks_says_what_they_mean_where_there_is_room(unconfuse, commands):
    for env, key in ((PLAIN, "  . below 1%, : to 9%, + to 25%, * to 49%, # to 81%, @ above"), (BLOCKS, "  · below 1%, ░ to 9%, ▒ to 25%, ▓ to 49%, █ above")):
        for width, lines in ((80, [key]), (len(key), [key]), (len(key) - 1, [])):
            said = on_terminal(unconfuse, commands["evaluate"], env, width)
            assert picture_of(said, MATRIX["evaluate"])[3:] == lines
    assert "below 1%" not in on_terminal(unconfuse, commands["evaluate"], COLOURS)


def test_a_curve_has_a_mark_for_every_point(unconfuse, commands):
    recent = [point["recent_ratio"] for point in unconfuse.json(*commands["stream"], "-q")["curve"]]
    low, high = min(recent), max(recent)
    for env, marks in ((PLAIN, "_.,-~=*#"), (BLOCKS, "▁▂▃▄▅▆▇█")):
        said = on_terminal(unconfuse, commands["stream"], env)
        assert f": lowest {100 * low:.1f}%, highest {100 * high:.1f}%, last {100 * recent[-1]:.1f}%\n" in said
        heights = [min(7, int(8 * (share - low) / (high - low))) for share in recent]
        assert picture_of(said, "Recently right")[0] == "  " + "".join(3 * marks[height] for height in heights)


@pytest.mark.parametrize("command", ["audit", "evaluate", "stream"])
def test_pipes_get_no_picture_and_nothing_else_changes(unconfuse, commands, command):
    piped = unconfuse.ok(*commands[command], env=COLOURS).out
    assert "\033" not in piped and not any(title in piped for title in [*MATRIX.values(), "Recently right"])
    drawn = on_terminal(unconfuse, commands[command], PLAIN)
    seconds = re.compile(r"[\d.]+ s$", re.M)
    rest = iter(seconds.sub("", drawn).split("\n"))
    assert all(line in rest for line in seconds.sub("", piped).split("\n")), "lines were lost or moved"


@pytest.mark.parametrize("command", ["audit", "evaluate", "stream"])
@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_no_picture_with_json_or_quiet(unconfuse, commands, command, option):
    said = on_terminal(unconfuse, [*commands[command], option], COLOURS)
    assert "\033" not in said and not any(title in said for title in [*MATRIX.values(), "Recently right"])


def test_colours_unless_they_are_not_wanted(unconfuse, commands):
    for env, coloured in ((COLOURS, True), (BLOCKS, False), ({**COLOURS, "TERM": "dumb"}, False)):
        said = on_terminal(unconfuse, commands["evaluate"], env)
        assert ("\033[48;5;" in said) == coloured and MATRIX["evaluate"] in said
        assert said.count("\033[48") == said.count("\033[0m") == (9 if coloured else 0)


def test_pictures_are_no_wider_than_the_terminal(unconfuse):
    names = [f"class-with-a-long-näme-{i}" for i in range(30)]
    unconfuse.write("wide.svm", blobs(names, 300))
    unconfuse.ok("train", "ridge", "wide.svm", "-o", "wide.uc")
    for width, cells in ((100, 60), (79, 30), (50, 30), (49, 0), (20, 0)):
        said = on_terminal(unconfuse, ["evaluate", "wide.uc", "wide.svm"], BLOCKS, width)
        assert (MATRIX["evaluate"] in said) == (cells > 0)
        if cells:
            lines = picture_of(said, MATRIX["evaluate"])[:30]
            assert {len(line) for line in lines} == {2 + 16 + 1 + cells} and max(map(len, lines)) < width
            assert lines[0].startswith("  class-with-a-lon ")
    stream = ["stream", "cspa", "wide.svm", "--feedback", "partial"]
    assert len(picture_of(on_terminal(unconfuse, stream, BLOCKS, 12), "Recently right")[0]) <= 12
    assert "Recently right" not in on_terminal(unconfuse, stream, BLOCKS, 9)
