// A hash of texts that goes on where it stopped: what is common to the beginning of two lists of texts shows in equal values.

/** The JSON by which two values are told apart; empty of what has none, such as a cycle, which is like no other. */
export function keyText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** A running hash of 64 bits, cyrb53 before it is cut to a number. It tells texts apart; it keeps nothing secret. */
export class TextHash {
  #one = 0xdeadbeef;
  #other = 0x41c6ce57;

  /** Goes on from what earlier texts came to. */
  static after(value: string): TextHash {
    const hash = new TextHash();
    [hash.#one, hash.#other] = [Number.parseInt(value.slice(0, 8), 16) | 0, Number.parseInt(value.slice(8), 16) | 0];
    return hash;
  }

  /** Takes one more text, and returns what all that were taken come to. Two texts in a row are not the same as the two as one. */
  add(text: string): string {
    let [one, other] = [this.#one, this.#other];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      one = Math.imul(one ^ code, 2654435761);
      other = Math.imul(other ^ code, 1597334677);
    }
    // No character has this code.
    one = Math.imul(one ^ 0x10000, 2654435761);
    other = Math.imul(other ^ 0x10000, 1597334677);
    one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
    other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
    [this.#one, this.#other] = [one, other];
    return [one, other].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  }
}

/** What a cache is told in a block; clients move it on from call to call. */
const MARK = "cache_control";

/**
 * Hashes a message by what it says: without marks of a cache, and with a lone text the same as a block and as a string, as clients turn the
 * one into the other to mark it. White space between its fields does not count.
 */
export function messageHash(message: unknown): string {
  return new TextHash().add(JSON.stringify(message, said) ?? "");
}

function said(key: string, value: unknown): unknown {
  if (key === MARK) return undefined;
  const [block, more] = Array.isArray(value) ? (value as unknown[]) : [];
  if (more !== undefined || typeof block !== "object" || block === null) return value;
  const { type, text, [MARK]: _, ...others } = block as Readonly<Record<string, unknown>>;
  return type === "text" && typeof text === "string" && Object.keys(others).length === 0 ? text : value;
}
