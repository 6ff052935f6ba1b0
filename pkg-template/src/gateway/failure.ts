// What went wrong with an upstream server, as the runtime wants to know it.
import { ContextWeaverError } from "../boundary/errors.js";
import { redactSecrets } from "../manager/text.js";
import type { JsonValue } from "../types.js";
import { URL_ELICITATION_REQUIRED } from "./rpc-codes.js";

/** Why a request to an upstream server has no result. */
export interface UpstreamFailure {
  readonly kind: "timeout" | "unavailable" | "rpc" | "http" | "cancelled" | "malformed" | "other";
  /** Of an error of JSON-RPC. */
  readonly code?: number;
  /** Of HTTP. */
  readonly status?: number;
  /** Without credentials, at most 2,000 characters. */
  readonly message: string;
  /** Of an error of JSON-RPC, without credentials. */
  readonly data?: JsonValue;
  readonly retry_after_ms?: number;
}

/** Carries an {@link UpstreamFailure}. @internal */
export class UpstreamError extends Error {
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure) {
    super(failure.message);
    this.name = "UpstreamError";
    this.failure = failure;
  }
}

/** What was learned of an exchange over HTTP beside what the SDK throws. @internal */
export interface HttpNote {
  readonly status?: number;
  readonly retry_after_ms?: number;
  /** Whether the server has forgotten the session, and did nothing. */
  readonly isGone?: boolean;
  /** Which limit the response went beyond. */
  readonly limit?: string;
}

const notes = new WeakMap<object, HttpNote>();

/** Adds what was learned to what was thrown. @internal */
export function annotate(error: unknown, note: HttpNote | undefined): void {
  if (note !== undefined && typeof error === "object" && error !== null) notes.set(error, note);
}

/** What was learned of an error, or of the data of one that a server seems to have sent. @internal */
export function noteOf(error: unknown): HttpNote | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { data } = error as { readonly data?: unknown };
  return notes.get(error) ?? (typeof data === "object" && data !== null ? notes.get(data) : undefined);
}

/** Characters that are searched for credentials: what is shown is a part of it, cut when it is masked. */
const MAX_MASKED = 16_384;
const MAX_MESSAGE = 2_000;
const MAX_CAUSES = 4;

