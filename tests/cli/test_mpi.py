"""Several processes: unconfuse-mpi under mpirun gives what unconfuse gives, and ends together with one sentence."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from conftest import PROGRAM

MPI_PROGRAM = PROGRAM + "-mpi"
pytestmark = pytest.mark.skipif(not (shutil.which("mpirun") and os.path.exists(MPI_PROGRAM)),
                                reason="unconfuse-mpi was not built, or there is no mpirun")
# Open MPI wants to be told that root, and more processes than cores, are meant.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "ASAN_OPTIONS": "detect_leaks=0"}


def mpirun(directory, processes, *arguments, timeout=600):
    command = ["mpirun", "--oversubscribe", "-n", str(processes), MPI_PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, cwd=directory, env=ENVIRONMENT, timeout=timeout, text=True)


def sentences(result):
    """What unconfuse said on standard error; mpirun adds lines of its own."""
    return [line.removeprefix("unconfuse: ") for line in result.stderr.splitlines() if line.startswith("unconfuse: ")]


def ok(directory, processes, *arguments):
    result = mpirun(directory, processes, *arguments)
    assert result.returncode == 0, result.stderr
    return result


@pytest.fixture
def shards(unconfuse):
    """Noisy rows of four classes: n.svm, the same in five shards of uneven sizes, test.svm."""
    unconfuse.ok("generate", "cspa-gaussians", "--examples", 3000, "--test", "test.svm", "-o", "clean.svm")
    unconfuse.ok("noise", "apply", "clean.svm", "--noise-rate", "0.3", "-o", "n.svm")
    lines = (unconfuse.directory / "n.svm").read_text().splitlines(keepends=True)
    for i, (first, last) in enumerate([(0, 100), (100, 1500), (1500, 1501), (1501, 2900), (2900, 3000)]):
        (unconfuse.directory / f"part-{i}.svm").write_text("".join(lines[first:last]))
    unconfuse.ok("convert", "part-3.svm", "part-3.svm.zst")
    os.remove(unconfuse.directory / "part-3.svm")
    return unconfuse


def scores(program, model):
    lines = program.ok("predict", model, "test.svm", "--scores").out.splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [row[0] for row in rows], [[float(value) for value in row[1:]] for row in rows]


def compare(program, one, other):
    """The largest difference of the scores, relative to the largest score; and the share of equal predictions."""
    (labels, a), (others, b) = scores(program, one), scores(program, other)
    largest = max(abs(x) for row in a for x in row)
    difference = max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q))
    return difference / largest, sum(x == y for x, y in zip(labels, others)) / len(labels)


LEARNERS = [("logistic", "--noise-rate", "0.3"), ("uma", "--noise-rate", "0.3"), ("rp", "--kappa", "0.1", "--map", "none"),
            ("csvm",), ("s3vm",)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner[0])
def test_batch_learners_find_the_same_model(shards, learner):
    short = ["--iterations", "10"] if learner[0] != "s3vm" else []
    shards.ok("train", *learner, *short, "n.svm", "-o", "one-10.uc")
    one = shards.json("train", *learner, "n.svm", "-o", "one.uc")
    for processes in (1, 2, 3, 4):
        ok(shards.directory, processes, "train", *learner, *short, "--shards", "part-*", "-o", "many-10.uc", "-q")
        assert compare(shards, "one-10.uc", "many-10.uc")[0] <= 1e-9
        result = ok(shards.directory, processes, "train", *learner, "n.svm", "-o", "many.uc", "--json")
        many = json.loads(result.stdout)
        assert compare(shards, "one.uc", "many.uc")[1] >= 0.999
        assert many["examples"] == one["examples"] == 3000
        if "objective" in one:
            assert many["objective"] == pytest.approx(one["objective"], rel=1e-6)
        if "corrected_error" in one:
            assert many["corrected_error"] == pytest.approx(one["corrected_error"], abs=0.002)


def test_more_columns_than_rows(shards):
    """logistic adds such rows up by columns: 150 rows of 600 columns, of which 3 to 12 in a row."""
    lines = []
    for i in range(150):
        columns = sorted({(i * 37 + j * j * 11) % 600 + 1 for j in range(3 + i % 10)})
        lines.append("%d %s\n" % (i % 4 + 1, " ".join("%d:%.3f" % (c, 1 + (c * i) % 7 / 4) for c in columns)))
    (shards.directory / "test.svm").write_text("".join(lines))
    shards.ok("train", "logistic", "--iterations", "10", "test.svm", "-o", "one.uc")
    for processes in (1, 2, 3, 4):
        ok(shards.directory, processes, "train", "logistic", "--iterations", "10", "test.svm", "-o", "many.uc")
        assert compare(shards, "one.uc", "many.uc")[0] <= 1e-9


def test_one_process_gives_the_same_bytes(shards):
    for learner in ("logistic", "spa", "csvm"):
        shards.ok("train", learner, "n.svm", "-o", "one.uc")
        ok(shards.directory, 1, "train", learner, "n.svm", "-o", "mpi.uc")
        assert (shards.directory / "one.uc").read_bytes() == (shards.directory / "mpi.uc").read_bytes()


def test_two_classes_with_estimated_rates(shards):
    for name in ("clean", "test"):
        text = (shards.directory / f"{name}.svm").read_text().splitlines()
        two = [("+1" if line[0] == "1" else "-1") + line[1:] for line in text]
        (shards.directory / f"{name}.svm").write_text("\n".join(two) + "\n")
    shards.ok("noise", "apply", "clean.svm", "--noise-rates", "0.4,0.1", "-o", "flipped.svm")
    for how in (["--noise-rates", "0.4,0.1"], ["--noise", "estimate"]):
        shards.ok("train", "sloppy-svm", *how, "flipped.svm", "-o", "one.uc")
        ok(shards.directory, 3, "train", "sloppy-svm", *how, "flipped.svm", "-o", "many.uc")
        assert compare(shards, "one.uc", "many.uc")[1] >= 0.999


@pytest.mark.parametrize("learner", ["perceptron", "pa", "spa", "copa", "arow", "scw"])
def test_online_learners_mix_their_weights(shards, learner):
    shards.ok("train", learner, "n.svm", "-o", "one.uc")
    error = shards.json("evaluate", "one.uc", "test.svm")["error"]
    for mix in ("average", "once"):
        ok(shards.directory, 3, "train", learner, "--shards", "part-*", "--mix", mix, "-o", "many.uc")
        assert shards.json("evaluate", "many.uc", "test.svm")["error"] <= error + 0.02


@pytest.mark.parametrize("kind", ["kgs", "random", "nystroem", "kpca"])
def test_maps(shards, kind):
    options = ["--map", kind, "--dimension", "50", "--scale", "standard", "--iterations", "10"]
    shards.ok("train", "logistic", *options, "n.svm", "-o", "one.uc")
    ok(shards.directory, 3, "train", "logistic", *options, "--shards", "part-*", "-o", "many.uc")
    assert compare(shards, "one.uc", "many.uc")[0] <= 1e-9


def test_predict_and_evaluate_shards(shards):
    shards.ok("train", "logistic", "n.svm", "-o", "m.uc")
    for options in ([], ["--scores"], ["--probabilities"]):
        shards.ok("predict", "m.uc", "n.svm", *options, "-o", "one.txt")
        ok(shards.directory, 3, "predict", "m.uc", "--shards", "part-*", *options, "-o", "many.txt")
        assert (shards.directory / "one.txt").read_bytes() == (shards.directory / "many.txt").read_bytes()
        assert ok(shards.directory, 2, "predict", "m.uc", "n.svm", *options).stdout == (shards.directory / "one.txt").read_text()
    one = shards.json("evaluate", "m.uc", "n.svm", "--noise-rate", "0.3")
    many = json.loads(ok(shards.directory, 3, "evaluate", "m.uc", "--shards", "part-*", "--noise-rate", "0.3", "--json").stdout)
    assert {name: one[name] for name in one if name != "regions"} == many and one["log_loss"] > 0
    assert "regions" in one  # of a program alone: among several, none has all rows
    assert shards.json("evaluate", "m.uc", "--shards", "part-*", "--noise-rate", "0.3") == one  # without mpirun too


def test_estimating_noise_and_cross_validation(shards):
    for method in (["--method", "self"], ["--method", "cv"]):
        one = shards.json("noise", "estimate", "n.svm", *method, "--bootstrap", "20", "-o", "one.csv")
        result = ok(shards.directory, 3, "noise", "estimate", "--shards", "part-*", *method, "--bootstrap", "20", "-o",
                    "many.csv", "--json")
        many = json.loads(result.stdout)
        assert many["examples"] == one["examples"]
        if method[1] == "self":
            for p, q in zip(one["matrix"], many["matrix"]):
                assert p == pytest.approx(q, abs=0.01)
    one = shards.json("train", "logistic", "-v", "5", "n.svm")
    many = json.loads(ok(shards.directory, 3, "train", "logistic", "-v", "5", "n.svm", "--json").stdout)
    assert many["error"] == pytest.approx(one["error"], abs=0.002)
    assert many["examples"] == 3000


def test_the_share_of_the_sums_is_told(shards):
    result = ok(shards.directory, 2, "train", "logistic", "n.svm", "-o", "m.uc", "--verbose", "-q")
    assert any(line.startswith("2 processes: ") and " sums of " in line for line in sentences(result)), result.stderr


# ---- what goes wrong ----


def fails(program, status, *arguments, processes=3):
    before = sorted(os.listdir(program.directory))
    result = mpirun(program.directory, processes, *arguments)
    assert result.returncode == status, result.stderr
    assert result.stdout == ""
    assert sorted(os.listdir(program.directory)) == before, "something was left behind"
    (sentence,) = sentences(result)
    return sentence


def test_a_bad_line_in_one_shard(shards):
    path = shards.directory / "part-4.svm"
    path.write_text(path.read_text() + "1 1:two\n")
    assert fails(shards, 1, "train", "logistic", "--shards", "part-*", "-o", "m.uc") == (
        "rank 2: part-4.svm:101: the value 'two' of column 1 is not a number")
    shards.ok("train", "logistic", "n.svm", "-o", "m.uc")
    for command in (["evaluate", "m.uc"], ["predict", "m.uc", "-o", "p.txt"]):
        assert fails(shards, 1, *command, "--shards", "part-*").startswith("rank 2: part-4.svm:101: ")


def test_a_bad_line_of_one_file_has_its_number_in_the_whole_file(shards):
    lines = (shards.directory / "n.svm").read_text().splitlines()
    lines[2500] = "1 1:two"
    (shards.directory / "n.svm").write_text("\n".join(lines))
    assert fails(shards, 1, "train", "logistic", "n.svm", "-o", "m.uc") == (
        "rank 2: n.svm:2501: the value 'two' of column 1 is not a number")


def test_a_missing_or_unreadable_shard(shards):
    assert fails(shards, 1, "train", "logistic", "--shards", "part-{0,1,9}.svm", "-o", "m.uc") == (
        "rank 0: part-9.svm: No such file or directory")
    assert fails(shards, 1, "train", "logistic", "--shards", "shard-*", "-o", "m.uc") == (
        "--shards: no file matches shard-*")
    (shards.directory / "part-3.svm.zst").write_bytes((shards.directory / "part-3.svm.zst").read_bytes()[:-50])
    assert "part-3.svm.zst: the archive ends too early" in fails(shards, 1, "train", "pa", "--shards", "part-*", "-o", "m.uc")


def test_an_empty_shard_and_one_with_other_classes(shards):
    (shards.directory / "part-5.svm").write_text("")
    (shards.directory / "part-6.svm").write_text("zebra 1:1\nzebra 2:1\n")
    result = ok(shards.directory, 3, "train", "logistic", "--shards", "part-*", "-o", "m.uc", "--json")
    found = json.loads(result.stdout)
    assert found["classes"] == ["1", "2", "3", "4", "zebra"] and found["examples"] == 3002
    assert sentences(result) == ["warning: part-5.svm: no examples"]
    assert fails(shards, 1, "train", "logistic", "part-5.svm", "-o", "n.uc") == "rank 0: part-5.svm: no examples"


def test_options_that_do_not_fit(shards):
    assert fails(shards, 2, "train", "logistic", "--l3", "1", "n.svm", "-o", "m.uc") == (
        "unknown option --l3; did you mean --l2?")
    assert fails(shards, 2, "train", "logistic", "n.svm", "--shards", "part-*", "-o", "m.uc") == (
        "give either n.svm or --shards part-*")
    assert fails(shards, 2, "train", "logistic", "-o", "m.uc").startswith("an argument is missing")
    assert fails(shards, 1, "train", "cspa", "n.svm", "-o", "m.uc").startswith("cspa hears right or wrong about one")
    assert fails(shards, 1, "train", "logistic", "n.svm", "-o", "nowhere/m.uc").startswith("rank 0: nowhere/m.uc: ")
    shards.ok("train", "logistic", "n.svm", "-o", "m.uc")
    assert "-o FILE" in fails(shards, 2, "predict", "m.uc", "n.svm", "--json")


def test_a_command_for_one_process_runs_once(shards):
    assert ok(shards.directory, 3, "--version").stdout == shards.ok("--version").out
    assert ok(shards.directory, 3, "stream", "spa", "n.svm", "-q", "-o", "s.uc").stdout == ""
    assert ok(shards.directory, 3, "inspect", "s.uc").stdout == shards.ok("inspect", "s.uc").out
    assert ok(shards.directory, 2, "train", "--help").stdout == shards.ok("train", "--help").out


def test_standard_input_is_read_by_the_first_process(shards):
    command = ["mpirun", "--oversubscribe", "-n", "2", MPI_PROGRAM, "train", "logistic", "-", "-o", "m.uc", "--json"]
    result = subprocess.run(command, input=(shards.directory / "n.svm").read_bytes(), capture_output=True,
                            cwd=shards.directory, env=ENVIRONMENT, timeout=600)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["examples"] == 3000


def test_processes_that_see_other_files_or_have_other_cpus_are_refused(shards):
    for rank in (0, 1):
        (shards.directory / f"n{rank}").mkdir()
        for part in range(3 - rank):
            shutil.copy(shards.directory / "part-0.svm", shards.directory / f"n{rank}" / f"part-{part}.svm")
    arguments = [MPI_PROGRAM, "train", "logistic", "--shards", "part-*.svm", "-o", "m.uc"]
    command = ["mpirun", "--oversubscribe", "-n", "1", "--wdir", shards.directory / "n0", *arguments, ":", "-n", "1",
               "--wdir", shards.directory / "n1", *arguments]
    result = subprocess.run(command, capture_output=True, cwd=shards.directory, env=ENVIRONMENT, timeout=600, text=True)
    assert result.returncode == 1
    (sentence,) = sentences(result)
    assert sentence.startswith("rank 1: the list of files is 2 of ") and "rank 0 is 3 of " in sentence
    arguments = [MPI_PROGRAM, "train", "logistic", "n.svm", "-o", "m.uc"]
    command = ["mpirun", "--oversubscribe", "-n", "1", *arguments, ":", "-n", "1", "env", "UNCONFUSE_CPU=baseline", *arguments]
    level = shards.ok("train", "pa", "n.svm", "-o", "pa.uc", "--verbose").err
    if "CPU level baseline" not in level:
        result = subprocess.run(command, capture_output=True, cwd=shards.directory, env=ENVIRONMENT, timeout=600, text=True)
        assert result.returncode == 1
        assert sentences(result)[0].startswith("rank 1: the CPU level is baseline (BLAS: ")


def test_processes_with_other_commands_are_refused(shards):
    def concurrently(first, second):
        command = ["mpirun", "--oversubscribe", "-n", "1", MPI_PROGRAM, *first, ":", "-n", "1", MPI_PROGRAM, *second]
        return subprocess.run(command, capture_output=True, cwd=shards.directory, env=ENVIRONMENT, timeout=600, text=True)

    train = ["train", "logistic", "n.svm", "-o", "m.uc"]
    for other in (["inspect", "n.svm"], [*train, "--iterations", "12"]):
        result = concurrently(train, other)
        assert result.returncode == 1
        assert sentences(result) == ["rank 1: the command is %s, but that of rank 0 is %s" % (" ".join(other), " ".join(train))]
        assert not (shards.directory / "m.uc").exists()
    assert concurrently([*train, "--threads", "1"], [*train, "--threads=2"]).returncode == 0


def test_a_picture_has_no_colours(shards):
    result = subprocess.run(["mpirun", "-n", "1", MPI_PROGRAM, "noise", "estimate", "n.svm", "--method", "self", "-o", "c.csv"],
                            capture_output=True, cwd=shards.directory, env={**ENVIRONMENT, "TERM": "xterm"}, timeout=600)
    assert result.returncode == 0 and b"\x1b" not in result.stdout


def test_a_full_disk_is_reported(shards):
    shards.ok("train", "logistic", "n.svm", "-o", "m.uc")
    assert fails(shards, 1, "predict", "m.uc", "n.svm", "--scores", "-o", "/dev/full", processes=2) == (
        "rank 0: /dev/full: cannot write: No space left on device")


def processes_of(name):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and words[0] == MPI_PROGRAM.encode() and name.encode() in words:
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_a_rank_that_dies_ends_all(shards, signal_number):
    name = f"killed-{int(signal_number)}.uc"
    shards.ok("generate", "cspa-gaussians", "--examples", 200000, "-o", "large.svm")
    before = sorted(os.listdir(shards.directory))
    command = ["mpirun", "--oversubscribe", "-n", "3", MPI_PROGRAM, "train", "rp", "--kappa", "0.1", "--dimension", "300",
               "--iterations", "100000", "large.svm", "-o", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=shards.directory,
                          env=ENVIRONMENT) as job:
        deadline = time.monotonic() + 600
        while (len(processes_of(name)) < 3 or sorted(os.listdir(shards.directory)) == before) and time.monotonic() < deadline:
            time.sleep(0.05)  # until the first rank has begun its file, which it does after all have met
        time.sleep(1.0)
        ranks = processes_of(name)
        os.kill(max(ranks), signal_number)
        _, errors = job.communicate(timeout=600)
    assert job.returncode != 0
    assert b"process rank 2 " in errors or b"process rank 1 " in errors or b"process rank 0 " in errors
    deadline = time.monotonic() + 600
    while any(os.path.exists(f"/proc/{rank}") for rank in ranks) and time.monotonic() < deadline:
        time.sleep(0.1)  # also as zombies, whose files are not taken for abandoned ones yet
    assert processes_of(name) == []
    # On a busy machine mpirun kills the ranks a second later, before they have removed the file: the next run does.
    shards.ok("train", "pa", "n.svm", "-o", name)
    assert sorted(os.listdir(shards.directory)) == sorted([*before, name])


def test_bags_may_span_processes(unconfuse):
    """Row i is in bag i mod 40, so that every process has rows of every bag."""
    lines = []
    for i in range(200):
        positive = i % 40 < 20
        x = 3 if positive and i < 40 else -1
        lines.append(f"{'+1' if positive else '-1'} bag:{i % 40} 1:{x + (i * 7 % 11) / 10} 2:{(i * 5 % 13) / 10}\n")
    unconfuse.write("bags.svm", "".join(lines))
    for rule in ("instance", "witness"):
        train = ["train", "csvm", "--bags", "--bag-rule", rule, "-c", "10", "bags.svm", "-q", "-o"]
        unconfuse.ok(*train, "one.uc")
        ok(unconfuse.directory, 3, *train, "three.uc")
        assert unconfuse.read("three.uc") == unconfuse.read("one.uc")


def test_tables_with_line_breaks_and_spellings_are_read_together(unconfuse):
    """Records with line breaks in quotes, which no process may cut, and +1 in one half, 1 in the other."""
    lines = [f'C{i},{i % 13}.5,"note {i}\nsecond, ""line""\n{i % 5}",{"+1" if i < 150 else "1" if i % 2 else "-1"}\n'
             for i in range(300)]
    (unconfuse.directory / "t.csv").write_text("cust_id,n,note,label\n" + "".join(lines))
    unconfuse.ok("train", "logistic", "t.csv", "-o", "one.uc")
    one = unconfuse.json("inspect", "one.uc")
    for processes in (2, 3):
        ok(unconfuse.directory, processes, "train", "logistic", "t.csv", "-o", "many.uc")
        many = unconfuse.json("inspect", "many.uc")
        assert many["classes"] == one["classes"] == ["-1", "1"]
        assert many["columns"] == one["columns"] and many["features"] == one["features"]
    folds = unconfuse.json("train", "logistic", "t.csv", "-v", 4)["error"]
    assert json.loads(ok(unconfuse.directory, 2, "train", "logistic", "t.csv", "-v", 4, "--json").stdout)["error"] == folds


def difference(one, other):
    """The largest difference of two numbers in the same place; everything else must be the same."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        return max((difference(one[key], other[key]) for key in one), default=0.0)
    if isinstance(one, list):
        assert len(one) == len(other)
        return max((difference(a, b) for a, b in zip(one, other)), default=0.0)
    if isinstance(one, float):
        return abs(one - other)
    assert one == other
    return 0.0


