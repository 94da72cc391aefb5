"""unconfuse audit: what must not matter, and data at the edge of what it is for."""
import pytest

np = pytest.importorskip("numpy")
from test_audit import clouds, p_wrong, write  # noqa: E402


def write_rows(path, X):
    """Rows whose own label says nothing: those of annotators are in another file."""
    with open(path, "w") as file:
        for i, x in enumerate(X):
            file.write("abc"[i % 3] + "".join(f" {j + 1}:{float(v)!r}" for j, v in enumerate(x)) + "\n")


def crowd_lines(seed, z, annotators, labels):
    """`labels` per row, by annotators who are right four times in five; each row asks others."""
    rng = np.random.default_rng(seed)
    lines = []
    for i, true in enumerate(z):
        for j in rng.choice(annotators, labels, replace=False):
            said = true if rng.random() < 0.8 else rng.integers(0, 3)
            lines.append((i + 1, f"w{j}", "abc"[said]))
    return lines


def write_crowd(path, lines):
    path.write_text("row,annotator,label\n" + "".join(f"{row},{name},{label}\n" for row, name, label in lines))


def probabilities(found):
    return np.array([row["probability"] for row in found["consensus"]])


def test_names_and_order_of_annotators_do_not_matter(unconfuse, tmp_path):
    X, z, _ = clouds(21, 150, 3, 1.2, 0.0)
    write_rows(tmp_path / "data.svm", X)
    lines = crowd_lines(22, z, 12, 3)
    write_crowd(tmp_path / "a.csv", lines)
    order = np.random.default_rng(1).permutation(len(lines))
    names = {f"w{j}": f"person {(j * 7) % 12}" for j in range(12)}
    write_crowd(tmp_path / "b.csv", [(lines[i][0], names[lines[i][1]], lines[i][2]) for i in order])
    a, b = (unconfuse.json("audit", "data.svm", "--crowd", name) for name in ("a.csv", "b.csv"))
    assert np.abs(probabilities(a) - probabilities(b)).max() < 1e-9
    assert [row["class"] for row in a["consensus"]] == [row["class"] for row in b["consensus"]]
    accuracy = {one["name"]: one["accuracy"] for one in b["annotators"]}
    for one in a["annotators"]:
        assert accuracy[names[one["name"]]] == pytest.approx(one["accuracy"], abs=1e-9)


def test_one_who_always_says_the_same_hardly_matters(unconfuse, tmp_path):
    X, z, _ = clouds(23, 200, 3, 2.0, 0.0)
    write_rows(tmp_path / "data.svm", X)
    lines = crowd_lines(24, z, 10, 3)
    write_crowd(tmp_path / "without.csv", lines)
    write_crowd(tmp_path / "with.csv", lines + [(i + 1, "parrot", "a") for i in range(200)])
    for options in ([], ["--no-features"]):
        found = {name: unconfuse.json("audit", "data.svm", "--crowd", f"{name}.csv", *options) for name in ("without", "with")}
        wrong = {name: np.mean([row["class"] != "abc"[true] for row, true in zip(one["consensus"], z)])
                 for name, one in found.items()}
        assert wrong["with"] <= wrong["without"] + 0.02
    parrot = next(one for one in found["with"]["annotators"] if one["name"] == "parrot")
    assert parrot["accuracy"] == pytest.approx(np.mean(z == 0), abs=0.05)


@pytest.mark.parametrize("options", [[], ["--no-features"]], ids=["features", "votes"])
def test_a_hundred_thousand_annotators_with_one_label_each(unconfuse, tmp_path, options):
    rng = np.random.default_rng(25)
    X, z, _ = clouds(25, 2000, 3, 2.0, 0.0, d=3)
    write_rows(tmp_path / "data.svm", X)
    said = np.where(rng.random((2000, 50)) < 0.5, z[:, None], rng.integers(0, 3, (2000, 50)))
    write_crowd(tmp_path / "crowd.csv", [(i + 1, f"p{i * 50 + j}", "abc"[said[i, j]]) for i in range(2000) for j in range(50)])
    found = unconfuse.json("audit", "data.svm", "--crowd", "crowd.csv", "--landmarks", 100, *options)
    assert found["annotations"] == 100000 and len(found["annotators"]) == 100000
    assert np.mean([row["class"] != "abc"[true] for row, true in zip(found["consensus"], z)]) < 0.01
    assert found["wrong"]["estimate"] == pytest.approx(np.mean(said != z[:, None]), abs=0.02)


