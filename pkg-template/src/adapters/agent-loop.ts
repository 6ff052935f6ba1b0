// What all adapters do before a call of a model: bring the log in line with the conversation, choose tools, compile. An adapter
// translates. By its own name the package is imported with the modules that fit the runtime.
import { ContextManager, ContextWeaverError, Router, countTokens, drilldownTool, recallTool } from "contextweaver";
import type {
  BuiltMessages,
  ContextManagerOptions,
  JsonObject,
  MessageFormat,
  MessageWarning,
  Phase,
  QueryCompletion,
  RouteResult,
  RouteTurn,
  SelectableItem,
  StoredItem,
  StoredSession,
  SyncedMessages,
} from "contextweaver";
import { leftOutOf } from "./left-out.js";
import type { LeftOut } from "./left-out.js";
import { findAgain, findAgainAsync, readOn, readOnAsync } from "./read-on.js";
import type { DrilldownInput, RecallInput } from "./read-on.js";
import { refuseAborted } from "../boundary/abort.js";
import { parseKeeping, withNumbers } from "../boundary/exact-numbers.js";
import { wellFormed } from "../boundary/repairs.js";
import { lineWriter, isDebug } from "../telemetry/debug.js";
import type { Debug } from "../telemetry/debug.js";
import { loopReport, stepLine, stepOf } from "./loop-report.js";
import type { KeptStep, LoopCosts, LoopReport, StepReport, ToldBefore } from "./loop-report.js";
import { TextHash } from "./text-hash.js";
import { CALL_TOOL, ToolFront } from "./tool-front.js";
import type { FrontCall, ResolvedCall } from "./tool-front.js";

export type { Debug, DrilldownInput, LeftOut, LoopReport, RecallInput, StepReport };

/** What an agent's loop needs to know, whatever it is written in. */
export interface AgentLoopOptions {
  /**
   * Most tokens of a call of the model: messages, instructions and the definitions of the tools that are offered; these take at
   * most half of it.
   */
  readonly budget_tokens: number;
  /** The log, or how to make it. Default: a new one with default options. Whoever gives one frees it. */
  readonly manager?: ContextManager | ContextManagerOptions;
  /**
   * The log with its storage, of `openSession`, in place of `manager`. What is new is saved in each step before the model is called; where
   * an entry cannot wait, as `fit`, call `session.save()` yourself. Whoever gives one frees it.
   */
  readonly session?: StoredSession;
  /** Default: `answer`, which shows messages, calls and results alike. */
  readonly phase?: Phase;
  /** Most tools offered per question. With no more tools than that, all are offered. Default: 16. */
  readonly max_tools?: number;
  /** Names of tools that are offered in every step. Default: none. */
  readonly always?: readonly string[];
  /** As of the log: what repeating a prompt costs. Not beside a log that is given as it is. */
  readonly prices?: ContextManagerOptions["prices"];
  /** As of the log: from 0, which keeps what it can, to 1, which saves what it can. Not beside a log that is given as it is. */
  readonly thrift?: number;
  /**
   * Tells of an item of the conversation whether it stays in every prompt, such as the task or a brief: asked once about each. What is
   * pinned is never cut out; where it does not fit, a step is `BUDGET_EXCEEDED`. Default: nothing is pinned.
   */
  readonly pin?: (item: StoredItem) => boolean;
  /** Is told of every step what was sent and what was left out. What it throws ends the step. */
  readonly on_step?: (step: AgentLoopStep) => void;
  /**
   * Tells in one line of every step how many tokens were sent, expected from the cache and rewritten, what is not whole, and why it was cut:
   * `true` on standard error (in browsers and Workers by `console.debug`), a function is called with the line. No line quotes what was
   * said. Default: false.
   */
  readonly debug?: Debug;
}

/** What was compiled for a call of the model. */
export interface AgentLoopStep<F extends MessageFormat = MessageFormat> {
  /** The messages with their record, `pack`: what was kept, and why not the rest. */
  readonly built: BuiltMessages<F>;
  /** Names of the tools that are offered, in the order of their definitions. */
  readonly tools: readonly string[];
  /** Tokens of the definitions of these. With `built.tokens` at most the budget. */
  readonly tool_tokens: number;
  /** Names of tools that the turn wants and the list does not have: the model finds them by `find_tools`. Absent where all are offered. */
  readonly unlisted?: readonly string[];
  /** What of the conversation is new, and what was edited. */
  readonly synced: SyncedMessages;
  /**
   * What was repaired or left out, of the conversation as of the messages; a tool without room is `TOOL_LEFT_OUT`, vectors that did not come are
   * `EMBEDDING_FAILED`.
   */
  readonly warnings: readonly MessageWarning[];
  /** What tools were looked for in place of what the user said last, where that does not stand on its own. */
  readonly completion?: QueryCompletion;
}

/** Where a conversation stands, and how what is compiled becomes what is sent. */
export interface AgentLoopTurn<F extends MessageFormat> {
  readonly query: string;
  readonly called: readonly string[];
  /** Names of tools that must be offered, as the model has to call one of them. Default: none. */
  readonly demanded?: readonly string[];
  readonly system?: unknown;
  /** Tokens of what is sent beside messages and tools, such as the schema of an answer. Default: 0. */
  readonly reserved_tokens?: number;
  /** What is sent before the messages beside the tools, such as instructions of their own: where it changes, the cache is lost. */
  readonly before?: string | undefined;
  /** The tools, where they were chosen already. */
  readonly chosen?: ChosenTools;
  /** The model that is going to be called: another one has nothing of the prompt in its cache. */
  readonly model?: string | undefined;
  /** Milliseconds since 1970 of the call, where it is not made now. Default: the present. */
  readonly now?: number | undefined;
  /** Whose prices it has, where the format of the messages does not tell. */
  readonly prices?: "openai" | "anthropic" | "gemini" | "deepseek" | undefined;
  /** Gives up what is waited for before the call. */
  readonly signal?: AbortSignal | undefined;
  readonly translated?: (step: Omit<AgentLoopStep<F>, "warnings">) => readonly MessageWarning[];
}

