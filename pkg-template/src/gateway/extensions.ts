// Extensions of the protocol that servers have and the gateway passes on: their capability and their methods.
import { firstKnown } from "./first-known.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND } from "./rpc-codes.js";
import type { Fields, RequestContext, SdkServer } from "./server-sdk.js";
import { TASKS } from "./task-wire.js";

const SKILLS = "io.modelcontextprotocol/skills";
/** Views of servers (MCP Apps). It has no methods of its own between clients and servers. */
export const UI = "io.modelcontextprotocol/ui";
/** What a host says of the views that it shows. */
export const VIEWS = { mimeTypes: ["text/html;profile=mcp-app"] };

/** The methods of each extension: lists of all servers are one list, and what has an address is asked of each until one knows it. */
const METHODS: Readonly<Record<string, Readonly<Record<string, "list" | "address">>>> = {
  [SKILLS]: { "skills/list": "list", "skills/get": "address", "resources/directory/read": "address" },
  [UI]: {},
  // Its methods are about tasks that have other names here.
  [TASKS]: {},
};
/** The SDK checks requests of methods that it does not know by what it is given; servers check theirs. */
const ANY = { "~standard": { version: 1, vendor: "contextweaver", validate: (value: unknown) => ({ value }) } };

/** Methods whose results say in revision 2026-07-28 how long they hold, with what is said for servers that do not know it: not at all. */
const CACHED = ["skills/list", "skills/get"];
const NOT_CACHED = { ttlMs: 0, cacheScope: "private" };

/** What is needed of a front. */
export interface ExtensionHost {
  readonly is_modern: boolean;
  /** Extensions that servers declare, by server, in the order of the configuration. */
  declared(): ReadonlyMap<string, Fields>;
  started(): Promise<void>;
  /** Passes a request on and its result back. */
  pass(server: string, method: string, params: Fields, context: RequestContext): Promise<Fields>;
  /** What the client is told of an error. */
  told(error: unknown): Error;
  error(code: number, message: string): Error;
  onError(error: unknown): void;
}

/** Whether a client shows views. */
export function showsViews({ extensions }: Fields): boolean {
  return (extensions as Fields | undefined)?.[UI] !== undefined;
}

/**
 * The capability `extensions` of the gateway: what any of its servers can do; nothing where none has an extension that is known. Many
 * servers that have views do not declare them.
 */
export function extensionsOf(declared: ReadonlyMap<string, Fields>, has_views: boolean): Fields | undefined {
  const all: Record<string, Record<string, unknown>> = has_views ? { [UI]: {} } : {};
  for (const extensions of declared.values()) {
    for (const id of Object.keys(METHODS)) {
      const given = extensions[id];
      if (typeof given !== "object" || given === null) continue;
      const merged = (all[id] ??= {});
      for (const [name, value] of Object.entries(given as Fields))
        if (merged[name] === undefined || value === true) merged[name] = value;
    }
  }
  return Object.keys(all).length > 0 ? all : undefined;
}

/** Takes requests of the methods of extensions. */
export function registerExtensions(server: SdkServer, host: ExtensionHost): void {
  for (const [id, methods] of Object.entries(METHODS)) {
    for (const [method, kind] of Object.entries(methods)) {
      server.setRequestHandler(method, { params: ANY }, async (params, context) => {
        await host.started();
        const having = [...host.declared()]
          .filter(([, extensions]) => extensions[id] !== undefined)
          .map(([name]) => name);
        if (having.length === 0) throw host.error(METHOD_NOT_FOUND, `no server has the extension ${id}`);
        const result = await (kind === "list"
          ? page(host, having, method, params, context)
          : first(host, having, method, params, context));
        return host.is_modern && CACHED.includes(method) ? { ...NOT_CACHED, ...result } : result;
      });
    }
  }
}

/** A page of one server's list; the next one is of the next server when that has come to its end. */
async function page(
  host: ExtensionHost,
  having: readonly string[],
  method: string,
  { cursor, ...params }: Fields,
  context: RequestContext,
): Promise<Fields> {
  const [start = "", within] = cursor === undefined ? [having[0]] : placeOf(cursor, host);
  const begin = having.indexOf(start);
  if (begin === -1) throw host.error(INVALID_PARAMS, "this cursor is not one of the gateway, or its server has gone");
  let failed: unknown;
  for (const [place, name] of having.entries()) {
    if (place < begin) continue;
    try {
      const { nextCursor, ...result } = await host.pass(
        name,
        method,
        { ...params, ...(place === begin && within !== undefined && { cursor: within }) },
        context,
      );
      const after =
        typeof nextCursor === "string"
          ? [name, nextCursor]
          : having[place + 1] === undefined
            ? undefined
            : [having[place + 1]];
      return { ...result, ...(after && { nextCursor: JSON.stringify(after) }) };
    } catch (error) {
      // What one server cannot list is no reason to hide what the others have.
      failed = error;
      if (having.length > 1) host.onError(error);
    }
  }
  throw host.told(failed);
}

function placeOf(cursor: unknown, host: ExtensionHost): readonly [string, string?] {
  try {
    const place = JSON.parse(String(cursor)) as unknown;
    if (Array.isArray(place) && place.length <= 2 && place.every((part) => typeof part === "string"))
      return place as unknown as [string, string?];
  } catch {
    // Said below.
  }
  throw host.error(INVALID_PARAMS, "this cursor is not one of the gateway");
}

/** The answer of the first server that has what is asked for. */
async function first(
  host: ExtensionHost,
  having: readonly string[],
  method: string,
  params: Fields,
  context: RequestContext,
): Promise<Fields> {
  try {
    return await firstKnown(having, (name) => host.pass(name, method, params, context));
  } catch (error) {
    throw host.told(error);
  }
}
