// Pages of reports in Chromium: how large they are, and when one of 5,000 rows can be used.
//
//     UNCONFUSE=build/release/unconfuse node bench/reports.mjs [rounds]
//
// Needs chromium and the drivers of the tests (npm ci --ignore-scripts --prefix web). The bytes of a page are those of its file,
// and those without its JSON. "interactive" is the time from the beginning of the navigation until the script has drawn the
// table and the page answers; "sorted" from a click on a column until the next frame is there; "work" the processor time that
// Chromium's main thread took for all of it until then. Each is the median of the rounds.
import { rmSync, statSync } from "node:fs";
import path from "node:path";
import { blobs, directory, launch, read, table, unconfuse } from "../web/test/browser.mjs";

const rounds = Number(process.argv[2] || 5);
const pages = {
  evaluate: ["evaluate", "model.uc", "data.svm"],
  "train -v": ["train", "logistic", "data.svm", "-v", "3"],
  stream: ["stream", "cspa", "data.svm", "--feedback", "partial", "-q"],
  compare: ["compare", "data.svm", "--runs", "3", "--learners", "cspa,bpa,spa"],
  experiment: ["experiment", "data.svm", "--learners", "ridge,pa", "--noise", "none,pair:0.2", "--runs", "2"],
  "noise estimate": ["noise", "estimate", "data.svm", "--method", "self", "-o", "noise.csv"],
  "audit, 5,000 rows": ["audit", "table.csv", "--drop", "note,price", "--all"],
};

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const right = (value, width) => String(value).padStart(width);

function dataOf(file) {
  return Buffer.byteLength(read(file).match(/<script type="application\/json" id="report"[^>]*>(.*?)<\/script>/s)[1]);
}

async function measure(browser, file) {
  const page = await browser.newPage();
  const client = await page.createCDPSession();
  await client.send("Performance.enable", { timeDomain: "threadTicks" }); // processor time, whatever else the machine does
  await page.goto(`file://${path.join(directory, file)}`);
  const interactive = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domInteractive);
  const sorted = await page.evaluate(() => new Promise((done) => {
    const began = performance.now();
    document.querySelector("button.sort").click();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
  }));
  const { metrics } = await client.send("Performance.getMetrics");
  const work = 1000 * metrics.find((one) => one.name === "TaskDuration").value;
  await page.close();
  return { interactive, sorted, work };
}

blobs("data.svm", ["a", "b", "c"], 300);
table("table.csv", ["cat", "dog", "bird"], 5500, []);
unconfuse("train", "logistic", "data.svm", "-o", "model.uc");
console.log(`${"page".padEnd(20)}${right("bytes", 12)}${right("without data", 14)}`);
for (const [name, words] of Object.entries(pages)) {
  const file = `${name.replaceAll(/\W+/g, "-")}.html`;
  unconfuse(...words, "--html", file);
  const { size } = statSync(path.join(directory, file));
  console.log(`${name.padEnd(20)}${right(size.toLocaleString("en-US"), 12)}${right((size - dataOf(file)).toLocaleString("en-US"), 14)}`);
}
const browser = await launch();
const found = [];
for (let i = 0; i < rounds; i += 1) found.push(await measure(browser, "audit-5-000-rows.html"));
for (const name of ["interactive", "sorted", "work"])
  console.log(`audit of 5,000 rows, ${name}: ${median(found.map((one) => one[name])).toFixed(0)} ms`);
await browser.close();
rmSync(directory, { recursive: true, force: true });
