// A recorded conversation call by call: what each call repeats of the one before, where the prompt was cut and why, and what it costs
// beside sending everything and sending the newest messages that fit. All figures are those of the replay.
import type { RunningStep } from "../generated.js";
import { redactSecrets } from "../manager/text.js";
import { textOfMessage } from "./chat.js";
import { tokensOf } from "./conversation.js";
import type { BreakReason, Call } from "./conversation.js";
import type { ChatMessage, SessionAccount } from "./events.js";
import { Factors } from "./ledger.js";
import type { Entry } from "./ledger.js";
import type { ModelPrice } from "./model-prices.js";
import { PriceBook } from "./pricing.js";
import type { RecordedConversation } from "./recording.js";
import { Replay } from "./replay.js";
import type { Played, ReplayWatch, Step } from "./replay.js";
import { Session } from "./session.js";
import type { SessionReport } from "./types.js";

/** Why the prompt of a call began anew. */
export type TapeCut = NonNullable<RunningStep["cut"]> | BreakReason;

/** A call in figures. Tokens are those of the estimator; prices are in input tokens at full price, or in dollars where `usd` of the tape is. */
export interface TapeCall {
  /** Among the calls of the conversation, from 1; calls that wrote a summary of it aside are none. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number | null;
  readonly model: string;
  /** Tokens sent: `repeated` + `rewritten` + `fresh`. */
  readonly tokens: number;
  readonly repeated: number;
  readonly rewritten: number;
  readonly fresh: number;
  /** Tokens of `tokens` that are instructions and tools, which stand before the messages. */
  readonly head: number;
  /** Tokens of the whole conversation. */
  readonly whole: number;
  readonly price: number;
  /** The price of sending everything, and of the newest messages that fit. */
  readonly everything: number;
  readonly trimmed: number;
  /** Why the prompt began anew; null where it goes on. */
  readonly cut: TapeCut | null;
  /** Tokens of the call before that this one no longer has. */
  readonly left: number;
  /** By what this call is dearer than going on would have been, what each later one is cheaper, and the call by which that is paid back. */
  readonly extra: number;
  readonly saves: number;
  readonly paid: number | null;
  /** Strings that the answer copies from results, and those of them that stood in the prompt. */
  readonly copied: number;
  readonly shown: number;
  /** The provider's count of the call as it was recorded, and what was expected; null where nothing was counted, or the prompt is another. */
  readonly counted: number | null;
  readonly expected: number | null;
  /** It goes out as recorded: it is not ours to shorten. */
  readonly isOver: boolean;
}

/** A conversation in figures. */
export interface Tape {
  readonly budget: number;
  readonly calls: readonly TapeCall[];
  /** Whether prices are dollars; else they are input tokens at full price. */
  readonly isMoney: boolean;
  /** By what dollars are counted; the last one where there are several. */
  readonly model:
    | (Pick<ModelPrice, "input" | "source" | "as_of"> & { readonly name: string; readonly cached: number })
    | null;
  /** Whether what repeats costs less at this provider. */
  readonly hasCache: boolean;
  readonly price: number;
  readonly everything: number;
  readonly trimmed: number;
  readonly copied: number;
  readonly shown: number;
  /** Cuts, but for the first prompt and those where the agent itself went back. */
  readonly cuts: number;
  /** Tokens of the longest prompt as recorded. */
  readonly longest: number;
  readonly task: string;
  /** What the session counted while it ran, of one of contextweaver; the replay plays it again and may differ. */
  readonly account: SessionAccount | null;
  /** Of `audit`. */
  readonly report: SessionReport | undefined;
}

/** How a message stands in a prompt beside the one before. */
export type TapeState = "repeated" | "rewritten" | "new";

/** A message of a prompt. */
export interface TapeMessage {
  readonly message: ChatMessage;
  readonly state: TapeState;
  readonly tokens: number;
}

/** A message of the call before that this one no longer has as it was. */
export interface TapeLeft {
  readonly before: ChatMessage;
  readonly tokens: number;
  /** The tool, and what it was asked. */
  readonly call: { readonly name: string; readonly arguments: string } | undefined;
  /** What stands for it; undefined where it is gone. */
  readonly after: ChatMessage | undefined;
  /** By which the whole is read; undefined where nothing names one. */
  readonly handle: string | undefined;
  /** The line of the prompt that names it, where it is gone. */
  readonly named: string | undefined;
  /** The call in which it stands whole again. */
  readonly back: number | undefined;
}

