// Requests of a client on their way to a server: over which connection, and with what beside their parameters.
import type { JsonObject } from "../types.js";
import { UpstreamCall } from "./bridge.js";
import type { ServedClient } from "./front-client.js";
import type { FrontHost } from "./front-host.js";
import { answersOf, watchedOf } from "./front-rounds.js";
import type { FrontRounds } from "./front-rounds.js";
import type { GatewayCallMethod, TraceContext } from "./hook-types.js";
import type { Fields, RequestContext } from "./server-sdk.js";
import type { Upstream, UpstreamConnection } from "./upstream.js";
import type { WatchedCall } from "./watch.js";

/** What goes beside the parameters of a request. */
export interface RequestMetadata {
  /** What the client gave, as far as it passes. */
  readonly meta?: Fields | undefined;
  /** Of revision 2026-07-28 alone. */
  readonly envelope: Fields;
  readonly watched: WatchedCall | undefined;
}

/** The requests of a client to servers. */
export class FrontUpstream {
  readonly #host: FrontHost;
  readonly #client: ServedClient;
  readonly #rounds: FrontRounds;

  constructor(host: FrontHost, client: ServedClient, rounds: FrontRounds) {
    [this.#host, this.#client, this.#rounds] = [host, client, rounds];
  }

  /** A call for a request of the client, which has not begun. */
  call(context: RequestContext): UpstreamCall {
    const client = this.#client;
    const { is_modern } = client;
    return new UpstreamCall(
      this.#host.sdk,
      {
        is_modern,
        session: client.session(context),
        capabilities: (now) => client.capabilities(now),
        wants: (level) => client.wants(level),
      },
      context,
    );
  }

  /** The connection for a request. In a session each has credentials of its own: they are renewed, or of another user. */
  connection(upstream: Upstream, context?: RequestContext): UpstreamConnection {
    const { req: request, authInfo } = context?.http ?? {};
    // A server of the earlier revisions asks by its connection: whose call it is about is known if the connection is one client's.
    const session =
      context === undefined || upstream.main.era === "modern" ? this.#client.key : this.#client.session(context);
    return upstream.connection(session, request ? this.#host.forwarded(request, authInfo) : this.#client.headers);
  }

  /** Lists servers that are there for their users alone, as the client of a request sees them. */
  async introduce(context: RequestContext): Promise<void> {
    const { req: request, authInfo } = context.http ?? {};
    if (request)
      await Promise.all(
        this.#host
          .perUser()
          .map((upstream) => upstream.introduce(this.#client.key, this.#host.forwarded(request, authInfo))),
      );
  }

  async send(
    server: string,
    call: UpstreamCall,
    method: string,
    params: Fields,
    { meta, envelope, watched }: RequestMetadata,
  ): Promise<Fields> {
    const upstream = this.#host.upstream(server);
    const connection = this.connection(upstream, call.context);
    const { onprogress, signal } = call;
    // Which revision it speaks is known then.
    await connection.connected({ signal });
    const send = (trace?: TraceContext): Promise<Fields> => {
      const all = {
        ...(trace ? withTrace(meta, trace) : meta),
        ...(connection.era === "modern" && envelope),
      } as JsonObject;
      return upstream.request(connection, method, params as JsonObject, {
        signal,
        meta: all,
        context: call,
        ...(onprogress && { onprogress: (progress) => onprogress({ ...progress }) }),
      });
    };
    if (!watched) return send();
    const { protocolVersion: protocol_version } = connection;
    const name = params["name"];
    return watched.upstream(
      {
        method: method as GatewayCallMethod,
        server,
        ...(typeof name === "string" && { name }),
        ...(protocol_version !== undefined && { protocol_version }),
      },
      send,
    );
  }

  /** Passes a request on and its result back, as they are. */
  async pass(server: string, method: string, params: Fields, context: RequestContext): Promise<Fields> {
    const call = this.call(context);
    const { inputResponses: _, requestState: __, _meta, ...own } = params;
    const beside = {
      meta: this.#passing(context.mcpReq._meta ?? _meta),
      envelope: this.#client.envelope(context),
      watched: watchedOf(context),
    };
    const send = (answers?: Fields): void =>
      call.start(() => this.send(server, call, method, { ...own, ...answers }, beside));
    send(answersOf(context));
    const proceed = async (now: RequestContext): Promise<Fields> => {
      const progress = await call.next(now);
      const asked = await this.#rounds.asked(progress, call, now, send, proceed);
      if (asked) return asked;
      if ("error" in progress) throw progress.error;
      return (progress as { result: Fields }).result;
    };
    return proceed(context);
  }

  /** What of a `_meta` passes. */
  #passing(meta: unknown): Fields {
    const given = (typeof meta === "object" && meta !== null ? meta : {}) as Fields;
    return Object.fromEntries(Object.entries(given).filter(([key]) => this.#host.metaAllowed.includes(key)));
  }
}

/** A `_meta` with another trace context: the state of a trace belongs to its parent. */
function withTrace(meta: Fields | undefined, trace: TraceContext): Fields {
  const { traceparent: _, tracestate: __, ...rest } = meta ?? {};
  return { ...rest, ...trace };
}
