// Base64 of an MCP result, which crosses beside its JSON, and what of a result there is no room for.
import { decodeBase64 } from "./base64.js";
import { MAX_ARTIFACT, MCP_RESULT, MIB } from "./guard-limits.js";

/** Where a result has base64: `/result/content/0/data`, `/result/content/0/resource/blob`. */
const MEDIA = /^result\/content\/\d+\/(data|resource\/blob)$/;
/** Bytes of the JSON that are left for its structure when its texts are cut. */
const RESERVE = 2 * MIB;

const encoder = /* @__PURE__ */ new TextEncoder();

/** What is taken out of a result while it is written. @internal */
export class ResultMedia {
  /** Where base64 stood, below the result. */
  readonly places: string[] = [];
  /** The bytes that it was of. */
  readonly bytes: Uint8Array<ArrayBuffer>[] = [];
  /** Bytes that were cut off, by the place of the text or the base64. */
  readonly cut: Record<string, number> = Object.create(null) as Record<string, number>;
  /** UTF-16 units that were taken out. */
  outside = 0;

  /** Whether a result has base64 at a place. */
  isMedia(places: readonly (string | number)[], depth: number): boolean {
    return depth >= 4 && depth <= 5 && MEDIA.test(places.slice(0, depth).join("/"));
  }

  /** Takes base64 out; tells whether a text is some. */
  take(text: string, path: () => string): boolean {
    const bytes = decodeBase64(text);
    if (!bytes) return false;
    this.places.push(below(path));
    this.bytes.push(bytes);
    this.outside += text.length;
    return true;
  }

  /** Whether a text may be more than there is room for behind so many bytes of JSON. */
  mayBeTooLong(length: number, written: number): boolean {
    return length > MAX_ARTIFACT || written + this.outside + length > MCP_RESULT.total - RESERVE;
  }

  /** As much of a text as the engine keeps, of base64 nothing; no text where all of it is kept. */
  cutOff(text: string, isMedia: boolean, path: () => string, written: number): string | undefined {
    const left = Math.max(0, MCP_RESULT.total - RESERVE - written - this.outside);
    const room = Math.min(left, isMedia ? MCP_RESULT.string : MAX_ARTIFACT);
    if (text.length <= room) return undefined;
    if (isMedia) {
      this.cut[below(path)] = Math.floor((text.length / 4) * 3);
      return "";
    }
    // Not within a pair of surrogates.
    const end = room > 0 && (text.charCodeAt(room - 1) & 0xfc00) === 0xd800 ? room - 1 : room;
    this.cut[below(path)] = encoder.encode(text.slice(end)).length;
    return text.slice(0, end);
  }
}

function below(path: () => string): string {
  return path().slice("/result".length);
}
