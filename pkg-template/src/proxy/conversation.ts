// One conversation behind the proxy: what was sent of it, and what the client's history lacks.
import { AgentLoop, drilldownOffer, framedTokens, pricesOf, recallOffer, usageOf } from "../adapters/agent-loop.js";
import type { LoopCosts } from "../adapters/agent-loop.js";
import { CacheMarks } from "../adapters/cache-marks.js";
import { TextHash } from "../adapters/text-hash.js";
import type { AnsweredCall, Asked, Dialect, Fields, KeptAnswer, OwnCall, RoundEnd, Visible } from "./dialect.js";
import { objectsOf } from "./dialect.js";
import { memberText, withMembers } from "./json-members.js";
import { commonPrints } from "./sessions.js";
import type { Print } from "./sessions.js";

/** The tools that are added. */
const OFFERS = [drilldownOffer(), recallOffer()];
/** Their names. */
export const OWN_TOOLS: ReadonlySet<string> = new Set(OFFERS.map(({ name }) => name));

/** How conversations are kept. */
export interface ConversationOptions {
  readonly budget_tokens: number;
  readonly thrift: number;
  readonly mask: boolean;
  readonly prices: "openai" | "anthropic" | "gemini" | "deepseek" | undefined;
}

/** A request of a conversation. */
export interface Request {
  /** The body as it came. */
  readonly text: string;
  readonly body: Fields;
  readonly asked: Asked;
  readonly prints: readonly Print[];
  readonly head: string;
}

/** What is sent for a request. */
export interface Outgoing {
  readonly text: string;
  /** Whether it is what came. */
  readonly isWhole: boolean;
  readonly tokens: number;
  readonly tokens_without: number;
  /** Why the prompt was made anew, where it was. */
  readonly cut?: string;
}

/** Why a request cannot be changed. */
export class Unchangeable extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

interface Pending {
  readonly count: number;
  readonly said: readonly object[];
}

/** The log of a conversation and what goes with it. */
export class Conversation {
  readonly dialect: Dialect;
  readonly #loop: AgentLoop;
  readonly #options: ConversationOptions;
  readonly #marks = new CacheMarks(true);
  /** The client's messages of the last request. */
  prints: readonly Print[] = [];
  head = "";
  /** Requests that are not answered yet. */
  busy = 0;
  /** UTF-16 units that were ever said, which is what its log holds. */
  units = 0;
  /** Whether the provider refused what was changed: from then on nothing is. */
  isRefused = false;
  #isCut = false;
  /** Tokens by which the whole conversation was more than what is kept of it, as long as it is sent whole. */
  #gap = 0;
  #kept: readonly KeptAnswer[] = [];
  /** Rounds of an answer that never came to its end: the same request goes on behind them. */
  #pending: Pending | undefined;
  /** Tokens of the tools that are added, for which there is room from the beginning. */
  readonly #own: number;
  #tools: { readonly text: string; readonly tokens: number } = { text: "", tokens: 0 };

