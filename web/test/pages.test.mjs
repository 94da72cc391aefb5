// Every page in a real browser: without a message, by keyboard, with hostile text, for axe, light and dark, wide and narrow.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { blobs, directory, launch, open, pageWith, read, shoot, table, unconfuse } from "./browser.mjs";

const HOSTILE = "</script><img/src=x/onerror=document.title='broken'>\u202e\"'&";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;

const pages = {
  evaluate: ["evaluate", "model.uc", "data.svm"],
  train: ["train", "logistic", "data.svm", "-v", "3"],
  stream: ["stream", "cspa", "data.svm", "--feedback", "partial", "-q"],
  compare: ["compare", "data.svm", "--runs", "3", "--learners", "cspa,bpa,spa"],
  experiment: ["experiment", "data.svm", "--learners", "ridge,pa,sloppy-svm", "--noise", "none,pair:0.2", "--runs", "2"],
  labels: ["audit", "data.svm"],
  plane: ["evaluate", "plane.uc", "plane.svm"],
  corrected: ["evaluate", "model.uc", "data.svm", "--noise-rate", "0.1"],
  planes: ["experiment", "plane.svm", "--learners", "ridge,pa", "--noise", "none,pair:0.2", "--runs", "1"],
  noise: ["noise", "estimate", "data.svm", "--method", "self", "-o", "noise.csv"],
};

function auditReport(rows, text) {
  const classes = ["cat", "dog", HOSTILE];
  return {
    examples: 3 * rows, classes, wrong: { estimate: 0.098, low: 0.089, high: 0.106 }, flagged: rows,
    noise_matrix: [[0.9, 0.1, 0], [0.1, 0.8, 0.1], [0, 0.1, 0.9]],
    class_pairs: [{ given: "cat", true: "dog", estimate: 0.1, low: 0.05, high: 0.15 }],
    clean_error: { estimate: 0.05, low: 0.02, high: 0.09, level: 0.9, method: "noise hypotheses" },
    issues: Array.from({ length: rows }, (_, i) => ({ row: i + 1, id: i === 1 ? HOSTILE : `C-${1000 + i}`, given: "cat", suggested: "dog",
      p_wrong: 0.99 - i / (2 * rows), flagged: true, columns: { note: i === 2 ? text : `note ${i}`, price: i } })),
  };
}

const auditWords = ["audit", "table.csv", "--drop", "note,price", "--all"];

/** The program's own audit of a table whose worst row has a hostile id and a megabyte of text. */
function hostileTable() {
  const names = ["cat", "dog", HOSTILE];
  table("table.csv", names, 480, []);
  const { issues } = JSON.parse(unconfuse(...auditWords, "--json"));
  const texts = [];
  texts[issues[0].row - 1] = { id: HOSTILE, note: "x".repeat(1_000_000) };
  table("table.csv", names, 480, texts);
}

before(async () => {
  blobs("data.svm", ["a", "b", HOSTILE.replaceAll(" ", "")], 150);
  blobs("plane.svm", ["a", "b", "c"], 600, 2);
  unconfuse("train", "logistic", "data.svm", "-o", "model.uc");
  unconfuse("train", "logistic", "plane.svm", "-o", "plane.uc");
  for (const [name, words] of Object.entries(pages)) unconfuse(...words, "--html", `${name}.html`);
  hostileTable();
  unconfuse(...auditWords, "--html", "audit.html");
  browser = await launch();
}, { timeout: 600000 });

after(async () => {
  await browser?.close();
  rmSync(directory, { recursive: true, force: true });
});

for (const name of [...Object.keys(pages), "audit"]) {
  test(`the ${name} page opens without a message or a request`, async () => {
    const { page, messages } = await open(browser, `${name}.html`);
    const title = await page.title();
    assert.match(title, / – unconfuse$/);
    assert.equal(await page.$$eval("h1", (all) => all.length), 1);
    assert.deepEqual(messages, []);
    await page.close();
  });

  test(`axe finds nothing wrong with the ${name} page, in light and dark`, async () => {
    for (const dark of [false, true]) {
      const { page } = await open(browser, `${name}.html`, { dark });
      const found = await page.evaluate(`${axe}; axe.run(document, {resultTypes: ["violations"]}).then((result) =>
        result.violations.map((one) => one.id + ": " + one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")))`);
      assert.deepEqual(found, []);
      await page.close();
    }
  });

  test(`the ${name} page fits a phone`, async () => {
    const { page } = await open(browser, `${name}.html`, { width: 360, height: 800 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360));
    await page.close();
  });
}

