// `contextweaver/worker`: the service of sessions on Cloudflare, in Durable Objects. It imports nothing of Cloudflare's.
export { DecisionObject, SessionObject, sessionWorker } from "./service/durable.js";
export type {
  SessionObjectAlarm,
  SessionObjectEnv,
  SessionObjectNamespace,
  SessionObjectOptions,
  SessionObjectState,
  SessionWorkerEnv,
  SessionWorkerOptions,
} from "./service/durable.js";
