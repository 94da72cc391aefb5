"""What must not happen whatever the system does: hanging, crashing, a file that is half-written or not what was asked for."""
import fcntl
import os
import resource
import signal
import subprocess
import struct
import termios
import time
import zlib

import pytest

from conftest import PROGRAM, blobs


def run(arguments, directory, timeout=600, **options):
    """The program, killed when it hangs: SIGTERM only asks it to stop."""
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=directory, capture_output=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, **options)


def limit_memory(megabytes):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


@pytest.fixture
def limits_work(tmp_path):
    """A sanitizer reserves more memory than any limit would leave."""
    if run(["--version"], tmp_path, preexec_fn=limit_memory(2000)).returncode != 0:
        pytest.skip("this build cannot run with little memory")


# ---- memory ----

@pytest.mark.parametrize("megabytes", [60, 78, 130, 210, 260, 340, 700, 2000])
@pytest.mark.parametrize("learner", [["rp"], ["uma"], ["logistic", "--map", "kpca", "--dimension", "20"]])
def test_little_memory_ends_with_a_sentence(tmp_path, limits_work, megabytes, learner):
    """OpenBLAS asks for its buffer for ever when it cannot have it, and OpenMP ends programs."""
    (tmp_path / "data.svm").write_text(blobs(["a", "b"], 200))
    result = run(["train", *learner, "data.svm", "-o", "m.uc", "--threads", "4"], tmp_path,
                 preexec_fn=limit_memory(megabytes))
    error = result.stderr.decode()
    assert result.returncode in (0, 1), (result.returncode, error)
    assert sorted(os.listdir(tmp_path)) == (["data.svm", "m.uc"] if result.returncode == 0 else ["data.svm"])
    if result.returncode == 1:
        assert error.startswith("unconfuse: ") and "memory" in error and error.count("\n") == 1
    if megabytes < 200:
        assert "OpenBLAS needs 128 MB" in error
    if megabytes == 2000:
        assert result.returncode == 0


def test_threads_that_openblas_would_start_are_not_started(tmp_path, limits_work):
    """It ends the program when it cannot start one."""
    (tmp_path / "data.svm").write_text(blobs(["a", "b"], 200))
    for env in ({"OMP_WAIT_POLICY": "active"}, {"OPENBLAS_NUM_THREADS": "64"}, {"OMP_PROC_BIND": "true"}):
        for arguments, megabytes in ((["--version"], 62),
                                     (["train", "logistic", "data.svm", "--map", "nystroem", "-o", "m.uc"], 400)):
            result = run([*arguments, *([] if "--version" in arguments else ["--threads", "1"])], tmp_path,
                         preexec_fn=limit_memory(megabytes), env={**os.environ, **env})
            assert result.returncode == 0 and not result.stderr, result.stderr


# ---- standard input, output and error ----

@pytest.mark.parametrize("closed", [[0], [1], [2], [1, 2], [0, 1, 2]])
def test_a_closed_standard_file_is_no_place_for_data(tmp_path, closed):
    """Whatever is closed, the model has the same bytes, and output that cannot be written is a failure."""
    (tmp_path / "data.svm").write_text(blobs(["a", "b"], 200))
    assert run(["train", "perceptron", "data.svm", "-o", "good.uc"], tmp_path).returncode == 0
    close = "exec " + " ".join(f"{number}>&-" if number else "0<&-" for number in closed)
    script = f'{close}; "$0" train perceptron data.svm --verbose -o m.uc; echo $? >status'
    subprocess.run(["sh", "-c", script, PROGRAM], cwd=tmp_path, timeout=600, check=True, capture_output=True)
    assert (tmp_path / "m.uc").read_bytes() == (tmp_path / "good.uc").read_bytes()
    assert (tmp_path / "status").read_text() == ("1\n" if 1 in closed else "0\n")


# ---- output files ----

WRITERS = [
    ["train", "perceptron", "data.svm", "-o"], ["train", "logistic", "data.svm", "-o"],
    ["stream", "perceptron", "data.svm", "-o"],
    ["predict", "model.uc", "data.svm", "-o"], ["predict", "logistic.uc", "data.svm", "--probabilities", "--suspect", "-o"],
    ["noise", "make", "uniform", "--classes", 2, "--rate", 0.1, "-o"],
    ["noise", "apply", "data.svm", "--noise-rate", 0.1, "-o"],
    ["noise", "estimate", "data.svm", "--method", "gold", "--gold", "data.svm", "-o"],
    ["generate", "rp-ring", "--examples", 40, "-o"], ["generate", "rp-ring", "-o", "ring.svm", "--test"],
    ["split", "data.svm", "-o", "first.svm", "--rest"], ["split", "data.svm", "--rest", "second.svm", "-o"],
    ["convert", "data.svm"], ["convert", "model.uc"],
]


