// `cache_control` of Anthropic: the marks of the caller, and those at what the next call finds in the provider's cache.
import type { MessageWarning } from "contextweaver";

/** A block, a tool or a message, as a record. */
export type Fields = Readonly<Record<string, unknown>>;

/** What is sent of a call. */
export interface Sent {
  readonly messages: readonly object[];
  readonly system?: unknown;
  readonly tools: readonly Fields[];
}

/** What a call is marked by. */
interface MarkedCall {
  /** Whether prompts only grow. */
  readonly isAppendOnly: boolean;
  /** The mark that the provider was asked to set at the end, which counts. */
  readonly automatic: unknown;
}

/** Marks that the provider takes in a call. */
const MOST_MARKS = 4;
const MARK = { type: "ephemeral" };
/** Blocks that take no mark. */
const UNMARKED = ["thinking", "redacted_thinking", "mid_conv_system"];

/** Sets the marks of the calls of one conversation. */
export class CacheMarks {
  readonly #isWanted: boolean | undefined;
  /** Marks of the caller that were taken off, by the block. */
  #taken = new Map<string, { readonly mark: unknown; readonly path: string }>();
  /** The blocks of the call before. */
  #before: readonly string[] = [];

  constructor(isWanted: boolean | undefined) {
    this.#isWanted = isWanted;
  }

  /** Takes off the marks of the caller, which move on from call to call, so that a block is the same with one and without. */
  take(messages: readonly object[], system: unknown): { readonly messages: readonly object[]; readonly system: unknown } {
    this.#taken = new Map();
    const bare = (blocks: readonly unknown[], path: string): readonly unknown[] => {
      if (!blocks.some(isMarked)) return blocks;
      return blocks.map((block, at) => {
        if (!isMarked(block)) return block;
        const { cache_control: mark, ...rest } = block as Fields;
        this.#taken.set(keyOf(rest), { mark, path: `${path}/${at}` });
        return rest;
      });
    };
    return {
      messages: messages.map((message, at) => {
        const { content } = message as Fields;
        if (!Array.isArray(content)) return message;
        const blocks = bare(content, `/messages/${at}/content`);
        return blocks === content ? message : { ...message, content: blocks };
      }),
      system: Array.isArray(system) ? bare(system, "/system") : system,
    };
  }

  /** Puts back the marks that were taken off, and adds those that are wanted, as many as there may be. */
  put({ messages, system, tools }: Sent, { isAppendOnly, automatic }: MarkedCall): Sent & { readonly warnings: readonly MessageWarning[] } {
    const above = blocksOf(system);
    const lists = [above, ...messages.map((message) => blocksOf((message as Fields)["content"]))].map((blocks) => [...blocks]);
    const left = new Map(this.#taken);
    // The newest first, as a text that was said before is marked where it was said last.
    for (const blocks of [...lists].reverse()) {
      for (const [at, block] of [...blocks.entries()].reverse()) {
        const taken = left.get(keyOf(block));
        if (!taken) continue;
        blocks[at] = { ...block, cache_control: taken.mark };
        left.delete(keyOf(block));
      }
    }
    const marked = this.#isWanted ?? isAppendOnly ? this.#add(lists, tools, automatic) : tools;
    return {
      messages: messages.map((message, at) => withBlocks(message as Fields, lists[at + 1] as Fields[])),
      system: lists[0]?.some(isMarked) ? lists[0] : system,
      tools: marked,
      warnings: [...left.values()].map(({ path }) => ({ code: "CACHE_CONTROL_LEFT_OUT", message: "the block that carries cache_control is not sent as it is", path })),
    };
  }

  /** Adds marks, the most useful first: at the end, at the end of what is as before, and at the end of the instructions. */
  #add(lists: Fields[][], tools: readonly Fields[], automatic: unknown): readonly Fields[] {
    const all = [[...tools], ...lists];
    const places = all.flatMap((blocks, list) => blocks.map((_, at): Place => [list, at]));
    const blockAt = ([list, at]: Place): Fields => (all[list] as Fields[])[at] as Fields;
    const now = places.map((place) => keyOf(blockAt(place), place[0]));
    const kept = now.findIndex((key, at) => key !== this.#before[at]);
    this.#before = now;
    let room = MOST_MARKS - all.flat().filter(isMarked).length - (automatic == null ? 0 : 1);
    const mark = (count: number): void => {
      const at = places.slice(0, count).reduce((last, one, index) => (isUnmarked(blockAt(one)) ? last : index), -1);
      const place = places[at];
      if (room <= 0 || !place || isMarked(blockAt(place))) return;
      // What is kept for longer must come first.
      const later = [...places.slice(at).map((one) => blockAt(one)["cache_control"]), automatic];
      const long = later.find((one) => (one as Fields | null | undefined)?.["ttl"] === "1h");
      (all[place[0]] as Fields[])[place[1]] = { ...blockAt(place), cache_control: long ?? MARK };
      room -= 1;
    };
    if (automatic == null) mark(places.length);
    mark(kept === -1 ? places.length : kept);
    mark(tools.length + (lists[0]?.length ?? 0));
    return all[0] as Fields[];
  }
}

/** A list of blocks, and which of them. */
type Place = readonly [list: number, at: number];

function isMarked(block: unknown): boolean {
  return typeof block === "object" && block !== null && (block as Fields)["cache_control"] != null;
}

/** Whether a block takes no mark; a tool that is deferred is not there to be cached. */
function isUnmarked({ type, defer_loading: deferred }: Fields): boolean {
  return UNMARKED.includes(String(type)) || deferred === true;
}

function blocksOf(content: unknown): readonly Fields[] {
  if (Array.isArray(content)) return content as Fields[];
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

/** Leaves a message alone whose blocks bear no mark. */
function withBlocks(message: Fields, blocks: readonly Fields[]): Fields {
  return blocks.some(isMarked) ? { ...message, content: blocks } : message;
}

/** What a block is known by: a call and its result by the id of the call, as a result may be shown otherwise than it came. */
function keyOf({ cache_control: _, ...block }: Fields, message?: number): string {
  const { type, id, tool_use_id: answered } = block;
  if (message !== undefined) return `${message} ${JSON.stringify(block)}`;
  if (type === "tool_use" || type === "tool_result") return `${String(type)} ${String(id ?? answered)}`;
  return JSON.stringify(block);
}
