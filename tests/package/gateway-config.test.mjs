// What the gateway reads in the files of desktop clients and editors, and what it and its doctor do with entries that cannot be used.
// Nothing exports the reader but the gateway itself.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { inspect } from "node:util";
import { pathToFileURL } from "node:url";
import * as client from "@modelcontextprotocol/client";
import * as server from "@modelcontextprotocol/server";
import { published } from "./gateway-harness.mjs";
import { streamableServer } from "./gateway-servers.mjs";
import { here, packageDir, run, temporaryFolder } from "./harness.mjs";

const { describeServer, parseConfigText, readServers } = await import(pathToFileURL(join(packageDir, "dist/gateway/config.js")));
const { plainJson } = await import(pathToFileURL(join(packageDir, "dist/gateway/jsonc.js")));
const { secretsOf } = await import(pathToFileURL(join(packageDir, "dist/gateway/server-description.js")));

const { gateway } = await import(pathToFileURL(join(packageDir, "dist/mcp-server.js")));
const { memoryStore } = await import(pathToFileURL(join(packageDir, "dist/storage.js")));
const PROGRAM = join(packageDir, "bin", "contextweaver.js");
const sdk = { server, client };

const SECRET = "tok-5ecret-9f8e7d6c5b4a";
const KEY = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).trim();
const environment = { HOME: "/home/ann", API_KEY: SECRET, EMPTY: "", OTHER: "neighbour-value-1234" };
const read = (value, file = "mcp.json", env = environment) => readServers([{ file, value }], env);
const one = (server, env) => read({ mcpServers: { it: server } }, "mcp.json", env);
const plain = (value) => JSON.parse(JSON.stringify(value, (_, inner) => inner));
/** Own fields of a config, which hides them from JSON. */
const shownOf = (config) => plain({ ...config });

/** The error of a document, with what all errors must hold. */
function refused(value, documents) {
  let thrown;
  assert.throws(
    () => (documents ? readServers(documents, environment) : read(value)),
    (error) => ((thrown = error), true),
  );
  assert.equal(thrown.name, "ContextWeaverError", thrown.stack);
  const said = JSON.stringify([thrown.message, thrown.path, thrown.hint]);
  for (const value of [SECRET, environment.OTHER]) assert.ok(!said.includes(value), said);
  return thrown;
}

test("the shapes of desktop clients and editors", () => {
  const cases = {
    claude: [
      { mcpServers: { it: { command: "npx", args: ["-y", "x"], env: { A: "1" } } } },
      { type: "stdio", command: "npx", args: ["-y", "x"], env: { A: "1" } },
    ],
    cursor: [
      { mcpServers: { it: { url: "https://h.example/mcp", headers: { "X-Key": "a" } } } },
      { type: "http", url: "https://h.example/mcp", headers: { "X-Key": "a" }, sse_fallback: true },
    ],
    windsurf: [{ mcpServers: { it: { serverUrl: "https://h.example/sse" } } }, { type: "http", url: "https://h.example/sse", headers: {}, sse_fallback: true }],
    gemini: [{ mcpServers: { it: { httpUrl: "https://h.example/mcp" } } }, { type: "http", url: "https://h.example/mcp", headers: {} }],
    "vs code, stdio": [
      { servers: { it: { type: "stdio", command: "node", args: ["a.js"], cwd: "/srv" } }, inputs: [] },
      { type: "stdio", command: "node", args: ["a.js"], env: {}, cwd: "/srv" },
    ],
    "vs code, http": [{ servers: { it: { type: "http", url: "http://127.0.0.1:3/mcp" } } }, { type: "http", url: "http://127.0.0.1:3/mcp", headers: {} }],
    "vs code, sse": [{ servers: { it: { type: "sse", url: "http://127.0.0.1:3/sse" } } }, { type: "sse", url: "http://127.0.0.1:3/sse", headers: {} }],
    "vs code, settings": [
      { "editor.tabSize": 2, mcp: { servers: { it: { command: "a" } } } },
      { type: "stdio", command: "a", args: [], env: {} },
    ],
    cline: [
      { mcpServers: { it: { command: "a", transport: "stdio", env: { PORT: 8080, DEBUG: true } } } },
      { type: "stdio", command: "a", args: [], env: { PORT: "8080", DEBUG: "true" } },
    ],
    "by name of the transport": [
      { mcpServers: { it: { type: "streamable-http", url: "https://h.example" } } },
      { type: "http", url: "https://h.example", headers: {} },
    ],
  };
  for (const [name, [document, transport]] of Object.entries(cases)) {
    const { servers, warnings } = read(document);
    assert.deepEqual(shownOf(servers[0]).transport, transport, name);
    assert.deepEqual(warnings, [], name);
    assert.deepEqual(
      [servers[0].name, servers[0].disabled, servers[0].timeout_ms, servers[0].connection],
      ["it", false, 60_000, transport.type === "stdio" ? "shared" : "session"],
      name,
    );
  }
});

