"""Several files as one data set, in one process."""
import numpy


def write_parts(program):
    program.ok("generate", "cspa-gaussians", "--examples", 600, "--test", "test.svm", "-o", "all.svm")
    lines = (program.directory / "all.svm").read_text().splitlines(keepends=True)
    for i in range(3):
        (program.directory / f"part-{i}.svm").write_text("".join(lines[200 * i : 200 * (i + 1)]))


def test_shards_are_the_file(unconfuse):
    write_parts(unconfuse)
    unconfuse.ok("train", "logistic", "all.svm", "-o", "one.uc")
    unconfuse.ok("train", "logistic", "--shards", "part-*.svm", "-o", "shards.uc")
    assert (unconfuse.directory / "one.uc").read_bytes() == (unconfuse.directory / "shards.uc").read_bytes()
    unconfuse.ok("train", "logistic", "--shards", "part-{2,0,1}.svm", "-o", "other.uc")  # in the order that was named
    assert unconfuse.json("evaluate", "one.uc", "--shards", "part-*.svm") == unconfuse.json("evaluate", "one.uc", "all.svm")
    whole = unconfuse.ok("predict", "one.uc", "all.svm", "--scores").out
    assert unconfuse.ok("predict", "one.uc", "--shards", "part-*.svm", "--scores").out == whole


def test_shards_without_examples_are_passed_over(unconfuse):
    write_parts(unconfuse)
    unconfuse.ok("train", "logistic", "all.svm", "-o", "one.uc")
    (unconfuse.directory / "part-3.svm").write_text("")
    (unconfuse.directory / "part-4.svm").write_text("# nothing\n\n")
    unconfuse.ok("convert", "all.svm", "part-5.svm.gz")  # with the same rows once more
    assert unconfuse.json("train", "pa", "--shards", "part-*.svm", "-o", "m.uc")["examples"] == 600
    assert unconfuse.json("evaluate", "one.uc", "--shards", "part-*")["examples"] == 1200
    result = unconfuse.ok("predict", "one.uc", "--shards", "part-?.svm")
    assert result.err == "unconfuse: warning: part-3.svm: no examples\n" and len(result.out.splitlines()) == 600
    (unconfuse.directory / "part-0.svm").write_text("")
    assert unconfuse.fails(1, "train", "pa", "--shards", "part-{4,4}.svm", "-o", "x.uc") == "the files: no examples"


def test_tables_must_have_the_same_columns(unconfuse):
    (unconfuse.directory / "a.csv").write_text("label,x,y\n1,0.5,2\n2,1,3\n")
    (unconfuse.directory / "b.csv").write_text("label,y,x\n1,2,0.5\n2,3,1\n")
    (unconfuse.directory / "c.csv").write_text("1,0.5\n2,1\n")
    (unconfuse.directory / "d.svm").write_text("1 1:1 9:1\n2 1:2\n")
    (unconfuse.directory / "e.csv").write_text("1,0.5,2\n2,1,3\n")
    assert unconfuse.fails(1, "train", "pa", "--shards", "{a,b}.csv", "-o", "m.uc") == (
        "b.csv: other columns, or in another order, than a.csv")
    assert unconfuse.fails(1, "train", "pa", "--shards", "{a,c}.csv", "-o", "m.uc") == "c.csv: 1 columns, but a.csv has 2"
    elsewhere = "e.csv: its labels would be column 3, but those of a.csv are column 1: name it with --label"
    assert unconfuse.fails(1, "train", "pa", "--shards", "{a,e}.csv", "-o", "m.uc") == elsewhere
    unconfuse.ok("train", "pa", "--shards", "{a,e}.csv", "--label", 1, "-o", "m.uc")
    assert unconfuse.fails(1, "evaluate", "m.uc", "--shards", "{a,e}.csv") == elsewhere
    assert unconfuse.json("evaluate", "m.uc", "--shards", "{a,e}.csv", "--label", 1)["examples"] == 4
    assert unconfuse.fails(1, "train", "pa", "--shards", "{a.csv,d.svm}", "-o", "m.uc") == "the files have different columns"
    assert unconfuse.fails(2, "train", "pa", "--shards", "{a,{b,c}}.csv", "-o", "m.uc") == (
        "--shards {a,{b,c}}.csv: braces within braces")
    assert unconfuse.fails(2, "train", "pa", "a.csv", "--shards", "b.csv", "-o", "m.uc") == "give either a.csv or --shards b.csv"


def test_labels_of_arrays_belong_to_one_file(unconfuse):
    for name in ("a", "b"):
        numpy.save(unconfuse.directory / f"{name}.npy", numpy.eye(3, dtype=numpy.float32))
    numpy.save(unconfuse.directory / "labels.npy", numpy.array([1, 2, 1]))
    assert unconfuse.fails(1, "train", "pa", "--shards", "{a,b}.npy", "--labels", "labels.npy", "-o", "m.uc") == (
        "a file of labels (--labels) goes with one NPY file, and these are 2")
    assert unconfuse.fails(1, "train", "logistic", "-v", "2", "a.npy") == "a.npy: the data have no labels"
