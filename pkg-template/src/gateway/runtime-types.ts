// Records of the gateway's runtime: what it is made of, what it is asked, and what it answers.
import type { CatalogFinding, ChoiceCard, RouteOptions, RouteResult } from "../routing-types.js";
import type { JsonObject, JsonValue } from "../types.js";

/** Which tools clients see. `auto` is `firewall` up to a number of tools and `search` beyond. */
export type GatewayMode = "auto" | "firewall" | "search" | "reference";

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
  /** A glob of ids or names of tools: `issues.*`, `github:*`. */
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
  readonly rules?: readonly PolicyRule[];
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
}

/** Names of the gateway's own tools. */
export interface GatewayToolNames {
  /** Default: `drilldown`. */
  readonly drilldown?: string;
  /** Default: `search_tools`. */
  readonly search_tools?: string;
  /** Default: `call_tool`. */
  readonly call_tool?: string;
}

/** How often something may be called, at most 100,000 times; what is absent is not limited. */
export interface CallLimits {
  /** Calls within any sixty seconds. */
  readonly max_calls_per_minute?: number;
  /** Calls of one session in all. */
  readonly max_calls_per_session?: number;
}

/** How often a client may call: by what it does, and by tool. Calls that a policy denies count too. */
export interface RateLimits {
  /** Searches of tools. */
  readonly tool_browse?: CallLimits;
  /** Calls of tools, in every mode. */
  readonly tool_execute?: CallLimits;
  /** Reads of stored results, in every mode. */
  readonly tool_view?: CallLimits;
  readonly tool_hydrate?: CallLimits;
  readonly resource_browse?: CallLimits;
  readonly resource_read?: CallLimits;
  readonly prompt_browse?: CallLimits;
  readonly prompt_get?: CallLimits;
  /** By the name that clients see, `<server>__<tool>`, or the name that the server has. */
  readonly per_tool?: Readonly<Record<string, CallLimits>>;
}

/** When a call that failed is made again: tools that only read or say that they are idempotent, unless `retry_writes` is set. */
export interface RetryPolicy {
  /** Attempts in all, at most 20. Default: 1. */
  readonly max_attempts?: number;
  /** Seconds before the second attempt; it doubles with every further one. Default: 0.1. */
  readonly base_delay?: number;
  /** Most seconds between two attempts. Default: 5. */
  readonly max_delay?: number;
  /** Part of the delay, 0 to 1, that a random fraction may take off. Default: 0. */
  readonly jitter?: number;
  /** Default: `UPSTREAM_TIMEOUT` and `UPSTREAM_UNAVAILABLE`. */
  readonly retryable_codes?: readonly ("UPSTREAM_TIMEOUT" | "UPSTREAM_UNAVAILABLE" | "RATE_LIMITED")[];
  /** Default: false. */
  readonly retry_writes?: boolean;
}

/** What is kept of results of tools that only read, for the same session. */
export interface CachePolicy {
  /** Default: 60. */
  readonly ttl_seconds?: number;
  /** Results of one session. Default: 256. */
  readonly max_entries?: number;
  /** Bytes of one session. Default: 8 MiB; all sessions together keep at most 64 MiB. */
  readonly max_bytes?: number;
  /** Globs of ids or names of tools. Default: every tool that only reads. */
  readonly tools?: readonly string[];
}

/** Which tools there are for clients. A list of what alone is shown shows nothing if it is empty. */
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

/** How reference mode differs from what is usual in it. */
export interface ReferenceOptions {
  /** Whether clients see every tool by its id and without its schema, in place of a tool that browses. Default: false. */
  readonly proxy?: boolean;
  /** Whether an answer begins with what the session has seen before, so that a provider's cache of prompts holds. Default: false. */
  readonly cache_stable?: boolean;
  /** Tools that a browse answers, at most 50. Default: 10. */
  readonly top_k?: number;
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
  readonly rate_limits?: RateLimits;
  readonly retry?: RetryPolicy;
  /** Default: nothing is kept. */
  readonly cache?: CachePolicy;
  readonly visibility?: VisibilityProfile;
  /**
   * What the four policies are that are not given. `safe`: every call needs approval, 30 in a minute, two attempts; `balanced`: 120 in a
   * minute, three attempts; `throughput`: five attempts, results are kept.
   */
  readonly preset?: "safe" | "balanced" | "throughput";
  readonly reference?: ReferenceOptions;
  /** Whether arguments that are texts are read as what the schema asks for. Default: false. */
  readonly tolerant_args?: boolean;
  /** Whether arguments are checked against the schema of the tool. Default: true. */
  readonly validate?: boolean;
  /** Names or globs of tools that search mode lists always. */
  readonly pinned_tools?: readonly string[];
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
  /** Keys of `_meta` that a call carries on. Default: `traceparent`, `tracestate` and `baggage`. */
  readonly meta_allow?: readonly string[];
  readonly names?: GatewayToolNames;
}

