// unconfuse compare: several learners on the same shuffles.
import { choice, h, section, figure, plainTable, scrolling } from "../dom.js";
import { curves, dots } from "../plots.js";
import { count, percent, probability, pValue, times } from "../format.js";
import { facts, recallOverTime } from "../facts.js";
import { nextSteps, operands, reading } from "../steps.js";

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
  return section("Over time", figure(`The share of right proposals so far.${bands}`, curves(series, { label: "right proposals of each learner by round", xLabel: "round", yLabel: "right proposals" }), table));
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

/** How far ahead the best one is, and of whom that is not shown. */
function lead(report, names) {
  const { learners: all, best_position: best, runs } = report, others = all.map((_, i) => i).filter((i) => i !== best && !all[i].reference);
  const said = `${names[best]} made ${percent(all[best].mean)} right proposals${runs > 1 ? `, with a deviation of ${percent(all[best].deviation)} over ${count(runs)} runs` : ""}.`;
  if (others.length === 0) return said;
  const next = others.reduce((a, b) => (all[b].mean > all[a].mean ? b : a));
  const ahead = ` The next is ${names[next]} with ${percent(all[next].mean)}.`;
  const same = others.filter((i) => all[i].differs_from_best === false).map((i) => names[i]);
  if (runs < 2) return `${said}${ahead} One run cannot tell how much of this is chance.`;
  return `${said}${ahead} ${same.length > 0 ? `Not shown to differ from the best: ${same.join(", ")}.` : "All others differ significantly from the best."}`;
}

/** The best learner once more: on the stream, or for good where labels are given. */
function steps(report, line) {
  const [data] = line ? operands(line, 2) : [], best = report.best;
  if (!data || report.learners[report.best_position].reference) return null;
  if (report.feedback === "partial") return nextSteps([`See how ${best} goes on round by round:`, `unconfuse stream ${best} ${data}${reading(line)} --feedback partial --html stream.html`]);
  return nextSteps([`Learn with ${best} and write the model:`, `unconfuse train ${best} ${data}${reading(line)} -o model.uc`]);
}

export function comparePage(report, line) {
  const all = report.learners, names = all.map((one) => named(one, all)), several = report.runs > 1;
  const rows = all.map((one, i) => ({ name: names[i], value: one.mean, low: one.mean - one.deviation, high: one.mean + one.deviation, marks: one.ratios, faint: one.reference }));
  const verdict = (one, i) => {
    if (i === report.best_position) return "best";
    if (one.differs_from_best === null) return "one run: no test";
    return one.differs_from_best ? `differs (${pValue(one.p_value)})` : `not shown to differ (${pValue(one.p_value)})`;
  };
  const took = times(all.map((one) => one.seconds));
  const table = plainTable(["learner", "right", "deviation", "time of a run", "compared with the best"], all.map((one, i) =>
    [names[i] + (one.reference ? " (sees the labels)" : ""), percent(one.mean), percent(one.deviation), took[i], verdict(one, i)]));
  const p = report.p_values && names.length > 1 && plainTable(["learner", ...names], names.map((name, i) => [name, ...report.p_values[i].map((value, j) => (i === j ? "" : probability(value)))]));
  return {
    title: `${report.best}: the most right proposals of ${count(all.length)} learners`,
    content: [
      h("p", { class: "lead" }, lead(report, names)),
      section("Right proposals", figure("The share of the proposals of a run that were right.", dots(rows, { label: "right proposals of each learner", xLabel: "right proposals",
        parts: { dot: several ? "mean over the runs" : "one run", whisker: several && "one deviation to each side", mark: several && "a run", faint: all.some((one) => one.reference) && "sees the labels" } }), null),
      scrolling("learners", table)),
      overTime(report, names), classesOverTime(report, names),
      p && section("Which differences are significant", h("p", {}, `p values of paired t-tests over ${count(report.runs)} runs; below ${report.significance} a difference is called significant. Each pair is tested by itself, and runs are shuffles of the same examples: the tests tell whether other shuffles would agree, not whether other data would.`),
        scrolling("p values", p)),
      section("Settings", facts([["examples", count(report.examples)], ["classes", count(report.classes.length)], ["runs", count(report.runs)], ["passes", count(report.passes)],
        ["feedback", report.feedback === "partial" ? "only right or wrong" : report.feedback], ["options chosen on other shuffles", report.grid ? "yes" : "no"]])),
      steps(report, line),
    ],
  };
}
