// unconfuse evaluate: predictions against labels.
import { h, section, figure, plainTable } from "../dom.js";
import { heatMap } from "../matrix.js";
import { histogram } from "../plots.js";
import { count, interval, percent, real } from "../format.js";
import { rowsTable } from "../rows.js";
import { cleanError, evaluation, regionsOf } from "../facts.js";

function scores(report) {
  const shown = report.score_histogram;
  if (!shown) return null;
  const groups = [{ name: "predictions equal to the label", counts: shown.right }, { name: "other predictions", counts: shown.wrong }];
  return section("How sure the model is", figure(`Examples by ${shown.of}.`,
    histogram({ edges: shown.edges, groups }, { label: `histogram of the ${shown.of}`, xLabel: shown.of }),
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
  return section("Most confused pairs", h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table of the most confused pairs" },
    plainTable(["label", "predicted", "examples", "rows, such as"], report.confused_pairs.map((pair) =>
      [pair.true, pair.predicted, count(pair.examples), pair.rows.join(", ")]))), confusedRows(report));
}

/** Shares of all examples; estimates may be below 0. */
function correctedMatrix({ corrected_confusion: shares, classes }) {
  if (!shares || shares.length !== classes.length) return null;
  const wide = shares.map((row) => row.map((share) => Math.max(0, share) * classes.length));
  return heatMap({ classes, rows: "true", columns: "predicted", shares: wide, text: (i, j) => percent(shares[i][j], 1),
    title: (i, j) => `true ${classes[i]}, predicted ${classes[j]}: ${percent(shares[i][j], 1)} of all examples`,
    caption: "The confusion matrix that true labels would show: estimated shares of all examples." });
}

function corrected(report) {
  const plugin = report.corrected_error_plugin ?? report.corrected_error;
  if (typeof plugin !== "number") return null;
  return section("Corrected for the noise of these labels",
    plainTable(["compared with", "error", "plus or minus"], [["against the labels as they are", percent(report.error), "–"],
      ["corrected for their noise", percent(plugin), percent(report.corrected_error_deviation)]]),
    h("p", {}, "The corrected figures are unbiased if the noise matrix is right and wrong labels depend on the true class alone."),
    correctedMatrix(report));
}

export function evaluatePage(report) {
  if (report.positive_unlabelled || report.error_interval === undefined) return plainPage(report);
  return {
    title: `${percent(report.error)} of ${count(report.examples)} predictions differ from the label (${interval(...report.error_interval)})`,
    content: [cleanError(report.clean_error), corrected(report), ...evaluation(report), pairs(report), scores(report), regionsOf(report, "the model")],
  };
}

/** Figures that have no picture: names and values. */
function plainPage(report) {
  const rows = Object.entries(report).filter(([, value]) => typeof value === "number" || typeof value === "string");
  return { title: "Evaluation", content: [section("Figures", plainTable(["figure", "value"], rows.map(([name, value]) => [name.replaceAll("_", " "), typeof value === "number" ? real(value) : value])))] };
}
