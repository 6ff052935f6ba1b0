// The gateway in Deno and Bun, where they can be installed: its handler, and the command over HTTP in front of a server of HTTP and a program.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { SELF, called, connected, loadHttp } from "./gateway-load.mjs";
import { has, here, optionalProgram, project, run } from "./harness.mjs";

const HANDLER = `
import process from "node:process";
import * as client from "@modelcontextprotocol/client";
import * as server from "@modelcontextprotocol/server";
import { gateway } from "contextweaver/mcp";
const handler = gateway({ mcpServers: JSON.parse(process.env.SERVERS), token: false, sdk: { server, client } });
await handler.ready();
const told = [];
for (const mode of ["legacy", "auto"]) {
  const user = new client.Client({ name: "user", version: "1.0.0" }, { versionNegotiation: { mode } });
  await user.connect(new client.StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch: (input, init) => handler.fetch(new Request(input, init)) }));
  const call = async (name, args) => (await user.callTool({ name, arguments: args })).content[0].text;
  const [handle] = /artifact:[^\\s)"]+/.exec(await call("up_echo", { bytes: 200_000 }));
  told.push([user.getProtocolEra(), await call("up_echo", { text: "x" }), await call("drilldown", { handle, selector: { type: "rows", start: 7, end: 8 } })]);
  await user.close();
}
await handler.close();
console.log(JSON.stringify(told));
`;

for (const name of ["deno", "bun"]) {
  const flags = name === "deno" ? ["run", "--no-prompt", "--cached-only", "--node-modules-dir=manual", "-A"] : [];

  test(`${name}: the handler and the command`, async (t) => {
    const program = await optionalProgram(name);
    if (!has(t, program.path, { ...program, optional: true })) return;
    const up = await loadHttp("up", "legacy");
    t.after(() => up.close());
    const folder = await project(`gateway-${name}`, { "main.mjs": HANDLER });
    await symlink(join(here, "node_modules", "@modelcontextprotocol"), join(folder, "node_modules", "@modelcontextprotocol"));
    const env = { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, ".deno"), SERVERS: JSON.stringify({ up: { url: up.url } }) };
    const { stdout } = await run(program.path, [...flags, "main.mjs"], { cwd: folder, env, timeout: 60_000 });
    const told = JSON.parse(stdout);
    assert.deepEqual(
      told.map(([era, text]) => [era, text]),
      [
        ["legacy", "up:x"],
        ["modern", "up:x"],
      ],
    );
    for (const [, , rows] of told) assert.match(rows, /"id":7/);

    const config = join(folder, "mcp.json");
    await writeFile(
      config,
      JSON.stringify({ mcpServers: { up: { url: up.url }, own: { command: process.execPath, args: [SELF, "stdio", "modern", "own"] } } }),
    );
    const bin = join(folder, "node_modules", "contextweaver", "bin", "contextweaver.js");
    const child = spawn(program.path, [...flags, bin, "gateway", "--config", config, "--http", "--port", "0", "--store", join(folder, "store")], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const ended = new Promise((done) => child.once("close", done));
    // A launcher and what it started: the group of both.
    const kill = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // They have ended.
      }
    };
    t.after(() => kill("SIGKILL"));
    let stderr = "";
    child.stderr.on("data", (text) => (stderr += text));
    let url;
    for await (const line of createInterface({ input: child.stdout })) if ((url = /^listening on (\S+)$/.exec(line)?.[1])) break;
    assert.ok(url, stderr);
    for (const era of ["legacy", "modern"]) {
      const user = await connected(url, era);
      for (const server of ["up", "own"]) assert.equal(await called(user, `${server}_echo`, { text: era }), `${server}:${era}`);
      const [handle] = /artifact:[^\s)"]+/.exec(await called(user, "own_echo", { bytes: 200_000 }));
      assert.match(await called(user, "drilldown", { handle, selector: { type: "rows", start: 7, end: 8 } }), /"id":7/);
      await user.close();
    }
    kill("SIGTERM");
    await ended;
    assert.match(stderr, /6 calls answered by servers, 2 by the gateway itself; \d+ tokens saved/);
  });
}
