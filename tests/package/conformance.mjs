// Runs the official conformance suite of MCP, `@modelcontextprotocol/conformance`, against a server or a client: its
// stable release and the newest pre-release, each with all its scenarios at every revision that it knows.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { here, modernNode, run, runtimes, temporaryFolder } from "./harness.mjs";

/** The releases of the suite by the folder they are installed in. */
const RELEASES = ["conformance", "conformance-next"];
/** What the suite calls the scenarios that belong to no revision. */
export const EXTENSION = "extension";
/** How long one run of all scenarios at one revision may take, in milliseconds. They take less than ten seconds. */
const PATIENCE = 120_000;

/** What does not pass without a gateway, by scenario and revision, and why. */
const DIRECT = {
  "tasks-status-notifications at extension": "the suite has no check yet",
  "server-sse-polling at 0.1.16": "the suite calls as 2025-03-26, where no stream begins with an event that has an id",
  "auth/2025-03-26-oauth-metadata-backcompat at 0.1.16":
    "the suite's metadata names another issuer than its address, which the official SDK refuses; 0.2 is right",
};
/** Why a result cannot pass, whoever is between; nothing for one that must pass. */
export const reasonFor = ({ scenario, revision }) => DIRECT[`${scenario} at ${revision}`];

/**
 * The releases of the suite with their scenarios, or why they cannot run: `{ suites }` or `{ missing }`.
 * A suite is `{ version, scenarios: { server, client } }`, each a map from a scenario to its revisions.
 */
export async function conformanceSuites() {
  if (!runtimes) return { missing: "the optional runtimes are not installed, which have the conformance suite" };
  const node = await modernNode();
  if (!node.path) return { missing: `${node.missing}, which the conformance suite needs` };
  const suites = [];
  for (const release of RELEASES) {
    const folder = join(runtimes, "node_modules", release);
    if (!existsSync(folder)) return { missing: `the conformance suite is not installed (${release})` };
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const suite = { version, node: node.path, program: join(folder, "dist", "index.js") };
    suites.push({ ...suite, scenarios: await scenariosOf(suite) });
  }
  return { suites };
}

/** Reads the suite's own list of its scenarios: lines such as `- ping [2025-06-18,2025-11-25]` below a title. */
async function scenariosOf(suite) {
  const { stdout } = await run(suite.node, [suite.program, "list"], { timeout: PATIENCE });
  const scenarios = { server: new Map(), client: new Map() };
  let kind;
  for (const line of stdout.split("\n")) {
    const [, title] = /^(\w+) (?:\w+ )?scenarios /.exec(line) ?? [];
    if (title) kind = scenarios[title.toLowerCase()];
    const [, name, revisions] = /^\s+- (\S+) \[(.*)\]$/.exec(line) ?? [];
    if (name) kind?.set(name, revisions.split(","));
  }
  assert.ok(scenarios.server.size > 0 && scenarios.client.size > 0, `the list of scenarios was not understood:\n${stdout}`);
  return scenarios;
}

/**
 * The runs that cover all scenarios. A release before 0.2 says the same at each revision, so that it runs once; a later
 * one runs at each revision, and once at none in particular for its extensions.
 */
function runsOf(suite, kind) {
  const all = [...suite.scenarios[kind]];
  if (suite.version.startsWith("0.1.")) return [{ revision: suite.version, group: "all", only: [], scenarios: all.map(([name]) => name) }];
  const revisions = [...new Set(all.flatMap(([, known]) => known))].sort();
  return revisions.map((revision) => ({
    revision,
    // Only the client scenarios can be asked for their extensions alone.
    group: revision === EXTENSION && kind === "client" ? "extensions" : "all",
    only: revision === EXTENSION ? [] : ["--spec-version", revision],
    scenarios: all.filter(([, known]) => known.includes(revision)).map(([name]) => name),
  }));
}

/** Runs all server scenarios against the server at `url`. Returns a result for each scenario and revision. */
export const serverResults = (suite, url) => results(suite, "server", ["--url", url]);

/**
 * Runs all client scenarios with `client`, a function that gets `{ scenario, revision, url, context }`, talks with the
 * server at `url` as the scenario wants it, and throws where the client would end with an error.
 */
export async function clientResults(suite, client) {
  const relay = await relayTo(client);
  try {
    return await results(suite, "client", [
      "--command",
      `${process.execPath} ${join(here, "conformance-relay.mjs")} ${relay.url}`,
      "--timeout",
      `${PATIENCE / 2}`,
    ]);
  } finally {
    await relay.close();
  }
}