def test_audit_finds_the_same(shards):
    options = ["--landmarks", "60", "--axes", "20"]
    shards.ok("train", "audit", "n.svm", *options, "-o", "one.uc")
    one = shards.json("audit", "n.svm", *options, "--model-out", "a.uc")
    ok(shards.directory, 3, "train", "audit", *options, "--shards", "part-*", "-o", "many.uc", "-q")
    assert compare(shards, "one.uc", "many.uc")[0] <= 1e-7
    result = ok(shards.directory, 3, "audit", "n.svm", *options, "--model-out", "b.uc", "--json")
    assert difference(one, json.loads(result.stdout)) <= 1e-7
    assert compare(shards, "a.uc", "b.uc")[0] <= 1e-7
    assert sentences(result) == []
    repaired = []
    for processes, run in ((1, shards.ok), (2, lambda *words: ok(shards.directory, 2, *words))):
        run("audit", "n.svm", *options, "--clean-out", f"c{processes}.csv", "-o", f"s{processes}.csv")
        rows = [line.split(",")[:4] for line in shards.read(f"s{processes}.csv").decode().splitlines()]
        repaired.append((shards.read(f"c{processes}.csv"), sorted(rows)))
    assert repaired[0] == repaired[1]


def test_audit_of_few_weighted_and_checked_rows(shards):
    """More processes than rows; weights; checked rows, without which the audit is repeated."""
    shards.write("two.svm", "a 1:1 2:2\nb 1:3 2:-1\n")
    assert difference(shards.json("audit", "two.svm"), json.loads(ok(shards.directory, 3, "audit", "two.svm", "--json").stdout)) == 0
    lines = shards.read("n.svm").decode().splitlines()[:120]
    shards.write("some.svm", "".join(line + "\n" for line in lines))
    shards.write("w.txt", "".join(f"{0.5 + i % 3}\n" for i in range(120)))
    shards.write("gold.txt", "".join((line.split()[0] if i % 10 == 0 else "?") + "\n" for i, line in enumerate(lines)))
    command = ["audit", "some.svm", "--weights", "w.txt", "--gold", "gold.txt", "--check", "5", "--all"]
    many = json.loads(ok(shards.directory, 3, *command, "--json").stdout)
    assert difference(shards.json(*command), many) <= 1e-9


