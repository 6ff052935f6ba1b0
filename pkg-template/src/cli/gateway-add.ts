// `contextweaver gateway add`: writes an entry for a server that a server.json of the registry or a server card describes. It asks the
// address that its user names, and nobody else.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import process from "node:process";
import { ContextWeaverError } from "../index.js";
import { joined } from "../boundary/bytes.js";
import { registryEntry } from "../gateway/registry-entry.js";
import type { RegistryEntry, RegistryKind } from "../gateway/registry-entry.js";
import { isLoopback } from "../mcp/mcp-access.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { painter, safe, safeJson } from "./print.js";

const KINDS: readonly string[] = ["npm", "pypi", "oci", "nuget", "remote"];
/** Bytes of a document. */
const MAX_BYTES = 2 ** 20;
const PATIENCE_MS = 15_000;
/** Where a server may have its card, from its own address and from its host. */
const CARDS: readonly ((address: URL) => string)[] = [
  ({ origin, pathname }) => `${origin}${pathname.replace(/\/$/, "")}/server-card`,
  ({ origin }) => `${origin}/.well-known/mcp/server-card`,
  ({ origin }) => `${origin}/.well-known/mcp/server-card.json`,
];

/** Runs the command; returns what to print. */
export async function addServer({ values }: CommandLine, [name, ...more]: readonly string[]): Promise<string> {
  const from = values["from"] as string | undefined;
  if (name === undefined || more.length > 0 || from === undefined)
    throw new UsageError("gateway add <name> --from <server.json, or its address> --config <file>");
  const kind = values["kind"] as string | undefined;
  if (kind !== undefined && !KINDS.includes(kind)) throw new UsageError(`--kind is one of ${KINDS.join(", ")}`);
  const [config, ...others] = (values["config"] as readonly string[] | undefined) ?? [];
  if (config === undefined || others.length > 0)
    throw new UsageError("gateway add needs one --config: the file that gets the entry");
  const read = /^https?:/i.test(from) ? await fetched(from) : { document: ofFile(from), from };
  const made = entryOf(read.document, name, kind as RegistryKind | undefined, read.from);
  const written = values["dry-run"] === true ? undefined : write(config, name, made.entry, values["force"] === true);
  if (values["json"] === true) return `${safeJson({ ...made, from: read.from, config: written ?? null })}\n`;
  return told(name, made, read.from, config, written, values["color"] as string | undefined);
}

function entryOf(document: unknown, name: string, kind: RegistryKind | undefined, from: string): RegistryEntry {
  try {
    return registryEntry(document, name, kind);
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    throw new UsageError(
      `${from} ${error.path ?? ""}: ${error.message}${error.hint === undefined ? "" : `\n  ${error.hint}`}`,
      "input",
    );
  }
}

function ofFile(path: string): unknown {
  try {
    return JSON.parse(textOf(path));
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as { code?: string }).code ?? "it is no JSON"}`, "input");
  }
}

/** The document at an address; of a server itself its card. */
async function fetched(from: string): Promise<{ readonly document: unknown; readonly from: string }> {
  const address = URL.canParse(from) ? new URL(from) : undefined;
  if (!address || (address.protocol === "http:" && !isLoopback(address.hostname)))
    throw new UsageError("--from is a file, or an address with https", "input");
  const first = await documentAt(address.href);
  if (isDocument(first)) return { document: first, from };
  for (const card of CARDS) {
    const document = await documentAt(card(address));
    if (isDocument(document)) return { document, from: card(address) };
  }
  throw new UsageError(
    `${from} is no server.json, and its server has no card (${CARDS.map((card) => new URL(card(address)).pathname).join(", ")})`,
    "input",
  );
}

function isDocument(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { packages, remotes, server, servers } = value as Record<string, unknown>;
  return [packages, remotes, server, servers].some((field) => typeof field === "object" && field !== null);
}

async function documentAt(address: string): Promise<unknown> {
  try {
    const response = await fetch(address, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!response.ok || !response.body) return void (await response.body?.cancel());
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return undefined;
      chunks.push(chunk);
    }
    return JSON.parse(new TextDecoder().decode(joined(chunks)));
  } catch {
    // Whoever asked is told that there was no document.
    return undefined;
  }
}

/** The text of a file; `otherwise` where there is none. */
function textOf(path: string, otherwise?: string): string {
  try {
    return new TextDecoder().decode(readFileSync(path)).replace(/^\ufeff/, "");
  } catch (error) {
    if (otherwise !== undefined && (error as { code?: string }).code === "ENOENT") return otherwise;
    throw error;
  }
}

/** Puts the entry into the file. Returns its path. */
function write(path: string, name: string, entry: RegistryEntry["entry"], is_forced: boolean): string {
  const before = textOf(path, "{}");
  let document: Record<string, unknown>;
  try {
    document = JSON.parse(before) as Record<string, unknown>;
  } catch {
    throw new UsageError(
      `${path} has comments or is no JSON, and would lose them: put this into it\n${JSON.stringify({ [name]: entry }, undefined, 2)}`,
      "input",
    );
  }
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new UsageError(`${path} is no object with servers`, "input");
  const table = document["mcpServers"] === undefined && document["servers"] !== undefined ? "servers" : "mcpServers";
  const servers = (document[table] ?? {}) as Record<string, unknown>;
  if (Object.hasOwn(servers, name) && !is_forced)
    throw new UsageError(`${path} has a server \`${name}\` already; --force replaces it`, "input");
  const indent = /\n([ \t]+)"/.exec(before)?.[1] ?? "  ";
  const text = `${JSON.stringify({ ...document, [table]: { ...servers, [name]: entry } }, undefined, indent)}\n`;
  const beside = `${path}.${process.pid}.tmp`;
  writeFileSync(beside, text, { flag: "wx" });
  renameSync(beside, path);
  return path;
}

function told(
  name: string,
  { name: full, version, entry, runs, is_pinned, needs, others, warnings }: RegistryEntry,
  from: string,
  config: string,
  written: string | undefined,
  color: string | undefined,
): string {
  const paint = painter(color);
  const lines = [
    `${paint(safe(full), "bold")}${version === undefined ? "" : ` ${safe(version)}`}, from ${safe(from)}`,
    `  ${"command" in entry ? "runs" : "calls"} ${safe(runs)}${is_pinned ? "" : " (version not pinned)"}`,
    ...needs.map(
      ({ name: variable, about }) =>
        `  needs ${variable}${about === "" ? "" : `: ${safe(about)}`}${process.env[variable] === undefined ? " (not set)" : ""}`,
    ),
    ...warnings.map((warning) => `  ${paint("note", "yellow")} ${safe(warning)}`),
    ...(others.length > 0 ? [`  not chosen: ${safe(others.join("; "))} (--kind)`] : []),
    written === undefined
      ? `nothing was written; without --dry-run ${safe(config)} gets\n${JSON.stringify({ [name]: entry }, undefined, 2)}`
      : `wrote \`${safe(name)}\` into ${safe(written)}; nothing was started: contextweaver gateway doctor --config ${safe(config)}`,
  ];
  return `${lines.join("\n")}\n`;
}
