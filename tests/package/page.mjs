// What the tests of the page share: a static host, a tab that must stay clean, pictures, and what axe says.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium, firefox, has, launchChromium, launchFirefox, page, root, temporaryFolder } from "./harness.mjs";

const MIME = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm" };
/** Pictures of every run. */
const PICTURES = join(root, "target", "page");
/** Those of the documentation; made anew only when asked for, so that tests leave the tree as it was. */
const IMAGES = join(root, "docs", "images");
const OF_DOCUMENTATION = /^(?:context|tools|mcp|decisions)-(?:1440|1280|390)-(?:light|dark)$/;
const isAsked = process.env.CONTEXTWEAVER_UPDATE_IMAGES === "1";
export const WIDE = { width: 1440, height: 900 };
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };
export const inFirefox = process.env.CONTEXTWEAVER_TEST_BROWSER === "firefox";
/** A static host may serve the page from any folder. */
const FOLDER = "/some/where/";

/**
 * Starts a browser and a host; nothing when one is missing, which is said loudly. Without `header` the host sends no policy,
 * and the page has but its own. It does not serve the files that are put into `absent`.
 */
export async function prepare(t, { header = true } = {}) {
  const wanted = inFirefox ? firefox : chromium;
  if (!has(t, wanted.path, wanted) || !has(t, page.path, page)) return undefined;
  // Every test opens a page of its own, for seconds: optimising its modules takes longer than it gains.
  const browser = inFirefox ? await launchFirefox(t) : await launchChromium(t, ["--js-flags=--liftoff-only"]);
  const absent = new Set();
  const served = [];
  const address = await serve(t, header, absent, served);
  return { browser, address, absent, served, open: (t, { at = address, ...options } = {}) => visit(t, browser, at, options) };
}

