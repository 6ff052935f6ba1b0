// Fields of JSON that somebody else wrote: what is not as expected is absent.
import { fieldsOf } from "../boundary/fields.js";
import { wellFormed } from "../boundary/repairs.js";

/** An escape by which JSON may write half of a surrogate pair. */
const SURROGATE = /\\ud[89a-f]/i;

/** Parses JSON whose texts the engine takes; throws where it is none. */
export function parseJson(text: string): unknown {
  const repair = (_: string, value: unknown): unknown => (typeof value === "string" ? wellFormed(value) : value);
  return JSON.parse(text, SURROGATE.test(text) ? repair : undefined) as unknown;
}

/** The value at a path of keys. */
export function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((found, key) => fieldsOf(found)[key], value);
}

/** A list, or an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** A text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** More than any count is. */
const MOST = 1e15;

/** A number from zero on. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && number >= 0 && number < MOST ? number : undefined;
}

/** Milliseconds since 1970, of an ISO date, or of a number of seconds, milliseconds, microseconds or nanoseconds. */
export function timeOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{10,20}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && number >= 0 && number < 1e21) {
    // The year 2286 in seconds, which is the year 1970 in each smaller unit.
    let time = number < 1e10 ? number * 1000 : number;
    while (time >= 1e13) time /= 1000;
    return Math.round(time);
  }
  const parsed = typeof value === "string" ? Date.parse(value) : NaN;
  return Number.isFinite(parsed) ? parsed : undefined;
}

/** JSON that may stand in a text. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}
