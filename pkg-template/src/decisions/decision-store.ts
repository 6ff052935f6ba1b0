/// <reference lib="esnext.disposable" preserve="true" />
import { refuseAborted } from "../boundary/abort.js";
import { DecisionSession } from "./decision-session.js";
import type {
  CallDecisionToolOptions,
  DecisionCall,
  DecisionContext,
  DecisionContextOptions,
  DecisionExport,
  DecisionFiles,
  DecisionImport,
  DecisionImportReport,
  DecisionSnapshot,
  DecisionStoreOptions,
  DecisionTool,
  DecisionToolArguments,
  DecisionToolName,
  DecisionToolResult,
  JsonRpcResponse,
  RulesAdded,
} from "./decision-types.js";
import { ContextWeaverError, movePath } from "../boundary/errors.js";
import { encode, fields, text } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import { disposable } from "../boundary/engine-object.js";
import type { JsonObject } from "../types.js";

export interface DecisionStore {
  /** Same as {@link DecisionStore.free}, for `using`; absent where the runtime has no `Symbol.dispose`. */
  [Symbol.dispose](): void;
}

/**
 * What an agent decided and why, what came of it, and what that says about the next decision; as tools of MCP, without a
 * server.
 *
 * Tools are asynchronous, as they may wait for your `embed`; calls that begin while another waits run at once. All else is
 * synchronous. Arguments are copied, never kept or changed; results share nothing with the store. A call that throws has
 * changed nothing. Every error is a {@link ContextWeaverError}; what is wrong with the arguments of a tool is no error but
 * a result with `isError`, for the model to read.
 *
 * The decisions live in WebAssembly memory until {@link DecisionStore.free} or, where the runtime supports it, until the
 * store is collected. For the case of a defect in the engine the store also keeps what it was given: after a restart of the
 * engine the next call continues with the same decisions.
 */
export class DecisionStore {
  readonly #session: DecisionSession;

  /** Makes an empty store. Unknown options are `UNKNOWN_FIELD`; a guardrail that cannot be read is an error, too. */
  constructor(options?: DecisionStoreOptions) {
    this.#session = new DecisionSession(options);
  }

  /** Returns the tools as `tools/list` does, in a stable order. */
  listTools(): readonly DecisionTool[] {
    return this.#session.run<{ tools: DecisionTool[] }>("list_tools", "{}").tools;
  }

