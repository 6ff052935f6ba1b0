// Compiled, never run: the adapters where none of their frameworks is installed.
import * as aiSdk from "contextweaver/ai-sdk";
import * as anthropic from "contextweaver/anthropic";
import * as openai from "contextweaver/openai";
import * as agents from "contextweaver/openai-agents";
import { executeTool, otel } from "contextweaver/otel";
import type { OtelTracer } from "contextweaver/otel";
import { ContextManager } from "contextweaver";

const budget_tokens = 16_000;
export const managers: ContextManager[] = [
  aiSdk.contextWeaver({ tools: {}, budget_tokens }).manager,
  anthropic.contextWeaver({ tools: [], budget_tokens }).manager,
  openai.contextWeaver({ tools: [], budget_tokens }).manager,
  agents.contextWeaver({ budget_tokens }).manager,
];
export const results: (anthropic.AnthropicToolResult | undefined)[] = [anthropic.contextWeaver({ tools: [], budget_tokens }).answer({ type: "text" })];

declare const tracer: OtelTracer;
export const traced = new ContextManager({ hooks: otel(tracer) });
export const run: Promise<string> = executeTool(tracer, { name: "add" }, () => "3");
