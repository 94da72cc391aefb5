"""Builds the C library with CMake, the extension over it with cffi, and the estimators from its option tables.

The shared library goes into the package next to the extension, which finds it there. UNCONFUSE_BUILD names a build
directory of CMake that has the library already; what is built here goes there as well."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
# A source distribution has the library's sources with it; in the repository they are next to this directory.
LIBRARY = HERE / "library" if (HERE / "library").exists() else HERE.parent
LIBRARY_PARTS = ["CMakeLists.txt", "LICENSE", "cmake", "include", "src"]
BUILD = os.environ.get("UNCONFUSE_BUILD")


def import_file(path: pathlib.Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version() -> str:
    header = (LIBRARY / "include" / "unconfuse" / "version.h").read_text()
    return re.search(r'#define UC_VERSION "(.+)"', header)[1]


def build_library(directory: pathlib.Path) -> pathlib.Path:
    """The directory that has libunconfuse.so."""
    if BUILD:
        return pathlib.Path(BUILD).resolve()
    only = [f"-DUNCONFUSE_{part}=OFF" for part in ("PROGRAMS", "TESTS", "BENCH")]
    subprocess.run(["cmake", "-S", LIBRARY, "-B", directory, "-DCMAKE_BUILD_TYPE=Release", *only], check=True)
    subprocess.run(["cmake", "--build", directory, "--target", "unconfuse_shared", "--parallel", "2"], check=True)
    return directory


class BuildExtension(build_ext):
    def run(self) -> None:
        library = build_library(pathlib.Path(self.build_temp).resolve() / "library")
        (extension,) = self.extensions
        extension.include_dirs += [str(LIBRARY / "include"), str(HERE)]
        extension.library_dirs.append(str(library))
        extension.libraries.append("unconfuse")
        extension.extra_link_args.append("-Wl,-rpath,$ORIGIN")
        extension.depends.append(str(library / "libunconfuse.so"))
        super().run()
        built = pathlib.Path(self.get_ext_fullpath(extension.name))
        (shared,) = library.glob("libunconfuse.so.*.*.*")  # the file itself; the name that it is loaded by is shorter
        shutil.copyfile(shared, built.parent / self.loaded_name(shared))
        subprocess.run([sys.executable, HERE / "generate.py", built, built.parent / "estimators.py"], check=True)

    @staticmethod
    def loaded_name(library: pathlib.Path) -> str:
        text = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
        return re.search(r"SONAME.*\[(.+)\]", text)[1]


class BuildPackage(build_py):
    """With the licence, and without what an earlier build of other sources left behind."""

    def run(self) -> None:
        package = pathlib.Path(self.build_lib, "unconfuse")
        shutil.rmtree(package, ignore_errors=True)
        super().run()
        if package.exists():  # not when it is used from the sources
            shutil.copy2(LIBRARY / "LICENSE", package)
            self.join_page(package / "page.html")

    @staticmethod
    def join_page(target: pathlib.Path) -> None:
        """The page of reports, if the build has it: template, style and script; the data's place stays open."""
        web = pathlib.Path(BUILD or ".", "web")
        parts = {"@STYLE@": web / "page.css", "@SCRIPT@": web / "page.js"}
        if not BUILD or not all(part.exists() for part in [web / "page.html", *parts.values()]):
            return
        page = (web / "page.html").read_text(encoding="utf-8")
        for place, part in parts.items():
            page = page.replace(place, part.read_text(encoding="utf-8"))
        target.write_text(page, encoding="utf-8")


class SourceDistribution(sdist):
    """With the library's sources."""

    def make_release_tree(self, base_dir, files) -> None:
        super().make_release_tree(base_dir, files)
        for part in LIBRARY_PARTS:
            source, target = LIBRARY / part, pathlib.Path(base_dir, "library", part)
            target.parent.mkdir(exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)


def extension():
    """From the C source that cffi writes."""
    directory = pathlib.Path(BUILD or HERE / "build", "python-build")
    directory.mkdir(parents=True, exist_ok=True)
    ffi = import_file(HERE / "build_ffi.py").make_ffi()
    return ffi.distutils_extension(str(directory))


setup(
    version=version(),
    ext_modules=[extension()],
    cmdclass={"build_ext": BuildExtension, "build_py": BuildPackage, "sdist": SourceDistribution},
    options={"build": {"build_base": os.path.join(BUILD, "python-build")},
             "egg_info": {"egg_base": os.path.join(BUILD, "python-build")}} if BUILD else {},
)
