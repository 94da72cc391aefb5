"""unconfuse-papers: what it lists, what it runs, what it writes."""
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree

import pytest

from conftest import PROGRAM

PAPERS = str(pathlib.Path(PROGRAM).with_name("unconfuse-papers"))
NAMES = ["uma.figure1a", "uma.figure1b", "uma.figure2", "uma.table1", "uma.figure3", "uma.figure4", "uma.figure5",
         "uma.s3vm", "uma.width", "copa.toy", "cspa.figure1", "cspa.figure2", "cspa.table1", "cspa.table2", "cspa.figure3", "cspa.figure4",
         "rp.table1", "rp.figure2", "rp.table3", "rp.figure3", "sloppy.figure1", "sloppy.table1", "sloppy.pu"]

pytestmark = pytest.mark.skipif(not os.path.exists(PAPERS), reason="this build has no unconfuse-papers")


def papers(directory, *arguments, env=None):
    return subprocess.run([PAPERS, *map(str, arguments)], capture_output=True, text=True, cwd=directory, timeout=600,
                          env={**os.environ, **(env or {})})


def usage_error(directory, *arguments):
    result = papers(directory, *arguments)
    assert result.returncode == 2 and result.stdout == "" and len(result.stderr.splitlines()) == 1, result
    assert os.listdir(directory) == []
    return result.stderr.removeprefix("unconfuse-papers: ")


def test_list_names_every_experiment_and_says_which_data_are_missing(tmp_path):
    result = papers(tmp_path, "list", "--data", tmp_path)
    assert result.returncode == 0, result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines() if "." in line.split(" ")[0]] == NAMES
    assert "data: generated" in result.stdout and "letter (missing)" in result.stdout
    assert f"Data directory: {tmp_path}" in result.stdout


def test_list_sees_data_that_are_there(tmp_path):
    for name in ["optdigits.train.svm", "optdigits.test.svm.gz"]:
        (tmp_path / name).write_text("1 1:1\n")
    result = papers(tmp_path, "list", env={"UNCONFUSE_DATA": str(tmp_path)})
    assert "optdigits (there), letter (missing)" in result.stdout


def test_fetch_names_source_and_file_of_every_data_set(tmp_path):
    text = papers(tmp_path, "fetch", "--data", "here").stdout
    for word in ["here", "letter.svm", "optdigits.train.svm", "optdigits.test.svm", "reuters-r52.train.svm", "UCI",
                 "mlbench", "Reuters-21578", "20news-bydate.train.svm", "sector.train.svm", "sensorless.svm",
                 "mnist.train.svm"]:
        assert word in text
    assert os.listdir(tmp_path) == []


def test_unknown_experiment_is_refused_with_the_nearest_name(tmp_path):
    assert "did you mean 'uma.figure1a'?" in usage_error(tmp_path, "run", "uma.figur1a")
    assert "there is no experiment 'svm'; unconfuse-papers list lists them" in usage_error(tmp_path, "run", "svm")
    assert "did you mean 'rp.table1'?" in usage_error(tmp_path, "run", "uma.figure2", "table1")


@pytest.mark.parametrize("arguments, sentence", [
    (["walk"], "there is no command called walk; unconfuse-papers help lists them"),
    (["rum", "uma"], "there is no command called rum; did you mean run?"),
    (["--quick"], "a command is missing; unconfuse-papers help lists them"),
    (["run"], "an argument is missing; usage: unconfuse-papers run NAME..."),
    (["run", "uma.figure1a", "--fast"], "unknown option --fast; see unconfuse-papers help run"),
    (["run", "uma.figure1a", "--quik"], "unknown option --quik; did you mean --quick?"),
    (["run", "uma.figure1a", "--runs", "0"], "runs"),
    (["run", "uma.figure1a", "--runs"], "--runs needs a value"),
    (["run", "uma.figure4", "--resume"], "--resume needs --out DIR, where finished runs are kept"),
    (["list", "uma"], "unexpected argument uma; usage: unconfuse-papers list"),
])
def test_wrong_usage_is_one_sentence(tmp_path, arguments, sentence):
    assert sentence in usage_error(tmp_path, *arguments)


