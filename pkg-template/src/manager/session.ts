// One manager inside the engine: its handle, the questions it asks, and how it survives the end of an instance.
import { Callbacks } from "../boundary/callbacks.js";
import type { Functions, Need, Settings } from "../boundary/callbacks.js";
import { context } from "../boundary/engines.js";
import type { ContextGlue } from "../boundary/engines.js";
import { ContextWeaverError, dropPrefix } from "../boundary/errors.js";
import { EngineObject } from "../boundary/engine-object.js";
import type { Kind } from "../boundary/engine-object.js";
import { encode, fields, utf8 } from "../boundary/guard.js";
import type { HookEvent } from "../telemetry/hook-types.js";
import { vectorsOf } from "./item-vectors.js";
import { OPERATIONS } from "./operations.js";
import type { OperationName } from "./operations.js";
import type { ItemVectors } from "./item-vectors.js";
import type { Entry } from "../boundary/replay-log.js";
import type { ContextPack, RunningStep } from "../types.js";

const MAX_ROUNDS = 64;

type Effect = (typeof OPERATIONS)[OperationName]["effect"];

/** An operation's trace in the replay log: whether its argument stays alive, and how many things went; 0 where bytes may have gone. */
interface Trace {
  readonly lasting?: true;
  readonly removed?: number;
  readonly erases?: true;
  readonly isSlow?: true;
}

/** The same by what operations do. */
const TRACES: Readonly<Record<Effect, Trace>> = {
  reads: {},
  changes: {},
  appends: { lasting: true },
  takes: { lasting: true, removed: 0 },
  replaces: { removed: 0 },
  removes: { removed: 1 },
  erases: { removed: 0, erases: true },
  compiles: { isSlow: true },
};

/** An operation of the engine with its argument. */
interface Operation {
  readonly name: OperationName;
  readonly args: string;
  readonly beside?: Beside | undefined;
}

/** The JSON of a result, and bytes, which cross beside the JSON of an argument. @internal */
export interface Beside {
  readonly json?: string;
  readonly bytes: readonly Uint8Array[];
}

/** The options that a session itself goes by; the engine checks them. */
interface Switches {
  readonly limits?: { readonly eviction?: unknown; readonly artifact_ttl_seconds?: unknown } | null;
}

/** What a manager is made of that is not empty. @internal */
export interface Origin {
  /** Bytes that are held for it. */
  readonly weight: number;
  /** Makes it, with the JSON of its options. */
  readonly open: (glue: ContextGlue, options: string) => number;
}

/** A manager of the JSON of a snapshot. @internal */
export function snapshotOrigin(snapshot: string): Origin {
  const base = utf8(snapshot);
  return { weight: base.length, open: (glue, options) => glue.manager_restore(base, options) };
}

/** How to run an operation. @internal */
export interface RunOptions<T = unknown> {
  readonly beside?: Beside;
  /** Whether it changed what a restored manager must know, for an operation that may change nothing. */
  readonly changed?: boolean | ((done: T) => boolean);
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

/** What managers with these options have in common. */
function kindOf(options: string, expires: boolean): Kind<ContextGlue> {
  return {
    name: "manager",
    alive: (glue, handle) =>
      (JSON.parse(glue.manager_call(handle, "alive", "{}")) as { done: { bytes: number; count: number } }).done,
    snapshot: (glue, handle) => {
      const json = glue.manager_snapshot(handle);
      // A snapshot does not say when artifacts expire; the answer to a clock without a time is how to say it.
      const clock = expires
        ? (JSON.parse(glue.manager_call(handle, "clock", "{}")) as { done: unknown }).done
        : undefined;
      const times = clock === undefined ? undefined : JSON.stringify(clock);
      const open = (glue: ContextGlue): number => {
        const restored = glue.manager_restore(json, options);
        if (times !== undefined) glue.manager_call(restored, "clock", times);
        return restored;
      };
      return { weight: json.length + (times?.length ?? 0), open };
    },
    drop: (glue, handle) => glue.manager_free(handle),
  };
}

/** @internal */
export class Session {
  readonly callbacks: Callbacks;
  /** What items are about, where there is a model that knows. */
  readonly vectors: ItemVectors | undefined;
  readonly #object: EngineObject<ContextGlue>;
  /** Whether artifacts are evicted, by the order of their use. */
  readonly evicts: boolean;
  readonly #expires: boolean;
  /** Options of the embedder that are data. */
  readonly #embedding: Readonly<Record<string, unknown>>;
  #settings: Settings | undefined;
  #keepsJournal = false;
  #asking = false;
  #telling = false;

