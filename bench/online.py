"""The online learners: a pass from text, rounds against reading the weights, cspa-plus, onebit, and landmarks."""
import math
import os
import shutil
import statistics

from timing import DATA, median_times, medians, megabytes, note, print_times, ratio, run

CLASSES = 53
LEARNER = "cspa"
PLUS_COLUMNS = (16, 64, 256, 784, 1024)
PLUS_ROUNDS = {"full": 2000, "quick": 200}
ONEBIT_COLUMNS = {"full": (16, 64, 256, 1000), "quick": (16,)}
ONEBIT_LANDMARKS = {"full": (128, 256, 512), "quick": (128,)}
ONEBIT_ROUNDS = {"full": 8000, "quick": 1000}
LANDMARKS = {"full": 700, "quick": 100}
WIDTH = 1  # of the kernel, for rows of unit length: it does not change the time
MNIST = {"full": "mnist.train.svm.zst", "quick": "mnist.test.svm.zst"}


def vw_text(data):
    """The same rows as Vowpal Wabbit reads them: a bar after the label."""
    path = data + ".vw"
    if not os.path.exists(path):
        with open(data, encoding="ascii") as rows, open(path, "w", encoding="ascii") as out:
            out.writelines(row.replace(" ", " | ", 1) for row in rows)
    return path


def text(bench, data):
    """One pass, from the text to the last round (stream) or to the model's file (train)."""
    tasks = {}
    for n in bench.cores:
        stream = [bench.program, "stream", LEARNER, data, "--threads", str(n), "-q"]
        train = [bench.program, "train", LEARNER, data, "--passes", "1", "--no-shuffle", "--no-average", "--threads",
                 str(n), "-q", "-o", bench.path("online.uc")]
        tasks["unconfuse", n] = lambda n=n, command=stream: run(command, n)
        tasks["unconfuse train", n] = lambda n=n, command=train: run(command, n)
    if bench.sklearn:
        tasks["scikit-learn", 1] = lambda: bench.sklearn.ask("online", data)
    if shutil.which("vw"):
        command = ["vw", "--oaa", str(CLASSES), "--quiet", "-f", bench.path("online.vw"), vw_text(data)]
        tasks["Vowpal Wabbit", 1] = lambda: run(command)
    return medians(tasks, bench.args.runs)


def rounds(bench, data):
    """Rounds on prepared rows, against reading the weights of the same columns in the same order."""
    answer = bench.ask("rounds", data, LEARNER, 2 * bench.args.runs)
    round_seconds, read_seconds = (median_times(answer[name])["processor"] for name in ("rounds", "reads"))
    bytes_read = 8 * answer["classes"] * answer["entries"]
    return {**{name: answer[name] for name in ("rows", "columns", "classes", "entries", "correct")},
            "round_seconds": round_seconds, "read_seconds": read_seconds, "round_rate": bytes_read / round_seconds,
            "read_rate": bytes_read / read_seconds, "share": read_seconds / round_seconds}


def plus(bench):
    """Microseconds of a round, and the exponent with which it grows from one number of columns to the next."""
    result = []
    for columns in PLUS_COLUMNS:
        answer = bench.ask("plus", columns, PLUS_ROUNDS[bench.args.size])
        ours, naive = (1e6 * median_times(answer[name])["processor"] / answer["part"] for name in ("rounds", "naive"))
        before = result[-1] if result else None
        exponent = math.log(ours / before["round"]) / math.log(columns / before["columns"]) if before else None
        result.append({"columns": columns, "round": ours, "naive": naive, "exponent": exponent})
    return result


def onebit(bench):
    """Microseconds of a round beside cspa-plus and the product of a symmetric matrix of its size with a vector."""
    result = []
    for columns in ONEBIT_COLUMNS[bench.args.size]:
        for count in ONEBIT_LANDMARKS[bench.args.size]:
            answer = bench.ask("onebit", columns, count, ONEBIT_ROUNDS[bench.args.size])
            later = {name: 1e6 * median_times(answer[name])["processor"] / answer["part"]
                     for name in ("rounds", "plus", "products")}
            early = 1e6 * answer["early"][0]["processor"] / answer["half"]
            result.append({"columns": columns, "landmarks": count, "features": answer["features"],
                           "early_rounds": answer["half"], "early": early, **later})
    return result


