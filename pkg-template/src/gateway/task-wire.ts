// Tasks on the wire. The official SDK sends no method of the extension (SEP-2663) to a server of revision 2026-07-28, and takes no result
// of a call that is a task, in neither direction: these go by other names between the SDK and its transport.
import type { JsonObject } from "../types.js";
import type { RpcMessage, SdkTransport } from "./sdk.js";
import type { Fields } from "./server-sdk.js";

/** The extension of tasks. */
export const TASKS = "io.modelcontextprotocol/tasks";
/** Before a method that the SDK would not send. */
const SENT_AS = "contextweaver/";
const METHODS: readonly string[] = ["tasks/get", "tasks/update", "tasks/cancel"];
/** Under this key of `_meta` stands a result that the SDK would not take. */
const TASK = "contextweaver/task";

/** What a method is called for the SDK, towards a server of revision 2026-07-28. */
export function sentAs(method: string): string {
  return METHODS.includes(method) ? SENT_AS + method : method;
}

/** A task of 2025-11-25 as a result that the SDK passes on to a client. */
export function asResult(task: Fields): Fields {
  return { content: [], _meta: { [TASK]: { task } } };
}

/** Has a transport to a client carry tasks. */
export function givesTasks(transport: object): void {
  const { send } = transport as unknown as SdkTransport;
  (transport as { send: SdkTransport["send"] }).send = (message, options) => {
    const { result } = message as { readonly result?: JsonObject };
    const given = typeof result === "object" && result !== null ? asGiven(result) : result;
    return send.call(transport, given === result ? message : ({ ...message, result: given } as RpcMessage), options);
  };
}

/** Has a transport to a server, which is connected, carry tasks. */
export function carriesTasks(transport: SdkTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(asMeant(message), options);
  const deliver = transport.onmessage;
  if (deliver === undefined) return;
  transport.onmessage = (message, extra) => deliver(asTaken(message), extra);
}

function asMeant(message: RpcMessage): RpcMessage {
  const { method } = message;
  return method?.startsWith(SENT_AS) === true ? { ...message, method: method.slice(SENT_AS.length) } : message;
}

function asTaken(message: RpcMessage): RpcMessage {
  const { result } = message as { readonly result?: Fields };
  if (typeof result !== "object" || result === null || result["resultType"] !== "task") return message;
  return { ...message, result: { resultType: "complete", content: [], _meta: { [TASK]: result } } } as RpcMessage;
}

/** A result as the server gave it. */
export function asGiven(result: JsonObject): JsonObject {
  const task = (result["_meta"] as JsonObject | undefined)?.[TASK];
  return typeof task === "object" && task !== null && !Array.isArray(task) ? (task as JsonObject) : result;
}
