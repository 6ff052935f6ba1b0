// What catalogs of documents share: OpenAPI, skills and agent cards come from strangers, and whatever they hold, the work is bounded.
import { ContextWeaverError, masked } from "../boundary/errors.js";
import { encode, fields, readValue } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { SNAPSHOT } from "../boundary/guard-limits.js";
import type { CatalogFinding } from "./routing-types.js";
import type { ReadTools, ToolPlace } from "./tool-sources.js";
import type { JsonObject, JsonValue, SelectableItem } from "../types.js";

/** Findings of one document; more say nothing new. */
const MAX_FINDINGS = 1000;
/** Characters of a name that a model calls, as providers bound them. */
const MAX_NAME = 64;

/** Where an item is from, so that its id says so. */
type Origin = "openapi" | "skill" | "agent";

/** What a reader says of a part of a document. */
export type Told = Omit<CatalogFinding, "item_id" | "severity" | "index"> & {
  readonly severity?: CatalogFinding["severity"];
};

/** The items that are made of a document, and what is to be said of it. @internal */
export class Reading {
  readonly #origin: Origin;
  readonly #server: string | undefined;
  readonly #raises: boolean;
  readonly #items: SelectableItem[] = [];
  readonly #places: ToolPlace[] = [];
  readonly #findings: CatalogFinding[] = [];
  readonly #ids = new Set<string>();
  /** The number that the next item of a name tries first: many items may have one name. */
  readonly #next = new Map<string, number>();
  #untold = 0;

  constructor(origin: Origin, options: unknown) {
    const { on_invalid, server, ...rest } = fields(options);
    refuseUnknown(rest, ["on_invalid", "server"]);
    if (on_invalid !== undefined && on_invalid !== "raise" && on_invalid !== "report")
      throw refused("expected `raise` or `report`", "/on_invalid");
    if (server !== undefined && (typeof server !== "string" || server.trim() === ""))
      throw refused("expected a name", "/server");
    this.#origin = origin;
    this.#server = server;
    this.#raises = on_invalid === "raise";
  }

  get server(): string | undefined {
    return this.#server;
  }

  /** The id of a name that no item has yet. */
  idOf(name: string): string {
    const base = this.#server === undefined ? `${this.#origin}:${name}` : `${this.#origin}:${this.#server}/${name}`;
    let at = this.#next.get(base) ?? 1;
    const made = (): string => (at === 1 ? base : `${base}#${at}`);
    while (this.#ids.has(made())) at += 1;
    this.#ids.add(made());
    this.#next.set(base, at + 1);
    return made();
  }

  add(item: SelectableItem, place: ToolPlace): void {
    this.#items.push({ ...item, ...(this.#server !== undefined && { namespace: this.#server }) });
    this.#places.push(place);
  }

  /** Notes something about an item that is kept, or about the whole. */
  note(told: Told, item_id = ""): void {
    this.#find({ severity: "warning", ...told, item_id });
  }

  /** Runs what reads one item; what it throws leaves the item out. */
  each(place: ToolPlace, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!ContextWeaverError.is(error)) throw error;
      const { code, message, path = "", hint } = error;
      if (this.#raises) throw new ContextWeaverError(code, message, { path: safePath(path), hint });
      this.#find({
        code: `${this.#origin}-invalid`,
        severity: "error",
        item_id: "",
        index: place.index,
        path,
        message: hint ? `${message}; ${hint}` : message,
      });
    }
  }

  get done(): ReadTools {
    const more = {
      code: `${this.#origin}-findings-cut`,
      severity: "info",
      item_id: "",
      path: "",
      message: `and ${this.#untold} more`,
    } as const;
    return {
      items: this.#items,
      places: this.#places,
      findings: this.#untold > 0 ? [...this.#findings, more] : this.#findings,
      document: this.#origin,
    };
  }

  #find(finding: CatalogFinding): void {
    const { path, message } = finding;
    if (this.#findings.length < MAX_FINDINGS)
      this.#findings.push({ ...finding, path: safePath(path), message: masked(message) });
    else this.#untold += 1;
  }
}

