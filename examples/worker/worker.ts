// A service of sessions: a Durable Object for each session and for each memory of decisions. See docs/service.md.
import { sessionWorker } from "contextweaver/worker";
export { DecisionObject, SessionObject } from "contextweaver/worker";
export default sessionWorker();
