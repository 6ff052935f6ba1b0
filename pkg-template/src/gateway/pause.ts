import { later } from "./timers.js";

/** Waits so many milliseconds, or until a signal; who waits again and again leaves no listeners there. */
export async function pause(ms: number, signal: AbortSignal, start: typeof later = alive): Promise<void> {
  await new Promise<void>((done) => {
    const over = (): void => {
      cancel();
      signal.removeEventListener("abort", over);
      done();
    };
    const cancel = start(ms, over);
    signal.addEventListener("abort", over, { once: true });
  });
}

/** A timer that keeps the program alive: somebody waits. */
function alive(milliseconds: number, run: () => void): () => void {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
}
