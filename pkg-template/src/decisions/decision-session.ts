// One decision store inside the engine: what the host is asked, and how the store survives the end of an instance.
import { isPromise } from "../boundary/callbacks.js";
import { decisions } from "../boundary/engines.js";
import type { DecisionOperation } from "../boundary/operation-names.js";
import type { DecisionsGlue } from "../boundary/engines.js";
import { MAX_BATCH, embedOf, embeddable } from "../catalog/embedder.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { EngineObject } from "../boundary/engine-object.js";
import type { Kind } from "../boundary/engine-object.js";
import { encode, fields } from "../boundary/guard.js";

const MAX_ROUNDS = 64;

type Fn = (...args: unknown[]) => unknown;

/** What the engine needs to know before it can run an operation. */
type Need = { readonly kind: "id" } | { readonly kind: "embed"; readonly texts: readonly string[] };

/** Something the caller may listen to. */
interface StoreEvent {
  readonly kind: keyof typeof LISTENERS;
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

const FUNCTIONS = ["clock", "new_id", "embed", "on_change", "on_guardrail_check", "on_call"];

/** Who hears of what. */
const LISTENERS = { change: "on_change", guardrail_check: "on_guardrail_check", call: "on_call" } as const;

/** What stores with these options have in common. */
const kindOf = (options: string): Kind<DecisionsGlue> => ({
  name: "decision store",
  alive: (glue, handle) => ({ bytes: 0, count: glue.decisions_size(handle) }),
  snapshot: (glue, handle) => {
    const json = glue.decisions_snapshot(handle);
    return { weight: json.length, open: (glue) => glue.decisions_restore(json, options) };
  },
  drop: (glue, handle) => glue.decisions_free(handle),
});

/** @internal */
export class DecisionSession {
  readonly #object: EngineObject<DecisionsGlue>;
  readonly #functions = new Map<string, Fn>();
  #calls = 0;
  #asking = false;
  #telling = false;

  constructor(options: unknown) {
    const own = fields(options);
    for (const name of FUNCTIONS) {
      if (own[name] === undefined) continue;
      if (name === "embed") own[name] = embedOf(own[name], "/embed");
      if (typeof own[name] !== "function")
        throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: `/${name}` });
      this.#functions.set(name, own[name] as Fn);
      delete own[name];
    }
    if (this.#functions.has("embed")) own["embedding_model"] ??= "custom";
    else if (own["embedding_model"] !== undefined) {
      const hint = "embed: what makes the vectors";
      throw new ContextWeaverError("MISSING_FIELD", "a model needs an embedder", { path: "/embedding_model", hint });
    }
    const settings = encode(own);
    const open = (glue: DecisionsGlue): number => glue.decisions_new(settings);
    this.#object = new EngineObject(decisions, kindOf(settings), { weight: settings.length, open });
    this.#object.watch(this);
  }

  /** Runs an operation that asks nothing. With `changes`, it is repeated when the store is made again. */
  run<T>(name: DecisionOperation, args: string, changes = false): T {
    const answer = this.#invoke(name, args);
    if (answer.need) throw new ContextWeaverError("INTERNAL", "the operation asked for something");
    if (changes) this.#record(name, args, []);
    this.tell(answer.events);
    return answer.done as T;
  }

  /**
   * Runs an operation that may ask for ids, which it gets at once, and for vectors, for which it waits. `given` are fields
   * of its argument as JSON text, without the braces.
   */
  async ask<T>(name: DecisionOperation, given: string): Promise<T> {
    this.#calls += 1;
    const running: Running = { call: this.#calls, now: this.now(), ids: [], vectors: [] };
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const { vectors, ...answers } = running;
      const args = `{${given},${JSON.stringify(answers).slice(1)}`;
      const answer = this.#invoke(name, args);
      if (!answer.need) {
        this.#record(name, args, vectors);
        this.tell(answer.events);
        return answer.done as T;
      }
      for (const need of answer.need) {
        if (need.kind === "id") running.ids.push(this.#newId());
        else await this.#embed(running, need.texts);
      }
    }
    throw new ContextWeaverError(
      "CALLBACK_FAILED",
      `the operation asked ${MAX_ROUNDS} times and got nothing it could use`,
      {
        hint: "new_id must return ids that no decision has",
      },
    );
  }

  /** Whether anybody listens. */
  hears(kind: keyof typeof LISTENERS): boolean {
    return this.#functions.has(LISTENERS[kind]);
  }

  /** The time in milliseconds. */
  now(): number {
    const time = this.#called("clock", () => Date.now());
    if (typeof time === "number" && Math.abs(time) <= 8.64e15) return Math.floor(time);
    throw unusable("clock", "milliseconds since 1970", time);
  }

  /** Gives the memory back; a second time does nothing. */
  free(): void {
    this.#object.free();
  }

  #ready(): number {
    const { handle } = this.#object;
    if (this.#asking)
      throw new ContextWeaverError("REENTRANT", "a function of the store called the store that waits for its answer");
    return handle;
  }

  #invoke(name: DecisionOperation, args: string): Answer {
    const handle = this.#ready();
    return JSON.parse(decisions.call((glue) => glue.decisions_call(handle, name, args))) as Answer;
  }

  #record(name: DecisionOperation, args: string, vectors: readonly Vectors[]): void {
    const replay = (glue: DecisionsGlue, handle: number): void => {
      for (const { texts, bytes } of vectors) glue.decisions_vectors(handle, texts, bytes);
      glue.decisions_call(handle, name, args);
    };
    const weight = vectors.reduce((sum, { texts, bytes }) => sum + texts.length + bytes.length, args.length);
    // An import may replace all there was.
    this.#object.record({ weight, replay, ...(name === "import" ? { removed: Infinity } : {}) });
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
      for (let from = 0; from < texts.length; from += MAX_BATCH) {
        const batch = texts.slice(from, from + MAX_BATCH);
        const bytes = packed(await this.#called("embed", () => [], batch.map(embeddable)), batch.length);
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
  tell(events: readonly StoreEvent[] | undefined): void {
    if (!events || this.#telling) return;
    this.#telling = true;
    try {
      for (const { kind, event } of events) {
        const fn = this.#functions.get(LISTENERS[kind]);
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
  if (list?.length !== count || !Number.isInteger(length) || length < 1 || length > 65_536)
    throw unusable("embed", "a vector for each text", vectors);
  const view = new DataView(new ArrayBuffer(count * length * 4));
  for (let row = 0; row < count; row += 1) {
    const vector = list[row] as ArrayLike<number>;
    if (vector?.length !== length) throw unusable("embed", "vectors of one length", vector);
    for (let place = 0; place < length; place += 1) {
      const number = vector[place];
      // What is too large for 32 bits becomes infinite.
      if (typeof number !== "number" || !Number.isFinite(Math.fround(number)))
        throw unusable("embed", "finite numbers", number);
      view.setFloat32((row * length + place) * 4, number, true);
    }
  }
  return new Uint8Array(view.buffer);
}
