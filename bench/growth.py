"""How the time grows with the rows, the columns, the classes and the processes.

All on one core, with one thread; several processes share the cores that there are. The exponent is that of the power law
through the later points, by least squares on the logarithms: 1 where twice as much takes twice as long, 2 for a
quadratic step.
"""
import functools
import math
import statistics

from scaling import LEARNERS, dense, train
from timing import in_turn, note

# Where all lines meet, and the grids: every point twice the one before. The most rows are beyond all caches: from one to
# the other a job takes more than twice as long.
BASE = {"full": {"rows": 25_000, "columns": 100, "classes": 10}, "quick": {"rows": 1000, "columns": 20, "classes": 4}}
GRIDS = {
    "full": {"rows": [12_500 << i for i in range(6)], "columns": [25 << i for i in range(5)],
             "classes": [2 << i for i in range(5)], "processes": [1, 2, 4]},
    "quick": {"rows": [500, 1000, 2000], "columns": [10, 20, 40], "classes": [2, 4, 8], "processes": [1, 2]},
}
JUDGED = ("rows", "columns", "classes")
MOST_EXPONENT = 1.1
# csvm makes so many epochs, near its minimum or not: how many it needs depends on more than the size of the data.
MAP_WORDS = ["perceptron", "--passes", "1", "--dimension", "100", "--map"]
JOBS = {**LEARNERS, "csvm": ["csvm", "--iterations", "10", "--tolerance", "1e-9"], "kgs": [*MAP_WORDS, "kgs"],
        "nystroem": [*MAP_WORDS, "nystroem"]}


def exponent(sizes, seconds):
    """Of the later half of the points, and the one in the middle; of two at least."""
    first = min(len(sizes) // 2, len(sizes) - 2)
    x, y = ([math.log(value) for value in values[first:]] for values in (sizes, seconds))
    middle, mean = statistics.fmean(x), statistics.fmean(y)
    return sum((a - middle) * (b - mean) for a, b in zip(x, y)) / sum((a - middle) ** 2 for a in x)


def sizes_at(bench, job, quantity, value):
    size = {**BASE[bench.args.size]}
    if quantity == "processes":
        size["rows"] = GRIDS[bench.args.size]["rows"][-1]
    else:
        size[quantity] = value
    if job == "rp":
        size["classes"] = 2
    return [size[name] for name in JUDGED]


def read(bench, data):
    text = bench.convert(data, ".svm")
    return lambda: {"seconds": bench.ask("read", text, 1)["elapsed"]}


def tasks_of(bench, job, quantity):
    """What is timed, by its size."""
    tasks = {}
    for value in GRIDS[bench.args.size][quantity]:
        data = dense(bench, *sizes_at(bench, job, quantity, value))
        if job == "reading":
            tasks[value] = read(bench, data)
        else:
            tasks[value] = functools.partial(train, bench, JOBS[job], data,
                                             processes=value if quantity == "processes" else None)
    return tasks


def applies(bench, job, quantity):
    if quantity == "processes":
        return bench.mpi and job != "reading"
    return not (job == "rp" and quantity == "classes")  # which has two


def growth(bench):
    result = {}
    for quantity in GRIDS[bench.args.size]:
        result[quantity] = []
        for job in ("reading", *JOBS):
            if not applies(bench, job, quantity):
                continue
            note("growth: %s, %s" % (quantity, job))
            answers = in_turn(tasks_of(bench, job, quantity), bench.args.long_runs)
            sizes = list(answers)
            seconds = [statistics.median(answer["seconds"] for answer in given) for given in answers.values()]
            # processes that share a core tell nothing about more of them
            counted = 2 if quantity == "processes" else len(sizes)
            result[quantity].append({"job": job, "sizes": sizes, "seconds": seconds,
                                     "exponent": exponent(sizes[:counted], seconds[:counted])})
    return {"base": BASE[bench.args.size], "lines": result}


PARTS = {"growth": growth}


# ---- what was wanted, and telling ----


def rows(parts, add):
    """No other program takes part."""


def wanted(parts, add):
    for quantity in JUDGED if "growth" in parts else []:
        for line in parts["growth"]["lines"][quantity]:
            add("%s, exponent of the %s" % (line["job"], quantity), "at most %.1f" % MOST_EXPONENT, line["exponent"],
                lambda x: x <= MOST_EXPONENT)


def report(parts):
    for quantity, lines in parts["growth"]["lines"].items() if "growth" in parts else []:
        if lines:
            print("\nseconds against %s: %s" % (quantity, ", ".join(map(str, lines[0]["sizes"]))))
        for line in lines:
            print("    %-10s %s   grows by the power %.2f" %
                  (line["job"], " ".join("%8.4f" % value for value in line["seconds"]), line["exponent"]))
