// What `contextweaver init` writes: one conversation in the loop of each framework, with a model that needs no key.

/** An example, and how its framework is known. */
export interface Example {
  /** What a person calls the framework. */
  readonly title: string;
  /** Packages that show that it is used; any of them is enough. */
  readonly packages: readonly string[];
  /** What the example imports beside contextweaver. */
  readonly needs: readonly string[];
  readonly run: string;
  readonly page: string;
  readonly text: string;
  /** A second file that it needs. */
  readonly beside?: { readonly name: string; readonly text: string };
}

/** What all examples are about. Nothing in it may be of a framework. */
const DATA = String.raw`
/** 900 orders: more than anyone wants to send in each step. */
const orders = Array.from({ length: 900 }, (_, n) => ({ id: 4000 + n, status: ["paid", "open", "held"][n % 3], parcel: (n * 7919) % 10007 }));
const QUESTION = "Which parcel is order 4711 in?";
const BUDGET = 4_000; // tokens of a call of the model
`;
const SIZE = String.raw`console.log("The orders take", countTokens(JSON.stringify(orders)), "tokens.");
`;
const SCRIPT = String.raw`
let asked = 0;
/** Stands for a model, so that this runs without a key: it reads all orders, looks one up, and answers. */
function scripted(sent) {
  asked += 1;
  if (asked === 1) return { id: "c1", name: "list_orders", input: {} };
  const selector = { type: "rows", where: [{ column: "id", op: "=", value: 4711 }] };
  if (asked === 2) return { id: "c2", name: "drilldown", input: { handle: "artifact:result:c1", selector } };
  const [, parcel] = /"id":4711,[^}]*"parcel":(\d+)/.exec(JSON.stringify(sent).replaceAll("\\", "")) ?? [];
  return { text: parcel ? "Order 4711 is in parcel " + parcel + "." : "I do not know." };
}
`;
const STORY = `${DATA}${SIZE}const on_step = ({ built, tool_tokens }) => console.log("sent", built.tokens + tool_tokens, "of at most", BUDGET, "tokens");
${SCRIPT}`;

/** A scripted model of the AI SDK's interface, which Mastra has, too. */
const LANGUAGE_MODEL = String.raw`
// Yours goes here, such as openai("gpt-5") of @ai-sdk/openai.
const model = {
  specificationVersion: "v3",
  provider: "scripted",
  modelId: "scripted",
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const { text, id, name, input } = scripted(prompt);
    const part = text ? { type: "text", text } : { type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(input) };
    const finishReason = { unified: text ? "stop" : "tool-calls", raw: undefined };
    return { content: [part], finishReason, usage: { inputTokens: {}, outputTokens: {} }, warnings: [] };
  },
};
`;

const NODE = "node contextweaver-example.mjs";

/** Not `wrangler.jsonc`, which a project may have. */
const WORKER_CONFIG = "contextweaver-example.jsonc";
const CONFIG = `{
  "name": "contextweaver-example",
  "main": "contextweaver-example.mjs",
  "compatibility_date": "2025-06-01",
  "durable_objects": { "bindings": [{ "name": "CHAT", "class_name": "Chat" }] },
  "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Chat"] }],
  "r2_buckets": [{ "binding": "BUCKET", "bucket_name": "results" }]
}
`;