test("our own fields, and those of others that mean the same", () => {
  const policy = { default: "deny", rules: [{ action: "allow", tool: "read_*" }] };
  const {
    servers: [server],
    warnings,
  } = one({
    url: "https://h.example/mcp",
    include_tools: ["read_*"],
    exclude_tools: ["read_secret"],
    forward_headers: ["Authorization", "x-user", "X-User"],
    connection: "shared",
    timeout_ms: 5_000,
    policy,
    probe: false,
    oauth: { client_id: "me", client_secret: "${API_KEY}", scopes: "read write", issuer: "https://auth.example" },
    disabled: true,
  });
  assert.deepEqual(warnings, []);
  const { transport: _, ...rest } = shownOf(server);
  assert.deepEqual(rest, {
    name: "it",
    disabled: true,
    timeout_ms: 5_000,
    include_tools: ["read_*"],
    exclude_tools: ["read_secret"],
    forward_headers: ["authorization", "x-user"],
    connection: "shared",
    probe: false,
    oauth: { grant: "client_credentials", client_id: "me", client_secret: SECRET, scopes: ["read", "write"], issuer: "https://auth.example" },
    policy,
  });
  const {
    servers: [other],
  } = one({ command: "a", enabled: false, disabledTools: ["x"], tools: ["*"] });
  assert.deepEqual([other.disabled, other.exclude_tools, other.include_tools], [true, ["x"], ["*"]]);
  const { gateway } = read({ mcpServers: { it: { command: "a" } }, gateway: { mode: "search", unheard_of: [1, null] } });
  assert.deepEqual(gateway, { mode: "search", unheard_of: [1, null] }, "options of the runtime pass as they are: it checks them");
});

test("how results of a server are masked", () => {
  for (const redact of [true, false, { except: [] }, { except: ["csrf*", "upload.key"] }]) {
    const {
      servers: [server],
      warnings,
    } = one({ command: "a", redact });
    assert.deepEqual([shownOf(server).redact, describeServer(server).redact, warnings], [redact, redact, []]);
  }
  assert.ok(!("redact" in one({ command: "a" }).servers[0]));
  for (const [redact, code, path] of [
    ["no", "INVALID_INPUT", "/mcpServers/it/redact"],
    [{}, "INVALID_INPUT", "/mcpServers/it/redact"],
    [{ except: ["a", ""] }, "INVALID_INPUT", "/mcpServers/it/redact/except/1"],
    [{ except: ["a"], exept: 1 }, "UNKNOWN_FIELD", "/mcpServers/it/redact/exept"],
  ]) {
    const error = refused({ mcpServers: { it: { command: "a", redact } } });
    assert.deepEqual([error.code, error.path], [code, path]);
  }
});

test("variables are expanded everywhere they may stand", () => {
  const {
    servers: [program],
  } = one({
    command: "${HOME}/bin/x",
    args: ["--key=${API_KEY}", "${MISSING:-none}", "${EMPTY:-given}", "${env:HOME}", "${userHome}/y", "a${EMPTY}b"],
    env: { KEY: "${API_KEY}" },
    cwd: "${HOME}",
  });
  assert.deepEqual(shownOf(program).transport, {
    type: "stdio",
    command: "/home/ann/bin/x",
    args: [`--key=${SECRET}`, "none", "given", "/home/ann", "/home/ann/y", "ab"],
    env: { KEY: SECRET },
    cwd: "/home/ann",
  });
  const {
    servers: [remote],
  } = one({ url: "https://h.example/${API_KEY}/mcp?k=${API_KEY}", headers: { Authorization: "Bearer ${API_KEY}" } });
  assert.deepEqual(shownOf(remote).transport, {
    type: "http",
    url: `https://h.example/${SECRET}/mcp?k=${SECRET}`,
    headers: { Authorization: `Bearer ${SECRET}` },
    sse_fallback: true,
  });
  // What is no variable is another program's.
  const {
    servers: [shell],
  } = one({ command: "sh", args: ["-c", "echo ${#list[@]} $HOME ${}"] });
  assert.deepEqual(shell.transport.args, ["-c", "echo ${#list[@]} $HOME ${}"]);
  const environment = { B: "bee", filestore: "s3://x", EMPTY: "", HOME: "/home/ann" };
  for (const [written, expanded] of [
    ["${A:-${B}}", "bee"],
    ["${A:-${C:-${B}/d}}-${EMPTY:-x${env:B}}", "bee/d-xbee"],
    ["${B:-${NOT_SET}}", "bee"],
    ['${A:-{"a":{}}} {}', '{"a":{}} {}'],
    ["{ ${B} } ${A:-{}", "{ bee } ${A:-{}"],
    ["${list[${B}]} ${(${B}", "${list[bee]} ${(bee"],
    ["${filestore} ${config:-/etc/x} ${input:-i} ${command:-ls} ${file:-f} ${file_path:-x}", "s3://x /etc/x i ls f x"],
  ])
    assert.deepEqual(one({ command: "a", args: [written] }, environment).servers[0].transport.args, [expanded]);
  for (const [written, code] of [
    ["${A:-${NOT_SET}}", "NOT_FOUND"],
    ["${file}", "UNSUPPORTED"],
    ["${fileDirname:x}", "UNSUPPORTED"],
    ["${A:-${config:x}}", "UNSUPPORTED"],
    [`${"${A:-".repeat(100)}${"}".repeat(100)}`, "TOO_DEEP"],
  ])
    assert.throws(() => one({ command: "a", args: [written] }, environment), { code, path: "/mcpServers/it/args/0" }, written);
  // A value is not expanded again, and names are looked up as own ones.
  const {
    servers: [twice],
  } = one({ command: "${A}" }, { A: "${HOME}", HOME: "x" });
  assert.equal(twice.transport.command, "${HOME}");
  assert.throws(() => one({ command: "${constructor}" }), { code: "NOT_FOUND", path: "/mcpServers/it/command" });
});

