// What a tool must be for every provider to take it as it is, and every client of the protocol to keep it: the strictest of their rules.

const KEYWORDS = new Set([
  "type",
  "description",
  "title",
  "enum",
  "properties",
  "required",
  "items",
  "additionalProperties",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "pattern",
  "default",
  "anyOf",
  "nullable",
  "format",
]);
/** `null` only as an alternative. */
const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean"]);
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** What is wrong with a tool, given by name, description and the schema of its arguments. */
export function toolComplaints({ name, description, schema }) {
  const found = [];
  if (!/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)) found.push("name");
  if (typeof description !== "string" || description.trim() === "" || description.length > 1024) found.push("description");
  if (!isRecord(schema) || schema.type !== "object" || schema.anyOf !== undefined) found.push("the outermost schema is no plain object");
  else judge(schema, "", found);
  return found.map((what) => `${name}: ${what}`);
}

function judge(schema, path, found) {
  const say = (what) => found.push(`${path || "/"}: ${what}`);
  if (!isRecord(schema)) return say("no schema");
  for (const key of Object.keys(schema)) if (!KEYWORDS.has(key)) say(`the keyword ${key}`);
  if (schema.anyOf === undefined && !TYPES.has(schema.type)) say(`the type ${JSON.stringify(schema.type)}`);
  if (schema.type === "array" && !isRecord(schema.items)) say("an array that does not say what its items are");
  if (
    schema.enum !== undefined &&
    !(Array.isArray(schema.enum) && schema.enum.length > 0 && schema.enum.every((value) => typeof value === "string" && value !== ""))
  )
    say("enum");
  if (typeof schema.pattern === "string" && schema.pattern.includes("(?")) say("pattern");
  for (const key of ["minimum", "maximum", "exclusiveMinimum", "minItems", "maxItems", "minLength", "maxLength"])
    if (schema[key] !== undefined && typeof schema[key] !== "number") say(key);
  const names = Object.keys(schema.properties ?? {});
  for (const name of names) if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) say(`the property ${name}`);
  const required = schema.required ?? [];
  if (!Array.isArray(required) || new Set(required).size < required.length || !required.every((name) => names.includes(name))) say("required");
  if (schema.additionalProperties !== undefined && typeof schema.additionalProperties !== "boolean")
    judge(schema.additionalProperties, `${path}/additionalProperties`, found);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) judge(inner, `${path}/${name}`, found);
  if (schema.items !== undefined) judge(schema.items, `${path}/items`, found);
  for (const [at, inner] of (schema.anyOf ?? []).entries()) if (inner.type !== "null") judge(inner, `${path}/anyOf/${at}`, found);
  return undefined;
}
