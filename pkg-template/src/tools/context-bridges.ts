// Contexts of other libraries. Keys and values pass as they are; what came as an object of the program stays in it.
import { contextKeys } from "./context-key.js";
import type { AbortSignalLike, AnyContextKey } from "./context-key.js";
import { fields } from "../boundary/guard.js";
import { fromMcpMeta } from "../mcp/mcp-meta.js";
import type { FromMcpMetaOptions } from "../mcp/mcp-meta.js";
import { ToolCallContext, contextAt, effectiveContext, localOnly } from "./tool-call-context.js";
import { fromForeign } from "./tools.js";
import type { Tool } from "./tools.js";

/** What handlers of the MCP SDK for TypeScript get beside the arguments. */
export interface McpExtra {
  readonly _meta?: unknown;
  readonly signal?: AbortSignalLike;
  readonly authInfo?: unknown;
  readonly sessionId?: string;
  readonly requestId?: string | number;
}

/**
 * Makes a context of what a handler of the MCP SDK gets. `signal`, `authInfo`, `sessionId` and `requestId` stay in this
 * program; of `_meta` comes the progress token, and what `allow` names.
 */
export function fromExtra(extra: McpExtra, options?: FromMcpMetaOptions): ToolCallContext {
  const { _meta: meta, signal, authInfo, sessionId, requestId } = (extra ?? {}) as McpExtra;
  const known = Object.entries({ signal, authInfo, sessionId, requestId }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const inbound = options === undefined ? ToolCallContext.EMPTY : fromMcpMeta(meta, options);
  const progress =
    typeof meta === "object" && meta !== null ? (meta as { progressToken?: unknown }).progressToken : undefined;
  const isProgress = typeof progress === "string" ? progress.length <= 4096 : typeof progress === "number";
  const token: [AnyContextKey, unknown][] = isProgress ? [[contextKeys.progressToken, progress]] : [];
  // What the transport says wins over what the client says.
  return effectiveContext(inbound, ToolCallContext.of(token), localOnly(known));
}

/** What tools of the AI SDK get beside the input. */
export interface AiSdkOptions {
  /** Since version 7. */
  readonly context?: unknown;
  /** Until version 6. */
  readonly experimental_context?: unknown;
  /** The id of the call, as the SDK has it. */
  readonly toolCallId?: string;
  /** Ends the call of the tool, as far as the tool listens to it. */
  readonly abortSignal?: AbortSignalLike;
}

/** Makes a context of the options that a tool of the AI SDK gets, of version 7 or an earlier one; `context` wins over the older field. */
export function fromAiSdk(options: AiSdkOptions): ToolCallContext {
  const { experimental_context: older, context, toolCallId, abortSignal } = fields(options);
  const more = {
    ...(toolCallId !== undefined && { toolCallId }),
    ...(abortSignal !== undefined && { signal: abortSignal }),
  };
  return effectiveContext(fromRecord(older), fromRecord(context), ToolCallContext.of(more));
}

/** Makes the options of a tool of the AI SDK, with the context where version 7 and where earlier ones look for it; none for an empty context. */
export function toAiSdk(context: ToolCallContext): AiSdkOptions | undefined {
  const { signal, toolCallId, ...rest } = revealed(context);
  if (contextAt(context, "/context").isEmpty) return undefined;
  return {
    ...(Object.keys(rest).length > 0 && { context: rest, experimental_context: rest }),
    ...(toolCallId !== undefined && { toolCallId: toolCallId as string }),
    ...(signal !== undefined && { abortSignal: signal as AbortSignalLike }),
  };
}

/** A configuration of LangChain, as far as it is about context. */
export interface ConfigurableLike {
  readonly configurable?: unknown;
  readonly signal?: AbortSignalLike;
}

/** Makes a context of `config.configurable` and the signal of a configuration of LangChain. */
export function fromConfigurable(config: ConfigurableLike): ToolCallContext {
  const { configurable, signal } = (config ?? {}) as ConfigurableLike;
  return effectiveContext(fromRecord(configurable), ToolCallContext.of(signal === undefined ? {} : { signal }));
}

/** Makes a configuration of LangChain; none for an empty context. */
export function toConfigurable(context: ToolCallContext): ConfigurableLike | undefined {
  const { signal, ...configurable } = revealed(context);
  if (contextAt(context, "/context").isEmpty) return undefined;
  return {
    ...(Object.keys(configurable).length > 0 && { configurable }),
    ...(signal !== undefined && { signal: signal as AbortSignalLike }),
  };
}

/** A tool with a function `execute(params, context)`. */
export interface Executable {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  execute(params: unknown, context?: unknown): unknown;
}

/**
 * Lets in a tool that is run by `execute(params, context)`; `contextFor` makes its context of ours. With an empty context it
 * is run as `execute(params)`.
 */
export function fromExecutable(tool: Executable, contextFor: (context: ToolCallContext) => unknown): Tool {
  const { name, description, inputSchema, annotations } = tool;
  return fromForeign({
    name,
    description,
    inputSchema,
    annotations,
    call: (input: unknown, context: ToolCallContext) =>
      context.isEmpty ? tool.execute(input) : tool.execute(input, contextFor(context)),
  });
}

function fromRecord(value: unknown): ToolCallContext {
  return value === undefined || value === null
    ? ToolCallContext.EMPTY
    : ToolCallContext.of(value as Readonly<Record<string, unknown>>);
}

function revealed(context: ToolCallContext): Record<string, unknown> {
  return contextAt(context, "/context").toObject({ reveal: true });
}
