"""The other side of the benchmark: reads commands, lists of words in JSON, one a line, from standard input, and answers
each with one JSON object.

    load FILE                              load_svmlight_file
    fit in-order|shuffled last|average     one pass of PassiveAggressiveClassifier over what was loaded
    online FILE                            load_svmlight_file, and one PassiveAggressiveClassifier.partial_fit
    uma FILE LABELS STEPS RATE FORM        steps of uma in the naive form, with numpy (BLAS)
    width FILE                             the median squared distance of 1,000 random pairs of rows
    features kpca|nystroem FILE DIMENSION WIDTH     KernelPCA, by its fastest solver, or Nystroem: learning the map, and
                                           mapping the rows; with the sum of the squares of the mapped rows
    logistic FILE LABELS L2 ITERATIONS BIAS [SOLVER]     LogisticRegression (lbfgs, multinomial; newton-cholesky is for two
                                           classes), and its objective; without offsets when BIAS is 0
    hinge FILE MODEL COST                  the objective of the support vector machines, one class against the rest, of a
                                           model in LIBLINEAR's text format: the sum over the classes

LABELS are those of an NPY file; "-": FILE is LIBSVM text. What a command read last is kept for the next one.
"""
import functools
import json
import sys
import time
import warnings

import numpy
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, PassiveAggressiveClassifier

X = y = None
warnings.filterwarnings("ignore")  # LogisticRegression's, that more iterations would come nearer to the minimum


def timed(work):
    elapsed, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, {"elapsed": time.perf_counter() - elapsed, "processor": time.process_time() - processor}


def load(path):
    global X, y
    X = y = None
    (X, y), answer = timed(lambda: load_svmlight_file(path))
    X.sort_indices()
    return answer


def fit(order, weights):
    learner = PassiveAggressiveClassifier(max_iter=1, tol=None, shuffle=order == "shuffled",
                                          average=weights == "average", random_state=1)
    return timed(lambda: learner.fit(X, y))[1]


def online(path):
    def work():
        rows, classes = load_svmlight_file(path)
        PassiveAggressiveClassifier().partial_fit(rows, classes, classes=numpy.unique(classes))

    return timed(work)[1]


@functools.lru_cache(maxsize=1)
def read(path, labels):
    if labels == "-" and not path.endswith(".npy"):
        rows, classes = load_svmlight_file(path)
        rows.sort_indices()
        return rows, classes
    return numpy.load(path).astype(float), None if labels == "-" else numpy.load(labels)


# ---- uma ----


def sums_at_once(rows, predicted, labels, classes):
    """S[p, k]: the sum of the rows that are predicted p and labelled k, by one product with a matrix of 0 and 1."""
    cell = numpy.zeros((rows.shape[0], classes * classes))
    cell[numpy.arange(rows.shape[0]), predicted * classes + labels] = 1
    return (cell.T @ rows).reshape(classes, classes, -1)


def sums_by_class(rows, predicted, labels, classes):
    """The same by one product for each predicted class, which is less work."""
    label = numpy.eye(classes)[labels]
    sums = numpy.zeros((classes, classes, rows.shape[1]))
    for p in range(classes):
        here = numpy.flatnonzero(predicted == p)
        if here.size:
            sums[p] = label[here].T @ rows[here]
    return sums


def naive_step(W, rows, labels, inverse, class_sums):
    """Everything from the beginning: scores, predictions, class sums, all z; then the step of --choose error
    --step perceptron."""
    count, classes = len(rows), len(W)
    predicted = (rows @ W.T).argmax(axis=1)
    z = inverse @ class_sums(rows, predicted, labels, classes) / count  # z[p, q]
    length = numpy.sqrt((z * z).sum(axis=2))
    numpy.fill_diagonal(length, 0)
    for pair in numpy.argsort(-length, axis=None, kind="stable"):
        p, q = divmod(int(pair), classes)
        if length[p, q] <= 0.5 / count:
            return
        if W[p] @ z[p, q] >= W[q] @ z[p, q]:
            W[q] += z[p, q]
            W[p] -= z[p, q]
            return


