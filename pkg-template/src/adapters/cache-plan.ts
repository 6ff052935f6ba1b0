// Decides where prompts are marked for a provider that caches up to marks, as Anthropic does, so that each call reads what
// earlier calls wrote. By Anthropic's documentation, an entry is written at each mark and nowhere else, and from each mark
// the provider looks for entries at that block and the 19 before it. Newer versions count a run of calls, or of results, as
// one block; the plan does not rely on that.
import { TextHash } from "./text-hash.js";
import { ContextWeaverError } from "contextweaver";

/** Most marks that the provider takes in a call. */
export const MOST_MARKS = 4;
/** How many blocks the provider looks at for an entry: the marked block and those before it. */
const LOOK_BACK = 20;
/**
 * Most marked places of earlier calls that are remembered, each call having up to four. Older ones are forgotten: their
 * entries have expired by then.
 */
const MOST_PLACES = 256;
/** Most of these places that outlive the process: enough for four calls. */
const RESUMED_PLACES = 4 * MOST_MARKS;

/** The `ttl` of a mark whose entry is kept for an hour. Without a `ttl` an entry is kept for five minutes. */
const HOUR = "1h";

/** Whether a mark keeps its entry for an hour. */
export function isForAnHour(mark: unknown): boolean {
  return (mark as { readonly ttl?: unknown } | null | undefined)?.ttl === HOUR;
}

/** Whether the option `cache` of an adapter asks for marks, which it does by default. Throws where it is no boolean. */
export function isMarking(cache: unknown = true): boolean {
  if (typeof cache === "boolean") return cache;
  throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: "/cache" });
}

/**
 * Reads the mark of a call as a whole, which asks the provider to mark the end of the prompt; undefined where the call has
 * none.
 */
export function markAtEnd(mark: unknown): PlannedCall["automatic"] {
  return mark == null ? undefined : { isForAnHour: isForAnHour(mark) };
}

/** A block of a prompt, in the order in which the provider caches: tools, instructions, messages. */
export interface PromptBlock {
  /** The block byte for byte, without its mark, with the index and the role of its message. */
  readonly text: string;
  /** Whether the model said it. */
  readonly isAnswer: boolean;
  readonly takesMark: boolean;
  /** Whether the caller marked it. */
  readonly isMarked: boolean;
  /** Whether that mark keeps its entry for an hour. */
  readonly isForAnHour: boolean;
}

/** A call that is about to be made. */
export interface PlannedCall {
  readonly blocks: readonly PromptBlock[];
  /** How many blocks are tools and instructions. They come first. */
  readonly head: number;
  /**
   * Settings on which entries depend as well: `prompt` (such as the model) for all entries, `messages` (such as the tool
   * choice) for entries that end in messages.
   */
  readonly settings: { readonly prompt: string; readonly messages: string };
  /** The mark that the caller asked the provider to set at the end. It counts towards {@link MOST_MARKS}. */
  readonly automatic: Pick<PromptBlock, "isForAnHour"> | undefined;
  /** Whether marks are to be added to those of the caller. */
  readonly isWanted: boolean;
}

/** A mark to add. */
export interface AddedMark {
  /** Index of its block. */
  readonly at: number;
  /**
   * The `ttl` of an hour where a mark behind this one has it, because marks that last longer must come first; else empty.
   */
  readonly lasting: { readonly ttl?: typeof HOUR };
}

/** Where a call is marked. */
export interface Plan {
  readonly added: readonly AddedMark[];
  /** Indexes of blocks with a mark of the caller that is one too many. */
  readonly refused: readonly number[];
}

/** A block at which an earlier call was marked. */
interface MarkedPlace {
  readonly at: number;
  /** Hash of the prompt up to this block, and of the settings on which the entry depends. */
  readonly hash: string;
  /** Index of the call's last block, and the hash of its whole prompt. */
  readonly end: number;
  readonly end_hash: string;
  /** Whether a later prompt shows that the call was answered. A call that was planned may never have been sent. */
  isSure: boolean;
}

/** The part of a plan that outlives the process that made it. */
export interface CachePlanState {
  readonly places: readonly Readonly<MarkedPlace>[];
  readonly before: readonly string[];
  readonly kept: number;
}

/** Plans the marks of the calls of one conversation. */
export class CachePlan {
  /** Where calls were marked, the newest last. */
  #places: readonly MarkedPlace[] = [];
  /** Hashes of the last prompt, up to each block. */
  #before: readonly string[] = [];
  /** Texts of its blocks, and the settings that its hashes depend on. */
  #texts: readonly string[] = [];
  #settings = "";
  /** Index of the last block that stayed when the prompt last changed, and is likely to stay again; -1 for none. */
  #kept = -1;

  /** Returns what outlives the process: the newest places, from which a later call may read. */
  state(): CachePlanState {
    return {
      places: this.#places.slice(-RESUMED_PLACES).map((place) => ({ ...place })),
      before: this.#before,
      kept: this.#kept,
    };
  }

