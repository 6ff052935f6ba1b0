// Records the sessions in benches/cost/sessions: a scripted agent on published MCP servers, no model. What it calls next is made of
// what came back, so that each session can be labelled by what it really copied.
//
//   node benches/cost/record.mjs [--work <folder>] [--only coding-1,data-2] [--questions 8]
//
// Installs the servers into the work folder (default target/bench/recorder), without their install scripts. The sources of this
// package are part of what is recorded: another commit gives other sessions.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { tmpdir } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";

import { install } from "../npm.mjs";
import { Agent, Servers } from "./record/agent.mjs";
import { questions } from "./record/evidence.mjs";
import { compiler, conversions, gatewayTimeouts } from "./record/coding.mjs";
import { drift, reconciliation } from "./record/data.mjs";
import { questions as catalogQuestions } from "./record/catalog.mjs";
import { codes, desk, wave } from "./record/support.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const home = dirname(dirname(here));
const { values: args } = parseArgs({
  options: {
    work: { type: "string", default: join(home, "target/bench/recorder") },
    only: { type: "string" },
    questions: { type: "string", default: "8" },
  },
});

const SESSIONS = {
  "coding-1": compiler,
  "coding-2": gatewayTimeouts,
  "coding-3": conversions,
  "data-1": reconciliation,
  "data-2": drift,
  "support-1": desk,
  "support-2": codes,
  "support-3": wave,
  catalog: catalogQuestions,
};
const SERVERS = {
  filesystem: "@modelcontextprotocol/server-filesystem@2026.8.31",
  memory: "@modelcontextprotocol/server-memory@2026.8.31",
  postgres: "@modelcontextprotocol/server-postgres@0.6.2",
  commands: "mcp-server-commands@0.5.0",
  git: "@cyanheads/git-mcp-server@2.15.3",
};
/** The database that the Postgres server talks to. */
const DATABASE = ["@electric-sql/pglite@0.5.14", "@electric-sql/pglite-socket@0.2.17"];
const SDK = "@modelcontextprotocol/sdk@1.32.2";
const PROGRAMS = {
  filesystem: "@modelcontextprotocol/server-filesystem/dist/index.js",
  memory: "@modelcontextprotocol/server-memory/dist/index.js",
  postgres: "@modelcontextprotocol/server-postgres/dist/index.js",
  commands: "mcp-server-commands/build/index.js",
  git: "@cyanheads/git-mcp-server/dist/index.js",
};
const installed = (path) => join(resolve(args.work), "node_modules", path);

for (const spec of [SDK, ...Object.values(SERVERS), ...DATABASE]) {
  const problem = install(resolve(args.work), spec);
  if (problem !== undefined) throw new Error(`${spec} cannot be installed: ${problem}`);
}

/** Sources with made-up credentials, which whoever scans recordings would report. */
const SECRETS = /redact|secret|canar/;

/** Writes the material of a session into a folder of its own. */
function lay(folder, { files = {}, folders = [], commits = [] }) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const path of folders) cpSync(join(home, path), join(folder, path), { recursive: true, filter: (from) => !SECRETS.test(relative(home, from)) });
  for (const path of ["reports", "orders", "drafts", "carriers", "answers"]) mkdirSync(join(folder, path), { recursive: true });
  if (commits.length === 0) return;
  const author = { GIT_AUTHOR_NAME: "Robin Example", GIT_AUTHOR_EMAIL: "robin@team.example", GIT_AUTHOR_DATE: "2026-11-02T09:00:00Z" };
  const committer = Object.fromEntries(Object.entries(author).map(([name, value]) => [name.replace("AUTHOR", "COMMITTER"), value]));
  const git = (...command) => execFileSync("git", command, { cwd: folder, env: { ...process.env, ...author, ...committer }, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  for (const [message, changed] of commits) {
    for (const [path, text] of Object.entries(changed)) writeFileSync(join(folder, path), text);
    git("add", "-A");
    git("commit", "-q", "-m", message);
  }
}

/** A database with the tables of a session, that the Postgres server can reach. */
async function database(sql) {
  const { PGlite } = await import(pathToFileURL(installed("@electric-sql/pglite/dist/index.js")));
  const { PGLiteSocketServer } = await import(pathToFileURL(installed("@electric-sql/pglite-socket/dist/index.js")));
  const db = await PGlite.create();
  await db.exec(sql);
  const port = 15_432;
  const server = new PGLiteSocketServer({ db, port, host: "127.0.0.1", maxConnections: 10 });
  await server.start();
  const close = async () => {
    await server.stop();
    await db.close();
  };
  return { url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`, close };
}

async function record(name, { material, run }) {
  const work = mkdtempSync(join(tmpdir(), "contextweaver-record-"));
  const folder = join(work, "project");
  const graph = join(work, "graph.jsonl");
  const { sql, ...files } = material(home);
  lay(folder, files);
  const db = sql === undefined ? undefined : await database(sql);
  const more = { filesystem: [folder], postgres: [db?.url], memory: [], commands: [], git: [] };
  const commands = Object.fromEntries(
    Object.entries(PROGRAMS).map(([server, path]) => [
      server,
      { command: process.execPath, args: [installed(path), ...more[server]], env: { MEMORY_FILE_PATH: graph, MCP_LOG_LEVEL: "error" } },
    ]),
  );
  const servers = new Servers(commands, folder, sdk);
  try {
    const agent = new Agent(servers);
    await run(agent);
    const labelled = questions(agent.items, Number(args.questions));
    const session = { id: name, items: agent.items, queries: labelled };
    writeFileSync(join(here, "sessions", `${name}.json.gz`), gzipSync(JSON.stringify(session), { level: 9 }));
    const tokens = agent.items.reduce((sum, { text }) => sum + Math.ceil(text.length / 4), 0);
    console.log(`${name}: ${agent.items.filter(({ kind }) => kind === "tool_call").length} steps, ${tokens} tokens, ${labelled.length} questions`);
  } finally {
    await servers.close();
    await db?.close();
    rmSync(work, { recursive: true });
  }
}

const entry = (path) => import(pathToFileURL(installed(`@modelcontextprotocol/sdk/dist/esm/client/${path}.js`)));
const sdk = { ...(await entry("index")), ...(await entry("stdio")) };
for (const [name, session] of Object.entries(SESSIONS)) if (args.only === undefined || args.only.split(",").includes(name)) await record(name, session);
