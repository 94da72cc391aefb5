// unconfuse audit: which labels are wrong.
import { h, section, figure, plainTable } from "../dom.js";
import { dots } from "../plots.js";
import { heatMap } from "../matrix.js";
import { rowsTable } from "../rows.js";
import { exporters } from "../export.js";
import { cleanError, facts } from "../facts.js";
import { count, interval, percent } from "../format.js";

function suspects(report) {
  // Columns of the table have keys of their own: one called "row" or "given" must not take the place of what the audit says.
  const own = [...new Set(report.issues.flatMap((issue) => Object.keys(issue.columns || {})))].map((name) => ({ key: `column ${name}`, title: name }));
  const rows = report.issues.map((issue) => ({ ...issue, ...Object.fromEntries(own.map(({ key, title }) => [key, issue.columns?.[title]])) }));
  const repeats = ({ key }) => ["id", "given"].some((said) => rows.every((row) => row[key] === row[said]));
  const has = (key) => report.issues.some((issue) => issue[key] !== undefined && issue[key] !== null);
  const columns = [
    { key: "row", title: "row", number: true, format: count },
    has("id") && { key: "id", title: "id" },
    has("annotator") && { key: "annotator", title: "annotator" },
    { key: "given", title: "label" },
    { key: "suggested", title: "suggested" },
    { key: "p_wrong", title: "probability that the label is wrong", number: true, format: (v) => percent(v, 1) },
    ...own.filter((column) => !repeats(column)),
  ].filter(Boolean);
  const ticks = new Set(), bar = exporters(ticks, report.classes);
  const cut = report.flagged > report.issues.length
    ? h("p", {}, `These are the ${count(report.issues.length)} most suspicious of ${count(report.flagged)} flagged labels; the CSV file of the command (-o) has all of them.`) : null;
  return section("Suspicious labels, the worst first", cut, rowsTable({ columns, rows, label: "suspicious labels", ticks, ticked: bar.changed }), bar.node);
}

function matrix(report) {
  const { noise_matrix: C, noise_low: low, noise_high: high, classes } = report;
  if (!C) return null;
  return section("How labels are confused", heatMap({
    classes, rows: "label", columns: "true class", shares: C,
    text: (p, q) => [percent(C[p][q], 1), low && high && h("small", {}, `${percent(low[p][q], 0)}–${percent(high[p][q], 0)}`)],
    title: (p, q) => `true ${classes[q]} labelled ${classes[p]}: ${percent(C[p][q], 1)}${low && high ? ` (${interval(low[p][q], high[p][q], 1)})` : ""}`,
    caption: `Each column is a true class and sums to 100%: how its examples are labelled.${low && high ? " Small: 95% intervals." : ""}`,
  }));
}

function pairs(report) {
  const worst = (report.class_pairs || []).slice(0, 12);
  if (!worst.length) return null;
  return section("Where labels go wrong", figure("Label / true class: the share of all labels that are the one although the other is true. Lines are 95% intervals.",
    dots(worst.map((one) => ({ name: `${one.given} / ${one.true}`, value: one.estimate, low: one.low, high: one.high })), { label: "pairs of classes by share of wrong labels", format: (v) => percent(v, 1) }),
    plainTable(["label, true class", "share of all labels", "interval"], worst.map((one) => [`${one.given}, ${one.true}`, percent(one.estimate, 1), interval(one.low, one.high, 1)]))));
}

function annotators(report) {
  if (!report.annotators) return null;
  const columns = [{ key: "name", title: "annotator" }, { key: "labels", title: "labels", number: true, format: count }, { key: "accuracy", title: "accuracy", number: true, format: (v) => percent(v, 1) },
    { key: "low", title: "at least", number: true, format: (v) => percent(v, 1) }, { key: "high", title: "at most", number: true, format: (v) => percent(v, 1) }];
  return section("Annotators", rowsTable({ columns, rows: report.annotators, label: "annotators" }));
}

function calibration(report) {
  const bins = report.calibration;
  if (!bins?.length) return null;
  const checked = report.calibration_of !== "labels left out";
  const caption = checked ? "Checked rows: the share that was wrong (dots), by the probability that was given (lines). Where dots lie on their lines, the probabilities can be believed."
    : "Nobody has checked these labels, but each can be left out: the share that is not the class which the other rows predict (dots), by the probability that was given for it (lines). Where dots lie on their lines, the probabilities can be believed.";
  return section("How well the suspicion is calibrated", figure(caption,
    dots(bins.map((bin) => ({ name: `${percent(bin.low, 0)} to ${percent(bin.high, 0)}`, value: bin.wrong, low: bin.low, high: bin.high })), { label: "calibration" }),
    plainTable(["probability", "rows", "mean probability", checked ? "wrong" : "another class"],
      bins.map((bin) => [interval(bin.low, bin.high, 0), count(bin.rows), percent(bin.expected ?? (bin.low + bin.high) / 2, 1), percent(bin.wrong, 1)]))));
}

export function auditPage(report) {
  const { estimate, low, high } = report.wrong;
  return {
    title: `About ${percent(estimate, 1)} of ${count(report.labels ?? report.examples)} labels are wrong (${percent(low, 1)} to ${percent(high, 1)})`,
    content: [
      h("p", { class: "lead" }, `${count(report.flagged)} labels are flagged: look at these first.`),
      suspects(report), matrix(report), pairs(report), annotators(report), calibration(report), cleanError(report.clean_error),
      section("What was assumed", facts([["mode", report.mode], ["examples", count(report.examples)], ["classes", count(report.classes.length)]]),
        h("p", {}, report.assumptions || "Examples of one class resemble each other more than those of different classes; where they do not, wrong labels cannot be told from hard examples. Labels that a model wrote, and that are wrong wherever that model errs, are not found.")),
    ],
  };
}
