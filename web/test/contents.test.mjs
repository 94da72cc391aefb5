// What pages say: the figures of the JSON where a reader looks for them, and commands that run as they stand.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { blobs, directory, launch, open, program, read, table, unconfuse } from "./browser.mjs";

const ANNOTATORS = 35, ROWS = 300;
let browser;

/** 35 annotators, one of whom guesses; three labels per row. */
function crowd(file, data) {
  let state = 3;
  const uniform = () => ((state = (state * 1103515245 + 12345) % 2147483648) + 1) / 2147483649;
  const given = read(data).trim().split("\n").map((line) => line.split(" ")[0]), names = [...new Set(given)].sort();
  const lines = given.flatMap((label, i) => [0, 1, 2].map((k) => {
    const who = (i * 3 + k * 11 + Math.floor(i / ANNOTATORS)) % ANNOTATORS, right = uniform() < (who === 0 ? 0.34 : 0.85);
    return `${i + 1} worker-${who} ${right ? label : names[Math.floor(uniform() * names.length)]}`;
  }));
  writeFileSync(path.join(directory, file), `${lines.join("\n")}\n`);
}

const pages = {
  evaluate: ["evaluate", "model.uc", "data.svm"],
  corrected: ["evaluate", "model.uc", "data.svm", "--noise-rate", "0.1"],
  train: ["train", "logistic", "data.svm", "-v", "3"],
  stream: ["stream", "cspa", "data.svm", "--feedback", "partial"],
  compare: ["compare", "data.svm", "--runs", "3", "--learners", "cspa,bpa"],
  full: ["compare", "data.svm", "--runs", "2", "--feedback", "full", "--learners", "pa,perceptron"],
  experiment: ["experiment", "data.svm", "plane.svm", "--learners", "ridge,audit,perceptron,logistic", "--noise", "none,uniform:0.3,pair:0.3", "--runs", "3"],
  noise: ["noise", "estimate", "data.svm", "--method", "self", "-o", "noise.csv"],
  audit: ["audit", "a table.csv", "--drop", "note,price"],
  "evaluate-table": ["evaluate", "table.uc", "a table.csv"],
  "compare-table": ["compare", "a table.csv", "--drop=note,price", "--runs", "2", "--feedback", "full", "--learners", "pa,perceptron"],
  "noise-table": ["noise", "estimate", "a table.csv", "--drop", "note,price", "--method", "self", "--bootstrap", "5", "-o", "its noise.csv"],
  crowd: ["audit", "data.svm", "--crowd", "crowd.txt"],
};

const reportOf = (page) => page.$eval("#report", (element) => JSON.parse(element.textContent));
const cellsOf = (page, heading) => page.$$eval("section", (all, text) => [...all.find((one) => one.querySelector("h2").textContent === text).querySelectorAll("tbody tr")]
  .map((row) => [...row.children].map((cell) => cell.textContent)), heading);
const share = (value, digits = 2) => `${(100 * value).toFixed(digits)}%`;

before(async () => {
  blobs("data.svm", ["a", "b", "c"], ROWS);
  blobs("plane.svm", ["a", "b", "c"], ROWS, 2);
  crowd("crowd.txt", "data.svm");
  table("a table.csv", ["cat", "dog", "owl"], 240, []);
  unconfuse("train", "logistic", "data.svm", "-o", "model.uc");
  unconfuse("train", "logistic", "a table.csv", "--drop", "note,price", "-o", "table.uc");
  for (const [name, words] of Object.entries(pages)) unconfuse(...words, "--html", `${name}.html`);
  browser = await launch();
}, { timeout: 600000 });

after(async () => {
  await browser?.close();
  rmSync(directory, { recursive: true, force: true });
});

test("an audit says what it assumed: of rows, labels, annotators or a model", async () => {
  const labels = read("data.svm").trim().split("\n").map((line) => line.split(" ")[0]), names = [...new Set(labels)].sort();
  writeFileSync(path.join(directory, "p.csv"), [names, ...labels.map((label, i) => names.map((name, k) => (k === i % names.length ? 0.4 : 0.1) + (name === label ? 0.4 : 0)))].map((row) => `${row.join(",")}\n`).join(""));
  const ways = { structure: ["--mode", "structure"], labels: ["--mode", "labels"], crowd: ["--crowd", "crowd.txt"], probabilities: ["--probabilities", "p.csv"] };
  const said = { structure: /^Examples of one class resemble each other/, labels: /the labels were believed first, and corrected once/, crowd: /^Annotators err independently of each other/,
    probabilities: /^The model whose probabilities were given had not seen the labels/ };
  for (const [name, words] of Object.entries(ways)) {
    unconfuse("audit", "data.svm", ...words, "--html", "assumed.html");
    const { page } = await open(browser, "assumed.html");
    assert.match(await page.$$eval("section", (all) => all.find((one) => one.querySelector("h2").textContent === "What was assumed").querySelector("p").textContent), said[name]);
    await page.close();
  }
});

