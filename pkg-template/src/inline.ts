// Turns the base64 text of the inline module into bytes on every runtime.

type FromBase64 = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

/** Decodes base64; the native decoder, where it exists, is many times faster than the loop. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as FromBase64).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
