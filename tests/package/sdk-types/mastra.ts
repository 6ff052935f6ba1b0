// Compiled, never run: the adapter in the agents of Mastra, without a cast.
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { ContextManager } from "contextweaver";
import { contextWeaver } from "contextweaver/mastra";
import { z } from "zod";

const read = createTool({ id: "read", description: "Read a file", inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => path.length });

const cw = contextWeaver({ budget_tokens: 16_000, always: ["read"] });
const agent = new Agent({ id: "reader", name: "reader", instructions: "Be brief.", model: "openai/gpt-5", tools: { read }, inputProcessors: [cw] });
// What the agent answers keeps its type.
export const reason: Promise<string> = agent
  .generate("Why?", { structuredOutput: { schema: z.object({ reason: z.string() }) } })
  .then(({ object }) => object.reason);
export const log: ContextManager | undefined = cw.conversation("t")?.manager;
// @ts-expect-error a log belongs to one conversation, and an agent has many
contextWeaver({ budget_tokens: 16_000, manager: new ContextManager() });
// @ts-expect-error the budget is for the caller to say
contextWeaver({});
