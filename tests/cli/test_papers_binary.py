"""unconfuse-papers: the experiments of the papers on binary label noise."""
import json
import random
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

from test_papers import means, papers, pytestmark, result_of  # noqa: F401

NAMES = ["rp.table1", "rp.figure2", "rp.table3", "rp.figure3", "sloppy.figure1", "sloppy.table1", "sloppy.pu"]


def published(panel):
    return {row["row"]: {column: cell["paper"] for column, cell in row["cells"].items()} for row in panel["rows"]}


def write_heart(directory, splits=0):
    """Two clouds of 270 points with little overlap, under the name of a data set of the benchmark."""
    data = directory / "data"
    data.mkdir(exist_ok=True)
    generator = random.Random(1)
    lines = []
    for i in range(270):
        sign = 1 if i % 2 else -1
        lines.append(f"{sign} " + " ".join(f"{j}:{generator.gauss(1.5 * sign, 1):.4f}" for j in [1, 2, 3]))
    (data / "ratsch.heart.svm").write_text("\n".join(lines) + "\n")
    rows = [" ".join(str(row) for row in generator.sample(range(1, 271), 170)) for _ in range(splits)]
    if splits:
        (data / "ratsch.heart.official1-10.train.idx").write_text("\n".join(rows) + "\n")
    return data


def test_list_has_the_experiments(tmp_path):
    lines = papers(tmp_path, "list", "--data", tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("rp.", "sloppy."))] == NAMES
    assert any("banana (missing), breast-cancer (missing)" in line for line in lines)


def test_missing_data_are_skipped(tmp_path):
    for name in ["sloppy.table1", "rp.figure2"]:
        result = papers(tmp_path, "run", name, "--quick", "--json", "--data", tmp_path)
        content = json.loads(result.stdout)["experiments"][0]
        assert result.returncode == 1 and content["panels"] == [] and len(content["skipped"]) in (2, 5)


@pytest.mark.parametrize("name, panels", [
    ("rp.table1", ["heart", "dimension", "kappa"]),
    ("sloppy.table1", ["heart", "rates", "cost"]),
    ("sloppy.pu", ["errors", "rate"]),
])
def test_a_failing_problem_leaves_the_others(tmp_path, name, panels):
    data = write_heart(tmp_path, splits=5)
    other = "banana" if name == "rp.table1" else "german"
    (data / f"ratsch.{other}.svm").write_text("1 1:1\n2 1:2\n3 1:3\n")
    result = papers(tmp_path, "run", name, "--quick", "--runs", 1, "--json", "-q", "--data", data, "--only", f"heart,{other}")
    assert result.returncode == 1
    assert f"unconfuse-papers: {name}: {other}: ratsch.{other}: 3 classes where two are needed\n" in result.stderr
    content = json.loads(result.stdout)["experiments"][0]
    assert [panel["name"] for panel in content["panels"]] == panels
    for panel in content["panels"]:
        for row in panel["rows"]:
            assert row["row"] != other
            assert row["cells"].get(other, {"values": []})["values"] == []
            assert "heart" not in row["cells"] or row["cells"]["heart"]["values"]


# ---- SloppySVM ----

def test_corrected_losses_average_to_the_hinge_loss(tmp_path):
    positive, negative = (means(panel) for panel in result_of(tmp_path, "sloppy.figure1")["panels"])
    for row, losses in positive.items():
        margin = float(row)
        mirrored = f"{-margin:.2f}" if margin else row
        for name, loss in losses.items():
            eta = float(name.strip("[]").split(",")[0])  # of a true positive
            assert (1 - eta) * loss + eta * negative[mirrored][name] == pytest.approx(max(0, 1 - margin), abs=1e-9)
    assert min(positive["3.00"].values()) < -1  # not convex


@pytest.mark.skipif(not shutil.which("gnuplot"), reason="there is no gnuplot")
def test_negative_losses_are_in_the_picture(tmp_path):
    assert papers(tmp_path, "run", "sloppy.figure1", "-q", "--out", "out").returncode == 0
    assert "set yrange [*:*]" in (tmp_path / "out" / "sloppy.figure1.gp").read_text()
    assert (tmp_path / "out" / "sloppy.figure1.png").read_bytes().startswith(b"\x89PNG")


def test_table1_of_sloppy_has_the_papers_protocol(tmp_path):
    data = write_heart(tmp_path, 3)
    arguments = ["sloppy.table1", "--data", data, "--only", "heart", "--runs", 3, "--quick"]
    content = result_of(tmp_path, *arguments, "--threads", 1)
    assert content["panels"] == result_of(tmp_path, *arguments, "--threads", 2)["panels"]
    errors, rates, cost = content["panels"]
    table = means(errors)
    assert list(table) == ["[0, 0]", "[0, 0.4]", "[0.4, 0.2]"]
    assert table["[0, 0]"]["CSVM"] == table["[0, 0]"]["SloppySVM"] == table["[0, 0]"]["weighted"] <= 5
    assert table["[0, 0.4]"]["SloppySVM"] <= 8 and table["[0, 0.4]"]["rates estimated"] <= 15
    assert published(errors)["[0, 0.4]"]["CSVM"] == 30.1 and published(errors)["[0, 0.4]"]["SloppySVM"] == 17.68
    assert means(rates)["[0, 0.4]: eta-"]["heart"] > means(rates)["[0, 0.4]: eta+"]["heart"] + 0.1
    assert all(0.005 <= row["heart"] <= 1000 for row in means(cost).values())
    assert "heart: 170 training and 100 test examples; splits: 3 published" in content["notes"]


