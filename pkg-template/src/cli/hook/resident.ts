// A process that is there anyway, the server of MCP that an agent has started, answers for hooks: they need not load the engine then.
import { chmodSync, unlinkSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import type { Socket } from "node:net";
import process from "node:process";
import type { ProjectResult, ProjectResults, ProjectResultsOptions } from "./results.js";

/** How results are shown, as the hook was told. */
export type HookOptions = Pick<ProjectResultsOptions, "result_tokens" | "mask" | "drilldown">;

/** What stands in the place of a result; absent where it passes as it is. */
interface Reply {
  readonly text?: string;
  readonly error?: string;
}

/** Milliseconds that a hook waits before it does the work itself. */
const PATIENCE_MS = 5_000;
/** UTF-16 units of a request, at most. */
const MAX_REQUEST = 2 ** 25;
/** Bytes of an address; systems take little more than a hundred. */
const MAX_ADDRESS = 100;

/** Where it listens; nowhere on Windows, and where the path is too long. */
function addressIn(folder: string): string | undefined {
  const address = `${folder}/hook.sock`;
  return process.platform === "win32" || new TextEncoder().encode(address).length > MAX_ADDRESS ? undefined : address;
}

/** Answers hooks until the process ends. The one that began last answers. */
export function serveHooks(
  folder: string,
  open: (options: HookOptions) => ProjectResults,
  onError: (error: unknown) => void,
): void {
  const address = addressIn(folder);
  if (address === undefined) return;
  const answer = async (request: string): Promise<Reply> => {
    const { options, result } = JSON.parse(request) as {
      readonly options: HookOptions;
      readonly result: ProjectResult;
    };
    // A session for each result, as hooks that work by themselves have it: what others have read of it never changes.
    const results = open(options);
    try {
      const text = await results.entered(result);
      return text === undefined ? {} : { text };
    } finally {
      await results.close();
    }
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    void received(socket, MAX_REQUEST)
      .then(answer)
      .catch((error: unknown): Reply => (onError(error), { error: "failed" }))
      .then((reply) => socket.end(JSON.stringify(reply)));
  });
  server.on("error", onError);
  try {
    unlinkSync(address);
  } catch {
    // Nobody was there.
  }
  // For this user alone.
  server.listen(address, () => chmodSync(address, 0o600));
  server.unref();
}

/** Asks whoever answers for hooks in a folder; rejects where nobody does. */
export async function asked(folder: string, options: HookOptions, result: ProjectResult): Promise<string | undefined> {
  const address = addressIn(folder);
  if (address === undefined) throw new Error("no address");
  const socket = createConnection(address);
  const timer = setTimeout(() => socket.destroy(new Error("no answer")), PATIENCE_MS);
  try {
    socket.end(JSON.stringify({ options, result }));
    const { text, error } = JSON.parse(await received(socket, MAX_REQUEST)) as Reply;
    if (error !== undefined) throw new Error(error);
    return text;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** Reads what comes, to its end; the socket stays open for the answer. */
function received(socket: Socket, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  return new Promise((done, fail) => {
    socket.on("data", (part) => {
      text += decoder.decode(part, { stream: true });
      if (text.length > most) socket.destroy(new Error("too much"));
    });
    socket.on("end", () => done(text + decoder.decode()));
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("it broke off")));
  });
}
