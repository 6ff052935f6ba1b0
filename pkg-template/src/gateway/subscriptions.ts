// Resources that clients want to hear of: an upstream is asked once, however many clients ask, again when it has forgotten, and told when
// the last has gone.
import type { JsonObject } from "../types.js";
import { keptOpen } from "./kept-stream.js";
import { BACKOFF } from "./timers.js";
import type { UpstreamConnection } from "./upstream.js";

/** Servers are asked for so many resources at a time: calls need the connection, too. */
const LANES = 64;

interface Subscribed {
  /** How many want to hear. */
  count: number;
  isOn: boolean;
  /** How often the connection has begun: what was asked before, its server has forgotten. */
  begun: number;
  /** Of revision 2026-07-28: ends its stream. */
  stop: AbortController | undefined;
  /** What is done for it, one thing after another. */
  work: Promise<void>;
}

/** The subscriptions of a gateway. */
export class ResourceSubscriptions {
  readonly #connections = new Map<UpstreamConnection, Map<string, Subscribed>>();
  /** What is asked of a connection, in turn. */
  readonly #lanes = new WeakMap<UpstreamConnection, { next: number; readonly tails: Promise<unknown>[] }>();

  /** Whether somebody wants to hear of a resource over a connection. */
  has(connection: UpstreamConnection): boolean {
    return this.#connections.has(connection);
  }

  /** Subscribes to a resource. Errors: those of the upstream, which then has nothing to end. */
  async add(connection: UpstreamConnection, uri: string): Promise<void> {
    const all = this.#connections.get(connection) ?? new Map<string, Subscribed>();
    this.#connections.set(connection, all);
    const entry = all.get(uri) ?? { count: 0, isOn: false, begun: 0, stop: undefined, work: Promise.resolve() };
    all.set(uri, entry);
    entry.count += 1;
    try {
      await this.#settle(connection, uri, entry);
    } catch (error) {
      entry.count -= 1;
      this.#forget(connection, uri, entry);
      throw error;
    }
  }

  /** Ends a subscription; one that is not there is none to end. */
  async remove(connection: UpstreamConnection, uri: string): Promise<void> {
    const entry = this.#connections.get(connection)?.get(uri);
    if (!entry || entry.count === 0) return;
    entry.count -= 1;
    if (entry.count === 0) await this.#settle(connection, uri, entry);
  }

  /** Subscribes to what is subscribed to already, if its server did not do so when it had forgotten. */
  async renew(connection: UpstreamConnection, uri: string): Promise<void> {
    const entry = this.#connections.get(connection)?.get(uri);
    if (entry) await this.#settle(connection, uri, entry);
  }

  /** Subscribes again over a connection that has begun anew. */
  again(connection: UpstreamConnection, onError: (error: unknown) => void): void {
    for (const [uri, entry] of this.#connections.get(connection) ?? []) {
      entry.begun += 1;
      entry.isOn = false;
      entry.stop?.abort();
      void this.#settle(connection, uri, entry).catch(onError);
    }
  }

  /** Has the server know what is wanted by the time that it is asked. */
  #settle(connection: UpstreamConnection, uri: string, entry: Subscribed): Promise<void> {
    entry.work = entry.work.catch(() => undefined).then(() => this.#settled(connection, uri, entry));
    return entry.work;
  }

  async #settled(connection: UpstreamConnection, uri: string, entry: Subscribed): Promise<void> {
    while (entry.isOn !== entry.count > 0) {
      if (entry.isOn) await this.#end(connection, uri, entry);
      else await this.#inLane(connection, () => this.#begin(connection, uri, entry));
    }
    this.#forget(connection, uri, entry);
  }

  #inLane(connection: UpstreamConnection, run: () => Promise<void>): Promise<void> {
    const lanes = this.#lanes.get(connection) ?? { next: 0, tails: [] };
    this.#lanes.set(connection, lanes);
    const at = lanes.next;
    lanes.next = (at + 1) % LANES;
    const done = (lanes.tails[at] ?? Promise.resolve()).then(run);
    lanes.tails[at] = done.catch(() => undefined);
    return done;
  }

  async #begin(connection: UpstreamConnection, uri: string, entry: Subscribed): Promise<void> {
    if (entry.count === 0) return;
    await connection.connected();
    const { begun } = entry;
    if (connection.era === "modern") {
      const stop = new AbortController();
      const { signal } = stop;
      const filter = { resourceSubscriptions: [uri] } as JsonObject;
      const stream = await connection.listen(filter, { signal });
      // Another one is opened on the connection that has begun meanwhile.
      if (entry.begun !== begun) return stop.abort();
      entry.stop = stop;
      void keptOpen(connection, filter, { backoff: BACKOFF, now: Date.now, signal }, stream);
    } else {
      await connection.request("resources/subscribe", { uri });
    }
    entry.isOn = entry.begun === begun;
  }

  async #end(connection: UpstreamConnection, uri: string, entry: Subscribed): Promise<void> {
    entry.isOn = false;
    if (entry.stop) return entry.stop.abort();
    if (!connection.isReady) return;
    try {
      await connection.request("resources/unsubscribe", { uri });
    } catch (error) {
      // With its connection a subscription has ended, too.
      if (!connection.isClosed) throw error;
    }
  }

  #forget(connection: UpstreamConnection, uri: string, entry: Subscribed): void {
    const all = this.#connections.get(connection);
    if (entry.count > 0 || entry.isOn || all?.get(uri) !== entry) return;
    all.delete(uri);
    if (all.size === 0) this.#connections.delete(connection);
  }
}
