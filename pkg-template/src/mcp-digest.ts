// What a client gets of a result of the Model Context Protocol: the whole of a small one, a digest of a large one, and the way to
// the rest. Shared by `firewalled` and the gateway.
import type { ContextManager } from "./context-manager.js";
import { parseKeeping } from "./exact-numbers.js";
import { wholeWithin } from "./guard.js";
import { mendedResult } from "./mcp-blocks.js";
import { countTokens } from "./text.js";
import type { JsonObject, ResultEnvelope, Selector } from "./types.js";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Tokens of a result that clients get whose context nobody has named: over recorded steps (`benches/gate.mjs`) as many as the first and
 * the last 500 tokens of each result come to, with more of what the next call copies.
 */
const RESULT_TOKENS = 1_150;
/** Results of full size that fit in a context. */
const RESULTS_IN_CONTEXT = 16;
/** Largest of all budgets. */
const MAX_TOKENS = 2 ** 24;
/** Under this key of `_meta` stands the handle of the raw text. */
const HANDLE = "contextweaver/handle";

/** How much of a result a client gets. */
export interface ResultSizeOptions {
  /**
   * Most tokens of a result. One that is an eighth larger still comes whole; of others the client gets the start, the end, and what names
   * the most between them or was asked for, with the way to the rest. Default: a sixteenth of `context_tokens`; 1,150 without it.
   */
  readonly result_tokens?: number;
  /** Tokens that the context of the client's model takes. Default: not known. */
  readonly context_tokens?: number;
}

/** Most tokens of a result, by options. Errors: `OUT_OF_RANGE`. @internal */
export function resultTokens({ result_tokens, context_tokens }: ResultSizeOptions): number {
  for (const [field, tokens] of Object.entries({ result_tokens, context_tokens })) {
    if (tokens !== undefined) wholeWithin(tokens, 1, MAX_TOKENS, `/${field}`);
  }
  if (result_tokens !== undefined) return result_tokens;
  return context_tokens === undefined ? RESULT_TOKENS : Math.ceil(context_tokens / RESULTS_IN_CONTEXT);
}

/** A call with what the server answered. */
export interface AnsweredCall {
  readonly name: string;
  readonly arguments?: unknown;
  /** The server, as it calls itself or as it is configured. */
  readonly server?: string | undefined;
  readonly result: Fields;
}

/** What a client gets of a result. */
export interface DigestedResult {
  readonly result: Fields;
  /** Whether something else is shown than came. */
  readonly is_digested: boolean;
  /** The raw text of the result; absent where there was no result to keep. */
  readonly handle?: string;
  /** Tokens of the raw text, and of what stands in its place. */
  readonly tokens: number;
  readonly shown_tokens: number;
  /** Bytes that are kept. */
  readonly bytes: number;
  readonly envelope?: ResultEnvelope;
}

/** Logs calls with their results in a manager, and says what a client gets of them. */
export class ResultDigests {
  readonly #manager: ContextManager;
  readonly #drilldown: string | false;
  readonly #most: number;
  readonly #prefix: string;
  readonly #isAlone: boolean;

