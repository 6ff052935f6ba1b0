// The real converters of providers' packages, each with a `fetch` that keeps the body of the request and answers with little: what
// a provider would be sent.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import * as sdk7 from "ai";
import * as sdk6 from "ai-6";
import { base64Of } from "./oracle-conversations.mjs";

const CHAT = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const RESPONSES = {
  id: "r",
  object: "response",
  created_at: 1,
  model: "m",
  status: "completed",
  output: [{ type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text: "ok", annotations: [] }] }],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
};
const CLAUDE = {
  id: "m",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const GEMINI = {
  candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
};

/** Keeps what is sent; the SDKs write JSON. */
class Wire {
  bodies = [];
  constructor(answer) {
    this.fetch = async (_, { body }) => {
      this.bodies.push(JSON.parse(typeof body === "string" ? body : await new Response(body).text()));
      return new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
    };
  }
  /** What was sent last. */
  take() {
    const body = this.bodies.at(-1);
    this.bodies.length = 0;
    return body;
  }
}

const chat = new Wire(CHAT);
const responses = new Wire(RESPONSES);
const claude = new Wire(CLAUDE);
const gemini = new Wire(GEMINI);
const key = { apiKey: "none" };

const openAi = (wire) => createOpenAI({ ...key, fetch: wire.fetch });
const models = {
  chat: openAi(chat).chat("gpt-4o"),
  responses: openAi(responses).responses("gpt-5"),
  anthropic: createAnthropic({ ...key, fetch: claude.fetch })("claude-opus-5"),
  google: createGoogleGenerativeAI({ ...key, fetch: gemini.fetch })("gemini-3-pro-preview"),
};
const schema = { type: "object", properties: {} };

/** The tools that are called; those that were approved are run before the model is asked. */
function toolsOf({ tool, jsonSchema }) {
  const one = () => tool({ description: "Does what is asked", inputSchema: jsonSchema(schema), execute: async () => "done" });
  return { look_up: one(), list_orders: one(), refund: one() };
}
const SDKS = [sdk6, sdk7].map((sdk) => ({ generateText: sdk.generateText, tools: toolsOf(sdk) }));
const openAiTools = openAi(responses).tools;
const webSearch = { anthropic: createAnthropic(key).tools.webSearch_20250305({}), responses: openAiTools.webSearch({}) };

/** What is at an address of a random conversation. */
function downloaded({ pathname }) {
  const [, number, name] = pathname.split("/");
  const mediaType = name.endsWith("pdf") ? "application/pdf" : "image/png";
  return { data: Buffer.from(base64Of(mediaType, number), "base64"), mediaType };
}

/** Through the AI SDK, in either version. */
async function throughAiSdk(name, wire, { messages }, { at, store }) {
  // Parts of the provider's own are there since version 7.
  const isNew = JSON.stringify(messages).includes('"type":"custom"');
  const { generateText, tools } = SDKS[isNew ? 1 : at % 2];
  const given = webSearch[name] ? { ...tools, web_search: webSearch[name] } : tools;
  const { warnings = [] } = await generateText({
    model: models[name],
    messages,
    tools: given,
    maxRetries: 0,
    allowSystemInMessages: true,
    // Addresses that a provider does not take are read before.
    experimental_download: async (list) => list.map(({ url, isUrlSupportedByModel: isTaken }) => (isTaken ? null : downloaded(url))),
    ...(name === "responses" && { providerOptions: { openai: { store } } }),
  });
  return { ...taken(wire), told: warnings };
}

/** What of a body the rules judge. */
function taken(wire) {
  const body = wire.take();
  if (wire === responses) return { messages: body.input };
  if (wire === gemini) return { messages: body.contents, system: body.systemInstruction };
  return { messages: body.messages, system: wire === claude ? body.system : undefined };
}

const CLASSES = { AIMessage, HumanMessage, SystemMessage, ToolMessage };
const lang = (wire, useResponsesApi, model) =>
  new ChatOpenAI({ ...key, model, useResponsesApi, maxRetries: 0, ...(useResponsesApi && { zdrEnabled: true }), configuration: { fetch: wire.fetch } });
const langModels = { chat: lang(chat, false, "gpt-4o"), responses: lang(responses, true, "gpt-5") };

/** Messages of LangChain by its own classes. */
export const langchainMessages = (records) => records.map(({ class: name, ...fields }) => new CLASSES[name](fields));

const openaiSdk = (wire) => new OpenAI({ ...key, fetch: wire.fetch, maxRetries: 0 });
const direct = { chat: openaiSdk(chat), responses: openaiSdk(responses), anthropic: new Anthropic({ ...key, fetch: claude.fetch, maxRetries: 0 }) };
const genai = new GoogleGenAI(key);

/** Google's own SDK has no option for a `fetch`. */
async function throughGenAi({ messages, system }) {
  const before = globalThis.fetch;
  globalThis.fetch = gemini.fetch;
  try {
    await genai.models.generateContent({
      model: "gemini-3-pro-preview",
      contents: messages,
      config: { ...(system !== undefined && { systemInstruction: system }) },
    });
  } finally {
    globalThis.fetch = before;
  }
  return taken(gemini);
}

/** Forms of the AI SDK with tools that another provider ran, which its converters do not know. */
const foreignTo = (...providers) => ["openai", "anthropic", "google"].filter((one) => !providers.includes(one)).map((one) => `ai-sdk-model/${one}`);

/**
 * Each converter: the format in which it is handed messages, the rules for what it sends, and the forms of conversations that its
 * users have; in the `foreign` ones no provider ran a tool. `ask` gives what is sent.
 */
export const CONVERTERS = {
  "@ai-sdk/openai, Responses": {
    foreign: foreignTo("openai"),
    types: ["image/png", "image/png", "application/pdf"],
    format: "ai-sdk-model",
    rules: "openai-responses",
    forms: ["ai-sdk-model/openai", "ai-sdk-model/openai", "ai-sdk-model/anthropic", "ai-sdk-ui", "openai-responses"],
    ask: (sent, how) => throughAiSdk("responses", responses, sent, how),
  },
  "@ai-sdk/openai, chat": {
    foreign: foreignTo(),
    types: ["image/png", "image/png", "application/pdf", "audio/wav"],
    format: "ai-sdk-model",
    rules: "openai-chat",
    forms: ["ai-sdk-model/openai", "ai-sdk-model/google", "openai-chat"],
    ask: (sent, how) => throughAiSdk("chat", chat, sent, how),
  },
  "@ai-sdk/anthropic": {
    foreign: foreignTo("anthropic"),
    types: ["image/png", "image/png", "application/pdf", "text/plain"],
    format: "ai-sdk-model",
    rules: "anthropic",
    forms: ["ai-sdk-model/anthropic", "ai-sdk-model/anthropic", "ai-sdk-model/openai", "anthropic"],
    ask: (sent, how) => throughAiSdk("anthropic", claude, sent, how),
  },
  "@ai-sdk/google": {
    foreign: [...foreignTo("google"), "ai-sdk-ui"],
    format: "ai-sdk-model",
    rules: "gemini",
    forms: ["ai-sdk-model/google", "ai-sdk-model/google", "ai-sdk-model/openai", "gemini"],
    ask: (sent, how) => throughAiSdk("google", gemini, sent, how),
  },
  "@langchain/openai, chat": {
    format: "langchain",
    rules: "openai-chat",
    forms: ["langchain"],
    ask: async ({ messages }) => (await langModels.chat.invoke(messages), taken(chat)),
  },
  "@langchain/openai, Responses": {
    format: "langchain",
    rules: "openai-responses",
    forms: ["langchain"],
    ask: async ({ messages }) => (await langModels.responses.invoke(messages), taken(responses)),
  },
  "openai, chat": {
    format: "openai-chat",
    rules: "openai-chat",
    forms: ["openai-chat", "openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk-ui", "ai-sdk-model/openai"],
    ask: async ({ messages }) => (await direct.chat.chat.completions.create({ model: "gpt-4o", messages }), taken(chat)),
  },
  "openai, Responses": {
    format: "openai-responses",
    rules: "openai-responses",
    forms: ["openai-responses", "openai-responses", "openai-chat", "anthropic", "gemini", "ai-sdk-ui", "ai-sdk-model/anthropic"],
    ask: async ({ messages }) => (await direct.responses.responses.create({ model: "gpt-5", input: messages }), taken(responses)),
  },
  "@anthropic-ai/sdk": {
    format: "anthropic",
    rules: "anthropic",
    forms: ["anthropic", "anthropic", "openai-chat", "openai-responses", "gemini", "ai-sdk-ui", "ai-sdk-model/anthropic"],
    ask: async ({ messages, system }) => (
      await direct.anthropic.messages.create({ model: "claude-opus-5", max_tokens: 9, messages, ...(system !== undefined && { system }) }), taken(claude)
    ),
  },
  "@google/genai": {
    format: "gemini",
    rules: "gemini",
    forms: ["gemini", "gemini", "openai-chat", "openai-responses", "anthropic", "ai-sdk-ui", "ai-sdk-model/google"],
    ask: throughGenAi,
  },
};
