// What several pages say in the same way.
import { h, section, figure, plainTable } from "./dom.js";
import { confusionMap } from "./matrix.js";
import { rowsTable } from "./rows.js";
import { curves, dots, plane, rangeOf } from "./plots.js";
import { count, interval, percent, real } from "./format.js";

/** Names, values and, where they need one, explanations. */
export function facts(rows) {
  return h("dl", { class: "facts" }, rows.filter(([, value]) => value !== null && value !== undefined && value !== false)
    .map(([name, value, meaning]) => h("div", {}, h("dt", {}, name), h("dd", {}, value), meaning && h("dd", {}, h("small", {}, meaning)))));
}

const UNKNOWN = 0.8; // the width of an interval that tells nothing

/** The error on true classes, with what it rests on. `of` says whose predictions these are. */
export function cleanError(clean, of = "the predictions") {
  if (!clean) return null;
  const known = clean.high - clean.low < UNKNOWN;
  return section("The error on true classes",
    h("p", { class: "lead" }, known ? `${interval(clean.low, clean.high, 1)} of ${of} are wrong (${percent(clean.level, 0)} interval).`
      : `These labels alone do not tell how many of ${of} are wrong: between ${percent(clean.low, 0)} and ${percent(clean.high, 0)} (${percent(clean.level, 0)} interval).`),
    facts([["best estimate", percent(clean.estimate, 1)], ["obtained by", clean.method]]),
    h("p", {}, clean.method === "noise hypotheses"
      ? "This allows for wrong labels among those that the predictions are compared with. The interval holds if wrong labels do not depend on the example: nothing in noisy labels alone shows whether they do. Checked rows (unconfuse check) make it narrower and need no such condition."
      : null));
}

const HALVES = { dot: "estimate", whisker: "95% interval" };

const MOST_DOTS = 60; // classes that a picture has; more are a table to search and to sort, the lowest recall first

/** Every class by name, where they are too many for a picture. */
export function manyClasses(classes) {
  if (classes.length <= MOST_DOTS) return null;
  const share = (key, title) => ({ key, title, number: true, format: (v) => percent(v, 1) });
  const columns = [{ key: "class", title: "class" }, { key: "examples", title: "examples", number: true, format: count }, share("recall", "recall"), share("low", "at least"), share("high", "at most"), share("precision", "precision")];
  const rows = classes.map((one) => ({ ...one, low: one.recall_interval?.[0], high: one.recall_interval?.[1] })).sort((a, b) => (a.recall ?? 2) - (b.recall ?? 2));
  return section("Each class", h("p", {}, "The lowest recall first; at least and at most are its 95% interval."), rowsTable({ columns, rows, label: "classes" }));
}

function perClass(classes) {
  if (classes.length > MOST_DOTS) return manyClasses(classes);
  const ranges = (name) => classes.map((one) => ({ name: one.class, value: one[name], low: one[`${name}_interval`]?.[0], high: one[`${name}_interval`]?.[1] }));
  const heads = ["class", "examples", "recall", "95% interval", "precision", "95% interval", "F1"];
  const table = plainTable(heads, classes.map((one) => [one.class, count(one.examples), percent(one.recall, 1),
    interval(one.recall_interval?.[0], one.recall_interval?.[1], 1), percent(one.precision, 1),
    interval(one.precision_interval?.[0], one.precision_interval?.[1], 1), percent(one.f1, 1)]));
  const recall = ranges("recall"), precision = ranges("precision"), domain = rangeOf([...recall, ...precision]);
  const low = Math.floor(10 * domain[0]) / 10, high = Math.ceil(10 * domain[1]) / 10; // one axis for both pictures
  return section("Each class",
    figure("Recall: the share of the examples of a class that were predicted as it.", dots(recall, { label: "recall of each class", domain: [low, high], xLabel: "recall", parts: HALVES }), table),
    figure("Precision: the share of the predictions of a class that are right. The axis is that of the recall.", dots(precision, { label: "precision of each class", domain: [low, high], xLabel: "precision", parts: HALVES }), null));
}

