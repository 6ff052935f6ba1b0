// Compiled, never run: the adapter with the SDK of OpenAI, without a cast.
import OpenAI from "openai";
import type {
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionToolMessageParam,
} from "openai/resources/chat/completions";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import type { ResponseFunctionToolCall, ResponseInputItem, Tool } from "openai/resources/responses/responses";
import { contextWeaver } from "contextweaver/openai";

declare const client: OpenAI;
declare function mine(call: ChatCompletionMessageFunctionToolCall): Promise<ChatCompletionToolMessageParam>;
declare function mineToo(call: ResponseFunctionToolCall): Promise<ResponseInputItem.FunctionCallOutput>;
const chatTools: ChatCompletionFunctionTool[] = [
  { type: "function", function: { name: "read", description: "Read a file", parameters: { type: "object", properties: { path: { type: "string" } } } } },
];
const responsesTools: Tool[] = [
  { type: "function", name: "read", description: "Read a file", parameters: { type: "object" }, strict: false },
  { type: "web_search" },
];

// Loops of one's own.
export async function chat(messages: ChatCompletionMessageParam[]): Promise<string | null> {
  const cw = contextWeaver({ tools: chatTools, budget_tokens: 16_000, always: ["read"] });
  for (;;) {
    const answer = await client.chat.completions.create(cw.fit({ model: "gpt-5", messages, tool_choice: "auto" }));
    cw.observe(answer);
    const message = answer.choices[0]!.message;
    const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
    if (calls.length === 0) return message.content;
    messages.push(message, ...(await Promise.all(calls.map(async (call) => cw.answer(call) ?? (await mine(call))))));
  }
}

export async function respond(input: ResponseInputItem[]): Promise<string> {
  const cw = contextWeaver({ tools: responsesTools, budget_tokens: 16_000 });
  for (;;) {
    const answer = await client.responses.create(cw.fit({ model: "gpt-5", instructions: "Be brief.", input, store: false }));
    cw.observe(answer);
    const { output, output_text } = answer;
    const calls = output.filter((item) => item.type === "function_call");
    if (calls.length === 0) return output_text;
    input.push(...toResponseInputItems(output), ...(await Promise.all(calls.map(async (call) => cw.answer(call) ?? (await mineToo(call))))));
  }
}

// Searches of the provider's.
export async function search(input: ResponseInputItem[]): Promise<void> {
  const searching = contextWeaver({ tools: responsesTools, budget_tokens: 16_000, tool_search: true });
  const { output } = await client.responses.create(searching.fit({ model: "gpt-5", input }));
  for (const item of output) {
    if (item.type === "tool_search_call") input.push(item, ...[searching.answer(item)].filter((one) => one !== undefined));
  }
}

const cw = contextWeaver({ tools: responsesTools, budget_tokens: 16_000 });
declare const params: OpenAI.Responses.ResponseCreateParamsNonStreaming;
declare const streaming: OpenAI.Responses.ResponseCreateParamsStreaming;
declare const chatStreaming: OpenAI.ChatCompletionCreateParamsStreaming;
export const fitted: OpenAI.Responses.ResponseCreateParamsNonStreaming = cw.fit(params);
export const response: Promise<OpenAI.Responses.Response> = client.responses.create(cw.fit(params));
export async function events(): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of await client.responses.create(cw.fit(streaming))) types.push(type);
  for await (const { type } of await client.responses.create(cw.fit({ model: "gpt-5", stream: true, input: "Why?" }))) types.push(type);
  for await (const { id } of await client.chat.completions.create(cw.fit(chatStreaming))) types.push(id);
  for await (const { id } of await client.chat.completions.create(cw.fit({ model: "gpt-5", stream: true, messages: [{ role: "user", content: "Why?" }] })))
    types.push(id);
  return types;
}
export const stream = client.chat.completions.stream(cw.fit(chatStreaming));

// `runTools`, whose calls are made for us.
const runnable = [
  {
    type: "function" as const,
    function: {
      name: "read",
      description: "Read a file",
      parameters: { type: "object" as const },
      parse: (input: string): object => JSON.parse(input) as object,
      function: (input: object) => Object.keys(input).join(),
    },
  },
];
const runs = contextWeaver({ tools: runnable, budget_tokens: 16_000 });
export const runner = runs.serve(client).chat.completions.runTools({ model: "gpt-5", tools: runs.tools, messages: [{ role: "user", content: "Why?" }] });
export const streamed = runs
  .serve(client)
  .chat.completions.runTools({ model: "gpt-5", stream: true, tools: runs.tools, messages: [{ role: "user", content: "Why?" }] });

// @ts-expect-error a message says nothing of its cost
cw.observe({ role: "assistant", content: "yes" });
// @ts-expect-error the budget is for the caller to say
contextWeaver({ tools: chatTools });
// @ts-expect-error there is no conversation
cw.fit({ model: "gpt-5" });
// @ts-expect-error not a client of this SDK
cw.serve({ messages: {} });
