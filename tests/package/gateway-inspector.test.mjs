// A new user's day with the gateway by the command line of the inspector, in every mode.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { MODES, PLACES, folder, gatewayOf, oneDay, started } from "./gateway-day.mjs";
import { configured } from "./gateway-harness.mjs";
import { has, modernNode, run, runtimes } from "./harness.mjs";

test("the inspector's command line finds, calls and reads on, in every mode", async (t) => {
  const node = await modernNode();
  const inspector = runtimes && join(runtimes, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  if (!has(t, node.path, { ...node, optional: true }) || !has(t, inspector, { missing: "the optional runtimes are not installed", optional: true })) return;
  const home = join(folder, "home");
  await mkdir(home, { recursive: true });
  const cli = async (target, ...args) => {
    const { stdout } = await run(node.path, [inspector, "--cli", ...target, ...args], {
      cwd: folder,
      env: { HOME: home, MCP_STORAGE_DIR: home },
      timeout: 60_000,
    });
    return JSON.parse(stdout.slice(stdout.indexOf("{")));
  };
  const called = (target, name, given) =>
    cli(
      target,
      "--method",
      "tools/call",
      "--tool-name",
      name,
      "--tool-arg",
      ...Object.entries(given).map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`),
    );
  for (const mode of Object.keys(MODES)) {
    const gateway = await gatewayOf(mode);
    // Each call of the inspector over standard input and output starts a gateway of its own: the store is what they share.
    const isStdio = mode === "search";
    const start = async () => {
      if (isStdio)
        return {
          stop: async () => {},
          target: ["--config", await configured(folder, "client.json", { all: { command: gateway.command, args: gateway.args } }), "--server", "all"],
        };
      const served = await gateway.http(t);
      await started(served.stderr);
      return { stop: served.stop, target: [served.url, "--transport", "http"] };
    };
    const { target, stop } = await start();
    const user = { client: { listTools: () => cli(target, "--method", "tools/list") }, call: (name, given) => called(target, name, given) };
    await oneDay(user, MODES[mode], PLACES.slice(1, 2));
    await stop();
  }
});
