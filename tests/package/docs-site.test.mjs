// The site of the documents, built for a folder of a host and opened: every page and every link, the search, the page of the demo.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, posix } from "node:path";
import test from "node:test";
import { chromium, firefox, has, launchChromium, launchFirefox, page, root, run } from "./harness.mjs";
import { PHONE, shows } from "./page.mjs";

const BASE = "/some/where/";
const CHROMIUM = { name: "Chromium", program: chromium, launch: launchChromium };
const FIREFOX = { name: "Firefox", program: firefox, launch: launchFirefox };
const MIME = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".jpg": "image/jpeg",
};
const generator = join(root, "docs-site", "node_modules", "vitepress", "bin", "vitepress.js");
const site = join(process.env.CONTEXTWEAVER_TEST_PROJECTS, "docs-site");

test("the site of the documents", async (t) => {
  if (!has(t, existsSync(generator), { missing: "the generator of the site is not installed: cargo xtask docs" }) || !has(t, page.path, page)) return;
  await mkdir(site, { recursive: true });
  await run(process.execPath, [generator, "build", join(root, "docs-site")], { cwd: root, env: { DOCS_BASE: BASE, DOCS_OUT: site, DOCS_DEMO: page.path } });
  const pages = (await readdir(site, { recursive: true })).filter((file) => file.endsWith(".html") && !file.startsWith("demo") && file !== "404.html");

  await t.test("has every document, and leads to nothing that is not there", async () => {
    const documents = (await readdir(join(root, "docs"))).filter((file) => file.endsWith(".md"));
    for (const document of documents) assert.ok(pages.includes(`docs/${document.replace("README", "index").replace(/md$/, "html")}`), document);
    const texts = new Map(await Promise.all(pages.map(async (file) => [file, await readFile(join(site, file), "utf8")])));
    let followed = 0;
    for (const [file, text] of texts) {
      for (const [, target] of text.matchAll(/<(?:a|img)\b[^>]*?\s(?:href|src)="([^"]+)"/g)) {
        if (target.startsWith("data:")) continue;
        // There is no address of the project to lead to, and pictures, scripts and fonts are of the site itself.
        assert.doesNotMatch(target, /^(?:[a-z]+:)?\/\//, `${file}: ${target}`);
        const [path, anchor] = target.replaceAll("&amp;", "&").split("#");
        const at = path === "" ? file : path.startsWith(BASE) ? path.slice(BASE.length) : posix.join(posix.dirname(file), path);
        const to = at === "" || at === "." || at.endsWith("/") || at === "docs" ? posix.join(at, "index.html") : at;
        assert.ok(existsSync(join(site, to)), `${file}: ${target}`);
        if (anchor && texts.has(to)) assert.ok(texts.get(to).includes(`id="${anchor}"`), `${file}: no heading for ${target}`);
        followed += 1;
      }
      for (const [address] of text.matchAll(/<(?:script|link)\b[^>]*?\s(?:href|src)="(?:https?:)?\/\/[^"]*"/g)) assert.fail(`${file} fetches ${address}`);
    }
    assert.ok(followed > 1_000, `${followed} links`);
  });

  await t.test("every page opens without an error, asks for nothing elsewhere, and fits a phone", async (t) => {
    const opened = await visitor(t, CHROMIUM);
    if (!opened) return;
    const { tab, address } = opened;
    await tab.setViewportSize(PHONE);
    for (const file of pages) {
      await tab.goto(address + file);
      await shows(tab, "main h1", /\w/);
      const wide = await tab.evaluate(() => document.scrollingElement.scrollWidth);
      assert.ok(wide <= PHONE.width, `${file}: ${wide} pixels`);
      const broken = await tab.evaluate(() => [...document.images].filter((image) => image.complete && image.naturalWidth === 0).map(({ src }) => src));
      assert.deepEqual(broken, [], file);
    }
  });

  for (const browser of [CHROMIUM, FIREFOX]) {
    await t.test(`the search finds drilldown, and leads there: ${browser.name}`, async (t) => {
      const opened = await visitor(t, browser);
      if (!opened) return;
      const { tab, address } = opened;
      await tab.goto(address);
      await tab.click(".DocSearch-Button");
      await tab.fill(".search-input", "drilldown");
      await shows(tab, ".results .result", /\w/);
      const found = await tab.locator(".results .result").evaluateAll((results) => results.map(({ href }) => href));
      assert.ok(
        found.some((href) => /\/docs\/results\.html/.test(href)),
        found.join("\n"),
      );
      await tab.locator(".results .result").first().click();
      await shows(tab, "main h1", /\w/);
      assert.match(tab.url(), new RegExp(`${BASE}.+\\.html`));
    });

    await t.test(`the kinds of pages stand beside, and the demo is a part of it: ${browser.name}`, async (t) => {
      const opened = await visitor(t, browser);
      if (!opened) return;
      const { tab, address } = opened;
      await tab.goto(`${address}docs/costs.html`);
      const kinds = await tab.locator(".VPSidebar .group h2").allTextContents();
      assert.deepEqual(kinds, ["Start", "Tutorial", "How-to", "Explanation", "Reference"]);
      await tab.locator(".VPNavBar").getByRole("link", { name: "Demo" }).click();
      await shows(tab, "#headline", /44 model calls/);
      await tab.click("#cut-after");
      await shows(tab, "#call-title", /Call \d+ of 44: a cut/);
    });
  }
});

/** A tab in a browser, and where the site is served; what the browser complains of fails the test. */
async function visitor(t, { program, launch }) {
  if (!has(t, program.path, program)) return undefined;
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    try {
      if (!path.startsWith(BASE)) throw new Error("not of the site");
      const body = await readFile(join(site, posix.normalize(path.slice(BASE.length))));
      response.writeHead(200, { "content-type": MIME[extname(path)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  let tab;
  const problems = [];
  // The page goes before its host does: it fetches ahead what its links lead to.
  t.after(async () => {
    await tab?.close();
    server.close();
    assert.deepEqual(problems, []);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${server.address().port}${BASE}`;
  const browser = await launch(t);
  tab = await browser.newPage();
  tab.on("pageerror", (error) => problems.push(String(error)));
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(`${message.text()} (${message.location().url})`));
  tab.on("request", (request) => /^(?:data|blob):/.test(request.url()) || request.url().startsWith(address) || problems.push(`a request to ${request.url()}`));
  return { tab, address };
}
