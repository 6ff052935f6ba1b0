// Errors of the sidecar's endpoints: one table of codes and statuses, nothing of the inside and nothing of what was sent.
import { ContextWeaverError } from "../boundary/errors.js";
import type { ErrorCode } from "../boundary/errors.js";

/** The status of each code of the endpoints. */
const STATUS = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  ROUTING_UNAVAILABLE: 503,
  COMPACT_UNAVAILABLE: 503,
} as const;

/** Codes of the errors that the sidecar's endpoints answer with. */
export type SidecarErrorCode = keyof typeof STATUS;

/** The body of every answer that is no success. */
export interface SidecarErrorBody {
  readonly error: SidecarErrorCode;
  /** One sentence for people; never a value that was sent. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** `path`: JSON pointer of the field; `hint`; of a limit `scope` and `retry_after`, in seconds. Absent where there are none. */
  readonly details?: Readonly<Record<string, string | number | null>>;
}

/** A request that is refused. @internal */
export class SidecarRefusal extends Error {
  readonly code: SidecarErrorCode;
  readonly details: SidecarErrorBody["details"];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: SidecarErrorCode,
    message: string,
    details?: SidecarErrorBody["details"],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/** Errors of the engine that are about what a client sent. What is not here is a failure of the server. */
const OF_CLIENTS: Partial<Record<ErrorCode, SidecarErrorCode>> = {
  INVALID_INPUT: "BAD_REQUEST",
  MISSING_FIELD: "BAD_REQUEST",
  OUT_OF_RANGE: "BAD_REQUEST",
  TOO_DEEP: "BAD_REQUEST",
  DECODE_FAILED: "BAD_REQUEST",
  BUDGET_EXCEEDED: "BAD_REQUEST",
  UNSUPPORTED: "BAD_REQUEST",
  TOO_LARGE: "PAYLOAD_TOO_LARGE",
  QUOTA_EXCEEDED: "PAYLOAD_TOO_LARGE",
  POLICY_VIOLATION: "FORBIDDEN",
  NOT_FOUND: "NOT_FOUND",
  ARTIFACT_NOT_FOUND: "NOT_FOUND",
  ARTIFACT_EXPIRED: "NOT_FOUND",
};

/** Runs something of the engine on what a client sent; its errors become refusals, with the path as the client knows it. @internal */
export async function onBehalf<T>(
  run: () => T | PromiseLike<T>,
  renamed: Readonly<Record<string, string>> = {},
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const code = ContextWeaverError.is(error) ? OF_CLIENTS[error.code] : undefined;
    if (!ContextWeaverError.is(error) || code === undefined) throw error;
    const { path, hint } = error;
    const details = { ...(path !== undefined && { path: renamed[path] ?? path }), ...(hint !== undefined && { hint }) };
    // Messages quote values between backticks; one that was sent may be a secret.
    const message = error.message.replace(/`[^`]*`/g, "a value");
    throw new SidecarRefusal(code, message, Object.keys(details).length > 0 ? details : undefined);
  }
}

/** The answer to a request that failed. @internal */
export function refusalResponse(error: unknown): Response {
  const refusal = error instanceof SidecarRefusal ? error : new SidecarRefusal("INTERNAL", "the server failed");
  const { code, message, details, headers } = refusal;
  const body: SidecarErrorBody = {
    error: code,
    message,
    retryable: code === "RATE_LIMITED",
    ...(details && { details }),
  };
  return new Response(JSON.stringify(body), {
    status: STATUS[code],
    headers: { "content-type": "application/json", ...headers },
  });
}
