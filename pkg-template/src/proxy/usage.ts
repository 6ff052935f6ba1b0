// What providers say that a call of a model cost, whatever they call it.
import { cachedOf } from "../adapters/agent-loop.js";
import type { Fields } from "./dialect.js";

/** Tokens of a call as the provider counts them; absent what it does not say. */
export interface CallUsage {
  /** Of what was sent, those among them that it had in its cache. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cached_tokens?: number;
}

/** Reads the usage of an answer. */
export function countsOf(usage: Fields): CallUsage {
  const {
    prompt_tokens: chat,
    input_tokens: read,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
  } = usage;
  // Anthropic counts what was cached beside the input. LiteLLM names it so in chat completions, too, where the input has it.
  const input = chat ?? (typeof read === "number" ? read + Number(written ?? 0) + Number(cached ?? 0) : undefined);
  const { completion_tokens: said, output_tokens: output = said } = usage;
  const kept = cachedOf(usage);
  return {
    ...(typeof input === "number" && { input_tokens: input }),
    ...(typeof output === "number" && { output_tokens: output }),
    ...(typeof kept === "number" && { cached_tokens: kept }),
  };
}
