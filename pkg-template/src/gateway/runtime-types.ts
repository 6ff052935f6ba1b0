// Records of the gateway's runtime: what it is made of, what it is asked, and what it answers.
import type { CatalogFinding } from "../routing-types.js";
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
  /** What looks wrong with tools, the worst first. */
  readonly findings: readonly CatalogFinding[];
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
  | { readonly drilldown: { readonly handle: string; readonly selector: JsonObject; readonly max_tokens?: number } }
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
