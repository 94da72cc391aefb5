// unconfuse audit: which labels are wrong.
import { h, section, figure, plainTable, words } from "../dom.js";
import { dots } from "../plots.js";
import { heatMap } from "../matrix.js";
import { rowsTable } from "../rows.js";
import { exporters } from "../export.js";
import { cleanError, facts } from "../facts.js";
import { again, nextSteps, operands } from "../steps.js";
import { count, interval, isolated, likelihood, percent } from "../format.js";

const LONG = 60; // characters; columns of longer texts are what a reader judges a row by, and come first
const MOST_PAIRS = 12, MOST_ANNOTATORS = 30;

const labelsOf = (report) => report.labels ?? report.annotations ?? report.examples;

function ownColumns(issues) {
  const names = [...new Set(issues.flatMap((issue) => Object.keys(issue.columns || {})))];
  const long = new Set(names.filter((name) => issues.slice(0, 100).some((issue) => String(issue.columns?.[name] ?? "").length > LONG)));
  // Columns of the table have keys of their own: one called "row" or "given" must not take the place of what the audit says.
  return [...names.filter((name) => long.has(name)), ...names.filter((name) => !long.has(name))].map((name) => ({ key: `column ${name}`, title: name }));
}

function suspects(report) {
  const own = ownColumns(report.issues);
  const likelier = ({ given, suggested }) => (given === suggested ? "–" : suggested); // a label may be flagged although no class is more likely
  const rows = report.issues.map((issue) => ({ ...issue, likelier: likelier(issue), ...Object.fromEntries(own.map(({ key, title }) => [key, issue.columns?.[title]])) }));
  const repeats = ({ key }) => ["id", "given"].some((said) => rows.every((row) => row[key] === row[said]));
  const has = (key) => report.issues.some((issue) => issue[key] !== undefined && issue[key] !== null);
  const columns = [
    { key: "row", title: "row", number: true, format: count },
    has("id") && { key: "id", title: "id" },
    has("annotator") && { key: "annotator", title: "annotator" },
    { key: "given", title: "label" },
    { key: "likelier", title: "suggested" },
    { key: "p_wrong", title: "probably wrong", number: true, format: likelihood },
    ...own.filter((column) => !repeats(column)),
  ].filter(Boolean);
  const ticks = new Set(), bar = exporters(ticks, report.classes);
  const cut = report.flagged > report.issues.length
    ? h("p", {}, `These are the ${count(report.issues.length)} most suspicious of ${count(report.flagged)} flagged labels; the CSV file of the command (-o) has all of them.`) : null;
  return section("Suspicious labels, the worst first", cut, rowsTable({ columns, rows, label: "suspicious labels", ticks, ticked: bar.changed }), bar.node);
}

function matrix(report) {
  const { noise_matrix: C, noise_low: low, noise_high: high, classes } = report;
  if (!C) return null;
  return section("How labels are confused", heatMap({
    classes, rows: "label", columns: "true class", shares: C, names: ["labelled as it is", "as another class"],
    text: (p, q) => [percent(C[p][q], 1), low && high && h("small", {}, `${percent(low[p][q], 0)}–${percent(high[p][q], 0)}`)],
    title: (p, q) => `true ${classes[q]} labelled ${classes[p]}: ${percent(C[p][q], 1)}${low && high ? ` (${interval(low[p][q], high[p][q], 1)})` : ""}`,
    caption: "Each column is a true class and sums to 100%: how its examples are labelled.", small: low && high ? " Small: 95% intervals." : "",
  }));
}

function pairs(report) {
  const worst = (report.class_pairs || []).slice(0, MOST_PAIRS), n = labelsOf(report), labels = (share) => count(Math.round(share * n));
  if (!worst.length) return null;
  return section("Where labels go wrong", figure("The share of all labels that are the one class although another is true.",
    dots(worst.map((one) => ({ name: `${isolated(one.given)}, really ${isolated(one.true)}`, value: one.estimate, low: one.low, high: one.high })),
      { label: "pairs of classes by share of wrong labels", xLabel: "share of all labels", parts: { dot: "estimate", whisker: "95% interval" } }),
    plainTable(["label", words("really"), "share of all labels", "95% interval", "labels, about"],
      worst.map((one) => [one.given, one.true, percent(one.estimate, 1), interval(one.low, one.high, 1), labels(one.estimate)]))));
}

