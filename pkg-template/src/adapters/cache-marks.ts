// `cache_control` of Anthropic: the marks of the caller, and those at what the next call finds in the provider's cache.
import { CachePlan, MOST_MARKS, isForAnHour, markAtEnd } from "./cache-plan.js";
import type { CachePlanState, PromptBlock } from "./cache-plan.js";
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
  /** The mark that the provider was asked to set at the end, which counts. */
  readonly automatic: unknown;
  /** The params beside messages, instructions and tools. */
  readonly settings: Fields;
}

const MARK = { type: "ephemeral" };
/** Blocks that take no mark. */
const UNMARKED = ["thinking", "redacted_thinking", "mid_conv_system"];
/** Params on which what is cached of a whole prompt depends, and those on which what is cached of messages does. */
const OF_PROMPT = ["model", "speed"];
const OF_MESSAGES = ["tool_choice", "thinking", "output_config"];

/** Sets the marks of the calls of one conversation. */
export class CacheMarks {
  readonly #isWanted: boolean;
  readonly #plan = new CachePlan();
  /** Marks of the caller that were taken off, by the block. */
  #taken = new Map<string, { readonly mark: unknown; readonly path: string }>();

  constructor(isWanted: boolean) {
    this.#isWanted = isWanted;
  }

  /** What the next process goes on with. */
  state(): CachePlanState {
    return this.#plan.state();
  }

  resume(state: CachePlanState): void {
    this.#plan.resume(state);
  }

  /** Takes off the marks of the caller, which move on from call to call, so that a block is the same with one and without. */
  take(
    messages: readonly object[],
    system: unknown,
  ): { readonly messages: readonly object[]; readonly system: unknown } {
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

  /** Puts back the marks that were taken off, as many as there may be, and adds those by which the next calls read what this one writes. */
  put(
    { messages, system, tools }: Sent,
    { automatic, settings }: MarkedCall,
  ): Sent & { readonly warnings: readonly MessageWarning[] } {
    const lists = [tools, blocksOf(system), ...messages.map((message) => blocksOf((message as Fields)["content"]))].map(
      (blocks) => [...blocks],
    );
    const { left, paths } = this.#putBack(lists);
    const places = lists.flatMap((blocks, list) => blocks.map((_, at): Place => [list, at]));
    const blockAt = ([list, at]: Place): Fields => (lists[list] as Fields[])[at] as Fields;
    const write = ([list, at]: Place, block: Fields): void => void ((lists[list] as Fields[])[at] = block);
    const blocks = places.map((place): PromptBlock => {
      const block = blockAt(place);
      const role = (messages[place[0] - 2] as Fields | undefined)?.["role"];
      // Where a message begins is a part of the prompt, too.
      return {
        text: `${place[0]} ${String(role)} ${JSON.stringify(withoutMark(block))}`,
        isAnswer: role === "assistant",
        takesMark: takesMark(block),
        isMarked: isMarked(block),
        isForAnHour: isForAnHour(block["cache_control"]),
      };
    });
    const of = (names: readonly string[]): string => JSON.stringify(names.map((name) => settings[name] ?? null));
    const { added, refused } = this.#plan.plan({
      blocks,
      head: tools.length + (lists[1]?.length ?? 0),
      settings: { prompt: of(OF_PROMPT), messages: of(OF_MESSAGES) },
      automatic: markAtEnd(automatic),
      isWanted: this.#isWanted,
    });
    const tooMany = refused.map((at): MessageWarning => {
      const place = places[at] as Place;
      const bare = withoutMark(blockAt(place));
      write(place, bare);
      const path = place[0] === 0 ? `/tools/${String(bare["name"] ?? place[1])}` : (paths.get(`${place}`) ?? "");
      return {
        code: "CACHE_CONTROL_LEFT_OUT",
        message: `a call takes ${MOST_MARKS} marks, and the others of yours save more`,
        path,
      };
    });
    for (const { at, lasting } of added) {
      const place = places[at] as Place;
      write(place, { ...blockAt(place), cache_control: { ...MARK, ...lasting } });
    }
    const [marked = [], above = [], ...said] = lists;
    return {
      messages: messages.map((message, at) => withBlocks(message as Fields, said[at] as Fields[])),
      system: above.some(isMarked) ? above : system,
      tools: marked,
      warnings: [
        ...tooMany,
        ...left.map((path) => ({
          code: "CACHE_CONTROL_LEFT_OUT",
          message: "the block that carries cache_control is not sent as it is",
          path,
        })),
      ],
    };
  }

  /** Puts back the marks of the caller: says of which blocks there are none any more, and where those that are there came from. */
  #putBack(lists: Fields[][]): { readonly left: readonly string[]; readonly paths: ReadonlyMap<string, string> } {
    const left = new Map(this.#taken);
    const paths = new Map<string, string>();
    // The newest first, as a text that was said before is marked where it was said last.
    for (const [list, blocks] of left.size === 0 ? [] : [...lists.entries()].slice(1).reverse()) {
      for (const [at, block] of [...blocks.entries()].reverse()) {
        const key = keyOf(block);
        const taken = left.get(key);
        if (!taken) continue;
        blocks[at] = { ...block, cache_control: taken.mark };
        paths.set(`${[list, at]}`, taken.path);
        left.delete(key);
      }
    }
    return { left: [...left.values()].map(({ path }) => path), paths };
  }
}

/** A list of blocks, and which of them. */
type Place = readonly [list: number, at: number];

function isMarked(block: unknown): boolean {
  return typeof block === "object" && block !== null && (block as Fields)["cache_control"] != null;
}

function withoutMark(block: Fields): Fields {
  if (!("cache_control" in block)) return block;
  const { cache_control: _, ...bare } = block;
  return bare;
}

/** Whether a block takes a mark; a tool that is deferred is not there to be cached, nor is a text that is empty. */
function takesMark({ type, text, defer_loading: deferred }: Fields): boolean {
  return !UNMARKED.includes(String(type)) && deferred !== true && text !== "";
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
function keyOf({ cache_control: _, ...block }: Fields): string {
  const { type, id, tool_use_id: answered } = block;
  if (type === "tool_use" || type === "tool_result") return `${String(type)} ${String(id ?? answered)}`;
  return JSON.stringify(block);
}
