// A server of HTTP on this machine, for the commands that are one.
import { createServer } from "node:http";
import type { Incoming, Outgoing } from "node:http";
import process from "node:process";
import { setImmediate } from "node:timers";
import { keptRequest } from "../boundary/abort.js";
import { redactSecrets } from "../index.js";
import { isLoopback } from "../mcp/mcp-access.js";
import { UsageError } from "./options.js";
import { safe } from "./print.js";

/**
 * Milliseconds that a connection without requests stays open: longer than clients keep theirs. Whoever closes first may do so while the
 * next request is on its way, which then fails.
 */
const KEEP_ALIVE_MS = 75_000;

/** Whether only this machine can reach what listens there. */
export function isLocal(host: string): boolean {
  return host === "::1" || isLoopback(host);
}

/** Answers requests until the process ends; resolves to the address when it listens. */
export function listen(
  host: string,
  port: number,
  handler: (incoming: Incoming, outgoing: Outgoing) => Promise<Response>,
): Promise<string> {
  const server = createServer((incoming, outgoing) => void answer(handler, incoming, outgoing));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return new Promise((listening, fail) => {
    server.on("error", (error) =>
      fail(new UsageError(`cannot listen on ${host}:${port}: ${error.code ?? "unknown"}`, "input")),
    );
    server.listen(port, host, () =>
      listening(`http://${host.includes(":") ? `[${host}]` : host}:${server.address().port}`),
    );
  });
}

async function answer(
  handler: (incoming: Incoming, outgoing: Outgoing) => Promise<Response>,
  incoming: Incoming,
  outgoing: Outgoing,
): Promise<void> {
  if (!isAsked(incoming)) {
    outgoing.writeHead(400, {});
    outgoing.end();
    return;
  }
  try {
    const response = await handler(incoming, outgoing);
    outgoing.writeHead(response.status, headersOf(response.headers));
    const reader = response.body?.getReader();
    outgoing.on("close", () => void reader?.cancel().catch(() => undefined));
    let read = reader?.read();
    // A stream that has nothing to say yet is open all the same.
    if (read && (await atOnce(read)) === undefined) outgoing.flushHeaders();
    for (let part = await read; part && !part.done; part = await read) {
      read = reader?.read();
      // What is the last goes with the end, and the first with the headers: each packet costs as much as all else.
      const next = read && (await atOnce(read));
      if (next?.done === true) return void outgoing.end(part.value);
      if (!outgoing.write(part.value))
        await new Promise<void>((done) => {
          outgoing.once("drain", done);
          outgoing.once("close", done);
        });
    }
    outgoing.end();
  } catch (error) {
    // What is told to nobody else: a defect, or a connection that broke.
    if (!outgoing.destroyed)
      process.stderr.write(
        `contextweaver: ${safe(redactSecrets(error instanceof Error ? error.message : String(error)))}\n`,
      );
    // An end would say that what broke off is whole.
    if (outgoing.headersSent) return outgoing.destroy();
    outgoing.writeHead(500, {});
    outgoing.end();
  }
}

/** What a promise comes to if it does within this turn of the event loop. */
function atOnce<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, new Promise<undefined>((done) => setImmediate(() => done(undefined)))]);
}

/** A request of Node as the service reads it. */
export interface LocalRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }>; cancel(): Promise<void> } };
  readonly signal: { readonly aborted: boolean };
}

/** The same as a handler reads it that needs no `Request`. */
export function localRequest(incoming: Incoming, outgoing: Outgoing): LocalRequest {
  const get = (name: string): string | null => headerOf(incoming, name);
  const chunks = incoming[Symbol.asyncIterator]();
  const reader = {
    read: async (): Promise<{ done: boolean; value?: Uint8Array }> => {
      const { done, value } = await chunks.next();
      return done === true ? { done: true } : { done: false, value: value as Uint8Array };
    },
    // The rest is not read: the connection ends with the answer.
    cancel: async (): Promise<void> => void (await chunks.return?.()),
  };
  return {
    method: incoming.method ?? "GET",
    url: addressOf(incoming),
    headers: { get },
    body: { getReader: () => reader },
    signal: {
      get aborted() {
        return outgoing.destroyed;
      },
    },
  };
}

/** The same as a `Request`, which is aborted when the client goes. */
export function webRequest(incoming: Incoming, outgoing: Outgoing): Request {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort(new Error("the client has gone")));
  const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const method = incoming.method ?? "GET";
  const hasBody = method !== "GET" && method !== "HEAD";
  const chunks = incoming[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value as Uint8Array);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
  const init = { method, headers, signal: gone.signal, ...(hasBody && { body, duplex: "half" }) };
  return keptRequest(addressOf(incoming), init);
}

function headerOf({ headers }: Incoming, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return value === undefined ? null : String(value);
}

/** Methods that no `Request` has. */
const UNASKED = ["CONNECT", "TRACE", "TRACK"];

/** Whether a request is one that can be answered: of two hosts another reader may take the other. */
function isAsked(incoming: Incoming): boolean {
  const hosts = incoming.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host");
  return hosts.length <= 1 && !UNASKED.includes(incoming.method ?? "") && isAddress(addressOf(incoming));
}

/** The headers of an answer, of which cookies are as many as there are. */
function headersOf(headers: Headers): Readonly<Record<string, string | readonly string[]>> {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 && { "set-cookie": cookies }) };
}

/** Whether a request can be for an address: its client says the host, and may say anything. */
function isAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username === "" && password === "";
}

function addressOf(incoming: Incoming): string {
  return `http://${headerOf(incoming, "host") ?? "localhost"}${incoming.url ?? "/"}`;
}
