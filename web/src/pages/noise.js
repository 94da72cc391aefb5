// unconfuse noise estimate: how labels are confused.
import { h, section, figure, plainTable, words } from "../dom.js";
import { heatMap } from "../matrix.js";
import { dots } from "../plots.js";
import { count, interval, isolated, percent, real } from "../format.js";
import { facts } from "../facts.js";
import { nextSteps, operands, reading } from "../steps.js";

const LARGEST = 10;

/** The most frequent mistakes, with their intervals. */
function mistakes({ classes, matrix, low, high }) {
  const all = matrix.flatMap((row, p) => row.map((share, q) => ({ p, q, share }))).filter(({ p, q, share }) => p !== q && share > 0)
    .sort((a, b) => b.share - a.share).slice(0, LARGEST).map(({ p, q, share }) => ({ p, q, name: `${isolated(classes[q])}, labelled ${isolated(classes[p])}`, value: share, low: low?.[p][q], high: high?.[p][q] }));
  if (all.length === 0) return null;
  return section("The most frequent mistakes", figure("The share of the examples of a true class that have this label.",
    dots(all, { label: "the most frequent mistakes", xLabel: "share of the true class", parts: { dot: "estimate", whisker: low && "95% interval" } }),
    plainTable(["true class", words("label"), "share of the true class", "95% interval"], all.map((one) => [classes[one.q], classes[one.p], percent(one.value, 1), interval(one.low, one.high, 1)]))));
}

export function noisePage(report, line) {
  const { classes, matrix, low, high } = report;
  const range = (p, q) => (low && high ? interval(low[p][q], high[p][q], 1) : null);
  const width = (p, q) => (low && high ? high[p][q] - low[p][q] : 0);
  const cell = (p, q) => [percent(matrix[p][q], 1), low && high && h("small", {}, `${percent(low[p][q], 0)}–${percent(high[p][q], 0)}`)];
  const wrong = typeof report.wrong === "number" ? `about ${percent(report.wrong, 1)} of ${count(report.examples)} labels are wrong` : `the noise of ${count(report.examples)} labels`;
  const unsure = classes.map((_, p) => classes.map((_name, q) => width(p, q))), most = Math.max(...unsure.map((row) => Math.max(...row)), 1e-9);
  const { families } = report, [data] = line ? operands(line, 3) : [];
  return {
    title: wrong[0].toUpperCase() + wrong.slice(1),
    content: [
      report.warnings?.length ? section("Read this first", h("ul", {}, report.warnings.map((sentence) => h("li", {}, sentence)))) : null,
      section("The noise matrix", heatMap({
        classes, rows: "label", columns: "true class", shares: matrix, text: cell, names: ["labelled as it is", "as another class"],
        title: (p, q) => `true ${classes[q]} labelled ${classes[p]}: ${percent(matrix[p][q], 1)}${range(p, q) ? ` (${range(p, q)})` : ""}`,
        caption: "Each column is a true class and sums to 100%: how its examples are labelled.", small: low && high ? " Small: 95% intervals." : " There are no intervals: --bootstrap was 0.",
      })),
      mistakes(report),
      low && high && section("Where it is uncertain", heatMap({
        classes, rows: "label", columns: "true class", shares: unsure.map((row) => row.map((one) => one / most)), most, names: ["width of the interval"],
        text: (p, q) => percent(width(p, q), 1), title: (p, q) => `true ${classes[q]} labelled ${classes[p]}: interval of ${percent(width(p, q), 1)}`,
        caption: "The width of each 95% interval, in percentage points; the colour is strongest where it is widest.",
      })),
      section("Figures", facts([["method", report.method], ["estimator", report.estimator ?? families?.chosen], ["examples", count(report.examples)],
        ["wrong labels by a full matrix", families?.full && percent(families.full.wrong, 1)], ["wrong labels by one rate for all mistakes", families?.symmetric && percent(families.symmetric.wrong, 1)],
        ["condition number", real(report.condition_number), "how much the matrix enlarges what is uncertain: 1 is the best"], ["written to", report.output]])),
      data && report.output && report.output !== "-" && nextSteps(["Learn from the labels with this matrix, which says how they are confused:", `unconfuse train logistic ${data}${reading(line)} --noise-matrix ${quoted(report.output)} -o model.uc`]),
    ],
  };
}

/** A word for the shell. */
function quoted(word) {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
