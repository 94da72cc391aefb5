"""What an option of the library is called in Python."""
import keyword

# Methods of the estimators, which a parameter would hide.
METHODS = {"fit", "learn_feedback", "partial_fit", "predict", "propose", "replay", "score"}


def python_name(option: str) -> str:
    """class-weight is class_weight; what Python cannot be called so gets a letter more: return is returns."""
    name = option.replace("-", "_")
    return name + "s" if keyword.iskeyword(name) or name in METHODS else name
