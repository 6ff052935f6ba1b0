// Runs every example with the installed package, in the runtime it is for.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import test from "node:test";
import { chromium, has, here, project, root, run, temporaryFolder } from "./harness.mjs";

const examples = join(root, "examples");
/** A project with the package and one example's files. */
async function example(name) {
  const folder = await project(`example-${name}`);
  await cp(join(examples, name), folder, { recursive: true, filter: (path) => !path.includes("node_modules") });
  return folder;
}

test("examples are short", async () => {
  for (const file of [
    "node/agent.mjs",
    "node/route.mjs",
    "agent/agent.ts",
    "agent/model.ts",
    "worker/worker.ts",
    "worker-gateway/worker.ts",
    "worker-proxy/worker.ts",
    "browser/index.html",
    "browser/app.js",
  ]) {
    const lines = (await readFile(join(examples, file), "utf8")).split("\n").length - 1;
    assert.ok(lines <= 70, `${file} has ${lines} lines`);
  }
});

test("node/agent.mjs", async () => {
  const { stdout, stderr } = await run("node", ["agent.mjs"], { cwd: await example("node") });
  assert.equal(stderr, "");
  for (const line of [/result:c1 is large/, /^stored \d+ bytes as artifact:/m, /^looked into it: order 150: overdue/m]) {
    assert.match(stdout, line);
  }
  assert.match(stdout, /^\d+ of 900 tokens$/m);
  assert.match(stdout, /^left out note: sensitivity \(sensitivity\), \d+ tokens$/m);
  assert.doesNotMatch(stdout, /DE02/);
  assert.match(stdout, /^restored 7 items and 1 artifact$/m);
});

test("node/route.mjs", async () => {
  const { stdout, stderr } = await run("node", ["route.mjs"], { cwd: await example("node") });
  assert.equal(stderr, "");
  const [clear, nothing, unsure, ...more] = stdout.trimEnd().split("\n");
  assert.equal(clear, "cancel order 12446: 2 of 4 tools, the model takes mcp:shop/cancel_order with [TOOL SCHEMA]");
  assert.equal(nothing, "brew a coffee: nothing fits, answer without tools");
  assert.match(unsure, /^read the letter: ask back: .*'read_mail', 'read_post'.*\?$/);
  assert.deepEqual(more, []);
});

test("agent/agent.ts with an MCP server", async (t) => {
  const server = join(here, "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js");
  if (!has(t, existsSync(server), { missing: "the MCP server for files is not installed" })) return;
  const folder = await example("agent");
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(folder, "agent.ts")],
    outfile: join(folder, "agent.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    // The SDK comes from beside the tests; its dependencies of the old kind ask for `require`.
    nodePaths: [join(here, "node_modules")],
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
    logLevel: "silent",
  });
  const lines = Array.from({ length: 5000 }, (_, at) => `12:00:${String(at % 60).padStart(2, "0")} INFO order ${at} shipped`);
  lines[3333] = "12:00:33 ERROR order 4711 failed: the card was declined (E_CARD_DECLINED)";
  const files = await temporaryFolder("agent");
  t.after(() => rm(files, { recursive: true }));
  await writeFile(join(files, "server.log"), lines.join("\n"));
  const { stdout, stderr } = await run("node", ["agent.mjs", server, files], { cwd: folder });
  assert.equal(stderr, "");
  for (const line of [
    /^route: \d+ of \d+ tools in \d+ tokens$/m,
    /^call: read_text_file\(\{"path":".*server\.log"\}\)$/m,
    /^interpret: \d{6} bytes kept, looked into \d+ lines$/m,
    /^answer: \d+ messages, \d+ of 800 tokens$/m,
    /^Order 4711 failed: the card was declined \(E_CARD_DECLINED\)/m,
  ]) {
    assert.match(stdout, line);
  }
});

test("browser/index.html in Chromium", async (t) => {
  if (!has(t, chromium.path, chromium)) return;
  const folder = await example("browser");
  const server = createServer((request, response) => serve(folder, request, response));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  const playwright = await import("playwright-core");
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"];
  const browser = await playwright.chromium.launch({ executablePath: chromium.path, args });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => document.getElementById("numbers").textContent !== "");
  const read = () =>
    page.evaluate(() => ({
      numbers: document.getElementById("numbers").textContent,
      prompt: document.getElementById("prompt").textContent,
      dropped: [...document.querySelectorAll("#dropped tr")].map((row) => [...row.cells].map((cell) => cell.textContent)),
    }));
  const slide = (value) =>
    page.evaluate((budget) => {
      const slider = document.getElementById("budget");
      slider.value = budget;
      slider.dispatchEvent(new Event("input"));
    }, value);
  const first = await read();
  assert.match(first.numbers, /^\d+ of 120 tokens, \d+ of 19 items$/);
  assert.ok(first.prompt.includes("INV-7") && !first.prompt.includes("DE02"));
  assert.ok(first.dropped.some(([id, stage]) => id === "iban" && stage === "sensitivity"));
  await slide("400");
  assert.ok((await read()).dropped.length < first.dropped.length, "a larger budget drops less");
  assert.deepEqual(problems, []);
});

const MIME = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

async function serve(folder, request, response) {
  const path = normalize(new URL(request.url, "http://localhost").pathname);
  const file = path === "/" ? "index.html" : path;
  try {
    const body = await readFile(join(folder, file));
    response.writeHead(200, { "content-type": MIME[extname(file)] ?? "text/plain" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}
