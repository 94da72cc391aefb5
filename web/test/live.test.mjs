// The dashboard of a live service, in a real browser: with a token, with events that come while it is open, for axe.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { directory, launch, shoot } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TOKEN = "a-token-for-tests";
let browser, service, url;

async function send(method, where, body) {
  const answer = await fetch(`${url}${where}`, { method, body: body && JSON.stringify(body), headers: { Authorization: `Bearer ${TOKEN}` } });
  assert.ok(answer.ok, await answer.clone().text());
  return answer.json();
}

before(async () => {
  writeFileSync(path.join(directory, "token"), TOKEN);
  service = spawn(process.env.UNCONFUSE, ["serve", path.join(directory, "live"), "--listen", "127.0.0.1:0", "--token-file", path.join(directory, "token"), "--durability", "crash"]);
  let log = "";
  url = await new Promise((resolve, reject) => {
    service.stderr.on("data", (bytes) => { log += bytes; const found = log.match(/"message":"(http:[^"]+)"/); if (found) resolve(found[1]); });
    service.on("exit", (status) => reject(new Error(`ended with ${status}: ${log}`)));
  });
  browser = await launch();
}, { timeout: 120000 });

after(async () => {
  await browser?.close();
  service?.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

/** A hundred proposals, all answered so. */
async function hundred(right) {
  const { proposals } = await send("POST", "/v1/models/drifting/propose", { examples: Array.from({ length: 100 }, (_, i) => ({ features: [i % 2] })) });
  await send("POST", "/v1/models/drifting/feedback", { answers: proposals.map(({ id }) => ({ id, right })) });
}

/** The dashboard, after its token. */
async function dashboard() {
  const page = await browser.newPage();
  await page.goto(`${url}/`);
  await page.waitForSelector("#token", { timeout: 60000 });
  await page.type("#token", TOKEN);
  await page.keyboard.press("Enter");
  return page;
}

test("a service without a model shows how to make one", async () => {
  const page = await dashboard();
  await page.setViewport({ width: 400, height: 900 });
  await page.waitForSelector("#live pre", { timeout: 60000 });
  const words = await page.$eval("#live pre", (pre) => pre.textContent);
  assert.equal(words, `curl -X PUT ${url}/v1/models/first -H "Authorization: Bearer TOKEN" -d '{"classes":["a","b"]}'`);
  assert.match(await page.$eval("#live", (live) => live.textContent), /Nothing has happened yet\./);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  await shoot(page, "serve-empty");
  await send("PUT", "/v1/models/route", { learner: "cspa-plus", classes: ["a", "b", "<img src=x onerror=alert(1)>"] });
  await page.waitForFunction(() => document.body.textContent.includes("Model route"), { timeout: 60000 });
  await page.close();
});

test("the curve has a mark where the share of right proposals fell", async () => {
  await send("PUT", "/v1/models/drifting", { learner: "cspa-plus", classes: ["a", "b"] });
  const page = await dashboard();
  for (const [answered, right] of [[100, true], [500, true], [900, false]]) {
    for (let state = await send("GET", "/v1/models/drifting"); state.answered < answered; state = await send("GET", "/v1/models/drifting")) await hundred(right);
    await page.waitForFunction((n) => [...document.querySelectorAll("#live section")].some((one) => one.textContent.includes("Model drifting") && one.textContent.includes(`answered${n}`)), { timeout: 60000 }, answered);
  }
  const { drift } = await send("GET", "/v1/models/drifting");
  assert.ok(drift.answers > 500 && drift.answers <= 900 && drift.before > drift.after, JSON.stringify(drift));
  assert.match(await page.$eval(".event text", (mark) => mark.textContent), /^drift: \d+% to \d+%$/);
  await shoot(page, "serve-drift");
  await page.close();
});

test("the dashboard asks for the token, and shows events as they come", async () => {
  const page = await browser.newPage();
  const messages = [];
  page.on("console", (message) => { if (!message.text().includes("401")) messages.push(message.text()); });
  page.on("pageerror", (error) => messages.push(String(error)));
  await page.goto(`${url}/`);
  await page.waitForSelector("#token", { timeout: 60000 });
  await page.type("#token", "wrong-token");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("not the token"), { timeout: 60000 });
  await page.type("#token", TOKEN);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.body.textContent.includes("Model route"), { timeout: 60000 });
  for (let i = 0; i < 30; i += 1) {
    const event = await send("POST", "/v1/models/route/propose", { features: [i % 2, 1 - (i % 2)], id: `event ${i}` });
    await send("POST", "/v1/models/route/feedback", { id: event.id, label: i % 2 ? "a" : "b" });
  }
  await page.waitForFunction(() => document.body.textContent.includes("event 29: "), { timeout: 60000 });
  assert.match(await page.title(), /unconfuse$/);
  assert.equal(await page.$eval("#status", (status) => status.textContent), "live");
  assert.doesNotMatch(await page.$eval("footer", (footer) => footer.textContent), /repeats it|inside it/);
  await page.evaluate(() => { document.querySelectorAll("#live input[type=radio]")[1].click(); document.querySelector("#live details").open = true; document.querySelector("#live summary").focus(); });
  const before = await page.$eval("#live", (live) => live.textContent);
  const another = await send("POST", "/v1/models/route/propose", { features: [1, 0], id: "one more" });
  await send("POST", "/v1/models/route/feedback", { id: another.id, label: "a" });
  await page.waitForFunction((text) => document.getElementById("live").textContent !== text && document.body.textContent.includes("one more"), { timeout: 60000 }, before);
  assert.deepEqual(await page.evaluate(() => [document.querySelectorAll("#live input[type=radio]")[1].checked, document.querySelector("#live details").open,
    document.activeElement.tagName]), [true, true, "SUMMARY"]); // what a reader chose stays
  for (const [name, width, scheme] of [["serve-phone", 400, "light"], ["serve-dark", 1200, "dark"]]) {
    await page.setViewport({ width, height: 1600 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    await shoot(page, name);
  }
  assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length), 0);
  const found = await page.evaluate(`${axe}; axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes[0].html))`);
  assert.deepEqual(found, []);
  await shoot(page, "serve");
  assert.deepEqual(messages, []);
  await page.close();
});

test("the last events are those of all models, newest first; a service that has ended is said to be", async () => {
  const page = await dashboard();
  await send("POST", "/v1/models/drifting/propose", { features: [1], id: "the newest" });
  await page.waitForFunction(() => document.querySelector("#live tbody tr:first-child")?.parentElement && [...document.querySelectorAll("#live section")].at(-1).textContent.includes("the newest"), { timeout: 60000 });
  const rows = await page.evaluate(() => [...[...document.querySelectorAll("#live section")].at(-1).querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual([rows[0][2], rows[0][3], rows[0][4].split(":")[0]], ["drifting", "proposal", "the newest"]);
  assert.deepEqual([...new Set(rows.map((row) => row[2]))].sort(), ["drifting", "route"]);
  service.kill("SIGTERM");
  await page.waitForFunction(() => /^The service (has stopped|does not answer); trying again\. The figures are those of \d\d:\d\d:\d\d\.$/.test(document.getElementById("status").textContent), { timeout: 60000 });
  await page.close();
});
