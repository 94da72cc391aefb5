"""What all parts of the benchmark share: the programs and the data, running them, medians of their times, ratios, and
how times are printed.

A part is a function that takes a Bench and gives what it measured. A module of parts has

    PARTS                   names and functions
    rows(parts, add)        the rows of the table of all jobs: add(job, data, times, peers..., limit=(kind, amount))
    wanted(parts, add)      add(what, text, figure, met) for what was wanted
    report(parts)           prints the details

where `parts` are the results by name, of those parts that were measured. A limit is what the machine has to do at least:
so many bytes of memory to read, bytes of text to scan, or operations of products of matrices (LIMITS).
"""
import contextlib
import functools
import json
import mmap
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
# Where `papers` looks for data sets, too.
DATA = os.environ.get("UNCONFUSE_DATA") or os.path.join(os.path.dirname(HERE), "..", "shared", "data")
# Open MPI refuses to run as root unless these are set.
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# bench_inside links OpenBLAS to compare with, which would start threads.
INSIDE = {**ENVIRONMENT, "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "3000", "OPENBLAS_NUM_THREADS": "1"}
CORES = sorted(os.sched_getaffinity(0))
SUPPLY = 512 << 20  # bytes: more than most jobs take

LIMITS = {"memory": "bandwidth", "scan": "scan", "products": "gemm"}  # kinds, and what `machine` calls their rates


class Failed(Exception):
    pass


def note(text):
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def only(cores):
    """Programs started inside run on at most so many cores."""
    os.sched_setaffinity(0, CORES[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, CORES)


def run(command, cores=1, stdin=subprocess.DEVNULL, environment=None):
    """Runs a program to its end; gives its times in seconds, its largest resident set in bytes, and what it printed
    (the errors: on standard error)."""
    with only(cores):
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment or ENVIRONMENT)
    with process:
        output = process.stdout.read()
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed("%s ended with %d: %s" % (" ".join(command), process.returncode, errors.strip()))
    return {"elapsed": elapsed, "processor": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024,
            "output": output, "errors": errors}


class Bench:
    """The programs, and a directory for data."""

    def __init__(self, args, directory):
        self.args = args
        self.directory = directory
        self.program = os.path.join(args.build, "unconfuse")
        self.inside = os.path.join(args.build, "bench", "bench_inside")
        for program in (self.program, self.inside):
            if not os.access(program, os.X_OK):
                raise Failed("%s is not there; build first: make build" % program)
        self.cores = [n for n in (1, 2) if n <= len(CORES)]
        self.liblinear = self.installed("liblinear-predict", "liblinear-tools")

    @staticmethod
    def installed(program, package):
        path = shutil.which(program)
        if not path:
            note("%s is not installed (%s); it is left out" % (program, package))
        return path

    @functools.cached_property
    def mpi(self):
        """Whether several processes can be started."""
        built = os.access(self.program + "-mpi", os.X_OK)
        if not built:
            note("unconfuse-mpi was not built; several processes are left out")
        return bool(built and self.installed("mpirun", "openmpi-bin"))

    @functools.cached_property
    def sklearn(self):
        """Its process; None: not installed. Parts without scikit-learn need not wait until it has started."""
        with contextlib.suppress(Failed):
            return Sklearn()
        note("scikit-learn is not installed (python3-sklearn); it is left out")
        return None

    def close(self):
        if vars(self).get("sklearn"):
            self.sklearn.close()

    def path(self, name):
        return os.path.join(self.directory, name)

    def make_data(self, arguments, size=None):
        """A file of LIBSVM text, of so many bytes."""
        size = size or self.args.bytes
        path = self.path("-".join(arguments) + "-%d.svm" % size)
        if not os.path.exists(path):
            note("writing %s" % os.path.basename(path))
            run([PYTHON, os.path.join(HERE, "make_data.py"), *arguments, str(size), path + ".new"])
            os.rename(path + ".new", path)
        with open(path, "rb") as file:  # into the page cache
            while file.read(1 << 20):
                pass
        return path

    def make_arrays(self, rows, columns, classes):
        """The files of the floats and of the labels."""
        paths = [self.path("arrays-%d-%d-%d%s.npy" % (rows, columns, classes, kind)) for kind in ("", ".labels")]
        if not all(os.path.exists(path) for path in paths):
            run([PYTHON, os.path.join(HERE, "make_data.py"), "arrays", str(rows), str(columns), str(classes), *paths])
        return paths

    def convert(self, path, ending, *options):
        """The same data in another format."""
        converted = os.path.splitext(path)[0] + ending
        if not os.path.exists(converted):
            run([self.program, "convert", path, converted, *options, "-q"], len(CORES))
        return converted

    def run_inside(self, command, *words, cores=1):
        return run([self.inside, command, *(str(word) for word in words)], cores, environment=INSIDE)

    def ask(self, command, *words, cores=1):
        """What bench_inside answers."""
        return json.loads(self.run_inside(command, *words, cores=cores)["output"])


class Sklearn:
    """scikit-learn, and the naive form of uma, in a process of its own, which keeps the data."""

    def __init__(self, cores=1, script="sklearn_peer.py"):
        with only(cores):
            self.process = subprocess.Popen([PYTHON, os.path.join(HERE, script)], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.version = self.answer()["version"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed("scikit-learn's process ended")
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def median_times(answers):
    return {clock: statistics.median(t[clock] for t in answers) for clock in ("elapsed", "processor")}


def supply_memory():
    """Takes so much memory, writes to it and gives it back. A virtual machine whose free memory the host has taken away
    must get it again, which would be counted to whatever program asks first (docs/performance.md). In a process of its
    own: those that this one starts would seem to have needed as much."""
    child = os.fork()
    if child == 0:
        try:
            memory = mmap.mmap(-1, SUPPLY, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            with contextlib.suppress(OSError):  # large pages are faster, and not everywhere
                memory.madvise(mmap.MADV_HUGEPAGE)
            memory[::mmap.PAGESIZE] = bytes(SUPPLY // mmap.PAGESIZE)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def in_turn(tasks, rounds, warm_up=True):
    """What the functions in `tasks` answer, by name; in every round all take their turn. The first round is a warm-up,
    unless there is none."""
    answers = {name: [] for name in tasks}
    for i in range(rounds + warm_up):
        for name, task in tasks.items():
            supply_memory()
            answer = task()
            if i >= warm_up:
                answers[name].append(answer)
    return answers


def medians(tasks, rounds, warm_up=True):
    """tasks: (program, cores) -> function that gives times."""
    return [{"program": program, "cores": cores, **median_times(answers)}
            for (program, cores), answers in in_turn(tasks, rounds, warm_up).items()]


def seconds(times, program, cores, clock=None):
    """None when there is no such figure. One core: processor time, unless asked; two: elapsed time."""
    for entry in times:
        if (entry["program"], entry["cores"]) == (program, cores):
            return entry[clock or ("processor" if cores == 1 else "elapsed")]
    return None


def ratio(times, peer, cores=1, clock=None, peer_cores=1):
    """How many times as fast as `peer`, which uses one core by default, unconfuse is."""
    ours, theirs = seconds(times, "unconfuse", cores, clock), seconds(times, peer, peer_cores, clock)
    return theirs / ours if ours and theirs else None


def share_of_limit(parts, limit, taken):
    """The kind of a job's limit, and the share of its time that the machine alone would take; None: not known."""
    alone = next((entry for entry in parts.get("machine", []) if entry["threads"] == 1), None)
    if not (limit and alone and taken):
        return None
    kind, amount = limit
    return {"kind": kind, "share": amount / alone[LIMITS[kind]] / taken}


def print_times(title, times):
    print(title)
    for entry in sorted(times, key=lambda entry: (entry["cores"], entry["processor"])):
        one = entry["cores"] == 1
        text = "    %-22s %-10s %9.4f s" % (entry["program"], "one core" if one else "two cores",
                                           entry["processor" if one else "elapsed"])
        if entry["program"] != "unconfuse" and one:
            text += "   %6.1fx as long as unconfuse on one core" % ratio(times, entry["program"])
            two = ratio(times, entry["program"], 2, "elapsed")
            text += ", %.1fx on two" % two if two else ""
        elif entry["program"] != "unconfuse":
            text += "   %6.1fx as long as unconfuse on two" % ratio(times, entry["program"], 2, "elapsed", 2)
        print(text)


def megabytes(count):
    return "%.1f MB" % (count / 1e6)
