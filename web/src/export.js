// What a person ticked, as files: CSV that `audit --gold` reads back, Label Studio tasks, Argilla records.
import { h } from "./dom.js";
import { count } from "./format.js";

function quoted(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

const HEADS = ["row", "id", "given_label", "predicted_label", "label_score", "true_label"];

/** A column of the table that is called as one of these is left out: the file would have two of that name. */
function asCsv(rows) {
  const own = [...new Set(rows.flatMap((row) => Object.keys(row.columns || {})))].filter((name) => !HEADS.includes(name.trim()));
  const heads = [...HEADS, ...own];
  const line = (row) => [row.row, row.id, row.given, row.suggested, 1 - row.p_wrong, "", ...own.map((name) => row.columns?.[name])].map(quoted).join(",");
  return `${[heads.map(quoted).join(","), ...rows.map(line)].join("\r\n")}\r\n`;
}

const shown = (row) => ({ ...row.columns, row: row.row, id: row.id ?? null, given_label: row.given });

function asLabelStudio(rows) {
  return JSON.stringify(rows.map((row) => ({
    data: shown(row),
    predictions: [{ model_version: "unconfuse audit", score: row.p_wrong,
      result: [{ from_name: "true_label", to_name: "text", type: "choices", value: { choices: [row.suggested] } }] }],
  })), null, 1);
}

function asArgilla(rows) {
  return rows.map((row) => JSON.stringify({
    id: String(row.id ?? row.row), fields: Object.fromEntries(Object.entries(shown(row)).map(([name, value]) => [name, value === null ? "" : String(value)])),
    suggestions: [{ question_name: "true_label", value: row.suggested, score: row.p_wrong, agent: "unconfuse audit" }],
  })).join("\n") + "\n";
}

function save(name, type, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const formats = [
  ["CSV", "checked.csv", "text/csv", asCsv],
  ["Label Studio tasks", "label-studio.json", "application/json", asLabelStudio],
  ["Argilla records", "argilla.jsonl", "application/x-ndjson", asArgilla],
];

/** Buttons that save the ticked rows. */
export function exporters(ticks) {
  const buttons = formats.map(([title, name, type, make]) =>
    h("button", { type: "button", disabled: true, onclick: () => save(name, type, make([...ticks].sort((a, b) => a.row - b.row))) }, `save as ${title}`));
  const status = h("span", { role: "status" }, "no rows are ticked");
  return {
    node: h("div", { class: "tools export" }, buttons, status,
      h("p", {}, "Fill in true_label and give the file to unconfuse audit --gold.")),
    changed() {
      for (const button of buttons) button.disabled = ticks.size === 0;
      status.textContent = ticks.size === 0 ? "no rows are ticked" : `${count(ticks.size)} ${ticks.size === 1 ? "row is" : "rows are"} ticked`;
    },
  };
}
