// Compiled, never run: the adapter with the SDK of Anthropic, without a cast.
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { contextWeaver } from "contextweaver/anthropic";

declare const client: Anthropic;
declare function mine(call: Anthropic.ToolUseBlock): Promise<Anthropic.ToolResultBlockParam>;
const tools: Anthropic.ToolUnion[] = [
  { name: "read", description: "Read a file", input_schema: { type: "object", properties: { path: { type: "string" } } } },
  { type: "web_search_20250305", name: "web_search" },
];

// A loop of one's own.
export async function loop(messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> {
  const cw = contextWeaver({ tools, budget_tokens: 16_000, always: ["read"] });
  for (;;) {
    const message = await client.messages.create(
      cw.fit({ model: "claude-opus-4-5", max_tokens: 1024, system: "Be brief.", tool_choice: { type: "auto" }, messages }),
    );
    cw.observe(message);
    const calls = message.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return message;
    const results = await Promise.all(calls.map(async (call) => cw.answer(call) ?? (await mine(call))));
    messages.push({ role: "assistant", content: message.content }, { role: "user", content: results });
  }
}

const cw = contextWeaver({ tools, budget_tokens: 16_000, cache: true });
declare const params: Anthropic.MessageCreateParamsNonStreaming;
declare const streaming: Anthropic.MessageCreateParamsStreaming;
export const fitted: Anthropic.MessageCreateParamsNonStreaming = cw.fit(params);
export const message: Promise<Anthropic.Message> = client.messages.create(cw.fit(params));
export async function events(): Promise<Anthropic.RawMessageStreamEvent["type"][]> {
  const types: Anthropic.RawMessageStreamEvent["type"][] = [];
  for await (const { type } of await client.messages.create(cw.fit(streaming))) types.push(type);
  for await (const { type } of await client.messages.create(
    cw.fit({ model: "claude-opus-4-5", max_tokens: 1024, stream: true, messages: [{ role: "user", content: "Why?" }] }),
  ))
    types.push(type);
  return types;
}
export const stream = client.messages.stream(cw.fit(streaming));
export const beta = client.beta.messages.create(cw.fit({ model: "claude-opus-4-5", max_tokens: 1024, messages: [] as Anthropic.Beta.BetaMessageParam[] }));

// The tool runner, whose calls are made for us.
const runnable = [
  betaTool({
    name: "read",
    description: "Read a file",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    run: ({ path }) => String(path),
  }),
];
const served = contextWeaver({ tools: runnable, budget_tokens: 16_000 });
export const runner = served
  .serve(client)
  .beta.messages.toolRunner({ model: "claude-opus-4-5", max_tokens: 1024, tools: served.tools, messages: [{ role: "user", content: "Why?" }], thread: false });

declare const betaMessage: Anthropic.Beta.BetaMessage;
served.observe(betaMessage);
// @ts-expect-error params are no answer
served.observe(params);
// Tools that the provider defers.
const searching = contextWeaver({ tools: runnable, budget_tokens: 16_000, tool_search: true });
export const deferring = searching.serve(client).beta.messages.toolRunner({
  model: "claude-opus-4-5",
  max_tokens: 1024,
  tools: searching.tools,
  messages: [{ role: "user", content: "Why?" }],
  thread: false,
});
export const loads: Anthropic.ToolResultBlockParam | undefined = searching.answer({ type: "tool_use", id: "a", name: "find_tools", input: { query: "read" } });

// @ts-expect-error the budget is for the caller to say
contextWeaver({ tools });
// @ts-expect-error there are no messages
cw.fit({ model: "claude-opus-4-5", max_tokens: 1024 });
// @ts-expect-error not a client of this SDK
cw.serve({ chat: {} });
