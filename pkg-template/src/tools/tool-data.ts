// What tools return and schemas of libraries, as plain data. Each property is read once and no code of the caller's runs
// but getters and proxies.
import { ContextWeaverError } from "../boundary/errors.js";
import type { ErrorCode } from "../boundary/errors.js";
import { isPlain } from "../boundary/foreign-values.js";
import { isWellFormed, token } from "../boundary/guard-errors.js";
import { INPUT } from "../boundary/guard-limits.js";
import type { ConversionWarning } from "../mcp/mcp-types.js";

/** Warnings of one value; a thousand numbers that are none need no thousand of them. */
const MAX_WARNINGS = 32;

/** Data and what was changed to make them JSON. @internal */
export interface PlainData {
  /** `undefined` for nothing at all. */
  readonly data: unknown;
  readonly warnings: ConversionWarning[];
}

/** Copies a value as JSON data; what cannot be is refused with the reason `unserialisable`. @internal */
export function toData(value: unknown, path: string): PlainData {
  const copier = new Copier(path);
  return { data: copier.copy(value), warnings: copier.warnings };
}

const timeOf = Date.prototype.getTime;
const isoOf = Date.prototype.toISOString;

class Copier {
  readonly warnings: ConversionWarning[] = [];
  private nodes = 0;
  private readonly open: object[] = [];
  private readonly places: (string | number)[] = [];
  private readonly base: string;

  constructor(base: string) {
    this.base = base;
  }

  copy(value: unknown): unknown {
    this.nodes += 1;
    if (this.nodes > INPUT.nodes) this.fail("TOO_LARGE", `more than ${INPUT.nodes} values`);
    switch (typeof value) {
      case "boolean":
      case "undefined":
        return value;
      case "string":
        return this.text(value);
      case "number":
        if (Number.isFinite(value)) return value;
        this.warn("non_finite_number", `${value} became null`);
        return null;
      case "bigint":
        this.warn("bigint_as_text", "a BigInt became text");
        return `${value}`;
      case "object":
        return value === null ? null : this.container(value);
      default:
        return this.fail("INVALID_INPUT", `a ${typeof value} is no data`);
    }
  }

  private text(text: string): string {
    if (isWellFormed(text)) return text;
    this.warn("lone_surrogate", "half of a surrogate pair became U+FFFD");
    return text.replace(/[\ud800-\udfff]/gu, "\ufffd");
  }

  private container(source: object): unknown {
    if (this.open.includes(source)) this.fail("CYCLE", "the value contains itself");
    if (this.open.length > INPUT.depth) this.fail("TOO_DEEP", `nested deeper than ${INPUT.depth} levels`);
    this.open.push(source);
    let copy: unknown;
    try {
      if (Array.isArray(source)) copy = this.list(source);
      else if (isPlain(source)) copy = this.record(source);
      else copy = this.date(source);
    } catch (cause) {
      if (cause instanceof ContextWeaverError) throw cause;
      this.fail("INVALID_INPUT", "the object cannot be read", cause);
    }
    this.open.pop();
    return copy;
  }

  private list(source: readonly unknown[]): unknown[] {
    const { length } = source;
    if (!Number.isInteger(length) || length > INPUT.nodes - this.nodes) {
      this.fail("TOO_LARGE", `more than ${INPUT.nodes} values`);
    }
    const copy: unknown[] = [];
    for (let place = 0; place < length; place += 1) {
      this.places.push(place);
      // In a list every place counts.
      copy.push(this.copy(source[place]) ?? null);
      this.places.pop();
    }
    return copy;
  }

  private record(source: object): object {
    const copy = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(source)) {
      this.places.push(key);
      const value = this.copy((source as Record<string, unknown>)[key]);
      if (value !== undefined) copy[this.text(key)] = value;
      this.places.pop();
    }
    return copy;
  }

  private date(source: object): string | null {
    let time: number;
    try {
      time = timeOf.call(source as Date);
    } catch {
      return this.fail("INVALID_INPUT", "an instance of a class is no data");
    }
    if (Number.isNaN(time)) {
      this.warn("invalid_date", "a date that is none became null");
      return null;
    }
    this.warn("date_as_text", "a Date became text");
    return isoOf.call(source as Date);
  }

  private path(): string {
    return this.base + this.places.map((place) => `/${token(`${place}`)}`).join("");
  }

  private warn(code: string, message: string): void {
    if (this.warnings.length < MAX_WARNINGS) this.warnings.push({ code, message, path: this.path() });
  }

  private fail(code: ErrorCode, message: string, cause?: unknown): never {
    const hint = "return plain objects, arrays, texts, numbers, true, false and null";
    const init = { path: this.path(), hint, details: { reason: "unserialisable" } };
    throw new ContextWeaverError(code, message, cause === undefined ? init : { ...init, cause });
  }
}
