// unconfuse train -v: cross-validation.
import { h, section, figure, plainTable } from "../dom.js";
import { dots } from "../plots.js";
import { percent, count, interval, seconds } from "../format.js";
import { cleanError, evaluation, facts, regionsOf } from "../facts.js";
import { again, nextSteps } from "../steps.js";

function settings(report) {
  return section("Settings", facts([["learner", report.learner], ["examples", count(report.examples)], ["folds", count(report.folds)], ["time", seconds(report.seconds)]]),
    h("details", {}, h("summary", {}, "All options of the learner"), facts(Object.entries(report.settings).map(([name, value]) => [name, String(value)]))));
}

export function trainPage(report, line) {
  const folds = report.fold_errors.map((error, i) => ({ name: `fold ${i + 1}`, value: error, faint: true }));
  const all = { name: "all folds", value: report.error, low: report.error_interval[0], high: report.error_interval[1] };
  return {
    title: `${report.learner}: ${percent(report.error)} errors in ${report.folds}-fold cross-validation (${interval(...report.error_interval)})`,
    content: [
      h("p", { class: "lead" }, `Each of ${count(report.examples)} examples was predicted by a model that had not seen it; ${percent(report.error)} of the predictions differ from the label (95% interval ${interval(...report.error_interval)}).`),
      cleanError(report.clean_error),
      section("Folds", figure("Error of all folds together, and of each.", dots([all, ...folds], { label: "error of each fold", xLabel: "error", parts: { dot: "all folds", whisker: "95% interval", faint: "one fold" } }),
        plainTable(["fold", "error"], [all, ...folds].map((fold) => [fold.name, percent(fold.value)])))),
      ...evaluation(report),
      regionsOf(report, "a model of all rows"),
      settings(report),
      line && nextSteps(["Learn from all examples and write the model:", again(line, { drop: ["-v", "--folds", "--cross-validation"], add: ["-o", "model.uc"] })]),
    ],
  };
}
