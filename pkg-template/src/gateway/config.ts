// Reads what desktop clients and editors write about MCP servers. Pure: documents and the environment are arguments.
//
// INVARIANT: no value of `env`, `headers`, `args`, `oauth` or a variable gets into an error or a warning; names do.
import { ContextWeaverError } from "../boundary/errors.js";
import { encode, fields } from "../boundary/guard.js";
import { token } from "../boundary/guard-errors.js";
import { nearest } from "../boundary/nearest.js";
import type { JsonObject } from "../types.js";
import type { ConfigDocument, ConfigWarning, ServerConfig, ServersConfig } from "./config-types.js";
import { Expansion } from "./expand.js";
import type { Environment } from "./expand.js";
import { shown } from "./jsonc.js";
import { concealed } from "./server-description.js";
import { isLegalName, legalName } from "./server-names.js";
import { ServerReader, isDisabled } from "./server-reader.js";

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
 * A server that cannot be used as it is written is left out, with a warning that says why, as long as another one is left; fields of other
 * programs, and those nobody knows, are warnings: these files are shared. Errors, with the path in the document, and its name where there
 * are several: `MISSING_FIELD` when no document has servers, what is wrong with the first server when none can be used, `DUPLICATE_ID` when
 * two documents say different things of one name. What is wrong with a server: `MISSING_FIELD` without `command` and `url`,
 * `INVALID_INPUT`, `OUT_OF_RANGE`, `NOT_FOUND` for a variable that is not set, `UNSUPPORTED` for what only an editor can supply.
 */
export function readServers(documents: readonly ConfigDocument[], environment: Environment): ServersConfig {
  const { failures, ...config } = examineServers(documents, environment);
  const [first, ...others] = failures;
  if (config.servers.length > 0) return config;
  if (first === undefined) {
    const hint =
      'such as {"mcpServers": {"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}}}';
    throw new ContextWeaverError("MISSING_FIELD", "there is no server in `mcpServers` or `servers`", {
      path: "/mcpServers",
      hint,
    });
  }
  if (others.length === 0) throw first;
  const { code, message, path, hint = "" } = first;
  throw new ContextWeaverError(code, message, {
    path,
    hint: `${hint}${hint && "; "}${others.length} more cannot be used, either: \`contextweaver gateway doctor\` says why`,
  });
}

/** The same with no server, where none can be used, and with what is wrong with those that are left out. @internal */
export function examineServers(
  documents: readonly ConfigDocument[],
  environment: Environment,
): ServersConfig & { readonly failures: readonly ContextWeaverError[] } {
  const warnings: ConfigWarning[] = [];
  const failures: ContextWeaverError[] = [];
  const found = new Map<string, Found>();
  const entries: Entry[] = [];
  let gateway: { readonly file: string; readonly json: string; readonly value: JsonObject } | undefined;
  for (const { file, value } of documents) {
    within(file, documents.length, () => {
      const { gateway: options, ...rest } = objectAt(value, "");
      for (const table of tablesOf(rest, file, warnings)) {
        for (const [name, written] of Object.entries(table.servers))
          entries.push({ file, name, written, path: `${table.path}/${token(name)}` });
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
  const names = namesOf(entries);
  for (const entry of entries) {
    try {
      within(entry.file, documents.length, () =>
        addServer({ found, warnings, environment, legal: names.get(entry.name) ?? entry.name, ...entry }),
      );
    } catch (error) {
      // Which of two is meant is for nobody to guess.
      if (!(error instanceof ContextWeaverError) || error.code === "DUPLICATE_ID") throw error;
      failures.push(error);
      warnings.push(leftOut(entry, error));
    }
  }
  return {
    servers: [...found.values()].map(({ config }) => config),
    ...(gateway && { gateway: gateway.value }),
    warnings,
    failures,
  };
}

/** A server as it stands in a document. */
interface Entry {
  readonly file: string;
  readonly name: string;
  readonly written: unknown;
  readonly path: string;
}

/** Legal names of those that are not, in their order: names that are legal as they are go first. */
function namesOf(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const taken = new Set(entries.map(({ name }) => name).filter(isLegalName));
  const names = new Map<string, string>();
  for (const { name } of entries) {
    if (isLegalName(name) || names.has(name)) continue;
    const legal = legalName(name, taken);
    taken.add(legal);
    names.set(name, legal);
  }
  return names;
}

/** Says of a server that it is left out. @internal */
export function leftOut({ file, name, written, path }: Entry, error: ContextWeaverError): ConfigWarning {
  const code = isDisabled(written) ? "DISABLED" : "LEFT_OUT";
  const message = `the server \`${shown(name)}\` ${code === "DISABLED" ? "is disabled, and could not be used" : "is left out"}: ${error.message}`;
  return { code, file, path: error.path ?? path, message, ...(error.hint !== undefined && { hint: error.hint }) };
}

interface Addition extends Entry {
  readonly found: Map<string, Found>;
  readonly warnings: ConfigWarning[];
  readonly environment: Environment;
  /** The name that the server has here. */
  readonly legal: string;
}

function addServer({ found, warnings, environment, file, name, legal, written, path }: Addition): void {
  checkName(name, path);
  const expansion = new Expansion(environment);
  const own: ConfigWarning[] = [];
  const warn = (warning: Omit<ConfigWarning, "file">): void => void own.push({ file, ...warning });
  const read = new ServerReader(legal, objectAt(written, path), path, expansion, warn).read();
  const config = legal === name ? read : { ...read, configured_name: name };
  if (legal !== name)
    warn({
      code: "RENAMED",
      path,
      message: `the server \`${shown(name)}\` is called \`${legal}\` here`,
      hint: "its tools carry the name: letters, digits, `_`, `.` and `-`, at most 64",
    });
  warnings.push(...own);
  const json = canonical(config);
  const other = found.get(name);
  if (other === undefined) {
    if (found.size >= MAX_SERVERS)
      throw new ContextWeaverError("TOO_LARGE", `more than ${MAX_SERVERS} servers`, { path });
    found.set(name, { config: concealed(config, expansion), file, json });
  } else if (other.json !== json) {
    const where =
      other.file === file ? `twice in \`${shown(file)}\`` : `in \`${shown(other.file)}\` and in \`${shown(file)}\``;
    const message = `the server \`${token(name)}\` stands ${where}, with different settings`;
    throw new ContextWeaverError("DUPLICATE_ID", message, { path, hint: "rename one of them, or remove it" });
  }
}

/** The same text for the same settings, whatever the order of their fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function checkName(name: string, path: string): void {
  if (name.trim() === "" || name.length > 128 || /[\p{Cc}\p{Cs}]/u.test(name)) {
    throw new ContextWeaverError(
      "INVALID_INPUT",
      "a server has a name of 1 to 128 characters, none of them a control character",
      { path },
    );
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
    if (document[table] !== undefined)
      tables.push({ path: `/${table}`, servers: objectAt(document[table], `/${table}`) });
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
    warnings.push({
      code: "UNKNOWN_FIELD",
      file,
      path: `/${token(name)}`,
      message: `unknown field \`${token(name)}\``,
      hint: `did you mean \`${meant}\`?`,
    });
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
