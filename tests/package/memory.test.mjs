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
import * as cw from "contextweaver";
import { runMemoryCases } from "./memory.mjs";
console.log(JSON.stringify(await runMemoryCases(cw, process)));
`;
