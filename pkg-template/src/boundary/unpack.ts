// Turns the text of a module into its bytes, on every runtime and at once: what the platforms have for it is asynchronous.
import { inflateSync } from "fflate";

type FromBase64 = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

/** Decodes base64 and inflates what it held. @internal */
export function unpack(text: string): Uint8Array<ArrayBuffer> {
  return inflateSync(decodeBase64(text)) as Uint8Array<ArrayBuffer>;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as FromBase64).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