  constructor(dialect: Dialect, options: ConversationOptions) {
    this.dialect = dialect;
    this.#options = options;
    this.#own = framedTokens(OFFERS.map((tool) => JSON.stringify(dialect.offer(tool))));
    const { budget_tokens, thrift, mask, prices } = options;
    this.#loop = new AgentLoop({
      budget_tokens,
      thrift,
      manager: { redact_secrets: mask, limits: { eviction: "lru" } },
      ...(prices && { prices }),
    });
  }

  /** Whether what is sent is not what came any more. */
  get isCut(): boolean {
    return this.#isCut;
  }

  costs(): LoopCosts {
    return this.#loop.costs();
  }

  free(): void {
    this.#loop.free();
  }

  /** Goes on from another that begins alike: what was put back there is put back here. */
  inherit({ prints }: Request, other: Conversation): void {
    const common = commonPrints(prints, other.prints);
    this.#kept = other.#kept.filter(({ at }) => at < common);
  }

  /** Takes a request: what is sent for it. */
  begin(request: Request): Outgoing {
    const { prints, head } = request;
    const common = commonPrints(this.prints, prints);
    this.units += prints.slice(common).reduce((sum, { units }) => sum + units, 0);
    this.#kept = this.#kept.filter(({ at }) => at <= common);
    const isAgain = common === prints.length && this.prints.length === prints.length;
    if (!isAgain) this.#pending = undefined;
    [this.prints, this.head] = [prints, head];
    return this.send(request, this.#pending?.said ?? []);
  }

  /** Says what is sent for a request behind which something was said already. */
  send(request: Request, said: readonly object[]): Outgoing {
    const { text, body, asked } = request;
    const given = body["tools"];
    if (given !== undefined && given !== null && !Array.isArray(given)) throw new Unchangeable("unread");
    const tools = objectsOf(given);
    if (tools.some(isOwnTool)) throw new Unchangeable("tool_name_taken");
    const { messages, system } = this.#bare([...this.#whole(asked.messages), ...said], asked);
    const { built, tokens, tokens_without } = this.#step(request, messages, system);
    const cut = built.step?.cut;
    // A cut that nothing forces is made where it was asked to save.
    const isWanted = this.#options.thrift > 0 && (cut === "pays" || cut === "cold") && tokens < tokens_without;
    const isWhole = said.length === 0 && !this.#isCut && !isWanted && tokens_without <= this.#room(body);
    this.#gap = isWhole ? Math.max(0, tokens_without - tokens) : 0;
    this.#isCut ||= !isWhole;
    if (isWhole) {
      const sent = tokens_without - this.#own;
      return { text, isWhole, tokens: sent, tokens_without: sent };
    }
    const changed = this.#written(request, built.messages, built.system, tools);
    return { text: changed, isWhole, tokens, tokens_without: Math.max(tokens, tokens_without - this.#own), ...(cut !== undefined && { cut }) };
  }

  #step(request: Request, messages: readonly object[], system: unknown) {
    const { text, body, asked } = request;
    const model = String(body["model"] ?? "model");
    const { tokens, names } = this.#toolsOf(text, body);
    const step = this.#loop.step(this.dialect.format, messages, {
      query: asked.query,
      called: [],
      model,
      ...(!this.#options.prices && { prices: pricesOf(model) }),
      ...(system !== undefined && { system }),
      before: `${asked.before ?? ""} ${names}`,
      reserved_tokens: framedTokens(asked.before === undefined ? [] : [asked.before]) + this.#gap,
      chosen: { names: [...OWN_TOOLS], tokens, left_out: [] },
    });
    const { step: running, tokens: prompt } = step.built;
    const beside = tokens + framedTokens(asked.before === undefined ? [] : [asked.before]);
    return { built: step.built as Built, tokens: prompt + beside, tokens_without: Math.max(prompt + beside, (running?.tokens_without ?? 0) - this.#gap) };
  }

  /** Tokens of the estimator that a request may have. */
  #room(body: Fields): number {
    return Math.floor(this.#options.budget_tokens / this.#loop.factorOf(String(body["model"] ?? "model")));
  }

  /** Tokens of the client's tools and of those that are added, and what tells them from others. */
  #toolsOf(text: string, body: Fields): { readonly tokens: number; readonly names: string } {
    const json = body["tools"] === undefined ? "" : (memberText(text, "tools") ?? "");
    if (json !== this.#tools.text || this.#tools.tokens === 0) {
      this.#tools = { text: json, tokens: framedTokens(objectsOf(body["tools"]).map((tool) => JSON.stringify(tool))) + this.#own };
    }
    return { tokens: this.#tools.tokens, names: new TextHash().add(json) };
  }

  /** The conversation with what the client's history lacks. */
  #whole(messages: readonly object[]): readonly object[] {
    let whole: readonly object[] = messages;
    // From the end, so that places before stay.
    for (const kept of [...this.#kept].reverse()) {
      const put = this.dialect.putBack(whole, kept.at, kept);
      if (put) whole = [...whole.slice(0, kept.at), ...put.messages, ...whole.slice(kept.at + put.taken)];
    }
    return whole;
  }

  #bare(messages: readonly object[], { system }: Asked): { readonly messages: readonly object[]; readonly system: unknown } {
    return this.dialect.format === "anthropic" ? this.#marks.take(messages, system) : { messages, system };
  }

  #written({ text, body }: Request, messages: readonly object[], system: unknown, tools: readonly object[]): string {
    const offered = [...tools, ...OFFERS.map((tool) => this.dialect.offer(tool))] as Fields[];
    const sent = this.dialect.format === "anthropic" ? this.#marks.put({ messages, system, tools: offered }, { automatic: body["cache_control"], settings: body }) : { messages, system, tools: offered };
    const members = new Map([[this.dialect.field, JSON.stringify(sent.messages)], ["tools", JSON.stringify(sent.tools)]]);
    if (sent.system !== undefined) members.set("system", JSON.stringify(sent.system));
    const changed = withMembers(text, members);
    if (changed === undefined) throw new Unchangeable("unread");
    return changed;
  }

  /** Answers calls of added tools. */
  async answer(calls: readonly OwnCall[], isLast: boolean): Promise<readonly AnsweredCall[]> {
    const answered: AnsweredCall[] = [];
    for (const call of calls) {
      const output = isLast ? ENOUGH : await this.#loop.answerAsync(call.name, call.input, call.id);
      answered.push({ ...call, output: output ?? ENOUGH });
    }
    return answered;
  }

  /** Remembers rounds of an answer in case that it never comes to its end. */
  remember(request: Request, said: readonly object[]): void {
    if (this.prints === request.prints) this.#pending = { count: request.prints.length, said };
  }

  /** Rounds of an earlier try of the same request. */
  get pending(): readonly object[] {
    return this.#pending?.said ?? [];
  }

  /** Takes an answer of several rounds, or one whose results stand beside those of the client. */
  keep(request: Request, visible: Visible, said: readonly object[], beside: readonly object[]): void {
    if (this.prints !== request.prints) return;
    this.#pending = undefined;
    this.#kept = [...this.#kept, { ...visible, at: request.prints.length, said, beside }];
  }

  /** Takes what a round cost. */
  observe(body: Fields, { usage }: Pick<RoundEnd, "usage">): void {
    if (!usage) return;
    const { prompt_tokens: chat, input_tokens: read = chat, cache_creation_input_tokens: written, cache_read_input_tokens: cached } = usageOf({ usage });
    const tokens = typeof read === "number" ? read + Number(written ?? 0) + Number(cached ?? 0) : undefined;
    this.#loop.observe(String(body["model"] ?? "model"), tokens, usage);
  }
}

/** What is said to a model that reads on and on. */
const ENOUGH = "Nothing more is read for this answer. Go on with what you have; you can read again in the next one.";

interface Built {
  readonly messages: readonly object[];
  readonly system?: unknown;
  readonly step?: { readonly cut?: string; readonly hides: boolean };
}

function isOwnTool(tool: Fields): boolean {
  const { name } = (tool["function"] ?? tool) as Fields;
  return OWN_TOOLS.has(String(name));
}
