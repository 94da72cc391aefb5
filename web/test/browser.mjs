// The program, its pages, and a browser to open them in.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import puppeteer from "puppeteer-core";

export const program = path.resolve(process.env.UNCONFUSE || "build/release/unconfuse"); // commands run in a directory of their own
export const directory = mkdtempSync(path.join(tmpdir(), "unconfuse-web-"));
/** Where screenshots go; they are artefacts of the run. */
const screenshots = path.join(process.env.UNCONFUSE_BUILD || directory, "screenshots");

export function unconfuse(...words) {
  const result = spawnSync(program, words.map(String), { cwd: directory, encoding: "utf8", maxBuffer: 1e8 });
  if (result.status !== 0) throw new Error(`unconfuse ${words.join(" ")}: ${result.stderr}`);
  return result.stdout;
}

/** A Gaussian per class, as LIBSVM text. */
export function blobs(file, names, rows, columns = 4) {
  let state = 7;
  const uniform = () => ((state = (state * 1103515245 + 12345) % 2147483648) + 1) / 2147483649;
  const gauss = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(6.283185307 * uniform());
  const centres = names.map(() => Array.from({ length: columns }, () => 2 * uniform() - 1));
  const lines = Array.from({ length: rows }, () => {
    const k = Math.floor(uniform() * names.length);
    return `${names[k]} ${centres[k].map((c, j) => `${j + 1}:${(c + 0.5 * gauss()).toFixed(5)}`).join(" ")}`;
  });
  writeFileSync(path.join(directory, file), `${lines.join("\n")}\n`);
}

/** A table with ids, a column of text and three classes of rows, a quarter of whose labels are wrong; `texts` replace fields. */
export function table(file, names, rows, texts) {
  let state = 11;
  const uniform = () => ((state = (state * 1103515245 + 12345) % 2147483648) + 1) / 2147483649;
  const gauss = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(6.283185307 * uniform());
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const lines = Array.from({ length: rows }, (_, i) => {
    const z = Math.floor(uniform() * names.length), given = uniform() < 0.25 ? (z + 1) % names.length : z;
    const values = [0, 1, 2].map((j) => (gauss() + (j === z ? 5 : 0)).toFixed(4));
    const { id = `C-${1000 + i}`, note = `note ${i}` } = texts[i] ?? {};
    return [quoted(id), ...values, i, quoted(note), quoted(names[given])].join(",");
  });
  writeFileSync(path.join(directory, file), `row_id,a,b,c,price,note,label\n${lines.join("\n")}\n`);
}

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function launch() {
  const executablePath = BROWSERS.find(existsSync);
  return puppeteer.launch({ executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"], protocolTimeout: 120000 });
}

/** Opens a file; `messages` collects what the console, the policy and the network have to say: it must stay empty. */
export async function open(browser, file, { width = 1000, height = 900, dark = false } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(120000);
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("blob:")) messages.push(`request: ${request.url()}`); });
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.goto(`file://${path.join(directory, file)}`);
  return { page, messages };
}

export async function shoot(page, name) {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
}

export function read(file) {
  return readFileSync(path.join(directory, file), "utf8");
}

/** The page of another report: `file` with this JSON in place of its own. */
export function pageWith(file, copy, kind, report) {
  const json = JSON.stringify(report).replaceAll("<", "\\u003c");
  const text = read(file).replace(/(<script type="application\/json" id="report")[^>]*>.*?<\/script>/s,
    () => `<script type="application/json" id="report" data-page="${kind}" data-command="unconfuse ${kind} data.csv" data-version="0">${json}</script>`);
  writeFileSync(path.join(directory, copy), text);
}
