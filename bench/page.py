#!/usr/bin/python3
"""Writes the page of the results, and its pictures next to it: bench/page.py RESULT.json docs/performance.md

RESULT.json is what bench/run --json printed; bench/run --markdown FILE writes the page at once. Sections of the page that
are not made here were written by hand: they stay, before the last one.
"""
import json
import os
import re
import sys
import textwrap

sys.dont_write_bytecode = True
import pictures
from growth import JUDGED, MOST_EXPONENT
from kernels import PROBLEMS
from scaling import WANTED_RATIO, WANTED_SPEEDUP
from timing import Failed


AUTO = "`train auto`: the errors that a time buys"


def table(head, lines):
    """Columns after the first that begin with a figure are set to the right."""
    right = [i > 0 and all(re.match(r"-?\d|-$", line[i]) for line in lines) for i in range(len(head))]
    text = ["| %s |" % " | ".join(head), "|%s|" % "|".join("---:" if is_right else "---" for is_right in right)]
    return "\n".join(text + ["| %s |" % " | ".join(line) for line in lines])


def seconds(value):
    """Three digits, which is more than the machine is steady for."""
    return "-" if value is None else "%.3g s" % value


def times(ratio):
    return "%.1fx" % ratio if ratio >= 1 else "%.2fx" % ratio


def prose(text, *values):
    return textwrap.fill(" ".join((text % values).split()), 120, break_long_words=False, break_on_hyphens=False)


def introduction(result, kept):
    """kept: titles of sections that other runs are the source of."""
    but = ", except those of %s, which name their own commands," % listed('"%s"' % title for title in kept) if kept else ""
    return ["# Performance", prose("Every figure on this page%s comes from one run of", but), "    " + result["command"],
            prose("""on %s (%s, cores: %d). It took %.0f minutes. %s[bench/README.md](../bench/README.md) says how each
                  figure is measured. Another machine has other figures: run it on yours.""", result["date"],
                  result["machine"], result["cores"], result["seconds"] / 60,
                  "Its data were small (`--quick`), and its figures say nothing. " if result["quick"] else "")]


def listed(words):
    words = list(words)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def limit(entry):
    return "%.*f%% %s" % (entry["share"] < 0.1, 100 * entry["share"], entry["kind"]) if entry else "-"


def jobs(result):
    lines = [[row["job"], row["data"], seconds(row["seconds"]), seconds(row["two_cores"]),
              "; ".join("%s: %s" % (peer["program"], seconds(peer["seconds"])) for peer in row["peers"]) or "-",
              "; ".join(times(peer["ratio"]) for peer in row["peers"]) or "-", limit(row["limit"])]
             for row in result["rows"]]
    return ["## Compared with other programs",
            prose("""One core, processor time, the median of %d runs; of what takes long, of fewer. The ratio says how many
                  times as long the other program takes: above 1 unconfuse is faster. Two cores: elapsed time of
                  unconfuse.""", result["runs"]),
            table(["job", "data", "unconfuse", "two cores", "others", "ratio", "share of the limit"], lines),
            prose("""The share of the limit is that of the time of unconfuse in which the machine could do the least that
                  the job needs, at the rates of the next section: `memory`, read the values once, or once for every
                  gradient; `scan`, look at every byte of the text; `products`, the products of matrices. What is not in
                  that least (exponentials, sorting, weights that are looked up, parsing) is the room that there seems to
                  be. Data that a cache holds may be read faster than the memory gives them."""),
            prose("""Reading ends with the rows in memory. Prediction, a pass from text and the kernel machine are timed
                  from file to file, all others with the data in memory. `logistic` and `csvm` stop as near to the minimum
                  of the same objective as the other program, the kernel machine at as few errors.""")]


def rate(value):
    return "%.1f GB/s" % (value / 1e9) if value else "-"


