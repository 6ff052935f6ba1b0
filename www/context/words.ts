// What the page says of phases, stages and reasons: short enough to be read where they stand.
import type { Phase } from "contextweaver/slim";

export const PHASES = ["route", "call", "interpret", "answer"] as const;

export const PHASE: Readonly<Record<Phase, { readonly task: string; readonly caption: string; readonly budget: number }>> = {
  route: {
    task: "choose a tool",
    caption: "The model picks the next tool. It needs the goal and the conversation; calls and results stay out.",
    budget: 2000,
  },
  call: {
    task: "write the call",
    caption: "The model fills in the arguments. It sees the calls made so far; of results only that they exist.",
    budget: 3000,
  },
  interpret: {
    task: "read the result",
    caption: "The model reads what a tool returned. Results enter, of large ones the parts that matter.",
    budget: 4000,
  },
  answer: {
    task: "answer the user",
    caption: "The model replies. Everything may enter, and what matters most to the query gets the room.",
    budget: 6000,
  },
};

interface Reason {
  readonly short: string;
  /** Says it to somebody who has not read anything else. */
  readonly long: (phase: Phase) => string;
}

const REASONS: Readonly<Record<string, Reason>> = {
  phase: {
    short: "not for this phase",
    long: (phase) => `Items of this kind do not help to ${PHASE[phase].task}, so the ${phase} phase leaves them out.`,
  },
  budget: {
    short: "no room",
    long: () => "Items that matter more to the query filled the budget first.",
  },
  append: {
    short: "left at the last cut",
    long: () =>
      "Append-only prompts are cut to 60 % of the budget, so that they can grow. What was left out then comes back only when a later query asks for it, a tenth of the budget at a time.",
  },
  sensitivity: {
    short: "sensitive",
    long: () => "Its label says that no model may read it. No budget and no pin changes that.",
  },
  dedup: {
    short: "repetition",
    long: () => "Another item says the same, and saying it twice would waste tokens.",
  },
  kind_limit: {
    short: "too many of its kind",
    long: () => "The policy limits how many items of this kind a prompt may have.",
  },
  pair: {
    short: "partner left out",
    long: () => "The call or result it belongs to is not in the prompt; providers refuse one without the other.",
  },
};

export const reasonName = (reason: string): string => REASONS[reason]?.short ?? reason.replaceAll("_", " ");
export const reasonText = (reason: string, phase: Phase): string => REASONS[reason]?.long(phase) ?? `Reason: ${reasonName(reason)}.`;

export const STAGE: Readonly<Record<string, string>> = {
  candidates: "Does the phase admit its kind?",
  closure: "Does another item need it?",
  sensitivity: "May a model read it?",
  firewall: "Is it too large to show whole?",
  score: "How much does it matter to the query?",
  dedup: "Has it been said already?",
  select: "Is there room for it?",
  render: "How is it written down?",
};

export const SCORE_PART: Readonly<Record<string, string>> = {
  text: "words it shares with the query",
  neighbours: "items around it that match",
  caller: "your own relevance",
};

export const FORMATS = [
  ["auto", "recognise it"],
  ["session", "session (JSON Lines)"],
  ["snapshot", "snapshot of a manager"],
  ["openai-chat", "OpenAI chat messages"],
  ["openai-responses", "OpenAI Responses input"],
  ["anthropic", "Anthropic messages"],
  ["gemini", "Gemini contents"],
  ["ai-sdk-ui", "AI SDK UI messages"],
  ["ai-sdk-model", "AI SDK model messages"],
] as const;
export type Format = (typeof FORMATS)[number][0];
