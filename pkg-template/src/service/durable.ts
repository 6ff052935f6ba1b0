// The service in Durable Objects: one for each session, one for each memory of decisions, and a Worker before them.
import { ContextWeaverError } from "contextweaver";
import { durableObjectStorage, r2Blobs } from "../storage/cloudflare.js";
import type { DurableStorage, R2BlobBucket } from "../storage/cloudflare.js";
import type { SessionStorage } from "../storage/storage-types.js";
import { forwardedTenant, sessionHandler } from "./handler.js";
import type { Forwarded, ServiceRequest, SessionHandlerOptions } from "./handler.js";

type ServiceResponse = Awaited<ReturnType<ReturnType<typeof sessionHandler>>>;

/** What a Durable Object is given, as far as it is used. */
export interface SessionObjectState {
  readonly id: { toString(): string };
  readonly storage: DurableStorage;
}

/** Bindings of the objects. */
export interface SessionObjectEnv {
  /** Where large results are kept. */
  readonly BLOBS: R2BlobBucket;
}

/** A namespace of Durable Objects, as far as it is used. */
export interface SessionObjectNamespace {
  idFromName(name: string): unknown;
  get(id: never): unknown;
}

/** Bindings of the Worker. */
export interface SessionWorkerEnv {
  readonly SESSIONS: SessionObjectNamespace;
  readonly DECISIONS: SessionObjectNamespace;
  /** A secret: what clients must send, unless `authorize` says who they are. */
  readonly CONTEXTWEAVER_TOKEN?: string;
}

/** How a session's object is run: what `sessionHandler` takes, but for where things are and who asks. */
export type SessionObjectOptions = Pick<SessionHandlerOptions, "manager" | "decisions" | "limits" | "onError">;

/**
 * A Durable Object that is one session: its journal in SQLite, large results in R2. Only the Worker before it can ask it. For options
 * of your own, extend it:
 *
 * ```ts
 * export class SessionObject extends contextweaver.SessionObject {
 *   override options() {
 *     return { manager: { redact_secrets: true } };
 *   }
 * }
 * ```
 */
export class SessionObject {
  readonly #state: SessionObjectState;
  readonly #env: SessionObjectEnv;
  /** By name; making one asks the database for its tables. */
  readonly #places = new Map<string, SessionStorage>();
  #handler: ((request: ServiceRequest) => Promise<ServiceResponse>) | undefined;

  constructor(state: SessionObjectState, env: SessionObjectEnv) {
    [this.#state, this.#env] = [state, env];
  }

  /** Options of the handler. Default: none. */
  options(): SessionObjectOptions {
    return {};
  }

  /** Answers what the Worker hands on. */
  fetch(request: ServiceRequest): Promise<ServiceResponse> {
    if (this.#handler) return this.#handler(request);
    const { limits, ...options } = this.options();
    this.#handler = sessionHandler<ServiceRequest>({
      ...options,
      limits: { body_bytes: 32 * 2 ** 20, kept_bytes: 48 * 2 ** 20, kept: 1, ...limits },
      open: (_, name) => this.#place(name.split("/")[0] as string),
      authorize: forwardedTenant,
    });
    return this.#handler(request);
  }

  #place(name: string): SessionStorage {
    const { id, storage } = this.#state;
    const place = this.#places.get(name) ?? durableObjectStorage(storage, { blobs: r2Blobs(this.#env.BLOBS, { prefix: `${id.toString()}/` }), name, clock: Date.now });
    this.#places.set(name, place);
    return place;
  }
}

/** A Durable Object that is the memory of decisions of a tenant, shared by all its agents. */
export class DecisionObject extends SessionObject {}

/** How the Worker is run. */
export type SessionWorkerOptions<R extends ServiceRequest = ServiceRequest> = Pick<SessionHandlerOptions<R>, "token" | "authorize" | "origins" | "limits">;

/**
 * Returns the Worker: it sees to who asks and hands requests on to the objects, by `SESSIONS` and `DECISIONS`. Without `token` and
 * `authorize` the secret `CONTEXTWEAVER_TOKEN` is the token; where that is not set either, every request fails.
 *
 * ```js
 * import { DecisionObject, SessionObject, sessionWorker } from "contextweaver/worker";
 *
 * export { DecisionObject, SessionObject };
 * export default sessionWorker();
 * ```
 */
export function sessionWorker<R extends ServiceRequest = ServiceRequest>(options: SessionWorkerOptions<R> = {}): { fetch(request: R, env: SessionWorkerEnv): Promise<ServiceResponse> } {
  // Bindings are the same for as long as the isolate lives.
  const handlers = new WeakMap<object, (request: R) => Promise<ServiceResponse>>();
  return {
    fetch: (request, env) => {
      let handler = handlers.get(env);
      if (!handler) {
        const access = options.token === undefined && options.authorize === undefined ? tokenOf(env) : {};
        handler = sessionHandler<R>({ ...access, ...options, forward: (tenant, name) => objectOf(env, tenant, name) });
        handlers.set(env, handler);
      }
      return handler(request);
    },
  };
}

function tokenOf({ CONTEXTWEAVER_TOKEN: token }: SessionWorkerEnv): { token: string } {
  if (token !== undefined) return { token };
  throw new ContextWeaverError("MISSING_FIELD", "the secret CONTEXTWEAVER_TOKEN is not set", { path: "/token", hint: "npx wrangler secret put CONTEXTWEAVER_TOKEN" });
}

/** The object of a tenant's session: its name is a pair as one text that no other pair has. */
function objectOf(env: SessionWorkerEnv, tenant: string, name: string): Forwarded {
  const namespace = name === "decisions" ? env.DECISIONS : env.SESSIONS;
  return namespace.get(namespace.idFromName(JSON.stringify([tenant, name])) as never) as Forwarded;
}
