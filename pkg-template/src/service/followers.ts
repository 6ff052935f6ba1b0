// Who follows a memory of decisions: server-sent events, as the memory of this process changes.
import type { DecisionSnapshot } from "contextweaver";
import { Refused } from "./problems.js";

/** Events that wait for a slow reader before it is let go; it comes again with `Last-Event-ID`. */
const MAX_WAITING = 256;
/** Who follows one memory. */
const MAX_FOLLOWERS = 1_000;
/** Milliseconds between lines that keep a connection open. */
const BEAT_MS = 15_000;

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** Those who follow, by tenant. */
export class Followers {
  readonly #tenants = new Map<string, Map<Controller, unknown>>();

  /** A stream of what changes, after what there is already. */
  follow(tenant: string, first: DecisionSnapshot | undefined): ReadableStream<Uint8Array> {
    const those = this.#tenants.get(tenant) ?? new Map<Controller, unknown>();
    if (those.size >= MAX_FOLLOWERS) throw new Refused(503, "QUOTA_EXCEEDED", "too many follow this memory");
    this.#tenants.set(tenant, those);
    let mine: Controller;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          mine = controller;
          const beat = setInterval(() => this.#send(tenant, mine, ": \n\n"), BEAT_MS);
          // Where timers keep a process alive, this one need not.
          (beat as { unref?(): void }).unref?.();
          those.set(mine, beat);
          this.#send(tenant, mine, first ? eventOf(first) : ": \n\n");
        },
        cancel: () => this.#leave(tenant, mine),
      },
      { highWaterMark: MAX_WAITING },
    );
  }

  tell(tenant: string, changes: DecisionSnapshot): void {
    for (const controller of this.#tenants.get(tenant)?.keys() ?? []) this.#send(tenant, controller, eventOf(changes));
  }

  #send(tenant: string, controller: Controller, text: string): void {
    try {
      if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(new TextEncoder().encode(text));
      this.#leave(tenant, controller);
      controller.close();
    } catch {
      this.#leave(tenant, controller);
    }
  }

  #leave(tenant: string, controller: Controller): void {
    const those = this.#tenants.get(tenant);
    clearInterval(those?.get(controller) as Parameters<typeof clearInterval>[0]);
    those?.delete(controller);
    if (those?.size === 0) this.#tenants.delete(tenant);
  }
}

function eventOf(snapshot: DecisionSnapshot): string {
  return `id: ${snapshot.revision ?? 0}\nevent: change\ndata: ${JSON.stringify(snapshot)}\n\n`;
}