  constructor(options: unknown, origin?: Origin) {
    const own = fields(options);
    const { embedding_weight } = own;
    this.#embedding = embedding_weight === undefined ? {} : { embedding_weight };
    this.vectors = vectorsOf(own);
    this.callbacks = new Callbacks(own);
    const { json } = this.callbacks;
    const { limits } = JSON.parse(json) as Switches;
    this.evicts = limits?.eviction === "lru";
    this.#expires = typeof limits?.artifact_ttl_seconds === "number";
    if (this.#expires && !this.callbacks.hasClock) {
      const hint = "clock: Date.now, or a clock of yours";
      throw new ContextWeaverError("MISSING_FIELD", "artifacts that expire need a clock", { path: "/clock", hint });
    }
    const open = (glue: ContextGlue): number => (origin ? origin.open(glue, json) : glue.manager_new(json));
    this.#object = new EngineObject(context, kindOf(json, this.#expires), { weight: origin?.weight ?? 0, open });
    this.#object.watch(this);
  }

  /** The options as a journal has them. */
  get settings(): Settings {
    if (!this.#settings) {
      const { options, functions } = this.callbacks.settings;
      // The embedder is nothing that the engine asks for, and yet a function that must be given again.
      this.#settings = {
        options: { ...options, ...this.#embedding },
        functions: this.vectors ? [...functions, "embed"] : functions,
      };
    }
    return this.#settings;
  }

  /** Runs an operation to its end, asking the caller's functions as often as the engine needs them. */
  run<T>(name: OperationName, args: string, options: RunOptions<T> = {}): Outcome<T> {
    const { effect, converts } = OPERATIONS[name];
    if (converts && !context.isWhole) throw withoutConverters();
    const operation: Operation = { name, args, beside: options.beside };
    const given: string[] = [];
    const began = performance.now();
    try {
      const time = this.#tellTime();
      const { done, events } = this.#loop(operation, given, options.functions);
      const { changed = effect !== "reads" } = options;
      if (typeof changed === "function" ? changed(done as T) : changed) {
        this.#record(time, operation, given);
      } else if (options.uses !== undefined) {
        this.#recordUse(time, options.uses);
      }
      return { value: done as T, warnings: this.tell(events.map((event) => withRecord(event, done, began))) };
    } catch (error) {
      dropPrefix(error, options.prefix ?? "");
      throw error;
    }
  }

  /** Asks a function of the caller's for something that the engine does not ask for; it may not call the manager either. */
  ask<T>(question: () => T): T {
    this.#ready();
    this.#asking = true;
    try {
      return question();
    } finally {
      this.#asking = false;
    }
  }

  /** Makes changes of which all are made, or none. */
  whole<T>(change: () => T): T {
    this.#ready();
    return this.#object.whole(change);
  }

  /** Bytes of an artifact. */
  bytes(handle: string): Uint8Array<ArrayBuffer> {
    const time = this.#tellTime();
    this.#notAsking();
    // The glue copies out of WebAssembly memory, into an ArrayBuffer of its own.
    const bytes = this.#object.call((glue, at) => glue.artifact_bytes(at, handle) as Uint8Array<ArrayBuffer>);
    this.#recordUse(time, handle);
    return bytes;
  }

  /** What changed, as lines; changes nothing. */
  journal(args: string): string {
    this.#tellTime();
    this.#notAsking();
    return this.#object.call((glue, at) => glue.manager_journal(at, args));
  }

  /** Says that a journal is kept, so that cursors outlive an instance. */
  keepJournal(): void {
    if (this.#keepsJournal) return;
    this.run("keep_journal", "{}");
    this.#keepsJournal = true;
  }

  /** Bytes by their hash; that is no use of an artifact. */
  blob(hash: string): Uint8Array<ArrayBuffer> {
    this.#notAsking();
    return this.#object.call((glue, at) => glue.manager_blob(at, hash) as Uint8Array<ArrayBuffer>);
  }

  /** Gives the memory back; a second time does nothing. */
  free(): void {
    this.#notAsking();
    this.#object.free();
  }

  /** The handle in the present instance, for an operation that may begin. */
  #ready(): number {
    const { handle } = this.#object;
    this.#notAsking();
    return handle;
  }

  #notAsking(): void {
    if (!this.#asking) return;
    throw new ContextWeaverError("REENTRANT", "a function of the manager called the manager that waits for its answer");
  }

