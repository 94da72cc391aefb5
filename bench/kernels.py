"""Kernels: learning a map and mapping rows against scikit-learn, and the error that a time buys against LIBSVM."""
import itertools
import json
import os
import re

from timing import DATA, Sklearn, median_times, medians, note, print_times, ratio, run

# Rows, columns, dimension: as judged, and small.
SIZES = {
    "kpca": {"full": (10_000, 64, 640), "quick": (2000, 64, 128)},
    "nystroem": {"full": (50_000, 64, 500), "quick": (5000, 64, 100)},
    "nystroem-large": {"full": (1_000_000, 100, 1000), "quick": (20_000, 100, 200)},  # scikit-learn needs 17 GB
}
NAMES = {"kpca": "kernel PCA", "nystroem": "Nystroem", "nystroem-large": "Nystroem, many rows"}
# The first rows of MNIST and its test rows, gamma of the Gaussian kernel, C; without MNIST a chess board.
PROBLEMS = {"mnist": {"what": "of the first rows of MNIST", "gamma": 3.1e-7, "cost": 10},
            "chess": {"what": "rows of a chess board with a tenth of the labels wrong", "gamma": 1, "cost": 10}}
SVM_ROWS = {"full": (1000, 2000, 4000, 8000), "quick": (500, 1000)}  # LIBSVM learns from so many
SVM_DIMENSIONS = {"full": (125, 250, 500, 1000, 2000), "quick": (50, 100)}  # csvm from as many as LIBSVM at most
TEST_ROWS = {"full": 5000, "quick": 1000}


# ---- maps ----


def features(bench, part):
    """Learning the map and mapping all rows, with the same kernel."""
    rows, columns, dimension = SIZES[part][bench.args.size]
    kind = part.split("-")[0]
    cores = bench.cores if part == kind else bench.cores[:1]  # the many rows are in memory once
    file = bench.make_arrays(rows, columns, 10)[0]
    peers = {1: bench.sklearn}
    if bench.sklearn and len(cores) > 1:
        peers[2] = Sklearn(2)
    width = bench.sklearn.ask("width", file)["width"] if bench.sklearn else 0
    answers, squares = {}, {}

    def both(name, answer):
        answers.setdefault(name, []).append(answer)
        squares[name[0]] = answer["squares"]
        return {clock: answer["fit"][0][clock] + answer["apply"][0][clock] for clock in ("elapsed", "processor")}

    tasks = {}
    for n in cores:
        tasks["unconfuse", n] = lambda n=n: both(("unconfuse", n),
                                                 bench.ask("map", kind, file, dimension, width, n, cores=n))
        if bench.sklearn:
            tasks["scikit-learn", n] = lambda n=n: both(("scikit-learn", n),
                                                        peers[n].ask("features", kind, file, dimension, width))
    runs = bench.args.runs if part == "nystroem" else 1  # a round of the others takes two minutes
    try:
        times = medians(tasks, runs, warm_up=False)
    finally:
        if 2 in peers:
            peers[2].close()
    steps = {step: [{"program": program, "cores": n, **median_times([answer[step][0] for answer in given])}
                    for (program, n), given in answers.items()] for step in ("fit", "apply")}
    return {"rows": rows, "columns": columns, "dimension": dimension, "times": times, **steps, "squares": squares}


def kpca(bench):
    return features(bench, "kpca")


def nystroem(bench):
    return features(bench, "nystroem")


def nystroem_large(bench):
    return features(bench, "nystroem-large")


# ---- the error that a time buys ----


def split_problem(bench):
    """The name of the problem, files with ever more of its training rows, and one with its test rows."""
    counts, most = SVM_ROWS[bench.args.size], TEST_ROWS[bench.args.size]
    sources = [os.path.join(DATA, "mnist.%s.svm.zst" % kind) for kind in ("train", "test")]
    whole = [bench.path("kernel.%s.svm" % kind) for kind in ("train", "test")]
    name = "mnist" if all(map(os.path.exists, sources)) else "chess"
    if name == "mnist":
        for source, path in zip(sources, whole):
            run([bench.program, "convert", source, path, "-q"])
    else:
        run([bench.program, "generate", "rp-chess", "--squares", "8", "--noise-rate", "0.1", "--examples",
             str(counts[-1]), "-o", whole[0], "--test", whole[1], "--test-examples", str(most), "-q"])
    parts = {}
    for path, count in [(whole[0], count) for count in counts] + [(whole[1], most)]:
        part = path.replace(".svm", "-%d.svm" % count)
        with open(path, encoding="ascii") as rows, open(part, "w", encoding="ascii") as out:
            out.writelines(itertools.islice(rows, count))
        parts[path, count] = part
    return name, [parts[whole[0], count] for count in counts], parts[whole[1], most]


def error_of_libsvm(text):
    right, count = map(int, re.search(r"\((\d+)/(\d+)\)", text).groups())
    return 1 - right / count


def timed_point(bench, program, size, train, predict, error):
    """One point of the curve: training from file to model, predicting (once), and the error on the test rows."""
    (times,) = medians({(program, 1): lambda: run(train)}, bench.args.long_runs, warm_up=False)
    tested = run(predict)
    return {"program": program, "size": size, "seconds": times["processor"], "predict_seconds": tested["processor"],
            "error": error(tested["output"])}


