// Resources that clients want to hear of: an upstream is asked once, however many clients ask, and told when the last has gone.
import type { JsonObject } from "../types.js";
import type { SdkSubscription, UpstreamConnection } from "./upstream.js";

interface Subscribed {
  count: number;
  /** Of revision 2026-07-28: open as long as somebody wants to hear. */
  stream: SdkSubscription | undefined;
}

/** The subscriptions of a gateway. */
export class ResourceSubscriptions {
  readonly #connections = new Map<UpstreamConnection, Map<string, Subscribed>>();

  /** Subscribes to a resource. Errors: those of the upstream, which then has nothing to end. */
  async add(connection: UpstreamConnection, uri: string): Promise<void> {
    const subscribed = this.#connections.get(connection) ?? new Map<string, Subscribed>();
    this.#connections.set(connection, subscribed);
    const known = subscribed.get(uri);
    if (known) {
      known.count += 1;
      return;
    }
    const entry: Subscribed = { count: 1, stream: undefined };
    subscribed.set(uri, entry);
    try {
      entry.stream = await begun(connection, uri);
    } catch (error) {
      this.#forget(connection, uri);
      throw error;
    }
  }

  /** Ends a subscription; one that is not there is none to end. */
  async remove(connection: UpstreamConnection, uri: string): Promise<void> {
    const entry = this.#connections.get(connection)?.get(uri);
    if (!entry) return;
    entry.count -= 1;
    if (entry.count > 0) return;
    this.#forget(connection, uri);
    if (entry.stream) await entry.stream.close();
    else if (connection.isReady) await connection.request("resources/unsubscribe", { uri });
  }

  /** Subscribes again to what a server has forgotten with its connection. */
  async again(server: string, onError: (error: unknown) => void): Promise<void> {
    for (const [connection, subscribed] of this.#connections) {
      if (connection.server !== server) continue;
      for (const [uri, entry] of subscribed) {
        try {
          entry.stream = await begun(connection, uri);
        } catch (error) {
          onError(error);
        }
      }
    }
  }

  #forget(connection: UpstreamConnection, uri: string): void {
    const subscribed = this.#connections.get(connection);
    subscribed?.delete(uri);
    if (subscribed?.size === 0) this.#connections.delete(connection);
  }
}

async function begun(connection: UpstreamConnection, uri: string): Promise<SdkSubscription | undefined> {
  await connection.connected();
  if (connection.era === "modern") return connection.listen({ resourceSubscriptions: [uri] } as JsonObject);
  await connection.request("resources/subscribe", { uri });
  return undefined;
}