function annotators(report) {
  if (!report.annotators) return null;
  const columns = [{ key: "name", title: "annotator" }, { key: "labels", title: "labels", number: true, format: count }, { key: "accuracy", title: "accuracy", number: true, format: (v) => percent(v, 1) },
    { key: "low", title: "at least", number: true, format: (v) => percent(v, 1) }, { key: "high", title: "at most", number: true, format: (v) => percent(v, 1) }];
  const worst = [...report.annotators].sort((a, b) => a.accuracy - b.accuracy), shown = worst.slice(0, MOST_ANNOTATORS);
  const which = shown.length < worst.length ? ` Drawn are the ${shown.length} of the lowest accuracy; the table has all ${worst.length}.` : "";
  return section("Annotators", figure(`Accuracy: the share of an annotator's labels that are the true class.${which}`,
    dots(shown.map((one) => ({ name: `${one.name} (${count(one.labels)})`, value: one.accuracy, low: one.low, high: one.high })),
      { label: "accuracy of the annotators", xLabel: "accuracy; in brackets the number of labels", parts: { dot: "estimate", whisker: "95% interval" } }), null),
  rowsTable({ columns, rows: worst, label: "annotators" }));
}

/** What the checks have shown about the flags. */
function checked({ suspicion }) {
  if (!suspicion) return null;
  return section("What the checked rows show", h("p", { class: "lead" },
    `Of ${count(suspicion.checked)} checked labels ${count(suspicion.wrong)} are wrong. ${count(suspicion.flagged)} of the checked labels were flagged without the checks; ${count(suspicion.both)} of these are wrong indeed.`),
  facts([["flags that are right", percent(suspicion.precision, 1), "precision"], ["wrong labels that are flagged", percent(suspicion.recall, 1), "recall"],
    ["consensus that is right", typeof suspicion.consensus_right === "number" && count(suspicion.consensus_right), "of the checked rows"]]));
}

/** Rows that the command proposes to look at. */
function proposals(report) {
  const { drawn = [] } = report.check ?? {}, questions = report.ask_again ?? [];
  const id = (rows) => rows.some((row) => row.id) && { key: "id", title: "id" }, row = { key: "row", title: "row", number: true, format: count };
  const draws = [row, id(drawn), { key: "given", title: "label" }, { key: "predicted", title: "predicted" }, { key: "p_wrong", title: "probably wrong", number: true, format: likelihood }].filter(Boolean);
  const asks = [row, id(questions), { key: "annotator", title: "ask" }, { key: "probability", title: "probability of the consensus", number: true, format: likelihood }].filter(Boolean);
  return [
    drawn.length > 0 && section("Rows to check", h("p", {}, "Drawn so that a few answers tell the error of the model."), rowsTable({ columns: draws, rows: drawn, label: "rows to check" })),
    questions.length > 0 && section("Rows to ask about again", h("p", {}, "The rows whose answers would tell most, and whom to ask; the probability is that of the class which is now the likeliest."), rowsTable({ columns: asks, rows: questions, label: "rows to ask about" })),
  ];
}