def kernel_svm(bench):
    libsvm = bench.installed("svm-train", "libsvm-tools")
    name, trains, test = split_problem(bench)
    gamma, cost = PROBLEMS[name]["gamma"], PROBLEMS[name]["cost"]
    counts, points = SVM_ROWS[bench.args.size], []
    model = bench.path("kernel.model")
    for train, count in zip(trains, counts) if libsvm else []:
        note("kernel-svm: LIBSVM, %d rows" % count)
        points.append(timed_point(
            bench, "LIBSVM", count,
            [libsvm, "-q", "-m", "1000", "-c", str(cost), "-g", str(gamma), train, model],
            ["svm-predict", test, model, bench.path("kernel.predictions")], error_of_libsvm))
    for dimension in SVM_DIMENSIONS[bench.args.size]:
        note("kernel-svm: csvm, %d dimensions" % dimension)
        # LIBSVM's C weights the sum of the losses, that of csvm their mean
        points.append(timed_point(
            bench, "unconfuse", dimension,
            [bench.program, "train", "csvm", "--map", "nystroem", "--dimension", str(dimension), "--gamma", str(gamma),
             "--cost", str(cost * counts[-1]), "--tolerance", "0.001", "--threads", "1", "-q", trains[-1], "-o", model],
            [bench.program, "evaluate", model, test, "--threads", "1", "--json"],
            lambda text: json.loads(text)["error"]))
    return {"problem": name, "rows": counts[-1], "test_rows": TEST_ROWS[bench.args.size], "gamma": gamma, "cost": cost,
            "points": points}


def curve(entry, program):
    return [point for point in entry["points"] if point["program"] == program]


def cheapest(entry):
    """For every point of LIBSVM the fewest dimensions with which csvm has no larger error; None: there are none."""
    ours = sorted(curve(entry, "unconfuse"), key=lambda point: point["seconds"])
    return [(point, next((other for other in ours if other["error"] <= point["error"]), None))
            for point in curve(entry, "LIBSVM")]


PARTS = {"kpca": kpca, "nystroem": nystroem, "nystroem-large": nystroem_large, "kernel-svm": kernel_svm}


# ---- what was wanted, and telling ----


def operations(kind, entry):
    """Of the products of matrices that a map needs at least. kpca: the kernel of all pairs of rows, and with it one product
    of as many vectors as there are components, to find them and again to map. nystroem: the kernel of rows and landmarks,
    and the product that makes features of it."""
    n, d, D = entry["rows"], entry["columns"], entry["dimension"]
    if kind == "kpca":
        return 2 * (2 * n * n * d + 2 * n * n * D)
    return 2 * n * D * d + 2 * n * D * D


def rows(parts, add):
    for part in SIZES:
        if part in parts:
            entry, kind = parts[part], part.split("-")[0]
            add("%s, learning and mapping" % kind,
                "%d rows, %d columns, %d dimensions" % (entry["rows"], entry["columns"], entry["dimension"]),
                entry["times"], limit=("products", operations(kind, entry)))
    for theirs, ours in cheapest(parts["kernel-svm"]) if "kernel-svm" in parts else []:
        if ours:
            times = [{"program": point["program"], "cores": 1, "processor": point["seconds"]} for point in (ours, theirs)]
            add("kernel SVM to %.1f%% errors: csvm, %d dimensions" % (100 * theirs["error"], ours["size"]),
                "%s, LIBSVM with %d rows" % (parts["kernel-svm"]["problem"], theirs["size"]), times)


def wanted(parts, add):
    if "kpca" in parts:
        times = parts["kpca"]["fit"]
        add("kpca against scikit-learn, one core, processor", "at least 2x", ratio(times, "scikit-learn"),
            lambda x: x >= 2)
        n = max(entry["cores"] for entry in times)
        add("kpca against scikit-learn, cores: %d, elapsed" % n, "at least 2x",
            ratio(times, "scikit-learn", n, "elapsed", n), lambda x: x >= 2)


def report(parts):
    for kind, name in NAMES.items():
        if kind not in parts:
            continue
        entry = parts[kind]
        print_times("\n%s: %d rows, %d columns, %d components, Gaussian kernel; learning the map" %
                    (name, entry["rows"], entry["columns"], entry["dimension"]), entry["fit"])
        print_times("  mapping the rows", entry["apply"])
        print("    the sum of the squares of the mapped rows: " +
              ", ".join("%s %.6g" % pair for pair in entry["squares"].items()))
    if "kernel-svm" in parts:
        entry = parts["kernel-svm"]
        print("\nkernel support vector machines: %s, %d rows, tested on %d; one core" %
              (entry["problem"], entry["rows"], entry["test_rows"]))
        for point in entry["points"]:
            print("    %-10s %5d %-10s  training %8.3f s   predicting %8.3f s   errors %5.2f%%" %
                  ("LIBSVM" if point["program"] == "LIBSVM" else "csvm", point["size"],
                   "rows" if point["program"] == "LIBSVM" else "dimensions", point["seconds"],
                   point["predict_seconds"], 100 * point["error"]))
