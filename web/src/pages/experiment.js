// unconfuse experiment: learners on labels that were made wrong, all on the same draws.
import { h, section, figure, plainTable, scrolling, words } from "../dom.js";
import { dots, rangeOf } from "../plots.js";
import { count, percent, pValue, real, times } from "../format.js";
import { facts, learnedRegions } from "../facts.js";
import { nextSteps, operands, reading } from "../steps.js";

/** What a kind of noise does, in words. */
function said(noise) {
  const [kind, first, second] = noise.split(":"), share = (text) => percent(Number(text), 0);
  const kinds = {
    none: () => "labels as they are",
    uniform: () => `${share(first)} of every class wrong, spread evenly over the others`,
    pair: () => `${share(first)} of every class taken for the next one`,
    random: () => `a random noise matrix of level ${first}`,
    rates: () => `${share(first)} of the positives and ${share(second)} of the negatives wrong`,
    instance: () => `${share(first)} of the labels wrong, more often where a weak model hesitates`,
  };
  return kinds[kind] ? kinds[kind]() : noise;
}

const found = (report, data, noise) => report.results.filter((one) => one.data === data && one.noise === noise && typeof one.error === "number").sort((a, b) => a.error - b.error);
const rowsOf = (cells) => cells.map((one) => ({ name: one.learner, value: one.error, low: one.error - one.deviation, high: one.error + one.deviation, marks: one.errors }));

/** One data set with one kind of noise: the errors of all learners, the smallest first. */
function problem(report, data, noise, domain) {
  const cells = found(report, data, noise), took = times(cells.map((one) => one.seconds)), several = report.runs > 1;
  const table = plainTable(["learner", "error", "deviation", "rank", "time of a run"], cells.map((one, i) => [one.learner, percent(one.error), percent(one.deviation), real(one.rank, 3), took[i]]));
  return [h("h3", {}, `${noise}: ${said(noise)}`), figure(`Errors on the test rows of ${data}, whose labels are right.`,
    dots(rowsOf(cells), { label: `test errors on ${data} with ${noise} noise`, domain, xLabel: "test error",
      parts: { dot: several ? "mean over the runs" : "one run", whisker: several && "one deviation to each side", mark: several && "a run" } }), table)];
}

/** All kinds of noise of a data set, on one axis, so that they can be compared. */
function problems(report, data) {
  const [low, high] = rangeOf(report.noise.flatMap((noise) => rowsOf(found(report, data, noise))));
  const domain = [Math.max(0, Math.floor(20 * low) / 20), Math.min(1, Math.ceil(20 * high) / 20)];
  return report.noise.map((noise) => problem(report, data, noise, domain));
}

/** The mean errors of all learners on a data set by kind of noise; the smallest of each is marked. */
function errors(report, data) {
  const all = report.noise.map((noise) => found(report, data, noise));
  const cell = (learner, cells) => {
    const one = cells.find((result) => result.learner === learner);
    if (!one) return "–";
    return one.error === cells[0].error ? h("b", {}, percent(one.error)) : percent(one.error);
  };
  return [h("p", {}, `Mean error on the test rows, whose labels are right, over ${count(report.runs)} run${report.runs > 1 ? "s" : ""}; the smallest of a column is bold.`),
    scrolling(`errors on ${data}`, plainTable(["learner", ...report.noise], report.learners.map(({ learner }) => [learner, ...all.map((cells) => cell(learner, cells))])))];
}

/** Data of two columns: what each learner made of the plane in the first run. */
function regionsOf(report, data) {
  return (report.regions || []).filter((one) => one.data === data).map((one) => h("details", {}, h("summary", {}, `Learned regions, ${one.noise}`),
    h("div", { class: "planes" }, one.learners.map(({ learner, cells }) => learnedRegions(one, cells, one.classes,
      `${learner}, ${one.noise}: the ground is what it says there, points are training rows in the colour of their label, wrong ones included.`)))));
}

/** Learners that failed: the first reason, and on how many problems. */
function leftOut(report) {
  return report.learners.map(({ learner }) => {
    const failed = report.results.filter((one) => one.learner === learner && one.failed);
    return { learner, problems: failed.length, why: failed[0]?.failed };
  }).filter((one) => one.problems > 0);
}

function verdict(report) {
  if (typeof report.p_value !== "number") return "Whether learners differ, only several problems and learners can tell.";
  const tested = `Friedman's test over ${count(report.data.length * report.noise.length)} problems: ${pValue(report.p_value)}.`;
  if (report.p_value >= report.significance) return `${tested} No significant difference between learners.`;
  return `${tested} Mean ranks that are more than ${real(report.critical_difference, 3)} apart differ at 5% (Nemenyi); the lines are half as long to each side, so learners whose lines do not meet differ.`;
}

/** Nobody is called the best where chance would do as well. */
function headline(report, ranked) {
  if (typeof report.p_value === "number" && report.p_value >= report.significance) return `No significant difference between the learners was shown (${pValue(report.p_value)})`;
  if (ranked.length === 0) return "Every learner failed on some problem";
  return `${ranked[0].learner}: the best mean rank of ${count(report.learners.length)} learners`;
}

/** From whom a learner's mean rank differs, by the critical difference. */
function differing(report, ranked, one) {
  if (!(report.p_value < report.significance)) return "–";
  return ranked.filter((other) => Math.abs(other.rank - one.rank) > report.critical_difference).map((other) => other.learner).join(", ") || "none";
}

function ranks(report, ranked) {
  const half = typeof report.critical_difference === "number" && report.p_value < report.significance ? report.critical_difference / 2 : null;
  const rows = ranked.map((one) => ({ name: one.learner, value: one.rank, low: half && one.rank - half, high: half && one.rank + half })), took = times(ranked.map((one) => one.seconds));
  const table = plainTable(["learner", "mean rank", "mean error", "time of a run", words("differs significantly from")],
    ranked.map((one, i) => [one.learner, real(one.rank, 3), percent(one.error), took[i], differing(report, ranked, one)]));
  return section("All problems", h("p", {}, verdict(report)), figure("Mean rank over the problems, by mean error; 1 is the best.",
    dots(rows, { label: "mean rank of each learner", format: (v) => real(v, 3), domain: [1, Math.max(2, ranked.length)], xLabel: "mean rank", parts: { dot: "mean rank", whisker: half && "half the critical difference to each side" } }), null),
  scrolling("learners by mean rank", table));
}

export function experimentPage(report, line) {
  const ranked = report.learners.filter((one) => typeof one.rank === "number"), failed = leftOut(report), [data] = line ? operands(line, 2) : [];
  const [best] = ranked, shown = best && !headline(report, ranked).startsWith("No") && /^[\w-]+$/.test(best.learner);
  return {
    title: headline(report, ranked),
    content: [
      ranked.length > 0 && ranks(report, ranked),
      ...report.data.map((one) => section(one, errors(report, one), problems(report, one), regionsOf(report, one))),
      failed.length > 0 && section("Left out", scrolling("learners that were left out", plainTable(["learner", "problems", "why"], failed.map((one) => [one.learner, count(one.problems), one.why])))),
      section("Settings", facts([["runs", count(report.runs)], ["data sets", count(report.data.length)], ["kinds of noise", report.noise.join(", ")]])),
      shown && data && nextSteps([`Learn with ${best.learner} from labels that you do not trust:`, `unconfuse train ${best.learner} ${data}${reading(line)} -o model.uc`]),
    ],
  };
}
