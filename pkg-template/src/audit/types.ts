// The report of an audit. Tokens are those of the models: as the provider counted them where the log says so, else by the engine's estimator,
// scaled by what other calls of the model were counted. `cost` is in tokens of input at full price, without answers; `usd` is in US
// dollars, with answers where they were counted, and absent where the price of a model is not known.
import type { BreakReason } from "./conversation.js";
import type { SessionAccount } from "./events.js";

export type { BreakReason };

/** Sums over calls. */
export interface AuditSums {
  /** Conversations; a subagent is one of its own. */
  conversations: number;
  calls: number;
  /** Calls for which the log has the provider's count. */
  counted_calls: number;
  /** Tokens of all prompts: `new_tokens` + `repeated_tokens` + `rewritten_tokens`. */
  tokens: number;
  /** Tokens that their conversation had not sent before. */
  new_tokens: number;
  /** Tokens that the provider read from its cache. */
  repeated_tokens: number;
  /** Tokens that were sent before and were not read from the cache. */
  rewritten_tokens: number;
  /** Tokens of answers, as far as they were counted. */
  output_tokens: number;
  cost: number;
  usd?: number;
  /** Calls of models whose price is not known; they are in `cost` and not in `usd`. */
  unpriced_calls: number;
  /** Times that a conversation was compacted, or went back and on from an earlier message. */
  compactions: number;
  edits: number;
  /** Calls that did not find in the cache what the call before had sent, by reason. */
  breaks: Partial<Record<BreakReason, BreakSums>>;
  results: AuditResults;
  /** Strings that calls and answers of models copy from earlier results, each once for a message, at most 100 of one. */
  copied: number;
  /** The same calls with contextweaver at each budget, and with plain policies. */
  strategies: StrategySums[];
  /** Absent without calls whose cached tokens were counted. */
  forecast?: ForecastSums;
}

/** Calls that lost the cache for one reason. */
export interface BreakSums {
  calls: number;
  /** Tokens that were sent before and paid for again. */
  tokens: number;
  /** The extra cost over reading them from the cache. */
  cost: number;
  usd?: number;
}

/** The results of tools. */
export interface AuditResults {
  count: number;
  tokens: number;
  /** The cost of sending them, in all calls. */
  cost: number;
  usd?: number;
  /** Lines with text, and those of which a later call or answer copies a string that the result brought first. */
  lines: number;
  used_lines: number;
  /** Results of which nothing was copied. */
  unused: number;
  unused_tokens: number;
  /** The cost of sending them in calls after the one that copied from them last. */
  idle_cost: number;
  idle_usd?: number;
  /** Results that were there before: asked for in the same words, or with the same text. */
  repeats: number;
  repeat_tokens: number;
}

/** A way to keep conversations short. */
export interface StrategySums {
  /** `contextweaver`, `newest` (the newest messages that fit), `clear` (old results cleared) or `head-tail` (both ends of results). */
  name: "contextweaver" | "newest" | "clear" | "head-tail";
  /** Tokens of a prompt; absent of `head-tail`, which has none. */
  budget?: number;
  cost: number;
  /** As `usd` of the sums, with the same answers. */
  usd?: number;
  /** Share of the price of the calls as recorded: of `usd` where that is known of all, else of `cost`. */
  share: number;
  /** Of the strings that calls and answers copy (`copied`), those that stood in the prompt they answer. */
  shown: number;
  /** Times that contextweaver began a prompt anew. */
  cuts?: number;
  /** Calls that count as recorded: instructions and tools take more than half of the budget, or what must be sent does not fit it. */
  over?: number;
}

/** The forecast of calls beside the provider's count. First calls are left out. */
export interface ForecastSums {
  calls: number;
  cached_tokens: number;
  recorded_cached_tokens: number;
  uncached_tokens: number;
  recorded_uncached_tokens: number;
  /** Calls that found less than half of that, though the log says no reason, and the tokens that they lacked. */
  missed_calls: number;
  missed_tokens: number;
  /** The forecast less the recorded count, in percent of the prompts. */
  cached_error_percent: number;
  uncached_error_percent: number;
}

/** A conversation. */
export interface SessionReport extends AuditSums {
  /** The file, and the id that the agent gave the session. */
  file: string;
  session: string;
  /** The reader: `claude-code`, `codex`, `opencode`, … */
  agent: string;
  /** The session whose subagent it is. */
  parent?: string;
  /** What a session of contextweaver counted while it ran, as `costs()` tells it, and its budget. */
  account?: SessionAccount;
  /** Of the first call and the last one, as ISO dates. */
  first?: string;
  last?: string;
  models: string[];
  /** The first words of the user, at most 60 characters, without secrets. */
  task: string;
  /** Tokens of the longest prompt. */
  longest_tokens: number;
}

/** A result of a tool. */
export interface ResultReport {
  session: string;
  tool: string;
  /** The values of its arguments, at most 80 characters, without secrets. */
  arguments: string;
  /** Number of the call that it was sent in first. */
  call: number;
  tokens: number;
  /** Calls that it was sent in. */
  calls: number;
  cost: number;
  usd?: number;
  lines: number;
  used_lines: number;
  /** Strings that later calls and answers copy from it. */
  used_strings: number;
  /** Calls after the one that copied from it last. */
  idle_calls: number;
  idle_cost: number;
}

/** Something that was read more than once in a conversation. */
export interface RepeatedResult {
  session: string;
  tool: string;
  arguments: string;
  times: number;
  /** How many of these brought the same text as the time before. */
  unchanged: number;
  /** Tokens of all but the first. */
  tokens: number;
}

/** A call that lost the cache. */
export interface BreakReport {
  session: string;
  call: number;
  at?: string;
  why: BreakReason;
  tokens: number;
  cost: number;
  usd?: number;
}

/** A model, with what its calls came to and what they were priced by. */
export interface ModelReport {
  model: string;
  calls: number;
  tokens: number;
  output_tokens: number;
  cost: number;
  usd?: number;
  /** In dollars for a million tokens; absent of a model whose price is not known. */
  price?: { input: number; output: number; cached: number; written: number; source: string; as_of: string };
}

/** Something that was not read. */
export interface AuditProblem {
  file: string;
  line?: number;
  reason: string;
}

/** All that an audit says. */
export interface AuditReport {
  version: 1;
  /** Files that were read, their bytes, and the most characters of messages that were in memory at once. */
  files: number;
  bytes: number;
  peak_characters: number;
  budgets: number[];
  total: AuditSums;
  models: ModelReport[];
  /** The dearest first. */
  sessions: SessionReport[];
  /** The ten dearest results, calls that lost the cache, and repeated readings. */
  results: ResultReport[];
  breaks: BreakReport[];
  repeats: RepeatedResult[];
  /** At most 100; `problem_count` is all. */
  problems: AuditProblem[];
  problem_count: number;
}
