// Schemas of OpenAPI as JSON Schema without references. A document can make little text stand for endless schemas, so that all steps
// are counted.
import type { Told } from "./document-tools.js";
import { recordOf } from "./document-tools.js";
import { token } from "../boundary/guard-errors.js";
import type { JsonObject, JsonValue } from "../types.js";

/** Steps of one tool: values of its schemas with references resolved, long texts counting more. */
const TOOL_STEPS = 10_000;
/** Steps of a document: these, and what references to other parts make it say again. */
const DOCUMENT_STEPS = 1_000_000;
/** Characters of text that count as a step. */
const TEXT_STEP = 64;
/** Keys on the way down and references together: arguments may have 64 levels with what stands above them. */
const MAX_DEPTH = 56;

/** References below each other that are written out: where a schema is too large with all of them, fewer leave its upper part whole. */
const REFERENCES = [MAX_DEPTH, 6, 4, 3, 2, 1];

/** Keys whose values are no schemas: data, and lists of names. */
const DATA = ["enum", "const", "default", "required", "type"];
/** Keys whose values are lists of schemas. */
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/** Keys whose values are schemas by name. */
const BY_NAME = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/** Keys that say nothing of what is right, or only to OpenAPI. */
const LEFT_OUT = [
  "xml",
  "discriminator",
  "externalDocs",
  "example",
  "nullable",
  "$schema",
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "$comment",
  "$defs",
  "definitions",
];

/** What all schemas of one object say together: the schema, what it refers to, and the parts of its `allOf`. */
interface Same {
  /** Fields that no request has. */
  readonly hidden: Set<string>;
  /** The lists of the fields that it must have. */
  readonly required: JsonValue[][];
}

/** What a local reference leads to. @internal */
export function lookup(document: JsonValue, reference: JsonValue | undefined): JsonValue | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  if (reference === "#") return document;
  if (!reference.startsWith("#/")) return undefined;
  let value: JsonValue | undefined = document;
  for (const part of reference.slice(2).split("/", 64)) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, JsonValue>)[key];
  }
  return value;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @internal */
export class SchemaReader {
  readonly #document: JsonObject;
  readonly #isOld: boolean;
  /** Where the reader is: keys below the place of the argument. */
  readonly #trail: string[] = [];
  /** The references that led there. */
  readonly #open: string[] = [];
  #place = "";
  #left = DOCUMENT_STEPS;
  #steps = 0;
  #isOut = false;
  #most = MAX_DEPTH;
  #findings = new Map<string, Told>();

  /** `isOld`: version 3.0, whose schemas are a dialect of their own. */
  constructor(document: JsonObject, isOld: boolean) {
    this.#document = document;
    this.#isOld = isOld;
  }

  /** Begins with another tool. */
  begin(): void {
    this.#steps = Math.min(TOOL_STEPS, this.#left);
    this.#findings = new Map();
  }

