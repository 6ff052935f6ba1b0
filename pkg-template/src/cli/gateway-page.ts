// The page of a running gateway: servers, what was saved, what was refused, and quarantine with accept. On a loopback address of its own,
// under a path that nobody guesses.
import process from "node:process";
import { ContextWeaverError } from "../index.js";
import { MODEL_PRICES } from "../audit/model-prices.js";
import type { GatewayCallCompleted, GatewayHooks } from "../gateway/hook-types.js";
import type { Gateway, GatewayServerEvent } from "../gateway/gateway.js";
import type { QuarantinedTool } from "../gateway/runtime-types.js";
import { BodyError, readBody } from "../mcp/http-body.js";
import type { BodyRequest } from "../mcp/http-body.js";
import { gatewayPage } from "./gateway-page-html.js";
import { listen, webRequest } from "./http-server.js";
import { PAGE_HEADERS, PAGE_HOST, pathsBehind, unguessable } from "./local-page.js";
import { safe } from "./print.js";

/** Lines of the log that are kept. */
const MAX_LINES = 500;
const MAX_BODY = 64 * 1024;

/** A line of the log. */
interface LogLine {
  readonly at: number;
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

/** What the page shows beside what the gateway counts: what was told since the start. */
export class GatewayLog {
  readonly #lines: LogLine[] = [];
  readonly #quarantine = new Map<string, readonly QuarantinedTool[]>();

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** Tools in quarantine, as their servers listed them last. */
  get quarantine(): readonly { readonly server: string; readonly tool: string; readonly reasons: readonly string[] }[] {
    return [...this.#quarantine].flatMap(([server, tools]) =>
      tools.map(({ name, reasons }) => ({ server, tool: name, reasons: reasons.map(({ message }) => message) })),
    );
  }

  readonly onServer = ({ server, status, detail, report, unmatched_rules = [] }: GatewayServerEvent): void => {
    if (report) {
      this.#quarantine.set(server, report.quarantined);
      this.#add(
        report.quarantined.length > 0 ? "warning" : "info",
        `${server}: ${report.tools} tools, ${report.quarantined.length} in quarantine`,
      );
    } else if (detail !== undefined) this.#add("warning", `${server} is ${status}: ${detail}`);
    for (const { path, tool } of unmatched_rules) this.#add("warning", `${path}: no tool is called ${tool}`);
  };

  readonly onError = (error: unknown): void =>
    this.#add(
      "error",
      ContextWeaverError.is(error)
        ? `${error.code}: ${error.message}`
        : error instanceof Error
          ? error.message
          : String(error),
    );

  /** Tells of each call when it has ended. */
  readonly hooks: GatewayHooks = {
    gateway_call_completed: (event: GatewayCallCompleted) => {
      const { server, name, method, duration_ms, error_type, tokens, shown_tokens } = event as GatewayCallCompleted & {
        readonly server?: string;
        readonly name?: string;
      };
      const size = tokens === undefined ? "" : `, ${shown_tokens ?? tokens} of ${tokens} tokens`;
      this.#add(
        error_type === undefined ? "info" : "warning",
        `${[server, name ?? method].filter((part) => part !== undefined).join("/")}: ${Math.round(duration_ms)} ms${size}${error_type === undefined ? "" : `, ${error_type}`}`,
      );
    },
  };

  accepted(server: string, names: readonly string[]): void {
    this.#quarantine.set(
      server,
      (this.#quarantine.get(server) ?? []).filter(({ name }) => !names.includes(name)),
    );
    this.#add("info", `accepted ${names.join(", ")} of ${server}`);
  }

  #add(level: LogLine["level"], text: string): void {
    this.#lines.push({ at: Date.now(), level, text: text.slice(0, 2_000) });
    this.#lines.splice(0, Math.max(0, this.#lines.length - MAX_LINES));
  }
}

/** Serves the page, and says where it is. */
export async function servePage(gateway: Gateway, log: GatewayLog, port: number): Promise<string> {
  const token = unguessable();
  const handler = pageHandler(gateway, log, token);
  const at = await listen(PAGE_HOST, port, (incoming, outgoing) => handler(webRequest(incoming, outgoing)));
  const address = `${at}/${token}/`;
  process.stderr.write(`contextweaver gateway: the page is at ${safe(address)}\n`);
  return address;
}

/** Answers who knows the path, on an address of this machine; a page of somewhere else, or under another name, finds nothing. */
export function pageHandler(gateway: Gateway, log: GatewayLog, token: string): (request: Request) => Promise<Response> {
  const pathOf = pathsBehind(token);
  return async (request) => {
    const { method, url, headers } = request;
    const part = pathOf(request, headers.get("host") ?? new URL(url).host);
    if (part === undefined) return new Response(null, { status: 404, headers: PAGE_HEADERS });
    if (method === "GET" && part === "") {
      const { html, policy } = gatewayPage(unguessable());
      return new Response(html, {
        headers: { ...PAGE_HEADERS, "content-type": "text/html; charset=utf-8", "content-security-policy": policy },
      });
    }
    if (method === "GET" && part === "data") return json(200, await dataOf(gateway, log));
    if (method === "POST" && part === "accept") return accept(request, gateway, log);
    return new Response(null, { status: 404, headers: PAGE_HEADERS });
  };
}

async function dataOf(gateway: Gateway, log: GatewayLog): Promise<object> {
  const { lines, quarantine } = log;
  const prices = MODEL_PRICES.map(({ match, input, as_of }) => ({ model: match[0] ?? "", input, as_of }));
  return { stats: gateway.stats(), servers: await gateway.servers(), quarantine, lines, prices };
}

/** Takes a tool out of quarantine. */
async function accept(request: Request, gateway: Gateway, log: GatewayLog): Promise<Response> {
  if (!/^application\/json\b/.test(request.headers.get("content-type") ?? ""))
    return json(415, { message: "expected JSON" });
  try {
    const { server, tool } = JSON.parse(await readBody(request as BodyRequest, MAX_BODY)) as {
      readonly server?: unknown;
      readonly tool?: unknown;
    };
    if (typeof server !== "string" || typeof tool !== "string")
      return json(400, { message: "expected { server, tool }" });
    const accepted = await gateway.accept(server, tool);
    log.accepted(server, accepted);
    return json(200, { accepted });
  } catch (error) {
    if (error instanceof BodyError || error instanceof SyntaxError)
      return json(400, { message: "the request is no JSON" });
    if (!ContextWeaverError.is(error)) throw error;
    return json(400, { code: error.code, message: error.message });
  }
}

function json(status: number, body: object): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...PAGE_HEADERS, "content-type": "application/json" },
  });
}
