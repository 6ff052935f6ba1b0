// Runs every example with the installed package, in the runtime it is for.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import test from "node:test";
import { chromium, has, here, project, root, run } from "./harness.mjs";
import { session } from "./behaviour.mjs";

const examples = join(root, "examples");
/** A project with the package and one example's files. */
async function example(name) {
  const folder = await project(`example-${name}`);
  await cp(join(examples, name), folder, { recursive: true, filter: (path) => !path.includes("node_modules") });
  return folder;
}

test("examples are short", async () => {
  for (const file of ["node/agent.mjs", "node/route.mjs", "agent/agent.ts", "agent/model.ts", "worker/worker.ts", "browser/index.html", "browser/app.js"]) {
    const lines = (await readFile(join(examples, file), "utf8")).split("\n").length - 1;
    assert.ok(lines <= 60, `${file} has ${lines} lines`);
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
  const files = await mkdtemp(join(await realpath(tmpdir()), "contextweaver-agent-"));
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

test("worker/worker.ts in workerd", async (t) => {
  const installed = existsSync(join(here, "node_modules", "workerd"));
  if (!has(t, installed, { missing: "workerd is not installed for this platform" })) return;
  const { Miniflare } = await import("miniflare");
  const { bundleWorker } = await import("./workerd-bundle.mjs");
  const modules = await bundleWorker(join(await example("worker"), "worker.ts"));
  const worker = new Miniflare({ modules, modulesRoot: "/", compatibilityDate: "2025-01-01" });
  t.after(() => worker.dispose());
  const post = async (body, path = "/build") => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await worker.dispatchFetch(`http://localhost${path}`, { method: "POST", body: text });
    return { status: response.status, body: await response.json() };
  };

  const good = { items: session(), build: { phase: "answer", query: "overdue", budget_tokens: 90 } };
  for (let i = 0; i < 3; i += 1) {
    const { status, body } = await post(good);
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(body.tokens <= 90 && body.prompt.includes("[POLICY]"));
    assert.deepEqual(body.dropped.find((drop) => drop.item_id === "s1")?.reason, "sensitivity");
  }
  const problems = {
    400: ["{", { code: "DECODE_FAILED" }],
    404: [good, { code: "NOT_FOUND" }, "/"],
    413: ["x".repeat(5 * 1024 * 1024), { code: "TOO_LARGE" }],
    422: [{ ...good, items: [{ id: "a", kind: "nope", text: "" }] }, { code: "INVALID_INPUT", path: "/items/0/kind" }],
  };
  for (const [status, [request, expected, path]] of Object.entries(problems)) {
    const answer = await post(request, path);
    assert.equal(answer.status, Number(status));
    assert.deepEqual({ ...answer.body, message: undefined, ...expected }, { ...answer.body, message: undefined });
  }
  for (const odd of ["null", "[]", "1", '{"items":5}', '{"items":[],"build":{"__proto__":1}}']) {
    assert.ok([400, 422, 500].includes((await post(odd).catch(() => ({ status: 500 }))).status), odd);
  }
  assert.equal((await post(good)).status, 200, "and the next request is served");
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