def machine(entries):
    return ["## What the machine gives",
            table(["threads", "reading memory", "copying", "scan of a file", "products of matrices, double precision"],
                  [["%d" % entry["threads"], rate(entry["bandwidth"]), rate(entry.get("copy")), rate(entry.get("scan")),
                    "%.1f Gflop/s" % (entry["gemm"] / 1e9)] for entry in entries]),
            prose("""A scan looks at every byte of a file that the system has in memory; a copy is of as many bytes within
                  the memory, counted once."""),
            prose("""A job that reads all its data in every step cannot be faster than the memory, and two threads help it
                  no more than they help a plain loop that reads.""")]


def threads(entry):
    others = [job["job"] for job in entry["jobs"] if not job["same"]]
    return ["## One core and two",
            prose("""Elapsed time with one thread and with two. Wanted is %.1fx. Reading memory alone gains %.2fx here,
                  products of matrices %.2fx. The last column is what two copies of the job at once, with one thread each,
                  gain: what the machine leaves to two that run concurrently. Two threads share the data, and
                  may do better. %s""", WANTED_SPEEDUP, entry["bandwidth_speedup"], entry["gemm_speedup"],
                  "Other bytes came out of: %s." % ", ".join(others) if others else "All give the same bytes."),
            table(["job", "one thread", "two threads", "gain", "two copies"],
                  [[job["job"], seconds(job["seconds"][0]), seconds(job["seconds"][-1]), "%.2fx" % job["speedup"],
                    "%.2fx" % job["ceiling"]] for job in entry["jobs"]])]


def processes(entries):
    return ["## Two processes",
            prose("""Two processes with one thread each (`mpirun -n 2 unconfuse-mpi`), compared with one process with two
                  threads; the time of learning as the program tells it. Wanted is at most %.2fx. The share is that of
                  passing the sums on and of waiting for the other process, in the first one (`--verbose`).""",
                  WANTED_RATIO),
            table(["job", "two threads", "two processes", "ratio", "share of the sums"],
                  [[job["job"], seconds(job["threads"]), seconds(job["processes"]), "%.2fx" % job["ratio"],
                    "%.1f%%" % (100 * job["share"])] for job in entries])]


def python(entry):
    rows, columns, classes = entry["shape"]
    return ["## Python",
            prose("`predict` on %d rows, %d columns, %d classes, with one thread, next to the C call below it:", rows,
                  columns, classes),
            table(["rows", "Python", "C", "more"],
                  [[each["rows"], "%.2f ms" % (1e3 * each["python"]), "%.2f ms" % (1e3 * each["c"]),
                    "%.1f%%" % (100 * each["overhead"])] for each in entry["predictions"]]),
            prose("""`partial_fit` with one row of 64 columns a call, `PAClassifier` compared with scikit-learn's
                  `PassiveAggressiveClassifier`:"""),
            table(["classes", "unconfuse", "scikit-learn", "ratio"],
                  [["%d" % each["classes"], "%.1f us" % (1e6 * each["unconfuse"]), "%.1f us" % (1e6 * each["scikit_learn"]),
                    times(each["ratio"])] for each in entry["one_by_one"]])]


def growth(entry, picture):
    lines, base = entry["lines"], entry["base"]
    exponents = {(quantity, line["job"]): line["exponent"] for quantity in lines for line in lines[quantity]}
    names = dict.fromkeys(job for _, job in exponents)
    steep = ["%s in %s" % (job, quantity) for (quantity, job), value in exponents.items()
             if quantity in JUDGED and value > MOST_EXPONENT]
    return ["## Growth",
            prose("""Time against the size of the data, on one core, and against the number of processes. What does not
                  vary is %d rows, %d columns, %d classes (`rp`: 2) and the number of steps; with more processes, the most
                  rows. The exponent is that of the power law through the later points: 1 where twice as much takes twice
                  as long, 2 for a quadratic step, -1 where two processes take half as long as one. Above %.1f in rows,
                  columns or classes: %s.""", base["rows"], base["columns"], base["classes"], MOST_EXPONENT,
                  ", ".join(steep) or "none"),
            table(["job", *lines], [[job, *("%.2f" % exponents[quantity, job] if (quantity, job) in exponents else "-"
                                            for quantity in lines)] for job in names]),
            *picture_of("Time against rows, columns, classes and processes", picture)]


