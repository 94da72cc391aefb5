"""The commands that are tortured, and the small files that they read. Each takes milliseconds, and together they come by
every reader and writer, every kind of learner, and every library that allocates by itself."""
import gzip
import json
import pathlib
import random
import shutil
import subprocess
from typing import NamedTuple


class Command(NamedTuple):
    name: str
    arguments: tuple
    outputs: tuple = ()  # files that it writes
    stdin: str = ""  # the file that it gets as standard input
    environment: tuple = ()  # pairs
    program: str = "unconfuse"


def command(name, line, *outputs, stdin="", program="unconfuse", **environment):
    words = line.split() if "--threads" in line else [*line.split(), "--threads", "1"]
    return Command(name, tuple(words), outputs, stdin, tuple(environment.items()), program)


# One thread unless the line says otherwise: then the n-th call is the same one in every run.
COMMANDS = [
    command("train-spa", "train spa three.svm -o out.uc", "out.uc"),
    command("train-threads", "train perceptron three.svm -o out.uc --threads 2", "out.uc"),
    command("train-onebit", "train onebit three.svm -o out.uc", "out.uc"),
    command("stream-doubt", "stream onebit three.svm --feedback mixed --feedback-noise estimate --flip-feedback 0.1,0.1 -o out.uc",
            "out.uc"),
    command("stream-onebit", "stream onebit three.svm --resume onebit.uc -o out.uc", "out.uc"),
    command("train-cspa-plus", "train cspa-plus three.svm -o out.uc", "out.uc"),
    command("train-confidit", "train confidit three.csv -o out.uc --scale standard", "out.uc"),
    command("train-arow", "train arow three.csv -o out.uc --covariance full", "out.uc"),
    command("train-scw", "train scw three.svm -o out.uc", "out.uc"),
    command("train-soba", "train soba three.svm -o out.uc", "out.uc"),
    command("train-logistic", "train logistic three.svm -o out.uc --noise-matrix noise.csv", "out.uc"),
    command("train-estimate", "train logistic three.svm -o out.uc --noise estimate", "out.uc"),
    command("train-uma", "train uma three.ucd -o out.uc --noise-matrix noise.csv --iterations 20 --threads 2",
            "out.uc"),
    command("train-csvm", "train csvm two.svm -o out.uc --map nystroem --dimension 5", "out.uc"),
    command("train-rp", "train rp two.svm -o out.uc --dimension 5 --kappa 0.5 --width 1", "out.uc"),
    command("train-kpca", "train pa two.svm -o out.uc --map kpca --dimension 4", "out.uc"),
    command("train-sloppy", "train sloppy-svm two.svm -o out.uc --noise-rates 0.1,0.2", "out.uc"),
    command("train-bags", "train csvm bags.svm -o out.uc --bags --bag-rule instance", "out.uc"),
    command("train-witness", "train sloppy-svm bags.svm -o out.uc --bags --bag-rule witness --noise-rates 0,0.2", "out.uc"),
    command("evaluate-bags", "evaluate bags.uc bags.svm --bags"),
    command("train-pu", "train pu few.svm -o out.uc --positive 1 --prior 0.5 --l2 0.1", "out.uc"),
    command("train-s3vm", "train s3vm few.svm -o out.uc", "out.uc"),
    command("train-folds", "train pa three.svm -v 3"),
    command("train-shards", "train pa --shards part-{0,1}.svm.gz -o out.uc", "out.uc"),
    command("train-json", "train spa three.svm -o out.uc --json", "out.uc"),
    command("predict", "predict logistic.uc three.svm.zst -o out.txt", "out.txt"),
    command("predict-scores", "predict map.uc two.svm --scores"),
    command("predict-suspect", "predict logistic.uc three.svm --probabilities --suspect -o out.txt", "out.txt"),
    command("predict-stdin", "predict model.uc -", stdin="three.svm"),
    command("evaluate", "evaluate model.uc three.csv --noise-matrix noise.csv"),
    command("evaluate-json", "evaluate logistic.uc three.svm.gz --json"),
    command("stream", "stream cspa three.svm -o out.uc --quiet", "out.uc"),
    command("stream-resume", "stream cspa-plus three.svm --resume stream.uc -o out.uc", "out.uc"),
    command("stream-landmarks", "stream spa three.svm --map landmarks --dimension 5 -o out.uc --passes 2 --shuffle",
            "out.uc"),
    command("stream-stdin", "stream cspa - --classes 1,2,3 --json", stdin="three.svm"),
    command("compare", "compare three.svm --learners cspa,banditron --runs 2 --threads 2"),
    command("noise-make", "noise make random --classes 3 --level 5 -o out.csv", "out.csv"),
    command("noise-complementary", "noise make complementary --classes a,b,c -o out.csv", "out.csv"),
    command("noise-apply", "noise apply three.svm --noise-matrix noise.csv -o out.svm", "out.svm"),
    command("noise-apply-npy", "noise apply three.npy --labels three-labels.npy --noise-matrix noise.npy -o out.npy"
            " --labels-out out-labels.npy", "out.npy", "out-labels.npy"),
    command("noise-gold", "noise estimate three.svm --method gold --gold gold.txt -o out.csv --bootstrap 20", "out.csv"),
    command("noise-model", "noise estimate three.svm --method model --predictions gold.txt -o out.csv --bootstrap 20",
            "out.csv"),
    command("noise-cv", "noise estimate three.svm --method cv -o out.csv --bootstrap 20 --folds 3", "out.csv"),
    command("noise-self", "noise estimate three.svm --method self -o out.csv --bootstrap 0 --folds 3", "out.csv"),
    command("check", "check three.svm --model model.uc --rows 12 -o out.csv", "out.csv"),
    command("evaluate-gold", "evaluate model.uc three.svm --gold checked.csv --json"),
    command("train-audit", "train audit three.svm -o out.uc --landmarks 12 --axes 5", "out.uc"),
    command("audit-table", "audit table.csv -o out.csv --model-out out.uc --noise-out out-noise.csv --clean-out out-clean.csv"
            " --check 4 --check-out out-check.csv --bootstrap 5 --landmarks 12 --axes 5 --quiet",
            "out.csv", "out.uc", "out-noise.csv", "out-clean.csv", "out-check.csv"),
    command("audit-gold", "audit three.svm.gz --gold checked.csv --json --mode labels --bootstrap 5 --landmarks 12 --axes 5"),
    command("audit-crowd", "audit three.svm --crowd crowd.csv -o out.csv --consensus-out out-consensus.csv --state-out out.state"
            " --landmarks 12 --axes 5", "out.csv", "out-consensus.csv", "out.state"),
    command("audit-resume", "audit --crowd crowd.csv --resume crowd.state --json"),
    command("audit-probabilities", "audit gold.txt --probabilities probabilities.csv -o out.csv", "out.csv"),
    command("generate", "generate cspa-gaussians --examples 20 --test out-test.svm --test-examples 10 -o out.svm",
            "out.svm", "out-test.svm"),
    command("split", "split three.svm -o out.svm --rest out-rest.csv.gz", "out.svm", "out-rest.csv.gz"),
    command("convert-csv", "convert three.svm.gz out.csv", "out.csv"),
    command("convert-gz", "convert three.csv out.svm.gz", "out.svm.gz"),
    command("convert-zst", "convert three.ucd out.svm.zst", "out.svm.zst"),
    command("convert-npy", "convert three.svm.zst out.npy --labels-out out-labels.npy", "out.npy", "out-labels.npy"),
    command("convert-ucd", "convert three.npy out.ucd --labels three-labels.npy", "out.ucd"),
    command("convert-stdout", "convert three.ucd -"),
    command("export", "convert model.uc out.model --to liblinear", "out.model"),
    command("import", "convert model.liblinear out.uc", "out.uc"),
    command("train-table", "train logistic table.csv -o out.uc", "out.uc"),
    command("validate-table", "train perceptron table.csv -v 3"),
    command("train-jsonl", "train perceptron table.jsonl -o out.uc", "out.uc"),
    command("predict-jsonl", "predict table.uc -", stdin="table.jsonl"),
    command("convert-jsonl", "convert table.csv out.jsonl", "out.jsonl"),
    command("split-jsonl", "split table.jsonl -o out.jsonl --rest out-rest.csv", "out.jsonl", "out-rest.csv"),
    command("inspect-table", "inspect table.csv --json"),
    command("inspect-data", "inspect three.ucd"),
    command("inspect-model", "inspect map.uc --json"),
    command("learners", "learners --json"),
    command("papers", "run copa.toy --quick --runs 1", program="unconfuse-papers"),
    command("papers-json", "run copa.toy --quick --runs 1 --json", program="unconfuse-papers"),
]

