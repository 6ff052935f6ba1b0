// Turns the base64 text of the inline module into bytes on every runtime.

type FromBase64 = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
type WithBuffer = { Buffer?: { from(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> } };

/** Decodes base64; the native decoder, where it exists, is many times faster than the loop. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as FromBase64).fromBase64;
  if (native) return native.call(Uint8Array, text);
  // Node before 25 has no decoder of the language, but one of its own; named through the global, so that no bundler
  // takes it for something to replace.
  const { Buffer } = globalThis as WithBuffer;
  if (Buffer) return Buffer.from(text, "base64");
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