test("text from the data is shown, not run", async () => {
  for (const name of ["evaluate", "audit"]) {
    const { page } = await open(browser, `${name}.html`);
    assert.equal(await page.$$eval("img", (all) => all.length), 0);
    assert.ok((await page.$eval("main", (main) => main.textContent)).includes("onerror="));
    assert.notEqual(await page.title(), "broken");
    await page.close();
  }
});

test("an experiment names a best learner only where a difference is shown", async () => {
  const made = readFileSync(path.join(directory, "experiment.html"), "utf8");
  for (const [p, headline] of [[0.4, /^No significant difference between the learners was shown \(p = 0\.400\)$/], [0.001, /: the best mean rank of 3 learners$/]]) {
    const changed = made.replace(/"p_value":\s*[^,}]+/, `"p_value":${p}`);
    assert.ok(changed.includes(`"p_value":${p}`));
    writeFileSync(path.join(directory, "difference.html"), changed);
    const { page } = await open(browser, "difference.html");
    assert.match(await page.$eval("h1", (element) => element.textContent), headline);
    await page.close();
  }
});

test("a matrix shows counts, then shares of rows and of columns", async () => {
  const { page } = await open(browser, "evaluate.html");
  const { confusion } = JSON.parse(await page.$eval("#report", (element) => element.textContent));
  const first = () => page.$eval(".matrix tbody td", (cell) => cell.textContent);
  assert.equal(await first(), String(confusion[0][0]));
  await page.click('input[value="rows"]');
  const row = confusion[0].reduce((a, b) => a + b);
  assert.equal(await first(), `${(100 * confusion[0][0] / row).toFixed(1)}%`);
  await page.click('input[value="columns"]');
  const column = confusion.reduce((sum, one) => sum + one[0], 0);
  assert.equal(await first(), `${(100 * confusion[0][0] / column).toFixed(1)}%`);
  await page.close();
});

test("suspects are searched, sorted, ticked and saved, by keyboard alone, and the program reads them", async () => {
  const { page, messages } = await open(browser, "audit.html");
  const report = JSON.parse(await page.$eval("#report", (element) => element.textContent));
  const last = report.issues.reduce((a, b) => (a.row > b.row ? a : b));
  const client = await page.createCDPSession();
  await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: directory });
  const rows = () => page.$$eval(".rows tbody tr", (all) => all.map((row) => row.textContent));
  assert.equal((await rows()).length, 100);
  assert.ok((await rows())[0].includes("onerror="));
  await page.focus('input[type="search"]');
  await page.keyboard.type(last.id);
  assert.equal((await rows()).length, 1);
  for (let i = 0; i < last.id.length; i += 1) await page.keyboard.press("Backspace");
  await page.$$eval("button.sort", (all) => all.find((one) => one.textContent === "row").focus());
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  assert.ok((await rows())[0].includes(last.id));
  assert.equal(await page.$eval('th[aria-sort="descending"]', (head) => head.textContent), "row");
  await page.focus(".rows tbody input");
  await page.keyboard.press("Space");
  assert.match(await page.$eval(".export [role=status]", (status) => status.textContent), /^1 rows? (is|are) ticked$/);
  await page.$$eval(".export button", (all) => all[0].focus());
  await page.keyboard.press("Enter");
  for (let i = 0; i < 600 && !readdirSync(directory).includes("checked.csv"); i += 1) await new Promise((done) => { setTimeout(done, 100); });
  assert.ok(existsSync(path.join(directory, "checked.csv")));
  const [heads, first] = read("checked.csv").split("\r\n");
  assert.equal(heads, "row,id,given_label,predicted_label,label_score,true_label,row_id,a,b,c,price,note,label");
  assert.ok(first.startsWith(`${last.row},${last.id},`));
  assert.deepEqual(messages, []);
  await page.close();
  const filled = first.split(",");
  filled[5] = last.suggested === HOSTILE ? `"${HOSTILE.replaceAll('"', '""')}"` : last.suggested;
  if (!first.includes('"')) {
    writeFileSync(path.join(directory, "filled.csv"), `${heads}\r\n${filled.join(",")}\r\n`);
    assert.equal(JSON.parse(unconfuse(...auditWords, "--gold", "filled.csv", "--json")).suspicion.checked, 1);
  }
});