  /** What is to be said of the schemas since then: one of each kind. */
  get findings(): readonly Told[] {
    return [...this.#findings.values()];
  }

  /** Counts what a reference makes a document say again; false when that is too much. */
  affordsAgain(value: JsonValue): boolean {
    const steps = stepsOf(value, Math.min(TOOL_STEPS, this.#left));
    this.#left -= Math.min(steps, this.#left);
    this.#steps = Math.min(this.#steps, this.#left);
    return steps <= TOOL_STEPS && this.#left > 0;
  }

  /** Reads a schema, which stands at a path, as JSON Schema. */
  read(schema: unknown, path: string): JsonObject {
    this.#place = path;
    const steps = this.#steps;
    let read: JsonObject = {};
    for (const most of REFERENCES) {
      [this.#most, this.#isOut, this.#steps] = [most, false, Math.min(steps, this.#left)];
      read = this.#schema(schema as JsonValue);
      if (!this.#isOut) break;
    }
    return read;
  }

  #find(code: string, message: string): void {
    const path = () => `${this.#place}${this.#trail.map((key) => `/${token(key)}`).join("")}`;
    if (!this.#findings.has(code)) this.#findings.set(code, { code, path: path(), message });
  }

  /** Takes steps; false when there are none left. */
  #take(steps: number): boolean {
    if (this.#steps < steps) {
      this.#left -= this.#steps;
      [this.#steps, this.#isOut] = [0, true];
      this.#find("openapi-schema-cut", "the arguments are too large; what is deepest in them may be anything");
      return false;
    }
    this.#steps -= steps;
    this.#left -= steps;
    return true;
  }

  /** Counts data that is taken as it is. */
  #affords(value: JsonValue): boolean {
    return this.#take(stepsOf(value, this.#steps));
  }

  #below(key: string, schema: JsonValue, same?: Same): JsonObject {
    this.#trail.push(key);
    const read = same ? this.#part(schema, same) : this.#schema(schema);
    this.#trail.pop();
    return read;
  }

  #schema(schema: JsonValue): JsonObject {
    const same: Same = { hidden: new Set(), required: [] };
    const read = this.#part(schema, same);
    if (same.hidden.size > 0)
      for (const list of same.required)
        list.splice(0, Infinity, ...list.filter((name) => !same.hidden.has(String(name))));
    return read;
  }

  #part(schema: JsonValue, same: Same): JsonObject {
    if (typeof schema === "boolean") return schema ? {} : { not: {} };
    const own = recordOf(schema);
    if (!own) {
      this.#find("openapi-schema", "expected a schema; the argument may be anything");
      return {};
    }
    if (this.#trail.length + this.#open.length > MAX_DEPTH) {
      this.#find("openapi-schema-cut", "the arguments are nested too deep; what is deepest in them may be anything");
      return {};
    }
    if (!this.#take(1)) return {};
    const reference = own["$ref"] ?? own["$dynamicRef"];
    return reference === undefined ? this.#keywords(own, same) : this.#referred(own, reference, same);
  }

  #referred(own: JsonObject, reference: JsonValue, same: Same): JsonObject {
    const { $ref: _, $dynamicRef: __, ...beside } = own;
    // Version 3.0 knows nothing beside a reference.
    const more = this.#isOld ? {} : this.#keywords(beside, same);
    const name = String(reference);
    const target = lookup(this.#document, reference);
    if (target === undefined) {
      this.#find(
        "openapi-ref",
        "the reference leads to nothing in the document; nothing is fetched, and the argument may be anything",
      );
      return more;
    }
    const isCycle = this.#open.includes(name);
    if (isCycle || this.#open.length >= this.#most) {
      if (isCycle) this.#find("openapi-cycle", "the schema contains itself; below the first time it may be anything");
      else this.#find("openapi-schema-cut", "the arguments are too large; what is deepest in them may be anything");
      const type = recordOf(target)?.["type"];
      return { ...(typeof type === "string" && { type }), ...more };
    }
    this.#open.push(name);
    const read = this.#part(target, same);
    this.#open.pop();
    return { ...read, ...more };
  }

  #keywords(own: JsonObject, same: Same): JsonObject {
    const read: Record<string, JsonValue> = {};
    for (const [key, value] of Object.entries(own)) {
      if (value === undefined || LEFT_OUT.includes(key) || key.startsWith("x-")) continue;
      if (!this.#take(1 + Math.floor(key.length / TEXT_STEP))) break;
      this.#trail.push(key);
      const written = this.#keyword(key, value, same);
      this.#trail.pop();
      if (written !== undefined) set(read, key, written);
    }
    if (Array.isArray(read["required"])) {
      const required = [...(read["required"] as JsonValue[])];
      same.required.push(required);
      read["required"] = required;
    }
    const { example } = own;
    if (example !== undefined && read["examples"] === undefined && this.#affords(example)) read["examples"] = [example];
    return this.#isOld ? modern(read, own["nullable"] === true) : read;
  }

  /** Reads what a keyword says; undefined when it is too much. */
  #keyword(key: string, value: JsonValue, same: Same): JsonValue | undefined {
    if (!DATA.includes(key) && typeof value === "object" && value !== null) {
      if (Array.isArray(value) && LISTS.includes(key))
        return this.#list(value as JsonValue[], key === "allOf" ? same : undefined);
      if (!Array.isArray(value))
        return BY_NAME.includes(key) ? this.#byName(key, value as JsonObject, same) : this.#schema(value as JsonValue);
    }
    return this.#affords(value) ? value : undefined;
  }

  #list(schemas: readonly JsonValue[], same: Same | undefined): JsonObject[] {
    const read: JsonObject[] = [];
    for (const [at, schema] of schemas.entries()) {
      if (!this.#take(1)) break;
      read.push(this.#below(`${at}`, schema, same));
    }
    return read;
  }

  #byName(key: string, schemas: JsonObject, { hidden }: Same): JsonObject {
    const read: Record<string, JsonValue> = {};
    for (const [name, schema] of Object.entries(schemas)) {
      if (schema === undefined || !this.#take(1 + Math.floor(name.length / TEXT_STEP))) break;
      // A request has no such field: the server makes it.
      if (key === "properties" && this.#isReadOnly(schema)) hidden.add(name);
      else set(read, name, this.#below(name, schema));
    }
    return read;
  }

  /** Whether a field says so, or what it refers to. */
  #isReadOnly(schema: JsonValue, depth = 0): boolean {
    const own = recordOf(schema);
    if (own?.["readOnly"] === true) return true;
    const { $ref, allOf } = own ?? {};
    const parts = Array.isArray(allOf) ? (allOf as readonly JsonValue[]) : [];
    const target = $ref === undefined ? undefined : lookup(this.#document, $ref);
    return [...parts, ...(target === undefined ? [] : [target])].some(
      (part) => depth < MAX_DEPTH && this.#take(1) && this.#isReadOnly(part, depth + 1),
    );
  }
}

/** A key may be `__proto__`. */
function set(record: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key !== "__proto__") record[key] = value;
  else Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Steps of a value; the count ends above the most. */
function stepsOf(value: JsonValue, most: number): number {
  let steps = 0;
  const left: JsonValue[] = [value];
  for (let next = left.pop(); next !== undefined && steps <= most; next = left.pop()) {
    steps += 1;
    if (typeof next === "string") steps += Math.floor(next.length / TEXT_STEP);
    if (typeof next !== "object" || next === null) continue;
    for (const key in next) {
      steps += Math.floor(key.length / TEXT_STEP);
      if (left.length > most) return most + 1;
      left.push((next as Record<string, JsonValue>)[key] as JsonValue);
    }
  }
  return steps;
}

/** Says in JSON Schema what version 3.0 says in its own way. */
function modern(read: Record<string, JsonValue>, isNullable: boolean): JsonObject {
  for (const [flag, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof read[flag] !== "boolean") continue;
    const isExclusive = read[flag] === true && read[bound] !== undefined;
    if (isExclusive) read[flag] = read[bound] as JsonValue;
    else delete read[flag];
    if (isExclusive) delete read[bound];
  }
  if (!isNullable) return read;
  if (typeof read["type"] === "string") read["type"] = [read["type"], "null"];
  if (Array.isArray(read["enum"]) && !read["enum"].includes(null))
    read["enum"] = [...(read["enum"] as JsonValue[]), null];
  return read;
}