/** By the names that `--framework` takes; of several that are found, the first is written: what is built on others stands above them. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  mastra: {
    title: "Mastra",
    packages: ["@mastra/core"],
    needs: ["@mastra/core"],
    run: NODE,
    page: "mastra.md",
    text: String.raw`// contextweaver with Mastra.
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { countTokens } from "contextweaver";
import { contextWeaver } from "contextweaver/mastra";
${STORY}${LANGUAGE_MODEL}
// Agents of Mastra stream.
model.doStream = async (options) => {
  const { content: [part], finishReason, usage } = await model.doGenerate(options);
  const text = [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: part.text }, { type: "text-end", id: "t" }];
  const parts = [{ type: "stream-start", warnings: [] }, ...(part.type === "text" ? text : [part]), { type: "finish", finishReason, usage }];
  const stream = new ReadableStream({ start: (controller) => (parts.forEach((one) => controller.enqueue(one)), controller.close()) });
  return { stream };
};

const list_orders = createTool({ id: "list_orders", description: "Lists all orders", execute: async () => orders });

const cw = contextWeaver({ budget_tokens: BUDGET, on_step });
const agent = new Agent({ id: "orders", name: "orders", instructions: "Be brief.", model, tools: { list_orders }, inputProcessors: [cw] });
const { text } = await agent.generate(QUESTION, { maxSteps: 20 });
console.log(text);
cw.free();
`,
  },
  langchain: {
    title: "LangChain",
    packages: ["langchain", "@langchain/core", "@langchain/langgraph"],
    needs: ["langchain"],
    run: NODE,
    page: "langchain.md",
    text: String.raw`// contextweaver with LangChain.
import { AIMessage, createAgent, fakeModel, tool } from "langchain";
import { countTokens } from "contextweaver";
import { contextWeaver } from "contextweaver/langchain";
${STORY}
const answer = (messages) => {
  const { text, id, name, input } = scripted(messages);
  return new AIMessage(text ?? { content: "", tool_calls: [{ type: "tool_call", id, name, args: input }] });
};
// Yours goes here, such as "openai:gpt-5".
const model = fakeModel().respond(answer).respond(answer).respond(answer);

const schema = { type: "object", properties: {} };
const list_orders = tool(async () => orders, { name: "list_orders", description: "Lists all orders", schema });

const cw = contextWeaver({ budget_tokens: BUDGET, on_step });
const agent = createAgent({ model, tools: [list_orders], middleware: [cw] });
const { messages } = await agent.invoke({ messages: [{ role: "user", content: QUESTION }] }, { configurable: { thread_id: "t1" } });
console.log(messages.at(-1).content);
cw.free();
`,
  },
  "openai-agents": {
    title: "OpenAI Agents SDK",
    packages: ["@openai/agents"],
    needs: ["@openai/agents"],
    run: NODE,
    page: "openai-agents.md",
    text: String.raw`// contextweaver with OpenAI's Agents SDK.
import { Agent, Runner, Usage, tool } from "@openai/agents";
import { countTokens } from "contextweaver";
import { contextWeaver } from "contextweaver/openai-agents";
${STORY}
// Yours goes here: new Agent({ model: "gpt-5" }), and new Runner({ modelProvider: cw.serve(new OpenAIProvider()) }).
const model = {
  async getResponse({ input: sent }) {
    const { text, id, name, input } = scripted(sent);
    const message = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] };
    const call = { type: "function_call", callId: id, name, arguments: JSON.stringify(input), status: "completed" };
    return { usage: new Usage({ requests: 1 }), output: [text ? message : call] };
  },
};

const parameters = { type: "object", properties: {}, required: [], additionalProperties: false };
const list_orders = tool({ name: "list_orders", description: "Lists all orders", parameters, strict: false, execute: async () => JSON.stringify(orders) });

const cw = contextWeaver({ budget_tokens: BUDGET, on_step });
const agent = new Agent({ name: "orders", instructions: "Be brief.", model: cw.serve(model), tools: cw.tools([list_orders]) });
const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, QUESTION, { maxTurns: 20 });
console.log(finalOutput);
cw.free();
`,
  },
  "ai-sdk": {
    title: "AI SDK",
    packages: ["ai"],
    needs: ["ai"],
    run: NODE,
    page: "ai-sdk.md",
    text: String.raw`// contextweaver with the AI SDK, version 6 or 7.
import { generateText, jsonSchema, tool } from "ai";
import { countTokens } from "contextweaver";
import { contextWeaver } from "contextweaver/ai-sdk";
${STORY}${LANGUAGE_MODEL}
const inputSchema = jsonSchema({ type: "object", properties: {} });
const list_orders = tool({ description: "Lists all orders", inputSchema, execute: async () => orders });

const cw = contextWeaver({ tools: { list_orders }, budget_tokens: BUDGET, on_step });
const { text } = await generateText({
  model,
  tools: cw.tools,
  prepareStep: cw.prepareStep,
  stopWhen: ({ steps }) => steps.length >= 20,
  prompt: QUESTION,
});
console.log(text);
cw.free();
`,
  },
  anthropic: {
    title: "Anthropic SDK",
    packages: ["@anthropic-ai/sdk"],
    needs: ["@anthropic-ai/sdk"],
    run: NODE,
    page: "anthropic.md",
    text: String.raw`// contextweaver with Anthropic's SDK.
import Anthropic from "@anthropic-ai/sdk";
import { countTokens } from "contextweaver";
import { contextWeaver } from "contextweaver/anthropic";
${STORY}
/** What the provider would answer. */
async function fetch(_, { body }) {
  const { text, ...call } = scripted(JSON.parse(body).messages);
  const content = [text ? { type: "text", text } : { type: "tool_use", ...call }];
  const usage = { input_tokens: 0, output_tokens: 0 };
  return Response.json({ id: "msg", type: "message", role: "assistant", model: "scripted", content, stop_reason: text ? "end_turn" : "tool_use", stop_sequence: null, usage });
}
const client = new Anthropic({ apiKey: "none", fetch }); // yours: new Anthropic(), with ANTHROPIC_API_KEY

