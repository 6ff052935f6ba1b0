// The service in Durable Objects: one for each session, one for each memory of decisions, and a Worker before them.
import { ContextWeaverError } from "contextweaver";
import { durableObjectStore, r2Blobs } from "../storage/cloudflare.js";
import type { DurableStorage, R2BlobBucket } from "../storage/cloudflare.js";
import type { BlobStore, SessionStore } from "../storage/storage-types.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { forwardedTenant, sessionHandler } from "./handler.js";
import type { Forwarded, ServiceRequest, SessionHandlerOptions, SessionService } from "./handler.js";

type ServiceResponse = Awaited<ReturnType<ReturnType<typeof sessionHandler>>>;

/** What a Durable Object is given, as far as it is used. */
export interface SessionObjectState {
  readonly id: { toString(): string };
  readonly storage: DurableStorage & SessionObjectAlarm;
  blockConcurrencyWhile<T>(run: () => Promise<T>): Promise<T>;
}

/** What of the storage of a Durable Object ends a session. */
export interface SessionObjectAlarm {
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  deleteAll(): Promise<void>;
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
export interface SessionObjectOptions
  extends Pick<SessionHandlerOptions, "manager" | "decisions" | "limits" | "onError"> {
  /**
   * Ends the session when nobody wrote to it for a time, in milliseconds from 1,000: the object then deletes all that it has stored,
   * in R2, too. It looks by its alarm, from the first request on that comes with this option. Default: it stays.
   */
  readonly retention?: { readonly idle_ms: number };
}

/**
 * A Durable Object that is one session: its journal in SQLite, large results in R2. Only the Worker before it can ask it. For options
 * of your own, extend it:
 *
 * ```ts
 * export class SessionObject extends contextweaver.SessionObject {
 *   override options() {
 *     return { manager: { redact_secrets: true }, retention: { idle_ms: 30 * 86_400_000 } };
 *   }
 * }
 * ```
 */
export class SessionObject {
  readonly #state: SessionObjectState;
  readonly #env: SessionObjectEnv;
  #handler: SessionService<ServiceRequest> | undefined;
  /** Requests that are under way. */
  #running = 0;

  constructor(state: SessionObjectState, env: SessionObjectEnv) {
    [this.#state, this.#env] = [state, env];
  }

  /** Options of the handler. Default: none. */
  options(): SessionObjectOptions {
    return {};
  }

  /** Answers what the Worker hands on. */
  async fetch(request: ServiceRequest): Promise<ServiceResponse> {
    this.#running += 1;
    try {
      const { retention, ...options } = this.options();
      // Before anything is written: what is stored ends.
      if (retention !== undefined) await this.#expectEnd(idleOf(retention));
      return await (this.#handler ??= this.#opened(options))(request);
    } finally {
      this.#running -= 1;
    }
  }

  /** Ends the session where nobody wrote to it for as long as `retention` says. The runtime calls it, no request is answered meanwhile. */
  async alarm(): Promise<void> {
    const { retention, onError } = this.options();
    if (retention === undefined) return;
    const { storage } = this.#state;
    // What is under way may write.
    if (this.#running > 0) return storage.setAlarm(Date.now() + AGAIN_MS);
    const idle_ms = idleOf(retention);
    await this.#state.blockConcurrencyWhile(async () => {
      try {
        const store = this.#store;
        const sessions = await store.sessions();
        const end = Math.max(...sessions.map(({ written_at = 0 }) => written_at)) + idle_ms;
        if (Date.now() < end) return await storage.setAlarm(end);
        this.#handler?.free();
        this.#handler = undefined;
        for (const { id } of sessions) await store.delete(id);
        // What an upload left that was cut short.
        await this.#blobs.delete(await this.#blobs.list(""));
        await storage.deleteAll();
      } catch (error) {
        onError?.(error);
        await storage.setAlarm(Date.now() + AGAIN_MS);
      }
    });
  }

  #opened(options: Omit<SessionObjectOptions, "retention">): SessionService<ServiceRequest> {
    const store = this.#store;
    return sessionHandler<ServiceRequest>({
      ...options,
      limits: { body_bytes: 32 * 2 ** 20, kept_bytes: 48 * 2 ** 20, kept: 1, ...options.limits },
      open: (_, name) => store.session(name.split("/")[0] as string),
      authorize: forwardedTenant,
    });
  }

  get #blobs(): BlobStore {
    return r2Blobs(this.#env.BLOBS, { prefix: `${this.#state.id.toString()}/` });
  }

  get #store(): SessionStore {
    return durableObjectStore(this.#state.storage, { blobs: this.#blobs, clock: Date.now });
  }

  /** Sees to it that the alarm comes when the session could end, and not later. */
  async #expectEnd(idle_ms: number): Promise<void> {
    const { storage } = this.#state;
    const at = await storage.getAlarm();
    const end = Date.now() + idle_ms;
    if (at === null || at > end) await storage.setAlarm(end);
  }
}

/** Milliseconds until what could not be ended is tried again. */
const AGAIN_MS = 60_000;

function idleOf(retention: unknown): number {
  const { idle_ms, ...others } = fields(retention, "/retention");
  refuseUnknown(others, ["idle_ms"], "/retention");
  if (typeof idle_ms === "number" && Number.isFinite(idle_ms) && idle_ms >= 1_000) return idle_ms;
  throw new ContextWeaverError("OUT_OF_RANGE", "expected milliseconds, a number from 1000", {
    path: "/retention/idle_ms",
  });
}

/** A Durable Object that is the memory of decisions of a tenant, shared by all its agents, which does not end. */
export class DecisionObject extends SessionObject {
  /** Options of the handler. Default: none. */
  override options(): Omit<SessionObjectOptions, "retention"> & { readonly retention?: never } {
    return {};
  }
}

/** How the Worker is run. */
export type SessionWorkerOptions<R extends ServiceRequest = ServiceRequest> = Pick<
  SessionHandlerOptions<R>,
  "token" | "authorize" | "origins" | "limits"
>;

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
export function sessionWorker<R extends ServiceRequest = ServiceRequest>(
  options: SessionWorkerOptions<R> = {},
): { fetch(request: R, env: SessionWorkerEnv): Promise<ServiceResponse> } {
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
  throw new ContextWeaverError("MISSING_FIELD", "the secret CONTEXTWEAVER_TOKEN is not set", {
    path: "/token",
    hint: "npx wrangler secret put CONTEXTWEAVER_TOKEN",
  });
}

/** The object of a tenant's session: its name is a pair as one text that no other pair has. */
function objectOf(env: SessionWorkerEnv, tenant: string, name: string): Forwarded {
  const namespace = name === "decisions" ? env.DECISIONS : env.SESSIONS;
  return namespace.get(namespace.idFromName(JSON.stringify([tenant, name])) as never) as Forwarded;
}
