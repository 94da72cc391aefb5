"""The other side of the part `auto`: its data, and scikit-learn's classifiers on them.

    draw ROWS FOLDER          X.npy, y.npy: scikit-learn's digits drawn with replacement, each pixel plus normal noise of deviation
                              3; NOISE of the labels are replaced by random ones. Xt.npy, yt.npy: other rows with their classes
    fit NAME FOLDER           answers in JSON the times of fitting and the error on the test rows
"""
import json
import sys
import time

import numpy
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

COLUMNS = 64
NOISE = 0.3
TEST_ROWS = 5000
SEED = 5
GRID = {"svc__C": [0.1, 1, 10], "svc__gamma": [0.25 / COLUMNS, 1 / COLUMNS, 4 / COLUMNS]}
LEARNERS = {"SVC": lambda: SVC(),
            "SVC grid": lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), GRID, cv=3),
            "random forest": lambda: RandomForestClassifier(random_state=0),
            "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0)}


def rows(count, noise, rng):
    X, y = load_digits(return_X_y=True)
    chosen = rng.integers(0, len(y), count)
    labels = y[chosen].copy()
    wrong = rng.random(count) < noise
    labels[wrong] = rng.integers(0, 10, wrong.sum())
    return (X[chosen] + rng.normal(0, 3, (count, COLUMNS))).astype(numpy.float32), labels


def draw(count, folder):
    rng = numpy.random.default_rng(SEED)
    for suffix, (X, y) in (("", rows(int(count), NOISE, rng)), ("t", rows(TEST_ROWS, 0, rng))):
        numpy.save(f"{folder}/X{suffix}.npy", X)
        numpy.save(f"{folder}/y{suffix}.npy", y)


def fit(name, folder):
    X, y, Xt, yt = (numpy.load(f"{folder}/{part}.npy") for part in ("X", "y", "Xt", "yt"))
    learner = LEARNERS[name]()
    elapsed, processor = time.perf_counter(), time.process_time()
    learner.fit(X, y)
    times = {"elapsed": time.perf_counter() - elapsed, "processor": time.process_time() - processor}
    print(json.dumps({**times, "error": float((learner.predict(Xt) != yt).mean())}))


if __name__ == "__main__":
    {"draw": draw, "fit": fit}[sys.argv[1]](*sys.argv[2:])