test("every command that a page proposes runs, as a shell reads it", async () => {
  const lines = [];
  for (const name of Object.keys(pages)) {
    const { page } = await open(browser, `${name}.html`);
    lines.push(...await page.$$eval(".steps .command", (all) => all.map((one) => one.textContent)));
    await page.close();
  }
  assert.ok(lines.length >= 12, lines.join("\n"));
  const worstOf = Object.fromEntries(["audit", "crowd"].map((name) => [name, JSON.parse(unconfuse(...pages[name], "--json")).issues[0]]));
  for (const line of new Set(lines)) {
    const worst = worstOf[line.includes("crowd.txt") ? "crowd" : "audit"];
    writeFileSync(path.join(directory, "checked.csv"), `row,true_label\n${worst.row},${worst.suggested}\n`); // as saved from the page and filled in
    const shell = line.replace(/^unconfuse /, `'${program}' `).replace("-o checked.csv", "-o to-check.csv"); // checked.csv is needed once more
    const { status, stderr } = spawnSync("sh", ["-c", shell], { cwd: directory, encoding: "utf8" });
    assert.equal(status, 0, `${line}: ${stderr}`);
  }
  assert.match(read("repaired.csv"), /^row_id,/);
});

test("a page that Python wrote proposes no command", async () => {
  const made = read("experiment.html"), typed = made.match(/data-command="([^"]*)"/)[0];
  writeFileSync(path.join(directory, "python.html"), made.replace(typed, 'data-command="unconfuse.experiment(...) of Python"'));
  const { page, messages } = await open(browser, "python.html");
  assert.equal(await page.$$eval(".command", (all) => all.length), 0);
  assert.match(await page.$eval("footer", (footer) => footer.textContent), /By unconfuse\.experiment\(\.\.\.\) of Python\./);
  assert.deepEqual(messages, []);
  await page.close();
});

test("a command is copied by keyboard, or selected where the browser does not allow it", async () => {
  const { page, messages } = await open(browser, "evaluate.html");
  const line = await page.$$eval("footer .command", (all) => all[0].textContent);
  for (const refused of [false, true]) {
    if (refused) await page.evaluate(() => { Object.defineProperty(navigator, "clipboard", { value: { writeText: async () => { throw new Error("no"); } } }); });
    else await page.evaluate(() => { Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => { window.copied = text; } } }); });
    await page.focus("footer button");
    await page.keyboard.press("Enter");
    await page.waitForFunction((text) => document.querySelector("footer [role=status]").textContent.startsWith(text), {}, refused ? "selected" : "copied");
  }
  assert.equal(await page.evaluate(() => window.copied), line);
  assert.equal(await page.evaluate(() => String(getSelection())), line);
  assert.deepEqual(messages, []);
  await page.close();
});

test("a crowd's page counts labels, draws the least accurate annotators and asks again", async () => {
  const { page } = await open(browser, "crowd.html");
  const report = await reportOf(page);
  assert.equal(report.annotations, 3 * ROWS);
  assert.match(await page.$eval("h1", (head) => head.textContent), /^About [\d.]+% of 900 labels by 35 annotators are wrong/);
  const names = await page.$$eval("section", (all) => [...all.find((one) => one.textContent.startsWith("Annotators")).querySelectorAll("svg .name")].map((one) => one.lastChild.textContent));
  assert.equal(names.length, 30);
  const worst = [...report.annotators].sort((a, b) => a.accuracy - b.accuracy);
  assert.equal(names[0], `${worst[0].name} (${worst[0].labels})`);
  const asked = await cellsOf(page, "Rows to ask about again");
  assert.deepEqual(asked.map(([row, who]) => [Number(row), who]), report.ask_again.map((one) => [one.row, one.annotator]));
  await page.close();
});

test("an experiment's page has all mean errors, the smallest in bold, and who differs from whom", async () => {
  const { page } = await open(browser, "experiment.html");
  const report = await reportOf(page);
  const of = (learner, data, noise) => report.results.find((one) => one.learner === learner && one.data === data && one.noise === noise).error;
  for (const data of report.data) {
    const rows = (await cellsOf(page, data)).slice(0, report.learners.length);
    assert.deepEqual(rows, report.learners.map(({ learner }) => [learner, ...report.noise.map((noise) => share(of(learner, data, noise)))]));
  }
  const bold = await page.$$eval("td b", (all) => all.length);
  assert.ok(bold >= report.data.length * report.noise.length);
  const differs = (await cellsOf(page, "All problems")).map((row) => row[4]);
  const expected = report.learners.map((one) => (report.p_value < report.significance
    ? report.learners.filter((other) => Math.abs(other.rank - one.rank) > report.critical_difference).map((other) => other.learner).join(", ") || "none" : "–"));
  assert.deepEqual(differs, expected);
  const ticks = await page.$$eval("section", (all) => [...all.find((one) => one.textContent.startsWith("data.svm")).querySelectorAll("svg.plot")]
    .map((one) => [...one.querySelectorAll("text.tick")].map((tick) => tick.textContent).join(" ")).filter(Boolean));
  assert.equal(ticks.length, 3);
  assert.equal(new Set(ticks).size, 1); // one axis for all kinds of noise
  const ranks = await page.$$eval("section:first-of-type text.tick", (all) => all.map((tick) => Number(tick.textContent)));
  assert.ok(Math.min(...ranks) >= 1 && Math.max(...ranks) <= 4);
  await page.close();
});

