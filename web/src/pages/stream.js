// unconfuse stream: one example at a time.
import { section, figure, plainTable } from "../dom.js";
import { curves, dots } from "../plots.js";
import { count, percent, seconds } from "../format.js";
import { facts, recallOverTime } from "../facts.js";

function overTime(report) {
  const shown = recallOverTime(report.curve, report.per_class, "recall of each class by round");
  return shown && section("Each class over time", shown);
}

export function streamPage(report) {
  const points = report.curve;
  const table = plainTable(["round", "right so far", "right since the round before"], points.map((p) => [count(p.round), percent(p.ratio_correct), percent(p.recent_ratio)]));
  const series = [
    { name: "right so far, with its 95% interval", points: points.map((p) => ({ x: p.round, y: p.ratio_correct, low: p.ratio_interval[0], high: p.ratio_interval[1] })) },
    { name: "right since the point before", points: points.map((p) => ({ x: p.round, y: p.recent_ratio })) },
  ];
  const marks = (report.drift || []).map((fall) => ({ x: fall.round, name: `drift: ${percent(fall.before, 0)} to ${percent(fall.after, 0)}` }));
  const classes = report.per_class.map((one) => ({ name: one.class, value: one.recall }));
  return {
    title: `${percent(report.ratio_correct)} of ${count(report.rounds)} proposals were right`,
    content: [
      points.length > 0 && section("Proposals that were right", figure("Each point looks back: since the beginning, and since the point before.", curves(series, { label: "right proposals by round", xLabel: "round", domain: [0, 1], marks }), table)),
      marks.length > 0 && section("Drift", figure("Rounds at which the share of right proposals was found to have fallen (ADWIN on right or wrong).",
        plainTable(["round", "right before", "right after"], report.drift.map((fall) => [count(fall.round), percent(fall.before), percent(fall.after)])))),
      overTime(report),
      classes.length > 0 && classes.length <= 60 && section("Each class", figure("Recall: the share of the rounds of a class in which it was proposed.", dots(classes, { label: "recall of each class" }),
        plainTable(["class", "rounds", "recall", "precision"], report.per_class.map((one) => [one.class, count(one.examples), percent(one.recall, 1), percent(one.precision, 1)])))),
      section("Figures", facts([["rounds", count(report.rounds)], ["right", count(report.correct)], ["time", seconds(report.seconds)],
        ["rounds before this run", report.rounds_before > 0 && count(report.rounds_before)], ["labels that are not among the classes", report.unknown_labels > 0 && count(report.unknown_labels)]])),
    ],
  };
}
