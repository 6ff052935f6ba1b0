/// <reference lib="esnext.disposable" preserve="true" />
import type { Catalog } from "../catalog/catalog.js";
import { HandedOver } from "./conversation.js";
import { refuseAborted, untilAborted } from "../boundary/abort.js";
import type { AbortOptions } from "../boundary/abort.js";
import { ContextWeaverError, movePath } from "../boundary/errors.js";
import { asMcpWarnings, HALF, wellFormed } from "../boundary/repairs.js";
import type { Repair } from "../boundary/repairs.js";
import {
  JsonText,
  encode,
  encodeAll,
  encodeResult,
  fields,
  rawBytes,
  rawOutput,
  readArgument,
  readValue,
  text,
  utf8,
} from "../boundary/guard.js";
import { isWellFormed, unknownField } from "../boundary/guard-errors.js";
import { MESSAGES, SENT, SNAPSHOT } from "../boundary/guard-limits.js";
import type { Reading } from "../boundary/guard.js";
import { isCatalog, isRouter } from "../boundary/known.js";
import type { ToolExecuted } from "../telemetry/hook-types.js";
import type { McpResultInput } from "../mcp/mcp-result-types.js";
import type {
  BuildMessagesOptions,
  BuiltMessages,
  IngestMessagesOptions,
  IngestedMessages,
  MessageFormat,
  SyncMessagesOptions,
  SyncedMessages,
} from "../messages/message-types.js";
import type {
  BuildCallOptions,
  BuildOptions,
  BuildRouteOptions,
  CompactOptions,
  ConsolidateOptions,
  ContextManagerOptions,
  DrilldownOptions,
  RecallOptions,
  EnvelopeResultInput,
  HandoffOptions,
  HydrateOptions,
  InspectOptions,
  NewRule,
  SelectMemoryOptions,
  SummaryRequestOptions,
  SuppliedSummary,
  ObservedUsage,
  RuleCorrection,
  ToolResultInput,
} from "./options.js";
import { disposable } from "../boundary/engine-object.js";
import type {
  ArtifactView,
  BuiltRoute,
  CompactResult,
  Consolidation,
  EpisodeView,
  AbridgedResult,
  EventView,
  FactView,
  Handoff,
  Inspection,
  ManagerStats,
  MemorySelection,
  Snapshot,
  SummaryRequest,
  ToolResult,
} from "./results.js";
import type {
  CardOptions,
  PackedCards,
  RouteHistory,
  RouteOptions,
  RouteResult,
  RouteTurn,
} from "../catalog/routing-types.js";
import type { HtmlReportOptions, ReportOptions } from "./report-types.js";
import type { Router } from "../catalog/router.js";
import { exportJournal, journalSource } from "./journal.js";
import type { JournalSource } from "./journal.js";
import type {
  ExportOptions,
  ExportedChanges,
  ForgottenItem,
  RestoreOptions,
  RestoredJournal,
} from "./journal-types.js";
import { SentMessages } from "./running-messages.js";
import type { WrittenStep } from "./running-messages.js";
import type { OperationName } from "./operations.js";
import { Session, snapshotOrigin } from "./session.js";
import type { Outcome } from "./session.js";
import { sha256 } from "../storage/checks.js";
import type {
  ArtifactRef,
  ContextItem,
  ContextPack,
  Episode,
  Fact,
  HydrationResult,
  JsonObject,
  JsonValue,
  Jsonable,
  Phase,
  Selector,
  RecallAnswer,
  RunningCosts,
  StandingRule,
  Slice,
  StoredItem,
  TokenCalibration,
} from "../types.js";
import { redactSecrets } from "./text.js";
import { views } from "./views.js";

export interface ContextManager {
  /** Same as {@link ContextManager.free}, for `using`; absent where the runtime has no `Symbol.dispose`. */
  [Symbol.dispose](): void;
}

/**
 * An event log with artifacts, facts and episodes, compiled into prompts for one of four phases.
 *
 * All methods are synchronous. Arguments are copied, never kept or changed; results share nothing with the manager.
 * A call that throws has changed nothing. Every error is a {@link ContextWeaverError}.
 *
 * The state lives in WebAssembly memory until {@link ContextManager.free} or, where the runtime supports it, until the
 * manager is collected. For the case of a defect in the engine the manager also keeps what it was given: after a
 * restart of the engine the next call continues with the same log.
 */
export class ContextManager {
  /** The log. */
  readonly events: EventView;
  /** The bytes of tool results, and whatever else you store. */
  readonly artifacts: ArtifactView;
  /** What prompts remember by key. */
  readonly facts: FactView;
  /** What prompts remember of past conversations. */
  readonly episodes: EpisodeView;
  /** How far reading a journal went, for a manager that {@link ContextManager.restore} made. */
  readonly restored?: RestoredJournal;
  readonly #session: Session;
  readonly #handedOver = new HandedOver();
  readonly #sent = new SentMessages();
  /** The engine's, which never changes: each step of a loop tells it. */
  #thrift: number | undefined;

  /** Makes an empty manager. Unknown options are `UNKNOWN_FIELD`. */
  constructor(options?: ContextManagerOptions);
  constructor(options?: ContextManagerOptions, source?: unknown) {
    const journal = source instanceof ReadJournal ? source.source : undefined;
    const snapshot = JsonText.of(source);
    const session = new Session(options, snapshot === undefined ? journal?.origin : snapshotOrigin(snapshot));
    this.#session = session;
    if (journal) this.restored = orFree(journal.report, session);
    const { events, artifacts, facts, episodes } = views(session);
    this.events = events;
    this.artifacts = artifacts;
    this.facts = facts;
    this.episodes = episodes;
  }