test("a stream has bands of both curves and intervals of each class, as in the JSON", async () => {
  const { page } = await open(browser, "stream.html");
  const { curve, per_class: classes } = await reportOf(page);
  assert.equal(await page.$$eval("section:first-of-type .band", (all) => all.length), 2);
  const rows = (await cellsOf(page, "Each class")).map((row) => row[3]);
  assert.deepEqual(rows, classes.map((one) => `${share(one.recall_interval[0], 1)} to ${share(one.recall_interval[1], 1)}`));
  const z = 1.959963984540054; // Wilson's interval of the rounds since the point before
  curve.forEach(({ round, recent_ratio: p, recent_interval: [low, high] }, i) => {
    const n = round - (i > 0 ? curve[i - 1].round : 0), middle = (p + z * z / (2 * n)) / (1 + z * z / n), half = z / (1 + z * z / n) * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    assert.ok(Math.abs(low - Math.max(0, middle - half)) < 1e-6 && Math.abs(high - Math.min(1, middle + half)) < 1e-6, `round ${round}: ${low} to ${high}`);
  });
  await page.close();
});

test("what is wrong has a colour of its own, scaled to the largest, with a legend", async () => {
  const { page } = await open(browser, "evaluate.html");
  const { confusion } = await reportOf(page);
  const cells = await page.$$eval(".matrix tbody td", (all) => all.map((cell) => [cell.className, parseFloat(cell.style.getPropertyValue("--heat-share"))]));
  const shares = confusion.flatMap((row) => row.map((n) => n / row.reduce((a, b) => a + b))), K = confusion.length;
  const wrong = shares.filter((_, i) => i % (K + 1) !== 0), most = Math.max(...wrong);
  cells.forEach(([kind, heat], i) => {
    if (i % (K + 1) === 0) assert.ok(!kind.includes("wrong"));
    else assert.ok(shares[i] === 0 ? kind === "cell none" : kind === "cell wrong" && Math.abs(heat - 45 * shares[i] / most) < 0.06);
  });
  const legend = await page.$$eval("figure .legend", (all) => all[0].textContent);
  assert.equal(legend, `right: 0% to 100%wrong: 0% to ${share(most, most < 0.1 ? 1 : 0)}`);
  await page.close();
});

test("raw and corrected recall stand next to each other", async () => {
  const { page } = await open(browser, "corrected.html");
  const report = await reportOf(page), C = report.corrected_confusion;
  const rows = await page.$$eval("div[aria-label='recall and precision, raw and corrected'] tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map((row) => row.slice(0, 3)), report.classes.map((name, k) =>
    [name, share(report.per_class[k].recall, 1), share(Math.min(1, Math.max(0, C[k][k] / C[k].reduce((a, b) => a + b))), 1)]));
  await page.close();
});

test("no name in a picture is cut where there is room for it, and none leaves the picture", async () => {
  const long = "a class of which the name is long, but not longer than a line";
  blobs("long.svm", [long.replaceAll(" ", "_"), "b"], 200);
  unconfuse("train", "logistic", "long.svm", "-v", "2", "--html", "long.html");
  const { page } = await open(browser, "long.html");
  assert.ok((await page.$$eval("svg .name", (all) => all.map((one) => one.lastChild.textContent))).includes(long.replaceAll(" ", "_")));
  await page.close();
  for (const name of ["long", "audit", "crowd", "experiment"]) {
    for (const width of [360, 1000]) {
      const one = await open(browser, `${name}.html`, { width });
      const outside = await one.page.$$eval("svg.plot text", (all) => all.filter((text) => {
        const [own, frame] = [text, text.ownerSVGElement].map((element) => element.getBoundingClientRect());
        return own.width > 0 && (own.left < frame.left - 1 || own.right > frame.right + 1);
      }).map((text) => text.textContent));
      assert.deepEqual(outside, [], `${name} at ${width}`);
      await one.page.close();
    }
  }
});

test("the page of a large audit holds the worst 5,000 labels, and says so", async () => {
  table("large.csv", ["cat", "dog", "owl"], 6000, []);
  const words = ["audit", "large.csv", "--drop", "note,price", "--all"];
  const all = JSON.parse(unconfuse(...words, "--json", "--html", "large.html"));
  assert.equal(all.issues.length, 6000);
  const { page } = await open(browser, "large.html");
  assert.deepEqual(await reportOf(page), { ...all, issues: all.issues.slice(0, 5000) });
  assert.match(await page.$eval(".rows .status", (status) => status.textContent), /of 5,000$/);
  await page.close();
  assert.ok(readFileSync(path.join(directory, "large.html")).length < 5_000_000);
});
