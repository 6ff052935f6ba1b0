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
import { connected, published, textOf } from "./gateway-harness.mjs";
import { program, user } from "./gateway-program.mjs";
import { listening, plainServer, refusal, webHandler } from "./gateway-servers.mjs";
import { packageDir, temporaryFolder, until } from "./harness.mjs";

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

const UPDATED = "notifications/resources/updated";
const REPORT = "memo://report";
/** What servers with resources can do. */
const RESOURCES = { tools: {}, resources: { subscribe: true } };
const LISTS = {
  "tools/list": () => ({ tools: [{ name: "touch", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "touched" }] }),
  "resources/list": () => ({ resources: [{ uri: REPORT, name: "report" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
};

/** A server by plain messages, with what it answers beside its lists; closed when the test ends. */
async function plain(t, answers = {}, capabilities = RESOURCES) {
  const server = await plainServer(capabilities, (method, ...given) => ({ ...LISTS, ...answers })[method]?.(...given) ?? {});
  t.after(server.close);
  return server;
}

/** A gateway over HTTP in front of servers, and how clients of SDKs connect to it. Closed when the test ends. */
async function served(t, mcpServers, options = {}) {
  const errors = [];
  const handler = gateway({ mcpServers, token: false, sdk: { server, client, client_stdio }, on_error: (error) => void errors.push(error), ...options });
  await handler.ready();
  const http = await listening(webHandler(handler.fetch));
  t.after(() => handler.close().then(http.close));
  const connect = (kind, how) => connected(t, kind, { url: `${http.origin}/mcp`, ...how });
  return { handler, errors, connect };
}

/** Tells of a change until a client has heard of it: a stream of the server's may not be there yet. */
const hears = (made, tell, uri = REPORT) =>
  until(`a change of ${uri} is told`, () => {
    tell();
    return made.told.some(({ method, params }) => method === UPDATED && params.uri === uri);
  });

for (const connection of ["shared", "session"]) {
  for (const status of [404, 400]) {
    test(`subscriptions outlive the session of a server that answers ${status}, over a connection that is ${connection}`, async (t) => {
      const server = await plain(t);
      const { connect } = await served(t, { memo: { url: server.url, connection } });
      const made = await connect("SDK 1.x");
      await made.subscribe([REPORT]);
      const subscribed = () => server.of("resources/subscribe").filter(({ session }) => server.sessions.has(session)).length;
      const tell = () => server.tell(UPDATED, { uri: REPORT });
      await hears(made, tell);
      server.forget(status);
      if (status === 400) await made.call("touch");
      // A stream that ends is opened again, and refused: of a session that is gone nobody has to ask.
      else await until("it is asked again", () => made.call("touch").then(() => subscribed() === 1));
      await until("it is subscribed again", () => subscribed() === 1);
      made.told.length = 0;
      await hears(made, tell);
      await made.subscribe([REPORT]);
      assert.equal(subscribed(), 1, "what is subscribed is not asked again");
      await made.client.unsubscribeResource({ uri: REPORT });
      await until("the subscription is ended", () => server.of("resources/unsubscribe").length === 1);
    });
  }
}

test("a server of 2026-07-28 that ends its streams is listened to again", async (t) => {
  const handler = server.createMcpHandler(
    () => {
      const made = new server.Server({ name: "memo", version: "1" }, { capabilities: RESOURCES });
      for (const [method, answer] of Object.entries(LISTS)) made.setRequestHandler(method, answer);
      return made;
    },
    { legacy: "reject" },
  );
  const streams = new Set();
  const http = await listening((incoming, outgoing) => {
    if (incoming.headers["mcp-method"] === "subscriptions/listen") streams.add(outgoing);
    return webHandler(handler.fetch)(incoming, outgoing);
  });
  t.after(() => handler.close().then(http.close));
  const { connect } = await served(t, { memo: { url: `${http.origin}/mcp` } });
  const made = await connect("SDK 1.x");
  await made.subscribe([REPORT]);
  const tell = () => handler.notify.resourceUpdated(REPORT);
  await hears(made, tell);
  for (const stream of streams) stream.destroy();
  made.told.length = 0;
  await hears(made, tell);
});

test("of clients that subscribe at once each is told what became of it, and the last to leave ends it", async (t) => {
  const waiting = [];
  const server = await plain(t, { "resources/subscribe": () => new Promise((done, fail) => waiting.push({ done, fail })) });
  const { connect } = await served(t, { memo: { url: server.url, connection: "shared" } });
  const [ann, bob] = [await connect("SDK 1.x"), await connect("SDK 2.x, legacy")];
  const refused = assert.rejects(ann.client.subscribeResource({ uri: REPORT }), /too many/);
  await until("the server is asked", () => waiting.length === 1);
  const given = bob.client.subscribeResource({ uri: REPORT });
  const twice = bob.client.subscribeResource({ uri: REPORT });
  // By its answer the gateway has taken both requests.
  await bob.call("touch");
  waiting[0].fail(refusal(-32_603, "too many subscriptions"));
  await refused;
  await until("the server is asked for the other", () => waiting.length === 2);
  waiting[1].done({});
  await Promise.all([given, twice]);
  await hears(bob, () => server.tell(UPDATED, { uri: REPORT }));
  await bob.client.unsubscribeResource({ uri: REPORT });
  assert.equal(server.of("resources/unsubscribe").length, 1);
  assert.deepEqual(ann.told, []);
});

test("a change of a part is told to whoever subscribed to the whole", async (t) => {
  const server = await plain(t);
  const { connect } = await served(t, { memo: { url: server.url } });
  const made = await connect("SDK 1.x");
  await made.subscribe([REPORT]);
  await hears(made, () => server.tell(UPDATED, { uri: `${REPORT}/page/1` }), `${REPORT}/page/1`);
  server.tell(UPDATED, { uri: `${REPORT}s` });
  await hears(made, () => server.tell(UPDATED, { uri: REPORT }));
  assert.ok(!made.told.some(({ params }) => params?.uri === `${REPORT}s`));
  const newer = await connect("SDK 2.x, 2026-07-28");
  await newer.subscribe([REPORT]);
  await hears(newer, () => server.tell(UPDATED, { uri: `${REPORT}/page/1` }));
});

test("a client that listens does not wait for a server that hangs", async (t) => {
  const hanging = await plain(t, { "resources/subscribe": () => new Promise(() => undefined) });
  const uris = Array.from({ length: 8 }, (_, at) => `${REPORT}/${at}`);
  const { connect } = await served(t, { memo: { url: hanging.url } });
  const made = await connect("SDK 2.x, 2026-07-28");
  // The client's own patience ends before that of the gateway with its server.
  await made.client.listen({ resourceSubscriptions: uris }, { timeout: 20_000 });
  await until("all were asked for", () => hanging.of("resources/subscribe").length === uris.length);
});

test("a link leads to the server that gave it, and a server that fails hides no address of others", async (t) => {
  const serverOf = (name, answers) =>
    plain(
      t,
      {
        "tools/list": () => ({ tools: [{ name: `link_${name}`, inputSchema: { type: "object" } }] }),
        "tools/call": () => ({
          content: [
            { type: "resource_link", uri: REPORT, name: "report" },
            { type: "resource", resource: { uri: REPORT, text: name } },
            { type: "resource_link", uri: "memo://row/1", name: "row" },
            { type: "resource_link", uri: `memo://${name}/own`, name: "own" },
          ],
        }),
        "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "memo://row/{id}", name: "row" }] }),
        "resources/read": ({ uri }) => ({ contents: [{ uri, text: `${uri} of ${name}` }] }),
        "prompts/list": () => ({ prompts: [{ name: `prompt_${name}` }] }),
        "prompts/get": () => ({ messages: [{ role: "user", content: { type: "resource_link", uri: REPORT, name: "report" } }] }),
        ...answers,
      },
      { ...RESOURCES, prompts: {} },
    );
  const fails = ({ uri }) => {
    if (uri !== REPORT) throw refusal(-32_603, "it broke");
    return { contents: [{ uri, text: `${uri} of one` }] };
  };
  const [one, two] = [await serverOf("one", { "resources/read": fails }), await serverOf("two")];
  const { connect } = await served(t, { one: { url: one.url }, two: { url: two.url } });
  const made = await connect("SDK 1.x");
  const MARK = "#contextweaver-server=two";
  const linked = async (name) => (await made.call(`link_${name}`)).content.map(({ uri, resource }) => uri ?? resource.uri);
  assert.deepEqual(await linked("one"), [REPORT, REPORT, "memo://row/1", "memo://one/own"]);
  const links = await linked("two");
  assert.deepEqual(links, [`${REPORT}${MARK}`, `${REPORT}${MARK}`, `memo://row/1${MARK}`, "memo://two/own"]);
  const { messages } = await made.client.getPrompt({ name: "prompt_two" });
  assert.equal(messages[0].content.uri, `${REPORT}${MARK}`);
  const read = async (uri) => (await made.client.readResource({ uri })).contents[0].text;
  assert.equal(await read(REPORT), `${REPORT} of one`);
  assert.deepEqual(await Promise.all(links.map(read)), [`${REPORT} of two`, `${REPORT} of two`, "memo://row/1 of two", "memo://two/own of two"]);
  // What a server has by its template is not looked for at others.
  await assert.rejects(read("memo://row/1"), /it broke/);
});

test("credentials in resources and prompts are masked as in results, as the entry of the server says", async (t) => {
  const KEY = "ghp_s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ";
  const MASK = "[REDACTED-SECRET]";
  const SIGNED = "https://bucket.s3.amazonaws.com/a.png?X-Amz-Credential=AKIAABCDEFGHIJKLMNOP&X-Amz-Signature=0123456789abcdef";
  const LINE = "a line of a log that is long\n";
  const long = `${LINE.repeat(Math.ceil((3 * 2 ** 20) / LINE.length))}key ${KEY}\n`;
  const texts = { env: `API_KEY=${KEY}\nDEBUG=1\n`, json: `{"pin":{"token":"${KEY}"},"n":1.0}`, signed: SIGNED, half: `\ud800 ${KEY}`, long };
  const block = { type: "text", text: `Log in with ${KEY}.` };
  const serverOf = (name) =>
    plain(
      t,
      {
        "resources/list": () => ({ resources: Object.keys(texts).map((of) => ({ uri: `memo://${name}/${of}`, name: `${name}_${of}` })) }),
        "resources/read": ({ uri }) => {
          const text = texts[uri.split("/").at(-1)] ?? `<p>${KEY}</p>`;
          return {
            contents: [
              { uri, text, ...(uri.startsWith("ui:") && { mimeType: "text/html;profile=mcp-app" }) },
              { uri, blob: btoa(KEY) },
            ],
          };
        },
        "prompts/list": () => ({ prompts: [{ name: `prompt_${name}` }] }),
        "prompts/get": () => ({
          description: `With ${KEY}`,
          messages: [block, { type: "resource", resource: { uri: "memo://x", text: KEY } }].map((content) => ({ role: "user", content })),
        }),
      },
      { ...RESOURCES, prompts: {} },
    );
  const names = ["usual", "never", "except"];
  const [usual, never, except] = await Promise.all(names.map(serverOf));
  const { connect } = await served(t, {
    usual: { url: usual.url },
    never: { url: never.url, redact: false },
    except: { url: except.url, redact: { except: ["pin.token"] } },
  });
  for (const kind of ["SDK 1.x", "SDK 2.x, auto"]) {
    const { client: made } = await connect(kind);
    const read = async (uri) => (await made.readResource({ uri })).contents;
    for (const [name, shown] of [
      [
        "usual",
        { ...texts, env: `API_KEY=${MASK}\nDEBUG=1\n`, json: `{"pin":{"token":"${MASK}"},"n":1.0}`, half: `\ufffd ${MASK}`, long: long.replace(KEY, MASK) },
      ],
      ["except", { json: texts.json, env: `API_KEY=${MASK}\nDEBUG=1\n` }],
      ["never", { env: texts.env, json: texts.json, signed: SIGNED }],
    ])
      for (const [of, text] of Object.entries(shown)) {
        const [found, bytes] = await read(`memo://${name}/${of}`);
        assert.equal(found.text, text, `${name}: ${of}`);
        assert.equal(bytes.blob, btoa(KEY));
      }
    const said = async (name) => {
      const { description, messages } = await made.getPrompt({ name: `prompt_${name}` });
      return [description, messages[0].content.text, messages[1].content.resource.text];
    };
    assert.deepEqual(await said("usual"), [`With ${MASK}`, `Log in with ${MASK}.`, MASK]);
    assert.deepEqual(await said("never"), [`With ${KEY}`, block.text, KEY]);
    // A view is run by a host.
    assert.equal((await read("ui://usual/view"))[0].text, `<p>${KEY}</p>`);
  }
});

test("servers ask for the roots of a client that has come, and again when they have changed", async (t) => {
  for (const connection of ["shared", "session"]) {
    const { connect } = await served(t, { files: { ...published("server-filesystem"), connection } });
    const folders = [await temporaryFolder("first"), await temporaryFolder("second")];
    let [folder] = folders;
    const made = await connect("SDK 1.x", { answers: { "roots/list": () => ({ roots: [{ uri: pathToFileURL(folder).href }] }) } });
    const allows = (path) => until(`${path} is allowed`, async () => textOf(await made.call("list_allowed_directories")).includes(path));
    await allows(folders[0]);
    [, folder] = folders;
    await made.client.sendRootsListChanged();
    await allows(folders[1]);
    if (connection === "shared") {
      // A program that several clients share knows the roots of none who has changed them, until the others have left.
      const other = await connect("SDK 2.x, legacy");
      [folder] = folders;
      await made.client.sendRootsListChanged();
      await other.transport.terminateSession();
      await allows(folders[0]);
    }
    await made.close();
  }
});

test("servers learn the least level of log messages that their clients want", async (t) => {
  const capabilities = { ...RESOURCES, logging: {} };
  const [shared, own] = [
    await plain(t, {}, capabilities),
    await plain(t, { "tools/list": () => ({ tools: [{ name: "own", inputSchema: { type: "object" } }] }) }, capabilities),
  ];
  const { connect } = await served(t, { shared: { url: shared.url, connection: "shared" }, own: { url: own.url, connection: "session" } });
  const [ann, bob] = [await connect("SDK 1.x"), await connect("SDK 2.x, legacy")];
  const levels = (one) => one.of("logging/setLevel").map(({ params }) => params.level);
  await ann.client.setLoggingLevel("debug");
  await bob.client.setLoggingLevel("error");
  await ann.client.setLoggingLevel("critical");
  await until("the shared one knows", () => levels(shared).at(-1) === "error");
  assert.deepEqual(levels(shared), ["debug", "error"]);
  await ann.call("own");
  await until("the client's own connection knows", () => levels(own).includes("critical"));
  shared.forget(404);
  await ann.call("touch");
  await until("it is told again", () => levels(shared).length === 3);
  assert.equal(levels(shared)[2], "error");
});
