// Compiled, never run: the adapter in the loops of the AI SDK, without a cast.
import { ToolLoopAgent, generateText, isStepCount, streamText, tool } from "ai";
import type { LanguageModel } from "ai";
import { contextWeaver } from "contextweaver/ai-sdk";
import { z } from "zod";

declare const model: LanguageModel;
const tools = {
  read: tool({ description: "Read a file", inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => path.length }),
};

const cw = contextWeaver({ tools, budget_tokens: 16_000, always: ["read"] });
export const answer = generateText({ model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: isStepCount(60), prompt: "Why?" });
export const stream = streamText({ model, tools: cw.tools, prepareStep: cw.prepareStep, stopWhen: isStepCount(60), prompt: "Why?" });
export const agent = new ToolLoopAgent({ model, tools: cw.tools, prepareStep: cw.prepareStep });
// What the tools return keeps its type.
export const lengths: Promise<readonly number[]> = answer.then(({ steps }) =>
  steps.flatMap(({ toolResults }) => toolResults.flatMap((result) => (!result.dynamic && result.toolName === "read" ? [result.output] : []))),
);
// @ts-expect-error there is no such tool
contextWeaver({ tools, budget_tokens: 16_000, always: ["write"] });
// @ts-expect-error the budget is for the caller to say
contextWeaver({ tools });
