// The caller's functions: taken out of the options, and asked on behalf of the engine. None runs inside the engine.
import { ContextWeaverError } from "./errors.js";
import { encode, fields } from "./guard.js";
import type { HookEvent } from "./options.js";

type Fn = (...args: unknown[]) => unknown;

/** A question of the engine. @internal */
export type Need =
  | { readonly kind: "count"; readonly text: string }
  | { readonly kind: "classify"; readonly item: unknown }
  | { readonly kind: "summarize"; readonly item: unknown; readonly text: string }
  | { readonly kind: "extract"; readonly item: unknown; readonly text: string }
  | { readonly kind: "redact"; readonly hook: string; readonly item: unknown };

const HOOKS = ["firewall_triggered", "items_excluded", "budget_exceeded", "context_built"];
const PLUGINS = [["summarizer", "summarize"], ["extractor", "extract"]] as const;
const LEVELS = ["public", "internal", "confidential", "restricted"];

/** The caller's functions, and the options without them. @internal */
export class Callbacks {
  /** The options as the engine reads them: names stand for functions. */
  readonly json: string;
  readonly #functions = new Map<string, Fn>();
  readonly #redaction = new Map<string, Fn>();
  readonly #hooks = new Map<string, Fn>();
  /** Hooks that threw. */
  hookErrors = 0;

  constructor(options: unknown) {
    const own = fields(options);
    for (const key of ["estimator", "classifier"]) {
      if (typeof own[key] === "function") own[key] = this.#keep(key, own[key] as Fn, undefined);
    }
    for (const [key, method] of PLUGINS) {
      if (own[key] !== undefined && typeof own[key] !== "string") own[key] = this.#plugin(key, method, own[key]);
    }
    if (own["redaction_hooks"] !== undefined) {
      collect(own["redaction_hooks"], "/redaction_hooks", this.#redaction);
      own["redaction_hooks"] = [...this.#redaction.keys()];
    }
    if (own["hooks"] !== undefined) {
      collect(own["hooks"], "/hooks", this.#hooks, HOOKS);
      delete own["hooks"];
    }
    for (const key of ["clock", "item_scores"]) {
      if (own[key] === undefined) continue;
      if (typeof own[key] !== "function") throw notAFunction(`/${key}`);
      this.#functions.set(key, own[key] as Fn);
      delete own[key];
    }
    if ("listens" in own) throw new ContextWeaverError("UNKNOWN_FIELD", "unknown field `listens`", { path: "/listens" });
    // Saying what was dropped twice, in the stats and to the hooks, is for those who listen.
    own["listens"] = this.#hooks.size > 0;
    this.json = encode(own);
  }

  /** Asks one of the functions. An answer that cannot be used is CALLBACK_FAILED. */
  answer(need: Need): string | number | readonly string[] {
    switch (need.kind) {
      case "count":
        return ask("estimator", this.#functions.get("estimator"), [need.text], isCount, "a whole number from 0");
      case "classify":
        return ask("classifier", this.#functions.get("classifier"), [need.item], isLevel, `one of ${LEVELS.join(" ")}`);
      case "summarize":
        return ask("summarizer", this.#functions.get("summarizer"), [need.item, need.text], isString, "a string");
      case "extract":
        return ask("extractor", this.#functions.get("extractor"), [need.item, need.text], isStrings, "an array of strings");
      case "redact":
        return ask("redaction hook", this.#redaction.get(need.hook), [need.item], isString, "a string");
    }
  }

  get hasClock(): boolean {
    return this.#functions.has("clock");
  }

  /** The time in milliseconds, if there is a clock. */
  now(): number | undefined {
    const clock = this.#functions.get("clock");
    return clock && ask("clock", clock, [], isTime, "milliseconds since 1970");
  }

  /** Scores for a build, if there is a function for them; the guard checks what they are. */
  itemScores(phase: unknown, query: unknown): object | undefined {
    const scores = this.#functions.get("item_scores");
    return scores && ask("item_scores function", scores, [{ phase, query: query ?? "" }], isObject, "scores by item id");
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

  /** Keeps the function of a plugin; what else it says of itself is for the engine. */
  #plugin(key: string, method: string, value: unknown): unknown {
    if (typeof value === "function") return this.#keep(key, value as Fn, undefined);
    const { [method]: fn, name, ...rest } = fields(value, `/${key}`);
    if (typeof fn !== "function") throw notAFunction(`/${key}/${method}`);
    return { ...rest, ...this.#keep(key, fn as Fn, name) };
  }

  #keep(key: string, fn: Fn, name: unknown): { custom: unknown } {
    this.#functions.set(key, fn);
    return { custom: name ?? nameOf(fn) };
  }
}

function collect(value: unknown, path: string, into: Map<string, Fn>, known?: readonly string[]): void {
  for (const [key, fn] of Object.entries(fields(value, path))) {
    const at = `${path}/${key}`;
    if (known && !known.includes(key)) {
      throw new ContextWeaverError("UNKNOWN_FIELD", "unknown hook", { path: at, hint: `one of: ${known.join(" ")}` });
    }
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

function ask<T>(
  who: string,
  fn: Fn | undefined,
  args: unknown[],
  usable: (value: unknown) => value is T,
  wanted: string,
): T {
  if (!fn) throw new ContextWeaverError("INTERNAL", `the engine asked for a ${who} that was not given`);
  let value: unknown;
  try {
    value = fn(...args);
  } catch (cause) {
    throw new ContextWeaverError("CALLBACK_FAILED", `the ${who} threw`, { cause });
  }
  if (usable(value)) return value;
  const got = isPromise(value, () => undefined) ? "a promise" : typeof value;
  throw new ContextWeaverError("CALLBACK_FAILED", `the ${who} must return ${wanted}, got ${got}`, {
    hint: got === "a promise" ? "functions are called synchronously: prepare the answer before the call" : undefined,
  });
}

/** A promise is not waited for, but its rejection must not end the process either. */
function isPromise(value: unknown, rejected: () => void): boolean {
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
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null && !isPromise(value, () => undefined);
const isString = (value: unknown): value is string => typeof value === "string";
const isStrings = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isString);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isLevel = (value: unknown): value is string => LEVELS.includes(value as string);
