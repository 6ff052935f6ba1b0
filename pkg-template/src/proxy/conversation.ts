// One conversation behind the proxy: its log, the prompt that was sent last, and what the client's history lacks.
import { AgentLoop, drilldownOffer, framedTokens, pricesOf, recallOffer } from "../adapters/agent-loop.js";
import { CacheMarks } from "../adapters/cache-marks.js";
import type { Sent } from "../adapters/cache-marks.js";
import type { CachePlanState } from "../adapters/cache-plan.js";
import { ChatMarks } from "../adapters/chat-marks.js";
import { CHAT_MARKS, takeMarks } from "../adapters/moving-marks.js";
import type { BareMessages } from "../adapters/moving-marks.js";
import { TextHash } from "../adapters/text-hash.js";
import { parseKeeping, stringifyKept } from "../boundary/exact-numbers.js";
import { promptedTools } from "./deferred-tools.js";
import type { AnsweredCall, Asked, Dialect, Fields, KeptAnswer, OwnCall, RoundEnd, Visible } from "./dialect.js";
import { declaredBy, objectsOf } from "./dialect.js";
import type { JsonMembers } from "./json-members.js";
import { commonPrints } from "./sessions.js";
import type { Print } from "./sessions.js";
import { NO_COSTS, costsBetween } from "./stats.js";
import type { ProxyCosts } from "./stats.js";
import { countsOf } from "./usage.js";
import { ContextManager, ContextWeaverError } from "contextweaver";
import type { ContextManagerOptions, Hooks, RunningStep, StoredItem } from "contextweaver";

/** The tools that the proxy adds to requests. */
const OFFERS = [drilldownOffer(), recallOffer()];
/** Their names. */
export const OWN_TOOLS: ReadonlySet<string> = new Set(OFFERS.map(({ name }) => name));

/** Options of all conversations of a proxy. */
export interface ConversationOptions {
  readonly budget_tokens: number;
  readonly thrift: number;
  readonly mask: boolean;
  readonly prices: "openai" | "anthropic" | "gemini" | "deepseek" | undefined;
  /** Functions that are told of each prompt, and of each call of an added tool that is answered. */
  readonly hooks: Hooks | undefined;
}

/** Returns the options of a conversation's log. */
export function logOptions({ thrift, mask, prices, hooks }: ConversationOptions): ContextManagerOptions {
  return {
    redact_secrets: mask,
    limits: { eviction: "lru" },
    thrift,
    ...(prices && { prices }),
    ...(hooks && { hooks }),
  };
}

/** What is stored of a conversation beside its log, where conversations outlive the process. */
export interface ConversationState {
  /** Hashes of the client's messages of the last request. */
  readonly prints: readonly string[];
  readonly head: string;
  readonly units: number;
  readonly is_refused: boolean;
  readonly is_cut: boolean;
  readonly gap: number;
  readonly marks: CachePlanState;
  readonly kept: readonly KeptAnswer[];
  readonly pending?: Pending;
}

/** A request of a conversation. */
export interface Request {
  /** The body as it came. */
  readonly text: string;
  readonly members: JsonMembers;
  readonly body: Fields;
  readonly asked: Asked;
  readonly prints: readonly Print[];
  readonly head: string;
}

/** The prompt that is sent for a request. */
export interface Outgoing {
  readonly text: string;
  /** Whether the request is sent as it came. */
  readonly isWhole: boolean;
  readonly tokens: number;
  readonly tokens_without: number;
  /** `cost_without` less `cost` of the call in the account of the log: 0 where that was corrected already. */
  readonly saved: number;
  /** Why the prompt was made anew, where it was. */
  readonly cut?: string;
}

/** Thrown where a request cannot be changed, and has to be sent as it came. `reason` is a word that says why. */
export class Unchangeable extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** The tools and instructions of a request, which stand beside the dialogue. */
interface Beside {
  /** The tools and instructions as they were written, and hashes of the messages before the dialogue. */
  readonly parts: readonly string[];
  /** Names of the deferred tools that messages refer to, with commas between. */
  readonly loaded: string;
  readonly hash: string;
  readonly tokens: number;
}

