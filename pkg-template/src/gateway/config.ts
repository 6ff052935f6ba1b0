// Reads what desktop clients and editors write about MCP servers. Pure: documents and the environment are arguments.
//
// INVARIANT: no value of `env`, `headers`, `args`, `oauth` or a variable gets into an error or a warning; names do.
import { ContextWeaverError } from "../errors.js";
import { encode, fields, token } from "../guard.js";
import { nearest } from "../nearest.js";
import type { JsonObject } from "../types.js";
import type { ConfigDocument, ConfigWarning, ServerConfig, ServersConfig } from "./config-types.js";
import { Expansion } from "./expand.js";
import type { Environment } from "./expand.js";
import { shown } from "./jsonc.js";
import { concealed } from "./server-description.js";
import { ServerReader } from "./server-reader.js";

export { parseConfigText } from "./jsonc.js";
export { describeServer } from "./server-description.js";
export type { Environment } from "./expand.js";
export type * from "./config-types.js";

/** Most servers of all documents. */
export const MAX_SERVERS = 1_000;
/** Where programs keep their servers. */
const TABLES = ["mcpServers", "servers"] as const;

interface Found {
  readonly config: ServerConfig;
  readonly file: string;
  /** The server as JSON, to compare two of one name. */
  readonly json: string;
}

/**
 * Reads documents with MCP servers: `mcpServers` of Claude, Cursor, Windsurf and others, `servers` of VS Code (`mcp.servers` in its
 * settings), and a `gateway` object with options of the runtime. Variables are taken from `environment` and nowhere else.
 *
 * Errors, with the path in the document, and its name where there are several: `MISSING_FIELD` when a server has neither `command`
 * nor `url` or no document has servers, `INVALID_INPUT`, `OUT_OF_RANGE`, `NOT_FOUND` for a variable that is not set, `UNSUPPORTED` for
 * what only an editor can supply, `DUPLICATE_ID` when two documents say different things of one name. Fields of other programs, and
 * those nobody knows, are warnings: these files are shared.
 */
export function readServers(documents: readonly ConfigDocument[], environment: Environment): ServersConfig {
  const warnings: ConfigWarning[] = [];
  const found = new Map<string, Found>();
  let gateway: { readonly file: string; readonly json: string; readonly value: JsonObject } | undefined;
  for (const { file, value } of documents) {
    within(file, documents.length, () => {
      const { gateway: options, ...rest } = objectAt(value, "");
      for (const table of tablesOf(rest, file, warnings)) {
        for (const [name, written] of Object.entries(table.servers)) addServer({ found, warnings, environment, file, name, written, path: `${table.path}/${token(name)}` });
      }
      if (options === undefined) return;
      const json = encode(options, "/gateway");
      objectAt(options, "/gateway");
      if (gateway !== undefined && gateway.json !== json) {
        const message = `\`${shown(gateway.file)}\` and \`${shown(file)}\` both have \`gateway\`, with different options`;
        throw new ContextWeaverError("DUPLICATE_ID", message, { path: "/gateway", hint: "keep one of them" });
      }
      gateway ??= { file, json, value: JSON.parse(json) as JsonObject };
    });
  }
  if (found.size === 0) {
    const hint = 'such as {"mcpServers": {"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}}}';
    throw new ContextWeaverError("MISSING_FIELD", "there is no server in `mcpServers` or `servers`", { path: "/mcpServers", hint });
  }
  return { servers: [...found.values()].map(({ config }) => config), ...(gateway && { gateway: gateway.value }), warnings };
}

interface Addition {
  readonly found: Map<string, Found>;
  readonly warnings: ConfigWarning[];
  readonly environment: Environment;
  readonly file: string;
  readonly name: string;
  readonly written: unknown;
  readonly path: string;
}

function addServer({ found, warnings, environment, file, name, written, path }: Addition): void {
  checkName(name, path);
  const expansion = new Expansion(environment);
  const warn = (warning: Omit<ConfigWarning, "file">): void => void warnings.push({ file, ...warning });
  const config = new ServerReader(name, objectAt(written, path), path, expansion, warn).read();
  const json = canonical(config);
  const other = found.get(name);
  if (other === undefined) {
    if (found.size >= MAX_SERVERS) throw new ContextWeaverError("TOO_LARGE", `more than ${MAX_SERVERS} servers`, { path });
    found.set(name, { config: concealed(config, expansion), file, json });
  } else if (other.json !== json) {
    const where = other.file === file ? `twice in \`${shown(file)}\`` : `in \`${shown(other.file)}\` and in \`${shown(file)}\``;
    const message = `the server \`${token(name)}\` stands ${where}, with different settings`;
    throw new ContextWeaverError("DUPLICATE_ID", message, { path, hint: "rename one of them, or remove it" });
  }
}

/** The same text for the same settings, whatever the order of their fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

function checkName(name: string, path: string): void {
  if (name.trim() === "" || name.length > 128 || /[\p{Cc}\p{Cs}]/u.test(name)) {
    throw new ContextWeaverError("INVALID_INPUT", "a server has a name of 1 to 128 characters, none of them a control character", { path });
  }
}

interface Table {
  readonly path: string;
  readonly servers: Record<string, unknown>;
}

/** The objects of a document in which servers stand by name. */
function tablesOf(document: Record<string, unknown>, file: string, warnings: ConfigWarning[]): Table[] {
  const tables: Table[] = [];
  for (const table of TABLES) {
    if (document[table] !== undefined) tables.push({ path: `/${table}`, servers: objectAt(document[table], `/${table}`) });
  }
  // The settings of VS Code have them one level deeper; the same name is used otherwise by others.
  const { mcp } = document;
  if (typeof mcp === "object" && mcp !== null && !Array.isArray(mcp)) {
    const { servers } = objectAt(mcp, "/mcp");
    if (servers !== undefined) tables.push({ path: "/mcp/servers", servers: objectAt(servers, "/mcp/servers") });
  }
  // Whole settings of other programs are read, too: only what looks like a slip is worth a word.
  for (const name of Object.keys(document)) {
    const meant = [...TABLES, "mcp", "inputs"].includes(name) ? undefined : nearest(name, [...TABLES, "gateway"]);
    if (meant === undefined) continue;
    warnings.push({ code: "UNKNOWN_FIELD", file, path: `/${token(name)}`, message: `unknown field \`${token(name)}\``, hint: `did you mean \`${meant}\`?` });
  }
  return tables;
}

function objectAt(value: unknown, path: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return fields(value, path);
  const hint = path === "" ? "an object with `mcpServers` or `servers`" : undefined;
  throw new ContextWeaverError("INVALID_INPUT", "expected an object", { path, hint });
}

/** Says of an error in which of several documents it is. */
function within(file: string, documents: number, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (documents < 2 || !(error instanceof ContextWeaverError) || error.code === "DUPLICATE_ID") throw error;
    const { code, message, path, hint } = error;
    throw new ContextWeaverError(code, `in \`${shown(file)}\`: ${message}`, { path, hint });
  }
}
