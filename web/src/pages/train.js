// unconfuse train -v: cross-validation.
import { section, figure, plainTable } from "../dom.js";
import { dots } from "../plots.js";
import { percent, count, interval } from "../format.js";
import { cleanError, evaluation, facts, regionsOf } from "../facts.js";

export function trainPage(report) {
  const folds = report.fold_errors.map((error, i) => ({ name: `fold ${i + 1}`, value: error }));
  const all = { name: "all folds", value: report.error, low: report.error_interval[0], high: report.error_interval[1] };
  return {
    title: `${report.learner}: ${percent(report.error)} errors in ${report.folds}-fold cross-validation (${interval(...report.error_interval)})`,
    content: [
      cleanError(report.clean_error),
      section("Folds", figure("Error of each fold, and of all with its 95% interval.", dots([all, ...folds], { label: "error of each fold", format: (v) => percent(v, 1) }),
        plainTable(["fold", "error"], folds.map((fold) => [fold.name, percent(fold.value)])))),
      ...evaluation(report),
      regionsOf(report, "a model of all rows"),
      section("Settings", facts([["examples", count(report.examples)], ...Object.entries(report.settings).map(([name, value]) => [name, String(value)])])),
    ],
  };
}
