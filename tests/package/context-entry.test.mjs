// The entry whose module has no converters says what it cannot do, and where it is done; beside an entry that has them it does it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { has, here, project, report, run } from "./harness.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";
import test from "node:test";

/** What is imported beside it, in either order, as modules start in the order of their imports. */
const ENTRY = `import { ContextManager } from "contextweaver/context";`;
const OTHER = `import { contextWeaver } from "contextweaver/anthropic"; globalThis.contextWeaver = contextWeaver;`;

test("contextweaver/context refuses what needs the converters", async (t) => {
  await report(t, await inNode("context-entry", `${ENTRY}\n${calls}\nconst results = refused();`));
});

test("contextweaver/context does what needs the converters beside an entry that has them", async (t) => {
  for (const [name, imports] of [
    ["context-entry-before", `${ENTRY}\n${OTHER}`],
    ["context-entry-behind", `${OTHER}\n${ENTRY}`],
  ])
    await report(t, await inNode(name, `${imports}\n${calls}\nconst results = done();`));
});

test("contextweaver/context is the same in workerd, alone and beside another entry", async (t) => {
  const installed = existsSync(join(here, "node_modules", "workerd"));
  if (!has(t, installed, { missing: "workerd is not installed for this platform" })) return;
  for (const [name, imports, asked] of [
    ["context-entry-workerd", ENTRY, "refused"],
    ["context-entry-workerd-before", `${ENTRY}\n${OTHER}`, "done"],
    ["context-entry-workerd-behind", `${OTHER}\n${ENTRY}`, "done"],
  ])
    await report(t, await inWorkerd(name, `${imports}\n${calls}\nexport default { fetch: () => Response.json(${asked}()) };`));
});

async function inNode(name, program) {
  const folder = await project(name, { "main.mjs": `${program}\nconsole.log(JSON.stringify(results));` });
  return (await run("node", ["main.mjs"], { cwd: folder })).stdout;
}

async function inWorkerd(name, program) {
  const { Miniflare } = await import("miniflare");
  const folder = await project(name, { "worker.mjs": program });
  const modules = await bundleWorker(join(folder, "worker.mjs"));
  const miniflare = new Miniflare({ modules, modulesRoot: "/", compatibilityDate: "2025-01-01" });
  try {
    return await (await miniflare.dispatchFetch("http://localhost/")).text();
  } finally {
    await miniflare.dispose();
  }
}

const calls = `
function asked() {
  const manager = new ContextManager();
  manager.ingest({ id: "u", kind: "user_turn", text: "hello" });
  return { manager, calls: Object.entries({
    ingestMessages: () => manager.ingestMessages([{ role: "user", content: "x" }], "openai-chat").ids.length === 1,
    syncMessages: () => manager.syncMessages([{ role: "user", content: "x" }], "openai-chat").added.length === 0,
    buildMessages: () => manager.buildMessages({ phase: "answer", format: "openai-chat" }).messages.length > 0,
    ingestMcpResult: () => manager.ingestMcpResult({ tool_call_id: "c", tool_name: "t", result: { content: [] } }).item.id === "result:c",
  }) };
}
function refused() {
  const { manager, calls } = asked();
  const before = JSON.stringify(manager);
  return calls.map(([name, call]) => {
    try {
      call();
      return { name, ok: false, error: "nothing was thrown" };
    } catch (error) {
      const ok = error.code === "UNSUPPORTED" && /import ContextManager from "contextweaver"/.test(error.hint);
      return { name, ok: ok && JSON.stringify(manager) === before, error: String(error) };
    }
  });
}
function done() {
  return asked().calls.map(([name, call]) => {
    try {
      return { name, ok: call() };
    } catch (error) {
      return { name, ok: false, error: String(error) };
    }
  });
}
`;
