// unconfuse experiment: data x noise x learners.
import { h, section, figure, plainTable } from "../dom.js";
import { dots } from "../plots.js";
import { percent, real, seconds, count } from "../format.js";
import { facts } from "../facts.js";

function groupsOf(results) {
  const groups = new Map();
  for (const one of results) {
    const key = `${one.data}, ${one.noise}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(one);
  }
  return groups;
}

function ranks(report) {
  const rows = report.ranks;
  if (!rows?.length) return null;
  const text = typeof report.critical_difference === "number"
    ? `Two learners whose mean ranks differ by more than ${real(report.critical_difference, 3)} differ significantly (Nemenyi, 5%).` : null;
  return section("Mean ranks", figure("Mean rank over all data and noise; 1 is best.", dots(rows.map((one) => ({ name: one.learner, value: one.rank })), { label: "mean rank of each learner", format: (v) => real(v, 3) }),
    plainTable(["learner", "mean rank", "mean error"], rows.map((one) => [one.learner, real(one.rank, 3), percent(one.error)]))), text && h("p", {}, text),
    report.friedman && h("p", {}, `Friedman test: p = ${real(report.friedman.p_value, 2)}.`));
}

export function experimentPage(report) {
  const best = report.ranks?.[0];
  return {
    title: best ? `${best.learner} has the best mean rank, ${real(best.rank, 3)} of ${count(report.ranks.length)}` : "Experiment",
    content: [
      ranks(report),
      ...[...groupsOf(report.results)].map(([name, cells]) => section(name,
        figure("Error on clean test labels: mean over the runs, plus and minus one deviation.", dots(cells.map((cell) => ({ name: cell.learner, value: cell.error, low: cell.error - cell.deviation, high: cell.error + cell.deviation, marks: cell.errors })), { label: `errors, ${name}`, format: (v) => percent(v, 1) }),
          plainTable(["learner", "error", "deviation", "time", "rank"], cells.map((cell) => [cell.learner, percent(cell.error), percent(cell.deviation), seconds(cell.seconds), real(cell.rank, 3)]))))),
      section("Settings", facts([["runs", count(report.runs)]])),
    ],
  };
}
