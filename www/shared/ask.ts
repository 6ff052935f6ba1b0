// The way to the worker: questions with answers, and hooks that keep only the newest question. Answers that the build of the
// page has recorded come at once, and the worker is not even started for them.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Name, Operations, Progress } from "../worker/operations.ts";
import { forget, isReady, ready, recorded } from "./record.ts";
import type { Problem } from "../worker/text.ts";

export type Args<N extends Name> = Parameters<Operations[N]>;
export type Value<N extends Name> = Awaited<ReturnType<Operations[N]>>;

/** An answer that says why there is none. */
export class Failure extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

interface Waiting {
  resolve(value: unknown): void;
  reject(failure: Failure): void;
}

const watchers = new Set<(progress: Progress) => void>();

/** How much of the modules has come, while they do. */
export function useProgress(): Progress | undefined {
  const [progress, setProgress] = useState<Progress>();
  useEffect(() => {
    watchers.add(setProgress);
    return () => void watchers.delete(setProgress);
  }, []);
  return progress && progress.loaded < progress.total ? progress : undefined;
}

const waiting = new Map<number, Waiting>();
let worker: Worker | undefined;
let count = 0;

function started(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    if ("progress" in data) {
      for (const watcher of watchers) watcher(data.progress);
      return;
    }
    const { resolve, reject } = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    if ("problem" in data) reject?.(new Failure(data.problem));
    else resolve?.(data.value);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    const problem = { message: `The worker stopped: ${event.message || "it could not be loaded"}`, code: "PAGE" };
    for (const { reject } of waiting.values()) reject(new Failure(problem));
    waiting.clear();
    // The next question starts another one.
    worker?.terminate();
    worker = undefined;
  };
  return worker;
}

/** Asks the worker, or the record. */
export async function ask<N extends Name>(name: N, ...[args]: Args<N>): Promise<Value<N>> {
  const known = recorded(name, args);
  if (known !== undefined) return known as Value<N>;
  if (/^(context|session)\./.test(name) && !isReady()) await ready();
  return send(name, args, []);
}

/** Hands something over to be loaded; the bytes go over instead of being copied. What was recorded is no longer true then. */
export function give<N extends Name>(name: N, args: Args<N>[0], bytes: readonly ArrayBuffer[]): Promise<Value<N>> {
  if (name === "session.open") forget();
  return send(name, args, [...bytes]);
}

/** Asks the worker itself, as those do who make it ready. */
export function send<N extends Name>(name: N, args: unknown, transfer: Transferable[]): Promise<Value<N>> {
  count += 1;
  const id = count;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve: resolve as Waiting["resolve"], reject });
    started().postMessage({ id, name, args }, transfer);
  });
}

/** Characters from which a text is not copied to be compared. */
const LONG = 10_000;

export interface Asked<T> {
  /** The newest answer there is, which may be to an older question. */
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isBusy: boolean;
}

const NOTHING: Asked<never> = { value: undefined, problem: undefined, isBusy: false };

/**
 * Runs a function of the newest input; while one is running only the last of those that came is kept. Where there is nothing to run,
 * there is no answer either: that to an older question would pass for one to the present.
 */
export function useLatest<T>(run: (() => Promise<T>) | null, inputs: readonly unknown[], first?: T): Asked<T> {
  const [state, setState] = useState<Asked<T>>(
    run === null ? NOTHING : { ...NOTHING, value: first, isBusy: first === undefined },
  );
  const queue = useRef<{ isRunning: boolean; next: (() => Promise<T>) | null; isGone: boolean; isAsked: boolean }>({
    isRunning: false,
    next: null,
    isGone: false,
    isAsked: false,
  });
  useEffect(() => {
    queue.current.isGone = false;
    return () => void (queue.current.isGone = true);
  }, []);
  useEffect(() => {
    const { current } = queue;
    current.next = run;
    current.isAsked = run !== null;
    const told = (next: (before: Asked<T>) => Asked<T>): void => {
      if (!current.isGone && current.isAsked) setState(next);
    };
    if (run === null) setState(NOTHING);
    else if (!current.isRunning) void work();
    async function work(): Promise<void> {
      current.isRunning = true;
      told((before) => ({ ...before, isBusy: true }));
      while (current.next && !current.isGone) {
        const task = current.next;
        current.next = null;
        try {
          const value = await task();
          told(() => ({ value, problem: undefined, isBusy: current.next !== null }));
        } catch (error) {
          const problem = error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" };
          told((before) => ({ value: before.value, problem, isBusy: current.next !== null }));
        }
      }
      current.isRunning = false;
    }
  }, inputs);
  return state;
}

/** The answer to a question, asked again whenever one of its fields changes; nothing is asked of null. */
export function useAnswer<N extends Name>(
  name: N,
  args: Args<N>[0] | null,
  ...more: readonly unknown[]
): Asked<Value<N>> {
  const run = args === null ? null : (): Promise<Value<N>> => ask(name, ...([args] as unknown as Args<N>));
  // Texts are compared as they are: a pasted result may have megabytes.
  const key = JSON.stringify(args, (_, value: unknown) =>
    typeof value === "string" && value.length > LONG ? null : value,
  );
  const long = Object.values(args ?? {}).filter((value) => typeof value === "string" && value.length > LONG);
  const first = args === null ? undefined : (recorded(name, args) as Value<N> | undefined);
  return useLatest<Value<N>>(run, [key, long.length, long[0], ...more], first);
}
