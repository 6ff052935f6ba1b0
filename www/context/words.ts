// What the page says of phases, stages and reasons: short enough to be read where they stand.
import type { DroppedItem, Phase, RunningStep } from "contextweaver/slim";
import { count, kindName, number } from "../shared/parts.tsx";
import type { Fate, Parting } from "../worker/builds.ts";
import type { ItemView } from "../worker/rows.ts";

export const PHASES = ["route", "call", "interpret", "answer"] as const;

export const PHASE: Readonly<
  Record<Phase, { readonly task: string; readonly caption: string; readonly budget: number }>
> = {
  route: {
    task: "choose a tool",
    caption: "The goal and the conversation; no calls, no results.",
    budget: 2000,
  },
  call: {
    task: "write the call",
    caption: "The calls made so far; results in name only.",
    budget: 3000,
  },
  interpret: {
    task: "read the result",
    caption: "Results too: of large ones the lines that matter.",
    budget: 4000,
  },
  answer: {
    task: "answer the user",
    caption: "Anything may enter; what matters to the question goes first.",
    budget: 6000,
  },
};

/** The members of a set that are known, of a type that also takes others. */
type Known<Word extends string> = Word extends unknown ? (string extends Word ? never : Word) : never;

/** The reasons that items have where they are left out; `phase` and `left` are the page's own. */
const DROPS = {
  phase: "not for this phase",
  budget: "no room",
  left: "left at the last cut",
  sensitivity: "withheld",
  dedup: "repetition",
  near_repeat: "nothing new in it",
  kind_limit: "too many of its kind",
  pair: "would stand without its partner",
} as const satisfies Readonly<Record<Known<DroppedItem["reason"]> | "phase" | "left", string>>;

export const DROP_REASONS = Object.keys(DROPS);

const SHORT: Readonly<Record<string, string>> = {
  ...DROPS,
  pinned: "must be there",
  newest: "among the newest",
  priority: "by its score",
  parent: "another answers to it",
  all: "everything fits",
};

export const reasonName = (reason: string): string => SHORT[reason] ?? reason.replaceAll("_", " ");

/** Tokens below which nothing more is tried. */
const REST_TOKENS = 10;

const PINNED: Readonly<Record<string, string>> = {
  request: "you pinned it",
  metadata: "its record says that it is pinned",
  instructions: "the instructions at the head of the log stay while there is room for more than them",
  active_turn: "the user's last turn and the newest item always stay",
};

const one = (value: number | null): string => number(value ?? 0);

/** What an item costs, with all that comes with it. */
function costText({ block, partners }: Pick<ItemView, "block" | "partners">): string {
  return partners > 0
    ? `it comes with ${count(partners, "partner")}: ${one(block)} tokens for the block`
    : `it takes ${count(block ?? 0, "token")}`;
}

function scoreText({ score, best, place }: Pick<ItemView, "score" | "best" | "place">): string {
  const own = `Score ${(score ?? 0).toFixed(2)}`;
  return best && best.place !== place && best.score > (score ?? 0)
    ? `${own}, and ${best.score.toFixed(2)} for the best of its block (${best.label})`
    : own;
}

function budgetText(item: ItemView): string {
  const { needed, room, block, rank, ranked } = item;
  if (needed === null || room === null)
    return `${scoreText(item)}, and ${costText(item)}. Blocks that matter more to the query filled the budget first.`;
  const least = block !== null && needed < block ? `, ${one(needed)} cut as far as it goes` : "";
  const turn = rank === null ? "" : ` (number ${number(rank)} of ${number(ranked)})`;
  const free = `${number(room)} ${room === 1 ? "was" : "were"} free when its turn came${turn}`;
  const rest = needed <= room ? `, and below ${REST_TOKENS} nothing more is tried` : "";
  return `${scoreText(item)}, but ${costText(item)}${least}; ${free}${rest}.`;
}

function leftText({ used, budget }: ItemView): string {
  return `Each prompt is the one before with what is new, and when it was last cut this was not worth its room. The ${count(Math.max(0, budget - used), "token")} that are free now are kept for the steps to come, so that the prompt can grow without changing. It comes back at the next cut, or in part when a step speaks of it.`;
}

function takenText(item: ItemView): string {
  const { takenBy, pinned, rank, ranked, room, block } = item;
  if (takenBy === "pinned" || pinned !== "")
    return `It must be there: ${PINNED[pinned] ?? pinned.replaceAll("_", " ")}.`;
  if (takenBy === "all") return "Everything that this phase admits has room.";
  if (takenBy === "newest")
    return `It is among the newest items, to which up to a fifth of the budget goes. ${scoreText(item)}; ${costText(item)}.`;
  if (takenBy === "stated")
    return `The user says it: the first request, short remarks, and turns that state what goes on to hold have a part of the budget of their own. ${scoreText(item)}; ${costText(item)}.`;
  if (takenBy === "parent") return `It came along: an item of the prompt answers to it, and ${costText(item)}.`;
  if (takenBy === "priority" && rank !== null && room !== null) {
    const cut =
      item.needed !== null && block !== null && item.needed < block
        ? `, ${number(item.needed)} as far as they were cut then`
        : "";
    return `${scoreText(item)}: number ${number(rank)} of ${number(ranked)} in line. ${number(room)} tokens were free when its turn came, and ${costText(item)}${cut}.`;
  }
  return "It was in the prompt before, and what was sent stays until the next cut.";
}

