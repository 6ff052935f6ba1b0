// Replays recorded calls with contextweaver and with plain policies, and compares their price with that of sending
// everything.
import { AgentLoop } from "../adapters/agent-loop.js";
import { lastTurn } from "../adapters/openai-turn.js";
import { ContextWeaverError } from "../boundary/errors.js";
import type { RunningStep } from "../generated.js";
import { textOfMessage } from "./chat.js";
import type { Call } from "./conversation.js";
import type { ChatMessage } from "./events.js";
import { ClearedResults, Everything, HeadAndTail, NewestThatFit } from "./policies.js";
import type { Policy, Sent } from "./policies.js";
import type { StrategySums } from "./types.js";

/**
 * The replay of a conversation begins when a prompt has this many tokens or this share of the budget, whichever is less. If
 * no prompt has, all calls count as recorded.
 */
const LEAST_TOKENS = 8_000;
const LEAST_SHARE = 1 / 4;

/**
 * A call whose instructions and tools take more than this share of the budget counts as recorded: nobody would set so small
 * a budget for it.
 */
const MOST_HEAD = 1 / 2;

/** The result of a strategy in one conversation. */
export interface Outcome extends Pick<StrategySums, "name" | "budget" | "cuts" | "over" | "shown"> {
  /** Price of the calls, and of sending everything instead, by the same count: in input tokens at full price. */
  readonly cost: number;
  readonly without: number;
}

/**
 * A string that the model copies from a tool result. `places` are the indexes of the result that brought it first, and of
 * the newest message before the copy that has it.
 */
export interface Use {
  readonly text: string;
  readonly places: readonly number[];
}

/** A call as one strategy sends it: its tokens, those that repeat the call before, and its price. */
export interface Played extends Sent {
  readonly price: number;
}

/** A call as it goes out with contextweaver. */
export interface Step extends Played {
  readonly call: Call;
  /** Price of sending the whole conversation instead, by the same count. */
  readonly without: number;
  /** Why the prompt began anew; absent where it went on, and where the call goes out as recorded. */
  readonly cut?: RunningStep["cut"];
  /** The messages that are sent; absent where they are the recorded ones. */
  readonly messages?: readonly ChatMessage[];
  /**
   * Whether the call counts as recorded because it cannot be shortened: instructions and tools alone take too much of the
   * budget, or what must be sent does not fit.
   */
  readonly isOver: boolean;
}

/** Follows a replay at the first of its budgets. Calls before the replay begins are told late. */
export interface ReplayWatch {
  step(step: Step): void;
  /** Tells what the call comes to with everything sent, and with the newest messages that fit. */
  plain(call: Call, everything: Played, newest: Played): void;
  /** Tells how many strings an answer copies from results, and how many of them stood in the prompt. */
  wrote(copied: number, shown: number): void;
}

/** Returns the price of a call. A call that was counted in another file costs nothing here. */
function priceOf({ pricing, isCold, isCopy }: Call, { tokens, prefix }: Sent): number {
  return isCopy ? 0 : pricing.cost(tokens, isCold ? 0 : pricing.hit(Math.min(prefix, tokens)));
}

function playedBy(call: Call, policy: Policy): Played {
  const sent = policy.sent(call);
  return { ...sent, price: priceOf(call, sent) };
}

/** A conversation with contextweaver at one budget, with the default options of the adapters. */
class Ours {
  readonly #budget: number;
  #loop: AgentLoop | undefined;
  /** Calls before the replay begins: how many messages each sent, and its tokens and price with everything sent. */
  #aside: { readonly call: Call; readonly count: number; readonly everything: Played }[] = [];
  readonly #watch: ReplayWatch | undefined;
  #cost = 0;
  #without = 0;
  #cuts = 0;
  #over = 0;
  #now = 0;
  /** The messages that were sent last, and their text once it was needed. */
  #sent: readonly ChatMessage[] = [];
  #text: string | undefined;
  #shown = 0;

  constructor(budget: number, watch?: ReplayWatch) {
    [this.#budget, this.#watch] = [budget, watch];
  }

  called(call: Call, everything: Played): void {
    const isOver = call.head > this.#budget * MOST_HEAD;
    // A conversation that the client has compacted or edited is replayed anew, like another one.
    if (isOver || call.shared < call.before) this.#begin();
    if (isOver) {
      this.#asRecorded(call, call.messages, everything);
      return;
    }
    if (!this.#loop && call.head + (call.ends.at(-1) ?? 0) < Math.min(LEAST_TOKENS, this.#budget * LEAST_SHARE)) {
      this.#aside.push({ call, count: call.messages.length, everything });
      return;
    }
    if (!this.#loop) this.#catchUp(call);
    this.#step(call, call.messages, everything);
  }

  /** Takes what the answer to the last call copies from results, and counts what of it the prompt had. */
  wrote(uses: readonly Use[]): void {
    const before = this.#shown;
    if (this.#loop && uses.length > 0)
      this.#text ??= this.#sent
        .map(
          (message) =>
            `${textOfMessage(message)}\n${(message.tool_calls ?? []).map((call) => call.function.arguments).join("\n")}`,
        )
        .join("\n");
    const text = this.#loop ? this.#text : undefined;
    this.#shown += uses.filter((use) => text === undefined || text.includes(use.text)).length;
    if (uses.length > 0) this.#watch?.wrote(uses.length, this.#shown - before);
  }

  end(): Outcome {
    this.#begin();
    return {
      name: "contextweaver",
      budget: this.#budget,
      cost: this.#cost,
      without: this.#without,
      cuts: this.#cuts,
      over: this.#over,
      shown: this.#shown,
    };
  }

  #catchUp({ messages, pricing }: Call): void {
    this.#loop = new AgentLoop({ budget_tokens: this.#budget, prices: pricing.cache });
    for (const { call, count, everything } of this.#aside) this.#step(call, messages.slice(0, count), everything);
    this.#aside = [];
  }

  #step(call: Call, messages: readonly ChatMessage[], everything: Played): void {
    const { head, head_key: before, model, at, isCopy } = call;
    this.#now = at ?? this.#now;
    const isPaid = isCopy ? this.#loop?.costs() : undefined;
    try {
      const step = this.#loop?.step("openai-chat", messages, {
        ...lastTurn(messages),
        reserved_tokens: Math.round(head),
        model,
        now: this.#now,
        before,
      });
      [this.#sent, this.#text] = [(step?.built.messages ?? []) as unknown as readonly ChatMessage[], undefined];
      const made = step?.built.step;
      if (made)
        this.#watch?.step({
          call,
          tokens: made.tokens,
          prefix: made.repeated_tokens,
          price: isCopy ? 0 : made.cost,
          without: isCopy ? 0 : made.cost_without,
          ...(made.cut && { cut: made.cut }),
          messages: this.#sent,
          isOver: false,
        });
    } catch (error) {
      if (!ContextWeaverError.is(error)) throw error;
      this.#asRecorded(call, messages, everything);
      return;
    }
    if (!isPaid || !this.#loop) return;
    const { cost, cost_without, cuts } = this.#loop.costs();
    this.#cost -= cost - isPaid.cost;
    this.#without -= cost_without - isPaid.cost_without;
    this.#cuts -= cuts - isPaid.cuts;
  }