  /**
   * Restores what {@link ContextManager.toJSON} returned, or its JSON text. Options are not part of a snapshot. What has no
   * `schema_version` or no `event_log.items` is no snapshot and `MISSING_FIELD`; only the four stores as the Python library
   * writes them need no version.
   */
  static fromJSON(snapshot: Snapshot | string, options?: ContextManagerOptions): ContextManager {
    const json = typeof snapshot === "string" ? text(snapshot, "", SNAPSHOT.total) : encode(snapshot, "", SNAPSHOT);
    const Restored = ContextManager as new (options: unknown, snapshot: JsonText) => ContextManager;
    return new Restored(options, new JsonText(json));
  }

  /**
   * Makes a manager of a journal: the lines of {@link ContextManager.exportSince} since the last whole ones, as a list or as
   * one text. Prompts are those of the manager that wrote it. Options that are data are those of the journal, unless they are
   * given anew; functions must be. Linear in the text: 20,000 short items take about a fifth of a second.
   *
   * Errors: `JOURNAL_DAMAGED` at `/<index>` for parts that are missing, altered or torn, unless `salvage`; `SNAPSHOT_VERSION` for a later
   * version; `INVALID_INPUT` for a journal of something else; `TOO_LARGE` above 256 MiB.
   *
   * ```js
   * const manager = new ContextManager({ budget: { answer: 500 } });
   * manager.ingest({ id: "u1", kind: "user_turn", text: "Where is order 12446?" });
   * const stored = manager.exportSince();
   * manager.ingest({ id: "a1", kind: "agent_msg", text: "On its way." });
   * const more = manager.exportSince(stored.cursor);
   * const again = ContextManager.restore([...stored.changes, ...more.changes]);
   * console.log(again.build({ phase: "answer" }).prompt === manager.build({ phase: "answer" }).prompt); // true
   * ```
   */
  static restore(changes: Iterable<string> | string, options?: RestoreOptions): ContextManager {
    const source = journalSource(changes, options);
    const Restored = ContextManager as new (options: unknown, source: ReadJournal) => ContextManager;
    return new Restored(source.options, new ReadJournal(source));
  }

