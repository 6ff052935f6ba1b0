// The resources that a client wants to hear of, each with the connection that tells of it.
import type { FrontHost } from "./front-host.js";
import type { FrontReads } from "./front-reads.js";
import type { FrontUpstream } from "./front-upstream.js";
import type { RequestContext } from "./server-sdk.js";
import type { UpstreamConnection } from "./upstream.js";

/** The subscriptions of a client. */
export class FrontSubscriptions {
  readonly #host: FrontHost;
  readonly #reads: FrontReads;
  readonly #upstream: FrontUpstream;
  /** By the addresses that the client has, with those of the servers. */
  readonly #subscribed = new Map<string, { readonly connection: UpstreamConnection; readonly known: string }>();

  constructor(host: FrontHost, reads: FrontReads, upstream: FrontUpstream) {
    [this.#host, this.#reads, this.#upstream] = [host, reads, upstream];
  }

  /** The addresses by which the client wants to know when a resource of a connection changes. */
  of(known: string, connection: UpstreamConnection): readonly string[] {
    const all = [...this.#subscribed].filter(([, entry]) => entry.known === known && entry.connection === connection);
    return all.map(([uri]) => uri);
  }

  async add(uri: string, context?: RequestContext): Promise<void> {
    await this.#host.started();
    if (this.#subscribed.has(uri)) return;
    await this.#reads.ofResource(uri, async ({ server, uri: known }) => {
      const connection = this.#upstream.connection(this.#host.upstream(server), context);
      await this.#host.subscriptions.add(connection, known);
      this.#subscribed.set(uri, { connection, known });
    });
  }

  async remove(uri: string): Promise<void> {
    const entry = this.#subscribed.get(uri);
    this.#subscribed.delete(uri);
    if (entry) await this.#host.subscriptions.remove(entry.connection, entry.known);
  }

  /** Ends them all. */
  close(): void {
    for (const uri of [...this.#subscribed.keys()]) void this.remove(uri).catch(this.#host.onError);
  }
}