/** A prompt as it was sent. */
export interface TapePrompt {
  readonly messages: readonly TapeMessage[];
  readonly left: readonly TapeLeft[];
}

/** What a prompt shares with the one before, and what stands behind that. */
interface Stored {
  readonly shared: number;
  readonly tail: readonly ChatMessage[];
}

interface Building {
  readonly call: Call;
  readonly entry: Entry;
  /** Messages of the conversation at that time. */
  readonly recorded: Stored;
  step?: Step;
  everything?: Played;
  newest?: Played;
  copied: number;
  shown: number;
  sent?: Stored;
  /** Whether what is sent is what was recorded. */
  isWhole?: boolean;
}

/** A handle: any characters of an id, up to white space, brackets, quotes or punctuation. */
const HANDLE = /artifact:[^\s[\])"'`,;]*[^\s[\])"'`,;:.]/;
const BEHIND_HANDLE = /^[:.]?(?:[\s[\])"'`,;]|$)/;

/** Names a message whatever becomes of its text. */
function keyOf(message: ChatMessage): string {
  if (message.role === "tool") return `tool ${message.tool_call_id ?? ""}`;
  const calls = message.tool_calls?.map(({ id }) => id).join(" ");
  return calls === undefined ? `${message.role} ${textOfMessage(message)}` : `calls ${calls}`;
}

const isSame = (a: ChatMessage, b: ChatMessage): boolean =>
  a.role === b.role &&
  a.tool_call_id === b.tool_call_id &&
  textOfMessage(a) === textOfMessage(b) &&
  JSON.stringify(a.tool_calls) === JSON.stringify(b.tool_calls);

function stored(before: readonly ChatMessage[], now: readonly ChatMessage[]): Stored {
  let shared = 0;
  while (
    shared < before.length &&
    shared < now.length &&
    isSame(before[shared] as ChatMessage, now[shared] as ChatMessage)
  )
    shared += 1;
  return { shared, tail: now.slice(shared) };
}

/** How a conversation is played. */
export interface TapeOptions {
  /** The file, for the report. */
  readonly file: string;
  readonly agent: string;
  readonly budget: number;
  /** For calls that name no model, or one whose price is not known: its prices are taken, or those of a price model such as `none`. */
  readonly model?: string | undefined;
  /** Before those that are known. */
  readonly prices?: readonly ModelPrice[];
}

/** Plays a conversation through the replay of `audit` at one budget, and keeps each of its prompts. */
export class TapePlayer {
  readonly tape: Tape;
  readonly #calls: readonly Building[];

  constructor(
    { session, parent, account, events }: RecordedConversation,
    { file, agent, budget, model, prices }: TapeOptions,
  ) {
    const calls: Building[] = [];
    const recorded = new Recorded(calls);
    // What was sent last: a list of its own, or the conversation at a call.
    let sent: readonly ChatMessage[] | number = [];
    const of = (call: Call): Building | undefined => calls[call.number - 1];
    const watch: ReplayWatch = {
      step: (step) => {
        const building = of(step.call);
        if (!building) return;
        const {
          messages,
          call: { number: at },
        } = step;
        building.step = step;
        if (messages === undefined && typeof sent === "number") {
          [building.isWhole, building.sent, sent] = [true, building.recorded, at];
          return;
        }
        const before = typeof sent === "number" ? [...recorded.upTo(sent)] : sent;
        const whole = recorded.upTo(at);
        building.isWhole = messages === undefined || hasTexts(messages, whole);
        building.sent = stored(before, messages ?? whole);
        sent = messages ?? at;
      },
      plain: (call, everything, newest) => void Object.assign(of(call) ?? {}, { everything, newest }),
      wrote: (copied, shown) => {
        const last = calls.at(-1);
        if (!last) return;
        last.copied += copied;
        last.shown += shown;
      },
    };
    const none = (): void => undefined;
    const entered = (call: Call, entry: Entry): void => {
      const shared = Math.min(call.shared, call.before);
      calls.push({ call, entry, recorded: { shared, tail: call.messages.slice(shared) }, copied: 0, shown: 0 });
    };
    const book = new PriceBook(prices);
    const replay = new Replay([budget], watch);
    const played = new Session(
      { file, agent, session, parent, account },
      {
        book,
        factors: new Factors(),
        counted: new Set(),
        result: none,
        broke: none,
        repeated: none,
        model: none,
        entered,
      },
      replay,
    );
    const isUnpriced = (name: string | undefined): boolean => book.of(name).model === undefined;
    for (const event of events)
      played.take(
        event.kind === "call" && model !== undefined && isUnpriced(event.call.model)
          ? { ...event, call: { ...event.call, model } }
          : event,
      );
    const outcomes = replay.end();
    const report = played.end()?.(outcomes);
    this.#calls = calls.filter(({ step }) => step !== undefined);
    this.tape = figures(this.#calls, budget, report, account);
  }

  /** The prompt of a call as it is sent, and what left it. */
  prompt(number: number): TapePrompt {
    const at = number - 1;
    const building = this.#calls[at];
    if (!building?.sent) return { messages: [], left: [] };
    const messages = this.#sent(at);
    const fresh = freshKeys(building);
    const isCut = cutOf(building) !== null || isAnew(building.step);
    return {
      messages: messages.map((message, place) => ({
        message,
        tokens: tokensOf(message),
        state:
          place < (building.sent?.shared ?? 0) ? "repeated" : isCut && !fresh.has(keyOf(message)) ? "rewritten" : "new",
      })),
      left: isCut && at > 0 ? this.#left(at, messages) : [],
    };
  }

  #sent(at: number): readonly ChatMessage[] {
    return restored(this.#calls.slice(0, at + 1).map(({ sent }) => sent as Stored));
  }

  #left(at: number, now: readonly ChatMessage[]): readonly TapeLeft[] {
    const before = this.#sent(at - 1);
    const asked = new Map(
      before.flatMap(({ tool_calls: calls = [] }) =>
        calls.map(({ id, function: { name, arguments: given } }) => [id, { name, arguments: given }] as const),
      ),
    );
    const stands = new Map(now.map((message) => [keyOf(message), message]));
    const lines = now.filter(({ role }) => role !== "tool").flatMap((message) => textOfMessage(message).split("\n"));
    return before.flatMap((message): TapeLeft[] => {
      const key = keyOf(message);
      const after = stands.get(key);
      // A call leaves with its results, which say more.
      if ((after && isSame(after, message)) || (message.tool_calls && !after && message.tool_calls.length > 0))
        return [];
      const call = asked.get(message.tool_call_id ?? "");
      const [handle] = HANDLE.exec(after ? textOfMessage(after) : "") ?? [];
      const [own] = HANDLE.exec(textOfMessage(message)) ?? [];
      const named = after ? undefined : lines.find(namedBy(own, call, message));
      return [
        {
          before: message,
          tokens: tokensOf(message),
          call,
          after,
          handle: handle ?? own ?? (named && HANDLE.exec(named)?.[0]),
          named,
          back: this.#back(at, key, message),
        },
      ];
    });
  }

  /** The first call behind a cut that has a message whole again. */
  #back(at: number, key: string, message: ChatMessage): number | undefined {
    const found = this.#calls.findIndex(
      ({ sent }, place) => place > at && sent?.tail.some((one) => keyOf(one) === key && isSame(one, message)) === true,
    );
    return found < 0 ? undefined : found + 1;
  }
}

