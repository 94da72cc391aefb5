// A square matrix of shares as a heat map that is a real table: the colour is only an aid. What is right has one colour, what
// is wrong another, which is scaled to the largest of the wrong ones: these are what a reader looks for. Beyond MOST_CLASSES
// it is a picture, and the largest cells are the table.
import { h, figure, plainTable, choice, words } from "./dom.js";
import { count, percent } from "./format.js";

const MOST_CLASSES = 40;
const LARGEST = 50;
const WIDE = 8; // from more classes on a matrix is printed in small letters

const isWrong = (i, j, one) => !one && i !== j;

/** The largest share that has the second colour. */
function largestWrong(shares) {
  let most = 0;
  shares.forEach((row, i) => row.forEach((share, j) => { if (i !== j && share > most) most = share; }));
  return most;
}

/** What a cell looks like: which colour, how much of it, and whether its text must be the light one. */
function heat(share, wrong, most) {
  const value = Math.max(0, Math.min(1, (wrong ? share / (most || 1) : share) || 0));
  if (wrong) return { class: value > 0 ? "cell wrong" : "cell none", "--heat-share": `${(45 * value).toFixed(1)}%` };
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

/** The colours of the page as numbers, for a canvas. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  return ["--surface", "--heat", "--s1"].map((name) => [1, 3, 5].map((at) => parseInt(style.getPropertyValue(name).trim().slice(at, at + 2), 16)));
}

function picture(shares, classes, label, one, most) {
  const size = classes.length, scale = Math.max(1, Math.floor(640 / size));
  const canvas = h("canvas", { width: size * scale, height: size * scale, role: "img", "aria-label": label, class: "heat" });
  const [ground, right, wrong] = colours(), context = canvas.getContext("2d");
  context.fillStyle = `rgb(${ground})`;
  context.fillRect(0, 0, size * scale, size * scale);
  shares.forEach((row, i) => row.forEach((share, j) => {
    if (!(share > 0)) return;
    const other = isWrong(i, j, one), ink = other ? wrong : right;
    const part = Math.sqrt(Math.min(1, other ? share / most : share)); // a cell of few pixels is to be seen
    context.fillStyle = `rgb(${ink.map((value, c) => Math.round(part * value + (1 - part) * ground[c]))})`;
    context.fillRect(j * scale, i * scale, scale, scale);
  }));
  return canvas;
}

function key(kind, text) {
  return h("li", {}, h("span", { class: `ramp ${kind}`, "aria-hidden": "true" }), text);
}

function legend(one, most, names) {
  if (one) return h("ul", { class: "legend" }, key("", `${names[0]}: 0% to ${percent(most, 1)}`));
  return h("ul", { class: "legend" }, key("", `${names[0]}: 0% to 100%`), most > 0 && key("wrong", `${names[1]}: 0% to ${percent(most, most < 0.1 ? 1 : 0)}`));
}

/**
 * A matrix for people.
 *   classes   names; rows, columns: what the two sides are ("true", "predicted")
 *   shares    for the colour, 0 to 1; text(i, j): what a cell says; title(i, j): what it says aloud
 *   names     what the colours mean: that of the diagonal and that of the rest; with `most` there is one colour for all,
 *             which stands for that share where it is strongest
 *   small     what the small figures of the cells are, which a picture does not have
 *   largest   the largest share off the diagonal as it is written, where that is not the one of the colours
 */
export function heatMap({ classes, rows, columns, shares, text, title, caption, names = ["right", "wrong"], most = null, largest = null, small = "" }) {
  const one = most !== null, top = one ? most : largestWrong(shares), key = legend(one, largest ?? top, names);
  if (classes.length > MOST_CLASSES) {
    const cells = largestCells(shares, classes, LARGEST), value = (share) => percent(one ? share * most : share);
    return figure(caption, h("div", {}, picture(shares, classes, caption, one, top), key), plainTable([rows, words(columns), one ? "width" : "share"],
      cells.map((cell) => [cell.row, cell.column, value(cell.value)])));
  }
  const head = h("tr", {}, h("th", { scope: "col", class: "corner" }, `${rows} \\ ${columns}`),
    classes.map((name) => h("th", { scope: "col", title: name }, h("span", { class: "name" }, name))));
  const body = classes.map((name, i) => h("tr", {}, h("th", { scope: "row", title: name }, h("span", { class: "name" }, name)),
    classes.map((other, j) => h("td", { ...heat(shares[i][j], isWrong(i, j, one), top), title: title(i, j), "data-diagonal": i === j }, text(i, j)))));
  return h("figure", {}, h("div", { class: "scroll broad", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: classes.length > WIDE ? "matrix wide" : "matrix" }, h("thead", {}, head), h("tbody", {}, body))), key, h("figcaption", {}, `${caption}${small}`));
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Counts of a confusion matrix: as counts, or as shares of each row or column. */
export function confusionMap(counts, classes) {
  const rowSums = counts.map(sum), columnSums = counts[0].map((_, j) => sum(counts.map((row) => row[j])));
  const byRow = counts.map((row, i) => row.map((value) => (rowSums[i] ? value / rowSums[i] : 0)));
  const byColumn = counts.map((row) => row.map((value, j) => (columnSums[j] ? value / columnSums[j] : 0)));
  const captions = {
    counts: "Examples of each true class (row) by prediction (column). Colours: shares of the row.",
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
