"""Bad input gets one sentence with file and line, exit status 1, and leaves nothing behind."""
import gzip
import json
import math
import struct

import pytest

LIBSVM = [
    ("1 1:1\n2 2:x\n", "bad:2: the value 'x' of column 2 is not a number"),
    ("1 1:1\n2 2:1.5kg\n", "bad:2: the value '1.5kg' of column 2 is not a number"),
    ("1 1:1\n2 1:nan\n", "bad:2: the value 'nan' of column 1 is not a finite number"),
    ("1 1:inf\n2 1:1\n", "bad:1: the value 'inf' of column 1 is not a finite number"),
    ("1 1:1\n\n2 1:1e39\n", "bad:3: the value '1e39' of column 1 is beyond the range of float"),
    ("1 0:1\n2 1:1\n", "bad:1: column 0 is not an integer from 1 to 2147483647"),
    ("1 1:1\n2 -1:1\n", "bad:2: column -1 is not an integer from 1 to 2147483647"),
    ("1 1:1\n2 1.5:1\n", "bad:2: column 1.5 is not an integer from 1 to 2147483647"),
    ("1 1:1\n2 2147483648:1\n", "bad:2: column 2147483648 is not an integer from 1 to 2147483647"),
    ("1 1:1\n2 3:1 2:1\n", "bad:2: column 2 is not above 3, the one before"),
    ("1 1:1\n2 3:1 3:1\n", "bad:2: column 3 is not above 3, the one before"),
    ("1 1:1\n2 2\n", "bad:2: '2' has no colon: expected column:value"),
    ("1 1:1\n2 2:\n", "bad:2: column 2 has no value"),
    ("1 1:1\n1:1\n", "bad:2: no label before '1:1'"),
    ("1 1:1\n2 1:\x011\n", "bad:2: control character 0x01"),
    ("# only a comment\n", "bad: no examples"),
    ("", "bad: no examples"),
    ("1 1:1\n1 1:2\n", "bad: only one class, '1', where two are needed"),
    ("1 1:1\n? 1:2\n2 1:1\n", "bad: example 2 has no label ('?'), which pa cannot use"),
]

ODD = ", but 1 of 2 values are numbers: add it to --missing-values, or give --columns y=category, text or drop"
CSV = [
    ("x,y,label\n1,2,a\n3,4\n", "bad:3: 2 columns, but the first line has 3"),
    ("x,y,label\n1,2,a\n3,4,b,5\n", "bad:3: 4 columns, but the first line has 3"),
    ("x,y,label\n1,2,a\n3,four,b\n", "bad:3: column 'y': 'four' is not a number" + ODD),
    ("x,y,label\n1,2,a\n3,nan,b\n", "bad:3: column 'y': 'nan' is not a finite number" + ODD),
    ("x,y,label\n1,2,a\n3,4,\n", "bad:3: no label: leave the row out, or write ? for a learner that takes such rows"),
    ("x,y,label\n1,2,a\n3,\"4,b\n", "bad:3: a quote is not closed"),
    ("x,y,label\n", "bad: no examples"),
]


@pytest.mark.parametrize("text, sentence", LIBSVM + CSV)
def test_training_names_file_line_and_value(unconfuse, text, sentence):
    unconfuse.write("bad", text)
    assert unconfuse.fails(1, "train", "pa", "bad", "-o", "m.uc") == sentence


@pytest.mark.parametrize("text, sentence", LIBSVM[:15] + CSV[:5])
def test_streaming_says_the_same(unconfuse, text, sentence):
    unconfuse.write("bad", text)
    assert unconfuse.fails(1, "stream", "pa", "bad", "-o", "m.uc") == sentence


@pytest.mark.parametrize("text, sentence", LIBSVM[:15])
def test_predicting_to_a_file_leaves_no_part_of_it(unconfuse, text, sentence):
    unconfuse.write("good", "1 1:1\n2 2:1\n")
    unconfuse.ok("train", "pa", "good", "-o", "m.uc")
    unconfuse.write("bad", text)
    assert unconfuse.fails(1, "predict", "m.uc", "bad", "-o", "predictions", "-q") == sentence


def test_standard_input_has_a_name_of_its_own(unconfuse):
    sentence = unconfuse.fails(1, "train", "pa", "-", "-o", "m.uc", stdin="1 1:1\n2 2:x\n")
    assert sentence == "standard input:2: the value 'x' of column 2 is not a number"