  #asRecorded(call: Call, messages: readonly ChatMessage[], everything: Played): void {
    [this.#sent, this.#text] = [messages, undefined];
    this.#over += call.isCopy ? 0 : 1;
    this.#asIs(call, everything, true);
  }

  #asIs(call: Call, everything: Played, isOver: boolean): void {
    this.#cost += everything.price;
    this.#without += everything.price;
    this.#watch?.step({ ...everything, call, without: everything.price, isOver });
  }

  #begin(): void {
    for (const { call, everything } of this.#aside) this.#asIs(call, everything, false);
    this.#aside = [];
    if (!this.#loop) return;
    const { cost, cost_without, cuts } = this.#loop.costs();
    this.#cost += cost;
    this.#without += cost_without;
    this.#cuts += cuts;
    this.#loop.free();
    this.#loop = undefined;
  }
}

/** A conversation so far: its messages, and the tokens up to each. */
export type Replayed = Pick<Call, "messages" | "ends">;

/** Follows what happens in one conversation, in order. */
export interface Replayer {
  called(call: Call): void;
  /** Takes what an answer of the model copies from results. */
  wrote(uses: readonly Use[], conversation: Replayed): void;
  /** Only the first `to` messages of the conversation stay. */
  back(to: number): void;
}

/** Plays the calls of one conversation through all strategies. */
export class Replay implements Replayer {
  readonly #ours: readonly Ours[];
  readonly #policies: readonly {
    readonly name: StrategySums["name"];
    readonly budget?: number;
    readonly policy: Policy;
    cost: number;
    shown: number;
    isOver: boolean;
  }[];
  readonly #everything = new Everything();
  readonly #watch: ReplayWatch | undefined;
  #without = 0;

  constructor(budgets: readonly number[], watch?: ReplayWatch) {
    this.#watch = watch;
    this.#ours = budgets.map((budget, at) => new Ours(budget, at === 0 ? watch : undefined));
    this.#policies =
      budgets.length === 0
        ? []
        : [
            ...budgets.map((budget) => ({
              name: "newest" as const,
              budget,
              policy: new NewestThatFit(budget),
              cost: 0,
              shown: 0,
              isOver: false,
            })),
            ...budgets.map((budget) => ({
              name: "clear" as const,
              budget,
              policy: new ClearedResults(budget),
              cost: 0,
              shown: 0,
              isOver: false,
            })),
            { name: "head-tail" as const, policy: new HeadAndTail(), cost: 0, shown: 0, isOver: false },
          ];
  }

  called(call: Call): void {
    // A summary of the conversation is not part of it.
    if (this.#ours.length === 0 || call.isSummary === true) return;
    const everything = playedBy(call, this.#everything);
    this.#without += everything.price;
    for (const ours of this.#ours) ours.called(call, everything);
    for (const [at, one] of this.#policies.entries()) {
      const played = playedBy(call, one.policy);
      one.isOver = call.head > (one.budget ?? Infinity) * MOST_HEAD;
      one.cost += one.isOver ? everything.price : played.price;
      // The first policy is `newest` at the first budget.
      if (at === 0) this.#watch?.plain(call, everything, one.isOver ? everything : played);
    }
  }

  wrote(uses: readonly Use[], { messages }: Replayed): void {
    for (const ours of this.#ours) ours.wrote(uses);
    for (const one of this.#policies)
      one.shown += uses.filter(
        ({ text, places }) =>
          one.isOver || places.some((place) => one.policy.shows(text, place, messages[place] as ChatMessage)),
      ).length;
  }

  back(): void {
    // Nothing to do: each call says how many messages it shares with the one before.
  }

  end(): readonly Outcome[] {
    return [
      ...this.#ours.map((ours) => ours.end()),
      ...this.#policies.map(({ name, budget, cost, shown }) => ({
        name,
        ...(budget !== undefined && { budget }),
        cost,
        without: this.#without,
        shown,
      })),
    ];
  }
}
