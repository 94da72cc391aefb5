"""Options: how they are typed, what is refused, and with which exit status."""
import csv
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import PROGRAM, blobs


@pytest.fixture
def data(unconfuse):
    return unconfuse.write("data.svm", blobs(["a", "b", "c"], 200))


def test_without_a_command_the_overview_goes_to_standard_error(unconfuse):
    result = unconfuse()
    assert result.returncode == 2 and result.out == "" and "usage: unconfuse COMMAND" in result.err


@pytest.mark.parametrize("option", ["--help", "-h", "help"])
def test_overview_has_every_command_and_examples_to_copy(unconfuse, option):
    text = unconfuse.ok(option).out
    for command in ["train", "predict", "evaluate", "stream", "noise make", "noise apply", "generate", "convert",
                    "inspect", "learners", "help"]:
        assert f"\n  {command} " in text
    assert "unconfuse train logistic --noise-matrix noise.csv noisy.svm -o model.uc" in text


def quick_start(text):
    """The indented lines that a reader copies."""
    return [line.strip() for line in text.splitlines() if re.match(r"\s+unconfuse ", line)]


def test_quick_start_goes_from_a_noisy_file_to_suspects_a_model_and_an_estimate(unconfuse):
    """The commands of the help, as they are printed, in an empty directory."""
    lines = quick_start(unconfuse.ok("help").out)
    assert len(lines) >= 5 and all(len(line) <= 76 for line in lines)
    environment = {**os.environ, "PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]}
    said = [subprocess.run(["bash", "-ec", line], check=True, cwd=unconfuse.directory, env=environment, capture_output=True,
                           text=True).stdout for line in lines]
    assert "noise.csv" in os.listdir(unconfuse.directory)
    error = float(re.match(r"error +([\d.]+)%", next(text for line, text in zip(lines, said) if " evaluate " in line))[1])
    unconfuse.ok("train", "logistic", "noisy.svm", "-o", "plain.uc")
    assert error < 8 < 12 < 100 * unconfuse.json("evaluate", "plain.uc", "test.svm")["error"]
    suspects = list(csv.DictReader(unconfuse.read("suspects.csv").decode().splitlines()))
    true = [line.split()[0] for line in unconfuse.read("clean.svm").decode().splitlines()]
    wrong = [suspect["given_label"] != true[int(suspect["row"]) - 1] for suspect in suspects]
    assert len(suspects) > 1000 and sum(wrong) > 0.85 * len(wrong)


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not there")
def test_manual_page_has_the_same_quick_start(unconfuse):
    page = unconfuse.ok("help", "--man").stdout
    text = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=120"], input=page, capture_output=True).stdout.decode()
    examples = re.sub(".\b", "", text).split("EXAMPLES")[1]
    assert quick_start(examples) == quick_start(unconfuse.ok("help").out)


def test_version(unconfuse):
    assert unconfuse.ok("--version").out.startswith("unconfuse 0.")


def loaded(tmp_path, *arguments):
    """The names of the libraries that the command loads, one for each time."""
    logs = tmp_path / "loader"
    logs.mkdir()
    subprocess.run([PROGRAM, *map(str, arguments)], cwd=tmp_path, check=True, capture_output=True,
                   env={**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(logs / "log")})
    text = "".join(path.read_text() for path in logs.iterdir())
    return re.findall(r"calling init: (?:\S*/)?([a-z]\w+)", text)


def test_the_program_starts_once_and_without_openblas_until_it_is_needed(tmp_path, data):
    for arguments in (["--version"], ["train", "spa", data, "-o", "m.uc"], ["predict", "m.uc", data]):
        names = loaded(tmp_path, *arguments)
        assert names.count("libunconfuse") <= 1 and names.count("libc") == 1, names
        assert not {"libopenblas", "libgfortran", "libgomp"} & set(names)
        shutil.rmtree(tmp_path / "loader")
    assert "libopenblas" in loaded(tmp_path, "train", "logistic", data, "--map", "nystroem", "-o", "n.uc")


def test_same_option_in_every_spelling(unconfuse, data):
    spellings = [["-c", "2.5"], ["-c2.5"], ["--cost", "2.5"], ["--cost=2.5"]]
    models = set()
    for spelling in spellings:
        unconfuse.ok("train", "pa", "--variant=1", *spelling, data, "-o", "m.uc")
        models.add(unconfuse.read("m.uc"))
    assert len(models) == 1


def test_options_may_come_before_the_learner_and_between_words(unconfuse, data):
    unconfuse.ok("train", "--cost", "3", "-o", "a.uc", "pa", "--variant", "1", data)
    unconfuse.ok("train", "pa", data, "-o", "b.uc", "--variant", "1", "--cost", "3")
    assert unconfuse.read("a.uc") == unconfuse.read("b.uc")


def test_flags_can_be_turned_off_and_the_last_one_counts(unconfuse, data):
    settings = unconfuse.json("train", "pa", "--no-shuffle", "--no-average", "--normalize", "--no-normalize", data, "-o",
                              "m.uc")["settings"]
    assert settings["shuffle"] is False and settings["average"] is False and settings["normalize"] is False


def test_letters_without_values_may_share_a_dash(unconfuse, data):
    assert "folds" in unconfuse.ok("train", "pa", "-qv3", data).out


def test_after_two_dashes_everything_is_a_word(unconfuse):
    unconfuse.write("-data.svm", blobs(["a", "b"], 50))
    unconfuse.ok("train", "pa", "-o", "m.uc", "--", "-data.svm")


@pytest.mark.parametrize("arguments, sentence", [
    (["train", "pa", "--cots", "3", "data.svm", "-o", "m"], "unknown option --cots; did you mean --cost?"),
    (["train", "pa", "--iteration=3", "data.svm", "-o", "m"], "unknown option --iteration; see unconfuse train pa --help"),
    (["train", "pa", "--iterations=3", "data.svm", "-o", "m"], "--iterations is not an option of pa, but of uma"),
    (["train", "pa", "--cos", "3", "data.svm", "-o", "m"], "unknown option --cos; did you mean --cost?"),
    (["train", "pa", "-z", "data.svm", "-o", "m"], "unknown option -z; see unconfuse train pa --help"),
    (["--json"], "a command is missing; unconfuse help lists them"),
    (["--colour", "red", "learners"], "unknown option --colour; see unconfuse help"),
    (["train", "pa", "--no-cost", "data.svm", "-o", "m"], "unknown option --no-cost; did you mean --cost?"),
    (["train", "perceptron", "--cost", "3", "data.svm", "-o", "m"], "--cost is not an option of perceptron, but of pa, spa"),
    (["train", "sap", "data.svm", "-o", "m"], "there is no learner called sap; did you mean spa?"),
    (["trian", "pa"], "there is no command called trian; did you mean train?"),
    (["cv", "data.svm"], "there is no command called cv; it is unconfuse train -v K here (unconfuse help lists all)"),
    (["fit", "data.svm"], "there is no command called fit; it is unconfuse train here (unconfuse help lists all)"),
    (["train", "data.svm", "--target", "y", "-o", "m"], "unknown option --target; did you mean --label?"),
    (["train", "randomforest", "data.svm", "-o", "m"],
     "there is no learner called randomforest; unconfuse learners lists them, and auto is the one to begin with"),
    (["train", "logistic", "data.svm", "--passes", "3", "-o", "m"],
     "--passes is for learners that see one example after the other, and logistic learns from all at once"),
    (["train", "csvm", "data.svm", "--no-average", "-o", "m"],
     "--average is for learners that see one example after the other, and csvm learns from all at once"),
    (["train", "csvm", "data.svm", "--map", "kgs", "--width", "1", "-g", "1", "-o", "m"],
     "give only one of --width and --gamma, which is 1/width"),
    (["tidy", "data.svm"], "there is no command called tidy; unconfuse help lists them"),
    (["clean", "data.svm"], "there is no command called clean; unconfuse help lists them"),
    (["estimate", "data.svm"], "there is no command called estimate; did you mean noise estimate?"),
    (["train", "pa", "--colour", "red", "data.svm", "-o", "m"], "unknown option --colour; see unconfuse train pa --help"),
    (["predict", "--colour", "red", "data.svm", "-o", "m"], "unknown option --colour; see unconfuse help predict"),
    (["stream", "data.svm"],
     "stream needs a learner before data.svm: try unconfuse stream spa data.svm -o MODEL. Use spa for labels, "
     "onebit for right/wrong feedback; unconfuse help stream lists all"),
    (["train", "pa", "data.svm", "-o"], "-o needs a value"),
    (["train", "pa", "data.svm", "--output"], "--output needs a value"),
    (["train", "pa", "-o", "m"], "an argument is missing; usage: unconfuse train [LEARNER]"),
    (["train"], "an argument is missing; usage: unconfuse train [LEARNER]"),
    (["train", "pa", "data.svm", "more", "-o", "m"], "unexpected argument more; usage: unconfuse train"),
    (["train", "pa", "data.svm"], "say where the model goes with -o MODEL, or cross-validate with -v K"),
    (["train", "pa", "--cost", "0", "data.svm", "-o", "m"], "--cost 0: it must be a number above 0"),
    (["train", "pa", "--cost", "x", "data.svm", "-o", "m"], "--cost x: it must be a number above 0"),
    (["train", "pa", "--variant", "3", "data.svm", "-o", "m"], "--variant 3: it must be one of 0|1|2"),
    (["train", "pa", "--passes", "0", "data.svm", "-o", "m"], "--passes 0: it must be a whole number from 1"),
    (["train", "pa", "--passes", "-1", "data.svm", "-o", "m"], "--passes -1: it must be a whole number from 1"),
    (["train", "pa", "--memory", "lots", "data.svm", "-o", "m"], "--memory lots: it must be a size such as 512M or 4G"),
    (["train", "pa", "-v", "1", "data.svm"], "--folds 1: it must be a whole number from 2"),
    (["train", "pa", "--noise-rate", "0.1", "--noise-rates", ".1,.2", "data.svm", "-o", "m"],
     "give only one of --noise-matrix, --noise-rate and --noise-rates"),
    (["stream", "pa", "data.svm", "--feedback", "partial"],
     "--feedback partial: pa needs labels; learners for right or wrong: cspa, cspa-plus, banditron, bpa, "
     "confidit, soba"),
    (["train", "arow", "--regularizer", "0", "data.svm", "-o", "m"], "--regularizer 0: it must be a number from 1e-06 to 1000000000000"),
    (["train", "scw", "--confidence", "0.5", "data.svm", "-o", "m"],
     "--confidence 0.5: it must be a number above 0.5 and at most 0.999999"),
    (["stream", "soba", "data.svm", "--covariance", "none"], "--covariance none: it must be one of auto|full|diagonal"),
    (["stream", "pa", "data.svm", "--missing", "1.5"], "--missing 1.5: it must be a number from 0 to 1"),
    (["noise"], "noise must be followed by make, apply or estimate; see unconfuse help noise"),
    (["noise", "make", "triangular", "--classes", "3", "-o", "m"], "noise make triangular: it must be uniform, pair, random or complementary"),
    (["noise", "make", "uniform", "--classes", "3", "-o", "m"], "noise make uniform needs --classes, --rate and -o FILE"),
    (["noise", "make", "uniform", "--classes", "1", "--rate", ".1", "-o", "m"],
     "--classes 1: it must be a whole number from 2 to 65536, or names"),
    (["noise", "make", "uniform", "--classes", "a,,b", "--rate", ".1", "-o", "m"], "--classes a,,b: a name is empty"),
    (["noise", "make", "uniform", "--classes", "a,a", "--rate", ".1", "-o", "m"], "--classes a,a: a name occurs twice"),
    (["noise", "apply", "data.svm", "-o", "m"], "noise apply needs -o OUT and one of --noise-matrix"),
    (["noise", "apply", "data.svm", "-o", "m.svm", "--noise-rates", "0.1"], "--noise-rates 0.1: it must be two numbers"),
    (["generate", "uma-squares", "-o", "m"], "there is no generator called uma-squares; unconfuse generate lists them"),
    (["generate", "uma-circles", "-o", "m"], "there is no generator called uma-circles; did you mean uma-circle?"),
    (["generate", "uma-circle"], "say where the data go with -o DATA"),
    (["convert", "data.svm"], "an argument is missing; usage: unconfuse convert IN OUT"),
    (["convert", "data.svm", "m", "--to", "arff"], "--to arff: it must be one of auto|libsvm|csv|npy|ucd|jsonl|uc|liblinear"),
    (["learners", "sap"], "there is no learner called sap; did you mean spa? (unconfuse learners lists them)"),
    (["learners", "forest"], "there is no learner called forest; unconfuse learners lists them, and auto is the "
     "one to begin with"),
    (["compare", "data.svm", "--learners", "sap"], "--learners: there is no learner called sap; did you mean spa?"),
    (["noise", "estimate", "data.svm", "--method", "cv", "--learner", "sap", "-o", "m"],
     "there is no learner called sap; did you mean spa?"),
    (["help", "sap"], "there is no command called sap"),
    (["train", "pa", "data.svm", "-o", "-", "--json"], "--json and -o - both want standard output"),
])
def test_wrong_usage_is_exit_status_2_and_one_sentence(unconfuse, data, arguments, sentence):
    assert unconfuse.fails(2, *arguments).startswith(sentence)


@pytest.mark.parametrize("arguments, sentence", [
    (["train", "pa", "absent.svm", "-o", "m"], "absent.svm: No such file or directory"),
    (["train", "pa", "data.svm", "-o", "absent/m"], "absent/m: cannot write: No such file or directory"),
    (["train", "pa", "data.svm", "-v", "201"], "--folds 201: there are only 200 examples"),
    (["predict", "absent.uc", "data.svm"], "absent.uc: "),
    (["predict", "data.svm", "data.svm"], "data.svm: not a model file of unconfuse"),
    (["predict", "data.svm", "model.uc"], "data.svm is not a model, but model.uc is: the model comes first, then the data"),
    (["evaluate", "data.svm", "model.uc"], "data.svm is not a model, but model.uc is: the model comes first, then the data"),
    (["predict", "model.uc", "model.uc"], "model.uc: a model, where data are expected"),
    (["train", "pa", "model.uc", "-o", "m"], "model.uc: a model, where data are expected"),
    (["stream", "pa", "model.uc"], "model.uc: a model, where data are expected"),
    (["compare", "model.uc"], "model.uc: a model, where data are expected"),
    (["train", "pa", ".", "-o", "m"], ".: is a directory"),
    (["train", "pa", "/dev/null", "-o", "m"], "/dev/null: no examples"),
    (["stream", "pa", "-", "--passes", "2"], "--passes above 1 on standard input: it can be read only once; give a file"),
    (["stream", "pa", "-", "--shuffle"], "--shuffle on standard input: it can be read only once; give a file"),
    (["noise", "apply", "data.svm", "-o", "m.svm", "--noise-rates", ".1,.2"],
     "--noise-rates is for two classes, but there are 3"),
    (["convert", "data.svm", "m", "--to", "uc"], "data.svm is not a model: data become libsvm, csv, npy, ucd or jsonl"),
])
def test_what_does_not_fit_the_data_is_exit_status_1(unconfuse, data, arguments, sentence):
    unconfuse.ok("train", "pa", data, "-o", "model.uc")
    assert unconfuse.fails(1, *arguments, stdin="a 1:1\nb 1:2\n").startswith(sentence)


@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "stream", "noise make", "noise apply", "generate",
                                     "convert", "inspect", "learners", "help"])
