// A new user's day with the gateway by the official SDK: the command from the packed package, every mode, and a restart.
import assert from "node:assert/strict";
import test from "node:test";
import { MODES, gatewayOf, oneDay, readRows, started } from "./gateway-day.mjs";
import { connected } from "./gateway-harness.mjs";

for (const [mode, transport] of [["firewall", "stdio"], ["search", "HTTP"], ["reference", "stdio"]]) {
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
    await first.stop();
    const second = await start();
    assert.deepEqual(await readRows(second.user, MODES[mode].drill, handle), rows);
    await second.stop();
    assert.doesNotMatch(first.stderr() + second.stderr(), /contextweaver gateway: [A-Z_]+: /, "nothing went wrong");
  });
}
