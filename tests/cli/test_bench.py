"""The benchmark still runs, and says what it measured. Its figures are judged elsewhere."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import PROGRAM, ROOT

BUILD = pathlib.Path(PROGRAM).parent
pytestmark = pytest.mark.skipif(not (BUILD / "bench" / "bench_inside").exists(), reason="the benchmark was not built")


def bench(*arguments):
    result = subprocess.run([ROOT / "bench" / "run", BUILD, "--quick", *arguments], capture_output=True, timeout=600,
                            text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_machine_and_threads_as_json():
    result = json.loads(bench("--only", "machine", "--only", "threads", "--runs", "1", "--json"))
    assert result["quick"] and result["runs"] == 1 and result["rows"] == result["wanted"] == []
    assert result["command"].startswith("bench/run ")
    machine, threads = result["parts"]["machine"], result["parts"]["threads"]
    assert [entry["threads"] for entry in machine] == list(range(1, 1 + min(2, len(os.sched_getaffinity(0)))))
    assert all(entry["bandwidth"] > 0 and entry["gemm"] > 0 for entry in machine)
    assert machine[0]["scan"] > 0 and machine[0]["copy"] > 0
    assert [job["job"] for job in threads["jobs"]] == ["uma", "logistic", "csvm", "kpca", "reading", "prediction"]
    for job in threads["jobs"]:
        assert job["same"], job
        assert job["speedup"] == job["seconds"][0] / job["seconds"][-1] > 0 and job["ceiling"] > 0
    assert threads["bandwidth_speedup"] > 0 and threads["gemm_speedup"] > 0


def test_auto_beside_its_peers(tmp_path):
    pytest.importorskip("sklearn")
    page = tmp_path / "performance.md"
    result = json.loads(bench("--only", "auto", "--runs", "1", "--json", "--markdown", page))
    (entry,) = result["parts"]["auto"]
    names = [point["program"] for point in entry["points"]]
    assert names == ["auto, fast", "auto, normal", "auto, thorough", "SVC", "random forest", "gradient boosting", "SVC grid"]
    assert all(0 <= point["error"] < 0.5 and point["seconds"] > 0 for point in entry["points"])
    assert [peer["program"] for peer in result["rows"][0]["peers"]] == names[3:]
    assert "| 400 | auto, normal |" in page.read_text()


def test_auto_in_pieces():
    pytest.importorskip("sklearn")
    result = json.loads(bench("--only", "auto", "--rows", "300", "--program", "SVC", "--json"))
    (entry,) = result["parts"]["auto"]
    assert entry["rows"] == 300 and [point["program"] for point in entry["points"]] == ["SVC"]


def test_the_page(tmp_path):
    page = tmp_path / "performance.md"
    text = bench("--only", "machine", "--runs", "1", "--markdown", page)
    assert "the machine" in text
    assert "| threads | reading memory |" in page.read_text()


def test_shares_of_the_limit():
    text = bench("--only", "machine", "--only", "uma", "--runs", "1", "--json")
    result = json.loads(text)
    (row,) = result["rows"]
    alone = result["parts"]["machine"][0]
    assert row["limit"]["kind"] == "memory"
    assert row["limit"]["share"] == pytest.approx(4 * 3823 * 640 / alone["bandwidth"] / row["seconds"])


def module(monkeypatch, name):
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return importlib.import_module(name)


def made_result(**parts):
    return {"command": "bench/run --json", "date": "2020-02-02", "machine": "Z80", "cores": 1, "seconds": 60.0, "quick": False,
            "runs": 5, "wanted": [{"what": "speed", "wanted": "at least 2x", "figure": 1.0, "met": False}], "parts": parts,
            "rows": [{"job": "reading", "data": "text", "seconds": 2.0, "two_cores": None, "peers": [],
                      "limit": {"kind": "scan", "share": 0.25}}]}


def test_the_page_keeps_what_was_written_by_hand(monkeypatch, tmp_path):
    page = module(monkeypatch, "page")
    file = tmp_path / "page.md"
    file.write_text("# Performance\n\nOld.\n\n## What the machine gives\n\nold rates\n\n## Many classes\n\nBy hand.\n\n"
                    "| a |\n|---|\n| 1 |\n\n## `train auto`: the errors that a time buys\n\nIn pieces.\n\n"
                    "## What was wanted and is missed\n\nold misses\n", encoding="utf-8")
    page.write(made_result(), file)
    first = file.read_text(encoding="utf-8")
    assert page.titles(first) == ["Compared with other programs", "Many classes", "`train auto`: the errors that a time buys",
                                  "What was wanted and is missed"]
    assert "By hand.\n\n| a |\n|---|\n| 1 |\n\n## " in first and "In pieces." in first
    assert not {"old rates", "old misses", "Old."} & set(first.split("\n"))
    assert '"Many classes" and "`train auto`' in first and "25% scan" in first and "| speed | at least 2x | 1.00 |" in first
    page.write(made_result(), file)
    assert file.read_text(encoding="utf-8") == first
    page.write(made_result(auto=[{"rows": 5, "points": [{"program": "p", "error": 0.5, "seconds": 1.0}]}]), file)
    assert "In pieces." not in file.read_text(encoding="utf-8")


def test_without_rates_there_is_no_share(monkeypatch):
    timing = module(monkeypatch, "timing")
    parts = {"machine": [{"threads": 1, "bandwidth": 100.0, "gemm": 10.0}]}
    assert timing.share_of_limit(parts, ("products", 50), 10.0) == {"kind": "products", "share": 0.5}
    assert timing.share_of_limit({}, ("products", 50), 10.0) is None
    assert timing.share_of_limit(parts, None, 10.0) is None


def test_the_exponent_is_that_of_the_later_points(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    import growth

    assert growth.exponent([1, 2, 4, 8, 16], [9, 9, 16, 64, 256]) == pytest.approx(2)
    assert growth.exponent([1, 2], [1, 2]) == pytest.approx(1)


def test_the_guard_names_what_has_become_slower(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    import guard

    def rows(*ratios):
        return [{"job": "job", "data": "data", "peers": [{"program": "peer %d" % i, "ratio": ratio}
                                                         for i, ratio in enumerate(ratios)]}]

    before = tmp_path / "ratios.json"
    before.write_text(json.dumps({"ratios": {**guard.ratios(rows(4.0, 2.0, 1.0)), "gone | data | peer": 9.0}}))
    assert guard.check(rows(3.1, 2.5, None, 7.0), before) == ([], 2)  # within noise, faster, not timed, new
    sentences, compared = guard.check(rows(2.9, 2.0, 1.0), before)
    assert sentences == ["slower than before: job | data | peer 0: 2.90x, was 4.00x"] and compared == 3


def test_the_guard_has_ratios_of_a_whole_run(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    import guard

    kept = json.loads(pathlib.Path(guard.RATIOS).read_text())["ratios"]
    assert {job.split(" | ")[0] for job in kept} >= {"reading", "prediction", "logistic", "a step of uma"}
    assert all(ratio > 0 for ratio in kept.values())


def test_a_quick_run_is_not_guarded():
    result = subprocess.run([ROOT / "bench" / "run", BUILD, "--quick", "--guard"], capture_output=True, text=True)
    assert result.returncode == 2 and "a quick run is no measure" in result.stderr


def profile_module(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader = importlib.machinery.SourceFileLoader("bench_profile", str(ROOT / "bench" / "profile"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_a_profile_reads_both_tools(monkeypatch):
    profile = profile_module(monkeypatch)
    perf = "# Overhead\n    46.83%  inside  libunconfuse.so.0.1.0  [.] scores\n     1.20%  inside  [kernel.kallsyms]  [k] fault\n"
    assert profile.perf_shares(perf) == [(pytest.approx(0.4683), "scores"), (pytest.approx(0.012), "fault (kernel)")]
    callgrind = "1,000 (100.0%)  PROGRAM TOTALS\n  600 (60.00%)  src/rows.c:scores [lib.so]\n  40 ( 4.00%)  ???:exp [libm]\n"
    assert profile.callgrind_shares(callgrind) == [(pytest.approx(0.6), "scores"), (pytest.approx(0.04), "exp")]
    lines = profile.picture([(0.2, "small"), (0.6, "large")]).splitlines()
    assert lines[0].endswith("large") and lines[0].count("#") == 3 * lines[1].count("#") - 1
    assert lines[2] == " 20.0%  everything else"


@pytest.mark.skipif(not (shutil.which("perf") or shutil.which("valgrind")), reason="no profiler")
def test_a_profile_of_reading():
    words = [ROOT / "bench" / "profile", "read", BUILD, "--bytes", "300000"]
    result = subprocess.run(words, capture_output=True, timeout=300, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("read, 0.3 MB, by ") and "#" in result.stdout and "everything else" in result.stdout