interface Pending {
  readonly count: number;
  readonly said: readonly object[];
}

/** A conversation: its log, and what the proxy keeps beside it. */
export class Conversation {
  readonly dialect: Dialect;
  #loop: AgentLoop | undefined;
  readonly #options: ConversationOptions;
  readonly #marks = new CacheMarks(true);
  readonly #chatMarks = new ChatMarks();
  /** The client's messages of the last request. */
  prints: readonly Print[] = [];
  head = "";
  /** Requests that are not answered yet. */
  busy = 0;
  /** UTF-16 units of all messages that ever came. The log holds them all. */
  #units = 0;
  /** Whether the proxy has let it go: it is freed when no request is under way. */
  #isLeft = false;
  /** Costs in the account of the log when that was opened. */
  #costsBefore = NO_COSTS;
  /** Whether the provider refused a changed request and took the original. Later requests are sent as they come. */
  isRefused = false;
  #isCut = false;
  /** The last shortened prompt. */
  #sent: Sent | undefined;
  /**
   * Tokens by which the whole conversation exceeds the prompt that the log keeps of it, as long as requests are sent whole.
   */
  #gap = 0;
  #kept: readonly KeptAnswer[] = [];
  /** Rounds of an answer that broke off. If the same request comes again, it goes on behind them. */
  #pending: Pending | undefined;
  /**
   * Tokens of the added tools. Room is kept for them from the first request on, although they are sent only with a shortened
   * one.
   */
  readonly #own: number;
  #beside: Beside | undefined;
  /**
   * Sum of `cost_without` less `cost` over the calls that were sent as they came, and those that failed. These saved nothing, so
   * it is taken off `cost_without`.
   */
  #same = 0;

  /** Begins a conversation, or goes on with the `state` of a stored one. Call `open` before the first request. */
  constructor(dialect: Dialect, options: ConversationOptions, state?: ConversationState) {
    this.dialect = dialect;
    this.#options = options;
    this.#own = framedTokens(OFFERS.map((tool) => JSON.stringify(dialect.offer(tool))));
    if (state) this.#resume(state);
  }

