// Runs tools for a server: arguments checked, confirmation asked for, time limited, results mapped. Whatever goes wrong
// in a tool becomes a result; only an unknown tool is an error of the protocol.
import { ContextWeaverError } from "../boundary/errors.js";
import { encode, fields } from "../boundary/guard.js";
import type { ConversionWarning } from "../mcp/mcp-types.js";
import type { Clock } from "../manager/options.js";
import { toolDefinitionToMcp, toolResultToMcp, validateArgs } from "./tool-definition.js";
import type {
  AnyToolDefinition,
  McpTool,
  McpCallResult,
  ToolDefinitionToMcpOptions,
  ToolDefinitionResult,
  ToolResultToMcpOptions,
  ToolRun,
} from "./tool-definition-types.js";
import type { JsonValue } from "../types.js";

/** How tools are run. */
export interface BindToolsOptions extends ToolDefinitionToMcpOptions {
  /** Milliseconds since 1970, for `fetchedAt`. Default `Date.now`. */
  readonly clock?: Clock;
  /** Makes what `execute` gets as its context of what `call` was given. Default: the same. */
  readonly contextFor?: (definition: AnyToolDefinition, context: unknown) => unknown;
  /** Tells whether something thrown is the host's own signal, to be thrown on instead of becoming a result. */
  readonly isInterrupt?: (thrown: unknown) => boolean;
  /**
   * Who confirms calls of tools with `requiresConfirmation`: nobody here (`hint`, the client sees the hints), or your
   * function, before the tool runs. Default `hint`.
   */
  readonly confirm?: "hint" | ((definition: AnyToolDefinition, args: JsonValue) => Promise<boolean> | boolean);
  /** Whether absent arguments get the defaults of the schema. Default false. */
  readonly useDefaults?: boolean;
  /** Whether data that do not fit the output schema become an error. Default true. */
  readonly validateOutput?: boolean;
  /** How results are written; see {@link toolResultToMcp}. */
  readonly results?: Pick<
    ToolResultToMcpOptions,
    "wrapKey" | "fetchedAt" | "explicitIsError" | "dedupePrefix" | "render"
  >;
  /** Is told what was passed over in results. */
  readonly onWarning?: (warning: ConversionWarning, tool: string) => void;
}

/** Tools that can be listed and called. */
export interface BoundTools {
  /** What was passed over in the definitions. */
  readonly warnings: readonly ConversionWarning[];
  /** The tools as a server lists them, in the order of their definitions; a copy each time. */
  list(): McpTool[];
  /**
   * Runs a tool. `NOT_FOUND` with `details.rpc_code` -32602 for an unknown one; everything else that goes wrong is a
   * result with `isError`.
   */
  call(
    name: string,
    args?: unknown,
    context?: unknown,
    options?: { readonly signal?: AbortSignal },
  ): Promise<McpCallResult>;
}

interface Bound {
  readonly definition: AnyToolDefinition;
  readonly execute: (args: unknown, context: unknown, run: ToolRun) => unknown;
  readonly inputSchema: object;
  readonly outputSchema: object | undefined;
  readonly timeout: number;
  readonly confirms: boolean;
}

const CANCELLED = "Request was cancelled";
const OWN_OPTIONS = [
  "clock",
  "contextFor",
  "isInterrupt",
  "confirm",
  "useDefaults",
  "validateOutput",
  "results",
  "onWarning",
] as const;

/** Binds definitions to their functions. The first definition that cannot be mapped, or has no `execute`, is an error. */
export function bindTools(definitions: readonly AnyToolDefinition[], options?: BindToolsOptions): BoundTools {
  const mapping = fields(options);
  const own: Own = Object.fromEntries(OWN_OPTIONS.map((name) => [name, mapping[name]]));
  for (const name of OWN_OPTIONS) delete mapping[name];
  checkFunctions(own);
  const mapped = toolDefinitionToMcp(definitions, { ...mapping, strict: true });
  const bound = new Map<string, Bound>();
  mapped.tools.forEach((tool, index) => {
    const definition = definitions[index] as AnyToolDefinition;
    const { execute, requiresConfirmation } = definition;
    if (typeof execute !== "function") {
      throw new ContextWeaverError("MISSING_FIELD", "the tool has no function", { path: `/${index}/execute` });
    }
    bound.set(tool.name, {
      definition,
      execute: (args, context, run) => execute.call(definition, args as never, context as never, run),
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema,
      timeout: mapped.handlers[index]?.timeout ?? 0,
      confirms: requiresConfirmation === true,
    });
  });
  const list = encode(mapped.tools);
  const runner = new Runner(own, mapping);
  return {
    warnings: mapped.warnings,
    list: () => JSON.parse(list) as McpTool[],
    async call(name, args = {}, context, { signal } = {}) {
      const tool = bound.get(name);
      if (!tool) {
        const message = `Unknown tool: ${typeof name === "string" ? name.slice(0, 128) : typeof name}`;
        throw new ContextWeaverError("NOT_FOUND", message, {
          path: "/name",
          unknown: { name: String(name), known: [...bound.keys()] },
          details: { rpc_code: -32602 },
        });
      }
      return runner.call(tool, args, context, signal);
    },
  };
}

