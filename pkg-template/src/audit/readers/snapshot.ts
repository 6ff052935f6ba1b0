// What a snapshot of a manager tells beside its items: the results that its log has digests of, and what was counted while it ran.
import { readBase64 } from "../../boundary/base64.js";
import { fieldsOf } from "../../boundary/fields.js";
import type { Fields } from "../../boundary/fields.js";
import { wellFormed } from "../../boundary/repairs.js";
import { countTokens } from "../../manager/text.js";
import type { SessionAccount } from "../events.js";
import { at, countOf, textOf } from "../json-fields.js";

/** What was counted while a session ran. */
export interface Ran {
  readonly account: SessionAccount | undefined;
  /** Undefined where several models were calibrated: which of them made which call is not known. */
  readonly model: string | undefined;
  /** The last prompt has all items: a call was made behind them, whose answer is not in the log. */
  readonly isCalled: boolean;
}

/** Reads what a snapshot of so many items says of its running prompts. */
export function ranOf(snapshot: unknown, items: number): Ran {
  const prompts = Object.values(fieldsOf(at(snapshot, "running")));
  const accounts = prompts.flatMap((prompt) => accountOf(prompt) ?? []).sort((a, b) => b.steps - a.steps);
  const models = Object.keys(fieldsOf(at(snapshot, "calibration")));
  return {
    account: accounts[0],
    model: models.length === 1 ? models[0] : undefined,
    isCalled: items > 0 && prompts.some((prompt) => at(prompt, "seen") === items),
  };
}

function accountOf(prompt: unknown): SessionAccount | undefined {
  const of = (key: string): number | undefined => countOf(at(prompt, "account", "costs", key));
  const budget = countOf(at(prompt, "budget"));
  const [steps, cuts, tokens, repeated_tokens, tokens_without, cost, cost_without] = [
    of("steps"),
    of("cuts"),
    of("tokens"),
    of("repeated_tokens"),
    of("tokens_without"),
    of("cost"),
    of("cost_without"),
  ];
  if (!budget || !steps || tokens === undefined || tokens_without === undefined) return undefined;
  return {
    budget,
    steps,
    cuts: cuts ?? 0,
    tokens,
    repeated_tokens: repeated_tokens ?? 0,
    tokens_without,
    cost: cost ?? 0,
    cost_without: cost_without ?? 0,
  };
}

/** Media types whose bytes are a text. */
const TEXTUAL = /^text\/|[/+](json|xml|yaml|javascript|x-ndjson)\b/;
/** Characters that stand for results whose bytes are not there, in one and in all: their size is what a file says. */
const MOST_FILLED = 4 * 1024 * 1024;
const MOST_FILLED_IN_ALL = 16 * MOST_FILLED;
const FILLER = "[not in this file]\n";

/** Gives the whole results of a session in place of the digests in its log. */
export class StoredResults {
  readonly #data: Fields;
  readonly #envelopes: Fields;
  #filled = 0;
  /** Results of whose bytes the file has none, and those of them whose size is not told or too large. */
  missing = 0;
  short = 0;

  constructor(snapshot: unknown) {
    [this.#data, this.#envelopes] = [
      fieldsOf(at(snapshot, "artifact_store", "data")),
      fieldsOf(at(snapshot, "envelopes")),
    ];
  }

  /** The text of a result as the tool returned it; undefined of an item that stands whole in the log. */
  whole({ id, kind, text, metadata, artifact_ref: ref }: Fields): string | undefined {
    const { handle, media_type: type } = fieldsOf(ref);
    const stats = fieldsOf(at(this.#envelopes[String(id)], "firewall_stats"));
    const firewall = at(metadata, "firewall");
    const isDigest =
      kind === "tool_result" && typeof handle === "string" && (firewall !== undefined || stats["triggered"] === true);
    if (!isDigest || !TEXTUAL.test(String(type))) return undefined;
    const stored = textOf(this.#data[handle]);
    const found = stored === undefined ? undefined : decoded(stored);
    if (found !== undefined) return found;
    this.missing += 1;
    const tokens =
      countOf(at(firewall, "tokens")) ??
      countOf(stats["original_tokens"]) ??
      (countOf(fieldsOf(ref)["size_bytes"]) ?? 0) / 4;
    return this.#filledUp(String(text), tokens);
  }

  /** The digest, and behind it as much as the rest took. */
  #filledUp(digest: string, tokens: number): string {
    const rest = tokens - countTokens(digest);
    const head = `${digest}\n[about ${Math.max(0, Math.round(rest))} more tokens of this result are not in this file; what follows has their size]\n`;
    const lines = Math.max(0, Math.round((rest - countTokens(head) + countTokens(digest)) / fillerTokens()));
    const room = Math.min(MOST_FILLED, MOST_FILLED_IN_ALL - this.#filled);
    const fit = Math.min(lines, Math.floor(room / FILLER.length));
    if (fit < lines || tokens === 0) this.short += 1;
    this.#filled += fit * FILLER.length;
    return fit === 0 ? digest : head + FILLER.repeat(fit);
  }

  /** What a reader is told of results that are not there. */
  problems(): readonly string[] {
    const of = (count: number): string => (count === 1 ? "1 result" : `${count} results`);
    const [they, are] = [this.missing === 1 ? "it counts" : "they count", this.short === 1 ? "is" : "are"];
    return [
      ...(this.missing > 0
        ? [`the bytes of ${of(this.missing)} are not in the file: ${they} with the size that the log states`]
        : []),
      ...(this.short > 0
        ? [`${of(this.short)} ${are} counted too short: the size is not stated, or beyond ${MOST_FILLED} characters`]
        : []),
    ];
  }
}

/** Tokens of a line of filler among others. */
const fillerTokens = (): number => countTokens(FILLER.repeat(64)) / 64;

/** The text of base64; undefined of what is none, or no text. */
function decoded(base64: string): string | undefined {
  const bytes = readBase64(base64);
  try {
    return bytes && wellFormed(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined; // what is no text counts by its size
  }
}
