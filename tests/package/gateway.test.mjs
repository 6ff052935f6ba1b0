// A new user's day with the gateway by the official SDK: the command from the packed package, every mode, and a restart.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { MODES, folder, gatewayOf, oneDay, readRows, recallRow, started } from "./gateway-day.mjs";
import { connected, published } from "./gateway-harness.mjs";

for (const [mode, transport] of [
  ["firewall", "stdio"],
  ["search", "HTTP"],
]) {
  test(`${mode} mode over ${transport}: find a tool, call it, read one row, restart, read it again`, async (t) => {
    const gateway = await gatewayOf(mode);
    const start = async () => {
      if (transport === "stdio") {
        const user = await connected(t, "SDK 2.x, auto", { program: gateway.stdio() });
        return { user, stop: user.close, stderr: user.stderr };
      }
      const served = await gateway.http(t);
      const user = await connected(t, "SDK 1.x", { url: served.url });
      return { user, stop: async () => (await user.close(), await served.stop()), stderr: served.stderr };
    };
    const first = await start();
    await started(first.stderr);
    const { handle, rows } = await oneDay(first.user, MODES[mode]);
    await recallRow(first.user, MODES[mode].recall, handle);
    await first.stop();
    const second = await start();
    assert.deepEqual(await readRows(second.user, MODES[mode].drill, handle), rows);
    await second.stop();
    assert.doesNotMatch(first.stderr() + second.stderr(), /contextweaver gateway: [A-Z_]+: /, "nothing went wrong");
  });
}

test("accept ends with its servers, also when what is to be accepted is not there", async () => {
  await writeFile(join(folder, "accept.json"), JSON.stringify({ mcpServers: { everything: published("server-everything") } }));
  const accept = (...what) =>
    new Promise((done) => {
      const command = [
        join(folder, "node_modules/contextweaver/bin/contextweaver.js"),
        "gateway",
        "accept",
        ...what,
        "--config",
        "accept.json",
        "--store",
        "accepted",
      ];
      execFile(process.execPath, command, { cwd: folder, timeout: 60_000 }, (error, stdout, stderr) =>
        done({ code: error === null ? 0 : error.code, stdout, stderr }),
      );
    });
  const unknown = await accept("everythink");
  assert.equal(unknown.code, 2, unknown.stderr);
  assert.match(unknown.stderr, /NOT_FOUND at \/server/);
  const known = await accept("everything");
  assert.deepEqual([known.code, known.stdout], [0, "nothing was in quarantine\n"]);
});
