// What objects hold beside the engine for the case of a restart.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { here, project, report, run } from "./harness.mjs";

test("what is held for a restart is bounded by what is alive", async (t) => {
  const folder = await project("memory", { "main.mjs": main });
  await copyFile(join(here, "memory.mjs"), join(folder, "memory.mjs"));
  await report(t, (await run("node", ["--expose-gc", "main.mjs"], { cwd: folder })).stdout);
});

const main = `
import { runMemoryCases } from "./memory.mjs";
// The engine's memory is seen by no other way: instances are remembered as they are made.
const instances = [];
WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct: (target, args) => {
    const instance = new target(...args);
    instances.push(instance);
    return instance;
  },
});
const engineBytes = () => instances.reduce((sum, { exports }) => sum + exports.memory.buffer.byteLength, 0);
const cw = await import("contextweaver");
const results = await runMemoryCases(cw, { process, engineBytes }, process.env.CONTEXTWEAVER_TEST_LONG === "1");
if (instances.length < 3) throw new Error("the engine's memory was not seen");
console.log(JSON.stringify(results));
`;
