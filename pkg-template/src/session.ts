// One manager inside the engine: its handle, the questions it asks, and how it survives the end of an instance.
import { Callbacks } from "./callbacks.js";
import type { Functions, Need } from "./callbacks.js";
import { context } from "./engines.js";
import type { ContextGlue } from "./engines.js";
import { ContextWeaverError, dropPrefix } from "./errors.js";
import { SNAPSHOT, encode } from "./guard.js";
import type { HookEvent } from "./options.js";
import { Place } from "./place.js";

const MAX_ROUNDS = 64;
/** What an entry that could be spared weighs in the journal: it is short, but not quick to replay. */
const SPARE_WEIGHT = 64 * 1024;
/** The journal is folded into a snapshot when so much could be spared, and it is more than what must be kept. */
const FOLD_AT = 8 * 1024 * 1024;

/** An operation of the engine with its argument. */
interface Operation {
  readonly name: string;
  readonly args: string;
  /** Raw output of a tool, which crosses beside the JSON. */
  readonly bytes?: Uint8Array | undefined;
}

/** A mutation that succeeded, with the answers given to its questions: replaying it asks nobody again. */
interface Entry extends Operation {
  readonly answers: readonly string[];
}

/** The options that a session itself goes by; the engine checks them. */
interface Switches {
  readonly compat?: unknown;
  readonly append?: unknown;
  readonly limits?: { readonly eviction?: unknown; readonly artifact_ttl_seconds?: unknown } | null;
}

/** How to run an operation. @internal */
export interface RunOptions<T = unknown> {
  readonly bytes?: Uint8Array;
  /** Whether the operation changes what a restored manager must know, where its result tells. Default: false. */
  readonly mutates?: boolean | ((done: T) => boolean);
  /** Handle of an artifact that the operation reads, which counts as a use of it. */
  readonly uses?: string;
  /** Functions that stand in for the manager's. */
  readonly functions?: Functions | undefined;
  /** What the facade has put around the caller's argument, to be taken off the paths of errors. */
  readonly prefix?: string;
}

/** The result of an operation and the warnings of its hooks. @internal */
export interface Outcome<T> {
  readonly value: T;
  readonly warnings: readonly string[];
}

const drop = (glue: ContextGlue, handle: number): void => glue.manager_free(handle);

/** @internal */
export class Session {
  readonly callbacks: Callbacks;
  /** Whose decisions the manager makes, if not its own. */
  readonly compat: "0.18" | undefined;
  readonly #place = new Place(context, drop);
  readonly #append: boolean;
  /** Whether the order of use decides what is evicted, and whether artifacts expire. */
  readonly #evicts: boolean;
  readonly #expires: boolean;
  #base: string | undefined;
  #journal: Entry[] = [];
  /** Size of the journal's entries whose effect is data, and of those whose effect a snapshot holds in less. */
  #kept = 0;
  #spare = 0;
  #asking = false;
  #telling = false;
  #freed = false;

  constructor(options: unknown, snapshot?: string) {
    this.callbacks = new Callbacks(options);
    const { append, compat, limits } = JSON.parse(this.callbacks.json) as Switches;
    this.compat = compat === "0.18" ? compat : undefined;
    this.#append = append === true;
    this.#evicts = limits?.eviction === "lru";
    this.#expires = typeof limits?.artifact_ttl_seconds === "number";
    if (this.#expires && !this.callbacks.hasClock) {
      const hint = "clock: Date.now, or a clock of yours";
      throw new ContextWeaverError("MISSING_FIELD", "artifacts that expire need a clock", { path: "/clock", hint });
    }
    this.#base = snapshot;
    this.#open();
    this.#place.watch(this);
  }

  /** Runs an operation to its end, asking the caller's functions as often as the engine needs them. */
  run<T>(name: string, args: string, options: RunOptions<T> = {}): Outcome<T> {
    const operation: Operation = { name, args, bytes: options.bytes };
    const given: string[] = [];
    try {
      const time = this.#tellTime();
      const { done, events } = this.#loop(operation, [], given, options.functions);
      const { mutates } = options;
      const changed = typeof mutates === "function" ? mutates(done as T) : mutates;
      if (changed || (this.#append && name.startsWith("build"))) {
        this.#record(time, { ...operation, answers: given });
      } else if (options.uses !== undefined) {
        this.#recordUse(time, options.uses);
      }
      return { value: done as T, warnings: this.#tell(events) };
    } catch (error) {
      dropPrefix(error, options.prefix ?? "");
      throw error;
    }
  }

  /** Bytes of an artifact. */
  bytes(handle: string): Uint8Array<ArrayBuffer> {
    const time = this.#tellTime();
    const at = this.#ready();
    // The glue copies out of WebAssembly memory, which is an ArrayBuffer of its own.
    const bytes = context.call((glue) => glue.artifact_bytes(at, handle) as Uint8Array<ArrayBuffer>);
    this.#recordUse(time, handle);
    return bytes;
  }

  /** Gives the memory back; a second time does nothing. */
  free(): void {
    if (this.#freed) return;
    this.#notAsking();
    this.#freed = true;
    this.#journal = [];
    this.#base = undefined;
    this.#place.close();
  }

  /** The handle in the present instance; restores the manager when the instance was replaced. */
  #ready(): number {
    if (this.#freed) throw new ContextWeaverError("DISPOSED", "the manager was freed");
    this.#notAsking();
    if (!this.#place.isThere) this.#restore();
    return this.#place.handle;
  }

  #notAsking(): void {
    if (!this.#asking) return;
    throw new ContextWeaverError("REENTRANT", "a function of the manager called the manager that waits for its answer");
  }

  #open(): void {
    const { json } = this.callbacks;
    const base = this.#base;
    this.#place.open((glue) => (base === undefined ? glue.manager_new(json) : glue.manager_restore(base, json)));
  }

  #restore(): void {
    const entries = this.#journal;
    try {
      this.#open();
      for (const entry of entries) this.#loop(entry, entry.answers, []);
    } catch (cause) {
      // Half a state is worse than none: the next call starts over.
      this.#place.release();
      throw new ContextWeaverError("POISONED", "the engine was restarted and the manager could not be restored", {
        cause,
      });
    }
  }

  /** `known` are answers of an earlier run; `given` receives those of this one. */
  #loop(
    operation: Operation,
    known: readonly string[],
    given: string[],
    functions?: Functions,
  ): { done: unknown; events: HookEvent[] } {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const handle = this.#ready();
      const born = context.generation;
      const answer = JSON.parse(invoke(handle, operation)) as
        { need: Need[] } | { need?: undefined; done: unknown; events?: HookEvent[] };
      if (!answer.need) return { done: answer.done, events: answer.events ?? [] };
      const text = known[round] ?? this.#ask(answer.need, functions);
      // A function may have used another manager and met a trap: then this one starts over in the new instance.
      if (context.generation !== born) continue;
      this.#supply(handle, text);
      given.push(text);
    }
    throw new ContextWeaverError("INTERNAL", `the operation asked more than ${MAX_ROUNDS} times`);
  }

