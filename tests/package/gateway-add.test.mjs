// `gateway add`: entries for servers that a server.json of the registry or a server card describes.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { here, packageDir, run, temporaryFolder } from "./harness.mjs";

const { registryEntry } = await import(pathToFileURL(join(packageDir, "dist/gateway/registry-entry.js")));
const PROGRAM = join(packageDir, "bin", "contextweaver.js");
const everything = JSON.parse(await readFile(join(here, "node_modules/@modelcontextprotocol/server-everything/package.json"), "utf8"));

/** A server.json as publishers write it. */
const serverJson = (more = {}) => ({
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: "io.example/everything",
  description: "Has everything.",
  version: "1.2.3",
  packages: [
    {
      registryType: "npm",
      identifier: "@modelcontextprotocol/server-everything",
      version: everything.version,
      runtimeHint: "npx",
      transport: { type: "stdio" },
      packageArguments: [
        { type: "positional", value: "stdio" },
        { type: "named", name: "--root", valueHint: "folder", default: "." },
        { type: "named", name: "--optional", valueHint: "x" },
      ],
      environmentVariables: [
        { name: "EVERY_KEY", description: "Your key", isRequired: true, isSecret: true },
        { name: "EVERY_LEVEL", default: "info" },
        { name: "EVERY_MORE" },
      ],
    },
  ],
  remotes: [
    {
      type: "streamable-http",
      url: "https://{tenant}.example/mcp",
      variables: { tenant: { isRequired: true, description: "Your tenant" } },
      headers: [{ name: "Authorization", value: "Bearer {token}", variables: { token: { isSecret: true, description: "Your token" } } }],
    },
  ],
  ...more,
});
const withPackage = (more) => serverJson({ packages: [{ ...serverJson().packages[0], ...more }], remotes: [] });

test("an entry runs one version of a package, and names what its user sets", () => {
  const made = registryEntry(serverJson(), "every thing");
  assert.deepEqual(made.entry, {
    command: "npx",
    args: ["-y", `@modelcontextprotocol/server-everything@${everything.version}`, "stdio", "--root", "."],
    env: { EVERY_KEY: "${EVERY_KEY}", EVERY_LEVEL: "info" },
  });
  assert.deepEqual([made.is_pinned, made.needs, made.others], [true, [{ name: "EVERY_KEY", about: "Your key" }], ["remote https://{tenant}.example/mcp"]]);
  const remote = registryEntry(
    { server: serverJson(), _meta: { "io.modelcontextprotocol.registry/official": { status: "deprecated" } } },
    "every thing",
    "remote",
  );
  assert.deepEqual(remote.entry, { type: "http", url: "https://${EVERY_THING_TENANT}.example/mcp", headers: { Authorization: "Bearer ${EVERY_THING_TOKEN}" } });
  assert.deepEqual([remote.is_pinned, remote.warnings.length, remote.warnings[0]], [false, 2, "the registry says that this server is deprecated"]);
  const kinds = {
    pypi: ["uvx", ["a@1.0"]],
    oci: ["docker", ["run", "-i", "--rm", "-e", "EVERY_KEY", "-e", "EVERY_LEVEL", "a:1.0"]],
    nuget: ["dnx", ["a@1.0", "--yes"]],
  };
  for (const [registryType, [command, args]] of Object.entries(kinds)) {
    const { entry } = registryEntry(withPackage({ registryType, identifier: "a", version: "1.0", runtimeHint: command, packageArguments: [] }), "x");
    assert.deepEqual([entry.command, entry.args], [command, args]);
  }
});

