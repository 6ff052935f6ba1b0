// `contextweaver serve`: the service of sessions on this machine, in a file of SQLite or a folder.
import { createServer } from "node:http";
import type { Incoming, Outgoing } from "node:http";
import process from "node:process";
import { ContextWeaverError } from "../api.js";
import type { SessionService } from "../service.js";
import type { SessionStore } from "../storage/storage-types.js";
import { UsageError, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { safe } from "./print.js";

/** Imported by the name of the package when the command runs: no other needs them. */
const SERVICE: string = "contextweaver/service";
const NODE: string = "contextweaver/node";
const SQLITE: string = "node:sqlite";

const PORT = 8321;
const DAY_MS = 86_400_000;
/** Between looks for sessions that are idle. */
const PRUNE_MS = 3_600_000;
/** Names by which only this machine is meant. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Runs the command, until the process ends. */
export async function serve({ files, values }: CommandLine): Promise<string> {
  if (files.length > 0) throw new UsageError("serve takes no arguments");
  const path = values["store"] as string | undefined;
  if (path === undefined) throw new UsageError("serve needs --store: a file such as sessions.db for SQLite, or a folder");
  const host = (values["host"] as string | undefined) ?? "127.0.0.1";
  const port = wholeNumber(values, "port") ?? PORT;
  const token = (values["token"] as string | undefined) ?? process.env["CONTEXTWEAVER_TOKEN"];
  if (token === undefined && !LOOPBACK.test(host)) throw new UsageError("beyond this machine serve needs --token, or CONTEXTWEAVER_TOKEN");
  const { sessionHandler } = (await import(SERVICE)) as typeof import("../service.js");
  const idle_days = wholeNumber(values, "idle-days");
  const store = await opened(path);
  const handler = sessionHandler<LocalRequest>({
    store,
    ...(token === undefined ? { authorize: local } : { token }),
    onError,
  });
  const server = createServer((incoming, outgoing) => void answer(handler, incoming, outgoing));
  return new Promise((_, fail) => {
    server.on("error", (error) => fail(new UsageError(`cannot listen on ${host}:${port}: ${error.code ?? "unknown"}`, "input")));
    server.listen(port, host, () => {
      const { port: at } = server.address();
      process.stdout.write(`listening on http://${host.includes(":") ? `[${host}]` : host}:${at}\n`);
      if (idle_days === undefined) return;
      const prune = (): void => void removeIdle(handler, idle_days).catch(onError);
      prune();
      setInterval(prune, PRUNE_MS);
    });
  });
}

function onError(error: unknown): void {
  process.stderr.write(`contextweaver: ${safe(ContextWeaverError.is(error) ? `${error.code}: ${error.message}` : String(error))}\n`);
}

async function removeIdle(handler: SessionService<LocalRequest>, days: number): Promise<void> {
  const { length } = await handler.prune({ idle_ms: days * DAY_MS });
  if (length > 0) process.stdout.write(`removed ${length} session${length === 1 ? "" : "s"} that nobody wrote to for ${days} day${days === 1 ? "" : "s"}\n`);
}

async function opened(path: string): Promise<SessionStore> {
  const { fileStore, sqliteStore } = (await import(NODE)) as typeof import("../node.js");
  if (!/\.(?:db|sqlite3?)$/.test(path)) return fileStore(path);
  try {
    const { DatabaseSync } = (await import(SQLITE)) as { DatabaseSync: new (path: string) => Parameters<typeof sqliteStore>[0] };
    return sqliteStore(new DatabaseSync(path), { clock: Date.now });
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_UNKNOWN_BUILTIN_MODULE") throw new UsageError(`cannot open ${path}: ${(error as Error).message}`, "input");
    throw new UsageError("this Node has no node:sqlite (from 22.13 on): give --store a folder", "input");
  }
}

/** A request of Node as the service reads it. */
interface LocalRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }>; cancel(): Promise<void> } };
  readonly signal: { readonly aborted: boolean };
}

/** Without a token only programs of this machine may ask; a page that pointed a name of its own here sends that name. */
function local({ headers }: LocalRequest): { tenant: string } | undefined {
  const host = (headers.get("host") ?? "").replace(/:\d+$/, "");
  return LOOPBACK.test(host) ? { tenant: "default" } : undefined;
}

async function answer(handler: (request: LocalRequest) => Promise<Response>, incoming: Incoming, outgoing: Outgoing): Promise<void> {
  try {
    const response = await handler(requestOf(incoming, outgoing));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    const reader = response.body?.getReader();
    outgoing.on("close", () => void reader?.cancel().catch(() => undefined));
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      if (!outgoing.write(read.value)) await new Promise<void>((done) => {
        outgoing.once("drain", done);
        outgoing.once("close", done);
      });
    }
    outgoing.end();
  } catch {
    // An address that is none, or a connection that broke.
    if (!outgoing.headersSent) outgoing.writeHead(400, {});
    outgoing.end();
  }
}

function requestOf(incoming: Incoming, outgoing: Outgoing): LocalRequest {
  const get = (name: string): string | null => {
    const value = incoming.headers[name.toLowerCase()];
    return value === undefined ? null : String(value);
  };
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
    url: `http://${get("host") ?? "localhost"}${incoming.url ?? "/"}`,
    headers: { get },
    body: { getReader: () => reader },
    signal: {
      get aborted() {
        return outgoing.destroyed;
      },
    },
  };
}
