// Compiled, never run: the adapter in runs of OpenAI's Agents SDK, without a cast.
import { Agent, OpenAIProvider, Runner, handoff, run, tool } from "@openai/agents";
import type { AgentInputItem, Model } from "@openai/agents";
import { contextWeaver } from "contextweaver/openai-agents";
import { z } from "zod";

declare const model: Model;
const read = tool({ name: "read", description: "Read a file", parameters: z.object({ path: z.string() }), execute: async ({ path }) => path.length });

const cw = contextWeaver({ budget_tokens: 16_000, always: ["read"] });
const writer = new Agent({ name: "writer", model: cw.serve(model), tools: cw.tools([]) });
const agent = new Agent({ name: "reader", model: cw.serve(model), tools: cw.tools([read]), handoffs: [handoff(writer)] });
declare const history: AgentInputItem[];
export const answer: Promise<string | undefined> = run(agent, history).then(({ finalOutput }) => finalOutput);
export const stream = run(agent, "Why?", { stream: true });

// The models of a provider, by name.
const runner = new Runner({ modelProvider: cw.serve(new OpenAIProvider()) });
export const result = runner.run(new Agent({ name: "named", model: "gpt-5", tools: cw.tools([read]) }), "Why?");

// With a context of one's own.
const path = z.object({ path: z.string() });
interface Account {
  readonly id: string;
}
const own = tool<typeof path, Account>({
  name: "own",
  description: "Read",
  parameters: path,
  execute: async ({ path: one }, context) => one + context?.context.id,
});
const typed = new Agent<Account>({ name: "typed", model: cw.serve(model), tools: cw.tools([own]) });
export const typedAnswer = run(typed, "Why?", { context: { id: "1" } });

// @ts-expect-error the budget is for the caller to say
contextWeaver({});
// @ts-expect-error not a model
cw.serve({ id: "gpt-5" });