  #resume({ prints, head, units, is_refused, is_cut, gap, marks, kept, pending }: ConversationState): void {
    // The state has hashes but no texts, so the first request hashes its messages anew.
    this.prints = prints.map((hash) => ({ hash, text: "" }));
    [this.head, this.#units, this.isRefused, this.#isCut, this.#gap] = [head, units, is_refused, is_cut, gap];
    [this.#kept, this.#pending] = [kept, pending];
    this.#planned.resume(marks);
  }

  /** Returns what is stored of it beside its log. */
  state(): ConversationState {
    return {
      prints: this.prints.map(({ hash }) => hash),
      head: this.head,
      units: this.#units,
      is_refused: this.isRefused,
      is_cut: this.#isCut,
      gap: this.#gap,
      marks: this.#planned.state(),
      kept: this.#kept,
      ...(this.#pending && { pending: this.#pending }),
    };
  }

  /** Opens its log: a new one, or `manager` with a stored one, which is freed with the conversation. */
  open(manager: ContextManager = new ContextManager(logOptions(this.#options))): void {
    this.#loop = new AgentLoop({ budget_tokens: this.#options.budget_tokens, pin: isFixed, manager });
    this.#costsBefore = this.#costs(this.#loop);
  }

  /** Whether its log is in memory. */
  get isOpen(): boolean {
    return this.#loop !== undefined;
  }

  /** UTF-16 units of its log; 0 where that is not in memory. */
  get units(): number {
    return this.isOpen ? this.#units : 0;
  }

  get #log(): AgentLoop {
    if (this.#loop) return this.#loop;
    throw new ContextWeaverError("INTERNAL", "the log of the conversation is not open");
  }

  /** Whether requests are no longer sent as they come, which holds from the first shortened one on. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * Returns the costs of the calls since its log was opened: those in the log's account, corrected for calls that were sent
   * as they came.
   */
  costs(): ProxyCosts {
    return this.#loop ? costsBetween(this.#costsBefore, this.#costs(this.#loop)) : NO_COSTS;
  }

  #costs(loop: AgentLoop): ProxyCosts {
    const { steps, cuts, cost, cost_without, observed } = loop.costs();
    return {
      steps,
      cuts,
      cost,
      cost_without: cost_without - this.#same,
      cached_tokens: observed?.cached_tokens ?? 0,
    };
  }

  /** Notes that a request has begun. */
  hold(): void {
    this.busy += 1;
  }

  /** Notes that a request has ended. Frees a conversation that was let go with its last one. */
  release(): void {
    this.busy -= 1;
    if (this.#isLeft && this.busy === 0) this.free();
  }

  /** Lets the conversation go: it is freed when no request is under way. */
  leave(): void {
    this.#isLeft = true;
    if (this.busy === 0) this.free();
  }

  free(): void {
    const manager = this.#loop?.manager;
    this.#loop?.free();
    manager?.free();
  }

  /** Takes over from a conversation with the same beginning: answers that are put back there are put back here, too. */
  inherit({ prints }: Request, other: Conversation): void {
    const common = commonPrints(prints, other.prints);
    this.#kept = other.#kept.filter(({ at }) => at < common);
  }

  /** Takes a request, and returns what is sent for it. */
  begin(request: Request): Outgoing {
    const { prints, head } = request;
    const common = commonPrints(this.prints, prints);
    this.#units += prints.slice(common).reduce((sum, { text }) => sum + text.length, 0);
    this.#kept = this.#kept.filter(({ at }) => at <= common);
    const isAgain = common === prints.length && this.prints.length === prints.length;
    if (!isAgain) this.#pending = undefined;
    [this.prints, this.head] = [prints, head];
    try {
      return this.send(request, this.pending);
    } catch (error) {
      if (error instanceof Unchangeable || (this.pending.length === 0 && this.#kept.length === 0)) throw error;
      // A model may say anything, so an answer that was put back can be the cause. Tries again with the client's messages
      // alone.
      [this.#pending, this.#kept] = [undefined, []];
      return this.send(request, []);
    }
  }

  /** Returns what is sent for a request. `said` are the messages that follow it already: earlier rounds of its answer. */
  send(request: Request, said: readonly object[]): Outgoing {
    const { text, body, asked } = request;
    const given = body["tools"];
    if (given !== undefined && given !== null && !Array.isArray(given)) throw new Unchangeable("unread");
    const tools = objectsOf(given);
    if (tools.some(isOwnTool)) throw new Unchangeable("tool_name_taken");
    const { messages: all, system, putBack } = this.#bare([...this.#whole(asked.messages), ...said], asked);
    const messages = all.slice(asked.leading);
    const leading = all.slice(0, asked.leading);
    const { built, tokens, tokens_without } = this.#step(request, messages, system);
    const cut = built.step?.cut;
    // A cut that nothing forces is sent only where `thrift` asks for it and the prompt is shorter.
    const isWanted = this.#options.thrift > 0 && (cut === "pays" || cut === "cold") && tokens < tokens_without;
    const isWhole = said.length === 0 && !this.#isCut && !isWanted && tokens_without <= this.#room(body);
    this.#gap = isWhole ? Math.max(0, tokens_without - tokens) : 0;
    this.#isCut ||= !isWhole;
    const saved = built.step ? built.step.cost_without - built.step.cost : 0;
    if (isWhole) {
      this.#same += saved;
      const sent = tokens_without - this.#own;
      return { text, isWhole, tokens: sent, tokens_without: sent, saved: 0 };
    }
    const changed = this.#written(request, putBack([...leading, ...built.messages]), built.system);
    return {
      text: changed,
      isWhole,
      tokens,
      tokens_without: Math.max(tokens, tokens_without - this.#own),
      saved,
      ...(cut !== undefined && { cut }),
    };
  }

  #step(request: Request, messages: readonly object[], system: unknown) {
    const { body, asked } = request;
    const model = String(body["model"] ?? "model");
    const beside = this.#besideOf(request);
    const step = this.#log.step(this.dialect.format, messages, {
      query: asked.query,
      called: [],
      model,
      ...(!this.#options.prices && { prices: pricesOf(model) }),
      ...(system !== undefined && { system }),
      before: beside.hash,
      reserved_tokens: this.#gap,
      chosen: { names: [...OWN_TOOLS], tokens: beside.tokens, left_out: [] },
    });
    const { step: running, tokens: prompt } = step.built;
    const tokens = prompt + beside.tokens;
    return {
      built: step.built as Built,
      tokens,
      tokens_without: Math.max(tokens, (running?.tokens_without ?? 0) - this.#gap),
    };
  }

  /** Returns the budget of a request in tokens of the estimator. */
  #room(body: Fields): number {
    return Math.floor(this.#options.budget_tokens / this.#log.factorOf(String(body["model"] ?? "model")));
  }

  /** Measures what stands beside the dialogue: its tokens, with those of the added tools, and a hash that shows a change. */
  #besideOf({ members, body, asked, prints }: Request): Beside {
    const { before = "", leading, messages } = asked;
    const tools = objectsOf(body["tools"]);
    const { first, loaded } = promptedTools(tools, messages) ?? { loaded: [] };
    const parts = [
      first ? JSON.stringify(first) : (members.text("tools") ?? ""),
      before,
      ...prints.slice(0, leading).map((print) => print.hash),
    ];
    const names = loaded.map(({ name }) => name).join();
    const known = this.#beside;
    const isKnown =
      known?.parts.length === parts.length &&
      known.loaded === names &&
      parts.every((part, at) => part === known.parts[at]);
    if (isKnown) return known;
    const hash = new TextHash();
    for (const part of parts) hash.add(part);
    const texts = [...(first ?? tools), ...loaded, ...messages.slice(0, leading)].map((one) => JSON.stringify(one));
    this.#beside = {
      parts,
      loaded: names,
      hash: hash.add(""),
      tokens: this.#own + framedTokens(before === "" ? texts : [...texts, before]),
    };
    return this.#beside;
  }

  /** Returns the client's messages with the answers that its history lacks. */
  #whole(messages: readonly object[]): readonly object[] {
    let whole: readonly object[] = messages;
    // From the end, so that the places before stay valid.
    for (const kept of [...this.#kept].reverse()) {
      const put = this.dialect.putBack(whole, kept.at, kept);
      if (put) whole = [...whole.slice(0, kept.at), ...put.messages, ...whole.slice(kept.at + put.taken)];
    }
    return whole;
  }

  #bare(messages: readonly object[], { system }: Asked): BareMessages<object> & { readonly system: unknown } {
    if (this.dialect.format !== "anthropic") return { ...takeMarks(messages, CHAT_MARKS), system };
    // The client's marks are put back in `#marked`, where they are planned together with the added ones.
    return { ...this.#marks.take(messages, system), putBack: (sent) => sent };
  }

  #written({ members: came, body, asked: { billing } }: Request, messages: readonly object[], system: unknown): string {
    // What schemas say of 64 bits, JavaScript would round.
    const tools = objectsOf(parseKeeping(came.text("tools") ?? "[]"));
    const own = OFFERS.map((tool) => this.dialect.offer(tool)) as Fields[];
    const placed = this.dialect.place?.(messages, tools, own) ?? { messages, tools: [...tools, ...own] };
    const offered = { ...placed, system, tools: placed.tools as readonly Fields[] };
    const marked = this.#marked(offered, body);
    const sent = billing ? { ...marked, system: [...billing, ...objectsOf(marked.system)] } : marked;
    this.#sent = sent;
    const members = new Map<string, string>([[this.dialect.field, JSON.stringify(sent.messages)]]);
    if (sent.tools.length > 0) members.set("tools", stringifyKept(sent.tools));
    if (sent.system !== undefined) members.set("system", JSON.stringify(sent.system));
    const changed = came.with(members);
    if (changed === undefined) throw new Unchangeable("unread");
    return changed;
  }

  /** The planner of this conversation's cache marks. */
  get #planned(): CacheMarks | ChatMarks {
    return this.dialect.format === "anthropic" ? this.#marks : this.#chatMarks;
  }

  /** Adds cache marks to a prompt that goes to a model of Anthropic. */
  #marked(offered: Sent, body: Fields): Sent {
    const { format } = this.dialect;
    if (format === "anthropic") return this.#marks.put(offered, { automatic: body["cache_control"], settings: body });
    if (format !== "openai-chat" || pricesOf(String(body["model"])) !== "anthropic") return offered;
    return { ...offered, messages: this.#chatMarks.mark(offered, body) };
  }

  /**
   * Writes the body of a request that counts tokens: the last shortened prompt, and the messages that came since. Undefined
   * where there is none, or where the request does not go on from it.
   */
  counted({ members: came, asked, prints }: Request): string | undefined {
    const { length } = this.prints;
    if (!this.#isCut || !this.#sent || commonPrints(this.prints, prints) < length) return undefined;
    const { messages, system, tools } = this.#sent;
    const members = new Map([
      [this.dialect.field, JSON.stringify([...messages, ...asked.messages.slice(length)])],
      ["tools", stringifyKept(tools)],
    ]);
    if (system !== undefined) members.set("system", JSON.stringify(system));
    return came.with(members);
  }

  /** Answers calls of added tools. In the last round (`isLast`), the answer only tells the model to go on without. */
  async answer(calls: readonly OwnCall[], isLast: boolean): Promise<readonly AnsweredCall[]> {
    const answered: AnsweredCall[] = [];
    for (const call of calls) {
      const output = isLast ? ENOUGH : await this.#log.answerAsync(call.name, call.input, call.id);
      answered.push({ ...call, output: output ?? ENOUGH });
    }
    return answered;
  }

  /** Remembers the rounds of an answer so far, in case it breaks off. */
  remember(request: Request, said: readonly object[]): void {
    if (this.prints === request.prints) this.#pending = { count: request.prints.length, said };
  }

  /** Rounds of an earlier try of the same request. */
  get pending(): readonly object[] {
    return this.#pending?.said ?? [];
  }

  /**
   * Keeps an answer that the client's history lacks parts of: earlier rounds, or results of added tools beside those of the
   * client's own.
   */
  keep(request: Request, visible: Visible, said: readonly object[], beside: readonly object[]): void {
    if (this.prints !== request.prints) return;
    this.#pending = undefined;
    this.#kept = [...this.#kept, { ...visible, at: request.prints.length, said, beside }];
  }

  /** Takes note that the provider did not answer what was sent, which saved nothing then. */
  failed({ saved }: Pick<Outgoing, "saved">): void {
    this.#same += saved;
  }

  /** Takes the provider's count of a round. */
  observe(body: Fields, { usage }: Pick<RoundEnd, "usage">): void {
    if (!usage) return;
    this.#log.observe(String(body["model"] ?? "model"), countsOf(usage).input_tokens, usage);
  }
}

/** The answer to calls of added tools in the last round. */
const ENOUGH = "Nothing more is read for this answer. Go on with what you have; you can read again in the next one.";

/**
 * Types of opaque parts that belong to the dialogue: reasoning, and calls and results of tools that the provider itself
 * runs.
 */
const OF_DIALOGUE = /reasoning|thinking|_call$|_output$|^server_tool_use$|_tool_result$/;

/**
 * Whether an item stays in every prompt: instructions, and opaque parts that do not belong to the dialogue, such as tool
 * definitions in a message, or a provider's own compaction of a longer conversation.
 */
function isFixed({ kind, metadata }: StoredItem): boolean {
  if (kind === "policy") return true;
  const { message } = (metadata?.["_contextweaver"] ?? {}) as { readonly message?: { readonly parts?: unknown } };
  return objectsOf(message?.parts).some(
    ({ kind: part, original }) => part === "opaque" && !OF_DIALOGUE.test(String(((original ?? {}) as Fields)["type"])),
  );
}

interface Built {
  readonly messages: readonly object[];
  readonly system?: unknown;
  readonly step?: RunningStep;
}

function isOwnTool(tool: Fields): boolean {
  const { name } = (tool["function"] ?? tool) as Fields;
  return OWN_TOOLS.has(String(name)) || (declaredBy(tool) ?? []).some(isOwnTool);
}
