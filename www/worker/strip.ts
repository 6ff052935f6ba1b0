// The log as a strip: one cell for each item, or for several where there are more items than a line has room for.
import type { Phase } from "contextweaver/slim";
import { type Fate, NO_FATE, built, fateOf } from "./builds.ts";
import { log } from "./log.ts";

/** Items of the log that stand side by side. */
export interface Cell {
  /** Place of the first. */
  readonly place: number;
  /** The kind that has the most tokens in it. */
  readonly kind: string;
  /** Tokens whole, and in the prompt. */
  readonly whole: number;
  readonly shown: number;
  /** Of the items how many the policy withholds, and how many are in the prompt. */
  readonly withheld: number;
  readonly in: number;
}

export interface Strip {
  readonly cells: readonly Cell[];
  /** Items to a cell; the last may have fewer. */
  readonly per: number;
  readonly items: number;
}

const MAX_CELLS = 400;

export function strip({ phase }: { phase: Phase }): Strip {
  const present = log();
  const build = built(phase);
  const per = Math.max(1, Math.ceil(present.items.length / MAX_CELLS));
  const cells: Cell[] = [];
  for (let from = 0; from < present.items.length; from += per) {
    const places = Array.from({ length: Math.min(per, present.items.length - from) }, (_, at) => from + at);
    cells.push(cellOf(places.map((place) => ({ kind: present.item(place).kind, fate: build ? fateOf(present, build, place) : NO_FATE })), from));
  }
  return { cells, per, items: present.items.length };
}

function cellOf(items: readonly { readonly kind: string; readonly fate: Fate }[], place: number): Cell {
  const kinds = new Map<string, number>();
  let [whole, shown, withheld, inside] = [0, 0, 0, 0];
  for (const { kind, fate } of items) {
    const size = fate.whole ?? fate.tokens ?? 0;
    kinds.set(kind, (kinds.get(kind) ?? 0) + size);
    whole += size;
    if (fate.reason === "sensitivity" || fate.state === "redacted") withheld += 1;
    if (fate.state === "dropped") continue;
    inside += 1;
    shown += fate.tokens ?? 0;
  }
  const [kind = ""] = [...kinds].reduce((most, each) => (each[1] > most[1] ? each : most), ["", -1] as [string, number]);
  return { place, kind, whole, shown, withheld, in: inside };
}
