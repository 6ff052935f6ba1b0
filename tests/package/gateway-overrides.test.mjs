// What the operator says of tools in place of their servers, and how much of a result each client gets.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { textOf } from "./gateway-harness.mjs";
import { program, user } from "./gateway-program.mjs";
import { project, run } from "./harness.mjs";

const folder = await project("gateway-overrides", { "entry.mjs": 'export { gateway } from "contextweaver/mcp";' });
const { gateway } = await import(pathToFileURL(join(folder, "entry.mjs")));
const sdk = { server, client, client_stdio };

const ISSUES = `[
  { name: "create_issue", description: "Creates an issue.", inputSchema: { type: "object", properties: { repo: { type: "string" }, title: { type: "string" }, labels: { type: "array", items: { type: "string" } } }, required: ["repo", "title"] } },
  { name: "close_issue", description: "Closes what create_issue made.", inputSchema: { type: "object" } },
  { name: "delete_repo", description: "Deletes a repository.", inputSchema: { type: "object" } },
]`;
const github = await program(
  folder,
  "github",
  { create_issue: '{ content: [{ type: "text", text: JSON.stringify(given) }] }', close_issue: "{ content: [] }", delete_repo: "{ content: [] }" },
  { tools: ISSUES },
);

test("tools are shown and called as their server's entry and the gateway's options say", async (t) => {
  const tools = {
    "My Server__create_issue": {
      name: "report_bug",
      description: "Reports a bug of ours.",
      arguments: { fixed: { repo: "o/r" }, defaults: { labels: ["bug"] } },
    },
  };
  const handler = gateway({ token: "t", mcpServers: { "My Server": { ...github, tools: { delete_repo: { hide: true } } } }, tools, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const { call, tools: list } = await user(handler);
  const [bug, close, ...own] = await list();
  assert.deepEqual(
    [bug.name, bug.description, Object.keys(bug.inputSchema.properties), bug.inputSchema.required],
    ["report_bug", "Reports a bug of ours.", ["title", "labels"], ["title"]],
  );
  assert.deepEqual([close.name, own.map(({ name }) => name)], ["close_issue", ["drilldown", "recall"]]);
  const { result } = await call("report_bug", { title: "t", repo: "evil/r" });
  assert.deepEqual(JSON.parse(textOf(result)), { title: "t", repo: "o/r", labels: ["bug"] });
  assert.deepEqual(result._meta["contextweaver/arg_repairs"], [{ path: "$.repo", rule: "fixed_by_override" }]);
  for (const gone of ["create_issue", "delete_repo", "My-Server__delete_repo"]) assert.match((await call(gone)).error.message, /is not known/, gone);
  const [hidden, renamed] = handler.stats().overrides;
  assert.deepEqual(
    [hidden.tool, hidden.hidden, renamed.tool, renamed.shown_as, renamed.description],
    ["delete_repo", true, "create_issue", "report_bug", "Creates an issue."],
  );
  assert.deepEqual(
    renamed.problems.map(({ code }) => code),
    ["text-names-tool"],
  );
});

test("doctor and --inspect show the originals and what overrides break", async () => {
  const config = join(folder, "overridden.json");
  const tools = {
    github__create_issue: { name: "report_bug", arguments: { defaults: { lables: [] } } },
    github__create_isue: { hide: true },
    github__delete_repo: { hide: true },
  };
  const open = `[${ISSUES.slice(1, -1).replace('required: ["repo", "title"]', 'required: ["repo", "title"], additionalProperties: false')}]`;
  const strict = await program(folder, "strict", { create_issue: "{ content: [] }" }, { tools: open });
  await writeFile(config, JSON.stringify({ mcpServers: { github: strict }, gateway: { tools } }));
  const program_ = join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js");
  const told = await run(process.execPath, [program_, "gateway", "doctor", "--config", config, "--color", "never"], { cwd: folder, check: false });
  assert.match(told.stdout, /note github: the tool create_issue is overridden: shown as report_bug; lables by default/);
  assert.match(told.stdout, /note github: the tool delete_repo is overridden: hidden\n    its server says: Deletes a repository\./);
  assert.match(
    told.stdout,
    /warning github: \/tools\/github__create_issue\/arguments\/defaults\/lables: the tool has no argument `lables`; did you mean `labels`\?/,
  );
  assert.match(told.stdout, /warning \/tools\/github__create_isue: no tool is called `create_isue`/);
  const inspected = await run(process.execPath, [program_, "gateway", "--inspect", "--config", config, "--color", "never"], { cwd: folder });
  assert.match(inspected.stdout, /Overridden\n {2}github\/delete_repo +hidden/);
  assert.match(inspected.stdout, /Rules and overrides that name no tool\n {2}\/tools\/github__create_isue/);
});

const rows = 'JSON.stringify({ rows: Array.from({ length: given.rows }, (_, at) => ({ at, name: "row number " + at })) })';
const big = await program(
  folder,
  "big",
  {
    rows: `{ content: [{ type: "text", text: ${rows} }] }`,
    more: `{ content: [{ type: "text", text: ${rows} }] }`,
    declared: `{ content: [{ type: "text", text: ${rows} }] }`,
    twice: `(() => { const text = ${rows}; return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) }; })()`,
    differs: `(() => { const text = ${rows}; return { content: [{ type: "text", text: "all rows" }], structuredContent: JSON.parse(text) }; })()`,
  },
  {
    tools:
      '["rows", "more", "declared", "twice", "differs"].map((name) => ({ name, inputSchema: { type: "object" }, ...(name === "declared" && { _meta: { "anthropic/maxResultSizeChars": 200000 } }) }))',
  },
);

/** Tokens of a result that were shown, of all that came, by the line below it; nothing where it came whole. */
const cut = ({ result }) => /\((\d+) of (\d+) tokens; drilldown /.exec(textOf(result))?.slice(1).map(Number);

test("a result has as many tokens as its tool, its server, the gateway or the client say", async (t) => {
  const mcpServers = {
    big: { ...big, result_tokens: 600, tools: { more: { result_tokens: 3_000 } } },
    plain: { ...big, tools: { more: { name: "more_plain" } } },
  };
  const handler = gateway({ token: "t", mcpServers, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const { call } = await user(handler);
  const near = (tokens, [shown, all], what) => assert.ok(shown <= tokens * 1.13 && shown > tokens * 0.5 && all > 8_000, `${what}: ${shown} of ${all}`);
  const given = { rows: 2_000 };
  near(600, cut(await call("big__rows", given)), "the server's");
  near(3_000, cut(await call("more", given)), "the tool's");
  near(1_150, cut(await call("plain__rows", given)), "the default");
  // The client's own limit, in characters, is a bound of each.
  for (const [name, chars] of [
    ["more", 4_000],
    ["plain__rows", 4_000],
    ["plain__rows", 400],
  ]) {
    const { result } = await call(name, given, { "anthropic/maxResultSizeChars": chars });
    assert.ok(textOf(result).length <= chars && textOf(result).length > chars / 4, `${name}: ${textOf(result).length} of ${chars}`);
  }
  // One that takes more gets more, unless the operator says less.
  assert.equal(cut(await call("plain__rows", given, { "anthropic/maxResultSizeChars": 400_000 })), undefined);
  near(600, cut(await call("big__rows", given, { "anthropic/maxResultSizeChars": 400_000 })), "the server's");
  // A server says how large the results of a tool are; Claude Code takes them then, and nobody else.
  assert.notEqual(cut(await call("plain__declared", given)), undefined);
  const claude = await user(handler, "t", {}, "claude-code");
  assert.equal(cut(await claude.call("plain__declared", given)), undefined);
});

test("what is said for all is a limit of Claude Code only up to its own", async (t) => {
  const handler = gateway({ token: "t", mcpServers: { big }, context_tokens: 2_000_000, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const [shown, all] = cut(await (await user(handler, "t", {}, "claude-code")).call("rows", { rows: 6_000 }));
  assert.ok(shown <= 25_000 * 1.13 && shown > 15_000 && all > 30_000, `${shown} of ${all}`);
  assert.equal(cut(await (await user(handler)).call("rows", { rows: 6_000 })), undefined);
});

test("structured content that says what the text says is paid once", async (t) => {
  const handler = gateway({ token: "t", mcpServers: { big }, sdk });
  t.after(() => handler.close());
  await handler.ready();
  const { call } = await user(handler);
  const { result } = await call("twice", { rows: 50 });
  assert.deepEqual([Object.keys(result).sort(), JSON.parse(textOf(result)).rows.length], [["_meta", "content"], 50]);
  assert.equal(result._meta["contextweaver/structured_content"], "in text");
  const { totals } = handler.stats();
  assert.ok(totals.saved_tokens > 0 && totals.saved_tokens * 2 <= totals.tokens + 2, JSON.stringify(totals));
  assert.equal((await call("differs", { rows: 50 })).result.structuredContent.rows.length, 50);
  // What is little is worth no difference.
  assert.equal((await call("twice", { rows: 3 })).result.structuredContent.rows.length, 3);
  // Of a large one the text has the way to the rest, and says so once.
  const large = textOf((await call("twice", { rows: 5_000 })).result);
  assert.equal(large.split("drilldown ").length, 2, large.slice(-400));
  // A program reads it by itself, and says so.
  const reads = await user(handler, "t", { experimental: { "contextweaver/structured_content": {} } });
  assert.equal((await reads.call("twice", { rows: 50 })).result.structuredContent.rows.length, 50);
  const both = gateway({ token: "t", mcpServers: { big }, structured_content: "both", sdk });
  t.after(() => both.close());
  await both.ready();
  assert.equal((await (await user(both)).call("twice", { rows: 50 })).result.structuredContent.rows.length, 50);
  assert.throws(() => gateway({ token: "t", mcpServers: { big }, structured_content: "none", sdk }), { code: "INVALID_INPUT", path: "/structured_content" });
});
