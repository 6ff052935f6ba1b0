// Errors over HTTP: `application/problem+json`, one table of statuses, nothing of the inside.
import { ContextWeaverError } from "contextweaver";
import type { ErrorCode } from "contextweaver";

/** The status of each code. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  INVALID_INPUT: 422,
  UNKNOWN_FIELD: 422,
  MISSING_FIELD: 422,
  OUT_OF_RANGE: 422,
  DUPLICATE_ID: 409,
  CONFLICT: 409,
  NOT_FOUND: 404,
  CYCLE: 422,
  TOO_DEEP: 422,
  TOO_LARGE: 413,
  QUOTA_EXCEEDED: 507,
  BUDGET_EXCEEDED: 422,
  POLICY_VIOLATION: 403,
  DETERMINISM: 422,
  ARTIFACT_NOT_FOUND: 404,
  ARTIFACT_EXPIRED: 410,
  DECODE_FAILED: 422,
  UNSUPPORTED: 422,
  SNAPSHOT_VERSION: 500,
  CALLBACK_FAILED: 500,
  REENTRANT: 500,
  JOURNAL_DAMAGED: 500,
  NO_CANDIDATES: 422,
  GRAPH_INVALID: 422,
  DISPOSED: 503,
  POISONED: 503,
  INTERNAL: 500,
};

/** What is wrong, as the service says it (RFC 9457). */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  /** JSON pointer into the body, or the name of a header or of a part of the path. */
  readonly path?: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A request that is refused before the package has anything to say about it. */
export class Refused extends Error {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ErrorCode,
    detail: string,
    more: Partial<Problem> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.problem = { title: TITLES[status] ?? "Refused", status, code, detail, ...more };
    this.headers = headers;
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  499: "Client Closed Request",
  500: "Internal Server Error",
  503: "Service Unavailable",
  507: "Insufficient Storage",
};

/** Says what a client may know of an error. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Refused) return error.problem;
  const known = ContextWeaverError.is(error) ? error : undefined;
  const status = known ? STATUS[known.code] : 500;
  const title = TITLES[status] ?? "Error";
  // What goes wrong inside may quote a disk, a database or a function of the operator's.
  if (!known || (status >= 500 && known.code !== "QUOTA_EXCEEDED"))
    return { title, status, code: known?.code ?? "INTERNAL", detail: "the service failed; nothing was changed" };
  const { code, message: detail, path, hint, details } = known;
  return {
    title,
    status,
    code,
    detail,
    ...(path !== undefined && { path }),
    ...(hint !== undefined && { hint }),
    ...(details && { details }),
  };
}

export function problemResponse(error: unknown): Response {
  const problem = problemOf(error);
  const headers = { "content-type": "application/problem+json", ...(error instanceof Refused && error.headers) };
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
