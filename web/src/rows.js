// A long table that can be sorted, searched and ticked; a hundred rows at a time are in the page.
import { h } from "./dom.js";
import { count } from "./format.js";

const PER_PAGE = 100;
const PRINTED = 30; // rows that are on paper; see page.css
const SHOWN_TEXT = 120; // a longer text is shown whole on click

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function textCell(text) {
  if (text.length <= SHOWN_TEXT) return text;
  return h("details", { class: "long" }, h("summary", {}, `${text.slice(0, SHOWN_TEXT)}…`), h("div", { class: "whole" }, text));
}

/**
 *   columns   [{key, title, format, number}]; rows: objects
 *   ticks     a Set of rows that the person ticked; without it there are no boxes. `ticked` is called when it changes
 */
export function rowsTable({ columns, rows, label, ticks, ticked }) {
  let order = { key: null, descending: false }, query = "", page = 0;
  const body = h("tbody"), status = h("p", { role: "status", class: "status" });
  const search = h("input", { type: "search", "aria-label": `search ${label}`, placeholder: "search", oninput: () => { query = search.value.toLowerCase(); page = 0; draw(); } });
  const texts = rows.map((row) => columns.map((column) => String(row[column.key] ?? "")).join("\n").toLowerCase());
  const heads = columns.map((column) => h("th", { scope: "col", "aria-sort": "none", class: column.number && "number" },
    h("button", { type: "button", class: "sort", onclick: () => sortBy(column) }, column.title)));

  function sortBy(column) {
    order = { key: column.key, descending: order.key === column.key && !order.descending };
    heads.forEach((head, i) => head.setAttribute("aria-sort", columns[i].key === order.key ? (order.descending ? "descending" : "ascending") : "none"));
    page = 0;
    draw();
  }

  function visible() {
    const found = rows.map((_, i) => i).filter((i) => !query || texts[i].includes(query));
    if (order.key) found.sort((a, b) => compare(rows[a][order.key], rows[b][order.key]) * (order.descending ? -1 : 1) || a - b);
    return found;
  }

  function tick(row, on) {
    if (on) ticks.add(row);
    else ticks.delete(row);
    ticked();
  }

  function line(row) {
    const name = columns.map((column) => row[column.key]).find((value) => value !== null && value !== undefined && value !== "");
    return h("tr", {}, ticks && h("td", {}, h("input", { type: "checkbox", "aria-label": `tick ${name}`, checked: ticks.has(row), onchange: (event) => tick(row, event.target.checked) })),
      columns.map((column) => {
        const value = row[column.key];
        const text = column.format ? column.format(value) : value ?? "";
        const wide = typeof text === "string" && text.length > 24 ? (text.length > 60 ? "text" : "words") : "short";
        return h("td", { class: column.number ? "number" : wide }, typeof text === "string" ? textCell(text) : text);
      }));
  }

  function draw() {
    const found = visible(), pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
    page = Math.min(page, pages - 1);
    body.replaceChildren(...found.slice(page * PER_PAGE, (page + 1) * PER_PAGE).map((i) => line(rows[i])));
    status.textContent = found.length === 0 ? "no rows match" : `rows ${count(page * PER_PAGE + 1)} to ${count(Math.min(found.length, (page + 1) * PER_PAGE))} of ${count(found.length)}`;
    earlier.disabled = page === 0;
    later.disabled = page === pages - 1;
  }

  const earlier = h("button", { type: "button", onclick: () => { page -= 1; draw(); } }, "previous");
  const later = h("button", { type: "button", onclick: () => { page += 1; draw(); } }, "next");
  const all = ticks && h("button", { type: "button", onclick: () => { for (const i of visible()) ticks.add(rows[i]); ticked(); draw(); } }, "tick all found");
  const none = ticks && h("button", { type: "button", onclick: () => { ticks.clear(); ticked(); draw(); } }, "untick all");
  const printed = rows.length > PRINTED && h("p", { class: "printed" }, `On paper: the first ${count(PRINTED)} of ${count(rows.length)} rows.`);
  draw();
  return h("div", { class: "rows" }, h("div", { class: "tools" }, search, earlier, later, all, none, status),
    h("div", { class: "scroll broad", tabindex: "0", role: "region", "aria-label": `table of ${label}` },
      h("table", {}, h("thead", {}, h("tr", {}, ticks && h("th", { scope: "col" }, h("span", { class: "hidden" }, "ticked")), heads)), body)), printed);
}