def test_truncated_archive(unconfuse):
    whole = gzip.compress(b"1 1:1\n2 2:1\n" * 1000)
    unconfuse.write("cut.svm.gz", whole[:len(whole) // 2])
    assert unconfuse.fails(1, "train", "pa", "cut.svm.gz", "-o", "m.uc") == "cut.svm.gz: the archive ends too early"


def test_a_failure_with_json_prints_nothing_on_standard_output(unconfuse):
    unconfuse.write("bad", "1 1:1\n2 2:x\n")
    for arguments in [("train", "pa", "bad", "-o", "m.uc"), ("stream", "pa", "bad"), ("inspect", "bad"),
                      ("convert", "bad", "out.csv"), ("noise", "apply", "bad", "-o", "out.svm", "--noise-rate", "0.1")]:
        assert unconfuse.fails(1, *arguments, "--json").startswith("bad:2: ")


def test_a_binary_file_counts_where_it_is_not_mapped_or_must_be_copied(unconfuse):
    rows = "".join("%d %s\n" % (i % 2, " ".join("%d:%d" % (j, (i + j) % 7 + 1) for j in range(1, 101))) for i in range(5000))
    unconfuse.write("data.svm", rows)
    unconfuse.ok("convert", "data.svm", "data.ucd")
    content = unconfuse.read("data.ucd")
    assert len(content) > 2 << 20
    plain = ["train", "perceptron", "--no-normalize", "--passes", 1, "--memory", "1M", "-o", "m.uc"]
    assert unconfuse.fails(1, *plain, "-", stdin=content).startswith("standard input needs ")
    unconfuse.ok(*plain, "data.ucd")
    sentence = unconfuse.fails(1, *plain, "--scale", "maxabs", "data.ucd")
    assert sentence == "a copy of the data needs 2.2 MB of memory, more than the limit of 1.0 MB (--memory)"
    unconfuse.ok(*plain[:-3], "3M", "-o", "m.uc", "--scale", "maxabs", "data.ucd")
    assert unconfuse.read("data.ucd") == content


@pytest.mark.parametrize("learner, instead", [("arow", "diagonal"), ("scw", "diagonal"), ("soba", "auto")])
@pytest.mark.parametrize("command", ["train", "stream"])
def test_full_matrices_of_sparse_rows_are_refused(unconfuse, command, learner, instead):
    unconfuse.write("sparse.svm", "a 1:1 900000:2\nb 5:1 7:2\n")
    sentence = unconfuse.fails(1, command, learner, "sparse.svm", "-o", "m.uc", "--covariance", "full")
    assert sentence == f"--covariance full is for dense rows: use --covariance {instead}"
    assert not (unconfuse.directory / "m.uc").exists()


def test_a_model_too_large_for_memory_is_refused_before_training(unconfuse):
    unconfuse.write("wide", "1 1:1\n2 2147483647:1\n")
    sentence = unconfuse.fails(1, "train", "pa", "wide", "-o", "m.uc", "--memory", "1G")
    assert "a model of 2147483647 features and 2 classes" in sentence


def test_damaged_model_is_refused(unconfuse):
    unconfuse.write("good", "1 1:1\n2 2:1\n")
    unconfuse.ok("train", "pa", "good", "-o", "m.uc")
    bytes_ = bytearray(unconfuse.read("m.uc"))
    bytes_[len(bytes_) // 2] ^= 1
    unconfuse.write("m.uc", bytes(bytes_))
    assert unconfuse.fails(1, "predict", "m.uc", "good").startswith("m.uc: ")
    unconfuse.write("m.uc", bytes(bytes_[:40]))
    assert unconfuse.fails(1, "inspect", "m.uc").startswith("m.uc: ")


MATRICES = [
    ("0.9,0.2\n0.3,0.8\n", "noise.csv: column 1 sums to 1.2, not 1"),
    ("0.9,0.1\n0.3,0.7\n", "--noise-orientation rows"),
    ("1.1,0\n-0.1,1\n", "is not between 0 and 1"),
    ("0.5,0.5\n0.5,0.5\n", "singular"),
    ("0.8,0.1,0\n0.1,0.8,0\n0.1,0.1,1\n", "noise.csv: the noise matrix has 3 classes, the data have 2"),
    (",a,x\na,0.9,0.2\nx,0.1,0.8\n", "noise.csv: class \"b\" of the data is not in the noise matrix"),
]


@pytest.mark.parametrize("matrix, sentence", MATRICES)
def test_noise_matrices_that_cannot_be(unconfuse, matrix, sentence):
    unconfuse.write("data.svm", "a 1:1\nb 2:1\n")
    unconfuse.write("noise.csv", matrix)
    assert sentence in unconfuse.fails(1, "noise", "apply", "data.svm", "-o", "out.svm", "--noise-matrix", "noise.csv")


@pytest.mark.parametrize("name", ["{scale}", "{scale=maxabs}", "{{scale}", "a}b{"])
def test_braces_are_those_of_the_user(unconfuse, name):
    """The library marks options in its sentences with braces; a file or a class may have braces in its name."""
    unconfuse.write(name, "1 1:1\n2 2:x\n")
    assert unconfuse.fails(1, "train", "pa", name, "-o", "m.uc") == f"{name}:2: the value 'x' of column 2 is not a number"
    unconfuse.write("one", f"{name} 1:1\n{name} 1:2\n")
    assert unconfuse.fails(1, "train", "pa", "one", "-o", "m.uc") == f"one: only one class, '{name}', where two are needed"
    unconfuse.write("good", "1 1:1\n2 2:1\n")
    assert unconfuse.fails(2, "train", "pa", "good", "--cost", name, "-o", "m.uc").startswith(f"--cost {name}: it must be")


@pytest.mark.parametrize("command", ["inspect d.csv", "predict m.uc d.csv", "evaluate m.uc d.csv",
                                     "check d.csv --model m.uc -o c.csv", "train ridge d.csv -o new.uc"])
def test_a_zero_byte_in_the_header_is_refused_everywhere(unconfuse, command):
    table = "".join(f"{i},{i % 3},{'u' if i % 2 else 'v'},{'a' if i < 9 else 'b'}\n" for i in range(18))
    unconfuse.write("good.csv", "xa,xb,kind,label\n" + table)
    unconfuse.ok("train", "ridge", "good.csv", "-o", "m.uc")
    unconfuse.write("d.csv", b"x\0a,x\0b,kind,label\n" + table.encode())
    assert unconfuse.fails(1, *command.split(), timeout=60) == "d.csv:1: control character 0x00"


@pytest.mark.parametrize("coding", ["UTF-16", "UTF-16LE", "UTF-16BE"])
@pytest.mark.parametrize("options", [[], ["--format", "csv"]])
def test_utf_16_is_named_with_what_to_do(unconfuse, coding, options):
    unconfuse.write("d.csv", "x1,x2,label\n1,2,a\n2,3,b\n".encode(coding))
    assert unconfuse.fails(1, "inspect", "d.csv", *options, timeout=60) == (
        f"d.csv: text in UTF-16: convert it to UTF-8 first, as iconv -f {coding} -t UTF-8 does")


@pytest.mark.parametrize("command", ["predict /dev/zero d.svm", "evaluate /dev/zero d.svm", "stream cspa d.svm --resume /dev/zero",
                                     "noise estimate d.svm --method model --model /dev/zero -o n.csv"])
def test_a_device_without_end_is_no_model(unconfuse, command):
    unconfuse.write("d.svm", "1 1:1\n2 2:1\n")
    assert unconfuse.fails(1, *command.split(), timeout=60) == "/dev/zero: not a model file of unconfuse"


def test_a_device_without_end_is_no_state_of_annotators(unconfuse):
    unconfuse.write("d.svm", "1 1:1\n2 2:1\n")
    unconfuse.write("crowd.csv", "row,annotator,label\n1,ann,1\n2,ann,2\n1,bob,1\n2,bob,2\n")
    assert unconfuse.fails(1, "audit", "d.svm", "--crowd", "crowd.csv", "--resume", "/dev/zero", timeout=60).startswith("/dev/zero: ")


def damage(content, array, place, number):
    """The bytes of a UCD file with another number in an array."""
    header = json.loads(content[24:24 + struct.unpack("<I", content[12:16])[0]])
    kind, offset = next((kind, offset) for name, kind, _, offset in header["arrays"] if name == array)
    changed = struct.pack({"f32": "<f", "u32": "<I", "u64": "<Q"}[kind], number)
    at = offset + place * len(changed)
    return content[:at] + changed + content[at + len(changed):]


DAMAGE = {  # of row i, from 0, of 3 values; a dense row takes 16
    "dense": [("values", lambda i: 16 * i + 2, math.nan, "row {} has a value that is not a finite number"),
              ("values", lambda i: 16 * i + 15, 1, "row {} has a value that is not a finite number"),
              ("y", lambda i: i, 2, "row {} has a label that is not in the list of classes")],
    "sparse": [("values", lambda i: 3 * i, math.inf, "row {} has a value that is not a finite number"),
               ("columns", lambda i: 3 * i + 2, 2**31, "row {} has columns that do not ascend or are too large"),
               ("columns", lambda i: 3 * i, 1, "row {} has columns that do not ascend or are too large"),
               ("offsets", lambda i: i, 0, "has no place in the file"),
               ("offsets", lambda i: i, 2**60, "has no place in the file")]}


@pytest.mark.parametrize("storage, damaged", [(storage, damaged) for storage in DAMAGE for damaged in DAMAGE[storage]])
def test_a_damaged_row_of_a_data_file_is_refused_wherever_it_is(unconfuse, storage, damaged):
    """Rows are checked block by block, right before they are scored."""
    array, place, number, sentence = damaged
    unconfuse.write("data.svm", "".join(f"{'ab'[i % 2]} 1:{i % 7 + 1} 2:{i % 5 + 1} 3:1\n" for i in range(5000)))
    unconfuse.ok("convert", "data.svm", "data.ucd", "--storage", storage)
    unconfuse.ok("train", "pa", "data.ucd", "-o", "m.uc")
    content = unconfuse.read("data.ucd")
    for i in 2, 2500, 4999:
        unconfuse.write("bad.ucd", damage(content, array, place(i), number))
        for threads in 1, 2:
            for command in ["predict", "-o", "out"], ["predict"], ["evaluate"]:
                said = unconfuse.fails(1, command[0], "m.uc", "bad.ucd", *command[1:], "--threads", threads)
                assert said.startswith("bad.ucd: damaged: ") and said.endswith(sentence.format(i + 1)), said
