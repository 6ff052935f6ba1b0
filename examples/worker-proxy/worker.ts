// A proxy before the providers of models: a Durable Object for each conversation. See docs/proxy-cloudflare.md.
import { DurableObject } from "cloudflare:workers";
import { durableObjectStore, r2Blobs } from "contextweaver/cloudflare";
import { proxy } from "contextweaver/proxy";
import type { Proxy, ProxyOptions } from "contextweaver/proxy";

interface Env {
  CONTEXTWEAVER_TOKEN: string;
  BUDGET_TOKENS: number;
  UPSTREAMS: NonNullable<ProxyOptions["upstreams"]>;
  BLOBS: R2Bucket;
  CONVERSATIONS: DurableObjectNamespace<ConversationObject>;
}

const DAY_MS = 86_400_000;

const settings = (env: Env): ProxyOptions => ({
  budget_tokens: env.BUDGET_TOKENS,
  token: env.CONTEXTWEAVER_TOKEN,
  upstreams: env.UPSTREAMS,
  on_error: (error) => console.error("contextweaver:", (error as { code?: string }).code ?? "error"),
});

export class ConversationObject extends DurableObject<Env> {
  store = durableObjectStore(this.ctx.storage, { blobs: r2Blobs(this.env.BLOBS, { prefix: `${this.ctx.id}/` }), clock: Date.now });
  handler = proxy({
    ...settings(this.env),
    store: this.store,
    // An object has 128 MB of memory.
    limits: { max_conversations: 16, max_units: 8_000_000, max_body_bytes: 8_000_000 },
    on_request: (entry) => console.log(entry),
  });

  override async fetch(request: Request): Promise<Response> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + DAY_MS);
    return this.handler(request);
  }

  /** Removes what nobody went on with for a month. */
  override async alarm(): Promise<void> {
    await this.store.prune({ idle_ms: 30 * DAY_MS });
    if ((await this.store.sessions()).length > 0) await this.ctx.storage.setAlarm(Date.now() + DAY_MS);
  }
}

let front: Proxy | undefined;

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    const forward = (name: string) => env.CONVERSATIONS.get(env.CONVERSATIONS.idFromName(name));
    front ??= proxy({ ...settings(env), limits: { max_body_bytes: 8_000_000 }, forward });
    return front(request);
  },
};