  /**
   * Returns what changed since a cursor, as lines to store behind the others, or everything where there is none. Nothing is
   * changed by it: until the changes are stored, go on with the cursor before. An older cursor than that of
   * {@link ContextManager.restore} gets everything, with `whole`. Takes time and bytes for what is new.
   *
   * Errors: `INVALID_INPUT` at `/cursor` for what no export of this manager returned; `OUT_OF_RANGE` at `/part_bytes`.
   */
  exportSince(cursor?: string, options?: ExportOptions): ExportedChanges {
    return exportJournal(this.#session, cursor, options);
  }

  /** Appends an item to the log. A second one with its id is `DUPLICATE_ID`. */
  ingest<M extends object = JsonObject>(item: ContextItem<M & Jsonable<M>>): void {
    const args = `{"items":[${encode(item)}]}`;
    this.#session.run("ingest", args, { prefix: "/items/0" });
  }

  /** Appends items in order: all of them, or none when one is refused. Paths of errors start with `/items/<index>`. */
  ingestAll(items: Iterable<ContextItem>): void {
    this.#session.run("ingest", `{"items":${encodeAll(items, "/items")}}`);
  }

  /**
   * Stores a tool's raw output and appends what the model should see of it: all, or above the firewall's threshold the
   * same in fewer tokens, or a digest. Prompts say below a digest how much of the whole it is, and with which handle and
   * selector to look further. `DUPLICATE_ID` when the call has a result, `QUOTA_EXCEEDED` when the bytes do not fit.
   */
  ingestToolResult<M extends object = JsonObject>(result: ToolResultInput<M & Jsonable<M>>): ToolResult {
    const { raw_output: raw, ...rest } = fields(result);
    const { bytes, repairs } = rawOutput(raw, "/raw_output");
    const { value } = this.#session.run<ToolResult>("ingest_tool_result", encode(rest), { beside: { bytes: [bytes] } });
    return withRepairs(value, repairs);
  }

  /**
   * Stores the result of an MCP tool and appends what the model should see of its text, as `ingestToolResult` does. Images,
   * audio, resources and structured content are stored under handles of the call,
   * `mcp:<tool_name>:<tool_call_id>:<kind>:<index>`, and listed in the envelope. A part may be read where the result may.
   *
   * All of it is stored, or nothing: `QUOTA_EXCEEDED` names the part that does not fit (`details.handle`).
   * `DUPLICATE_ID` when the call has a result. What is malformed is no error: see {@link mcpResultToEnvelope}; the
   * envelope's `provenance.warnings` names it.
   */
  ingestMcpResult<M extends object = JsonObject>(input: McpResultInput<M & Jsonable<M>>): ToolResult {
    const { result, revision, resource_links, ...call } = fields(input);
    const about = encode(call);
    const unknown = Object.keys(call).find((key) => !MCP_CALL.includes(key));
    if (unknown !== undefined) throw unknownField(unknown, [...MCP_CALL, "result", "revision", "resource_links"]);
    const { repairs, ...read } = encodeResult(result, { revision, resource_links });
    const { value } = this.#session.run<ToolResult>("ingest_mcp_result", about, { beside: read });
    return withRepairs(value, repairs);
  }

  /**
   * Appends messages of a provider: those that came since the last call, not the whole conversation again. All of them, or
   * none when one is refused; an error names the place, such as `/messages/3/content/0/id`. What `messagesToItems` says of
   * images, dates, bytes, reasoning and unknown blocks holds here, too. Results of tools are stored and, where they are large, digested
   * as by {@link ContextManager.ingestToolResult}; their handle is `artifact:result:<id of the call>`.
   */
  ingestMessages(
    messages: readonly unknown[],
    format: MessageFormat,
    options?: IngestMessagesOptions,
  ): IngestedMessages {
    const { json, repairs } = readArgument({ ...fields(options), messages, format: text(format, "/format") }, MESSAGES);
    this.#handedOver.forget();
    const { value } = this.#session.run<IngestedMessages>("ingest_messages", json);
    return { ...value, warnings: [...repairs, ...value.warnings] };
  }

  /**
   * Brings the log in line with a conversation as you hold it, whole: before each build, hand over all messages of the
   * agent's loop. Messages handed over before stay as they are, new ones are appended as by
   * {@link ContextManager.ingestMessages}. Where a message was edited or removed, the items of the old one stay in the log,
   * with `superseded` in their metadata, and stand in no prompt; their results can still be read by their handles. Messages
   * left out at the front are only trimmed, and may return to prompts. A call or result that the log has already, by
   * {@link ContextManager.ingestToolResult} or as an item, is not appended again.
   *
   * Costs what is new, besides a comparison of what was there.
   */
  syncMessages(messages: readonly unknown[], format: MessageFormat, options?: SyncMessagesOptions): SyncedMessages {
    const { system, ...rest } = fields(options);
    const name = text(format, "/format") as MessageFormat;
    const { unchanged, skipped, next } = this.#handedOver.compare(name, system, messages);
    const more = { ...rest, format: name, messages: next, ...(unchanged === 0 ? { system } : { unchanged }) };
    try {
      const { json, repairs } = readArgument(more, MESSAGES);
      const { value } = this.#session.run<SyncedMessages>("sync_messages", json);
      this.#handedOver.remember(name, system, messages, skipped);
      return {
        ...value,
        warnings: [...repairs, ...value.warnings].map((warning) => ({
          ...warning,
          path: counted(warning.path, skipped),
        })),
      };
    } catch (error) {
      if (error instanceof ContextWeaverError && error.path) movePath(error, error.path, counted(error.path, skipped));
      throw error;
    }
  }

  /** Appends a result that was summarised elsewhere. The item comes back as that of a {@link ToolResult} does. */
  ingestEnvelope(result: EnvelopeResultInput): { readonly item: StoredItem } {
    return this.#session.run<{ item: StoredItem }>("ingest_envelope", encode(result)).value;
  }

  /** Remembers a fact; facts stand in the header of prompts whose phase admits `memory_fact`. */
  addFact(fact: Fact): { readonly fact_id: string } {
    return this.#session.run<{ fact_id: string }>("add_fact", encode(fact)).value;
  }

  /** Remembers an episode; the newest stand in the header like facts. */
  addEpisode(episode: Episode): void {
    this.#session.run("add_episode", encode(episode));
  }

  /**
   * Takes what a call of a model cost. Builds that name the model count by the factor that its last 16 calls suggest: with 1.2,
   * a budget of 6,000 tokens holds 5,000 of the estimator's. Part of snapshots; the same calls give the same factor. The last
   * 16 models are kept.
   *
   * `OUT_OF_RANGE` for a model without a name, or no tokens.
   *
   * ```js
   * const built = manager.buildMessages({ phase: "answer", format: "openai-chat", model: "gpt-5" });
   * const { usage } = await client.chat.completions.create({ model: "gpt-5", messages: built.messages });
   * manager.observeUsage({ model: "gpt-5", estimated: built.tokens, actual: usage.prompt_tokens });
   * ```
   */
  observeUsage(usage: ObservedUsage): TokenCalibration {
    return this.#session.run<TokenCalibration>("observe_usage", encode(fields(usage))).value;
  }

  /**
   * Makes the vectors that are missing, by the option `embed`: of a query, and of the items of the log that are new. Builds for that
   * query then know what items are about, whatever their words are. Returns how many texts were embedded; equal texts are
   * embedded once, of each at most 8,192 characters. Secrets are masked; items that are `confidential`, or at or above a lower
   * `sensitivity_floor`, are not shown to the model. Snapshots have no vectors.
   *
   * Errors: `MISSING_FIELD` without the option; `CALLBACK_FAILED` when the embedder fails or what it returns is of no use: builds
   * go on with what was embedded before.
   *
   * ```ts
   * const manager = new ContextManager({ embed: openai.embedding("text-embedding-3-small") });
   * await manager.embedMissing(query);
   * const pack = manager.build({ phase: "answer", query });
   * ```
   */
  async embedMissing(query?: string, { signal }: AbortOptions = {}): Promise<number> {
    const { vectors } = this.#session;
    if (!vectors)
      throw new ContextWeaverError("MISSING_FIELD", "there is no embedder", {
        path: "/embed",
        hint: "new ContextManager({ embed })",
      });
    if (query !== undefined) text(query, "/query");
    return untilAborted(signal, () => vectors.add(this.events.list({ since: vectors.seen }), query));
  }

  /** Compiles the prompt of a phase. `stats.prompt_tokens` never exceeds the budget. */
  build(options: BuildOptions): ContextPack {
    return this.#pack("build", asked(options));
  }

  /**
   * Compiles the prompt of a phase as messages that a provider accepts. What `build` puts above the items becomes the
   * instructions of the system, what it puts below them the last message of the user. Images and reasoning go along while
   * the text of their item is the same; a call has its tool and arguments as `itemsToMessages` finds them. The budget is
   * spent on what is sent: `tokens` never exceeds it, nor does `pack.stats.prompt_tokens`.
   *
   * `UNSUPPORTED` for the manager of `contextweaver/context`, which comes without converters.
   */
  buildMessages<F extends MessageFormat>(options: BuildMessagesOptions<F>): BuiltMessages<F> {
    const args = asked(options);
    const { phase, format, running } = args;
    const isRunning = running !== false;
    if (isRunning) args["handed_out"] = this.#sent.count(phase, format);
    const { value, warnings } = this.#run<WrittenStep>("build_messages", args, isRunning);
    return this.#sent.take(phase as Phase, format as F, value, warnings, (step) => this.#record(phase as Phase, step));
  }

  /** Makes the record of a step of a running prompt. */
  #record(phase: Phase, step: number): ContextPack {
    return this.#session.run<ContextPack>("running_record", encode({ phase, step })).value;
  }

