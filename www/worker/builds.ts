// The prompts of the four phases, and the fate of every item in each.
import { ContextWeaverError } from "contextweaver/slim";
import type {
  BuildOptions,
  CandidateExplanation,
  ContextPack,
  Phase,
  RenderedItem,
  RunningStep,
  TakenBy,
} from "contextweaver/slim";
import { type Log, log } from "./log.ts";
import { type Problem, problemOf, safe } from "./text.ts";

export const PHASES = ["route", "call", "interpret", "answer"] as const satisfies readonly Phase[];
/** The phase of a build that says none, as the package has it. */
const UNSAID: Phase = "answer";

/** What the page asks to be built. */
export interface Request {
  readonly phases: Readonly<
    Record<Phase, { readonly query: string; readonly budget: number; readonly values?: readonly string[] }>
  >;
  /** Places of the items that must be there. */
  readonly pins: readonly number[];
  readonly header: string;
  readonly footer: string;
}

/** How much of a budget something takes. */
export interface Share {
  readonly name: string;
  readonly tokens: number;
  readonly items: number;
}

/** A text that the prompt should hold, as the questions of a sample name what answers them. */
export interface Held {
  readonly value: string;
  readonly isIn: boolean;
}

/** What a prompt says of that which left it, beside its kinds of items. */
export const LEDGER = "names of what left";

/** A phase in numbers. */
export interface PhaseView {
  readonly phase: Phase;
  readonly budget: number;
  readonly problem?: Problem;
  /** Where there is no prompt for lack of budget: the smallest that has one. */
  readonly needs?: number;
  readonly prompt_tokens: number;
  /** Of these the line that names what left, and what else stands around items. */
  readonly named: number;
  readonly around: number;
  readonly included: number;
  /** By kind, what names that which left, header and footer at the end. */
  readonly shares: readonly Share[];
  readonly free: number;
  /** Tokens that items in the prompt have whole, and not there: what was cut from them. */
  readonly cut: number;
  /** Items that stand there in fewer words, or only in name. */
  readonly shortened: number;
  /** What is in, what was cut and what is left out, with `rounding`: the log, the same at every budget. */
  readonly whole: number;
  /** By what the log as one differs from the sum of its items. */
  readonly rounding: number;
  readonly holds: readonly Held[];
  /** The step of a prompt that goes on with the one before: what is free is kept so that it can grow. */
  readonly running: RunningStep | null;
  /** By reason. */
  readonly left: readonly Share[];
  readonly warnings: readonly string[];
}

/** A pin that the policy forbids. */
export interface RefusedPin {
  readonly place: number;
  readonly label: string;
  readonly problem: Problem;
}

/** One prompt and what is known of it. */
export interface Built {
  /** Without the pins that were refused. */
  readonly options: BuildOptions;
  readonly pack: ContextPack;
  readonly bytes: Uint8Array;
  readonly fates: ReadonlyMap<string, CandidateExplanation>;
  readonly forms: ReadonlyMap<string, RenderedItem>;
}

interface Entry {
  readonly key: string;
  readonly log: Log;
  /** Items of the log at that time. */
  readonly length: number;
  readonly built: Built | undefined;
  readonly view: PhaseView;
  readonly refused: readonly RefusedPin[];
}

/** In which form an item stands in the prompt, in the words of the page. */
export type State = "kept" | "summarised" | "redacted" | "dropped";

export interface Fate {
  readonly state: State;
  /** Of what is dropped why, else what was done to it. */
  readonly reason: string;
  readonly stage: string;
  /** In the prompt, or whole where it is not in it. */
  readonly tokens: number | null;
  /** Whole. */
  readonly whole: number | null;
  readonly score: number | null;
  /** Tokens of all that enters and leaves with it, whole. */
  readonly block: number | null;
  /** What its block was ordered by. */
  readonly priority: number | null;
  /** Tokens that were free when the turn of its block came, and those that it needed. */
  readonly room: number | null;
  readonly needed: number | null;
  readonly takenBy: TakenBy | null;
  /** Why it had to be there. */
  readonly pinned: string;
}

/** Why a running prompt was cut. */
export type Parting = NonNullable<RunningStep["cut"]>;

/** Of an item of which nothing is known. */
export const NO_FATE: Fate = {
  state: "dropped",
  reason: "",
  stage: "",
  tokens: null,
  whole: null,
  score: null,
  block: null,
  priority: null,
  room: null,
  needed: null,
  takenBy: null,
  pinned: "",
};

