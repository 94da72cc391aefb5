// unconfuse stream: one example at a time.
import { section, figure, plainTable } from "../dom.js";
import { curves, dots } from "../plots.js";
import { count, percent, seconds } from "../format.js";
import { facts } from "../facts.js";

const SHOWN = 8; // colours of curves

/** The recall of each class from point to point; drawn are those that end up worst. */
function overTime(report) {
  const points = report.curve.filter((point) => point.recent_recall);
  if (points.length < 2) return null;
  const recall = (point, k) => point.recent_recall[k] ?? null;
  const all = report.per_class.map((one, k) => ({ name: one.class, recall: one.recall, k })).filter(({ k }) => points.some((point) => recall(point, k) !== null));
  const worst = [...all].sort((a, b) => a.recall - b.recall).slice(0, SHOWN);
  const series = worst.map(({ name, k }) => ({ name, points: points.filter((point) => recall(point, k) !== null).map((point) => ({ x: point.round, y: recall(point, k) })) }));
  const which = all.length > SHOWN ? ` Drawn are the ${SHOWN} classes of the lowest recall; the table has all.` : "";
  return section("Each class over time", figure(`Recall of each class since the point before.${which}`, curves(series, { label: "recall of each class by round", xLabel: "round", domain: [0, 1] }),
    plainTable(["round", ...all.map(({ name }) => name)], points.map((point) => [count(point.round), ...all.map(({ k }) => percent(recall(point, k), 1))]))));
}

export function streamPage(report) {
  const points = report.curve;
  const table = plainTable(["round", "right so far", "right since the round before"], points.map((p) => [count(p.round), percent(p.ratio_correct), percent(p.recent_ratio)]));
  const series = [
    { name: "right so far, with its 95% interval", points: points.map((p) => ({ x: p.round, y: p.ratio_correct, low: p.ratio_interval[0], high: p.ratio_interval[1] })) },
    { name: "right since the point before", points: points.map((p) => ({ x: p.round, y: p.recent_ratio })) },
  ];
  const classes = report.per_class.map((one) => ({ name: one.class, value: one.recall }));
  return {
    title: `${percent(report.ratio_correct)} of ${count(report.rounds)} proposals were right`,
    content: [
      points.length > 0 && section("Proposals that were right", figure("Each point looks back: since the beginning, and since the point before.", curves(series, { label: "right proposals by round", xLabel: "round", domain: [0, 1] }), table)),
      overTime(report),
      classes.length > 0 && classes.length <= 60 && section("Each class", figure("Recall: the share of the rounds of a class in which it was proposed.", dots(classes, { label: "recall of each class" }),
        plainTable(["class", "rounds", "recall", "precision"], report.per_class.map((one) => [one.class, count(one.examples), percent(one.recall, 1), percent(one.precision, 1)])))),
      section("Figures", facts([["rounds", count(report.rounds)], ["right", count(report.correct)], ["time", seconds(report.seconds)],
        ["rounds before this run", report.rounds_before > 0 && count(report.rounds_before)], ["labels that are not among the classes", report.unknown_labels > 0 && count(report.unknown_labels)]])),
    ],
  };
}
