// What of a context crosses to an MCP server as `_meta`, and what comes in from a client. By default nothing does.
import { callContext } from "../tools/context-call.js";
import { ContextKey, isSchema, passes } from "../tools/context-key.js";
import type { AnyContextKey, StandardSchema } from "../tools/context-key.js";
import { broken, quoted } from "../tools/context-values.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown, token } from "../boundary/guard-errors.js";
import { ToolCallContext, contextAt, inboundContext, kept } from "../tools/tool-call-context.js";
import { withoutSecrets } from "../tools/tool-errors.js";
import type { JsonObject } from "../types.js";

type PolicySpec =
  | { readonly kind: "none" }
  | { readonly kind: "allow"; readonly keys: readonly string[]; readonly secrets: readonly string[] }
  | { readonly kind: "deny"; readonly keys: readonly string[] }
  | { readonly kind: "passThrough"; readonly includeSecrets: boolean }
  | { readonly kind: "compose"; readonly parts: readonly MetaPolicy[] }
  | { readonly kind: "map"; readonly map: MetaMap };

/** Makes what is sent of a context. */
export type MetaMap = (context: ToolCallContext) => Readonly<Record<string, unknown>>;

/** Finds the policy of a server. */
export type PolicyFor = (server: string) => MetaPolicy | undefined;

// Made when needed: a static field would keep bundlers from dropping the class.
let none: MetaPolicy | undefined;
/** Nobody else has it, so that nobody else makes a policy. */
const MADE = {};

/**
 * What of a context may leave for a server. Keys are compared exactly. Secrets stay, unless `allow` names them a second time
 * or everything is let through dangerously.
 */
export class MetaPolicy {
  readonly #spec: PolicySpec;

  private constructor(spec: PolicySpec, made?: typeof MADE) {
    if (made !== MADE) throw new ContextWeaverError("INVALID_INPUT", "a policy is made by a function of MetaPolicy");
    this.#spec = spec;
    Object.freeze(this);
  }

  /** Nothing leaves. The default. */
  static get none(): MetaPolicy {
    return (none ??= new MetaPolicy({ kind: "none" }, MADE));
  }

  /** The listed keys leave, of the secrets those that `secrets` names. */
  static allow(
    keys: readonly (string | AnyContextKey)[],
    options: { readonly secrets?: readonly (string | AnyContextKey)[] } = {},
  ): MetaPolicy {
    const { secrets = [], ...rest } = fields(options);
    refuseUnknown(rest, ["secrets"]);
    return new MetaPolicy({ kind: "allow", keys: names(keys, "/keys"), secrets: names(secrets, "/secrets") }, MADE);
  }

  /** Everything leaves but the listed keys and secrets. */
  static deny(keys: readonly (string | AnyContextKey)[]): MetaPolicy {
    return new MetaPolicy({ kind: "deny", keys: names(keys, "/keys") }, MADE);
  }

  /** Everything leaves but secrets. */
  static passThrough(options: { readonly includeSecrets?: false } = {}): MetaPolicy {
    const { includeSecrets = false, ...rest } = fields(options);
    refuseUnknown(rest, ["includeSecrets"]);
    if (includeSecrets !== false) {
      const init = { path: "/includeSecrets", hint: "dangerouslyPassThrough does that" };
      throw new ContextWeaverError("INVALID_INPUT", "passThrough does not include secrets", init);
    }
    return new MetaPolicy({ kind: "passThrough", includeSecrets: false }, MADE);
  }

  /** Everything leaves, also secrets. For servers that are part of the program. */
  static dangerouslyPassThrough(): MetaPolicy {
    return new MetaPolicy({ kind: "passThrough", includeSecrets: true }, MADE);
  }

  /** What a function makes of the context leaves, without secrets. */
  static map(map: MetaMap): MetaPolicy {
    if (typeof map !== "function")
      throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: "/map" });
    return new MetaPolicy({ kind: "map", map }, MADE);
  }

  /** What all of these let through leaves, each asked for what the one before let through. */
  static compose(...policies: readonly MetaPolicy[]): MetaPolicy {
    policies.forEach((policy, place) => policyAt(policy, `/${place}`));
    return new MetaPolicy({ kind: "compose", parts: [...policies] }, MADE);
  }

  /** Policies by the name of a server; a server that is not named gets nothing. */
  static policyFor(policies: Readonly<Record<string, MetaPolicy>>): PolicyFor {
    const known = new Map(
      Object.entries(fields(policies)).map(([server, policy]) => [server, policyAt(policy, `/${token(server)}`)]),
    );
    return (server) => known.get(server) ?? MetaPolicy.none;
  }

  /** Whether something is a policy; runs no code of a proxy. @internal */
  static is(value: unknown): value is MetaPolicy {
    return typeof value === "object" && value !== null && #spec in value;
  }

  /** @internal */
  static specOf(policy: MetaPolicy): PolicySpec {
    return policy.#spec;
  }
}

