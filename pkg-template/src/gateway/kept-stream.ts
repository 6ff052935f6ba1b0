// A subscription of revision 2026-07-28 that lasts: a server, or a proxy between, ends streams that are idle.
import type { JsonObject } from "../types.js";
import type { UpstreamConnection } from "./connection.js";
import { failureOf } from "./failure.js";
import { pause } from "./pause.js";
import { METHOD_NOT_FOUND } from "./rpc-codes.js";
import type { SdkSubscription } from "./sdk.js";
import { backoffMs, later } from "./timers.js";
import type { Backoff } from "./timers.js";

/** How a subscription is kept. */
export interface KeptStream {
  readonly backoff: Backoff;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Is told when it is open again: what changed meanwhile was not told. */
  readonly onagain?: () => void;
}

/**
 * Opens a subscription, and again whenever it has ended, until a signal or until the connection is lost. `open` is one that is open
 * already.
 */
export async function keptOpen(
  connection: UpstreamConnection,
  filter: JsonObject,
  { backoff, now, signal, onagain }: KeptStream,
  open?: SdkSubscription,
): Promise<void> {
  let stream = open;
  let hasEnded = false;
  for (let failures = 0; !signal.aborted && connection.isReady; ) {
    const begin = now();
    try {
      stream ??= await connection.listen(filter, { signal });
      if (hasEnded) onagain?.();
      await stream.closed;
      hasEnded = true;
    } catch (error) {
      // The server declares what it does not have.
      if (failureOf(error, []).code === METHOD_NOT_FOUND) return;
    }
    stream = undefined;
    failures = now() - begin > backoff.most_ms ? 0 : failures + 1;
    if (signal.aborted || !connection.isReady) return;
    // Nobody waits for it.
    await pause(backoffMs(backoff, failures), signal, later);
  }
}