test("what could run something else, or anything, is refused with its place", () => {
  const refused = {
    "/packages/0/version": [withPackage({ version: "latest" }), withPackage({ version: "^1.0.0" }), withPackage({ version: undefined })],
    "/packages/0/runtimeHint": [withPackage({ runtimeHint: "bash" })],
    "/packages/0/identifier": [withPackage({ identifier: "-c rm" }), withPackage({ identifier: "--yes" }), withPackage({ identifier: "a; b" })],
    "/packages/0/registryType": [withPackage({ registryType: "mcpb" })],
    "/packages/0/transport/type": [withPackage({ transport: { type: "streamable-http", url: "http://localhost" } })],
    // The environment of whoever starts the gateway would be sent to the server.
    "/packages/0/packageArguments/0/value": [withPackage({ packageArguments: [{ type: "positional", value: "${AWS_SECRET_ACCESS_KEY}" }] })],
    "/packages/0/environmentVariables/0/name": [withPackage({ environmentVariables: [{ name: "A=B", isRequired: true }] })],
    "/remotes/0/value": [serverJson({ packages: [], remotes: [{ type: "sse", url: "https://x.example/${HOME}" }] })],
    "/remotes/0/url": [serverJson({ packages: [], remotes: [{ url: "file:///etc/passwd" }] })],
    "/servers": [{ servers: [serverJson(), serverJson()] }],
    "/name": [{}],
    "": [[], 5, serverJson({ packages: [], remotes: [] })],
  };
  for (const [path, documents] of Object.entries(refused)) {
    for (const document of documents)
      assert.throws(
        () => registryEntry(document, "x"),
        (error) => error.name === "ContextWeaverError" && (error.path ?? "") === path,
        `${path}: ${JSON.stringify(document)}`,
      );
  }
});

test("the command shows what it will run, writes the entry, and asks the address that it was given alone", async (t) => {
  const folder = await temporaryFolder("gateway-add");
  const asked = [];
  const documents = {
    "/server.json": serverJson(),
    "/.well-known/mcp/server-card": { name: "io.example/card", version: "2.0", remotes: [{ type: "streamable-http", url: "https://card.example/mcp" }] },
  };
  const served = createServer((request, response) => {
    asked.push(request.url);
    const document = documents[request.url];
    response.writeHead(document ? 200 : 405, { "content-type": "application/json" });
    response.end(document && JSON.stringify(document));
  }).listen(0, "127.0.0.1");
  t.after(() => served.close());
  await new Promise((done) => served.once("listening", done));
  const origin = `http://127.0.0.1:${served.address().port}`;
  const config = join(folder, "mcp.json");
  await writeFile(config, '{\n    "mcpServers": {\n        "old": { "command": "x" }\n    },\n    "other": 1\n}\n');
  const add = (...args) => run(process.execPath, [PROGRAM, "gateway", "add", ...args, "--config", config], { cwd: folder, check: false });
  const shown = await add("every", "--from", `${origin}/server.json`, "--dry-run");
  assert.match(shown.stdout, /runs npx -y @modelcontextprotocol\/server-everything@\S+ stdio --root \.\n {2}needs EVERY_KEY: Your key \(not set\)/);
  assert.match(shown.stdout, /nothing was written/);
  assert.deepEqual(asked, ["/server.json"]);
  assert.equal((await add("every", "--from", `${origin}/server.json`)).code, 0);
  const written = JSON.parse(await readFile(config, "utf8"));
  assert.deepEqual([Object.keys(written.mcpServers), written.other, written.mcpServers.every.command], [["old", "every"], 1, "npx"]);
  assert.match(await readFile(config, "utf8"), /\n {4}"mcpServers"/);
  const again = await add("every", "--from", `${origin}/server.json`);
  assert.deepEqual([again.code, /has a server `every` already/.test(again.stderr)], [2, true]);
  // The address of a server leads to its card.
  asked.length = 0;
  const card = await add("card", "--from", `${origin}/mcp`);
  assert.match(card.stdout, /calls https:\/\/card\.example\/mcp \(version not pinned\)/);
  assert.deepEqual(asked, ["/mcp", "/mcp/server-card", "/.well-known/mcp/server-card"]);
  for (const [from, said] of [
    ["http://example.com/server.json", /with https/],
    [join(folder, "none.json"), /cannot read/],
    [`${origin}/nothing/here`, /.*/],
  ]) {
    const refused = await add("y", "--from", from);
    if (from.startsWith(origin)) continue;
    assert.deepEqual([refused.code, said.test(refused.stderr)], [2, true], refused.stderr);
  }
  await writeFile(config, "{ // a comment\n}");
  const commented = await add("every", "--from", `${origin}/server.json`);
  assert.deepEqual([commented.code, /would lose them: put this into it/.test(commented.stderr)], [2, true], commented.stderr);
  assert.equal(await readFile(config, "utf8"), "{ // a comment\n}");
});