/**
 * A result is `{ suite, revision, scenario, status, passed, problems, skipped }`: `status` is `pass`, `fail`, `warn` or
 * `skip`, `passed` the names of checks, each of which may be made several times, and the other checks say what they found or why they did not look.
 */
async function results(suite, kind, args) {
  const found = [];
  for (const { revision, group, only, scenarios } of runsOf(suite, kind)) {
    const { checks, output } = await play(suite, kind, [...args, "--suite", group, ...only]);
    for (const scenario of scenarios) {
      const result = checks.has(scenario) ? summary(checks.get(scenario)) : lost(output);
      const known = { suite: suite.version, revision, scenario };
      const isDone = result.status === "pass" || reasonFor(known) !== undefined;
      found.push({ ...known, ...(isDone ? result : ((await passesAlone(suite, kind, [...args, ...only], known, result)) ?? result)) });
    }
  }
  return found;
}

/**
 * Some scenarios go by the clock: `server-stateless` gives a call half a second, `sse-retry` a client a fifth. Where everything
 * runs at once that says how busy the machine is, so what did not pass is run once more, alone. Nothing if it does not pass then.
 */
async function passesAlone(suite, kind, args, { revision, scenario }, { status, problems }) {
  const { checks } = await play(suite, kind, [...args, "--scenario", scenario]);
  const again = checks.has(scenario) ? summary(checks.get(scenario)) : undefined;
  if (again?.status !== "pass") return undefined;
  console.log(`${scenario} at ${revision} passes alone; beside the others: ${status}, ${problems.join("; ")}`);
  return again;
}

/** Runs the suite once. Returns what it checked, by scenario, and what it printed. */
async function play(suite, kind, args) {
  const folder = await temporaryFolder("conformance");
  try {
    const output = await run(suite.node, [suite.program, kind, ...args, "--output-dir", folder], { cwd: folder, check: false, timeout: PATIENCE });
    return { checks: await checksIn(folder, kind), output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The checks by scenario: each has a folder of its name and the time, below a folder where its name has a slash. */
async function checksIn(folder, kind) {
  const checks = new Map();
  for (const file of await readdir(folder, { recursive: true })) {
    const [, name] = /^(.*)-\d{4}-\d\d-\d\dT[\d-]+Z[/\\]checks\.json$/.exec(file) ?? [];
    if (!name) continue;
    const scenario = kind === "server" ? name.replace(/^server-/, "") : name.replaceAll("\\", "/");
    checks.set(scenario, JSON.parse(await readFile(join(folder, file), "utf8")));
  }
  return checks;
}

function summary(checks) {
  const having = (...statuses) => checks.filter(({ status }) => statuses.includes(status));
  const said = ({ id, status, errorMessage, details }) => `${id}: ${errorMessage ?? details?.message ?? details?.note ?? status}`;
  const passed = [...new Set(having("SUCCESS").map(({ id }) => id))];
  // The suite adds a check of its own to every scenario, of the form of the messages, which says nothing about the scenario.
  const own = having("SUCCESS").filter(({ id }) => !id.startsWith("wire-schema-")).length;
  const status = having("FAILURE").length > 0 ? "fail" : having("WARNING").length > 0 ? "warn" : own > 0 ? "pass" : "skip";
  return { status, passed, problems: having("FAILURE", "WARNING").map(said), skipped: having("SKIPPED").map(said) };
}

/** A scenario that left no checks: what the suite printed last says why. */
const lost = ({ stdout, stderr, code }) => ({
  status: "fail",
  passed: [],
  problems: [`no result, exit code ${code}: ${`${stdout}\n${stderr}`.trim().slice(-500)}`],
  skipped: [],
});

/**
 * Lets clients run in this process, though the suite starts a program for each: `conformance-relay.mjs` sends here what
 * it was started with, and ends as it is told. All scenarios start at once; a few clients run at a time.
 */
async function relayTo(client) {
  const waiting = [];
  let free = 4;
  const next = () => {
    while (free > 0 && waiting.length > 0) {
      free -= 1;
      waiting
        .shift()()
        .finally(() => ((free += 1), next()));
    }
  };
  const server = createServer(async (request, response) => {
    const started = JSON.parse(Buffer.concat(await request.toArray()).toString());
    waiting.push(async () => {
      const failed = await client(started).then(
        () => undefined,
        (error) => error,
      );
      response.end(JSON.stringify({ failed: failed && `${failed.stack ?? failed}` }));
    });
    next();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => (server.closeAllConnections(), new Promise((done) => server.close(done))),
  };
}
