// HTTP to an upstream server: the transport of the SDK, with bounds on what comes back and with what the SDK does not tell: how long
// to wait, that a session is forgotten, that a stream ended before its answer.
import { joined } from "../boundary/bytes.js";
import { annotate } from "./failure.js";
import type { HttpNote } from "./failure.js";
import { SERVER_ERROR } from "./rpc-codes.js";
import type { RpcMessage, SdkHttpTransport, SdkTransport, SendOptions } from "./sdk.js";

/** A function that makes requests, such as the global `fetch`. */
export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Bytes of an answer that is no success: a text for a message. */
const MAX_ERROR_BYTES = 256 * 1024;
/** The longest that a server may ask to wait. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1_000;
/** Milliseconds that ending a session may take: nobody waits for it. */
const END_SESSION_MS = 2_000;
/** By which a server says that it has no stream beside its answers. */
const METHOD_NOT_ALLOWED = 405;
/** Exchanges of which something is kept until their error comes. */
const MAX_NOTES = 1_000;

/** How a link is watched. */
export interface HttpWatch {
  readonly fetch: Fetch;
  /** Bytes of one message. */
  readonly max_message_bytes: number;
  /** What to do when nothing will come any more: the stream of HTTP+SSE has ended, or the server has forgotten the session. */
  readonly onend: (reason: string) => void;
  /** Whether messages come over one stream, as in HTTP+SSE. */
  readonly isSse: boolean;
  /** The server's: what an authorization server answers says nothing of the session. */
  readonly address: URL;
}

/** A transport over HTTP that is watched. Give {@link fetch} to the transport that {@link around} takes. @internal */
export class HttpLink implements SdkTransport {
  onmessage?: (message: RpcMessage, extra?: unknown) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #watch: HttpWatch;
  /** Ids of requests that have no answer yet. */
  readonly #pending = new Set<string | number>();
  readonly #notes = new Map<string | number, HttpNote>();
  #inner!: SdkHttpTransport;
  #isClosed = false;
  /** Whether the server has forgotten the session. */
  #isGone = false;
  #hadStream = false;
  #closing: Promise<void> | undefined;

  constructor(watch: HttpWatch) {
    this.#watch = watch;
  }