/** Serves the page, under its own policy and with nobody to frame it, and notes what it sent. */
async function serve(t, header, absent, served) {
  const source = await readFile(join(page.path, "index.html"), "utf8");
  const [, own] = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(source) ?? assert.fail("the page has no policy");
  const policy = `${own}; frame-ancestors 'none'`;
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const name = path === FOLDER ? "index.html" : path.slice(FOLDER.length);
    try {
      if (!path.startsWith(FOLDER) || absent.has(name)) throw new Error("not the page");
      // As hosts do that compress what they serve.
      const body = gzipSync(await readFile(join(page.path, name)), { level: 6 });
      const type = MIME[extname(name)] ?? "application/octet-stream";
      served.push({ name, bytes: body.length });
      response.writeHead(200, { "content-type": type, "content-encoding": "gzip", ...(header && { "content-security-policy": policy }) }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}${FOLDER}`;
}

/**
 * Opens the page and waits for what it shows first; errors that are not `expected` and requests elsewhere fail the test at its end.
 */
async function visit(t, browser, address, { fragment = "", first = ["#context-status", /shop\.jsonl · 44 calls/], expected, ...options } = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const tab = await context.newPage();
  const problems = [];
  if (inFirefox) {
    // There Playwright adds to what stands in a field for a number.
    const fill = tab.fill.bind(tab);
    tab.fill = async (selector, text) => {
      if ((await tab.getAttribute(selector, "type")) !== "number") return fill(selector, text);
      await tab.locator(selector).evaluate((field, value) => {
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        field.dispatchEvent(new Event("change", { bubbles: true }));
      }, text);
    };
  }
  // Firefox says of what a policy stops that it is an error of the page.
  tab.on("pageerror", (error) => expected?.test(String(error)) || problems.push(String(error)));
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && !expected?.test(message.text()) && problems.push(message.text()));
  tab.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("data:") && !url.startsWith("blob:")) problems.push(`a request to ${url}`);
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(problems, []);
  });
  await tab.goto(address + fragment);
  await shows(tab, ...first);
  return tab;
}

/** Waits until what is read matches, a minute at most: much else may run beside it. Not waitForFunction: it compiles its argument, which the policy forbids. */
export async function until(read, pattern) {
  let found;
  for (let i = 0; i < 1200; i += 1) {
    found = await read().catch(() => "");
    if (pattern.test(found ?? "")) return found;
    await new Promise((wait) => setTimeout(wait, 50));
  }
  assert.match(found ?? "", pattern);
  return found;
}

/** Opens one prompt of the sample; `fragment` is what else the address says. */
export const onePrompt = (open, t, { fragment = "", ...options } = {}) =>
  open(t, { fragment: `#tab=context${fragment === "" ? "" : `&${fragment.slice(1)}`}`, first: ["#log-status", /139 items/], ...options });

/** Opens a part that is folded. */
export async function unfold(tab, selector) {
  if (!(await tab.locator(selector).evaluate((node) => node.open))) await tab.click(`${selector} > summary`);
}

/** Waits until an element has such a text. */
export const shows = (tab, selector, pattern) => until(() => tab.locator(selector).first().textContent({ timeout: 1000 }), pattern);
/** Waits until the address has such a fragment. */
export const addressed = (tab, pattern) => until(() => tab.evaluate(() => decodeURIComponent(location.hash.replaceAll("+", " "))), pattern);

/** Opens a file. From the disk: a file that Playwright makes itself is put together on the page's main thread. */
export async function choose(tab, tabName, name, content) {
  const folder = await temporaryFolder("page");
  const path = join(folder, name);
  await writeFile(path, content);
  // The page reads it later.
  await tab.setInputFiles(`#${tabName}-file`, path);
}

export async function drop(tab, name, text) {
  const dataTransfer = await tab.evaluateHandle(
    ([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      return data;
    },
    [name, text],
  );
  await tab.dispatchEvent("body", "drop", { dataTransfer });
}

/** Takes a picture. A caret hidden by Playwright would be a style that the policy forbids. */
export async function picture(tab, name, options = {}) {
  const isKept = isAsked && OF_DOCUMENTATION.test(name);
  const folder = isKept ? IMAGES : PICTURES;
  await mkdir(folder, { recursive: true });
  // Those that are kept take a third of the space this way.
  const form = isKept ? { path: join(folder, `${name}.jpg`), type: "jpeg", quality: 55 } : { path: join(folder, `${name}.png`) };
  await tab.screenshot({ ...form, caret: "initial", ...options });
}

/** Fails when axe finds anything, a text has too little contrast, a control no name or no size, or the page is too wide. */
export async function accessible(tab) {
  const { default: AxeBuilder } = await import("@axe-core/playwright");
  // In one go: the policy of the page is for its own scripts, and axe would open a second tab for its results.
  const axe = new AxeBuilder({ page: tab }).setLegacyMode(true).options({ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } });
  const { violations } = await axe.analyze();
  const told = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 4)
        .map(({ html, failureSummary }) => `${html}\n${failureSummary}`)
        .join("\n")}`,
  );
  assert.deepEqual(told, []);
  await fits(tab);
}

/** The part of it that axe leaves open, and that takes no time. */
export async function fits(tab) {
  const { width, most, low, unnamed } = await tab.evaluate(audit);
  assert.ok(width <= most, `the page is ${width} pixels wide in a window of ${most}`);
  assert.deepEqual(low, []);
  assert.deepEqual(unnamed, []);
}

/** Runs in the page: its width, texts of low contrast (AA), controls without a name. */
function audit() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const light = (color) => {
    const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = channels(color).map((value) => linear(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (channels(color)[3] !== 0) return color;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  const low = new Set();
  for (const node of document.querySelectorAll("body *")) {
    const speaks = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim() !== "");
    if (!speaks || !node.checkVisibility() || node.closest(":disabled, [aria-hidden=true]")) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.add(`${node.tagName}.${node.className}: ${ratio.toFixed(2)}`);
  }
  const unnamed = [...document.querySelectorAll("button, input, select, textarea, [role=img], [role=region], [role=grid]")]
    .filter((node) => node.checkVisibility() && !node.labels?.length && !node.textContent && !node.ariaLabel)
    .map((node) => node.id || node.outerHTML.slice(0, 80));
  return { width: document.scrollingElement.scrollWidth, most: innerWidth, low: [...low], unnamed };
}