/** A conversation where tools are chosen before the log is in line with it. */
export interface ConversationAhead {
  readonly format: MessageFormat;
  readonly messages: readonly unknown[];
  /** Names what the user said last: while it stays, the turn is the same. */
  readonly user_turn: string;
}

/** A tool of a framework, as far as a choice among tools needs to know. */
export interface OfferedTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments; absent for tools that the provider itself runs. */
  readonly schema?: JsonObject | undefined;
  /** What is sent for it, where that is known: it is counted in place of the three above. */
  readonly definition?: unknown;
}

/** A tool that the loop adds. */
export interface DescribedTool extends OfferedTool {
  readonly description: string;
  readonly schema: JsonObject;
}

/** Words for a search among the tools. */
export interface FindToolsInput {
  readonly query: string;
}

/** By what the tools of a step are chosen. */
export interface ToolTurn {
  readonly query: string;
  /** The tools that were called since the user spoke last. */
  readonly called: readonly string[];
  /** What must be offered. Default: none. */
  readonly demanded?: readonly string[];
  /** What the tokens of the model are to those of the estimator. Default: 1. */
  readonly factor?: number;
  /** The conversation that the log has not seen yet. */
  readonly ahead?: ConversationAhead | undefined;
}

/** A tool with the tokens of its definition. */
interface PricedTool<T extends OfferedTool = OfferedTool> {
  readonly tool: T;
  readonly tokens: number;
}

/** The tools of a step, and which of each list that was found are among them. */
export interface LoadedTools {
  readonly chosen: ChosenTools;
  readonly loaded: readonly (readonly string[])[];
}

/** What a search found, and what it says. */
export interface FoundNames {
  readonly names: readonly string[];
  readonly text: string;
}

/** A list of tools with the tokens of their definitions, and those for which there was no room. */
interface ToolList {
  readonly names: readonly string[];
  readonly tokens: number;
  readonly left_out: readonly MessageWarning[];
}

/** The tools of a step. */
export interface ChosenTools extends ToolList {
  /** What the turn wants and a list that does not change lacks. */
  readonly unlisted?: readonly string[];
  /** How the query was completed to choose them, where it does not stand on its own. */
  readonly completion?: QueryCompletion | undefined;
}

const MAX_TOOLS = 16;
/**
 * The lists of conversations that are served by another loop each turn, or by agents in turn, by the set of tools that they are of: each
 * goes on as it was.
 */
const LISTS = new WeakMap<ContextManager, ReadonlyMap<string, readonly string[]>>();
/** Sets of tools of a conversation whose lists are remembered. */
const MOST_LISTS = 16;
/** Least and most tokens of a model for one of the estimator that are believed. */
const LEAST_SHARE = 0.4;
const MOST_SHARE = 2.5;
/** Said to a model that asks for a tool before the loop was told which there are. */
const NOT_TOLD = "The tools that are not offered are known from the next step on: call this again then.";
/** What providers put around a definition, or a text beside the messages. */
const FRAME_TOKENS = 4;

/** The tool by which a model looks for tools that it was not offered. */
export const FIND_TOOLS: DescribedTool = {
  name: "find_tools",
  description: "Find tools by what they do, and how each is called. Ask for one step of a task at a time.",
  schema: {
    type: "object",
    properties: {
      query: {
        type: "string",
        description: "What the tool should do in one step, in a few words, not the whole task.",
      },
    },
    required: ["query"],
    additionalProperties: false,
  },
};

/** The tool by which a model reads on in a result of which a prompt shows a part. */
export function drilldownOffer(): DescribedTool {
  const { name, description, args_schema } = drilldownTool();
  return { name, description, schema: args_schema as JsonObject };
}

/** The tool by which a model finds again what left the prompt. */
export function recallOffer(): DescribedTool {
  const { name, description, args_schema } = recallTool();
  return { name, description, schema: args_schema as JsonObject };
}

/** The tools that the loop adds and answers itself. */
export function addedOffers(): readonly DescribedTool[] {
  return [drilldownOffer(), recallOffer(), FIND_TOOLS];
}

/** The tool by which a model runs one that it was not offered. */
export function callOffer(): DescribedTool {
  return CALL_TOOL;
}

/** The conversation of an agent, and its tools. */
export class AgentLoop {
  readonly manager: ContextManager;
  /** Its storage, where it has one. */
  readonly session: StoredSession | undefined;
  readonly #options: AgentLoopOptions;
  readonly #line: ((line: string) => void) | undefined;
  readonly #isOwn: boolean;
  readonly #drilldown = priced(drilldownOffer());
  readonly #recall = priced(recallOffer());
  readonly #findTools = priced(FIND_TOOLS);
  readonly #callTool = priced(callOffer());
  #router: Router | undefined;
  /** Of tools that are too many to be offered all. */
  #front: ToolFront | undefined;
  #tools = new Map<string, PricedTool>();
  /** Whether these were told: a log that is read again for a call of an added tool has none yet. */
  #isTold = false;
  /** Names the set of these tools. */
  #listKey = "";
  /** What the model found by `find_tools`, the newest last. */
  #found: string[] = [];
  /** The tools of the present turn: they do not change within it, for the sake of the provider's prompt cache. */
  #turn:
    | { readonly key: string; readonly names: readonly string[]; readonly completion?: QueryCompletion | undefined }
    | undefined;
  /** Ids of the items that stay in every prompt; not yet asked for in a log that was there before. */
  #pins: Set<string> | undefined;
  /** Items that are still to be asked for. */
  readonly #unasked = new Map<string, StoredItem>();
  /** What the user said last, as the log has it. */
  #userTurn: string | undefined;
  /** Tokens that were estimated for the last step, and those of them that repeat the one before. */
  #estimated = 0;
  #forecast = 0;
  readonly #observed = { steps: 0, cached_tokens: 0, forecast_tokens: 0 };
  /** The list of tools that the provider was told of last, and one that took its place in a cut. */
  #list: string | undefined;
  #adopted: string | undefined;
  /** Tokens of a model for one of the estimator. */
  readonly #factors = new Map<string, number>();
  /** Tools that `call_tool` could not run, and that are offered therefore. */
  readonly #demanded = new Set<string>();
  /** Whether the manager scales budgets, as far as was seen. */
  #calibrates = true;
  /** The step that was compiled last. */
  #last: KeptStep | undefined;

