"""What the options of the library are called in Python.

The library names options neutrally, in braces: {class-weight}, {scale=maxabs}. It also renders them for Python,
`class_weight` and scale='maxabs' (uc_message_render); what is here comes before that."""
from __future__ import annotations

import keyword

# Methods of the estimators, which a parameter would hide.
METHODS = {"fit", "learn_feedback", "partial_fit", "predict", "propose", "replay", "score"}
# Options that have another name in Python, or whose place another parameter has.
RENAMED = {"noise-rate": "noise-matrix", "noise-rates": "noise-matrix", "noise": "noise-matrix", "seed": "random-state",
           "return": "returns"}
# Advice that is for programs that read files, and what one does in Python instead.
REWORDED = {
    "say {noise-orientation=rows}": "give its transpose, noise_matrix.T",
    "say {noise-orientation=columns}": "leave noise_orientation at 'columns'",
    "read the data with {storage=dense}": "give dense rows, X.toarray()",
    "{noise-matrix}, {noise-rate}": "{noise-matrix}",
    "{noise-matrix} or {noise-rate}": "{noise-matrix}",
    "is for labels of bags: say {bags}": "is for labels of bags: give {bags=on}",
    "the data have no bags: LIBSVM rows name theirs as bag:ID after the label, CSV files in a column that {bag} names":
        "bags=True needs to know the bag of every row: fit(X, y, groups=...)",
    "{label} NAME chooses another column": "give y of two classes",
    " ({memory})": "",
}


def python_name(option: str) -> str:
    """class-weight is class_weight; what Python cannot be called so gets a letter more: return is returns."""
    name = option.replace("-", "_")
    return name + "s" if keyword.iskeyword(name) or name in METHODS else name


def _reword(part: str) -> str:
    for words, instead in REWORDED.items():
        part = part.replace(words, instead)
    for name, instead in RENAMED.items():
        for end in "}= ":
            part = part.replace("{" + name + end, "{" + instead + end)
    return part


def python_wording(sentence: str) -> str:
    """A sentence of the library, for uc_message_render, about what there is in Python. The user's own braces are doubled
    in it: they are no names."""
    return "{{".join(_reword(part) for part in sentence.split("{{"))
