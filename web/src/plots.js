// Small pictures: dots with intervals, curves, histograms. Each is an SVG with a title; the caller adds the table.
import { extent, max } from "d3-array";
import { scaleLinear, scaleLog } from "d3-scale";
import { area, line, symbol, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolTriangle } from "d3-shape";
import { h, svg } from "./dom.js";
import { percent } from "./format.js";

// On a phone a picture is as wide as the page from the beginning, so that its letters stay legible.
const WIDTH = Math.max(300, Math.min(680, document.documentElement.clientWidth - 32));
const SERIES = 8; // colours; see .series-0 to .series-7 in page.css
// The ninth has the first colour again, with another line and another mark.
const DASHES = [null, "7 4", "2 3", "9 3 2 3", "1 5"];
const MARKS = [symbolCircle, symbolSquare, symbolTriangle, symbolDiamond, symbolCross];
const round = (list, i) => list[Math.floor(i / SERIES) % list.length];
const colour = (i) => `series-${i % SERIES}`;
const mark = (i, size) => symbol().type(round(MARKS, i)).size(size)();

function frame(height, label) {
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label, class: "plot" });
}

const measure = document.createElement("canvas").getContext("2d");
measure.font = "13px system-ui, sans-serif";
const widthOf = (text) => measure.measureText(text.slice(0, 200)).width * 1.05;

/** The ticks of a horizontal axis; the last number moves to the left where it would be cut off. */
function grid(x, ticks, top, bottom, format) {
  return ticks.map((tick) => svg("g", { transform: `translate(${x(tick)},0)` },
    svg("line", { y1: top, y2: bottom, class: "grid" }),
    svg("text", { x: Math.min(0, WIDTH - x(tick) - widthOf(format(tick)) / 2), y: bottom + 16, "text-anchor": "middle", class: "tick" }, format(tick))));
}

/** The beginning of a text that has room in so many pixels. */
function shorten(text, pixels) {
  if (widthOf(text) <= pixels) return text;
  let length = Math.min(text.length, 200);
  while (length > 1 && widthOf(`${text.slice(0, length)}…`) > pixels) length -= 1;
  return `${text.slice(0, length)}…`;
}

/** Shares with as many digits as tell them apart where they span this much. */
function shares(span, more = 0) {
  const digits = span >= 0.05 ? 0 : span >= 0.005 ? 1 : 2;
  return (v) => percent(v, digits + more);
}

const KEYS = {
  dot: () => svg("circle", { r: 5, class: "dot" }),
  faint: () => svg("circle", { r: 5, class: "dot faint" }),
  whisker: () => svg("line", { x1: -9, x2: 9, class: "whisker" }),
  mark: () => svg("circle", { r: 3, class: "mark" }),
};

/** What the parts of a picture of dots mean: {dot, whisker, mark, faint}, as far as it has them. */
function dotLegend(parts) {
  return h("ul", { class: "legend" }, Object.entries(parts).filter(([, text]) => text).map(([part, text]) => h("li", {},
    svg("svg", { viewBox: "-10 -7 20 14", class: "plot dot-key", "aria-hidden": "true" }, KEYS[part]()), text)));
}

/** The range of all that is drawn: what several pictures share, so that they can be compared. */
export function rangeOf(rows) {
  const values = rows.flatMap((row) => [row.value, row.low, row.high, ...(row.marks || [])]).filter((v) => typeof v === "number");
  return extent(values.length ? values : [0, 1]);
}

/**
 * Rows of {name, value, low, high, marks: [..], faint}: a dot each, its interval, and single values. Names that are too long to
 * stand on the left stand above their dots.
 *   format   of the ticks, and of the values on the right; parts: what the legend says; domain: of the axis
 */
