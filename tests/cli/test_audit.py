"""unconfuse audit, as a user types it, and compared with a slow computation of the same equations."""
import csv
import random

import pytest

np = pytest.importorskip("numpy")
audit_reference = pytest.importorskip("audit_reference")

NAMES = ["ash", "beech", "cedar", "date"]


def clouds(seed, n, K, spread, wrong, d=5):
    """Gaussian classes with features as the program will read them, true classes, and labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(K, d)) * spread
    z = rng.integers(0, K, n)
    X = np.float32(np.round(means[z] + rng.normal(size=(n, d)) + 3, 4)).astype(float)
    y = np.where(rng.random(n) < wrong, rng.integers(0, K, n), z)
    return X, z, y


def write(path, X, y, names=NAMES):
    with open(path, "w") as file:
        for x, label in zip(X, y):
            name = names[label] if label >= 0 else "?"
            file.write(name + "".join(f" {j + 1}:{float(v)!r}" for j, v in enumerate(x)) + "\n")


def audit(unconfuse, path, *options):
    return unconfuse.json("audit", path, "--all", *options)


def p_wrong(found, n):
    p = np.full(n, np.nan)
    for issue in found["issues"]:
        p[issue["row"] - 1] = issue["p_wrong"]
    return p


CASES = {"easy": (1, 150, 3, 2.0, 0.25, "auto"), "hard": (2, 120, 3, 0.4, 0.3, "auto"),
         "two": (3, 90, 2, 1.5, 0.2, "structure"), "labels": (4, 130, 4, 1.2, 0.3, "labels")}


@pytest.mark.parametrize("case", CASES)
def test_posteriors_are_those_of_the_equations(unconfuse, tmp_path, case):
    seed, n, K, spread, wrong, mode = CASES[case]
    X, _, y = clouds(seed, n, K, spread, wrong)
    y = np.where(np.arange(n) % 17 == 5, -1, y)  # some rows have no label
    write(tmp_path / "data.svm", X, y)
    found = audit(unconfuse, tmp_path / "data.svm", "--mode", mode)
    want = audit_reference.Audit(X, y, K, mode)
    assert (found["mode"], found["width"]) == (want.mode, want.width)
    labelled = y >= 0
    p = np.array([1 - r[label] for r, label in zip(want.R, y)])
    assert np.abs(p_wrong(found, n)[labelled] - p[labelled]).max() < 1e-8
    assert np.abs(np.array(found["noise_matrix"]).T - want.P).max() < 1e-9
    assert found["guard_loss"] == pytest.approx(want.loss, abs=1e-8)
    assert found["flagged"] == audit_reference.flags(p[labelled])
    assert found["wrong"]["estimate"] == pytest.approx(p[labelled].mean(), abs=1e-9)
    for issue in found["issues"]:
        assert issue["suggested"] == NAMES[want.R[issue["row"] - 1].argmax()]


def test_wrong_labels_are_found(unconfuse, tmp_path):
    X, z, y = clouds(5, 400, 4, 3.0, 0.3)
    write(tmp_path / "data.svm", X, y)
    found = unconfuse.json("audit", "data.svm")
    assert found["examples"] == 400 and found["classes"] == NAMES
    flagged = {issue["row"] - 1 for issue in found["issues"]}
    assert len(flagged) == found["flagged"] and all(issue["flagged"] for issue in found["issues"])
    wrong = set(np.flatnonzero(y != z))
    hits = len(flagged & wrong)
    assert 2 * hits / (len(flagged) + len(wrong)) > 0.95
    share = found["wrong"]
    assert share["low"] <= len(wrong) / 400 <= share["high"]
    assert sum(pair["estimate"] for pair in found["class_pairs"]) == pytest.approx(share["estimate"], abs=0.01)
    p = [issue["p_wrong"] for issue in found["issues"]]
    assert p == sorted(p, reverse=True)
    assert 0 <= found["clean_error"]["low"] <= found["clean_error"]["high"] <= 1


def test_files(unconfuse, tmp_path):
    X, z, y = clouds(6, 200, 3, 3.0, 0.2)
    write(tmp_path / "data.svm", X, y)
    write(tmp_path / "test.svm", *clouds(6, 200, 3, 3.0, 0.0)[::2])
    out = {name: str(tmp_path / name) for name in ("s.csv", "m.uc", "n.csv", "c.svm", "d.svm", "w.csv")}
    data = str(tmp_path / "data.svm")
    text = unconfuse.ok("audit", data, "-o", out["s.csv"], "--model-out", out["m.uc"], "--noise-out", out["n.csv"],
                   "--clean-out", out["c.svm"]).out
    assert "of the 200 labels are wrong" in text and "Most suspicious" in text and "Assumed" in text
    rows = list(csv.DictReader(open(out["s.csv"])))
    assert list(rows[0]) == ["row", "id", "given_label", "predicted_label", "label_score", "is_label_issue"]
    repaired = [line.split()[0] for line in open(out["c.svm"])]
    for row in rows:
        assert row["is_label_issue"] == "True" and float(row["label_score"]) < 0.5
        assert repaired[int(row["row"]) - 1] == row["predicted_label"]
    unconfuse.ok("audit", data, "--clean-out", out["d.svm"], "--repair", "drop")
    assert len(open(out["d.svm"]).readlines()) == 200 - len(rows)
    unconfuse.ok("audit", data, "--clean-out", out["w.csv"], "--repair", "weight")
    weights = [float(row["weight"]) for row in csv.DictReader(open(out["w.csv"]))]
    assert all(weights[int(row["row"]) - 1] == pytest.approx(float(row["label_score"])) for row in rows)
    result = unconfuse.json("evaluate", out["m.uc"], tmp_path / "test.svm")
    assert result["error"] < 0.05
    unconfuse.ok("train", "logistic", data, "--noise-matrix", out["n.csv"], "-o", str(tmp_path / "l.uc"))


def test_a_suspicious_label_that_is_still_the_likeliest_has_no_likelier_class(unconfuse):
    """Two classes that overlap, 40 rows: some of the ten most suspicious labels are more likely right than wrong."""
    rng = random.Random(3)
    rows = [(c if rng.random() < 0.8 else "ab"[c == "a"], rng.gauss(c == "b", 0.6)) for c in "ab" * 20]
    unconfuse.write("few.svm", "".join(f"{label} 1:{x:.3f}\n" for label, x in rows))
    text = unconfuse.ok("audit", "few.svm").out
    listed = [line.split() for line in text.split("Most suspicious")[1].split("\n\n")[0].splitlines()[2:]]
    assert "-" in [line[2] for line in listed]
    assert all(line[1] != line[2] for line in listed)
    assert all((line[2] == "-") == (float(line[3][:-1]) < 50) for line in listed)


def test_the_model_is_that_of_train(unconfuse, tmp_path):
    X, _, y = clouds(7, 150, 3, 2.0, 0.2)
    write(tmp_path / "data.svm", X, y)
    unconfuse.ok("audit", str(tmp_path / "data.svm"), "--model-out", str(tmp_path / "a.uc"))
    unconfuse.ok("train", "audit", str(tmp_path / "data.svm"), "-o", str(tmp_path / "b.uc"))
    predict = [unconfuse.ok("predict", str(tmp_path / name), str(tmp_path / "data.svm"), "--probabilities").out
               for name in ("a.uc", "b.uc")]
    assert predict[0] == predict[1]


def test_the_order_of_rows_and_the_names_of_classes_do_not_matter(unconfuse, tmp_path):
    X, _, y = clouds(8, 120, 3, 1.5, 0.25)
    order = np.random.default_rng(1).permutation(120)
    write(tmp_path / "a.svm", X, y)
    write(tmp_path / "b.svm", X[order], y[order], ["zebra", "yak", "ant"])
    a = p_wrong(audit(unconfuse, tmp_path / "a.svm"), 120)
    b = p_wrong(audit(unconfuse, tmp_path / "b.svm"), 120)
    assert np.abs(a[order] - b).max() < 1e-7


def test_checked_rows_are_believed_and_judge_the_suspicion(unconfuse, tmp_path):
    X, z, y = clouds(9, 200, 3, 1.5, 0.3)
    write(tmp_path / "data.svm", X, y)
    (tmp_path / "gold").write_text("".join(f"{NAMES[z[i]] if i % 4 == 0 else '?'}\n" for i in range(200)))
    found = audit(unconfuse, tmp_path / "data.svm", "--gold", str(tmp_path / "gold"))
    p = p_wrong(found, 200)
    checked = np.arange(200) % 4 == 0
    assert (p[checked] == (y != z)[checked]).all()
    assert found["suspicion"]["checked"] == 50
    assert found["suspicion"]["wrong"] == int((y != z)[checked].sum())
    before = audit(unconfuse, tmp_path / "data.svm")
    flagged = {issue["row"] - 1 for issue in before["issues"] if issue["flagged"]}
    assert found["suspicion"]["flagged"] == sum(1 for i in flagged if checked[i])


def test_bad_input(unconfuse, tmp_path):
    unconfuse.write("one.svm", "a 1:1\na 1:2\n")
    assert unconfuse.fails(1, "audit", "one.svm", "--model-out", "m.uc") == (
        "one.svm: only one class, 'a', where two are needed")
    assert "--mode" in unconfuse.fails(2, "audit", "one.svm", "--mode", "other")
    unconfuse.write("same.svm", "a 1:1\nb 1:1\n" * 5)
    found = audit(unconfuse, "same.svm")  # features say nothing at all
    assert found["examples"] == 10 and found["classes"] == ["a", "b"]
    unconfuse.write("two.svm", "a 1:1\nb 1:2\n" * 5)
    assert "audit makes feature maps of its own: leave out --map\n" in unconfuse(
        "train", "audit", "--map", "kpca", "two.svm", "-o", "m.uc").err
    assert unconfuse.fails(1, "train", "audit", "--normalize", "two.svm", "-o", "m.uc") == (
        "audit prepares rows in its own ways: leave out --normalize")
    unconfuse.write("gold", "a\nc\n" * 5)
    assert "gold" in unconfuse.fails(1, "audit", "same.svm", "--gold", "gold")


def test_a_table_keeps_its_ids_and_columns(unconfuse, tmp_path):
    X, _, y = clouds(10, 200, 3, 3.0, 0.15, d=2)
    lines = [f"T{i},{x[0]:.4f},{x[1]:.4f},{NAMES[label]}" for i, (x, label) in enumerate(zip(X, y))]
    unconfuse.write("trees.csv", "\n".join(["tree_id,height,width,species", *lines]) + "\n")
    found = unconfuse.json("audit", "trees.csv", "-o", "s.csv", "--model-out", "m.uc", "--clean-out", "c.csv")
    rows = list(csv.DictReader(open(tmp_path / "s.csv")))
    assert len(rows) == found["flagged"] > 10
    for row, issue in zip(rows, found["issues"]):
        assert row["id"] == issue["id"] == row["tree_id"] == f"T{issue['row'] - 1}"
        assert row["species"] == row["given_label"] == issue["given"]
    repaired = open(tmp_path / "c.csv").read().splitlines()
    changed = [i for i in range(200) if repaired[i + 1] != lines[i]]
    assert sorted(changed) == sorted(issue["row"] - 1 for issue in found["issues"])
    assert unconfuse.ok("audit", "trees.csv", "--clean-out", "-").stdout == unconfuse.read("c.csv")
    assert unconfuse.ok("predict", "m.uc", "trees.csv").out.startswith("id,predicted_label\nT0,")


def test_predict_suspect_says_that_labels_may_speak_for_themselves(unconfuse, tmp_path):
    X, _, y = clouds(11, 100, 3, 2.0, 0.2)
    write(tmp_path / "data.svm", X, y)
    write(tmp_path / "other.svm", X[:90], y[:90])
    unconfuse.ok("train", "logistic", "data.svm", "-o", "m.uc")
    suspect = ["--probabilities", "--suspect"]
    assert "unconfuse audit data.svm leaves each example's own label out" in unconfuse.ok(
        "predict", "m.uc", "data.svm", *suspect).err
    assert unconfuse.ok("predict", "m.uc", "other.svm", *suspect).err == ""


def test_the_noise_matrix_has_intervals(unconfuse):
    """Of the shares of each true class; on labels that were made wrong they hold the rates in most cells."""
    import random
    draw = random.Random(4)
    lines, wrong = [], [[0.8, 0.1, 0.0], [0.2, 0.8, 0.0], [0.0, 0.1, 1.0]]
    for _ in range(1500):
        z = draw.randrange(3)
        given = draw.choices(range(3), [wrong[p][z] for p in range(3)])[0]
        lines.append(f"{'abc'[given]} " + " ".join(f"{j + 1}:{draw.gauss(5.0 * (j == z), 1):.4f}" for j in range(3)))
    unconfuse.write("data.svm", "\n".join(lines) + "\n")
    found = unconfuse.json("audit", "data.svm")
    low, high, matrix = found["noise_low"], found["noise_high"], found["noise_matrix"]
    cells = [(p, q) for p in range(3) for q in range(3)]
    assert all(0 <= low[p][q] <= matrix[p][q] <= high[p][q] <= 1 for p, q in cells)
    assert sum(low[p][q] - 1e-3 <= wrong[p][q] <= high[p][q] + 1e-3 for p, q in cells) >= 8
    assert 0.02 < high[1][0] - low[1][0] < 0.15  # about 500 rows of a class
    again = unconfuse.json("audit", "data.svm", "--threads", "2")
    assert (again["noise_low"], again["noise_high"]) == (low, high)
    assert unconfuse.fails(1, "audit", "data.svm", "--bootstrap", "1000000", "--memory", "64M") == (
        "resampling the noise matrix needs 72.0 MB of memory, more than the limit of 67.1 MB (--memory)")


def test_axes_and_landmarks_of_auto(unconfuse, tmp_path):
    """As documented: 300 axes from 600 landmarks; above 3,000 rows an axis for every ten."""
    X, _, y = clouds(12, 700, 3, 1.0, 0.3)
    write(tmp_path / "few.svm", X, y)
    found = unconfuse.json("audit", "few.svm", "--all")
    assert found == unconfuse.json("audit", "few.svm", "--all", "--axes", "auto", "--landmarks", "auto")
    assert found == unconfuse.json("audit", "few.svm", "--all", "--axes", "300", "--landmarks", "600")
    assert found != unconfuse.json("audit", "few.svm", "--all", "--landmarks", "700")
    assert found != unconfuse.json("audit", "few.svm", "--all", "--axes", "20")
    X, _, y = clouds(13, 3200, 3, 1.0, 0.3, d=12)
    write(tmp_path / "more.svm", X, y)
    found = unconfuse.json("audit", "more.svm", "--all", "--axes", "auto")
    assert found == unconfuse.json("audit", "more.svm", "--all", "--axes", "320")
    assert "auto" in unconfuse.fails(2, "audit", "few.svm", "--axes", "many")


def test_no_class_is_called_more_likely_than_itself(unconfuse):
    """Labels that nothing tells apart: some are flagged, and the given class is still the most probable one."""
    draw = random.Random(12)
    unconfuse.write("t.csv", "a,b,label\n" + "".join(f"{draw.random():.2f},{draw.random():.2f},{'xy'[i % 2]}\n" for i in range(120)))
    issues = unconfuse.json("audit", "t.csv")["issues"]
    assert issues[0]["given"] == issues[0]["suggested"]
    shown = unconfuse.ok("audit", "t.csv").out.split("more likely  wrong\n")[1].split("\n\n")[0].splitlines()
    for line, issue in zip(shown, issues):
        assert line.split()[:3] == [str(issue["row"]), issue["given"], "-" if issue["given"] == issue["suggested"] else issue["suggested"]]
