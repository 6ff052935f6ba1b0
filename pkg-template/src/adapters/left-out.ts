// Lists the parts of a conversation that a prompt does not show whole, with what became of each and why.
import { ContextWeaverError, countTokens } from "contextweaver";
import type {
  BuildStats,
  ContextManager,
  ContextPack,
  DroppedItem,
  RenderedItem,
  RunningStep,
  StoredItem,
} from "contextweaver";
import { figure } from "../telemetry/debug.js";

/** Something of the conversation that the prompt does not have, or not whole. It quotes nothing that was said. */
export interface LeftOut {
  readonly item_id: string;
  /** Such as `tool_result`; absent where the item was forgotten since. */
  readonly kind?: string;
  readonly tool_name?: string;
  /** Reads all of it by `drilldown`; absent where it is no result that is kept apart. */
  readonly handle?: string;
  /**
   * Nothing of it is there (`dropped`), a line that says that it exists (`stub`), the passages that fit the query (`excerpt`), what a hook
   * left of it (`redacted`), or facts and beginnings of a large result (`digest`).
   */
  readonly became: "dropped" | "stub" | "excerpt" | "redacted" | "digest";
  /** Tokens of the whole item, where they are known. */
  readonly tokens?: number;
  /** Tokens that the prompt shows of it: 0 where it was dropped. */
  readonly shown_tokens: number;
  /** Characters that an excerpt leaves out. */
  readonly omitted_chars?: number;
  /** Why, for people. */
  readonly reason: string;
}

/** The parts of a step that the list is made of. */
export interface LeavingStep {
  readonly step: RunningStep;
  readonly stats: BuildStats;
  /** The record of its prompt. */
  readonly pack: ContextPack;
  /** Tokens that stayed free when the prompt was cut last. */
  readonly free_tokens: number;
  /** The log's option. */
  readonly thrift: number;
}

/** Lists everything that is not whole in the prompt of a step: first what is not there at all. */
export function leftOutOf(manager: ContextManager, made: LeavingStep): readonly LeftOut[] {
  const dropped = made.stats.dropped_items.map((item) => droppedOf(manager, item, made));
  // The log forgets them once two more cuts have come.
  const items = orAbsent(() => made.pack.items) ?? [];
  return [...dropped, ...items.flatMap((item) => shownInPart(manager, item, made))];
}

/** Why a cut leaves more out than it must. */
export function deepCut(thrift: number): string {
  return `one deep cut is cheaper than many (thrift ${thrift})`;
}

/** Whether something had room when the prompt was cut, and was left out by its depth alone. */
export function isThrift({ reason, tokens }: DroppedItem, free_tokens: number): boolean {
  return reason === "budget" && tokens !== undefined && tokens <= free_tokens;
}

function droppedOf(manager: ContextManager, item: DroppedItem, { free_tokens, thrift }: LeavingStep): LeftOut {
  const stored = itemOf(manager, item.item_id);
  const whole = firewallOf(stored)?.tokens ?? item.tokens;
  const reason = isThrift(item, free_tokens)
    ? `left at a cut, as ${deepCut(thrift)}`
    : (DROPS[item.reason] ?? item.reason);
  return {
    item_id: item.item_id,
    ...knownOf(stored),
    became: "dropped",
    ...(whole !== undefined && { tokens: whole }),
    shown_tokens: 0,
    reason,
  };
}

/** The members of a set that are known, of a type that also takes others. */
type Known<Word extends string> = Word extends unknown ? (string extends Word ? never : Word) : never;

const DROPS: Readonly<Record<string, string>> = {
  budget: "there was no room for it",
  near_repeat: "others in the prompt have all of its lines",
  dedup: "another one says the same",
  sensitivity: "it is too sensitive to be shown",
  pair: "the call or result that it belongs to was dropped",
  kind_limit: "the policy allows no more of its kind",
} satisfies Readonly<Record<Known<DroppedItem["reason"]>, string>>;

/** What became of an item of the prompt; nothing where all of it is there. */
function shownInPart(
  manager: ContextManager,
  { id, rendered_as, tokens: shown_tokens, omitted_chars, digest }: RenderedItem,
  made: LeavingStep,
): readonly LeftOut[] {
  if (rendered_as === "whole" && !digest) return [];
  const item = itemOf(manager, id);
  const became = rendered_as === "whole" ? "digest" : rendered_as;
  const tokens = item && (firewallOf(item)?.tokens ?? countTokens(item.text));
  return [
    {
      item_id: id,
      ...knownOf(item),
      became,
      ...(tokens !== undefined && { tokens }),
      shown_tokens,
      ...(omitted_chars !== undefined && { omitted_chars }),
      reason: reasonOf(became, { tokens: tokens ?? 0, shown_tokens }, made),
    },
  ];
}

