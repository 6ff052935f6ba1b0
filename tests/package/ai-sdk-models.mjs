// Versions 6 and 7 of the AI SDK, models that are scripted, and the session of an agent in them.
import assert from "node:assert/strict";
import * as ai7 from "ai";
import * as test7 from "ai/test";
import * as ai6 from "ai-6";
import * as test6 from "ai-6/test";
import { z } from "zod";
import { PICTURE, manyTools, script, textsOf, withinBudget } from "./agent-session.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";

/** What differs between the versions. */
export const SDKS = {
  7: {
    ...ai7,
    Model: test7.MockLanguageModelV4,
    ...test7,
    stop: ai7.isStepCount,
    system: "instructions",
    picture: (data) => ({ type: "file", mediaType: "image/png", data: { type: "data", data } }),
  },
  6: {
    ...ai6,
    Model: test6.MockLanguageModelV3,
    ...test6,
    stop: ai6.stepCountIs,
    system: "system",
    picture: (data) => ({ type: "image-data", mediaType: "image/png", data }),
  },
};
export const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 20, text: 20, reasoning: undefined },
};

/** The tools of the session as the SDK has them, one of them with a schema of Zod. */
export function sdkTools({ jsonSchema, tool, picture }) {
  const { tools, executed } = manyTools();
  const more = {
    export_orders: { inputSchema: z.object({ since: z.string().optional() }) },
    take_picture: { toModelOutput: () => ({ type: "content", value: [{ type: "text", text: "the desk" }, picture(PICTURE)] }) },
  };
  const entries = tools.map(({ name, description, schema, run }) => [
    name,
    tool({ description, inputSchema: jsonSchema(schema), execute: async () => run(), ...more[name] }),
  ]);
  return { tools: Object.fromEntries(entries), executed };
}

export const call = (id, toolName, input) => ({ type: "tool-call", toolCallId: id, toolName, input: JSON.stringify(input) });
export const said = (content) => ({
  content,
  finishReason: { unified: content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop", raw: undefined },
  usage: USAGE,
  warnings: [],
});

/** What a model says, as a stream. */
function streamed({ convertArrayToReadableStream }, { content, finishReason, usage }) {
  const parts = content.flatMap(({ text: delta, ...part }, at) => {
    if (part.type !== "text" && part.type !== "reasoning") return [part];
    const { type, ...more } = part;
    return [
      { type: `${type}-start`, id: `${at}` },
      { type: `${type}-delta`, id: `${at}`, delta },
      { type: `${type}-end`, id: `${at}`, ...more },
    ];
  });
  return { stream: convertArrayToReadableStream([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }]) };
}

export const HOW = {
  generateText: async ({ generateText }, settings) => generateText(settings),
  streamText: async ({ streamText }, settings) => {
    const failures = [];
    const result = streamText({ ...settings, onError: ({ error }) => void failures.push(error) });
    await result.consumeStream();
    assert.deepEqual(failures, []);
    return { text: await result.text, response: await result.response };
  },
};

/** A model that says what `next` says to what it is asked. */
export const modelOf = (sdk, next) =>
  new sdk.Model({ doGenerate: async (options) => next(options), doStream: async (options) => streamed(sdk, next(options)) });

/** The session with what the package counts. */
export function sessionWith(countTokens) {
  /** What every provider wants, within the budget. */
  function accepts({ prompt, tools = [] }) {
    assert.equal(PROVIDER_RULES["ai-sdk-model"]({ messages: prompt }), undefined);
    const sent = textsOf(prompt, ["providerOptions"]).concat(
      tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema })),
    );
    withinBudget(sent, countTokens);
  }

  /** The session as a model of the SDK. */
  function scripted() {
    const next = script();
    return (options) => {
      accepts(options);
      const { text, calls = [] } = next({ sent: options.prompt, offered: (options.tools ?? []).map(({ name }) => name) });
      return said(text === undefined ? calls.map(({ id, name, input }) => call(id, name, input)) : [{ type: "text", text }]);
    };
  }

  return { accepts, scripted };
}