  /** `taken` are names of options that the adapter has taken out. */
  constructor(options: AgentLoopOptions, taken: readonly string[] = []) {
    const { session, manager = session?.manager, prices, thrift, debug } = checked(options, taken);
    this.session = session;
    this.#line = lineWriter(debug);
    this.#isOwn = !(manager instanceof ContextManager);
    const own = { ...(prices !== undefined && { prices }), ...(thrift !== undefined && { thrift }) };
    this.manager = manager instanceof ContextManager ? manager : new ContextManager({ ...manager, ...own });
    this.#options = options;
    if (!(manager instanceof ContextManager)) this.#calibrates = manager?.calibrate ?? true;
  }

  /** Takes the tools that there are; no two may have one name, and none that of those that are added. */
  setTools(tools: readonly OfferedTool[]): void {
    const known = new Map<string, PricedTool>();
    for (const tool of tools) {
      const { name } = tool;
      if (this.#isAdded(name)) {
        throw new ContextWeaverError("DUPLICATE_ID", `the tool \`${name}\` is added by contextweaver`, {
          path: `/tools/${name}`,
          hint: "give yours another name",
        });
      }
      if (known.has(name))
        throw new ContextWeaverError("DUPLICATE_ID", `two tools are named \`${name}\``, { path: `/tools/${name}` });
      known.set(name, priced(tool));
    }
    for (const name of this.#options.always ?? []) {
      if (!known.has(name))
        throw new ContextWeaverError("NOT_FOUND", `there is no tool \`${name}\``, {
          path: "/always",
          unknown: { name, known: [...known.keys()] },
        });
    }
    const router = tools.length > this.#maxTools ? new Router(tools.map((tool) => this.#selectable(tool))) : undefined;
    this.#router?.free();
    [this.#tools, this.#router, this.#turn, this.#found, this.#isTold] = [known, router, undefined, [], true];
    this.#front = router && this.#frontOf(router);
    this.#demanded.clear();
  }

  /** Writes a tool as the router takes it. What a server says of one is repaired. */
  #selectable({ name, description, schema }: OfferedTool): SelectableItem {
    const args_schema = typeof schema === "object" && !Array.isArray(schema) ? schema : undefined;
    const said = { description: description ?? "", ...(args_schema && { args_schema }) };
    return {
      id: name,
      kind: "tool",
      name,
      ...(JSON.parse(this.manager.jsonOf(said).json) as Pick<SelectableItem, "description" | "args_schema">),
    };
  }

  /** Refuses a list of tools that is not the one that there is, with those that are added or without: a choice is made here. */
  checkTools(names: readonly string[]): void {
    const given = new Set(names);
    const unknown = names.findIndex((name) => !this.#isAdded(name) && !this.#tools.has(name));
    const hint = "give all tools to contextWeaver, which chooses, and leave them out here";
    if (unknown !== -1)
      throw new ContextWeaverError("NOT_FOUND", `there is no tool \`${names[unknown]}\``, {
        path: `/tools/${unknown}`,
        hint,
      });
    const missing = [...this.#tools.keys()].find((name) => !given.has(name));
    if (missing !== undefined)
      throw new ContextWeaverError("INVALID_INPUT", `the tool \`${missing}\` is missing`, { path: "/tools", hint });
  }

  /**
   * Compiles a step: `messages` is the whole conversation, `query` what the user asked last, `called` the tools that were called
   * since, `chosen` the tools, where the framework wanted to know them before the messages were there. `translated` is told what
   * was built before `on_step` is, and says what the adapter repaired or left out.
   */
  step<F extends MessageFormat>(format: F, messages: readonly unknown[], turn: AgentLoopTurn<F>): AgentLoopStep<F> {
    return this.#told(() => this.#compile(format, this.#sync(format, messages, turn), turn, []));
  }

  /** Does the same where it may take time: items that are new get their vectors first, where the manager has an embedder. */
  async stepLater<F extends MessageFormat>(
    format: F,
    messages: readonly unknown[],
    turn: AgentLoopTurn<F>,
  ): Promise<AgentLoopStep<F>> {
    const { signal } = turn;
    refuseAborted(signal);
    const synced = this.#told(() => this.#sync(format, messages, turn));
    const warnings: MessageWarning[] = [];
    try {
      if (this.manager.embeds) await this.manager.embedMissing(wellFormed(turn.query), { signal });
    } catch (error) {
      if (!ContextWeaverError.is(error) || error.code !== "CALLBACK_FAILED") throw error;
      // A prompt by words alone is better than none.
      warnings.push({ code: "EMBEDDING_FAILED", message: error.message, path: "/manager/embed" });
    }
    const step = this.#told(() => this.#compile(format, synced, turn, warnings));
    await this.session?.save({ signal });
    return step;
  }

  /** Tells of a step that cannot be made. */
  #told<T>(make: () => T): T {
    try {
      return make();
    } catch (error) {
      if (ContextWeaverError.is(error))
        this.#line?.(`step failed: ${error.code}${error.path ? ` at ${error.path}` : ""}`);
      throw error;
    }
  }

  #sync<F extends MessageFormat>(
    format: F,
    messages: readonly unknown[],
    { system }: AgentLoopTurn<F>,
  ): SyncedMessages {
    const synced = this.manager.syncMessages(messages, format, system === undefined ? {} : { system });
    this.#userTurn = synced.user_turn;
    this.#pin(synced);
    return synced;
  }

