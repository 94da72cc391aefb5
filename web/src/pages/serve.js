// unconfuse serve: what the service is doing, live. The page asks for the token when one is needed and keeps it in memory only.
import { h, section, figure, plainTable } from "../dom.js";
import { curves, dots } from "../plots.js";
import { count, interval, percent } from "../format.js";
import { confusionMap } from "../matrix.js";
import { facts } from "../facts.js";

const MOST_POINTS = 600;
const history = new Map(); // name -> points of the curves, since the page was opened
let token = "";

/** Wilson's 95% interval of a ratio. */
function band(right, n) {
  if (n === 0) return [0, 1];
  const z = 1.96, p = right / n, middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const half = z * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

function remember(model) {
  const points = history.get(model.name) ?? [];
  const last = points[points.length - 1];
  if (model.answered > 0 && (!last || last.x !== model.answered)) {
    const [low, high] = band(model.right, model.answered), recent = Math.min(model.answered, 1000);
    const [recentLow, recentHigh] = band(model.recent_ratio_correct * recent, recent);
    points.push({ x: model.answered, y: model.ratio_correct, low, high, recent: model.recent_ratio_correct, recentLow, recentHigh });
    if (points.length > MOST_POINTS) points.splice(1, 1);
  }
  history.set(model.name, points);
  return points;
}

/** A share of n with its interval; without any there is none. */
function shareOf(share, n) {
  return n > 0 ? `${percent(share)} (95% interval ${interval(...band(share * n, n), 1)})` : "–";
}

function drift(model) {
  return model.drift && h("p", { class: "warning", role: "status" },
    `Drift: at row ${count(model.drift.sequence)} the share of right proposals fell from ${percent(model.drift.before)} to ${percent(model.drift.after)}.`);
}

function shareOfProposals(model, name) {
  return model.proposals > 0 ? model.proposed[name] / model.proposals : 0;
}

function modelSection(model) {
  const points = remember(model);
  const classes = model.classes.map((name) => ({ name, low: 0, high: shareOfProposals(model, name), value: shareOfProposals(model, name) })); // a line from 0
  const labelled = model.confusion?.some((row) => row.some((n) => n > 0));
  const series = [
    { name: "right so far, with its 95% interval", points: points.map(({ x, y, low, high }) => ({ x, y, low, high })) },
    { name: "right of the last 1,000, with its 95% interval", points: points.map((p) => ({ x: p.x, y: p.recent, low: p.recentLow, high: p.recentHigh })) },
  ];
  return section(`Model ${model.name}`,
    facts([["learner", model.learner], ["mode", model.mode], ["proposals", count(model.proposals)], ["answered", count(model.answered)],
      ["right so far", shareOf(model.ratio_correct, model.answered)],
      ["right of the last 1,000", shareOf(model.recent_ratio_correct, Math.min(model.answered, 1000))],
      ["waiting for feedback", count(model.waiting)], ["expired", count(model.expired)], ["agreement with the baseline", model.agreement !== null && percent(model.agreement)],
      ["rows in the journal", count(model.sequence)]]),
    drift(model),
    points.length > 1 && figure("By the number of answers, since this page was opened.", curves(series, { label: `right proposals of ${model.name}`, xLabel: "answers", domain: [0, 1],
      marks: model.drift ? [{ x: model.drift.answers, name: `drift: ${percent(model.drift.before, 0)} to ${percent(model.drift.after, 0)}` }] : [] })),
    model.proposals > 0 && classes.length <= 60 && figure("How often each class was proposed.", dots(classes, { label: `proposals of ${model.name} by class` }),
      plainTable(["class", "proposals"], model.classes.map((name) => [name, count(model.proposed[name])]))),
    labelled && classes.length <= 30 && confusionMap(model.confusion, model.classes));
}

function eventText(event) {
  if (event.kind === "proposal") return `${event.id}: ${event.class}`;
  if (event.kind === "feedback") return `${event.id}: ${event.label ? `the label is ${event.label}` : event.right ? "right" : "wrong"}`;
  if (event.kind === "expiry") return `row ${count(event.event)} was not answered in time`;
  if (event.kind === "rollback") return `to row ${count(event.to)}`;
  return `${event.definition.learner}: ${event.definition.classes.slice(0, 5).join(", ")}${event.definition.classes.length > 5 ? ", …" : ""}`;
}

/** Newest first, whatever the model; rows of a model that are of one millisecond stay in their order. */
function eventTable(events) {
  if (events.length === 0) return h("p", {}, "Nothing has happened yet.");
  const newest = events.slice().reverse().sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table of the last events" },
    plainTable(["time", "row", "model", "kind", "what"], newest.map((e) => [clock(new Date(e.time)), count(e.sequence), e.model, e.kind, eventText(e)])));
}