  /**
   * Sums up what the steps of all running prompts cost, and what they would have cost had each sent the whole conversation: a
   * forecast by the price model of the option `prices`, in prices of a token that is neither read from a cache nor written to one.
   *
   * ```js
   * const { cost, cost_without } = manager.costs();
   * console.log(`${Math.round((100 * cost) / cost_without)} % of the price`);
   * ```
   */
  costs(): RunningCosts {
    return this.#session.run<RunningCosts>("costs", "{}").value;
  }

  /** The option of this name, or its default. @internal */
  get thrift(): number {
    return (this.#thrift ??= this.#session.run<number>("thrift", "{}").value);
  }

  /**
   * Lists what the user stated once and for all, oldest first, with what was replaced or withdrawn since, and what you added.
   * Empty with `rules: false`. Nothing is told of turns at or above the sensitivity floor.
   *
   * ```js
   * manager.ingest({ id: "u1", kind: "user_turn", text: "Never push to main. What is left to do?" });
   * const { id, text, state, why } = manager.rules()[0]; // "u1#1", "Never push to main.", "in_force", 'says "Never"'
   * ```
   */
  rules(): readonly StandingRule[] {
    return this.#session.run<readonly StandingRule[]>("rules", "{}").value;
  }

  /**
   * Adds a standing instruction that no turn states. It is in force until you correct or forget it, whatever is said later, and goes before
   * others where room is short. Words that you added before are not added twice: what stands is returned.
   *
   * `OUT_OF_RANGE` at `/text` without words or above 400 characters; `DUPLICATE_ID` at `/id`; `QUOTA_EXCEEDED` above 1,000 that were added,
   * corrected or forgotten; `UNSUPPORTED` with `rules: false`.
   */
  addRule(rule: NewRule): StandingRule {
    return this.#session.run<StandingRule>("add_rule", encode(fields(rule))).value;
  }

  /**
   * Gives a standing instruction other words, another kind or another state. That stands until you correct it again, whatever is said
   * later; the turn itself stays as it is.
   *
   * `NOT_FOUND` at `/id`, with ids that are near in the hint; `MISSING_FIELD` where nothing is corrected; `QUOTA_EXCEEDED` and
   * `UNSUPPORTED` as of {@link ContextManager.addRule}.
   */
  correctRule(id: string, correction: RuleCorrection): StandingRule {
    const args = { ...fields(correction), id: text(id, "/id") };
    return this.#session.run<StandingRule>("correct_rule", encode(args)).value;
  }

  /**
   * Takes an instruction for none from now on, and returns it: it leaves the list and all prompts, and what it had replaced is in force
   * again. It does not come back where its turn is read again, or an earlier prompt is handed over as history. A later turn that says
   * the same is another instruction. What a turn says is removed by {@link ContextManager.forget}.
   *
   * Errors: those of {@link ContextManager.correctRule}.
   */
  forgetRule(id: string): StandingRule {
    return this.#session.run<StandingRule>("forget_rule", encode({ id: text(id, "/id") })).value;
  }

  /** Compiles the prompt for filling in a tool's arguments: phase `call` with the tool's schema as its header. */
  buildCall(options: BuildCallOptions): ContextPack {
    return this.#pack("build_call", withTool(options));
  }

  /**
   * Chooses tools for a query and compiles the prompt for the choice: phase `route`, the goal at its head and the cards at
   * its foot. `stats.prompt_tokens` with both never exceeds the budget. When nothing fits, there are no cards, and the foot
   * says why none fits.
   *
   * A query that does not stand on its own is completed from the log: "yes, do it" stands for what the agent proposed, "and for
   * Berlin?" for the tool of the turn before. `route.completion` says so, and the prompt is compiled for what it says; the goal is
   * the query as you gave it.
   */
  buildRoute(options: BuildRouteOptions): BuiltRoute {
    const { router: given, route: routeOptions, cards: cardOptions, goal, ...build } = fields(options);
    if (!isRouter(given)) throw missingOr(given, "/router", "a Router");
    const router = given as Router;
    if ("phase" in build) {
      throw new ContextWeaverError("UNKNOWN_FIELD", "unknown field `phase`", { path: "/phase", hint: "it is route" });
    }
    if (build["query"] === undefined) throw missingOr(undefined, "/query", "a query");
    const query = text(build["query"], "/query");
    const plan = this.#routePlan(query);
    const filters = fields(routeOptions, "/route");
    if ((filters["conversation"] ?? "log") === "log") filters["conversation"] = plan.conversation;
    if (filters["history"] === "log") filters["history"] = plan.history ?? undefined;
    const route = under("/route", () => router.route(query, filters as RouteOptions));
    const budget = build["budget_tokens"] ?? plan.budget_tokens;
    // One that is no budget is refused below.
    const isBudget = typeof budget === "number" && budget >= 0 && budget <= MAX_BUDGET;
    const half = Math.floor((isBudget ? budget : plan.budget_tokens) / 2);
    const packed = choices(router, route, fields(cardOptions, "/cards"), half);
    const pack = this.#pack("build", {
      ...build,
      phase: "route",
      ...(route.completion && { query: route.completion.query }),
      ...((build["header"] ?? undefined) === undefined && { goal: goal === undefined ? query : text(goal, "/goal") }),
      footer: build["footer"] ?? offer(packed.text, route),
    });
    return { pack, route, cards: packed.cards };
  }

  /**
   * Returns the turns and calls of the log before a query, at most the last 24, as {@link RouteOptions.conversation} takes them: for
   * routes of your own, beside `buildRoute`, which reads them itself. The turn that asks the query is no part of it, nor what came
   * after it. Texts at or above the sensitivity floor are empty.
   *
   * Given messages, it reads them in place of the log, for whoever chooses tools before {@link ContextManager.syncMessages}. These
   * turns have no ids. Nothing is appended.
   */
  turnsBefore(query: string): readonly RouteTurn[];
  turnsBefore(query: string, messages: readonly unknown[], format: MessageFormat): readonly RouteTurn[];
  turnsBefore(query: string, messages?: readonly unknown[], format?: MessageFormat): readonly RouteTurn[] {
    const asked = text(query, "/query");
    if (messages === undefined) return this.#routePlan(asked).conversation;
    const { json } = readArgument({ query: asked, messages, format: text(format, "/format") }, MESSAGES);
    return this.#session.run<readonly RouteTurn[]>("turns_before", json).value;
  }

  #routePlan(query: string): RoutePlan {
    return this.#session.run<RoutePlan>("route_plan", encode({ query })).value;
  }

  /**
   * Reads a part of an artifact, or of a result that was ingested as an item (`artifact:` and its id). Secrets are masked
   * before the part is cut out. Without a selector it is the lines from the first one on. With `inject` the part becomes an item `drilldown:<handle>:<type>:<items of the log>`,
   * as sensitive as what it is of.
   *
   * `POLICY_VIOLATION` when an item that refers to it is at or above the sensitivity floor, or redacted;
   * `ARTIFACT_NOT_FOUND` when there is none, `ARTIFACT_EXPIRED` when `limits` made it go; `UNSUPPORTED` when it is no text,
   * or for a type of selector that does not exist; `DECODE_FAILED` when JSON is asked of what is none; `NOT_FOUND` when a
   * path or column leads to nothing.
   */
  drilldown(handle: string, selector?: Selector, options?: DrilldownOptions): Slice {
    try {
      return this.#slice(handle, selector, options);
    } catch (error) {
      if (!this.#session.callbacks.getBlob || !isAbsence(error)) throw error;
      const { code, message, path, details } = error;
      throw new ContextWeaverError(code, message, {
        path,
        details,
        hint: "drilldownAsync, and answerAsync of an adapter, fetch what is not in memory",
      });
    }
  }

  /**
   * As {@link ContextManager.drilldown}, of an artifact too whose bytes are not in memory: it was evicted to make room, or not
   * loaded. The option `get_blob` of the manager is asked for them; they are in memory then, and may evict others.
   *
   * Errors: those of `drilldown`; `INVALID_INPUT` at `/bytes` for other bytes than those that were stored.
   */
  async drilldownAsync(handle: string, selector?: Selector, options?: DrilldownOptions & AbortOptions): Promise<Slice> {
    const { signal, ...how } = fields(options) as DrilldownOptions & AbortOptions;
    refuseAborted(signal);
    try {
      return this.#slice(handle, selector, how);
    } catch (error) {
      // In one go with what follows, as another that is loaded may evict it.
      if (!isAbsence(error) || !(await this.#load(handle, signal))) throw error;
      return this.#slice(handle, selector, how);
    }
  }

  #slice(handle: string, selector: Selector | undefined, options: DrilldownOptions | undefined): Slice {
    const args = { ...fields(options), handle, ...(selector !== undefined && { selector }) } as Record<string, unknown>;
    const how = { changed: args["inject"] === true, uses: handle };
    return this.#session.run<Slice>("drilldown", encode(args), how).value;
  }

  /** Brings bytes into memory that are elsewhere; tells whether they are there now. */
  async #load(handle: string, signal?: AbortSignal): Promise<boolean> {
    const { getBlob } = this.#session.callbacks;
    const hash = getBlob && this.#absent(handle);
    const bytes =
      hash === undefined
        ? undefined
        : await untilAborted(signal, async () => (await getBlob?.(hash)) ?? this.#shown(handle, hash));
    if (bytes === undefined) return false;
    // Another call may have loaded it.
    if (this.#absent(handle) === hash)
      this.#session.run("reload_artifact", encode({ handle }), { beside: { bytes: [rawBytes(bytes, "/bytes")] } });
    return true;
  }

  /**
   * Searches everything that the log and its artifacts hold, and returns the places that speak most to the query, cited: item,
   * handle, characters. `query` is words that stood near what is wanted; rare ones count most, and most where they stand together.
   * What an edit replaced is not searched, nor what is at or above the sensitivity floor or redacted, unless the policy has
   * `allow_redacted_drilldown`. Secrets are masked before anything is compared.
   *
   * `INVALID_INPUT` at `/query` for a query without words.
   */
  recall(query: string, options?: RecallOptions): RecallAnswer {
    return this.#session.run<RecallAnswer>("recall", encode({ ...fields(options), query })).value;
  }

  /**
   * As {@link ContextManager.recall}, of artifacts too whose bytes are not in memory: unless the words stand together in what is, the
   * option `get_blob` is asked for those that were not searched, one after the other and at most eight.
   */
  async recallAsync(query: string, options?: RecallOptions & AbortOptions): Promise<RecallAnswer> {
    const { signal, ...how } = fields(options) as RecallOptions & AbortOptions;
    refuseAborted(signal);
    let best = this.recall(query, how);
    if (!this.#session.callbacks.getBlob) return best;
    const scoreOf = ({ excerpts }: RecallAnswer): number => excerpts[0]?.score ?? 0;
    for (const handle of best.unread.slice(0, MAX_LOADED)) {
      if (scoreOf(best) >= ALL_WORDS) break;
      // One that is damaged where it is stays among those that were not searched.
      if (this.artifacts.exists(handle) || !(await this.#loadWhole(handle, signal))) continue;
      // In one go with what was loaded, as the next may evict it.
      const answer = this.recall(query, how);
      if (scoreOf(answer) >= scoreOf(best)) best = answer;
    }
    return best;
  }

  /** As `#load`, but for bytes that are not those that were stored. */
  async #loadWhole(handle: string, signal?: AbortSignal): Promise<boolean> {
    try {
      return await this.#load(handle, signal);
    } catch (error) {
      const code = ContextWeaverError.is(error) ? error.code : undefined;
      if (code === "DECODE_FAILED" || code === "INVALID_INPUT") return false;
      throw error;
    }
  }

  /** The hash of the bytes that an artifact has, if they are not in memory. */
  #absent(handle: string): string | undefined {
    const { artifact } = this.#session.run<{ artifact: ArtifactRef | null }>(
      "artifact_absent",
      encode({ handle }),
    ).value;
    return artifact?.content_hash || undefined;
  }

  /** Bytes that the item of a result shows as its text: no journal has them a second time. */
  async #shown(handle: string, hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const id = /^artifact:(.+)$/s.exec(handle)?.[1];
    if (id === undefined) return undefined;
    try {
      const bytes = utf8(this.events.get(id).text) as Uint8Array<ArrayBuffer>;
      return (await sha256(bytes)) === hash ? bytes : undefined;
    } catch (error) {
      if ((error as ContextWeaverError).code !== "NOT_FOUND") throw error;
      return undefined;
    }
  }

  /**
   * Removes what an item says for good: its text, its metadata, its artifacts. It stays in its place, empty, and stands in no
   * prompt. Facts and episodes are deleted by their own ids. What was stored before has it still: store an export with `whole` in its
   * place, and delete the blobs that nothing refers to.
   *
   * `NOT_FOUND` at `/item_id` where there is none.
   */
  forget(item_id: string): ForgottenItem {
    const args = encode({ item_id: text(item_id, "/item_id") });
    this.#handedOver.forget();
    return this.#session.run<ForgottenItem>("forget", args).value;
  }

  /**
   * Reduces a result that is in no conversation, to at most `budget_tokens`. The whole is stored under a handle made of
   * its hash, `artifact:compact:<16 hexadecimal digits>`, for `drilldown`.
   */
  compact(data: JsonValue, options?: CompactOptions): CompactResult {
    const { args, functions } = this.#session.callbacks.lend({ ...fields(options), data });
    const changed = ({ firewalled }: CompactResult): boolean => firewalled;
    return this.#session.run<CompactResult>("compact", encode(args), { changed, functions }).value;
  }

  /**
   * Returns a tool's schema, examples and constraints; with arguments also what fills those that are missing: a fact with
   * the argument's name as its key, else the one value that the newest call or result has under that name. It must have
   * the type and be of the `enum` of the schema. Names compare without case, `_`, `-`, `.` and spaces. Nothing is guessed,
   * and nothing comes from items at or above the sensitivity floor.
   */
  hydrate(options: HydrateOptions): HydrationResult {
    return this.#session.run<HydrationResult>("hydrate", encode(withTool(options))).value;
  }

  /**
   * Lists the results for which a digest stands, with their texts: what a model, which cannot answer at once, may
   * summarise. Not those at or above the sensitivity floor, nor those whose bytes are gone.
   */
  summaryRequests(options?: SummaryRequestOptions): readonly SummaryRequest[] {
    return this.#session.run<SummaryRequest[]>("summary_requests", encode(fields(options))).value;
  }

  /**
   * Puts a summary in the place of a result's digest; prompts built after that show it. Its secrets are masked. The stored
   * bytes stay as they are.
   *
   * `NOT_FOUND` when there is no such result; `INVALID_INPUT` when nothing was left out of it, or the summary is empty or
   * no shorter than the whole; `DETERMINISM` for a model's summary under `firewall.deterministic`.
   */
  supplySummary(summary: SuppliedSummary): ToolResult {
    return this.#session.run<ToolResult>("supply_summary", encode(summary)).value;
  }

  /** Collects what the next session must know: decisions, conventions, open tasks, pitfalls. */
  handoff(options?: HandoffOptions): Handoff {
    return this.#session.run<Handoff>("handoff", encode(fields(options))).value;
  }

  /** Finds what episodes have in common; with `apply` it becomes facts. */
  consolidate(options?: ConsolidateOptions): Consolidation {
    const args = fields(options);
    const now = args["as_of"] === undefined ? this.#session.ask(() => this.#session.callbacks.now()) : undefined;
    if (now !== undefined) args["as_of"] = new Date(now).toISOString();
    return this.#session.run<Consolidation>("consolidate", encode(args), { changed: args["apply"] === true }).value;
  }

  /** Chooses from your memory what matters for a phase and a query; with `ingest` it goes into the log. */
  selectMemory(options: SelectMemoryOptions): MemorySelection {
    const args = fields(options);
    const changed = args["ingest"] === true;
    args["now"] ??= this.#session.ask(() => this.#session.callbacks.now());
    return this.#session.run<MemorySelection>("select_memory", encode(args), { changed }).value;
  }

  /** Reports on a build: numbers, candidates, artifacts. */
  inspect(options: InspectOptions): Inspection {
    return this.#session.run<Inspection>("inspect", encode(options, "", SNAPSHOT)).value;
  }

  /**
   * Builds once and writes a report of it: one HTML file with every view of the page, for bug reports and artifacts of CI. See
   * `htmlReport` of `contextweaver/report`, which this imports when it is called, so that nobody else carries it.
   *
   * `UNSUPPORTED` in a bundle, which has no package to import from: call `htmlReport(manager, options)` there.
   *
   * ```ts
   * await writeFile("report.html", await manager.report({ format: "html", phase: "answer", query }));
   * ```
   */
  async report(options: ReportOptions): Promise<string> {
    const { format, ...rest } = fields(options);
    if (format !== "html") {
      if (format === undefined)
        throw new ContextWeaverError("MISSING_FIELD", "missing field `format`", {
          path: "/format",
          hint: 'format: "html"',
        });
      throw new ContextWeaverError("INVALID_INPUT", "expected `html`", { path: "/format" });
    }
    const { htmlReport } = await reports();
    return htmlReport(this, rest as unknown as HtmlReportOptions);
  }

  /** Whether bytes may leave memory that a journal has in its lines, where nothing finds them again. @internal */
  get evicts(): boolean {
    return this.#session.evicts;
  }

  /** Whether there is an embedder. @internal */
  get embeds(): boolean {
    return this.#session.vectors !== undefined;
  }

  /**
   * Runs a tool that an adapter adds, and tells the hooks. What is wrong with its arguments is told to the model, which can do better.
   * @internal
   */
  runAdded(called: AddedCall, run: () => string): AddedAnswer {
    const began = performance.now();
    return this.#tellAdded(called, answered(run), began);
  }

  /** Does the same where it takes time. @internal */
  async runAddedAsync(called: AddedCall, run: () => Promise<string>): Promise<AddedAnswer> {
    const began = performance.now();
    return this.#tellAdded(called, await run().then((result) => ({ result }), refusal), began);
  }

  #tellAdded({ name, input, call_id }: AddedCall, answer: AddedAnswer, began: number): AddedAnswer {
    const { callbacks } = this.#session;
    if (!callbacks.hears("tool_executed")) return answer;
    try {
      const call = { name, ...(call_id !== undefined && { call_id }), arguments: redactSecrets(JSON.stringify(input)) };
      // Whoever looks on has no next call to make.
      const told = { ...answer, result: redactSecrets(answer.result) };
      this.#session.tell([{ hook: "tool_executed", ...call, ...told, duration_ms: performance.now() - began }]);
    } catch {
      // What cannot be told, such as arguments that no JSON can hold, is no reason not to answer.
      callbacks.hookErrors += 1;
    }
    return answer;
  }

  /**
   * The text of a result within so many tokens, with what was asked for where it is cut; nothing where the text of its item is not to be
   * replaced.
   * @internal
   */
  abridged(item_id: string, max_tokens: number, asked: string, drilldown: string): AbridgedResult | undefined {
    return (
      this.#session.run<AbridgedResult | null>("abridged", encode({ item_id, max_tokens, asked, drilldown })).value ??
      undefined
    );
  }

  /** Appends an item as {@link ContextManager.ingest} does, of what a model said: repaired where need be. @internal */
  ingestSent(item: object): void {
    const { json } = readValue(item, "", SENT);
    this.#session.run("ingest", `{"items":[${json}]}`, { prefix: "/items/0" });
  }

  /** Writes what a tool returned or a model said as JSON, repaired where need be. @internal */
  jsonOf(value: unknown): Reading {
    return readValue(value, "", SENT);
  }

  /** A text as models get it of this manager, its secrets masked. @internal */
  masked(text: string): string {
    return this.#session.run<string>("mask_secrets", encode({ text })).value;
  }

  /** Makes changes of which all are made, or none. @internal */
  whole<T>(change: () => T): T {
    return this.#session.whole(change);
  }

  /** Counters since the manager was made. */
  stats(): ManagerStats {
    const { value } = this.#session.run<Omit<ManagerStats, "hook_errors">>("stats", "{}");
    return { ...value, hook_errors: this.#session.callbacks.hookErrors };
  }

  /** Returns log, artifacts, facts and episodes as plain data; `JSON.stringify(manager)` uses it. */
  toJSON(): Snapshot {
    return this.#session.run<Snapshot>("snapshot", "{}").value;
  }

  /** Hashes of the bytes that artifacts have, or had before they were evicted: the blobs to keep. @internal */
  blobHashes(): readonly string[] {
    return this.#session.run<{ hashes: string[] }>("artifact_hashes", "{}").value.hashes;
  }

  /** Gives the memory back; every later call is `DISPOSED`. A second `free` does nothing. */
  free(): void {
    this.#session.free();
  }

  #pack(op: OperationName, options: unknown): ContextPack {
    const args = fields(options);
    const { value, warnings } = this.#run<ContextPack>(op, args, args["running"] === true);
    return withWarnings(value, warnings);
  }

  /** Compiles a prompt; a running one is remembered. */
  #run<T>(op: OperationName, args: Record<string, unknown>, isRunning: boolean): Outcome<T> {
    const { callbacks, vectors } = this.#session;
    args["item_scores"] ??= this.#session.ask(() => callbacks.itemScores(args["phase"], args["query"]));
    if (args["prices"] === null) args["prices"] = "none";
    if (isRunning) args["now"] ??= this.#session.ask(() => callbacks.now());
    const { query: asked } = args;
    // What the user said is repaired in the log, too.
    const isCut = typeof asked === "string" && !isWellFormed(asked);
    const query = isCut ? (args["query"] = wellFormed(asked)) : asked;
    const isAsked = vectors !== undefined && typeof query === "string" && query.trim() !== "";
    const near = isAsked ? vectors.scores(query) : undefined;
    if (near) args["item_scores"] = { ...near, ...fields(args["item_scores"]) };
    const began = performance.now();
    try {
      const { value, warnings } = this.#session.run<T>(op, encode(args), { changed: isRunning });
      const more = [...(isAsked && !near ? [NOT_EMBEDDED] : []), ...(isCut ? [`/query: ${HALF}`] : [])];
      return { value, warnings: [...warnings, ...callbacks.takeFailures(), ...more] };
    } catch (error) {
      this.#tellFailure(error, op === "build_call" ? "call" : args["phase"], performance.now() - began);
      throw error;
    }
  }

  #tellFailure(error: unknown, phase: unknown, duration_ms: number): void {
    if (!ContextWeaverError.is(error)) return;
    const known = PHASES.find((one) => one === phase);
    this.#session.tell([{ hook: "build_failed", ...(known && { phase: known }), error_type: error.code, duration_ms }]);
  }
}

