// A thread of an audit: replays conversations that another thread reads.
import { parentPort } from "node:worker_threads";
import type { ProviderPrices } from "../manager/text.js";
import type { Call } from "./conversation.js";
import type { ChatMessage } from "./events.js";
import type { ModelPrice } from "./model-prices.js";
import { Pricing } from "./pricing.js";
import { Replay } from "./replay.js";
import type { Outcome, Use } from "./replay.js";

/** A call as it is sent, without what is there already; prices as what they are made of. */
export type PostedCall = Omit<Call, "messages" | "ends" | "pricing"> & {
  readonly pricing: {
    readonly cache: ProviderPrices["prices"];
    readonly model: ModelPrice | undefined;
    readonly brief: number;
  };
};

/** What a thread is asked, of one conversation. */
export type ThreadRequest =
  | { readonly kind: "begin"; readonly id: number; readonly budgets: readonly number[] }
  /** What stands behind its first messages, and the tokens up to each. */
  | {
      readonly kind: "messages";
      readonly id: number;
      readonly keep: number;
      readonly messages: readonly ChatMessage[];
      readonly ends: readonly number[];
    }
  /** `characters` are those of messages that came since the call before. */
  | { readonly kind: "called"; readonly id: number; readonly call: PostedCall; readonly characters: number }
  | { readonly kind: "wrote"; readonly id: number; readonly uses: readonly Use[] }
  | { readonly kind: "end"; readonly id: number };

/** What it answers. */
export type ThreadAnswer =
  | { readonly kind: "called"; readonly characters: number }
  | { readonly kind: "ended"; readonly id: number; readonly outcomes: readonly Outcome[] };

/** A conversation that the thread follows. */
class Followed {
  readonly messages: ChatMessage[] = [];
  readonly ends: number[] = [];
  readonly replay: Replay;

  constructor(budgets: readonly number[]) {
    this.replay = new Replay(budgets);
  }

  follow(keep: number, messages: readonly ChatMessage[], ends: readonly number[]): void {
    this.messages.length = this.ends.length = keep;
    for (const message of messages) this.messages.push(message);
    for (const end of ends) this.ends.push(end);
  }

  called({ pricing: { cache, model, brief }, ...call }: PostedCall): void {
    const { messages, ends } = this;
    this.replay.called({ ...call, messages, ends, pricing: new Pricing(cache, model, brief) });
  }
}

/** Answers until nobody asks any more. */
export function replayThread(): void {
  const followed = new Map<number, Followed>();
  const answer = (message: ThreadAnswer): void => parentPort?.postMessage(message);
  parentPort?.on("message", (request: ThreadRequest) => {
    if (request.kind === "begin") {
      followed.set(request.id, new Followed(request.budgets));
      return;
    }
    const one = followed.get(request.id);
    if (!one) return;
    if (request.kind === "messages") one.follow(request.keep, request.messages, request.ends);
    else if (request.kind === "wrote") one.replay.wrote(request.uses, one);
    else if (request.kind === "called") {
      one.called(request.call);
      answer({ kind: "called", characters: request.characters });
    } else {
      followed.delete(request.id);
      answer({ kind: "ended", id: request.id, outcomes: one.replay.end() });
    }
  });
}
