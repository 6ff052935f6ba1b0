// Waiting, without keeping a program alive that has nothing else to do.

/** Milliseconds after the first failure, and at most. @internal */
export interface Backoff {
  readonly first_ms: number;
  readonly most_ms: number;
}

/** How long is waited where nobody says otherwise. @internal */
export const BACKOFF: Backoff = { first_ms: 500, most_ms: 60_000 };

/** Runs something later. Returns how to prevent it. @internal */
export function later(milliseconds: number, run: () => void): () => void {
  const timer = setTimeout(run, milliseconds);
  // Numbers outside of Node.
  (timer as { unref?(): void }).unref?.();
  return () => clearTimeout(timer);
}

/** The first wait doubled so many times, within the longest. @internal */
export function backoffMs({ first_ms, most_ms }: Backoff, doublings: number): number {
  return Math.min(most_ms, first_ms * 2 ** Math.min(doublings, 30));
}

/** Waits for a promise no longer than a time and a signal allow; the promise goes on. @internal */
export async function within<T>(
  promise: Promise<T>,
  milliseconds: number,
  signal: AbortSignal | undefined,
  late: () => Error,
): Promise<T> {
  let cancel = (): void => undefined;
  const limit = new Promise<never>((_, reject) => {
    // This timer keeps the program alive: somebody waits.
    const timer = setTimeout(() => reject(late()), milliseconds);
    const abort = (): void => reject(signal?.reason instanceof Error ? signal.reason : new Error("cancelled"));
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    cancel = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    cancel();
  }
}
