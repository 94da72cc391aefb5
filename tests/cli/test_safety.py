"""What must not happen whatever the system does: hanging, crashing, a file that is half-written or not what was asked for."""
import os
import resource
import subprocess

import pytest

from conftest import PROGRAM, blobs


def run(arguments, directory, timeout=60, **options):
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
    """It ends the program when it cannot start one, before main begins."""
    for env in ({"OMP_WAIT_POLICY": "active"}, {"OPENBLAS_NUM_THREADS": "8"}, {"OMP_PROC_BIND": "true"}):
        result = run(["--version"], tmp_path, preexec_fn=limit_memory(62), env={**os.environ, **env})
        assert result.returncode == 0, result.stderr


# ---- standard input, output and error ----

@pytest.mark.parametrize("closed", [[0], [1], [2], [1, 2], [0, 1, 2]])
def test_a_closed_standard_file_is_no_place_for_data(tmp_path, closed):
    """Whatever is closed, the model has the same bytes, and output that cannot be written is a failure."""
    (tmp_path / "data.svm").write_text(blobs(["a", "b"], 200))
    assert run(["train", "perceptron", "data.svm", "-o", "good.uc"], tmp_path).returncode == 0
    close = "exec " + " ".join(f"{number}>&-" if number else "0<&-" for number in closed)
    script = f'{close}; "$0" train perceptron data.svm --verbose -o m.uc; echo $? >status'
    subprocess.run(["sh", "-c", script, PROGRAM], cwd=tmp_path, timeout=60, check=True, capture_output=True)
    assert (tmp_path / "m.uc").read_bytes() == (tmp_path / "good.uc").read_bytes()
    assert (tmp_path / "status").read_text() == ("1\n" if 1 in closed else "0\n")
