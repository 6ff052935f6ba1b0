// Types of the gateway's runtime: its options, the requests that a host makes, and the answers to them.
import type { CatalogFinding } from "../catalog/routing-types.js";
import type { JsonObject, JsonValue } from "../types.js";
import type { UpstreamFailure } from "./failure.js";
import type { GatewayCallKind } from "./hook-types.js";

/** Which tools clients see. `auto` is `firewall` up to a number of tools and `search` beyond. */
export type GatewayMode = "auto" | "firewall" | "search";

/** What happens to a tool of which something was found: it is neither shown nor called until it is accepted, or only reported. */
export type OnFinding = "quarantine" | "report";

/** Digests of the tools of one server, by the name that the server has for them. */
export type ToolPins = Readonly<Record<string, string>>;

/** What a rule of a policy does: let a call go on, refuse it, or ask the user first. */
export type PolicyAction = "allow" | "deny" | "ask";

/** One rule of a policy. All that is given must hold; without a constraint it matches every call. */
export interface PolicyRule {
  readonly action: PolicyAction | "require_approval";
  /** Calls of tools, or reads of stored results. Default: both. */
  readonly meta_tool?: "tool_execute" | "tool_view";
  /** The namespace: the name of the server. */
  readonly namespace?: string;
  /** A glob of ids or names of tools, those of servers or those that clients see: `issues.*`, `github__*`. */
  readonly tool?: string;
  /** A glob of names of servers. */
  readonly server?: string;
  /** A glob of callers. A call of nobody known matches none. */
  readonly caller?: string;
  /** Tags that the tool has, all of them. */
  readonly tags?: readonly string[];
  /** Whether the server says that the tool changes nothing. */
  readonly read_only?: boolean;
  /** Whether the tool may destroy something: what a server does not say counts as that. */
  readonly destructive?: boolean;
  /** What a model is told as the reason. */
  readonly reason?: string;
}

/** Who may call what: the first rule that matches decides. */
export interface ToolPolicy {
  /** For calls that no rule matches. Default: `allow`. */
  readonly default?: PolicyAction | "require_approval";
  /** In the order in which they are asked. Default: none. */
  readonly rules?: readonly PolicyRule[];
}

/** How often something may be called. */
export interface CallLimits {
  /** Calls within 60 seconds, at least 1. Default: any number. */
  readonly max_calls_per_minute?: number;
  /** Calls of one client as long as it is there, at least 1. Default: any number. */
  readonly max_calls_per_session?: number;
}

/** How often tools may be called. Calls that a policy refuses count, too. */
export interface GatewayRateLimits {
  /** All calls of tools together. */
  readonly tool_execute?: CallLimits;
  /** Parts of stored results that are read. */
  readonly tool_view?: CallLimits;
  /** Searches of tools. */
  readonly tool_browse?: CallLimits;
  /** Calls of one tool, by the id that statistics and policies have for it. */
  readonly per_tool?: Readonly<Record<string, CallLimits>>;
}

/** When a call that failed is made again. Tools that change something are not called twice unless `retry_writes`. */
export interface RetryPolicy {
  /** At least 1. Default: 1. */
  readonly max_attempts?: number;
  /** Seconds before the second attempt, doubled for each that follows. Default: 0.1. */
  readonly base_delay?: number;
  /** Most seconds. A server that asks for longer is not called again. Default: 5. */
  readonly max_delay?: number;
  /** Which part of a pause is random, 0 to 1. Default: 0. */
  readonly jitter?: number;
  /** Default: `UPSTREAM_TIMEOUT` and `UPSTREAM_UNAVAILABLE`; `RATE_LIMITED` may be added. */
  readonly retryable_codes?: readonly ("UPSTREAM_TIMEOUT" | "UPSTREAM_UNAVAILABLE" | "RATE_LIMITED")[];
  /** Default: false. */
  readonly retry_writes?: boolean;
}

/** What of tools that change nothing is answered again without asking the server; each client has what it asked itself. */
export interface CachePolicy {
  /** Default: 60. */
  readonly ttl_seconds?: number;
  /** Default: 256. */
  readonly max_entries?: number;
  /** Bytes of what is kept. Default: 8 MiB. */
  readonly max_bytes?: number;
  /** Names or globs. Default: all tools that change nothing. */
  readonly tools?: readonly string[];
}

