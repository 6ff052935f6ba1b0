// Prices of models as data, in US dollars for a million tokens, at list prices without batches and for prompts up to 200,000 tokens.

/** The price of a model. */
export interface ModelPrice {
  /** Names of the model, without a provider before them and a date behind them; a `*` at the end stands for any text. */
  readonly match: readonly string[];
  /** Whose cache it has: a name of a price model, which says what repeats, from which length on, and for how long. */
  readonly cache: string;
  readonly input: number;
  readonly output: number;
  /** A token that is read from the cache. Default: the share of `input` that the price model says. */
  readonly cached?: number;
  /** A token that is written to the cache. Default: as `cached`. */
  readonly written?: number;
  /** Tokens of a prefix below which the provider keeps nothing of it, where that is not as of `cache`. */
  readonly least_tokens?: number;
  /** A cached prefix is a multiple of so many tokens. Default: as `cached`. */
  readonly step_tokens?: number;
  readonly source: string;
  /** When the price was read there, YYYY-MM. */
  readonly as_of: string;
}

const anthropic = { cache: "anthropic", source: "platform.claude.com/docs/en/about-claude/pricing", as_of: "2026-11" };
const openai = { cache: "openai", source: "developers.openai.com/api/docs/pricing", as_of: "2026-11" };
// Least prefixes of ai.google.dev/gemini-api/docs/caching: of 2026-10 for 2.5, of 2026-05, which has them last, for the first of 3.
// Answers recorded in 2025-11 read implicit caches in steps of about 2,048 tokens.
const gemini = {
  cache: "gemini",
  step_tokens: 2048,
  source: "ai.google.dev/gemini-api/docs/pricing",
  as_of: "2026-11",
};

/** The models that are known. Others are counted in tokens alone, unless `--prices` has them. */
export const MODEL_PRICES: readonly ModelPrice[] = [
  { ...anthropic, match: ["claude-opus-5-5"], input: 4, output: 20, cached: 0.2 },
  {
    ...anthropic,
    match: ["claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-opus-4-5"],
    input: 5,
    output: 25,
  },
  {
    ...anthropic,
    match: ["claude-opus-4-1", "claude-opus-4", "claude-opus-4-0", "claude-3-opus"],
    input: 15,
    output: 75,
  },
  { ...anthropic, match: ["claude-sonnet-5-5", "claude-sonnet-5"], input: 2, output: 10 },
  {
    ...anthropic,
    match: [
      "claude-sonnet-4-6",
      "claude-sonnet-4-5",
      "claude-sonnet-4",
      "claude-sonnet-4-0",
      "claude-3-7-sonnet",
      "claude-3-5-sonnet",
    ],
    input: 3,
    output: 15,
  },
  { ...anthropic, match: ["claude-haiku-4-5"], input: 1, output: 5 },
  { ...anthropic, match: ["claude-3-5-haiku"], input: 0.8, output: 4 },
  { ...openai, match: ["gpt-5.5"], input: 5, output: 30 },
  { ...openai, match: ["gpt-5.4"], input: 2.5, output: 15 },
  { ...openai, match: ["gpt-5.4-mini"], input: 0.75, output: 4.5 },
  { ...openai, match: ["gpt-5.3-codex", "gpt-5.2", "gpt-5.2-codex"], input: 1.75, output: 14 },
  {
    ...openai,
    match: ["gpt-5", "gpt-5.1", "gpt-5-codex", "gpt-5.1-codex", "gpt-5.1-codex-max"],
    input: 1.25,
    output: 10,
  },
  { ...openai, match: ["gpt-5-mini", "gpt-5.1-codex-mini"], input: 0.25, output: 2 },
  { ...openai, match: ["gpt-5-nano"], input: 0.05, output: 0.4 },
  { ...openai, match: ["gpt-4.1"], input: 2, output: 8, cached: 0.5 },
  { ...openai, match: ["gpt-4.1-mini"], input: 0.4, output: 1.6, cached: 0.1 },
  { ...openai, match: ["gpt-4o"], input: 2.5, output: 10, cached: 1.25 },
  { ...openai, match: ["o3"], input: 2, output: 8, cached: 0.5 },
  { ...openai, match: ["o4-mini"], input: 1.1, output: 4.4, cached: 0.275 },
  { ...gemini, match: ["gemini-3-pro-preview", "gemini-3-pro"], input: 2, output: 12, least_tokens: 4096 },
  { ...gemini, match: ["gemini-3-flash-preview", "gemini-3-flash"], input: 0.5, output: 3, least_tokens: 1024 },
  { ...gemini, match: ["gemini-2.5-pro"], input: 1.25, output: 10 },
  { ...gemini, match: ["gemini-2.5-flash"], input: 0.3, output: 2.5 },
  { ...gemini, match: ["gemini-2.5-flash-lite"], input: 0.1, output: 0.4 },
];
