"""`train auto` on labels of which 27% are wrong, against scikit-learn's classifiers: the error that a time buys."""
import json
import os

from timing import HERE, PYTHON, Failed, note, run

ROWS = {"full": (2000, 10_000, 50_000), "quick": (400,)}
EFFORTS = ("fast", "normal", "thorough")
PEERS = ("SVC", "random forest", "gradient boosting", "SVC grid")
HOURS = {("SVC grid", 50_000)}  # only with --hours
MOST_THOROUGH = 10_000  # rows
GRID_RATIO = 1.0  # of the grid's time, that `auto` may take


def draw(bench, rows):
    folder = bench.path("auto-%d" % rows)
    if not os.path.exists(os.path.join(folder, "yt.npy")):
        os.makedirs(folder, exist_ok=True)
        run([PYTHON, os.path.join(HERE, "auto_peer.py"), "draw", str(rows), folder])
    return folder


def train(bench, effort, folder):
    """From file to model, by one thread; the error on the test rows, and what the labels alone say of it."""
    file = {name: os.path.join(folder, name + ".npy") for name in ("X", "y", "Xt", "yt")}
    model = os.path.join(folder, "model.uc")
    trained = run([bench.program, "train", "auto", "--time", effort, file["X"], "--labels", file["y"], "-o", model, "--threads", "1",
                   "--json"])
    tested = run([bench.program, "evaluate", model, file["Xt"], "--labels", file["yt"], "--threads", "1", "--json"])
    clean = json.loads(trained["output"])["clean_error"]
    return {"program": "auto, " + effort, "seconds": trained["processor"], "peak_bytes": trained["peak_bytes"],
            "error": json.loads(tested["output"])["error"], "low": clean["low"], "high": clean["high"]}


def peer(name, folder):
    answer = json.loads(run([PYTHON, os.path.join(HERE, "auto_peer.py"), "fit", name, folder])["output"])
    return {"program": name, "seconds": answer["processor"], "error": answer["error"]}


def asked_for(bench, program):
    return not bench.args.program or program in bench.args.program


def auto(bench):
    result = []
    for rows in bench.args.rows or ROWS[bench.args.size]:
        try:
            folder = draw(bench, rows)
        except Failed:
            note("scikit-learn is not installed (python3-sklearn); `auto` is left out")
            return []
        points = []
        for effort in EFFORTS:
            if asked_for(bench, "auto, " + effort) and (effort != "thorough" or rows <= MOST_THOROUGH):
                note("auto: --time %s, %d rows" % (effort, rows))
                points.append(train(bench, effort, folder))
        for name in PEERS:
            if asked_for(bench, name) and ((name, rows) not in HOURS or bench.args.hours):
                note("auto: %s, %d rows" % (name, rows))
                points.append(peer(name, folder))
        result.append({"rows": rows, "points": points})
    return result


PARTS = {"auto": auto}


def point_of(entry, program):
    return next((point for point in entry["points"] if point["program"] == program), None)


def rows(parts, add):
    for entry in parts.get("auto", []):
        ours = point_of(entry, "auto, normal")
        if not ours:
            continue
        times = [{"program": "unconfuse", "cores": 1, "processor": ours["seconds"]}]
        times += [{"program": point["program"], "cores": 1, "processor": point["seconds"]} for point in entry["points"]
                  if point["program"] in PEERS]
        add("train auto (errors: %.1f%%)" % (100 * ours["error"]), "%d digits, 27%% wrong; errors: %s" %
            (entry["rows"], ", ".join("%s %.1f%%" % (point["program"], 100 * point["error"]) for point in entry["points"]
                                      if point["program"] in PEERS)), times)


def wanted(parts, add):
    for entry in parts.get("auto", []):
        ours, grid = point_of(entry, "auto, normal"), point_of(entry, "SVC grid")
        if not ours:
            continue
        if grid:
            add("auto against the grid of SVC, %d rows, seconds" % entry["rows"], "at most %.1fx" % GRID_RATIO,
                ours["seconds"] / grid["seconds"], lambda x: x <= GRID_RATIO)
        others = [point["error"] for point in entry["points"] if point["program"] in PEERS]
        if others:
            add("auto against the best of the others, %d rows, errors in points" % entry["rows"], "at most 0.5 more",
                100 * (ours["error"] - min(others)), lambda x: x <= 0.5)


def report(parts):
    for entry in parts.get("auto", []):
        print("\nlearning %d digits, 27%% of the labels wrong: errors on clean rows; one core" % entry["rows"])
        for point in entry["points"]:
            told = "   the labels alone say %.1f%% to %.1f%%" % (100 * point["low"], 100 * point["high"]) if "low" in point else ""
            memory = "   %4.0f MB" % (point["peak_bytes"] / 2**20) if "peak_bytes" in point else ""
            print("    %-18s errors %5.2f%%   %9.2f s%s%s" % (point["program"], 100 * point["error"], point["seconds"], memory,
                                                             told))
