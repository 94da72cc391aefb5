"""The benchmark still runs, and says what it measured. Its figures are judged elsewhere."""
import json
import os
import pathlib
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


def test_the_page(tmp_path):
    page = tmp_path / "performance.md"
    text = bench("--only", "machine", "--runs", "1", "--markdown", page)
    assert "the machine" in text
    assert "| threads | reading memory |" in page.read_text()


def test_the_exponent_is_that_of_the_later_points(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    import growth

    assert growth.exponent([1, 2, 4, 8, 16], [9, 9, 16, 64, 256]) == pytest.approx(2)
    assert growth.exponent([1, 2], [1, 2]) == pytest.approx(1)
