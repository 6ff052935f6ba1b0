// The results of tools in a conversation: what each cost while it was sent, how much of it was used again, and what was read twice.
import { TextHash } from "../adapters/text-hash.js";
import { wellFormed } from "../boundary/repairs.js";
import { redactSecrets } from "../manager/text.js";
import { textOfMessage } from "./chat.js";
import type { Call } from "./conversation.js";
import type { ChatMessage } from "./events.js";
import { fieldsOf } from "../boundary/fields.js";
import { parsed } from "./json-fields.js";
import type { Entry } from "./ledger.js";
import type { Pricing } from "./pricing.js";
import type { Use } from "./replay.js";
import type { RepeatedResult, ResultReport } from "./types.js";

/** Matches strings that one copies: a path, a name, a number of six digits, a word of six letters, up to 120 characters. */
const STRING = /[A-Za-z0-9_][A-Za-z0-9_./-]{4,118}[A-Za-z0-9_]/g;
/** Strings of a conversation that are remembered, and characters of a result that are looked through. */
const MAX_STRINGS = 500_000;
const MAX_CHARACTERS = 2_000_000;
/** Strings of a message that are looked for in prompts. */
const MAX_USES = 100;
/** Shorter texts say the same by chance. */
const LEAST_TEXT = 200;
/** Characters of what a call says that name a result. */
const LABEL = 80;

/** Prices of a token, summed over calls. */
interface Paid {
  /** Calls, but for those that another file has recorded. */
  readonly calls: number;
  /** In prices of an input token. */
  readonly cost: number;
  /** In dollars, of the calls whose model has a price. */
  readonly usd: number;
  /** How many calls these are. */
  readonly priced: number;
}

const NOTHING: Paid = { calls: 0, cost: 0, usd: 0, priced: 0 };

function paid(price: number, pricing: Pricing): Paid {
  const usd = pricing.money(price);
  return { calls: 1, cost: price, usd: usd ?? 0, priced: usd === undefined ? 0 : 1 };
}

function plus(one: Paid, other: Paid): Paid {
  return {
    calls: one.calls + other.calls,
    cost: one.cost + other.cost,
    usd: one.usd + other.usd,
    priced: one.priced + other.priced,
  };
}

function minus(one: Paid, other: Paid): Paid {
  return {
    calls: one.calls - other.calls,
    cost: one.cost - other.cost,
    usd: one.usd - other.usd,
    priced: one.priced - other.priced,
  };
}

interface Live {
  readonly index: number;
  readonly label: { readonly tool: string; readonly arguments: string };
  /** By the estimator. */
  readonly tokens: number;
  lines: number;
  readonly used: Set<number>;
  strings: number;
  /** How many calls of models there were when it came. */
  readonly since: number;
  /** Prices of a token: in its first call, and summed over all calls until it came and until it was used last. */
  first: Paid;
  start: Paid;
  used_at: Paid;
  factor: number;
}

/** Sums over the results of a conversation. */
export interface ResultSums {
  count: number;
  tokens: number;
  lines: number;
  used_lines: number;
  /** Of results of which nothing was used again. */
  unused: number;
  unused_tokens: number;
  cost: number;
  usd?: number;
  /** Their cost in calls after the one that used them last. */
  idle_cost: number;
  idle_usd?: number;
}

interface Known {
  readonly label: Live["label"];
  times: number;
  tokens: number;
  unchanged: number;
  hash: string;
}

/** Follows the results of one conversation. */
export class Results {
  readonly sums: ResultSums = {
    count: 0,
    tokens: 0,
    lines: 0,
    used_lines: 0,
    unused: 0,
    unused_tokens: 0,
    cost: 0,
    idle_cost: 0,
  };
  readonly #finished: (result: Omit<ResultReport, "session">) => void;
  #live: Live[] = [];
  /** Who brought a string first, in which line, and the newest message that has it. */
  #strings = new Map<string, { readonly result: Live | undefined; readonly line: number; last: number }>();
  #calls = new Map<string, { readonly tool: string; readonly arguments: string }>();
  readonly #known = new Map<string, Known>();
  readonly #texts = new Map<string, Known>();
  /** Prices of a token that was sent in every call so far. */
  #price = NOTHING;
  #count = 0;
  #factor = 1;

  constructor(finished: (result: Omit<ResultReport, "session">) => void) {
    this.#finished = finished;
  }

  /** A message came, at this place, of so many tokens; returns what it copies from results. */
  take(message: ChatMessage, index: number, tokens: number): readonly Use[] {
    if (message.role === "assistant") return this.#wrote(message, index);
    if (message.role === "tool") this.#came(message, index, tokens);
    else this.#remember(textOfMessage(message), undefined, index);
    return [];
  }