def test_positives_and_unlabelled_examples_are_learned_from(tmp_path):
    content = result_of(tmp_path, "sloppy.pu", "--data", write_heart(tmp_path), "--only", "heart", "--runs", 3)
    row = means(content["panels"][0])["heart"]
    assert row["CSVM, all labels"] <= 5
    assert row["SloppySVM"] <= 8 and row["weighted"] <= 8 and row["rate estimated"] <= 15
    assert 0.2 <= means(content["panels"][1])["heart"]["eta+ found"] <= 0.8
    assert any("splits: 3 drawn by the seed" in note for note in content["notes"])


# ---- the splits ----

def split_error(tmp_path, text):
    data = write_heart(tmp_path)
    (data / "ratsch.heart.official1-10.train.idx").write_text(text)
    result = papers(tmp_path, "run", "sloppy.pu", "--data", data, "--only", "heart", "--runs", 1, "-q")
    assert result.returncode == 1 and "mean ±" not in result.stdout and len(result.stderr.splitlines()) == 1
    return result.stderr


def test_a_bad_list_of_splits_is_one_sentence(tmp_path):
    assert "'271' is not a row from 1 to 270" in split_error(tmp_path, "1 2 271 \n")
    assert "'x' is not a row" in split_error(tmp_path, "1 x")
    assert "3 rows are no multiple of 170" in split_error(tmp_path, "1 2 3\n")


@pytest.mark.skipif(not shutil.which("zstd"), reason="there is no zstd")
def test_packed_lists_of_splits_are_read_and_a_cut_one_is_not_used(tmp_path):
    data = write_heart(tmp_path, 2)
    arguments = ["sloppy.pu", "--data", data, "--only", "heart", "--runs", 2]
    plain = result_of(tmp_path, *arguments)
    subprocess.run(["zstd", "-q", "--rm", data / "ratsch.heart.official1-10.train.idx"], check=True)
    packed = data / "ratsch.heart.official1-10.train.idx.zst"
    assert result_of(tmp_path, *arguments)["panels"] == plain["panels"]
    packed.write_bytes(packed.read_bytes()[:200])
    result = papers(tmp_path, "run", *arguments, "-q")
    assert result.returncode == 1 and "train.idx.zst: it cannot be read" in result.stderr


# ---- RP-classifier ----

def test_table1_of_rp_has_both_protocols(tmp_path):
    data = write_heart(tmp_path, 5)
    content = result_of(tmp_path, "rp.table1", "--data", data, "--only", "heart", "--runs", 2, "--quick")
    errors, chosen, kappa = content["panels"]
    table = means(errors)
    assert list(table) == ["0.00", "0.20"]
    assert list(table["0.00"]) == ["KPCA", "KGS", "random", "rp, inner", "csvm, inner", "sloppy, inner"]
    assert max(table["0.00"].values()) <= 6 and max(table["0.20"].values()) <= 20
    assert published(errors)["0.20"]["KGS"] == 18.08 and published(errors)["0.20"]["rp, inner"] is None
    assert published(chosen)["0.20 KGS"] == {"heart": 150}
    assert all(row["heart"] in [5, 20, 35, 50, 125] for row in means(chosen).values())
    assert all(row["heart"] in [0, 0.05, 0.1] for row in means(kappa).values())
    figure = result_of(tmp_path, "rp.figure2", "--data", data, "--only", "heart", "--runs", 2, "--quick")
    assert len(figure["panels"]) == 1
    for row, cells in means(figure["panels"][0]).items():
        assert cells == {name: table[row][name] for name in ["KPCA", "KGS", "random"]}


def test_table3_of_rp_chooses_and_learns(tmp_path):
    content = result_of(tmp_path, "rp.table3", "--quick", "--only", "ellipses")
    errors, chosen = content["panels"]
    table = means(errors)
    assert table["0.10"]["rp"] <= 5 and table["0.30"]["rp"] <= 15
    assert published(errors)["0.30"]["rp"] == 6.3
    assert means(chosen)["0.10 width"]["ellipses"] in [1.5, 2.5, 4]
    assert published(chosen)["0.10 dimension"]["ellipses"] == 100


def test_figure3_of_rp_is_a_picture_of_regions(tmp_path):
    result = papers(tmp_path, "run", "rp.figure3", "-q", "--out", "out")
    assert result.returncode == 0, result.stderr
    table = means(json.loads((tmp_path / "out" / "rp.figure3.json").read_text())["panels"][0])
    assert list(table) == ["ellipses", "ring", "chess", "dart", "hyper"]
    assert all(row["noise 0.2"] <= 12 and row["noise 0.3"] <= 25 for row in table.values())
    script = (tmp_path / "out" / "rp.figure3.gp").read_text()
    assert script.count("with image") == 30  # 15 tiles, twice
    wrong = sum(line.count("2") + line.count("3") for line in block(script, "$region5"))
    assert wrong / 120 ** 2 == pytest.approx(table["ellipses"]["noise 0.2"] / 100, abs=1e-9)
    if shutil.which("gnuplot"):
        assert (tmp_path / "out" / "rp.figure3.png").read_bytes().startswith(b"\x89PNG")
        drawing = xml.etree.ElementTree.parse(tmp_path / "out" / "rp.figure3.svg")
        assert "Dart board" in "".join(drawing.getroot().itertext())


def block(script, name):
    return script.split(f"{name} << END\n", 1)[1].split("END\n", 1)[0].splitlines()