  /**
   * `most`: tokens of a result that the client gets. `prefix` begins the ids of the calls, and so the handles of their results; a log that has one is of nothing else. Each of its calls
   * is a turn then: results since the last turn of a user are never evicted.
   */
  constructor(manager: ContextManager, drilldown: string | false, most: number, prefix?: string) {
    [this.#manager, this.#drilldown, this.#most, this.#prefix, this.#isAlone] = [manager, drilldown, most, prefix ?? "mcp", prefix !== undefined];
  }

  /** Logs a call with its result, and says what the client gets of it. What is no result yet, such as a task, stays as it is. */
  digest({ result: given, ...call }: AnsweredCall): DigestedResult {
    const { result, mended } = mendedResult(given);
    const digested = this.#digest({ ...call, result });
    if (mended.length === 0 || !Array.isArray(digested.result["content"])) return digested;
    const note = { type: "text", text: `(The server's result was malformed at ${mended.join(", ")}; it was mended.)` };
    return { ...digested, result: { ...digested.result, content: [...(digested.result["content"] as readonly Fields[]), note] }, is_digested: true };
  }

  #digest({ name: tool_name, arguments: given = {}, server, result: raw }: AnsweredCall): DigestedResult {
    if (!Array.isArray(raw["content"])) return { result: raw, is_digested: false, tokens: 0, shown_tokens: 0, bytes: 0 };
    const manager = this.#manager;
    const id = this.#nextId();
    const metadata: JsonObject = server === undefined ? {} : { server };
    const { json: asked } = manager.jsonOf(given);
    const { item, envelope, abridged } = manager.whole(() => {
      if (this.#isAlone) manager.ingest({ id: `${id}:turn`, kind: "user_turn", text: tool_name });
      manager.ingestSent({ id, kind: "tool_call", text: `${tool_name} ${asked}`, metadata: { ...metadata, tool_name, arguments: given } });
      const ingested = manager.ingestMcpResult({ tool_call_id: id, tool_name, result: raw, metadata });
      return { ...ingested, abridged: manager.abridged(ingested.item.id, this.#most, asked) };
    });
    const result = isRepaired(envelope) ? (parseKeeping(manager.jsonOf(raw).json) as Fields) : raw;
    const { content, structuredContent } = result;
    const blocks = content as readonly Fields[];
    const handle = `artifact:result:${id}`;
    const { firewall } = item.metadata as { readonly firewall?: { readonly strategy: string; readonly tokens: number; readonly view?: Selector } };
    const shown = abridged ?? { text: item.text, tokens: item.token_estimate, total: firewall?.tokens ?? item.token_estimate, is_cut: firewall !== undefined && firewall.strategy !== "reshaped" };
    const bytes = envelope.artifacts.reduce((sum, artifact) => sum + artifact.size_bytes, 0);
    const kept = { handle, tokens: shown.total, shown_tokens: shown.tokens, bytes, envelope };
    // What is whole may have been masked, or written shorter.
    const isShort = new TextDecoder().decode(manager.artifacts.bytes(handle)) !== shown.text;
    const isSame = !isShort && blocks.every((block) => isForModel(block) && !this.#isBulky(block));
    const lines = shown.is_cut ? [`(${shown.tokens} of ${shown.total} tokens; ${this.#way(handle, firewall?.view)})`] : [];
    const isLeftOut = structuredContent !== undefined && (isShort || this.#isTooMuch(structuredContent));
    for (const { handle: other, label, media_type } of envelope.artifacts) {
      if (isLeftOut && other.endsWith(":structured_content")) lines.push(`(${label}: ${this.#way(other)})`);
      const at = Number(/:resource:(\d+)$/.exec(other)?.[1] ?? -1);
      if (!isSame && typeof ((blocks[at]?.["resource"] ?? {}) as Fields)["blob"] === "string") lines.push(`(${label}, ${media_type}: ${other})`);
    }
    if (isSame && !isLeftOut) return { result, is_digested: false, ...kept };
    const parts = isSame ? blocks : [{ type: "text", text: shown.text }, ...blocks.filter((block) => isMedia(block) && isForModel(block))];
    const { structuredContent: _, _meta, ...rest } = result;
    const digested = {
      ...rest,
      content: lines.length > 0 ? withLines(parts, lines) : parts,
      ...(structuredContent !== undefined && !isLeftOut && { structuredContent }),
      _meta: { ...(_meta as Fields | undefined), [HANDLE]: handle },
    };
    return { result: digested, is_digested: true, ...kept };
  }

  #way(handle: string, selector?: Selector): string {
    return `${this.#drilldown === false ? "drilldown" : this.#drilldown} ${handle}${selector ? ` ${JSON.stringify(selector)}` : ""}`;
  }

  /** Whether a block that is neither text nor picture is too much to be shown: bytes of a file, say. */
  #isBulky(block: Fields): boolean {
    return block["type"] !== "text" && !isMedia(block) && this.#isTooMuch(block);
  }

  /** Whether data is more than a client gets, or has in it what it may not. */
  #isTooMuch(data: unknown): boolean {
    const { json: text } = this.#manager.jsonOf(data);
    return countTokens(text) > this.#most || this.#manager.masked(text) !== text;
  }

  /** A name for a call, which the protocol gives none; a log that was restored has some already. */
  #nextId(): string {
    const taken = calls.get(this.#manager) ?? new Map<string, number>();
    let n = taken.get(this.#prefix) ?? 0;
    do n += 1;
    while (this.#manager.artifacts.exists(`artifact:result:${this.#prefix}-${n}`));
    calls.set(this.#manager, taken.set(this.#prefix, n));
    return `${this.#prefix}-${n}`;
  }
}

/** Whether not all of a result was JSON: the client gets it as it was stored then. */
function isRepaired({ provenance }: ResultEnvelope): boolean {
  const { warnings } = provenance as { readonly warnings?: readonly JsonObject[] };
  return warnings?.some(({ code }) => code === "text-repaired" || code === "value-repaired" || code === "value-cut") === true;
}

/** Calls of a manager so far by the beginning of their ids, whichever client made them. */
const calls = new WeakMap<ContextManager, Map<string, number>>();

/** Puts lines below the first text, or below all where there is none. */
function withLines(blocks: readonly Fields[], lines: readonly string[]): Fields[] {
  const at = blocks.findIndex(({ type }) => type === "text");
  if (at === -1) return [...blocks, { type: "text", text: lines.join("\n") }];
  return blocks.map((block, index) => (index === at ? { ...block, text: [block["text"], ...lines].join("\n") } : block));
}

const isMedia = ({ type }: Fields): boolean => type === "image" || type === "audio";

/** Whether the model may see a block: some are for the user alone. */
function isForModel({ annotations }: Fields): boolean {
  const { audience } = (annotations ?? {}) as Fields;
  return !Array.isArray(audience) || audience.length === 0 || audience.includes("assistant");
}