/** Masks what is known to be secret, and what looks like it. @internal */
export function maskedText(text: string, secrets: readonly string[], most = MAX_MESSAGE): string {
  let masked = text.slice(0, MAX_MASKED);
  for (const secret of secrets) masked = masked.replaceAll(secret, "[REDACTED-SECRET]");
  masked = redactSecrets(masked.replace(/[\ud800-\udfff]/gu, "\ufffd"));
  return masked.length > most ? `${masked.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : masked;
}

/** The same for each text of what a server has sent. @internal */
export function maskedValue(value: JsonValue, secrets: readonly string[], most = MAX_MESSAGE): JsonValue {
  return JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
    typeof inner === "string" ? maskedText(inner, secrets, most) : inner,
  ) as JsonValue;
}

/** Masks what an error carries, by the names of its fields too; nothing is left of what is no JSON then. */
function maskedData(data: JsonValue, secrets: readonly string[]): JsonValue | undefined {
  try {
    return JSON.parse(redactSecrets(JSON.stringify(maskedValue(data, secrets, MAX_MASKED)))) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The words of the SDK where nobody can register by a request. */
const NO_REGISTRATION = /not support dynamic client registration/;
const TIMEOUTS = ["REQUEST_TIMEOUT"];
const GONE = ["CONNECTION_CLOSED", "NOT_CONNECTED", "SEND_FAILED"];
const MALFORMED = ["INVALID_RESULT", "UNSUPPORTED_RESULT_TYPE", "CLIENT_HTTP_UNEXPECTED_CONTENT"];

type Thrown = Partial<{ name: string; message: string; code: unknown; status: unknown; data: unknown; cause: unknown }>;

/** Says what went wrong. `signal` is the caller's, `secrets` what must not be told. @internal */
export function failureOf(error: unknown, secrets: readonly string[], signal?: AbortSignal): UpstreamFailure {
  if (error instanceof UpstreamError) return error.failure;
  const thrown = (typeof error === "object" && error !== null ? error : { message: String(error) }) as Thrown;
  const note = noteOf(error);
  const message = maskedText(note?.limit ?? messageOf(thrown), secrets);
  // The SDK has asked for the protocol's revision, and wraps what came of that.
  if (thrown.code === "ERA_NEGOTIATION_FAILED" && statusOf(thrown) === undefined && note === undefined) {
    return {
      ...(thrown.cause === undefined ? { kind: "unavailable" } : failureOf(thrown.cause, secrets, signal)),
      message,
    };
  }
  if (signal?.aborted) return { kind: "cancelled", message: "the call was cancelled" };
  if (note?.limit !== undefined) return { kind: "malformed", message };
  if (error instanceof ContextWeaverError) return { kind: error.code === "TOO_LARGE" ? "malformed" : "other", message };
  const { code, data } = thrown;
  const retry = note?.retry_after_ms === undefined ? {} : { retry_after_ms: note.retry_after_ms };
  const status = note?.status ?? statusOf(thrown);
  if (status !== undefined) return { kind: "http", status, message: `HTTP ${status}: ${message}`, ...retry };
  if (thrown.name === "UnauthorizedError")
    return { kind: "http", status: 401, message: `HTTP 401: ${message}`, ...retry };
  if (note !== undefined) return { kind: "unavailable", message };
  if (typeof code === "number" && Number.isSafeInteger(code)) {
    // The page that a user has to open is of no use without what its address carries.
    const told =
      data === undefined || code === URL_ELICITATION_REQUIRED ? data : maskedData(data as JsonValue, secrets);
    return { kind: "rpc", code, message, ...(told !== undefined && { data: told as JsonValue }) };
  }
  if (typeof code === "string") {
    if (TIMEOUTS.includes(code)) return { kind: "timeout", message };
    if (GONE.includes(code) || isSystemCode(code)) return { kind: "unavailable", message };
    if (MALFORMED.includes(code)) return { kind: "malformed", message };
  }
  if (thrown.name === "SyntaxError" || thrown.name === "ZodError" || thrown.name === "$ZodError")
    return { kind: "malformed", message: "the server sent what is no message of the protocol" };
  if (thrown.name === "TypeError" && /fetch|network|terminated/i.test(thrown.message ?? ""))
    return { kind: "unavailable", message };
  if (thrown.name === "SseError" || thrown.message === "Not connected") return { kind: "unavailable", message };
  return { kind: "other", message };
}

/** Codes of the operating system, such as `ECONNREFUSED` and `ENOENT`. */
function isSystemCode(code: string): boolean {
  return /^(?:E[A-Z]{2,}|UND_ERR_[A-Z_]+)$/.test(code);
}

/** What an error says, with what its causes add: those of `fetch` say nothing themselves. */
function messageOf({ message, cause, code }: Thrown): string {
  let said = message || "the request failed";
  if (NO_REGISTRATION.test(said))
    return `${said}: register the gateway there by hand, and name the client in \`oauth.client_id\` of its entry`;
  if (code === "ENOENT") return `${said}: there is no such program, or no such folder to run it in`;
  let inner = cause;
  for (let level = 0; level < MAX_CAUSES && typeof inner === "object" && inner !== null; level += 1) {
    const { message: reason, code: systemCode, cause: next } = inner as Thrown;
    const more = reason || (typeof systemCode === "string" ? systemCode : "");
    if (!said.includes(more)) said += `: ${more}`;
    inner = next;
  }
  return said;
}

/** The status that an error of the SDK carries. */
function statusOf({ data, code, name }: Thrown): number | undefined {
  const ofSdk =
    typeof code === "string" && typeof data === "object" && data !== null ? (data as Thrown).status : undefined;
  const status = name === "SseError" ? code : ofSdk;
  return typeof status === "number" && status >= 400 && status <= 599 ? status : undefined;
}
