// Records of the Model Context Protocol and what they become.
import {
  MetaPolicy,
  ToolCallContext,
  countTokens,
  mcpResultToEnvelope,
  mcpToolToSelectable,
  selectableToMcpTool,
  toMcpMeta,
} from "contextweaver/slim";
import type { McpRevision, McpToolRecord } from "contextweaver/slim";
import { parse } from "./read.ts";
import { InputError, MASKED_CHARS, head, json, line, partOf, masked, safe, type Part } from "./text.ts";

export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly path: string;
}

const shown = ({ code, message, path }: Warning): Warning => ({ code, message: safe(message), path: safe(path) });

export interface McpToolView {
  readonly id: string;
  readonly namespace: string;
  readonly item: string;
  /** What the server declares, with the protocol's defaults for what it does not. */
  readonly hints: readonly { readonly name: string; readonly value: boolean }[];
  readonly warnings: readonly Warning[];
  /** The item written as a tool again. */
  readonly back: string;
  readonly report: readonly Warning[];
}

function tool({ text, server, revision }: { text: string; server: string; revision: McpRevision | "" }): McpToolView {
  const item = mcpToolToSelectable(first(parse(text)), server === "" ? {} : { server });
  const { mcp = {} } = (item.metadata["_contextweaver"] ?? {}) as { mcp?: McpToolRecord };
  const written = selectableToMcpTool(item, revision === "" ? {} : { revision });
  return {
    id: safe(item.id),
    namespace: safe(item.namespace),
    item: json(item),
    hints: Object.entries(mcp.hints ?? {}).map(([name, value]) => ({ name, value: value === true })),
    warnings: (mcp.warnings ?? []).map(shown),
    back: json(written.tool),
    report: written.report.map(shown),
  };
}

/** A tool, or the first of a list. */
function first(value: unknown): unknown {
  const { tools } = (value ?? {}) as { tools?: unknown };
  if (Array.isArray(tools)) return tools[0];
  return Array.isArray(value) ? value[0] : value;
}

export interface Binary {
  readonly handle: string;
  readonly media_type: string;
  readonly label: string;
  readonly size: number;
  /** Of a picture or a sound that a browser can show. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** The beginning of anything else. */
  readonly text: string;
}

export interface McpResultView {
  readonly status: string;
  /** The result as it came, with long texts cut. */
  readonly received: string;
  readonly summary: string;
  readonly facts: readonly string[];
  readonly envelope: string;
  readonly fullText: Part;
  /** Of the result as JSON, and of what the model reads of it. */
  readonly tokens: { readonly result: number; readonly summary: number };
  readonly warnings: readonly Warning[];
  readonly binaries: readonly Binary[];
}

/** What a browser may be handed as a picture or a sound. The bytes are never opened as a document. */
const PLAYABLE =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)|audio\/(?:mpeg|mp4|ogg|wav|x-wav|wave|webm|aac|flac))$/;

function result({ text, tool, revision }: { text: string; tool: string; revision: McpRevision | "" }): McpResultView {
  const options = revision === "" ? {} : { revision };
  const received = resultOf(parse(text));
  const converted = mcpResultToEnvelope(received, tool || "tool", options);
  const { envelope, full_text, warnings, binaries } = converted;
  return {
    status: envelope.status,
    received: partOf(masked(JSON.stringify(received, cut, 2)), 0).text,
    summary: masked(envelope.summary),
    facts: envelope.facts.map(masked),
    envelope: json(envelope),
    fullText: partOf(masked(full_text), 0),
    tokens: { result: tokensOf(JSON.stringify(received)), summary: countTokens(envelope.summary) },
    warnings: warnings.map(shown),
    binaries: [...binaries].map(([handle, { bytes, media_type, label }]) => {
      const isPlayable = PLAYABLE.test(media_type);
      const about = { handle: safe(handle), media_type: safe(media_type), label: safe(label), size: bytes.length };
      return isPlayable ? { ...about, bytes, text: "" } : { ...about, text: beginning(bytes, media_type) };
    }),
  };
}

/** Characters that are counted at once: one text crosses to the core in at most 8 MiB. */
const COUNTED_CHARS = 2 ** 20;

function tokensOf(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at += COUNTED_CHARS)
    tokens += countTokens(text.slice(at, at + COUNTED_CHARS).toWellFormed());
  return tokens;
}

const SHOWN_CHARS = 400;

