"""Learners on labels that are made wrong on purpose: what `unconfuse experiment` does, for arrays and for any estimator."""
from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_X_y

from ._audit import _table
from ._labels import Classes, labels_of, unmixed
from ._library import NONE, Work, check, copied, doubles, in_python, last_error, names_list, options, seed_of, text
from ._names import python_name
from ._noise import DEFAULT_SEED
from ._page import write_page
from ._table import _label_name, _rows_of, is_table
from ._training import Data, Settings
from ._unconfuse import ffi, lib

STANDARD_NOISE = ("none", "uniform:0.2", "uniform:0.4")
MOST_RUNS = 10000


# ---- data ----


class _Problem(NamedTuple):
    """Rows with true labels."""

    name: str
    data: Any  # a uc_dataset
    labels: np.ndarray  # of the classes, in the library's order
    owner: Any


def _new_dataset() -> Any:
    return ffi.gc(ffi.new("uc_dataset *"), lib.uc_dataset_free)


def _read(name: str, path: str) -> _Problem:
    data = _new_dataset()
    with Work() as work:
        work.check(lib.uc_dataset_read(data, os.fsencode(path), ffi.NULL, work.context))
    return _Problem(name, data, labels_of(names_list(data.classes)), data)


def _from_frame(name: str, X: Any, y: Any) -> _Problem:
    """As the program would read it from a CSV file, so that the columns are encoded by the training rows of each run."""
    label = _label_name(X, y)
    written = X.assign(**{label: np.asarray(y)}).to_csv(index=False, lineterminator="\n").encode(errors="surrogateescape")
    settings = ffi.new("uc_read_settings *", lib.uc_reader_defaults())
    separator, column = ffi.new("char[]", b","), ffi.new("char[]", label.encode())
    settings.format, settings.separator, settings.label = lib.UC_FORMAT_CSV, separator, column
    data = _new_dataset()
    with Work() as work:
        work.check(lib.uc_dataset_read_memory(data, written, len(written), b"the table", settings, work.context))
    return _Problem(name, data, labels_of(names_list(data.classes)), data)


def _from_arrays(name: str, X: Any, y: Any) -> _Problem:
    if is_table(X):
        if not hasattr(X, "assign"):
            raise TypeError(f"{name}: {type(X).__name__} has columns that are not numbers: give a pandas DataFrame")
        return _from_frame(name, X, y)
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float32, order="C")
    y = unmixed(y)
    classes = Classes(np.unique(y))
    data = Data(X, np.ascontiguousarray(classes.encode(y)), classes)
    return _Problem(name, data.pointer, classes.labels, data)


def _is_path(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike))


def _problem(name: str | None, given: Any) -> _Problem:
    if _is_path(given):
        path = os.fspath(given)
        return _read(os.path.basename(path) if name is None else name, path)
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise TypeError(f"{name}: data are a file's name or a pair (X, y), not {type(given).__name__}")
    return _from_arrays(name or "data", *given)


def _problems(data: Any) -> list[_Problem]:
    if isinstance(data, Mapping):
        return [_problem(str(name), given) for name, given in data.items()]
    if _is_path(data):
        return [_problem(None, data)]
    if isinstance(data, (tuple, list)) and len(data) == 2 and not _is_path(data[0]) and not isinstance(data[0], tuple):
        return [_problem("data", data)]
    found = [_problem(None if _is_path(one) else f"data {i + 1}", one) for i, one in enumerate(data)]
    if not found:
        raise ValueError("data is empty")
    return found


# ---- learners ----


class _Draw(NamedTuple):
    """What all learners of a run learn from, and are tested on."""

    seed: int
    noisy: Any  # a uc_dataset, as the next one
    test: Any
    matrix: Any  # a uc_noise that learners may be told; of no classes: none
    labels: np.ndarray


def _known(data: Any, labels: np.ndarray) -> tuple[Any, np.ndarray]:
    """Rows and labels of what is labelled."""
    codes = copied(data.y, (data.X.rows,), "uint32_t", np.uint32)
    labelled = codes != NONE
    return _rows_of(data.X)[labelled], labels[codes[labelled]]


