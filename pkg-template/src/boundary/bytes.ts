// Bytes that come in parts.
import type { Bytes } from "../types.js";

/** Joins parts; a single one is not copied. @internal */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [first] = parts;
  if (first && parts.length === 1) return first as Uint8Array<ArrayBuffer>;
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A body of which so much was read. @internal */
export interface ReadBody {
  readonly bytes: Bytes;
  /** What comes behind it, where it is more than was to be read. */
  readonly rest?: ReadableStreamDefaultReader<Uint8Array>;
}

/** Reads a body up to a number of bytes. @internal */
export async function readUpTo(body: ReadableStream<Uint8Array> | null, most: number): Promise<ReadBody> {
  const reader = body?.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader?.read(); reader && part && !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
    if (size > most) return { bytes: joined(parts), rest: reader };
  }
  return { bytes: joined(parts) };
}