@pytest.fixture
def workplace(unconfuse):
    unconfuse.write("data.svm", blobs(["a", "b"], 60))
    unconfuse.ok("train", "perceptron", "data.svm", "-o", "model.uc")
    unconfuse.ok("train", "logistic", "data.svm", "-o", "logistic.uc")
    return unconfuse


@pytest.mark.parametrize("command", WRITERS, ids=lambda command: " ".join(map(str, command)))
def test_an_impossible_output_is_found_before_the_work(workplace, command):
    """The input is a pipe that would keep any command waiting that reads it before it opens its output."""
    os.mkfifo(workplace.directory / "pipe.svm")
    words = ["pipe.svm" if word == "data.svm" else word for word in command]
    assert "nowhere/x.svm: cannot write: No such file" in workplace.fails(1, *words, "nowhere/x.svm", timeout=600)
    said = workplace.fails(2, *words, "", timeout=600)
    assert "a file needs a name" in said


def test_a_format_that_the_ending_does_not_tell_is_found_before_the_work(workplace):
    os.mkfifo(workplace.directory / "pipe.svm")
    assert "its ending is none of" in workplace.fails(1, "convert", "pipe.svm", "x.what", timeout=600)
    assert "NPY only" in workplace.fails(2, "convert", "pipe.svm", "x.svm", "--labels-out", "y", timeout=600)


SAME = [
    ["split", "data.svm", "-o", "{}", "--rest", "{}"],
    ["generate", "rp-ring", "--test-examples", 5, "-o", "{}", "--test", "{}"],
    ["convert", "data.svm", "{}", "--to", "npy", "--labels-out", "{}"],
    ["noise", "apply", "data.svm", "--noise-rate", 0.1, "--to", "npy", "-o", "{}", "--labels-out", "{}"],
]


@pytest.mark.parametrize("names", [("x.svm", "x.svm"), ("x.svm", "./x.svm"), ("x.svm", "folder/../x.svm"), ("x.svm", "link.svm"),
                                   ("old.svm", "hard.svm"), ("old.svm", "soft.svm"), ("-", "-")])
@pytest.mark.parametrize("command", SAME, ids=lambda command: command[0])
def test_the_same_output_twice_is_refused(workplace, command, names):
    os.mkdir(workplace.directory / "folder")
    workplace.write("old.svm", "old")
    os.link(workplace.directory / "old.svm", workplace.directory / "hard.svm")
    os.symlink("old.svm", workplace.directory / "soft.svm")
    os.symlink("x.svm", workplace.directory / "link.svm")  # leads nowhere yet
    left = list(names)
    words = [left.pop(0) if word == "{}" else word for word in command]
    assert "are the same file" in workplace.fails(2, *words)
    assert workplace.read("old.svm") == b"old"


@pytest.mark.parametrize("names", [("/dev/null", "-"), ("-", "/dev/null"), ("/dev/null", "/dev/null"), ("/dev/null", "null")])
@pytest.mark.parametrize("command", SAME, ids=lambda command: command[0])
def test_a_device_may_be_two_outputs(workplace, command, names):
    os.symlink("/dev/null", workplace.directory / "null")
    left = list(names)
    words = [left.pop(0) if word == "{}" else str(word) for word in command]
    words += [] if "--to" in words else ["--to", "libsvm"]
    result = subprocess.run([PROGRAM, *words], cwd=workplace.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, timeout=600)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("command", [
    ["split", "data.svm", "-o", "one.svm", "--rest", "folder/two.svm"],
    ["generate", "rp-ring", "--examples", 20, "--test-examples", 5, "-o", "one.svm", "--test", "folder/two.svm"],
    ["convert", "data.svm", "one.npy", "--labels-out", "folder/two.svm"]], ids=lambda command: command[0])
