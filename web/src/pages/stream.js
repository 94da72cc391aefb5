// unconfuse stream: one example at a time.
import { section, figure, plainTable } from "../dom.js";
import { curves, dots } from "../plots.js";
import { count, interval, percent, seconds } from "../format.js";
import { facts, manyClasses, recallOverTime } from "../facts.js";
import { again, nextSteps, operands, reading } from "../steps.js";

function overTime(report) {
  const shown = recallOverTime(report.curve, report.per_class, "recall of each class by round");
  return shown && section("Each class over time", shown);
}

function classes(report) {
  const all = report.per_class;
  const many = manyClasses(all);
  if (all.length === 0 || many) return many;
  return section("Each class", figure("Recall: the share of the rounds of a class in which it was proposed.",
    dots(all.map((one) => ({ name: one.class, value: one.recall, low: one.recall_interval?.[0], high: one.recall_interval?.[1] })),
      { label: "recall of each class", xLabel: "recall", parts: { dot: "all rounds", whisker: all.some((one) => one.recall_interval) && "95% interval" } }),
    plainTable(["class", "rounds", "recall", "95% interval", "precision", "95% interval"], all.map((one) => [one.class, count(one.examples), percent(one.recall, 1),
      interval(one.recall_interval?.[0], one.recall_interval?.[1], 1), percent(one.precision, 1), interval(one.precision_interval?.[0], one.precision_interval?.[1], 1)]))));
}

/** What was learned, for later, and the other learners on the same data. */
function steps(line) {
  const [learner, data] = line ? operands(line, 2) : [];
  if (!learner || !data || data === "-") return null;
  const feedback = /--feedback[ =](full|partial)/.exec(line)?.[1]; // without it, it depends on the learner
  return nextSteps(["Keep what was learned, to predict with it or to go on with --resume:", again(line, { add: ["-o model.uc"] })],
    feedback && ["Which learner suits these data best:", `unconfuse compare ${data}${reading(line)} --feedback ${feedback} --html compare.html`]);
}

export function streamPage(report, line) {
  const points = report.curve, last = points[points.length - 1];
  const table = plainTable(["round", "right so far", "95% interval", "right since the round before", "95% interval"], points.map((p) =>
    [count(p.round), percent(p.ratio_correct), interval(...p.ratio_interval), percent(p.recent_ratio), interval(...(p.recent_interval ?? []))]));
  const series = [
    { name: "right so far", points: points.map((p) => ({ x: p.round, y: p.ratio_correct, low: p.ratio_interval[0], high: p.ratio_interval[1] })) },
    { name: "right since the point before", points: points.map((p) => ({ x: p.round, y: p.recent_ratio, low: p.recent_interval?.[0], high: p.recent_interval?.[1] })) },
  ];
  const marks = (report.drift || []).map((fall) => ({ x: fall.round, name: `drift: ${percent(fall.before, 0)} to ${percent(fall.after, 0)}` }));
  return {
    title: `${percent(report.ratio_correct)} of ${count(report.rounds)} proposals were right${last ? ` (${interval(...last.ratio_interval)})` : ""}`,
    content: [
      points.length > 0 && section("Proposals that were right", figure("Each point looks back: since the beginning, and since the point before. Bands are 95% intervals.",
        curves(series, { label: "right proposals by round", xLabel: "round", yLabel: "right proposals", domain: [0, 1], marks }), table)),
      marks.length > 0 && section("Drift", figure("Rounds at which the share of right proposals was found to have fallen (ADWIN on right or wrong).",
        plainTable(["round", "right before", "right after"], report.drift.map((fall) => [count(fall.round), percent(fall.before), percent(fall.after)])))),
      overTime(report), classes(report),
      section("Figures", facts([["rounds", count(report.rounds)], ["right", count(report.correct)], ["time", seconds(report.seconds)],
        ["rounds before this run", report.rounds_before > 0 && count(report.rounds_before)], ["labels that are not among the classes", report.unknown_labels > 0 && count(report.unknown_labels)]])),
      steps(line),
    ],
  };
}
