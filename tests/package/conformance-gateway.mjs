// The conformance suite through the gateway: the same scenarios once more with the gateway between, what became different,
// and the page that says so.
import { spawn } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { clientResults, serverResults } from "./conformance.mjs";
import { packageDir, temporaryFolder } from "./harness.mjs";

/** How long the gateway may take to start or to end, in milliseconds. */
const PATIENCE = 15_000;
/** The line by which the gateway says where it listens. */
const LISTENING = /listening on (http:\S+)/;
/** How often a client is authorized before it gives up. */
const MOST_AUTHORIZATIONS = 3;
/** The document by which a client is known to an authorization server without registration, as the suite expects it. */
const CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json";

const load = (file) => import(pathToFileURL(join(packageDir, "dist", file)));
const sdk = { server: await import("@modelcontextprotocol/server"), client: await import("@modelcontextprotocol/client") };

/**
 * Starts the command in front of `servers`, entries of `mcpServers` by name. Returns its `url`, what it said so far
 * (`output()`), and `close()`.
 */
export async function startGateway(servers, { mode = "firewall" } = {}) {
  const folder = await temporaryFolder("gateway");
  const config = join(folder, "mcp.json");
  await writeFile(config, JSON.stringify({ mcpServers: servers }));
  const child = spawn(process.execPath, [join(packageDir, "bin", "contextweaver.js"), "gateway", "--config", config, "--mode", mode, "--http", "--port", "0"], {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const ended = new Promise((done) => child.once("close", done));
  const close = async () => {
    child.kill("SIGTERM");
    const forced = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    await ended;
    clearTimeout(forced);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const url = await new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error(`the gateway did not start within ${PATIENCE} ms:\n${output}`)), PATIENCE);
      child.once("error", fail);
      child.once("close", (code) => fail(new Error(`the gateway ended with ${code}:\n${output}`)));
      const read = (text) => {
        output += text;
        const found = LISTENING.exec(output);
        if (found) clearTimeout(late), done(found[1]);
      };
      child.stdout.setEncoding("utf8").on("data", read);
      child.stderr.setEncoding("utf8").on("data", read);
    });
    return { url, output: () => output, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The server scenarios against the gateway in front of the server at `url`. */
export async function serverResultsThroughGateway(suite, url, options) {
  const gateway = await startGateway({ upstream: { type: "http", url } }, options);
  try {
    return await serverResults(suite, gateway.url);
  } finally {
    await gateway.close();
  }
}

/** The client scenarios with a gateway of its own for each, whose only server is the scenario's. */
export const clientResultsThroughGateway = (suite, play) => clientResults(suite, (started) => play(started, connectThroughGateway));

/** What the configuration says about the authorization of a scenario: what its client was told beforehand. */
function oauthOf(scenario, context = {}) {
  if (!scenario.startsWith("auth/")) return undefined;
  const { client_id, client_secret, private_key_pem: private_key, signing_algorithm } = context;
  if (scenario.startsWith("auth/client-credentials")) return { client_id, client_secret, private_key, signing_algorithm };
  return { grant: "authorization_code", client_id, client_secret, client_metadata_url: CLIENT_DOCUMENT };
}

/** Scenarios whose credentials only an application has, which gives the gateway a provider of its own by `auth_provider`. */
const OWN_PROVIDER = ["auth/cross-app-access-complete-flow", "auth/enterprise-managed-authorization", "auth/wif-jwt-bearer", "auth/dpop", "auth/dpop-nonce"];

/**
 * The gateway in this process, with the command's own login but for those of {@link OWN_PROVIDER}. Its user agrees at once, as often as a client may be authorized.
 */
async function connectThroughGateway({ url, scenario, context, capabilities, authProvider, prepare }) {
  const { gateway } = await load("mcp-server.js");
  const { GatewayLogin } = await load("gateway/login.js");
  const isOwn = OWN_PROVIDER.includes(scenario);
  const oauth = isOwn ? undefined : oauthOf(scenario, context);
  const failed = [];
  let opened = 0;
  let login;
  let kept;
  let opening = Promise.resolve();
  /** Opens a page, takes the answer to the gateway, and has it connect again. */
  const open = async (page) => {
    opened += 1;
    if (opened > MOST_AUTHORIZATIONS) throw new Error(`the gateway wants to be authorized more than ${MOST_AUTHORIZATIONS} times`);
    const response = await fetch(page, { redirect: "manual" });
    await response.body?.cancel();
    await login.finish(new URL(response.headers.get("location")).searchParams);
    await handler.reconnect("suite");
  };
  const handler = gateway({
    mcpServers: { suite: { type: "http", url, ...(oauth && { oauth }) } },
    mode: "firewall",
    token: false,
    sdk,
    on_error: (error) => failed.push(error),
    auth_provider: (server, address) => {
      if (isOwn) return authProvider;
      login = new GatewayLogin({
        server,
        url: address,
        oauth,
        client: sdk.client,
        redirect: async () => "http://127.0.0.1:3000/callback",
        hint: "the test opens the page",
        show: (page) => (opening = opening.then(() => open(page)).catch((error) => void failed.push(error))),
        read: async () => kept,
        write: async (change) => void (kept = change(kept)),
      });
      return login;
    },
  });
  const client = new Client({ name: "conformance-client", version: "1.0.0" }, { capabilities, versionNegotiation: { mode: "auto" } });
  prepare(client);
  /** Waits until no page is open any more: what was opened may lead to another. */
  const settled = async () => {
    for (let before; before !== opening; ) await (before = opening);
  };
  const close = async () => {
    await client.close();
    await handler.close();
  };
  try {
    await handler.ready();
    if (isOwn && authProvider.answer) {
      await new StreamableHTTPClientTransport(new URL(url), { authProvider }).finishAuth(authProvider.answer);
      await handler.reconnect("suite");
    }
    await settled();
    await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch: (input, init) => handler(new Request(input, init)) }));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async authorized(work) {
      for (let before = -1; before !== opened; ) {
        before = opened;
        await work(client);
        // What was refused is done again once the user has agreed.
        await settled();
      }
      if (failed.length > 0) throw failed[0];
    },
    close,
  };
}

