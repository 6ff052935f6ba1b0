// What the gateway does beside others of its kind, each cell of ours with the test that shows it: for the page about conformance. What is
// said of the others was read from their code and documents in 2026; "–" is not found, "?" not looked at.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { here, root } from "./harness.mjs";

const OTHERS = ["Cloudflare portal, codemode", "ContextForge", "Docker gateway", "agentgateway", "MetaMCP", "contextweaver for Python"];
/** What, what the others have, what ours has, and the file with a test that says so by its title. */
const ROWS = [
  [
    "search and execute in place of a list",
    ["yes", "–", "yes", "asked for", "asked for", "yes"],
    "yes",
    "gateway-front.test.mjs",
    "search mode lists the tools that a client used, and tells that client alone",
  ],
  [
    "ranked search without a model",
    ["keywords", "–", "embeddings", "–", "–", "weak"],
    "BM25F, says that nothing fits",
    "crates/gateway/tests/it/costs.rs",
    "fn a_search_front_is_small_over_public_servers",
  ],
  [
    "large results",
    ["cut at 6,000 tokens, rest lost", "cut or blocked", "–", "–", "–", "handles"],
    "every byte by handle, after a restart and eviction, too",
    "gateway-users.test.mjs",
    "handles of one caller are unknown to the others, in every form, and after a restart",
  ],
  [
    "size of results by client, server and tool",
    ["?", "?", "?", "?", "?", "?"],
    "yes",
    "gateway-overrides.test.mjs",
    "a result has as many tokens as its tool, its server, the gateway or the client say",
  ],
  [
    "text and structured content paid once",
    ["?", "?", "?", "?", "?", "?"],
    "yes",
    "gateway-overrides.test.mjs",
    "structured content that says what the text says is paid once",
  ],
  [
    "policy for each tool",
    ["?", "yes", "yes", "CEL", "on or off", "yes"],
    "allow, deny, ask; by namespace, tool, tag, effect, caller; unknown keys refused",
    "gateway-safety.test.mjs",
    "allow, ask and deny, with clients of both eras, those that can ask and those that cannot",
  ],
  [
    "`list_changed` reaches clients",
    ["?", "?", "partly", "yes", "–", "?"],
    "yes, without reconnecting",
    "gateway-faults.test.mjs",
    "a dead server's tools are marked, and unmarked when it is back",
  ],
  ["both protocol eras, any client with any server", ["?", "?", "?", "yes", "–", "?"], "yes", "gateway-conformance.test.mjs", "whatever era the server is of"],
  [
    "credentials of each user",
    ["yes", "leaked once", "–", "yes", "–", "–"],
    "by header or identity; 1,000 interleaved users",
    "gateway-users.test.mjs",
    "each by what `authorize` says of it: no header of theirs reaches the server, and nothing of another's",
  ],
  [
    "poisoned catalogs",
    ["–", "–", "signatures", "–", "–", "drift"],
    "lint, pins, drift, quarantine until accepted",
    "gateway-safety.test.mjs",
    "a catalog that turns while clients are connected is quarantined and reported, and accepted when the operator says so",
  ],
  [
    "overrides of tools, with what they break",
    ["?", "?", "?", "?", "asked for", "?"],
    "names, descriptions, arguments, hidden tools; linted",
    "gateway-overrides.test.mjs",
    "doctor and --inspect show the originals and what overrides break",
  ],
  [
    "views (MCP Apps)",
    ["?", "?", "?", "?", "?", "?"],
    "declared both ways, in every mode",
    "gateway-apps.test.mjs",
    "published servers show their views through the gateway",
  ],
  [
    "tasks, both forms",
    ["?", "?", "?", "?", "?", "?"],
    "yes, across a restart",
    "gateway-tasks.test.mjs",
    "a task outlives the gateway with a store, and is its caller's alone",
  ],
  [
    "skills, verified",
    ["?", "?", "?", "?", "?", "?"],
    "on the way and by hosts behind it",
    "gateway-questions.test.mjs",
    "a file of a skill that is not what its entry says reaches no client",
  ],
  [
    "entries from the registry, pinned",
    ["?", "?", "?", "?", "?", "?"],
    "`gateway add`",
    "gateway-add.test.mjs",
    "the command shows what it will run, writes the entry, and asks the address that it was given alone",
  ],
  [
    "clients that defer tools by themselves",
    ["?", "?", "?", "?", "asked for", "?"],
    "all tools with hints",
    "crates/gateway/tests/it/views.rs",
    "fn a_client_that_searches_by_itself_sees_all_tools_with_what_it_goes_by",
  ],
  [
    "page of what it does",
    ["?", "?", "?", "?", "?", "?"],
    "loopback, with accept for quarantine",
    "gateway-page.test.mjs",
    "the page shows what the gateway does, and takes tools out of quarantine",
  ],
  [
    "runs as",
    ["their account", "Python", "Docker", "binary, Kubernetes", "Docker", "Python"],
    "one `npx`, any `fetch` runtime, a Worker",
    "gateway-worker.test.mjs",
    "a Durable Object as docs/gateway-cloudflare.md makes it: results, sessions and pins outlive it",
  ],
];

/** The table as Markdown. Throws where a cell of ours has no test. */
export async function aheadTable() {
  const rows = [];
  for (const [what, others, ours, file, title] of ROWS) {
    const path = file.includes("/") ? join(root, file) : join(here, file);
    if (!(await readFile(path, "utf8")).includes(title)) throw new Error(`no test in ${file} is called: ${title}`);
    if (ours === "–" || others.length !== OTHERS.length) throw new Error(`the row is not complete: ${what}`);
    rows.push(`| ${what} | ${others.join(" | ")} | ${ours} | \`${file.split("/").at(-1)}\` |`);
  }
  return [`| | ${OTHERS.join(" | ")} | contextweaver | Test |`, `|---|${OTHERS.map(() => "---").join("|")}|---|---|`, ...rows].join("\n");
}
