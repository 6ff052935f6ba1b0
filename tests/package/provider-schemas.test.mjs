// Messages of random prompts, held against what the providers' own packages say a message is.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { has, here, packageDir, project, run } from "./harness.mjs";

const { ContextManager } = await import(pathToFileURL(join(packageDir, "dist", "index.js")));
const LOGS = 150;
const installed = (name) => existsSync(join(here, "node_modules", name));
const load = (name) => import(pathToFileURL(createRequire(join(here, "package.json")).resolve(name)));

/** The same numbers in every run. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A log as programs leave it: turns, parallel calls, results that are long, missing or an error, notes in between. */
function logOf(seed) {
  const next = random(seed + 1);
  const words = (count) => Array.from({ length: count }, () => ["order", "cat", "naïve", "日本", "id=7", '"quoted"'][next(6)]).join(" ");
  const items = [];
  const add = (kind, text, more = {}) => items.push({ id: `${kind}${items.length}`, kind, text, ...more });
  if (next(2)) add("policy", words(5));
  for (let turn = 1 + next(5); turn > 0; turn -= 1) {
    if (next(8)) add("user_turn", words(1 + next(30)));
    if (next(4) === 0) add("doc_snippet", words(20));
    for (let step = next(3); step > 0; step -= 1) {
      if (next(2)) add("agent_msg", words(1 + next(10)));
      const calls = Array.from({ length: 1 + next(3) }, (_, at) => `call_${items.length + at}`);
      for (const id of calls) {
        const text = next(6) ? JSON.stringify({ at: next(9), text: words(2) }) : words(3);
        items.push({ id, kind: "tool_call", text, metadata: { function_name: next(5) ? "look" : "look.at/this one" } });
      }
      for (const id of calls) {
        if (next(6) === 0) continue;
        items.push({ id: `result:${id}`, kind: "tool_result", text: words(1 + next(400)), parent_id: id, metadata: { is_error: next(5) === 0 } });
      }
    }
    if (next(4)) add("agent_msg", words(1 + next(40)));
  }
  return items;
}

/** Messages of every log, each under a budget that may hurt. */
function messagesIn(format) {
  return Array.from({ length: LOGS }, (_, seed) => {
    const manager = new ContextManager();
    manager.ingestAll(logOf(seed));
    const budget_tokens = [60, 200, 1000, 8000][seed % 4];
    try {
      return manager.buildMessages({ phase: "answer", format, budget_tokens }).messages;
    } catch (error) {
      // The turn that is going on stays, whatever the budget.
      assert.equal(error.code, "BUDGET_EXCEEDED", error.message);
      return [];
    } finally {
      manager.free();
    }
  }).filter((messages) => messages.length > 0);
}

test("the AI SDK's schemas accept the messages", async (t) => {
  if (!has(t, installed("ai"), { missing: "the AI SDK is not installed", optional: true })) return;
  const { modelMessageSchema, safeValidateUIMessages } = await load("ai");
  const lists = messagesIn("ai-sdk-model");
  assert.ok(lists.length > LOGS / 2, `${lists.length} prompts`);
  for (const messages of lists) {
    for (const message of messages) {
      const { success, error } = modelMessageSchema.safeParse(message);
      assert.ok(success, `${error}\n${JSON.stringify(message)}`);
    }
  }
  for (const messages of messagesIn("ai-sdk-ui")) {
    const { success, error } = await safeValidateUIMessages({ messages });
    assert.ok(success, `${error}\n${JSON.stringify(messages)}`);
  }
});

const TYPES = {
  "openai-chat": ["openai", `import type { ChatCompletionMessageParam as Message } from "openai/resources/chat/completions";`],
  "openai-responses": ["openai", `import type { ResponseInputItem as Message } from "openai/resources/responses/responses";`],
  anthropic: ["@anthropic-ai/sdk", `import type { MessageParam as Message } from "@anthropic-ai/sdk/resources/messages";`],
  gemini: ["@google/genai", `import type { Content as Message } from "@google/genai";`],
};

for (const [format, [name, types]] of Object.entries(TYPES)) {
  test(`${name} has a type for every message of ${format}`, async (t) => {
    if (!has(t, installed(name), { missing: `${name} is not installed`, optional: true })) return;
    const folder = await project(`messages-${format}`);
    const lists = messagesIn(format).slice(0, 40);
    const checks = lists.map((messages) => `check(${JSON.stringify(messages)});`);
    const wrong = `// @ts-expect-error a role that nobody has\ncheck([{ role: "nobody", content: 1, parts: 1 }]);`;
    await writeFile(join(folder, "messages.ts"), [types, "declare function check(messages: Message[]): void;", ...checks, wrong].join("\n"));
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "ES2022",
      lib: ["ES2023", "DOM", "DOM.Iterable"],
      module: "ESNext",
      moduleResolution: "Bundler",
      skipLibCheck: true,
      types: [],
      paths: { "*": [join(here, "node_modules", "*")] },
    };
    // Gemini names its roles in no type.
    if (format === "gemini") await writeFile(join(folder, "messages.ts"), [types, "declare function check(messages: Message[]): void;", ...checks].join("\n"));
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["messages.ts"] }));
    await run(join(here, "node_modules", ".bin", "tsc"), ["--project", "tsconfig.json"], { cwd: folder });
  });
}
