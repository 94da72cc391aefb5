// A report: reads the command's JSON from the page and draws the page of that command.
import { command, h } from "./dom.js";
import { auditPage } from "./pages/audit.js";
import { comparePage } from "./pages/compare.js";
import { evaluatePage } from "./pages/evaluate.js";
import { experimentPage } from "./pages/experiment.js";
import { noisePage } from "./pages/noise.js";
import { servePage } from "./pages/serve.js";
import { streamPage } from "./pages/stream.js";
import { trainPage } from "./pages/train.js";

const pages = {
  audit: auditPage,
  compare: comparePage,
  evaluate: evaluatePage,
  experiment: experimentPage,
  "noise estimate": noisePage,
  serve: servePage,
  stream: streamPage,
  train: trainPage,
};

function footer(source, line) {
  if (source.dataset.page === "serve") return h("footer", {}, h("p", {}, `unconfuse ${source.dataset.version}. This page shows the service as it is; it keeps nothing.`));
  return h("footer", {}, h("h2", {}, "How this was made"), line ? [h("p", {}, "This command repeats it:"), command(line)] : h("p", {}, `By ${source.dataset.command}.`),
    h("p", {}, `unconfuse ${source.dataset.version}. This file needs no network; what it shows is inside it as JSON.`));
}

const source = document.getElementById("report");
const line = /^unconfuse [a-z]/.test(source.dataset.command) ? source.dataset.command : null; // Python's pages have no command
const { title, content } = pages[source.dataset.page](JSON.parse(source.textContent), line);
document.title = `${title} – unconfuse`;
document.getElementById("page").replaceChildren(h("header", {}, h("p", { class: "brand" }, `unconfuse ${source.dataset.page}`), h("h1", {}, title)), ...content.filter(Boolean), footer(source, line));
