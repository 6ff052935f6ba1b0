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
  readonly #connections = new Map<string, UpstreamConnection>();

  constructor(host: FrontHost, reads: FrontReads, upstream: FrontUpstream) {
    [this.#host, this.#reads, this.#upstream] = [host, reads, upstream];
  }

  /** Whether the client wants to know when a resource of a connection changes. */
  has(uri: string, connection: UpstreamConnection): boolean {
    return this.#connections.get(uri) === connection;
  }

  async add(uri: string, context?: RequestContext): Promise<void> {
    await this.#host.started();
    if (this.#connections.has(uri)) return;
    await this.#reads.ofResource(uri, async ({ server }) => {
      const connection = this.#upstream.connection(this.#host.upstream(server), context);
      await this.#host.subscriptions.add(connection, uri);
      this.#connections.set(uri, connection);
    });
  }

  async remove(uri: string): Promise<void> {
    const connection = this.#connections.get(uri);
    this.#connections.delete(uri);
    if (connection) await this.#host.subscriptions.remove(connection, uri);
  }

  /** Ends them all. */
  close(): void {
    for (const uri of [...this.#connections.keys()]) void this.remove(uri).catch(this.#host.onError);
  }
}
