"""More than two classes: csvm, one class against the rest, compared with LIBLINEAR, from file to model."""
from timing import medians, megabytes, print_times, ratio, run

CLASSES = 20
BYTES = {"full": 10_000_000, "quick": 1_000_000}
COSTS = (1, 10)  # C/n, which LIBLINEAR calls C
SETTINGS = ("--smoothing", "0.01", "--tolerance", "0.003")
TOLERANCES = ("1", "0.3", "0.2", "0.1", "0.03", "0.01")  # -e of LIBLINEAR; 0.1 by default
NEAR = 0.01  # of the smallest objective seen, relative: where LIBLINEAR's clock stops
CRAMMER_SINGER = "LIBLINEAR -s 4"  # another objective: at its default


def at_cost(bench, data, rows, cost):
    ours, text, theirs = (bench.path("classes" + ending) for ending in (".uc", ".txt", ".liblinear"))

    def learn():
        return run([bench.program, "train", "csvm", "--cost", str(cost * rows), "--bias", "0", *SETTINGS, "--threads", "1",
                    "-q", data, "-o", ours])

    def liblinear(solver, tolerance):
        return run(["liblinear-train", "-q", "-s", solver, "-B", "-1", "-c", str(cost), "-e", tolerance, data, theirs])

    def objective(model):
        return bench.sklearn.ask("hinge", data, model, cost)["objective"]

    learn()
    run([bench.program, "convert", ours, text, "--to", "liblinear", "-q"])
    reached = {"unconfuse": objective(text)}
    for tolerance in TOLERANCES:
        liblinear("3", tolerance)
        reached["LIBLINEAR -s 3 -e %s" % tolerance] = objective(theirs)
    best = min(reached.values())
    near = next(name for name, value in reached.items() if name != "unconfuse" and value <= (1 + NEAR) * best)
    tasks = {("unconfuse", 1): learn,
             (near, 1): lambda: liblinear("3", near.split()[-1]),
             (CRAMMER_SINGER, 1): lambda: liblinear("4", "0.1")}
    return {"cost": cost, "best": best, "objectives": reached, "near": near, "times": medians(tasks, bench.args.long_runs)}


def classes(bench):
    """None: LIBLINEAR or scikit-learn, which computes the objectives, is not there."""
    if not (bench.liblinear and bench.sklearn):
        return None
    size = BYTES[bench.args.size]
    data = bench.make_data(["sparse", str(CLASSES)], size)
    rows = bench.ask("read", data, 1)["rows"]
    return {"bytes": size, "rows": rows, "costs": [at_cost(bench, data, rows, cost) for cost in COSTS]}


PARTS = {"classes": classes}

# ---- what was wanted, and telling ----


def rows(parts, add):
    entry = parts.get("classes")
    for at in entry["costs"] if entry else []:
        add("csvm, C/n = %g, file to model" % at["cost"],
            "%s of text, sparse, %d classes" % (megabytes(entry["bytes"]), CLASSES), at["times"])


def wanted(parts, add):
    entry = parts.get("classes")
    for at in entry["costs"] if entry else []:
        where = "csvm, %d classes, C/n = %g" % (CLASSES, at["cost"])
        add(where + ", objective compared with the best", "at most 1.01x", at["objectives"]["unconfuse"] / at["best"],
            lambda x: x <= 1 + NEAR)
        for peer in (at["near"], CRAMMER_SINGER):
            add("%s, against %s" % (where, peer), "at least 1x", ratio(at["times"], peer), lambda x: x >= 1)


def report(parts):
    entry = parts.get("classes")
    for at in entry["costs"] if entry else []:
        print_times("\n%d classes, one against the rest, C/n = %g, from the file to a model" % (CLASSES, at["cost"]),
                    at["times"])
        print("    objective, compared with the smallest seen, %.6g: " % at["best"] +
              ", ".join("%s %.4f" % (name, value / at["best"]) for name, value in at["objectives"].items()))
