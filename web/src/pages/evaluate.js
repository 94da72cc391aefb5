// unconfuse evaluate: predictions against labels.
import { h, section, figure, plainTable, scrolling, words } from "../dom.js";
import { heatMap } from "../matrix.js";
import { histogram } from "../plots.js";
import { count, interval, percent, real } from "../format.js";
import { rowsTable } from "../rows.js";
import { cleanError, evaluation, regionsOf } from "../facts.js";
import { nextSteps, operands, reading } from "../steps.js";

function scores(report) {
  const shown = report.score_histogram;
  if (!shown) return null;
  const groups = [{ name: "predictions equal to the label", counts: shown.right }, { name: "other predictions", counts: shown.wrong }];
  return section("How sure the model is", figure(`Examples by ${shown.of}.`,
    histogram({ edges: shown.edges, groups }, { label: `histogram of the ${shown.of}`, xLabel: shown.of, yLabel: "examples" }),
    plainTable(["from", "to", "equal to the label", "other"], shown.right.map((right, i) =>
      [real(shown.edges[i]), real(shown.edges[i + 1]), count(right), count(shown.wrong[i])]))));
}

/** The rows themselves, where they are those of a table. */
function confusedRows(report) {
  const rows = report.confused_pairs.flatMap((pair) => pair.rows.map((row, i) => ({ row, id: pair.ids?.[i], true: pair.true, predicted: pair.predicted,
    ...Object.fromEntries(Object.entries(pair.columns?.[i] ?? {}).map(([name, text]) => [`column ${name}`, text])) })));
  const own = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => key.startsWith("column "))
    .filter((key) => !["id", "true"].some((said) => rows.every((row) => row[key] === row[said])));
  if (own.length === 0) return null;
  const columns = [{ key: "row", title: "row", number: true, format: count }, rows.some((row) => row.id) && { key: "id", title: "id" },
    { key: "true", title: "label" }, { key: "predicted", title: "predicted" }, ...own.map((key) => ({ key, title: key.slice("column ".length) }))].filter(Boolean);
  return h("div", {}, h("p", {}, "Rows of these pairs, with the columns of the table:"), rowsTable({ columns, rows, label: "rows of confused pairs" }));
}

function pairs(report) {
  if (!report.confused_pairs?.length) return null;
  const sizes = new Map(report.per_class.map((one) => [one.class, one.examples])), share = (pair) => (sizes.get(pair.true) ? percent(pair.examples / sizes.get(pair.true), 1) : "–");
  return section("Most confused pairs", scrolling("table of the most confused pairs",
    plainTable(["label", words("predicted"), "examples", "share of the label", words("rows, such as")], report.confused_pairs.map((pair) =>
      [pair.true, pair.predicted, count(pair.examples), share(pair), pair.rows.join(", ")]))), confusedRows(report));
}

/** Shares of all examples; estimates may be below 0. */
function correctedMatrix({ corrected_confusion: shares, classes }) {
  if (!shares || shares.length !== classes.length) return null;
  const wide = shares.map((row) => row.map((share) => Math.max(0, share) * classes.length));
  return heatMap({ classes, rows: "true", columns: "predicted", shares: wide, text: (i, j) => percent(shares[i][j], 1),
    title: (i, j) => `true ${classes[i]}, predicted ${classes[j]}: ${percent(shares[i][j], 1)} of all examples`,
    largest: Math.max(...shares.flatMap((row, i) => row.filter((_, j) => i !== j))), names: ["right, of the class", "wrong, of all examples"],
    caption: "The confusion matrix that true labels would show: estimated shares of all examples. An estimate may be below 0." });
}

const sum = (values) => values.reduce((a, b) => a + b, 0);

/** Recall and precision by the corrected matrix; as shares they stay within 0 and 1. */
function correctedClasses({ corrected_confusion: shares, per_class: raw, classes }) {
  if (!shares || shares.length !== raw.length) return null;
  const part = (value, whole) => (whole > 0 ? percent(Math.max(0, Math.min(1, value / whole)), 1) : "–");
  return scrolling("recall and precision, raw and corrected", plainTable(["class", "recall as labelled", "corrected", "precision as labelled", "corrected"], raw.map((one, k) =>
    [classes[k], percent(one.recall, 1), part(shares[k][k], sum(shares[k])), percent(one.precision, 1), part(shares[k][k], sum(shares.map((row) => row[k])))])));
}

function corrected(report) {
  const plugin = report.corrected_error_plugin ?? report.corrected_error;
  if (typeof plugin !== "number") return null;
  return section("Corrected for the noise of these labels",
    plainTable(["error", "estimate", words("how sure")], [["against the labels as they are", percent(report.error), `95% interval ${interval(...report.error_interval)}`],
      ["corrected for their noise", percent(plugin), `± ${percent(report.corrected_error_deviation)}, one deviation`]]),
    h("p", {}, "The corrected figures are unbiased if the noise matrix is right and wrong labels depend on the true class alone."),
    correctedClasses(report), correctedMatrix(report));
}

function steps(report, line) {
  const [model, data] = line ? operands(line, 2) : [];
  if (!data || report.clean_error?.method !== "noise hypotheses") return null;
  return nextSteps(["Are these labels right? A few checked rows tell the error on true classes without any condition. Draw them, and fill in the column true_label:", `unconfuse check ${data}${reading(line)} --model ${model} -o checked.csv`],
    ["Which labels are probably wrong:", `unconfuse audit ${data}${reading(line)} --html audit.html`]);
}

export function evaluatePage(report, line) {
  if (report.positive_unlabelled || report.error_interval === undefined) return plainPage(report);
  return {
    title: `${percent(report.error)} of ${count(report.examples)} predictions differ from the label (${interval(...report.error_interval)})`,
    content: [h("p", { class: "lead" }, `${percent(1 - report.error)} of the predictions equal the label. In brackets: the 95% interval, which says how far the number of examples can be trusted, not whether the labels can.`), cleanError(report.clean_error), corrected(report), ...evaluation(report), pairs(report), scores(report), regionsOf(report, "the model"), steps(report, line)],
  };
}

/** Figures that have no picture: names and values. */
function plainPage(report) {
  const rows = Object.entries(report).filter(([, value]) => typeof value === "number" || typeof value === "string");
  return { title: "Evaluation", content: [section("Figures", plainTable(["figure", "value"], rows.map(([name, value]) => [name.replaceAll("_", " "), typeof value === "number" ? real(value) : value])))] };
}