test("what Label Studio and Argilla make of the saved files is read by audit --gold", async () => {
  table("tools.csv", ["cat", "dog", "owl"], 240, []);
  const words = ["audit", "tools.csv", "--drop", "note,price"];
  unconfuse(...words, "--html", "tools.html");
  const { page } = await open(browser, "tools.html");
  const client = await page.createCDPSession();
  await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: directory });
  await page.$$eval(".rows tbody input", (all) => all.slice(0, 3).forEach((box) => box.click()));
  for (const [button, file] of [[1, "label-studio.json"], [2, "argilla.jsonl"]]) {
    await page.$$eval(".export button", (all, which) => all[which].click(), button);
    for (let i = 0; i < 600 && !existsSync(path.join(directory, file)); i += 1) await new Promise((done) => { setTimeout(done, 100); });
  }
  const tasks = JSON.parse(read("label-studio.json")), records = read("argilla.jsonl").trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual([tasks.length, records.length], [3, 3]);
  for (const task of tasks) task.annotations = [{ result: task.predictions[0].result }];
  for (const record of records) record.responses = { true_label: [{ value: record.suggestions[0].value }] };
  writeFileSync(path.join(directory, "answers.json"), JSON.stringify(tasks));
  writeFileSync(path.join(directory, "answers.jsonl"), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  for (const answers of ["answers.json", "answers.jsonl"]) {
    const told = JSON.parse(unconfuse(...words, "--gold", answers, "--json"));
    assert.deepEqual([told.suspicion.checked, told.suspicion.wrong], [3, 3]);
  }
  await page.close();
});

test("more than eight classes are told apart by lines, marks and names", async () => {
  blobs("many.svm", Array.from({ length: 11 }, (_, k) => `class${k}`), 600, 2);
  unconfuse("train", "logistic", "many.svm", "-v", "2", "--html", "regions.html");
  const { page } = await open(browser, "regions.html");
  const { regions } = JSON.parse(await page.$eval("#report", (element) => element.textContent));
  const marks = await page.$$eval(".mark-key path", (all) => all.map((one) => `${one.getAttribute("class")} ${one.getAttribute("d")}`));
  assert.equal(marks.length, 11);
  assert.equal(new Set(marks).size, 11);
  assert.equal(await page.$$eval(".plane .place", (all) => all.length), new Set(regions.cells.flat()).size);
  await page.close();
  const learners = Array.from({ length: 9 }, (_, i) => `pa:cost=${i + 1}`).join(",");
  unconfuse("compare", "data.svm", "--feedback", "full", "--runs", "2", "--learners", learners, "--html", "curves.html");
  const several = await open(browser, "curves.html");
  const lines = await several.page.$$eval("section:nth-of-type(2) .line-key path", (all) => all.map((one) => `${one.getAttribute("class")} ${one.getAttribute("stroke-dasharray")}`));
  assert.equal(new Set(lines).size, 9);
  assert.equal(await several.page.$$eval("section:nth-of-type(2) .band", (all) => all.length), 9);
  assert.deepEqual(several.messages, []);
  await several.page.close();
});