def kernel_svm(entry, picture):
    ours = {"unconfuse": ("csvm", "dimensions"), "LIBSVM": ("LIBSVM", "rows")}
    return ["## A kernel machine: the errors that a time buys",
            prose("""LIBSVM learns from ever more %s, `csvm --map nystroem` from all %d with ever more dimensions; the same
                  Gaussian kernel and the same C. Errors on %d test rows. One core, from file to model, and from file to
                  errors.""", PROBLEMS[entry["problem"]]["what"], entry["rows"], entry["test_rows"]),
            table(["program", "with", "training", "predicting", "errors"],
                  [[ours[point["program"]][0], "%d %s" % (point["size"], ours[point["program"]][1]),
                    seconds(point["seconds"]), seconds(point["predict_seconds"]), "%.2f%%" % (100 * point["error"])]
                   for point in entry["points"]]),
            *picture_of("Errors against seconds of training", picture)]


def auto(entries):
    lines = [["%d" % entry["rows"], point["program"], "%.2f%%" % (100 * point["error"]), seconds(point["seconds"])]
             for entry in entries for point in entry["points"]]
    return ["## " + AUTO,
            prose("""Digits with noise on their pixels, 27%% of the labels wrong; errors on 5,000 clean rows. One core, processor
                  time; `auto` from file to model, the others `fit` alone."""),
            table(["rows", "program", "errors", "training"], lines)]


def picture_of(title, name):
    return ["![%s](%s)" % (title, name)] if name else []


def missed(entries):
    lines = [[entry["what"], entry["wanted"], "%.2f" % entry["figure"]] for entry in entries if not entry["met"]]
    if not lines:
        return ["## What was wanted", prose("All %d figures that were wanted are met.", len(entries))]
    return ["## What was wanted and is missed",
            prose("%d of %d figures are met; these are not.", len(entries) - len(lines), len(entries)),
            table(["what", "wanted", "figure"], lines)]


def titles(text):
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


def made_here():
    """The titles of all sections that a run may make: those in the functions above."""
    with open(__file__, encoding="utf-8") as file:
        return set(re.findall(r'"## (.*?)"', file.read()))


def by_hand(path, blocks):
    """The sections of the page as it was that no run makes, whole. That of `train auto` counts as one where this run has
    not measured it: it takes as long as all the others."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        sections = re.split(r"^(?=## )", file.read(), flags=re.MULTILINE)[1:]
    others = made_here() - {AUTO} | set(titles("\n".join(blocks)))
    return [section.strip() for section in sections if titles(section)[0] not in others]


def write(result, path):
    parts, folder = result["parts"], os.path.dirname(path)
    blocks = []
    if result["rows"]:
        blocks += jobs(result)
    for name, section in (("machine", machine), ("threads", threads), ("processes", processes), ("auto", auto), ("python", python)):
        if parts.get(name):
            blocks += section(parts[name])
    for name, section, draw in (("growth", growth, pictures.growth), ("kernel-svm", kernel_svm, pictures.kernel_svm)):
        if name in parts:
            blocks += section(parts[name], draw(parts[name], os.path.join(folder, name)))
    kept = by_hand(path, blocks)
    blocks = introduction(result, [titles(section)[0] for section in kept]) + blocks + kept
    if result["wanted"]:
        blocks += missed(result["wanted"])
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n\n".join(blocks) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    try:
        with open(sys.argv[1], encoding="utf-8") as results:
            write(json.load(results), sys.argv[2])
    except (Failed, OSError) as failure:
        sys.exit("bench/page.py: %s" % failure)
