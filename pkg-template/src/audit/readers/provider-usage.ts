// Reads the usage in answers of providers' APIs.
import type { RecordedUsage } from "../events.js";
import { at, countOf } from "../json-fields.js";
import type { Fields } from "../../boundary/fields.js";
import { usageOf as anthropicUsage } from "./claude-code.js";

/** Reads the usage of chat completions, Responses, Anthropic or Gemini; undefined where there is none. */
export function chatUsage(usage: Fields): RecordedUsage | undefined {
  if (countOf(usage["cache_read_input_tokens"]) !== undefined && countOf(usage["prompt_tokens"]) === undefined)
    return anthropicUsage(usage);
  const input = countOf(usage["prompt_tokens"]) ?? countOf(usage["input_tokens"]) ?? geminiInput(usage);
  if (input === undefined) return undefined;
  const details = usage["prompt_tokens_details"] ?? usage["input_tokens_details"];
  const cached =
    countOf(at(details, "cached_tokens")) ??
    countOf(usage["prompt_cache_hit_tokens"]) ??
    countOf(usage["cache_read_input_tokens"]) ??
    countOf(usage["cachedContentTokenCount"]);
  const written = countOf(at(details, "cache_write_tokens")) ?? countOf(usage["cache_creation_input_tokens"]);
  const output = countOf(usage["completion_tokens"]) ?? countOf(usage["output_tokens"]) ?? geminiOutput(usage);
  return { input, cached, written, output };
}

/** What Gemini bills as input: the prompt, and what its own tools brought, which the count of the prompt leaves out. */
function geminiInput(usage: Fields): number | undefined {
  const prompt = countOf(usage["promptTokenCount"]);
  return prompt === undefined ? undefined : prompt + (countOf(usage["toolUsePromptTokenCount"]) ?? 0);
}

/** What Gemini bills as output: the answer, and the thoughts that its count leaves out. */
function geminiOutput(usage: Fields): number | undefined {
  const [said, thought] = [countOf(usage["candidatesTokenCount"]), countOf(usage["thoughtsTokenCount"])];
  return said === undefined && thought === undefined ? undefined : (said ?? 0) + (thought ?? 0);
}
