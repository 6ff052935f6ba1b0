// What goes over the wire of the service, as JSON Schema with the type of what fits.
import { ContextWeaverError } from "contextweaver";
import type { JsonObject } from "contextweaver";

/** A JSON Schema; the second field is for the compiler alone. */
export interface Schema<T> {
  readonly json: JsonObject;
  readonly fits?: T;
}

type Fitting<S> = S extends Schema<infer T> ? T : never;
type Shape = Readonly<Record<string, Schema<unknown>>>;
/** What has these fields. */
export type Fields<R extends Shape, O extends Shape> = { readonly [K in keyof R]: Fitting<R[K]> } & {
  readonly [K in keyof O]?: Fitting<O[K]>;
};

/** Data whose type is one of the package's; what is within it the engine checks. */
export const data = <T>(description: string, json: JsonObject = { type: "object" }): Schema<T> => ({
  json: { ...json, description },
});
export const string = (description: string, more: JsonObject = {}): Schema<string> => ({
  json: { type: "string", description, ...more },
});
export const boolean = (description: string): Schema<boolean> => ({ json: { type: "boolean", description } });
export const count = (description: string): Schema<number> => ({
  json: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description },
});
export const list = <T>(items: Schema<T>, description: string, maxItems = 10_000): Schema<readonly T[]> => ({
  json: { type: "array", items: items.json, maxItems, description },
});

/** A record with these fields and no others. */
export function record<R extends Shape, O extends Shape>(required: R, optional: O): Schema<Fields<R, O>> {
  const properties = Object.fromEntries(
    Object.entries({ ...required, ...optional }).map(([name, { json }]) => [name, json]),
  );
  return { json: { type: "object", properties, required: Object.keys(required), additionalProperties: false } };
}

/** What may be said of a value, as far as it is checked here. */
interface Rules {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly required?: readonly string[];
  readonly items?: Rules;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
}

/** Refuses what does not fit, with the path of the value. */
export function check({ json }: Schema<unknown>, value: unknown): void {
  checkValue(json as Rules, value, "");
}

function checkValue(rules: Rules, value: unknown, path: string): void {
  if (rules.type !== undefined && typeOf(value) !== rules.type)
    throw new ContextWeaverError("INVALID_INPUT", `expected ${NAMES[rules.type] ?? rules.type}`, { path });
  if (rules.enum && !rules.enum.includes(value as string)) {
    throw new ContextWeaverError("INVALID_INPUT", "expected one of the names that there are", {
      path,
      hint: rules.enum.join(", "),
    });
  }
  if (
    rules.type === "integer" &&
    ((value as number) < (rules.minimum ?? 0) || (value as number) > (rules.maximum ?? Number.MAX_SAFE_INTEGER))
  ) {
    throw new ContextWeaverError("OUT_OF_RANGE", "expected a whole number in its range", { path });
  }
  if (rules.type === "array") {
    if ((value as unknown[]).length > (rules.maxItems ?? Infinity))
      throw new ContextWeaverError("TOO_LARGE", `expected at most ${rules.maxItems} in a list`, { path });
    if (rules.items)
      for (const [at, one] of (value as unknown[]).entries()) checkValue(rules.items, one, `${path}/${at}`);
  }
  const { properties } = rules;
  if (!properties) return;
  const given = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) {
    const name = unknown.slice(0, 80);
    throw new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${name}\``, {
      path: `${path}/${name}`,
      hint: `there are: ${Object.keys(properties).join(", ")}`,
    });
  }
  for (const name of rules.required ?? []) {
    if (!Object.hasOwn(given, name))
      throw new ContextWeaverError("MISSING_FIELD", `missing field \`${name}\``, { path: `${path}/${name}` });
  }
  for (const [name, one] of Object.entries(given)) checkValue(properties[name] as Rules, one, `${path}/${name}`);
}

const NAMES: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "a text",
  integer: "a whole number",
  boolean: "true or false",
};

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}