def test_help_of_a_command_is_the_same_both_ways(unconfuse, command):
    text = unconfuse.ok("help", *command.split()).out
    assert text == unconfuse.ok(*command.split(), "--help").out
    assert text.startswith(f"usage: unconfuse {command} ")
    for option in ["--seed", "--threads", "--memory", "--json", "-q, --quiet", "--verbose", "-h, --help"]:
        assert text.count(f"{option} ") == 1


def test_help_of_noise_tells_of_all_its_commands(unconfuse):
    text = unconfuse.ok("noise", "--help").out
    assert text == unconfuse.ok("help", "noise").out
    assert text == "\n".join(unconfuse.ok("help", "noise", command).out for command in ["make", "apply", "estimate"])


def test_help_with_a_learner_has_its_options_with_defaults_and_bounds(unconfuse):
    text = unconfuse.ok("train", "pa", "--help").out
    assert "Options of pa:" in text and "-c, --cost" in text and "default 1, above 0" in text
    assert "--cost" not in unconfuse.ok("train", "perceptron", "--help").out


def test_help_of_stream_tells_its_own_defaults(unconfuse):
    text = unconfuse.ok("stream", "--help").out
    assert text.count("--passes N") == 1 and "number of passes over the data (default 1, at least 1)" in text


def test_learners_are_listed_with_the_feedback_that_they_need(unconfuse):
    lines = unconfuse.ok("learners").out.splitlines()
    assert [line.split()[:2] for line in lines[:4]] == [["learner", "feedback"], ["auto", "labels"], ["perceptron", "labels"],
                                                        ["pa", "labels"]]
    described = unconfuse.json("learners")["learners"]
    assert [learner["name"] for learner in described] == [
        "auto", "perceptron", "pa", "spa", "copa", "arow", "scw", "cspa", "cspa-plus", "banditron", "bpa", "confidit", "soba",
        "onebit", "uma", "logistic", "rp", "csvm", "sloppy-svm", "s3vm", "ridge", "pu", "audit"]
    assert {learner["name"] for learner in described if learner["feedback"] == "right/wrong"} == {
        "cspa", "cspa-plus", "banditron", "bpa", "confidit", "soba"}
    assert [learner["name"] for learner in described if learner["feedback"] == "both"] == ["onebit"]
    cost = next(option for option in unconfuse.json("learners", "pa")["options"] if option["name"] == "cost")
    assert cost["type"] == "real" and cost["default"] == "1" and cost["low"] == 0


