// `contextweaver serve`: the service of sessions on this machine, in a file of SQLite or a folder.
import process from "node:process";
import { ContextWeaverError } from "../api.js";
import { hostName, isLoopback } from "../mcp/mcp-access.js";
import type { SessionService } from "../service.js";
import { isLocal, listen, localRequest } from "./http-server.js";
import type { LocalRequest } from "./http-server.js";
import { UsageError, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { safe } from "./print.js";
import { openedStore } from "./stored.js";

/** Imported by the name of the package when the command runs: no other needs it. */
const SERVICE: string = "contextweaver/service";

const PORT = 8321;
const DAY_MS = 86_400_000;
/** Between looks for sessions that are idle. */
const PRUNE_MS = 3_600_000;

/** Runs the command, until the process ends. */
export async function serve({ files, values }: CommandLine): Promise<string> {
  if (files.length > 0) throw new UsageError("serve takes no arguments");
  const path = values["store"] as string | undefined;
  if (path === undefined)
    throw new UsageError("serve needs --store: a file such as sessions.db for SQLite, or a folder");
  const host = (values["host"] as string | undefined) ?? "127.0.0.1";
  const port = wholeNumber(values, "port") ?? PORT;
  const token = (values["token"] as string | undefined) ?? process.env["CONTEXTWEAVER_TOKEN"];
  if (token === undefined && !isLocal(host))
    throw new UsageError("beyond this machine serve needs --token, or CONTEXTWEAVER_TOKEN");
  const { sessionHandler } = (await import(SERVICE)) as typeof import("../service.js");
  const idle_days = wholeNumber(values, "idle-days");
  const store = await openedStore(path);
  const handler = sessionHandler<LocalRequest>({
    store,
    ...(token === undefined ? { authorize: local } : { token }),
    onError,
  });
  const at = await listen(host, port, (incoming, outgoing) => handler(localRequest(incoming, outgoing)));
  process.stdout.write(`listening on ${at}\n`);
  if (idle_days !== undefined) {
    const prune = (): void => void removeIdle(handler, idle_days).catch(onError);
    prune();
    setInterval(prune, PRUNE_MS);
  }
  return new Promise(() => {});
}

function onError(error: unknown): void {
  process.stderr.write(
    `contextweaver: ${safe(ContextWeaverError.is(error) ? `${error.code}: ${error.message}` : String(error))}\n`,
  );
}

async function removeIdle(handler: SessionService<LocalRequest>, days: number): Promise<void> {
  const { length } = await handler.prune({ idle_ms: days * DAY_MS });
  if (length > 0)
    process.stdout.write(
      `removed ${length} session${length === 1 ? "" : "s"} that nobody wrote to for ${days} day${days === 1 ? "" : "s"}\n`,
    );
}

/** Without a token only programs of this machine may ask; a page that pointed a name of its own here sends that name. */
function local({ headers }: LocalRequest): { tenant: string } | undefined {
  return isLoopback(hostName(headers.get("host") ?? "")) ? { tenant: "default" } : undefined;
}