const entries = new Map<Phase, Entry>();
/** Counts what changes the answers about a build. */
let version = 0;
/** Builds the phases whose request has changed. */
export function build(request: Request): {
  readonly version: number;
  readonly phases: readonly PhaseView[];
  readonly refused: readonly RefusedPin[];
} {
  const present = log();
  const made = PHASES.map((phase) => {
    const { query, budget, values = [] } = request.phases[phase];
    const pin = request.pins.map((place) => present.item(place).id);
    const options: BuildOptions = {
      phase,
      query,
      budget_tokens: budget,
      pin,
      explain: true,
      ...(present.settings.running && { running: true }),
      ...(request.header !== "" && { header: request.header }),
      ...(request.footer !== "" && { footer: request.footer }),
    };
    return entryOf(present, options, values);
  });
  const refused = new Map(made.flatMap((entry) => entry.refused.map((pin) => [pin.place, pin] as const)));
  return { version, phases: made.map(({ view }) => view), refused: [...refused.values()] };
}

/** Builds one phase as it is asked for, and forgets what was built before. */
export function buildOnce(options: BuildOptions): PhaseView {
  clear();
  const entry = entryOf(log(), options, []);
  return entry.view;
}

/** Forgets all builds. */
export function clear(): void {
  entries.clear();
}

function entryOf(present: Log, options: BuildOptions, values: readonly string[]): Entry {
  const { phase = UNSAID } = options;
  const key = JSON.stringify([options, values]);
  const before = entries.get(phase);
  if (before?.key === key && before.log === present && before.length === present.items.length) return before;
  version += 1;
  const entry = { key, log: present, length: present.items.length, ...tried(present, options, values) };
  entries.set(phase, entry);
  return entry;
}

type Made = Pick<Entry, "built" | "view" | "refused">;

/** Builds without the pins that the policy forbids: one of them is no reason to show nothing. */
function tried(present: Log, options: BuildOptions, values: readonly string[]): Made {
  const pin = [...(options.pin ?? [])];
  const refused: RefusedPin[] = [];
  for (;;) {
    const { error, ...made } = attempt(present, { ...options, pin }, values);
    const at = refusedAt(error);
    const [id] = at === undefined ? [] : pin.splice(at, 1);
    if (id === undefined) return { ...made, refused };
    const place = present.places.get(id) ?? 0;
    refused.push({ place, label: present.label(place), problem: problemOf(error) });
  }
}

/** Which of the pins an error is about. */
function refusedAt(error: unknown): number | undefined {
  if (!ContextWeaverError.is(error) || error.code !== "POLICY_VIOLATION") return undefined;
  const [, at] = /^\/pin\/(\d+)$/.exec(error.path ?? "") ?? [];
  return at === undefined ? undefined : Number(at);
}

function attempt(
  present: Log,
  options: BuildOptions,
  values: readonly string[],
): { built: Built | undefined; view: PhaseView; error?: unknown } {
  const { phase = UNSAID, budget_tokens: budget = 0 } = options;
  try {
    const pack = present.manager.build(options);
    const built: Built = {
      options,
      pack,
      bytes: new TextEncoder().encode(pack.prompt),
      fates: new Map(pack.explanation?.candidates.map((candidate) => [candidate.item_id, candidate])),
      forms: new Map(pack.items?.map((item) => [item.id, item])),
    };
    return { built, view: viewOf(present, built, values) };
  } catch (error) {
    const nothing = {
      prompt_tokens: 0,
      named: 0,
      around: 0,
      included: 0,
      shares: [],
      free: 0,
      cut: 0,
      shortened: 0,
      whole: 0,
      rounding: 0,
      holds: [],
      running: null,
      left: [],
      warnings: [],
    };
    const over =
      ContextWeaverError.is(error) && error.code === "BUDGET_EXCEEDED"
        ? Number(error.details?.["over_by"])
        : Number.NaN;
    const needs = Number.isInteger(over) ? { needs: budget + over } : {};
    return { built: undefined, view: { phase, budget, problem: problemOf(error), ...needs, ...nothing }, error };
  }
}

