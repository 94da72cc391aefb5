"""Files: reading, one pass of learning, predicting; and the memory of reading and streaming."""
import gzip
import json
import os
import shutil
import statistics
import subprocess

from timing import medians, megabytes, note, print_times, ratio, run, seconds

# How a pass is made: as the file has the rows and the last weights, or what `unconfuse train` does by default.
PASSES = [("in-order", "last"), ("shuffled", "average")]
# What is timed: name, arguments of make_data.py, whether the wanted ratios are about it.
SHAPES = [
    ("sparse, 20 classes", ["sparse", "20"], True),
    ("sparse, 2 classes", ["sparse", "2"], False),
    ("100 columns, 2 classes", ["dense", "2"], False),
]


# ---- the three jobs ----


def read(bench, data):
    """Reading the whole file into memory."""
    # One weight for one column: the columns beyond it are dropped as they are read, and nothing is left to predict.
    tiny = bench.path("tiny.liblinear")
    with open(tiny, "w", encoding="ascii") as file:
        file.write("solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n0.5 \n")
    tasks = {}
    for n in bench.cores:
        tasks["unconfuse", n] = lambda n=n: bench.run_inside("read", data, n, cores=n)
    if bench.liblinear:
        tasks["LIBLINEAR", 1] = lambda: run([bench.liblinear, data, tiny, "/dev/null"])
    if bench.sklearn:
        tasks["scikit-learn", 1] = lambda: bench.sklearn.ask("load", data)
    return medians(tasks, bench.args.runs)


def rates(bench, data):
    """Bytes a second of one core that looks at every byte of the file, or copies as many within the memory."""
    answer = bench.ask("scan", data, bench.args.runs)
    return {name: answer["bytes"] / statistics.median(one["processor"] for one in answer[name])
            for name in ("scans", "copies")}


def learn(bench, data, settings):
    """One pass over data in memory."""
    tasks = {("unconfuse", 1): lambda: bench.ask("learn", data, *settings)}
    if bench.sklearn:
        tasks["scikit-learn", 1] = lambda: bench.sklearn.ask("fit", *settings)
    return medians(tasks, bench.args.runs)


def predict(bench, data, model):
    """From the files to a file of predictions; also the share of rows where both say the same."""
    exported = bench.path("model.liblinear")
    run([bench.program, "convert", model, exported, "--to", "liblinear"])
    ours, theirs = bench.path("ours.txt"), bench.path("theirs.txt")
    tasks = {}
    for n in bench.cores:
        command = [bench.program, "predict", model, data, "-o", ours, "--threads", str(n), "-q"]
        tasks["unconfuse", n] = lambda n=n, command=command: run(command, n)
    if bench.liblinear:
        tasks["LIBLINEAR", 1] = lambda: run([bench.liblinear, data, exported, theirs])
    result = medians(tasks, bench.args.runs)
    agreement = None
    if bench.liblinear:
        with open(ours, encoding="utf-8") as a, open(theirs, encoding="utf-8") as b:
            same = [x == y for x, y in zip(a, b, strict=True)]
        agreement = sum(same) / len(same)
    return result, agreement


def shape(bench, name, arguments, judged):
    data = bench.make_data(arguments)
    facts = bench.ask("read", data, 1)
    result = {"name": name, "judged": judged, "bytes": os.path.getsize(data), "rows": facts["rows"],
              "columns": facts["columns"], "array_bytes": facts["array_bytes"]}
    note("%s: reading" % name)
    result["read"] = read(bench, data)
    result["rates"] = rates(bench, data)
    note("%s: learning" % name)
    result["learn"] = {" ".join(settings): learn(bench, data, settings) for settings in PASSES}
    note("%s: predicting" % name)
    model = bench.path("model.uc")
    run([bench.program, "train", "spa", "--passes", "1", "-q", data, "-o", model])
    result["predict"], result["same_predictions"] = predict(bench, data, model)
    return result


# ---- memory ----


def reading_memory(bench):
    data = bench.make_data(SHAPES[0][1])
    packed = {"gz": data + ".gz", "zst": data + ".zst"}
    if not os.path.exists(packed["gz"]):
        with open(data, "rb") as plain, gzip.open(packed["gz"], "wb", compresslevel=1) as out:
            shutil.copyfileobj(plain, out)
    if not os.path.exists(packed["zst"]):
        run([bench.program, "convert", data, packed["zst"], "-q"])
    result = []
    cores = bench.cores[-1]
    for name, path in (("plain", data), (".gz", packed["gz"]), (".zst", packed["zst"]), ("pipe", None)):
        if path:
            output = run([bench.inside, "read", path, str(cores)], cores)["output"]
        else:
            with subprocess.Popen(["cat", data], stdout=subprocess.PIPE) as cat:
                output = run([bench.inside, "read", "-", str(cores)], cores, stdin=cat.stdout)["output"]
        facts = json.loads(output)
        arrays = facts["array_bytes"]
        result.append({"input": name, "array_bytes": arrays, "peak_bytes": facts["peak_bytes"],
                       "before_bytes": facts["before_bytes"],
                       "ratio": (facts["peak_bytes"] - facts["before_bytes"]) / arrays,
                       "ratio_of_process": facts["peak_bytes"] / arrays})
    return result