/** The phase of a build that says none; hooks and records need it before the engine has said. */
const DEFAULT_PHASE: Phase = "answer";

function asked(options: unknown): Record<string, unknown> {
  const args = fields(options);
  args["phase"] ??= DEFAULT_PHASE;
  return args;
}

/** By the name of the package, which bundlers do not follow: what writes reports has the script of their page. */
const REPORT: string = "contextweaver/report";

interface ReportWriter {
  htmlReport(manager: ContextManager, options: HtmlReportOptions): Promise<string>;
}

async function reports(): Promise<ReportWriter> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ REPORT)) as ReportWriter;
  } catch (cause) {
    const hint = 'import { htmlReport } from "contextweaver/report" and call htmlReport(manager, options)';
    throw new ContextWeaverError("UNSUPPORTED", "a bundle does not carry what writes reports", { hint, cause });
  }
}

/** Marks a journal among the arguments of the constructor. */
class ReadJournal {
  readonly source: JournalSource;

  constructor(source: JournalSource) {
    this.source = source;
  }
}

/** Goes on with a manager that was just made, or frees it. */
function orFree<T>(use: () => T, session: Session): T {
  try {
    return use();
  } catch (error) {
    session.free();
    throw error;
  }
}

/** Artifacts that one recall fetches. */
const MAX_LOADED = 8;
/** From which share of the query on no better place is looked for. */
const ALL_WORDS = 0.95;
const NOT_EMBEDDED = "words alone were compared: await embedMissing(query) before the build";
const PHASES: readonly Phase[] = ["route", "call", "interpret", "answer"];

