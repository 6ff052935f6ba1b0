// Compiled, never run: what the package takes from the SDKs of providers and gives to them, without a cast.
import type { MessageParam, TextBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { Content } from "@google/genai";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult, ReadResourceResult } from "@modelcontextprotocol/sdk/types.js";
import { generateText } from "ai";
import type { ModelMessage, ToolSet, UIMessage } from "ai";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import type { ResponseInputItem, Tool as OpenAiTool } from "openai/resources/responses/responses";
import { Catalog, ContextManager, Router, fromAiSdk, itemsToMessages, mcpResourceToEnvelope, mcpResultToEnvelope, messagesToItems } from "contextweaver";

const manager = new ContextManager();
const phase = "answer";

declare const given: {
  readonly model: ModelMessage[];
  readonly ui: UIMessage[];
  readonly anthropic: readonly MessageParam[];
  readonly chat: ChatCompletionMessageParam[];
  readonly responses: ResponseInputItem[];
  readonly gemini: Content[];
};
manager.ingestMessages(given.model, "ai-sdk-model");
manager.ingestMessages(given.ui, "ai-sdk-ui");
manager.ingestMessages(given.anthropic, "anthropic");
manager.ingestMessages(given.chat, "openai-chat");
manager.ingestMessages(given.responses, "openai-responses");
manager.ingestMessages(given.gemini, "gemini");
manager.syncMessages(given.model, "ai-sdk-model");
manager.syncMessages(given.anthropic, "anthropic", { system: "Be brief." });

export const model: ModelMessage[] = manager.buildMessages({ phase, format: "ai-sdk-model" }).messages;
export const ui: UIMessage[] = manager.buildMessages({ phase, format: "ai-sdk-ui" }).messages;
export const chat: ChatCompletionMessageParam[] = manager.buildMessages({ phase, format: "openai-chat" }).messages;
export const responses: ResponseInputItem[] = manager.buildMessages({ phase, format: "openai-responses" }).messages;
export const gemini: Content[] = manager.buildMessages({ phase, format: "gemini" }).messages;
const built = manager.buildMessages({ phase, format: "anthropic" });
export const anthropic: MessageParam[] = built.messages;
export const system: string | TextBlockParam[] | undefined = built.system;
export const written: MessageParam[] = itemsToMessages(messagesToItems(given.chat, "openai-chat").items, "anthropic").messages;
// @ts-expect-error messages of another provider
export const wrong: MessageParam[] = manager.buildMessages({ phase, format: "openai-chat" }).messages;
// The format may be known only when it runs.
declare const format: "anthropic" | "gemini";
export const either: (MessageParam | Content)[] = manager.buildMessages({ phase, format }).messages;

const router = new Router([]);
const tools = router.toolsFor(router.route("q"), "ai-sdk");
export const set: ToolSet = tools;
export const answer = generateText({ model: "m", messages: model, tools });
export const run: ToolSet = { get: { ...tools["get"]!, execute: (input, options) => [input, fromAiSdk(options).get("toolCallId")] } };

export async function results(client: Client, one: CallToolResult, resource: ReadResourceResult): Promise<void> {
  const call = { tool_call_id: "c", tool_name: "t" };
  manager.ingestMcpResult({ ...call, result: await client.callTool({ name: "t" }) });
  manager.ingestMcpResult({ ...call, result: one });
  mcpResultToEnvelope(one, "t");
  mcpResourceToEnvelope(resource, "r");
}

declare const toolSet: ToolSet;
declare const chatTools: ChatCompletionTool[];
declare const responsesTools: OpenAiTool[];
export const catalogs: Catalog[] = [Catalog.fromAiSdk(toolSet), Catalog.fromOpenAI(chatTools), Catalog.fromOpenAI(responsesTools, { on_invalid: "raise" })];
// @ts-expect-error a set of tools is no list
Catalog.fromOpenAI(toolSet);
