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
  /** Whether the provider was asked to set a mark of its own, which counts. */
  readonly isAutomatic: boolean;
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
  put({ messages, system, tools }: Sent, { isAppendOnly, isAutomatic }: MarkedCall): Sent & { readonly warnings: readonly MessageWarning[] } {
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
    const marked = this.#isWanted ?? isAppendOnly ? this.#add(lists, tools, isAutomatic) : tools;
    return {
      messages: messages.map((message, at) => withBlocks(message as Fields, lists[at + 1] as Fields[])),
      system: lists[0]?.some(isMarked) ? lists[0] : system,
      tools: marked,
      warnings: [...left.values()].map(({ path }) => ({ code: "CACHE_CONTROL_LEFT_OUT", message: "the block that carries cache_control is not sent as it is", path })),
    };
  }

  /** Adds marks, the most useful first: at the end, at the end of what is as before, and at the end of the instructions. */
  #add(lists: Fields[][], tools: readonly Fields[], isAutomatic: boolean): readonly Fields[] {
    const places = lists.flatMap((blocks, list) => (list === 0 ? [] : blocks.map((_, at) => [list, at] as const)));
    const blockAt = ([list, at]: readonly [number, number]): Fields => (lists[list] as Fields[])[at] as Fields;
    const now = places.map((place) => keyOf(blockAt(place), place[0]));
    const kept = now.findIndex((key, at) => key !== this.#before[at]);
    this.#before = now;
    let room = MOST_MARKS - [...lists.flat(), ...tools].filter(isMarked).length - (isAutomatic ? 1 : 0);
    const mark = (count: number): void => {
      const place = places.slice(0, count).filter((one) => !UNMARKED.includes(String(blockAt(one)["type"]))).pop();
      if (room <= 0 || !place || isMarked(blockAt(place))) return;
      (lists[place[0]] as Fields[])[place[1]] = { ...blockAt(place), cache_control: MARK };
      room -= 1;
    };
    if (!isAutomatic) mark(places.length);
    mark(kept === -1 ? places.length : kept);
    const [above = []] = lists;
    const [last] = above.slice(-1);
    if (room > 0 && last && !isMarked(last)) above[above.length - 1] = { ...last, cache_control: MARK };
    const [tool] = tools.slice(-1);
    return room > 0 && !last && tool && !isMarked(tool) ? [...tools.slice(0, -1), { ...tool, cache_control: MARK }] : tools;
  }
}

function isMarked(block: unknown): boolean {
  return typeof block === "object" && block !== null && (block as Fields)["cache_control"] != null;
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