function withWarnings(pack: ContextPack, warnings: readonly string[]): ContextPack {
  return warnings.length === 0 ? pack : { ...pack, warnings: [...(pack.warnings ?? []), ...warnings] };
}

/** A call of a tool that an adapter adds. */
interface AddedCall {
  readonly name: string;
  readonly input: object;
  readonly call_id?: string | undefined;
}

type AddedAnswer = Pick<ToolExecuted, "result" | "error_type">;

function answered(run: () => string): AddedAnswer {
  try {
    return { result: run() };
  } catch (error) {
    return refusal(error);
  }
}

/** What a model is told of an error of the package; others are not its fault. */
function refusal(error: unknown): AddedAnswer {
  if (!ContextWeaverError.is(error)) throw error;
  const { code, message, hint } = error;
  return { result: `${code}: ${message}${hint ? ` (${hint})` : ""}`, error_type: code };
}

/** Whether an artifact is not in memory, or nowhere. */
function isAbsence(error: unknown): error is ContextWeaverError {
  return ContextWeaverError.is(error) && (error.code === "ARTIFACT_EXPIRED" || error.code === "ARTIFACT_NOT_FOUND");
}

/** Adds to a result what was repaired of it, where its envelope tells what else was. */
function withRepairs(result: ToolResult, repairs: readonly Repair[]): ToolResult {
  if (repairs.length === 0) return result;
  const { envelope } = result;
  const { warnings } = envelope.provenance as { readonly warnings?: readonly JsonValue[] };
  const all = [...asMcpWarnings(repairs).map(({ code, path }) => ({ code, path })), ...(warnings ?? [])];
  return { ...result, envelope: { ...envelope, provenance: { ...envelope.provenance, warnings: all } } };
}