def test_a_class_that_nobody_names(unconfuse, tmp_path):
    X, z, _ = clouds(26, 120, 3, 2.0, 0.0)
    write_rows(tmp_path / "data.svm", X)  # has a, b and c
    kept = [line for line in crowd_lines(27, z % 2, 8, 3) if line[2] != "c"]
    write_crowd(tmp_path / "crowd.csv", kept)
    for options in ([], ["--no-features"]):
        found = unconfuse.json("audit", "data.svm", "--crowd", "crowd.csv", *options)
        assert found["classes"] == ["a", "b", "c"]
        assert {row["class"] for row in found["consensus"]} == {"a", "b"}
        assert np.isfinite(probabilities(found)).all() and np.isfinite(np.array(found["noise_matrix"])).all()


def test_a_model_may_know_a_class_that_no_label_has(unconfuse, tmp_path):
    (tmp_path / "labels.txt").write_text("a\nb\n" * 20)
    (tmp_path / "p.csv").write_text("a,b,c\n" + "0.8,0.1,0.1\n0.1,0.8,0.1\n" * 19 + "0.9,0.05,0.05\n0.01,0.01,0.98\n")
    found = unconfuse.json("audit", "labels.txt", "--probabilities", "p.csv", "--all")
    assert np.isfinite([issue["p_wrong"] for issue in found["issues"]]).all()
    assert found["issues"][0]["row"] == 40


def test_two_hundred_classes(unconfuse, tmp_path):
    rng = np.random.default_rng(28)
    names = [f"k{k:03d}" for k in range(200)]
    z = np.repeat(np.arange(200), 5)
    X = np.float32(np.round(rng.normal(size=(200, 12))[z] * 4 + rng.normal(size=(1000, 12)), 4)).astype(float)
    y = np.where(rng.random(1000) < 0.1, rng.integers(0, 200, 1000), z)
    write(tmp_path / "data.svm", X, y, names)
    found = unconfuse.json("audit", "data.svm", "--model-out", "m.uc")
    assert len(found["classes"]) == 200 and np.array(found["noise_matrix"]).shape == (200, 200)
    flagged, wrong = {issue["row"] - 1 for issue in found["issues"]}, set(np.flatnonzero(y != z))
    assert 2 * len(flagged & wrong) / (len(flagged) + len(wrong)) > 0.8
    assert unconfuse.json("evaluate", "m.uc", "data.svm")["examples"] == 1000


def test_labels_that_are_all_right_are_left_alone(unconfuse, tmp_path):
    X, z, _ = clouds(29, 600, 4, 4.0, 0.0)
    write(tmp_path / "data.svm", X, z)
    found = unconfuse.json("audit", "data.svm")
    assert found["flagged"] <= 6 and found["wrong"]["estimate"] < 0.01


def test_threads_do_not_matter(unconfuse, tmp_path):
    X, _, y = clouds(30, 900, 3, 1.5, 0.25)
    write(tmp_path / "data.svm", X, y)
    one, two = (unconfuse.json("audit", "data.svm", "--all", "--threads", threads, "--model-out", f"{threads}.uc")
                for threads in (1, 2))
    assert one == two and (p_wrong(one, 900) == p_wrong(two, 900)).all()
    assert (tmp_path / "1.uc").read_bytes() == (tmp_path / "2.uc").read_bytes()


def test_overlap_is_said(unconfuse, tmp_path):
    """Labels of rows on the wrong side of a border are called wrong with certainty: the text says so, where there is a border."""
    for name, spread in (("apart", 8.0), ("overlapping", 0.9)):
        X, _, y = clouds(31, 400, 3, spread, 0.2, d=2)
        write(tmp_path / f"{name}.svm", X, y)
        text = unconfuse.ok("audit", f"{name}.svm", "--mode", "structure").out
        assert ("Classes seem to overlap" in text) == (name == "overlapping"), text
