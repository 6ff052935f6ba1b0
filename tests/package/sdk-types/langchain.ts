// Compiled, never run: the adapter in the agents of LangChain, without a cast.
import type { Embeddings } from "@langchain/core/embeddings";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, tool, toolStrategy } from "langchain";
import { Catalog, ContextManager, Router } from "contextweaver";
import { contextWeaver } from "contextweaver/langchain";
import { z } from "zod";

declare const model: BaseChatModel;
const read = tool(async ({ path }) => path.length, { name: "read", description: "Read a file", schema: z.object({ path: z.string() }) });
const tools = [read, { type: "web_search", name: "web_search" }];

const cw = contextWeaver({ budget_tokens: 16_000, always: ["read"], toJsonSchema });
const agent = createAgent({
  model,
  tools,
  middleware: [cw, createMiddleware({ name: "other" })],
  checkpointer: new MemorySaver(),
  responseFormat: toolStrategy(z.object({ reason: z.string() })),
});
// What the agent answers keeps its type.
export const reason: Promise<string> = agent
  .invoke({ messages: [{ role: "user", content: "Why?" }] }, { configurable: { thread_id: "t" } })
  .then(({ structuredResponse }) => structuredResponse.reason);
export const log: ContextManager | undefined = cw.conversation("t")?.manager;
export const router = new Router(Catalog.fromLangChain(tools));
contextWeaver({ budget_tokens: 16_000, manager: (thread) => new ContextManager({ profile: thread === "t" ? "fast" : "balanced" }) });
// @ts-expect-error a log belongs to one conversation, and an agent has many
contextWeaver({ budget_tokens: 16_000, manager: new ContextManager() });
// @ts-expect-error the budget is for the caller to say
contextWeaver({});

// An embedding model as it is.
declare const embed: Embeddings;
export const near: Promise<number> = new ContextManager({ embed }).embedMissing("why");