def landmarks(bench):
    """One pass over MNIST after a kernel map: inside, and from the file."""
    path = os.path.join(DATA, MNIST[bench.args.size])
    if not os.path.exists(path):
        note("%s is not there (UNCONFUSE_DATA); the kernel case is left out" % MNIST[bench.args.size])
        return None
    count = LANDMARKS[bench.args.size]
    answers = [bench.ask("landmarks", path, count, WIDTH) for _ in range(bench.args.long_runs)]
    parts = {name: statistics.median(answer[name][0]["processor"] for answer in answers)
             for name in ("map", "rounds", "gemm")}
    command = [bench.program, "stream", LEARNER, path, "--map", "landmarks", "--dimension", str(count), "--width",
               str(WIDTH), "--normalize-input", "-q"]
    tasks = {("unconfuse", n): lambda n=n: run([*command, "--threads", str(n)], n) for n in bench.cores}
    return {"rows": answers[0]["rows"], "columns": answers[0]["columns"], "landmarks": count,
            "correct": answers[0]["correct"] / answers[0]["rows"], **parts,
            "map_share": parts["map"] / (parts["map"] + parts["rounds"]), "gemm_share": parts["gemm"] / parts["map"],
            "times": medians(tasks, bench.args.long_runs, warm_up=False)}


def online(bench):
    data = bench.make_data(["sparse", str(CLASSES)])
    note("online: from text")
    result = {"bytes": os.path.getsize(data), "text": text(bench, data)}
    note("online: rounds")
    result["rounds"] = rounds(bench, data)
    note("online: cspa-plus")
    result["plus"] = plus(bench)
    note("online: onebit")
    result["onebit"] = onebit(bench)
    note("online: landmarks")
    result["landmarks"] = landmarks(bench)
    return result


PARTS = {"online": online}


# ---- what was wanted, and telling ----


def rows(parts, add):
    if "online" in parts:
        entry = parts["online"]
        add("a pass of %s from text" % LEARNER, "%s, %d classes" % (megabytes(entry["bytes"]), CLASSES), entry["text"],
            "scikit-learn", "Vowpal Wabbit", limit=("scan", entry["bytes"]))


def wanted(parts, add):
    if "online" not in parts:
        return
    result = parts["online"]
    add("one pass of cspa from text, against scikit-learn", "at least 4x", ratio(result["text"], "scikit-learn"),
        lambda x: x >= 4)
    add("rounds of cspa, share of the rate of reading the weights", "at least 0.5", result["rounds"]["share"],
        lambda x: x >= 0.5)
    if result["landmarks"]:
        add("cspa after landmarks, share of the map in a pass", "at least 0.9", result["landmarks"]["map_share"],
            lambda x: x >= 0.9)


def report(parts):
    if "online" not in parts:
        return
    result = parts["online"]
    entry = result["rounds"]
    print_times("\none pass of %s, from %s of LIBSVM text: %d rows, %d columns, %d classes" %
                (LEARNER, megabytes(result["bytes"]), entry["rows"], entry["columns"], entry["classes"]), result["text"])
    print("\nrounds of %s on prepared rows, one at a time" % LEARNER)
    print("    %.4f s, %.1f GB/s   reading the weights alone %.4f s, %.1f GB/s   share %.2f" %
          (entry["round_seconds"], entry["round_rate"] / 1e9, entry["read_seconds"], entry["read_rate"] / 1e9,
           entry["share"]))
    print("\na round of cspa-plus, microseconds")
    for entry in result["plus"]:
        growth = "" if entry["exponent"] is None else "   grows by the power %.2f" % entry["exponent"]
        print("    columns: %-5d round %8.1f   the metric alone, naive form %8.1f%s" %
              (entry["columns"], entry["round"], entry["naive"], growth))
    print("\na round of onebit, microseconds; the maps are made in the first half of %d rounds" %
          (2 * result["onebit"][0]["early_rounds"]))
    for entry in result["onebit"]:
        print("    columns: %-5d landmarks: %-4d first half %8.1f   later %8.1f   cspa-plus %8.1f   %d x %d matrix "
              "times vector %6.1f" % (entry["columns"], entry["landmarks"], entry["early"], entry["rounds"],
                                      entry["plus"], entry["features"], entry["features"], entry["products"]))
    entry = result["landmarks"]
    if entry:
        print("\none pass of %s after %d landmarks: %d rows, %d columns, %.2f%% correct" %
              (LEARNER, entry["landmarks"], entry["rows"], entry["columns"], 100 * entry["correct"]))
        print("    map %.3f s, rounds %.3f s: share of the map %.2f   product of matrices of the same size %.3f s, "
              "%.2f of the map" %
              (entry["map"], entry["rounds"], entry["map_share"], entry["gemm"], entry["gemm_share"]))
        print_times("  stream, start to end", entry["times"])