/** Which tools of an inventory are seen, by `metadata._contextweaver.inventory`. Excluded is what is known to be so. */
export interface VisibilityProfile {
  readonly name: string;
  readonly exclude_namespaces?: readonly string[];
  readonly include_namespaces?: readonly string[];
  readonly exclude_domains?: readonly string[];
  readonly include_domains?: readonly string[];
  readonly exclude_risk_levels?: readonly string[];
  readonly exclude_lifecycles?: readonly string[];
  readonly allow_side_effects?: readonly string[];
  readonly environments?: readonly string[];
}

/** What is said of a tool in place of its server. What its server says stays in reports, pins and findings. */
export interface ToolOverride {
  /** The name that clients see: letters, digits, `_`, `.` and `-`, at most 64, without `__`. Default: the server's. */
  readonly name?: string;
  /** The description that clients see. Default: the server's. */
  readonly description?: string;
  /** Whether the tool is there for nobody. Default: false. */
  readonly hide?: boolean;
  readonly arguments?: {
    /** Arguments that a call is given where it has none of the name. */
    readonly defaults?: JsonObject;
    /** Arguments that every call is given; clients do not see them, and what one gives all the same is replaced. */
    readonly fixed?: JsonObject;
  };
  /** Most tokens of a result that clients get. Default: the server's `result_tokens`. */
  readonly result_tokens?: number;
}

/** What a server is called, and what holds for its tools alone. */
export interface GatewayServer {
  /** Letters, digits, `_`, `.` and `-`, at most 64. */
  readonly name: string;
  /** What may be called of it; the stricter of this and of the gateway's policy decides. */
  readonly policy?: ToolPolicy;
  /** In place of the gateway's `drift`. */
  readonly drift?: OnFinding;
  /** In place of the gateway's `lint`. */
  readonly lint?: OnFinding;
  /** Globs of the tools that are offered, by the names that the server has for them. Default: all. */
  readonly include_tools?: readonly string[];
  /** Globs of tools that are not offered, though they are included. */
  readonly exclude_tools?: readonly string[];
  /** What is said of its tools in its place, by the names that it has for them. */
  readonly tools?: Readonly<Record<string, ToolOverride>>;
  /** Most tokens of its results that clients get. Default: as for all. */
  readonly result_tokens?: number;
}

/** Names of the gateway's own tools. */
export interface GatewayToolNames {
  /** Default: `drilldown`. */
  readonly drilldown?: string;
  /** Default: `recall`. */
  readonly recall?: string;
  /** Default: `search_tools`. */
  readonly search_tools?: string;
  /** Default: `call_tool`. */
  readonly call_tool?: string;
}

/** Options of the runtime. Unknown fields are refused. */
export interface GatewayRuntimeOptions {
  /** Default: `auto`. */
  readonly mode?: GatewayMode;
  /** Tools above which `auto` is `search`. Default: 40. */
  readonly search_above?: number;
  /** The servers, in the order of their tools. */
  readonly servers: readonly GatewayServer[];
  /** Who may call what. Default: everything is allowed. */
  readonly policy?: ToolPolicy;
  /** How often tools may be called. Default: any number of times. */
  readonly rate_limits?: GatewayRateLimits;
  /** When calls that failed are made again. Default: never. */
  readonly retry?: RetryPolicy;
  /** What is answered again without asking the server. Default: nothing. */
  readonly cache?: CachePolicy;
  /** Which tools are seen. Default: all. */
  readonly visibility?: VisibilityProfile;
  /** What `policy`, `rate_limits`, `retry` and `cache` are where they are not given. `safe` has the user confirm each call. */
  readonly preset?: "safe" | "balanced" | "throughput";
  /** Whether arguments that are texts are read as what the schema asks for. Default: false. */
  readonly tolerant_args?: boolean;
  /** Whether arguments are checked against the schema of the tool. Default: true. */
  readonly validate?: boolean;
  /** Names or globs of tools that search mode lists always. */
  readonly pinned_tools?: readonly string[];
  /**
   * Names or globs of clients that search tools by themselves, and defer their definitions: where the mode is `auto` they see all tools,
   * with what their search goes by. Default: `claude-code*`.
   */
  readonly searching_clients?: readonly string[];
  /** Tools used last that search mode lists, at most 100. Default: 5. */
  readonly recent_tools?: number;
  /** What happens to a tool that is not as it was pinned. Default: `quarantine`. */
  readonly drift?: OnFinding;
  /** What happens to a tool that hides text, holds a credential or contradicts itself about its effects. Default: `quarantine`. */
  readonly lint?: OnFinding;
  /** Pins of an earlier run, by server: those of {@link PinState}. */
  readonly pins?: Readonly<Record<string, ToolPins>>;
  /** What was accepted in an earlier run, by server: that of {@link PinState}. */
  readonly accepted?: Readonly<Record<string, readonly string[]>>;
  /** Servers of which pins of an earlier run are lost: their tools without one are in quarantine until they are accepted. Default: none. */
  readonly pins_lost?: readonly string[];
  /** Keys of `_meta` that a call carries on. Default: `traceparent`, `tracestate` and `baggage`. */
  readonly meta_allow?: readonly string[];
  readonly names?: GatewayToolNames;
  /** What is said of tools in place of their servers, by `<server>__<tool>` with the names of the servers and of the tools there. */
  readonly tools?: Readonly<Record<string, ToolOverride>>;
  /** Most tokens of a result that clients get, where nothing else is said of its tool or server. */
  readonly result_tokens?: number;
}

