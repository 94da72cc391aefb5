"""scikit-learn's side of the benchmark: reads commands from standard input, answers each with one JSON object.

    load FILE    load_svmlight_file
    fit JOBS     one pass of PassiveAggressiveClassifier over what was loaded
"""
import json
import sys
import time
import warnings

import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PassiveAggressiveClassifier

warnings.simplefilter("ignore", ConvergenceWarning)
X = y = None
print(json.dumps({"version": sklearn.__version__}), flush=True)
for line in sys.stdin:
    command, argument = line.rstrip("\n").split(" ", 1)
    if command == "load":
        X = y = None
        began = time.perf_counter()
        X, y = load_svmlight_file(argument)
        seconds = time.perf_counter() - began
        X.sort_indices()
        answer = {"seconds": seconds, "rows": X.shape[0], "entries": int(X.nnz)}
    else:
        learner = PassiveAggressiveClassifier(max_iter=1, tol=None, shuffle=False, n_jobs=int(argument))
        began = time.perf_counter()
        learner.fit(X, y)
        answer = {"seconds": time.perf_counter() - began}
    print(json.dumps(answer), flush=True)
