// Elements of a page. Text from the data becomes text nodes and nothing else: there is no way to write HTML here.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      node.append(child instanceof Node ? child : String(child));
  return node;
}

/** h("p", {class: "lead"}, "text", h("b", {}, "more")) */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

let made = 0;
/** An id that no other element of the page has. */
export function fresh(prefix) {
  made += 1;
  return `${prefix}-${made}`;
}

/** A titled part of a page. */
export function section(title, ...children) {
  const id = fresh("section");
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

/** A picture, said in words, with the table of what it shows behind it. */
export function figure(caption, picture, table) {
  return h("figure", {}, h("div", { class: "picture" }, picture), h("figcaption", {}, caption),
    table && h("details", {}, h("summary", {}, "The same as a table"), scrolling(caption, table)));
}

/** One choice out of several: calls `chosen` with its key, at first with the first. */
export function choice(label, options, chosen) {
  const name = fresh("choice");
  const group = h("fieldset", { class: "choice" }, h("legend", {}, label),
    options.map(([key, text], i) => h("label", {},
      h("input", { type: "radio", name, value: key, checked: i === 0, onchange: () => chosen(key) }), text)));
  chosen(options[0][0]);
  return group;
}

const NUMBER = /^([<>]? ?[-–]?[\d.,]*( ?(%|s|ms|min))?)( to .*)?( \(.*\))?$/;

/** The head of a column of words, such as classes, which stand on the left even where all of them are numbers. */
export const words = (title) => ({ title, words: true });

/** A plain table: heads, and rows of cells that are text or nodes; columns of numbers stand on the right. */
export function plainTable(heads, rows) {
  const titles = heads.map((head) => head.title ?? head);
  const kind = heads.map((head, i) => i > 0 && !head.words && rows.every((row) => NUMBER.test(row[i]?.textContent ?? row[i] ?? "")) && "number");
  return h("table", {}, h("thead", {}, h("tr", {}, titles.map((head, i) => h("th", { scope: "col", class: kind[i] }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) =>
      i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: kind[i] }, cell))))));
}

/** A table that may be wider than the page. */
export function scrolling(label, table) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

/** A command with a button that copies it; where the browser refuses, the command is selected, to be copied by hand. */
export function command(text) {
  const spaced = text.split(" ").flatMap((word, i) => [i > 0 && " ", h("span", {}, word)]); // lines break between words only
  const line = h("pre", { class: "command", tabindex: "0" }, spaced), status = h("span", { role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(line);
      status.textContent = "selected: copy it with Ctrl+C";
    }
  };
  return h("div", { class: "commandline" }, line, h("div", { class: "tools" }, h("button", { type: "button", "aria-label": `copy the command ${text.slice(0, 60)}`, onclick: copy }, "copy"), status));
}