test("columns that are called as the audit's own do not take their place, on the page and in the file", async () => {
  table("own.csv", ["cat", "dog", "owl"], 240, []);
  const text = read("own.csv").replace("row_id,a,b,c,price,note,label", "id,given,suggested,p_wrong,row,note,label");
  writeFileSync(path.join(directory, "own.csv"), text);
  unconfuse("audit", "own.csv", "--drop", "note,row", "--html", "own.html");
  const { page } = await open(browser, "own.html");
  const client = await page.createCDPSession();
  await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: directory });
  const { issues } = JSON.parse(await page.$eval("#report", (element) => element.textContent));
  const cells = await page.$$eval(".rows tbody tr:first-child td", (all) => all.slice(1, 6).map((cell) => cell.textContent));
  assert.deepEqual(cells, [String(issues[0].row), issues[0].id, issues[0].given, issues[0].suggested, issues[0].p_wrong > 0.999 ? "> 99.9%" : `${(100 * issues[0].p_wrong).toFixed(1)}%`]);
  rmSync(path.join(directory, "checked.csv"), { force: true });
  await page.click(".rows tbody input");
  await page.$$eval(".export button", (all) => all[0].click());
  for (let i = 0; i < 600 && !existsSync(path.join(directory, "checked.csv")); i += 1) await new Promise((done) => { setTimeout(done, 100); });
  const [heads, first] = read("checked.csv").split("\r\n");
  assert.equal(heads, "row,id,given_label,predicted_label,label_score,true_label,given,suggested,p_wrong,note,label");
  const filled = first.split(",");
  assert.equal(filled[0], String(issues[0].row));
  filled[5] = issues[0].suggested;
  writeFileSync(path.join(directory, "own-gold.csv"), `${heads}\r\n${filled.join(",")}\r\n`);
  const told = JSON.parse(unconfuse("audit", "own.csv", "--drop", "note,row", "--gold", "own-gold.csv", "--json"));
  assert.deepEqual([told.suspicion.checked, told.suspicion.wrong], [1, 1]);
  await page.close();
});

test("the page shows the calibration, and the JSON in it is the command's own", async () => {
  const { page } = await open(browser, "audit.html");
  const inPage = JSON.parse(await page.$eval("#report", (element) => element.textContent));
  assert.deepEqual(inPage, JSON.parse(unconfuse(...auditWords, "--json")));
  assert.equal(inPage.calibration_of, "labels left out");
  assert.ok(inPage.calibration.reduce((sum, bin) => sum + bin.rows, 0) === inPage.labels);
  assert.equal(inPage.issues[0].columns.note.length, 1_000_000);
  assert.match(await page.$eval("main", (main) => main.textContent), /How well the suspicion is calibrated/);
  await page.close();
});

test("learned regions are drawn as the JSON has them", async () => {
  const { page } = await open(browser, "plane.html");
  const { regions } = JSON.parse(await page.$eval("#report", (element) => element.textContent));
  const strips = await page.$$eval(".region", (all) => all.map((one) => [one.getAttribute("class"), Math.round(one.getAttribute("width") / 280 * 48)]));
  const drawn = strips.flatMap(([name, width]) => Array.from({ length: width }, () => Number(name.split("series-")[1])));
  assert.deepEqual(drawn, regions.cells.flat());
  assert.equal(await page.$$eval(".plane .point", (all) => all.length), regions.points.length);
  assert.ok(regions.points.length <= 400 && regions.points.length > 200);
  await page.close();
  const several = await open(browser, "planes.html");
  assert.equal(await several.page.$$eval("svg.plane", (all) => all.length), 4);
  await several.page.close();
});

test("a stream shows the recall of each class over time", async () => {
  const { page } = await open(browser, "stream.html");
  const { curve, per_class: classes } = JSON.parse(await page.$eval("#report", (element) => element.textContent));
  const names = await page.$$eval("section", (all) => [...all.find((one) => one.textContent.startsWith("Each class over time")).querySelectorAll("th")].map((cell) => cell.textContent));
  assert.deepEqual(names.slice(0, classes.length + 1), ["round", ...classes.map((one) => one.class)]);
  assert.equal(names.length, classes.length + 1 + curve.length);
  await page.close();
});

