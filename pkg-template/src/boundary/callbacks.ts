// The caller's functions: taken out of the options, and asked on behalf of the engine. None runs inside the engine.
import { ContextWeaverError } from "./errors.js";
import { encode, fields } from "./guard.js";
import type { HookEvent } from "../telemetry/hook-types.js";
import { nearestHint } from "./nearest.js";

type Fn = (...args: unknown[]) => unknown;

/** Functions by what they are for. @internal */
export type Functions = ReadonlyMap<string, Fn>;

/** The answer of a function that threw where that is allowed. */
interface Failure {
  readonly failed: string;
}

/** A question of the engine. @internal */
export type Need =
  | { readonly kind: "count"; readonly text: string }
  | { readonly kind: "classify"; readonly item: unknown }
  | { readonly kind: "summarize"; readonly item: unknown; readonly text: string }
  | { readonly kind: "extract"; readonly item: unknown; readonly text: string }
  | { readonly kind: "find_rules"; readonly item: unknown }
  | { readonly kind: "redact"; readonly hook: string; readonly item: unknown };

const HOOKS = [
  "firewall_triggered",
  "items_excluded",
  "budget_exceeded",
  "context_built",
  "build_failed",
  "tool_executed",
];
const PLUGINS = [
  ["summarizer", "summarize"],
  ["extractor", "extract"],
] as const;
/** Failures that are remembered. */
const MAX_FAILURES = 16;
const LEVELS = ["public", "internal", "confidential", "restricted"];

/** The options of a manager as its journal has them: those that are data, and the names of those that must be given again. @internal */
export interface Settings {
  readonly options: Readonly<Record<string, unknown>>;
  readonly functions: readonly string[];
}

/** The caller's functions, and the options without them. @internal */
export class Callbacks {
  /** The options as the engine reads them: names stand for functions. */
  readonly json: string;
  readonly #functions = new Map<string, Fn>();
  readonly #redaction = new Map<string, Fn>();
  readonly #hooks = new Map<string, Fn>();
  /** Names of the options that are functions or hold some. */
  readonly #given: readonly string[];
  /** Failures of functions, until a build tells them. */
  #failures: string[] = [];
  /** Hooks that threw. */
  hookErrors = 0;

