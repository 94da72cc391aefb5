// unconfuse experiment: learners on labels that were made wrong, all on the same draws.
import { h, section, figure, plainTable } from "../dom.js";
import { dots } from "../plots.js";
import { count, percent, probability, real, seconds } from "../format.js";
import { facts, learnedRegions } from "../facts.js";

function scroll(label, table) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

/** One data set with one kind of noise: the errors of all learners, the smallest first. */
function problem(report, data, noise) {
  const cells = report.results.filter((one) => one.data === data && one.noise === noise && typeof one.error === "number")
    .sort((a, b) => a.error - b.error);
  const rows = cells.map((one) => ({ name: one.learner, value: one.error, low: one.error - one.deviation, high: one.error + one.deviation, marks: one.errors }));
  const table = plainTable(["learner", "error", "deviation", "rank", "time"], cells.map((one) =>
    [one.learner, percent(one.error), percent(one.deviation), real(one.rank, 3), seconds(one.seconds)]));
  return figure(`${data}, ${noise}: mean test error, plus and minus one deviation; small circles are single runs.`,
    dots(rows, { label: `test errors on ${data} with ${noise} noise` }), table);
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
  const said = `Friedman's test over ${count(report.data.length * report.noise.length)} problems: p ${probability(report.p_value)}.`;
  if (report.p_value >= report.significance) return `${said} No significant difference between learners.`;
  return `${said} Mean ranks that are more than ${real(report.critical_difference, 3)} apart differ at 5% (Nemenyi); the lines are half as long to each side, so learners whose lines do not meet differ.`;
}

/** Nobody is called the best where chance would do as well. */
function headline(report, ranked) {
  if (typeof report.p_value === "number" && report.p_value >= report.significance) return `No significant difference between the learners was shown (p ${probability(report.p_value)})`;
  return `${ranked[0].learner}: the best mean rank of ${count(report.learners.length)} learners`;
}

export function experimentPage(report) {
  const ranked = report.learners.filter((one) => typeof one.rank === "number");
  const half = typeof report.critical_difference === "number" ? report.critical_difference / 2 : null;
  const rows = ranked.map((one) => ({ name: one.learner, value: one.rank, low: half && one.rank - half, high: half && one.rank + half }));
  const table = plainTable(["learner", "mean rank", "mean error", "time of a run"], ranked.map((one) => [one.learner, real(one.rank, 3), percent(one.error), seconds(one.seconds)]));
  const failed = leftOut(report);
  return {
    title: headline(report, ranked),
    content: [
      section("All problems", h("p", {}, verdict(report)), figure("Mean rank, 1 is the best.", dots(rows, { label: "mean rank of each learner", format: (v) => real(v, 3) }), table)),
      ...report.data.map((data) => section(data, report.noise.map((noise) => problem(report, data, noise)), regionsOf(report, data))),
      failed.length > 0 && section("Left out", scroll("learners that were left out", plainTable(["learner", "problems", "why"], failed.map((one) => [one.learner, count(one.problems), one.why])))),
      section("Settings", facts([["runs", count(report.runs)], ["data sets", count(report.data.length)], ["kinds of noise", report.noise.join(", ")]])),
    ],
  };
}
