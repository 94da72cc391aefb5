"""What an option of the library is called in Python."""
import keyword


def python_name(option: str) -> str:
    """class-weight is class_weight; a keyword gets a letter more: return is returns."""
    name = option.replace("-", "_")
    return name + "s" if keyword.iskeyword(name) else name