/** Pictures and long texts say more by their length. */
function cut(_: string, value: unknown): unknown {
  if (typeof value !== "string" || value.length <= SHOWN_CHARS) return value;
  const isBase64 = /^[\w+/=\r\n]+$/.test(value);
  return `${head(masked(value.slice(0, MASKED_CHARS).toWellFormed()), isBase64 ? 40 : SHOWN_CHARS)}… (${value.length.toLocaleString("en")} characters)`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** Any of these makes an object a result of `tools/call`; the package makes an envelope of every object. */
const OF_RESULT = ["content", "structuredContent", "isError", "resultType", "task"];

/** The result itself, or that in a whole answer of JSON-RPC. What a server says instead of a result is no envelope. */
function resultOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new InputError("a result is a JSON object");
  const isBare = OF_RESULT.some((key) => key in value);
  if (!isBare && isRecord(value["error"])) throw new InputError(rpcError(value["error"]));
  if (!isBare && "method" in value)
    throw new InputError("it is a message of JSON-RPC, but no answer: a request or a notification");
  const inner = !isBare && "result" in value ? value["result"] : value;
  if (!isRecord(inner) || !OF_RESULT.some((key) => key in inner)) {
    throw new InputError("it is no result of tools/call: it has neither `content` nor `structuredContent`");
  }
  return inner;
}

const ERROR_CHARS = 600;

function rpcError({ code, message, data }: Record<string, unknown>): string {
  const more = data === undefined ? "" : ` ${JSON.stringify(data)}`;
  return `the server answered with an error of JSON-RPC instead of a result: ${line(`${String(code)} ${String(message)}${more}`, ERROR_CHARS)}`;
}

const BEGINNING = 600;

function beginning(bytes: Uint8Array, media_type: string): string {
  const some = bytes.subarray(0, BEGINNING);
  if (/^text\/|json|xml/.test(media_type)) return masked(new TextDecoder().decode(some));
  return [...some.subarray(0, 64)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

export interface MetaRequest {
  /** The context as a JSON object. */
  readonly context: string;
  readonly policy: "none" | "allow" | "deny" | "passThrough";
  /** Keys, separated by commas or line ends. */
  readonly keys: string;
  /** Secrets that `allow` names a second time. */
  readonly secrets: string;
  readonly prefix: string;
}

export interface MetaView {
  /** `_meta` as it crosses, or nothing. */
  readonly meta: string | null;
  readonly entries: readonly {
    readonly key: string;
    readonly isSecret: boolean;
    readonly crosses: boolean;
    readonly why: string;
  }[];
  readonly warnings: readonly Warning[];
}

const listed = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((key) => key.trim())
    .filter(Boolean);

function meta(request: MetaRequest): MetaView {
  const value = parse(request.context);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InputError("the context is no JSON object");
  const context = ToolCallContext.of(value as Record<string, unknown>);
  const keys = listed(request.keys);
  const policy = policyOf(request, keys);
  const warnings: Warning[] = [];
  const options = {
    onWarning: (warning: Warning) => void warnings.push(warning),
    ...(request.prefix !== "" && { prefix: request.prefix }),
  };
  const crossing = toMcpMeta(context, policy, options);
  const entries = context.keys().map((key) => {
    const isSecret = context.isSecret(key);
    // Asked one by one, so that what is shown is what the package does.
    const crosses = alone(context, key, policy, request.prefix);
    return { key: safe(key), isSecret, crosses, why: reasonOf(request, keys, key, isSecret, crosses) };
  });
  return { meta: crossing ? json(crossing) : null, entries, warnings: warnings.map(shown) };
}

function policyOf({ policy, secrets }: MetaRequest, keys: readonly string[]): MetaPolicy {
  if (policy === "allow") return MetaPolicy.allow(keys, { secrets: listed(secrets) });
  if (policy === "deny") return MetaPolicy.deny(keys);
  return policy === "passThrough" ? MetaPolicy.passThrough() : MetaPolicy.none;
}

function alone(context: ToolCallContext, key: string, policy: MetaPolicy, prefix: string): boolean {
  return (
    toMcpMeta(context.pick([key]), policy, { onWarning: () => undefined, ...(prefix !== "" && { prefix }) }) !==
    undefined
  );
}

function reasonOf(
  { policy }: MetaRequest,
  keys: readonly string[],
  key: string,
  isSecret: boolean,
  crosses: boolean,
): string {
  if (policy === "none") return "no policy, so nothing leaves";
  if (crosses) return isSecret ? "a secret that is named as one" : policy === "allow" ? "on the list" : "not held back";
  if (policy === "allow" && !keys.includes(key)) return "not on the list";
  if (policy === "deny" && keys.includes(key)) return "on the list";
  return isSecret ? "a secret by its name" : "not allowed by the protocol";
}

export const operations = { "mcp.tool": tool, "mcp.result": result, "mcp.meta": meta };
