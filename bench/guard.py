#!/usr/bin/python3
"""Whether a job has become slower, compared with other programs, than it was.

    bench/run --guard                  compares its ratios with those of ratios.json, and fails when one is below
    bench/guard.py RESULT.json         writes ratios.json from what `bench/run --json` printed

Times differ between machines, and on one between days; how many times as long another program takes does so far less.
What either run has not measured is not compared.
"""
import json
import os
import sys

RATIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ratios.json")
NOISE = 0.25  # ratios of two runs of the same programs differ by less than this share


def ratios(rows):
    """The ratio of each job, its data and the other program; none where a program was too quick to be timed."""
    return {" | ".join((row["job"], row["data"], peer["program"])): round(peer["ratio"], 3)
            for row in rows for peer in row["peers"] if peer["ratio"]}


def slower(now, before, noise=NOISE):
    """(job, ratio before, ratio now) where the ratio has fallen by more than noise."""
    return [(job, before[job], now[job]) for job in sorted(now) if job in before and now[job] < before[job] * (1 - noise)]


def check(rows, path=RATIOS):
    """One sentence for each job that has become slower, and how many were compared."""
    with open(path, encoding="utf-8") as file:
        before = json.load(file)["ratios"]
    now = ratios(rows)
    found = slower(now, before)
    sentences = ["slower than before: %s: %.2fx, was %.2fx" % (job, ratio, was) for job, was, ratio in found]
    return sentences, len(now.keys() & before.keys())


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    if result["quick"]:
        sys.exit("guard.py: a quick run is no measure")
    with open(RATIOS, "w", encoding="utf-8") as file:
        json.dump({"date": result["date"], "machine": result["machine"], "ratios": ratios(result["rows"])}, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
