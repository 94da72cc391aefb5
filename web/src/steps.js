// What to do after a report: commands that can be run as they stand, made of the words of the command that wrote it.
import { command, h, section } from "./dom.js";

const MADE = new Set(["--html", "-o", "--output", "--csv", "--latex"]); // options that name what the command wrote, with a value
const QUIET = new Set(["-q", "--quiet", "--json", "--verbose"]);

/** The words of a command as they were typed for the shell, each still in its quotes. */
const split = (line) => line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];

/** The command again: without what it wrote and the options of `drop` (each with its value), with the words of `add`. */
export function again(line, { drop = [], add = [] } = {}) {
  const words = split(line), kept = [];
  for (let i = 0; i < words.length; i += 1) {
    const name = words[i].split("=")[0];
    if (QUIET.has(name)) continue;
    if (MADE.has(name) || drop.includes(name)) i += words[i].includes("=") ? 0 : 1;
    else kept.push(words[i]);
  }
  return [...kept, ...add].join(" ");
}

const READING = new Set(["--format", "--label", "--bag", "--labels", "--weight", "--weights", "--soft-labels", "--columns", "--drop", "--id", "--missing-values",
  "--decimal", "--separator", "--max-categories", "--storage"]); // how data are read, each with a value

/** The options of a command that say how its data are read, which every other command needs as well; they begin with a space. */
export function reading(line) {
  const words = split(line), kept = [];
  words.forEach((word, i) => {
    if (!READING.has(word.split("=")[0])) return;
    kept.push(word);
    if (!word.includes("=") && i + 1 < words.length) kept.push(words[i + 1]);
  });
  return kept.map((word) => ` ${word}`).join("");
}

/** What follows the command's own words, as long as these are no options: files, mostly. */
export function operands(line, words) {
  const rest = split(line).slice(words), end = rest.findIndex((word) => word.startsWith("-"));
  return end < 0 ? rest : rest.slice(0, end);
}

/** `steps` are [sentence, command], or null. */
export function nextSteps(...steps) {
  const shown = steps.filter(Boolean);
  return shown.length > 0 && section("What to do next", h("ul", { class: "steps" }, shown.map(([sentence, line]) => h("li", {}, h("p", {}, sentence), line && command(line)))));
}