  /** A call was made: all that is live was sent. What another file has recorded was paid for there. */
  called({ old_price, factor }: Entry, { pricing, isCopy }: Call): void {
    if (!isCopy) this.#price = plus(this.#price, paid(old_price, pricing));
    const first = isCopy ? NOTHING : paid(pricing.cache.written, pricing);
    this.#factor = factor;
    for (let at = this.#live.length - 1; at >= 0 && this.#live[at]?.since === this.#count; at -= 1) {
      Object.assign(this.#live[at] as Live, { first, start: this.#price, used_at: this.#price, factor });
    }
    this.#count += 1;
  }

  /** The conversation keeps its first messages alone. */
  back(to: number): void {
    const gone = this.#live.filter(({ index }) => index >= to);
    this.#live = this.#live.filter(({ index }) => index < to);
    for (const live of gone) this.#end(live);
    if (to === 0) [this.#strings, this.#calls] = [new Map(), new Map()];
    for (const [string, from] of this.#strings) {
      const first = from.result?.index ?? -1;
      if (first >= to) this.#strings.delete(string);
      else if (from.last >= to) from.last = Math.max(first, to - 1);
    }
  }

  /** Lists results that were read more than once. */
  repeated(): readonly Omit<RepeatedResult, "session" | "usd">[] {
    const all = new Set([...this.#known.values(), ...this.#texts.values()]);
    return [...all]
      .filter(({ times }) => times > 1)
      .map(({ label, times, tokens, unchanged }) => ({
        ...label,
        times,
        unchanged,
        tokens: Math.round(tokens * this.#factor),
      }));
  }

  #came(message: ChatMessage, index: number, tokens: number): void {
    const call = this.#calls.get(message.tool_call_id ?? "") ?? { tool: "unknown", arguments: "" };
    const text = textOfMessage(message);
    const label = { tool: wellFormed(call.tool.slice(0, LABEL)), arguments: labelOf(call.arguments) };
    const live: Live = {
      index,
      label,
      tokens,
      lines: 0,
      used: new Set(),
      strings: 0,
      since: this.#count,
      first: NOTHING,
      start: NOTHING,
      used_at: NOTHING,
      factor: 1,
    };
    live.lines = this.#remember(text, live, index);
    this.#live.push(live);
    this.#read(call, label, text, tokens);
  }

  /** Notes whose strings are new; returns how many lines there are with any text. */
  #remember(text: string, result: Live | undefined, index: number): number {
    let [line, count] = [0, 0];
    for (const content of (text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text).split("\n")) {
      if (content.trim() !== "") count += 1;
      for (const [string] of content.matchAll(STRING)) {
        const known = this.#strings.get(string);
        if (known) known.last = index;
        else if (this.#strings.size < MAX_STRINGS) this.#strings.set(string, { result, line, last: index });
      }
      line += 1;
    }
    return count;
  }

  /** The model wrote something: what it copies shows what it used. */
  #wrote(message: ChatMessage, index: number): readonly Use[] {
    const uses = new Map<string, readonly number[]>();
    const calls = message.tool_calls ?? [];
    for (const {
      id,
      function: { name, arguments: given },
    } of calls)
      this.#calls.set(id, { tool: name, arguments: given });
    const text = [
      textOfMessage(message),
      ...calls.map((call) => call.function.arguments.replaceAll(/\\[nrt]/g, " ")),
    ].join("\n");
    for (const [string] of text.matchAll(STRING)) {
      const from = this.#strings.get(string);
      if (from === undefined) {
        if (this.#strings.size < MAX_STRINGS) this.#strings.set(string, { result: undefined, line: 0, last: index });
        continue;
      }
      const { result, last } = from;
      from.last = index;
      // Said twice in one message, it is copied from there.
      if (!result || last === index) continue;
      result.used.add(from.line);
      result.strings += 1;
      result.used_at = this.#price;
      if (uses.size < MAX_USES) uses.set(string, [result.index, last]);
    }
    return [...uses].map(([text, places]) => ({ text, places }));
  }

  /** Whether a call asked again for what was there, or brought the same text. */
  #read(
    call: { readonly tool: string; readonly arguments: string },
    label: Live["label"],
    text: string,
    tokens: number,
  ): void {
    const hash = new TextHash().add(text);
    const asked = new TextHash().add(`${call.tool} ${call.arguments}`);
    const found = this.#known.get(asked) ?? (text.length >= LEAST_TEXT ? this.#texts.get(hash) : undefined);
    if (!found) {
      const known = { label, times: 1, tokens: 0, unchanged: 0, hash };
      this.#known.set(asked, known);
      if (text.length >= LEAST_TEXT) this.#texts.set(hash, known);
      return;
    }
    found.times += 1;
    found.tokens += tokens;
    if (found.hash === hash) found.unchanged += 1;
    found.hash = hash;
  }

  /** A result is sent no more. */
  #end({ label, tokens: estimated, factor, lines, used, strings, since, first, start, used_at }: Live): void {
    const all = plus(first, minus(this.#price, start));
    // What no call was sent cost nothing.
    if (all.calls === 0) return;
    const tokens = estimated * factor;
    const idle = minus(this.#price, used_at);
    const [cost, idle_cost] = [tokens * all.cost, tokens * idle.cost];
    const usd = all.priced > 0 ? tokens * all.usd : undefined;
    const { sums } = this;
    sums.count += 1;
    sums.tokens += tokens;
    sums.lines += lines;
    sums.used_lines += used.size;
    sums.cost += cost;
    sums.idle_cost += idle_cost;
    if (usd !== undefined) {
      sums.usd = (sums.usd ?? 0) + usd;
      sums.idle_usd = (sums.idle_usd ?? 0) + tokens * idle.usd;
    }
    if (used.size === 0) [sums.unused, sums.unused_tokens] = [sums.unused + 1, sums.unused_tokens + tokens];
    this.#finished({
      ...label,
      call: since + 1,
      tokens: Math.round(tokens),
      calls: all.calls,
      cost,
      lines,
      used_lines: used.size,
      used_strings: strings,
      idle_calls: idle.calls,
      idle_cost,
      ...(usd !== undefined && { usd }),
    });
  }
}

/** Names a call in a table: by the values of its arguments on one line, without secrets. */
function labelOf(given: string): string {
  const json = fieldsOf(parsed(given));
  const values = Object.values(json).map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  const text = wellFormed((values.length > 0 ? values.join(" ") : given).slice(0, 4 * LABEL));
  const line = redactSecrets(text).replace(/\s+/g, " ").trim();
  return line.length > LABEL ? wellFormed(`${line.slice(0, LABEL - 1)}…`) : line;
}
