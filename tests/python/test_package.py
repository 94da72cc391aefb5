"""The package itself: documentation that runs, types, no copies, no leaks, threads, Ctrl-C, a source distribution."""
import doctest
import gc
import importlib
import os
import pathlib
import pickle
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import CLASSIFIERS, MAPS, ROOT, blobs

import unconfuse
from unconfuse._labels import Classes
from unconfuse._library import Work, matrix
from unconfuse._model import Model
from unconfuse._unconfuse import ffi

PACKAGE = pathlib.Path(unconfuse.__file__).parent


def modules():
    return [unconfuse] + [importlib.import_module(f"unconfuse.{module.name}")
                          for module in pkgutil.iter_modules([str(PACKAGE)])]


def test_examples_in_the_documentation_run():
    results = [doctest.testmod(module) for module in modules() if module.__name__ != "unconfuse._unconfuse"]
    assert sum(result.failed for result in results) == 0
    assert sum(result.attempted for result in results) > 10


NUMBER = re.compile(r"-?\d+\.\d*(?:e-?\d+)?")


class Nearly(doctest.OutputChecker):
    """Another CPU adds in another order, so that an example or two of some hundreds may be predicted otherwise."""

    def check_output(self, want, got, flags):
        numbers = [np.array(NUMBER.findall(text), float) for text in (want, got)]
        texts = [NUMBER.sub("#", text).split() for text in (want, got)]
        return texts[0] == texts[1] and len(numbers[0]) == len(numbers[1]) and np.allclose(*numbers, atol=0.03)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page, examples", [("python.md", 30), ("from-scikit-learn.md", 25)])
def test_examples_of_the_pages_run(page, examples):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    runner = doctest.DocTestRunner(Nearly())
    runner.run(test)
    assert runner.tries > examples and runner.failures == 0


def test_the_tutorial_shows_what_its_script_prints(tmp_path):
    """The lines of the table; the figures of another CPU may differ in the last digit, which is not looked at."""
    reported = subprocess.run([sys.executable, "-W", "ignore", ROOT / "python" / "examples" / "digits.py", tmp_path],
                          capture_output=True, text=True)
    assert reported.returncode == 0, reported.stderr
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").split("\n")
    shown = [line.strip() for line in page if re.search(r"\d\.\d{3} +\d\.\d{3}$", line)]
    printed = [line.strip() for line in reported.stdout.split("\n") if re.search(r"\d\.\d{3} +\d\.\d{3}$", line)]
    assert len(shown) == 6
    assert all(Nearly().check_output(a, b, 0) for a, b in zip(shown, printed, strict=True)), reported.stdout
    pictures = sorted(path.name for path in tmp_path.glob("*.png"))
    assert pictures == sorted(path.name for path in (ROOT / "docs" / "python").glob("*.png"))
    assert all(path.stat().st_size < 150_000 for path in (ROOT / "docs" / "python").glob("*.png"))


