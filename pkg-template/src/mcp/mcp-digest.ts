// What a client gets of a result of the Model Context Protocol: the whole of a small one, a digest of a large one, and the way to
// the rest. Shared by `firewalled` and the gateway.
import type { ContextManager } from "../manager/context-manager.js";
import { encodeBase64 } from "../boundary/base64.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { parseKeeping } from "../boundary/exact-numbers.js";
import { isBlock, isPadded, mendedResult } from "./mcp-blocks.js";
import { besideContent, isForModel, passingBlock, passingRest, passingResult } from "./mcp-passing.js";
import type { TooMuch } from "./mcp-passing.js";
import { MAX_RESULT_TOKENS } from "./result-size.js";
import type { AbridgedResult, ToolResult } from "../manager/results.js";
import { countTokens } from "../manager/text.js";
import type { JsonObject, ResultEnvelope, Selector } from "../types.js";

type Fields = Readonly<Record<string, unknown>>;

/** Under this key of `_meta` stands the handle of the raw text. */
const HANDLE = "contextweaver/handle";
/** Under this key of `_meta` stands where structured content is that was left out as the text says the same. */
const STRUCTURED = "contextweaver/structured_content";
/** Tokens of structured content that are no matter if they are paid twice: programs that read it need not say so. */
const LITTLE = 200;
/** Characters of the line below what is shown of a result. */
const LINE_CHARS = 120;
/** Fewest tokens to which a result is shortened for a limit of characters. */
const LEAST_TOKENS = 16;
/** Blocks of a result that are read one by one. */
const MAX_BLOCKS = 1_000;
/** UTF-16 units of JSON that are counted; more is too much for any client. */
const MOST_COUNTED = 2 ** 21;
/** UTF-16 units of the arguments of a call that its log has. */
const MAX_ARGUMENTS = 2 ** 20;
/** Codes of results that cannot be read as they are. */
const UNREADABLE: readonly string[] = ["TOO_LARGE", "TOO_DEEP", "CYCLE", "INVALID_INPUT"];

/** A call with what the server answered. */
export interface AnsweredCall {
  readonly name: string;
  readonly arguments?: unknown;
  /** The server, as it calls itself or as it is configured. */
  readonly server?: string | undefined;
  readonly result: Fields;
  /** What the client gets however large it is, as no model reads it: a view does. Default: nothing. */
  readonly whole?: "result" | "structured" | undefined;
  /** Most tokens and characters that the client gets of it. Default: as for every call. */
  readonly most?: { readonly tokens?: number | undefined; readonly chars?: number | undefined } | undefined;
  /** Whether structured content that says what the text says is left out, as some clients give both to their model. Default: false. */
  readonly is_once?: boolean | undefined;
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
  readonly #isMasked: (data: unknown, json?: string) => boolean;
  readonly #prefix: string;
  readonly #isAlone: boolean;

  /**
   * `most`: tokens of a result that the client gets. `prefix` begins the ids of the calls, and so the handles of their results; a log that has one is of nothing else. Each of its calls
   * is a turn then: results since the last turn of a user are never evicted.
   */
  constructor(manager: ContextManager, drilldown: string | false, most: number, prefix?: string) {
    [this.#manager, this.#drilldown, this.#most, this.#prefix, this.#isAlone] = [
      manager,
      drilldown,
      most,
      prefix ?? "mcp",
      prefix !== undefined,
    ];
    // A value that was repaired on its way in is plain data by now.
    this.#isMasked = (data, json = JSON.stringify(data) ?? "") => manager.masked(json) !== json;
  }