@pytest.mark.parametrize("old", [None, b"old"])
def test_two_outputs_appear_together_or_not_at_all(workplace, command, old):
    """The second one's place becomes a directory while the command waits for its first output, a pipe, to be read."""
    one = next(word for word in map(str, command) if word.startswith("one."))
    os.mkdir(workplace.directory / "folder")
    if old:
        workplace.write(one, old)
    words = [PROGRAM, *map(str, command)]
    if command[0] == "generate":
        words[words.index("20")] = "3000000"  # long enough to be caught at work
    else:
        os.mkfifo(workplace.directory / "pipe.svm")
        words = ["pipe.svm" if word == "data.svm" else word for word in words]
    with subprocess.Popen(words, cwd=workplace.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        wait_for(lambda: any(name.startswith("two") for name in os.listdir(workplace.directory / "folder")))
        os.mkdir(workplace.directory / "folder/two.svm")
        (workplace.directory / "folder/two.svm/inside").write_text("")
        if command[0] != "generate":
            (workplace.directory / "pipe.svm").write_bytes(workplace.read("data.svm"))
        error = process.communicate(timeout=600)[1].decode()
    assert process.returncode == 1 and "two.svm: cannot rename to" in error
    assert (workplace.directory / one).exists() == bool(old)
    assert not old or workplace.read(one) == old
    assert os.listdir(workplace.directory / "folder") == ["two.svm"]
    assert not [name for name in os.listdir(workplace.directory) if name.endswith(".tmp")]


def wait_for(condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


@pytest.mark.parametrize("command", [["predict", "model.uc", "data.svm"], ["train", "perceptron", "data.svm"],
                                     ["predict", "logistic.uc", "data.svm", "--probabilities", "--suspect"],
                                     ["stream", "perceptron", "data.svm"],
                                     ["noise", "estimate", "data.svm", "--method", "self"]], ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["data.svm", "./data.svm", "soft.svm", "hard.svm"])
def test_an_output_does_not_replace_its_own_input(workplace, command, name):
    os.symlink("data.svm", workplace.directory / "soft.svm")
    os.link(workplace.directory / "data.svm", workplace.directory / "hard.svm")
    before = workplace.read("data.svm")
    assert f"-o {name} would replace the input data.svm" in workplace.fails(2, *command, "-o", name)
    assert workplace.read("data.svm") == before


@pytest.mark.parametrize("command, option", [
    ("noise apply data.svm --noise-rate 0.1 -o NAME", "-o"), ("split data.svm -o NAME --rest rest.svm", "-o"),
    ("split data.svm -o first.svm --rest NAME", "--rest"), ("convert data.svm NAME", "OUT"), ("convert data.svm NAME --to csv", "OUT")])
@pytest.mark.parametrize("name", ["data.svm", "soft.svm", "hard.svm"])
def test_new_data_do_not_replace_the_old(workplace, command, option, name):
    """`split -o` would lose the rows of --rest, and `noise apply` the true labels."""
    os.symlink("data.svm", workplace.directory / "soft.svm")
    os.link(workplace.directory / "data.svm", workplace.directory / "hard.svm")
    before = workplace.read("data.svm")
    assert workplace.fails(2, *command.replace("NAME", name).split()) == f"{option} {name} would replace the input data.svm"
    assert workplace.read("data.svm") == before


def test_neither_labels_nor_models_nor_matrices_are_replaced(workplace):
    workplace.ok("convert", "data.svm", "rows.npy", "--labels-out", "labels.npy")
    workplace.write("n.csv", "0.9,0.1\n0.1,0.9\n")
    for command, sentence in (
            ("convert rows.npy out.npy --labels labels.npy --labels-out labels.npy", "--labels-out labels.npy would replace the input labels.npy"),
            ("noise apply data.svm --noise-matrix n.csv -o n.csv --to csv", "-o n.csv would replace the input n.csv"),
            ("convert model.uc model.uc --to liblinear", "OUT model.uc would replace the input model.uc")):
        assert workplace.fails(2, *command.split()) == sentence


@pytest.mark.parametrize("command", [
    ["predict", "model.uc"], ["predict", "logistic.uc", "--probabilities", "--suspect"], ["train", "perceptron"],
    ["stream", "perceptron"], ["stream", "perceptron", "--shuffle"], ["noise", "estimate", "--method", "self"]],
                         ids=" ".join)
@pytest.mark.parametrize("name", ["labels.npy", "soft.npy", "hard.npy"])
def test_an_output_does_not_replace_the_labels_of_its_input(workplace, command, name):
    workplace.ok("convert", "data.svm", "rows.npy", "--labels-out", "labels.npy")
    os.symlink("labels.npy", workplace.directory / "soft.npy")
    os.link(workplace.directory / "labels.npy", workplace.directory / "hard.npy")
    before = workplace.read("labels.npy")
    said = workplace.fails(2, *command, "rows.npy", "--labels", "labels.npy", "-o", name)
    assert said == f"-o {name} would replace the input labels.npy"
    assert workplace.read("labels.npy") == before


def test_a_model_may_be_resumed_in_place(workplace):
    workplace.ok("stream", "perceptron", "data.svm", "-o", "s.uc")
    workplace.ok("stream", "perceptron", "data.svm", "--resume", "s.uc", "-o", "s.uc")


def test_a_link_that_leads_nowhere_yet_is_followed(workplace):
    os.mkdir(workplace.directory / "folder")
    os.symlink("folder/new.uc", workplace.directory / "link.uc")
    for command in (["train", "perceptron", "data.svm"], ["predict", "model.uc", "data.svm"]):
        workplace.ok(*command, "-o", "link.uc")
        assert (workplace.directory / "link.uc").is_symlink()
        assert (workplace.directory / "folder/new.uc").is_file()
        os.unlink(workplace.directory / "folder/new.uc")


@pytest.mark.parametrize("command", [["train", "perceptron", "data.svm"], ["predict", "model.uc", "data.svm"]],
                         ids=lambda command: command[0])
def test_links_in_a_circle_are_refused(workplace, command):
    os.symlink("there.uc", workplace.directory / "here.uc")
    os.symlink("here.uc", workplace.directory / "there.uc")
    assert workplace.fails(1, *command, "-o", "here.uc") == "here.uc: cannot write: Too many levels of symbolic links"
    assert os.readlink(workplace.directory / "here.uc") == "there.uc"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("reader", [False, True])
def test_saving_to_a_pipe_can_be_interrupted(tmp_path, end, reader):
    """Nobody reads it; or somebody has it open and reads nothing, and the model does not fit into it."""
    (tmp_path / "data.svm").write_text("".join(f"c{i % 50} {i % 5000 + 1}:1\n" for i in range(5000)))
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK) if reader else -1
    with subprocess.Popen([PROGRAM, "train", "perceptron", "data.svm", "-o", "pipe"], cwd=tmp_path, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
        try:
            time.sleep(2.0)
            assert process.poll() is None
            process.send_signal(end)
            error = process.communicate(timeout=600)[1].decode()
        finally:
            process.kill()
    assert process.returncode == 128 + end and error.splitlines()[-1] == "unconfuse: interrupted"
    if held >= 0:
        os.close(held)


def test_a_second_signal_while_files_appear_leaves_all_as_it_was(workplace):
    """Everything is written but what the pipe has no room for: the files are about to appear."""
    workplace.write("many.svm", "a 1:1\nb 2:1\n" * 25000)
    workplace.write("one.svm", "old")
    os.mkfifo(workplace.directory / "pipe")
    before = sorted(os.listdir(workplace.directory))
    held = os.open(workplace.directory / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with subprocess.Popen([PROGRAM, "split", "many.svm", "-o", "one.svm", "--rest", "pipe", "--to", "libsvm", "--share", "0.5"],
                          cwd=workplace.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            wait_for(lambda: struct.unpack("i", fcntl.ioctl(held, termios.FIONREAD, b"    "))[0] >= 65536)
            assert process.poll() is None
            for number in [signal.SIGINT, signal.SIGTERM] * 20:
                process.send_signal(number)
            process.communicate(timeout=600)
        finally:
            process.kill()
            os.close(held)
    assert process.returncode in (130, 143)  # with a sentence, unless a signal came after the files were given up
    assert workplace.read("one.svm") == b"old"
    assert sorted(os.listdir(workplace.directory)) == before


def test_files_of_killed_processes_are_swept(workplace):
    """By the next run that writes there; those of living processes, and files that only look alike, stay."""
    def train(**options):
        return subprocess.Popen([PROGRAM, "train", "perceptron", "pipe.svm", "-o", "m.uc"], cwd=workplace.directory,
                                stdin=subprocess.DEVNULL, **options)

    def temporary():
        return sorted(name for name in os.listdir(workplace.directory) if name.endswith(".tmp"))
    os.mkfifo(workplace.directory / "pipe.svm")
    others = ["m.uc.12-x.tmp", "m.uc.tmp", "other.uc.999999999-0.tmp", "m.uc.0-0.tmp"]
    with train() as killed:
        wait_for(lambda: len(temporary()) == 1)
        killed.kill()
    with train() as alive:
        wait_for(lambda: len(temporary()) == 1 and str(alive.pid) in temporary()[0])
        kept = temporary()
        for name in others:
            workplace.write(name, "")
        workplace.ok("train", "perceptron", "data.svm", "-o", "m.uc")
        assert temporary() == sorted(kept + others)
        (workplace.directory / "pipe.svm").write_bytes(workplace.read("data.svm"))
        assert alive.wait(timeout=600) == 0
    assert temporary() == sorted(others)


@pytest.mark.parametrize("command", [
    '"$0" predict model.uc data.svm -o /dev/stdout | cat', '"$0" predict model.uc data.svm -o /dev/stderr 2>&1 | cat',
    '"$0" predict model.uc data.svm -o /dev/fd/3 3>&1 | cat', '"$0" predict model.uc data.svm -o >(cat) | cat'])
def test_a_pipe_without_a_name_is_written_directly(workplace, command):
    expected = workplace.ok("predict", "model.uc", "data.svm").out
    before = sorted(os.listdir(workplace.directory))
    result = subprocess.run(["bash", "-c", "set -o pipefail; " + command, PROGRAM], cwd=workplace.directory,
                            capture_output=True, timeout=600, stdin=subprocess.DEVNULL)
    assert (result.returncode, result.stdout.decode(), result.stderr) == (0, expected, b"")
    assert sorted(os.listdir(workplace.directory)) == before


# ---- what files hold ----

def changed(model, old, new):
    """The model file with other bytes in its header, as long as before, and the checksum put right."""
    assert len(old) == len(new) and model.count(old) == 1
    model = model.replace(old, new)[:-8]
    return model + struct.pack("<II", zlib.crc32(model), 0)


def test_control_characters_are_shown_and_not_obeyed(workplace):
    """Of a file's name, of a name in a file, and of a text in a model."""
    for name in ("\x1b[31m", "a\rb", "\x9b1m", "bell\a"):
        said = workplace.fails(1, "train", "perceptron", name, "-o", "m.uc")
        assert said.isprintable() and "\\x" in said
    workplace.write("noise.csv", ",a,\x1b[2J\na,0.9,0.1\n\x1b[2J,0.1,0.9\n")
    assert workplace.fails(1, "noise", "apply", "data.svm", "--noise-matrix", "noise.csv", "-o", "x.svm").isprintable()
    spoiled = changed(workplace.read("model.uc"), b'"shuffle":true', b'"\\u001b[2":1'.ljust(14))
    workplace.write("spoiled.uc", spoiled)
    out = workplace.ok("inspect", "spoiled.uc").out
    assert "\\x1b[2" in out and "\x1b" not in out


def test_features_that_differ_from_those_of_the_map_are_refused(workplace):
    workplace.ok("train", "logistic", "data.svm", "--map", "kpca", "--dimension", 3, "-o", "k.uc")
    workplace.write("k.uc", changed(workplace.read("k.uc"), b'"features":4', b'"features":9'))
    assert workplace.fails(1, "inspect", "k.uc") == "k.uc: damaged: its map has 4 columns, and the model 9 features"


def test_a_mapped_file_that_becomes_shorter_ends_with_a_sentence(workplace):
    """Row by row, and slowly: it is in the middle of its data when they go."""
    workplace.write("many.svm", blobs(["a", "b"], 2000) * 150)
    workplace.ok("convert", "many.svm", "many.ucd")
    with subprocess.Popen([PROGRAM, "stream", "cspa-plus", "many.ucd", "--map", "landmarks", "--dimension", "300", "--width", "1",
                           "--classes", "a,b", "-o", "m.uc"], cwd=workplace.directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(lambda: any(name.endswith(".tmp") for name in os.listdir(workplace.directory)))
        time.sleep(0.5)
        os.truncate(workplace.directory / "many.ucd", 4096)
        error = process.communicate(timeout=600)[1].decode()
    assert process.returncode == 1
    assert error.splitlines()[-1] == "unconfuse: a file was made shorter, or its disk failed, while it was being read"
    assert not any(name.startswith("m.uc") for name in os.listdir(workplace.directory))