class _Named:
    """A learner of the library, as in "csvm:cost=10"."""

    def __init__(self, name: str, shared: Mapping[str, Any]) -> None:
        self.name = name
        learner, *own = name.split(":")
        self.settings = Settings(learner, shared)
        known = {text(option.name): option for option in options(self.settings.table)}
        for setting in own:
            option, _, value = setting.partition("=")
            if not value or option not in known:
                raise ValueError(f"learners: {name}: options are written as NAME=VALUE, and {learner} has {', '.join(known)}")
            if lib.uc_option_set(known[option], self.settings.own, value.encode()) != lib.UC_OK:
                raise ValueError(f"learners: {name}: {last_error()}")

    def run(self, draw: _Draw, n_jobs: int | None) -> tuple[float, float]:
        train, error, seconds = self.settings.train, ffi.new("double *"), ffi.new("double *")
        train.seed = draw.seed
        told = draw.matrix.classes > 0 and lib.uc_learner_uses_noise(self.settings.learner)
        train.noise = draw.matrix if told else ffi.NULL
        with Work(n_jobs) as work:
            work.check(lib.uc_trial(error, seconds, ffi.NULL, self.settings.learner, self.settings.own, train, draw.noisy,
                                    draw.test, work.context))
        return error[0], seconds[0]


class _Estimator:
    """One with fit and predict. What is random about it is drawn by the seed of the run."""

    def __init__(self, name: str, estimator: Any) -> None:
        if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
            raise TypeError(f"learners: {estimator!r} is neither a learner's name nor an estimator with fit and predict")
        self.name, self.estimator = name, estimator

    def run(self, draw: _Draw, n_jobs: int | None) -> tuple[float, float]:
        estimator = clone(self.estimator)
        parameters = estimator.get_params()
        unset: dict[str, Any] = {name: draw.seed % 2**32 for name, value in parameters.items()
                                 if value is None and name.rpartition("__")[2] == "random_state"}
        if draw.matrix.classes > 0 and "noise_matrix" in parameters and parameters["noise_matrix"] is None:
            K = len(draw.labels)
            unset["noise_matrix"] = Classes(np.sort(draw.labels)).matrix_from_library(copied(draw.matrix.values, (K, K)))
        estimator.set_params(**unset)
        (X, y), (tested, truth) = _known(draw.noisy, draw.labels), _known(draw.test, draw.labels)
        began = time.perf_counter()
        predicted = estimator.fit(X, y).predict(tested)
        return float(np.mean(predicted != truth)), time.perf_counter() - began


def _all_learners() -> list[str]:
    """Every learner whose feedback is the label, and that needs no special kind of labels."""
    names = []
    index = 0
    while learner := lib.uc_learner_at(index):
        if (lib.uc_learner_accepts(learner, lib.UC_FEEDBACK_FULL) and not lib.uc_learner_accepts(learner, lib.UC_FEEDBACK_PARTIAL)
                and not lib.uc_learner_is_positive_unlabelled(learner)):
            names.append(text(lib.uc_learner_name(learner)))
        index += 1
    return names


def _learners(given: Any, shared: Mapping[str, Any]) -> list[_Named | _Estimator]:
    if given is None:
        given = _all_learners()
    elif isinstance(given, str):
        given = given.split(",")
    elif hasattr(given, "fit"):
        given = [given]
    named = given.items() if isinstance(given, Mapping) else ((None, one) for one in given)
    found: list[_Named | _Estimator] = []
    for name, one in named:
        if isinstance(one, str):
            found.append(_Named(one, shared))
            found[-1].name = str(name) if name is not None else one
        else:
            found.append(_Estimator(str(name) if name is not None else type(one).__name__, one))
        if found[-1].name in [other.name for other in found[:-1]]:
            raise ValueError(f"learners: {found[-1].name} is named twice; a dict gives them names")
    if not found:
        raise ValueError("learners is empty")
    return found


# ---- what comes out ----


@dataclass
class _Cell:
    data: str
    noise: str
    learner: str
    errors: list[float] = field(default_factory=list)
    seconds: float = 0.0
    rank: float = math.nan
    failed: str | None = None

    def told(self, runs: int) -> dict[str, Any]:
        """As the command's JSON has it, but for NaN."""
        there = self.failed is None
        errors = np.array(self.errors)
        return {"data": self.data, "noise": self.noise, "learner": self.learner, "runs": runs,
                "error": float(errors.mean()) if there else math.nan,
                "deviation": float(errors.std(ddof=1)) if there and runs > 1 else math.nan,
                "seconds": self.seconds / runs if there else math.nan, "rank": self.rank,
                "errors": self.errors + [math.nan] * (runs - len(self.errors)), "failed": self.failed}