  #ask(needs: readonly Need[], functions: Functions | undefined): string {
    this.#asking = true;
    let answers: unknown[];
    try {
      answers = needs.map((need) => this.callbacks.answer(need, functions));
    } finally {
      this.#asking = false;
    }
    try {
      return encode({ answers });
    } catch (error) {
      // The guard's complaint, such as half a surrogate pair, is about the function's answer.
      const { message } = error as ContextWeaverError;
      throw new ContextWeaverError("CALLBACK_FAILED", `a function returned an unusable value: ${message}`);
    }
  }

  #supply(handle: number, text: string): void {
    try {
      context.call((glue) => glue.manager_call(handle, "supply", text));
    } catch (error) {
      dropPrefix(error, (error as ContextWeaverError).path ?? ""); // the path is in our list, not in the caller's
      throw error;
    }
  }

  /** Hooks may use the manager; what their own calls cause is not told, or two hooks could keep each other busy. */
  #tell(events: readonly HookEvent[]): readonly string[] {
    if (this.#telling || events.length === 0) return [];
    this.#telling = true;
    try {
      return this.callbacks.dispatch(events);
    } finally {
      this.#telling = false;
    }
  }

  /** Tells the engine the time where artifacts expire; what was told goes into the journal with what came of it. */
  #tellTime(): Entry | undefined {
    if (!this.#expires) return undefined;
    this.#ready();
    this.#asking = true;
    let now: number | undefined;
    try {
      now = this.callbacks.now();
    } finally {
      this.#asking = false;
    }
    const time: Entry = { name: "clock", args: JSON.stringify({ now: (now ?? 0) / 1000 }), answers: [] };
    this.#loop(time, [], []);
    return time;
  }

  /** Reading changes nothing but what will be evicted first, which a replay must find the same. */
  #recordUse(time: Entry | undefined, handle: string): void {
    if (this.#evicts) this.#record(time, { name: "artifact_use", args: JSON.stringify({ handle }), answers: [] });
  }

  #record(time: Entry | undefined, entry: Entry): void {
    if (time) {
      this.#journal.push(time);
      this.#spare += time.args.length;
    }
    this.#journal.push(entry);
    let size = entry.args.length + (entry.bytes?.length ?? 0);
    for (const answers of entry.answers) size += answers.length;
    // Items and artifacts accumulate; builds in append mode and consolidations replace what the ones before left.
    if (entry.name === "artifact_use") this.#spare += size;
    else if (entry.name.startsWith("build") || entry.name === "consolidate") this.#spare += size + SPARE_WEIGHT;
    else this.#kept += size;
    if (this.#spare >= Math.max(FOLD_AT, this.#kept)) this.#fold();
  }

  #fold(): void {
    this.#spare = 0;
    try {
      const { done } = this.#loop({ name: "snapshot", args: "{}" }, [], []);
      const text = JSON.stringify(done);
      if (text.length > SNAPSHOT.total) return;
      // A snapshot does not say when artifacts expire; the answer to a clock without a time is how to say it.
      const clock = this.#expires ? JSON.stringify(this.#loop({ name: "clock", args: "{}" }, [], []).done) : undefined;
      this.#base = text;
      this.#journal = clock === undefined ? [] : [{ name: "clock", args: clock, answers: [] }];
      this.#kept = text.length;
    } catch {
      // The journal is complete; folding it is only thrift.
    }
  }
}

function invoke(handle: number, { name, args, bytes }: Operation): string {
  return context.call((glue) => {
    if (!bytes) return glue.manager_call(handle, name, args);
    if (name === "ingest_mcp_result") return glue.manager_ingest_mcp_result(handle, args, bytes);
    if (name === "put_artifact") return glue.manager_put_artifact(handle, args, bytes);
    return glue.manager_ingest_tool_result(handle, args, bytes);
  });
}
