// One decision store inside the engine: what the host is asked, and how the store survives the end of an instance.
import { isPromise } from "./callbacks.js";
import { decisions } from "./engines.js";
import type { DecisionsGlue } from "./engines.js";
import { ContextWeaverError } from "./errors.js";
import { SNAPSHOT, encode, fields } from "./guard.js";
import { Place } from "./place.js";

const MAX_ROUNDS = 64;
/** Texts that an embedder gets at a time. */
const BATCH = 256;
/** The journal is folded into a snapshot when it has so many characters, and more than the last one. */
const FOLD_AT = 1024 * 1024;

type Fn = (...args: unknown[]) => unknown;

/** What the engine needs to know before it can run an operation. */
type Need = { readonly kind: "id" } | { readonly kind: "embed"; readonly texts: readonly string[] };

/** Something the caller may listen to. */
interface StoreEvent {
  readonly kind: "change" | "guardrail_check";
  readonly event: unknown;
}

type Answer =
  | { readonly need: readonly Need[] }
  | { readonly need?: undefined; readonly done: unknown; readonly events?: readonly StoreEvent[] };

/** Vectors of texts, their numbers one after the other. */
interface Vectors {
  readonly texts: string;
  readonly bytes: Uint8Array;
}

/** An operation that is done, with what the host answered: repeating it asks nobody again. */
interface Entry {
  readonly name: string;
  readonly args: string;
  readonly vectors: readonly Vectors[];
}

/** What the host answered to a call while it runs. */
interface Running {
  readonly call: number;
  readonly now: number;
  readonly ids: string[];
  readonly vectors: Vectors[];
  embedder_failed?: string;
}

/** What is no failure of the embedder, whoever was at work. */
const FATAL: readonly string[] = ["DISPOSED", "POISONED", "INTERNAL", "REENTRANT"];

const FUNCTIONS = ["clock", "new_id", "embed", "on_change", "on_guardrail_check"];

const drop = (glue: DecisionsGlue, handle: number): void => glue.decisions_free(handle);

/** @internal */
export class DecisionSession {
  readonly #place = new Place(decisions, drop);
  readonly #functions = new Map<string, Fn>();
  readonly #options: string;
  #base: string | undefined;
  #journal: Entry[] = [];
  #weight = 0;
  #calls = 0;
  #freed = false;
  #asking = false;
  #telling = false;

