"""Writes unconfuse/estimators.py: one class per learner and map, from the option tables of the library.

    generate.py EXTENSION OUTPUT

A learner that is added to the library's registry gets its class by being there; nothing here names one."""
import importlib.util
import pathlib
import re
import sys
import textwrap

WIDTH = 110
# The maps that have a transformer, and what it is called.
MAPS = {
    "kpca": ("KernelPCA", "Kernel principal components."),
    "kgs": ("KernelGramSchmidt", "Kernel Gram-Schmidt: the span of rows that are chosen one by one, the farthest first."),
    "random": ("RandomProjectionMap", "The span of random training rows, with an orthonormal basis."),
    "nystroem": ("Nystroem", "Nystroem's map: kernel values of landmarks, whitened by the root of their kernel matrix."),
    "jl": ("JohnsonLindenstrauss", "A random Gaussian projection of a larger orthonormal space."),
    "landmarks": ("Landmarks", "The kernel values of random training rows themselves."),
}
MAP_DIMENSION = 100  # of a transformer, which has no labels to choose a dimension by
ONLINE_OPTIONS = {"passes", "shuffle", "average"}  # of all training options, for learners that make passes


def load(name: str, path: str | pathlib.Path):
    """A module of the package, which cannot be imported as a whole yet."""
    spec = importlib.util.spec_from_file_location(f"unconfuse.{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ffi, lib = (lambda module: (module.ffi, module.lib))(load("_unconfuse", sys.argv[1]))
names = load("_names", pathlib.Path(__file__).with_name("unconfuse") / "_names.py")
python_name = names.python_name


def text(pointer) -> str:
    return ffi.string(pointer).decode() if pointer else ""


def python_text(sentence: str) -> str:
    """A sentence of the library in which options are called as they are in Python."""
    rendered = ffi.new("char[4096]")
    lib.uc_message_render(rendered, len(rendered), names.python_wording(sentence).encode(), lib.UC_MESSAGE_PYTHON)
    return text(rendered).replace("'?'", "`unlabelled`")


def sentence(words: str) -> str:
    """With a capital and a full stop, unless it begins with a word of the table, such as `kpca:`."""
    named = re.match(r"[a-z0-9]+:", words)
    return (words if named else words[0].upper() + words[1:]) + "."


# ---- parameters ----


class Parameter:
    """Of a constructor: its name, annotation, default as source text, and what the documentation says."""

    def __init__(self, name: str, annotation: str, default: str, shape: str, help: str) -> None:
        self.name, self.annotation, self.default, self.shape, self.help = name, annotation, default, shape, help

    def signature(self) -> str:
        return f"{self.name}: {self.annotation} = {self.default}"

    def documentation(self) -> list[str]:
        described = textwrap.wrap(self.help, WIDTH - 8)
        return [f"    {self.name} : {self.shape}, default={self.default}", *("        " + line for line in described)]


def number(value: float) -> str:
    return f"{value:.15g}"


def bounds(option) -> str:
    low, high = option.low, option.high
    words = []
    if low != 0 and abs(low) < 1e6 or option.above_low:
        words.append(("above " if option.above_low else "at least ") + number(low))
    if high < 1e6:
        words.append("at most " + number(high))
    return " and ".join(words)


def literal(option, word: str) -> str:
    """A word of the option table as Python source."""
    if word == "none":
        return "None"
    if option.type == lib.UC_OPTION_FLAG and word in ("on", "off"):
        return str(word == "on")
    if option.type == lib.UC_OPTION_CHOICE:
        return word if option.choices and text(option.choices).replace("|", "").isdigit() else repr(word)
    if option.type == lib.UC_OPTION_COUNT and word.isdigit():
        return word
    try:
        return repr(float(word))
    except ValueError:
        return repr(word)


def parameter(option, default: str | None = None) -> Parameter:
    words = [word for word in ("auto" if option.automatic else "", text(option.zero), text(option.unknown)) if word]
    if option.type == lib.UC_OPTION_CHOICE:
        choices = [literal(option, word) for word in text(option.choices).split("|")]
        shape = "{" + ", ".join(choices) + "}"
        annotation = f"Literal[{', '.join(choices)}]"
        if text(option.name) == "class-weight":
            shape, annotation = "{'balanced'}, dict or None", f"{annotation} | Mapping[Any, float]"
    else:
        kind = {lib.UC_OPTION_FLAG: "bool", lib.UC_OPTION_COUNT: "int", lib.UC_OPTION_REAL: "float",
                lib.UC_OPTION_PAIR: "tuple[float, float]"}[option.type]
        words = [literal(option, word) if option.type == lib.UC_OPTION_PAIR else repr(word) for word in words]
        shape = " or ".join([kind, *words])
        annotation = " | ".join([kind] + ([f"Literal[{', '.join(words)}]"] if words else []))
    help = python_text(text(option.help))
    if option.type in (lib.UC_OPTION_COUNT, lib.UC_OPTION_REAL, lib.UC_OPTION_PAIR) and bounds(option):
        help += f" ({bounds(option)})"
    if text(option.name) == "class-weight":
        help += "; or the weight of each class"
    return Parameter(python_name(text(option.name)), annotation, default or literal(option, text(option.standard)),
                     shape, sentence(help))


def options(table):
    i = 0
    while table[i].name:
        yield table[i]
        i += 1


RANDOM_STATE = Parameter(
    "random_state", "RandomState", "None", "int, RandomState or None",
    "The same seed gives the same model. None: the library's own seed, 1, so that repeating a fit gives the same model; "
    "a RandomState: a seed is drawn from it.")
JOBS = Parameter("n_jobs", "int | None", "None", "int or None",
                 "Number of threads. None: OMP_NUM_THREADS, or all cores. Results do not depend on it.")
NOISE = Parameter(
    "noise_matrix", "NoiseMatrix", "None", "array of shape (n_classes, n_classes), 'estimate' or None",
    "noise_matrix[p, q] is the probability that an example of class q is labelled p; columns sum to 1. 'estimate': "
    "it is estimated from the noisy labels alone.")
UNLABELLED = Parameter("unlabelled", "Any", "'?'", "label, None or NaN",
                       "What y holds for an example without a label, such as None, NaN or '?'.")
POSITIVE = Parameter("positive", "Any", "None", "label or None", "The positive one of two classes. None: the later one.")


def learner_parameters(learner) -> list[Parameter]:
    own = [parameter(option) for option in options(lib.uc_learner_options(learner))]
    names = [item.name for item in own]
    if lib.uc_learner_uses_noise(learner):
        own.append(NOISE)
    if lib.uc_learner_uses_unlabelled(learner) or "positive_unlabelled" in names:
        own.append(UNLABELLED)
    if "positive_unlabelled" in names or lib.uc_learner_is_positive_unlabelled(learner):
        own.append(POSITIVE)
    online = lib.uc_learner_is_online(learner)
    return [*own, *training_parameters(online), RANDOM_STATE, JOBS]


def training_parameters(online: bool) -> list[Parameter]:
    found = [parameter(option) for option in options(lib.uc_train_options)
             if text(option.name) != "seed" and (online or text(option.name) not in ONLINE_OPTIONS)]
    return found + [parameter(option) for option in options(lib.uc_map_options)]


def map_parameters(kind: str) -> list[Parameter]:
    found = []
    for option in options(lib.uc_map_options):
        only_for = text(option.help).partition(":")[0]  # "kpca: ..." is for that map alone
        if text(option.name) == "map" or (only_for in MAPS and only_for != kind):
            continue
        found.append(parameter(option, str(MAP_DIMENSION) if text(option.name) == "dimension" else None))
    return [*found, RANDOM_STATE, JOBS]


# ---- source text ----


def indented_signature(parameters: list[Parameter], first: str = "self") -> list[str]:
    return [f"        {first},", "        *,", *(f"        {item.signature()}," for item in parameters)]


def document(summary: str, more: str, parameters: list[Parameter], sections: list[str]) -> list[str]:
    summary = summary[0].upper() + summary[1:]
    lines = ['    """' + "\n    ".join(textwrap.wrap(summary, WIDTH - 7))]
    if more:
        lines += ["", *("    " + line for line in textwrap.wrap(more, WIDTH - 4))]
    lines += ["", "    Parameters", "    ----------"]
    for item in parameters:
        lines += item.documentation()
    return [*lines, *sections, '    """']


def class_source(name: str, bases: str, documentation: list[str], constant: str, parameters: list[Parameter]) -> str:
    return "\n".join([f"class {name}({bases}):", *documentation, "", f"    {constant}", "", "    def __init__(",
                      *indented_signature(parameters), "    ) -> None:",
                      *(f"        self.{item.name} = {item.name}" for item in parameters)])


def class_name(learner: str) -> str:
    """cspa-plus -> CSPAPlusClassifier: what has up to four letters is an abbreviation, except for words."""
    words = [word.upper() if len(word) <= 4 and word not in ("plus", "auto") else word.capitalize() for word in learner.split("-")]
    words = [word[:-3] + "SVM" if word.endswith("svm") else word for word in words]
    return "".join(words) + "Classifier"


def bases_of(learner) -> str:
    names = [text(option.name) for option in options(lib.uc_learner_options(learner))]
    if lib.uc_learner_is_online(learner):
        partial = lib.uc_learner_accepts(learner, lib.UC_FEEDBACK_PARTIAL)
        return "RightWrongClassifier" if partial else "OnlineClassifier"
    kinds = (["ProbabilityClassifier"] * lib.uc_learner_has_probabilities(learner) + ["BagClassifier"] * ("bags" in names))
    return ", ".join(kinds or ["Classifier"])


ATTRIBUTES = """
    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes, n_weights), or (1, n_weights) for two classes
        The weights of the columns or, with a map, of the features that the map makes.
    intercept_ : ndarray of shape (n_classes,), or (1,) for two classes
        The constant that is added to each score.
    n_iter_ : int
        How many steps or passes training took.
    n_features_in_ : int
        Number of columns of the training data.""".splitlines()
NOISE_ATTRIBUTE = """    noise_matrix_ : ndarray of shape (n_classes, n_classes) or None
        The noise matrix that was used in training, given or estimated.""".splitlines()

PRIOR_ATTRIBUTES = """    prior_ : float
        The share of positives that it was trained with, given or estimated.
    prior_interval_ : tuple of two floats
        Where 95% of resampled estimates are, when it was estimated.""".splitlines()


def learner_source(learner) -> str:
    parameters = learner_parameters(learner)
    sections = ATTRIBUTES + NOISE_ATTRIBUTE * lib.uc_learner_uses_noise(learner)
    sections = sections + PRIOR_ATTRIBUTES * lib.uc_learner_is_positive_unlabelled(learner)
    name = text(lib.uc_learner_name(learner))
    documentation = document(python_text(text(lib.uc_learner_summary(learner))) + ".",
                             text(lib.uc_learner_paper(learner)) + ".", parameters, sections)
    return class_source(class_name(name), bases_of(learner), documentation, f'_learner = "{name}"', parameters)


def map_source(kind: str) -> str:
    name, summary = MAPS[kind]
    parameters = map_parameters(kind)
    more = "If the rows span fewer dimensions, `dimension` is lowered, with a warning."
    attributes = ["", "    Attributes", "    ----------", "    width_ : float",
                  "        Width of the gaussian kernel, given or found.", "    n_features_in_ : int",
                  "        Number of columns of the training data."]
    return class_source(name, "MapTransformer", document(summary, more, parameters, attributes), f'_map = "{kind}"',
                        parameters)


def estimate_source() -> str:
    own = [parameter(option) for option in options(lib.uc_noise_estimate_options) if text(option.name) != "seed"]
    for item in own:  # the methods of the command line
        item.help = re.sub(r"^(Cv, self|self): (.)", lambda match: match[2].upper(), item.help)
    parameters = [*own, *training_parameters(False), RANDOM_STATE, JOBS]
    gold = Parameter("gold", "ArrayLike | None", "None", "array of shape (n_examples,) or None",
                     "True labels of the same examples; None, NaN or '?' where nobody checked. With it X may be None.")
    weights = Parameter("sample_weight", "ArrayLike | None", "None", "array of shape (n_examples,) or None",
                        "How many times every example counts; one of weight 0 is left out.")
    lines = document("Estimates the noise matrix of labels, from true labels of the same examples or from the noisy data alone.",
                     "Without `gold`, the estimate rests on out-of-fold probabilities of logistic regression; the "
                     "parameters after `gold` are those of the regression, its preprocessing and its map.",
                     [gold, *parameters, weights], [])
    arguments = ", ".join(f"{item.name}={item.name}" for item in parameters)
    source = ["def estimate_noise_matrix(", *(line[4:] for line in indented_signature([gold, *parameters, weights], "X: Any")),
              ") -> NoiseEstimate:", *lines]
    source.insert(2, "    y: ArrayLike,")
    source += textwrap.wrap(f"return estimate(X, y, gold, sample_weight, dict({arguments}))", WIDTH - 4, initial_indent="    ",
                            subsequent_indent=" " * 8)
    return "\n".join(source)


HEADER = '''"""The estimators, made from the option tables of the library by generate.py when the package was built."""
from __future__ import annotations

from typing import Any, Literal, Mapping

from numpy.typing import ArrayLike

from ._classifier import BagClassifier, Classifier, NoiseMatrix, ProbabilityClassifier, RandomState
from ._map import MapTransformer
from ._noise import NoiseEstimate, estimate
from ._online import OnlineClassifier, RightWrongClassifier
'''


def main() -> None:
    learners = []
    while lib.uc_learner_at(len(learners)):
        learners.append(lib.uc_learner_at(len(learners)))
    names = {text(lib.uc_learner_name(learner)): class_name(text(lib.uc_learner_name(learner))) for learner in learners}
    parts = [HEADER, *map(learner_source, learners), *map(map_source, MAPS), estimate_source()]
    table = "\n".join(f'    "{name}": {class_},' for name, class_ in names.items())
    parts.append(f"# What is in a model file under the name of its learner.\n"
                 f"LEARNERS: dict[str, type[Classifier]] = {{\n{table}\n}}")
    exported = sorted([*names.values(), *(name for name, _ in MAPS.values()), "estimate_noise_matrix"])
    parts.append("__all__ = [\n" + "".join(f'    "{name}",\n' for name in exported) + "]")
    pathlib.Path(sys.argv[2]).write_text("\n\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