/** What a host keeps for the next run: options of it. */
export interface PinState {
  readonly pins: Readonly<Record<string, ToolPins>>;
  readonly accepted: Readonly<Record<string, readonly string[]>>;
  readonly pins_lost: readonly string[];
}

/** Whether a server can be reached. The tools of one that cannot stay listed and are marked. */
export type ServerStatus = "connecting" | "ready" | "unavailable";

/** Which lists of clients are not what they were. */
export interface ListChanges {
  readonly tools: boolean;
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** Why a tool is neither shown nor called. */
export interface QuarantineReason {
  /** Code of the finding, `pin-changed` where the tool is not what it was, `pin-lost` where nobody knows whether it is. */
  readonly code: string;
  readonly message: string;
}

/** A tool that is neither shown nor called. */
export interface QuarantinedTool {
  readonly name: string;
  readonly digest: string;
  readonly reasons: readonly QuarantineReason[];
}

/** A tool that is not what it was when it was pinned. */
export interface DriftedTool {
  readonly name: string;
  readonly pinned: string;
  readonly digest: string;
  /** The worst of what the changes may break; `review` where only the digest of what was pinned is known. */
  readonly risk: "none" | "documentation" | "compatible" | "review" | "breaking";
  readonly changes: readonly { readonly path: string; readonly risk: DriftedTool["risk"]; readonly effect: string }[];
}

/** An entry of a listing that could not be used. */
export interface SkippedEntry {
  readonly list: "tools" | "resources" | "resource_templates" | "prompts";
  readonly index: number;
  readonly reason: string;
}

/** A part of an entry that was not what the protocol says, for which clients would refuse the whole list. */
export interface MendedEntry {
  readonly list: "tools" | "resources" | "resource_templates" | "prompts";
  /** Of a tool its place in the server's list, of others among those that were read. */
  readonly index: number;
  /** Its name or address. */
  readonly name: string;
  /** JSON pointer of the part within the entry. */
  readonly path: string;
  /** What was wrong, and what became of it. */
  readonly note: string;
}

/** A schema that makes trouble. */
export interface GatewaySchemaFinding {
  readonly tool_id: string;
  readonly kind: "size_exceeded" | "depth_exceeded" | "properties_exceeded" | "not_well_formed";
  readonly detail: string;
}

/** What was found in the listing of a server. */
export interface ListingReport {
  readonly server: string;
  /** Tools that were read, those in quarantine among them. */
  readonly tools: number;
  readonly resources: number;
  readonly resource_templates: number;
  readonly prompts: number;
  /** Tools that `include_tools` and `exclude_tools` keep out, which are not read. */
  readonly excluded: number;
  /** Tokens that the tools would take in a prompt as they were listed. */
  readonly tokens: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly DriftedTool[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly skipped: readonly SkippedEntry[];
  /** Parts of entries that were mended; clients see the entries without what was wrong. */
  readonly mended: readonly MendedEntry[];
  /** What looks wrong with tools, the worst first; `index` is the place among the tools that were read. */
  readonly findings: readonly CatalogFinding[];
  /** Schemas that make trouble by their size, or are none; their tools are there. */
  readonly schema_findings: readonly GatewaySchemaFinding[];
  /** Entries and findings that are not told one by one: at most 200 of a kind are. */
  readonly not_told: number;
}

/** What became of a listing. */
export interface ListedServer {
  readonly report: ListingReport;
  readonly changed: ListChanges;
  readonly pins: ToolPins;
  /** Rules of policies that name tools which no server has, once each server has listed its tools or cannot be reached. */
  readonly unmatched_rules: readonly UnmatchedRule[];
}

/** Something that an override breaks, or that it cannot do. */
export interface OverrideProblem {
  /** `name-taken`, `unknown-argument`, `value-invalid`, `text-names-tool` or `text-names-argument`. */
  readonly code: string;
  /** Where the override says so, as a JSON pointer into the options. */
  readonly path: string;
  readonly message: string;
}

/** A tool of which the options say something in place of its server. */
export interface OverriddenTool {
  readonly server: string;
  /** The name that the server has for it. */
  readonly tool: string;
  /** The name that clients see; absent where it is hidden. */
  readonly shown_as?: string;
  readonly hidden: boolean;
  /** What the server says of it, where clients see another description. */
  readonly description?: string;
  /** Names of the arguments that have a default. */
  readonly defaults: readonly string[];
  /** Names of the arguments that are given in any case. */
  readonly fixed: readonly string[];
  readonly problems: readonly OverrideProblem[];
}

/** A rule of a policy, or an override, that speaks of tools which are not there. */
export interface UnmatchedRule {
  /** Where the rule says so, as a JSON pointer into the options. */
  readonly path: string;
  /** What it says. */
  readonly tool: string;
}

/** Tools that were accepted. */
export interface AcceptedTools {
  /** Names of those that were in quarantine, as their server has them. */
  readonly accepted: readonly string[];
  readonly changed: ListChanges;
}

/** The tools that a client sees. */
export interface ToolList {
  readonly mode: Exclude<GatewayMode, "auto">;
  /** Tools of MCP, in the order in which they are to be shown. */
  readonly tools: readonly JsonObject[];
}

/** A call of a client. */
export interface CallRequest {
  /** The client, by a name that the host chose. */
  readonly session: string;
  readonly caller?: string | undefined;
  readonly name: string;
  readonly arguments?: JsonValue | undefined;
  readonly meta?: JsonObject | undefined;
  /** The name that the client says it has. */
  readonly client?: string | undefined;
  /** Whether the user can be asked. */
  readonly can_confirm: boolean;
  readonly now_ms: number;
}

/** An error of JSON-RPC. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

/** What a tool has to do with views of its server (MCP Apps): it has one, or it is called by views alone. */
export type AppUse = "view" | "only";

/** A call for a server. */
export interface ForwardedCall {
  /** By which its result is reported. */
  readonly call: number;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly meta?: JsonObject;
  /** Whether what the client gets is kept, to answer the same call again: it is reported with the result. */
  readonly keeps_reply: boolean;
  /** What views of the server (MCP Apps) need of the result: structured content of a tool with a view, all of one that no model calls. */
  readonly app?: AppUse;
  /** Most tokens and characters of the result that the client gets. Absent where that is as for any tool and client. */
  readonly result_tokens?: number;
  readonly result_chars?: number;
  /** Whether the server runs the tool as a task (2025-11-25); absent where it does not. */
  readonly task_support?: "required" | "optional";
}

/** A part of a stored result. */
export interface StoredPart {
  readonly handle: string;
  readonly selector: JsonObject;
  readonly max_tokens?: number;
}

/** A search of stored results. */
export interface StoredSearch {
  readonly query: string;
  readonly max_tokens?: number;
  /** Those that the client may read. Absent where the policy withholds none. */
  readonly handles?: readonly string[];
}

/** What a host does next with a call. */
export type CallStep =
  | { readonly reply: JsonObject }
  | { readonly error: RpcError }
  | { readonly drilldown: StoredPart }
  | { readonly recall: StoredSearch }
  | { readonly forward: ForwardedCall }
  | { readonly confirm: { readonly call: number; readonly message: string } }
  | { readonly retry: { readonly after_ms: number } };

/** What a call is about, and how it ended in the gateway. */
export interface CallInfo {
  readonly kind: Exclude<GatewayCallKind, "resource" | "prompt">;
  /** Absent for the gateway's own tools, and for what no server has. */
  readonly server?: string;
  /** What the server calls the tool, or the name of the gateway's own. */
  readonly tool?: string;
  /** The code of the error, where the call has ended with one. */
  readonly error?: string;
  readonly cache_hit: boolean;
}

/** What a host does next with a call, and what the call is about. */
export type NextStep = CallStep & { readonly info: CallInfo };

/** A call that failed. */
export interface FailedCall {
  readonly call: number;
  readonly failure: UpstreamFailure;
  /** A fraction from 0 to 1, by which pauses differ. */
  readonly random: number;
}

/** What a host measured of a result. */
export interface MeasuredResult {
  readonly tokens: number;
  /** Tokens of what the client gets of it. */
  readonly shown_tokens: number;
  readonly bytes: number;
  readonly is_error: boolean;
  /** The handle of the result's text, if it is stored. */
  readonly handle?: string | undefined;
  /** Handles of its other parts. */
  readonly handles?: readonly string[] | undefined;
}

/** A call that a server answered. */
export interface FinishedCall {
  readonly call: number;
  /** The `CallToolResult` that the client is to get, of a call that `keeps_reply`. */
  readonly reply?: JsonObject;
  readonly measured: MeasuredResult;
  readonly now_ms: number;
}

/** A task whose result has come. */
export interface FinishedTask {
  readonly session: string;
  readonly server: string;
  /** The name that the server has for the tool. */
  readonly tool: string;
  readonly measured: MeasuredResult;
  readonly now_ms: number;
}

/** The answer to a result: what the client gets beside it. */
export interface FinishedReply {
  /** Entries for the `_meta` of the result; absent when there are none. */
  readonly meta?: JsonObject;
  readonly changed: ListChanges;
}

/** The servers that may have a resource, to be asked in this order. */
export interface FoundResource {
  readonly servers: readonly string[];
  /** The address that the first of them has for it. */
  readonly uri: string;
}

/** The server of a prompt, and its name there. */
export interface FoundPrompt {
  readonly server: string;
  readonly name: string;
}

/** Whose result a handle is of. */
export interface OwnedHandle {
  readonly handle: string;
  readonly server: string;
  readonly tool: string;
}

/** What was counted of one tool, or of all. */
export interface CallCounts {
  /** Calls that a server answered. */
  readonly calls: number;
  /** Those of them whose tool said that it failed. */
  readonly errors: number;
  /** Calls that a server did not answer. */
  readonly failures: number;
  /** Tokens of the results. */
  readonly tokens: number;
  /** Tokens of what clients got of them. */
  readonly shown_tokens: number;
  /** Tokens that clients did not get: what the firewall saved. */
  readonly saved_tokens: number;
}

/** What was counted of one tool. */
export interface GatewayToolStats extends CallCounts {
  readonly server: string;
  readonly tool: string;
}

/** One of the largest results. */
export interface LargeResult {
  readonly server: string;
  readonly tool: string;
  readonly tokens: number;
  readonly bytes: number;
  /** When it came, in milliseconds since 1970. */
  readonly at_ms: number;
}

/** A server in the statistics. */
export interface GatewayServerStats {
  readonly name: string;
  readonly status: ServerStatus;
  /** Why it cannot be reached. */
  readonly detail?: string;
  readonly tools: number;
  /** Those of its tools that are neither shown nor called. */
  readonly quarantined: number;
  readonly resources: number;
  readonly prompts: number;
  /** Entries of its lists that could not be used. */
  readonly left_out: number;
  /** Entries of which something was not as the protocol says and was mended. */
  readonly mended: number;
  /** Tokens of its tools as it listed them. */
  readonly tokens: number;
}

/** How often something was refused. */
export interface RefusalStats {
  /** The code that models were told. */
  readonly error: string;
  /** The reason of the policy, the limit that was reached, or nothing. */
  readonly reason: string;
  readonly count: number;
}

/** What a gateway has done so far. */
export interface GatewayStats {
  /** Which tools clients see. */
  readonly mode: Exclude<GatewayMode, "auto">;
  /** Tokens of the list of tools of a client that has used nothing. */
  readonly front_tokens: number;
  /** Clients that have called something. */
  readonly sessions: number;
  /** Calls that wait for a server or a user. */
  readonly open_calls: number;
  readonly totals: CallCounts;
  /** Searches of tools. */
  readonly searches: number;
  /** Parts of results that were read. */
  readonly drilldowns: number;
  /** Searches of what stored results hold. */
  readonly recalls: number;
  /** Calls that were answered from what was kept. */
  readonly cache_hits: number;
  /** Calls that were made again. */
  readonly retries: number;
  readonly servers: readonly GatewayServerStats[];
  /** The tools that saved most, at most 100. */
  readonly tools: readonly GatewayToolStats[];
  /** The largest results, at most ten. */
  readonly largest: readonly LargeResult[];
  /** What was refused and why, the most frequent first. */
  readonly refusals: readonly RefusalStats[];
  /** Rules of policies that name tools which no server has, once each server has listed its tools or cannot be reached. */
  readonly unmatched_rules: readonly UnmatchedRule[];
  /** Tools of which the options say something in place of their servers, with what the servers say; at most 200. */
  readonly overrides: readonly OverriddenTool[];
}
