// Arguments that are repeated in headers (`x-mcp-header`, 2026-07-28): whether a tool says so in a way that a client may follow.
import type { JsonObject, JsonValue } from "../types.js";

/** The keyword of a schema. */
const MIRRORED = "x-mcp-header";
/** What a header can carry. */
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];
const HEADER_NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** Keywords with schemas by names that are no keywords. */
const BY_NAME: readonly string[] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/** Keywords with data, which may look like a schema. */
const DATA: readonly string[] = ["default", "const", "enum", "examples"];

interface Place {
  readonly value: JsonValue | undefined;
  /** Whether only `properties` lead here, so that a proxy finds the argument without reading schemas. */
  readonly isReachable: boolean;
}

/** Whether JSON has the keyword anywhere: only then are schemas read for it. @internal */
export function isMirrored(json: string): boolean {
  return json.includes(`"${MIRRORED}"`);
}

/**
 * Says why a client must leave a tool out; `undefined` when it need not. Visits every part of the schema once, of which the reader of
 * lists bounds the number. @internal
 */
export function wrongMirroring(schema: JsonValue | undefined): string | undefined {
  const names = new Set<string>();
  const open: Place[] = [{ value: schema, isReachable: false }];
  for (let isRoot = true, place = open.pop(); place !== undefined; isRoot = false, place = open.pop()) {
    const { value, isReachable } = place;
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) {
      for (const part of value as readonly JsonValue[]) open.push({ value: part, isReachable: false });
      continue;
    }
    const node = value as JsonObject;
    if (Object.hasOwn(node, MIRRORED)) {
      const wrong = wrongName(node, isReachable, names);
      if (wrong !== undefined) return wrong;
    }
    for (const [keyword, part] of Object.entries(node)) {
      if (DATA.includes(keyword) || typeof part !== "object" || part === null) continue;
      const isTable = BY_NAME.includes(keyword) && !Array.isArray(part);
      const leads = keyword === "properties" && (isRoot || isReachable);
      for (const inner of isTable ? Object.values(part) : [part])
        open.push({ value: inner, isReachable: isTable && leads });
    }
  }
  return undefined;
}

function wrongName(node: JsonObject, isReachable: boolean, names: Set<string>): string | undefined {
  const name = node[MIRRORED];
  if (!isReachable) return `\`${MIRRORED}\` stands where only \`properties\` may lead`;
  if (typeof name !== "string" || !HEADER_NAME.test(name)) return `\`${MIRRORED}\` is not the name of a header`;
  if (!TYPES.includes(node["type"]))
    return `\`${MIRRORED}\` stands at an argument that is no string, integer or boolean`;
  if (names.has(name.toLowerCase())) return `\`${MIRRORED}\` names a header twice`;
  names.add(name.toLowerCase());
  return undefined;
}
