"""scikit-learn's side of the benchmark: reads commands from standard input, answers each with one JSON object.

    load FILE                              load_svmlight_file
    fit in-order|shuffled last|average     one pass of PassiveAggressiveClassifier over what was loaded
"""
import json
import sys
import time

import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import PassiveAggressiveClassifier

X = y = None


def timed(work):
    elapsed, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, {"elapsed": time.perf_counter() - elapsed, "processor": time.process_time() - processor}


print(json.dumps({"version": sklearn.__version__}), flush=True)
for line in sys.stdin:
    command, argument = line.rstrip("\n").split(" ", 1)
    if command == "load":
        X = y = None
        (X, y), answer = timed(lambda: load_svmlight_file(argument))
        X.sort_indices()
    else:
        order, weights = argument.split()
        learner = PassiveAggressiveClassifier(max_iter=1, tol=None, shuffle=order == "shuffled",
                                              average=weights == "average", random_state=1)
        _, answer = timed(lambda: learner.fit(X, y))
    print(json.dumps(answer), flush=True)