def test_types_check(tmp_path):
    if not shutil.which("mypy"):
        pytest.skip("mypy is not there (Debian: mypy)")
    user = tmp_path / "user.py"
    user.write_text("import unconfuse\n\nunconfuse.SPAClassifier(cost='much')\nunconfuse.SPAClassifier(costs=1.0)\n"
                    "unconfuse.LogisticClassifier(noise_matrix='estimate', l2='auto').fit([[1.0]], [1]).predict([[1.0]])\n"
                    "model = unconfuse.UMAClassifier()\n"
                    "model.classes_.shape, model.n_iter_ + model.n_features_in_, model.noise_matrix_, model.coef_.shape\n")
    command = ["mypy", "--config-file", str(ROOT / "python" / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache"),
               "--python-executable", sys.executable]
    own = subprocess.run([*command, str(PACKAGE)], capture_output=True, text=True)
    assert own.returncode == 0, own.stdout + own.stderr
    reported = subprocess.run([*command, str(user)], capture_output=True, text=True).stdout
    assert 'incompatible type "str"; expected "float"' in reported and 'Unexpected keyword argument "costs"' in reported
    assert reported.count("error:") == 2, reported


def test_everything_public_is_documented():
    for name in unconfuse.__all__:
        thing = getattr(unconfuse, name)
        assert thing.__doc__, name
        for attribute, value in vars(thing).items():
            if callable(value) and not attribute.startswith("_"):
                assert value.__doc__, f"{name}.{attribute}"
    assert (PACKAGE / "py.typed").exists()


def test_arrays_are_not_copied():
    X, _ = blobs()
    view, kept = matrix(X)
    assert int(ffi.cast("uintptr_t", view.values)) == X.ctypes.data
    sparse = scipy.sparse.csr_matrix(X)
    view, kept = matrix(sparse)
    assert int(ffi.cast("uintptr_t", view.values)) == sparse.data.ctypes.data
    assert int(ffi.cast("uintptr_t", view.columns)) == sparse.indices.ctypes.data
    model = unconfuse.SPAClassifier().fit(X, np.arange(300) % 3)
    assert model._rows(X, model._learned) is X


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def one_of_everything(X, y, sparse):
    unconfuse.SPAClassifier().fit(X, y).predict(X)
    model = unconfuse.LogisticClassifier(noise_matrix=unconfuse.make_noise_matrix(4, rate=0.1), iterations=3).fit(sparse, y)
    pickle.loads(pickle.dumps(model)).predict_proba(X)
    learner = unconfuse.CSPAPlusClassifier().partial_fit(X, y, classes=range(4))
    learner.learn_feedback(X, learner.propose(X), np.zeros(len(X), bool)).predict(X)
    unconfuse.Nystroem(dimension=5).fit(X).transform(X)
    unconfuse.S3VMClassifier(map="kgs", dimension=4).fit(X, np.where(y == 1, "?", y.astype(str)))
    for bad in (lambda: unconfuse.SPAClassifier(cost=-1).fit(X, y), lambda: unconfuse.UMAClassifier().fit(X, y * 0)):
        with pytest.raises(ValueError):
            bad()


@pytest.mark.filterwarnings("ignore")
def test_nothing_leaks_over_a_thousand_fits():
    """200 rounds of five fits each."""
    X, y = blobs(rows=60)
    sparse = scipy.sparse.csr_matrix(X)
    for _ in range(20):
        one_of_everything(X, y, sparse)
    gc.collect()
    tracemalloc.start()
    begun, resident_before = tracemalloc.get_traced_memory()[0], resident()
    for _ in range(200):
        one_of_everything(X, y, sparse)
    gc.collect()
    grown, resident_after = tracemalloc.get_traced_memory()[0] - begun, resident()
    tracemalloc.stop()
    assert grown < 200_000, grown
    assert resident_after - resident_before < 8_000_000


def test_a_fit_in_one_thread_and_predictions_in_another():
    X, y = blobs(rows=2000)
    model = unconfuse.LogisticClassifier(n_jobs=1).fit(X, y)
    expected = model.predict(X)
    done = threading.Event()

    def refit():
        for _ in range(20):
            model.fit(X, y)
        done.set()

    thread = threading.Thread(target=refit)
    thread.start()
    rounds = 0
    while not done.is_set() or rounds < 5:
        assert (model.predict(X) == expected).all()
        rounds += 1
    thread.join()


def test_scores_are_of_one_model_while_another_thread_refits(monkeypatch):
    """The refit comes when the scores are there and the classes are not yet looked at."""
    X, y = blobs()
    model = unconfuse.LogisticClassifier().fit(X, y)
    labels, scores, right = model.predict(X), model.decision_function(X), model.label_is_right(X, y)
    for name in ("predict", "scores"):
        def refit(self, *arguments, function=getattr(Model, name), **options):
            found = function(self, *arguments, **options)
            model.fit(X[:, :5], np.array(["no", "yes"])[y % 2])
            return found

        monkeypatch.setattr(Model, name, refit)
    assert (model.predict(X) == labels).all()
    assert model.classes_.tolist() == ["no", "yes"] and model.n_features_in_ == 5
    model.fit(X, y)
    assert (model.decision_function(X) == scores).all()
    model.fit(X, y)
    assert (model.label_is_right(X, y) == right).all()


def test_a_class_that_there_is_not_has_no_label():
    for labels in (np.arange(2), np.array(["a", "b"])):
        with pytest.raises(IndexError):
            Classes(labels).decode(np.array([0, 2], np.uint32))


def test_one_learner_in_two_threads():
    """Rounds of two threads take turns; none is lost."""
    X, y = blobs(rows=2000)
    learner = unconfuse.CSPAPlusClassifier().partial_fit(X[:1], y[:1], classes=range(4))
    threads = [threading.Thread(target=lambda part: [learner.partial_fit(X[i:i + 1], y[i:i + 1]) for i in part], args=(part,))
               for part in (range(1, 1000), range(1000, 2000))]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        learner.predict(X)
    assert learner.rounds_ == 2000


def test_other_threads_run_while_the_library_works():
    X, y = blobs(rows=5000, columns=50)
    longest, ended = [0.0], threading.Event()

    def watch():
        last = time.monotonic()
        while not ended.is_set():
            time.sleep(0.001)
            longest[0] = max(longest[0], time.monotonic() - last)
            last = time.monotonic()

    thread = threading.Thread(target=watch)
    thread.start()
    begun = time.monotonic()
    while time.monotonic() - begun < 1:
        unconfuse.SPAClassifier(passes=100, n_jobs=1).fit(X, y)
        elapsed = time.monotonic() - begun
    ended.set()
    thread.join()
    assert longest[0] < elapsed / 3


class Stop(Exception):
    pass


LONG = {
    "passes": lambda X, y: unconfuse.SPAClassifier(passes=10**9).fit(X, y),
    "steps": lambda X, y: unconfuse.UMAClassifier(iterations=10**9, returns="last").fit(X, y),
    "a stream": lambda X, y: unconfuse.ConfiditClassifier().partial_fit(np.repeat(X, 20000, axis=0),
                                                                        np.repeat(y, 20000), classes=range(4)),
    "candidates concurrently": lambda X, y: unconfuse.SPAClassifier(map="kgs", width="auto", passes=10**9).fit(X, y),
    "candidates of rp": lambda X, y: unconfuse.RPClassifier(iterations=10**8).fit(X, y),
    "warnings": lambda X, y: [unconfuse.UMAClassifier(iterations=2).fit(X, y) for _ in range(10**6)],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("work", LONG)
@pytest.mark.parametrize("number, kind", [(signal.SIGINT, KeyboardInterrupt), (signal.SIGALRM, Stop)])
def test_a_signal_ends_long_work(work, number, kind):
    """Ctrl-C, and any other exception of a signal handler, comes out of the fit."""
    X, y = blobs(spread=30)  # which no learner gets done with

    def stop(*_):
        raise Stop

    # Of a background job, as CI runners start it, SIGINT is ignored.
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGALRM: stop}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, handlers)
    ended = threading.Event()

    def interrupt():
        """Once, and again where Python loses the exception: it ignores those that are raised in a destructor."""
        wait = 0.4
        while not ended.wait(wait):
            os.kill(os.getpid(), number)
            wait = 30

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        begun = time.monotonic()
        with pytest.raises(kind):
            LONG[work](X, y)
        assert time.monotonic() - begun < 600
    finally:
        ended.set()
        thread.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
    unconfuse.SPAClassifier().fit(X, y)  # and everything still works