export function dots(rows, { label, format = null, parts = null, domain = null, xLabel = null }) {
  const widest = Math.max(...rows.map((row) => widthOf(row.name)), 0) + 12, above = widest > 0.36 * WIDTH;
  const left = above ? 24 : Math.max(90, Math.ceil(widest)), right = WIDTH - 62, step = above ? 44 : rows.length > 20 ? 23 : 30, top = 10, bottom = top + step * rows.length;
  const [low, high] = domain || rangeOf(rows);
  const x = scaleLinear().domain(low === high ? [low - 0.01, high + 0.01] : [low, high]).range([left, right]);
  if (!domain) x.nice();
  const plot = frame(bottom + (xLabel ? 44 : 26), label);
  const span = x.domain()[1] - x.domain()[0], shown = format || shares(span), exact = format || shares(span, 1), place = (v) => x(Math.max(x.domain()[0], Math.min(x.domain()[1], v)));
  plot.append(...grid(x, x.ticks((right - left) / 80), top, bottom, shown));
  if (xLabel) plot.append(svg("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle", class: "axis" }, xLabel));
  rows.forEach((row, i) => {
    const y = top + step * i + (above ? 32 : step / 2), [at, anchor] = above ? [y - 14, "start"] : [y + 4, "end"];
    plot.append(svg("text", { x: above ? 2 : left - 10, y: at, "text-anchor": anchor, class: "name" }, svg("title", {}, row.name), shorten(row.name, above ? WIDTH - 70 : left - 10)));
    if (typeof row.low === "number" && typeof row.high === "number")
      plot.append(svg("line", { x1: place(row.low), x2: place(row.high), y1: y, y2: y, class: "whisker" }));
    if (typeof row.value === "number")
      plot.append(svg("circle", { cx: place(row.value), cy: y, r: 5, class: row.faint ? "dot faint" : "dot" }, svg("title", {}, `${row.name}: ${exact(row.value)}`)),
        svg("text", { x: WIDTH - 2, y: y + 4, "text-anchor": "end", class: "value" }, exact(row.value)));
    for (const mark of row.marks || []) plot.append(svg("circle", { cx: place(mark), cy: y, r: 3, class: "mark" }));
  });
  return parts ? h("div", {}, plot, dotLegend(parts)) : plot;
}