  /**
   * Runs a tool. Bad arguments and unknown tools are results with `isError` whose text is
   * `{"error":"validation_error","message":…}`.
   */
  async callTool<N extends DecisionToolName>(
    name: N,
    args?: DecisionToolArguments[N],
    options?: CallDecisionToolOptions,
  ): Promise<DecisionToolResult<N>>;
  async callTool<S extends string>(
    name: S extends DecisionToolName ? never : S,
    args?: unknown,
    options?: CallDecisionToolOptions,
  ): Promise<DecisionToolResult>;
  async callTool(name: string, args?: unknown, options?: CallDecisionToolOptions): Promise<DecisionToolResult> {
    const given = `"name":${encode(text(name, "/name"))},"arguments":${encode(args ?? {}, "/arguments")}`;
    refuseAborted(options?.signal);
    const more = caller(options);
    return this.#told(
      { tool: name },
      () => this.#session.ask<DecisionToolResult>("call_tool", `${given}${more}`),
      outcomeOf,
    );
  }

  /**
   * Answers a message of JSON-RPC as an MCP server does, in every revision of the protocol: a parsed message or its text.
   * Returns null where nothing is to be sent: for notifications and responses.
   */
  async handleRpc(message: unknown, options?: CallDecisionToolOptions): Promise<JsonRpcResponse | null> {
    const given = typeof message === "string" ? `"text":${encode(broken(message))}` : `"message":${encode(message)}`;
    const more = caller(options);
    const ask = (): Promise<JsonRpcResponse | null> => this.#session.ask("handle_rpc", `${given}${more}`);
    const call = this.#session.hears("call") ? toolCallOf(message) : undefined;
    return call ? this.#told(call, ask, outcomeOfRpc) : ask();
  }

  /**
   * Collects what past decisions say about a task, as Markdown within a budget of tokens: for the `header` of
   * {@link ContextManager.build}, or as an item of its own.
   */
  async context(options: DecisionContextOptions): Promise<DecisionContext> {
    const { query, budget_tokens, include, agent_id, trace_id, ...others } = fields(options);
    refuseUnknown(others, ["query", "budget_tokens", "include", "agent_id", "trace_id"]);
    const given = encode({ query, budget_tokens, include }).slice(1, -1);
    return this.#session.ask("context", `${given}${caller({ agent_id, trace_id })}`);
  }

  /** Adds guardrails: a list, one rule, or `{ guardrails: [...] }`, or such a thing as YAML text. Where one is bad, none is added, and the report says why. */
  addGuardrails(rules: unknown): RulesAdded {
    return this.#session.run<RulesAdded>("add_guardrails", `{"rules":${encode(rules)}}`, true);
  }

  /** Removes a guardrail; tells whether it was there. */
  removeGuardrail(id: string): boolean {
    return this.#session.run<{ removed: boolean }>("remove_guardrail", encode({ id }), true).removed;
  }

  /** Number of decisions. */
  get size(): number {
    return this.#session.run<{ size: number }>("size", "{}").size;
  }

  /** Returns everything that is in the store as plain data; `JSON.stringify(store)` uses it. */
  export(): DecisionSnapshot {
    return this.#session.run<DecisionSnapshot>("export", "{}");
  }

  /** Same as {@link DecisionStore.export}. */
  toJSON(): DecisionSnapshot {
    return this.export();
  }

  /**
   * Returns what changed since a revision that a snapshot named, as a snapshot to be merged into another store; everything, without
   * `since`, where something was replaced in between.
   */
  exportSince(revision: number, options?: DecisionExport): DecisionSnapshot {
    const { vectors, ...others } = fields(options, "/options");
    refuseUnknown(others, ["vectors"], "/options");
    return this.#session.run<DecisionSnapshot>("export", encode({ since: revision, vectors }));
  }

  /**
   * Takes a snapshot, its JSON text, or records of the reference server, also as its YAML files. A record that cannot be
   * read is left out and told by the report; an object that is neither a snapshot nor a record is `MISSING_FIELD` and
   * changes nothing. `on_conflict` says what becomes of ids that are there already.
   */
  import(
    snapshot: DecisionSnapshot | DecisionFiles | readonly JsonObject[] | string,
    options?: DecisionImport,
  ): DecisionImportReport {
    const json =
      typeof snapshot === "string"
        ? `"text":${encode(text(snapshot, "", SNAPSHOT.total), "", SNAPSHOT)}`
        : `"snapshot":${encode(snapshot, "", SNAPSHOT)}`;
    const more = encode(fields(options)).slice(1);
    try {
      return this.#session.run<DecisionImportReport>("import", `{${json}${more === "}" ? "" : ","}${more}`, true);
    } catch (error) {
      movePath(error, "/snapshot", "");
      throw error;
    }
  }

  /** Gives the memory back; every later call is `DISPOSED`. A second `free` does nothing. */
  free(): void {
    this.#session.free();
  }

  /** Runs a tool, and tells who listens. */
  async #told<T>(
    call: Pick<DecisionCall, "tool" | "rpc">,
    run: () => Promise<T>,
    outcome: (answered: T) => Outcome,
  ): Promise<T> {
    if (!this.#session.hears("call")) return run();
    const began = performance.now();
    let ended: Outcome = { error_type: "_OTHER" };
    try {
      const answered = await run();
      ended = outcome(answered);
      return answered;
    } catch (error) {
      if (ContextWeaverError.is(error)) ended = { error_type: error.code };
      throw error;
    } finally {
      const event: DecisionCall = {
        ...call,
        tool: this.#nameOf(call.tool),
        ...ended,
        duration_ms: performance.now() - began,
      };
      this.#session.tell([{ kind: "call", event }]);
    }
  }

  /** A name that is no tool's may be anything, and is not told. */
  #nameOf(tool: string): string {
    try {
      return this.listTools().some(({ name }) => name === tool) ? tool : "_OTHER";
    } catch {
      return "_OTHER"; // the store was freed meanwhile
    }
  }
}

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** The call of a tool that a message is, if it is one. */
function toolCallOf(message: unknown): Pick<DecisionCall, "tool" | "rpc"> | undefined {
  try {
    const { method, params } = (typeof message === "string" ? JSON.parse(message) : message) as {
      readonly method?: unknown;
      readonly params?: unknown;
    };
    if (method !== "tools/call") return undefined;
    const { name, _meta: meta } = Object(params) as { readonly name?: unknown; readonly _meta?: unknown };
    const version: unknown = Object(meta)[VERSION_KEY];
    const protocol_version = typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version) ? version : undefined;
    return {
      tool: String(name),
      rpc: { ...(protocol_version !== undefined && { protocol_version }), ...(meta !== undefined && { meta }) },
    };
  } catch {
    return undefined; // the engine says what is wrong with it
  }
}

/** What came of a call. */
type Outcome = Pick<DecisionCall, "error_type" | "found">;

function outcomeOf({
  isError,
  structuredContent,
}: {
  readonly isError?: unknown;
  readonly structuredContent?: unknown;
}): Outcome {
  if (isError === true) return { error_type: "tool_error" };
  const { decisions, relevantDecisions = decisions } = Object(structuredContent) as {
    readonly decisions?: unknown;
    readonly relevantDecisions?: unknown;
  };
  return Array.isArray(relevantDecisions) ? { found: relevantDecisions.length } : {};
}

function outcomeOfRpc(response: JsonRpcResponse | null): Outcome {
  return response?.error ? { error_type: String(response.error.code) } : outcomeOf(response?.result ?? {});
}

/** Who calls, as more fields of an argument. */
function caller(options: unknown): string {
  const { agent_id, trace_id, signal: _, ...others } = fields(options, "/options");
  refuseUnknown(others, ["agent_id", "trace_id", "signal"], "/options");
  const named = [
    ["agent_id", agent_id],
    ["trace_id", trace_id],
  ] as const;
  return named
    .flatMap(([key, value]) => (value === undefined ? [] : [`,"${key}":${encode(text(value, `/options/${key}`))}`]))
    .join("");
}

/** A message that is half a surrogate pair somewhere cannot be JSON that anybody sent; it is answered as such. */
function broken(message: string): string {
  return (message as { toWellFormed?(): string }).toWellFormed?.() ?? message;
}

disposable(DecisionStore);