test("a variable that cannot be expanded is named, and nothing else is", () => {
  const missing = refused({ mcpServers: { it: { command: "a", args: ["x", "--a=${API_KEY} --b=${API_KEZ}"] } } });
  assert.deepEqual([missing.code, missing.path], ["NOT_FOUND", "/mcpServers/it/args/1"]);
  assert.match(missing.message, /`API_KEZ` is not set/);
  assert.match(missing.hint, /did you mean `API_KEY`\?/);
  const input = refused({ inputs: [{ id: "key" }], servers: { it: { command: "a", env: { K: "${input:key}" } } } });
  assert.deepEqual([input.code, input.path], ["UNSUPPORTED", "/servers/it/env/K"]);
  assert.match(input.hint, /environment variable/);
  const folder = refused({ servers: { it: { command: "a", args: ["${workspaceFolder}/x"] } } });
  assert.deepEqual([folder.code, folder.path], ["UNSUPPORTED", "/servers/it/args/0"]);
  assert.match(folder.message, /workspaceFolder/);
  assert.throws(() => one({ command: "${A}".repeat(200) }, { A: "x".repeat(1_000) }), { code: "TOO_LARGE" });
});

test("what is wrong is refused with its place", () => {
  const cases = [
    [{ mcpServers: {} }, "MISSING_FIELD", "/mcpServers"],
    [{}, "MISSING_FIELD", "/mcpServers"],
    [[], "INVALID_INPUT", undefined],
    [null, "INVALID_INPUT", undefined],
    [{ mcpServers: [] }, "INVALID_INPUT", "/mcpServers"],
    [{ mcpServers: { it: 1 } }, "INVALID_INPUT", "/mcpServers/it"],
    [{ mcpServers: { "a/b~c": {} } }, "MISSING_FIELD", "/mcpServers/a~1b~0c"],
    [{ mcpServers: { "": { command: "a" } } }, "INVALID_INPUT", "/mcpServers/"],
    [{ mcpServers: { it: { type: "stdio" } } }, "MISSING_FIELD", "/mcpServers/it/command"],
    [{ mcpServers: { it: { type: "http" } } }, "MISSING_FIELD", "/mcpServers/it/url"],
    [{ mcpServers: { it: { type: "websocket", url: "https://h.example" } } }, "INVALID_INPUT", "/mcpServers/it/type"],
    [{ mcpServers: { it: { transport: "constructor", command: "a" } } }, "INVALID_INPUT", "/mcpServers/it/transport"],
    [{ mcpServers: { it: { command: "a", url: "https://h.example" } } }, "INVALID_INPUT", "/mcpServers/it/command"],
    [{ mcpServers: { it: { command: " " } } }, "MISSING_FIELD", "/mcpServers/it"],
    [{ mcpServers: { it: { command: "${EMPTY}" } } }, "INVALID_INPUT", "/mcpServers/it/command"],
    [{ mcpServers: { it: { url: "" } } }, "MISSING_FIELD", "/mcpServers/it"],
    [{ mcpServers: { it: { transport: { type: "http", url: "x" } } } }, "INVALID_INPUT", "/mcpServers/it/transport/url"],
    [{ mcpServers: { it: { command: ["a"] } } }, "INVALID_INPUT", "/mcpServers/it/command"],
    [{ mcpServers: { it: { command: "a", args: "b" } } }, "INVALID_INPUT", "/mcpServers/it/args"],
    [{ mcpServers: { it: { command: "a", args: [{}] } } }, "INVALID_INPUT", "/mcpServers/it/args/0"],
    [{ mcpServers: { it: { command: "a", env: { "A=B": "x" } } } }, "INVALID_INPUT", "/mcpServers/it/env/A=B"],
    [{ mcpServers: { it: { command: "a", env: { A: { b: SECRET } } } } }, "INVALID_INPUT", "/mcpServers/it/env/A"],
    [{ mcpServers: { it: { url: `ftp://h.example/${SECRET}` } } }, "INVALID_INPUT", "/mcpServers/it/url"],
    [{ mcpServers: { it: { url: `http://ann:${SECRET}@h.example` } } }, "INVALID_INPUT", "/mcpServers/it/url"],
    [{ mcpServers: { it: { url: SECRET } } }, "INVALID_INPUT", "/mcpServers/it/url"],
    [{ mcpServers: { it: { url: "http://h.example", headers: { "X Y": "a" } } } }, "INVALID_INPUT", "/mcpServers/it/headers/X Y"],
    [{ mcpServers: { it: { url: "http://h.example", headers: { X: `${SECRET}\n` } } } }, "INVALID_INPUT", "/mcpServers/it/headers/X"],
    [{ mcpServers: { it: { url: "http://h.example", forward_headers: ["Mcp-Session-Id"] } } }, "INVALID_INPUT", "/mcpServers/it/forward_headers/0"],
    [{ mcpServers: { it: { command: "a", forward_headers: ["authorization"] } } }, "INVALID_INPUT", "/mcpServers/it/forward_headers"],
    [{ mcpServers: { it: { command: "a", connection: "each" } } }, "INVALID_INPUT", "/mcpServers/it/connection"],
    [{ mcpServers: { it: { command: "a", timeout_ms: 0 } } }, "OUT_OF_RANGE", "/mcpServers/it/timeout_ms"],
    [{ mcpServers: { it: { command: "a", timeout: "60" } } }, "INVALID_INPUT", "/mcpServers/it/timeout"],
    [{ mcpServers: { it: { command: "a", disabled: "no" } } }, "INVALID_INPUT", "/mcpServers/it/disabled"],
    [{ mcpServers: { it: { command: "a", include_tools: [1] } } }, "INVALID_INPUT", "/mcpServers/it/include_tools/0"],
    [{ mcpServers: { it: { command: "a", policy: "deny" } } }, "INVALID_INPUT", "/mcpServers/it/policy"],
    ...[
      [{ grant: "client_credentials", client_id: "a" }, "MISSING_FIELD", "client_secret"],
      [{ grant: "client_credentials" }, "MISSING_FIELD", "client_id"],
      [{ client_secret: SECRET }, "MISSING_FIELD", "client_id"],
      [{ client_id: "a", private_key: KEY }, "MISSING_FIELD", "signing_algorithm"],
      [{ client_id: "a", signing_algorithm: "RS256" }, "MISSING_FIELD", "private_key"],
      [{ client_id: "a", private_key: KEY, signing_algorithm: "HS256" }, "INVALID_INPUT", "signing_algorithm"],
      [{ client_id: "a", private_key: KEY.replaceAll("\n", "\\n"), signing_algorithm: "RS256" }, "INVALID_INPUT", "private_key"],
      [{ client_id: "a", private_key: KEY, client_secret: SECRET, signing_algorithm: "RS256" }, "INVALID_INPUT", "private_key"],
      [{ client_id: "" }, "INVALID_INPUT", "client_id"],
      [{ grant: "password" }, "INVALID_INPUT", "grant"],
      [{ client_metadata_url: "http://h.example/client.json" }, "INVALID_INPUT", "client_metadata_url"],
      [{ issuer: "login" }, "INVALID_INPUT", "issuer"],
      [{ scopes: [1] }, "INVALID_INPUT", "scopes"],
      [{ allowed_hosts: ["https://h.example"] }, "INVALID_INPUT", "allowed_hosts"],
      [{ allowed_hosts: ["h.example:443"] }, "INVALID_INPUT", "allowed_hosts"],
      [JSON.parse('{"__proto__": {"client_id": "a"}}'), "UNKNOWN_FIELD", "__proto__"],
    ].map(([oauth, code, field]) => [{ mcpServers: { it: { url: "http://h.example", oauth } } }, code, `/mcpServers/it/oauth/${field}`]),
    [{ mcpServers: { it: { url: "http://h.example", oauth: { client: "a", client_secret: SECRET } } } }, "UNKNOWN_FIELD", "/mcpServers/it/oauth/client"],
    [{ mcpServers: { it: { command: "a", oauth: {} } } }, "INVALID_INPUT", "/mcpServers/it/oauth"],
    [{ mcpServers: { it: { command: "a" } }, gateway: 1 }, "INVALID_INPUT", "/gateway"],
  ];
  for (const [document, code, path] of cases) {
    const error = refused(document);
    assert.deepEqual([error.code, error.path], [code, path], `${inspect(document, { depth: 5 })}: ${error.message}`);
  }
});

