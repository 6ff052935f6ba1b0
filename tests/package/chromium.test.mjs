// A real browser under a strict Content-Security-Policy, with and without a bundler.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import test from "node:test";
import { build } from "esbuild";
import { chromium, expected, has, launchChromium, optionalProgram, project, report, run } from "./harness.mjs";

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";
const POLICY_WITHOUT_WASM = "default-src 'none'; script-src 'self'; connect-src 'self'";
const MIME = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

const main = (from, start = "") => `
import * as cw from "${from}";
import { runCases } from "./cases.mjs";
import { assert } from "./assert.mjs";
(async () => {
  ${start}
  return runCases(cw, assert, ${JSON.stringify(expected)});
})().then((results) => { globalThis.results = results; }, (error) => { globalThis.failure = String(error?.stack ?? error); });
`;
const page = (script) => `<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="${script}"></script>`;

test("Chromium", async (t) => {
  if (!has(t, chromium.path, chromium)) return;
  const browser = await launchChromium(t);

  await t.test("esbuild bundle", async (t) => {
    const folder = await project("chromium-esbuild", { "main.mjs": main("contextweaver"), "index.html": page("/bundle.js") });
    const { warnings } = await build({
      entryPoints: [join(folder, "main.mjs")],
      bundle: true,
      format: "esm",
      outfile: join(folder, "bundle.js"),
      logLevel: "silent",
    });
    assert.deepEqual(warnings, []);
    await report(t, await visit(t, browser, folder));
  });

  await t.test("no bundler, relative imports", async (t) => {
    const folder = await project("chromium-plain", {
      "main.mjs": main("./node_modules/contextweaver/dist/index.js"),
      "index.html": page("/main.mjs"),
    });
    await report(t, await visit(t, browser, folder));
  });

  await t.test("slim entry with streamed modules", async (t) => {
    const folder = await project("chromium-slim", {
      "main.mjs": main(
        "./node_modules/contextweaver/dist/slim.js",
        `const dist = "/node_modules/contextweaver/dist/wasm/";
         const [agent, routing, decisions] = ["agent", "routing", "decisions"].map((name) => fetch(dist + name + "_bg.wasm"));
         await cw.init({ agent, routing, decisions });`,
      ),
      "index.html": page("/main.mjs"),
    });
    await report(t, await visit(t, browser, folder));
  });

  await t.test("the exports of the modules", async (t) => {
    const folder = await project(
      "chromium-exports",
      {
        "main.mjs": `
import { runExportCases } from "./exports.mjs";
import { assert } from "./assert.mjs";
runExportCases("./node_modules/contextweaver/dist", assert, ${JSON.stringify(expected)})
  .then((results) => { globalThis.results = results; }, (error) => { globalThis.failure = String(error?.stack ?? error); });`,
        "index.html": page("/main.mjs"),
      },
      { also: ["exports.mjs"] },
    );
    await report(t, await visit(t, browser, folder));
  });

  await t.test("Vite build", async (t) => {
    const vite = await optionalProgram("vite");
    if (!has(t, vite.path, { ...vite, optional: true })) return;
    const folder = await project("chromium-vite", { "main.mjs": main("contextweaver"), "index.html": page("/main.mjs") });
    await run(vite.path, ["build", "--logLevel", "warn"], { cwd: folder });
    await report(t, await visit(t, browser, join(folder, "dist")));
  });

  await t.test("a policy without 'wasm-unsafe-eval' fails with an error that says so", async (t) => {
    const folder = await project("chromium-no-wasm", {
      "main.mjs": `import("./node_modules/contextweaver/dist/index.js")
        .then((cw) => { globalThis.results = cw.version(); })
        .catch((error) => { globalThis.failure = error.code + " " + error + " " + error.hint; });`,
      "index.html": page("/main.mjs"),
    });
    await assert.rejects(visit(t, browser, folder, POLICY_WITHOUT_WASM), /UNSUPPORTED .*(Content Security Policy|wasm-unsafe-eval)/);
  });
});

/** Serves a folder under the policy, opens its page and returns what the page found. */
async function visit(t, browser, folder, policy = POLICY) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = path === "/" ? "index.html" : path;
    try {
      const body = await readFile(join(folder, file));
      response.writeHead(200, { "content-type": MIME[extname(file)] ?? "text/plain", "content-security-policy": policy });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  const tab = await browser.newPage();
  const problems = [];
  tab.on("pageerror", (error) => problems.push(String(error)));
  tab.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  try {
    await tab.goto(`http://127.0.0.1:${server.address().port}/`);
    // Not waitForFunction: it compiles its argument in the page, which the policy forbids.
    for (let i = 0; i < 600; i += 1) {
      const { results, failure } = await tab.evaluate(() => ({ results: globalThis.results, failure: globalThis.failure }));
      if (failure) throw new Error(failure);
      if (results) return results;
      await new Promise((wait) => setTimeout(wait, 50));
    }
    throw new Error(`the page gave no result: ${problems.join("; ") || "no error was reported"}`);
  } finally {
    await tab.close();
  }
}