test("a stream says what to do next", async () => {
  const { page } = await open(browser, "stream.html");
  assert.deepEqual(await page.$$eval(".steps .command", (all) => all.map((one) => one.textContent)),
    ["unconfuse stream cspa data.svm --feedback partial -o model.uc", "unconfuse compare data.svm --feedback partial --html compare.html"]);
  await page.close();
});

test("on a phone tables have low rows, and commands break between words", async () => {
  for (const name of ["compare", "evaluate", "experiment"]) {
    const { page } = await open(browser, `${name}.html`, { width: 360, height: 800 });
    const heights = await page.$$eval(".scroll table:not(.matrix) tr", (all) => all.map((one) => one.getBoundingClientRect().height));
    assert.ok(Math.max(...heights) < 90, `${name}: ${Math.max(...heights)}`); // three lines and their borders
    const broken = await page.$$eval(".command", (all) => all.flatMap((line) => {
      const words = [...line.textContent.matchAll(/\S+/g)].filter(([word]) => word.length < 20), nodes = document.createNodeIterator(line, NodeFilter.SHOW_TEXT), places = [];
      for (let node = nodes.nextNode(), from = 0; node; from += node.length, node = nodes.nextNode()) places.push([node, from]);
      return words.filter(({ 0: word, index }) => {
        const [node, from] = places.findLast((place) => place[1] <= index), range = document.createRange();
        range.setStart(node, index - from);
        range.setEnd(node, index - from + word.length);
        return range.getClientRects().length > 1;
      }).map(([word]) => word);
    }));
    assert.deepEqual(broken, [], name);
    await page.close();
  }
});

test("a stream marks drift in its curve", async () => {
  const steady = await open(browser, "stream.html");
  const report = JSON.parse(await steady.page.$eval("#report", (element) => element.textContent));
  assert.deepEqual(report.drift, []);
  assert.equal(await steady.page.$$eval(".event", (all) => all.length), 0);
  await steady.page.close();
  pageWith("stream.html", "drift.html", "stream", { ...report, drift: [{ round: 100, before: 0.9, after: 0.25 }] });
  const { page } = await open(browser, "drift.html");
  assert.deepEqual(await page.$$eval(".event text", (all) => all.map((one) => one.textContent)), ["drift: 90% to 25%"]);
  const section = await page.$$eval("section", (all) => [...all.find((one) => one.textContent.startsWith("Drift")).querySelectorAll("tbody th, tbody td")].map((cell) => cell.textContent));
  assert.deepEqual(section, ["100", "90.00%", "25.00%"]);
  await page.close();
});

test("no class is suggested in the place of itself", async () => {
  const report = auditReport(3, "text");
  report.issues[1].suggested = report.issues[1].given;
  pageWith("audit.html", "itself.html", "audit", report);
  const { page } = await open(browser, "itself.html");
  assert.deepEqual(await page.$$eval(".rows tbody tr", (all) => all.map((row) => row.children[4].textContent)), ["dog", "–", "dog"]);
  await page.close();
});

test("a name that turns the direction of writing turns no other name", async () => {
  const { page } = await open(browser, "labels.html");
  const names = await page.$$eval(".plot .name title", (all) => all.map((one) => one.textContent).filter((text) => text.includes("\u202e")));
  assert.ok(names.length > 0);
  for (const name of names) assert.match(name, /\u2068[^\u2069]*\u202e[^\u2069]*\u2069/);
  await page.close();
});

test("a class of two hundred letters leaves the other columns on the page", async () => {
  const made = await open(browser, "evaluate.html");
  const report = JSON.parse(await made.page.$eval("#report", (element) => element.textContent));
  await made.page.close();
  const long = "x".repeat(200), name = (one) => (one === "a" ? long : one);
  pageWith("evaluate.html", "long.html", "evaluate", { ...report, classes: report.classes.map(name),
    ...(report.confused_pairs && { confused_pairs: report.confused_pairs.map((one) => ({ ...one, label: name(one.label), predicted: name(one.predicted) })) }),
    per_class: report.per_class.map((one) => ({ ...one, class: name(one.class) })) });
  const { page } = await open(browser, "long.html", { width: 1280, height: 900 });
  await page.$$eval("details", (all) => all.forEach((one) => { one.open = true; }));
  const widths = await page.$$eval(".scroll :is(th, td)", (all) => all.map((cell) => cell.getBoundingClientRect().width));
  assert.ok(Math.max(...widths) < 420, String(Math.max(...widths)));
  await page.close();
});

