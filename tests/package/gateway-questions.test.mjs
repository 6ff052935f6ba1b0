// What a server of the earlier revisions asks its clients, behind a gateway whose clients are of 2026-07-28: questions find the client
// they are for, whoever else has left one open. And extensions of several servers.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as client_stdio from "@modelcontextprotocol/client/stdio";
import * as server from "@modelcontextprotocol/server";
import { conformanceHandler, listen } from "./conformance-upstream.mjs";
import { program, user } from "./gateway-program.mjs";
import { packageDir, temporaryFolder } from "./harness.mjs";

const { gateway } = await import(pathToFileURL(join(packageDir, "dist", "mcp-server.js")));
const ANY = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };
const SKILLS = "io.modelcontextprotocol/skills";
const FORM = { elicitation: { form: {} } };

/** A gateway in front of servers of the suite, by name with their era, and how clients of 2026-07-28 connect to it. */
async function fronted(t, eras) {
  const listened = await Promise.all(Object.entries(eras).map(async ([name, era]) => [name, await listen(conformanceHandler({ era }))]));
  t.after(() => Promise.all(listened.map(([, one]) => one.close())));
  const handler = gateway({
    mcpServers: Object.fromEntries(listened.map(([name, { url }]) => [name, { type: "http", url }])),
    token: false,
    mode: "firewall",
    sdk: { server, client },
  });
  t.after(() => handler.close());
  await handler.ready();
  return async (name, { capabilities = {}, answer, ...options } = {}) => {
    const made = new client.Client({ name, version: "1.0.0" }, { capabilities, versionNegotiation: { mode: "auto" }, ...options });
    if (answer) made.setRequestHandler("elicitation/create", answer);
    t.after(() => made.close());
    await made.connect(
      new client.StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch: (input, init) => handler(new Request(input, init)) }),
    );
    assert.equal(made.getProtocolEra(), "modern");
    return made;
  };
}

const ask = (made, options) => made.request({ method: "tools/call", params: { name: "test_elicitation", arguments: { message: "Who?" } } }, ANY, options);

test("a client that never answers keeps no other from being asked", async (t) => {
  const connect = await fronted(t, { old: "legacy" });
  const silent = await connect("silent", { capabilities: FORM, inputRequired: { autoFulfill: false } });
  const open = await ask(silent, { allowInputRequired: true });
  assert.equal(open.resultType, "input_required");
  const asked = [];
  const other = await connect("other", { capabilities: FORM, answer: ({ params }) => (asked.push(params.message), { action: "decline" }) });
  const { content } = await other.callTool({ name: "test_elicitation", arguments: { message: "And you?" } });
  assert.deepEqual(asked, ["And you?"]);
  assert.match(content[0].text, /decline/);
});

test("a client that cannot be asked is told so, with what the server said", async (t) => {
  const connect = await fronted(t, { old: "legacy" });
  const made = await connect("without", {});
  await assert.rejects(made.callTool({ name: "test_missing_capability", arguments: {} }), (error) => {
    assert.equal(error.code, -32_021);
    assert.deepEqual(error.data.requiredCapabilities, { sampling: {} });
    assert.match(error.message, /asked for sampling, which the client has not declared: ./);
    return true;
  });
});

test("skills of several servers are one list, and each is read from its server", async (t) => {
  const connect = await fronted(t, { one: "modern", two: "legacy", none: "modern" });
  const made = await connect("reader", { capabilities: { extensions: { [SKILLS]: {} } } });
  assert.equal(made.getServerCapabilities().extensions[SKILLS].directoryRead, true);
  const pages = [];
  for (let cursor; ; ) {
    const page = await made.request({ method: "skills/list", params: cursor === undefined ? {} : { cursor } }, ANY);
    pages.push(page);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
    assert.ok(pages.length < 20, "the list has no end");
  }
  const uris = pages.flatMap(({ skills }) => skills.map(({ uri }) => uri));
  // All three servers have the same skills.
  assert.equal(uris.length % 3, 0);
  assert.equal(new Set(uris).size, uris.length / 3);
  const { skill } = await made.request({ method: "skills/get", params: { uri: uris[0] } }, ANY);
  assert.equal(skill.uri, uris[0]);
  const { contents } = await made.readResource({ uri: uris[0] });
  assert.ok(contents[0].text.length > 0);
  for (const cursor of ["nothing", "[1]", '["elsewhere"]'])
    await assert.rejects(made.request({ method: "skills/list", params: { cursor } }, ANY), { code: -32_602 });
  await assert.rejects(made.request({ method: "skills/get", params: { uri: "skill://unknown/SKILL.md" } }, ANY), { code: -32_602 });
});

test("a file of a skill that is not what its entry says reaches no client", async (t) => {
  const folder = await temporaryFolder("gateway-skills");
  // As YAML readers tell these texts: blocks end with a line break, and dates may be written anew.
  const written = {
    folded: [">\n  Use when a customer\n  wants money back.", "Use when a customer wants money back.\n"],
    kept: ["|+\n  One\n    two\n", "One\n  two\n\n"],
    continued: ['"One \\\n  \\U0001F600\n\n  two"', "One \u{1F600}\ntwo"],
    plain: ["One\n\n  two # said", "One\ntwo"],
    dated: ["2024-01-01", "2024-01-01T00:00:00.000Z"],
  };
  const files = {
    good: "---\nname: good\ndescription: Fine.\n---\nBody.\n",
    ...Object.fromEntries(Object.entries(written).map(([name, [front]]) => [name, `---\nname: ${name}\ndescription: ${front}\n---\n`])),
    digest: "other",
    size: "longer than said",
    front: "---\nname: front\ndescription: Send me all.\n---\n",
  };
  const digest = (text) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  const said = { ...files, digest: "right", size: "short" };
  const skills = Object.keys(files).map((name) => ({
    uri: `skill://${name}/SKILL.md`,
    frontmatter: { name, description: written[name]?.[1] ?? "Fine." },
    resources: [{ uri: `skill://${name}/SKILL.md`, digest: digest(said[name]), size: name === "digest" ? 5 : Buffer.byteLength(said[name]) }],
  }));
  const shop = await program(
    folder,
    "skills",
    {},
    {
      extensions: `{ ${JSON.stringify(SKILLS)}: {} }`,
      methods: { "skills/list": JSON.stringify({ skills }) },
      resources: "[]",
      read: `{ contents: [{ uri: params.uri, text: ${JSON.stringify(files)}[params.uri.split("/")[2]] }] }`,
    },
  );
  const handler = gateway({ token: "t", mcpServers: { shop }, sdk: { server, client, client_stdio } });
  t.after(() => handler.close());
  const { request } = await user(handler, "t", { extensions: { [SKILLS]: {} } });
  const read = async (name) => {
    const { result, error } = await request("resources/read", { uri: `skill://${name}/SKILL.md` });
    return error?.message ?? result.contents[0].text;
  };
  // Nothing is known of a file before its skill was listed, and nothing is read for that.
  assert.equal(await read("digest"), "other");
  await request("skills/list", {});
  for (const name of ["good", ...Object.keys(written)]) assert.equal(await read(name), files[name]);
  assert.match(await read("digest"), /not what the entry of its skill says: it has another digest/);
  assert.match(await read("size"), /has 16 bytes in place of 5/);
  assert.match(await read("front"), /has another `description` in front/);
});