NOISE = "0.8,0.1,0.1\n0.1,0.8,0.1\n0.1,0.1,0.8\n"


def blobs(names, rows, seed):
    """LIBSVM text of overlapping Gaussians, one for each class."""
    draw = random.Random(seed)
    centres = [[draw.uniform(-1, 1) for _ in range(3)] for _ in names]
    lines = []
    for row in range(rows):
        which = row % len(names)
        features = " ".join(f"{j}:{draw.gauss(x, 0.6):.3f}" for j, x in enumerate(centres[which], 1))
        lines.append(f"{names[which]} {features}")
    return lines


def npy_matrix(rows):
    """An NPY file of doubles, written by hand so that the tests need no NumPy."""
    import struct
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    numbers = [value for row in rows for value in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}d",
                                                                                                *numbers)


def make_inputs(program, directory):
    """Writes all files that the commands read; the program makes those that only it can make."""
    def write(name, content):
        pathlib.Path(directory, name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def run(line):
        subprocess.run([program, *line.split(), "--quiet"], cwd=directory, check=True, stdout=subprocess.DEVNULL)

    three, two = blobs("123", 30, 1), blobs("12", 24, 2)
    write("three.svm", "\n".join(three) + "\n")
    write("two.svm", "\n".join(two) + "\n")
    table = [(f"C{i}", "" if i % 5 == 0 else f"{i * i % 17}", "red" if i % 3 else "blue", f"2024-01-{1 + i % 28:02d}",
              f"good no{i}" if i % 2 else f"bad item no{i}", "ab"[i % 2]) for i in range(20)]
    names = ("row_id", "n", "colour", "since", "text", "label")
    write("table.csv", "".join(",".join(row) + "\n" for row in (names, *table)))
    write("table.jsonl", "".join(json.dumps(dict(zip(names, row))) + "\n" for row in table))
    write("bags.svm", "".join(f"{1 + i // 12} bag:{i // 3} {line[2:]}\n" for i, line in enumerate(two)))
    write("few.svm", "\n".join(line if i < 6 else "?" + line[1:] for i, line in enumerate(two)) + "\n")
    write("gold.txt", "".join(line[0] + "\n" for line in three))
    write("crowd.csv", "row,annotator,label\n" + "".join(f"{i + 1},w{j},{1 + (i + (i * j) % 5 // 4) % 3}\n"
                                                         for i in range(30) for j in range(1, 4)))
    write("first.csv", "row,annotator,label\n" + "".join(f"{i + 1},first,{1 + i % 3}\n" for i in range(30)))
    write("probabilities.csv", "1,2,3\n" + "".join(",".join("0.8" if i % 3 == k else "0.1" for k in range(3)) + "\n"
                                                   for i in range(30)))
    for part in range(2):
        write(f"part-{part}.svm.gz", gzip.compress("\n".join(three[part::2]).encode(), mtime=0))
    write("noise.csv", NOISE)
    write("noise.npy", npy_matrix([[float(x) for x in line.split(",")] for line in NOISE.split()]))
    run("convert three.svm three.csv")
    run("convert three.svm three.ucd")
    run("convert three.svm three.npy --labels-out three-labels.npy")
    run("convert three.svm three.svm.gz")
    run("convert three.svm three.svm.zst")
    run("train spa three.svm -o model.uc")
    run("check three.svm --model model.uc --rows 12 -o checked.csv")
    checked = pathlib.Path(directory, "checked.csv").read_text().splitlines()
    write("checked.csv", "\n".join([*checked[:2], *(line + "1" for line in checked[2:])]) + "\n")
    run("audit --crowd first.csv --state-out crowd.state")
    run("train perceptron table.csv -o table.uc")
    run("train logistic three.svm -o logistic.uc --noise-matrix noise.csv")
    run("train pa two.svm -o map.uc --map nystroem --dimension 5")
    run("train csvm bags.svm -o bags.uc --bags --bag-rule witness")
    run("stream cspa-plus three.svm -o stream.uc")
    run("stream onebit three.svm -o onebit.uc")
    run("convert model.uc model.liblinear --to liblinear")


def inputs_of(one, directory):
    """The names of the files that a command reads."""
    words = " ".join(one.arguments) + " " + one.stdin
    names = [path.name for path in pathlib.Path(directory).iterdir()]
    return [name for name in names if name in words.split() or (name.startswith("part-") and "part-" in words)]


def copy_inputs(one, source, target):
    for name in inputs_of(one, source):
        shutil.copyfile(pathlib.Path(source, name), pathlib.Path(target, name))
