// Published servers behind one gateway, by the official SDK: what they list is there, what they answer can be used, and nothing is left
// running. They are no part of the project: CONTEXTWEAVER_TEST_SERVERS names a folder where somebody has installed them.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { configured, connected, gatewayIn, handleIn, textOf } from "./gateway-harness.mjs";
import { chromium, has, project, run, until } from "./harness.mjs";

const SERVERS = process.env.CONTEXTWEAVER_TEST_SERVERS;
const folder = await project("gateway-published", {});
const repo = join(folder, "repo");
const home = join(folder, "home");
const browser = ["--headless", "--isolated"];

/** Those that start without credentials and a network: the program in its package, and what it is given. */
const PROGRAMS = {
  playwright: { file: "@playwright/mcp/cli.js", args: [...browser, "--no-sandbox", "--executable-path", chromium.path ?? ""] },
  context7: { file: "@upstash/context7-mcp/dist/index.js" },
  notion: { file: "@notionhq/notion-mcp-server/bin/cli.mjs" },
  desktop: { file: "@wonderwhy-er/desktop-commander/dist/index.js", env: { HOME: home } },
  mongodb: { file: "mongodb-mcp-server/dist/esm/index.js", env: { MDB_MCP_TELEMETRY: "disabled" } },
  git: { file: "@cyanheads/git-mcp-server/dist/index.js", env: { MCP_TRANSPORT_TYPE: "stdio" } },
  fetch: { file: "mcp-fetch-server/dist/index.js" },
  pdf: { file: "@modelcontextprotocol/server-pdf/dist/index.js", args: ["--stdio"] },
  devtools: {
    file: "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js",
    args: [...browser, "--chromeArg=--no-sandbox", "--executablePath", chromium.path ?? ""],
  },
  exa: { file: "exa-mcp-server/dist/stdio.cjs" },
};
const missing =
  "CONTEXTWEAVER_TEST_SERVERS names no folder with published servers (npm install --ignore-scripts @playwright/mcp @upstash/context7-mcp @notionhq/notion-mcp-server @wonderwhy-er/desktop-commander mongodb-mcp-server @cyanheads/git-mcp-server mcp-fetch-server @modelcontextprotocol/server-pdf chrome-devtools-mcp exa-mcp-server)";

function installed() {
  const entries = Object.entries(PROGRAMS).map(([name, { file, args = [], env }]) => [
    name,
    { command: process.execPath, args: [join(SERVERS ?? "", "node_modules", file), ...args], cwd: folder, ...(env && { env }) },
  ]);
  return Object.fromEntries(
    SERVERS === undefined
      ? []
      : entries.filter(
          ([
            ,
            {
              args: [file],
            },
          ]) => existsSync(file),
        ),
  );
}

/** A repository with more history than a result shows. */
async function history() {
  await mkdir(repo, { recursive: true });
  await mkdir(home, { recursive: true });
  const git = (...args) => run("git", args, { cwd: repo });
  await git("init", "-q");
  for (const [name, value] of [
    ["user.email", "a@example.com"],
    ["user.name", "A"],
  ])
    await git("config", name, value);
  for (let at = 0; at < 30; at += 1) {
    await writeFile(join(repo, "stations.txt"), `station ${at}\n`);
    await git("add", "-A");
    await git("commit", "-qm", `Adjust the reading of station ${at}, which was ${at * 37} metres off its place`);
  }
}

/** Processes that were started below another, and run. */
async function below(pid) {
  const { stdout } = await run("ps", ["-eo", "pid=,ppid="], {});
  const all = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const of = (parent) => all.filter(([, ppid]) => ppid === parent).flatMap(([child]) => [child, ...of(child)]);
  return of(pid);
}

const runs = (pid) =>
  readFile(`/proc/${pid}/stat`, "utf8").then(
    (stat) => !/\) Z /.test(stat),
    () => false,
  );

for (const mode of ["firewall", "search"]) {
  test(`published servers behind one gateway, ${mode} mode`, async (t) => {
    const servers = installed();
    if (!has(t, Object.keys(servers).length > 0, { missing, optional: true })) return;
    await history();
    const direct = {};
    for (const [name, program] of Object.entries(servers)) {
      const alone = await connected(t, "SDK 1.x", { program: { ...program, env: { ...process.env, ...program.env } } });
      direct[name] = (await alone.client.listTools()).tools;
      await alone.close();
    }
    const config = await configured(folder, `${mode}.json`, servers, { mode });
    const user = await connected(t, mode === "firewall" ? "SDK 1.x" : "SDK 2.x, auto", { program: gatewayIn(folder, config).stdio(), capabilities: {} });
    await until(`all have answered: ${user.stderr()}`, () => Object.keys(servers).every((name) => user.stderr().includes(` ${name}:`)));
    for (const name of Object.keys(servers)) assert.match(user.stderr(), new RegExp(`ok ${name}: ${direct[name].length} tools`), name);
    const call = (name, given = {}) => (mode === "firewall" ? user.call(name, given) : user.call("call_tool", { name, arguments: given }));
    if (mode === "firewall") {
      const shown = new Set(await user.names());
      for (const [server, tools] of Object.entries(direct)) {
        for (const { name, _meta } of tools) {
          // What is for views alone is not for a model, and this client shows none.
          const isForViews = _meta?.ui?.visibility?.includes("model") === false;
          assert.equal(shown.has(name) || shown.has(`${server}__${name}`), !isForViews, `${name} of ${server}`);
        }
      }
    }
    if (servers.git) {
      const log = await call("git_log", { path: repo, maxCount: 30 });
      assert.match(textOf(log), /station 29/);
      const found = await user.call("drilldown", { handle: handleIn(log), selector: { type: "search", pattern: "station 13" } });
      assert.match(textOf(found), /station 13/);
    }
    if (servers.desktop) assert.match(textOf(await call("read_file", { path: join(repo, "stations.txt") })), /station 29/);
    if (servers.pdf) assert.ok(!textOf(await call("list_pdfs")).includes("ARGS_INVALID"));
    if (mode === "search" && servers.pdf)
      assert.ok(!textOf(await user.call("search_tools", { query: "read bytes of a pdf" })).includes("read_pdf_bytes"), "a tool for views alone is found");
    if (servers.playwright && chromium.path) {
      await call("browser_navigate", { url: "about:blank" });
      // It lists `scale` under `required`, with a default.
      assert.ok(!textOf(await call("browser_take_screenshot")).includes("ARGS_INVALID"));
    }
    const children = await below(user.transport.pid);
    assert.ok(children.length >= Object.keys(servers).length);
    await user.close();
    await until("nothing runs that was started", async () => (await Promise.all(children.map(runs))).every((is) => !is));
    t.diagnostic(`${Object.keys(servers).length} servers, ${Object.values(direct).flat().length} tools, ${children.length} processes`);
  });
}
