// What a report knows of a build: the answers of the page's operations to all that its views ask. Part of the package:
// `contextweaver/report`.
import { ContextManager, ContextWeaverError, redactSecrets } from "contextweaver/slim";
import type { BuildOptions, ContextPack, Phase } from "contextweaver/slim";
import { adopt, Log } from "../worker/log.ts";
import { type Fate, type PhaseView, buildOnce, built, clear } from "../worker/builds.ts";
import { pageOf, prompt } from "../worker/prompt.ts";
import { type ItemView, type Row, item, rows } from "../worker/rows.ts";
import { type RuleView, rulesOf } from "../worker/rules.ts";
import type { PromptPage } from "../worker/prompt.ts";
import { type Why, why } from "../worker/why.ts";

/** What a report shows; all of it data. */
export interface Report {
  readonly title: string;
  readonly phase: Phase;
  readonly query: string;
  readonly view: PhaseView;
  readonly rows: readonly Row[];
  /** By place; not of all items where there are many. */
  readonly items: Readonly<Record<number, ItemView>>;
  readonly whys: Readonly<Record<number, Why>>;
  readonly pages: readonly PromptPage[];
  /** What the user said once and for all; none where the manager does not keep it. */
  readonly rules: readonly RuleView[];
  /** By place, the page of the prompt on which an item begins. */
  readonly pageOf: Readonly<Record<number, number>>;
}

export interface CollectOptions extends BuildOptions {
  readonly title?: string;
  /** Most left-out items of which it is found out what would have kept them. */
  readonly what_if?: number;
}

/** Characters of texts of items in a report, and of one of them. */
const TEXT_CHARS = 4_000_000;
const ITEM_CHARS = 8_000;
const MAX_ITEMS = 5_000;
const ROWS = 500;

/** One after the other: what the operations look into is one thing for all. */
let before: Promise<unknown> = Promise.resolve();

export function collect(manager: ContextManager, options: CollectOptions): Promise<Report> {
  const next = before.then(() => collected(manager, options));
  before = next.catch(() => undefined);
  return next;
}

async function collected(
  manager: ContextManager,
  { title = "", what_if = 0, ...options }: CollectOptions,
): Promise<Report> {
  const copy = copyOf(manager);
  try {
    // With the very build that the report is about; all else is tried out on the copy.
    const outcome = builtBy(manager, { ...options, explain: true });
    const { pack } = outcome;
    // A model's scale is part of the budget already.
    const fixed: BuildOptions =
      pack?.stats.budget_tokens == null ? options : { ...options, budget_tokens: pack.stats.budget_tokens };
    const trial = copy && pack && options.model === undefined && isSame(copy, fixed, pack) ? copy : undefined;
    const settings = { running: pack?.running !== undefined, redact: false, rules: false };
    const build = (): ContextPack => {
      if (outcome.pack) return outcome.pack;
      throw outcome.error;
    };
    const once = { build, events: manager.events, toJSON: () => manager.toJSON() } as unknown as ContextManager;
    adopt(new Log({ format: "session", items: [], warnings: [] }, settings, { manager: once, copy: trial }));
    const view = buildOnce({ ...fixed, explain: true });
    const places = new Map(manager.events.list().map(({ id }, place) => [id, place]));
    const rules = rulesOf(manager, (id) => places.get(id));
    return clean({ ...(await reported(title, fixed, view, trial === undefined ? 0 : what_if)), rules });
  } finally {
    adopt(undefined);
    clear();
    copy?.free();
  }
}

/** A prompt, or why there is none for lack of budget; that is something to report, too. */
function builtBy(
  manager: ContextManager,
  options: BuildOptions,
): { readonly pack: ContextPack; readonly error?: never } | { readonly pack?: never; readonly error: unknown } {
  try {
    return { pack: manager.build(options) };
  } catch (error) {
    if (!ContextWeaverError.is(error) || error.code !== "BUDGET_EXCEEDED") throw error;
    return { error };
  }
}

