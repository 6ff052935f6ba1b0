// Compiled, never run: the adapter in the loops of the AI SDK, without a cast.
import { ToolLoopAgent, generateText, isStepCount, streamText, tool, wrapLanguageModel } from "ai";
import type { EmbeddingModel, LanguageModel } from "ai";
import { ContextManager, DecisionStore } from "contextweaver";
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
export const forced = generateText({
  model,
  tools: cw.tools,
  prepareStep: (step) => cw.prepareStep({ ...step, toolChoice: { type: "tool", toolName: "read" } }),
  prompt: "Why?",
});
// What the tools return keeps its type.
export const lengths: Promise<readonly number[]> = answer.then(({ steps }) =>
  steps.flatMap(({ toolResults }) => toolResults.flatMap((result) => (!result.dynamic && result.toolName === "read" ? [result.output] : []))),
);
// @ts-expect-error there is no such tool
contextWeaver({ tools, budget_tokens: 16_000, always: ["write"] });
// @ts-expect-error the budget is for the caller to say
contextWeaver({ tools });

// As a middleware: the tools come with each call.
declare const provided: Parameters<typeof wrapLanguageModel>[0]["model"];
const middleware = contextWeaver({ budget_tokens: 16_000, max_rounds: 4, always: ["read"] });
const wrapped = wrapLanguageModel({ model: provided, middleware });
export const items: number = middleware.manager.stats().items;
export const answered = generateText({ model: wrapped, tools, stopWhen: isStepCount(60), prompt: "Why?" });
export const streamed = streamText({ model: wrapLanguageModel({ model: provided, middleware: [middleware] }), tools, prompt: "Why?" });
// @ts-expect-error it has no tools of its own
export const none = middleware.tools;
// @ts-expect-error rounds are of the middleware: a loop has its stopWhen
contextWeaver({ tools, budget_tokens: 16_000, max_rounds: 4 });

// An embedding model as it is.
declare const embed: Exclude<EmbeddingModel, string>;
export const near: Promise<number> = new ContextManager({ embed, embedding_weight: 0.3 }).embedMissing("why");
export const decisions = new DecisionStore({ embed });
