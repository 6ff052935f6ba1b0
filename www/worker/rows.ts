// The list of items: windows of rows, and one item in full.
import type { CandidateExplanation, Phase, StoredItem } from "contextweaver/slim";
import { type Built, NO_FATE, PHASES, type Fate, type State, built, currentVersion, fateOf } from "./builds.ts";
import { type Log, log } from "./log.ts";
import { type Part, masked, partOf } from "./text.ts";

/** Which items to list. */
export interface Filter {
  /** `all`, a state, or a reason for which items were dropped. */
  readonly show: string;
  readonly kind: string;
  /** Part of an id or a text. */
  readonly search: string;
}

export interface Row extends Fate {
  readonly place: number;
  readonly label: string;
  readonly kind: string;
  readonly line: string;
}

export interface Rows {
  readonly total: number;
  readonly rows: readonly Row[];
}

let listed: { key: string; of: Log; places: number[] } | undefined;

/** The places of the items that pass a filter. */
function places(phase: Phase, filter: Filter): number[] {
  const present = log();
  const key = JSON.stringify([currentVersion(), phase, filter]);
  if (listed?.key === key && listed.of === present) return listed.places;
  const build = built(phase);
  const wanted = filter.search.trim().toLowerCase();
  const found: number[] = [];
  present.items.forEach((item, place) => {
    if (filter.kind && item.kind !== filter.kind) return;
    if (filter.show !== "all") {
      const { state, reason } = build ? fateOf(present, build, place) : NO_FATE;
      const isIn = filter.show === "in" && state !== "dropped";
      if (!isIn && state !== filter.show && reason !== filter.show) return;
    }
    if (!wanted || matches(present, item, place, wanted)) found.push(place);
  });
  listed = { key, of: present, places: found };
  return found;
}

function matches(present: Log, item: StoredItem, place: number, wanted: string): boolean {
  if (item.id.toLowerCase().includes(wanted)) return true;
  return !present.withheld(place) && item.text.toLowerCase().includes(wanted);
}

/** Some rows of the list. */
export function rows({ phase, filter, from, to }: { phase: Phase; filter: Filter; from: number; to: number }): Rows {
  const present = log();
  const build = built(phase);
  const found = places(phase, filter);
  const window = found.slice(Math.max(0, from), Math.min(to, from + 500));
  return {
    total: found.length,
    rows: window.map((place) => ({
      place,
      label: present.label(place),
      kind: present.item(place).kind,
      line: present.line(place, sensitivityOf(present, phase, place)),
      ...(build ? fateOf(present, build, place) : NO_FATE),
    })),
  };
}

/** The label an item has after classification. */
function sensitivityOf(present: Log, phase: Phase, place: number): string {
  const item = present.item(place);
  return built(phase)?.fates.get(item.id)?.sensitivity ?? item.sensitivity;
}

/** Where an item stands in the list; -1 when the filter leaves it out. */
export function find({ phase, filter, place }: { phase: Phase; filter: Filter; place: number }): number {
  return places(phase, filter).indexOf(place);
}

/** The ids of items, for a program that names them. */
export function ids({ places: wanted }: { places: readonly number[] }): readonly string[] {
  return wanted.map((place) => log().item(place).id);
}

/** One item in full. */
export interface ItemView extends Fate {
  readonly place: number;
  readonly label: string;
  readonly kind: string;
  readonly sensitivity: string;
  /** What the score is made of. */
  readonly parts: readonly { readonly name: string; readonly value: number }[];
  /** Items that enter and leave with it: the first of them, and how many there are. */
  readonly unit: readonly { readonly place: number; readonly label: string }[];
  readonly partners: number;
  /** The best score in the block, by which the block was ordered, and whose it is. */
  readonly best: { readonly place: number; readonly label: string; readonly score: number } | null;
  /** Where the block stood among all that were ordered, from 1. */
  readonly rank: number | null;
  readonly ranked: number;
  /** Tokens of the prompt and of its budget, of which a running prompt keeps some free. */
  readonly used: number;
  readonly budget: number;
  readonly parent: { readonly place: number; readonly label: string } | null;
  /** What became of it in every phase. */
  readonly phases: readonly { readonly phase: Phase; readonly state: State | "failed"; readonly reason: string }[];
  readonly text: Part | null;
  /** What the prompt says of it, where that is not all of it. */
  readonly shown: Part | null;
}

