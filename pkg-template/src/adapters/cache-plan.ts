// Where a prompt is marked for a provider that caches up to marks, as Anthropic does, so that each call reads what the calls
// before it have written. By its documentation an entry is written at each mark and nowhere else, and from each mark the provider
// looks for entries at that block and the 19 before it. Newer versions count a run of calls, or of results, as one block; what is
// planned here holds without that.
import { TextHash } from "./text-hash.js";
import { ContextWeaverError } from "contextweaver";

/** Marks that the provider takes in a call. */
export const MOST_MARKS = 4;
/** Places at which the provider looks for an entry, from a mark backwards, the mark's own among them. */
const LOOK_BACK = 20;
/** Places of earlier calls that are remembered. More calls than that take longer than an entry is kept. */
const MOST_PLACES = 256;
/** Those of them that outlive the process: four calls' worth. */
const RESUMED_PLACES = 4 * MOST_MARKS;

/** How an hour is written in a mark; without it an entry is kept for minutes. */
const HOUR = "1h";

/** Whether a mark keeps its entry for an hour. */
export function isForAnHour(mark: unknown): boolean {
  return (mark as { readonly ttl?: unknown } | null | undefined)?.ttl === HOUR;
}

/** Whether prompts are marked, by the option of an adapter. */
export function isMarking(cache: unknown = true): boolean {
  if (typeof cache === "boolean") return cache;
  throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: "/cache" });
}

/** What a call's own mark is to a plan, by which the provider marks the end by itself; undefined where it bears none. */
export function markAtEnd(mark: unknown): PlannedCall["automatic"] {
  return mark == null ? undefined : { isForAnHour: isForAnHour(mark) };
}

/** A block of a prompt, in the order in which the provider caches: tools, instructions, messages. */
export interface PromptBlock {
  /** The block byte for byte, without its mark, and who says it. */
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
  /** Blocks of tools and instructions, which are the first. */
  readonly head: number;
  /** What else an entry depends on: one of the whole prompt, such as the model, and one that reaches into messages. */
  readonly settings: { readonly prompt: string; readonly messages: string };
  /** The mark that the provider was asked to set at the end by itself, which counts. */
  readonly automatic: Pick<PromptBlock, "isForAnHour"> | undefined;
  /** Whether marks are to be added to those of the caller. */
  readonly isWanted: boolean;
}

/** A mark to add. */
export interface AddedMark {
  /** The place of its block. */
  readonly at: number;
  /** `ttl` of an hour where one that is kept for as long stands behind it: what is kept for longer must come first. */
  readonly lasting: { readonly ttl?: typeof HOUR };
}

/** Where a call is marked. */
export interface Plan {
  readonly added: readonly AddedMark[];
  /** Places of marks of the caller that are too many. */
  readonly refused: readonly number[];
}

/** A place at which a call was marked. */
interface MarkedPlace {
  readonly at: number;
  /** What the prompt was up to there, with what else the entry depends on. */
  readonly hash: string;
  /** The last block of the call, and what the whole prompt was. */
  readonly end: number;
  readonly end_hash: string;
  /** Whether the call was answered, as far as later ones show. One that was fitted may never have been sent. */
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
  /** What the prompt before was, up to each block. */
  #before: readonly string[] = [];
  /** Its blocks, and what else these depend on. */
  #texts: readonly string[] = [];
  #settings = "";
  /** The end of what stayed when the prompt was last made anew, which is likely to stay again. */
  #kept = -1;

  /** The newest places, which are those that a call may read. */
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
      // What a mark finds by looking back needs none of its own, unless there are marks to spare.
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

  /** What the prompt is up to each block, with the settings that the provider tells entries apart by. What stands is not read again. */
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

  /** Takes from the prompt what it shows of the calls before: which of them were answered, and how much of the last one stayed. */
  #look(blocks: readonly PromptBlock[], hashes: readonly string[]): void {
    for (const place of this.#places) {
      const { end, end_hash } = place;
      if (hashes[end] === end_hash && blocks[end + 1]?.isAnswer === true) place.isSure = true;
    }
    const changed = this.#before.findIndex((hash, at) => hash !== hashes[at]);
    if (changed !== -1) this.#kept = changed - 1;
    this.#before = hashes;
  }

  /** The last places that this prompt has in common with earlier calls: with one that was answered, and with one that may not have been sent. */
  #written(hashes: readonly string[]): { readonly sure: number; readonly open: number } {
    const common = this.#places.filter(({ at, hash }) => hashes[at] === hash);
    const last = (isSure: boolean): number =>
      Math.max(-1, ...common.filter((place) => place.isSure === isSure).map(({ at }) => at));
    return { sure: last(true), open: last(false) };
  }

  /** Which marks of the caller are too many: all but the last, the one that reads most, that of the head, and the last of the others. */
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
      // A place that is marked again by a call that may not have been sent is as sure as it was.
      known.set(key, place?.isSure === true ? place : { at, hash, end, end_hash, isSure: false });
    }
    this.#places = [...known.values()].slice(-MOST_PLACES);
  }
}

/** The last of the first `count` blocks that takes a mark; -1 where none does. */
function lastMarkable(blocks: readonly PromptBlock[], count: number): number {
  let at = Math.min(count, blocks.length) - 1;
  while (at >= 0 && blocks[at]?.takesMark === false) at -= 1;
  return at;
}