SAVING = """
import signal, sys
import numpy as np, unconfuse
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, lambda *_: None)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
model = unconfuse.PerceptronClassifier().fit(np.eye(4), [0, 1, 0, 1])
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
print("saving", flush=True)
try:
    unconfuse.save(model, sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.mark.parametrize("reader", [False, True])
def test_saving_to_a_pipe_waits_for_its_reader_until_ctrl_c(tmp_path, reader):
    """Signals whose handler raises nothing change nothing."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen([sys.executable, "-c", SAVING, path], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "saving\n"
            time.sleep(0.5)
            assert process.poll() is None
            if reader:
                (tmp_path / "model.uc").write_bytes(path.read_bytes())
            else:
                process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=600)[0]
        finally:
            process.kill()
    assert process.returncode == 0 and said == ("" if reader else "interrupted\n")
    if reader:
        assert unconfuse.load(tmp_path / "model.uc").predict(np.eye(4)).tolist() == [0, 1, 0, 1]


def test_warnings_of_the_library_are_warnings():
    X, y = blobs()
    with pytest.warns(UserWarning, match="no noise matrix was given: uma takes the labels as they are") as caught:
        unconfuse.UMAClassifier().fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]


def test_a_warning_that_is_an_error_hides_nothing():
    X, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt), Work() as work:
            work.warnings["a warning"] = None
            raise KeyboardInterrupt
        model = unconfuse.UMAClassifier()
        with pytest.raises(UserWarning, match="no noise matrix was given"):
            model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_numpy_keeps_its_threads():
    """The library asks OpenBLAS for one thread; NumPy, which may share that OpenBLAS, keeps what it had."""
    pytest.importorskip("threadpoolctl")
    script = """
import numpy, threadpoolctl, unconfuse
def threads():
    return [(pool["filepath"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
X, y = numpy.random.RandomState(0).rand(300, 8), numpy.arange(300) % 3
with threadpoolctl.threadpool_limits(2):
    before = threads()
    unconfuse.LogisticClassifier(map="kpca", dimension=5).fit(X, y).predict(X)
    print(before, threads())
    assert before == threads()
"""
    reported = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert reported.returncode == 0, reported.stdout + reported.stderr