  around(inner: SdkHttpTransport): this {
    this.#inner = inner;
    inner.onclose = () => {
      this.#isClosed = true;
      this.onclose?.();
    };
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => {
      if (message.id !== undefined && message.method === undefined) this.#pending.delete(message.id);
      this.onmessage?.(message, extra);
    };
    return this;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: RpcMessage, options?: SendOptions): Promise<void> {
    const { id, method } = message;
    if (id === undefined || method === undefined) return this.#inner.send(message, options);
    this.#pending.add(id);
    // A subscription has its own end, and never an answer.
    const ended = options?.onRequestStreamEnd ?? ((): void => this.#streamEnded(id));
    try {
      await this.#inner.send(message, { ...options, onRequestStreamEnd: ended });
    } catch (error) {
      this.#pending.delete(id);
      annotate(error, this.#take(id));
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    // Whoever waits need not wait until the server has heard of the end.
    for (const id of [...this.#pending]) this.#streamEnded(id);
    this.#notes.clear();
    if (!this.#isGone) await this.#endSession();
    await this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  /** Tells the server that its session is over. What it answers changes nothing. */
  async #endSession(): Promise<void> {
    if (this.#inner.sessionId === undefined || this.#inner.terminateSession === undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((done) => (timer = setTimeout(done, END_SESSION_MS)));
    await Promise.race([this.#inner.terminateSession().catch(() => undefined), late]);
    clearTimeout(timer);
  }

  /** Answers a request whose stream is over, which the SDK would wait for until it times out. */
  #streamEnded(id: string | number): void {
    if (!this.#pending.delete(id)) return;
    const note = this.#take(id) ?? {};
    const data = {};
    annotate(data, note);
    const message = note.limit ?? "the connection ended before the answer";
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: SERVER_ERROR, message, data } });
  }

  #take(id: string | number): HttpNote | undefined {
    const note = this.#notes.get(id);
    this.#notes.delete(id);
    return note;
  }

  #note(init: RequestInit | undefined, note: HttpNote): void {
    const id = idOf(init?.body);
    if (id === undefined || !this.#pending.has(id) || this.#notes.size >= MAX_NOTES) return;
    this.#notes.set(id, note);
  }

  /** Makes the requests of the transport. */
  readonly fetch: Fetch = async (input, init) => {
    const response = await this.#watch.fetch(input, init);
    const { status, ok } = response;
    const method = init?.method ?? "GET";
    const isOwn = !this.#watch.isSse && new URL(input).href === this.#watch.address.href;
    const hasSession = this.#inner.sessionId !== undefined && isOwn;
    if (method === "GET" && isOwn && this.#isWithoutStream(response)) {
      await response.body?.cancel();
      return new Response(null, { status: METHOD_NOT_ALLOWED });
    }
    if (!ok && method === "POST") {
      const isGone = status === 404 && hasSession;
      this.#note(init, { status, ...retryAfter(response), ...(isGone && { isGone }) });
    }
    if (status === 404 && hasSession && method !== "DELETE") {
      this.#isGone = true;
      this.#end("the server has forgotten the session");
    }
    if (!ok) return bounded(response, MAX_ERROR_BYTES, false, () => undefined);
    const isStream = isEventStream(response);
    const most = this.#watch.max_message_bytes;
    if (!isStream && isAtMost(response, most)) return response;
    return bounded(
      response,
      most,
      isStream,
      (limit) => this.#note(init, { limit }),
      this.#watch.isSse && isStream ? () => this.#end("the event stream ended") : undefined,
    );
  };

  /**
   * Whether a server has no stream beside its answers, which is optional: it says so by 405, and many by another refusal or by a page.
   * From one that had a stream a refusal means what it says.
   */
  #isWithoutStream(response: Response): boolean {
    const { status, ok } = response;
    if (ok && isEventStream(response)) this.#hadStream = true;
    return !this.#hadStream && (ok || (status >= 400 && status < 500));
  }

  #end(reason: string): void {
    if (this.#isClosed) return;
    // After what is under way now has been told of.
    setTimeout(() => {
      if (!this.#isClosed) this.#watch.onend(reason);
    }, 0);
  }
}

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
}

/** Whether a body is no longer than it may be, as HTTP holds the server to. */
function isAtMost({ headers }: Response, most: number): boolean {
  const length = headers.get("content-length");
  return length !== null && !headers.has("content-encoding") && Number(length) <= most;
}

/** The id of the request in a body. Asked for only when something went wrong. */
function idOf(body: RequestInit["body"]): string | number | undefined {
  if (typeof body !== "string") return undefined;
  try {
    const { id } = JSON.parse(body) as RpcMessage;
    return id;
  } catch {
    return undefined;
  }
}

/** How long the server asks to wait: seconds, or a date. */
function retryAfter({ headers }: Response): { retry_after_ms?: number } {
  const written = headers.get("retry-after")?.trim() ?? "";
  const milliseconds = /^\d{1,9}$/.test(written) ? Number(written) * 1_000 : Date.parse(written) - Date.now();
  return milliseconds >= 0 ? { retry_after_ms: Math.min(milliseconds, MAX_RETRY_AFTER_MS) } : {};
}

/**
 * The same response, which fails when a message is larger than it may be: the whole body, or one event of a stream. Lines of a
 * stream are handed on whole, since whoever reads them searches what it has again with every piece.
 */
function bounded(
  response: Response,
  most: number,
  isStream: boolean,
  exceeded: (limit: string) => void,
  onend?: () => void,
): Response {
  const { body, status, statusText, headers } = response;
  // A redirect that was not followed has neither.
  if (body === null || status < 200) return response;
  const reader = body.getReader();
  const event = new EventBound(most, isStream);
  const limited = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        // A part of a line is nothing to hand on, and without a piece nobody would ask again.
        for (;;) {
          const { done, value } = await reader.read();
          if (done) {
            const rest = event.rest();
            if (rest.length > 0) controller.enqueue(rest);
            controller.close();
            return onend?.();
          }
          const lines = event.add(value);
          if (lines === undefined) {
            const limit = `the server sent a message larger than ${most} bytes`;
            exceeded(limit);
            controller.error(new Error(limit));
            onend?.();
            return await reader.cancel();
          }
          if (lines.length === 0) continue;
          return controller.enqueue(lines);
        }
      } catch (error) {
        controller.error(error);
        onend?.();
      }
    },
    async cancel(reason) {
      await reader.cancel(reason);
    },
  });
  const copy = new Response(limited, { status, statusText, headers });
  // Those who read the response go by its address.
  Object.defineProperty(copy, "url", { value: response.url });
  return copy;
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const NOTHING = new Uint8Array(0);

/** Counts the bytes of an event, and keeps a line until it is whole. */
class EventBound {
  readonly #most: number;
  readonly #isStream: boolean;
  /** The beginning of a line. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  /** Bytes of the event in lines before. */
  #bytes = 0;

  constructor(most: number, isStream: boolean) {
    [this.#most, this.#isStream] = [most, isStream];
  }

  /** What can be handed on, perhaps nothing yet; `undefined` when it is too much. */
  add(chunk: Uint8Array): Uint8Array | undefined {
    if (!this.#isStream) {
      this.#bytes += chunk.length;
      return this.#bytes > this.#most ? undefined : chunk;
    }
    let at = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, at);
      if (end === -1) break;
      const length = this.#partBytes + end - at;
      const last = end > at ? chunk[end - 1] : this.#parts.at(-1)?.at(-1);
      const isBlank = length === 0 || (length === 1 && last === CARRIAGE_RETURN);
      this.#bytes = isBlank ? 0 : this.#bytes + length + 1;
      if (this.#bytes > this.#most) return undefined;
      // The parts in front of the first line are handed on with it.
      this.#partBytes = 0;
      at = end + 1;
    }
    const rest = chunk.subarray(at);
    if (this.#bytes + this.#partBytes + rest.length > this.#most) return undefined;
    if (at === 0) {
      this.#parts.push(rest);
      this.#partBytes += rest.length;
      return NOTHING;
    }
    const whole = joined([...this.#parts, chunk.subarray(0, at)]);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#partBytes = rest.length;
    return whole;
  }

  rest(): Uint8Array {
    return joined(this.#parts);
  }
}