def test_a_result_that_cannot_be_said_in_json_leaves_the_old_one(tmp_path):
    """JSON is UTF-8."""
    for name in ("uma.figure1a.json", "uma.figure1a.csv"):
        (tmp_path / name).write_text("old")
    result = subprocess.run([PAPERS, "run", "uma.figure1a", "--quick", "--runs", "1", "--only", b"\xff", "--out", tmp_path],
                            capture_output=True, timeout=600, cwd=tmp_path)
    assert result.returncode == 1 and b"is not UTF-8" in result.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "old" for name in
                                                                         ("uma.figure1a.json", "uma.figure1a.csv")}


def test_the_files_of_a_result_appear_together(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/uma.figure1a.json").write_text("old")
    (tmp_path / "out/uma.figure1a.csv").mkdir()
    result = papers(tmp_path, "run", "uma.figure1a", "--quick", "--runs", 1, "--out", "out")
    assert result.returncode == 1
    assert "out/uma.figure1a.csv: cannot write: it is a directory" in result.stderr
    assert (tmp_path / "out/uma.figure1a.json").read_text() == "old"
    assert sorted(os.listdir(tmp_path / "out")) == ["uma.figure1a.csv", "uma.figure1a.json"]


def test_options_may_come_before_the_command(tmp_path):
    data = write_digits(tmp_path)
    before = papers(tmp_path, "--data", data, "--seed=7", "run", "uma.figure2", "--json")
    after = papers(tmp_path, "run", "uma.figure2", "--json", "--data", data, "--seed", 7)
    first, second = (json.loads(result.stdout)["experiments"][0] for result in (before, after))
    assert first["panels"] and {**first, "seconds": 0} == {**second, "seconds": 0}


def test_an_interrupted_run_writes_no_result(tmp_path):
    process = subprocess.Popen([PAPERS, "run", "uma.figure1a", "--out", tmp_path / "out"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    while not (tmp_path / "out").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, b"") and err.endswith(b"unconfuse-papers: interrupted\n")
    assert os.listdir(tmp_path / "out") == []


def interrupted_figure(tmp_path, data, out):
    """Ends uma.figure4 by SIGINT when some of its runs are finished, and returns their file."""
    process = subprocess.Popen([PAPERS, "run", "uma.figure4", "--only", "optdigits", "--quick", "--runs", "4", "--quiet", "--data",
                                data, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kept = out / "uma.figure4.finished.json"
    while not kept.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 130 and os.listdir(out) == [kept.name]
    return kept


def test_an_interrupted_experiment_goes_on_with_its_next_run(tmp_path):
    data = write_digits(tmp_path, 900)
    kept = interrupted_figure(tmp_path, data, tmp_path / "out")
    finished = json.loads(kept.read_text())["panels"]["optdigits"]["runs"]
    assert 0 < finished < 4
    command = ["run", "uma.figure4", "--only", "optdigits", "--quick", "--runs", "4", "--data", data, "--out"]
    resumed = papers(tmp_path, *command, tmp_path / "out", "--resume")
    assert resumed.returncode == 0 and f"run {finished} of" not in resumed.stderr, resumed.stderr
    assert papers(tmp_path, *command, tmp_path / "whole").returncode == 0
    assert (tmp_path / "out/uma.figure4.csv").read_bytes() == (tmp_path / "whole/uma.figure4.csv").read_bytes()
    assert not kept.exists() and not (tmp_path / "whole" / kept.name).exists()


def test_finished_runs_of_other_options_are_not_continued(tmp_path):
    data = write_digits(tmp_path, 900)
    kept = interrupted_figure(tmp_path, data, tmp_path / "out")
    command = ["run", "uma.figure4", "--only", "optdigits", "--quick", "--data", data, "--out", tmp_path / "out", "--resume"]
    other = papers(tmp_path, *command, "--seed", 2)
    assert other.returncode == 1 and "these runs had another --seed, --only or --quick" in other.stderr
    text = kept.read_text()
    for bad, sentence in [(text[:-30], "finished.json: line"), (text.replace('"cells"', '"sells"'), "is not what this experiment"),
                          (text.replace('"runs": ', '"runs": 9'), "is not what this experiment")]:
        kept.write_text(bad)
        result = papers(tmp_path, *command)
        assert result.returncode == 1 and sentence in result.stderr, result.stderr
        assert kept.read_text() == bad


def test_list_and_fetch_in_json_tell_the_same_as_the_text(tmp_path):
    data = write_digits(tmp_path)
    listed = json.loads(papers(tmp_path, "list", "--json", "--data", data).stdout)
    assert [one["experiment"] for one in listed["experiments"]] == NAMES and listed["directory"] == str(data)
    digits = [one for experiment in listed["experiments"] for one in experiment["data"] if one["name"] == "optdigits"]
    assert digits and all(one["there"] for one in digits)
    fetched = json.loads(papers(tmp_path, "fetch", "--json", "--data", data).stdout)
    assert {one["name"]: one["there"] for one in fetched["data"]}["optdigits"] is True
    assert all(name.endswith(".svm") for one in fetched["data"] for name in one["files"])


def test_help_of_a_command_is_the_same_both_ways(tmp_path):
    for command in ["list", "run", "fetch", "help"]:
        text = papers(tmp_path, "help", command).stdout
        assert text == papers(tmp_path, command, "--help").stdout
        assert text.startswith(f"usage: unconfuse-papers {command} ") and "--threads N" in text
    for option in ["--runs N", "--quick", "--out DIR", "--only A,B", "--data DIR"]:
        assert papers(tmp_path, "run", "--help").stdout.count(f"\n      {option} ") == 1


@pytest.mark.parametrize("typed, offered", [
    ("unconfuse-papers r", ["run"]),
    ("unconfuse-papers run uma.figure1", ["uma.figure1a", "uma.figure1b"]),
    ("unconfuse-papers run uma --qu", ["--quick", "--quiet"]),
])
def test_bash_completes(tmp_path, typed, offered):
    (tmp_path / "completion.bash").write_text(papers(tmp_path, "help", "--completion", "bash").stdout)
    script = ('source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _unconfuse_papers; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    result = subprocess.run(["bash", "-c", script, "bash", *typed.split(" ")], capture_output=True, cwd=tmp_path, check=True)
    assert result.stdout.decode().split() == offered


def test_no_arguments_print_the_usage(tmp_path):
    result = papers(tmp_path)
    assert result.returncode == 2 and "usage: unconfuse-papers" in result.stderr and "--quick" in result.stderr


def test_missing_data_are_skipped_with_a_sentence(tmp_path):
    result = papers(tmp_path, "run", "uma.figure2", "--data", write_digits(tmp_path))
    assert result.returncode == 0, result.stderr
    for name in ["letter", "reuters-r52"]:
        assert f"skipped: no data: {name} (see unconfuse-papers fetch)" in result.stdout


def test_nothing_to_run_is_a_failure(tmp_path):
    result = papers(tmp_path, "run", "uma.table1", "rp.table1", "--quick", "--data", tmp_path / "nowhere")
    assert result.returncode == 1
    assert result.stderr == (f"unconfuse-papers: nothing was run: the data are not in {tmp_path}/nowhere "
                             "(see unconfuse-papers fetch)\n")
    for name in ["optdigits", "letter", "reuters-r52", "banana"]:
        assert f"skipped: no data: {name} (see unconfuse-papers fetch)" in result.stdout
    result = papers(tmp_path, "run", "uma.figure2", "--only", "digits", "--data", write_digits(tmp_path))
    assert result.returncode == 1 and "nothing was run: 'digits' (--only) is no data set of it" in result.stderr


def test_data_are_looked_for_in_the_directory_data(tmp_path):
    environment = {"UNCONFUSE_DATA": ""}
    write_digits(tmp_path)
    assert "Data directory: ./data\n" in papers(tmp_path, "list", env=environment).stdout
    result = papers(tmp_path, "run", "uma.figure2", env=environment)
    assert result.returncode == 0 and "optdigits: examples" in result.stdout, result


def test_a_result_tells_how_it_was_made(tmp_path):
    data = write_digits(tmp_path)
    result = papers(tmp_path, "run", "uma.figure2", "--only=optdigits", "--json", "-q", "--seed", 7, "--runs", 2, "--quick",
                    "--data", data, "--threads", 1)
    first = json.loads(result.stdout)["experiments"][0]
    assert first["command"] == "unconfuse-papers run uma.figure2 --quick --only optdigits --runs 2 --seed 7"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", first["date"])
    assert first["seed"] == 7 and first["runs"] == 1 and first["quick"] is True and first["seconds"] >= 0


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not there")
@pytest.mark.parametrize("program, words", [
    ("unconfuse-papers", [*NAMES, "--only", "UNCONFUSE_DATA", "EXIT STATUS"]),
    ("unconfuse-mpi", ["mpirun -n", "--shards", "--mix once", "EXIT STATUS"]),
])
def test_manual_pages_are_clean_roff(program, words):
    page = pathlib.Path(PROGRAM).with_name(f"{program}.1")
    if not pathlib.Path(PROGRAM).with_name(program).exists():
        pytest.skip(f"this build has no {program}")
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True)
    assert lint.returncode == 0, lint.stdout
    text = re.sub(".\b", "", subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True).stdout.decode())
    for word in words:
        assert word in text, word


# ---- failures ----


def test_a_failing_data_set_leaves_the_others_and_the_experiments_after_it(tmp_path):
    data = write_corners(tmp_path, "usps.train", 300)
    write_corners(tmp_path, "pendigits.train", 300)
    (data / "vehicle.svm").write_text("1 1:1\n2 1:x\n")
    arguments = ["run", "cspa.table1", "cspa.figure3", "cspa.figure2", "--data", data, "--runs", 2, "--quick", "-q",
                 "--only", "vehicle,usps,pendigits"]
    result = papers(tmp_path, *arguments, "--out", "out")
    lines = result.stderr.splitlines()
    assert result.returncode == 1 and len(lines) == 3, result.stderr
    for line, name in zip(lines, ["cspa.figure2", "cspa.table1", "cspa.figure3"]):
        assert line.startswith(f"unconfuse-papers: {name}: vehicle: ") and "vehicle.svm:2" in line
    for name in ["cspa.table1", "cspa.figure3", "cspa.figure2"]:
        content = json.loads((tmp_path / "out" / f"{name}.json").read_text())
        assert len(content["failed"]) == 1 and "vehicle.svm:2" in content["failed"][0]
        found = [panel["name"] for panel in content["panels"]]
        if name == "cspa.table1":
            found = [row["row"] for row in content["panels"][0]["rows"]]
        assert found == ["usps", "pendigits"]
    shown = papers(tmp_path, *arguments, "--json")
    assert shown.returncode == 1
    assert [len(content["failed"]) for content in json.loads(shown.stdout)["experiments"]] == [1, 1, 1]


def test_when_all_fails_nothing_is_shown_as_a_result(tmp_path):
    data = write_corners(tmp_path, "usps.train", 300)
    (data / "usps.train.svm").write_text("x\n")
    result = papers(tmp_path, "run", "cspa.table1", "--data", data, "--only", "usps", "--json", "-q")
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1
    content = json.loads(result.stdout)["experiments"][0]
    assert content["panels"] == [] and len(content["failed"]) == 1


def write_texts(directory):
    """Texts of two topics of Reuters, as counts of words; every topic has words of its own."""
    data = directory / "data"
    data.mkdir(exist_ok=True)
    names = ["acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade"]
    (data / "reuters-r52.classes.txt").write_text("\n".join(names) + "\n")
    for part, shift in [("train", 0), ("test", 5)]:
        lines = []
        for i in range(800):
            k = i % 8
            words = sorted({1 + 6 * k + (i * 7 + shift) % 6, 1 + 6 * k + (i * 5 + shift) % 6, 49 + i % 30})
            lines.append(f"{k + 1}" + "".join(f" {word}:{1 + i % 3}" for word in words))
        (data / f"reuters-r52.{part}.svm").write_text("\n".join(lines) + "\n")
    return data


@pytest.mark.parametrize("name", ["uma.table1", "uma.figure3", "uma.figure4", "uma.figure5"])
def test_texts_need_no_kernel(tmp_path, name):
    result = papers(tmp_path, "run", name, "--quick", "--only", "reuters-r8", "--data", write_texts(tmp_path), "--json",
                    "-q")
    assert result.returncode == 0, result.stderr
    content = json.loads(result.stdout)["experiments"][0]
    assert content["panels"] and content["failed"] == []
    assert any("tf-idf, no kernel" in note for note in content["notes"])


@pytest.fixture(scope="module")
def figure1a(tmp_path_factory):
    directory = tmp_path_factory.mktemp("papers")
    result = papers(directory, "run", "uma.figure1a", "--quick", "--threads", 1, "--out", directory / "out")
    assert result.returncode == 0, result.stderr
    return result, directory / "out"


def test_numbers_of_figure1a_are_those_of_the_algorithm(figure1a):
    content = json.loads((figure1a[1] / "uma.figure1a.json").read_text())
    assert content["experiment"] == "uma.figure1a" and content["quick"] is True and content["runs"] == 3
    rows = {row["row"]: row["cells"] for row in content["panels"][0]["rows"]}
    mean = {level: {column: cell["mean"] for column, cell in cells.items()} for level, cells in rows.items()}
    # ten runs gave 0.05, 0.4 and 1.8; three deviate
    assert mean["1"]["UMA, best"] <= 0.2
    assert mean["5"]["UMA, best"] <= 1.0
    assert mean["8"]["UMA, best"] <= 2.3
    for level in ["5", "8", "10"]:
        assert mean[level]["UMA, best"] < mean[level]["perceptron"] - 0.2
    assert mean["10"]["logistic, forward"] < mean["10"]["UMA, best"]
    assert all(len(cell["values"]) == 3 for cells in rows.values() for cell in cells.values())
    # the perceptron that learns from one example at a time confuses far more at the lowest level
    assert mean["1"]["online perceptron, last"] > 1.5 > 0.9 > mean["1"]["perceptron"]
    assert rows["1"]["UMA, last"]["paper"] == 0.5 and rows["20"]["perceptron"]["paper"] == 2.75


def test_table_has_the_published_number_beside_ours(figure1a):
    lines = figure1a[0].stdout.splitlines()
    header = next(line for line in lines if "noise level" in line)
    first = next(line for line in lines if line.split()[:1] == ["1"])
    assert header.split()[-3:] == ["online", "perceptron,", "average"] and "perceptron  paper" in header
    assert first.split().count("1.70") == 2 and "±" in first
    assert len({len(line.rstrip()) for line in lines if line.split()[:1] in (["1"], ["20"])}) == 1


def test_csv_and_json_tell_the_same(figure1a):
    content = json.loads((figure1a[1] / "uma.figure1a.json").read_text())
    with open(figure1a[1] / "uma.figure1a.csv", newline="") as file:
        cells = {(line["row"], line["column"]): line for line in csv.DictReader(file)}
    count = 0
    for row in content["panels"][0]["rows"]:
        for column, cell in row["cells"].items():
            line = cells[row["row"], column]
            assert float(line["mean"]) == pytest.approx(cell["mean"], rel=1e-8)
            assert float(line["deviation"]) == pytest.approx(cell["deviation"], rel=1e-6, abs=1e-12)
            assert int(line["runs"]) == len(cell["values"])
            count += 1
    assert count == len(cells) == 48


@pytest.mark.skipif(not shutil.which("gnuplot"), reason="there is no gnuplot")
def test_pictures_are_drawn(figure1a):
    assert (figure1a[1] / "uma.figure1a.png").read_bytes().startswith(b"\x89PNG")
    drawing = xml.etree.ElementTree.parse(figure1a[1] / "uma.figure1a.svg")
    text = "".join(drawing.getroot().itertext())
    assert "perceptron" in text and "(quick version)" in text


def test_without_gnuplot_it_says_so_and_goes_on(tmp_path):
    result = papers(tmp_path, "run", "uma.figure2", "--out", "out", "--data", write_digits(tmp_path),
                    env={"PATH": "/nowhere"})
    assert result.returncode == 0, result.stderr
    assert "there is no gnuplot" in result.stderr
    assert sorted(os.listdir(tmp_path / "out")) == ["uma.figure2.csv", "uma.figure2.gp", "uma.figure2.json"]


def write_digits(directory, rows=12):
    """A digits file of even classes."""
    data = directory / "data"
    data.mkdir(exist_ok=True)
    for part in ["train", "test"]:
        (data / f"optdigits.{part}.svm").write_text("".join(f"{i % 3 + 1} 1:{i} 2:1\n" for i in range(rows)))
    return data


def test_figure2_counts_the_classes(tmp_path):
    result = papers(tmp_path, "run", "uma.figure2", "--data", write_digits(tmp_path), "--json")
    content = json.loads(result.stdout)["experiments"][0]
    assert [row["cells"]["examples"]["mean"] for row in content["panels"][0]["rows"]] == [4, 4, 4]
    assert len(content["skipped"]) == 2


def test_only_chooses_among_the_data_sets(tmp_path):
    data = write_digits(tmp_path)
    result = papers(tmp_path, "run", "uma.figure2", "--data", data, "--json", "--only", "letter,reuters-r8")
    assert result.returncode == 1
    content = json.loads(result.stdout)["experiments"][0]
    assert content["panels"] == []
    assert [sentence.split()[3] for sentence in content["skipped"]] == ["letter", "reuters-r52"]


def write_blobs(directory, examples, classes=3):
    """A digits file that has something to learn: every class is a corner of a cube, smeared."""
    data = directory / "data"
    data.mkdir(exist_ok=True)
    for part, shift in [("train", 0), ("test", 1)]:
        lines = []
        for i in range(examples):
            k = i % classes
            values = [(3.0 if j == k else 0.0) + ((i * 7919 + j * 104729 + shift * 31) % 100) / 50 for j in range(4)]
            lines.append(f"{k + 1}" + "".join(f" {j + 1}:{value}" for j, value in enumerate(values)))
        (data / f"optdigits.{part}.svm").write_text("\n".join(lines) + "\n")
    return data


def test_protocol_of_table1_learns_and_is_reproducible(tmp_path):
    data = write_blobs(tmp_path, 600)
    arguments = ["run", "uma.table1", "--data", data, "--only", "optdigits", "--runs", 2, "--quick", "--json"]
    first, second = (json.loads(papers(tmp_path, *arguments, "--threads", threads).stdout)["experiments"][0]
                     for threads in [1, 2])
    assert first["panels"] == second["panels"]
    rows = {row["row"]: row["cells"]["error"] for row in first["panels"][0]["rows"]}
    assert rows["f_full"]["mean"] <= 0.1 and rows["f_full"]["paper"] == 0.04
    for method in ["f_y", "f_conf", "UMA, last", "UMA, average", "logistic, forward"]:
        assert len(rows[method]["values"]) == 2 and rows[method]["mean"] <= 0.3, method


def test_an_out_directory_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    result = papers(tmp_path, "run", "uma.figure2", "--data", write_digits(tmp_path), "-q", "--out", "file/out")
    assert result.returncode == 1
    assert result.stderr.startswith("unconfuse-papers: file/out: cannot make the directory")


# ---- copa and cspa ----


def result_of(directory, *arguments):
    result = papers(directory, "run", *arguments, "--json", "-q")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["experiments"][0]


def means(panel):
    return {row["row"]: {column: cell["mean"] for column, cell in row["cells"].items()} for row in panel["rows"]}


def test_copa_confuses_less_than_the_perceptron_only_with_the_class_scale(tmp_path):
    content = result_of(tmp_path, "copa.toy", "--runs", 5)
    accuracy, norm, joint = (means(panel) for panel in content["panels"])
    for table, column, copa, perceptron in [(accuracy, "accuracy", (.80, .90), (.90, .95)),
                                            (norm, "operator norm without the diagonal", (.10, .18), (.30, .55)),
                                            (joint, "operator norm without the diagonal", (.06, .15), (.02, .04))]:
        assert copa[0] < table["COPA"][column] < copa[1], table
        assert perceptron[0] < table["perceptron"][column] < perceptron[1], table
    column = "operator norm without the diagonal"
    assert norm["perceptron, class weights"][column] < .16
    assert norm["COPA, no class scale"][column] > 2 * norm["COPA"][column]
    published = {row["row"]: row["cells"][column]["paper"] for row in content["panels"][1]["rows"]}
    assert published == {"COPA": .10, "perceptron": .18, "perceptron, class weights": None,
                         "COPA, no class scale": None}


def test_figure1_of_cspa_wants_a_smaller_beta_for_more_noise(tmp_path):
    content = result_of(tmp_path, "cspa.figure1", "--quick")
    table = means(content["panels"][0])
    assert table["0.25"]["sigma 0.05"] > 99 and table["1"]["sigma 0.05"] > 99
    assert table["0.1"]["sigma 0.3"] > 89.5 and table["1"]["sigma 0.3"] < 72
    best = [max(table, key=lambda beta: table[beta][f"sigma {sigma}"]) for sigma in ["0.05", "0.3", "1"]]
    assert float(best[0]) > float(best[1]) >= float(best[2])


def write_corners(directory, name, examples, classes=4, columns=6):
    """A file in which every class is a corner, smeared."""
    data = directory / "data"
    data.mkdir(exist_ok=True)
    lines = []
    for i in range(examples):
        k = i % classes
        values = [(60.0 if j == k else 10.0) + (i * 7919 + j * 104729 + i * i * 31 * (j + 1)) % 60
                  for j in range(columns)]
        lines.append(f"{k + 1}" + "".join(f" {j + 1}:{value}" for j, value in enumerate(values)))
    (data / f"{name}.svm").write_text("\n".join(lines) + "\n")
    return data


def test_table1_of_cspa_plays_everybody_on_the_same_rounds(tmp_path):
    data = write_corners(tmp_path, "vehicle", 600)
    arguments = ["cspa.table1", "--data", data, "--runs", 3]
    first, second = (result_of(tmp_path, *arguments, "--threads", threads) for threads in [1, 2])
    assert first["panels"] == second["panels"]
    assert [row["row"] for row in first["panels"][0]["rows"]] == ["vehicle"]
    cells = first["panels"][0]["rows"][0]["cells"]
    assert list(cells) == ["CSPA", "Banditron", "Confidit", "BPA", "cspa-plus", "SPA, all labels"]
    assert all(len(cell["values"]) == 3 for cell in cells.values())
    assert cells["CSPA"]["paper"] == 49.3 and cells["CSPA"]["paper_deviation"] == 1.7
    assert cells["cspa-plus"]["paper"] is None
    assert cells["SPA, all labels"]["mean"] > cells["CSPA"]["mean"] > cells["Banditron"]["mean"] > 30
    best = max(["CSPA", "Banditron", "Confidit", "BPA"], key=lambda name: cells[name]["mean"])
    assert cells[best]["best"] and not cells["Banditron"]["best"] and not cells["cspa-plus"]["best"]
    missing = {sentence.split()[3] for sentence in first["skipped"]}
    assert missing == {"20news-bydate", "sector", "shuttle", "usps", "pendigits"}
    assert any(note.startswith("vehicle, 600 rounds, 4 classes: CSPA beta ") for note in first["notes"])


def test_table2_of_cspa_is_behind_a_kernel(tmp_path):
    data = write_corners(tmp_path, "vowel.train", 300)
    content = result_of(tmp_path, "cspa.table2", "--data", data, "--runs", 2, "--only", "vowel")
    cells = content["panels"][0]["rows"][0]["cells"]
    assert cells["CSPA"]["paper"] == 41.8 and cells["CSPA"]["mean"] > 50
    assert content["skipped"] == []
    assert re.search(r"CSPA beta [0-9.]+ g [0-9.]+, .* cspa-plus g [0-9.]+, SPA, all labels g", content["notes"][0])


def test_curves_have_a_point_every_100_rounds(tmp_path):
    data = write_corners(tmp_path, "pendigits.train", 1730)
    result = papers(tmp_path, "run", "cspa.figure3", "--data", data, "--runs", 2, "--only", "pendigits", "--out", "out")
    assert result.returncode == 0, result.stderr
    content = json.loads((tmp_path / "out" / "cspa.figure3.json").read_text())
    rows = content["panels"][0]["rows"]
    assert [row["x"] for row in rows] == list(range(100, 1800, 100))
    assert rows[-1]["cells"]["CSPA"]["mean"] > rows[0]["cells"]["CSPA"]["mean"]
    printed = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ") and "±" in line]
    assert printed == [str(x) for x in range(200, 1700, 200)] + ["1700"]


def test_figure2_of_cspa_loses_by_noise(tmp_path):
    data = write_corners(tmp_path, "pendigits.train", 800)
    content = result_of(tmp_path, "cspa.figure2", "--data", data, "--quick", "--only", "pendigits")
    table = means(content["panels"][0])
    assert table["0.25"]["sigma 0"] > table["0.25"]["sigma 50"] + 10
