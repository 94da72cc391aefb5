"""What the machine gives, one core against two, and two processes against two threads."""
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import statistics

from timing import in_turn, note, run

# Rows, columns and classes of the dense rows; as judged, and small.
SIZES = {
    "machine": {"full": (400, 2000), "quick": (40, 500)},  # megabytes of the array, size of the matrices
    "scan": {"full": 100_000_000, "quick": 1_000_000},  # bytes of text
    "dense": {"full": (200_000, 200, 10), "quick": (5000, 50, 10)},
    "pairs": {"full": (400_000, 200, 2), "quick": (5000, 50, 2)},
    "kpca": {"full": (6000, 64, 400), "quick": (1500, 64, 64)},  # rows, columns, dimension
}
# How each learner is trained. csvm has other steps in several processes than in one, so it goes on until it is as near
# to its minimum; the others make so many steps.
LEARNERS = {
    "uma": ["uma", "--noise-rate", "0.2", "--iterations", "100", "--return", "average"],
    "logistic": ["logistic", "--iterations", "20", "--tolerance", "1e-9"],
    "csvm": ["csvm", "--cost", "10000", "--tolerance", "0.001"],
    "rp": ["rp", "--kappa", "0.1", "--map", "none", "--iterations", "100"],
    "spa": ["spa", "--passes", "1"],
}
BATCH = ("uma", "logistic", "csvm", "rp")
SHORT = ("csvm",)  # a tenth of a second: the median of four times as many runs
LARGE = 4  # times as much text as where programs are compared: reading and prediction are to gain on large data
WANTED_SPEEDUP = 1.8
WANTED_RATIO = 1.15  # two processes compared with two threads


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def train(bench, words, data, threads=1, processes=None, cores=None):
    """Learns once; the seconds of learning as the program tells them, the model, and the share of the sums. In one
    process with so many threads, or in several processes with one thread each; on as many cores by default."""
    model = bench.path("scaling.uc")
    command = [bench.program]
    if processes:
        command = ["mpirun", "--oversubscribe", "-n", str(processes), bench.program + "-mpi"]
    command += ["train", *words, data, "-o", model, "--threads", str(threads), "--json", "--verbose"]
    answer = run(command, cores or processes or threads)
    share = re.search(r"took the first process .*\(([\d.]+)%\)", answer["errors"])
    return {"seconds": json.loads(answer["output"])["seconds"], "result": digest(model),
            "share": float(share[1]) / 100 if share else None}


def dense(bench, rows, columns, classes):
    """Made rows in the binary format, which is mapped."""
    path, labels = bench.make_arrays(rows, columns, classes)
    return bench.convert(path, ".ucd", "--labels", labels)


def data_of(bench, learner):
    """What a learner is trained on where cores and processes are compared."""
    if learner == "csvm":
        return bench.convert(bench.make_data(["sparse", "2"]), ".ucd")
    return dense(bench, *SIZES["pairs" if learner == "rp" else "dense"][bench.args.size])


def median_of(answers, name):
    return statistics.median(answer[name] for answer in answers)


# ---- the machine ----


