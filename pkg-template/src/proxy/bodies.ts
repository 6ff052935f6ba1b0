// Bodies that are read as far as they may be, and passed on as they come.
import type { Bytes } from "../types.js";
import type { ReadBody } from "../boundary/bytes.js";

/** Makes a body of the part that was read and the rest behind it. */
export function bodyOf({ bytes, rest }: ReadBody): Bytes | ReadableStream<Uint8Array> {
  if (!rest) return bytes;
  return streamOf(
    (async function* () {
      yield bytes;
      for (let part = await rest.read(); !part.done; part = await rest.read()) yield part.value;
    })(),
    (reason) => rest.cancel(reason),
  );
}

/** A stream of parts as they come. `cancelled` is told when nobody reads on. */
export function streamOf(
  parts: AsyncGenerator<Uint8Array, void>,
  cancelled: (reason: unknown) => Promise<void> | void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await parts.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel(reason) {
      // What waits for more is told first that nothing comes.
      await cancelled(reason);
      void parts.return().catch(() => undefined);
    },
  });
}

/** The parts of a body as they come. Whoever stops reading ends it. */
export async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  try {
    for (let part = await reader?.read(); reader && part && !part.done; part = await reader.read()) yield part.value;
  } finally {
    void reader?.cancel().catch(() => undefined);
  }
}

/** The JSON object that bytes say; undefined where they say none. `parse` reads the text. */
export function objectOf(
  bytes: Uint8Array,
  parse: (text: string) => unknown = JSON.parse,
): { readonly text: string; readonly body: Readonly<Record<string, unknown>> } | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const body = parse(text);
    return typeof body === "object" && body !== null && !Array.isArray(body)
      ? { text, body: body as Readonly<Record<string, unknown>> }
      : undefined;
  } catch {
    return undefined;
  }
}
