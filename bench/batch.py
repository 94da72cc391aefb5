"""The batch learners: steps of uma and rp, logistic regression, support vector machines, and what they need of memory."""
import contextlib
import functools
import os
import statistics

from timing import Failed, Sklearn, median_times, medians, megabytes, print_times, ratio, run

NOISE_RATE = "0.2"  # of the labels in the made data
# Rows, columns, classes and so on: as judged, and small.
SIZES = {
    "uma": {"full": (3823, 640, 10, 200), "quick": (3823, 640, 10, 30)},  # rows, columns, classes, steps
    "bandwidth": {"full": (200_000, 1000, 10, 40), "quick": (20_000, 1000, 10, 20)},
    "rp": {"full": [(200_000, 1000, 40), (1_000_000, 200, 40), (1_000_000, 100, 40)],  # rows, columns, steps
           "quick": [(20_000, 1000, 20)]},
    "scale": {"full": (1_000_000, 100, 26, 5), "quick": (100_000, 100, 26, 5)},
    "logistic": {"full": [(20_000, 200, 10), (200_000, 50, 2)],  # rows, columns, classes
                 "quick": [(2000, 50, 10), (2000, 50, 2)]},
}
SPARSE_BYTES = {"full": 10_000_000, "quick": 1_000_000}
L2 = 1e-4
SVM_COSTS = (0.01, 1, 10)  # C/n, which LIBLINEAR calls C
SVM_SETTINGS = (0.02, 0.003)  # --smoothing and --tolerance of csvm
SVM_NEAR = 0.01  # of the smallest objective seen, relative: where LIBLINEAR's clock stops
LIBLINEAR_TOLERANCES = ("1", "0.3", "0.2", "0.1", "0.03", "0.01")  # -e; 0.1 by default
NEAR = 1e-4  # of the smallest objective seen, relative: where the clock of `logistic` stops
CHOLESKY = "scikit-learn, newton-cholesky"  # for dense rows of two classes
MOST_ITERATIONS = {"full": 100, "quick": 20}
LOGISTIC_TOLERANCES = ("0.1", "0.03", "0.01", "0.003", "0.001", "0.0001")  # -e of LIBLINEAR; 0.01 by default


@contextlib.contextmanager
def liblinear(bench):
    """LIBLINEAR's library in a process of its own; None: not installed."""
    if not (bench.liblinear and bench.sklearn):
        yield None
        return
    peer = Sklearn(script="liblinear_peer.py")
    try:
        yield peer
    finally:
        peer.close()


