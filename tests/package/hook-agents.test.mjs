// Agents from npm play a session against a scripted provider, with what `contextweaver install` has given them: the large result of a
// tool reaches the model in its entry form, and the model reads on in it.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { AGENTS, installed } from "./agents.mjs";
import { run } from "./harness.mjs";
import { listening } from "./proxy-listening.mjs";
import { PROGRAM } from "./proxy-program.mjs";

// Less than what agents cut off themselves before a hook sees it.
const LARGE = Array.from({ length: 900 }, (_, at) => `export function handler${at}() { return ${at * 7}; }`).join("\n");
const TASK = "Find the handler with the number 777";

for (const name of Object.keys(AGENTS)) {
  test(`install ${name}: its hook shortens a result, and its model reads on`, { timeout: 180_000 }, async (t) => {
    const agent = await installed(t, name);
    if (!agent) return;
    const { program, cwd } = agent;
    await mkdir(join(cwd, "src"), { recursive: true });
    await writeFile(join(cwd, "src/big.ts"), `${LARGE}\n`);
    let step = 0;
    let read = "";
    const provider = await listening(t, (body) => {
      const said = JSON.stringify(body);
      const tools = JSON.stringify(body.tools ?? body.input?.[0]?.tools ?? []);
      // A title, or another thing beside the conversation.
      if (!said.includes(TASK) || tools === "[]") return { text: "A title" };
      step += 1;
      if (step === 1) return { text: "I look.", calls: [{ id: "call_1", ...agent.shell("cat src/big.ts") }] };
      const handle = /artifact:result:[a-z2-7]{10}-\d+/.exec(said)?.[0] ?? "none";
      const selector = { type: "search", text: "handler777(" };
      if (step === 2) return { text: "I read on.", calls: [{ id: "call_2", ...agent.mcp("drilldown", { handle, selector }) }] };
      read = said;
      return { text: "All done." };
    });
    const direct = agent.direct(provider.address);
    const env = { ...agent.env, ...direct.env };
    await run(process.execPath, [PROGRAM, "install", name, "--yes"], { cwd, env });
    const [first, ...rest] = agent.ask(TASK);
    const { stdout } = await run(program, [first, ...(direct.args ?? []), ...rest], { cwd, env, input: "" });
    assert.match(stdout, /All done\./);
    assert.equal(step, 3);
    // In part, with the way to the rest; and the part that was asked for.
    const lines = new Set(read.match(/handler\d+\(\)/g));
    assert.ok(lines.size > 20 && lines.size < 300, `${lines.size} lines of the result were sent`);
    assert.match(read, /handler777\(\) \{ return 5439; \}/);
    assert.match(read, /of \d{4,} tokens; mcp_*contextweaver_*drilldown|of \d{4,} tokens; contextweaver_drilldown/);
  });
}