test("what programs leave empty, nest or spell in their own way", () => {
  const http = { type: "http", url: "https://h.example/mcp", headers: {} };
  for (const type of ["streamablehttp", "StreamableHTTP", "Streamable-Http", "streamable http", "HTTP", "http_stream"]) {
    assert.deepEqual(shownOf(one({ type, url: http.url }).servers[0]).transport, http, type);
  }
  const program = { type: "stdio", command: "a", args: [], env: {} };
  for (const entry of [
    { command: "a", args: null, env: null, cwd: null, url: null, headers: null, disabled: null, timeout: null, oauth: null, policy: null, type: null },
    { command: "a", url: "", type: "", cwd: "" },
    { transport: { type: "stdio", command: "a" } },
    { transport: { command: "a", env: null } },
    { command: "a", transport: {} },
  ]) {
    const {
      servers: [server],
      warnings,
    } = one(entry);
    assert.deepEqual(shownOf(server).transport, program, JSON.stringify(entry));
    assert.deepEqual(warnings, [], JSON.stringify(entry));
  }
  assert.deepEqual(shownOf(one({ transport: { type: "streamable-http", url: http.url, headers: { A: "1", B: null } } }).servers[0]).transport, {
    ...http,
    headers: { A: "1" },
  });
  assert.deepEqual(one({ command: "a", probe: false }).servers[0].probe, false);
});