  /** Whether data is more than so many tokens, or has in it what a client may not get. */
  #above(most: number): TooMuch {
    return (data) => {
      const json = JSON.stringify(data) ?? "";
      return json.length > MOST_COUNTED || countTokens(json) > most || this.#isMasked(data, json);
    };
  }

  /**
   * Logs a call with its result, and says what the client gets of it. What is no result yet, such as a task, stays as it is; what
   * cannot be read as a result is kept as text.
   */
  digest(call: AnsweredCall): DigestedResult {
    if (isPromised(call.result))
      return { result: call.result, is_digested: false, tokens: 0, shown_tokens: 0, bytes: 0 };
    const { result, mended } = mendedResult(call.result);
    const digested = this.#readable({ ...call, result });
    if (mended.length === 0 || !Array.isArray(digested.result["content"])) return digested;
    const note = { type: "text", text: `(The server's result was malformed at ${mended.join(", ")}; it was mended.)` };
    return {
      ...digested,
      result: { ...digested.result, content: [...(digested.result["content"] as readonly Fields[]), note] },
      is_digested: true,
    };
  }

  #readable(call: AnsweredCall): DigestedResult {
    try {
      return this.#digest(call);
    } catch (error) {
      if (!ContextWeaverError.is(error) || !UNREADABLE.includes(error.code)) throw error;
      return this.#digest({ ...call, result: asText(call.result, error) });
    }
  }

  #digest(call: AnsweredCall): DigestedResult {
    const { result: raw, arguments: given = {}, whole, most, is_once = false } = call;
    const isTooMuch = whole === "result" ? this.#isMasked : this.#above(most?.tokens ?? this.#most);
    const { id, item, envelope, abridged } = this.#ingest(
      call,
      this.#manager.jsonOf(given).json.slice(0, MAX_ARGUMENTS),
    );
    const result = isRepaired(envelope) ? (parseKeeping(this.#manager.jsonOf(raw).json) as Fields) : raw;
    const { content = [], structuredContent } = result;
    const handle = `artifact:result:${id}`;
    const { firewall } = item.metadata as {
      readonly firewall?: { readonly strategy: string; readonly tokens: number; readonly view?: Selector };
    };
    const shown = abridged ?? {
      text: item.text,
      tokens: item.token_estimate,
      total: firewall?.tokens ?? item.token_estimate,
      is_cut: firewall !== undefined && firewall.strategy !== "reshaped",
    };
    const bytes = envelope.artifacts.reduce((sum, artifact) => sum + artifact.size_bytes, 0);
    const kept = { handle, tokens: shown.total, shown_tokens: shown.tokens, bytes, envelope };
    // What is whole may have been masked, or written shorter.
    const isShort = new TextDecoder().decode(this.#manager.artifacts.bytes(handle)) !== shown.text;
    const listed = Array.isArray(content) ? (content as readonly unknown[]) : [];
    const blocks = listed.filter(isBlock);
    const isWhole =
      Array.isArray(content) &&
      blocks.length === listed.length &&
      blocks.length <= MAX_BLOCKS &&
      envelope.provenance["missing_bytes"] === undefined;
    const isSame =
      isWhole &&
      !isShort &&
      blocks.every((block) => isForModel(block) && isPadded(block) && !isBulky(block, isTooMuch));
    const isRepeated = is_once && whole === undefined && saysTheSame(blocks, structuredContent);
    const twice = isRepeated ? countTokens(JSON.stringify(structuredContent)) : 0;
    if (isSame && twice > LITTLE) {
      const { structuredContent: _, ...rest } = passingResult(result, blocks, isTooMuch);
      return {
        result: { ...rest, _meta: { ...(rest["_meta"] as Fields | undefined), [STRUCTURED]: "in text" } },
        is_digested: false,
        ...kept,
        tokens: kept.tokens + twice,
      };
    }
    const isLeftOut =
      structuredContent !== undefined &&
      (whole === undefined ? isShort || isTooMuch(structuredContent) : this.#isMasked(structuredContent));
    if (isSame && !isLeftOut) return { result: passingResult(result, blocks, isTooMuch), is_digested: false, ...kept };
    const lines = shown.is_cut
      ? [`(${shown.tokens} of ${shown.total} tokens; ${this.#way(handle, firewall?.view)})`]
      : [];
    for (const { handle: other, label, media_type } of envelope.artifacts) {
      if (isLeftOut && !isRepeated && other.endsWith(":structured_content"))
        lines.push(`(${label}: ${this.#way(other)})`);
      if (!isSame && hasBlob(listed[placeIn(other, "resource")])) lines.push(`(${label}, ${media_type}: ${other})`);
    }
    const passing = (isSame ? blocks : this.#media(listed, envelope))
      .map((block) => passingBlock(block, isTooMuch))
      .filter(isBlock);
    const parts = isSame ? passing : [{ type: "text", text: shown.text }, ...passing];
    const rest = passingRest(result, isTooMuch);
    const forModel = lines.length > 0 ? withLines(parts, lines) : parts;
    const isViewed = whole === "structured" && structuredContent === undefined && !isSame && !this.#isMasked(blocks);
    const digested = {
      ...rest,
      // A view has nothing else to show. The protocol tells its part from the model's by the audience.
      content: isViewed
        ? [
            ...blocks.map((block) => forAudience(block, "user")),
            ...forModel.map((block) => forAudience(block, "assistant")),
          ]
        : forModel,
      ...(structuredContent !== undefined && !isLeftOut && { structuredContent }),
      _meta: { ...(rest["_meta"] as Fields | undefined), [HANDLE]: handle },
    };
    return { result: digested, is_digested: true, ...kept };
  }

  /** The pictures and sounds of a result that were kept, in the form that clients take. */
  #media(listed: readonly unknown[], { artifacts }: ResultEnvelope): readonly Fields[] {
    return artifacts.flatMap(({ handle, media_type }) => {
      const block = listed[placeIn(handle, "image|audio")];
      // What is no base64 was kept as text.
      if (media_type === "text/plain" || typeof block !== "object" || block === null || !isForModel(block as Fields))
        return [];
      if (isBlock(block) && isPadded(block)) return [block];
      return [{ ...block, data: encodeBase64(this.#manager.artifacts.bytes(handle)), mimeType: media_type }];
    });
  }

  /** Logs a call with its result: both, or neither. */
  #ingest(
    { name: tool_name, arguments: given = {}, server, result, whole, most }: AnsweredCall,
    asked: string,
  ): { readonly id: string; readonly abridged: AbridgedResult | undefined } & ToolResult {
    const manager = this.#manager;
    const id = this.#nextId();
    const metadata: JsonObject = server === undefined ? {} : { server };
    const about: JsonObject = {
      ...metadata,
      tool_name,
      ...(asked.length < MAX_ARGUMENTS && { arguments: given as JsonObject }),
    };
    return manager.whole(() => {
      if (this.#isAlone) manager.ingest({ id: `${id}:turn`, kind: "user_turn", text: tool_name });
      manager.ingestSent({ id, kind: "tool_call", text: `${tool_name} ${asked}`, metadata: about });
      const ingested = manager.ingestMcpResult({ tool_call_id: id, tool_name, result, metadata });
      const tokens = whole === "result" ? MAX_RESULT_TOKENS : (most?.tokens ?? this.#most);
      return {
        ...ingested,
        id,
        abridged: this.#abridged(ingested.item.id, tokens, whole === "result" ? undefined : most?.chars, asked),
      };
    });
  }

  /** What is left of a result within so many tokens and characters. */
  #abridged(item: string, tokens: number, chars: number | undefined, asked: string): AbridgedResult | undefined {
    let abridged = this.#manager.abridged(item, tokens, asked, this.#tool);
    // Tokens of some texts have more characters than those of others.
    for (
      let most = tokens;
      abridged && chars !== undefined && abridged.text.length > chars - LINE_CHARS && most > LEAST_TOKENS;
    ) {
      most = Math.max(
        LEAST_TOKENS,
        Math.floor(
          Math.min(most, abridged.tokens) * Math.min(0.9, Math.max(0, chars - LINE_CHARS) / abridged.text.length),
        ),
      );
      abridged = this.#manager.abridged(item, most, asked, this.#tool);
    }
    return abridged;
  }

  /** What the tool is called that reads on. */
  get #tool(): string {
    return this.#drilldown === false ? "drilldown" : this.#drilldown;
  }

  #way(handle: string, selector?: Selector): string {
    return `${this.#tool} ${handle}${selector ? ` ${JSON.stringify(selector)}` : ""}`;
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

/** Whether the only text of a result is the JSON of its structured content. */
function saysTheSame(blocks: readonly Fields[], structured: unknown): boolean {
  const [block, ...others] = blocks.filter(({ type }) => type === "text");
  const text = block?.["text"];
  if (structured === undefined || others.length > 0 || typeof text !== "string" || !/^\s*[[{]/.test(text)) return false;
  try {
    return canonical(JSON.parse(text)) === canonical(structured);
  } catch {
    return false;
  }
}

/** The same text for the same data, whatever the order of its keys. */
function canonical(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}

/** Whether something of a result was repaired on its way in, so that the client gets what was kept. */
function isRepaired({ provenance }: ResultEnvelope): boolean {
  const { warnings } = provenance as { readonly warnings?: readonly JsonObject[] };
  return (
    warnings?.some(({ code }) => code === "text-repaired" || code === "value-repaired" || code === "value-cut") === true
  );
}

/** Calls of a manager so far by the beginning of their ids, whichever client made them. */
const calls = new WeakMap<ContextManager, Map<string, number>>();

/** Puts lines below the first text, or below all where there is none. */
function withLines(blocks: readonly Fields[], lines: readonly string[]): Fields[] {
  const at = blocks.findIndex(({ type }) => type === "text");
  if (at === -1) return [...blocks, { type: "text", text: lines.join("\n") }];
  return blocks.map((block, index) =>
    index === at ? { ...block, text: [block["text"], ...lines].join("\n") } : block,
  );
}

function forAudience(block: Fields, who: "user" | "assistant"): Fields {
  return { ...block, annotations: { ...(block["annotations"] as Fields | undefined), audience: [who] } };
}

/** The place of the block that the handle of a part is of; -1 where it is of none of a kind. */
function placeIn(handle: string, kinds: string): number {
  const [, kind, at] = /:(resource|image|audio):(\d+)$/.exec(handle) ?? [];
  return kind !== undefined && kinds.includes(kind) ? Number(at) : -1;
}

/** Whether a block has more than its text or its picture that a client may not get: bytes of a file, say. */
function isBulky(block: Fields, isTooMuch: TooMuch): boolean {
  const others = besideContent(block);
  return others !== undefined && isTooMuch(others);
}

function hasBlob(block: unknown): boolean {
  return isBlock(block) && typeof ((block["resource"] ?? {}) as Fields)["blob"] === "string";
}

/** Whether a result is still to come: it has no contents, and says of what kind it is. */
function isPromised({ content, structuredContent, task, resultType }: Fields): boolean {
  return (
    content === undefined && structuredContent === undefined && (task !== undefined || typeof resultType === "string")
  );
}

/** A result that cannot be read, as a text of JSON. */
function asText(result: Fields, error: Error): Fields {
  let text: string;
  try {
    text = JSON.stringify(result);
  } catch {
    text = `(the result cannot be read: ${error.message})`;
  }
  return { content: [{ type: "text", text }], ...(result["isError"] === true && { isError: true }) };
}
