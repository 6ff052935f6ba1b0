// The objects and the Worker of the service fit the types of Cloudflare's runtime.
import type { DurableObjectNamespace, DurableObjectState, R2Bucket } from "@cloudflare/workers-types";
import { DecisionObject, SessionObject, sessionWorker } from "contextweaver/worker";
import type { SessionObjectOptions } from "contextweaver/worker";

interface Env {
  readonly SESSIONS: DurableObjectNamespace;
  readonly DECISIONS: DurableObjectNamespace;
  readonly BLOBS: R2Bucket;
  readonly CONTEXTWEAVER_TOKEN: string;
}

export class Masked extends SessionObject {
  override options(): SessionObjectOptions {
    return {
      manager: { redact_secrets: true },
      retention: { idle_ms: 86_400_000 },
      limits: { session_bytes: 2 ** 26 },
      onError: (error) => console.error(error),
    };
  }
}

export class Memory extends DecisionObject {
  // @ts-expect-error a memory of decisions does not end
  override options(): SessionObjectOptions {
    return {};
  }
}

export function made(state: DurableObjectState, env: Env): readonly SessionObject[] {
  return [new SessionObject(state, env), new DecisionObject(state, env), new Masked(state, env)];
}

export async function answered(request: Request, env: Env): Promise<Response> {
  await sessionWorker<Request>({ authorize: async (given) => (given.headers.get("x") === null ? undefined : { tenant: "a" }) }).fetch(request, env);
  return sessionWorker().fetch(request, env);
}