test("a server that cannot be used is left out and named, and the others run", () => {
  const { servers, warnings } = read({
    mcpServers: {
      good: { command: "a" },
      unset: { command: "a", env: { K: "${NOT_SET}" } },
      neither: {},
      number: 7,
      asks: { command: "${input:key}" },
      off: { command: "${NOT_SET}", disabled: true },
      idle: { enabled: false, url: "" },
      "": { command: "a" },
      last: { url: "https://h.example" },
    },
  });
  assert.deepEqual(
    servers.map(({ name }) => name),
    ["good", "last"],
  );
  assert.deepEqual(
    warnings.map(({ code, path }) => [code, path]),
    [
      ["LEFT_OUT", "/mcpServers/unset/env/K"],
      ["LEFT_OUT", "/mcpServers/neither"],
      ["LEFT_OUT", "/mcpServers/number"],
      ["LEFT_OUT", "/mcpServers/asks/command"],
      ["DISABLED", "/mcpServers/off/command"],
      ["DISABLED", "/mcpServers/idle"],
      ["LEFT_OUT", "/mcpServers/"],
    ],
  );
  assert.match(warnings[0].message, /the server `unset` is left out: the environment variable `NOT_SET` is not set/);
  const none = refused({ mcpServers: { one: { url: "x" }, two: {}, three: {} } });
  assert.deepEqual([none.code, none.path], ["INVALID_INPUT", "/mcpServers/one/url"]);
  assert.match(none.hint, /2 more/);
});

test("names of files become names that tools can carry, each its own and the same each time", () => {
  const namesIn = (...written) => read({ mcpServers: Object.fromEntries(written.map((name) => [name, { command: "a" }])) }).servers.map(({ name }) => name);
  const LEGAL = /^[\w.-]{1,64}$/;
  assert.deepEqual(namesIn("plain_1.x-y", "microsoft/playwright-mcp", "My Server", "@scope/pkg", "Crème brûlée"), [
    "plain_1.x-y",
    "microsoft-playwright-mcp",
    "My-Server",
    "scope-pkg",
    "Creme-brulee",
  ]);
  const odd = ["日本語", "中文", "🦀", "a b", "a  b", "a/b", "a-b", "x".repeat(128), `${"x".repeat(127)}y`, "...", "-", "***"];
  const made = namesIn(...odd);
  for (const name of made) assert.match(name, LEGAL);
  assert.equal(new Set(made).size, odd.length, made.join(" "));
  assert.deepEqual(namesIn(...odd), made);
  // A name that is legal as it is stays, wherever it stands.
  assert.deepEqual(namesIn("a b", "a-b")[1], "a-b");
  const {
    servers: [server],
    warnings: [warning],
  } = read({ mcpServers: { "My Server": { command: "a" } } });
  assert.deepEqual(
    [server.configured_name, describeServer(server).configured_name, warning.code, warning.path],
    ["My Server", "My Server", "RENAMED", "/mcpServers/My Server"],
  );
});

test("a report has variables in place of their values", () => {
  const { servers } = read(
    { mcpServers: { program: { command: "${HOME_OF_ANN}/bin/x" }, remote: { url: "https://${TENANT}.example/${TENANT}/mcp" } } },
    "mcp.json",
    { HOME_OF_ANN: "/home/ann", TENANT: "Acme-Corp" },
  );
  assert.equal(describeServer(servers[0]).command, "${HOME_OF_ANN}/bin/x");
  assert.equal(describeServer(servers[1]).url, "https://${TENANT}.example/${TENANT}/mcp");
});

test("fields of other programs and misspelt ones are warnings", () => {
  const { warnings, servers } = read(
    { mcpServer: {}, theme: "dark", mcpServers: { it: { command: "a", autoApprove: ["x"], excludeTool: ["x"], zzz: SECRET, timeout: 30 } } },
    "cline.json",
  );
  assert.deepEqual(
    warnings.map(({ code, path }) => [code, path]),
    [
      ["UNKNOWN_FIELD", "/mcpServer"],
      ["IGNORED_FIELD", "/mcpServers/it/autoApprove"],
      ["UNKNOWN_FIELD", "/mcpServers/it/excludeTool"],
      ["UNKNOWN_FIELD", "/mcpServers/it/zzz"],
      ["GUESSED", "/mcpServers/it/timeout"],
    ],
  );
  assert.ok(warnings.every(({ file }) => file === "cline.json"));
  assert.match(warnings[0].hint, /`mcpServers`/);
  assert.match(warnings[1].hint, /policy/);
  assert.match(warnings[2].hint, /`exclude_tools`/);
  assert.equal(servers[0].timeout_ms, 30_000);
  assert.ok(!JSON.stringify(warnings).includes(SECRET));
});