/** Something that was left out on the way. */
export interface MetaWarning {
  /** `context_not_sent`, `invalid_trace_context`, `invalid_meta_key`, `lonely_prefix`, `meta_key_taken`, `reserved_meta_key`,
   * `null_value`, `string_too_long`, `invalid_value` or `invalid_meta`. */
  readonly code: string;
  /** One sentence, with keys and without values. */
  readonly message: string;
  /** JSON pointer to the key, empty when it is about all. */
  readonly path: string;
}

/** Settings of {@link toMcpMeta}. */
export interface ToMcpMetaOptions {
  /** Name of the server, for policies by server and for warnings. */
  readonly server?: string;
  /** Stands before keys without a prefix: `com.example/`. `contextweaver.encoded/` can be read back whatever the keys are. */
  readonly prefix?: string;
  /** What happens to keys outside the grammar of `_meta`. Default: `error`. */
  readonly onInvalidKey?: "error" | "drop" | "encode";
  /** Bytes of JSON that the context may add. Default: 8192. */
  readonly maxBytes?: number;
  /** The `_meta` there is, such as one with a progress token. What it has stays; the result has it, too. */
  readonly existing?: JsonObject;
  /** Told once of each thing that is left out. Default: `console.warn`. */
  readonly onWarning?: (warning: MetaWarning) => void;
}

/**
 * Makes `params._meta` of a `tools/call`, or `undefined` when there is nothing to send.
 *
 * Errors, `details.reason`: `UnserialisableContextValue`, `ReservedMetaKey`, `InvalidMetaKey`, `MetaTooLarge`.
 */
export function toMcpMeta(
  context: ToolCallContext,
  policy: MetaPolicy | PolicyFor = MetaPolicy.none,
  options?: ToMcpMetaOptions,
): JsonObject | undefined {
  const { server = "", prefix, onInvalidKey, maxBytes, existing, onWarning, ...rest } = fields(options);
  refuseUnknown(rest, ["server", "prefix", "onInvalidKey", "maxBytes", "existing", "onWarning"]);
  const warn = warner(onWarning, server);
  const given = contextAt(context, "/context");
  const chosen = policyOf(policy, server);
  if (MetaPolicy.specOf(chosen).kind === "none" && !given.isEmpty) {
    const keys = given.keys().map(quoted).join(", ");
    warn({ code: "context_not_sent", message: `no policy lets these keys leave: ${keys}`, path: "" });
  }
  const sent = through(given, chosen);
  if (sent.isEmpty && existing === undefined) return undefined;
  const values = sent.toObject({ reveal: true });
  const args = { values, existing, prefix, onInvalidKey, maxBytes };
  const { meta, warnings } = callContext<{ meta: JsonObject; warnings: MetaWarning[] }>("context_to_meta", args);
  warnings.forEach(warn);
  return Object.keys(meta).length > 0 ? meta : undefined;
}

/** Settings of {@link fromMcpMeta}. */
export interface FromMcpMetaOptions {
  /** The keys that a client may set. */
  readonly allow: readonly (string | AnyContextKey)[];
  /** Stands before keys without a prefix of their own, as in {@link toMcpMeta}. */
  readonly prefix?: string;
  /** Checks all that was taken; what does not fit is refused. */
  readonly schema?: StandardSchema | ((values: unknown) => boolean);
  /** Whether a client may say who it is. Default: `false`; that comes from the authorization of the transport. */
  readonly trustIdentity?: boolean;
  /** As in {@link toMcpMeta}. */
  readonly onWarning?: (warning: MetaWarning) => void;
}

/**
 * Takes what `allow` names from the `_meta` of a request: JSON with strings of at most 4 KiB, nothing of the protocol's.
 * Errors: `POLICY_VIOLATION` with the reason `IdentityNotTrusted` when `allow` names who the client is.
 */