def test_audit_in_the_first_process(shards):
    """Annotators, probabilities, and what only one process can read."""
    shards.write("crowd.txt", "".join(f"{i} {who} {'ab'[(i + (i % 7 == who)) % 2]}\n" for i in range(50) for who in range(3)))
    shards.write("p.csv", "a,b\n" + "0.9,0.1\n0.2,0.8\n" * 30)
    shards.write("y.txt", "a\nb\n" * 28 + "b\na\n" * 2)
    warning = ("warning: audit works in the first of 2 processes: they share only rows with features and one label, read from "
               "files")
    for command in (["--crowd", "crowd.txt"], ["y.txt", "--probabilities", "p.csv"]):
        result = ok(shards.directory, 2, "audit", *command, "--json")
        assert json.loads(result.stdout) == shards.json("audit", *command)
        assert sentences(result) == [warning]
    rows = b"\n".join(shards.read("n.svm").splitlines()[:50]) + b"\n"
    shards.write("some.svm", rows.decode())
    result = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", MPI_PROGRAM, "audit", "-", "--json"], input=rows,
                            capture_output=True, cwd=shards.directory, env=ENVIRONMENT, timeout=600)
    assert json.loads(result.stdout) == shards.json("audit", "some.svm")


def test_audit_ends_together(shards):
    assert fails(shards, 1, "audit", "nowhere.svm") == "nowhere.svm: No such file or directory"
    assert fails(shards, 1, "audit", "n.svm", "-o", "nowhere/s.csv").startswith("rank 0: nowhere/s.csv: ")
    assert fails(shards, 2, "audit", "n.svm", "--repair", "checked", "--clean-out", "c.csv").startswith("--repair checked")
    result = mpirun(shards.directory, 2, "audit", "--crowd", "c.txt", "--check", "3")
    assert result.returncode == 2 and "--check is for data with one label per row" in sentences(result)[-1]