def text_rates(bench):
    """Bytes a second of a file of which every byte is looked at, and of a copy within the memory; one core."""
    path, size = bench.path("scan.txt"), SIZES["scan"][bench.args.size]
    with open(path, "wb") as file:
        file.write(b"17:0.251 90:1.5\n" * (size // 16))
    answer = bench.ask("scan", path, bench.args.runs + 1)
    os.remove(path)
    return {name: answer["bytes"] / median_of(answer[times][1:], "processor")
            for name, times in (("scan", "scans"), ("copy", "copies"))}


@functools.lru_cache(maxsize=1)
def machine(bench):
    """Bytes a second that a loop reads from memory, and operations a second in products of matrices of doubles; with one
    thread also those of text that is looked at, and copied."""
    result = []
    for n in bench.cores:
        answer = bench.ask("machine", *SIZES["machine"][bench.args.size], bench.args.runs + 1, n, cores=n)
        clock = "processor" if n == 1 else "elapsed"  # as everywhere: the one that other programs disturb least
        result.append({"threads": n, "bandwidth": answer["bytes"] / median_of(answer["reads"][1:], clock),
                       "gemm": answer["operations"] / median_of(answer["products"][1:], clock),
                       **(text_rates(bench) if n == 1 else {})})
    return result


# ---- threads ----


def thread_jobs(bench):
    """Jobs by name: functions of the number of threads and of cores that give the seconds and what came out."""
    rows, columns, dimension = SIZES["kpca"][bench.args.size]
    map_words = ["perceptron", "--passes", "1", "--map", "kpca", "--dimension", str(dimension)]
    mapped = dense(bench, rows, columns, 10)
    text = bench.make_data(["sparse", "20"], LARGE * bench.args.bytes)
    model, predictions, copy = (bench.path("threads" + ending) for ending in (".uc", ".txt", ".ucd"))
    run([bench.program, "train", "spa", "--passes", "1", "-q", text, "-o", model])

    def learn(learner):
        data = data_of(bench, learner)
        return lambda n, cores: train(bench, LEARNERS[learner], data, n, cores=cores)

    @functools.lru_cache
    def what_was_read(n):
        """Once, in the warm-up: what is written must not still be on its way to the disk where time is taken."""
        run([bench.program, "convert", text, copy, "--threads", str(n), "-q"], n)
        os.sync()
        return digest(copy)

    def read(n, cores):
        return {"result": what_was_read(n), "seconds": bench.ask("read", text, n, cores=cores)["elapsed"]}

    def predict(n, cores):
        answer = run([bench.program, "predict", model, text, "-o", predictions, "--threads", str(n), "-q"], cores)
        return {"seconds": answer["elapsed"], "result": digest(predictions)}

    return {**{learner: learn(learner) for learner in ("uma", "logistic", "csvm")},
            "kpca": lambda n, cores: train(bench, map_words, mapped, n, cores=cores), "reading": read,
            "prediction": predict}


def copies(job, count):
    """As many of the job at once, with one thread each."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(lambda _: job(1, count), range(count)))
    return {"seconds": statistics.fmean(answer["seconds"] for answer in answers), "result": answers[0]["result"]}


def threads(bench):
    jobs, result = thread_jobs(bench), []
    one, *others = machine(bench)
    most = bench.cores[-1]
    for name, job in jobs.items():
        note("threads: %s" % name)
        tasks = {n: functools.partial(job, n, n) for n in bench.cores}
        answers = in_turn({**tasks, "copies": functools.partial(copies, job, most)},
                          bench.args.runs * (4 if name in SHORT else 1))
        seconds = [median_of(answers[n], "seconds") for n in bench.cores]
        result.append({"job": name, "seconds": seconds, "speedup": seconds[0] / seconds[-1],
                       "ceiling": most * seconds[0] / median_of(answers["copies"], "seconds"),
                       "same": len({answer["result"] for given in answers.values() for answer in given}) == 1})
    most = others[-1] if others else one
    return {"jobs": result, "threads": bench.cores[-1],
            **{name + "_speedup": most[name] / one[name] for name in ("bandwidth", "gemm")}}


# ---- processes ----


def processes(bench):
    """Two processes with one thread each compared with one process with two threads. None: they cannot be started."""
    if not bench.mpi:
        return None
    result = []
    for learner in BATCH:
        note("processes: %s" % learner)
        words, data = LEARNERS[learner], data_of(bench, learner)
        answers = in_turn({"threads": lambda: train(bench, words, data, 2),
                           "processes": lambda: train(bench, words, data, processes=2)},
                          bench.args.runs * (4 if learner in SHORT else 1))
        entry = {name: median_of(given, "seconds") for name, given in answers.items()}
        result.append({"job": learner, "data": os.path.basename(data), **entry,
                       "ratio": entry["processes"] / entry["threads"],
                       "share": median_of(answers["processes"], "share")})
    return result


PARTS = {part.__name__: part for part in (machine, threads, processes)}


# ---- what was wanted, and telling ----


def rows(parts, add):
    """No other program takes part."""


def wanted(parts, add):
    for entry in parts["threads"]["jobs"] if "threads" in parts else []:
        if parts["threads"]["threads"] > 1:
            add("%s, two cores against one" % entry["job"], "at least %.1fx" % WANTED_SPEEDUP, entry["speedup"],
                lambda x: x >= WANTED_SPEEDUP)
        add("%s, the same bytes for any number of threads" % entry["job"], "all", float(entry["same"]), lambda x: x == 1)
    for entry in parts.get("processes") or []:
        add("%s, two processes compared with two threads" % entry["job"], "at most %.2fx" % WANTED_RATIO, entry["ratio"],
            lambda x: x <= WANTED_RATIO)


def report(parts):
    if "machine" in parts:
        print("\nthe machine")
    for entry in parts.get("machine", []):
        print("    threads: %d   reading memory %6.1f GB/s   products of matrices of doubles %6.1f Gflop/s" %
              (entry["threads"], entry["bandwidth"] / 1e9, entry["gemm"] / 1e9))
        if "scan" in entry:
            print("                 looking at every byte of a file %.1f GB/s   copying %.1f GB/s" %
                  (entry["scan"] / 1e9, entry["copy"] / 1e9))
    if "threads" in parts:
        entry = parts["threads"]
        print("\none core against two; reading memory alone: %.2fx, products of matrices: %.2fx" %
              (entry["bandwidth_speedup"], entry["gemm_speedup"]))
        for job in entry["jobs"]:
            print("    %-12s %8.3f s %8.3f s   %.2fx, two copies at once %.2fx   %s" %
                  (job["job"], job["seconds"][0], job["seconds"][-1], job["speedup"], job["ceiling"],
                   "the same bytes" if job["same"] else "OTHER BYTES"))
    if parts.get("processes"):
        print("\ntwo threads, and two processes with one thread each")
    for job in parts.get("processes") or []:
        print("    %-12s %8.3f s %8.3f s   %.2fx as long   sums, and waiting: %.1f%%" %
              (job["job"], job["threads"], job["processes"], job["ratio"], 100 * job["share"]))
