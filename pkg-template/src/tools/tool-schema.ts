// Schemas of libraries as JSON Schema. Nothing is imported for it: a schema brings its own converter, or the caller does.
import { ContextWeaverError } from "../boundary/errors.js";
import { isPlain } from "../boundary/foreign-values.js";
import type { ConversionWarning } from "../mcp/mcp-types.js";
import { toData } from "./tool-data.js";
import type { SchemaConverters } from "./tool-definition-types.js";

type Io = "input" | "output";

/** The dialects a schema may be asked for, in this order. */
const TARGETS = ["draft-2020-12", "draft-07"];

interface Place {
  readonly path: string;
  readonly io: Io;
  readonly converters: SchemaConverters;
}

/**
 * Returns a schema as JSON data, for the engine to check; what is no object is left as it is. Fails with the reason
 * `zod3_unsupported` or `schema_not_convertible`.
 * @internal
 */
export function jsonSchema(schema: unknown, place: Place, warnings: ConversionWarning[]): unknown {
  if (!isObject(schema)) return schema;
  const converted = toData(convert(schema, place), place.path);
  warnings.push(...converted.warnings);
  return converted.data;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** Reads a property of whatever the caller calls a schema. */
function get(source: object, key: string, path: string): unknown {
  try {
    return (source as Record<string, unknown>)[key];
  } catch (cause) {
    throw new ContextWeaverError("INVALID_INPUT", "reading the schema failed", { path, cause });
  }
}

function convert(schema: Record<string, unknown>, place: Place): unknown {
  const { path, io, converters } = place;
  const shape = rawShape(schema, path);
  const standard = get(schema, "~standard", path);
  const isZod = isObject(get(schema, "_zod", path));
  const method = get(schema, "toJsonSchema", path);
  // JSON Schema may have these names too, but not with functions behind them.
  const isForeign = isZod || isObject(standard) || typeof method === "function" || !isData(schema, path);
  if (!shape && !isForeign) return schema;
  const { toJsonSchema, z } = converters;
  if (toJsonSchema) return called(() => toJsonSchema(schema, { io }), place);
  if (shape)
    return z?.object
      ? fromZod(
          called(() => z.object?.(schema as never), place),
          place,
        )
      : fromShape(schema, place);
  if (isZod && z) return fromZod(schema, place);
  if (isZod3(schema, path)) {
    throw unconvertible(
      "zod3_unsupported",
      "schemas of Zod 3 are not supported",
      place,
      "use zod-to-json-schema as `toJsonSchema`, or `zod/v4`",
    );
  }
  if (isObject(standard)) {
    const json = get(standard, "jsonSchema", path);
    if (isObject(json)) return fromStandard(json, place);
  }
  if (typeof method === "function") return called(() => method.call(schema) as unknown, place);
  const hint = isZod ? "pass the `z` of Zod, or use Zod 4.2 or later" : "pass a function as `toJsonSchema`";
  throw unconvertible("schema_not_convertible", "the schema cannot tell its JSON Schema", place, hint);
}

function fromZod(schema: unknown, place: Place): unknown {
  return called(() => place.converters.z?.toJSONSchema(schema as never, { io: place.io }), place);
}

function fromStandard(json: object, place: Place): unknown {
  const make = get(json, place.io, place.path);
  let cause: unknown;
  for (const target of TARGETS) {
    try {
      if (typeof make === "function") return make.call(json, { target }) as unknown;
    } catch (thrown) {
      cause = thrown;
    }
  }
  throw unconvertible(
    "schema_not_convertible",
    "the schema cannot tell its JSON Schema",
    place,
    "use types that JSON has",
    cause,
  );
}

/** Calls what makes a schema. */
function called(make: () => unknown, place: Place): unknown {
  try {
    return make();
  } catch (cause) {
    throw unconvertible(
      "schema_not_convertible",
      "making JSON Schema of the schema failed",
      place,
      "use types that JSON has",
      cause,
    );
  }
}

function unconvertible(
  reason: string,
  message: string,
  { path }: Place,
  hint: string,
  cause?: unknown,
): ContextWeaverError {
  const init = { path, hint, details: { reason } };
  return new ContextWeaverError("UNSUPPORTED", message, cause === undefined ? init : { ...init, cause });
}

/** Returns the names of a record of Zod fields. */
function rawShape(schema: object, path: string): readonly string[] | undefined {
  if (typeof schema === "function" || Array.isArray(schema)) return undefined;
  const names = isData(schema, path) ? Object.keys(schema) : [];
  const isField = (name: string) => {
    const field = get(schema, name, path);
    return isObject(field) && isObject(get(field, "_zod", path));
  };
  return names.length > 0 && names.every(isField) ? names : undefined;
}

/** Puts the schemas of single fields together. */
function fromShape(schema: object, place: Place): unknown {
  const properties = Object.create(null) as Record<string, unknown>;
  const required: string[] = [];
  for (const name of Object.keys(schema)) {
    const field = get(schema, name, place.path) as Record<string, unknown>;
    const internals = get(field, "_zod", place.path) as object;
    properties[name] = withoutRoot(convert(field, place), place);
    // `optional`, or of later versions `defaulted`.
    if (get(internals, place.io === "input" ? "optin" : "optout", place.path) === undefined) required.push(name);
  }
  return required.length > 0 ? { type: "object", properties, required } : { type: "object", properties };
}

/** Makes a schema fit below another: references in it would lead to the other's root. */
function withoutRoot(schema: unknown, place: Place): unknown {
  const { data } = toData(schema, place.path);
  if (!isObject(data)) return data;
  delete data["$schema"];
  if (!JSON.stringify(data).includes('"$ref"')) return data;
  throw unconvertible(
    "schema_not_convertible",
    "a field refers to itself",
    place,
    "pass the `z` of Zod, or an object of Zod",
  );
}

function isZod3(schema: object, path: string): boolean {
  const definition = get(schema, "_def", path);
  return isObject(definition) && typeof get(definition, "typeName", path) === "string";
}

function isData(schema: object, path: string): boolean {
  try {
    return typeof schema === "object" && (Array.isArray(schema) || isPlain(schema)) && !isZod3(schema, path);
  } catch (cause) {
    throw new ContextWeaverError("INVALID_INPUT", "reading the schema failed", { path, cause });
  }
}