const tools = [{ name: "list_orders", description: "Lists all orders", input_schema: { type: "object", properties: {} } }];
const run = { list_orders: async () => JSON.stringify(orders) };

const cw = contextWeaver({ tools, budget_tokens: BUDGET, on_step });
const messages = [{ role: "user", content: QUESTION }];
for (;;) {
  const { content, stop_reason } = await client.messages.create(cw.fit({ model: "claude-opus-4-5", max_tokens: 1_024, messages }));
  messages.push({ role: "assistant", content });
  if (stop_reason !== "tool_use") break;
  const results = content.filter(({ type }) => type === "tool_use").map(async (block) => {
    return cw.answer(block) ?? { type: "tool_result", tool_use_id: block.id, content: await run[block.name](block.input) };
  });
  messages.push({ role: "user", content: await Promise.all(results) });
}
console.log(messages.at(-1).content[0].text);
cw.free();
`,
  },
  openai: {
    title: "OpenAI SDK",
    packages: ["openai"],
    needs: ["openai"],
    run: NODE,
    page: "openai.md",
    text: String.raw`// contextweaver with OpenAI's SDK.
import OpenAI from "openai";
import { countTokens } from "contextweaver";
import { contextWeaver } from "contextweaver/openai";
${STORY}
/** What the provider would answer. */
async function fetch(_, { body }) {
  const { text = null, id, name, input } = scripted(JSON.parse(body).messages);
  const tool_calls = [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }];
  const message = { role: "assistant", content: text, refusal: null, ...(text === null && { tool_calls }) };
  const choice = { index: 0, finish_reason: text === null ? "tool_calls" : "stop", logprobs: null, message };
  return Response.json({ id: "chat", object: "chat.completion", created: 0, model: "scripted", choices: [choice] });
}
const client = new OpenAI({ apiKey: "none", fetch }); // yours: new OpenAI(), with OPENAI_API_KEY

const parameters = { type: "object", properties: {} };
const tools = [{ type: "function", function: { name: "list_orders", description: "Lists all orders", parameters } }];
const run = { list_orders: async () => JSON.stringify(orders) };

const cw = contextWeaver({ tools, budget_tokens: BUDGET, on_step });
const messages = [{ role: "user", content: QUESTION }];
for (;;) {
  const { choices } = await client.chat.completions.create(cw.fit({ model: "gpt-5", messages }));
  const { message } = choices[0];
  messages.push(message);
  if (!message.tool_calls) break;
  for (const call of message.tool_calls) {
    const result = async () => ({ role: "tool", tool_call_id: call.id, content: await run[call.function.name](JSON.parse(call.function.arguments)) });
    messages.push(cw.answer(call) ?? (await result()));
  }
}
console.log(messages.at(-1).content);
cw.free();
`,
  },
  cloudflare: {
    title: "Cloudflare Workers",
    packages: ["wrangler", "@cloudflare/workers-types", "@cloudflare/vite-plugin", "@cloudflare/vitest-pool-workers"],
    needs: [],
    run: `npx wrangler dev --config ${WORKER_CONFIG}`,
    page: "cloudflare-chat.md",
    beside: { name: WORKER_CONFIG, text: CONFIG },
    text: String.raw`// contextweaver in a Worker: a chat, with a Durable Object for each conversation. Ask it, and ask again:
//   curl localhost:8787/chat/ada -d '{ "id": "1", "text": "Which parcel is order 4711 in?" }'
import { DurableObject } from "cloudflare:workers";
import { ContextWeaverError, countTokens, drilldownTool, openSession, recallTool } from "contextweaver";
import { durableObjectStorage, r2Blobs } from "contextweaver/cloudflare";
${DATA}
/** Stands for a model, so that this runs without a key: it reads all orders, looks one up, and answers. Yours goes here. */
async function ask({ messages, tools }) {
  const call = (name, input) => ({ role: "assistant", content: null, tool_calls: [{ id: crypto.randomUUID(), type: "function", function: { name, arguments: JSON.stringify(input) } }] });
  const said = JSON.stringify(messages).replaceAll("\\", "");
  const [, parcel] = /"id":4711,[^}]*"parcel":(\d+)/.exec(said) ?? [];
  if (parcel) return { role: "assistant", content: "Order 4711 is in parcel " + parcel + "." };
  const [handle] = /artifact:result:[\w-]+/.exec(said) ?? [];
  if (!handle) return call("list_orders", {});
  if (!tools.some((tool) => tool.function.name === "drilldown")) return { role: "assistant", content: "I do not know." };
  return call("drilldown", { handle, selector: { type: "rows", where: [{ column: "id", op: "=", value: 4711 }] } });
}