export function fromMcpMeta(meta: unknown, options: FromMcpMetaOptions): ToolCallContext {
  const { allow, prefix, schema, trustIdentity, onWarning, ...rest } = fields(options);
  refuseUnknown(rest, ["allow", "prefix", "schema", "trustIdentity", "onWarning"]);
  const warn = warner(onWarning, "");
  const keys = allow === undefined ? undefined : names(allow, "/allow");
  const args = { meta: meta ?? undefined, allow: keys, prefix, trustIdentity };
  const { values, warnings } = callContext<{ values: JsonObject; warnings: MetaWarning[] }>("context_from_meta", args);
  warnings.forEach(warn);
  if (schema !== undefined) {
    if (typeof schema !== "function" && !isSchema(schema)) {
      throw new ContextWeaverError("INVALID_INPUT", "expected a Standard Schema or a function", { path: "/schema" });
    }
    if (!passes(schema as StandardSchema, values)) {
      throw broken(
        "INVALID_INPUT",
        "InvalidContextValue",
        "what the client sent is not what the schema describes",
        {},
        { path: "/meta" },
      );
    }
  }
  const typed = new Map(
    (allow as readonly unknown[]).filter((key) => ContextKey.is(key)).map((key) => [key.name, key]),
  );
  const pairs = Object.entries(values).flatMap(([name, value]): [string | AnyContextKey, unknown][] => {
    const key = typed.get(name);
    if (!key || key.fits(value)) return [[key ?? name, value]];
    warn({
      code: "invalid_value",
      message: `the value of ${quoted(name)} is not what the key demands`,
      path: `/${token(name)}`,
    });
    return [];
  });
  return inboundContext(pairs);
}

/** Returns what a policy lets through. */
function through(context: ToolCallContext, policy: MetaPolicy): ToolCallContext {
  const spec = MetaPolicy.specOf(policy);
  if (context.isEmpty) return context;
  if (spec.kind === "map") return through(mapped(context, spec.map), MetaPolicy.passThrough());
  if (spec.kind === "compose" && !isPlain(policy)) {
    return spec.parts.length === 0 ? ToolCallContext.EMPTY : spec.parts.reduce(through, context);
  }
  const entries = [...ToolCallContext.entriesOf(context)];
  const flagged = entries.map(([key, { flags }]) => [key, flags]);
  const answer = callContext<{ through: number[] }>("context_gate", { entries: flagged, policy: plain(policy) });
  const places = new Set(answer.through);
  return ToolCallContext.wrap(new Map(entries.filter((_, place) => places.has(place))));
}

/** What was declared a secret, or to stay, is so under another value, too. */
function mapped(context: ToolCallContext, map: MetaMap): ToolCallContext {
  let made: unknown;
  try {
    made = map(context);
  } catch (thrown) {
    const cause = withoutSecrets(thrown, context);
    throw new ContextWeaverError("CALLBACK_FAILED", "the map of the policy threw", { cause });
  }
  return kept(context, ToolCallContext.of(made as Readonly<Record<string, unknown>>));
}

/** Whether the engine can apply a policy alone: no function of the caller is part of it. */
function isPlain(policy: MetaPolicy): boolean {
  const spec = MetaPolicy.specOf(policy);
  return spec.kind === "compose" ? spec.parts.every(isPlain) : spec.kind !== "map";
}

function plain(policy: MetaPolicy): object {
  const spec = MetaPolicy.specOf(policy);
  return spec.kind === "compose" ? { ...spec, parts: spec.parts.map(plain) } : spec;
}

function policyOf(policy: unknown, server: unknown): MetaPolicy {
  if (typeof server !== "string")
    throw new ContextWeaverError("INVALID_INPUT", "expected the name of a server", { path: "/server" });
  if (typeof policy !== "function") return policyAt(policy, "/policy");
  return policyAt((policy as PolicyFor)(server) ?? MetaPolicy.none, "/policy");
}

function policyAt(policy: unknown, path: string): MetaPolicy {
  if (MetaPolicy.is(policy)) return policy;
  throw new ContextWeaverError("INVALID_INPUT", "expected a policy", { path, hint: "MetaPolicy makes them" });
}

function names(keys: unknown, path: string): string[] {
  if (!Array.isArray(keys)) throw new ContextWeaverError("INVALID_INPUT", "expected an array of keys", { path });
  return keys.map((key: unknown, place) => {
    const name = ContextKey.is(key) ? key.name : key;
    if (typeof name !== "string")
      throw new ContextWeaverError("INVALID_INPUT", "expected a key", { path: `${path}/${place}` });
    return name;
  });
}

type Warn = (warning: MetaWarning) => void;

/** What each receiver was told, so that it is told once. */
const told = /* @__PURE__ */ new WeakMap<Warn, Set<string>>();
const MAX_TOLD = 1024;

const toConsole: Warn = ({ message }) => console.warn(`contextweaver: ${message}`);

function warner(receiver: unknown, server: unknown): Warn {
  if (receiver !== undefined && typeof receiver !== "function") {
    throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: "/onWarning" });
  }
  const warn = (receiver as Warn | undefined) ?? toConsole;
  return (warning) => {
    const before = told.get(warn) ?? new Set();
    told.set(warn, before);
    const what = JSON.stringify([server, warning.code, warning.path, warning.message]);
    if (before.has(what)) return;
    if (before.size >= MAX_TOLD) before.clear();
    before.add(what);
    warn(warning);
  };
}
