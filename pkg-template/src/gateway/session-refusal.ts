// What a failure says of the session, and of the question for the newest era: servers refuse what they do not know in every way.
import type { UpstreamFailure } from "./failure.js";
import { INVALID_REQUEST, SERVER_ERROR, UNSUPPORTED_PROTOCOL_VERSION } from "./rpc-codes.js";

/** Statuses that say something else: pay, log in to a proxy, wait, send less. */
const OF_THE_REQUEST = [402, 405, 407, 408, 413, 425, 429];
/** Codes of JSON-RPC that servers may give a meaning of their own end here. */
const LEAST_SERVER_ERROR = -32_099;
const UNAVAILABLE = 503;

/** Whether a request in a session may have failed because the server has forgotten the session. @internal */
export function mayBeForgotten({ kind, status = 0, code = 0, message }: UpstreamFailure): boolean {
  if (kind === "http") return status >= 400 && !OF_THE_REQUEST.includes(status);
  if (kind === "rpc")
    return (
      code === INVALID_REQUEST ||
      (code >= LEAST_SERVER_ERROR && code <= SERVER_ERROR) ||
      /session|initiali[sz]/i.test(message)
    );
  return kind === "unavailable";
}

/** Whether two requests have failed in the same way. @internal */
export function isAlike(one: UpstreamFailure, other: UpstreamFailure): boolean {
  return one.kind === other.kind && one.status === other.status && one.code === other.code;
}

/** Whether the server has refused a request before doing anything. @internal */
export function isRefused({ kind, status = 0 }: UpstreamFailure): boolean {
  return kind === "rpc" || (kind === "http" && (status < 500 || status === UNAVAILABLE));
}

/** Whether a connection over HTTP may have failed because it began with a request that older servers do not know. @internal */
export function mayFailForTheProbe({ kind, status = 0 }: UpstreamFailure): boolean {
  // Other refusals count as those of an older server already.
  if (kind === "http") return status === 401 || status === 403 || status >= 500;
  return kind !== "rpc" && kind !== "cancelled";
}

/**
 * Whether a server refuses the older era for a newer one: it was too slow to answer when it was asked, as a busy machine is. Over HTTP the
 * error stands in the body of a refusal.
 * @internal
 */
export function refusesOlder(error: unknown): boolean {
  const { code, data } = (typeof error === "object" && error !== null ? error : {}) as {
    code?: unknown;
    data?: unknown;
  };
  if (code === UNSUPPORTED_PROTOCOL_VERSION) return true;
  const { text } = (typeof data === "object" && data !== null ? data : {}) as { text?: unknown };
  if (typeof text !== "string" || !text.includes(String(UNSUPPORTED_PROTOCOL_VERSION))) return false;
  try {
    return (JSON.parse(text) as { error?: { code?: unknown } }).error?.code === UNSUPPORTED_PROTOCOL_VERSION;
  } catch {
    return false;
  }
}
