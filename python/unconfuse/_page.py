"""The page of a report, as `--html` writes it: a template that came with the build, and the result as JSON in it."""
from __future__ import annotations

import html
import json
import os
import pathlib
from typing import Any

from ._library import text
from ._unconfuse import lib

TEMPLATE = pathlib.Path(__file__).parent / "page.html"  # with style and script; setup.py puts it there
DATA = "@DATA@"


def write_page(path: str | os.PathLike[str], command: str, typed: str, report: dict[str, Any]) -> None:
    """`command` says which page it is, `typed` how it was made."""
    if not TEMPLATE.exists():
        raise RuntimeError("this package was built without pages: they come from a build of the program with esbuild and d3")
    before, _, after = TEMPLATE.read_text(encoding="utf-8").partition(DATA)
    attributes = {"page": command, "command": typed, "version": text(lib.uc_version())}
    written = "".join(f' data-{name}="{html.escape(value)}"' for name, value in attributes.items())
    data = json.dumps(report, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    pathlib.Path(path).write_text(f"{before}{written}>{data}{after}", encoding="utf-8", errors="replace")
