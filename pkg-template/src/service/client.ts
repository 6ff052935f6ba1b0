// A client of the service, typed by its definition.
import { ContextWeaverError } from "contextweaver";
import type { DecisionSnapshot, ErrorCode } from "contextweaver";
import { OPERATIONS, idOf } from "./operations.js";
import type { AnswerOf, InputOf, Operation, Operations } from "./operations.js";
import type { Problem } from "./problems.js";

/** Where the service is. */
export interface SessionClientOptions {
  /** Such as `https://sessions.example`. */
  readonly url: string;
  /** The token of the service. */
  readonly token: string;
  /** Default: that of the runtime. */
  readonly fetch?: (url: string, init: ClientInit) => Promise<ClientResponse>;
}

/** A request as `fetch` takes it. */
export interface ClientInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: never;
}

/** An answer as `fetch` gives it. */
export interface ClientResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly body: unknown;
  text(): Promise<string>;
}

/** How one request is sent. */
export interface RequestOptions {
  /** Names the request: sent again with the same, it is done once. */
  readonly idempotency_key?: string;
  /** An `AbortSignal`. */
  readonly signal?: unknown;
}

/**
 * What a service can be asked. What it refuses is a `ContextWeaverError` with the code of the service, `details.status` and, where
 * there are, path and hint.
 */
export type SessionClient = {
  readonly [Name in Exclude<keyof Operations, "decisionChanges">]: (
    input: InputOf<Operations[Name]>,
    options?: RequestOptions,
  ) => Promise<AnswerOf<Operations[Name]>>;
} & {
  /** Follows the memory of decisions until the connection ends. */
  readonly decisionChanges: (
    input?: InputOf<Operations["decisionChanges"]>,
    options?: RequestOptions,
  ) => AsyncGenerator<DecisionSnapshot, void, void>;
};

/**
 * Returns a client of a service: a function for each operation, by its name.
 *
 * ```ts
 * const client = sessionClient({ url: "https://sessions.example", token });
 * await client.createSession({ id: "ada" });
 * await client.append({ session: "ada", items: [{ id: "u1", kind: "user_turn", text: "Hello" }] }, { idempotency_key: "1" });
 * const { pack } = await client.build({ session: "ada", build: { phase: "answer" } });
 * ```
 */
export function sessionClient({
  url,
  token,
  fetch = globalThis.fetch as unknown as NonNullable<SessionClientOptions["fetch"]>,
}: SessionClientOptions): SessionClient {
  const send = async (
    operation: Operation,
    input: Readonly<Record<string, unknown>>,
    { idempotency_key, signal }: RequestOptions = {},
  ): Promise<ClientResponse> => {
    const body = { ...input };
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      // Another one would be a name such as "undefined", or lead elsewhere, as ".." does.
      const value = idOf(body[name], `/${name}`);
      delete body[name];
      return value;
    });
    const hasBody = operation.method === "POST" || operation.method === "PUT";
    const query = !hasBody
      ? new URLSearchParams(
          Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
        ).toString()
      : "";
    const response = await fetch(`${url.replace(/\/$/, "")}${path}${query && `?${query}`}`, {
      method: operation.method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: `${operation.media_type ?? "application/json"}, application/problem+json`,
        ...(hasBody && { "content-type": "application/json" }),
        ...(idempotency_key !== undefined && { "idempotency-key": idempotency_key }),
      },
      ...(hasBody && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal: signal as never }),
    });
    if (!response.ok) throw refusal(response.status, await response.text());
    return response;
  };
  const asked = Object.entries(OPERATIONS as Readonly<Record<string, Operation>>).map(([name, operation]) => [
    name,
    async (input: object, options?: RequestOptions) => {
      const response = await send(operation, input as Readonly<Record<string, unknown>>, options);
      return answerOf(response.status, await response.text());
    },
  ]);
  async function* decisionChanges(
    input: object = {},
    options?: RequestOptions,
  ): AsyncGenerator<DecisionSnapshot, void, void> {
    const { body } = await send(
      OPERATIONS.decisionChanges as Operation,
      input as Readonly<Record<string, unknown>>,
      options,
    );
    yield* events(body as { getReader(): Reader });
  }
  return { ...(Object.fromEntries(asked) as object), decisionChanges } as SessionClient;
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>;
  cancel(): Promise<void>;
}

/** Reads what is sent as events, each chunk once however long an event is. */
async function* events(body: { getReader(): Reader }): AsyncGenerator<DecisionSnapshot, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let begun: string[] = [];
  let data: string | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const [first = "", ...others] = decoder.decode(value, { stream: true }).split("\n");
      begun.push(first);
      for (const next of others) {
        const line = begun.join("");
        begun = [next];
        if (line.startsWith("data: ")) data ??= line.slice(6);
        if (line !== "" || data === undefined) continue;
        yield JSON.parse(data) as DecisionSnapshot;
        data = undefined;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** What an answer says. A server that ends meanwhile may leave a part of one, or none of it. */
function answerOf(status: number, text: string): unknown {
  if (text === "" && (status === 202 || status === 204)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const hint = "send the request again, with the same idempotency_key";
    throw new ContextWeaverError("INTERNAL" satisfies ErrorCode, "the answer was cut off", { hint });
  }
}

function refusal(status: number, text: string): ContextWeaverError {
  try {
    const { code, detail, path, hint, details } = JSON.parse(text) as Problem;
    const told = new ContextWeaverError(code, detail, { path, hint, details: { status, ...details } });
    // What stands before the service answers in JSON, too.
    if (ContextWeaverError.is(told)) return told;
  } catch {
    // Nor is a page of HTML a problem of the service's.
  }
  return new ContextWeaverError("INTERNAL" satisfies ErrorCode, `the service answered ${status}`, {
    details: { status },
  });
}
