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

function grid(x, ticks, top, bottom, format) {
  return ticks.map((tick) => svg("g", { transform: `translate(${x(tick)},0)` },
    svg("line", { y1: top, y2: bottom, class: "grid" }),
    svg("text", { y: bottom + 16, "text-anchor": "middle", class: "tick" }, format(tick))));
}

function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Shares with as many digits as tell them apart where they span this much. */
function shares(span) {
  const digits = span >= 0.05 ? 0 : span >= 0.005 ? 1 : 2;
  return (v) => percent(v, digits);
}

/** Rows of {name, value, low, high, marks: [..], faint}: a dot each, its interval, and single values below it. */
export function dots(rows, { label, format = null }) {
  const left = Math.round(0.28 * WIDTH), right = WIDTH - 24, step = 30, top = 10, bottom = top + step * rows.length;
  const values = rows.flatMap((row) => [row.value, row.low, row.high, ...(row.marks || [])]).filter((v) => typeof v === "number");
  const [low, high] = extent(values.length ? values : [0, 1]);
  const x = scaleLinear().domain(low === high ? [low - 0.01, high + 0.01] : [low, high]).nice().range([left, right]);
  const plot = frame(bottom + 26, label);
  const shown = format || shares(x.domain()[1] - x.domain()[0]);
  plot.append(...grid(x, x.ticks(WIDTH / 110), top, bottom, shown));
  rows.forEach((row, i) => {
    const y = top + step * (i + 0.5);
    plot.append(svg("text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "name" }, svg("title", {}, row.name), shorten(row.name, Math.floor(left / 8))));
    for (const mark of row.marks || []) plot.append(svg("circle", { cx: x(mark), cy: y, r: 3, class: "mark" }));
    if (typeof row.low === "number" && typeof row.high === "number")
      plot.append(svg("line", { x1: x(row.low), x2: x(row.high), y1: y, y2: y, class: "whisker" }));
    if (typeof row.value === "number")
      plot.append(svg("circle", { cx: x(row.value), cy: y, r: 5, class: row.faint ? "dot faint" : "dot" }, svg("title", {}, `${row.name}: ${shown(row.value)}`)));
  });
  return plot;
}

/** Series of {name, points: [{x, y, low, high}]} over rounds; the x axis is logarithmic when it spans much. */
export function curves(series, { label, xLabel, format = (v) => percent(v, 0), domain = null, marks = [] }) {
  const left = 56, right = WIDTH - 16, top = 12, bottom = 280;
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
export function histogram({ edges, groups }, { label, xLabel }) {
  const left = 56, right = WIDTH - 16, top = 12, bottom = 220;
  const x = scaleLinear().domain([edges[0], edges[edges.length - 1]]).range([left, right]);
  const y = scaleLinear().domain([0, max(groups.flatMap((group) => group.counts)) || 1]).nice().range([bottom, top]);
  const plot = frame(bottom + 44, label);
  for (const tick of y.ticks(4))
    plot.append(svg("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }),
      svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end", class: "tick" }, tick.toLocaleString("en-US")));
  for (const tick of x.ticks(WIDTH / 85))
    plot.append(svg("text", { x: x(tick), y: bottom + 16, "text-anchor": "middle", class: "tick" }, String(tick)));
  plot.append(svg("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle", class: "axis" }, xLabel));
  groups.forEach((group, g) => group.counts.forEach((value, i) => {
    const width = (x(edges[i + 1]) - x(edges[i]) - 2) / groups.length;
    if (value > 0)
      plot.append(svg("rect", { x: x(edges[i]) + 1 + g * width, y: y(value), width, height: bottom - y(value), class: `bar ${colour(g)}` },
        svg("title", {}, `${group.name}: ${value.toLocaleString("en-US")}`)));
  }));
  return h("div", {}, plot, legend(groups.map((group) => group.name), boxKey));
}

/** The cell of a class where its name is put: the one nearest to the middle of all its cells. */
function middleCell(cells, k) {
  const own = cells.flatMap((row, i) => row.flatMap((one, j) => (one === k ? [[i, j]] : [])));
  if (own.length === 0) return null;
  const [y, x] = [0, 1].map((axis) => own.reduce((total, cell) => total + cell[axis], 0) / own.length);
  return own.reduce((best, cell) => (Math.hypot(cell[0] - y, cell[1] - x) < Math.hypot(best[0] - y, best[1] - x) ? cell : best));
}

/** Squares and points of the plane: regions {size, x, y, points: [[x, y, class or null]]}, cells [[class]], the lowest y first. */
export function plane(regions, cells, classes, { label }) {
  const side = 280, { size } = regions, step = side / size;
  const x = scaleLinear().domain(regions.x).range([0, side]), y = scaleLinear().domain(regions.y).range([side, 0]);
  const plot = svg("svg", { viewBox: `-44 -8 ${side + 60} ${side + 36}`, role: "img", "aria-label": label, class: "plot plane" });
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
    const cell = middleCell(cells, k);
    if (cell) plot.append(svg("text", { x: Math.min(side - 16, Math.max(16, (cell[1] + 0.5) * step)), y: side - (cell[0] + 0.5) * step + 4, "text-anchor": "middle", class: "place" }, shorten(name, 10)));
  });
  for (const tick of x.ticks(5)) plot.append(svg("text", { x: x(tick), y: side + 18, "text-anchor": "middle", class: "tick" }, String(tick)));
  for (const tick of y.ticks(5)) plot.append(svg("text", { x: -6, y: y(tick) + 4, "text-anchor": "end", class: "tick" }, String(tick)));
  return h("div", {}, plot, legend(classes, markKey));
}
