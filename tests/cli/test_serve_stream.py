"""The service proposes what `unconfuse stream` proposes on the same rows, and ends with the same model, byte for byte."""
import os
import pathlib
import random
import subprocess

import pytest

from conftest import PROGRAM
from live_service import Service

DATA = pathlib.Path(os.environ.get("UNCONFUSE_DATA", "/nowhere")) / "letter.svm.zst"
ROWS = int(os.environ.get("UNCONFUSE_LETTER_ROWS", "1500"))


@pytest.mark.skipif(not DATA.exists(), reason="UNCONFUSE_DATA has no letter.svm.zst")
@pytest.mark.parametrize("learner, scale", [("cspa-plus", None), ("onebit", None), ("cspa-plus", "standard")])
def test_letter(unconfuse, tmp_path, learner, scale):
    lines = subprocess.run(["zstd", "-dc", str(DATA)], capture_output=True, text=True, check=True).stdout.splitlines()
    random.Random(3).shuffle(lines)
    lines = lines[:ROWS]
    classes = sorted({line.split()[0] for line in lines}, key=lambda name: (len(name), name))
    unconfuse.write("letter.svm", "\n".join(lines) + "\n")
    options, settings = (["--scale", scale], {"scale": scale}) if scale else ([], {})
    streamed = unconfuse.json("stream", learner, "-" if scale else "letter.svm", *options, "--classes", ",".join(classes), "-o",
                              "streamed.uc", stdin=unconfuse.read("letter.svm") if scale else b"")
    right = 0
    with Service(PROGRAM, tmp_path / "dir", "--durability", "crash") as service:
        assert service.put("/v1/models/m", {"learner": learner, "classes": classes, "settings": settings}).status == 201
        connection = service.connect()
        for line in lines:
            label, *cells = line.split()
            row = {column: float(value) for column, value in (cell.split(":") for cell in cells)}
            made = service.post("/v1/models/m/propose", {"features": row}, connection=connection).json
            right += made["class"] == label
            told = service.post("/v1/models/m/feedback", {"id": made["id"], "right": made["class"] == label}, connection=connection)
            assert told.status == 200
        model = service.get("/v1/models/m/model").body
    assert right == streamed["correct"]
    assert model == unconfuse.read("streamed.uc")
