// Numbers as people read them.

const whole = new Intl.NumberFormat("en-US");

const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/; // the direction of the text after it

/** A name within a sentence, which goes on from left to right whatever the name does. */
export const isolated = (name) => (TURNS.test(name) ? `\u2068${name}\u2069` : name);

/** .0615 -> "6.15%"; missing ones are a dash. */
export function percent(share, digits = 2) {
  if (typeof share !== "number") return "–";
  return `${(100 * share).toFixed(digits).replace(/^-(0\.?0*)$/, "$1")}%`;
}

/** Probabilities of a model: none is exactly 0 or 1. */
export function likelihood(value) {
  if (value > 0.999) return "> 99.9%";
  return value < 0.001 ? "< 0.1%" : percent(value, 1);
}

export function count(value) {
  if (typeof value !== "number") return "–";
  return Number.isInteger(value) ? whole.format(value) : value.toPrecision(6).replace(/\.?0+$/, "");
}

/** [.04, .08] -> "4.00% to 8.00%" */
export function interval(low, high, digits = 2) {
  return typeof low === "number" && typeof high === "number" ? `${percent(low, digits)} to ${percent(high, digits)}` : "–";
}

export function real(value, digits = 4) {
  return typeof value === "number" ? Number(value.toPrecision(digits)).toString() : "–";
}

/** Times of a column in one unit, so that they can be compared at a glance. */
export function times(values) {
  const longest = Math.max(...values.filter((value) => typeof value === "number"), 0);
  const [unit, size] = longest < 1 ? ["ms", 0.001] : longest < 600 ? ["s", 1] : ["min", 60];
  return values.map((value) => (typeof value === "number" ? `${real(value / size, 3)} ${unit}` : "–"));
}

export function seconds(value) {
  if (typeof value !== "number") return "–";
  if (value < 0.1) return `${real(1000 * value, 3)} ms`;
  return value < 120 ? `${real(value, 3)} s` : `${real(value / 60, 3)} min`;
}

/** A p value in a sentence: "p < 0.001" or "p = 0.012". */
export function pValue(value) {
  const text = probability(value);
  return `p ${text.startsWith("<") ? "" : "= "}${text}`;
}

/** p values, which are seldom worth more than one digit. */
export function probability(value) {
  if (typeof value !== "number") return "–";
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}
