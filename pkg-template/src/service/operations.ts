// What the service can be asked: the one definition that routes, description and client are made of.
import { ContextWeaverError } from "contextweaver";
import type {
  BuildMessagesOptions,
  BuildOptions,
  BuildRouteOptions,
  BuiltMessages,
  CardOptions,
  CatalogFinding,
  ChoiceCard,
  ContextItem,
  ContextManagerOptions,
  ContextPack,
  DecisionSnapshot,
  Episode,
  Fact,
  IngestedMessages,
  JsonObject,
  JsonRpcResponse,
  JsonValue,
  ManagerStats,
  McpResultInput,
  MessageFormat,
  RecallAnswer,
  RouteOptions,
  RouteResult,
  SelectableItem,
  Selector,
  Slice,
  SyncedMessages,
  ProviderTools,
  ToolProvider,
  ToolResultInput,
} from "contextweaver";
import { MESSAGE_FORMATS } from "../messages/message-formats.js";
import { boolean, count, data, list, record, string } from "./schema.js";
import type { Schema } from "./schema.js";

/** What of the options of a manager is data. */
export type SessionOptions = {
  readonly [Name in keyof ContextManagerOptions as Name extends FunctionOption ? never : Name]: Exclude<
    ContextManagerOptions[Name],
    (...args: never[]) => unknown
  >;
};
type FunctionOption = "clock" | "hooks" | "redaction_hooks" | "embed" | "item_scores";

/** The result of a tool; bytes that are no text are base64. */
export type SentToolResult = Omit<ToolResultInput, "raw_output"> & {
  readonly raw_output: string | { readonly base64: string };
};

/** What became of a result. */
export interface KeptResult {
  readonly item_id: string;
  /** What `drilldown` reads it by. */
  readonly handle: string;
  /** Whether a digest stands for it. */
  readonly digested: boolean;
}

/** A session as it stands. */
export interface SessionState {
  readonly id: string;
  readonly sequence: number;
  readonly stats: ManagerStats;
  /** What of its journal could not be read. */
  readonly findings: readonly unknown[];
}

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

/** Something that the service can be asked. */
export interface Operation<Path extends string = string, Body = unknown, Answer = unknown> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: Path;
  readonly summary: string;
  /** What stands in the body; of a GET, in the query. */
  readonly body: Schema<Body>;
  readonly answer: Schema<Answer>;
  readonly status: number;
  /** Whether `Idempotency-Key` counts. */
  readonly keyed: boolean;
  /** What is answered in place of JSON. */
  readonly media_type?: string;
}

type Given<Path extends string, Body, Answer> = Pick<
  Operation<Path, Body, Answer>,
  "method" | "path" | "summary" | "answer"
> &
  Partial<Pick<Operation<Path, Body, Answer>, "body" | "status" | "keyed" | "media_type">>;

/** What an operation takes: what stands in its path, and its body. */
export type InputOf<O> = O extends { readonly path: infer Path extends string; readonly body: Schema<infer Body> }
  ? { readonly [Name in ParamsOf<Path>]: string } & Body
  : never;
/** What it answers. */
export type AnswerOf<O> = O extends { readonly answer: Schema<infer Answer> } ? Answer : never;

const ID = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/;

/** Refuses what is no id of a session. */
export function idOf(value: unknown, path: string): string {
  if (typeof value === "string" && ID.test(value)) return value;
  throw new ContextWeaverError("INVALID_INPUT", "expected an id", {
    path,
    hint: "1 to 128 letters, digits, `.`, `_`, `~` and `-`, the first a letter or a digit",
  });
}

function operation<const Path extends string, Answer, Body = {}>(
  given: Given<Path, Body, Answer>,
): Operation<Path, Body, Answer> {
  return { body: record({}, {}) as Schema<Body>, status: 200, keyed: false, ...given };
}

const if_sequence = count("Only where this is the present sequence: else 412 with the present one");
const SESSION = "/v1/sessions/{session}" as const;
const sequence = { sequence: count("Number of the last part that is stored, also the ETag") };
const sequenced = <T>(description: string): Schema<T & { readonly sequence: number }> => data(description);
const format = data<MessageFormat>("Whose messages they are", { type: "string", enum: MESSAGE_FORMATS });
const messages = list<unknown>(data("A message of the provider", {}), "Messages", 100_000);
const system = data<unknown>("What stands beside the messages", {});
const conversation = record(
  { messages, format },
  { system, id_prefix: string("What ids of items begin with"), if_sequence },
);
const query = string("What the prompt is about");