def _plain(value: Any) -> Any:
    """As JSON has it: NaN is null."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _latex_text(words: str) -> str:
    special = {"\\": "\\textbackslash{}", "~": "\\~{}", "^": "\\^{}", **{mark: "\\" + mark for mark in "&%$#_{}"}}
    return "".join(special.get(letter, letter) for letter in words)


def _latex_cell(cell: dict[str, Any], best: float) -> str:
    if cell["failed"] is not None:
        return "--"
    error = f"{100 * cell['error']:.2f}"
    shown = f"\\mathbf{{{error}}}" if cell["error"] == best else error
    return f"${shown}$" if math.isnan(cell["deviation"]) else f"${shown} \\pm {100 * cell['deviation']:.2f}$"


@dataclass(frozen=True)
class ExperimentResult:
    """What learners made of wrong labels, in the fields of `unconfuse experiment --json`.

    results: data, noise, learner, runs, error, deviation, seconds, rank, errors and failed of every learner on every
    problem; learners: learner, rank, error and seconds over all problems, the best rank first. DataFrames where pandas is
    installed, else lists of dicts.
    """

    results: Any
    learners: Any
    data: list[str]
    noise: list[str]
    runs: int
    friedman_statistic: float
    p_value: float  # of "all are equally good", of the learners that failed nowhere
    critical_difference: float  # mean ranks further apart differ at 5%, if p_value is below that (Nemenyi)
    significance: float
    _told: dict[str, Any] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """What the command prints with --json; NaN is None."""
        return _plain(self._told)

    def to_latex(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table of errors for LaTeX, as --latex writes it; also into a file, if `path` names one."""
        order = [learner["learner"] for learner in self._told["learners"]]
        cells = {(cell["data"], cell["noise"], cell["learner"]): cell for cell in self._told["results"]}
        lines = [f"% test errors in %, mean and deviation of {self.runs} run{'' if self.runs == 1 else 's'}; needs no package",
                 f"\\begin{{tabular}}{{ll*{{{len(order)}}}{{r}}}}", "\\hline",
                 " & ".join(["data", "noise", *map(_latex_text, order)]) + " \\\\", "\\hline"]
        for data in self.data:
            for noise in self.noise:
                row = [cells[data, noise, learner] for learner in order]
                best = min((cell["error"] for cell in row if cell["failed"] is None), default=math.nan)
                first = _latex_text(data) if noise == self.noise[0] else ""
                lines.append(" & ".join([first, _latex_text(noise), *(_latex_cell(cell, best) for cell in row)]) + " \\\\")
        ranks = [learner["rank"] for learner in self._told["learners"]]
        lines += ["\\hline", " & ".join(["mean rank &", *("--" if math.isnan(rank) else f"${rank:.2f}$" for rank in ranks)])
                  + " \\\\", "\\hline", "\\end{tabular}"]
        table = "\n".join(lines) + "\n"
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(table)
        return table

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """The page that --html writes: one file that needs no network."""
        write_page(path, "experiment", "unconfuse.experiment(...) of Python", self.to_dict())


def _rank(cells: list[_Cell], there: list[str], errors: NDArray[np.float64]) -> None:
    """The ranks that Friedman's test is of: their mean over the problems is the learner's."""
    found = np.empty_like(errors)
    for i, row in enumerate(errors):
        lib.uc_metrics_ranks(doubles(found[i]), doubles(row), len(there))
    for name in there:
        for i, cell in enumerate(cell for cell in cells if cell.learner == name):
            cell.rank = float(found[i, there.index(name)])


def _compared(cells: list[_Cell], learners: list[str], problems: int, runs: int) -> tuple[list[dict[str, Any]], Any]:
    """The learners over all problems, the best first, and Friedman's test of those that failed nowhere."""
    told = [cell.told(runs) for cell in cells]
    by_learner = {name: [one for one in told if one["learner"] == name] for name in learners}
    there = [name for name in learners if all(one["failed"] is None for one in by_learner[name])]
    test, ranks = ffi.new("uc_friedman *"), np.empty(len(there))
    if there:
        errors = np.array([[by_learner[name][i]["error"] for name in there] for i in range(problems)]).round(12)
        _rank(cells, there, errors)
        check(lib.uc_metrics_friedman(test, doubles(ranks), doubles(errors), problems, len(there)))
    mean_rank = dict(zip(there, ranks.tolist()))
    rows = [{"learner": name, "rank": mean_rank.get(name, math.nan),
             "error": float(np.mean([one["error"] for one in by_learner[name]])),
             "seconds": float(np.mean([one["seconds"] for one in by_learner[name]]))} for name in learners]
    rows.sort(key=lambda row: (math.isnan(row["rank"]), row["rank"]))
    return rows, test


# ---- running it ----


def _draw(problem: _Problem, noise: Any, test: float, seed: int, tell: bool, n_jobs: int | None) -> _Draw:
    noisy, tested = _new_dataset(), _new_dataset()
    matrix = ffi.gc(ffi.new("uc_noise *"), lib.uc_noise_free)
    with Work(n_jobs) as work:
        work.check(lib.uc_experiment_draw(noisy, tested, problem.data, test, seed, work.context))
        work.check(lib.uc_label_noise_apply(noisy, matrix if tell else ffi.NULL, noise, seed, work.context))
    return _Draw(seed, noisy, tested, matrix, problem.labels)