  constructor(options: unknown) {
    const own = fields(options);
    const given = Object.keys(own).filter((name) => own[name] !== undefined);
    if (typeof own["estimator"] === "object" && own["estimator"] !== null) {
      own["estimator"] = keep("estimator", counting(own["estimator"]), "encoding", this.#functions);
    }
    for (const key of ["estimator", "classifier"]) {
      if (typeof own[key] === "function") own[key] = keep(key, own[key] as Fn, undefined, this.#functions);
    }
    takePlugins(own, this.#functions);
    takeFinder(own, this.#functions);
    if (own["redaction_hooks"] !== undefined) {
      collect(own["redaction_hooks"], "/redaction_hooks", this.#redaction);
      own["redaction_hooks"] = [...this.#redaction.keys()];
    }
    if (own["hooks"] !== undefined) {
      collect(own["hooks"], "/hooks", this.#hooks, HOOKS);
      delete own["hooks"];
    }
    for (const key of ["clock", "item_scores", "get_blob"]) {
      if (own[key] === undefined) continue;
      if (typeof own[key] !== "function") throw notAFunction(`/${key}`);
      this.#functions.set(key, own[key] as Fn);
      delete own[key];
    }
    if (own["prices"] === null) own["prices"] = "none";
    if ("listens" in own)
      throw new ContextWeaverError("UNKNOWN_FIELD", "unknown field `listens`", { path: "/listens" });
    // Saying what was dropped twice, in the stats and to the hooks, is for those who listen.
    own["listens"] = this.#hooks.size > 0;
    this.json = encode(own);
    this.#given = given.filter((name) => this.#functions.has(name) || name === "redaction_hooks" || name === "hooks");
  }

  get settings(): Settings {
    const { listens: _, ...options } = JSON.parse(this.json) as Record<string, unknown>;
    for (const name of this.#given) delete options[name];
    // Without their function, what users state is found as everywhere.
    if (this.#functions.has("rules")) options["rules"] = true;
    return { options, functions: this.#given };
  }

  /** Takes functions out of the options of one call. */
  lend(options: Record<string, unknown>): { args: Record<string, unknown>; functions: Functions } {
    const functions = new Map<string, Fn>();
    takePlugins(options, functions);
    return { args: options, functions };
  }

  /**
   * Asks one of the functions; `lent` ones come first. An answer that cannot be used is CALLBACK_FAILED. A result is worth
   * more than its summary: where a function that works on results throws, the engine is told so and goes on without it.
   */
  answer(need: Need, lent?: Functions): string | number | readonly unknown[] | Failure | null {
    switch (need.kind) {
      case "count":
        return ask("estimator", this.#functions.get("estimator"), [need.text], isCount, "a whole number from 0");
      case "classify":
        return ask("classifier", this.#functions.get("classifier"), [need.item], isLevel, `one of ${LEVELS.join(" ")}`);
      case "summarize":
        return this.#work("summarizer", lent, need, isString, "a string");
      case "extract":
        return this.#work("extractor", lent, need, isStrings, "an array of strings");
      case "find_rules":
        return this.#statements(need.item);
      case "redact":
        return ask("redaction hook", this.#redaction.get(need.hook), [need.item], isString, "a string");
    }
  }

  /** Hands over the failures since the last call: the operations they happened in have no place for them. */
  takeFailures(): readonly string[] {
    return this.#failures.splice(0);
  }

  /** Asks the caller's function for the statements of a turn. Where it throws, or says nothing, ours is asked. */
  #statements(item: unknown): readonly unknown[] | Failure | null {
    const failed = (cause: unknown): Failure => {
      if (isReentrant(cause)) throw threw("function of the option rules", cause);
      this.hookErrors += 1;
      const { id } = item as { readonly id: string };
      const message = `/rules/find: the function threw at the item ${JSON.stringify(id.slice(0, 80))}: the built-in finder was used`;
      if (this.#failures.length < MAX_FAILURES) this.#failures.push(message);
      return { failed: "the function threw" };
    };
    const wanted = "an array of texts or { text, kind, once }, or undefined";
    return (
      ask("function of the option rules", this.#functions.get("rules"), [item], isStatements, wanted, failed) ?? null
    );
  }

  get hasClock(): boolean {
    return this.#functions.has("clock");
  }

  /** The time in milliseconds, if there is a clock. */
  now(): number | undefined {
    const clock = this.#functions.get("clock");
    return clock && ask("clock", clock, [], isTime, "milliseconds since 1970");
  }

  /** Where bytes are that are not in memory. */
  get getBlob(): ((hash: string) => Promise<Uint8Array | undefined>) | undefined {
    return this.#functions.get("get_blob") as ((hash: string) => Promise<Uint8Array | undefined>) | undefined;
  }

  /** Scores for a build, if there is a function for them; the guard checks what they are. */
  itemScores(phase: unknown, query: unknown): object | undefined {
    const scores = this.#functions.get("item_scores");
    return (
      scores && ask("item_scores function", scores, [{ phase, query: query ?? "" }], isObject, "scores by item id")
    );
  }

  /** Whether a hook is to be told of something. */
  hears(hook: HookEvent["hook"]): boolean {
    return this.#hooks.has(hook);
  }

  /** Tells the hooks what happened; returns a warning for each that failed. */
  dispatch(events: readonly HookEvent[]): string[] {
    const warnings: string[] = [];
    for (const event of events) {
      const hook = this.#hooks.get(event.hook);
      if (!hook) continue;
      try {
        isPromise(hook(event), () => (this.hookErrors += 1));
      } catch {
        this.hookErrors += 1;
        warnings.push(`the hook ${event.hook} threw`);
      }
    }
    return warnings;
  }

  #work<T>(
    who: string,
    lent: Functions | undefined,
    { item, text }: { readonly item: unknown; readonly text: string },
    usable: (value: unknown) => value is T,
    wanted: string,
  ): T | Failure {
    const failed = (cause: unknown): Failure => {
      // A program that calls back into its own manager is to be mended, not to be put up with.
      if (isReentrant(cause)) throw threw(who, cause);
      this.hookErrors += 1;
      // What it threw stays with it: it may quote the result.
      return { failed: `the ${who} threw` };
    };
    return ask(who, lent?.get(who) ?? this.#functions.get(who), [item, text], usable, wanted, failed);
  }
}

/** Takes the functions of plugins out of options; what else a plugin says of itself is for the engine. */
function takePlugins(options: Record<string, unknown>, into: Map<string, Fn>): void {
  for (const [key, method] of PLUGINS) {
    const value = options[key];
    if (value === undefined || typeof value === "string") continue;
    if (typeof value === "function") {
      options[key] = keep(key, value as Fn, undefined, into);
      continue;
    }
    const { [method]: fn, name, ...rest } = fields(value, `/${key}`);
    if (typeof fn !== "function") throw notAFunction(`/${key}/${method}`);
    options[key] = { ...rest, ...keep(key, fn as Fn, name, into) };
  }
}

/** Takes the function that finds what users state out of the option `rules`. */
function takeFinder(options: Record<string, unknown>, into: Map<string, Fn>): void {
  const { rules } = options;
  if (typeof rules !== "object" || rules === null) return;
  const { find, ...rest } = fields(rules, "/rules");
  if (find === undefined) return;
  if (typeof find !== "function") throw notAFunction("/rules/find");
  options["rules"] = { ...rest, find: keep("rules", find as Fn, undefined, into) };
}

function keep(key: string, fn: Fn, name: unknown, into: Map<string, Fn>): { custom: unknown } {
  into.set(key, fn);
  return { custom: name ?? nameOf(fn) };
}

/** Counts by an encoding of another package. Nothing in a text is a token that steers a model. */
function counting(encoding: object): Fn {
  const { countTokens, encode } = encoding as { readonly countTokens?: unknown; readonly encode?: unknown };
  if (typeof countTokens === "function") {
    const options = { disallowedSpecial: new Set<string>() };
    return (text) => (countTokens as Fn).call(encoding, text, options);
  }
  if (typeof encode === "function") {
    return (text) => ((encode as Fn).call(encoding, text, [], []) as { readonly length: number }).length;
  }
  const hint = "a function of the text, or an encoding of gpt-tokenizer or js-tiktoken";
  throw new ContextWeaverError("INVALID_INPUT", "expected a way to count tokens", { path: "/estimator", hint });
}

function collect(value: unknown, path: string, into: Map<string, Fn>, known?: readonly string[]): void {
  for (const [key, fn] of Object.entries(fields(value, path))) {
    const at = `${path}/${key}`;
    if (known && !known.includes(key))
      throw new ContextWeaverError("UNKNOWN_FIELD", "unknown hook", { path: at, hint: nearestHint(key, known) });
    if (typeof fn !== "function") throw notAFunction(at);
    into.set(key, fn as Fn);
  }
}

/** A function's name is a property like any other: it may be anything, or throw. */
function nameOf(fn: Fn): string {
  try {
    return typeof fn.name === "string" && fn.name ? fn.name : "custom";
  } catch {
    return "custom";
  }
}

function notAFunction(path: string): ContextWeaverError {
  return new ContextWeaverError("INVALID_INPUT", "expected a function", { path });
}

function ask<T, F = never>(
  who: string,
  fn: Fn | undefined,
  args: unknown[],
  usable: (value: unknown) => value is T,
  wanted: string,
  failed?: (cause: unknown) => F,
): T | F {
  if (!fn) throw new ContextWeaverError("INTERNAL", `the engine asked for a ${who} that was not given`);
  let value: unknown;
  try {
    value = fn(...args);
  } catch (cause) {
    if (failed) return failed(cause);
    throw threw(who, cause);
  }
  if (usable(value)) return value;
  const got = isPromise(value, () => undefined) ? "a promise" : typeof value;
  const later = failed ? LATER : "prepare the answer before the call";
  throw new ContextWeaverError("CALLBACK_FAILED", `the ${who} must return ${wanted}, got ${got}`, {
    hint: got === "a promise" ? `functions are called synchronously: ${later}` : undefined,
  });
}

const LATER = "leave it out, and pass what summaryRequests() asks for to supplySummary() when it is there";

function threw(who: string, cause: unknown): ContextWeaverError {
  return new ContextWeaverError("CALLBACK_FAILED", `the ${who} threw`, { cause });
}

function isReentrant(thrown: unknown): boolean {
  return ContextWeaverError.is(thrown) && thrown.code === "REENTRANT";
}

/** A promise is not waited for, but its rejection must not end the process either. @internal */
export function isPromise(value: unknown, rejected: () => void): boolean {
  try {
    if (!(value instanceof Promise)) return false;
    value.then(undefined, rejected);
    return true;
  } catch {
    return false; // a proxy that throws
  }
}

// The range of Date, so that every time can be written down.
const isTime = (value: unknown): value is number => typeof value === "number" && Math.abs(value) <= 8.64e15;
const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !isPromise(value, () => undefined);
const isString = (value: unknown): value is string => typeof value === "string";
const isStrings = (value: unknown): value is readonly string[] => {
  try {
    return Array.isArray(value) && value.every(isString);
  } catch {
    return false; // a proxy that throws
  }
};
const isStatement = (value: unknown): boolean =>
  isString(value) || (isObject(value) && isString((value as { text?: unknown }).text));
const isStatements = (value: unknown): value is readonly unknown[] | undefined | null => {
  try {
    return value === undefined || value === null || (Array.isArray(value) && value.every(isStatement));
  } catch {
    return false; // a proxy that throws
  }
};
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isLevel = (value: unknown): value is string => LEVELS.includes(value as string);