/** What is said of the call that an MCP result answers. */
const MCP_CALL = ["tool_call_id", "tool_name", "sensitivity", "metadata"];

/** Tokens of the largest budget, as in the engine. */
const MAX_BUDGET = 2 ** 24;

/** What choosing a tool needs to know of the conversation. */
interface RoutePlan {
  readonly budget_tokens: number;
  readonly history: RouteHistory | null;
  readonly conversation: readonly RouteTurn[];
}

/** Makes cards for a part of a prompt's budget. The smallest of one is made anyway: whether it fits is seen with the rest. */
function choices(router: Router, route: RouteResult, options: CardOptions, part: number): PackedCards {
  const within = (budget_tokens: number): PackedCards =>
    under("/cards", () => router.packCards(route, { budget_tokens, ...options }));
  try {
    return within(part);
  } catch (error) {
    const { code, details } = error as ContextWeaverError;
    if (code !== "BUDGET_EXCEEDED" || options.budget_tokens !== undefined) throw error;
    return within(part + Number(details?.["over_by"]));
  }
}

/** What the foot of a prompt says of the tools: their cards, or that none fits. Empty when there is neither. */
function offer(cards: string, { no_match: isNone, no_match_reason: why }: RouteResult): string {
  const shown = cards || (isNone && why ? `None fits: ${why}.` : "");
  return shown && `[AVAILABLE TOOLS]\n${shown}`;
}