/** What a host keeps for the next run: options of it. */
export interface PinState {
  readonly pins: Readonly<Record<string, ToolPins>>;
  readonly accepted: Readonly<Record<string, readonly string[]>>;
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
  /** Code of the finding, `pin-changed` where the tool is not what it was. */
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

/** A schema that makes trouble. */
export interface SchemaFinding {
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
  /** Tokens that the tools would take in a prompt as they were listed. */
  readonly tokens: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly DriftedTool[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly skipped: readonly SkippedEntry[];
  /** What looks wrong with tools, the worst first; `index` is the place among the tools that were read. */
  readonly findings: readonly CatalogFinding[];
  /** Schemas that make trouble by their size, or are none; their tools are there. */
  readonly schema_findings: readonly SchemaFinding[];
  /** Entries and findings that are not told one by one: at most 200 of a kind are. */
  readonly not_told: number;
}

/** What became of a listing. */
export interface ListedServer {
  readonly report: ListingReport;
  readonly changed: ListChanges;
  readonly pins: ToolPins;
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

/** A call for a server. */
export interface ForwardedCall {
  /** By which its result is reported. */
  readonly call: number;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly meta?: JsonObject;
  readonly read_only: boolean;
  readonly schema: JsonObject;
  readonly output_schema?: JsonObject;
}

/** What a host does next with a call. */
export type CallStep =
  | { readonly reply: JsonObject }
  | { readonly error: RpcError }
  /** Answer from the session's artifacts. Where it is `plain`, `viewReply` writes the answer. */
  | { readonly drilldown: { readonly handle: string; readonly selector: JsonObject; readonly max_tokens?: number; readonly plain?: true } }
  /** Reference mode: read the resource, keep it as an artifact, and report it with its envelope. */
  | { readonly read_resource: { readonly call: number; readonly server: string; readonly uri: string } }
  /** Reference mode: get the prompt, keep it as an artifact, and report it with its envelope. */
  | { readonly get_prompt: { readonly call: number; readonly server: string; readonly name: string; readonly arguments: Readonly<Record<string, string>> } }
  | { readonly forward: ForwardedCall }
  | { readonly confirm: { readonly call: number; readonly message: string } }
  | { readonly retry: { readonly after_ms: number } };

/** In what way a server failed to answer. */
export interface UpstreamFailure {
  readonly kind: "timeout" | "unavailable" | "rpc" | "http" | "cancelled" | "malformed" | "other";
  readonly code?: number | undefined;
  readonly status?: number | undefined;
  readonly message: string;
  readonly data?: JsonValue | undefined;
  readonly retry_after_ms?: number | undefined;
}

/** A call that failed. */
export interface FailedCall {
  readonly call: number;
  readonly failure: UpstreamFailure;
  readonly now_ms: number;
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

/** A part of a stored result, or why it could not be read. */
export type ViewOutcome =
  | {
      readonly slice: {
        readonly text: string;
        readonly unit: string;
        readonly start: number;
        readonly end: number;
        readonly total: number;
        readonly truncated: boolean;
      };
    }
  | { readonly error: { readonly code: string; readonly message: string } };

/** Whose result a handle is. */
export interface OwnedHandle {
  readonly handle: string;
  readonly server: string;
  /** The name that the server has for the tool. */
  readonly tool: string;
}

/** Where to ask for a resource. */
export interface FoundResource {
  /** To be asked in this order. */
  readonly servers: readonly string[];
  /** The address that the first of them has for it: a list shows one without its credentials. */
  readonly uri: string;
}

/** Where to ask for a prompt. */
export interface FoundPrompt {
  readonly server: string;
  readonly name: string;
}

/** Tools that were chosen for a query. */
export interface RoutedTools {
  readonly route: RouteResult;
  readonly cards: readonly ChoiceCard[];
}

/** Options of a route. @internal */
export type GatewayRouteOptions = Pick<RouteOptions, "top_k"> & Record<string, JsonValue | undefined>;

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
export interface ToolStats extends CallCounts {
  readonly server: string;
  readonly tool: string;
}

/** One of the largest results. */
export interface LargeResult {
  readonly server: string;
  readonly tool: string;
  readonly tokens: number;
  readonly bytes: number;
  readonly at_ms: number;
}

/** A server in the statistics. */
export interface ServerStats {
  readonly name: string;
  readonly status: ServerStatus;
  readonly detail?: string;
  readonly tools: number;
  readonly quarantined: number;
  /** Its resources and templates of such. */
  readonly resources: number;
  readonly prompts: number;
  /** Tokens of its tools as it listed them. */
  readonly tokens: number;
}

/** How often something was refused. */
export interface RefusalStats {
  /** The code that models were told. */
  readonly error: string;
  /** The reason of the policy, or the limit that was reached; else empty. */
  readonly reason: string;
  readonly count: number;
}

/** What a gateway has done so far. */
export interface GatewayStats {
  readonly mode: Exclude<GatewayMode, "auto">;
  /** Tokens of the list of tools of a client that has used nothing. */
  readonly front_tokens: number;
  readonly sessions: number;
  readonly open_calls: number;
  readonly totals: CallCounts;
  readonly searches: number;
  readonly drilldowns: number;
  /** Calls that were answered from what was kept. */
  readonly cache_hits: number;
  readonly retries: number;
  readonly servers: readonly ServerStats[];
  /** The tools that saved most, at most 100. */
  readonly tools: readonly ToolStats[];
  /** At most ten. */
  readonly largest: readonly LargeResult[];
  /** What was refused and why, the most frequent first. */
  readonly refusals: readonly RefusalStats[];
}

/** A call that a server answered. */
export interface FinishedCall {
  readonly call: number;
  /** The `CallToolResult` that the client is to get. */
  readonly reply: JsonObject;
  /** The envelope of `ingestMcpResult`; only reference mode needs it. */
  readonly envelope?: JsonObject | undefined;
  readonly measured: MeasuredResult;
  readonly now_ms: number;
}

/** What a client gets. */
export interface FinishedReply {
  readonly reply: JsonObject;
  readonly changed: ListChanges;
}
