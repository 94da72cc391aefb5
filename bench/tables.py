"""Tables: a first look, reading and encoding of a CSV file, next to pandas.read_csv and scikit-learn's ColumnTransformer.

    bench/tables.py build/release/bench/bench_inside [MEGABYTES [ROUNDS]]

One core each, in a process of its own, by turns: medians of the rounds. The table is made from a seed. Prints seconds of the
CPU, their ratio, peak memory over that of the encoded arrays, and megabytes a second beside those of
a scan, which only looks at every byte of the file, and of a copy of as many within the memory, as JSON lines."""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from timing import INSIDE, PYTHON

WORDS = [f"word{i}" for i in range(3000)]
PEER = """
import json, resource, sys, time
import numpy, pandas
kind, path = sys.argv[1:3]
begun = time.process_time()
table = pandas.read_csv(path)
read = time.process_time() - begun
if kind == "mixed":
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
    def parts(column):
        date = pandas.to_datetime(column.iloc[:, 0])
        return numpy.column_stack([date.astype("int64") // 86400000000000, date.dt.year, date.dt.month, date.dt.weekday])
    words = make_pipeline(HashingVectorizer(n_features=2**18, ngram_range=(1, 2), norm=None, alternate_sign=False),
                          TfidfTransformer(norm=None, sublinear_tf=True))
    ColumnTransformer([("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
                        [f"n{i}" for i in range(10)]),
                       ("categories", OneHotEncoder(), [f"c{i}" for i in range(5)]),
                       ("date", FunctionTransformer(parts), ["since"]), ("text", words, "comment")]).fit_transform(table)
print(json.dumps({"read": read, "seconds": time.process_time() - begun,
                  "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def write_mixed(path, size):
    """Ten numbers, five categories, a date and a text."""
    draw = random.Random(1)
    block = []
    for i in range(5000):
        numbers = ["" if draw.random() < 0.02 else f"{draw.gauss(0, 10 ** (k % 4)):.4f}" for k in range(10)]
        categories = [f"value {draw.randrange(4 + 6 * k)}" for k in range(5)]
        date = f"20{draw.randrange(10, 25)}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}"
        text = " ".join(draw.choices(WORDS, k=10))
        block.append(",".join([*numbers, *categories, date, text, draw.choice("ab")]) + "\n")
    header = ",".join([f"n{i}" for i in range(10)] + [f"c{i}" for i in range(5)] + ["since", "comment", "label"]) + "\n"
    write_blocks(path, header, block, size, draw)


def write_numbers(path, size):
    draw = random.Random(2)
    block = [",".join(f"{draw.gauss(0, 1):.6f}" for _ in range(20)) + f",{draw.choice('ab')}\n" for _ in range(5000)]
    write_blocks(path, ",".join(f"x{i}" for i in range(20)) + ",label\n", block, size, draw)


def write_blocks(path, header, block, size, draw):
    with open(path, "w", encoding="ascii") as file:
        file.write(header)
        while file.tell() < size:
            draw.shuffle(block)
            file.write("".join(block))


def timed(command):
    """Seconds of the CPU, and what the program prints, on one core."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                               env={**INSIDE, "OMP_NUM_THREADS": "1"},
                               preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} failed")
    return usage.ru_utime + usage.ru_stime, json.loads(output), usage.ru_stime


def main():
    inside = sys.argv[1]
    size = float(sys.argv[2] if len(sys.argv) > 2 else 200) * 1e6
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as scratch:
        for kind, write in (("mixed", write_mixed), ("numbers", write_numbers)):
            path = os.path.join(scratch, f"{kind}.csv")
            write(path, size)
            rounds = [(timed([inside, "read", path, "1"]), timed([PYTHON, "-c", PEER, kind, path])[1]) for _ in range(count)]
            tell(kind, os.path.getsize(path), rounds, timed([inside, "scan", path, "3"])[1])


def tell(kind, size, rounds, machine):
    seconds = statistics.median(own[0] for own, _ in rounds)
    ours, theirs = rounds[0][0][1], sorted((peer for _, peer in rounds), key=lambda peer: peer["seconds"])[len(rounds) // 2]
    rates = {name: machine["bytes"] / statistics.median(one["processor"] for one in machine[name]) for name in ("scans", "copies")}
    print(json.dumps({"table": kind, "megabytes": round(size / 1e6), "seconds": round(seconds, 3),
                      "of them kernel": round(statistics.median(own[2] for own, _ in rounds), 3),
                      "peer seconds": round(theirs["seconds"], 3), "of them read_csv": round(theirs["read"], 3),
                      "ratio": round(theirs["seconds"] / seconds, 2), "MB/s": round(size / 1e6 / seconds),
                      "scan MB/s": round(rates["scans"] / 1e6), "copy MB/s": round(rates["copies"] / 1e6),
                      "share of scan": round(size / seconds / rates["scans"], 3),
                      "share of copy": round(size / seconds / rates["copies"], 3), "arrays MB": round(ours["array_bytes"] / 1e6),
                      "memory over arrays": round((ours["peak_bytes"] - ours["before_bytes"]) / ours["array_bytes"], 2)}),
          flush=True)


if __name__ == "__main__":
    main()