def test_a_forked_process_can_learn():
    """gcc's OpenMP would wait for threads that the child does not have."""
    script = """
import os, numpy, unconfuse
X, y = numpy.random.RandomState(0).rand(20000, 50).astype("f4"), numpy.arange(20000) % 3
expected = unconfuse.LogisticClassifier(n_jobs=2, iterations=5).fit(X, y).coef_
child = os.fork()
if child == 0:
    os._exit(0 if (unconfuse.LogisticClassifier(n_jobs=2, iterations=5).fit(X, y).coef_ == expected).all() else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=600)


def test_a_forked_process_finds_no_lock_taken():
    """Another thread, which is not in the child, may have held any."""
    script = """
import os, signal, numpy, unconfuse
from unconfuse import _library
X, y = numpy.random.RandomState(0).rand(300, 8).astype("f4"), numpy.arange(300) % 3
learner = unconfuse.SPAClassifier().partial_fit(X, y, classes=range(3))
locks = [_library._one_blas_thread._lock, learner._learned.source._lock]
for lock in locks:
    lock.acquire()
child = os.fork()
if child == 0:
    signal.alarm(30)
    learner.partial_fit(X, y).predict(X)
    unconfuse.SPAClassifier().fit(X, y)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600)


def test_a_generated_class_knows_its_learner():
    from unconfuse.estimators import LEARNERS

    assert {cls._learner: cls for cls in CLASSIFIERS} == LEARNERS
    assert len(MAPS) == 6


def test_a_source_distribution_has_the_library(tmp_path):
    environment = {**os.environ, "UNCONFUSE_BUILD": str(tmp_path)}  # nothing is left in the sources
    reported = subprocess.run(["/usr/bin/python3", "setup.py", "-q", "sdist", "--dist-dir", tmp_path], cwd=ROOT / "python",
                          env=environment, capture_output=True, text=True)
    assert reported.returncode == 0, reported.stderr
    with tarfile.open(next(tmp_path.glob("unconfuse-*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = {f"library/{path.relative_to(ROOT)}" for path in [*ROOT.glob("src/*/*.c"), *ROOT.glob("include/*/*.h")]}
    assert names >= sources | {"library/CMakeLists.txt", "library/LICENSE", "rows.h", "build_ffi.py", "generate.py",
                               "unconfuse/_library.py", "unconfuse/py.typed"}
    assert not any(name.endswith((".so", "estimators.py")) for name in names)
