// Compiled, never run: the adapter in the loops of version 6 of the AI SDK, without a cast.
import { ToolLoopAgent, generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai-6";
import type { LanguageModel } from "ai-6";
import { contextWeaver } from "contextweaver/ai-sdk";
import { z } from "zod";

declare const model: LanguageModel;
const tools = {
  read: tool({ description: "Read a file", inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => path.length }),
};

const cw = contextWeaver({ tools, budget_tokens: 16_000 });
export const answer = generateText({ model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: stepCountIs(60), prompt: "Why?" });
export const stream = streamText({ model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: stepCountIs(60), prompt: "Why?" });
export const agent = new ToolLoopAgent({ model, tools: cw.tools, prepareStep: cw.prepareStep });

// As a middleware: the tools come with each call.
declare const provided: Parameters<typeof wrapLanguageModel>[0]["model"];
const middleware = contextWeaver({ budget_tokens: 16_000, max_rounds: 4, always: ["read"] });
const wrapped = wrapLanguageModel({ model: provided, middleware });
export const items: number = middleware.manager.stats().items;
export const answered = generateText({ model: wrapped, tools, stopWhen: stepCountIs(60), prompt: "Why?" });
export const streamed = streamText({ model: wrapLanguageModel({ model: provided, middleware: [middleware] }), tools, prompt: "Why?" });
