// A request of a client while an upstream works on it: what the upstream asks meanwhile goes to this client, its progress and its
// log messages too. A client of revision 2026-07-28 cannot be asked; it gets an `input_required` result, and calls again.
import { ContextWeaverError } from "../boundary/errors.js";
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from "./rpc-codes.js";
import type { Fields, McpRequest, RequestContext, ServerSdk } from "./server-sdk.js";
import { later } from "./timers.js";

/** Milliseconds that a person may take to answer. */
const ANSWER_MS = 600_000;
/** Questions of one call that may be open at a time. */
const MAX_QUESTIONS = 16;

/** The capability that a request to a client needs. */
const NEEDED: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Whether a client with these capabilities shows forms, or opens pages: one that says neither shows forms. */
export function canElicit({ elicitation }: Fields, mode: unknown = "form"): boolean {
  if (typeof elicitation !== "object" || elicitation === null) return false;
  const { form, url } = elicitation as Fields;
  return mode === "url" ? url !== undefined : form !== undefined || url === undefined;
}

/** What a client with these capabilities lacks to answer a request; nothing where it can. */
export function lackingFor(capabilities: Fields, { method, params }: McpRequest): string | undefined {
  const needed = NEEDED[method] ?? method;
  const isAble =
    needed === "elicitation" ? canElicit(capabilities, params?.["mode"]) : capabilities[needed] !== undefined;
  return isAble ? undefined : needed;
}

/** The client of a call. */
export interface CallClient {
  readonly is_modern: boolean;
  /** What the gateway calls it; several calls of one client have the same. */
  readonly session: string;
  capabilities(context: RequestContext): Fields;
  /** Whether it wants log messages of a level, in revisions before 2026-07-28. */
  wants(level: string): boolean;
}

/** How a call stands: it has ended, or the client must answer first. */
export type CallProgress =
  | { readonly result: Fields }
  | { readonly error: unknown }
  | { readonly questions: Readonly<Record<string, McpRequest>> };

interface Question {
  readonly request: McpRequest;
  readonly answer: (response: Fields) => void;
  readonly refuse: (error: Error) => void;
}

/** A call of an upstream on behalf of a client's request. */
export class UpstreamCall {
  readonly client: CallClient;
  readonly #sdk: ServerSdk;
  readonly #abort = new AbortController();
  readonly #questions = new Map<string, Question>();
  readonly #lacking: Record<string, Fields> = {};
  #context: RequestContext;
  #asked = 0;
  #ended: { readonly result: Fields } | { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(sdk: ServerSdk, client: CallClient, context: RequestContext) {
    [this.#sdk, this.client, this.#context] = [sdk, client, context];
  }