test("the last number of an axis is not cut off", async () => {
  const made = await open(browser, "stream.html");
  const report = JSON.parse(await made.page.$eval("#report", (element) => element.textContent));
  await made.page.close();
  pageWith("stream.html", "late.html", "stream", { ...report, curve: report.curve.map((point, i, all) => ({ ...point, round: 120000 - 10000 * (all.length - 1 - i) })) });
  for (const width of [400, 1280]) {
    const { page } = await open(browser, "late.html", { width, height: 800 });
    const cut = await page.$$eval(".plot text", (all) => all.filter((text) => text.getBoundingClientRect().right > text.closest("svg").getBoundingClientRect().right + 1).map((text) => text.textContent));
    assert.deepEqual(cut, []);
    await page.close();
  }
});

test("corrected figures stand beside raw ones", async () => {
  const { page } = await open(browser, "corrected.html");
  const report = JSON.parse(await page.$eval("#report", (element) => element.textContent));
  const cells = await page.$$eval(".matrix", (all) => [...all[0].querySelectorAll("td")].map((cell) => cell.textContent));
  assert.deepEqual(cells, report.corrected_confusion.flat().map((share) => `${(100 * share).toFixed(1)}%`.replace(/^-0\.0/, "0.0")));
  await page.close();
});

test("letters of pictures are legible on a phone", async () => {
  for (const name of ["evaluate", "stream", "compare", "plane"]) {
    const { page } = await open(browser, `${name}.html`, { width: 360, height: 800 });
    const heights = await page.$$eval("svg.plot text", (all) => all.map((one) => one.getBoundingClientRect().height));
    assert.ok(heights.length > 0 && Math.min(...heights) >= 10, `${name}: ${Math.min(...heights)}`);
    await page.close();
  }
});

test("five thousand suspects and a thousand classes do not freeze a page", async () => {
  pageWith("evaluate.html", "large.html", "audit", auditReport(5000, "short"));
  const { page } = await open(browser, "large.html");
  assert.match(await page.$eval(".rows .status", (status) => status.textContent), /of 5,000$/);
  await page.close();
  const classes = Array.from({ length: 1000 }, (_, i) => `class ${i}`);
  const confusion = classes.map((_, i) => classes.map((_name, j) => (i === j ? 10 : (i * 7 + j) % 997 === 0 ? 1 : 0)));
  pageWith("evaluate.html", "many.html", "evaluate", { examples: 10000, error: 0.1, error_interval: [0.09, 0.11], classes, confusion, per_class: classes.map((name) => ({ class: name, examples: 10, recall: 0.9, precision: 0.9, f1: 0.9 })) });
  const many = await open(browser, "many.html");
  assert.equal(await many.page.$$eval("canvas", (all) => all.length), 1);
  assert.deepEqual(many.messages, []);
  await many.page.close();
});

test("a report prints, and its screenshots are kept", async () => {
  for (const name of [...Object.keys(pages), "audit"]) {
    for (const [width, dark] of [[360, false], [800, true], [1280, false]]) {
      const { page } = await open(browser, `${name}.html`, { width, dark });
      await shoot(page, `${name}-${width}-${dark ? "dark" : "light"}`);
      await page.close();
    }
    const { page } = await open(browser, `${name}.html`, { width: 700 }); // a sheet of paper
    await page.emulateMediaType("print");
    const [wide, tables] = await page.evaluate(() => [document.documentElement.scrollWidth, document.querySelectorAll(".matrix, .rows").length]);
    if (tables > 0) assert.ok(wide <= 700, `${name} is ${wide} wide`);
    await shoot(page, `${name}-print`);
    await page.close();
  }
  const { page } = await open(browser, "evaluate.html");
  assert.ok((await page.pdf()).length > 1000);
  await page.close();
});