def uma(path, labels, steps, rate, form):
    rows, classes = read(path, labels)
    classes, labels = numpy.unique(classes, return_inverse=True)
    K, rate = len(classes), float(rate)
    noise = numpy.full((K, K), rate / (K - 1)) + (1 - rate - rate / (K - 1)) * numpy.eye(K)
    inverse, W = numpy.linalg.inv(noise), numpy.zeros((K, rows.shape[1]))
    class_sums = {"one-product": sums_at_once, "product-a-class": sums_by_class}[form]
    times = [timed(lambda: naive_step(W, rows, labels, inverse, class_sums))[1] for _ in range(int(steps))]
    return {"steps": times, "square": (W * W).sum()}


# ---- maps, logistic regression ----


def width(path):
    rows, _ = read(path, "-")
    rng = numpy.random.Generator(numpy.random.PCG64(1))
    a, b = rng.integers(rows.shape[0], size=(2, 1000))
    return {"width": float(numpy.median(((rows[a] - rows[b]) ** 2).sum(axis=1)))}


def features(kind, path, dimension, width):
    rows, _ = read(path, "-")
    settings = {"n_components": int(dimension), "kernel": "rbf", "gamma": 1 / float(width), "random_state": 1}
    learner = (KernelPCA(**settings, eigen_solver="randomized", copy_X=False) if kind == "kpca" else
               Nystroem(**settings))
    _, fit = timed(lambda: learner.fit(rows))
    mapped, apply = timed(lambda: learner.transform(rows))
    return {"fit": [fit], "apply": [apply], "squares": float(numpy.vdot(mapped, mapped))}


def logistic(path, labels, l2, iterations, bias, solver="lbfgs"):
    rows, classes = read(path, labels)
    count, l2 = rows.shape[0], float(l2)
    # newton-cholesky has a single vector for two classes: the difference of the two, each of which is half of it
    single = solver == "newton-cholesky"
    learner = LogisticRegression(C=(2 if single else 1) / (count * l2), multi_class="ovr" if single else "multinomial",
                                 solver=solver, tol=1e-9, max_iter=int(iterations), fit_intercept=bias != "0")
    _, answer = timed(lambda: learner.fit(rows, classes))
    own = numpy.searchsorted(learner.classes_, classes)
    loss = -learner.predict_log_proba(rows)[numpy.arange(count), own].mean()
    squares = (learner.coef_ ** 2).sum()
    if len(learner.classes_) == 2:
        squares *= 0.5 if single else 2  # of lbfgs only one is kept, whose weights are those of the other, negated
    return {**answer, "objective": loss + l2 / 2 * squares, "iterations": int(learner.n_iter_[0])}


# ---- support vector machines ----


def read_liblinear(path):
    """The labels and the weights, a column a class."""
    with open(path, encoding="ascii") as file:
        for line in file:
            name, *words = line.split()
            if name == "label":
                labels = numpy.array(words, dtype=float)
            if name == "w":
                return labels, numpy.loadtxt(file, ndmin=2)
    raise ValueError("no weights")


def hinge(path, model, cost):
    rows, classes = read(path, "-")
    labels, weights = read_liblinear(model)
    scores = rows[:, :len(weights)] @ weights[:rows.shape[1]]
    signs = numpy.where(classes[:, None] == labels, 1.0, -1.0)
    return {"objective": float((weights ** 2).sum() / 2 + float(cost) * numpy.maximum(0, 1 - signs * scores).sum())}


COMMANDS = {work.__name__: work for work in (load, fit, online, uma, width, features, logistic, hinge)}
print(json.dumps({"version": sklearn.__version__}), flush=True)
for line in sys.stdin:
    command, *arguments = json.loads(line)
    print(json.dumps(COMMANDS[command](*arguments)), flush=True)
