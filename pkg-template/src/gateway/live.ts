// What one connection is made of while it is connected, and how requests on it end.
import { quietly } from "../telemetry/quietly.js";
import type { UpstreamError } from "./failure.js";
import type { SdkClient, SdkTransport } from "./sdk.js";
import type { Link } from "./transports.js";

/** A connection that is there. @internal */
export interface Live {
  readonly client: SdkClient;
  readonly link: Link;
  readonly since: number;
  /** How to end the requests under way. A promise that all of them wait for would keep something of each. */
  readonly waiting: Set<(failure: UpstreamError) => void>;
  /** What to do when the last request under way has ended: another session has taken its place. */
  onidle?: () => void;
}

/** Ends a program at once. @internal */
export function killed({ transport }: Link): void {
  const { pid } = transport as { readonly pid?: number | null };
  const { process } = globalThis as { readonly process?: { kill?(pid: number, signal: string): void } };
  if (typeof pid === "number") quietly(() => process?.kill?.(pid, "SIGKILL"));
}

/**
 * Hands on an answer a little later than what came before it. The SDK runs handlers of notifications one turn after they came and
 * answers at once, so that it would drop the last progress of a request when both come together. @internal
 */
export function answersLast(transport: SdkTransport): void {
  const deliver = transport.onmessage;
  if (deliver === undefined) return;
  transport.onmessage = (message, extra) => {
    if (message.method === undefined) queueMicrotask(() => deliver(message, extra));
    else deliver(message, extra);
  };
}

/** Waits for an answer as long as the connection is there: a program that is told to end may take seconds. @internal */
export function unlessLost<T>(live: Live, ask: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const { waiting } = live;
    waiting.add(reject);
    void ask()
      .then(resolve, reject)
      .finally(() => {
        waiting.delete(reject);
        if (waiting.size === 0) live.onidle?.();
      });
  });
}
