#!/usr/bin/python3
"""LIBLINEAR's library on data in memory, for bench/run: one JSON list of words on every line of the input, one object on
every line of the output.

    ["load", FILE]      reads LIBSVM text of two classes
    ["svm", C, E]       the support vector machine with the hinge loss (-s 3 -B -1): the time of train(), and the objective
                        1/2 |w|^2 + C sum of max(0, 1 - t <w, x>) that it reached
    ["logistic", L2, E] logistic regression (-s 0 -B -1), C = 2 / (n L2): the time, and the mean of the losses
                        log(1 + exp(-t <w, x>)) + L2/4 |w|^2. It is that of the softmax of two classes, whose best
                        weights are -w/2 and w/2: L2/2 (|w/2|^2 + |w/2|^2) = L2/4 |w|^2
"""
import ctypes
import json
import sys
import time

import numpy
from sklearn.datasets import load_svmlight_file

L2R_LR, L2R_L1LOSS_SVC_DUAL = 0, 3


class Parameter(ctypes.Structure):
    """Zeros after p mean the same to all versions of LIBLINEAR, whatever their fields are called."""

    _fields_ = [("solver_type", ctypes.c_int), ("eps", ctypes.c_double), ("C", ctypes.c_double),
                ("nr_weight", ctypes.c_int), ("weight_label", ctypes.c_void_p), ("weight", ctypes.c_void_p),
                ("p", ctypes.c_double), ("rest", ctypes.c_void_p * 4)]


class Problem(ctypes.Structure):
    _fields_ = [("l", ctypes.c_int), ("n", ctypes.c_int), ("y", ctypes.c_void_p), ("x", ctypes.c_void_p),
                ("bias", ctypes.c_double)]


NODE = numpy.dtype([("index", numpy.int32), ("value", numpy.float64)], align=True)
QUIET = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda text: None)


def open_library():
    library = ctypes.CDLL("liblinear.so.4")
    library.train.restype = ctypes.c_void_p
    library.get_decfun_coef.restype = ctypes.c_double
    library.get_decfun_coef.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    library.get_labels.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.free_and_destroy_model.argtypes = [ctypes.c_void_p]
    library.set_print_string_function(QUIET)
    return library


class Peer:
    def __init__(self):
        self.library = open_library()

    def load(self, path):
        self.X, self.y = load_svmlight_file(path)
        rows, columns = self.X.shape
        lengths = numpy.diff(self.X.indptr)
        # every row ends with a node of column -1
        nodes = numpy.zeros(self.X.nnz + rows, NODE)
        ends = self.X.indptr[1:] + numpy.arange(rows)
        inside = numpy.ones(nodes.size, bool)
        inside[ends] = False
        nodes["index"][inside] = self.X.indices + 1
        nodes["value"][inside] = self.X.data
        nodes["index"][ends] = -1
        starts = (nodes.ctypes.data + (ends - lengths) * NODE.itemsize).astype(numpy.uintp)
        self.kept = nodes, starts
        self.problem = Problem(rows, columns, self.y.ctypes.data, starts.ctypes.data, -1.0)
        return {"rows": rows, "columns": columns}

    def train(self, solver, cost, tolerance):
        """The weights, the margins of all rows, and the time."""
        parameter = Parameter(solver_type=solver, eps=float(tolerance), C=cost, p=0.1)
        elapsed, processor = time.perf_counter(), time.process_time()
        model = self.library.train(ctypes.byref(self.problem), ctypes.byref(parameter))
        elapsed, processor = time.perf_counter() - elapsed, time.process_time() - processor
        labels = (ctypes.c_int * 2)()
        self.library.get_labels(model, labels)
        w = numpy.array([self.library.get_decfun_coef(model, j + 1, 0) for j in range(self.X.shape[1])])
        self.library.free_and_destroy_model(ctypes.byref(ctypes.c_void_p(model)))
        margins = numpy.where(self.y == labels[0], 1.0, -1.0) * (self.X @ w)
        return w, margins, {"elapsed": elapsed, "processor": processor}

    def svm(self, cost, tolerance):
        cost = float(cost)
        w, margins, times = self.train(L2R_L1LOSS_SVC_DUAL, cost, tolerance)
        return {**times, "hinge": float(w @ w / 2 + cost * numpy.maximum(0.0, 1.0 - margins).sum())}

    def logistic(self, l2, tolerance):
        l2 = float(l2)
        w, margins, times = self.train(L2R_LR, 2 / (len(self.y) * l2), tolerance)
        return {**times, "objective": float(numpy.logaddexp(0.0, -margins).mean() + l2 / 4 * (w @ w))}


def main():
    peer = Peer()
    print(json.dumps({"version": "2"}), flush=True)
    for line in sys.stdin:
        command, *words = json.loads(line)
        print(json.dumps(getattr(peer, command)(*words)), flush=True)


if __name__ == "__main__":
    main()