type Own = { readonly [Key in (typeof OWN_OPTIONS)[number]]?: BindToolsOptions[Key] | undefined };

function checkFunctions(own: Own): void {
  for (const name of ["clock", "contextFor", "isInterrupt", "onWarning", "confirm"] as const) {
    const value: unknown = own[name];
    if (value === undefined || typeof value === "function" || (name === "confirm" && value === "hint")) continue;
    throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: `/${name}` });
  }
}

class Runner {
  private readonly own: Own;
  private readonly mapping: Record<string, unknown>;

  constructor(own: Own, mapping: Record<string, unknown>) {
    this.own = own;
    this.mapping = mapping;
  }

  async call(tool: Bound, given: unknown, context: unknown, signal: AbortSignal | undefined): Promise<McpCallResult> {
    const start = this.now();
    const fail = (error: string) => this.result(tool, { error }, start);
    let args: JsonValue;
    try {
      const { useDefaults } = this.own;
      const checked = validateArgs(tool.inputSchema, given, { useDefaults: useDefaults === true });
      if (!checked.valid) {
        const all = checked.errors.map(({ path, expected }) => `${path || "/"}: expected ${expected}`);
        return fail(`Invalid arguments: ${all.join("; ")}`);
      }
      // A copy: what the caller holds may change, or be a proxy.
      args = checked.value ?? (JSON.parse(encode(given)) as JsonValue);
    } catch (error) {
      return fail(`Invalid arguments: ${messageOf(error)}`);
    }
    if (signal?.aborted) return fail(CANCELLED);
    try {
      const { confirm, contextFor } = this.own;
      if (tool.confirms && typeof confirm === "function") {
        if ((await confirm(tool.definition, args)) !== true) return fail("Cancelled by user");
        if (signal?.aborted) return fail(CANCELLED);
      }
      const made = contextFor ? contextFor(tool.definition, context) : context;
      const result = await race(tool, args, made, signal);
      return this.result(tool, result, start);
    } catch (thrown) {
      if (this.own.isInterrupt?.(thrown) === true) throw thrown;
      return fail(messageOf(thrown));
    }
  }

  private now(): string {
    const { clock } = this.own;
    return new Date(clock ? clock() : Date.now()).toISOString();
  }

  /** Maps what a tool returned; what cannot be mapped is a failure of the tool. */
  private result(tool: Bound, returned: unknown, start: string): McpCallResult {
    const { definition } = tool;
    const { prefix, protocolVersion } = this.mapping;
    const options = {
      ...this.own.results,
      ...(prefix !== undefined && { prefix }),
      ...(protocolVersion !== undefined && { protocolVersion }),
    } as ToolResultToMcpOptions;
    const checks = tool.outputSchema && this.own.validateOutput !== false;
    const checked = checks ? { outputSchema: tool.outputSchema, validateOutput: true } : {};
    const write = (result: ToolDefinitionResult, more: object) => {
      const mapped = toolResultToMcp({ fetchedAt: start, ...result, tool: definition.name }, { ...options, ...more });
      for (const warning of mapped.warnings) this.own.onWarning?.(warning, definition.name);
      return mapped.result;
    };
    try {
      return write(resultOf(returned), checked);
    } catch (error) {
      return write({ error: messageOf(error) }, {});
    }
  }
}

/** Reads what a tool returned. */
function resultOf(returned: unknown): ToolDefinitionResult {
  const result = fields(returned);
  const isResult = ["data", "error", "fetchedAt", "tool"].some((name) => name in result);
  if (isResult || Object.keys(result).length === 0) return result as ToolDefinitionResult;
  throw new ContextWeaverError("INVALID_INPUT", "the tool returned neither `data` nor `error`");
}

/** Runs a tool until it is done, the time is over, or the caller gives up; its signal tells the tool of the latter two. */
async function race(tool: Bound, args: JsonValue, context: unknown, signal: AbortSignal | undefined): Promise<unknown> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp: (() => void) | undefined;
  try {
    return await new Promise<unknown>((resolve, reject) => {
      const stop = (error: string) => {
        resolve({ error });
        controller.abort(new Error(error));
      };
      giveUp = () => stop(CANCELLED);
      signal?.addEventListener("abort", giveUp, { once: true });
      timer = setTimeout(() => stop(`Timed out after ${tool.timeout} ms`), tool.timeout);
      Promise.resolve(tool.execute(args, context, { signal: controller.signal })).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    if (giveUp) signal?.removeEventListener("abort", giveUp);
  }
}

/** What is said of something thrown: never its stack. */
function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.message}` : String(thrown);
  } catch {
    return "the tool failed";
  }
}
