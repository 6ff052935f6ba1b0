// Results that a client sends to be reduced.
import type { ContextManager } from "../manager/context-manager.js";
import type { CompactOptions } from "../manager/options.js";
import type { JsonObject, JsonValue } from "../types.js";
import { refused } from "./sidecar-body.js";
import type { BodyFields } from "./sidecar-body.js";

/** What the sidecar needs of a {@link ContextManager}. */
export type SidecarManager = Pick<ContextManager, "compact" | "drilldownAsync" | "artifacts" | "stats">;

/** What `/v1/compact` answers. */
export interface SidecarCompact {
  readonly api_version: "v1";
  /** Whether the data was reduced. */
  readonly firewalled: boolean;
  /** The data with its secrets masked, or what stands for it; an object says under `_cw` what was done. */
  readonly payload: JsonValue;
  /** What stands for the data, as text; null if it was not reduced. */
  readonly summary: string | null;
  readonly facts: readonly string[];
  /** Handle of the whole data for `GET /v1/artifacts/{handle}`; null if it was not reduced. */
  readonly artifact_ref: string | null;
  /** Tokens by which the payload is smaller, estimated. */
  readonly tokens_saved: number;
  /** Present where not all went well: `partial` or `error`, as of `ContextManager.compact`. */
  readonly status?: "partial" | "error";
}

const STRATEGIES = ["auto", "structured", "text", "passthrough"] as const;
/** The key under which a payload says what was done. */
const MARK = "_cw";

/** Asks a manager whether it masks secrets; it is as before. @internal */
export function masksSecrets(manager: SidecarManager): boolean {
  const secret = `ghp_${"a1B2".repeat(9)}`;
  return manager.compact(secret, { strategy: "passthrough" }).payload !== secret;
}

/** A request of `/v1/compact`. @internal */
export interface CompactAsked {
  readonly data: JsonValue;
  readonly threshold_chars: number;
  readonly budget: number;
  readonly strategy: (typeof STRATEGIES)[number];
  readonly keep: readonly string[];
  readonly redact_secrets: boolean;
}

/** Reads a request. @internal */
export function compactAsked(body: BodyFields): CompactAsked {
  const data = body.any("data") as JsonValue | undefined;
  if (data === undefined) throw refused("data", "missing field `data`");
  const asked: CompactAsked = {
    data,
    threshold_chars: body.integer("threshold_chars", 2_000, 0),
    budget: body.integer("budget", 800, 0),
    strategy: body.choice("strategy", STRATEGIES),
    keep: body.strings("keep"),
    redact_secrets: body.flag("redact_secrets"),
  };
  if (isObject(data) && Object.hasOwn(data, MARK))
    throw refused(`data/${MARK}`, "the key is the answer's own", "rename it");
  if (asked.strategy === "structured") {
    if (asked.keep.length === 0) throw refused("keep", "a projection needs paths to keep");
    if (typeof data === "string" && !isJson(data)) throw refused("data", "a projection needs JSON");
  }
  return asked;
}

/** Reduces what a client sent. @internal */
export function compacted(manager: SidecarManager, masks: boolean, asked: CompactAsked): SidecarCompact {
  if (asked.redact_secrets && !masks) throw refused("redact_secrets", "this server does not mask secrets");
  return reduced(manager, asked);
}

/** How the engine names a field that clients call otherwise. @internal */
export const RENAMED: Readonly<Record<string, string>> = { "/budget_tokens": "/budget" };

function reduced(
  manager: SidecarManager,
  { data, threshold_chars, budget, strategy, keep }: CompactAsked,
): SidecarCompact {
  const whole = manager.compact(data, { strategy: "passthrough" });
  const fits = strategy === "passthrough" || whole.stats.original_chars <= threshold_chars;
  const how: CompactOptions = { strategy, keep, ...(budget > 0 && { budget_tokens: budget }) };
  const { firewalled, status, payload, facts, artifact_ref, stats } = fits ? whole : manager.compact(data, how);
  const mark = {
    firewalled,
    strategy: stats.strategy,
    artifact_ref,
    original_chars: stats.original_chars,
    summary_chars: stats.summary_chars,
    summarized_by_llm: stats.summarized_by_llm,
  };
  const isProjection = firewalled && stats.strategy === "structured";
  const said = typeof payload === "string" ? payload : JSON.stringify(payload);
  return {
    api_version: "v1",
    firewalled,
    payload:
      !firewalled || isProjection
        ? marked(payload, mark, firewalled)
        : { _cw_summary: said, _cw_artifact_ref: artifact_ref, [MARK]: mark },
    summary: firewalled ? said : null,
    facts,
    artifact_ref,
    tokens_saved: Math.max(0, stats.original_tokens - stats.summary_tokens),
    ...(status !== "ok" && { status }),
  };
}

/** Puts what was done into a payload that can hold it; what is no object stays as it is, and is wrapped when it was reduced. */
function marked(payload: JsonValue, mark: JsonObject, firewalled: boolean): JsonValue {
  if (isObject(payload)) return { ...payload, [MARK]: mark };
  return firewalled ? { _cw_data: payload, [MARK]: mark } : payload;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
