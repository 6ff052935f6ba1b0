// The JSON body of a request, and its fields one by one. Fields that an endpoint does not know are ignored.
import { BodyError, readBody } from "../mcp/http-body.js";
import type { BodyRequest } from "../mcp/http-body.js";
import { isPlain } from "../boundary/foreign-values.js";
import { SidecarRefusal } from "./sidecar-errors.js";

/** Returns the text of a body. @internal */
export async function bodyOf(request: BodyRequest, max_bytes: number): Promise<string> {
  try {
    return await readBody(request, max_bytes);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    if (error.reason === "too_large")
      throw new SidecarRefusal("PAYLOAD_TOO_LARGE", `a body has at most ${max_bytes} bytes`);
    throw new SidecarRefusal(
      "BAD_REQUEST",
      error.reason === "aborted" ? "the request was aborted" : "the body cannot be read as UTF-8",
    );
  }
}

/** The fields of a body. @internal */
export class BodyFields {
  readonly #fields: object;

  constructor(text: string) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new SidecarRefusal("BAD_REQUEST", "the body is no JSON");
    }
    if (typeof value !== "object" || value === null || !isPlain(value))
      throw new SidecarRefusal("BAD_REQUEST", "expected a JSON object");
    refuseInexact(text);
    this.#fields = value;
  }

  /** What was sent, `undefined` where nothing was. */
  any(name: string): unknown {
    // Nothing inherited, and `__proto__` is a field like any.
    return Object.getOwnPropertyDescriptor(this.#fields, name)?.value as unknown;
  }

  /** A whole number; what is absent or null counts as `usual`. */
  integer(name: string, usual: number, least: number): number {
    const value = this.any(name) ?? usual;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
    throw refused(name, `expected a whole number from ${least} on`);
  }

  /** Texts; what is absent or null counts as none. */
  strings(name: string): readonly string[] {
    const value = this.any(name) ?? [];
    if (!Array.isArray(value)) throw refused(name, "expected an array of strings");
    const place = value.findIndex((one) => typeof one !== "string");
    if (place >= 0) throw refused(`${name}/${place}`, "expected a string");
    return value as readonly string[];
  }

  /** One of these; what is absent counts as the first. */
  choice<C extends string>(name: string, known: readonly [C, ...C[]]): C {
    const value = this.any(name);
    if (value === undefined) return known[0];
    const found = known.find((one) => one === value);
    if (found === undefined) throw refused(name, `expected one of: ${known.join(" ")}`);
    return found;
  }

  /** True or false; what is absent counts as false. */
  flag(name: string): boolean {
    const value = this.any(name) ?? false;
    if (typeof value !== "boolean") throw refused(name, "expected true or false");
    return value;
  }
}

/** A field that is not as it should be. @internal */
export function refused(name: string, message: string, hint?: string): SidecarRefusal {
  return new SidecarRefusal("BAD_REQUEST", message, { path: `/${name}`, ...(hint !== undefined && { hint }) });
}

/** A longer whole number is no double of JavaScript's. */
const LONG_DIGITS = 309;

/** Refuses whole numbers that would come back as others: the engines of JavaScript read them as doubles. */
function refuseInexact(text: string): void {
  if (!/\d{16}/.test(text)) return;
  const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  for (let place = 0; place < text.length; place += 1) {
    const unit = text[place] as string;
    if (unit === '"') {
      for (place += 1; text[place] !== '"'; place += 1) if (text[place] === "\\") place += 1;
    } else if (unit === "-" || (unit >= "0" && unit <= "9")) {
      number.lastIndex = place;
      const [written] = number.exec(text) as RegExpExecArray;
      place = number.lastIndex - 1;
      if (/^-?\d+$/.test(written) && !isExact(written)) {
        throw new SidecarRefusal("BAD_REQUEST", "the body has a whole number of more than 53 bits", {
          hint: "send it as a string",
        });
      }
    }
  }
}

function isExact(written: string): boolean {
  if (Number.isSafeInteger(Number(written))) return true;
  return written.length <= LONG_DIGITS && BigInt(written) === BigInt(Number(written));
}