function clock(time) {
  return time.toTimeString().slice(0, 8);
}

/** What to type first. */
function firstModel() {
  return [h("p", {}, "There is no model yet. This makes one:"),
    h("pre", { class: "scroll", tabindex: "0" }, `curl -X PUT ${new URL("v1/models/first", document.baseURI)}${token ? ' -H "Authorization: Bearer TOKEN"' : ""} -d '{"classes":["a","b"]}'`)];
}

/** Of the requests of the last second; without any there is none. */
function latency(live, seconds) {
  return live.requests_per_second > 0 ? `${(1000 * seconds).toFixed(1)} ms` : "–";
}

/** What a reader has opened, chosen and focused is so again after `change`, unless the page has other parts by then. */
function keepingChoices(place, change) {
  const details = (where) => [...where.querySelectorAll("details")], inputs = (where) => [...where.querySelectorAll("input")];
  const stops = (where) => [...where.querySelectorAll("summary, input, [tabindex]")];
  const open = details(place).map((one) => one.open), chosen = inputs(place).map((one) => one.checked);
  const all = stops(place).length, focused = stops(place).indexOf(document.activeElement);
  change();
  if (details(place).length === open.length) details(place).forEach((one, i) => { one.open = open[i]; });
  if (inputs(place).length === chosen.length) inputs(place).forEach((one, i) => { if (chosen[i] && !one.checked) one.click(); });
  if (focused >= 0 && stops(place).length === all) stops(place)[focused].focus({ preventScroll: true });
}

function draw(place, live) {
  keepingChoices(place, () => place.replaceChildren(
    section("Requests", facts([["requests a second", live.requests_per_second < 100 ? live.requests_per_second.toFixed(1) : count(Math.round(live.requests_per_second))], ["half are faster than", latency(live, live.p50)],
      ["99 of 100 are faster than", latency(live, live.p99)], ["models", count(live.models.length)]])),
    ...live.models.map(modelSection),
    ...(live.models.length === 0 ? firstModel() : []),
    section("Last events", eventTable(live.events))));
}

/** Reads server-sent events by fetch, since EventSource cannot send a token. */
async function listen(place, status, heard) {
  const answer = await fetch("v1/live", { headers: token ? { Authorization: `Bearer ${token}` } : {}, cache: "no-store" });
  if (answer.status === 401) return "token";
  if (!answer.ok) throw new Error(`The service answered ${answer.status}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  status.textContent = "connected; the first figures come within a second";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("The service has stopped");
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      if (!part.startsWith("data: ")) continue;
      draw(place, JSON.parse(part.slice(6)));
      heard();
      if (status.textContent !== "live") status.textContent = "live";
    }
  }
}

async function keepListening(place, status) {
  let since = null; // when it was lost
  for (;;) {
    try {
      if (await listen(place, status, () => { since = null; }) === "token") { ask(place, status); return; }
    } catch (error) {
      since ??= clock(new Date());
      const why = error instanceof TypeError ? "The service does not answer" : error.message; // fetch's own sentence differs by browser
      status.textContent = `${why}; trying again${place.hasChildNodes() ? `. The figures are those of ${since}.` : ""}`;
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

function ask(place, status) {
  const field = h("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); token = field.value; keepListening(place, status); } },
    h("label", { for: "token" }, "Token of the service "), field, h("button", { type: "submit" }, "Show"));
  status.textContent = token ? "That is not the token of this service." : "This service needs a token. It is kept in memory only.";
  place.replaceChildren(form);
  field.focus();
}

export function servePage() {
  const place = h("div", { id: "live" }), status = h("p", { id: "status", role: "status" }, "connecting");
  keepListening(place, status);
  return { title: "Service", content: [status, place] };
}
