// A square matrix of shares as a heat map that is a real table: the colour is only an aid. Beyond MOST_CLASSES it is a
// picture, and the largest cells are the table.
import { scaleLinear } from "d3-scale";
import { h, figure, plainTable, choice } from "./dom.js";
import { count, percent } from "./format.js";

const MOST_CLASSES = 40;
const LARGEST = 50;
const WIDE = 8; // from more classes on a matrix is printed in small letters

/** What a cell looks like: how much of the heat colour, and whether its text must be the light one. */
function heat(share) {
  const value = Math.max(0, Math.min(1, share || 0));
  const hot = value > 0.5;
  return { class: hot ? "cell hot" : "cell", "--heat-share": `${(hot ? 72 + 56 * (value - 0.5) : 70 * value).toFixed(1)}%` };
}

function largestCells(values, classes, limit) {
  const cells = [];
  values.forEach((row, i) => row.forEach((value, j) => {
    if (i !== j && value > 0) cells.push({ row: classes[i], column: classes[j], value });
  }));
  return cells.sort((a, b) => b.value - a.value).slice(0, limit);
}

function picture(shares, classes, label) {
  const size = classes.length, scale = Math.max(1, Math.floor(640 / size));
  const canvas = h("canvas", { width: size * scale, height: size * scale, role: "img", "aria-label": label, class: "heat" });
  const ink = scaleLinear().domain([0, 0.05, 1]).range(["#ffffff", "#9db9dc", "#0b3d75"]).clamp(true);
  const context = canvas.getContext("2d");
  shares.forEach((row, i) => row.forEach((share, j) => {
    context.fillStyle = ink(share || 0);
    context.fillRect(j * scale, i * scale, scale, scale);
  }));
  return canvas;
}

/**
 * A matrix for people.
 *   classes   names; rows, columns: what the two sides are ("true", "predicted")
 *   shares    for the colour, 0 to 1; text(i, j): what a cell says; title(i, j): what it says aloud
 */
export function heatMap({ classes, rows, columns, shares, text, title, caption }) {
  if (classes.length > MOST_CLASSES) {
    const cells = largestCells(shares, classes, LARGEST);
    return figure(caption, picture(shares, classes, caption), plainTable([rows, columns, "share"],
      cells.map((cell) => [cell.row, cell.column, percent(cell.value)])));
  }
  const head = h("tr", {}, h("th", { scope: "col", class: "corner" }, `${rows} \\ ${columns}`),
    classes.map((name) => h("th", { scope: "col", title: name }, h("span", { class: "name" }, name))));
  const body = classes.map((name, i) => h("tr", {}, h("th", { scope: "row", title: name }, h("span", { class: "name" }, name)),
    classes.map((other, j) => h("td", { ...heat(shares[i][j]), title: title(i, j), "data-diagonal": i === j }, text(i, j)))));
  return h("figure", {}, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: classes.length > WIDE ? "matrix wide" : "matrix" }, h("thead", {}, head), h("tbody", {}, body))), h("figcaption", {}, caption));
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Counts of a confusion matrix: as counts, or as shares of each row or column. */
export function confusionMap(counts, classes) {
  const rowSums = counts.map(sum), columnSums = counts[0].map((_, j) => sum(counts.map((row) => row[j])));
  const byRow = counts.map((row, i) => row.map((value) => (rowSums[i] ? value / rowSums[i] : 0)));
  const byColumn = counts.map((row) => row.map((value, j) => (columnSums[j] ? value / columnSums[j] : 0)));
  const captions = {
    counts: "Examples of each true class (row) by prediction (column). Colour: share of the row.",
    rows: "Share of each true class (row) that was predicted as each class.",
    columns: "Share of each prediction (column) that belongs to each true class.",
  };
  const place = h("div", { "aria-live": "polite" });
  const draw = (mode) => {
    const shares = mode === "columns" ? byColumn : byRow;
    place.replaceChildren(heatMap({
      classes, rows: "true", columns: "predicted", shares,
      text: (i, j) => (mode === "counts" ? count(counts[i][j]) : percent(shares[i][j], 1)),
      title: (i, j) => `true ${classes[i]}, predicted ${classes[j]}: ${count(counts[i][j])}, ${percent(byRow[i][j], 1)} of the class, ${percent(byColumn[i][j], 1)} of the predictions`,
      caption: captions[mode],
    }));
  };
  return h("div", {}, choice("Show", [["counts", "counts"], ["rows", "share of each true class"], ["columns", "share of each prediction"]], draw), place);
}
