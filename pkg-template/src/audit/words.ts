// The words and figures of reports.
import { safe } from "../cli/print.js";
import type { BreakReason, StrategySums } from "./types.js";

/** Why a call did not find the cache. */
export const BREAKS: Readonly<Record<BreakReason, string>> = {
  pause: "a pause longer than the cache is kept",
  compaction: "the conversation was compacted",
  edit: "an earlier message was edited or left out",
  tools: "the list of tools changed",
  instructions: "the instructions changed",
  model: "another model",
  route: "the router asked another provider",
  provider: "the provider did not have it; the log says no reason",
};

/** Ways to keep a conversation short. */
export const STRATEGIES: Readonly<Record<StrategySums["name"], string>> = {
  contextweaver: "contextweaver",
  newest: "newest messages that fit",
  clear: "old results cleared",
  "head-tail": "both ends of results",
};

/** Tokens in few letters: 950, 12.3k, 4.56M. */
export function short(count: number): string {
  if (count < 1000) return String(Math.round(count));
  const [value, unit] =
    count < 999_950
      ? [count / 1000, "k"]
      : count < 999_950_000
        ? [count / 1_000_000, "M"]
        : [count / 1_000_000_000, "G"];
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)}${unit}`;
}

/** Dollars: cents where there are few. */
export function dollars(usd: number | undefined): string {
  if (usd === undefined) return "-";
  const digits = Math.abs(usd) >= 0.995 ? 2 : Math.abs(usd) >= 0.0995 ? 3 : 4;
  return `${usd < 0 ? "-" : ""}$${Math.abs(usd).toFixed(digits)}`;
}

/** Stands above what the calls would have cost in other ways. */
export const sameCalls = (usd: number | undefined): string =>
  `The same calls beside ${usd === undefined ? "what they cost as recorded" : `${dollars(usd)} as recorded`}`;

export function percent(part: number, of: number): string {
  return of === 0 ? "-" : `${Math.round((100 * part) / of)} %`;
}

/** Characters of a session's name. */
const ID = 14;

/** Enough of a session's name to tell it: the beginning of a UUID, the end of other names. */
export function shortId(session: string): string {
  const name = safe(session).replaceAll("\n", " ");
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(name)) return name.slice(0, 8);
  const points = [...name];
  return points.length > ID ? `…${points.slice(1 - ID).join("")}` : name;
}

/** A number and what it counts. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** A figure of a strategy beside that of sending everything. */
export function changed(share: number): string {
  const change = Math.round(100 * (share - 1));
  return change === 0 ? "±0 %" : `${change > 0 ? "+" : "−"}${Math.abs(change)} %`;
}
