"""What options of the library, and sentences that name them, are called in Python."""
from __future__ import annotations

import keyword
import re
from collections.abc import Container, Mapping

# Methods of the estimators, which a parameter would hide.
METHODS = {"fit", "learn_feedback", "partial_fit", "predict", "propose", "replay", "score"}
# Options of the command line whose place another parameter has.
PLACES = {"noise_rate": "noise_matrix", "noise_rates": "noise_matrix", "seed": "random_state"}
# Advice that is for the command line alone, and what a program in Python does instead.
REWORDED = {
    "say --noise-orientation rows": "give its transpose, noise_matrix.T",
    "say --noise-orientation columns": "leave noise_orientation at 'columns'",
    "read the data with --storage dense": "give dense rows, X.toarray()",
    "--noise estimate": "noise_matrix='estimate'",
    "the data have no bags: LIBSVM rows name theirs as bag:ID after the label, CSV files in a column that --bag names":
        "bags=True needs to know the bag of every row: fit(X, y, groups=...)",
    " (--memory)": "",
}
OPTION = re.compile(r"(?<![^\s(])--(?P<name>[a-z][a-z0-9-]*)"
                    r"(?: (?P<letters>[A-Z]+[+-]?(?:,[A-Z]+[+-]?)*(?![\w-]))"  # which stand for a value
                    r"| (?P<word>[\w.+-]*\w))?")


def python_name(option: str) -> str:
    """class-weight is class_weight; what Python cannot be called so gets a letter more: return is returns."""
    name = option.replace("-", "_")
    return name + "s" if keyword.iskeyword(name) or name in METHODS else name


def _literal(word: str, words: Container[str]) -> str | None:
    """A value as it is written in Python, when the word is one: a number, or one of the option's words."""
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", word):
        return word
    if word not in words:
        return None
    return "None" if word == "none" else repr(word)


def python_sentence(sentence: str, parameters: Mapping[str, Container[str]]) -> str:
    """A sentence of the library in which options are the parameters of Python: `--scale` is `scale`, `--scale maxabs` is
    scale='maxabs', `--width W` is `width`. `parameters` has the words that each of them may be set to; an option that is
    none of them stays as it is."""

    def renamed(option: re.Match[str]) -> str:
        name = python_name(option["name"])
        name = PLACES.get(name, name)
        if name not in parameters:
            return option[0]
        if option["word"] is None:
            return f"`{name}`"
        value = _literal(option["word"], parameters[name])
        return f"`{name}` {option['word']}" if value is None else f"{name}={value}"

    for words, instead in REWORDED.items():
        sentence = sentence.replace(words, instead)
    sentence = OPTION.sub(renamed, sentence)
    return re.sub(r"(`\w+`)(,| or) \1(?=\)|$)", r"\1", sentence)  # two options in whose place there is one parameter
