// What would have kept an item, found out by building.
import type { ContextPack, Phase } from "contextweaver/slim";
import { type Built, built, builtOrThrow } from "./builds.ts";
import { type Log, MAX_BUDGET, log } from "./log.ts";
import { InputError, type Problem, problemOf } from "./text.ts";

/** What would have kept an item, found out by building. */
export interface Why {
  readonly place: number;
  /** Smallest budget with the item in the prompt; null when there is none. */
  readonly budget: number | null;
  /** Budget now. */
  readonly now: number;
  readonly pin:
    | {
        readonly works: true;
        /** What it brings in: itself, and the others that enter with it. */
        readonly tokens: number;
        readonly others: number;
        readonly pushed: readonly { readonly place: number; readonly label: string }[];
        readonly pushedCount: number;
      }
    | { readonly works: false; readonly problem: Problem | null }
    /** It is in the prompt. */
    | null;
  readonly builds: number;
}

const MAX_PUSHED = 8;

/** Thrown by a search whose answer nobody waits for any more. */
const SUPERSEDED = "the prompt has changed meanwhile";

/** The newest search: an older one stops. */
let newest = 0;

/** Pauses between builds, so that whatever else is asked does not wait for all of them. */
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

type Trial = (more: object) => Promise<ContextPack>;

/** Builds of a phase with other options, while nothing newer is asked for. */
function trialsOf(phase: Phase): { readonly build: Built; readonly trial: Trial; readonly count: () => number } {
  const build = builtOrThrow(phase);
  const attempt = log().trials();
  const search = (newest += 1);
  let builds = 0;
  const trial = async (more: object): Promise<ContextPack> => {
    await breath();
    if (search !== newest || built(phase) !== build) throw new InputError(SUPERSEDED);
    builds += 1;
    return attempt({ ...build.options, explain: false, ...more });
  };
  return { build, trial, count: () => builds };
}

/** The smallest budget with an item in the prompt; null when there is none. */
function budgetFor(id: string, { options, forms }: Built, trial: Trial): Promise<number | null> {
  const now = options.budget_tokens ?? 0;
  const isIn = async (budget_tokens: number): Promise<boolean> => {
    try {
      return (await trial({ budget_tokens })).items?.some((item) => item.id === id) === true;
    } catch (error) {
      if (error instanceof InputError) throw error;
      return false; // not even the pinned items fit
    }
  };
  return forms.has(id) ? smallest(isIn, 0, now) : smallestAbove(isIn, now, log().tokens);
}

export async function why({ phase, place }: { phase: Phase; place: number }): Promise<Why> {
  const present = log();
  const { build, trial, count } = trialsOf(phase);
  const { options, forms } = build;
  const { id } = present.item(place);
  const isPinned = forms.has(id) || options.pin?.includes(id) === true;
  const pin: Why["pin"] = isPinned
    ? null
    : await pinned(
        () => trial({ pin: [...(options.pin ?? []), id], explain: true }),
        present,
        id,
        new Set(forms.keys()),
      );
  const budget = await budgetFor(id, build, trial);
  return { place, budget, now: options.budget_tokens ?? 0, pin, builds: count() };
}

/** Doubles the budget until the item is in, then halves the distance. */
async function smallestAbove(
  isIn: (budget: number) => Promise<boolean>,
  now: number,
  all: number | null,
): Promise<number | null> {
  let out = now;
  let step = 64;
  for (;;) {
    const next = Math.min(out + step, MAX_BUDGET);
    if (await isIn(next)) return smallest(isIn, out, next);
    // With room for everything, a budget is not what is missing.
    if (next === MAX_BUDGET || (all !== null && next > 2 * all + now)) return null;
    out = next;
    step *= 2;
  }
}

async function smallest(isIn: (budget: number) => Promise<boolean>, from: number, to: number): Promise<number> {
  let [out, inside] = [from, to];
  while (inside - out > 1) {
    const middle = Math.floor((out + inside) / 2);
    if (await isIn(middle)) inside = middle;
    else out = middle;
  }
  return inside;
}

async function pinned(
  build: () => Promise<ContextPack>,
  present: Log,
  id: string,
  before: ReadonlySet<string>,
): Promise<Why["pin"]> {
  try {
    const included = (await build()).explanation?.candidates.filter((candidate) => candidate.included) ?? [];
    const after = new Map(included.map((candidate) => [candidate.item_id, candidate]));
    const own = after.get(id);
    if (!own) return { works: false, problem: null };
    const entered = included.filter(({ item_id, unit }) => unit === own.unit && !before.has(item_id));
    const tokens = entered.reduce((sum, candidate) => sum + (candidate.tokens ?? 0), 0);
    const pushed = [...before].filter((other) => !after.has(other)).map((other) => present.places.get(other) ?? 0);
    const shown = pushed.slice(0, MAX_PUSHED).map((place) => ({ place, label: present.label(place) }));
    return { works: true, tokens, others: entered.length - 1, pushed: shown, pushedCount: pushed.length };
  } catch (error) {
    if (error instanceof InputError) throw error;
    return { works: false, problem: problemOf(error) };
  }
}