def test_unknown_cpu_level_is_wrong_usage(unconfuse):
    result = unconfuse("learners", env={"UNCONFUSE_CPU": "z80"})
    assert result.returncode == 2 and result.err.startswith("unconfuse: UNCONFUSE_CPU: ")


def test_cpu_level_comes_from_the_environment(unconfuse):
    assert "CPU level baseline" in unconfuse.ok("learners", "--verbose", env={"UNCONFUSE_CPU": "baseline"}).err


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not there")
def test_manual_page_is_clean_roff_and_has_every_option(unconfuse):
    page = unconfuse.ok("help", "--man").stdout
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True)
    assert lint.returncode == 0, lint.stdout.decode()
    text = subprocess.run(["mandoc", "-T", "ascii"], input=page, capture_output=True).stdout.decode()
    plain = re.sub(".\b", "", text)
    for command in json.loads(unconfuse.ok("help", "--json").out)["commands"]:
        for option in command["options"]:
            assert f"--{option['name']}" in plain


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_scripts_parse(unconfuse, shell):
    script = unconfuse.ok("help", "--completion", shell).stdout
    checker = shutil.which(shell) or "bash"
    subprocess.run([checker, "-n"], input=script, check=True)


@pytest.mark.parametrize("typed, offered", [
    ("unconfuse tra", ["train"]),
    ("unconfuse train s", ["spa", "scw", "soba", "sloppy-svm", "s3vm"]),
    ("unconfuse train pa --cost-", ["--cost-scale"]),
    ("unconfuse train pa --scale ", ["none", "range", "standard", "maxabs", "numbers", "auto"]),
    ("unconfuse noise ", ["make", "apply", "estimate"]),
    ("unconfuse noise make --le", ["--level"]),
    ("unconfuse generate uma", ["uma-circle"]),
    ("unconfuse convert a b --to l", ["libsvm", "liblinear"]),
    ("unconfuse train pa data", []),
])
def test_bash_completes(unconfuse, typed, offered):
    unconfuse.write("completion.bash", unconfuse.ok("help", "--completion", "bash").stdout)
    words = typed.split(" ")
    script = ('source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _unconfuse; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    result = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, cwd=unconfuse.directory, check=True)
    assert result.stdout.decode().split() == offered


def test_help_in_json_is_about_the_words_given(unconfuse):
    assert [one["name"] for one in unconfuse.json("help", "train")["commands"]] == ["train"]
    assert [one["name"] for one in unconfuse.json("help", "noise")["commands"]] == ["noise make", "noise apply", "noise estimate"]
    assert [one["name"] for one in unconfuse.json("help", "noise", "make")["commands"]] == ["noise make"]
    assert len(unconfuse.json("help")["commands"]) > 15
    assert unconfuse.fails(2, "help", "data.svm", "--json") == "there is no command called data.svm; unconfuse help lists them"