def stream_memory(bench):
    data = bench.make_data(SHAPES[0][1])
    longer = data + ".3"
    with open(longer, "wb") as out:
        for _ in range(3):
            with open(data, "rb") as part:
                shutil.copyfileobj(part, out)
    result = []
    for path in (data, longer):
        times = run([bench.program, "stream", "perceptron", path, "--json", "-q"], bench.cores[-1])
        result.append({"bytes": os.path.getsize(path), "peak_bytes": times["peak_bytes"],
                       "elapsed": times["elapsed"]})
    os.remove(longer)
    return result


def files(bench):
    shapes = [shape(bench, *entry) for entry in SHAPES]
    note("memory")
    return {"shapes": shapes, "memory": reading_memory(bench), "stream": stream_memory(bench)}


PARTS = {"files": files}


# ---- what was wanted, and telling ----


def rows(parts, add):
    for entry in parts["files"]["shapes"] if "files" in parts else []:
        if entry["judged"]:
            data = "%s of text, %s" % (megabytes(entry["bytes"]), entry["name"])
            add("reading", data, entry["read"], limit=("scan", entry["bytes"]))
            for settings, times in entry["learn"].items():
                add("a pass of spa, %s" % settings.replace(" ", ", "), data, times, limit=("memory", entry["array_bytes"]))
            add("prediction", data, entry["predict"], limit=("scan", entry["bytes"]))


def wanted(parts, add):
    if "files" not in parts:
        return
    result = parts["files"]
    for entry in result["shapes"]:
        if not entry["judged"]:
            continue
        add("reading, one core, against LIBLINEAR", "at least 10x", ratio(entry["read"], "LIBLINEAR"),
            lambda x: x >= 10)
        add("reading, one core, against scikit-learn", "at least 20x", ratio(entry["read"], "scikit-learn"),
            lambda x: x >= 20)
        one, two = (seconds(entry["read"], "unconfuse", n, "elapsed") for n in (1, 2))
        add("reading, two cores against one", "more than 1x", one / two if two else None, lambda x: x > 1)
        for settings, times in entry["learn"].items():
            add("one pass of spa (%s) against scikit-learn" % settings.replace(" ", ", "), "at least 5x",
                ratio(times, "scikit-learn"), lambda x: x >= 5)
        add("predicting, one core, against LIBLINEAR", "at least 10x", ratio(entry["predict"], "LIBLINEAR"),
            lambda x: x >= 10)
    for entry in result["memory"]:
        most = 1.2 if entry["input"] == "plain" else 2.2
        add("memory of reading, %s" % entry["input"], "at most %.1fx the arrays" % most, entry["ratio"],
            lambda x, most=most: x <= most)
    one, three = (entry["peak_bytes"] for entry in result["stream"])
    add("memory of stream, file three times as long", "at most 1.1x", three / one, lambda x: x <= 1.1)


def print_rates(entry):
    rate = entry["bytes"] / seconds(entry["read"], "unconfuse", 1)
    print("    %s a second; one core looks at %s a second (%.0f%% of that), and copies %s within the memory "
          "(%.0f%%)" % (megabytes(rate), megabytes(entry["rates"]["scans"]), 100 * rate / entry["rates"]["scans"],
                        megabytes(entry["rates"]["copies"]), 100 * rate / entry["rates"]["copies"]))


def report(parts):
    if "files" not in parts:
        return
    result = parts["files"]
    for entry in result["shapes"]:
        print("\n%s: %d rows, %d columns, %s of LIBSVM text" %
              (entry["name"], entry["rows"], entry["columns"], megabytes(entry["bytes"])))
        print_times("  read the file", entry["read"])
        print_rates(entry)
        for settings, times in entry["learn"].items():
            print_times("  one pass in memory, %s: spa, PassiveAggressiveClassifier" % settings.replace(" ", ", "),
                        times)
        print_times("  predict, file to file", entry["predict"])
        if entry["same_predictions"] is not None:
            print("    the same class in %.4f%% of the rows" % (100 * entry["same_predictions"]))
    print("\nmemory of reading (%s)" % SHAPES[0][0])
    for entry in result["memory"]:
        print("    %-6s arrays %s, most while reading %s: %.2fx; with the %s that the process had before: %.2fx" %
              (entry["input"], megabytes(entry["array_bytes"]),
               megabytes(entry["peak_bytes"] - entry["before_bytes"]), entry["ratio"],
               megabytes(entry["before_bytes"]), entry["ratio_of_process"]))
    print("\nmemory of stream perceptron")
    for entry in result["stream"]:
        print("    %9s file: %s, %.2f s" % (megabytes(entry["bytes"]), megabytes(entry["peak_bytes"]), entry["elapsed"]))