function viewOf(present: Log, built: Built, values: readonly string[]): PhaseView {
  const { stats, phase, warnings = [], explanation } = built.pack;
  const counts = new Map<string, number>();
  for (const { kind, included } of explanation?.candidates ?? []) {
    if (included) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const shares = Object.entries(stats.tokens_per_section)
    .filter(([, tokens]) => tokens > 0)
    .map(([name, tokens]) => ({ name, tokens, items: counts.get(name) ?? 0 }));
  // It is rounded by itself: what differs by one is all that stands around the items.
  const told = stats.ledger?.tokens ?? 0;
  const named = told > 0 && Math.abs(stats.header_footer_tokens - told) <= 1 ? stats.header_footer_tokens : told;
  if (named > 0) shares.push({ name: LEDGER, tokens: named, items: 0 });
  const around = stats.header_footer_tokens - named;
  if (around > 0) shares.push({ name: "header and footer", tokens: around, items: 0 });
  const prompt_tokens = stats.prompt_tokens ?? 0;
  const budget = stats.budget_tokens ?? 0;
  const left = leftOut(present, built);
  let [cut, shortened] = [0, 0];
  // What comes back of an item may stand beside what is there of it.
  const shown = new Map<string, number>();
  for (const { id, tokens } of built.pack.items ?? []) shown.set(id, (shown.get(id) ?? 0) + (tokens ?? 0));
  for (const [id, tokens] of shown) {
    const { state, whole } = fateOf(present, built, present.places.get(id) ?? 0);
    if (state !== "summarised") continue;
    shortened += 1;
    cut += Math.max(0, (whole ?? 0) - tokens);
  }
  const sum = prompt_tokens - named - around + cut + left.reduce((all, { tokens }) => all + tokens, 0);
  // Each item is told in whole tokens, and a digest has another size in each prompt.
  const whole = present.whole ?? sum;
  return {
    phase,
    budget,
    prompt_tokens,
    named,
    around,
    included: stats.included_count,
    shares,
    free: Math.max(0, budget - prompt_tokens),
    cut,
    shortened,
    whole,
    rounding: whole - sum,
    holds: values.map((value) => ({ value: safe(value), isIn: built.pack.prompt.includes(value) })),
    running: built.pack.running ?? null,
    left,
    warnings: warnings.map(safe),
  };
}

function leftOut(present: Log, built: Built): Share[] {
  const left = new Map<string, { tokens: number; items: number }>();
  present.items.forEach((_, place) => {
    const { state, reason, whole } = fateOf(present, built, place);
    if (state !== "dropped") return;
    const share = left.get(reason) ?? { tokens: 0, items: 0 };
    left.set(reason, { tokens: share.tokens + (whole ?? 0), items: share.items + 1 });
  });
  return [...left].map(([name, share]) => ({ name, ...share })).sort((a, b) => b.tokens - a.tokens);
}

/** What became of an item. One that is not even a candidate has a kind that the phase does not admit. */
export function fateOf(present: Log, { fates, forms }: Built, place: number): Fate {
  const { id } = present.item(place);
  const fate = fates.get(id);
  const size = present.sizes.get(id) ?? null;
  if (!fate) return { ...NO_FATE, reason: "phase", stage: "candidates", tokens: size, whole: size };
  const { stage = "", tokens = null, score, included, drop_reason, rendered_as, pinned } = fate;
  const common = {
    stage,
    tokens,
    // Where a phase only names results, a result costs less than it has.
    whole: size === null && tokens === null ? null : Math.max(size ?? 0, tokens ?? 0),
    score,
    block: fate.block_tokens ?? null,
    priority: fate.priority ?? null,
    room: fate.room_tokens ?? null,
    needed: fate.needed_tokens ?? null,
    takenBy: fate.taken_by ?? null,
    pinned: pinned ?? "",
  };
  // Beside room that is kept for growing, the budget alone would be no reason.
  const reason = drop_reason === "budget" && present.settings.running ? "left" : drop_reason;
  if (!included) return { state: "dropped", reason, ...common };
  const { omitted_chars: omitted = 0, digest = false } = forms.get(id) ?? {};
  if (rendered_as === "redacted") return { state: "redacted", reason: "text withheld", ...common };
  if (rendered_as === "stub") return { state: "summarised", reason: "named only", ...common };
  if (rendered_as === "excerpt") {
    return {
      state: "summarised",
      reason: omitted ? `${omitted.toLocaleString("en")} characters left out` : "excerpt",
      ...common,
    };
  }
  if (digest) return { state: "summarised", reason: "digest of a large result", ...common };
  return { state: "kept", reason: pinned ? "pinned" : (fate.taken_by ?? ""), ...common };
}

/** The present prompt of a phase; nothing when it could not be built. */
export function built(phase: Phase): Built | undefined {
  return entries.get(phase)?.built;
}

/** The same, or the reason why there is none. */
export function builtOrThrow(phase: Phase): Built {
  const entry = entries.get(phase);
  if (!entry?.built) throw new Error(entry?.view.problem?.message ?? "nothing is built");
  return entry.built;
}

export const currentVersion = (): number => version;
