"""Pictures of the results, by gnuplot: the same as SVG and as PNG."""
import os
import shutil
import subprocess

from kernels import curve
from timing import Failed, note

COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#8e5ea2", "#d99a1c", "#4c4c4c", "#2fa4a0", "#b0478c"]
POINTS = [7, 5, 9, 13, 11, 6, 4, 8]
TITLES = {"rows": "rows", "columns": "columns", "classes": "classes", "processes": "processes (two cores)"}


def block(name, pairs):
    """Data inside the script."""
    return "$%s << EOD\n%s\nEOD\n" % (name, "\n".join("%.9g %.9g" % pair for pair in pairs))


def draw(script, path, width, height):
    """path: without its ending. Gives the name of the SVG; None: there is no gnuplot."""
    if not shutil.which("gnuplot"):
        note("gnuplot is not installed (gnuplot-nox); the pictures are left out")
        return None
    for ending, terminal in ((".svg", "svg size %d,%d font 'sans-serif,13' background '#ffffff'" % (width, height)),
                             (".png", "pngcairo size %d,%d font 'sans-serif,10'" % (width, height))):
        text = "set terminal %s\nset output '%s'\n%s" % (terminal, path + ending, script)
        result = subprocess.run(["gnuplot"], input=text, capture_output=True, text=True)
        if result.returncode != 0:
            raise Failed("gnuplot: %s" % result.stderr.strip())
    return os.path.basename(path) + ".svg"


STYLE = """set border 3 lc '#808080'
set tics nomirror textcolor '#404040'
set grid lc '#e4e4e4' lt 1
set logscale x
set key textcolor '#202020'
"""


def growth(result, path):
    """A panel for every quantity, a line for every job."""
    panels = {quantity: lines for quantity, lines in result["lines"].items() if lines}
    jobs = list(dict.fromkeys(line["job"] for lines in panels.values() for line in lines))
    script = STYLE + "set logscale xy\nset format y '%g'\n"
    script += "set multiplot layout 2,2 margins 0.08,0.86,0.09,0.97 spacing 0.1,0.14\n"
    for quantity, lines in panels.items():
        plots = []
        for line in lines:
            name, i = "%s_%s" % (quantity, line["job"]), jobs.index(line["job"])
            script += block(name, zip(line["sizes"], line["seconds"]))
            plots.append("$%s with linespoints lw 1.6 pt %d ps 0.6 lc '%s' title '%s'" %
                         (name, POINTS[i], COLOURS[i], line["job"]))
        sizes = lines[0]["sizes"]
        script += "set key %s\n" % ("at screen 0.995,0.97 right top" if quantity == "columns" else "off")
        script += "set xtics (%s)\n" % ", ".join("'%d' %d" % (size, size) for size in sizes)
        script += "set xrange [%g:%g]\nset xlabel '%s'\nset ylabel 'seconds'\n" % (
            sizes[0] / 1.15, sizes[-1] * 1.15, TITLES[quantity])
        script += "plot " + ", ".join(plots) + "\n"
    return draw(script + "unset multiplot\n", path, 900, 640)


def kernel_svm(entry, path):
    """The error on the test rows against the seconds of training."""
    script, plots = STYLE + "set xlabel 'seconds of training, one core'\nset ylabel 'errors, %'\nset key top right\n", []
    for program, title, unit in (("unconfuse", "csvm --map nystroem", "D"), ("LIBSVM", "LIBSVM", "n")):
        points = curve(entry, program)
        if not points:
            continue
        colour = COLOURS[len(plots) // 2]
        script += block(program, [(point["seconds"], 100 * point["error"]) for point in points])
        plots.append("$%s with linespoints lw 1.8 pt 7 ps 0.8 lc '%s' title '%s'" % (program, colour, title))
        script += "$%s_text << EOD\n%s\nEOD\n" % (program, "\n".join(
            "%.9g %.9g %s=%d" % (point["seconds"], 100 * point["error"], unit, point["size"]) for point in points))
        plots.append("$%s_text using 1:2:3 with labels offset 0.6,0.8 left tc '%s' font ',9' notitle" % (program, colour))
    return draw(script + "set yrange [0:*]\nset offsets graph 0.02, graph 0.12, graph 0.08, 0\nplot " +
                ", ".join(plots) + "\n", path, 620, 400)