def _try(learner: _Named | _Estimator, cell: _Cell, draw: _Draw, n_jobs: int | None) -> None:
    """A learner that fails is left out of this problem, with its sentence."""
    try:
        error, seconds = learner.run(draw, n_jobs)
    except MemoryError:
        raise
    except Exception as reason:
        cell.failed = str(reason) or type(reason).__name__
        return
    cell.errors.append(error)
    cell.seconds += seconds


def _kinds(noise: str | Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in noise.split(",") if isinstance(noise, str) else noise:
        if kind in found:
            raise ValueError(f"noise: {kind} is named twice")
        found[kind] = ffi.new("uc_label_noise *")
        if lib.uc_label_noise_parse(found[kind], kind.encode()) != lib.UC_OK:
            raise ValueError(f"noise: {last_error()}")
    if not found:
        raise ValueError("noise is empty")
    return found


def _check_arguments(runs: int, test: float, shared: Mapping[str, Any]) -> None:
    if runs != int(runs) or not 1 <= runs <= MOST_RUNS:
        raise ValueError(f"runs={runs!r}: it must be a whole number from 1 to {MOST_RUNS}")
    if not 0 < test <= 0.99:
        raise ValueError(f"test={test!r}: it must be above 0 and at most 0.99")
    tables = (lib.uc_train_options, lib.uc_map_options)
    known = {python_name(text(option.name)) for table in tables for option in options(table)} - {"seed"}
    for name in shared:
        if name not in known:
            raise TypeError(f"experiment() got an unexpected keyword argument {name!r}")


def experiment(data: Any, *, noise: str | Iterable[str] = STANDARD_NOISE, learners: Any = None, runs: int = 5,
               test: float = 0.3, tell_noise: bool = False, random_state: Any = None, n_jobs: int | None = None,
               **training: Any) -> ExperimentResult:
    """Compares learners on labels that are made wrong on purpose, all on the same draws: those of `unconfuse experiment`
    with the same seed.

    data: a pair (X, y) whose labels are right, a file's name, a list of either, or a dict from names to either; X may be a
    DataFrame with categories, dates and texts. noise: none, uniform:RATE, pair:RATE, random:LEVEL, rates:POSITIVE:NEGATIVE,
    instance:RATE. learners: names such as "auto" and "csvm:cost=10", scikit-learn estimators, or a dict from names to
    either; without them, all of the library that learn from labels. tell_noise: give the noise matrix to learners that use
    one. Further parameters, such as scale="standard", are training options of the library's learners.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import unconfuse
    >>> result = unconfuse.experiment(load_iris(return_X_y=True), noise=["pair:0.3"], runs=3,
    ...                               learners=["logistic", DecisionTreeClassifier()])
    >>> [row["learner"] for row in result.to_dict()["learners"]]
    ['logistic', 'DecisionTreeClassifier']
    """
    _check_arguments(runs, test, training)
    seed = seed_of(random_state)
    seed, runs = DEFAULT_SEED if seed is None else seed, int(runs)
    kinds, competing, problems = _kinds(noise), _learners(learners, training), _problems(data)
    names, cells = [learner.name for learner in competing], []
    if len({problem.name for problem in problems}) < len(problems):
        raise ValueError("data: two have the same name; a dict gives them names")
    for problem in problems:
        for kind, parsed in kinds.items():
            here = [_Cell(problem.name, kind, name) for name in names]
            for run in range(runs):
                draw = _draw(problem, parsed, test, seed + int(lib.UC_RUN_STRIDE) * run, tell_noise, n_jobs)
                for learner, cell in zip(competing, here):
                    if cell.failed is None:
                        _try(learner, cell, draw, n_jobs)
            cells += here
    if all(cell.failed is not None for cell in cells):
        raise ValueError(f"every learner failed: {in_python(cells[0].failed or '')}")
    rows, found = _compared(cells, names, len(problems) * len(kinds), runs)
    told = {"results": [cell.told(runs) for cell in cells], "learners": rows, "data": [one.name for one in problems],
            "noise": list(kinds), "runs": runs, "friedman_statistic": found.statistic, "p_value": found.p_value,
            "critical_difference": found.critical_difference, "significance": lib.UC_SIGNIFICANCE}
    return ExperimentResult(**{**told, "results": _as_table(told["results"]), "learners": _as_table(rows)}, _told=told)


def _as_table(rows: list[dict[str, Any]]) -> Any:
    """A DataFrame, or without pandas the rows themselves."""
    return _table({name: [row[name] for row in rows] for name in rows[0]})
