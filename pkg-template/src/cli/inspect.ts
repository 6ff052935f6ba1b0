// `contextweaver inspect`: serves the page with a session in it, to this machine alone, until the program is stopped.
import process from "node:process";
import { readRecording } from "../audit/recording.js";
import { openBrowser } from "./browser.js";
import { listen, localRequest } from "./http-server.js";
import type { LocalRequest } from "./http-server.js";
import { PAGE_HEADERS, PAGE_HOST, pathsBehind, unguessable } from "./local-page.js";
import { UsageError, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { pageFile, pageWith } from "./page-files.js";
import { safe } from "./print.js";
import { nameOf, readText } from "./read-text.js";
import { several } from "./session.js";

/** The path at which the page fetches the session. */
const FILE = "file";
/** Most bytes of a session: a string of a JavaScript engine cannot be much longer. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Most problems of a file that an error names. */
const MAX_PROBLEMS = 10;

/** Runs the command, until the process ends. */
export async function inspect({ files, values }: CommandLine): Promise<string> {
  const [file] = files;
  if (file === undefined || files.length > 1)
    throw new UsageError("inspect takes one session of an agent, snapshot or list of messages: a file, or - for stdin");
  const bytes = new TextEncoder().encode(await readText(file));
  if (bytes.length > MAX_BYTES)
    throw new UsageError(`${nameOf(file)} has more than ${MAX_BYTES.toLocaleString("en")} bytes`, "input");
  await check(bytes, nameOf(file));
  const page = pageWith(nameOf(file).split(/[\\/]/).at(-1) ?? "");
  const token = unguessable();
  const handler = pageHandler(token, page, bytes);
  const at = await listen(PAGE_HOST, wholeNumber(values, "port") ?? 0, async (incoming, outgoing) =>
    handler(localRequest(incoming, outgoing)),
  );
  const address = `${at}/${token}/`;
  process.stdout.write(`${safe(nameOf(file))} is at ${address} until you stop this program (Ctrl-C)\n`);
  if (values["no-open"] !== true) openBrowser(address);
  return new Promise(() => {});
}

/** Refuses what the page could not show, in the words of the page. */
async function check(bytes: Uint8Array, name: string): Promise<void> {
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  const { agent, conversations, otherwise, problems, problem_count: count } = await readRecording(whole(), name);
  if (agent !== undefined && conversations.length > 0) return;
  const told = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ line, reason }) => (line === undefined ? reason : `line ${line}: ${reason}`));
  throw new UsageError(
    [`${name}: ${otherwise ?? "There is no message in it."}`, several(told, count)]
      .filter((part) => part !== "")
      .join("\n"),
    "input",
  );
}

/** Answers requests below the secret path; any other gets a 404. */
export function pageHandler(
  token: string,
  { html, policy }: ReturnType<typeof pageWith>,
  file: Uint8Array<ArrayBuffer>,
): (request: LocalRequest) => Response {
  const pathOf = pathsBehind(token);
  const own = { html: new TextEncoder().encode(html), file };
  const common = { ...PAGE_HEADERS, "content-security-policy": policy };
  return (request) => {
    const { method, headers } = request;
    const name = pathOf(request, headers.get("host") ?? "");
    if (name === undefined) return refusal(404, "Not Found");
    if (method !== "GET" && method !== "HEAD") return refusal(405, "Method Not Allowed");
    const found =
      name === ""
        ? { type: "text/html; charset=utf-8", bytes: own.html }
        : name === FILE
          ? { type: "application/octet-stream", bytes: own.file }
          : pageFile(name);
    if (!found) return refusal(404, "Not Found");
    return new Response(method === "HEAD" ? null : found.bytes, { headers: { ...common, "content-type": found.type } });
  };
}

function refusal(status: number, reason: string): Response {
  return new Response(`${status} ${reason}\n`, {
    status,
    headers: { ...PAGE_HEADERS, "content-type": "text/plain; charset=utf-8" },
  });
}