/** Tells of a line whether it names what left: by its handle, or by what was asked. */
function namedBy(handle: string | undefined, call: TapeLeft["call"], message: ChatMessage): (line: string) => boolean {
  const isHandled = (line: string): boolean => handle !== undefined && hasHandle(line, handle);
  if (call) {
    // Arguments may be files: they are read once, and not for each line.
    const values: string[] = [];
    for (const [value] of call.arguments.matchAll(/[A-Za-z0-9_][A-Za-z0-9_./-]{4,}/g))
      if (values.push(value) === 3) break;
    const isAsked = (line: string): boolean =>
      values.length > 0 && line.includes(call.name) && values.every((value) => line.includes(value));
    return (line) => isHandled(line) || isAsked(line);
  }
  const text = textOfMessage(message).trim().slice(0, 40);
  return (line) => isHandled(line) || (text.length > 8 && line.includes(text));
}

/** Whether a line has a handle, and not only one that begins alike. */
function hasHandle(line: string, handle: string): boolean {
  for (let at = line.indexOf(handle); at >= 0; at = line.indexOf(handle, at + 1)) {
    const end = at + handle.length;
    if (BEHIND_HANDLE.test(line.slice(end, end + 2))) return true;
  }
  return false;
}

function restored(all: readonly Stored[]): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const one of all) put(messages, one);
  return messages;
}

