// The conversations of an agent that has many: each has its own log, and those that were idle longest give way.
import { AgentLoop } from "./agent-loop.js";
import type { AgentLoopOptions, AgentLoopStep } from "./agent-loop.js";
import { handleOf } from "./handle.js";
import type { ContextWeaverHandle, ConversationsHandle } from "./handle.js";
import { ContextWeaverError } from "contextweaver";
import type { Catalog, ContextManager, ContextManagerOptions } from "contextweaver";

/** How the loops of an agent with many conversations are served. */
export interface ConversationsOptions extends Omit<AgentLoopOptions, "manager" | "session" | "on_step"> {
  /**
   * How to make the log of a conversation, or a function that returns the log of the one with this key, the thread's id where there
   * is one. Default: a new one with default options. Whoever returns one frees it.
   */
  readonly manager?: ContextManagerOptions | ((conversation: string) => ContextManager);
  /**
   * Conversations whose logs are kept in memory; the one that was idle longest gives way, and none with a call under way. What the
   * framework still has of it is read again when it goes on. Default: 100.
   */
  readonly max_conversations?: number;
  /** Is told of every step what was sent and what was left out, and the key of the conversation. What it throws ends the step. */
  readonly on_step?: (step: AgentLoopStep, conversation: string) => void;
}

/** A conversation that is served, with what else is kept of it. */
export interface ServedConversation<T> {
  readonly loop: AgentLoop;
  readonly kept: T;
}

const MAX_CONVERSATIONS = 100;

/** Refuses what is not as described. */
function refuse(path: string | undefined, expected: string, hint?: string): never {
  throw new ContextWeaverError("INVALID_INPUT", `expected ${expected}`, { path, hint });
}

/** The conversations of an agent, those that went on last behind the others. */
export class Conversations<T> {
  readonly #options: Omit<AgentLoopOptions, "manager" | "session" | "on_step">;
  readonly #given: Pick<ConversationsOptions, "manager" | "on_step">;
  readonly #most: number;
  readonly #begin: () => T;
  /** The conversation that will begin, unless its log is to be asked for by its key. */
  #next: BegunConversation<T> | undefined;
  readonly #known = new Map<string, BegunConversation<T>>();

  constructor(given: ConversationsOptions, begin: () => T) {
    if (typeof given !== "object" || (given as unknown) === null)
      refuse(undefined, "options", "{ budget_tokens: 16000 }");
    const { manager, on_step, max_conversations = MAX_CONVERSATIONS, ...options } = given;
    [this.#options, this.#given, this.#most, this.#begin] = [
      options,
      { ...(manager && { manager }), ...(on_step && { on_step }) },
      max_conversations,
      begin,
    ];
    if (!Number.isInteger(max_conversations) || max_conversations < 1)
      refuse("/max_conversations", "a whole number of conversations");
    if (on_step !== undefined && typeof on_step !== "function") refuse("/on_step", "a function");
    if (typeof manager === "object" && "syncMessages" in manager)
      refuse("/manager", "options or a function", "a function that returns the one of each conversation");
    // Bad options are told when they are given, not when a conversation begins.
    const next = this.#made(typeof manager === "function" ? undefined : manager);
    if (typeof manager === "function") next.loop.free();
    else this.#next = next;
  }

  /** What is returned to whoever serves an agent. `manager` is read anew each time, and is no part of a copy. */
  handle<Rest extends object>(rest: Rest): Rest & ConversationsHandle {
    const present = (): AgentLoop => this.#present();
    const handle = {
      ...rest,
      conversation: (key: string) => this.#handleOf(key),
      costs: () => present().costs(),
      report: () => present().report(),
      free: () => this.free(),
    };
    return Object.defineProperty(handle, "manager", { get: () => present().manager }) as Rest & ConversationsHandle;
  }

  #handleOf(key: string): ContextWeaverHandle | undefined {
    const found = this.#known.get(key);
    return found && { ...handleOf(found.loop), free: () => this.#end(key) };
  }

  #end(key: string): void {
    this.#known.get(key)?.loop.free();
    this.#known.delete(key);
  }

  /** The conversation that went on last, or that will begin. */
  #present(): AgentLoop {
    const { loop } = [...this.#known.values()].at(-1) ?? this.#next ?? {};
    if (loop) return loop;
    throw new ContextWeaverError("NOT_FOUND", "no conversation has begun", {
      path: "/manager",
      hint: "your function `manager` makes the log of each",
    });
  }

  /** Finds a conversation, or begins it. */
  of(key: string): BegunConversation<T> {
    const conversation = this.#known.get(key) ?? this.#begun(key);
    this.#known.delete(key);
    this.#known.set(key, conversation);
    this.#giveWay(conversation);
    return conversation;
  }

  /** Finds a conversation, or begins it, for a call: it does not give way before that ends. */
  async during<R>(key: string, call: (conversation: ServedConversation<T>) => R | Promise<R>): Promise<R> {
    const conversation = this.of(key);
    conversation.calls += 1;
    try {
      return await call(conversation);
    } finally {
      conversation.calls -= 1;
      this.#giveWay();
    }
  }

  /** Finds a conversation that is in memory. */
  get(key: string): ServedConversation<T> | undefined {
    return this.#known.get(key);
  }

  free(): void {
    for (const { loop } of this.#known.values()) loop.free();
    this.#next?.loop.free();
    this.#known.clear();
    this.#next = undefined;
  }

  /** Ends those that were idle longest, as long as there are too many. */
  #giveWay(latest?: BegunConversation<T>): void {
    for (const [key, conversation] of this.#known) {
      if (this.#known.size <= this.#most) break;
      if (conversation !== latest && conversation.calls === 0) this.#end(key);
    }
  }

  #begun(key: string): BegunConversation<T> {
    const { manager } = this.#given;
    const begun = this.#next ?? this.#made(typeof manager === "function" ? manager(key) : manager);
    this.#next = undefined;
    begun.key = key;
    return begun;
  }

  #made(manager: ContextManager | ContextManagerOptions | undefined): BegunConversation<T> {
    const { on_step } = this.#given;
    const told = on_step && ((step: AgentLoopStep): void => on_step(step, made.key));
    const made: BegunConversation<T> = {
      key: "",
      calls: 0,
      loop: new AgentLoop({ ...this.#options, ...(manager && { manager }), ...(told && { on_step: told }) }, [
        "max_conversations",
        "toJsonSchema",
      ]),
      kept: this.#begin(),
    };
    return made;
  }
}

/** A conversation, with what it is known by once it has begun. */
interface BegunConversation<T> extends ServedConversation<T> {
  key: string;
  /** Calls that are under way. */
  calls: number;
}

/** Makes a catalog, whose errors are about what stands `at` a place in the request. */
export function catalogAt(at: string, make: () => Catalog): Catalog {
  try {
    return make();
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    const { code, message, path = "", hint, details } = error;
    throw new ContextWeaverError(code, message, { path: `${at}${path}`, hint, details, cause: error });
  }
}