/** A manager with the same log and the same settings; none where it has functions, or is of a kind that cannot be copied. */
function copyOf(manager: ContextManager): ContextManager | undefined {
  try {
    return ContextManager.restore(manager.exportSince().changes);
  } catch {
    return undefined;
  }
}

/** Whether the copy decides as the original: functions of the caller's are not part of it, and a running prompt has gone on. */
function isSame(copy: ContextManager, options: BuildOptions, pack: ContextPack): boolean {
  if (pack.running !== undefined) return false;
  try {
    // The same prompt may come of other scores.
    const { prompt, explanation } = copy.build({ ...options, explain: true });
    return prompt === pack.prompt && JSON.stringify(explanation) === JSON.stringify(pack.explanation);
  } catch {
    return false;
  }
}

async function reported(
  title: string,
  options: BuildOptions,
  view: PhaseView,
  what_if: number,
): Promise<Omit<Report, "rules">> {
  const { phase } = view;
  const filter = { show: "all", kind: "", search: "" };
  const all: Row[] = [];
  for (let from = 0, total = 1; from < total; from += ROWS) {
    const part = rows({ phase, filter, from, to: from + ROWS });
    total = part.total;
    all.push(...part.rows);
  }
  const items: Record<number, ItemView> = {};
  let left = TEXT_CHARS;
  // What is in the prompt first, then what costs most.
  const order = [...all].sort(
    (a, b) => Number(a.state === "dropped") - Number(b.state === "dropped") || (b.tokens ?? 0) - (a.tokens ?? 0),
  );
  for (const { place } of order.slice(0, MAX_ITEMS)) {
    // Of one build, nothing is known of other phases.
    const found = { ...shortened(item({ phase, place })), phases: [] };
    left -= found.text?.text.length ?? 0;
    items[place] = left < 0 ? { ...found, text: null } : found;
  }
  const missing = all.filter(
    ({ state, reason, score }) => state === "dropped" && reason === "budget" && score !== null,
  );
  const asked = missing.sort((a, b) => (b.score ?? 0) - (a.score ?? 0)).slice(0, what_if);
  const whys: Record<number, Why> = {};
  for (const { place } of asked) whys[place] = await why({ phase, place });
  const build = built(phase);
  const first = build ? prompt({ phase, page: 0 }) : undefined;
  const pages = first
    ? [first, ...Array.from({ length: first.pages - 1 }, (_, at) => prompt({ phase, page: at + 1 }))]
    : [];
  const hidden = new Set(all.filter((row) => isHidden(row, items[row.place]?.sensitivity)).map(({ place }) => place));
  return {
    title,
    phase,
    query: options.query ?? "",
    view,
    rows: all.map((row) => (hidden.has(row.place) ? { ...row, line: "text withheld" } : row)),
    items: Object.fromEntries(
      Object.entries(items).map(([place, each]) => [
        place,
        hidden.has(Number(place)) ? { ...each, text: null, shown: null } : each,
      ]),
    ),
    whys,
    pages,
    pageOf: Object.fromEntries(
      all.filter(({ state }) => state !== "dropped").map(({ place }) => [place, pageOf({ phase, place })]),
    ),
  };
}

/**
 * Whether the text of an item stays out of the report: the floor withheld it, or it left before the floor was asked and is labelled
 * as anything but public.
 */
function isHidden({ reason, state, stage }: Fate, sensitivity = ""): boolean {
  if (reason === "sensitivity" || state === "redacted") return true;
  return state === "dropped" && stage === "candidates" && sensitivity !== "public";
}

function shortened(view: ItemView): ItemView {
  if (!view.text || (view.text.text.length <= ITEM_CHARS && view.text.parts === 1)) return view;
  return { ...view, text: { text: `${view.text.text.slice(0, ITEM_CHARS).toWellFormed()}…`, part: 0, parts: 1 } };
}

/** Without secrets, wherever they stand: in ids, queries and errors, too. */
function clean<T>(value: T): T {
  if (typeof value === "string") return (value.length < 8 ? value : redactSecrets(value)) as T;
  if (Array.isArray(value)) return value.map(clean) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, clean(each)])) as T;
}