type DropText = (item: ItemView, phase: Phase) => string;

/** What is said of each reason. */
const DROP_TEXTS: Readonly<Record<keyof typeof DROPS, DropText>> = {
  phase: ({ kind }, phase) =>
    `No ${kindName(kind)} helps to ${PHASE[phase].task}, so the ${phase} prompt leaves all of them out, whatever its budget.`,
  budget: budgetText,
  left: leftText,
  sensitivity: ({ sensitivity }) =>
    `It is labelled ${sensitivity}, and the policy lets no model read that. No budget and no pin changes it.`,
  dedup: () => "Another item says the same, word for word, and saying it twice would waste tokens.",
  near_repeat: (item) =>
    `Others in the prompt have all of its lines, so it had to wait until each of them had its turn. ${budgetText(item)}`,
  kind_limit: () => "The policy limits how many items of this kind a prompt may have.",
  pair: () =>
    "The call or the result that it belongs to is not in the prompt, and providers refuse one without the other.",
};

/** Why an item is in the prompt, or why not, with the figures that decided. */
export function reasonText(item: ItemView, phase: Phase): string {
  const { state, reason, stage, tokens, whole } = item;
  if (stage === "") return `There is no ${phase} prompt: what must be in it does not fit its budget.`;
  if (state === "redacted") return "It is in the prompt, but its text is withheld because of its label.";
  if (state === "kept") return `It is in the prompt as it is. ${takenText(item)}`;
  if (state === "summarised" && reason === "named only")
    return `It is in the prompt as one line: to ${PHASE[phase].task}, it is enough to know that the result exists.`;
  if (state === "summarised" && whole !== null && (tokens ?? 0) >= whole)
    return `Nothing was cut off: it stands in another form (${reason}) that takes its ${count(whole, "token")} as well; the whole stays stored. ${takenText(item)}`;
  if (state === "summarised")
    return `Cut from ${one(whole)} to ${count(tokens ?? 0, "token")}: ${reason}; the whole stays stored. ${takenText(item)}`;
  return (DROP_TEXTS as Readonly<Record<string, DropText>>)[reason]?.(item, phase) ?? `Reason: ${reasonName(reason)}.`;
}

/** Why a running prompt no longer goes on with the one that it is compared with. */
const PARTING: Readonly<Record<Parting, string>> = {
  first: "It is the first prompt with these settings.",
  full: "The next prompt would not have fitted the budget, so it was cut.",
  pays: "A shorter prompt pays for itself within the steps to come, so it was cut.",
  cold: "The provider's cache was lost anyway, so a cut cost nothing.",
  uncached: "The provider has no cache, so each prompt is compiled for itself.",
  instructions: "The header is another one, so the prompt began anew.",
  budget: "The budget is another one and something was left out, so the prompt began anew.",
  edited: "Something in the prompt has changed, so it began anew.",
  pinned: "Something that had left must be there now, so the prompt began anew.",
  format: "The prompt before was written in another form, so this one began anew.",
  restored: "Something in the prompt before is no longer stored, so it began anew.",
};

export function partingText(parting: Parting | null): string {
  return parting === null ? "Nothing had to be cut: the prompt before is the beginning of this one." : PARTING[parting];
}

/** What a step of a running prompt repeats, and what it costs. */
export function runningText({
  step,
  tokens,
  repeated_tokens,
  tokens_without,
  cost,
  cost_without,
}: RunningStep): string {
  const whole = `with the whole conversation, ${count(tokens_without, "token")}, it would cost ${number(Math.round(cost_without))}`;
  return `Step ${number(step)} of the loop: ${number(repeated_tokens)} of ${count(tokens, "token")} repeat the step before. It costs as much as ${count(Math.round(cost), "token")} at full price; ${whole}.`;
}

/** In one word or two, for the list. */
export function reasonShort({ state, reason, stage, whole, tokens }: Fate): string {
  if (stage === "") return "no prompt";
  if (state === "summarised" && reason !== "named only") return `of ${one(Math.max(whole ?? 0, tokens ?? 0))} tokens`;
  return reasonName(reason);
}

/** The words of the page for states. */
export const STATE: Readonly<Record<string, string>> = {
  kept: "kept",
  summarised: "cut",
  redacted: "redacted",
  dropped: "left out",
  failed: "no prompt",
};

export const SCORE_PART: Readonly<Record<string, string>> = {
  text: "words it shares with the query",
  neighbours: "items around it that match",
  caller: "your own relevance",
};

/** Words that are explained where they first stand. */
export const TERM = {
  phase: "What the model is asked for next: to choose a tool, write its call, read the result, or answer.",
  token: "What a model reads and a provider charges by: about four letters of English.",
  artifact:
    "The whole of a result as it came, stored by its handle. A prompt shows a part; the model can look up the rest.",
  block: "Items that enter and leave together, such as a call and its results: providers refuse one without the other.",
} as const;