const MAX_UNIT = 12;

export function item({ phase, place, part = 0 }: { phase: Phase; place: number; part?: number }): ItemView {
  const present = log();
  const build = built(phase);
  const { id, kind, parent_id } = present.item(place);
  const fate = build?.fates.get(id);
  const sensitivity = sensitivityOf(present, phase, place);
  const candidates = build?.pack.explanation?.candidates ?? [];
  const block =
    fate && fate.score !== null ? candidates.filter((each) => each.score !== null && each.unit === fate.unit) : [];
  const mates = block.filter(({ item_id }) => item_id !== id);
  const lead = block.reduce<CandidateExplanation | undefined>(
    (best, each) => ((each.score ?? 0) > (best?.score ?? -1) ? each : best),
    undefined,
  );
  const ranks = build ? ranksOf(build) : [];
  const final = build ? fateOf(present, build, place) : NO_FATE;
  const isWithheld = present.withheld(place) || present.withheld(place, sensitivity as StoredItem["sensitivity"]);
  const named = (place: number): { place: number; label: string } => ({ place, label: present.label(place) });
  const parent = parent_id === null ? undefined : present.places.get(parent_id);
  return {
    place,
    label: present.label(place),
    kind,
    sensitivity,
    ...final,
    parts: Object.entries(fate?.parts ?? {}).map(([name, value]) => ({ name, value })),
    unit: mates.slice(0, MAX_UNIT).map(({ item_id }) => named(present.places.get(item_id) ?? 0)),
    partners: mates.length,
    best: lead ? { ...named(present.places.get(lead.item_id) ?? 0), score: lead.score ?? 0 } : null,
    rank: final.priority === null ? null : 1 + ranks.filter((priority) => priority > (final.priority ?? 0)).length,
    ranked: ranks.length,
    used: build?.pack.stats.prompt_tokens ?? 0,
    budget: build?.pack.stats.budget_tokens ?? 0,
    parent: parent === undefined ? null : named(parent),
    phases: PHASES.map((each) => inPhase(present, each, place)),
    text: isWithheld ? null : textOf(present, place, part),
    shown: isWithheld || final.state !== "summarised" || !build ? null : shownOf(build, id),
  };
}

let ordered: { of: Built; ranks: number[] } | undefined;

/** What the blocks of a build were ordered by, one number a block. */
function ranksOf(build: Built): number[] {
  if (ordered?.of === build) return ordered.ranks;
  const byUnit = new Map<number, number>();
  for (const { unit, priority } of build.pack.explanation?.candidates ?? []) {
    if (unit !== undefined && priority != null) byUnit.set(unit, priority);
  }
  ordered = { of: build, ranks: [...byUnit.values()] };
  return ordered.ranks;
}

const decoder = new TextDecoder();

/** The section of an item in the prompt, without the blank lines around it. */
function shownOf({ forms, bytes }: Built, id: string): Part | null {
  const form = forms.get(id);
  return form
    ? partOf(masked(decoder.decode(bytes.subarray(form.start, form.end)).replace(/^\n+|\n+$/g, "")), 0)
    : null;
}

function inPhase(present: Log, phase: Phase, place: number): ItemView["phases"][number] {
  const build = built(phase);
  if (!build) return { phase, state: "failed", reason: "" };
  const { state, reason } = fateOf(present, build, place);
  return { phase, state, reason };
}

let text: { of: Log; place: number; shown: string } | undefined;

function textOf(present: Log, place: number, part: number): Part {
  if (text?.of !== present || text.place !== place)
    text = { of: present, place, shown: masked(present.item(place).text) };
  return partOf(text.shown, part);
}