/** Series of {name, points: [{x, y, low, high}]} over rounds; the x axis is logarithmic when it spans much. */
export function curves(series, { label, xLabel, yLabel = null, format = (v) => percent(v, 0), domain = null, marks = [] }) {
  const left = 56, right = WIDTH - 16, top = yLabel ? 28 : 12, bottom = 280;
  const points = series.flatMap((one) => one.points);
  const [first, last] = extent(points, (p) => p.x);
  const wide = first > 0 && last / first > 50;
  const x = (wide ? scaleLog() : scaleLinear()).domain([first, last > first ? last : first + 1]).range([left, right]);
  const y = scaleLinear().domain(domain || [0, max(points, (p) => p.high ?? p.y) || 1]).nice().range([bottom, top]);
  const plot = frame(bottom + 44, label);
  const counted = wide ? (tick) => Number.isInteger(Math.log10(tick)) : Number.isInteger; // rounds are whole
  const ticks = x.ticks(WIDTH / 110).filter(counted);
  plot.append(...grid(x, ticks, top, bottom, (tick) => tick.toLocaleString("en-US")));
  for (const tick of y.ticks(5))
    plot.append(svg("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }),
      svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end", class: "tick" }, format(tick)));
  plot.append(svg("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle", class: "axis" }, xLabel));
  if (yLabel) plot.append(svg("text", { x: 4, y: 13, class: "axis" }, yLabel));
  series.forEach((one, i) => {
    if (one.points.some((p) => typeof p.low === "number"))
      plot.append(svg("path", { d: area().x((p) => x(p.x)).y0((p) => y(p.low)).y1((p) => y(p.high))(one.points), class: `band ${colour(i)}` }));
    plot.append(svg("path", { d: line().x((p) => x(p.x)).y((p) => y(p.y))(one.points), class: `curve ${colour(i)}`, "stroke-dasharray": round(DASHES, i) }, svg("title", {}, one.name)));
  });
  for (const one of marks.filter((given) => given.x >= first && given.x <= last)) // what happened at a round
    plot.append(svg("g", { class: "event", transform: `translate(${x(one.x)},0)` }, svg("line", { y1: top, y2: bottom }),
      svg("text", { x: x(one.x) > (left + right) / 2 ? -5 : 5, y: top + 11, "text-anchor": x(one.x) > (left + right) / 2 ? "end" : "start" }, one.name)));
  return h("div", {}, plot, legend(series.map((one) => one.name), lineKey));
}

const lineKey = (i) => svg("svg", { viewBox: "0 0 28 12", class: "line-key", "aria-hidden": "true" },
  svg("path", { d: "M0 6H28", class: `curve ${colour(i)}`, "stroke-dasharray": round(DASHES, i) }));
const markKey = (i) => svg("svg", { viewBox: "-7 -7 14 14", class: "mark-key", "aria-hidden": "true" },
  svg("path", { d: mark(i, 100), class: `point ${colour(i)}` }));
const boxKey = (i) => h("span", { class: `key ${colour(i)}`, "aria-hidden": "true" });

function legend(names, key) {
  return h("ul", { class: "legend" }, names.map((name, i) => h("li", {}, key(i), name)));
}

/** Bars of several counts per bin, next to each other: {edges (n + 1), groups: [{name, counts (n)}]}. */
export function histogram({ edges, groups }, { label, xLabel, yLabel = null }) {
  const left = 56, right = WIDTH - 16, top = yLabel ? 28 : 12, bottom = 220;
  const x = scaleLinear().domain([edges[0], edges[edges.length - 1]]).range([left, right]);
  const y = scaleLinear().domain([0, max(groups.flatMap((group) => group.counts)) || 1]).nice().range([bottom, top]);
  const plot = frame(bottom + 44, label);
  for (const tick of y.ticks(4))
    plot.append(svg("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }),
      svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end", class: "tick" }, tick.toLocaleString("en-US")));
  for (const tick of x.ticks(WIDTH / 85))
    plot.append(svg("text", { x: x(tick), y: bottom + 16, "text-anchor": "middle", class: "tick" }, String(tick)));
  plot.append(svg("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle", class: "axis" }, xLabel));
  if (yLabel) plot.append(svg("text", { x: 4, y: 13, class: "axis" }, yLabel));
  groups.forEach((group, g) => group.counts.forEach((value, i) => {
    const width = (x(edges[i + 1]) - x(edges[i]) - 2) / groups.length;
    if (value > 0)
      plot.append(svg("rect", { x: x(edges[i]) + 1 + g * width, y: y(value), width, height: bottom - y(value), class: `bar ${colour(g)}` },
        svg("title", {}, `${group.name}: ${value.toLocaleString("en-US")}`)));
  }));
  return h("div", {}, plot, legend(groups.map((group) => group.name), boxKey));
}

/** The cell of a class where its name is put: the one farthest from all other classes and from the edge. */
function roomiestCell(cells, k) {
  const size = cells.length, depth = cells.map((row) => row.map((one) => (one === k ? Infinity : 0)));
  const at = (i, j) => (i < 0 || j < 0 || i >= size || j >= size ? 0 : depth[i][j]);
  const order = [...Array(size).keys()], back = [...order].reverse();
  for (const i of order) for (const j of order) depth[i][j] = Math.min(depth[i][j], 1 + Math.min(at(i - 1, j), at(i, j - 1), at(i - 1, j - 1)));
  for (const i of back) for (const j of back) depth[i][j] = Math.min(depth[i][j], 1 + Math.min(at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)));
  let best = null;
  for (const i of order) for (const j of order) if (depth[i][j] > (best ? depth[best[0]][best[1]] : 0)) best = [i, j];
  return best;
}

/** Squares and points of the plane: regions {size, x, y, points: [[x, y, class or null]]}, cells [[class]], the lowest y first. */
export function plane(regions, cells, classes, { label }) {
  const side = 280, { size } = regions, step = side / size;
  const x = scaleLinear().domain(regions.x).range([0, side]), y = scaleLinear().domain(regions.y).range([side, 0]);
  const plot = svg("svg", { viewBox: `-56 -8 ${side + 72} ${side + 54}`, role: "img", "aria-label": label, class: "plot plane" });
  cells.forEach((row, i) => {
    for (let from = 0, to = 1; from < size; from = to, to += 1) { // cells of one class next to each other are one strip
      while (to < size && row[to] === row[from]) to += 1;
      plot.append(svg("rect", { x: from * step, y: side - (i + 1) * step, width: (to - from) * step, height: step + 0.3, class: `region ${colour(row[from])}` }));
    }
  });
  for (const [px, py, k] of regions.points)
    plot.append(svg("path", { d: mark(k === null ? 0 : k, k < SERIES ? 17 : 28), transform: `translate(${x(px)},${y(py)})`,
      class: k === null ? "point" : `point ${colour(k)}` }));
  classes.forEach((name, k) => {
    const cell = roomiestCell(cells, k);
    if (cell) plot.append(svg("text", { x: Math.min(side - 16, Math.max(16, (cell[1] + 0.5) * step)), y: side - (cell[0] + 0.5) * step + 4, "text-anchor": "middle", class: "place" }, shorten(name, 90)));
  });
  for (const tick of x.ticks(5)) plot.append(svg("text", { x: x(tick), y: side + 18, "text-anchor": "middle", class: "tick" }, String(tick)));
  for (const tick of y.ticks(5)) plot.append(svg("text", { x: -6, y: y(tick) + 4, "text-anchor": "end", class: "tick" }, String(tick)));
  const [right, up] = regions.of === "map" ? ["first dimension of the map", "second dimension"] : ["column 1", "column 2"];
  plot.append(svg("text", { x: side / 2, y: side + 38, "text-anchor": "middle", class: "axis" }, right),
    svg("text", { transform: `translate(-44,${side / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis" }, up));
  return h("div", {}, plot, legend(classes, markKey));
}