function put(messages: ChatMessage[], { shared, tail }: Stored): void {
  messages.length = shared;
  for (const message of tail) messages.push(message);
}

/** A conversation as it was at each call, gone through once. */
class Recorded {
  readonly #calls: readonly Building[];
  readonly #messages: ChatMessage[] = [];
  #count = 0;

  constructor(calls: readonly Building[]) {
    this.#calls = calls;
  }

  /** Its messages at a call, until the next is asked for; calls are asked for in order. */
  upTo(number: number): readonly ChatMessage[] {
    for (; this.#count < number; this.#count += 1) put(this.#messages, (this.#calls[this.#count] as Building).recorded);
    return this.#messages;
  }
}

function hasTexts(messages: readonly ChatMessage[], others: readonly ChatMessage[]): boolean {
  return (
    messages.length === others.length &&
    messages.every((message, at) => textOfMessage(message) === textOfMessage(others[at] as ChatMessage))
  );
}

/** What the call before did not have. */
function freshKeys({ recorded: { tail } }: Building): ReadonlySet<string> {
  return new Set(tail.map(keyOf));
}

/** Why a prompt began anew: the agent's own reason where it went back itself. */
function cutOf({ call, step }: Building): TapeCut | null {
  if (call.number > 1 && call.shared < call.before) return call.lost ?? "edit";
  return call.number === 1 || step?.cut === undefined || step.cut === "first" || isAnew(step) ? null : step.cut;
}

/** Without a cache there is nothing to go on with: each prompt is compiled for itself. */
const isAnew = (step: Step | undefined): boolean => step?.cut === "uncached";

function figures(
  calls: readonly Building[],
  budget: number,
  report: SessionReport | undefined,
  account: SessionAccount | undefined,
): Tape {
  const isMoney = calls.length > 0 && calls.every(({ call }) => call.pricing.model !== undefined);
  // What was recorded, as the provider counted it, over the same by the estimator: the same scales as in a report of `audit`.
  const scaled = (all: number): ((call: Call, cost: number) => number) => {
    const scale = all > 0 && report ? report.cost / all : 1;
    return ({ pricing }, cost) => (isMoney ? (pricing.money(cost * scale) ?? 0) : cost * scale);
  };
  const ours = scaled(calls.reduce((sum, { step }) => sum + (step?.without ?? 0), 0));
  const plain = scaled(calls.reduce((sum, { everything }) => sum + (everything?.price ?? 0), 0));
  const made: TapeCall[] = [];
  for (const [at, building] of calls.entries())
    made.push(
      callOf(at + 1, building, calls[at - 1], made.at(-1), calls.length, {
        ours: (cost) => ours(building.call, cost),
        plain: (cost) => plain(building.call, cost),
      }),
    );
  const sum = (of: (call: TapeCall) => number): number => made.reduce((total, call) => total + of(call), 0);
  const last = calls.at(-1)?.call;
  const price = last?.pricing.model;
  return {
    budget,
    calls: made,
    isMoney,
    model: price
      ? {
          name: last?.model ?? "",
          input: price.input,
          cached: price.input * last.pricing.cache.cached,
          source: price.source,
          as_of: price.as_of,
        }
      : null,
    hasCache: (last?.pricing.cache.cached ?? 1) < 1,
    price: sum((call) => call.price),
    everything: sum((call) => call.everything),
    trimmed: sum((call) => call.trimmed),
    copied: sum((call) => call.copied),
    shown: sum((call) => call.shown),
    cuts: made.filter(({ cut }) => cut !== null && cut !== "compaction" && cut !== "edit").length,
    longest: Math.max(0, ...made.map(({ whole }) => whole)),
    task: redactSecrets(report?.task ?? ""),
    account: account ?? null,
    report,
  };
}

/** Prices as a visitor reads them: of what the engine counted, and of what plain policies come to. */
interface Priced {
  readonly ours: (cost: number) => number;
  readonly plain: (cost: number) => number;
}

function callOf(
  number: number,
  building: Building,
  previous: Building | undefined,
  before: TapeCall | undefined,
  count: number,
  priced: Priced,
): TapeCall {
  const { call, entry, copied, shown, everything, newest } = building;
  const step = building.step as Step;
  const { tokens, price, without, isOver } = step;
  const cut = previous ? cutOf(building) : null;
  // Where the agent itself went back, the provider has what was recorded.
  const isAgents = call.number > 1 && call.shared < call.before && !call.isCold;
  const repeated = Math.min(tokens, isAgents ? (everything?.prefix ?? 0) : step.prefix);
  const keys = freshKeys(building);
  const added = (building.sent?.tail ?? []).reduce(
    (sum, message) => sum + (keys.has(keyOf(message)) ? tokensOf(message) : 0),
    0,
  );
  const fresh = cut === null && !isAnew(step) ? tokens - repeated : Math.min(tokens - repeated, added);
  const isAsRecorded = building.isWhole === true && call.usage !== undefined;
  const { compared } = entry;
  // Going on would have repeated the call before, and added the same.
  const on = (before?.tokens ?? 0) + fresh;
  const { cache } = call.pricing;
  const extra = cut === null ? 0 : price - call.pricing.cost(on, call.pricing.hit(before?.tokens ?? 0));
  const saves = cut === null ? 0 : Math.max(0, on - tokens) * Math.min(cache.cached, 1);
  const paid = cut === null || saves <= 0 ? null : number + Math.max(0, Math.ceil(extra / saves));
  return {
    number,
    at: call.at ?? null,
    model: call.model ?? "",
    tokens: Math.round(tokens),
    repeated: Math.round(repeated),
    fresh: Math.round(fresh),
    rewritten: Math.round(tokens) - Math.round(repeated) - Math.round(fresh),
    head: Math.round(call.head),
    whole: Math.round(everything?.tokens ?? tokens),
    price: priced.ours(price),
    everything: priced.ours(without),
    trimmed: priced.plain(newest?.price ?? 0),
    cut,
    left: cut === null ? 0 : Math.max(0, Math.round(on - tokens)),
    extra: priced.ours(Math.max(0, extra)),
    saves: priced.ours(saves),
    paid: paid === null || paid > count ? null : paid,
    copied,
    shown,
    counted: isAsRecorded ? (call.usage?.input ?? null) : null,
    expected:
      isAsRecorded && compared
        ? Math.round(compared.cached + compared.uncached)
        : isAsRecorded
          ? Math.round(entry.tokens)
          : null,
    isOver,
  };
}

/** Budgets that a visitor may choose. */
export const TAPE_BUDGETS = [8_000, 16_000, 32_000, 64_000, 128_000, 200_000] as const;

/** The budget that a session of contextweaver had; else the one that shows most: about half of the longest prompt, and well above what stands before the messages. */
export function budgetFor({ events, account }: RecordedConversation): number {
  if (account) return account.budget;
  let [tokens, head, longest] = [0, 0, 0];
  const ends: number[] = [];
  for (const event of events) {
    if (event.kind === "head")
      head = [event.instructions, event.tools].reduce((sum, text) => sum + Math.ceil((text?.length ?? 0) / 4), 0);
    else if (event.kind === "back") {
      ends.length = Math.min(ends.length, event.to);
      tokens = ends.at(-1) ?? 0;
    } else if (event.kind === "messages")
      for (const message of event.messages) ends.push((tokens += tokensOf(message)));
    else if (event.kind === "call" && event.call.usage && longest === 0)
      head = Math.max(head, event.call.usage.input - tokens);
    if (event.kind === "call") longest = Math.max(longest, head + tokens);
  }
  const half = TAPE_BUDGETS.filter((budget) => budget <= longest / 2).at(-1) ?? TAPE_BUDGETS[0];
  return Math.max(half, TAPE_BUDGETS.find((budget) => budget >= 3 * head) ?? half);
}
