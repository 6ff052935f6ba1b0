// The session that the page has open: the sample, what the program that serves the page brought, or what a visitor opened.
import { useEffect, useState } from "preact/hooks";
import type { SessionView } from "../worker/session.ts";
import * as address from "./address.ts";
import { give, send } from "./ask.ts";
import { brought, type Brought } from "./brought.ts";
import { isReady, prepareWith, ready, recorded } from "./record.ts";
import type { GivenFile } from "./brought.ts";
import { OWN, fetchSample } from "./sources.tsx";

export const SAMPLE_NAME = "shop.jsonl";
/** Of data that come again with every reload, the address says nothing. */
const FILE_STATE = ["q.", "b.", "item", "pins", "call", "budget", "prices"];

/** What the build of the page knows of the sample. */
export interface FirstSight {
  readonly session: SessionView;
  readonly tape: { readonly conversation: number; readonly budget: number; readonly model: string };
}

export interface Opened {
  readonly session: SessionView | undefined;
  /** Counts what was opened. */
  readonly version: number;
  readonly sample: "shop" | "";
  readonly brought: Brought | undefined;
  /** Whether the address is of data that went with an earlier visit. */
  readonly isLost: boolean;
  readonly onSample: () => Promise<void>;
  readonly onFile: (given: GivenFile) => Promise<void>;
}

/** What there is before anything is loaded: what was recorded, unless the address asks for something else. */
function firstSight(): FirstSight | undefined {
  return address.get("data") === OWN ? undefined : (recorded("first", null) as FirstSight | undefined);
}

async function sampleFile(): Promise<GivenFile> {
  return { name: SAMPLE_NAME, file: new Blob([await fetchSample("shop.jsonl")]) };
}

/** Loads the sample into the worker as it was when the answers were recorded. */
async function prepareSample({ tape }: FirstSight): Promise<void> {
  await send("session.open", await sampleFile(), []);
  await send("session.tape", tape, []);
}

export function useSession(): Opened {
  const [sight] = useState(firstSight);
  const [session, setSession] = useState<SessionView | undefined>(sight?.session);
  const [version, setVersion] = useState(sight ? 1 : 0);
  const [opened] = useState(brought);
  const [sample, setSample] = useState<"shop" | "">(opened ? "" : "shop");
  const [isLost, setLost] = useState(false);
  usePreparation(sight);

  const replaced = (next: SessionView, from: typeof sample, isAddressed: boolean, isOwn: boolean): void => {
    if (!isAddressed) address.clear(...FILE_STATE);
    address.set("data", isOwn ? OWN : undefined);
    setSample(from);
    setSession(next);
    setVersion((count) => count + 1);
  };
  const onFile = async (given: GivenFile): Promise<void> => {
    const next = await give("session.open", given, []);
    // What the address says may be of the file that the page was opened with, but of no other.
    const isOpened = !session && opened !== undefined;
    replaced(next, "", isOpened && address.get("data") !== OWN, !isOpened);
    setLost(false);
  };
  const onSample = async (): Promise<void> => {
    // It is there already, as the page was built with it.
    if (sight && !isReady()) return;
    const next = await give("session.open", await sampleFile(), []);
    // What the address says is for the page as it was opened, and for the data that was in it.
    const isGone = !session && address.get("data") === OWN;
    replaced(next, "shop", !session && !isGone, false);
    setLost(isGone);
  };
  return { session, version, sample, brought: opened, isLost, onSample, onFile };
}

const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"] as const;

/** Fetches the engine at the first sign that somebody wants to do something, so that it is there when they do. */
function usePreparation(sight: FirstSight | undefined): void {
  // Before any part of the page asks.
  useState(() => sight && prepareWith(() => prepareSample(sight)));
  useEffect(() => {
    if (!sight) return;
    const begin = (): void => {
      for (const sign of SIGNS) removeEventListener(sign, begin, true);
      const { connection } = navigator as Navigator & { readonly connection?: { readonly saveData?: boolean } };
      // Who needs an answer is told what went wrong; nobody waits for this.
      if (connection?.saveData !== true) ready().catch(() => undefined);
    };
    for (const sign of SIGNS) addEventListener(sign, begin, { capture: true, passive: true });
    return () => {
      for (const sign of SIGNS) removeEventListener(sign, begin, true);
    };
  }, []);
}
