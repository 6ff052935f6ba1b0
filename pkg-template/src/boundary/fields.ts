// Objects of JSON that somebody else wrote.

/** An object of JSON. */
export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

/** An object, or one without fields. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;
}
