// Compiled, never run: the adapter in the loops of version 6 of the AI SDK, without a cast.
import { ToolLoopAgent, generateText, stepCountIs, streamText, tool } from "ai-6";
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