/** Why an item is shown in part. */
function reasonOf(
  became: Exclude<LeftOut["became"], "dropped">,
  { tokens, shown_tokens }: { readonly tokens: number; readonly shown_tokens: number },
  { pack, stats, free_tokens, thrift }: LeavingStep,
): string {
  if (became === "redacted") return "a redaction hook replaced its text";
  // No result takes more of a prompt than half of it.
  if (became === "digest" || (became === "excerpt" && 2 * tokens > (stats.budget_tokens ?? 0)))
    return "it is too large to be shown whole";
  if (became === "stub" && pack.phase !== "answer")
    return `there was room for a line only, or the phase \`${pack.phase}\` shows none of its kind`;
  if (tokens - shown_tokens <= free_tokens) return `shortened at a cut, as ${deepCut(thrift)}`;
  return became === "stub" ? "there was room for a line only" : "there was room for a part only";
}

function knownOf(item: StoredItem | undefined): Pick<LeftOut, "kind" | "tool_name" | "handle"> {
  if (!item) return {};
  const { kind, metadata, artifact_ref } = item;
  const tool_name = metadata["tool_name"];
  return {
    kind,
    ...(typeof tool_name === "string" && { tool_name }),
    ...(artifact_ref && { handle: artifact_ref.handle }),
  };
}

/** Returns the firewall's note on an item that is a digest; undefined for every other. */
export function firewallOf(item: StoredItem | undefined): { readonly tokens?: number } | undefined {
  const firewall = (item?.metadata as { readonly firewall?: { readonly tokens?: unknown } } | undefined)?.firewall;
  if (!item?.artifact_ref || !firewall) return undefined;
  return typeof firewall.tokens === "number" ? { tokens: firewall.tokens } : {};
}

/** An item of the log; undefined where it was forgotten. */
export function itemOf({ events }: ContextManager, id: string): StoredItem | undefined {
  return orAbsent(() => events.get(id));
}

/** Reads something; undefined where it is not there any more. */
function orAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (ContextWeaverError.is(error) && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

/** Forms by their names, one and many. */
const FORMS: readonly (readonly [became: LeftOut["became"], one: string, many: string])[] = [
  ["dropped", "dropped", "dropped"],
  ["stub", "stub", "stubs"],
  ["excerpt", "excerpt", "excerpts"],
  ["redacted", "redacted", "redacted"],
  ["digest", "digest", "digests"],
];

/** Counts what is not whole, with the largest by name. `dropped` counts those that are not listed, too. */
export function leftOutWords(left: readonly LeftOut[], dropped: number): string {
  const counts = FORMS.flatMap(([form, one, many]) => {
    const count = form === "dropped" ? dropped : left.filter(({ became }) => became === form).length;
    return count > 0 ? [`${count} ${count === 1 ? one : many}`] : [];
  });
  if (counts.length === 0) return "nothing left out";
  const [largest] = byTokens(left);
  return `${counts.join(", ")}${largest ? `; largest ${nameOf(largest)}: ${fateOf(largest)}` : ""}`;
}

/** The largest first. */
function byTokens(left: readonly LeftOut[]): readonly LeftOut[] {
  return [...left].sort((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0));
}

function nameOf({ tool_name, item_id }: LeftOut): string {
  return tool_name ?? item_id;
}

function fateOf({ tokens, became, handle, reason }: LeftOut): string {
  return [
    ...(tokens === undefined ? [] : [`${figure(tokens)} tokens`]),
    became,
    ...(handle === undefined ? [] : [handle]),
    reason,
  ].join(", ");
}

/** Most lines of the list in a text. */
const MOST_LINES = 10;

/** The list for people. */
export function leftOutLines(left: readonly LeftOut[], dropped: number): readonly string[] {
  if (left.length === 0) return [];
  const more =
    left.length - MOST_LINES + Math.max(0, dropped - left.filter(({ became }) => became === "dropped").length);
  const line = (one: LeftOut) =>
    `  ${one.item_id} (${one.tool_name ?? one.kind ?? "unknown"}): ${one.became === "dropped" ? "" : `${figure(one.shown_tokens)} of `}${fateOf(one)}`;
  return [
    "not whole in the last step:",
    ...byTokens(left).slice(0, MOST_LINES).map(line),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
