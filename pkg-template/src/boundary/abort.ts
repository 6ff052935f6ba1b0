// How what waits is given up: by an `AbortSignal`, whose reason is what it rejects with.

/** How to give up what waits. */
export interface AbortOptions {
  /**
   * Gives up: the call rejects with `signal.reason`, has changed nothing, and leaves no listener. Writing that has begun goes on to its
   * end, and the call resolves with it.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The request that goes by each signal. */
const BY_SIGNAL = new WeakMap<AbortSignal, Request>();

/**
 * Makes a request that lives as long as its signal. Node frees a `Request` that nobody holds while `fetch` still reads its answer, and
 * what is aborted after that is neither told to the server nor to whoever reads.
 *
 * @internal
 */
export function keptRequest<Init extends { readonly signal: AbortSignal }>(url: string | URL, init: Init): Request {
  const request = new Request(url, init as RequestInit);
  BY_SIGNAL.set(init.signal, request);
  return request;
}

/** Throws the reason of a signal that says to stop. @internal */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/** Waits until something is done, or the signal says to stop. What goes on then is nobody's. @internal */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: () => PromiseLike<T>): Promise<T> {
  refuseAborted(signal);
  if (!signal) return work();
  let stop: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  const done = Promise.resolve(work());
  try {
    return await Promise.race([done, stopped]);
  } finally {
    signal.removeEventListener("abort", stop as () => void);
    // Its failure, too, concerns nobody any more.
    done.catch(() => undefined);
  }
}