const tool = (name, description, parameters) => ({ type: "function", function: { name, description, parameters } });
const own = [tool("list_orders", "Lists all orders", { type: "object", properties: {} })];
const reading = () => [drilldownTool(), recallTool()].map(({ name, description, args_schema }) => tool(name, description, args_schema));
const size = (tools) => countTokens(JSON.stringify(tools));

const run = {
  list_orders: async () => JSON.stringify(orders),
  drilldown: async ({ handle, selector }, session) => (await session.drilldown(handle, selector, { max_tokens: 400 })).text,
  recall: async ({ query }, session) => (await session.recall(query, { max_tokens: 300 })).text,
};

export class Chat extends DurableObject {
  #session;
  #turns = Promise.resolve();

  /** One turn after the other: requests of an object interleave wherever one of them waits. */
  say(id, text) {
    const turn = this.#turns.then(() => this.#say("turn:" + id, text));
    this.#turns = turn.catch(() => (this.#session = undefined)); // a CONFLICT or a failed turn: read again what is stored
    return turn;
  }

  async #say(id, text) {
    this.#session ??= openSession(durableObjectStorage(this.ctx.storage, { blobs: r2Blobs(this.env.BUCKET) }));
    const session = await this.#session;
    const { manager } = session;
    const sent = [];
    const [answered] = manager.events.children(id);
    if (answered) return { text: answered.text, sent }; // the client asked again
    if (!manager.events.list({ kinds: ["user_turn"] }).some((turn) => turn.id === id)) manager.ingest({ id, kind: "user_turn", text });
    for (let round = 0; round < 12; round += 1) {
      await session.save(); // before the model is asked
      const beside = { reserved_tokens: size(own), hidden_tokens: size(reading()) };
      const { messages, step } = manager.buildMessages({ phase: "answer", format: "openai-chat", budget_tokens: BUDGET, running: true, ...beside });
      sent.push(step.tokens);
      const answer = await ask({ messages, tools: step.hides ? [...own, ...reading()] : own });
      if (!answer.tool_calls) {
        manager.ingest({ id: id + ":answer", kind: "agent_msg", text: answer.content, parent_id: id });
        await session.save();
        return { text: answer.content, sent };
      }
      const results = answer.tool_calls.map(async (call) => ({ role: "tool", tool_call_id: call.id, content: await result(session, call.function) }));
      manager.ingestMessages([answer, ...(await Promise.all(results))], "openai-chat"); // what is new, and only that
    }
    throw new Error("no answer after 12 rounds");
  }
}

async function result(session, { name, arguments: input }) {
  if (!Object.hasOwn(run, name)) return "There is no tool " + name + ".";
  try {
    return await run[name](JSON.parse(input), session);
  } catch (error) {
    if (ContextWeaverError.is(error)) return error.code + ": " + error.message; // the model may try again
    throw error;
  }
}

export default {
  async fetch(request, env) {
    const [, chat] = /^\/chat\/([\w-]{1,64})$/.exec(new URL(request.url).pathname) ?? [];
    if (request.method !== "POST" || !chat) return new Response('POST /chat/ada { "id": "1", "text": "' + QUESTION + '" }', { status: 404 });
    const { id, text } = await request.json(); // the id of a request is the same when it is sent again
    return Response.json(await env.CHAT.getByName(chat).say(id, text));
  },
};
`,
  },
  plain: {
    title: "a loop of your own",
    packages: [],
    needs: [],
    run: NODE,
    page: "quickstart.md",
    text: String.raw`// contextweaver in a loop of your own, with whatever model you have.
import { ContextManager, countTokens } from "contextweaver";
${DATA}${SIZE}${SCRIPT}
const manager = new ContextManager();
const run = { list_orders: async () => JSON.stringify(orders), drilldown: async ({ handle, selector }) => manager.drilldown(handle, selector, { max_tokens: 400 }).text };

manager.ingest({ id: "u1", kind: "user_turn", text: QUESTION });
for (;;) {
  // Messages as OpenAI takes them; also anthropic, gemini, openai-responses, ai-sdk-model.
  const { messages, tokens } = manager.buildMessages({ phase: "answer", query: QUESTION, format: "openai-chat", budget_tokens: BUDGET });
  console.log("sent", tokens, "of at most", BUDGET, "tokens");
  const { text, id, name, input } = scripted(messages); // your model goes here, with its tools and drilldownTool()
  if (text) {
    console.log(text);
    break;
  }
  manager.ingest({ id, kind: "tool_call", text: name + " " + JSON.stringify(input), parent_id: "u1", metadata: { tool_name: name, arguments: input } });
  manager.ingestToolResult({ tool_call_id: id, tool_name: name, raw_output: await run[name](input) });
}
manager.free();
`,
  },
};