/** Puts a tool in the place of its id in a router or a catalog. */
function withTool(options: unknown): Record<string, unknown> {
  const { tool_id: id, router, catalog, ...rest } = fields(options);
  if (id === undefined && router === undefined && catalog === undefined) return rest;
  if (rest["tool"] !== undefined) throw tooMany("/tool_id", "a tool or the id of one");
  if (router !== undefined && catalog !== undefined) throw tooMany("/catalog", "a router or a catalog");
  if (router === undefined ? !isCatalog(catalog) : !isRouter(router)) {
    throw catalog === undefined
      ? missingOr(router, "/router", "a Router")
      : missingOr(catalog, "/catalog", "a Catalog");
  }
  if (id === undefined) throw missingOr(id, "/tool_id", "an id");
  const known = text(id, "/tool_id");
  try {
    return { ...rest, tool: ((router ?? catalog) as Router | Catalog).get(known) };
  } catch (error) {
    movePath(error, "/id", "/tool_id");
    throw error;
  }
}

/** Counts the index of a path below `/messages` from the caller's first message. */
function counted(path: string, skipped: number): string {
  return path.replace(/^\/messages\/(\d+)/, (_, index: string) => `/messages/${Number(index) + skipped}`);
}

function missingOr(value: unknown, path: string, wanted: string): ContextWeaverError {
  if (value !== undefined) return new ContextWeaverError("INVALID_INPUT", `expected ${wanted}`, { path });
  return new ContextWeaverError("MISSING_FIELD", `missing field \`${path.slice(1)}\``, { path });
}

function tooMany(path: string, what: string): ContextWeaverError {
  return new ContextWeaverError("INVALID_INPUT", `give ${what}, not both`, { path });
}

/** Runs a part of a larger call; paths of errors lead through the options that are given for it. */
function under<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    // The query stands beside those options, and what has no path is no option's fault.
    if (error instanceof ContextWeaverError && error.path && error.path !== "/query") movePath(error, "", path);
    throw error;
  }
}

disposable(ContextManager);
