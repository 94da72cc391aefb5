"""scripts/install-deps and what `make build` builds, with programs that only pretend to install."""
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import ROOT

BUILD = pathlib.Path(os.environ.get("UNCONFUSE_BUILD", ROOT / "build" / "release"))
NOT_FOR_A_BUILD = {"libcmocka-dev", "mypy", "clang-format", "libopenmpi-dev", "openmpi-bin", "python3", "python3-sklearn",
                   "python3-pytest", "python3-matplotlib", "mandoc", "gnuplot-nox"}


@pytest.fixture
def install(tmp_path):
    """Runs the script on a system on which the packages `there` are installed; returns it and the commands that it ran."""
    tools = tmp_path / "tools"
    tools.mkdir()
    log = tmp_path / "log"

    def tool(name, script):
        path = tools / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    for name in ("sh", "sed", "tr", "find", "cat", "env"):
        (tools / name).symlink_to(shutil.which(name))

    def run(*arguments, there=(), apt=True, sudo=True, user=0):
        log.write_text("")
        tool("id", f"echo {user}")
        if apt:
            tool("dpkg-query", "\n".join(f"echo installed {package}" for package in there) or ":")
            tool("apt-get", f'echo "apt-get $*" >> {log}; echo noise')
        if sudo:
            tool("sudo", f'echo "sudo $*" >> {log}; exec env "$@"')
        result = subprocess.run([tools / "sh", ROOT / "scripts" / "install-deps", *arguments], capture_output=True, text=True,
                                env={"PATH": str(tools)}, timeout=600)
        assert result.stdout == ""
        return result, log.read_text().splitlines()

    return run


def installed(commands):
    """Packages of the last apt-get install."""
    words = [line for line in commands if line.startswith("apt-get") and " install " in line][-1].split()
    return [word for word in words[words.index("install") + 1:] if not word.startswith("-")]


def test_a_build_needs_no_tools_of_tests(install):
    result, commands = install("build")
    packages = installed(commands)
    assert {"gcc", "cmake", "ninja-build", "libopenblas-dev", "liblbfgs-dev"} <= set(packages)
    assert not NOT_FOR_A_BUILD & set(packages)
    assert result.stderr.startswith("install-deps: installing gcc ")


def test_without_arguments_it_is_what_building_by_hand_and_running_need(install):
    packages = installed(install()[1])
    assert sorted(packages) == sorted(installed(install("build")[1]) + installed(install("run")[1]))
    assert "gnuplot-nox" in packages and not (NOT_FOR_A_BUILD - {"gnuplot-nox"}) & set(packages)


def test_tests_need_everything_and_each_package_is_named_once(install):
    packages = installed(install("test")[1])
    assert len(packages) == len(set(packages))
    for name in ("run", "build", "mpi", "demo", "python"):
        assert set(installed(install(name)[1])) <= set(packages)
    assert NOT_FOR_A_BUILD <= set(packages)


def test_other_arguments_are_packages(install):
    assert installed(install("clang", "mpi", "libomp-dev")[1]) == ["clang", "libopenmpi-dev", "openmpi-bin", "libomp-dev"]


def test_nothing_happens_when_all_is_there(install):
    everything = installed(install("test")[1])
    result, commands = install("test", there=everything)
    assert (result.returncode, result.stderr, commands) == (0, "", [])
    result, commands = install("test", there=everything[1:])
    assert installed(commands) == everything[:1]


def test_others_than_root_go_through_sudo(install):
    _, commands = install("demo", user=1000)
    assert any(line.startswith("sudo DEBIAN_FRONTEND=noninteractive apt-get ") and line.endswith(" python3-sklearn")
               for line in commands)
    assert not any(line.startswith("sudo") for line in install("demo")[1])


def test_where_it_cannot_install_it_says_what_is_needed(install):
    result, commands = install("demo", user=1000, sudo=False)
    assert result.returncode == 1 and commands == []
    assert "run as root: apt-get install python3-sklearn" in result.stderr

def test_on_another_system_it_names_the_packages(install):
    result, commands = install("demo", apt=False)
    assert result.returncode == 1 and commands == []
    assert result.stderr.split()[-2:] == ["install-deps:", "python3-sklearn"]


def make(target):
    reported = subprocess.run(["make", "-n", "--no-print-directory", target], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert reported.returncode == 0, reported.stderr
    return reported.stdout


def test_make_build_builds_programs_and_make_test_everything():
    build = make("build")
    assert "scripts/install-deps build\n" in build and "--target programs" in build and "run-tests" not in build
    assert "scripts/install-deps demo\n" in make("demo")
    test = make("test")
    assert "scripts/install-deps test\n" in test and "--target python" in test and "scripts/run-tests build/release" in test
    assert "cmake --build --preset release  >&2" in test  # all targets


@pytest.mark.skipif(not (BUILD / "build.ninja").exists() or not shutil.which("ninja"), reason="this build has no ninja")
def test_the_target_programs_has_what_is_installed_and_no_more():
    def ask(*question):
        reported = subprocess.run(["ninja", "-C", BUILD, "-t", *question], capture_output=True, text=True, timeout=600)
        assert reported.returncode == 0, reported.stderr
        return set(reported.stdout.split())

    assert {"libunconfuse.so", "unconfuse", "unconfuse-papers", "unconfuse_descriptions"} <= ask("query", "programs")
    inputs = ask("inputs", "programs")
    assert "libunconfuse.so" in inputs
    assert not [name for name in inputs if name.startswith(("tests/", "bench/", "fuzz/", "python-venv/"))]
