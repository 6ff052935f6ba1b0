// What the page says of calls, cuts and money.
import { count, number } from "../shared/parts.tsx";
import type { CutView, LeftView, PieceView, TapeView } from "../worker/session.ts";

export type Call = TapeView["calls"][number];

/** Why a prompt began anew. */
const CUTS: Readonly<Record<NonNullable<Call["cut"]>, string>> = {
  first: "it is the first prompt",
  full: "it was full",
  pays: "a shorter prompt pays for itself",
  cold: "the provider's cache had nothing of it anyway",
  uncached: "the provider has no cache, so each prompt is compiled anew",
  instructions: "the instructions changed",
  budget: "the budget changed",
  edited: "something in it was edited",
  pinned: "something that had left must be there",
  format: "it was written in another form",
  restored: "something in it was no longer stored",
  compaction: "the agent compacted its conversation itself",
  edit: "the agent went back to an earlier message",
  model: "another model was asked",
  route: "another provider was asked",
  tools: "the tools changed",
  pause: "the pause was longer than the cache is kept",
  provider: "the provider had lost it",
};

export const cutName = (cut: NonNullable<Call["cut"]>): string => CUTS[cut];

/** Whether the prompt began anew because of the agent, not of us. */
export const isAgents = ({ cut }: Call): boolean => cut === "compaction" || cut === "edit";

/** The sentence that says why, with the figures that decided. */
export function whyText(call: Call, before: Call | undefined, budget: number): string {
  const { cut, fresh } = call;
  if (cut === null) return "";
  if (cut === "full" && before)
    return `Why: ${number(before.tokens)} + ${number(fresh)} would not fit into ${number(budget)}.`;
  return `Why: ${cutName(cut)}.`;
}

/** Money, or tokens where no price is known. */
export function priceText(price: number, isMoney: boolean, digits?: number): string {
  if (!isMoney) return number(Math.round(price));
  const places =
    digits ?? (Math.abs(price) >= 0.995 ? 2 : Math.abs(price) >= 0.095 ? 2 : Math.abs(price) >= 0.0095 ? 3 : 4);
  return `$${price.toFixed(places)}`;
}

/** Prices with as many digits as tell apart those that differ, at least two. */
export function pricesText(prices: readonly number[], isMoney: boolean): readonly string[] {
  if (!isMoney) return prices.map((price) => number(Math.round(price)));
  const differ = new Set(prices.map((price) => price.toFixed(6))).size;
  let digits = 2;
  while (
    digits < 6 &&
    (new Set(prices.map((price) => price.toFixed(digits))).size < differ ||
      prices.some((price) => price > 0 && Number(price.toFixed(digits)) === 0))
  )
    digits += 1;
  return prices.map((price) => `$${price.toFixed(digits)}`);
}

/** Tokens in few letters. */
export function short(tokens: number): string {
  return Math.abs(tokens) < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(tokens < 99_950 ? 1 : 0)}k`;
}

/** What a reader of the slider hears. */
export function callText(call: Call, of: number, isMoney: boolean): string {
  const { number: at, cut, repeated, fresh, rewritten, price } = call;
  const parts = [
    `Call ${number(at)} of ${number(of)}`,
    ...(cut === null ? [] : [isAgents(call) ? "begun anew by the agent" : "a cut"]),
    `${number(repeated)} repeated`,
    `${number(fresh)} new`,
    ...(rewritten > 0 ? [`${number(rewritten)} rewritten`] : []),
    isMoney ? priceText(price, true, 4) : `${number(Math.round(price))} tokens at full price`,
  ];
  return parts.join(", ");
}

export const STATE: Readonly<Record<PieceView["state"], string>> = {
  repeated: "repeated",
  rewritten: "rewritten",
  new: "new",
};

/** What became of something that left. */
export function fateText({ after, afterTokens, handle, named, back }: LeftView): string {
  const isStub = after !== null && after.length < 120 && handle !== null && after.includes(handle);
  const stands = isStub
    ? "left out, its handle stands there"
    : after !== null
      ? `shortened to about ${count(afterTokens, "token")}`
      : named !== null
        ? "gone, and named in the line of what left"
        : "gone; the model finds it by recall";
  const reads = handle !== null ? `; drilldown reads on by ${handle}` : "";
  return `${stands}${reads}${back === null ? "" : `; came back at call ${number(back)}`}`;
}

/** Where all that left at a cut is now. */
export function fatesText({ left, shortened, handles, named, back }: CutView): string {
  if (left === 0) return "nothing";
  const gone = left - shortened - handles - named;
  const parts = [
    shortened > 0 && `${number(shortened)} shortened`,
    handles > 0 && `${number(handles)} by handle`,
    named > 0 && `${number(named)} named`,
    gone > 0 && `${number(gone)} found by recall alone`,
    back > 0 && `${number(back)} came back`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}