function calibration(report) {
  const bins = report.calibration;
  if (!bins?.length) return null;
  const told = report.calibration_of !== "labels left out", said = told ? "share found wrong" : "share that is another class";
  const caption = told ? "Checked rows by the probability of being wrong that they were given. Where a circle lies within the line, the probabilities can be believed there."
    : "Nobody has checked these labels, but each can be left out: the share that is not the class which the other rows predict, by the probability that was given for it. Where a circle lies within the line, the probabilities can be believed there.";
  const mean = (bin) => bin.expected ?? (bin.low + bin.high) / 2;
  return section("How well the suspicion is calibrated", figure(caption,
    dots(bins.map((bin) => ({ name: `${percent(bin.low, 0)} to ${percent(bin.high, 0)} (${count(bin.rows)} rows)`, value: bin.wrong, low: bin.interval?.[0], high: bin.interval?.[1], marks: [mean(bin)] })),
      { label: "calibration", domain: [0, 1], xLabel: said, parts: { dot: said, whisker: "95% interval", mark: "mean probability given" } }),
    plainTable(["probability", "rows", "mean probability", said, "95% interval"],
      bins.map((bin) => [interval(bin.low, bin.high, 0), count(bin.rows), percent(mean(bin), 1), percent(bin.wrong, 1), interval(bin.interval?.[0], bin.interval?.[1], 1)]))));
}

/** The name of a second file next to the first: repaired.csv for data.csv. */
function beside(path, name) {
  const file = (path ?? "").replaceAll("'", "").split("/").pop(), at = file.indexOf(".");
  return name + (/^\.[\w.]+$/.test(file.slice(at)) && at > 0 ? file.slice(at) : ".csv");
}

function steps(report, line) {
  if (!line) return null;
  const [data] = operands(line, 2), crowd = Boolean(report.annotators), repeated = again(line, { drop: ["--gold", "--check", "--check-out", "--check-worst"], add: ["--gold", "checked.csv", "--html", "checked.html"] });
  const ready = !report.wrong || report.flagged === 0;
  return nextSteps(
    !ready && [`Look at the labels above, tick those that you have judged, save them as CSV and fill in the column true_label. The audit takes your answers as certain${report.suspicion ? "; put the earlier ones into the same file" : ""}:`, repeated],
    !crowd && !ready && ["Or take the suggestions as they are, and write the data with flagged labels repaired:", again(line, { drop: ["--clean-out"], add: ["--clean-out", beside(data, "repaired")] })],
    crowd && ["Write the most probable class of every row:", again(line, { drop: ["--consensus-out"], add: ["--consensus-out", "consensus.csv"] })],
    ["Write a model that predicts true classes:", again(line, { drop: ["--model-out"], add: ["--model-out", "model.uc"] })]);
}

const ASSUMED = {
  structure: "Examples of one class resemble each other more than those of different classes; where they do not, wrong labels cannot be told from hard examples. Labels that a model wrote, and that are wrong wherever that model errs, are not found.",
  labels: "Examples of one class do not look alike enough to overrule labels: the labels were believed first, and corrected once. Labels that are wrong in the same way everywhere are not found.",
  crowd: "Annotators err independently of each other. A mistake that all of them make can show in the features alone.",
  probabilities: "The model whose probabilities were given had not seen the labels: each is judged by a model that was trained without it.",
};

/** What the labels were judged by. */
function assumed(report) {
  if (report.annotators) return ASSUMED.crowd;
  return ASSUMED[report.mode ?? "probabilities"];
}

export function auditPage(report, line) {
  const { estimate, low, high } = report.wrong, n = labelsOf(report), labels = (share) => count(Math.round(share * n));
  const by = report.annotators ? ` by ${count(report.annotators.length)} annotators` : "";
  return {
    title: `About ${percent(estimate, 1)} of ${count(n)} labels${by} are wrong (${percent(low, 1)} to ${percent(high, 1)})`,
    content: [
      h("p", { class: "lead" }, `That is about ${labels(estimate)} labels (95% interval ${labels(low)} to ${labels(high)}). ${count(report.flagged)} labels are flagged: look at these first.`),
      suspects(report), steps(report, line), checked(report), ...proposals(report), matrix(report), pairs(report), annotators(report), calibration(report),
      cleanError(report.clean_error, report.clean_error_of === "consensus" ? "the consensus classes" : "the predictions of a model made of these labels"),
      section("What was assumed", facts([["mode", report.mode], ["examples", count(report.examples)], ["classes", count(report.classes.length)]]),
        h("p", {}, assumed(report))),
    ],
  };
}
