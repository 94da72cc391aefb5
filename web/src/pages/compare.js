// unconfuse compare: several learners on the same shuffles.
import { choice, h, section, figure, plainTable } from "../dom.js";
import { curves, dots } from "../plots.js";
import { count, percent, probability, seconds } from "../format.js";
import { facts, recallOverTime } from "../facts.js";

function named(learner, all) {
  const twins = all.filter((one) => one.learner === learner.learner).length > 1;
  if (!twins) return learner.learner;
  return `${learner.learner} ${Object.entries(learner.settings).map(([name, value]) => `${name}=${value}`).join(" ")}`;
}

/** Right proposals so far, round by round; the bands are deviations over the runs. */
function overTime(report, names) {
  const all = report.learners;
  if (!(all[0].curve?.length > 1)) return null;
  const series = all.map((one, i) => ({ name: names[i], points: one.curve.map(({ round, ratio_correct: y, deviation }) =>
    ({ x: round, y, ...(typeof deviation === "number" && { low: Math.max(0, y - deviation), high: Math.min(1, y + deviation) }) })) }));
  const table = plainTable(["round", ...names], all[0].curve.map(({ round }, p) => [count(round), ...all.map((one) => percent(one.curve[p].ratio_correct))]));
  const bands = report.runs > 1 ? ` Mean over ${count(report.runs)} runs; bands are one deviation to each side.` : "";
  return section("Over time", figure(`The share of right proposals so far.${bands}`, curves(series, { label: "right proposals of each learner by round", xLabel: "round" }), table));
}

/** Each class over time, of one learner at a time. */
function classesOverTime(report, names) {
  if (!report.learners.every((one) => one.curve?.some((point) => point.recent_recall))) return null;
  const place = h("div", { "aria-live": "polite" });
  const draw = (key) => {
    const { curve } = report.learners[key], last = curve[curve.length - 1];
    const classes = report.classes.map((name, k) => ({ class: name, recall: last.recent_recall[k] ?? 1 }));
    place.replaceChildren(recallOverTime(curve, classes, `recall of each class by round, ${names[key]}`) ?? "");
  };
  return section("Each class over time", choice("Learner", names.map((name, i) => [String(i), name]), draw), place);
}

export function comparePage(report) {
  const all = report.learners, names = all.map((one) => named(one, all));
  const rows = all.map((one, i) => ({ name: names[i], value: one.mean, low: one.mean - one.deviation, high: one.mean + one.deviation, marks: one.ratios, faint: one.reference }));
  const verdict = (one, i) => {
    if (i === report.best_position) return "best";
    if (one.differs_from_best === null) return "one run: no test";
    return one.differs_from_best ? `differs (p ${probability(one.p_value)})` : `not shown to differ (p ${probability(one.p_value)})`;
  };
  const table = plainTable(["learner", "right", "deviation", "time", "compared with the best"], all.map((one, i) =>
    [names[i] + (one.reference ? " (sees the labels)" : ""), percent(one.mean), percent(one.deviation), seconds(one.seconds), verdict(one, i)]));
  const p = report.p_values && names.length > 1 && plainTable(["learner", ...names], names.map((name, i) => [name, ...report.p_values[i].map((value, j) => (i === j ? "" : probability(value)))]));
  return {
    title: `${report.best}: the most right proposals of ${count(all.length)} learners`,
    content: [
      section("Right proposals", figure("Mean over the runs, plus and minus one deviation; small circles are single runs, hollow learners see the labels.", dots(rows, { label: "right proposals of each learner" }), null),
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "learners" }, table)),
      overTime(report, names), classesOverTime(report, names),
      p && section("Which differences are significant", h("p", {}, `p values of paired t-tests over ${count(report.runs)} runs; below ${report.significance} a difference is called significant.`),
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "p values" }, p)),
      section("Settings", facts([["examples", count(report.examples)], ["classes", count(report.classes.length)], ["runs", count(report.runs)], ["passes", count(report.passes)],
        ["feedback", report.feedback === "partial" ? "only right or wrong" : report.feedback], ["options chosen on other shuffles", report.grid ? "yes" : "no"]])),
    ],
  };
}