  /** Asks which of what is new stays in every prompt. */
  #pin({ added, superseded }: SyncedMessages): void {
    const { pin } = this.#options;
    if (!pin) return;
    const fresh = this.#pins
      ? added.map((id) => this.manager.events.get(id))
      : this.manager.events.list().filter(({ metadata }) => metadata?.["superseded"] !== true);
    this.#pins ??= new Set();
    for (const id of superseded) {
      this.#pins.delete(id);
      this.#unasked.delete(id);
    }
    for (const item of fresh) this.#unasked.set(item.id, item);
    for (const [id, item] of this.#unasked) {
      if (pin(item) === true) this.#pins.add(id);
      // Where it throws, the next step asks again.
      this.#unasked.delete(id);
    }
  }

  #compile<F extends MessageFormat>(
    format: F,
    synced: SyncedMessages,
    {
      query: asked,
      called,
      demanded = [],
      reserved_tokens = 0,
      before = "",
      chosen,
      model,
      now = Date.now(),
      prices,
      translated,
    }: AgentLoopTurn<F>,
    warnings: readonly MessageWarning[],
  ): AgentLoopStep<F> {
    const query = wellFormed(asked);
    const factor = this.factorOf(model);
    const { budget_tokens, phase } = this.#options;
    const turn: ToolTurn = { query, called, demanded, factor };
    const kept = chosen ?? this.choose(turn);
    const reading = this.#reading(kept, this.#room(factor));
    const built = this.manager.buildMessages({
      ...(phase !== undefined && { phase }),
      query,
      format,
      budget_tokens,
      running: true,
      // A model is asked now: what has no result by now is told so, unless it waits for an approval.
      close_calls: true,
      reserved_tokens: kept.tokens + reserved_tokens,
      ...(!chosen && { hidden_tokens: reading.tokens - kept.tokens }),
      head: this.#head(kept.names, `${model ?? ""} ${before}`),
      now,
      ...(this.#pins && { pin: [...this.#pins] }),
      ...(prices && { prices }),
      ...(model !== undefined && { model }),
    });
    const list = this.#listOf(turn, chosen, kept, reading, built, reserved_tokens);
    const { names, tokens, left_out, unlisted } = list;
    const completion = this.#named(query, list.completion);
    this.#estimated = built.tokens + tokens + reserved_tokens;
    this.#forecast = built.step?.repeated_tokens ?? 0;
    // A log that was there before knows what calls of this model cost.
    if (!this.#isOwn && model !== undefined && !this.#factors.has(model))
      this.#factors.set(model, built.pack.stats.calibration?.factor ?? 1);
    if (factor !== 1 && built.pack.stats.calibration === undefined) {
      this.#calibrates = false;
      this.#factors.clear();
    }
    const partial = {
      built,
      tools: names,
      tool_tokens: tokens,
      ...(unlisted && { unlisted }),
      synced,
      ...(completion && { completion }),
    };
    const step = {
      ...partial,
      warnings: [...synced.warnings, ...warnings, ...left_out, ...built.warnings, ...(translated?.(partial) ?? [])],
    };
    this.#note(step, { model, before, now });
    return step;
  }

  /** Remembers a step and tells of it. */
  #note(made: AgentLoopStep, told: ToldBefore): void {
    const { built, tools, tool_tokens, warnings, synced } = made;
    if (built.step) {
      const { budget_tokens } = this.#options;
      const added_tools = tools.filter((name) => this.#isAdded(name));
      const step = { ...built.step, cost: priceOf(built.step.cost), cost_without: priceOf(built.step.cost_without) };
      // Its items are not read here: making them takes as long as writing the prompt again.
      const kept = {
        step,
        stats: built.pack.stats,
        pack: built.pack,
        added: synced.added,
        budget_tokens,
        tools,
        added_tools,
        tool_tokens,
        tool_count: this.#tools.size,
        warnings,
        told,
        thrift: this.manager.thrift,
      };
      this.#last = stepOf(kept, this.#last);
      this.#line?.(stepLine(this.#last, leftOutOf(this.manager, this.#last)));
    }
    this.#options.on_step?.(made);
  }

  /**
   * The tools of a step whose prompt is there: those that read what is hidden, once something is, and with another list in a cut, as
   * the prompt is new to the provider's cache anyway.
   */
  #listOf(
    turn: ToolTurn,
    chosen: ChosenTools | undefined,
    kept: ChosenTools,
    reading: ChosenTools,
    built: BuiltMessages,
    reserved_tokens: number,
  ): ChosenTools {
    const { step } = built;
    if (chosen || !step) return kept;
    if (this.#front) {
      if (step.cut === undefined || step.cut === "first") return kept;
      const left = Math.floor(this.#options.budget_tokens / (turn.factor ?? 1)) - built.tokens - reserved_tokens;
      const list = this.renewed(turn, left);
      this.#adopted = list.names.join(" ");
      return list;
    }
    return step.hides ? reading : kept;
  }

  /** Adds the tools that read what is hidden, as far as there is room for them. */
  #reading(kept: ChosenTools, room: number): ChosenTools {
    return { ...kept, ...this.#fill([this.#drilldown, this.#recall], room, kept) };
  }

  /** Names what the provider has before the prompt. A list that was adopted in a cut came with it. */
  #head(names: readonly string[], before: string): string {
    const list = names.join(" ");
    const told = list === this.#adopted ? (this.#list ?? list) : list;
    if (list !== this.#adopted) [this.#list, this.#adopted] = [list, undefined];
    return new TextHash().add(`${before} ${told}`);
  }

  /**
   * Sums up what the calls cost and would have cost, and what the provider says that it had in its cache, as far as it was observed.
   */
  costs(): LoopCosts {
    const { steps, cached_tokens, forecast_tokens } = this.#observed;
    const costs = this.manager.costs();
    return {
      ...costs,
      cost: priceOf(costs.cost),
      cost_without: priceOf(costs.cost_without),
      ...(steps > 0 && { observed: { steps, cached_tokens, forecast_tokens } }),
    };
  }

  /** What happened so far. */
  report(): LoopReport {
    return loopReport(this.manager, this.costs(), this.#last);
  }

  /** Takes what the provider says that it had of the last call in its cache. */
  #observeCache(cached: unknown): void {
    if (typeof cached !== "number" || !Number.isFinite(cached) || cached < 0) return;
    this.#observed.steps += 1;
    this.#observed.cached_tokens += cached;
    this.#observed.forecast_tokens += this.#forecast;
    this.#forecast = 0;
    if (this.#last) this.#last = { ...this.#last, observed_cached_tokens: cached };
  }

  /**
   * Takes what the call of the last step cost, so that the next estimate for the model is better. What cannot be a count of what was
   * sent is passed over: a provider may leave out what it had in its cache, and a model for tests makes a figure up. `usage` is what the
   * provider says of the call, with what it had in its cache.
   */
  observe(model: string, actual: unknown, usage: Readonly<Record<string, unknown>> = {}): void {
    this.#observeCache(cachedOf(usage));
    const estimated = this.#estimated;
    this.#estimated = 0;
    if (!isCount(actual) || estimated === 0) return;
    const share = (actual as number) / estimated;
    if (share < LEAST_SHARE || share > MOST_SHARE) return;
    const { factor } = this.manager.observeUsage({ model, estimated, actual: actual as number });
    if (this.#calibrates) this.#factors.set(model, factor);
  }

  /** Tokens of a model for one of the estimator, by what its calls cost; 1 where none is known. */
  factorOf(model: string | undefined): number {
    return this.#factors.get(model ?? "") ?? 1;
  }

  /**
   * Reads a call of `call_tool` as the call that it stands for; undefined for every other call, and for one that stands for none: that
   * one `answer` answers.
   */
  resolve(name: string, given: unknown): FrontCall | undefined {
    const resolved = name === CALL_TOOL.name ? this.#resolved(given) : undefined;
    return resolved && "call" in resolved ? resolved.call : undefined;
  }

  /** Does the same where arguments are texts: numbers that JavaScript would round stay as the model wrote them. */
  resolveText(name: string, given: unknown): { readonly name: string; readonly arguments: string } | undefined {
    const resolved = name === CALL_TOOL.name ? this.#resolved(given, parseKeeping) : undefined;
    if (!resolved || !("call" in resolved)) return undefined;
    const { call } = resolved;
    return { name: call.name, arguments: withNumbers(JSON.stringify(call.arguments)) };
  }

  /**
   * Offers a tool from the next step on that `call_tool` cannot run, such as one that runs elsewhere, and says so to the model. It costs
   * the conversation its place in the provider's cache, once.
   */
  demand(name: string): string {
    this.#demanded.add(name);
    return `${name} is not run by ${CALL_TOOL.name}. It is offered from the next step on: call it by its own name then.`;
  }

  /** Answers a call of `call_tool` that stands for no call of a tool; undefined for one that does, which is the loop's to run. */
  #misdirected(given: unknown, call_id: string | undefined): string | undefined {
    const resolved = this.#resolved(given);
    if ("call" in resolved) return undefined;
    return this.manager.runAdded(
      { name: CALL_TOOL.name, input: argumentsOf(given) ?? {}, call_id },
      () => resolved.problem,
    ).result;
  }

  #resolved(given: unknown, parse?: (json: string) => unknown): ResolvedCall {
    return (
      this.#front?.resolve(given, parse) ?? {
        problem: this.#isTold ? "All tools are offered already: call it by its own name." : NOT_TOLD,
      }
    );
  }

  /**
   * Answers a call of one of the tools that are added; undefined for every other. `given` is what the model said: an object,
   * or the JSON of one; `call_id` is what it called the call.
   */
  answer(name: string, given: unknown, call_id?: string): string | undefined {
    if (!this.#isAdded(name)) return undefined;
    if (name === CALL_TOOL.name) return this.#misdirected(given, call_id);
    const input = argumentsOf(given);
    if (!input) {
      return this.manager.runAdded({ name, input: {}, call_id }, () => {
        throw new ContextWeaverError("INVALID_INPUT", "the arguments are no JSON object");
      }).result;
    }
    if (name === FIND_TOOLS.name) return this.findTools(input as unknown as FindToolsInput, call_id);
    if (name === this.#recall.tool.name) return this.recall(input as unknown as RecallInput, call_id);
    return this.drilldown(input as unknown as DrilldownInput, call_id);
  }

  /** Does the same where it may take time: a result that is not in memory is fetched. What is no call of theirs is told at once. */
  answerAsync(name: string, given: unknown, call_id?: string, signal?: AbortSignal): Promise<string> | undefined {
    const isRead = name === this.#recall.tool.name || name === this.#drilldown.tool.name;
    const input = isRead ? argumentsOf(given) : undefined;
    if (input && name === this.#recall.tool.name)
      return this.recallAsync(input as unknown as RecallInput, call_id, signal);
    if (input) return this.drilldownAsync(input as unknown as DrilldownInput, call_id, signal);
    const answer = this.answer(name, given, call_id);
    return answer === undefined ? undefined : Promise.resolve(answer);
  }

  /** Answers a call of the drilldown tool, of what is in memory. */
  drilldown(input: DrilldownInput, call_id?: string): string {
    return this.manager.runAdded({ name: this.#drilldown.tool.name, input, call_id }, () =>
      readOn(this.manager, input, this.#share),
    ).result;
  }

  /** Answers it of any result. */
  async drilldownAsync(input: DrilldownInput, call_id?: string, signal?: AbortSignal): Promise<string> {
    const called = { name: this.#drilldown.tool.name, input, call_id };
    return (await this.manager.runAddedAsync(called, () => readOnAsync(this.manager, input, this.#share, signal)))
      .result;
  }

  /** Answers a call of the recall tool, of what is in memory. */
  recall(input: RecallInput, call_id?: string): string {
    return this.manager.runAdded({ name: this.#recall.tool.name, input, call_id }, () =>
      findAgain(this.manager, input, this.#share),
    ).result;
  }

  /** Answers it of everything. */
  async recallAsync(input: RecallInput, call_id?: string, signal?: AbortSignal): Promise<string> {
    const called = { name: this.#recall.tool.name, input, call_id };
    return (await this.manager.runAddedAsync(called, () => findAgainAsync(this.manager, input, this.#share, signal)))
      .result;
  }

  /** Answers a call of `find_tools`: how the tools that are found are called. */
  findTools(input: FindToolsInput, call_id?: string): string {
    const { result } = this.manager.runAdded({ name: FIND_TOOLS.name, input, call_id }, () => {
      const front = this.#front;
      if (!front) return this.#isTold ? "All tools are offered already." : NOT_TOLD;
      const { names, text } = front.find(input.query);
      this.#found = [...this.#found.filter((name) => !names.includes(name)), ...names].slice(-this.#maxTools);
      return text;
    });
    return result;
  }

  /** Answers a search of the provider's own: the names of what is found, and what the log says of it. */
  search(
    given: unknown,
    call_id: string | undefined,
    most: number,
    say: (names: readonly string[]) => string,
  ): FoundNames {
    const input = argumentsOf(given);
    let names: readonly string[] = [];
    const { result: text } = this.manager.runAdded({ name: FIND_TOOLS.name, input: input ?? {}, call_id }, () => {
      if (!input) throw new ContextWeaverError("INVALID_INPUT", "the arguments are no JSON object");
      names = this.#router?.route((input as unknown as FindToolsInput).query, { top_k: most }).candidate_ids ?? [];
      return names.length === 0 ? "No tool fits." : say(names);
    });
    return { names, text };
  }

  /** The tools that are loaded in every call where a provider loads the others as they are found, those that are added among them. */
  get standing(): ReadonlySet<string> {
    const reading = [this.#drilldown.tool.name, this.#recall.tool.name];
    if (!this.#router) return new Set([...this.#tools.keys(), ...reading]);
    return new Set([...(this.#options.always ?? []), ...this.#unsaid(), FIND_TOOLS.name, ...reading]);
  }

  /**
   * Chooses the tools of a step where those that stand are no matter of choice: then `demanded`, then what was `found`, as many as half
   * of the budget has room for. `loaded` says which of each list.
   */
  load(demanded: readonly string[], found: readonly (readonly string[])[], model: string): LoadedTools {
    const room = this.#room(this.factorOf(model));
    const offered = new Set([...this.standing, ...demanded]);
    let tokens = [...offered].reduce((sum, name) => sum + this.#price(name), 0);
    const loaded = found.map((names) =>
      names.filter((name) => {
        // Each place where a tool is loaded costs its definition.
        const cost = this.#price(name);
        if (tokens + cost > room) return false;
        tokens += cost;
        offered.add(name);
        return true;
      }),
    );
    const missing = new Set(found.flat().filter((name) => !offered.has(name)));
    const left_out = [...missing].map((name) => {
      const message = `the definition of ${name}, which was found, takes ${this.#price(name)} tokens, and ${Math.max(0, room - tokens)} are left for tools`;
      return { code: "TOOL_LEFT_OUT", message, path: `/tools/${name}` };
    });
    return { chosen: { names: this.#inOrder(offered), tokens, left_out }, loaded };
  }

  /** Gives the memory back: of the router, and of the log if it was made here. */
  free(): void {
    this.#router?.free();
    if (this.#isOwn) this.manager.free();
  }

  /** Tokens that one result may take: a quarter of the budget. */
  get #share(): number {
    return Math.floor(this.#options.budget_tokens / 4);
  }

  get #maxTools(): number {
    return this.#options.max_tools ?? MAX_TOOLS;
  }

  /**
   * Chooses the tools of a step: first those that must be there, then what the query brings, as many as half of the budget has room
   * for. Of too many to offer all, the list is the one of the step before, with what is demanded.
   */
  choose(turn: ToolTurn): ChosenTools {
    if (this.#front) return this.#ofFront(this.#front, turn, this.#room(turn.factor), false);
    const { query, called, demanded = [], factor = 1, ahead } = turn;
    const { always = [] } = this.#options;
    const { names: ofTurn, completion } = this.#ofTurn(query, ahead);
    const names = new Set([...always, ...demanded, ...called, ...ofTurn]);
    const wanted = [
      // Who chooses before anybody knows what a prompt hides offers them always: a list that changes makes the prompt new.
      ...(ahead ? [this.#drilldown, this.#recall] : []),
      ...[...names].flatMap((name) => this.#tools.get(name) ?? []),
    ];
    return { ...this.#fill(wanted, this.#room(factor)), completion };
  }

  /** Adds tools to a list as long as there is room for their definitions, and says which had none. */
  #fill(
    wanted: readonly PricedTool[],
    room: number,
    list: ToolList = { names: [], tokens: 0, left_out: [] },
  ): ToolList {
    const offered = new Set(list.names);
    const left_out = [...list.left_out];
    let { tokens } = list;
    for (const { tool, tokens: cost } of wanted) {
      if (offered.has(tool.name)) continue;
      if (tokens + cost > room) {
        left_out.push(leftOut(tool.name, cost, room - tokens));
        continue;
      }
      tokens += cost;
      offered.add(tool.name);
    }
    return { names: this.#inOrder(offered), tokens, left_out };
  }

  /**
   * Chooses the tools of a step whose prompt is new to the provider's cache anyway, which another list then costs nothing: those that
   * are wanted now. `room` is what the budget has left for definitions.
   */
  renewed(turn: ToolTurn, room: number): ChosenTools {
    const least = Math.min(room, this.#room(turn.factor));
    return this.#front ? this.#ofFront(this.#front, turn, least, true) : this.choose(turn);
  }

  /** Tokens that definitions may take, by the estimator. */
  #room(factor = 1): number {
    return Math.floor(this.#options.budget_tokens / 2 / factor);
  }

  #ofFront(
    front: ToolFront,
    { query, called, demanded = [], ahead }: ToolTurn,
    room: number,
    isCut: boolean,
  ): ChosenTools {
    const { always = [] } = this.#options;
    const { names: ofTurn, completion } = this.#ofTurn(query, ahead);
    // All that are added are there from the beginning: one that came later would make the prompt new.
    const added = [this.#findTools, this.#callTool, this.#drilldown, this.#recall].map(({ tool }) => tool.name);
    const { names, tokens, left_out } = front.offer({
      demanded: [...added, ...always, ...this.#unsaid(), ...demanded, ...this.#demanded],
      wanted: [...called, ...[...this.#found].reverse(), ...front.run, ...ofTurn],
      room,
      isCut,
    });
    LISTS.set(
      this.manager,
      new Map(
        [...(LISTS.get(this.manager) ?? []), [this.#listKey, front.listed ?? []]].slice(-MOST_LISTS) as [
          string,
          readonly string[],
        ][],
      ),
    );
    const unlisted = ofTurn.filter((name) => !front.lists(name));
    return {
      names,
      tokens,
      left_out: left_out.map((name) => leftOut(name, this.#price(name), room - tokens)),
      unlisted,
      completion,
    };
  }

  /** Tells a model how tools are called that its list does not have; undefined where there are none to tell of. */
  announce(names: readonly string[]): string | undefined {
    return this.#front?.announce(names);
  }

  #frontOf(router: Router): ToolFront {
    const known = ({ tool: { name, description, schema }, tokens }: PricedTool) => ({
      name,
      description: description && wellFormed(description),
      schema,
      tokens,
    });
    const added = [this.#findTools, this.#callTool, this.#drilldown, this.#recall];
    // A model may say anything: what is no text is refused by the router, in words for the model.
    const search = (query: string, most: number): readonly string[] =>
      router.route(typeof query === "string" ? wellFormed(query) : query, { top_k: most }).candidate_ids;
    const front = new ToolFront([...this.#tools.values()].map(known), search, added.map(known));
    const names = new TextHash();
    for (const name of this.#tools.keys()) names.add(name);
    this.#listKey = names.add("");
    front.resume(LISTS.get(this.manager)?.get(this.#listKey) ?? []);
    return front;
  }

  /** Tokens of the definition of a tool; of one that there is not any more, none. */
  #price(name: string): number {
    const added = [this.#drilldown, this.#recall, this.#findTools, this.#callTool].find(
      ({ tool }) => tool.name === name,
    );
    return (added ?? this.#tools.get(name))?.tokens ?? 0;
  }

  #inOrder(offered: ReadonlySet<string>): readonly string[] {
    return [...this.#tools.keys(), FIND_TOOLS.name, this.#drilldown.tool.name, this.#recall.tool.name].filter((name) =>
      offered.has(name),
    );
  }

  #isAdded(name: string): boolean {
    return [this.#drilldown, this.#recall, this.#findTools, this.#callTool].some(({ tool }) => tool.name === name);
  }

  /** Tools whose provider says what they take: they are no matter of words, and always there. */
  #unsaid(): readonly string[] {
    return [...this.#tools].filter(([, { tool }]) => !tool.schema).map(([name]) => name);
  }

  /** What the present turn brings: the tools for what the user said last, completed from what was said before if need be. */
  #ofTurn(
    asked: string,
    ahead?: ConversationAhead,
  ): { readonly names: readonly string[]; readonly completion?: QueryCompletion | undefined } {
    if (!this.#router) return { names: [...this.#tools.keys()] };
    const query = wellFormed(asked);
    // A second "yes" is about something else.
    const key = JSON.stringify([query, ahead?.user_turn ?? this.#userTurn]);
    if (this.#turn?.key !== key) {
      const before = ahead
        ? this.manager.turnsBefore(query, ahead.messages, ahead.format)
        : this.manager.turnsBefore(query);
      const route = this.#route(query, before);
      this.#turn = { key, names: [...this.#unsaid(), ...(route?.candidate_ids ?? [])], completion: route?.completion };
    }
    return this.#turn;
  }

  /** Names the items of a completion that was made before the log had them. */
  #named(query: string, completion: QueryCompletion | undefined): QueryCompletion | undefined {
    if (!completion || completion.item_ids.length > 0 || !this.#turn) return completion;
    const logged = this.#route(query, this.manager.turnsBefore(query))?.completion;
    if (logged?.query !== completion.query) return completion;
    this.#turn = { ...this.#turn, completion: logged };
    return logged;
  }

  #route(query: string, conversation: readonly RouteTurn[]): RouteResult | undefined {
    return query.trim() === "" ? undefined : this.#router?.route(query, { top_k: this.#maxTools, conversation });
  }
}

const OPTIONS = [
  "budget_tokens",
  "manager",
  "phase",
  "max_tools",
  "always",
  "prices",
  "thrift",
  "pin",
  "on_step",
  "session",
  "debug",
];

/** Refuses options that are not as described; those of the log and the phase are checked where they are used. */
function checked(options: AgentLoopOptions, taken: readonly string[]): AgentLoopOptions {
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined)
    throw new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${unknown}\``, {
      path: `/${unknown}`,
      unknown: { name: unknown, known: [...OPTIONS, ...taken] },
    });
  const { budget_tokens, max_tools, always, pin, on_step, session, debug } = options as {
    readonly [Name in keyof AgentLoopOptions]: unknown;
  };
  const refuse = (path: string, expected: string): never => {
    throw new ContextWeaverError("INVALID_INPUT", `expected ${expected}`, { path });
  };
  if (budget_tokens === undefined) {
    const hint = "the most that a call of the model may cost, such as 16000";
    throw new ContextWeaverError("MISSING_FIELD", "missing field `budget_tokens`", { path: "/budget_tokens", hint });
  }
  if (!isCount(budget_tokens)) refuse("/budget_tokens", "a whole number of tokens");
  if (max_tools !== undefined && !isCount(max_tools)) refuse("/max_tools", "a whole number of tools");
  if (always !== undefined && !Array.isArray(always)) refuse("/always", "a list of names");
  if (pin !== undefined && typeof pin !== "function") refuse("/pin", "a function");
  if (on_step !== undefined && typeof on_step !== "function") refuse("/on_step", "a function");
  if (!isDebug(debug)) refuse("/debug", "true, false or a function");
  if (session !== undefined && !((session as Partial<StoredSession> | null)?.manager instanceof ContextManager))
    refuse("/session", "a session of `openSession`");
  if (session !== undefined && options.manager !== undefined) {
    throw new ContextWeaverError("INVALID_INPUT", "the session has its own log", {
      path: "/manager",
      hint: "openSession(storage, { … }) takes the options of the log",
    });
  }
  const given =
    (session !== undefined || options.manager instanceof ContextManager) &&
    (["prices", "thrift"] as const).find((name) => options[name] !== undefined);
  if (given) {
    const hint = `new ContextManager({ ${given} })`;
    throw new ContextWeaverError("INVALID_INPUT", `the log that is given has its own \`${given}\``, {
      path: `/${given}`,
      hint,
    });
  }
  return options;
}

function leftOut(name: string, cost: number, left: number): MessageWarning {
  return {
    code: "TOOL_LEFT_OUT",
    message: `the definition of ${name} takes ${cost} tokens, and ${Math.max(0, left)} are left for tools`,
    path: `/tools/${name}`,
  };
}

/** A price as exact as it is known: to a tenth of a token. */
function priceOf(price: number): number {
  return Math.round(10 * price) / 10;
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

/** Reads what a model said as arguments: undefined where that is no object, nor the JSON of one. */
export function argumentsOf(given: unknown): JsonObject | undefined {
  try {
    const value: unknown = typeof given === "string" ? JSON.parse(given) : given;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Counts the tokens of a definition as it is sent. */
function priced<T extends OfferedTool>(tool: T): PricedTool<T> {
  const { name, description, schema, definition = { name, description, schema } } = tool;
  return { tool, tokens: framedTokens([JSON.stringify(definition)]) };
}

/** Counts the tokens of texts that stand beside the messages, each with what is put around it. */
export function framedTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countTokens(wellFormed(text)) + FRAME_TOKENS, 0);
}

/** Whose prices a model has, by the name of its provider or its own; undefined where neither tells. */
export function pricesOf(name: string | undefined): "openai" | "anthropic" | "gemini" | "deepseek" | undefined {
  if (name === undefined) return undefined;
  if (/anthropic|claude/i.test(name)) return "anthropic";
  if (/google|gemini|vertex/i.test(name)) return "gemini";
  if (/deepseek/i.test(name)) return "deepseek";
  return /openai|gpt/i.test(name) ? "openai" : undefined;
}

/** Reads how much of a call the provider had in its cache, by the names that providers have for it. */
export function cachedOf(usage: Readonly<Record<string, unknown>>): unknown {
  const details = (usage["prompt_tokens_details"] ?? usage["input_tokens_details"] ?? usage["inputTokenDetails"]) as
    | Readonly<Record<string, unknown>>
    | undefined;
  return (
    details?.["cached_tokens"] ??
    details?.["cacheReadTokens"] ??
    usage["cache_read_input_tokens"] ??
    usage["cachedInputTokens"] ??
    usage["cachedContentTokenCount"]
  );
}

/** Reads what an answer of an SDK says of its cost. */
export function usageOf(answer: unknown): Readonly<Record<string, unknown>> {
  if (typeof answer === "object" && answer !== null)
    return ((answer as { readonly usage?: unknown }).usage ?? {}) as Readonly<Record<string, unknown>>;
  throw new ContextWeaverError("INVALID_INPUT", "expected an answer", {
    hint: "the object that the SDK returned, as it is",
  });
}

/** Reads a list of what the caller gave. */
export function listOf(value: unknown, path: string): readonly object[] {
  if (Array.isArray(value)) return value as readonly object[];
  throw new ContextWeaverError(value === undefined ? "MISSING_FIELD" : "INVALID_INPUT", "expected a list", { path });
}
