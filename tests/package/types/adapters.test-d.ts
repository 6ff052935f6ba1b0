// Compiled, never run: the adapters where none of their frameworks is installed.
import * as aiSdk from "contextweaver/ai-sdk";
import * as anthropic from "contextweaver/anthropic";
import * as langchain from "contextweaver/langchain";
import * as mastra from "contextweaver/mastra";
import * as openai from "contextweaver/openai";
import * as agents from "contextweaver/openai-agents";
import { executeTool, otel } from "contextweaver/otel";
import type { OtelTracer } from "contextweaver/otel";
import { ContextManager } from "contextweaver";
import type { StoredSession } from "contextweaver";

const budget_tokens = 16_000;
export const managers: ContextManager[] = [
  aiSdk.contextWeaver({ tools: {}, budget_tokens }).manager,
  anthropic.contextWeaver({ tools: [], budget_tokens }).manager,
  openai.contextWeaver({ tools: [], budget_tokens }).manager,
  agents.contextWeaver({ budget_tokens }).manager,
];
// The same handle everywhere.
export const handles: aiSdk.ContextWeaverHandle[] = [
  aiSdk.contextWeaver({ tools: {}, budget_tokens, debug: true }),
  aiSdk.contextWeaver({ budget_tokens, debug: (line) => void line.length }),
  anthropic.contextWeaver({ tools: [], budget_tokens }),
  openai.contextWeaver({ tools: [], budget_tokens }),
  agents.contextWeaver({ budget_tokens }),
  langchain.contextWeaver({ budget_tokens }),
  mastra.contextWeaver({ budget_tokens }),
  langchain.contextWeaver({ budget_tokens }).conversation("t") ?? anthropic.contextWeaver({ tools: [], budget_tokens }),
];
declare const session: StoredSession;
export const texts: string[] = handles.map((handle) => `${handle.report()} ${handle.report().last?.step.tokens} ${handle.report().session()}`);
aiSdk.contextWeaver({ tools: {}, budget_tokens, session });
// @ts-expect-error an agent has many conversations
mastra.contextWeaver({ budget_tokens, session });
export const results: (anthropic.AnthropicToolResult | undefined)[] = [anthropic.contextWeaver({ tools: [], budget_tokens }).answer({ type: "text" })];

declare const tracer: OtelTracer;
export const traced = new ContextManager({ hooks: otel(tracer) });
export const run: Promise<string> = executeTool(tracer, { name: "add" }, () => "3");
