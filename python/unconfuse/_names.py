"""What an option of the library is called in Python."""
from __future__ import annotations

import keyword
import re
from collections.abc import Container

# Methods of the estimators, which a parameter would hide.
METHODS = {"fit", "learn_feedback", "partial_fit", "predict", "propose", "replay", "score"}
# Options of the command line whose place another parameter has.
PLACES = {"noise_rate": "noise_matrix", "noise_rates": "noise_matrix", "seed": "random_state"}


def python_name(option: str) -> str:
    """class-weight is class_weight; what Python cannot be called so gets a letter more: return is returns."""
    name = option.replace("-", "_")
    return name + "s" if keyword.iskeyword(name) or name in METHODS else name


def python_sentence(words: str, parameters: Container[str] | None = None) -> str:
    """A sentence of the library in which options, and the letters that stand for their values, are the parameters; an
    option that is none of `parameters` stays as it is."""

    def renamed(option: re.Match[str]) -> str:
        name = python_name(option[1])
        name = PLACES.get(name, name)
        return f"`{name}`" if parameters is None or name in parameters else option[0]

    words = words.replace("--noise estimate", "`noise_matrix`='estimate'")
    words = re.sub(r"(?<![^\s(])--([a-z][a-z0-9-]*)( [A-Z]+[+-]?(,[A-Z]+[+-]?)*(?![\w-]))?", renamed, words)
    return re.sub(r"(`\w+`)(,| or) \1(?=\)|$)", r"\1", words)  # two options in whose place there is one parameter
