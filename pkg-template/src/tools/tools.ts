// Tools that are called with a context, and decorators around them. There is one way in, so that nothing can be skipped.
import { copied, broken } from "./context-values.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown, unknownField } from "../boundary/guard-errors.js";
import { ToolCallContext, breaksSeal, contextAt, effectiveContext, sealedConflict } from "./tool-call-context.js";
import type { MergeOptions } from "./tool-call-context.js";
import { withoutSecrets } from "./tool-errors.js";

/** A tool as a program calls it. A function or method with the input alone is one, too. */
export interface Tool<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly description: string;
  /** What a model may set; the context is no part of it. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** What a server says of the tool; nothing here depends on it. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** Runs the tool. Without a context it is called with {@link ToolCallContext.EMPTY}. */
  call(input: Input, context?: ToolCallContext): Promise<Output>;
}

/** A tool of another library or of one's own class. */
export interface ForeignTool<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  call(input: Input, context: ToolCallContext): Output | Promise<Output>;
}

/** A tool with a decorator around it. */
export interface DecoratedTool<Input = unknown, Output = unknown> extends Tool<Input, Output> {
  /** The tool inside, without this decorator. */
  readonly inner: Tool<Input, Output>;
}

/** What {@link defineTool} wants to know. */
export interface ToolSpec {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the input. Default: an object of whatever. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** Calls what is inside of a decorator. Without a context it gets the present one; to drop it, pass `ToolCallContext.EMPTY`. */
export type Next<Input = unknown, Output = unknown> = (input: Input, context?: ToolCallContext) => Promise<Output>;

/** What a decorator is told of the tool inside. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
}

/** What {@link decorate} puts around a tool. */
export interface Decoration<Input = unknown, Output = unknown> {
  /** A new name for the tool. */
  readonly name?: string;
  readonly description?: string;
  /** What {@link decoratorsOf} calls the decorator. Default: the name of the function. */
  readonly label?: string;
  /**
   * Runs instead of the tool, with and without a context alike. It may call `next` once, again for a retry, or not at all,
   * with the context as it is or with more in it; what is inside sees that, what is outside does not.
   */
  readonly around: (
    input: Input,
    context: ToolCallContext,
    next: Next<Input, Output>,
    info: ToolInfo,
  ) => Output | Promise<Output>;
}

const inners = /* @__PURE__ */ new WeakMap<object, { readonly inner: Tool; readonly label: string }>();

/**
 * Makes a tool of a function `(input, context)`, or with `style: "object"` of a function `({ input, context })`; with that one a
 * schema may not have a property `context`: `INVALID_INPUT` with the reason `ContextNameClash`.
 */
export function defineTool<Input = unknown, Output = unknown>(
  spec: ToolSpec & { readonly style: "object" },
  handler: (call: { readonly input: Input; readonly context: ToolCallContext }) => Output | Promise<Output>,
): Tool<Input, Output>;
export function defineTool<Input = unknown, Output = unknown>(
  spec: ToolSpec & { readonly style?: "positional" },
  handler: (input: Input, context: ToolCallContext) => Output | Promise<Output>,
): Tool<Input, Output>;
export function defineTool(spec: ToolSpec & { readonly style?: unknown }, handler: unknown): Tool {
  const { style = "positional", schema, ...about } = fields(spec);
  const run = aFunction(handler, "/handler");
  if (style !== "positional" && style !== "object") {
    throw new ContextWeaverError("INVALID_INPUT", "expected `positional` or `object`", { path: "/style" });
  }
  const known = ["name", "description", "annotations"];
  const unknown = Object.keys(about).find((key) => !known.includes(key));
  if (unknown !== undefined) throw unknownField(unknown, [...known, "style", "schema"]);
  const face = faceOf({ ...about, inputSchema: schema }, "/schema");
  if (style === "object" && declares(face.inputSchema, "context")) {
    const message = "the schema has a property `context`, and so has what the handler gets";
    const init = {
      path: "/schema/properties/context",
      hint: "rename the property, or use a handler of two parameters",
    };
    throw broken("INVALID_INPUT", "ContextNameClash", message, { name: "context" }, init);
  }
  return entered(face, (input, context) => (style === "object" ? run({ input, context }) : run(input, context)));
}

/** Lets a tool of another kind in. It is called as `call(input, context)`, always. */
export function fromForeign<Input, Output>(tool: ForeignTool<Input, Output>): Tool<Input, Output> {
  const call = aFunction((tool as ForeignTool | undefined)?.call, "/call");
  return entered(faceOf(tool), (input, context) => call.call(tool, input, context)) as Tool<Input, Output>;
}

/**
 * Puts a decorator around a tool. Schema, annotations and whatever else the tool tells of itself stay; decorators run from
 * the outermost to the innermost, and before each the signal of the context is observed.
 */
export function decorate<Input, Output>(
  tool: Tool<Input, Output>,
  decoration: Decoration<Input, Output>,
): DecoratedTool<Input, Output> {
  const call = aFunction((tool as Tool | undefined)?.call, "/tool/call");
  const { name, description, label, around, ...rest } = fields(decoration);
  refuseUnknown(rest, ["name", "description", "label", "around"]);
  const run = aFunction(around, "/around");
  const inside = faceOf(tool);
  const face = {
    ...inside,
    ...faceOf({ ...inside, ...(name !== undefined && { name }), ...(description !== undefined && { description }) }),
  };
  const info: ToolInfo = Object.freeze({ name: inside.name, description: inside.description });
  const outer = entered({ ...face, inner: tool }, (input, context) => {
    const next = async (nextInput: unknown, nextContext?: ToolCallContext): Promise<unknown> => {
      const passed = nextContext === undefined ? context : contextAt(nextContext, "/context");
      const broke = breaksSeal(context, passed);
      if (broke !== undefined) throw sealedConflict(broke);
      stopIfAsked(passed);
      return call.call(tool, nextInput, passed);
    };
    return run(input, context, next, info);
  }) as DecoratedTool<Input, Output>;
  inners.set(outer, { inner: tool as Tool, label: labelOf(label, name, around) });
  return outer;
}

/** The innermost tool, without decorators. */
export function unwrap(tool: Tool): Tool {
  let innermost = tool;
  for (let layer = inners.get(tool); layer; layer = inners.get(layer.inner)) innermost = layer.inner;
  return innermost;
}

/** The decorators around a tool, the outermost first. */
export function decoratorsOf(tool: Tool): readonly string[] {
  const labels: string[] = [];
  for (let layer = inners.get(tool); layer; layer = inners.get(layer.inner)) labels.push(layer.label);
  return labels;
}

/** The levels of a call. */
export interface ContextLevels extends MergeOptions {
  readonly process?: ToolCallContext;
  readonly interaction?: ToolCallContext;
  readonly call?: ToolCallContext;
}

/**
 * Runs a tool with a context, or with what levels of it give together. In what it throws `[redacted:<key>]` stands for the
 * secrets of the context.
 */
export function runTool<Input, Output>(
  tool: Tool<Input, Output>,
  input: Input,
  context?: ToolCallContext | ContextLevels,
): Promise<Output> {
  return guarded(
    () => {
      if (context === undefined || ToolCallContext.is(context)) return contextAt(context, "/context");
      const { process, interaction, call, ...options } = fields(context) as ContextLevels;
      return effectiveContext(process, interaction, call, options);
    },
    (effective) => aFunction((tool as Tool | undefined)?.call, "/tool/call").call(tool, input, effective),
  ) as Promise<Output>;
}

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Face = Omit<Tool, "call">;

/** Makes the tool: the one way in, which everything goes through. */
function entered(
  face: Face & { readonly inner?: unknown },
  run: (input: unknown, context: ToolCallContext) => unknown,
): Tool {
  return Object.freeze({
    ...face,
    call: (input: unknown, context?: ToolCallContext): Promise<unknown> =>
      guarded(
        () => contextAt(context, "/context"),
        (present) => run(input, present),
      ),
  });
}

async function guarded(contextOf: () => ToolCallContext, run: (context: ToolCallContext) => unknown): Promise<unknown> {
  const context = contextOf();
  stopIfAsked(context);
  try {
    return await run(context);
  } catch (thrown) {
    throw withoutSecrets(thrown, context);
  }
}

function stopIfAsked({ signal }: ToolCallContext): void {
  if (!signal?.aborted) return;
  throw signal.reason ?? new ContextWeaverError("CALLBACK_FAILED", "the call was aborted");
}

/** Reads what a tool says of itself, once; a tool that changes later is another one. */
function faceOf(tool: unknown, schemaPath = "/inputSchema"): Face {
  const source = tool as Record<string, unknown>;
  const { name, description = "", inputSchema = { type: "object" } } = source;
  if (typeof name !== "string" || name === "")
    throw new ContextWeaverError("INVALID_INPUT", "expected the name of a tool", { path: "/name" });
  if (typeof description !== "string")
    throw new ContextWeaverError("INVALID_INPUT", "expected a string", { path: "/description" });
  const schema = copied(inputSchema, "inputSchema");
  if (schema.isLocal || typeof schema.value !== "object" || schema.value === null) {
    throw new ContextWeaverError("INVALID_INPUT", "expected a JSON Schema", { path: schemaPath });
  }
  const more: Record<string, unknown> = {};
  for (const key of Object.keys(source)) if (!OWN.includes(key)) more[key] = source[key];
  if (source["annotations"] !== undefined) more["annotations"] = copied(source["annotations"], "annotations").value;
  return { ...more, name, description, inputSchema: schema.value as Readonly<Record<string, unknown>> };
}

const OWN = ["name", "description", "inputSchema", "annotations", "call", "inner", "__proto__"];

/** Whether a schema of objects names a property, at its root or in what it is combined of. */
function declares(schema: unknown, property: string, depth = 0): boolean {
  if (typeof schema !== "object" || schema === null || depth > 16) return false;
  const {
    properties,
    allOf,
    anyOf,
    oneOf,
    if: condition,
    then,
    else: otherwise,
    required,
  } = schema as Record<string, unknown>;
  if (typeof properties === "object" && properties !== null && Object.hasOwn(properties, property)) return true;
  if (Array.isArray(required) && required.includes(property)) return true;
  const parts = [allOf, anyOf, oneOf, condition, then, otherwise].flat();
  return parts.some((part) => declares(part, property, depth + 1));
}

function aFunction(value: unknown, path: string): Fn {
  if (typeof value !== "function") throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path });
  return value as Fn;
}

function labelOf(...candidates: unknown[]): string {
  const texts = candidates.map((candidate) => (typeof candidate === "function" ? candidate.name : candidate));
  const found = texts.find((text) => typeof text === "string" && text !== "" && text !== "around");
  return (found as string | undefined) ?? "decorator";
}
