"""train auto: nothing is known but the data and their labels."""
import json
import math
import os
import random
import subprocess

import pytest


def digits_like(folder, unconfuse, rate):
    """Four clouds with some wrong labels, and clean test rows."""
    unconfuse("generate", "cspa-gaussians", "--examples", "600", "--sigma", "0.15", "--test", "test.svm",
              "--test-examples", "2000", "-o", "clean.svm")
    unconfuse("noise", "apply", "clean.svm", "--noise-rate", rate, "-o", "noisy.svm")


def test_without_a_learner_it_is_auto(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.3")
    unconfuse("train", "noisy.svm", "-o", "a.uc")
    unconfuse("train", "auto", "noisy.svm", "-o", "b.uc")
    assert (tmp_path / "a.uc").read_bytes() == (tmp_path / "b.uc").read_bytes()


def test_few_rows_may_have_wrong_labels_although_none_is_likelier(unconfuse):
    unconfuse("generate", "cspa-gaussians", "--examples", "60", "--sigma", "0.5", "--seed", "6", "-o", "clean.svm")
    unconfuse("noise", "apply", "clean.svm", "--noise-rate", "0.3", "--seed", "6", "-o", "noisy.svm")
    result = unconfuse.json("train", "noisy.svm", "-o", "m.uc")
    assert result["chosen"]["noise"] == "none" and result["likeliest_wrong_labels"] == 0
    assert abs(result["wrong_labels"] - 0.3) < 0.1
    assert "may be wrong; the data fit equally well if all are right" in unconfuse("train", "noisy.svm", "-o", "m.uc").stdout.decode()


def test_it_says_what_it_chose_and_how_good_it_is(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.3")
    result = unconfuse.json("train", "noisy.svm", "-o", "m.uc")
    assert result["learner"] == "auto"
    assert abs(result["wrong_labels"] - 0.3) < 0.06
    chosen = result["chosen"]
    assert chosen["noise"] in ("symmetric", "full") and chosen["learner"] == "auto"
    assert {"scale", "map", "lambda", "refit_lambda", "refits"} <= set(chosen)
    assert chosen["map"] == "none" or {"kernel", "width", "dimension"} <= set(chosen)
    assert all(result["settings"][name] == chosen[name] for name in ("scale", "map"))
    assert len(result["candidates"]) == 14
    assert all({"learner", "options", "criterion"} <= set(candidate) for candidate in result["candidates"])
    clean = result["clean_error"]
    assert 0 <= clean["low"] <= clean["estimate"] <= clean["high"] <= 1 and clean["level"] == 0.9
    error = unconfuse.json("evaluate", "m.uc", "test.svm")["error"]
    assert clean["low"] <= error <= clean["high"]
    assert error < 0.03
    text = unconfuse("train", "noisy.svm", "-o", "m.uc").stdout.decode()
    assert "view: " in text and "% are wrong" in text and "error on true classes: " in text
    assert unconfuse.json("inspect", "m.uc")["clean_error"] == clean


def test_time_decides_how_many_views_are_tried(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.1")
    assert len(unconfuse.json("train", "auto", "--time", "fast", "noisy.svm", "-o", "m.uc")["candidates"]) == 4
    learners = [candidate["learner"] for candidate in
                unconfuse.json("train", "auto", "--time", "thorough", "noisy.svm", "-o", "m.uc")["candidates"]]
    assert learners == ["ridge"] * 18 + ["logistic"] * 3 + ["csvm"] * 3


def mixed_table(path, count, wrong, rng):
    """Numbers of very different units decide the class; cities and plans, some of them rare, say little."""
    cities = [f"city {k}" for k in range(24)]
    with open(path, "w") as file:
        file.write("revenue,usage,tickets,city,plan,outcome\n")
        for _ in range(count):
            revenue, usage, tickets = rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1)
            outcome = max(("churn", "keep", "upgrade"), key=lambda name: {
                "churn": 2 * tickets - usage, "keep": 0.8, "upgrade": 2 * revenue + usage}[name] + rng.gauss(0, 0.3))
            if rng.random() < wrong:
                outcome = rng.choice(["churn", "keep", "upgrade"])
            file.write(f"{5000 + 900 * revenue:.2f},{50 + 20 * usage:.1f},{3 + 0.2 * tickets:.3f},"
                       f"{cities[min(int(rng.expovariate(0.15)), 23)]},{rng.choice(['basic', 'plus', 'pro'])},{outcome}\n")


def test_numbers_of_a_table_are_standardised_and_its_categories_stay(unconfuse, tmp_path):
    rng = random.Random(5)
    mixed_table(tmp_path / "noisy.csv", 800, 0.15, rng)
    mixed_table(tmp_path / "test.csv", 2000, 0, rng)
    result = unconfuse.json("train", "noisy.csv", "-o", "m.uc")
    best = {}
    for candidate in result["candidates"]:
        best.setdefault(candidate["options"]["scale"], []).append(candidate["criterion"])
    assert {scale: len(tried) for scale, tried in best.items()} == {"numbers": 7, "none": 7, "relevance": 5}
    assert min(best["numbers"]) < min(best["none"])
    numbers = unconfuse.ok("train", "auto", "--scale", "numbers", "noisy.csv", "-o", "n.uc").out
    assert "standardised numbers, categories as 0 and 1" in numbers
    unconfuse("train", "auto", "--scale", "standard", "noisy.csv", "-o", "s.uc")
    ours, standard = (unconfuse.json("evaluate", model, "test.csv")["error"] for model in ("m.uc", "s.uc"))
    assert ours < standard - 0.02 and ours < unconfuse.json("evaluate", "n.uc", "test.csv")["error"] + 0.01
    assert ours <= result["clean_error"]["high"]


def irrelevant_table(path, count, wrong, rng):
    """A skewed amount and a number of which both ends are one class; ten columns that mean nothing."""
    with open(path, "w") as file:
        file.write("batch,day,amount,level,shop," + ",".join(f"n{j}" for j in range(7)) + ",outcome\n")
        for _ in range(count):
            amount, level = rng.gauss(0, 1), rng.gauss(0, 1)
            outcome = (abs(level) > 0.7) + (amount > 0)
            if rng.random() < wrong:
                outcome = rng.randrange(3)
            noise = ",".join(f"{rng.gauss(100, 15):.1f}" for _ in range(7))
            file.write(f"{rng.randrange(10 ** 6)},202{rng.randrange(4)}-0{rng.randrange(1, 10)}-{rng.randrange(10, 28)},"
                       f"{2.7183 ** (2.5 * amount):.3f},{level:.3f},shop {rng.randrange(12)},{noise},{'abc'[outcome]}\n")


def test_columns_that_mean_nothing_count_for_little(unconfuse, tmp_path):
    rng = random.Random(12)
    irrelevant_table(tmp_path / "noisy.csv", 900, 0.3, rng)
    irrelevant_table(tmp_path / "test.csv", 1500, 0, rng)
    result = unconfuse.json("train", "noisy.csv", "-o", "m.uc")
    assert result["chosen"]["scale"] == result["settings"]["scale"] == "relevance"
    assert "columns by what each tells about the labels" in unconfuse.ok("train", "noisy.csv", "-o", "again.uc").out
    assert (tmp_path / "m.uc").read_bytes() == (tmp_path / "again.uc").read_bytes()
    unconfuse.ok("train", "auto", "--scale", "numbers", "noisy.csv", "-o", "n.uc")
    ours, numbers = (unconfuse.json("evaluate", model, "test.csv")["error"] for model in ("m.uc", "n.uc"))
    assert ours < 0.12 and ours < numbers - 0.05


def test_labels_that_nothing_tells_are_not_told_by_chance(unconfuse, tmp_path):
    """Relevance has seen the labels; among columns that all mean nothing it must not seem to know them."""
    rng = random.Random(13)
    with open(tmp_path / "chance.csv", "w") as file:
        file.write(",".join(f"n{j}" for j in range(40)) + ",place,outcome\n")
        for _ in range(400):
            file.write(",".join(f"{rng.gauss(0, 1):.3f}" for _ in range(40)) + f",p{rng.randrange(5)},{rng.choice('ab')}\n")
    result = unconfuse.json("train", "chance.csv", "-o", "m.uc")
    tried = {candidate.get("options", {}).get("scale") for candidate in result["candidates"]}
    assert {"numbers", "none"} <= tried and "relevance" not in tried


def texts_table(path, count, wrong, rng, told=True):
    """Words of the class among many others, a skewed amount, names and days that mean nothing."""
    others = [f"w{k}" for k in range(60)]
    with open(path, "w") as file:
        file.write("name,day,amount,remark,outcome\n")
        for _ in range(count):
            outcome = rng.randrange(2)
            own = [f"{'ab'[outcome]}{k}" for k in range(8)] if told else others
            words = " ".join(rng.choice(own if rng.random() < 0.12 else others) for _ in range(rng.randrange(4, 14)))
            amount = 2.7183 ** (1.5 * rng.gauss(0, 1) + told * outcome)
            if rng.random() < wrong:
                outcome = 1 - outcome
            file.write(f"N{rng.randrange(30)} M{rng.randrange(40)},202{rng.randrange(4)}-0{rng.randrange(1, 10)}-"
                       f"{rng.randrange(10, 28)},{amount:.3f},{words},{'xy'[outcome]}\n")


def test_words_that_mean_nothing_count_for_little(unconfuse, tmp_path):
    rng = random.Random(21)
    texts_table(tmp_path / "noisy.csv", 1000, 0.3, rng)
    texts_table(tmp_path / "test.csv", 1500, 0, rng)
    assert unconfuse.json("train", "noisy.csv", "-o", "m.uc")["chosen"]["scale"] == "relevance"
    unconfuse.ok("train", "auto", "--time", "fast", "noisy.csv", "-o", "n.uc")
    ours, all_alike = (unconfuse.json("evaluate", model, "test.csv")["error"] for model in ("m.uc", "n.uc"))
    assert ours < all_alike - 0.03
    texts_table(tmp_path / "chance.csv", 1000, 0, rng, told=False)
    tried = unconfuse.json("train", "chance.csv", "-o", "c.uc")["candidates"]
    assert "relevance" not in {candidate.get("options", {}).get("scale") for candidate in tried}


def test_a_column_of_0_and_1_does_not_take_away_the_rows_as_they_are(unconfuse, tmp_path):
    """Pixels, say, of which some are 0 or 1 only: a table with a header has the views that it has without one."""
    rng = random.Random(6)
    rows = [[rng.randrange(17) for _ in range(6)] + [rng.randrange(2)] for _ in range(300)]
    lines = [",".join(map(str, [*row, "ab"[row[0] + row[1] > 16]])) + "\n" for row in rows]
    (tmp_path / "with.csv").write_text("".join([",".join(f"p{j}" for j in range(7)) + ",class\n", *lines]))
    result = unconfuse.json("train", "with.csv", "-o", "m.uc")
    assert {candidate["options"]["scale"] for candidate in result["candidates"]} == {"numbers", "none"}


def far_rows(path, count, rng):
    """Two classes that meet at 0; half of one of them lies far away on its side, which pulls squares to it."""
    with open(path, "w") as file:
        for i in range(count):
            x = rng.gauss(-1, 0.5) if i % 2 else rng.gauss(8, 1) if i % 4 else rng.gauss(1, 0.5)
            file.write(f"{'ab'[i % 2]} 1:{x:.6f} 2:{rng.gauss(0, 0.1):.6f}\n")


def test_thorough_takes_another_loss_where_it_explains_held_out_labels_better(unconfuse, tmp_path):
    rng = random.Random(3)
    far_rows(tmp_path / "train.svm", 600, rng)
    far_rows(tmp_path / "test.svm", 2000, rng)
    unconfuse("noise", "apply", "train.svm", "--noise-rate", "0.1", "-o", "noisy.svm")
    errors = {}
    for time in ("normal", "thorough"):
        found = unconfuse.json("train", "auto", "--time", time, "--scale", "none", "--map", "none", "noisy.svm", "-o", "m.uc")
        errors[time] = unconfuse.json("evaluate", "m.uc", "test.svm")["error"]
    assert errors["normal"] > 0.06 and errors["thorough"] < 0.04
    heads = [candidate for candidate in found["candidates"] if candidate["learner"] != "ridge"]
    best = [head for head in heads if "gain" in head]
    assert len(heads) == 6 and len(best) == 1 and best[0]["gain"] > best[0]["gain_deviation"] > 0
    assert [head for head in heads if head["stands"]] == best
    assert best[0]["criterion"] == min(head["criterion"] for head in heads)
    name = {"logistic": "l2", "csvm": "cost"}[best[0]["learner"]]
    chosen = found["chosen"]
    assert chosen["head"] == best[0]["learner"] and chosen[name] == best[0]["options"][name] and "refits" not in chosen
    clean = found["clean_error"]
    assert clean["low"] <= errors["thorough"] <= clean["high"]
    text = unconfuse("train", "auto", "--time", "thorough", "--scale", "none", "--map", "none", "noisy.svm", "-o", "m.uc").stdout.decode()
    assert f"head: {best[0]['learner']} instead of ridge, the best of 6" in text
    probabilities = unconfuse("predict", "m.uc", "test.svm", "--probabilities").stdout.decode().splitlines()[1:]
    assert all(abs(sum(map(float, line.split()[1:])) - 1) < 1e-4 for line in probabilities)


def test_views_without_a_chance_are_rejected_on_a_third_of_the_rows(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.1")
    candidates = unconfuse.json("train", "noisy.svm", "-o", "m.uc")["candidates"]
    finalists = [candidate for candidate in candidates if candidate["examples"] == 600]
    assert 1 <= len(finalists) <= 4
    assert all(190 <= candidate["examples"] <= 210 for candidate in candidates if candidate not in finalists)


def test_the_model_does_not_depend_on_the_number_of_threads(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.3")
    for threads in ("1", "2", "3"):
        unconfuse("train", "noisy.svm", "-o", f"{threads}.uc", "--threads", threads)
    assert (tmp_path / "1.uc").read_bytes() == (tmp_path / "2.uc").read_bytes() == (tmp_path / "3.uc").read_bytes()


def misread_digits(tmp_path, count):
    """Handwritten digits; one that is nearly as close to the mean of another class is called that, with a probability up to a
    half: wrong labels depend on the row. Returns the share of labels that are wrong."""
    data = os.environ.get("UNCONFUSE_DATA")
    if not data or not os.path.exists(f"{data}/optdigits.train.svm.zst"):
        pytest.skip("UNCONFUSE_DATA has no optdigits")
    text = subprocess.run(["zstd", "-dcq", f"{data}/optdigits.train.svm.zst"], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = []
    for line in text.splitlines()[:count + 1000]:
        label, rest = line.split(" ", 1)
        x = [0.0] * 64
        for part in rest.split():
            column, value = part.split(":")
            x[int(column) - 1] = float(value)
        rows.append((label, x, rest))
    train, test = rows[:count], rows[count:]
    names = sorted({row[0] for row in train})
    means = {name: [sum(column) / len(column) for column in zip(*(row[1] for row in train if row[0] == name))] for name in names}

    def distance(x, name):
        return sum((a - b) ** 2 for a, b in zip(x, means[name]))

    near = [min((name for name in names if name != label), key=lambda name: distance(x, name)) for label, x, _ in train]
    margin = [distance(x, other) - distance(x, label) for (label, x, _), other in zip(train, near)]
    doubt = {i: place / count for place, i in enumerate(sorted(range(count), key=lambda i: -margin[i]))}
    draw = random.Random(3)
    labels = [near[i] if draw.random() < 0.5 * doubt[i] else train[i][0] for i in range(count)]
    (tmp_path / "train.svm").write_text("".join(f"{label} {row[2]}\n" for label, row in zip(labels, train)))
    (tmp_path / "test.svm").write_text("".join(f"{row[0]} {row[2]}\n" for row in test))
    return sum(label != row[0] for label, row in zip(labels, train)) / count


def test_wrong_labels_that_depend_on_the_row_are_for_audit(unconfuse, tmp_path):
    share = misread_digits(tmp_path, 400)
    result = unconfuse.json("train", "train.svm", "-o", "m.uc", "--threads", "1")
    assert result["learner"] == "audit" == result["chosen"]["learner"] and result["chosen"]["mode"] == "structure"
    rival = result["candidates"][-1]
    assert rival["learner"] == "audit" and rival["stands"] and len(result["candidates"]) == 15
    assert rival["wrong_labels"] == result["wrong_labels"] and abs(result["wrong_labels"] - share) < 0.05
    assert 0 <= result["clean_error"]["low"] <= result["clean_error"]["high"] <= 1
    error = unconfuse.json("evaluate", "m.uc", "test.svm")["error"]
    own = unconfuse.json("train", "--time", "fast", "train.svm", "-o", "f.uc")
    assert own["learner"] == "auto" and all("stands" not in candidate for candidate in own["candidates"])
    assert error < unconfuse.json("evaluate", "f.uc", "test.svm")["error"] - 0.02
    text = unconfuse("train", "train.svm", "-o", "3.uc", "--threads", "3").stdout.decode()
    assert text.startswith("audit: 400 examples") and "model: that of audit, for wrong labels that depend on the row" in text
    assert (tmp_path / "m.uc").read_bytes() == (tmp_path / "3.uc").read_bytes()
    for told in (("--scale", "standard"), ("--normalize-input",), ("--class-weight", "balanced")):
        told_how = unconfuse.json("train", "auto", *told, "train.svm", "-o", "m.uc")
        assert told_how["learner"] == "auto" and all("stands" not in candidate for candidate in told_how["candidates"])


def test_audit_is_not_tried_where_noise_explains_the_labels(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.3")
    assert all("stands" not in c for c in unconfuse.json("train", "noisy.svm", "-o", "m.uc")["candidates"])


def test_map_auto_chooses_a_view_for_other_learners(unconfuse, tmp_path):
    """Two classes, one around the other: no line separates them, and one column is a thousand times the other."""
    rows = []
    for i in range(300):
        angle, radius = 0.7 * i, 1 + i % 2
        rows.append(f"{i % 2} 1:{radius * math.cos(angle):.4f} 2:{1000 * radius * math.sin(angle):.4f}\n")
    (tmp_path / "rings.svm").write_text("".join(rows))
    for learner in ("logistic", "csvm", "sloppy-svm"):
        plain = unconfuse.json("train", learner, "rings.svm", "-o", "m.uc")
        assert plain["training_error"] > 0.3 and "map" not in plain["settings"]
        chosen = unconfuse.json("train", learner, "--map", "auto", "rings.svm", "-o", "m.uc")
        assert chosen["training_error"] < 0.05
        assert chosen["chosen"]["map"] == "random" and chosen["chosen"]["scale"] == "standard"
        assert chosen["settings"]["width"] == chosen["chosen"]["width"]
    kept = unconfuse.json("train", "logistic", "--map", "auto", "--scale", "range", "rings.svm", "-o", "m.uc")
    assert kept["settings"]["scale"] == "range" and kept["chosen"]["scale"] == "range"
    assert unconfuse.json("train", "rp", "--map", "auto", "rings.svm", "-o", "m.uc")["settings"]["map"] == "kgs"
    mapped = unconfuse.json("train", "logistic", "--map", "kgs", "--scale", "auto", "rings.svm", "-o", "m.uc")
    assert mapped["settings"]["map"] == "kgs" and mapped["settings"]["scale"] == "standard"


def test_streams_get_a_view_when_all_rows_are_read_first(unconfuse, tmp_path):
    rows = [f"{i % 3} 1:{(i % 3) + (i * 7 % 10) / 20} 2:{1000 * ((i * i) % 7)}\n" for i in range(300)]
    (tmp_path / "units.svm").write_text("".join(rows))
    unscaled = unconfuse.json("compare", "units.svm", "--learners", "cspa", "--runs", "2")["learners"][0]["mean"]
    scaled = unconfuse.json("compare", "units.svm", "--learners", "cspa", "--runs", "2", "--scale", "auto")["learners"][0]["mean"]
    assert scaled > unscaled + 0.1
    unconfuse.ok("stream", "cspa", "units.svm", "--shuffle", "--map", "auto")
    assert unconfuse.fails(2, "stream", "cspa", "units.svm", "--map", "auto") == \
        "--scale auto and --map auto are chosen by the labels of all rows: with --shuffle, which reads them all first, " \
        "or by compare"


def test_probabilities_are_of_the_true_class(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.4")
    unconfuse("train", "noisy.svm", "-o", "m.uc")
    lines = unconfuse("predict", "m.uc", "test.svm", "--probabilities").stdout.decode().splitlines()[1:]
    sure = [max(map(float, line.split("\t")[1:])) for line in lines]
    assert sum(sure) / len(sure) > 0.75  # of the labels, 60% are as predicted


def test_ridge_prints_its_path(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.1")
    result = unconfuse.json("train", "ridge", "noisy.svm", "-o", "m.uc")
    path = result["leave_one_out"]
    best = min(path, key=lambda point: point["squared_error"] + point["error"])
    assert len(path) == 11 and result["lambda"] == best["lambda"]
    assert result["leave_one_out_error"] == best["error"]


def test_a_wide_interval_says_so(unconfuse, tmp_path):
    rows = "".join(f"{(i * 7919) % 2} 1:{(i * 104729) % 97} 2:{(i * 1299709) % 89}\n" for i in range(200))
    (tmp_path / "random.svm").write_text(rows)
    done = unconfuse("train", "random.svm", "-o", "m.uc")
    clean = json.loads(unconfuse("inspect", "m.uc", "--json").stdout)["clean_error"]
    assert (b"cannot narrow this down" in done.stdout) == (clean["high"] - clean["low"] > 0.25)


def test_rows_that_are_all_the_same_give_a_model(unconfuse, tmp_path):
    (tmp_path / "same.svm").write_text("".join(f"{i % 2} 1:5 2:5\n" for i in range(20)))
    result = unconfuse.json("train", "same.svm", "-o", "m.uc")
    assert [candidate["options"]["map"] for candidate in result["candidates"]] == ["none", "none"]
    assert unconfuse.json("evaluate", "m.uc", "same.svm")["error"] == 0.5


def test_ridge_is_that_of_scikit_learn(unconfuse, tmp_path):
    """The same lambda gives the same scores: on columns as Ridge, on all rows as landmarks as centred KernelRidge."""
    np = pytest.importorskip("numpy")
    linear_model = pytest.importorskip("sklearn.linear_model")
    kernel_ridge = pytest.importorskip("sklearn.kernel_ridge")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4)).astype("f4")
    y = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int) + (X[:, 2] > 1)
    Y = np.eye(3)[y]
    np.savetxt(tmp_path / "d.csv", np.column_stack([X, y]), delimiter=",", fmt=["%.9g"] * 4 + ["%d"], header="a,b,c,d,label",
               comments="")

    def scores(*options):
        unconfuse.ok("train", "ridge", *options, "d.csv", "-o", "m.uc")
        lines = unconfuse("predict", "m.uc", "d.csv", "--scores").stdout.decode().splitlines()[1:]
        return np.array([[float(value) for value in line.split("\t")[1:]] for line in lines])

    expected = linear_model.Ridge(alpha=0.7).fit(X, Y).predict(X)
    assert np.allclose(scores("--lambda", "0.7"), expected, atol=1e-5)
    kernel = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 5.0)
    centring = np.eye(60) - 1 / 60
    fit = kernel_ridge.KernelRidge(alpha=0.7, kernel="precomputed").fit(centring @ kernel @ centring, Y - Y.mean(0))
    expected = centring @ kernel @ centring @ fit.dual_coef_ + Y.mean(0)
    found = scores("--lambda", "0.7", "--map", "nystroem", "--width", "5", "--dimension", "60")
    assert np.allclose(found, expected, atol=1e-4)


def test_the_path_of_ridge_is_that_of_scikit_learn(unconfuse, tmp_path):
    """Leave-one-out errors along the path: RidgeCV keeps them for every lambda."""
    np = pytest.importorskip("numpy")
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 5)).astype("f4")
    y = (X[:, 0] > 0.3 * rng.normal(size=80)).astype(int)
    np.savetxt(tmp_path / "d.csv", np.column_stack([X, y]), delimiter=",", fmt=["%.9g"] * 5 + ["%d"], header="a,b,c,d,e,label",
               comments="")
    path = unconfuse.json("train", "ridge", "d.csv", "-o", "m.uc")["leave_one_out"]
    for point in path:
        left_out = 0.0
        for i in range(80):
            others = np.arange(80) != i
            fit = linear_model.Ridge(alpha=point["lambda"], tol=1e-12).fit(X[others].astype(float), np.eye(2)[y[others]])
            left_out += ((fit.predict(X[i:i + 1].astype(float)) - np.eye(2)[y[i]]) ** 2).sum() / 80
        assert abs(point["squared_error"] - left_out) < 1e-8


def test_sparse_rows_may_get_unit_length(unconfuse, tmp_path):
    """Texts of very different lengths: what counts is the share of each word."""
    rows = []
    for i in range(300):
        length = 1 + (i * 37) % 200
        words = {1 + i % 2 * 3: 3 * length, 2 + (i * 7) % 3: length, 40 + (i * 13) % 60: length}
        rows.append(f"{i % 2} " + " ".join(f"{column}:{words[column]}" for column in sorted(words)) + "\n")
    (tmp_path / "texts.svm").write_text("".join(rows))
    result = unconfuse.json("train", "texts.svm", "-o", "m.uc", "--storage", "sparse")
    assert [candidate["options"]["normalize-input"] for candidate in result["candidates"]] == [False, True]
    assert result["chosen"]["normalize-input"] is True and result["settings"]["normalize-input"] is True
    assert result["training_error"] < 0.02


def test_the_memory_bounds_the_landmarks(unconfuse, tmp_path):
    digits_like(tmp_path, unconfuse, "0.1")
    result = unconfuse.json("train", "--map", "auto", "--time", "thorough", "noisy.svm", "-o", "m.uc", "--memory", "8M")
    dimensions = [candidate["options"].get("dimension", 0) for candidate in result["candidates"]]
    assert max(dimensions) == int(8 * 2**20 / (32 * 600)) < 600


def test_landmarks_are_as_many_as_the_memory_has_room_for(unconfuse, tmp_path):
    unconfuse("generate", "rp-chess", "--examples", "20000", "--test", "test.svm", "--test-examples", "2000", "-o", "clean.svm")
    unconfuse("noise", "apply", "clean.svm", "--noise-rate", "0.1", "-o", "noisy.svm")
    found = unconfuse.json("train", "noisy.svm", "-o", "m.uc", "--memory", "16M")
    assert 60 <= found["chosen"]["dimension"] <= 16 * 2**20 / 2 / 4 / 20000
    assert unconfuse.json("evaluate", "m.uc", "test.svm")["error"] < 0.05


def test_rows_that_do_not_fit_are_refused_and_others_leave_room_for_the_fit(unconfuse, tmp_path):
    unconfuse("generate", "rp-chess", "--examples", "100000", "-o", "rows.svm")
    assert unconfuse.fails(1, "train", "rows.svm", "-o", "m.uc", "--memory", "16M", "-q") == \
        "mapping 100000 examples needs 18.0 MB of memory, more than the limit of 16.8 MB (--memory)"
    found = unconfuse.json("train", "rows.svm", "-o", "m.uc", "--memory", "24M")
    assert found["chosen"]["dimension"] == 16