/** Masks what looks like a credential in a path: keys of a document are its author's words. */
function safePath(path: string): string {
  const keys = path.split("/").map((key) => masked(key.replaceAll("~1", "/").replaceAll("~0", "~")));
  return keys.map((key) => key.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
}

/**
 * Copies what was given as plain data, so that nothing of the caller's runs later. Halves of surrogate pairs are the author's, and are
 * replaced; what else is none of JSON is refused. @internal
 */
export function plainCopy(given: unknown, what: string, reading: Reading): unknown {
  const { json, repairs } = readValue(given, "", SNAPSHOT);
  const isText = repairs.every(({ code }) => code === "TEXT_REPAIRED");
  const data: unknown = JSON.parse(isText ? json : encode(given, "", SNAPSHOT));
  if (typeof data !== "object" || data === null) throw refused(`expected ${what}`, "");
  for (const { path, message } of isText ? repairs : []) reading.note({ code: "text-repaired", path, message });
  return data;
}

/** @internal */
export function refused(message: string, path: string, hint?: string): ContextWeaverError {
  return new ContextWeaverError("INVALID_INPUT", message, { path, hint });
}

/** Makes a name that every provider takes: letters, digits, `_` and `-`. @internal */
export function callableName(words: string): string {
  const name = words
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/_{2,}/g, "_")
    .slice(0, MAX_NAME);
  return name.replace(/^_+|_+$/g, "");
}

/** @internal */
export function recordOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** @internal */
export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Entries of a list beside the tools, such as tags. */
const MAX_LIST = 64;
/** Characters of an address. */
const MAX_ADDRESS = 2048;

/** The first texts of a list; what is none is left out. @internal */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value)
    ? value.slice(0, MAX_LIST).filter((one): one is string => stringOf(one) !== undefined)
    : [];
}

/**
 * What is said of an address: no user, no password, no query. What is none, such as a template or a path, is said without what looks
 * like a user or a query. @internal
 */
export function addressOf(value: unknown): { readonly address: string; readonly isCut: boolean } | undefined {
  const given = stringOf(value);
  if (given === undefined) return undefined;
  if (given.length > MAX_ADDRESS) return { address: "", isCut: true };
  const address = given.replace(/[?#].*$/s, "").replace(/^([A-Za-z][A-Za-z0-9+.-]*:)?\/\/[^/]*@/, "$1//");
  return { address, isCut: address !== given };
}

/** Names what a scheme of security is; never a value. @internal */
export function schemeOf(scheme: JsonObject | undefined): JsonObject {
  // A card of A2A 1.0 names its kind by its only field.
  const inner = scheme && Object.entries(scheme).find(([key]) => key.endsWith("SecurityScheme"));
  const kind = inner?.[0].replace(/SecurityScheme$/, "");
  const from = recordOf(inner?.[1]) ?? scheme ?? {};
  const known = {
    type: from["type"] ?? kind,
    in: from["in"] ?? from["location"],
    name: from["name"],
    scheme: from["scheme"],
    format: from["bearerFormat"],
  };
  return Object.fromEntries(
    Object.entries(known).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
}

/**
 * What calls need: alternatives, each with all of the schemes that go together. `required` is as OpenAPI has it, or as A2A 1.0 does,
 * below `schemes`. @internal
 */
export function securityOf(required: unknown, schemes: JsonObject | undefined): JsonObject[][] {
  if (!Array.isArray(required)) return [];
  return required.slice(0, MAX_LIST).map((one: unknown) =>
    entriesOf(recordOf(recordOf(one)?.["schemes"]) ?? recordOf(one) ?? {}).map(([id, scopes]): JsonObject => {
      const list = stringsOf(recordOf(scopes)?.["list"] ?? scopes);
      const scheme = schemes && Object.hasOwn(schemes, id) ? recordOf(schemes[id]) : undefined;
      return { id, ...schemeOf(scheme), ...(list.length > 0 && { scopes: list }) };
    }),
  );
}

/** The first entries. */
function entriesOf(record: JsonObject): [string, JsonValue][] {
  const entries: [string, JsonValue][] = [];
  for (const key in record) {
    if (entries.length === MAX_LIST) break;
    entries.push([key, record[key] as JsonValue]);
  }
  return entries;
}
