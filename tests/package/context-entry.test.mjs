// The entry whose module has no converters says what it cannot do, and where it is done.
import { project, report, run } from "./harness.mjs";
import test from "node:test";

test("contextweaver/context refuses what needs the converters", async (t) => {
  const folder = await project("context-entry", { "main.mjs": main });
  await report(t, (await run("node", ["main.mjs"], { cwd: folder })).stdout);
});

const main = `
import { ContextManager } from "contextweaver/context";
const manager = new ContextManager();
manager.ingest({ id: "u", kind: "user_turn", text: "hello" });
const before = JSON.stringify(manager);
const refused = {
  ingestMessages: () => manager.ingestMessages([{ role: "user", content: "x" }], "openai-chat"),
  syncMessages: () => manager.syncMessages([{ role: "user", content: "x" }], "openai-chat"),
  buildMessages: () => manager.buildMessages({ phase: "answer", format: "openai-chat" }),
  ingestMcpResult: () => manager.ingestMcpResult({ tool_call_id: "c", tool_name: "t", result: { content: [] } }),
};
const results = Object.entries(refused).map(([name, call]) => {
  try {
    call();
    return { name, ok: false, error: "nothing was thrown" };
  } catch (error) {
    const ok = error.code === "UNSUPPORTED" && /import ContextManager from "contextweaver"/.test(error.hint);
    return { name, ok: ok && JSON.stringify(manager) === before, error: String(error) };
  }
});
console.log(JSON.stringify(results));
`;
