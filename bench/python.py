"""The Python package: what predict costs compared with the C call below it, and partial_fit row by row with scikit-learn.

Everything is measured inside one Python, that of the virtual environment of `make python` (python_inside.py).
"""
import json
import os

from timing import HERE, note, run

SIZE = {"full": (100_000, 5_000), "quick": (10_000, 300)}  # rows to predict, rows to learn one by one


def python(bench):
    interpreter = os.path.join(bench.args.build, "python-venv", "bin", "python")
    if not os.access(interpreter, os.X_OK):
        note("the Python package is not installed in %s (make python); it is left out" % bench.args.build)
        return {}
    rows, steps = SIZE[bench.args.size]
    words = [interpreter, os.path.join(HERE, "python_inside.py"), rows, steps, bench.args.runs]
    return json.loads(run([str(word) for word in words])["output"])


PARTS = {"python": python}


# ---- telling ----


def rows(parts, add):
    """Nothing for the table of jobs: these are calls, not jobs."""


def wanted(parts, add):
    result = parts.get("python", {})
    for entry in result.get("predictions", []):
        add("predict in Python compared with the C call, %s rows" % entry["rows"], "at most 1.05x", 1 + entry["overhead"],
            lambda x: x <= 1.05)
    for entry in result.get("one_by_one", []):
        add("partial_fit row by row, %d classes, against scikit-learn" % entry["classes"], "at least 3x", entry["ratio"],
            lambda x: x >= 3)


def report(parts):
    result = parts.get("python")
    if not result:
        return
    print("\nPython: predict, %d rows, %d columns, %d classes, one thread" % tuple(result["shape"]))
    for entry in result["predictions"]:
        print("    %-8s in Python %8.3f ms, the C call %8.3f ms: %4.1f%% more" %
              (entry["rows"], 1e3 * entry["python"], 1e3 * entry["c"], 100 * entry["overhead"]))
    print("Python: partial_fit with one row of 64 columns a call: PAClassifier, PassiveAggressiveClassifier")
    for entry in result["one_by_one"]:
        print("    %2d classes  unconfuse %7.1f us, scikit-learn %7.1f us: %5.1fx" %
              (entry["classes"], 1e6 * entry["unconfuse"], 1e6 * entry["scikit_learn"], entry["ratio"]))
