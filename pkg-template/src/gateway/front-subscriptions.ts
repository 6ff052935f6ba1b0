// The resources that a client wants to hear of, each with the connection that tells of it.
import type { ServedClient } from "./front-client.js";
import type { FrontHost } from "./front-host.js";
import type { FrontReads } from "./front-reads.js";
import type { FrontUpstream } from "./front-upstream.js";
import type { RequestContext } from "./server-sdk.js";
import type { UpstreamConnection } from "./upstream.js";

interface Subscription {
  /** Resolves when its server tells of it. */
  added: Promise<void>;
  /** Where it is, with the address that the server has. */
  place?: { readonly connection: UpstreamConnection; readonly known: string };
}

/** The subscriptions of a client. */
export class FrontSubscriptions {
  readonly #host: FrontHost;
  readonly #client: ServedClient;
  readonly #reads: FrontReads;
  readonly #upstream: FrontUpstream;
  /** By the addresses that the client has. */
  readonly #subscribed = new Map<string, Subscription>();
  #isClosed = false;

  constructor(host: FrontHost, client: ServedClient, reads: FrontReads, upstream: FrontUpstream) {
    [this.#host, this.#client, this.#reads, this.#upstream] = [host, client, reads, upstream];
  }

  /**
   * The addresses by which the client wants to know when a resource of a connection changes. A server may tell of a part of what was
   * subscribed to: clients of the earlier revisions hear of the part, those of 2026-07-28 of what they named, as they take no other.
   */
  of(known: string, connection: UpstreamConnection): readonly string[] {
    const own = [...this.#subscribed].flatMap(([uri, { place }]) =>
      place?.connection === connection ? [[uri, place.known] as const] : [],
    );
    const exact = own.filter(([, address]) => address === known);
    const found = exact.length > 0 ? exact : own.filter(([, address]) => isPart(known, address));
    if (found.length === 0 || exact.length > 0 || this.#client.is_modern) return found.map(([uri]) => uri);
    return [this.#host.links.shown(connection.server, known)];
  }

  /** Subscribes; two requests for one address are one. */
  async add(uri: string, context?: RequestContext): Promise<void> {
    await this.#host.started();
    const known = this.#subscribed.get(uri);
    if (known) {
      await known.added;
      if (known.place) await this.#host.subscriptions.renew(known.place.connection, known.place.known);
      return;
    }
    if (this.#isClosed) return;
    const entry: Subscription = { added: Promise.resolve() };
    entry.added = this.#reads.ofResource(uri, async ({ server, uri: known }) => {
      const connection = this.#upstream.connection(this.#host.upstream(server), context);
      await this.#host.subscriptions.add(connection, known);
      entry.place = { connection, known };
    });
    this.#subscribed.set(uri, entry);
    try {
      await entry.added;
    } catch (error) {
      if (this.#subscribed.get(uri) === entry) this.#subscribed.delete(uri);
      throw error;
    }
  }

  async remove(uri: string): Promise<void> {
    const entry = this.#subscribed.get(uri);
    this.#subscribed.delete(uri);
    // What is being subscribed to is ended as soon as it is.
    await entry?.added.catch(() => undefined);
    if (entry?.place) await this.#host.subscriptions.remove(entry.place.connection, entry.place.known);
  }

  /** Ends them all. */
  close(): void {
    this.#isClosed = true;
    for (const uri of [...this.#subscribed.keys()]) void this.remove(uri).catch(this.#host.onError);
  }
}

/** Whether an address is one below another. */
function isPart(address: string, whole: string): boolean {
  return address.startsWith(whole) && (whole.endsWith("/") || "/?#".includes(address.charAt(whole.length)));
}