  constructor(options: unknown) {
    const own = fields(options);
    for (const name of FUNCTIONS) {
      if (own[name] === undefined) continue;
      if (typeof own[name] !== "function") throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: `/${name}` });
      this.#functions.set(name, own[name] as Fn);
      delete own[name];
    }
    if (this.#functions.has("embed")) own["embedding_model"] ??= "custom";
    else if (own["embedding_model"] !== undefined) {
      const hint = "embed: the function that makes the vectors";
      throw new ContextWeaverError("MISSING_FIELD", "a model needs a function", { path: "/embedding_model", hint });
    }
    this.#options = encode(own);
    this.#open();
    this.#place.watch(this);
  }

  /** Runs an operation that asks nothing. With `keeps`, it is repeated when the store is made again. */
  run<T>(name: string, args: string, keeps = false): T {
    const answer = this.#invoke(name, args);
    if (answer.need) throw new ContextWeaverError("INTERNAL", "the operation asked for something");
    if (keeps) this.#record({ name, args, vectors: [] });
    this.#tell(answer.events);
    return answer.done as T;
  }

  /**
   * Runs an operation that may ask for ids, which it gets at once, and for vectors, for which it waits. `given` are fields
   * of its argument as JSON text, without the braces.
   */
  async ask<T>(name: string, given: string): Promise<T> {
    this.#calls += 1;
    const running: Running = { call: this.#calls, now: this.now(), ids: [], vectors: [] };
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const { vectors, ...answers } = running;
      const args = `{${given},${JSON.stringify(answers).slice(1)}`;
      const answer = this.#invoke(name, args);
      if (!answer.need) {
        this.#record({ name, args, vectors });
        this.#tell(answer.events);
        return answer.done as T;
      }
      for (const need of answer.need) {
        if (need.kind === "id") running.ids.push(this.#newId());
        else await this.#embed(running, need.texts);
      }
    }
    throw new ContextWeaverError("CALLBACK_FAILED", `the operation asked ${MAX_ROUNDS} times and got nothing it could use`, {
      hint: "new_id must return ids that no decision has",
    });
  }

  /** The time in milliseconds. */
  now(): number {
    const time = this.#called("clock", () => Date.now());
    if (typeof time === "number" && Math.abs(time) <= 8.64e15) return Math.floor(time);
    throw unusable("clock", "milliseconds since 1970", time);
  }

  /** The whole store as the JSON text of a snapshot. */
  snapshot(args = "{}"): string {
    const text = decisions.call((glue) => glue.decisions_call(this.#ready(), "export", args));
    return text.slice(`{"done":`.length, -1);
  }

  /** Gives the memory back; a second time does nothing. */
  free(): void {
    if (this.#freed) return;
    this.#freed = true;
    this.#journal = [];
    this.#base = undefined;
    this.#place.close();
  }

  #ready(): number {
    if (this.#freed) throw new ContextWeaverError("DISPOSED", "the decision store was freed");
    if (this.#asking) throw new ContextWeaverError("REENTRANT", "a function of the store called the store that waits for its answer");
    if (!this.#place.isThere) this.#restore();
    return this.#place.handle;
  }

  #open(): void {
    this.#place.open((glue) => glue.decisions_new(this.#options));
  }

  #restore(): void {
    try {
      this.#open();
      const { handle } = this.#place;
      if (this.#base !== undefined) decisions.call((glue) => glue.decisions_call(handle, "restore", this.#base as string));
      for (const { name, args, vectors } of this.#journal) {
        for (const { texts, bytes } of vectors) decisions.call((glue) => glue.decisions_vectors(handle, texts, bytes));
        decisions.call((glue) => glue.decisions_call(handle, name, args));
      }
    } catch (cause) {
      // Half a state is worse than none: the next call starts over.
      this.#place.release();
      throw new ContextWeaverError("POISONED", "the engine was restarted and the decision store could not be restored", { cause });
    }
  }

  #invoke(name: string, args: string): Answer {
    const handle = this.#ready();
    return JSON.parse(decisions.call((glue) => glue.decisions_call(handle, name, args))) as Answer;
  }

  #record(entry: Entry): void {
    this.#journal.push(entry);
    this.#weight += entry.args.length;
    for (const { texts, bytes } of entry.vectors) this.#weight += texts.length + bytes.length;
    if (this.#weight < Math.max(FOLD_AT, this.#base?.length ?? 0)) return;
    this.#weight = 0;
    try {
      const text = this.snapshot();
      if (text.length > SNAPSHOT.total) return;
      this.#base = `{"snapshot":${text}}`;
      this.#journal = [];
    } catch {
      // The journal is complete; folding it is only thrift.
    }
  }

  /** Calls a function of the caller's; it may not call the store it works for. */
  #called(name: string, otherwise: () => unknown, ...args: unknown[]): unknown {
    const fn = this.#functions.get(name);
    if (!fn) return otherwise();
    this.#asking = true;
    try {
      return fn(...args);
    } catch (cause) {
      // A program that calls back into the store that waits for it is to be mended, not to be put up with.
      if (ContextWeaverError.is(cause) && cause.code === "REENTRANT") throw cause;
      throw new ContextWeaverError("CALLBACK_FAILED", `the function ${name} threw`, { cause });
    } finally {
      this.#asking = false;
    }
  }

  #newId(): string {
    const id = this.#called("new_id", randomId);
    if (typeof id === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
    throw unusable("new_id", "1 to 64 letters, digits and _-", id);
  }

  /** Asks the embedder. A store without vectors still finds words, so a failure is told and no more. */
  async #embed(running: Running, texts: readonly string[]): Promise<void> {
    try {
      for (let from = 0; from < texts.length; from += BATCH) {
        const batch = texts.slice(from, from + BATCH);
        const bytes = packed(await this.#called("embed", () => [], batch), batch.length);
        const vectors: Vectors = { texts: JSON.stringify({ call: running.call, texts: batch }), bytes };
        const handle = this.#ready();
        decisions.call((glue) => glue.decisions_vectors(handle, vectors.texts, bytes));
        running.vectors.push(vectors);
      }
    } catch (cause) {
      if (ContextWeaverError.is(cause) && FATAL.includes(cause.code)) throw cause;
      // What it threw stays with it: it may quote what was to be embedded.
      running.embedder_failed = "the embedder failed";
    }
  }

  /** Listeners may use the store; what their own calls cause is not told, or two could keep each other busy. */
  #tell(events: readonly StoreEvent[] | undefined): void {
    if (!events || this.#telling) return;
    this.#telling = true;
    try {
      for (const { kind, event } of events) {
        const fn = this.#functions.get(kind === "change" ? "on_change" : "on_guardrail_check");
        try {
          if (fn) isPromise(fn(event), () => undefined);
        } catch {
          // What has happened has happened, whoever hears of it.
        }
      }
    } finally {
      this.#telling = false;
    }
  }
}

function unusable(who: string, wanted: string, got: unknown): ContextWeaverError {
  return new ContextWeaverError("CALLBACK_FAILED", `the function ${who} must return ${wanted}, got ${typeof got}`);
}

/** Eight hexadecimal digits, as ids of decisions usually are. */
function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, "0");
}

/** Puts vectors of one length into the bytes of their numbers. */
function packed(vectors: unknown, count: number): Uint8Array {
  const list = vectors as ArrayLike<ArrayLike<number>>;
  const length = list?.[0]?.length ?? 0;
  if (list?.length !== count || !Number.isInteger(length) || length < 1 || length > 65_536) throw unusable("embed", "a vector for each text", vectors);
  const view = new DataView(new ArrayBuffer(count * length * 4));
  for (let row = 0; row < count; row += 1) {
    const vector = list[row] as ArrayLike<number>;
    if (vector?.length !== length) throw unusable("embed", "vectors of one length", vector);
    for (let place = 0; place < length; place += 1) {
      const number = vector[place];
      if (typeof number !== "number" || !Number.isFinite(number)) throw unusable("embed", "finite numbers", number);
      view.setFloat32((row * length + place) * 4, number, true);
    }
  }
  return new Uint8Array(view.buffer);
}
