// Every type of a message that the providers' own packages declare stands in docs/messages.md.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "./harness.mjs";

const packages = join(root, "tests/package/node_modules");
const table = readFileSync(join(root, "docs/messages.md"), "utf8");

/** The section of the table, the file that declares its types, and the types of a message's parts. */
const SOURCES = [
  ["openai-chat", "openai/resources/chat/completions/completions.d.ts", ["ChatCompletionContentPart", "ChatCompletionMessageToolCall"]],
  ["openai-responses", "openai/resources/responses/responses.d.ts", ["ResponseInputItem", "ResponseInputContent", "ResponseFunctionCallOutputItem"]],
  ["anthropic", "@anthropic-ai/sdk/resources/messages/messages.d.ts", ["ContentBlockParam"]],
  ["anthropic", "@anthropic-ai/sdk/resources/beta/messages/messages.d.ts", ["BetaContentBlockParam"]],
  ["ai-sdk-model", "@ai-sdk/provider-utils/dist/index.d.ts", ["UserContent", "AssistantContent", "ToolContent", "ToolResultOutput"]],
  ["ai-sdk-ui", "ai/dist/index.d.ts", ["UIMessagePart"]],
];
/** Reads declarations without their comments: of each name the text behind it, up to where its braces close. */
function declarations(file) {
  const source = readFileSync(join(packages, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const found = new Map();
  for (const match of source.matchAll(/(?:interface|type) (\w+)(?:<[^={]*>)?(?: extends [\w, ]+)? *=? */g)) {
    let depth = 0;
    let end = match.index + match[0].length;
    while (end < source.length && !(depth === 0 && (source[end] === ";" || (source[end] === "}" && source[end - 1] !== "{")))) {
      if ("{[(<".includes(source[end])) depth += 1;
      if ("}])".includes(source[end]) || (source[end] === ">" && source[end - 1] !== "=")) depth -= 1;
      end += 1;
      if (depth === 0 && source[end - 1] === "}" && !/^\s*[|[]/.test(source.slice(end))) break;
    }
    if (!found.has(match[1])) found.set(match[1], source.slice(match.index + match[0].length, end));
  }
  return found;
}

/** Collects the values of `type` of a declaration, at its own level; of a union those of its members. */
function typesOf(name, all, found = new Set(), seen = new Set()) {
  const text = seen.has(name) ? undefined : all.get(name);
  seen.add(name);
  if (text === undefined) return found;
  const own = [...text.matchAll(/\btype\??: ((?:'[^']+'|"[^"]+"|null|[ |])+)/g)];
  const first = text.trimStart().startsWith("{") ? own.slice(0, text.includes("} | {") ? undefined : 1) : [];
  for (const [, values] of first) for (const [, value] of values.matchAll(/['"]([^'"]+)['"]/g)) found.add(value);
  if (first.length === 0) for (const [, member] of text.matchAll(/\b(?:\w+\.)?([A-Z]\w+)/g)) typesOf(member, all, found, seen);
  return found;
}

for (const [section, file, names] of SOURCES) {
  test(`${section}: every type of ${names.join(", ")}`, () => {
    const all = declarations(file);
    const start = table.indexOf(`## From ${section}\n`);
    const listed = new Set([.../Types in these rows: (.*)\./.exec(table.slice(start))[1].matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    for (const name of names) {
      const types = [...typesOf(name, all)];
      assert.ok(types.length > 1, `${name} declares no types`);
      assert.deepEqual(
        types.filter((type) => !listed.has(type)),
        [],
        name,
      );
    }
  });
}

test("gemini: every field of a part", () => {
  const text = declarations("@google/genai/dist/genai.d.ts").get("Part");
  const fields = [...text.matchAll(/^\s+(\w+)\?:/gm)].map(([, field]) => field);
  assert.ok(fields.length > 10);
  const start = table.indexOf("## From gemini\n");
  const [, listed] = /Types in these rows: (.*)\./.exec(table.slice(start));
  assert.deepEqual(
    fields.filter((field) => !listed.includes(`\`${field}\``)),
    [],
  );
});