/** Everything that predictions compared with labels show. */
export function evaluation(report) {
  return [
    section("Figures", facts([
      ["error", percent(report.error), `95% interval ${interval(...report.error_interval)}`],
      ["balanced accuracy", percent(report.balanced_accuracy), "mean recall, each class weighted equally"],
      ["macro F1", percent(report.macro_f1), "mean over classes of the harmonic mean of precision and recall"],
      ["log loss", typeof report.log_loss === "number" && real(report.log_loss), "mean of -log of the probability of the label"],
      ["confusion rate", real(report.confusion_rate), "shares of each class taken for another: Frobenius norm / square root of the classes"],
      ["confusion norm", real(report.confusion_norm), "largest singular value of the same shares"],
      ["joint norm", real(report.confusion_norm_joint), "the same of shares of all examples: large classes count more"],
      ["unlabelled examples, skipped", report.unlabelled > 0 && count(report.unlabelled)],
      ["labels that the model does not know", report.unknown_labels > 0 && count(report.unknown_labels)],
    ])),
    section("Confusion matrix", confusionMap(report.confusion, namesOf(report))),
    perClass(report.per_class),
  ];
}

/** With unknown labels the matrix has one more row and column. */
function namesOf(report) {
  const names = [...report.classes];
  while (names.length < report.confusion.length) names.push("(unknown)");
  return names;
}

const SHOWN = 8; // curves in one picture
const ENOUGH = 16; // rounds per class before a point, from which on a recall is drawn: half of them are since the point before

/** The recall of each class from point to point of a curve; drawn are those that end up worst. `classes` are {class, recall}. */
export function recallOverTime(curve, classes, label) {
  const points = curve.filter((point) => point.recent_recall);
  if (points.length < 2) return null;
  const recall = (point, k) => point.recent_recall[k] ?? null;
  const all = classes.map((one, k) => ({ name: one.class, recall: one.recall, k })).filter(({ k }) => points.some((point) => recall(point, k) !== null));
  const worst = [...all].sort((a, b) => a.recall - b.recall).slice(0, SHOWN);
  const late = points.filter((point) => point.round >= ENOUGH * all.length), drawn = late.length > 2 ? late : points;
  const series = worst.map(({ name, k }) => ({ name: `class ${name}`, points: drawn.filter((point) => recall(point, k) !== null).map((point) => ({ x: point.round, y: recall(point, k) })) }))
    .filter((one) => one.points.length > 0);
  const which = all.length > SHOWN ? ` Drawn are the ${SHOWN} classes of the lowest recall; the table has all.` : "";
  const from = drawn.length < points.length ? ` The picture begins at round ${count(drawn[0].round)}: before it there are too few examples of a class to tell.` : "";
  return figure(`Recall of each class since the point before.${which}${from}`, curves(series, { label, xLabel: "round", yLabel: "recall", domain: [0, 1] }),
    plainTable(["round", ...all.map(({ name }) => name)], points.map((point) => [count(point.round), ...all.map(({ k }) => percent(recall(point, k), 1))])));
}

/** What share of the plane each class has, for those who do not see it. */
function areas(cells, classes) {
  const all = cells.flat(), held = classes.map((name, k) => [name, all.filter((one) => one === k).length / all.length]);
  return plainTable(["class", "share of the area"], held.map(([name, share]) => [name, percent(share, 1)]));
}

/** The learned regions of a report, where it has them. `of` says what learned them. */
export function regionsOf(report, of) {
  if (!report.regions) return null;
  return section("Learned regions", learnedRegions(report.regions, report.regions.cells, report.classes,
    `The ground is what ${of} says there. Points are rows, in the colour and with the mark of their label.`));
}

/** The regions that a model of two columns has learned, with some of the rows. */
export function learnedRegions(regions, cells, classes, caption) {
  return figure(caption, plane(regions, cells, classes, { label: caption }), areas(cells, classes));
}