def later_half(times):
    return times[len(times) // 2 :]


# ---- uma ----


def uma(bench):
    """A step against the naive form, in numpy; both must arrive at the same weights."""
    rows, columns, classes, steps = SIZES["uma"][bench.args.size]
    files = bench.make_arrays(rows, columns, classes)
    squares = {}

    def steps_of(name, answer):
        squares[name] = answer["square"]
        return median_times(answer["steps"])

    tasks = {("unconfuse", n): lambda n=n: steps_of("unconfuse", bench.ask("uma", *files, steps, n, cores=n))
             for n in bench.cores}
    if bench.sklearn:
        for form in ("one-product", "product-a-class"):
            tasks["naive, " + form, 1] = lambda form=form: steps_of(
                form, bench.sklearn.ask("uma", *files, steps, NOISE_RATE, form))
    times = medians(tasks, bench.args.runs)
    if max(squares.values()) > (1 + 1e-6) * min(squares.values()):
        raise Failed("uma and its naive form arrive at different weights: their squares are %s" % squares)
    return {"rows": rows, "columns": columns, "classes": classes, "steps": steps, "times": times}


def bandwidth(bench):
    """A step that has to read everything from memory, against reading it and nothing else."""
    rows, columns, classes, steps = SIZES["bandwidth"][bench.args.size]
    result = []
    for n in bench.cores:
        answer = bench.ask("memory", rows, columns, classes, steps, n, cores=n)
        clock = "processor" if n == 1 else "elapsed"
        step, read = (median_times(later_half(answer[name]))[clock] for name in ("steps", "reads"))
        # the rows once, and all scores read and written
        moved = answer["data_bytes"] + 2 * answer["score_bytes"]
        result.append({"cores": n, "step_seconds": step, "read_seconds": read, "step_bytes": moved,
                       "read_bytes": answer["array_bytes"], "step_rate": moved / step,
                       "read_rate": answer["array_bytes"] / read,
                       "share": moved / step / (answer["array_bytes"] / read)})
    return {"rows": rows, "columns": columns, "classes": classes, "entries": result}


def rp(bench):
    """The same for a step of rp; the bytes of the rows, once."""
    result = []
    for rows, columns, steps in SIZES["rp"][bench.args.size]:
        for n in bench.cores:
            answer = bench.ask("rp", rows, columns, steps, n, cores=n)
            clock = "processor" if n == 1 else "elapsed"
            step, read = (median_times(later_half(answer[name]))[clock] for name in ("steps", "reads"))
            step_rate, read_rate = answer["data_bytes"] / step, answer["array_bytes"] / read
            result.append({"rows": rows, "columns": columns, "cores": n, "step_seconds": step, "read_seconds": read,
                           "step_rate": step_rate, "read_rate": read_rate, "share": step_rate / read_rate,
                           "memory_ratio": (answer["peak_bytes"] - answer["before_bytes"]) / answer["array_bytes"]})
    return result


def scale(bench):
    rows, columns, classes, steps = SIZES["scale"][bench.args.size]
    answer = bench.ask("memory", rows, columns, classes, steps, bench.cores[-1], cores=bench.cores[-1])
    return {"rows": rows, "columns": columns, "classes": classes, "steps": steps,
            "step_seconds": statistics.median(step["elapsed"] for step in answer["steps"]),
            **{name: answer[name] for name in ("data_bytes", "score_bytes", "peak_bytes")},
            "ratio": (answer["peak_bytes"] - answer["score_bytes"]) / answer["data_bytes"]}


# ---- logistic regression ----


def fewest_iterations(objective, target, most):
    """The smallest number of iterations, but for a sixteenth, at which `objective` is at most `target`. It falls with
    every iteration."""
    low, high = 1, most
    while high - low > high // 16:
        middle = (low + high) // 2
        if objective(middle) <= target:
            high = middle
        else:
            low = middle + 1
    return high


def iterative(fit, target, most):
    """What learns until `target` is reached, of a program that is given the number of iterations."""
    objective = functools.lru_cache(maxsize=None)(lambda iterations: fit(iterations)["objective"])
    iterations = fewest_iterations(objective, target, most)
    return functools.partial(fit, iterations), {"stop": "%d iterations" % iterations, "objective": objective(iterations)}


def tolerant(peer, files, target):
    """The same for LIBLINEAR, which is given how small the gradient must become."""
    peer.ask("load", files[0])
    for tolerance in LOGISTIC_TOLERANCES:
        answer = peer.ask("logistic", L2, tolerance)
        if answer["objective"] <= target:
            break
    task = functools.partial(peer.ask, "logistic", L2, tolerance)
    return task, {"stop": "-e %s" % tolerance, "objective": answer["objective"]}


def limit_of(bench, files, classes, passes):
    """What that many gradients have to do at least: products with the rows and with their transposes where one of a
    matrix and not of a vector is made for dense rows, else reading all values."""
    facts = bench.ask("read", files[0], 1)
    if files[1] != "-" and classes > 2:
        return "products", 4 * facts["rows"] * facts["columns"] * classes * passes
    return "memory", facts["array_bytes"] * passes


def logistic_on(bench, classes, name, files, bias=1, peer=None):
    """Each works until it comes near the smallest objective that one of them found. `peer`: LIBLINEAR, which takes part
    where its objective is ours: two classes, and no offsets."""

    def ours(iterations, n=1):
        answer = bench.ask("logistic", *files, L2, iterations, bias, n, cores=n)
        return {**answer, **answer["model"]["summary"]}

    fits = {"unconfuse": ours}
    if bench.sklearn:
        fits["scikit-learn"] = lambda iterations: bench.sklearn.ask("logistic", *files, L2, iterations, bias)
    if bench.sklearn and classes == 2 and files[1] != "-":
        fits[CHOLESKY] = lambda iterations: bench.sklearn.ask("logistic", *files, L2, iterations, bias, "newton-cholesky")
    most = MOST_ITERATIONS[bench.args.size]
    best = min(fit(most)["objective"] for fit in fits.values())
    target = best * (1 + NEAR)
    found = {program: iterative(fit, target, most) for program, fit in fits.items()}
    if peer:
        found["LIBLINEAR"] = tolerant(peer, files, target)
    tasks = {(program, 1): task for program, (task, _) in found.items()}
    if len(bench.cores) > 1:
        tasks["unconfuse", 2] = functools.partial(tasks["unconfuse", 1], 2)
    summary = found["unconfuse"][0]()
    return {"name": name, "classes": classes, "best": best, "limit": limit_of(bench, files, classes, summary["updates"]),
            "reached": {program: end for program, (_, end) in found.items()},
            "times": medians(tasks, bench.args.long_runs, warm_up=False)}


def logistic(bench):
    result = [logistic_on(bench, classes, "%d rows, %d columns, %d classes" % (rows, columns, classes),
                          bench.make_arrays(rows, columns, classes))
              for rows, columns, classes in SIZES["logistic"][bench.args.size]]
    for classes in (20, 2):
        data = bench.make_data(["sparse", str(classes)], SPARSE_BYTES[bench.args.size])
        facts = bench.ask("read", data, 1)
        name = "sparse, %d rows, %d columns, %d classes" % (facts["rows"], facts["columns"], classes)
        if classes > 2:
            result.append(logistic_on(bench, classes, name, [data, "-"]))
        else:
            with liblinear(bench) as peer:
                result.append(logistic_on(bench, classes, name + ", no offsets", [data, "-"], 0, peer))
    return result


# ---- support vector machines ----


def svm_at(bench, peer, data, cost):
    """Learning from data in memory, no offset; and from file to model."""
    reached = {}

    def ours(smoothing, tolerance, n=1):
        answer = bench.ask("svm", data, cost, smoothing, tolerance, n, cores=n)
        reached["unconfuse"] = answer["hinge"]
        return answer

    def theirs(tolerance):
        answer = peer.ask("svm", cost, tolerance)
        reached["LIBLINEAR -e %s" % tolerance] = answer["hinge"]
        return answer

    best = ours(0.001, 1e-4)["hinge"]
    answer = ours(*SVM_SETTINGS)
    tolerances = []
    if peer:
        best = min(best, *(theirs(tolerance)["hinge"] for tolerance in LIBLINEAR_TOLERANCES))
        near = [tolerance for tolerance in LIBLINEAR_TOLERANCES
                if reached["LIBLINEAR -e %s" % tolerance] <= (1 + SVM_NEAR) * best]
        tolerances = sorted({near[0], "0.1"}, key=float)
    tasks = {("unconfuse", 1): lambda: ours(*SVM_SETTINGS)}
    model = bench.path("svm.model")
    command = [bench.program, "train", "csvm", "--cost", str(cost * peer.rows if peer else cost), "--bias", "0",
               "--smoothing", str(SVM_SETTINGS[0]), "--tolerance", str(SVM_SETTINGS[1]), "--threads", "1", "-q", data,
               "-o", model]
    whole = {("unconfuse", 1): lambda: run(command)}
    for e in tolerances:
        tasks["LIBLINEAR -e %s" % e, 1] = lambda e=e: theirs(e)
        words = ["liblinear-train", "-q", "-s", "3", "-B", "-1", "-c", str(cost), "-e", e, data, model]
        whole["LIBLINEAR -e %s" % e, 1] = lambda words=words: run(words)
    return {"cost": cost, "bytes": os.path.getsize(data), "best": best, "times": medians(tasks, bench.args.runs),
            "objectives": reached, "near": "LIBLINEAR -e %s" % near[0] if peer else None,
            "whole": medians(whole, bench.args.long_runs, warm_up=False),
            "memory_ratio": answer["peak_bytes"] / answer["array_bytes"], "array_bytes": answer["array_bytes"]}


def svm(bench):
    data = bench.make_data(["sparse", "2"])
    with liblinear(bench) as peer:
        if peer:
            peer.rows = peer.ask("load", data)["rows"]
        return [svm_at(bench, peer, data, cost) for cost in SVM_COSTS]


PARTS = {part.__name__: part for part in (uma, bandwidth, rp, svm, logistic, scale)}


# ---- what was wanted, and telling ----


def naive_ratio(times):
    """Against the faster one of the naive forms."""
    ratios = [ratio(times, entry["program"]) for entry in times if entry["program"] != "unconfuse"]
    return min(ratios) if ratios else None


def rows(parts, add):
    if "uma" in parts:
        entry = parts["uma"]
        naive = [other for other in entry["times"] if other["program"] != "unconfuse"]
        fastest = min(naive, key=lambda other: other["processor"])["program"] if naive else None
        add("a step of uma", size_of(entry), entry["times"], fastest,
            limit=("memory", 4 * entry["rows"] * entry["columns"]))
    for entry in parts.get("svm", []):
        add("csvm, C/n = %g" % entry["cost"], "%s of text, sparse, 2 classes" % megabytes(entry["bytes"]), entry["times"],
            entry["near"], limit=("memory", entry["array_bytes"]))
    for entry in parts.get("logistic", []):
        add("logistic", entry["name"], entry["times"], limit=entry["limit"])


def wanted(result, add):
    if "uma" in result:
        add("a step of uma against the faster naive form", "at least 5x", naive_ratio(result["uma"]["times"]),
            lambda x: x >= 5)
    for entry in result["bandwidth"]["entries"] if "bandwidth" in result else []:
        add("a step of uma, share of the bandwidth, threads: %d" % entry["cores"], "at least 0.6", entry["share"],
            lambda x: x >= 0.6)
    for entry in result.get("rp", []):
        add("a step of rp, %d columns, share of the bandwidth, threads: %d" % (entry["columns"], entry["cores"]),
            "at least 0.6", entry["share"], lambda x: x >= 0.6)
    for entry in result.get("svm", []):
        add("csvm, C/n = %g, objective compared with the best" % entry["cost"], "at most 1.01x",
            entry["objectives"]["unconfuse"] / entry["best"], lambda x: x <= 1 + SVM_NEAR)
        add("csvm, C/n = %g, learning, against LIBLINEAR" % entry["cost"], "at least 1x",
            ratio(entry["times"], entry["near"]), lambda x: x >= 1)
    for entry in result.get("logistic", []):
        kind = "%s, classes: %d" % ("sparse" if entry["name"].startswith("sparse") else "dense", entry["classes"])
        for peer in ("scikit-learn", CHOLESKY, "LIBLINEAR"):
            add("logistic against %s, %s" % (peer, kind), "at least 1x", ratio(entry["times"], peer), lambda x: x >= 1)
    if "scale" in result:
        add("memory of uma besides the scores, %d rows" % result["scale"]["rows"], "at most 1.3x the data",
            result["scale"]["ratio"], lambda x: x <= 1.3)


def size_of(entry):
    return "%d rows, %d columns, %d classes" % (entry["rows"], entry["columns"], entry["classes"])


def report(result):
    if "uma" in result:
        entry = result["uma"]
        print_times("\na step of uma: %s, median of %d steps" % (size_of(entry), entry["steps"]), entry["times"])
    if "bandwidth" in result:
        print("\na step of uma on data beyond the cache: %s" % size_of(result["bandwidth"]))
        for entry in result["bandwidth"]["entries"]:
            print("    threads: %d   step %.4f s, %.1f GB/s   reading alone %.4f s, %.1f GB/s   share %.2f" %
                  (entry["cores"], entry["step_seconds"], entry["step_rate"] / 1e9, entry["read_seconds"],
                   entry["read_rate"] / 1e9, entry["share"]))
    if "rp" in result:
        print("\na step of rp on data beyond the cache")
    for entry in result.get("rp", []):
        print("    %d x %d   threads: %d   step %.4f s, %.1f GB/s   reading alone %.4f s, %.1f GB/s   share %.2f" %
              (entry["rows"], entry["columns"], entry["cores"], entry["step_seconds"], entry["step_rate"] / 1e9,
               entry["read_seconds"], entry["read_rate"] / 1e9, entry["share"]))
    for entry in result.get("svm", []):
        print_times("\nsupport vector machine without offset, C/n = %g, data in memory" % entry["cost"], entry["times"])
        print_times("  from the file to a model", entry["whole"])
        print("    objective, compared with the smallest seen, %.6g: " % entry["best"] +
              ", ".join("%s %.4f" % (name, value / entry["best"]) for name, value in entry["objectives"].items()))
        print("    memory: %.2fx the arrays" % entry["memory_ratio"])
    for entry in result.get("logistic", []):
        print_times("\nlogistic regression, to within %g of the smallest objective, %.6f: %s" %
                    (NEAR, entry["best"], entry["name"]), entry["times"])
        print("    " + "; ".join("%s %s, objective %.6f" % (program, end["stop"], end["objective"])
                                 for program, end in entry["reached"].items()))
    if "scale" in result:
        entry = result["scale"]
        print("\nmemory of uma: %s" % size_of(entry))
        print("    data %.1f MB, scores %.1f MB, at most %.1f MB in all: scores and %.2fx the data; a step %.3f s" %
              (entry["data_bytes"] / 1e6, entry["score_bytes"] / 1e6, entry["peak_bytes"] / 1e6, entry["ratio"],
               entry["step_seconds"]))