test("who is authorized is read from what there is", () => {
  const oauthOf = (oauth, env = {}) => readServers([{ file: "t", value: { mcpServers: { it: { url: "https://h.example", oauth } } } }], env).servers[0].oauth;
  assert.deepEqual(oauthOf({}), { grant: "authorization_code" });
  assert.deepEqual(oauthOf({ clientId: "a", scope: "read  write" }), { grant: "authorization_code", client_id: "a", scopes: ["read", "write"] });
  assert.deepEqual(oauthOf({ client_id: "a", client_secret: SECRET }), { grant: "client_credentials", client_id: "a", client_secret: SECRET });
  assert.deepEqual(oauthOf({ client_id: "a", client_secret: SECRET, grant: "authorization_code" }), {
    grant: "authorization_code",
    client_id: "a",
    client_secret: SECRET,
  });
  assert.deepEqual(oauthOf({ client_id: "a", private_key: "${KEY}", signing_algorithm: "ES256" }, { KEY }), {
    grant: "client_credentials",
    client_id: "a",
    private_key: KEY,
    signing_algorithm: "ES256",
  });
  assert.deepEqual(oauthOf({ client_metadata_url: "https://h.example/client.json" }), {
    grant: "authorization_code",
    client_metadata_url: "https://h.example/client.json",
  });
});

test("documents are merged, and say where they disagree", () => {
  const a = { file: "a.json", value: { mcpServers: { x: { command: "a", args: ["1"], env: { A: "1", B: "2" } }, y: { command: "b" } } } };
  const same = { file: "b.json", value: { servers: { x: { env: { B: "2", A: "1" }, args: ["1"], command: "a" }, z: { command: "c" } } } };
  const { servers } = readServers([a, same], environment);
  assert.deepEqual(
    servers.map(({ name }) => name),
    ["x", "y", "z"],
  );
  const differs = refused(undefined, [a, { file: "c.json", value: { mcpServers: { x: { command: "a", args: ["${API_KEY}"] } } } }]);
  assert.deepEqual([differs.code, differs.path], ["DUPLICATE_ID", "/mcpServers/x"]);
  assert.match(differs.message, /`a\.json` and in `c\.json`/);
  const {
    servers: others,
    warnings: [inSecond],
  } = readServers([a, { file: "c.json", value: { mcpServers: { q: {} } } }], environment);
  assert.deepEqual([others.length, inSecond.code, inSecond.file, inSecond.path], [2, "LEFT_OUT", "c.json", "/mcpServers/q"]);
  const unreadable = refused(undefined, [a, { file: "c.json", value: { mcpServers: 1 } }]);
  assert.match(unreadable.message, /^in `c\.json`: /);
  const gateways = refused(undefined, [
    { file: "a.json", value: { ...a.value, gateway: { mode: "search" } } },
    { file: "b.json", value: { gateway: { mode: "firewall" } } },
  ]);
  assert.deepEqual([gateways.code, gateways.path], ["DUPLICATE_ID", "/gateway"]);
  // A document is not changed, and names like those of Object's prototype are names.
  const value = JSON.parse('{"mcpServers": {"__proto__": {"command": "a", "env": {"__proto__": "x"}}, "constructor": {"command": "b"}}}');
  const before = JSON.stringify(value);
  const odd = readServers([{ file: "a.json", value }], environment);
  assert.deepEqual(
    odd.servers.map(({ name }) => name),
    ["__proto__", "constructor"],
  );
  assert.deepEqual(Object.entries(odd.servers[0].transport.env), [["__proto__", "x"]]);
  assert.equal(JSON.stringify(value), before);
});

test("a server is described without its secrets, however it is printed", () => {
  const { servers } = read({
    mcpServers: {
      program: { command: "npx", args: ["--key", SECRET, "${API_KEY}"], env: { KEY: SECRET, URL: "${API_KEY}" } },
      remote: {
        url: `https://h.example/s/${SECRET}/mcp?key=${SECRET}#${SECRET}`,
        headers: { Authorization: "Bearer ${API_KEY}" },
        oauth: { client_id: "x", client_secret: "abcdefghijk" },
      },
    },
  });
  assert.deepEqual(servers.map(describeServer), [
    {
      name: "program",
      type: "stdio",
      command: "npx",
      args: 3,
      env: ["KEY", "URL"],
      variables: ["API_KEY"],
      connection: "shared",
      disabled: false,
      timeout_ms: 60_000,
    },
    {
      name: "remote",
      type: "http",
      url: "https://h.example/s/…/mcp?key=…",
      headers: ["Authorization"],
      variables: ["API_KEY"],
      oauth: true,
      connection: "session",
      disabled: false,
      timeout_ms: 60_000,
    },
  ]);
  for (const text of [JSON.stringify(servers), inspect(servers, { depth: 9 }), String(servers), servers.map(String).join()]) {
    assert.ok(!text.includes(SECRET) && !text.includes("abcdefghijk"), text);
  }
  assert.deepEqual(secretsOf(servers[1]), [`Bearer ${SECRET}`, SECRET, "abcdefghijk"]);
  const [signing] = read({ mcpServers: { it: { url: "https://h.example", oauth: { client_id: "x", private_key: KEY, signing_algorithm: "ES256" } } } }).servers;
  // Errors name files; a part of a path may be a key all the same.
  const places = { A: "/home/ann/data.db", B: "C:\\\\data\\\\mcp", C: "~/notes", D: `/hooks/${SECRET}`, E: "no/path" };
  const [placed] = read({ mcpServers: { it: { command: "a", env: places } } }).servers;
  assert.deepEqual(secretsOf(placed), [places.D, places.E]);
  const lines = KEY.split("\n").slice(1, -1);
  for (const text of [JSON.stringify(signing), inspect(signing, { depth: 9 })]) for (const line of lines) assert.ok(!text.includes(line), text);
  for (const secret of [KEY, ...lines.filter((line) => line.length >= 16)]) assert.ok(secretsOf(signing).includes(secret));
});