/** All that the service can be asked, by name. */
export const OPERATIONS = {
  createSession: operation({
    method: "POST",
    path: "/v1/sessions",
    summary: "Makes a session",
    body: record(
      {},
      {
        id: string(
          "1 to 128 letters, digits, `.`, `_`, `~` and `-`, the first a letter or a digit. Default: a random one",
          { pattern: "^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$" },
        ),
        options: data<SessionOptions>("Options of the manager that are data"),
      },
    ),
    answer: record({ id: string("Its id"), ...sequence }, {}),
    status: 201,
    keyed: true,
  }),
  getSession: operation({
    method: "GET",
    path: SESSION,
    summary: "Says how a session stands",
    answer: data<SessionState>("Id, sequence, numbers, and what could not be read"),
  }),
  deleteSession: operation({
    method: "DELETE",
    path: SESSION,
    summary: "Removes a session with all it holds",
    body: record({}, { if_sequence }),
    answer: data<undefined>("Nothing", {}),
    status: 204,
  }),
  append: operation({
    method: "POST",
    path: `${SESSION}/append`,
    summary: "Appends items and results, remembers facts and episodes: all of it, or nothing",
    body: record(
      {},
      {
        items: list(data<ContextItem>("An item"), "Items, in order"),
        tool_results: list(
          data<SentToolResult>("A result; `raw_output` is a text or `{ base64 }`"),
          "Results of tools, after the items",
        ),
        mcp_results: list(
          data<McpResultInput>("A result of MCP with its call"),
          "Results of tools of MCP, after those",
        ),
        facts: list(data<Fact>("A fact"), "Facts"),
        episodes: list(data<Episode>("An episode"), "Episodes"),
        if_sequence,
      },
    ),
    answer: record(
      {
        ...sequence,
        results: list(data<KeptResult>("What became of a result"), "Of tool_results, then of mcp_results"),
      },
      {},
    ),
    keyed: true,
  }),
  ingestMessages: operation({
    method: "POST",
    path: `${SESSION}/messages`,
    summary: "Appends messages of a provider that are new",
    body: conversation,
    answer: sequenced<IngestedMessages>("The new items, and warnings"),
    keyed: true,
  }),
  syncMessages: operation({
    method: "POST",
    path: `${SESSION}/messages/sync`,
    summary: "Brings the log in line with a conversation that is handed over whole",
    body: conversation,
    answer: sequenced<SyncedMessages>("What is new, superseded and unchanged"),
    keyed: true,
  }),
  build: operation({
    method: "POST",
    path: `${SESSION}/build`,
    summary: "Compiles the prompt of a phase",
    body: record(
      {
        build: data<BuildOptions>(
          "Options of a build: phase, query, budget_tokens, …; list_dropped is 100 unless said",
        ),
      },
      { if_sequence },
    ),
    answer: record({ ...sequence, pack: data<ContextPack>("The prompt, and what became of each item") }, {}),
  }),
  buildMessages: operation({
    method: "POST",
    path: `${SESSION}/build-messages`,
    summary: "Compiles the prompt of a phase as messages of a provider",
    body: record({ build: data<BuildMessagesOptions>("Options of a build, and `format`") }, { if_sequence }),
    answer: record({ ...sequence, built: data<BuiltMessages>("Messages, their tokens, and the pack") }, {}),
  }),
  setCatalog: operation({
    method: "PUT",
    path: `${SESSION}/catalog`,
    summary: "Stores the tools that the session chooses from",
    body: record(
      {},
      {
        items: list(data<SelectableItem>("A tool"), "Tools", 20_000),
        mcp: data<JsonObject>("What a server answered to tools/list"),
        if_sequence,
      },
    ),
    answer: record(
      {
        ...sequence,
        tools: count("Tools that there are"),
        hash: string("Digest of all"),
        findings: list(data<CatalogFinding>("A finding"), "What is malformed or missing"),
      },
      {},
    ),
    keyed: true,
  }),
  route: operation({
    method: "POST",
    path: `${SESSION}/route`,
    summary: "Chooses tools of the stored catalog for a query; with `prompt` also the prompt for the choice",
    body: record(
      { query },
      {
        options: data<RouteOptions | NonNullable<BuildRouteOptions["route"]>>("Filters, pins, history, …"),
        cards: data<CardOptions>("Budget of the cards"),
        provider: data<ToolProvider>("Whose tools to write", { type: "string" }),
        prompt: data<Omit<BuildRouteOptions, "query" | "router" | "route" | "cards">>(
          "Options of the prompt, `{}` for the defaults",
        ),
      },
    ),
    answer: record(
      {
        ...sequence,
        route: data<RouteResult>("The short list"),
        cards: list(data<ChoiceCard>("A card"), "What a model chooses from"),
      },
      {
        tools: data<unknown>("The short list as the provider takes tools", {}),
        renamed: data<NonNullable<ProviderTools["renamed"]>>(
          "Properties with names that the provider takes, and their own, by tool",
        ),
        pack: data<ContextPack>("The prompt"),
      },
    ),
  }),
  drilldown: operation({
    method: "POST",
    path: `${SESSION}/drilldown`,
    summary: "Reads a part of a result",
    body: record(
      { handle: string("Of the result"), selector: data<Selector>("Which part") },
      {
        max_tokens: count("Most tokens"),
        inject: boolean("Put it into the log as an item"),
        parent_id: string("Parent of the item"),
        if_sequence,
      },
    ),
    answer: record({ ...sequence, slice: data<Slice>("The part, and how to go on") }, {}),
    keyed: true,
  }),
  recall: operation({
    method: "POST",
    path: `${SESSION}/recall`,
    summary: "Searches everything that the session holds",
    body: record(
      { query: string("Words that stood near what is wanted") },
      {
        max_tokens: count("Most tokens of the text"),
        handles: list(string("Of a result"), "Where to search, in place of everything"),
      },
    ),
    answer: record({ ...sequence, recalled: data<RecallAnswer>("What was found, cited") }, {}),
  }),
  forget: operation({
    method: "POST",
    path: `${SESSION}/forget`,
    summary: "Removes the text of an item for good, from the store, too",
    body: record({ item_id: string("The item") }, { if_sequence }),
    answer: record(sequence, {}),
    keyed: true,
  }),
  exportDecisions: operation({
    method: "GET",
    path: "/v1/decisions",
    summary: "The memory of decisions, or what changed since a revision",
    body: record({}, { since: count("A revision that a snapshot named") }),
    answer: data<DecisionSnapshot>("A snapshot, which another store can merge"),
  }),
  addGuardrails: operation({
    method: "POST",
    path: "/v1/decisions/guardrails",
    summary: "Adds rules that actions are checked against: all of them, or none",
    body: record(
      { rules: data<JsonValue>("A list of rules, one, `{ guardrails }`, or such a thing as YAML text", {}) },
      {},
    ),
    answer: record(
      {
        added: count("Rules that are new"),
        duplicates: list(string("An id"), "Ids that were there already; the first rule stays"),
      },
      {},
    ),
  }),
  removeGuardrail: operation({
    method: "POST",
    path: "/v1/decisions/guardrails/remove",
    summary: "Removes a rule",
    body: record({ id: string("Of the rule") }, {}),
    answer: record({ removed: boolean("Whether it was there") }, {}),
  }),
  decisionsRpc: operation({
    method: "POST",
    path: "/v1/decisions/mcp",
    summary: "The memory of decisions as a server of MCP over Streamable HTTP without sessions",
    body: data<JsonObject>("A message of JSON-RPC"),
    answer: data<JsonRpcResponse | undefined>("The response; 202 where there is none"),
  }),
  decisionChanges: operation({
    method: "GET",
    path: "/v1/decisions/changes",
    summary: "Follows the memory of decisions: an event with a snapshot for each change, `id` its revision",
    body: record({}, { since: count("A revision, as `Last-Event-ID`. Default: the present one") }),
    answer: data<DecisionSnapshot>("What changed"),
    media_type: "text/event-stream",
  }),
};

/** The operations by their names. */
export type Operations = typeof OPERATIONS;
