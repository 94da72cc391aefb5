// unconfuse noise estimate: how labels are confused.
import { h, section } from "../dom.js";
import { heatMap } from "../matrix.js";
import { count, interval, percent, real } from "../format.js";
import { facts } from "../facts.js";

export function noisePage(report) {
  const { classes, matrix, low, high } = report;
  const range = (p, q) => (low && high ? interval(low[p][q], high[p][q], 1) : null);
  const width = (p, q) => (low && high ? high[p][q] - low[p][q] : 0);
  const cell = (p, q) => [percent(matrix[p][q], 1), low && high && h("small", {}, `${percent(low[p][q], 0)}–${percent(high[p][q], 0)}`)];
  const wrong = typeof report.wrong === "number" ? `about ${percent(report.wrong, 1)} of ${count(report.examples)} labels are wrong` : `the noise of ${count(report.examples)} labels`;
  const unsure = classes.map((_, p) => classes.map((_name, q) => width(p, q))), most = Math.max(...unsure.flat(), 1e-9);
  return {
    title: wrong[0].toUpperCase() + wrong.slice(1),
    content: [
      report.warnings?.length ? section("Read this first", h("ul", {}, report.warnings.map((sentence) => h("li", {}, sentence)))) : null,
      section("The noise matrix", heatMap({
        classes, rows: "label", columns: "true class", shares: matrix, text: cell,
        title: (p, q) => `true ${classes[q]} labelled ${classes[p]}: ${percent(matrix[p][q], 1)}${range(p, q) ? ` (${range(p, q)})` : ""}`,
        caption: "Each column is a true class and sums to 100%: how its examples are labelled. Small: 95% intervals.",
      })),
      low && high && section("Where it is uncertain", heatMap({
        classes, rows: "label", columns: "true class", shares: unsure.map((row) => row.map((one) => one / most)),
        text: (p, q) => percent(width(p, q), 1), title: (p, q) => `true ${classes[q]} labelled ${classes[p]}: interval of ${percent(width(p, q), 1)}`,
        caption: "The width of each interval; the colour is strongest where it is widest.",
      })),
      section("Figures", facts([["method", report.method], ["estimator", report.estimator], ["examples", count(report.examples)],
        ["condition number", real(report.condition_number)], ["written to", report.output]])),
    ],
  };
}