test("JSON with comments and trailing commas", () => {
  const text =
    '\ufeff// servers\n{\n  "mcpServers": { /* one */\n    "it": { "command": "a", "args": ["//x", "/*", "a,]", "\\",}",], /* , */ }, // end\n  },\n}\n';
  const parsed = parseConfigText(text, "mcp.json");
  assert.deepEqual(parsed, { mcpServers: { it: { command: "a", args: ["//x", "/*", "a,]", '",}'] } } });
  // Every character keeps its place, so that errors point into the file.
  assert.equal(plainJson(text).length, text.length);
  for (const same of ['{"a": [1, 2, {"b": ","}]}', "[]", '"//"', "", " 1 "]) assert.equal(plainJson(same), same);
  for (const wrong of ["[,]", "{,}", "[1,,]", "[1,,2]", '{"a":,}', "/* no end", "[1,]]", '{"a" 1}', "// only", '"no end', "{'a': 1}"]) {
    assert.throws(() => parseConfigText(wrong, "mcp.json"), { code: "DECODE_FAILED" }, wrong);
  }
});

test("an error of the parser says where, and quotes nothing", () => {
  const error = ((text) => {
    try {
      parseConfigText(text, "a/mcp.json");
    } catch (thrown) {
      return thrown;
    }
  })(`{\n  "k": "${SECRET}",\n  "x": ${SECRET}\n}`);
  assert.equal(error.code, "DECODE_FAILED");
  assert.match(error.message, /^`a\/mcp\.json` is not valid JSON/);
  assert.ok(!`${error.message} ${error.hint} ${inspect(error)}`.includes(SECRET), inspect(error));
});

test("reading is linear in the text", { timeout: 60_000 }, () => {
  for (const text of [
    "[".repeat(300_000),
    `[${" ,".repeat(300_000)}]`,
    `[1${" ".repeat(600_000)},,]`,
    "/".repeat(600_000),
    `${"/**/".repeat(150_000)}1,`,
    `[${"1,/**/".repeat(100_000)}`,
    `"${"\\\\".repeat(300_000)}`,
  ]) {
    // A quadratic reader would take minutes.
    assert.throws(() => parseConfigText(text, "x"), { code: "DECODE_FAILED" }, text.slice(0, 20));
  }
  assert.throws(() => parseConfigText(" ".repeat(4 * 1024 * 1024 + 1), "x"), { code: "TOO_LARGE" });
});

/** A client of a gateway in this process. */
async function connected(t, handler, path = "/mcp") {
  const made = new client.Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  t.after(() => made.close());
  await made.connect(
    new client.StreamableHTTPClientTransport(new URL(`http://localhost${path}`), { fetch: (input, init) => handler(new Request(input, init)) }),
  );
  return made;
}
const isRefused = async (made, name) =>
  made.callTool({ name, arguments: {} }).then(
    ({ isError = false }) => isError,
    () => true,
  );

test("the gateway runs with the servers that can be used, under names that policies know", async (t) => {
  const [one, other] = [
    await streamableServer({ tools: () => [{ name: "one", inputSchema: { type: "object" } }] }),
    await streamableServer({ tools: () => [{ name: "other", inputSchema: { type: "object" } }] }),
  ];
  t.after(() => Promise.all([one.close(), other.close()]));
  const handler = gateway({
    mcpServers: {
      "acme/one": { url: one.url },
      日本語: { url: other.url },
      broken: {},
      "bad policy": { url: other.url, policy: { rules: [{ action: "sometimes" }] } },
    },
    policy: {
      rules: [
        { action: "deny", server: "acme/*" },
        { action: "deny", server: "nobody" },
      ],
    },
    token: false,
    sdk,
    mode: "firewall",
  });
  t.after(() => handler.close());
  assert.deepEqual(handler.warnings.map(({ code }) => code).sort(), ["LEFT_OUT", "LEFT_OUT", "RENAMED", "RENAMED", "RENAMED"]);
  await handler.ready();
  assert.deepEqual(
    (await handler.servers()).map(({ state, configured_name }) => [configured_name, state.status]),
    [
      ["acme/one", "ready"],
      ["日本語", "ready"],
    ],
  );
  const made = await connected(t, handler, "/mcp/");
  assert.deepEqual([await isRefused(made, "one"), await isRefused(made, "other")], [true, false], "a rule holds under the name that is written");
  assert.throws(() => gateway({ mcpServers: { only: { url: one.url, policy: { rules: [{ action: "sometimes" }] } } }, token: false, sdk }), {
    code: "INVALID_INPUT",
  });
});