  /** Ends when the client has given up. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The capabilities that the upstream wanted to use and the client does not have. */
  get lacking(): Fields | undefined {
    return Object.keys(this.#lacking).length > 0 ? { ...this.#lacking } : undefined;
  }

  /** The client, as far as it can be told from others of its caller. */
  get session(): string {
    return this.client.session;
  }

  /** The request of the client that is served now. */
  get context(): RequestContext {
    return this.#context;
  }

  start(run: () => Promise<Fields>): void {
    this.#ended = undefined;
    run()
      .then(
        (result) => (this.#ended = { result }),
        (error: unknown) => (this.#ended = { error }),
      )
      .finally(() => this.#wake?.());
  }

  /**
   * Waits until the call has ended or, where the client cannot be asked, has questions. The request may be another one than before.
   * `signal` is its client's, unless others wait for the call, too.
   */
  async next(context: RequestContext, signal: AbortSignal = context.mcpReq.signal): Promise<CallProgress> {
    this.#context = context;
    const abort = (): void => this.cancel(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      while (!this.#ended && this.#questions.size === 0) await new Promise<void>((wake) => (this.#wake = wake));
    } finally {
      this.#wake = undefined;
      signal.removeEventListener("abort", abort);
    }
    return (
      this.#ended ?? { questions: Object.fromEntries([...this.#questions].map(([key, { request }]) => [key, request])) }
    );
  }

  /** Hands over what the client answered; questions that it did not answer stay open. */
  answer(responses: Readonly<Record<string, unknown>>): void {
    for (const [key, question] of this.#questions) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (typeof response !== "object" || response === null) continue;
      this.#questions.delete(key);
      question.answer(response as Fields);
    }
  }

  cancel(reason: unknown): void {
    this.#abort.abort(reason);
    for (const { refuse } of this.#questions.values())
      refuse(new this.#sdk.ProtocolError(INTERNAL_ERROR, "the client does not answer any more"));
    this.#questions.clear();
    this.#wake?.();
  }

  /** Asks the client on behalf of the upstream. */
  async ask(request: McpRequest, signal: AbortSignal, onprogress?: (progress: Fields) => void): Promise<Fields> {
    const { client } = this;
    if (NEEDED[request.method] === undefined)
      throw new this.#sdk.ProtocolError(METHOD_NOT_FOUND, `the gateway does not pass \`${request.method}\` on`);
    const lacking = lackingFor(client.capabilities(this.#context), request);
    if (lacking !== undefined) {
      this.#lacking[lacking] = {};
      throw new this.#sdk.ProtocolError(METHOD_NOT_FOUND, `the client does not support ${lacking}`);
    }
    if (!client.is_modern) {
      return this.#context.mcpReq.send(request, {
        timeout: ANSWER_MS,
        resetTimeoutOnProgress: true,
        signal,
        ...(onprogress && { onprogress }),
      });
    }
    if (this.#questions.size >= MAX_QUESTIONS)
      throw new ContextWeaverError("QUOTA_EXCEEDED", "too many questions at a time");
    this.#asked += 1;
    const key = `question-${this.#asked}`;
    return new Promise((answer, refuse) => {
      this.#questions.set(key, { request: inResult(request), answer, refuse });
      signal.addEventListener(
        "abort",
        () => {
          this.#questions.delete(key);
          refuse(new this.#sdk.ProtocolError(INTERNAL_ERROR, "the server does not ask any more"));
        },
        { once: true },
      );
      this.#wake?.();
    });
  }

  /** Passes a log message on, if the client wants messages of its level. */
  async log({ level, data, logger }: Fields): Promise<void> {
    const { mcpReq } = this.#context;
    if (mcpReq.signal.aborted) return;
    if (this.client.is_modern) await mcpReq.log(level, data, logger);
    else if (this.client.wants(String(level)))
      await mcpReq.notify({
        method: "notifications/message",
        params: { level, data, ...(logger !== undefined && { logger }) },
      });
  }

  /** Tells the client something about its request. */
  async notify(notification: McpRequest): Promise<void> {
    if (!this.#context.mcpReq.signal.aborted) await this.#context.mcpReq.notify(notification);
  }

  /** Passes progress on, if the client asked for it. */
  get onprogress(): ((progress: Fields) => void) | undefined {
    if (this.#context.mcpReq._meta?.["progressToken"] === undefined) return undefined;
    return (progress) => {
      const progressToken = this.#context.mcpReq._meta?.["progressToken"];
      if (progressToken === undefined) return;
      this.notify({ method: "notifications/progress", params: { ...progress, progressToken } }).catch(() => undefined);
    };
  }
}

/** A request to a client as a result has it, in revision 2026-07-28: addresses to be opened have no id there. */
function inResult({ method, params }: McpRequest): McpRequest {
  if (params === undefined) return { method };
  const { elicitationId: _, _meta, task, ...rest } = params;
  const { progressToken, ...meta } = (_meta ?? {}) as Fields;
  void progressToken, void task;
  return { method, params: { ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }) } };
}

/** Calls whose clients have to answer before they go on; the oldest go first, and those that nobody came back for. */
export class PendingCalls<T extends { readonly call: UpstreamCall; readonly session: string }> {
  readonly #most: number;
  readonly #calls = new Map<string, { readonly pending: T; readonly forget: () => void }>();

  constructor(most = 1_000) {
    this.#most = most;
  }

  put(key: string, pending: T): void {
    const forget = later(ANSWER_MS, () => this.#drop(key, "the client did not answer in time"));
    this.#calls.set(key, { pending, forget });
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= this.#most) break;
      this.#drop(oldest, "too many calls wait for their clients");
    }
  }

  /** Takes a call for the session that it is of; another's is not there. */
  take(key: string, session?: string): T | undefined {
    const found = this.#calls.get(key);
    if (!found || (session !== undefined && found.pending.session !== session)) return undefined;
    this.#calls.delete(key);
    found.forget();
    return found.pending;
  }

  close(): void {
    for (const key of [...this.#calls.keys()]) this.#drop(key, "the gateway is closing");
  }

  #drop(key: string, reason: string): void {
    this.take(key)?.call.cancel(new Error(reason));
  }
}