/** A scenario has one name in all releases of the suite, and a release before 0.2 is a column of its own. */
const keyOf = ({ scenario, revision }) => `${scenario} at ${revision}`;
const RANK = ["fail", "warn", "skip", "pass"];

/** Pairs the results of both ways. `worse`: it passed less through the gateway than it did directly, be it by one check. */
export function compare(direct, through) {
  const found = new Map(through.map((result) => [keyOf(result), result]));
  return direct.map((one) => {
    const other = found.get(keyOf(one)) ?? { ...one, status: "fail", passed: [], problems: ["it was not run"], skipped: [] };
    const [before, after] = [one, other].map(({ status }) => RANK.indexOf(status));
    return {
      ...one,
      direct: one,
      through: other,
      worse: after < before || (after === before && after > 0 && one.passed.some((check) => !other.passed.includes(check))),
    };
  });
}

const MARKS = { pass: "✓", fail: "✗", warn: "!", skip: "–" };
/** The mark of the direct run and the one through the gateway, which is in brackets where fewer checks passed. */
const marks = ({ direct, through, worse }) => `${MARKS[direct.status]} ${worse && through.status === "pass" ? "(✓)" : MARKS[through.status]}`;
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/**
 * A table of pairs as Markdown: a row for each scenario, a column for each revision, in each cell the mark of the direct
 * run and the one through the gateway.
 */
export function table(pairs) {
  const revisions = [...new Set(pairs.map(({ revision }) => revision))].sort();
  const scenarios = [...new Set(pairs.map(({ scenario }) => scenario))].sort();
  const cells = new Map(pairs.map((pair) => [keyOf(pair), marks(pair)]));
  const rows = scenarios.map((scenario) => `| \`${scenario}\` | ${revisions.map((revision) => cells.get(keyOf({ scenario, revision })) ?? "").join(" | ")} |`);
  return [`| Scenario | ${revisions.join(" | ")} |`, `|---|${revisions.map(() => "---").join("|")}|`, ...rows].join("\n");
}

/**
 * docs/gateway-conformance.md. `legacy`: with a server of the earlier revisions. `reasons` says why a scenario passes less through the gateway, by the scenario's name or by
 * name and revision; `direct` the same for what does not pass directly.
 */
export function conformancePage({ versions, server, legacy, client, reasons, legacyReasons, direct, ahead }) {
  const explain = (pairs, given, chosen) =>
    [...new Set(pairs.filter(chosen).map(({ scenario }) => scenario))].sort().map((scenario) => {
      const first = pairs.find((pair) => pair.scenario === scenario && chosen(pair));
      return `- \`${scenario}\`: ${cell(given(first) ?? "not explained")}`;
    });
  const section = (title, about, pairs) => [
    `## ${title}`,
    "",
    about,
    "",
    table(pairs),
    "",
    ...list(
      "Different through the gateway:",
      explain(pairs, reasons, ({ worse }) => worse),
    ),
    ...list(
      "Not passed directly, either:",
      explain(pairs, direct, ({ direct: { status } }) => status !== "pass"),
    ),
  ];
  return `${[
    "# Reference: conformance of the gateway",
    "",
    `Made by a test (\`tests/package/gateway-conformance.test.mjs\`); do not edit. It runs all scenarios of \`@modelcontextprotocol/conformance\` ${versions.join(" and ")} twice: directly, and through \`contextweaver gateway\` in \`firewall\` mode. Each cell shows both, in this order: ✓ passed, (✓) passed with fewer checks than directly, ✗ failed, ! passed with warnings, – nothing to check.`,
    "",
    ...section("Servers", "A server on the official SDK 2.x, and the gateway in front of it.", server),
    "### A server of the earlier revisions",
    "",
    "The same scenarios, with a server behind the gateway that knows the revisions up to 2025-11-25 alone, whichever revision the client speaks. They pass as above, but for these:",
    "",
    ...explain(legacy, legacyReasons, (pair) => pair.worse && reasons(pair) === undefined),
    "",
    ...section(
      "Clients",
      "A client on the official SDK 2.x, and the gateway between it and the server of the suite. The gateway logs in as the command does; where a scenario is about credentials that only an application has (tokens of an enterprise or a workload, DPoP), `auth_provider` gives it the application's provider.",
      client,
    ),
    "## Views",
    "",
    "The suite has no scenarios for views (MCP Apps). `gateway-apps.test.mjs` has published servers show theirs through the gateway, in both modes and eras, with the official bridge of hosts (`@modelcontextprotocol/ext-apps`) between it and a view: the view is read by the address that its tool names, gets the whole result, and calls tools that no model sees; its calls meet the policies.",
    "",
    "## Beside other gateways",
    "",
    "What was read of the others in their code and documents (– is not found, ? not looked at), and the test of each cell of ours.",
    "",
    ahead,
  ]
    .join("\n")
    .trimEnd()}\n`;
}

const list = (title, lines) => (lines.length > 0 ? [title, "", ...lines, ""] : []);