test("an empty token is refused at once", () => {
  const servers = { mcpServers: { it: { url: "http://127.0.0.1:1/mcp" } }, sdk };
  for (const [token, code] of [
    ["", "INVALID_INPUT"],
    ["a b", "INVALID_INPUT"],
    [7, "INVALID_INPUT"],
  ])
    assert.throws(() => gateway({ ...servers, token }), { code, path: "/token" });
});

test("a server that is disabled for a while keeps its pins", async (t) => {
  let description = "Says who asks";
  const [one, other] = [await streamableServer({ tools: () => [{ name: "pinned", description, inputSchema: { type: "object" } }] }), await streamableServer()];
  t.after(() => Promise.all([one.close(), other.close()]));
  const store = memoryStore();
  const reportOf = async (disabled) => {
    const reports = new Map();
    const handler = gateway({
      mcpServers: { one: { url: one.url, disabled }, other: { url: other.url } },
      token: false,
      sdk,
      store,
      on_server: ({ server: name, report }) => void (report && reports.set(name, report)),
    });
    await handler.ready();
    await handler.close();
    return reports.get("one");
  };
  assert.deepEqual((await reportOf(false)).quarantined, []);
  assert.equal(await reportOf(true), undefined, "the gateway starts without it");
  description = "Does something else entirely, such as deleting all";
  assert.equal((await reportOf(false)).quarantined.length, 1);
});

test("doctor goes on after what is wrong, and says all of it", async (t) => {
  const folder = await temporaryFolder("gateway-doctor");
  const config = join(folder, "mcp.json");
  const doctor = async (mcpServers, more, args = []) => {
    await writeFile(config, JSON.stringify({ mcpServers, ...more }));
    return run(process.execPath, [PROGRAM, "gateway", "doctor", "--config", config, ...args], {
      check: false,
      env: { SECRET_PLACE: `${folder}/`, MY_API_KEY: SECRET },
    });
  };
  const thinking = published("server-sequential-thinking");
  const said = await doctor(
    {
      "My Server": thinking,
      one: { url: "" },
      two: { command: "${NOT_SET_ANYWHERE}" },
      off: { command: "${NOT_SET_ANYWHERE}", disabled: true },
      half: { command: process.execPath, args: [join(here, "gateway-faulty.mjs"), "half"] },
    },
    { gateway: { unheard_of: 1 } },
  );
  assert.equal(said.code, 1);
  for (const wanted of [
    /^ok +My-Server/m,
    /`one` is left out/,
    /`two` is left out: .*`NOT_SET_ANYWHERE` is not set/,
    /`off` is disabled/,
    /half: its prompts cannot be listed: out of order/,
    /`My Server` is called `My-Server`/,
    /unheard_of/,
    /not given .*MY_API_KEY/,
  ])
    assert.match(said.stdout, wanted);
  assert.ok(!said.stdout.includes(SECRET));
  // Of the gateway's own options all that is wrong, and what was meant; the servers are examined all the same.
  const options = await doctor(
    { "My Server": thinking },
    {
      gateway: {
        mod: "search",
        structured_contnt: "once",
        result_tokens: -3,
        drift: "ignore",
        names: { recal: "again", drildown: "more" },
        policy: { rules: [{ toool: "x" }] },
      },
    },
  );
  assert.equal(options.code, 1);
  for (const wanted of [
    /^ok +My-Server/m,
    /error \/gateway\/mod: unknown field `mod`\n +did you mean `mode`\?/,
    /error \/gateway\/structured_contnt: unknown field `structured_contnt`\n +did you mean `structured_content`\?/,
    /error \/gateway\/result_tokens: expected a whole number/,
    /error \/gateway\/drift: /,
    /error \/gateway\/names\/recal: unknown field `recal`\n +did you mean `recall`\?/,
    /error \/gateway\/names\/drildown: unknown field `drildown`\n +did you mean `drilldown`\?/,
    /error \/gateway\/policy\/rules\/0\/toool: unknown field `toool`\n +did you mean `tool`\?/,
    /error \/gateway\/policy\/rules\/0\/action: missing field `action`/,
  ])
    assert.match(options.stdout, wanted);
  const none = await doctor({ one: { url: "" }, two: {} });
  assert.equal(none.code, 1);
  for (const wanted of [/`one` is left out/, /`two` is left out/]) assert.match(none.stdout, wanted);
  // Values of variables are in no report.
  const json = await doctor({ it: { ...thinking, command: "${SECRET_PLACE}no-such-program" } }, {}, ["--json"]);
  assert.equal(JSON.parse(json.stdout).servers[0].command, "${SECRET_PLACE}no-such-program");
  assert.ok(!json.stdout.includes(folder), json.stdout);
});