  /** Runs an operation; `given` receives what the caller's functions answered. */
  #loop(operation: Operation, given: string[], functions?: Functions): { done: unknown; events: HookEvent[] } {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const handle = this.#ready();
      const born = context.generation;
      const answer = JSON.parse(context.call((glue) => invoke(glue, handle, operation))) as
        | { need: Need[] }
        | { need?: undefined; done: unknown; events?: HookEvent[] };
      if (!answer.need) return { done: answer.done, events: answer.events ?? [] };
      const text = this.#ask(answer.need, functions);
      // A function may have used another manager and met a trap: then this one starts over in the new instance.
      if (context.generation !== born) {
        given.length = 0;
        continue;
      }
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
  tell(events: readonly HookEvent[]): readonly string[] {
    if (this.#telling || events.length === 0) return [];
    this.#telling = true;
    try {
      return this.callbacks.dispatch(events);
    } finally {
      this.#telling = false;
    }
  }

  /** Tells the engine the time where artifacts expire; what was told goes into the replay log with what came of it. */
  #tellTime(): Operation | undefined {
    if (!this.#expires) return undefined;
    const now = this.ask(() => this.callbacks.now());
    const time: Operation = { name: "clock", args: JSON.stringify({ now: (now ?? 0) / 1000 }) };
    this.#loop(time, []);
    return time;
  }

  /** Reading changes nothing but what will be evicted first, which a replay must find the same. */
  #recordUse(time: Operation | undefined, handle: string): void {
    if (this.evicts) this.#record(time, { name: "artifact_use", args: JSON.stringify({ handle }) }, []);
  }

  #record(time: Operation | undefined, operation: Operation, answers: readonly string[]): void {
    this.#object.record(entryOf(time, operation, answers));
  }
}

/** What a build returns, as far as hooks are told of it. */
interface Built extends Pick<ContextPack, "stats" | "running"> {
  readonly step?: RunningStep;
  /** Messages have the pack beside them. */
  readonly pack?: Built;
  readonly tokens?: number;
}

/** Adds the record of a build to what the engine says of it. */
function withRecord(event: HookEvent, done: unknown, began: number): HookEvent {
  if (event.hook !== "context_built") return event;
  const built = done as Built;
  const { stats, running = built.step } = built.pack ?? built;
  const tokens = built.tokens ?? stats.prompt_tokens ?? 0;
  return { ...event, stats, tokens, ...(running && { running }), duration_ms: performance.now() - began };
}

/**
 * Makes an entry of an operation that is done, with the time that was told before it and the answers given to its
 * questions: repeating it asks nobody again. One entry, because no snapshot may be taken between its parts.
 */
function entryOf(time: Operation | undefined, operation: Operation, answers: readonly string[]): Entry<ContextGlue> {
  const { name, args, beside } = operation;
  const given = args.length + (beside?.json?.length ?? 0) + (time?.args.length ?? 0);
  const texts = answers.reduce((sum, { length }) => sum + length, given);
  const bytes = (beside?.bytes ?? []).reduce((sum, { length }) => sum + length, 0);
  const replay = (glue: ContextGlue, handle: number): void => {
    if (time) invoke(glue, handle, time);
    let answer = invoke(glue, handle, operation);
    for (const text of answers) {
      glue.manager_call(handle, "supply", text);
      answer = invoke(glue, handle, operation);
    }
    // Told as the engine tells errors, so that the instance counts as sound.
    if (answer.startsWith(`{"need"`))
      throw JSON.stringify({ code: "INTERNAL", message: "the operation asked for more" });
  };
  const { lasting, removed, erases = false, isSlow = false } = TRACES[OPERATIONS[name].effect];
  return {
    weight: texts + bytes,
    // The text of a result may be evicted like bytes beside the JSON; what its item keeps is seen when the log is folded.
    lasting: lasting ? texts - (beside?.json?.length ?? 0) : 0,
    // Artifacts may expire when the time is told.
    removed: removed ?? (time ? 0 : undefined),
    // Steps of a running prompt and consolidations replace what the ones before left.
    erases,
    isSlow,
    replay,
  };
}

function invoke(glue: ContextGlue, handle: number, { name, args, beside }: Operation): string {
  if (!beside) return glue.manager_call(handle, name, args);
  return glue.manager_call_with(handle, name, args, beside.json ?? "", beside.bytes as Uint8Array[]);
}

function withoutConverters(): ContextWeaverError {
  const hint = 'import ContextManager from "contextweaver"';
  return new ContextWeaverError(
    "UNSUPPORTED",
    "this entry has no converters for messages of providers and results of MCP",
    { hint },
  );
}
