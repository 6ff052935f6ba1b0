// What tools, servers and models send need not be JSON, and that ends no conversation: it is written as JSON.stringify would, what
// that would refuse is text, and each change is told. What the caller hands over as options is refused instead, see guard.ts.

/** What was changed of a value so that it is JSON. @internal */
export interface Repair {
  /** `TEXT_REPAIRED`: half of a surrogate pair. `VALUE_REPAIRED`: what is none of JSON. `VALUE_CUT`: beyond a limit. */
  readonly code: "TEXT_REPAIRED" | "VALUE_REPAIRED" | "VALUE_CUT";
  readonly message: string;
  readonly path: string;
}

/** Repairs of one value that are told one by one; a thousand numbers that are none need no thousand warnings. */
const MOST_TOLD = 32;

/** The repairs of one value. @internal */
export class Repairs {
  readonly #told: Repair[] = [];
  #more = 0;

  note(code: Repair["code"], message: string, path: () => string): void {
    if (this.#told.length < MOST_TOLD) this.#told.push({ code, message, path: path() });
    else this.#more += 1;
  }

  list(): readonly Repair[] {
    if (this.#more === 0) return this.#told;
    return [...this.#told, { code: "VALUE_REPAIRED", message: `${this.#more} more repairs of this value`, path: "" }];
  }
}

/** Stands for what throws when it is read. @internal */
export const UNREADABLE = "[cannot be read]";
/** Stands for a value that contains itself. @internal */
export const CIRCULAR = "[circular]";

/** Says that half of a surrogate pair was replaced. @internal */
export const HALF = "half of a surrogate pair is U+FFFD: a text was cut in the middle of a character";

/** Replaces each half of a surrogate pair. @internal */
export function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/gu, "\ufffd");
}

/** Bytes that are kept free for brackets and for what is said of a text that was cut. @internal */
export const MARGIN = 64 * 1024;
/** The beginning of base64, or of an address with data. */
const IS_MEDIA = /^(data:[\w.+/-]{1,80}[;,]|[A-Za-z0-9+/_-]{512})/;

/** Whether a text is bytes in another spelling, of which a part is nothing. @internal */
export function isEncoded(text: string): boolean {
  return IS_MEDIA.test(text);
}

/** Cuts a text off at so many bytes of UTF-8, and tells of it. @internal */
export function cutText(text: string, most: number, note: (message: string) => void): string {
  if (text.length * 3 <= most) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= most) return text;
  if (isEncoded(text)) {
    note(`base64 of ${text.length} characters is left out: there is no room for it`);
    return "";
  }
  const kept = decoder.decode(bytes.subarray(0, Math.max(0, most - MARGIN))).replace(/\ufffd+$/, "");
  note(`of a text of ${bytes.length} bytes the last ${bytes.length - encoder.encode(kept).length} are left out`);
  return `${kept}\n[the last ${text.length - kept.length} characters are left out]`;
}

/** Says which repairs were made of an MCP result, by codes as its other warnings have. @internal */
export function asMcpWarnings(
  repairs: readonly Repair[],
): { readonly code: string; readonly message: string; readonly path: string }[] {
  return repairs.map(({ code, message, path }) => ({ code: code.toLowerCase().replaceAll("_", "-"), message, path }));
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });
const unboxed = [Number.prototype, String.prototype, Boolean.prototype, BigInt.prototype].map(
  (prototype) => prototype.valueOf as () => unknown,
);

/**
 * What stands for an object that is no plain one: the primitive that it holds, or of an error its name and message beside its own
 * fields, of which JSON.stringify would say nothing. Of others itself. @internal
 */
export function standIn(source: object): unknown {
  for (const valueOf of unboxed) {
    try {
      return valueOf.call(source);
    } catch {
      // It holds another primitive, or none.
    }
  }
  if (!(source instanceof Error) && Object.prototype.toString.call(source) !== "[object Error]") return source;
  const { name, message, cause, errors } = source as Error & { readonly cause?: unknown; readonly errors?: unknown };
  return { name, message, ...source, ...(cause !== undefined && { cause }), ...(errors !== undefined && { errors }) };
}