  resume({ places, before, kept }: CachePlanState): void {
    [this.#places, this.#before, this.#kept] = [places.map((place) => ({ ...place })), before, kept];
  }

  plan({ blocks, head, settings, automatic: atEnd, isWanted }: PlannedCall): Plan {
    const isAutomatic = atEnd !== undefined;
    const hashes = this.#hashes(blocks, head, settings);
    this.#look(blocks, hashes);
    const refused = this.#refused(blocks, head, isAutomatic, hashes);
    const marked = new Set(blocks.flatMap(({ isMarked }, at) => (isMarked && !refused.includes(at) ? [at] : [])));
    const end = lastMarkable(blocks, blocks.length);
    const automatic = isAutomatic && end !== -1 ? [end] : [];
    let room = MOST_MARKS - marked.size - (isAutomatic ? 1 : 0);
    const added: number[] = [];
    const isMarked = (at: number): boolean => marked.has(at) || automatic.includes(at) || added.includes(at);
    const isRead = (at: number): boolean =>
      [...marked, ...automatic, ...added].some((mark) => mark >= at && mark - at < LOOK_BACK);
    const add = (at: number, isDone: (at: number) => boolean): void => {
      if (room <= 0 || at < 0 || isDone(at)) return;
      added.push(at);
      room -= 1;
    };
    if (isWanted) {
      const { sure, open } = this.#written(hashes);
      const stable = lastMarkable(blocks, head);
      add(end, isMarked);
      // A place that a mark reaches by looking back needs no mark of its own, unless there are marks to spare.
      for (const isDone of [isRead, isMarked]) {
        add(sure, isDone);
        add(open, isDone);
        add(stable, isMarked);
        add(lastMarkable(blocks, this.#kept + 1), isMarked);
      }
    }
    this.#remember([...marked, ...automatic, ...added], hashes);
    const long = Math.max(-1, ...[...marked].filter((at) => blocks[at]?.isForAnHour));
    const isLong = (at: number): boolean => at < long || atEnd?.isForAnHour === true;
    return { added: added.map((at) => ({ at, lasting: isLong(at) ? { ttl: HOUR } : {} })), refused };
  }

  /**
   * Hashes the prompt up to each block, with the settings by which the provider tells entries apart. The blocks that it has
   * in common with the last prompt, from the first on, are not hashed again.
   */
  #hashes(blocks: readonly PromptBlock[], head: number, settings: PlannedCall["settings"]): readonly string[] {
    const key = JSON.stringify([head, settings]);
    let same = 0;
    while (
      key === this.#settings &&
      same < blocks.length &&
      same < this.#texts.length &&
      blocks[same]?.text === this.#texts[same]
    )
      same += 1;
    const hashes = this.#before.slice(0, same);
    const hash = same > 0 ? TextHash.after(hashes[same - 1] as string) : new TextHash();
    if (same === 0) hash.add(settings.prompt);
    for (const [at, { text }] of blocks.entries()) {
      if (at < same) continue;
      if (at === head) hash.add(settings.messages);
      hashes.push(hash.add(text));
    }
    [this.#texts, this.#settings] = [blocks.map(({ text }) => text), key];
    return hashes;
  }

  /** Learns from the new prompt which earlier calls were answered, and how much of the last prompt stayed. */
  #look(blocks: readonly PromptBlock[], hashes: readonly string[]): void {
    for (const place of this.#places) {
      const { end, end_hash } = place;
      if (hashes[end] === end_hash && blocks[end + 1]?.isAnswer === true) place.isSure = true;
    }
    const changed = this.#before.findIndex((hash, at) => hash !== hashes[at]);
    if (changed !== -1) this.#kept = changed - 1;
    this.#before = hashes;
  }

  /**
   * Finds the last marked places that this prompt shares with earlier calls: `sure` with calls that were answered, `open`
   * with calls that may never have been sent; -1 for none.
   */
  #written(hashes: readonly string[]): { readonly sure: number; readonly open: number } {
    const common = this.#places.filter(({ at, hash }) => hashes[at] === hash);
    const last = (isSure: boolean): number =>
      Math.max(-1, ...common.filter((place) => place.isSure === isSure).map(({ at }) => at));
    return { sure: last(true), open: last(false) };
  }

  /**
   * Finds the marks of the caller that are too many. As many as the provider takes are kept, in this order: the last mark,
   * the last one up to `sure` (see `#written`), the last one in the head, the last one up to `open`, then the others from
   * the newest on.
   */
  #refused(
    blocks: readonly PromptBlock[],
    head: number,
    isAutomatic: boolean,
    hashes: readonly string[],
  ): readonly number[] {
    const given = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
    const most = MOST_MARKS - (isAutomatic ? 1 : 0);
    if (given.length <= most) return [];
    const { sure, open } = this.#written(hashes);
    const lastUpTo = (at: number): number => Math.max(-1, ...given.filter((mark) => mark <= at));
    const kept = new Set(
      [lastUpTo(blocks.length), lastUpTo(sure), lastUpTo(head - 1), lastUpTo(open), ...[...given].reverse()].filter(
        (at) => at >= 0,
      ),
    );
    const useful = [...kept].slice(0, most);
    return given.filter((at) => !useful.includes(at));
  }

  #remember(marks: readonly number[], hashes: readonly string[]): void {
    const end = hashes.length - 1;
    const end_hash = hashes[end] ?? "";
    const known = new Map(this.#places.map((place) => [`${place.at} ${place.hash}`, place]));
    for (const at of marks) {
      const hash = hashes[at] ?? "";
      const key = `${at} ${hash}`;
      const place = known.get(key);
      known.delete(key);
      // A sure place stays sure when a call marks it again, even if that call is never sent.
      known.set(key, place?.isSure === true ? place : { at, hash, end, end_hash, isSure: false });
    }
    this.#places = [...known.values()].slice(-MOST_PLACES);
  }
}

/** Index of the last among the first `count` blocks that takes a mark; -1 where none does. */
function lastMarkable(blocks: readonly PromptBlock[], count: number): number {
  let at = Math.min(count, blocks.length) - 1;
  while (at >= 0 && blocks[at]?.takesMark === false) at -= 1;
  return at;
}
